/* lent.c: arrays in memory of the caller: copied, borrowed or shared.
 *
 * How it works: a loan stands behind the cell that was made on the caller's memory. As long as the memory is lent, nodes
 * read it where it lies. When the loan ends, or the program takes the memory back at kn_sync, whoever has not read it yet
 * gets a copy: the buffer record stays, its data moves. What the values are for must not be put here. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

struct loan {
    uint32_t refs;                        /* atomic: the cell, and the buffer record while there is one */
    pthread_mutex_t mutex;                /* guards `record` */
    buffer *record;                       /* what nodes refer to the memory by; not counted */
    void *data;                           /* lowest address */
    size_t size;
    bool share;
    kn_release_callback *release; void *arg;
    /* of the array in it */
    kn_dtype dtype; int64_t count;        /* elements between the lowest and the highest address */
};

static void give_back(loan *l) {
    if (l->release) l->release(l->data, l->arg);
    l->release = NULL;
}

static void loan_drop(loan *l) {
    if (__atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL)) return;
    give_back(l);
    pthread_mutex_destroy(&l->mutex);
    mem_free(l);
}

/* ---- the buffer record ---- */

static void record_destroy(buffer *b) {
    loan *l = b->owner;
    pthread_mutex_lock(&l->mutex);
    bool moved = b->data != l->data;
    if (l->record == b) l->record = NULL;
    pthread_mutex_unlock(&l->mutex);
    if (moved) mem_free(b->data);
    mem_free(b);
    loan_drop(l);
}

static buffer *record_new(loan *l, message *m) {
    buffer *b = host_buffer(l->data, l->size, !l->share, record_destroy, l, m);
    if (b) b->shared = l->share;
    if (!b) return NULL;
    __atomic_fetch_add(&l->refs, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&l->mutex);
    l->record = b;
    pthread_mutex_unlock(&l->mutex);
    return b;
}

/* From here on nothing of ours reads or writes the caller's memory. False: no memory for the copy. */
static bool take_back(loan *l) {
    bool done = true;
    evaluations_pause();
    pthread_mutex_lock(&l->mutex);
    buffer *b = l->record;
    if (b) {
        void *copy = mem_aligned(l->size ? l->size : 1, 64);
        if (copy) {
            memcpy(copy, b->data, l->size);
            b->data = copy;
            b->readonly = false;
            b->aligned = true;
            l->record = NULL;
        }
        done = copy != NULL;
    }
    pthread_mutex_unlock(&l->mutex);
    evaluations_resume();
    return done;
}

void loan_end(loan *l) {
    if (!l) return;
    if (take_back(l)) {
        give_back(l);
    } else {
        message m = { 0 };
        fail_memory(&m, "releasing borrowed memory that is still to be read; the memory must stay valid");
        error_record(&m);
    }
    loan_drop(l);
}

/* ---- taking memory in ---- */

/* The window that strides (bytes) open on the memory: its lowest and highest byte, relative to data. */
static bool span_of(kn_dtype t, kn_shape shape, const int64_t *strides, int64_t *low, int64_t *high) {
    *low = 0;
    *high = (int64_t)dtype_size(t);
    for (int d = 0; d < shape.ndim; d++) {
        int64_t reach;
        if (shape.dim[d] == 0) { *low = *high = 0; return true; }
        if (mul_overflows(shape.dim[d] - 1, strides[d], &reach)) return false;
        int64_t *end = reach < 0 ? low : high;
        if (add_overflows(*end, reach, end)) return false;
    }
    return true;
}

static bool check_call(kn_dtype t, const void *data, kn_shape shape, const char *what, int64_t *size, message *m) {
    if (t <= KN_DTYPE_UNSET || t > KN_COMPLEX128) fail(m, KN_TYPE_ERROR, "%s: there is no dtype %d", what, (int)t);
    else if (shape.ndim < 0 || shape.ndim > NDIM_MAX || (shape.ndim && !shape.dim)) fail(m, KN_VALUE_ERROR, "%s: a shape has 0 to %d axes, not %d", what, NDIM_MAX, shape.ndim);
    else if (!shape_size(shape.ndim, shape.dim, size)) fail(m, KN_VALUE_ERROR, "%s: the shape has a negative extent or too many elements", what);
    else if (*size > INT64_MAX / 16) fail(m, KN_VALUE_ERROR, "%s: the array is larger than memory", what);
    else if (!data && *size) fail(m, KN_VALUE_ERROR, "%s: data is NULL", what);
    else return true;
    return false;
}

static void contiguous_strides(kn_dtype t, kn_shape shape, int64_t *strides) {
    int64_t step = (int64_t)dtype_size(t);
    for (int d = shape.ndim; d-- > 0;) {
        strides[d] = step;
        step *= shape.dim[d] > 0 ? shape.dim[d] : 1;
    }
}

struct copy_in { host_window h; char *to; };
static void copy_part(void *arg, int64_t lo, int64_t hi) {
    struct copy_in *j = arg;
    memcpy(j->to + lo, j->h.data + lo, (size_t)(hi - lo));
}

kn_array array_copied(kn_dtype t, const void *data, kn_shape shape, const int64_t *strides, const char *what) {
    message m = { 0 };
    int64_t size, packed[NDIM_MAX];
    if (!check_call(t, data, shape, what, &size, &m)) return array_error(&m);
    int64_t bytes = size * (int64_t)dtype_size(t);
    buffer *b = pool_buffer(bytes, &m);
    if (!b) return array_error(&m);
    contiguous_strides(t, shape, packed);
    bool whole = !strides || !shape.ndim || !memcmp(strides, packed, (size_t)shape.ndim * sizeof *packed);
    struct copy_in job = { .h = { .dtype = t, .ndim = shape.ndim, .data = data }, .to = b->data };
    if (size && whole) {
        workers_run(copy_part, &job, bytes, 1 << 20);
    } else if (size) {
        memcpy(job.h.shape, shape.dim, (size_t)shape.ndim * sizeof *shape.dim);
        memcpy(job.h.strides, strides, (size_t)shape.ndim * sizeof *strides);
        host_read(&job.h, t, b->data);
    }
    node *n = node_buffer(t, shape.ndim, shape.dim, b, 0, &m);
    buffer_drop(b);
    scope_weigh(bytes);
    return n ? array_from_node(n) : array_error(&m);
}

kn_array kn_from_(kn_dtype t, const void *data, kn_shape shape) { return array_copied(t, data, shape, NULL, "kn_from"); }

static loan *loan_new(void *low, size_t bytes, bool share, kn_release_callback *release, void *arg, message *m) {
    loan *l = mem_zero(1, sizeof *l);
    if (!l) { fail_memory(m, "kn_from_memory"); return NULL; }
    l->refs = 1;
    pthread_mutex_init(&l->mutex, NULL);
    l->data = low;
    l->size = bytes;
    l->share = share;
    l->release = release;
    l->arg = arg;
    return l;
}

/* A cell of one axis over the whole span; the array is a window on it. Takes over the reference to l. */
static cell *lent_cell(loan *l, kn_dtype t, message *m) {
    l->dtype = t;
    l->count = (int64_t)(l->size / dtype_size(t));
    buffer *b = record_new(l, m);
    node *n = b ? node_buffer(t, 1, &l->count, b, 0, m) : NULL;
    buffer_drop(b);
    cell *c = n ? cell_new(n, m) : NULL;
    if (c) c->lent = l;
    return c;
}

kn_array kn_from_memory(kn_dtype t, void *data, kn_shape shape, const int64_t *strides, kn_memory how, kn_release_callback *release, void *arg) {
    const char *what = "kn_from_memory";
    message m = { 0 };
    int64_t size, low, high, unit;
    layout w = { .dtype = t, .ndim = shape.ndim };
    if (how == KN_COPY) {
        kn_array a = array_copied(t, data, shape, strides, what);
        if (release) release(data, arg);
        return a;
    }
    if (!check_call(t, data, shape, what, &size, &m)) goto failed;
    unit = (int64_t)dtype_size(t);
    contiguous_strides(t, shape, w.strides);
    if (strides && shape.ndim) memcpy(w.strides, strides, (size_t)shape.ndim * sizeof *strides);
    if (shape.ndim) memcpy(w.shape, shape.dim, (size_t)shape.ndim * sizeof *shape.dim);
    for (int d = 0; d < shape.ndim; d++)
        if (w.strides[d] % unit) {
            fail(&m, KN_VALUE_ERROR, "%s: stride %lld of axis %d is not a multiple of the element's %lld bytes; use KN_COPY", what, (long long)w.strides[d], d, (long long)unit);
            goto failed;
        }
    if (!span_of(t, shape, w.strides, &low, &high)) { fail(&m, KN_VALUE_ERROR, "%s: the strides reach beyond memory", what); goto failed; }
    if ((uintptr_t)data % (size_t)(dtype_is_complex(t) ? unit / 2 : unit)) { fail(&m, KN_VALUE_ERROR, "%s: data is not aligned for %s; use KN_COPY", what, dtype_table[t].name); goto failed; }
    w.offset = -low;
    loan *l = loan_new(size ? (char *)data + low : data, (size_t)(high - low), how == KN_SHARE, release, arg, &m);
    cell *c = l ? lent_cell(l, t, &m) : NULL;
    if (!c) {
        if (l) { l->release = NULL; loan_drop(l); }
        goto failed;
    }
    kn_array a = array_from_window(c, &w, false);
    cell_drop(c);
    return a;
failed:
    if (release) release(data, arg);
    return array_error(&m);
}

/* ---- giving memory back for a while ---- */

/* The caller's memory holds what the array holds now, and nothing pending reads it any more. */
static kn_status bring_back(cell *c, loan *l, message *m) {
    node *n = cell_node(c);
    kn_status status = evaluate(&n, 1, m);
    pthread_mutex_lock(&l->mutex);
    bool there = !status && n->value == l->record;
    pthread_mutex_unlock(&l->mutex);
    /* The cell and this function refer to the node, the node to the record; anything more may still want to read. */
    bool others = !there || __atomic_load_n(&n->refs, __ATOMIC_ACQUIRE) > 2 || __atomic_load_n(&n->value->refs, __ATOMIC_ACQUIRE) > 1;
    buffer *b = NULL;
    node *fresh = NULL;
    if (!status && others) {
        if (!take_back(l)) status = fail_memory(m, "kn_sync");
        host_window h;
        if (!status && !there && !(status = node_host(n, &h, m))) {
            memcpy(l->data, h.data, l->size);
            host_drop(&h);
        }
        b = status ? NULL : record_new(l, m);
        fresh = b ? node_buffer(l->dtype, 1, &l->count, b, 0, m) : NULL;
        buffer_drop(b);
        if (fresh) cell_set(c, fresh);
        else status = m->status;
    }
    node_drop(n);
    return status;
}

kn_status kn_sync(kn_array a) {
    message m = { 0 };
    slot *s = array_operand(a, "kn_sync", &m);
    if (!s) {
        if (array_failed(a, NULL)) error_repeat(&m);
        else error_record(&m);
        return m.status;
    }
    if (s->kind != SLOT_ARRAY || !s->c->lent || !s->c->lent->share) return kn_eval(a);
    kn_status status = bring_back(s->c, s->c->lent, &m);
    if (status) error_record(&m);
    return status;
}
