/* Drives the graph floor for test_graph.py: one request a line on standard input, one answer a line.
 *
 *   ufunc NAME DTYPE|- OPERAND...          the result's dtypes; an operand is a dtype or a number (i:5 f:1.5 c:1 b:1)
 *   reshape SHAPE STRIDES SHAPE            strides of the new shape, or "copy"
 *   index SHAPE ITEM...                    shape and elements of arange(n).reshape(SHAPE)[ITEM...]
 *   op NAME PARAM=VALUE...                 results of an operation
 *   chain SHAPE | NAME PARAM=VALUE... | index ITEM... | ...   views of views of arange(n).reshape(SHAPE)
 *   scatter UFUNC SHAPE ITEM... = OPERAND  ufunc.at
 * A value is computed here, node by node, in double or int64; that is enough to see where every element goes. */
#include "ir/graph/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of nodes ---- */

/* Reals are kept as doubles (all integers met here are small), complex numbers as pairs. */
typedef struct value { double re, im; } value;

static value *evaluate_node(const node *n);
static bool out_of_range;         /* a position met in a gather or scatter, which at run time is a fault */

static value number_of(scalar s)
{
    switch (s.kind) {
    case SCALAR_BOOL: return (value){s.v.b, 0};
    case SCALAR_INT: return (value){(double)s.v.i, 0};
    case SCALAR_UINT: return (value){(double)s.v.u, 0};
    case SCALAR_FLOAT: return (value){s.v.f, 0};
    default: return (value){s.v.c.re, s.v.c.im};
    }
}

static value converted(kn_dtype t, value v)
{
    _Alignas(16) unsigned char e[16];
    scalar s = dtype_is_complex(t) ? (scalar){.kind = SCALAR_COMPLEX, .v.c = {v.re, v.im}} : (scalar){.kind = SCALAR_FLOAT, .v.f = v.re};
    if (t == KN_BOOL)
        return (value){v.re != 0 || v.im != 0, 0};
    element_store(t, e, s);
    return number_of(element_load(t, e));
}

static value mapped(int f, const value *x)
{
    double a = x[0].re, b = x[1].re;
    switch ((ufunc_number)f) {
    case UFUNC_add: return (value){a + b, x[0].im + x[1].im};
    case UFUNC_subtract: return (value){a - b, x[0].im - x[1].im};
    case UFUNC_multiply: return (value){a * b - x[0].im * x[1].im, a * x[1].im + x[0].im * b};
    case UFUNC_divide: return (value){a / b, 0};
    case UFUNC_remainder: return (value){b == 0 ? 0 : a - b * floor(a / b), 0};
    case UFUNC_power: return (value){pow(a, b), 0};
    case UFUNC_maximum: return (value){isnan(a) || a > b ? a : b, 0};
    case UFUNC_minimum: return (value){isnan(a) || a < b ? a : b, 0};
    case UFUNC_equal: return (value){a == b && x[0].im == x[1].im, 0};
    case UFUNC_not_equal: return (value){a != b || x[0].im != x[1].im, 0};
    case UFUNC_less: return (value){a < b, 0};
    case UFUNC_less_equal: return (value){a <= b, 0};
    case UFUNC_greater: return (value){a > b, 0};
    case UFUNC_greater_equal: return (value){a >= b, 0};
    case UFUNC_logical_and: return (value){a != 0 && b != 0, 0};
    case UFUNC_logical_or: return (value){a != 0 || b != 0, 0};
    case UFUNC_logical_not: return (value){a == 0, 0};
    case UFUNC_where: return a != 0 ? x[1] : x[2];
    case UFUNC_cast: return x[0];
    case UFUNC_require: return x[1];
    case UFUNC_negative: return (value){-a, -x[0].im};
    case UFUNC_square: return (value){a * a, 0};
    case UFUNC_sqrt: return (value){sqrt(a), 0};
    case UFUNC_fabs: case UFUNC_absolute: return (value){fabs(a), 0};
    case UFUNC_floor: return (value){floor(a), 0};
    case UFUNC_rint: return (value){rint(a), 0};
    case UFUNC_sign: return (value){(a > 0) - (a < 0), 0};
    case UFUNC_log10: return (value){log10(a), 0};
    case UFUNC_cos: return (value){cos(a), 0};
    case UFUNC_isnan: return (value){isnan(a), 0};
    case UFUNC_isinf: return (value){isinf(a) != 0, 0};
    case UFUNC_isfinite: return (value){isfinite(a), 0};
    case UFUNC_signbit: return (value){signbit(a) != 0, 0};
    case UFUNC_conjugate: return (value){a, -x[0].im};
    case UFUNC_arctan2: return (value){atan2(a, b), 0};
    default: fprintf(stderr, "graph: %s is not computed here\n", ufuncs[f].name); exit(3);
    }
}

static int64_t window_element(const node *n, const window *w, int64_t i)
{
    int64_t at = w->offset;
    (void)n;
    for (int d = w->ndim; d-- > 0;) {
        at += i % w->shape[d] * w->strides[d];
        i /= w->shape[d];
    }
    return at;
}

static void coordinates(int ndim, const int64_t *shape, int64_t i, int64_t *out)
{
    for (int d = ndim; d-- > 0;) {
        out[d] = i % shape[d];
        i /= shape[d];
    }
}

/* Where element i of a gather or scatter stands in in[0]; `first` is the number of the first index input. */
static int64_t gather_element(const node *n, const node *positions_of, int first, value *const *in, int64_t i)
{
    int64_t c[NDIM_MAX], at = 0;
    coordinates(positions_of->ndim, positions_of->shape, i, c);
    for (int d = 0; d < n->attr.gather.at.ndim; d++) {
        int from = n->attr.gather.at.from[d];
        int64_t extent = n->in[0]->shape[d], p = from >= 0 ? c[from] : (int64_t)in[first - 1 - from][i].re;
        if (p < 0)
            p += extent;
        if (p < 0 || p >= extent) {
            out_of_range = true;
            p = 0;
        }
        at = at * extent + p;
    }
    return at;
}

static value reduced_identity(const node *n)
{
    const char *s = reductions[n->op].identity;
    return (value){!s ? 0 : strcmp(s, "1") == 0 ? 1 : strncmp(s, "lowest", 6) == 0 ? -INFINITY : strncmp(s, "highest", 7) == 0 ? INFINITY : 0, 0};
}

static value folded(int reduction, value a, value b)
{
    switch ((reduction_number)reduction) {
    case REDUCTION_any: return (value){a.re != 0 || b.re != 0, 0};
    case REDUCTION_all: return (value){a.re != 0 && b.re != 0, 0};
    default: return mapped(reductions[reduction].ufunc, (value[]){a, b});
    }
}

static void reduce_values(const node *n, const value *in, value *out)
{
    const node *a = n->in[0];
    int64_t c[NDIM_MAX];
    double *mean = calloc((size_t)n->size + 1, sizeof *mean), *best = calloc((size_t)n->size + 1, sizeof *best), count = n->size ? (double)a->size / (double)n->size : 0;
    bool *seen = calloc((size_t)n->size + 1, 1);
    for (int64_t i = 0; i < n->size; i++)
        out[i] = reduced_identity(n);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < a->size; i++) {
            int64_t at = 0, along = 0;
            coordinates(a->ndim, a->shape, i, c);
            for (int d = 0; d < a->ndim; d++)
                *(n->attr.reduce.axes >> d & 1 ? &along : &at) = (n->attr.reduce.axes >> d & 1 ? along : at) * a->shape[d] + c[d];
            if (n->op == REDUCTION_var) {
                if (pass == 0)
                    mean[at] += in[i].re / count;
                else
                    out[at] = (value){(seen[at] ? out[at].re : 0) + (in[i].re - mean[at]) * (in[i].re - mean[at]), 0};
                seen[at] |= pass == 1;
            } else if (n->op == REDUCTION_argmax || n->op == REDUCTION_argmin) {
                double v = n->op == REDUCTION_argmax ? in[i].re : -in[i].re;
                if (pass == 0 && (!seen[at] || v > best[at])) {
                    best[at] = v;
                    out[at] = (value){(double)along, 0};
                    seen[at] = true;
                }
            } else if (pass == 0) {
                out[at] = !reductions[n->op].identity && !seen[at] ? in[i] : folded(n->op, out[at], in[i]);
                seen[at] = true;
            }
        }
    free(mean);
    free(best);
    free(seen);
}

static void scan_values(const node *n, const value *in, value *out)
{
    int64_t inner = 1;
    for (int d = n->attr.scan.axis + 1; d < n->ndim; d++)
        inner *= n->shape[d];
    for (int64_t i = 0; i < n->size; i++)
        out[i] = i / inner % n->shape[n->attr.scan.axis] == 0 ? in[i] : folded(n->op, out[i - inner], in[i]);
}

static void fill(const node *n, value *const *in, value *out)
{
    const window *w = &n->attr.view;
    value x[4];
    switch ((node_kind)n->kind) {
    case NODE_BUFFER: memcpy(out, n->value->data, (size_t)n->size * sizeof *out); break;
    case NODE_SCALAR: out[0] = number_of(n->attr.number); break;
    case NODE_EMPTY: for (int64_t i = 0; i < n->size; i++) out[i] = (value){-99, 0}; break;
    case NODE_INDEX: for (int64_t i = 0; i < n->size; i++) out[i] = (value){(double)i, 0}; break;
    case NODE_VIEW:
        for (int64_t i = 0; i < n->size; i++) {
            int64_t at = window_element(n, w, i);
            out[i] = !w->part ? in[0][at] : (value){at & 1 ? in[0][at / 2].im : in[0][at / 2].re, 0};
        }
        break;
    case NODE_WRITE:
        memcpy(out, in[0], (size_t)n->size * sizeof *out);
        for (int64_t i = 0; i < n->in[1]->size; i++)
            out[window_element(n, w, i)] = in[1][i];
        break;
    case NODE_MAP:
        for (int64_t i = 0; i < n->size; i++) {
            for (int k = 0; k < n->nin; k++)
                x[k] = in[k][n->in[k]->kind == NODE_SCALAR ? 0 : i];
            out[i] = converted(n->dtype, mapped(n->op, x));
        }
        break;
    case NODE_GATHER:
        for (int64_t i = 0; i < n->size; i++)
            out[i] = in[0][gather_element(n, n, 1, in, i)];
        break;
    case NODE_SCATTER:
        memcpy(out, in[0], (size_t)n->size * sizeof *out);
        for (int64_t i = 0; i < n->in[1]->size; i++) {
            value *to = &out[gather_element(n, n->in[1], 2, in, i)];
            *to = n->attr.gather.mode == SCATTER_SET ? in[1][i] : converted(n->dtype, mapped(n->op, (value[]){*to, in[1][i]}));
        }
        break;
    case NODE_REDUCE: reduce_values(n, in[0], out); break;
    case NODE_SCAN: scan_values(n, in[0], out); break;
    default: fprintf(stderr, "graph: opaque nodes are not computed here\n"); exit(3);
    }
}

static value *evaluate_node(const node *n)
{
    value *in[2 + NDIM_MAX] = {NULL}, *out = calloc((size_t)n->size + 1, sizeof *out);
    if (!out)
        exit(3);
    for (int k = 0; k < n->nin; k++) {
        const node *x = n->in[k];
        bool whole = n->kind != NODE_MAP || (x->ndim == n->ndim && memcmp(x->shape, n->shape, (size_t)n->ndim * sizeof *n->shape) == 0) || x->kind == NODE_SCALAR;
        if (!whole) {
            fprintf(stderr, "graph: an operand of %s has another shape than its result\n", ufuncs[n->op].name);
            exit(3);
        }
        in[k] = evaluate_node(x);
    }
    fill(n, in, out);
    for (int k = 0; k < n->nin; k++)
        free(in[k]);
    return out;
}

/* ---- requests ---- */

static const char *const status_names[] = {"ok", "ValueError", "TypeError", "IndexError", "MemoryError", "FileError", "ScopeError", "ZeroDivisionError", "OverflowError"};

static void print_failure(kn_status status, const message *m)
{
    printf("%s %s\n", status < sizeof status_names / sizeof *status_names ? status_names[status] : "OtherError", m->text);
}

static int numbers(const char *s, int64_t *out)
{
    int n = 0;
    while (*s && n < NDIM_MAX) {
        char *end;
        out[n++] = strtoll(s, &end, 10);
        if (end == s)
            return n - 1;
        s = *end == ',' ? end + 1 : end;
    }
    return n;
}

static void destroy(buffer *b) { free(b->data); free(b); }

/* "@3,4:float64": 0, 1, 2 ... of that shape; "=1,2,3:int64": these values; "i:5": a number. */
static node *operand(const char *s, message *m)
{
    char text[512];
    int64_t shape[NDIM_MAX], values[NDIM_MAX], size = 1;
    snprintf(text, sizeof text, "%s", s);
    if (*s != '@' && *s != '=') {
        double v = strtod(s + 2, NULL);
        scalar x = *s == 'b' ? (scalar){.kind = SCALAR_BOOL, .v.b = v != 0} : *s == 'f' ? (scalar){.kind = SCALAR_FLOAT, .v.f = v}
            : *s == 'c' ? (scalar){.kind = SCALAR_COMPLEX, .v.c = {v, 1}} : *s == 'u' ? (scalar){.kind = SCALAR_UINT, .v.u = strtoull(s + 2, NULL, 10)}
            : (scalar){.kind = SCALAR_INT, .v.i = strtoll(s + 2, NULL, 10)};
        return node_scalar(dtype_default(x.kind), x, x.kind != SCALAR_BOOL, m);
    }
    char *colon = strchr(text, ':');
    kn_dtype t = colon ? dtype_named(colon + 1, strlen(colon + 1)) : KN_INT64;
    if (colon)
        *colon = '\0';
    int ndim = numbers(text + 1, *s == '@' ? shape : values);
    if (*s == '=') {
        shape[0] = ndim;
        ndim = 1;
    }
    shape_size(ndim, shape, &size);
    buffer *b = calloc(1, sizeof *b);
    value *data = calloc((size_t)size + 1, sizeof *data);
    if (!b || !data)
        exit(3);
    for (int64_t i = 0; i < size; i++) {
        double v = *s == '=' ? (double)values[i] : (double)i;
        data[i] = t == KN_BOOL ? (value){(int64_t)v % 2 != 0, 0} : (value){v, dtype_is_complex(t) ? v + .5 : 0};
    }
    *b = (buffer){.refs = 1, .data = data, .destroy = destroy};
    node *n = node_buffer(t, ndim, shape, b, 0, m);
    buffer_drop(b);
    return n;
}

/* The line is "ok" and values, or the error that reading the values would be. */
static void print_value(const node *n, const char *before)
{
    out_of_range = false;
    value *v = evaluate_node(n);
    if (out_of_range) {
        printf("IndexError");
        free(v);
        return;
    }
    printf("%s", before);
    printf("%s (", dtype_table[n->dtype].name);
    for (int d = 0; d < n->ndim; d++)
        printf("%" PRId64 ",", n->shape[d]);
    printf(")");
    for (int64_t i = 0; i < n->size; i++) {
        printf(" %.17g", v[i].re);
        if (dtype_is_complex(n->dtype))
            printf("%+.17gj", v[i].im);
    }
    free(v);
}

static void request_ufunc(char **word, int nwords)
{
    message m = {0};
    ufunc_operand o[4];
    int f = ufunc_named(word[1]), nin = nwords - 3;
    kn_dtype dtype = *word[2] == '-' ? KN_DTYPE_UNSET : dtype_named(word[2], strlen(word[2]));
    for (int i = 0; i < nin; i++) {
        const char *s = word[3 + i];
        if (s[1] == ':') {
            node *n = operand(s, &m);
            o[i] = (ufunc_operand){.dtype = n->dtype, .weak = n->weak, .number = n->attr.number};
            node_drop(n);
        } else {
            o[i] = (ufunc_operand){.dtype = dtype_named(s, strlen(s))};
        }
    }
    const ufunc_loop *l = f < 0 ? NULL : ufunc_resolve(f, o, dtype, CAST_SAME_KIND, &m);
    if (!l) {
        print_failure(m.status, &m);
        return;
    }
    printf("ok");
    for (int i = 0; i < ufuncs[f].nout; i++)
        printf(" %s", dtype_table[l->out[i]].name);
    printf("\n");
}

static void request_reshape(char **word)
{
    int64_t shape[NDIM_MAX], strides[NDIM_MAX], to[NDIM_MAX], out[NDIM_MAX];
    int ndim = numbers(word[1] + 1, shape), to_ndim = numbers(word[3] + 1, to);
    numbers(word[2] + 1, strides);
    if (!strides_reshape(ndim, shape, strides, to_ndim, to, out)) {
        printf("copy\n");
        return;
    }
    printf("ok");
    for (int d = 0; d < to_ndim; d++)
        printf(" %" PRId64, out[d]);
    printf("\n");
}

/* "5" "1:9:2" "None" "..." "@2,3" (positions 0, 1 ...) "=4,0,1" */
static int index_items(char **word, int nwords, index_item *items, message *m)
{
    for (int i = 0; i < nwords; i++) {
        const char *s = word[i];
        index_item *t = &items[i];
        *t = (index_item){.kind = INDEX_INT};
        if (*s == '@' || *s == '=' || (*s == 'i' && s[1] == ':')) {
            t->kind = INDEX_ARRAY;
            t->array = operand(s, m);
        } else if (strcmp(s, "None") == 0) {
            t->kind = INDEX_NEW_AXIS;
        } else if (strcmp(s, "...") == 0) {
            t->kind = INDEX_ELLIPSIS;
        } else if (strchr(s, ':')) {
            bool *has[3] = {&t->has_start, &t->has_stop, &t->has_step};
            int64_t *v[3] = {&t->start, &t->stop, &t->step};
            t->kind = INDEX_SLICE;
            for (int k = 0; k < 3 && s; k++) {
                char *end;
                *v[k] = strtoll(s, &end, 10);
                *has[k] = end != s;
                s = *end == ':' ? end + 1 : NULL;
            }
        } else {
            t->start = strtoll(s, NULL, 10);
        }
    }
    return nwords;
}

static void request_index(char **word, int nwords, const char *ufunc)
{
    message m = {0};
    index_item items[NDIM_MAX];
    layout in;
    static index_plan p;
    char *end = nwords > 2 && strcmp(word[nwords - 2], "=") == 0 ? word[nwords - 1] : NULL;
    node *a = operand(word[1], &m), *b = end ? operand(end, &m) : NULL, *r = NULL;
    int n = index_items(word + 2, nwords - 2 - (end ? 2 : 0), items, &m);
    in = (layout){.dtype = a->dtype, .ndim = a->ndim};
    int64_t unit = (int64_t)dtype_size(a->dtype);
    for (int d = a->ndim; d-- > 0;) {
        in.shape[d] = a->shape[d];
        in.strides[d] = unit;
        unit *= a->shape[d] > 1 ? a->shape[d] : 1;
    }
    kn_status status = index_resolve(&in, items, n, &p, &m);
    if (!status && ufunc) {
        r = ufunc_at(ufunc_named(ufunc), a, &p, b, &m);
    } else if (!status) {
        int64_t strides[NDIM_MAX];
        for (int d = 0; d < p.window.ndim; d++)
            strides[d] = p.window.strides[d] / (int64_t)dtype_size(a->dtype);
        r = node_view(a, a->dtype, &(window){.offset = p.window.offset / (int64_t)dtype_size(a->dtype), .strides = strides, .shape = p.window.shape, .ndim = p.window.ndim}, &m);
        if (r && p.advanced) {
            node *g = node_gather(r, p.from, p.narrays, p.arrays, p.ndim, p.shape, &m);
            node_drop(r);
            r = g;
        }
    }
    if (r) {
        print_value(r, "ok ");
        printf("\n");
    } else {
        print_failure(m.status, &m);
    }
    if (!status)
        index_plan_free(&p);
    for (int i = 0; i < n; i++)
        node_drop(items[i].array);
    node_drop(a);
    node_drop(b);
    node_drop(r);
}

/* ---- operations ---- */

typedef struct storage { int64_t dim[NDIM_MAX]; node *list[32]; } storage;

static void set_argument(const op_param *p, const char *s, op_value *v, storage *room, message *m)
{
    int64_t x[NDIM_MAX];
    int axes[NDIM_MAX], n;
    v->given = true;
    switch ((param_kind)p->kind) {
    case PARAM_ARRAY: v->v.array = operand(s, m); break;
    case PARAM_LIST: {
        char text[512], *at = text;
        snprintf(text, sizeof text, "%s", s);
        v->v.list.at = room->list;
        for (v->v.list.n = 0; at && *at; v->v.list.n++) {
            char *next = strchr(at, ';');
            if (next)
                *next++ = '\0';
            room->list[v->v.list.n] = operand(at, m);
            at = next;
        }
        break;
    }
    case PARAM_SHAPE: v->v.shape.ndim = numbers(s, room->dim); v->v.shape.dim = room->dim; break;
    case PARAM_AXIS:
        if (strcmp(s, "all") == 0) {
            v->v.axis = INT64_MIN;
        } else if (strchr(s, ',') || !*s) {
            n = numbers(s, x);
            for (int i = 0; i < n; i++)
                axes[i] = (int)x[i];
            v->v.axis = axis_pack(n, axes);
        } else {
            v->v.axis = strtoll(s, NULL, 10);
        }
        break;
    case PARAM_DTYPE: v->v.dtype = dtype_named(s, strlen(s)); break;
    case PARAM_BOOL: v->v.flag = *s == '1'; break;
    case PARAM_INT: v->v.integer = strtoll(s, NULL, 10); break;
    case PARAM_NUMBER: v->v.number = strtod(s, NULL); break;
    case PARAM_TEXT: v->v.text = s; break;
    default: break;
    }
}

static void request_op(char **word, int nwords)
{
    message m = {0};
    op_value args[24];
    static storage room[24];
    node *results[8];
    int op = op_named(word[1]);
    if (op < 0) {
        printf("no such operation\n");
        return;
    }
    op_defaults(op, args);
    for (int i = 2; i < nwords; i++) {
        char *value_text = strchr(word[i], '=');
        *value_text++ = '\0';
        int p = op_param_named(op, word[i]);
        if (p < 0) {
            printf("no such parameter %s\n", word[i]);
            return;
        }
        set_argument(&ops[op].params[p], value_text, &args[p], &room[p], &m);
    }
    kn_status status = op_nodes(op, args, results, &m);
    if (status) {
        print_failure(status, &m);
    } else {
        for (int i = 0; i < ops[op].nresults; i++) {
            print_value(results[i], i ? " ; " : "ok ");
            node_drop(results[i]);
        }
        printf("\n");
    }
    for (int i = 0; i < ops[op].nparams; i++) {
        if (args[i].kind == PARAM_ARRAY)
            node_drop(args[i].v.array);
        for (int k = 0; args[i].kind == PARAM_LIST && k < args[i].v.list.n; k++)
            node_drop(args[i].v.list.at[k]);
    }
}

/* One step of a chain on a node, which it consumes. */
static node *step(node *a, char **word, int nwords, message *m)
{
    op_value args[24];
    static storage room[24];
    node *r = NULL;
    if (strcmp(word[0], "index") == 0) {
        index_item items[NDIM_MAX];
        static index_plan p;
        layout in = {.dtype = a->dtype, .ndim = a->ndim};
        int64_t unit = 1, strides[NDIM_MAX];
        for (int d = a->ndim; d-- > 0;) {
            in.shape[d] = a->shape[d];
            in.strides[d] = unit;
            unit *= a->shape[d] > 1 ? a->shape[d] : 1;
        }
        if (!index_resolve(&in, items, index_items(word + 1, nwords - 1, items, m), &p, m)) {
            memcpy(strides, p.window.strides, sizeof strides);
            r = node_view(a, a->dtype, &(window){.offset = p.window.offset, .strides = strides, .shape = p.window.shape, .ndim = p.window.ndim}, m);
        }
    } else {
        int op = op_named(word[0]);
        op_defaults(op, args);
        args[0].v.array = a;
        for (int i = 1; i < nwords; i++) {
            char *value_text = strchr(word[i], '=');
            *value_text++ = '\0';
            int p = op_param_named(op, word[i]);
            set_argument(&ops[op].params[p], value_text, &args[p], &room[p], m);
        }
        op_nodes(op, args, &r, m);
    }
    node_drop(a);
    return r;
}

static void request_chain(char **word, int nwords)
{
    message m = {0};
    node *a = operand(word[1], &m);
    for (int i = 2; i < nwords && a;) {
        int from = ++i;
        while (i < nwords && strcmp(word[i], "|") != 0)
            i++;
        a = step(a, word + from, i - from, &m);
    }
    if (a)
        print_value(a, "ok ");
    else
        print_failure(m.status, &m);
    int depth = 0;
    for (const node *n = a; n && n->kind == NODE_VIEW; n = n->in[0])
        depth++;
    printf(a ? " views %d\n" : "", depth);
    node_drop(a);
}

int main(void)
{
    static char line[1 << 16];
    char *word[256];
    while (fgets(line, sizeof line, stdin)) {
        int n = 0;
        for (char *w = strtok(line, " \n"); w && n < 256; w = strtok(NULL, " \n"))
            word[n++] = w;
        if (n == 0)
            continue;
        if (strcmp(word[0], "ufunc") == 0)
            request_ufunc(word, n);
        else if (strcmp(word[0], "reshape") == 0)
            request_reshape(word);
        else if (strcmp(word[0], "index") == 0)
            request_index(word, n, NULL);
        else if (strcmp(word[0], "scatter") == 0)
            request_index(word + 1, n - 1, word[1]);
        else if (strcmp(word[0], "chain") == 0)
            request_chain(word, n);
        else if (strcmp(word[0], "op") == 0)
            request_op(word, n);
        fflush(stdout);
    }
    return 0;
}
