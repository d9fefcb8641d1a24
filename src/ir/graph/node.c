/* node.c: making and dropping nodes.
 *
 * How it works: nodes come in two sizes from free lists of the thread, which trade batches with a list of all threads;
 * odd sizes are allocated one by one. Dropping follows inputs with a list kept in the dead nodes themselves, so chains of
 * any length need no stack. Everything here trusts its callers about dtypes and shapes; the rules are in the other files.
 * Nothing that computes elements may be put here. */
#include "ir/graph/internal.h"

#include <pthread.h>
#include <string.h>

/* ---- memory of nodes ---- */

#define EXTRA_WORDS 16                           /* room of the larger size behind the node: window strides and shape */
#define SIZE_OF_CLASS(c) (((sizeof(node) + 63) & ~(size_t)63) + (c) * EXTRA_WORDS * sizeof(int64_t))
#define BATCH 64
#define CLASSES 2
#define ALONE 255                                /* allocated by itself */

#if defined(__SANITIZE_ADDRESS__)
#define USE_LISTS 0                              /* so that AddressSanitizer sees every node's end */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define USE_LISTS 0
#endif
#endif
#ifndef USE_LISTS
#define USE_LISTS 1
#endif

typedef struct idle { struct idle *next, *next_batch; } idle;   /* a node's memory while unused */
typedef struct chunk { struct chunk *next; } chunk;

static struct {
    pthread_mutex_t mutex;
    idle *batches[CLASSES];
    chunk *chunks;                               /* kept: a program that used many nodes once will again */
} shared_lists = {.mutex = PTHREAD_MUTEX_INITIALIZER};

typedef struct local_list { idle *head; uint32_t n; } local_list;
static _Thread_local struct { local_list of[CLASSES]; bool registered; uint16_t number; uint32_t born; } mine;
static pthread_key_t thread_end;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static uint16_t threads_seen;

static void give_batch(int c, idle *first)
{
    pthread_mutex_lock(&shared_lists.mutex);
    first->next_batch = shared_lists.batches[c];
    shared_lists.batches[c] = first;
    pthread_mutex_unlock(&shared_lists.mutex);
}

/* A thread ends: its free nodes go to the others. Nodes freed by later destructors just start a new list. */
static void leave(void *unused)
{
    (void)unused;
    for (int c = 0; c < CLASSES; c++) {
        if (mine.of[c].head)
            give_batch(c, mine.of[c].head);
        mine.of[c] = (local_list){NULL, 0};
    }
}

static void make_key(void)
{
    if (pthread_key_create(&thread_end, leave) != 0)
        thread_end = 0;
}

static void enter(void)
{
    pthread_once(&thread_once, make_key);
    mine.registered = true;
    mine.number = __atomic_add_fetch(&threads_seen, 1, __ATOMIC_RELAXED);
    pthread_setspecific(thread_end, &mine); /* failing only means that the list is not handed on */
}

static bool refill(int c)
{
    local_list *l = &mine.of[c];
    pthread_mutex_lock(&shared_lists.mutex);
    idle *batch = shared_lists.batches[c];
    if (batch)
        shared_lists.batches[c] = batch->next_batch;
    pthread_mutex_unlock(&shared_lists.mutex);
    if (batch) {
        l->head = batch;
        for (l->n = 0; batch; batch = batch->next)
            l->n++;
        return true;
    }
    size_t size = SIZE_OF_CLASS(c);
    char *memory = mem_aligned(64 + BATCH * size, 64);
    if (!memory)
        return false;
    chunk *k = (chunk *)(void *)memory;
    pthread_mutex_lock(&shared_lists.mutex);
    k->next = shared_lists.chunks;
    shared_lists.chunks = k;
    pthread_mutex_unlock(&shared_lists.mutex);
    for (int i = BATCH; i-- > 0;) {
        idle *p = (idle *)(void *)(memory + 64 + (size_t)i * size);
        p->next = l->head;
        l->head = p;
    }
    l->n += BATCH;
    return true;
}

static void node_free(node *n)
{
    if (n->block == ALONE) {
        mem_free(n);
        return;
    }
    int c = n->block;
    local_list *l = &mine.of[c];
    idle *p = (idle *)(void *)n;
    p->next = l->head;
    l->head = p;
    if (++l->n < 2 * BATCH)
        return;
    idle *last = p;
    for (int i = 1; i < BATCH; i++)
        last = last->next;
    l->head = last->next;
    l->n -= BATCH;
    last->next = NULL;
    if (!mine.registered)
        enter();
    give_batch(c, p);
}

/* Memory for a node with so many words behind it; only `block` is set. */
static node *node_memory(size_t words)
{
    if (!mine.registered)
        enter();
    if (!USE_LISTS || words > EXTRA_WORDS) {
        size_t size = SIZE_OF_CLASS(0) + words * sizeof(int64_t);
        node *n = mem_alloc(size);
        if (n)
            n->block = ALONE;
        return n;
    }
    int c = words > 0;
    local_list *l = &mine.of[c];
    if (!l->head && !refill(c))
        return NULL;
    idle *p = l->head;
    l->head = p->next;
    l->n--;
    node *n = (node *)(void *)p;
    n->block = (uint8_t)c;
    return n;
}

static int64_t *node_words(node *n) { return (int64_t *)(void *)((char *)n + SIZE_OF_CLASS(0)); }

void buffer_drop(buffer *b)
{
    while (b && __atomic_fetch_sub(&b->refs, 1, __ATOMIC_ACQ_REL) == 1) {
        buffer *copy = b->copy;
        b->destroy(b);
        b = copy;
    }
}

static bool last_reference(node *n) { return __atomic_fetch_sub(&n->refs, 1, __ATOMIC_ACQ_REL) == 1; }

void node_drop(node *n)
{
    if (!n || !last_reference(n))
        return;
    n->plan_note = NULL;
    for (node *dead = n; dead;) { /* dead nodes are linked through plan_note, which nobody reads any more */
        node *x = dead;
        dead = x->plan_note;
        for (int i = 0; i < x->nin; i++) {
            node *in = x->in[i];
            if (in && last_reference(in)) {
                in->plan_note = dead;
                dead = in;
            }
        }
        buffer_drop(x->value);
        node_free(x);
    }
}

/* ---- making ---- */

/* How much is pending: at most the sum over the inputs, and at most the nodes that this thread has made since the oldest
 * of them. The second bound keeps shared subexpressions from being counted again and again. */
static void count_work(node *n)
{
    uint64_t sum = 1;
    uint32_t born = ++mine.born, oldest = born;
    bool own = true;
    for (int i = 0; i < n->nin; i++) {
        const node *in = n->in[i];
        bool again = false;
        for (int j = 0; j < i; j++)
            again |= n->in[j] == in;
        uint32_t work = __atomic_load_n(&in->work, __ATOMIC_RELAXED);
        if (again || work == 0)
            continue;
        sum += work;
        own &= in->maker == mine.number;
        if (born - in->oldest > born - oldest)
            oldest = in->oldest;
    }
    if (own && sum > (uint64_t)(born - oldest) + 1)
        sum = (uint64_t)(born - oldest) + 1;
    n->work = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
    n->maker = own ? mine.number : 0; /* of mixed origin: nobody's, so that only sums are used above it */
    n->born = born;
    n->oldest = oldest;
}

/* A pending node with its shape and inputs; `extra` words for the caller come back in *words. in may hold NULLs' absence only. */
static node *node_new(node_kind kind, kn_dtype t, int ndim, const int64_t *shape, int nin, node *const *in, size_t extra, int64_t **words, message *m)
{
    int64_t size, bytes;
    if (ndim > NDIM_MAX || nin > UINT8_MAX) {
        fail(m, KN_VALUE_ERROR, ndim > NDIM_MAX ? "an array has at most %d dimensions" : "too many operands; at most %d", ndim > NDIM_MAX ? NDIM_MAX : UINT8_MAX);
        return NULL;
    }
    if (!shape_size(ndim, shape, &size) || mul_overflows(size, (int64_t)dtype_size(t), &bytes)) {
        char text[SHAPE_TEXT];
        fail(m, KN_VALUE_ERROR, "an array of shape %s and dtype %s is too large to address", shape_text(text, ndim, shape), dtype_table[t].name);
        return NULL;
    }
    size_t shape_words = ndim > NODE_INLINE_DIMS ? (size_t)ndim : 0, in_words = nin > NODE_INLINE_INPUTS ? (size_t)nin : 0;
    node *n = node_memory(shape_words + in_words + extra);
    if (!n) {
        fail_memory(m, "recording an operation");
        return NULL;
    }
    int64_t *w = node_words(n);
    n->refs = 1;
    n->kind = (uint8_t)kind;
    n->dtype = (uint8_t)t;
    n->ndim = (uint8_t)ndim;
    n->nin = (uint8_t)nin;
    n->op = 0;
    n->which = 0;
    n->state = NODE_PENDING;
    n->weak = false;
    n->guard = 0;
    n->size = size;
    n->value = NULL;
    n->offset = 0;
    n->slot = n->visit = 0;
    n->plan_note = NULL;
    n->plan_slot = 0;
    n->shape = shape_words ? w : n->inline_shape;
    w += shape_words;
    n->in = in_words ? (node **)(void *)w : n->inline_in;
    w += in_words;
    if (words)
        *words = w;
    for (int d = 0; d < ndim; d++)
        n->shape[d] = shape[d];
    for (int i = 0; i < nin; i++)
        n->in[i] = node_keep(in[i]);
    count_work(n);
    return n;
}

node *node_buffer(kn_dtype t, int ndim, const int64_t *shape, buffer *b, int64_t offset, message *m)
{
    node *n = node_new(NODE_BUFFER, t, ndim, shape, 0, NULL, 0, NULL, m);
    if (!n)
        return NULL;
    n->state = NODE_READY;
    n->work = 0;
    n->value = buffer_keep(b);
    n->offset = offset;
    return n;
}

/* The number as an element of dtype t holds it. */
static scalar scalar_as(kn_dtype t, scalar s)
{
    if ((t == KN_FLOAT64 && s.kind == SCALAR_FLOAT) || (t == KN_INT64 && s.kind == SCALAR_INT))
        return s;
    _Alignas(16) unsigned char element[16];
    element_store(t, element, s);
    return element_load(t, element);
}

node *node_scalar(kn_dtype t, scalar value, bool weak, message *m)
{
    node *n = node_new(NODE_SCALAR, t, 0, NULL, 0, NULL, 0, NULL, m);
    if (!n)
        return NULL;
    n->work = 0;
    n->weak = weak;
    n->attr.number = scalar_as(t, value);
    return n;
}

node *node_empty(kn_dtype t, int ndim, const int64_t *shape, message *m)
{
    return node_new(NODE_EMPTY, t, ndim, shape, 0, NULL, 0, NULL, m);
}

node *node_index(int64_t n, message *m)
{
    return node_new(NODE_INDEX, KN_INT64, 1, &n, 0, NULL, 0, NULL, m);
}

node *node_cast(node *a, kn_dtype t, message *m)
{
    if (a->kind == NODE_SCALAR)
        return (kn_dtype)a->dtype == t && !a->weak ? node_keep(a) : node_scalar(t, a->attr.number, false, m);
    if ((kn_dtype)a->dtype == t)
        return node_keep(a);
    if (a->kind == NODE_EMPTY)
        return node_empty(t, a->ndim, a->shape, m);
    return node_map(UFUNC_cast, 0, 1, &a, t, m);
}

node *node_map(int ufunc, int which, int nin, node *const *in, kn_dtype out, message *m)
{
    const node *shape = in[0];
    for (int i = 1; i < nin; i++)
        if (in[i]->ndim > shape->ndim)
            shape = in[i];
    node *n = node_new(NODE_MAP, out, shape->ndim, shape->shape, nin, in, 0, NULL, m);
    if (!n)
        return NULL;
    n->op = (uint16_t)ufunc;
    n->which = (uint8_t)which;
    return n;
}

static node *gather_like(node_kind kind, kn_dtype t, int ndim, const int64_t *shape, int nfirst, node *const *first, const int8_t *from, int nfrom, int nindex, node *const *index, message *m)
{
    node *in[2 + NDIM_MAX];
    int8_t *kept;
    int64_t *words;
    for (int i = 0; i < nfirst; i++)
        in[i] = first[i];
    for (int i = 0; i < nindex; i++)
        in[nfirst + i] = index[i];
    node *n = node_new(kind, t, ndim, shape, nfirst + nindex, in, ((size_t)nfrom + 7) / 8, &words, m);
    if (!n)
        return NULL;
    kept = (int8_t *)(void *)words;
    memcpy(kept, from, (size_t)nfrom);
    n->attr.gather.at = (gather_attr){kept, nfrom};
    n->attr.gather.mode = SCATTER_SET;
    return n;
}

node *node_gather(node *a, const int8_t *from, int nindex, node *const *index, int ndim, const int64_t *shape, message *m)
{
    return gather_like(NODE_GATHER, a->dtype, ndim, shape, 1, &a, from, a->ndim, nindex, index, m);
}

node *node_scatter(node *a, node *value, scatter_mode mode, int ufunc, const int8_t *from, int nindex, node *const *index, message *m)
{
    node *n = gather_like(NODE_SCATTER, a->dtype, a->ndim, a->shape, 2, (node *[]){a, value}, from, a->ndim, nindex, index, m);
    if (!n)
        return NULL;
    n->op = (uint16_t)(ufunc < 0 ? 0 : ufunc);
    n->attr.gather.mode = mode;
    return n;
}

node *node_reduce(int reduction, node *a, uint64_t axes, kn_dtype out, bool ordered, message *m)
{
    int64_t shape[NDIM_MAX];
    int ndim = 0;
    for (int d = 0; d < a->ndim; d++)
        if (!(axes >> d & 1))
            shape[ndim++] = a->shape[d];
    node *n = node_new(NODE_REDUCE, out, ndim, shape, 1, &a, 0, NULL, m);
    if (!n)
        return NULL;
    n->op = (uint16_t)reduction;
    n->attr.reduce.axes = axes;
    n->attr.reduce.ordered = ordered;
    return n;
}

node *node_scan(int reduction, node *a, int axis, message *m)
{
    node *n = node_new(NODE_SCAN, a->dtype, a->ndim, a->shape, 1, &a, 0, NULL, m);
    if (!n)
        return NULL;
    n->op = (uint16_t)reduction;
    n->attr.scan.axis = axis;
    return n;
}

node *node_opaque(int operation, int which, int nin, node *const *in, kn_dtype t, int ndim, const int64_t *shape, const int64_t *attr, int nattr, message *m)
{
    int64_t *words;
    node *n = node_new(NODE_OPAQUE, t, ndim, shape, nin, in, (size_t)nattr, &words, m);
    if (!n)
        return NULL;
    for (int i = 0; i < nattr; i++)
        words[i] = attr[i];
    n->op = (uint16_t)operation;
    n->which = (uint8_t)which;
    n->attr.opaque.attr = words;
    n->attr.opaque.nattr = nattr;
    return n;
}

node *node_windowed(node_kind kind, kn_dtype t, int ndim, const int64_t *shape, int nin, node *const *in, const window *w, message *m)
{
    int64_t *words;
    size_t extra = (size_t)w->ndim * (kind == NODE_WRITE ? 2 : 1);
    node *n = node_new(kind, t, ndim, shape, nin, in, extra + (extra == 0), &words, m);
    if (!n)
        return NULL;
    n->attr.view = (window){.offset = w->offset, .strides = words, .shape = n->shape, .ndim = w->ndim, .part = w->part};
    for (int d = 0; d < w->ndim; d++)
        words[d] = w->strides[d];
    if (kind == NODE_WRITE) {
        n->attr.view.shape = words + w->ndim;
        for (int d = 0; d < w->ndim; d++)
            words[w->ndim + d] = w->shape[d];
    }
    return n;
}
