/* einsum.c: sums of products by Einstein's notation, "ij,jk->ik".
 *
 * How it works: operands are taken in one after the other. Labels that occur twice in one operand become a diagonal, labels
 * that nothing later needs are summed up. Two operands become one matrix product: labels of both that stay are its batch,
 * labels of both that go are summed, the others are its rows and columns. ... stands for axes that broadcast. */
#include "ir/graph/internal.h"

#include <ctype.h>
#include <string.h>

#define LABELS 52                 /* a-z, A-Z; what ... stands for comes after them, the last axis first */
#define ALL_LABELS (LABELS + NDIM_MAX)
typedef struct labelled { node *n; int ndim; uint8_t label[NDIM_MAX]; } labelled;   /* n is owned */

static int label_of(char c) { return islower((unsigned char)c) ? c - 'a' : c - 'A' + 26; }
static bool is_dots(const char *s) { return s[0] == '.' && s[1] == '.' && s[2] == '.'; }

/* Labels of one term up to ',', '-' or the end; dots is how many axes "..." stands for (of an operand what is left of ndim). */
static kn_status read_term(const char **text, int ndim, int dots, uint8_t *label, int *count, message *m)
{
    const char *s = *text;
    int letters = 0;
    bool seen = false;
    *count = 0;
    for (const char *p = s; *p && *p != ',' && *p != '-'; p++)
        letters += isalpha((unsigned char)*p) != 0;
    if (ndim >= 0)
        dots = ndim - letters;
    for (; *s && *s != ',' && *s != '-'; s++) {
        if (*s == ' ')
            continue;
        if (is_dots(s) && !seen && dots >= 0) {
            for (int k = dots; k-- > 0;)
                label[(*count)++] = (uint8_t)(LABELS + k);
            seen = true;
            s += 2;
        } else if (isalpha((unsigned char)*s) && *count < NDIM_MAX) {
            label[(*count)++] = (uint8_t)label_of(*s);
        } else {
            return fail(m, KN_VALUE_ERROR, "einsum: '%c' in the subscripts is no label, or '...' stands twice", *s);
        }
    }
    *text = s;
    if (ndim >= 0 && (seen ? dots < 0 : dots != 0))
        return fail(m, KN_VALUE_ERROR, "einsum: %d labels for an operand of %d dimensions", letters, ndim);
    return KN_OK;
}

/* ---- one operand ---- */

static uint64_t low_bit(int d) { return (uint64_t)1 << d; }

/* A label that occurs twice becomes the diagonal of its axes. */
static kn_status take_diagonals(labelled *x, message *m)
{
    layout l;
    layout_of_node(x->n, &l);
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        int first = 0;
        while (first < n && x->label[first] != x->label[d])
            first++;
        if (first == n) {
            x->label[n] = x->label[d];
            l.shape[n] = l.shape[d];
            l.strides[n++] = l.strides[d];
        } else if (l.shape[first] != l.shape[d]) {
            return fail(m, KN_VALUE_ERROR, "einsum: the axes of one repeated label have extents %lld and %lld", (long long)l.shape[first], (long long)l.shape[d]);
        } else {
            l.strides[first] += l.strides[d];
        }
    }
    if (n == x->ndim)
        return KN_OK;
    l.ndim = x->ndim = n;
    x->n = do_view(x->n, &l, m);
    return x->n ? KN_OK : KN_MEMORY_ERROR;
}

/* Sums over labels that are not needed. */
static bool sum_out(labelled *x, const bool *needed, message *m)
{
    uint64_t axes = 0;
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (needed[x->label[d]])
            x->label[n++] = x->label[d];
        else
            axes |= low_bit(d);
    }
    x->ndim = n;
    if (axes)
        x->n = do_reduce(REDUCTION_sum, x->n, axes, false, m);
    return x->n != NULL;
}

/* x as an array with an axis for each of these labels, of extent 1 where it has none. Consumes x's node. */
static node *with_axes(labelled *x, const uint8_t *labels, int n, message *m)
{
    int order[NDIM_MAX], have = 0;
    int64_t shape[NDIM_MAX];
    for (int k = 0; k < n; k++) {
        int d = 0;
        while (d < x->ndim && x->label[d] != labels[k])
            d++;
        shape[k] = d < x->ndim ? x->n->shape[d] : 1;
        if (d < x->ndim)
            order[have++] = d;
    }
    node *r = do_reshape(do_transpose(x->n, order, m), n, shape, m);
    x->n = NULL;
    return r;
}

/* ---- two operands ---- */

static bool has_label(const labelled *x, uint8_t label)
{
    return memchr(x->label, label, (size_t)x->ndim) != NULL;
}

static int64_t extent_of_label(const labelled *x, uint8_t label)
{
    const uint8_t *at = memchr(x->label, label, (size_t)x->ndim);
    return at ? x->n->shape[at - x->label] : 1;
}

typedef struct label_list { uint8_t at[2 * NDIM_MAX]; int n; int64_t size; } label_list;

static void list_add(label_list *l, uint8_t label, int64_t extent)
{
    l->at[l->n++] = label;
    l->size *= extent;
}

static void list_join(label_list *to, const label_list *from)
{
    memcpy(to->at + to->n, from->at, (size_t)from->n);
    to->n += from->n;
}

/* (batch..., rows, columns) of an operand; batch axes stay apart, since they may broadcast. Consumes x's node. */
static node *as_matrices(labelled *x, const label_list *batch, const label_list *rows, const label_list *columns, message *m)
{
    label_list all = *batch;
    int64_t shape[NDIM_MAX];
    list_join(&all, rows);
    list_join(&all, columns);
    node *r = with_axes(x, all.at, all.n, m);
    for (int d = 0; r && d < batch->n; d++)
        shape[d] = r->shape[d];
    shape[batch->n] = rows->size;
    shape[batch->n + 1] = columns->size;
    return do_reshape(r, batch->n + 2, shape, m);
}

/* The product of x and y summed over what both have and nothing needs; result in x. Consumes y's node. */
static kn_status combine(labelled *x, labelled *y, const bool *needed, message *m)
{
    label_list batch = {.size = 1}, rows = {.size = 1}, columns = {.size = 1}, over = {.size = 1}, none = {.size = 1};
    int64_t shape[NDIM_MAX];
    for (int d = 0; d < x->ndim; d++) {
        uint8_t label = x->label[d];
        int64_t a = x->n->shape[d], b = extent_of_label(y, label);
        bool shared = has_label(y, label);
        if (shared && a != b && a != 1 && b != 1)
            return fail(m, KN_VALUE_ERROR, "einsum: operands have extents %lld and %lld for one label", (long long)a, (long long)b);
        list_add(!shared ? &rows : needed[label] || a != b ? &batch : &over, label, a > b ? a : b);
    }
    for (int d = 0; d < y->ndim; d++)
        if (!has_label(x, y->label[d]))
            list_add(&columns, y->label[d], y->n->shape[d]);
    if (batch.n + rows.n + columns.n > NDIM_MAX - 2 || batch.n + rows.n + over.n > NDIM_MAX || batch.n + columns.n + over.n > NDIM_MAX)
        return fail(m, KN_VALUE_ERROR, "einsum: an intermediate result has too many dimensions");
    node *r;
    label_list all = batch;
    list_join(&all, &rows);
    list_join(&all, &columns);
    for (int k = 0; k < all.n; k++) {
        int64_t a = extent_of_label(x, all.at[k]), b = extent_of_label(y, all.at[k]);
        shape[k] = a == 0 || b == 0 ? 0 : a > b ? a : b;
    }
    if (over.n == 0) { /* nothing is summed: an elementwise product, which fuses */
        node *a = with_axes(x, all.at, all.n, m);
        r = do_binary(UFUNC_multiply, a, with_axes(y, all.at, all.n, m), m);
    } else {
        node *a = as_matrices(x, &batch, rows.n ? &rows : &none, &over, m);
        r = do_reshape(do_product(a, as_matrices(y, &batch, &over, columns.n ? &columns : &none, m), m), all.n, shape, m);
    }
    x->n = r;
    x->ndim = all.n;
    memcpy(x->label, all.at, (size_t)all.n);
    return r ? sum_out(x, needed, m) ? KN_OK : KN_MEMORY_ERROR : m && m->status ? m->status : KN_MEMORY_ERROR;
}

/* ---- the whole ---- */

/* Without "->": what stands for "...", then labels that occur once, in alphabetical order (capitals first). */
static int implicit_output(const int *times, int dots, uint8_t *out)
{
    int n = 0;
    for (int k = dots; k-- > 0;)
        out[n++] = (uint8_t)(LABELS + k);
    for (int c = 0; c < LABELS; c++) {
        int label = (c + 26) % LABELS;
        if (times[label] == 1)
            out[n++] = (uint8_t)label;
    }
    return n;
}

static kn_status check_output(const uint8_t *out, int n, const int *times, message *m)
{
    for (int i = 0; i < n; i++) {
        if (!times[out[i]])
            return fail(m, KN_VALUE_ERROR, "einsum: a label of the result is in no operand");
        if (memchr(out + i + 1, out[i], (size_t)(n - i - 1)))
            return fail(m, KN_VALUE_ERROR, "einsum: a label stands twice in the result");
    }
    return KN_OK;
}

typedef struct expression { labelled *operand; int n, noutput, dots; uint8_t output[NDIM_MAX + LABELS]; int times[ALL_LABELS]; } expression;

static kn_status read_subscripts(const char *text, const op_value *list, kn_dtype t, expression *e, message *m)
{
    const char *s = text;
    kn_status status = KN_OK;
    for (int i = 0; i < list->v.list.n && !status; i++) {
        labelled *x = &e->operand[i];
        int ndim = list->v.list.at[i]->ndim;
        if (i > 0 && *s++ != ',')
            return fail(m, KN_VALUE_ERROR, "einsum: '%s' has fewer terms than the %d operands", text, list->v.list.n);
        status = read_term(&s, ndim, 0, x->label, &x->ndim, m);
        if (status)
            return status;
        for (int d = 0; d < x->ndim; d++) {
            e->times[x->label[d]]++;
            if (x->label[d] >= LABELS && x->label[d] - LABELS + 1 > e->dots)
                e->dots = x->label[d] - LABELS + 1;
        }
        x->n = node_cast(list->v.list.at[i], t, m);
        e->n++;
        status = x->n ? take_diagonals(x, m) : KN_MEMORY_ERROR;
    }
    if (!status && s[0] == '-' && s[1] == '>') {
        s += 2;
        status = read_term(&s, -1, e->dots, e->output, &e->noutput, m);
        if (!status)
            status = check_output(e->output, e->noutput, e->times, m);
    } else if (!status) {
        e->noutput = implicit_output(e->times, e->dots, e->output);
    }
    return status ? status : *s ? fail(m, KN_VALUE_ERROR, "einsum: '%s' has more terms than the %d operands", text, list->v.list.n) : KN_OK;
}

/* Takes the operands in one by one; what is left is in operand 0. */
static kn_status evaluate_terms(expression *e, message *m)
{
    kn_status status = KN_OK;
    for (int i = 0; i < e->n && !status; i++) {
        bool needed[ALL_LABELS] = {false};
        for (int d = 0; d < e->noutput; d++)
            needed[e->output[d]] = true;
        for (int k = i + 1; k < e->n; k++)
            for (int d = 0; d < e->operand[k].ndim; d++)
                needed[e->operand[k].label[d]] = true;
        labelled *x = &e->operand[i];
        if (i == 0) {
            status = sum_out(x, needed, m) ? KN_OK : KN_MEMORY_ERROR;
            continue;
        }
        bool here[ALL_LABELS];
        memcpy(here, needed, sizeof here);
        for (int d = 0; d < e->operand[0].ndim; d++)
            here[e->operand[0].label[d]] = true;
        status = sum_out(x, here, m) ? combine(&e->operand[0], x, needed, m) : KN_MEMORY_ERROR;
    }
    return status;
}

kn_status op_einsum(const op_value *args, node **results, message *m)
{
    int n = args[1].v.list.n;
    const char *text = args[0].v.text;
    if (!text || n < 1)
        return fail(m, KN_VALUE_ERROR, "einsum: needs subscripts and at least one operand");
    expression e = {.operand = mem_zero((size_t)n, sizeof *e.operand)};
    if (!e.operand)
        return fail_memory(m, "einsum");
    kn_dtype t = nodes_dtype(n, args[1].v.list.at);
    kn_status status = read_subscripts(text, &args[1], t, &e, m);
    if (!status)
        status = evaluate_terms(&e, m);
    node *r = status ? NULL : with_axes(&e.operand[0], e.output, e.noutput, m);
    for (int i = 0; i < e.n; i++)
        node_drop(e.operand[i].n);
    mem_free(e.operand);
    return status ? (m && m->status ? m->status : status) : give(results, r, m);
}
