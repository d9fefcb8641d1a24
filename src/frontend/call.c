/* call.c: from a call of the C interface to nodes, and back to handles.
 *
 * How it works: the generated binder (one function an operation) packs its arguments in the order of the operation's row
 * and comes here. Handles become nodes or layouts, the row's handler makes the result, `out` and, for elementwise
 * functions, `where` are applied to it. Elementwise calls without options take a short way. What a particular operation
 * means must not be put here. */
#include <pthread.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/call.h"
#include "libs/libs.h"
#include "runtime/runtime.h"

#define MOST_PARAMS 24
#define MOST_RESULTS 8
#define MOST_LISTED (1 << 20)

/* Where an operation's row has the parameters that are applied here; -1: nowhere. */
typedef struct roles { int8_t out, out2, where, dtype, casting; bool follows_out; } roles;
static roles role_table[NOPERATIONS];
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* These accumulate in the dtype of `out` when no dtype is given. */
static bool follows_out(const char *name) {
    static const char *const names[] = { "sum", "prod", "cumsum", "cumprod", "nansum", "nanprod", "nancumsum", "nancumprod" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) if (!strcmp(name, names[i])) return true;
    return false;
}

static void prepare(void) {
    libs_register();
    for (int op = 0; op < nops; op++) {
        int out1 = op_param_named(op, "out1");
        role_table[op] = (roles){
            .out = (int8_t)(out1 >= 0 ? out1 : op_param_named(op, "out")), .out2 = (int8_t)op_param_named(op, "out2"),
            .where = (int8_t)(ops[op].kind == OP_UFUNC ? op_param_named(op, "where") : -1), .dtype = (int8_t)op_param_named(op, "dtype"),
            .casting = (int8_t)op_param_named(op, "casting"), .follows_out = follows_out(ops[op].name),
        };
    }
}

void frontend_prepare(void) { pthread_once(&prepared, prepare); }

/* ---- arguments ---- */

static const int64_t no_extent;         /* where the extents of a shape without axes lie, so that handlers may copy them */

typedef struct call {
    int op;
    const op_info *row;
    const roles *role;
    const struct call_arg *args;
    op_value values[MOST_PARAMS];
    node **lists[4]; int nlists;        /* of LIST arguments; their nodes and memory are owned */
    kn_array culprit;                   /* the operand that failed */
    message m;
} call;

static bool given_array(const call *c, int param) { return param >= 0 && c->args[param].given && c->args[param].array.id; }

/* A 0-d array whose value the handler needs. Consumes n. */
static node *host_number(node *n, message *m) {
    if (!n || n->kind == NODE_SCALAR || n->ndim) return n;
    host_window h;
    node *number = NULL;
    if (!node_host(n, &h, m)) {
        number = node_scalar(h.dtype, element_load(h.dtype, h.data), false, m);
        host_drop(&h);
    }
    node_drop(n);
    return number;
}

static bool gather_array(call *c, int i) {
    const op_param *p = &c->row->params[i];
    kn_array a = c->args[i].array;
    op_value *v = &c->values[i];
    v->v.array = NULL;
    node *n = array_node(a, c->row->name, &c->m);
    if (!n) c->culprit = a;
    if (p->flags & PARAM_HOST) n = host_number(n, &c->m);
    v->v.array = n;
    v->given = true;
    return n != NULL;
}

static bool gather_list(call *c, int i) {
    kn_list list = c->args[i].list;
    op_value *v = &c->values[i];
    v->v.list.n = 0;
    if (list.n > MOST_LISTED || c->nlists == 4) { fail(&c->m, KN_VALUE_ERROR, "%s: a list of %zu arrays is too long", c->row->name, list.n); return false; }
    node **at = mem_zero(list.n ? list.n : 1, sizeof *at);
    if (!at) { fail_memory(&c->m, c->row->name); return false; }
    c->lists[c->nlists++] = at;
    v->v.list.at = at;
    v->given = true;
    for (size_t k = 0; k < list.n; k++) {
        at[k] = array_node(list.at[k], c->row->name, &c->m);
        if (!at[k]) { c->culprit = list.at[k]; return false; }
        v->v.list.n++;
    }
    return true;
}

static bool gather_one(call *c, int i) {
    const struct call_arg *a = &c->args[i];
    op_value *v = &c->values[i];
    const op_param *p = &c->row->params[i];
    bool needed = p->kind == PARAM_ARRAY && !p->optional && !(p->flags & PARAM_REQUIRED_IN_C);
    if (!a->given && !needed) return true;
    v->given = true;
    switch ((param_kind)p->kind) {
    case PARAM_ARRAY: return gather_array(c, i);
    case PARAM_LIST: return gather_list(c, i);
    case PARAM_SHAPE:
        if (a->shape.ndim > NDIM_MAX) { fail(&c->m, KN_VALUE_ERROR, "%s: a shape has at most %d axes", c->row->name, NDIM_MAX); return false; }
        if (a->shape.ndim > 0 && !a->shape.dim) { fail(&c->m, KN_VALUE_ERROR, "%s: the shape's extents are missing", c->row->name); return false; }
        v->v.shape.ndim = a->shape.ndim;
        v->v.shape.dim = a->shape.dim ? a->shape.dim : &no_extent;
        return true;
    case PARAM_AXIS: v->v.axis = a->axis; return true;
    case PARAM_DTYPE:
        if (a->dtype < KN_DTYPE_UNSET || a->dtype >= NDTYPES) { fail(&c->m, KN_TYPE_ERROR, "%s: there is no dtype %d", c->row->name, (int)a->dtype); return false; }
        v->v.dtype = a->dtype;
        v->given = a->dtype != KN_DTYPE_UNSET;
        return true;
    case PARAM_BOOL: v->v.flag = a->flag; return true;
    case PARAM_INT: v->v.integer = a->integer; return true;
    case PARAM_NUMBER: v->v.number = a->number; return true;
    case PARAM_DEVICE: v->v.device = a->device; return true;
    case PARAM_NORM: v->v.norm = a->norm; return true;
    case PARAM_TEXT: v->v.text = a->text; return true;
    case PARAM_RNG: return (v->v.rng = random_of(a->rng, c->row->name, &c->m)) != NULL;
    }
    return true;
}

static bool is_out(const call *c, int i) { return i == c->role->out || i == c->role->out2 || i == c->role->where; }

static bool gather(call *c) {
    op_defaults(c->op, c->values);
    for (int i = 0; i < c->row->nparams; i++) {
        bool later = is_out(c, i) || (i == 0 && c->row->kind == OP_VIEW);
        if (!later && !gather_one(c, i)) return false;
    }
    layout l;
    if (c->role->follows_out && c->role->dtype >= 0 && !c->values[c->role->dtype].given && given_array(c, c->role->out)) {
        c->culprit = c->args[c->role->out].array;
        if (!array_layout(c->culprit, c->row->name, &l, &c->m)) return false;
        c->values[c->role->dtype].v.dtype = l.dtype;
        c->values[c->role->dtype].given = true;
    }
    return true;
}

static void let_go(call *c) {
    for (int i = 0; i < c->row->nparams; i++)
        if (c->row->params[i].kind == PARAM_ARRAY && c->values[i].given && !is_out(c, i)) node_drop(c->values[i].v.array);
    int list = 0;
    for (int i = 0; i < c->row->nparams && list < c->nlists; i++) {
        if (c->row->params[i].kind != PARAM_LIST || !c->args[i].given) continue;
        for (int k = 0; k < c->values[i].v.list.n; k++) node_drop(c->lists[list][k]);
        mem_free(c->lists[list++]);
    }
}

/* ---- results ---- */

static kn_array new_array(node *n) {
    if (__atomic_load_n(&n->work, __ATOMIC_RELAXED) > WORK_LIMIT && !node_ready(n)) evaluate(&n, 1, NULL);
    return array_from_node(n);
}

static casting casting_asked(const call *c) {
    casting rule;
    casting_named(c->role->casting >= 0 ? c->values[c->role->casting].v.text : NULL, &rule);   /* the handler has refused other words */
    return rule;
}

/* An elementwise result may be broadcast into `out`; another one has out's shape. */
static kn_status check_out(const call *c, const node *n, const layout *to) {
    char have[SHAPE_TEXT], want[SHAPE_TEXT];
    bool same = n->ndim == to->ndim && !memcmp(n->shape, to->shape, (size_t)to->ndim * sizeof *to->shape), wider = n->ndim <= to->ndim;
    for (int d = 1; wider && d <= n->ndim; d++) wider = n->shape[n->ndim - d] == to->shape[to->ndim - d] || n->shape[n->ndim - d] == 1;
    if (same || (c->row->kind == OP_UFUNC && wider)) return KN_OK;
    return fail((message *)&c->m, KN_VALUE_ERROR, c->row->kind == OP_UFUNC ? "%s: non-broadcastable output operand with shape %s doesn't match the broadcast shape %s"
                                                                           : "%s: output array has shape %s, but the result has shape %s",
                c->row->name, shape_text(have, to->ndim, to->shape), shape_text(want, n->ndim, n->shape));
}

/* where: the result where the condition holds, else what `out` holds (without out: zeros; NumPy leaves them open). Consumes n. */
static node *chosen(call *c, node *n, kn_array out) {
    kn_array condition = c->args[c->role->where].array;
    node *in[3] = { array_node(condition, c->row->name, &c->m), NULL, NULL }, *result = NULL;
    layout to;
    if (!in[0]) c->culprit = condition;
    if (in[0] && in[0]->dtype != KN_BOOL) {
        fail(&c->m, KN_TYPE_ERROR, "%s: where is an array of bool, not of %s", c->row->name, dtype_table[in[0]->dtype].name);
    } else if (in[0] && out.id) {
        in[2] = array_layout(out, c->row->name, &to, &c->m) ? array_node(out, c->row->name, &c->m) : NULL;
        if (in[2] && dtype_can_cast((kn_dtype)n->dtype, to.dtype, casting_asked(c))) in[1] = node_cast(n, to.dtype, &c->m);
        else if (in[2]) fail(&c->m, KN_TYPE_ERROR, "Cannot cast ufunc '%s' output from %s to %s with casting rule 'same_kind'", c->row->name, dtype_table[n->dtype].name, dtype_table[to.dtype].name);
    } else if (in[0]) {
        in[1] = node_keep(n);
        in[2] = node_scalar((kn_dtype)n->dtype, (scalar){ SCALAR_INT, { .i = 0 } }, false, &c->m);
    }
    if (in[1] && in[2]) ufunc_apply(UFUNC_where, 3, in, KN_DTYPE_UNSET, &result, &c->m);
    for (int i = 0; i < 3; i++) node_drop(in[i]);
    node_drop(n);
    return result;
}

/* Stores a result into `out`, or makes it a new array. Consumes n. */
static kn_array put(call *c, node *n, kn_array out) {
    layout to;
    if (c->role->where >= 0 && given_array(c, c->role->where) && !(n = chosen(c, n, out))) return (kn_array){ 0 };
    if (!out.id) return new_array(n);
    kn_status status = array_layout(out, c->row->name, &to, &c->m) ? check_out(c, n, &to) : c->m.status;
    if (!status) status = array_store(out, n, casting_asked(c), c->row->name, &c->m);
    else c->culprit = out;
    node_drop(n);
    return status ? (kn_array){ 0 } : out;
}

static kn_array out_of(const call *c, int result) {
    if (c->row->kind == OP_UPDATE) return c->args[0].array;
    int param = result == 0 ? c->role->out : result == 1 ? c->role->out2 : -1;
    return given_array(c, param) ? c->args[param].array : (kn_array){ 0 };
}

/* Every result becomes the error; targets that were given become it themselves. */
static void all_bad(call *c, kn_array *results) {
    bool carried = c->culprit.id && array_failed(c->culprit, NULL);
    for (int i = 0; i < c->row->nresults; i++) {
        kn_array out = out_of(c, i);
        slot *s = out.id ? slot_of(out) : NULL;
        if (s && s->kind == SLOT_ARRAY) array_spoil(out, &c->m, !carried && i == 0);
        if (s && s->kind != SLOT_NUMBER) results[i] = out;
        else if (i > 0) results[i] = array_bad(results[0], &c->m);
        else results[i] = carried ? array_bad(c->culprit, &c->m) : array_error(&c->m);
    }
}

/* ---- views ---- */

static kn_array viewed(call *c) {
    kn_array a = c->args[0].array;
    slot *s = array_operand(a, c->row->name, &c->m);
    cell *base = s ? slot_cell(s, &c->m) : NULL;
    kn_array result = { 0 };
    layout in, out;
    c->culprit = a;
    if (!base) return result;
    slot_layout(s, &in);
    kn_status status = c->row->view(&in, c->values, &out, &c->m);
    if (!status) result = array_from_window(base, &out, s->readonly || c->row->readonly);
    cell_drop(base);
    if (status != VIEW_NEEDS_COPY || !gather_one(c, 0)) return result;
    node *n = NULL;
    return op_nodes(c->op, c->values, &n, &c->m) ? result : new_array(n);
}

/* ---- calls ---- */

void frontend_call(int op, const struct call_arg *args, kn_array *results) {
    frontend_prepare();
    if (!args) {
        for (int i = 0; i < ops[op].nresults; i++)
            results[i] = array_fail(KN_TYPE_ERROR, "%s: the option struct was not initialised; start from KN_<family>_DEFAULTS_ or pass NULL", ops[op].name);
        return;
    }
    call c = { .op = op, .row = &ops[op], .role = &role_table[op], .args = args };
    node *made[MOST_RESULTS] = { NULL };
    bool good = gather(&c);
    if (good && c.row->kind == OP_VIEW) {
        results[0] = viewed(&c);
        good = results[0].id != 0;
    } else if (good) {
        good = (c.row->kind == OP_FRONTEND ? op_with_values(op, c.values, made, &c.m) : op_nodes(op, c.values, made, &c.m)) == KN_OK;
        for (int i = 0; i < c.row->nresults && made[i]; i++) {
            if (good) results[i] = put(&c, made[i], out_of(&c, i));
            else node_drop(made[i]);
            good = good && results[i].id;
        }
    }
    if (!good) all_bad(&c, results);
    let_go(&c);
}

kn_list frontend_call_list(int op, const struct call_arg *args) {
    kn_list list = { 0, NULL };
    frontend_prepare();
    if (!args) {
        array_fail(KN_TYPE_ERROR, "%s: the option struct was not initialised; start from KN_<family>_DEFAULTS_ or pass NULL", ops[op].name);
        return list;
    }
    call c = { .op = op, .row = &ops[op], .role = &role_table[op], .args = args };
    if (!gather(&c) || op_many(op, c.values, args[0].array, &list, &c.m)) {
        kn_array failed;
        all_bad(&c, &failed);
        list = (kn_list){ 0, NULL };
    }
    let_go(&c);
    return list;
}

/* An operand for as long as the call lasts: of a whole cell the node that it holds, which the cell keeps; of a number or a
 * window a new one, which is also *owned. */
static node *operand_node(kn_array a, const char *what, node **owned, message *m) {
    slot *s = array_operand(a, what, m);
    *owned = NULL;
    if (!s) return NULL;
    if (s->kind == SLOT_ARRAY && !s->window && __atomic_load_n(&s->c->value->state, __ATOMIC_ACQUIRE) != NODE_FAULT) return s->c->value;
    return *owned = slot_node(s, m);
}

/* An elementwise function of arrays and numbers, no options. */
static kn_array call_ufunc(const op_info *row, const struct call_arg *args) {
    const ufunc_info *f = &ufuncs[row->index];
    node *in[4], *owned[4], *out = NULL;
    message m;
    m.status = KN_OK;
    int have = 0;
    while (have < f->nin && (in[have] = operand_node(args[have].array, row->name, &owned[have], &m))) have++;
    bool whole = have == f->nin;
    if (whole) ufunc_apply(row->index, f->nin, in, KN_DTYPE_UNSET, &out, &m);
    for (int i = 0; i < have; i++) if (owned[i]) node_drop(owned[i]);
    if (out) return new_array(out);
    return whole ? array_error(&m) : array_bad(args[have].array, &m);
}

kn_array frontend_call1(int op, const struct call_arg *args) {
    const op_info *row = &ops[op];
    bool plain = args && row->kind == OP_UFUNC && row->nresults == 1;
    for (int i = plain ? ufuncs[row->index].nin : 0; plain && i < row->nparams; i++) plain = !args[i].given;
    if (plain) return call_ufunc(row, args);
    kn_array result = { 0 };
    frontend_call(op, args, &result);
    return result;
}
