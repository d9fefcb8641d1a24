/* slices.c: see slices.h. */
#include "slices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- leaves ---- */

static void free_buffer(buffer *b) {
    mem_free(b->data);
    mem_free(b);
}

node *leaf_of(kn_dtype t, int ndim, const int64_t *shape, const double *numbers) {
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) size *= shape[d];
    buffer *b = mem_zero(1, sizeof *b);
    size_t item = dtype_size(t);
    *b = (buffer){ .refs = 1, .device = KN_CPU, .aligned = true, .data = mem_aligned((size_t)size * item + 1, 64), .size = (size_t)size * item, .destroy = free_buffer };
    for (int64_t i = 0; i < size; i++) {
        scalar s = { .kind = SCALAR_COMPLEX, .v.c = { numbers ? numbers[i] : (double)i, dtype_is_complex(t) ? (double)(i % 5) - 2 : 0 } };
        element_store(t, (char *)b->data + (size_t)i * item, s);
    }
    node *n = node_buffer(t, ndim, shape, b, 0, NULL);
    buffer_drop(b);
    return n;
}

double leaf_number(const node *n, int64_t i) {
    scalar s = element_load((kn_dtype)n->dtype, (char *)n->value->data + n->offset + (size_t)i * dtype_size((kn_dtype)n->dtype));
    return s.kind == SCALAR_FLOAT ? s.v.f : s.kind == SCALAR_INT ? (double)s.v.i : s.kind == SCALAR_UINT ? (double)s.v.u : s.kind == SCALAR_BOOL ? s.v.b : s.v.c.re;
}

/* ---- node by node ---- */

static const char *value_at(const case_slice *c, const node *n) {
    if (n->slot >= SLOT_LEAF && n->slot < SLOT_SCALAR) return c->leaf_values[n->slot - SLOT_LEAF];
    return n->slot < SLOT_LEAF ? c->values[n->slot] : NULL;
}

static void element_parts(const case_slice *c, const node *n, int64_t i, uint64_t *parts) {
    kn_dtype t = (kn_dtype)n->dtype;
    ktype k = ktype_of_dtype(t);
    char bytes[16] = { 0 };
    const char *array = value_at(c, n);
    if (n->kind == NODE_SCALAR) {
        element_store(t, bytes, n->attr.number);
        array = bytes;
        i = 0;
    }
    int count = dtype_is_complex(t) ? 2 : 1;
    for (int p = 0; p < count; p++) parts[p] = eval_load(k, array, i * count + p);
}

static void store_parts(kn_dtype t, char *array, int64_t i, const uint64_t *parts) {
    int count = dtype_is_complex(t) ? 2 : 1;
    for (int p = 0; p < count; p++) eval_store(ktype_of_dtype(t), array, i * count + p, parts[p]);
}

static kn_dtype plain(kn_dtype t) { return t == KN_FLOAT16 || t == KN_BFLOAT16 ? KN_FLOAT32 : t; }

static int kop_of(const char *name) {
    static const char *const names[] = {
#define KOP(name, ...) #name,
#include "ir/kir/kops.def"
    };
    for (int i = 0; i < NKOPS; i++) if (!strcmp(names[i], name)) return i;
    return -1;
}

/* A function by name for operands given as parts; false where there is none. */
static bool named(const char *name, const kn_dtype *types, int n, const uint64_t *args, uint64_t *out) {
    kn_dtype t[8];
    for (int i = 0; i < n; i++) t[i] = plain(types[i]);
    int f = device_function(name, t, n), op = kop_of(name);
    if (f >= 0) { eval_function(f, args, out); return true; }
    ktype k = ktype_value(ktype_of_dtype(t[0]));
    if (dtype_is_complex(t[0]) && n == 1 && !strcmp(name, "conjugate")) {
        out[0] = args[0];
        out[1] = eval_primitive(KOP_neg, k, k, args[1], 0, 0);
        return true;
    }
    if (op < 0 || (dtype_is_complex(t[0]) && op != KOP_add && op != KOP_sub && op != KOP_neg)) return false;
    ktype result = op >= KOP_eq && op <= KOP_ge ? T_BOOL : k;
    int parts = dtype_is_complex(t[0]) ? 2 : 1;
    for (int p = 0; p < parts; p++) out[p] = eval_primitive((kop)op, result, k, args[p], n > 1 ? args[parts + p] : 0, 0);
    return true;
}

static bool map_element(const case_slice *c, const node *n, int64_t i, char *out) {
    kn_dtype types[8], t = (kn_dtype)n->dtype;
    uint64_t args[16], result[16];
    int nargs = 0;
    for (int j = 0; j < n->nin; j++) {
        types[j] = (kn_dtype)n->in[j]->dtype;
        element_parts(c, n->in[j], i, &args[nargs]);
        nargs += dtype_is_complex(types[j]) ? 2 : 1;
    }
    if (n->op == UFUNC_cast) { element_cast(t, out + (size_t)i * dtype_size(t), types[0], value_at(c, n->in[0]) + (size_t)i * dtype_size(types[0])); return true; }
    if (n->op == UFUNC_where) {
        int parts = dtype_is_complex(t) ? 2 : 1;
        store_parts(t, out, i, args[0] ? &args[1] : &args[1 + parts]);
        return true;
    }
    if (n->op == UFUNC_require) {
        store_parts(t, out, i, &args[1]);
        return args[0] != 0;
    }
    const ufunc_loop *loop = ufunc_loop_for(n->op, types);
    if (n->op == UFUNC_power && n->in[1]->kind == NODE_SCALAR) {        /* squares only */
        args[1] = args[0];
        if (!named("mul", types, 2, args, result)) return false;
    } else if (!named(loop->body, types, n->nin, args, result)) {
        return false;
    }
    store_parts(t, out, i, result);
    return true;
}

static void coordinates(int ndim, const int64_t *shape, int64_t i, int64_t *at) {
    for (int d = ndim; d-- > 0;) {
        at[d] = i % shape[d];
        i /= shape[d];
    }
}

static int64_t window_element(const window *w, const int64_t *at) {
    int64_t e = w->offset;
    for (int d = 0; d < w->ndim; d++) e += w->strides[d] * at[d];
    return e;
}

static int64_t gathered_element(case_slice *c, const gather_attr *g, const node *source, const int64_t *at, node *const *index, int64_t i) {
    int64_t e = 0;
    for (int d = 0; d < g->ndim; d++) {
        int64_t k = g->from[d] >= 0 ? at[(int)g->from[d]] : 0;
        if (g->from[d] < 0) {
            uint64_t word[2];
            element_parts(c, index[-1 - g->from[d]], i, word);
            k = (int64_t)word[0];
            if (k < 0) k += source->shape[d];
            if (k < 0 || k >= source->shape[d]) { c->fault = 1; k = 0; }
        }
        e = e * source->shape[d] + k;
    }
    return e;
}

static int64_t reduced_element(const node *n, uint64_t axes, const int64_t *at, int64_t *place) {
    const node *in = n->in[0];
    int64_t row = 0, within = 0;
    for (int d = 0; d < in->ndim; d++) {
        if (axes >> d & 1) within = within * in->shape[d] + at[d];
        else row = row * in->shape[d] + at[d];
    }
    *place = within;
    return row;
}

/* Reductions and scans: element after element in C order. */
static bool reduce_node(case_slice *c, const node *n, char *out) {
    const reduction_info *r = &reductions[n->op];
    const node *in = n->in[0];
    bool scan = n->kind == NODE_SCAN;
    uint64_t axes = scan ? (uint64_t)1 << n->attr.scan.axis : n->attr.reduce.axes, *state;
    kn_dtype t = (kn_dtype)in->dtype, types[8];
    int parts = dtype_is_complex(t) ? 2 : 1, width = r->nstate + parts - 1;
    int64_t rows = scan ? in->size / (in->shape[n->attr.scan.axis] ? in->shape[n->attr.scan.axis] : 1) : n->size;
    state = arena_zero(&c->mem, (size_t)(rows * width) + 1, sizeof *state);
    bool *begun = arena_zero(&c->mem, (size_t)rows + 1, 1);
    for (int i = 0; i < r->nstate; i++) types[i] = types[r->nstate + i] = t;
    const ufunc_loop *loop = r->ufunc >= 0 && r->nstate == 1 && ufuncs[r->ufunc].nin == 2 ? ufunc_loop_for(r->ufunc, types) : NULL;
    const char *combine = loop && loop->body && loop->out[0] == t ? loop->body : r->combine;
    if (r->indexed) types[1] = types[3] = KN_INT64;
    for (int64_t i = 0; i < in->size; i++) {
        int64_t at[NDIM_MAX], within;
        uint64_t lifted[8], both[16];
        coordinates(in->ndim, in->shape, i, at);
        int64_t row = reduced_element(n, axes, at, &within);
        element_parts(c, in, i, lifted);
        if (r->lift) {
            uint64_t args[3] = { lifted[0], lifted[1] };
            args[parts] = (uint64_t)within;
            if (!named(r->lift, (kn_dtype[]){ t, KN_INT64 }, r->indexed ? 2 : 1, args, lifted)) return false;
        }
        memcpy(both, &state[row * width], (size_t)width * sizeof *both);
        memcpy(both + width, lifted, (size_t)width * sizeof *both);
        if (!begun[row]) memcpy(&state[row * width], lifted, (size_t)width * sizeof *both);
        else if (!named(combine, types, 2 * r->nstate, both, &state[row * width])) return false;
        begun[row] = true;
        if (scan) store_parts((kn_dtype)n->dtype, out, i, &state[row * width]);
    }
    for (int64_t row = 0; row < rows && !scan; row++) {
        uint64_t value[16] = { 0 };
        if (!begun[row] && r->identity && !strcmp(r->identity, "1")) {
            node one = { .kind = NODE_SCALAR, .dtype = (uint8_t)t, .slot = SLOT_SCALAR, .attr.number = { .kind = SCALAR_INT, .v.i = 1 } };
            element_parts(c, &one, 0, &state[row * width]);
        }
        memcpy(value, &state[row * width], (size_t)width * sizeof *value);
        if (r->finish && !named(r->finish, types, r->nstate, &state[row * width], value)) return false;
        store_parts((kn_dtype)n->dtype, out, row, value);
    }
    return true;
}

static bool scatter_node(case_slice *c, const node *n, char *out) {
    kn_dtype t = (kn_dtype)n->dtype, types[2] = { t, t };
    memcpy(out, value_at(c, n->in[0]), (size_t)n->size * dtype_size(t));
    for (int64_t i = 0; i < n->in[1]->size; i++) {
        int64_t at[NDIM_MAX];
        uint64_t both[4], value[16];
        coordinates(n->in[1]->ndim, n->in[1]->shape, i, at);
        int64_t e = gathered_element(c, &n->attr.gather.at, n, at, &n->in[2], i);
        int parts = dtype_is_complex(t) ? 2 : 1;
        for (int p = 0; p < parts; p++) both[p] = eval_load(ktype_of_dtype(t), out, e * parts + p);
        element_parts(c, n->in[1], i, &both[parts]);
        memcpy(value, &both[parts], (size_t)parts * sizeof *value);
        if (n->attr.gather.mode == SCATTER_COMBINE && !named(ufunc_loop_for(n->op, types)->body, types, 2, both, value)) return false;
        store_parts(t, out, e, value);
    }
    return true;
}

static bool compute_node(case_slice *c, const node *n, char *out) {
    kn_dtype t = (kn_dtype)n->dtype;
    size_t item = dtype_size(t);
    int64_t at[NDIM_MAX];
    uint64_t word[2];
    if (n->kind == NODE_REDUCE || n->kind == NODE_SCAN) return reduce_node(c, n, out);
    if (n->kind == NODE_SCATTER) return scatter_node(c, n, out);
    if (n->kind == NODE_WRITE) {
        const window *w = &n->attr.view;
        memcpy(out, value_at(c, n->in[0]), (size_t)n->size * item);
        kn_dtype part = w->part ? dtype_table[t].part : t;
        for (int64_t i = 0; i < n->in[1]->size; i++) {
            coordinates(w->ndim, w->shape, i, at);
            element_parts(c, n->in[1], i, word);
            store_parts(part, out, window_element(w, at), word);
        }
        return true;
    }
    for (int64_t i = 0; i < n->size; i++) {
        coordinates(n->ndim, n->shape, i, at);
        switch (n->kind) {
        case NODE_INDEX: store_parts(t, out, i, (uint64_t[]){ (uint64_t)i }); break;
        case NODE_EMPTY: break;
        case NODE_MAP: if (!map_element(c, n, i, out)) return false; break;
        case NODE_VIEW:
            if (n->in[0]->kind == NODE_SCALAR) { element_parts(c, n->in[0], 0, word); store_parts(t, out, i, word); break; }
            memcpy(out + (size_t)i * item, value_at(c, n->in[0]) + window_element(&n->attr.view, at) * (int64_t)item, item);
            break;
        case NODE_GATHER:
        {
            int64_t e = gathered_element(c, &n->attr.gather.at, n->in[0], at, &n->in[1], i);
            if (n->in[0]->size) memcpy(out + (size_t)i * item, value_at(c, n->in[0]) + e * (int64_t)item, item);
            break;
        }
        default: return false;
        }
    }
    return true;
}

/* ---- slices ---- */

static uint32_t present;

static void walk_below(case_slice *c, node *root) {
    struct { node *n; int next; } *stack = arena_alloc(&c->mem, 200000 * sizeof *stack);
    int depth = 0;
    stack[depth].n = root;
    stack[depth++].next = 0;
    root->visit = root->state == NODE_READY || root->kind == NODE_SCALAR ? 0 : present;
    while (depth) {
        node *n = stack[depth - 1].n;
        if (stack[depth - 1].next == n->nin) {
            n->slot = (uint32_t)c->s.nnodes;
            c->s.nodes[c->s.nnodes++] = n;
            depth--;
            continue;
        }
        node *in = n->in[stack[depth - 1].next++];
        if (in->visit == present) continue;
        in->visit = present;
        if (in->kind == NODE_SCALAR) {
            in->slot = SLOT_SCALAR + (uint32_t)c->s.nscalars;
            c->s.scalars[c->s.nscalars++] = in;
        } else if (in->kind == NODE_BUFFER || in->state == NODE_READY) {
            in->slot = SLOT_LEAF + (uint32_t)c->s.nleaves;
            c->s.leaves[c->s.nleaves++] = in;
        } else {
            stack[depth].n = in;
            stack[depth++].next = 0;
        }
    }
}

void slice_make(case_slice *c, int nroots, node *const *roots) {
    memset(c, 0, sizeof *c);
    present = present ? present + 1 : 0x40000000u;
    size_t most = 120000;
    c->s.nodes = arena_zero(&c->mem, most, sizeof(node *));
    c->s.leaves = arena_zero(&c->mem, most, sizeof(node *));
    c->s.scalars = arena_zero(&c->mem, most, sizeof(node *));
    c->roots = arena_copy(&c->mem, roots, (size_t)nroots * sizeof *roots);
    c->nroots = nroots;
    for (int i = 0; i < nroots; i++) if (roots[i]->visit != present) walk_below(c, roots[i]);
    c->s.wanted = arena_zero(&c->mem, (size_t)c->s.nnodes + 1, 1);
    c->s.overwritable = arena_zero(&c->mem, (size_t)c->s.nleaves + 1, 1);
    for (int i = 0; i < nroots; i++) c->s.wanted[roots[i]->slot] = true;
}

void slice_overwritable(case_slice *c, const node *leaf) { c->s.overwritable[leaf->slot - SLOT_LEAF] = true; }

void slice_free(case_slice *c) {
    text_free(&c->why);
    arena_free(&c->mem);
}

static char *copy_of_leaf(case_slice *c, const node *n) {
    size_t bytes = (size_t)n->size * dtype_size((kn_dtype)n->dtype);
    char *p = arena_zero(&c->mem, bytes + 64, 1);
    if (bytes) memcpy(p, (char *)n->value->data + n->offset, bytes);
    return p;
}

static bool compute_all(case_slice *c) {
    if (c->values) return true;
    c->values = arena_zero(&c->mem, (size_t)c->s.nnodes + 1, sizeof *c->values);
    c->leaf_values = arena_zero(&c->mem, (size_t)c->s.nleaves + 1, sizeof *c->leaf_values);
    for (int i = 0; i < c->s.nleaves; i++) c->leaf_values[i] = copy_of_leaf(c, c->s.leaves[i]);
    for (int i = 0; i < c->s.nnodes; i++) {
        const node *n = c->s.nodes[i];
        c->values[i] = arena_zero(&c->mem, (size_t)n->size * dtype_size((kn_dtype)n->dtype) + 64, 1);
        if (!compute_node(c, n, c->values[i])) return false;
    }
    return true;
}

/* ---- plans ---- */

typedef struct kept_nest { nest *n; int step; } kept_nest;
typedef struct kept { arena mem; kept_nest at[4096]; int n; } kept;

static void keep_nest(void *arg, const nest *n, int step) {
    kept *k = arg;
    if (k->n < 4096) k->at[k->n++] = (kept_nest){ nest_keep(n, &k->mem), step };
}

static bool close_enough(kn_dtype t, const char *a, const char *b) {
    if (!memcmp(a, b, dtype_size(t))) return true;
    if (!dtype_is_inexact(t)) return false;
    kn_dtype p = dtype_table[t].part;
    for (size_t i = 0; i < dtype_size(t) / dtype_size(p); i++) {
        scalar x = element_load(p, a + i * dtype_size(p)), y = element_load(p, b + i * dtype_size(p));
        double tolerance = p == KN_FLOAT64 ? 1e-12 : p == KN_FLOAT32 ? 2e-6 : 2e-2;
        if (isnan(x.v.f) && isnan(y.v.f)) continue;
        if (!(fabs(x.v.f - y.v.f) <= tolerance * (1 + fabs(y.v.f))) && x.v.f != y.v.f) return false;
    }
    return true;
}

static const char *compare(case_slice *c, const plan *p, char **leaves, char **memory) {
    for (int i = 0; i < p->nresults; i++) {
        const node *n = c->s.nodes[p->results[i].node];
        const place *at = &p->results[i].at;
        const char *got = (at->kind == PLACE_LEAF ? leaves[at->index] : memory[at->index]) + at->offset;
        kn_dtype t = (kn_dtype)n->dtype;
        for (int64_t e = 0; e < n->size; e++) {
            const char *x = got + (size_t)e * dtype_size(t), *y = c->values[p->results[i].node] + (size_t)e * dtype_size(t);
            if (close_enough(t, x, y)) continue;
            char *what = arena_alloc(&c->mem, 160);
            scalar g = element_load(t, x), w = element_load(t, y);
            snprintf(what, 160, "node %d element %lld: got %g, want %g (bits of int64: %lld, %lld)", p->results[i].node, (long long)e, g.v.f, w.v.f, (long long)g.v.i, (long long)w.v.i);
            return what;
        }
    }
    return NULL;
}

static uint64_t word_of(const plan_arg *a, const scalar *scalars, char **leaves, char **memory) {
    if (a->kind == ARG_INTEGER) return (uint64_t)a->value;
    if (a->kind == ARG_POINTER) return (uint64_t)(uintptr_t)((a->at.kind == PLACE_LEAF ? leaves[a->at.index] : memory[a->at.index]) + a->at.offset);
    const scalar *s = &scalars[a->scalar];
    double f = s->kind == SCALAR_COMPLEX ? (a->part ? s->v.c.im : s->v.c.re) : s->kind == SCALAR_INT ? (double)s->v.i : s->kind == SCALAR_FLOAT ? s->v.f : (double)s->v.u;
    uint64_t w = s->kind == SCALAR_FLOAT || s->kind == SCALAR_COMPLEX ? (uint64_t)(int64_t)f : s->v.u;
    float g = (float)(a->part && s->kind != SCALAR_COMPLEX ? 0 : f);
    if (a->type == T_F32) { w = 0; memcpy(&w, &g, sizeof g); }
    if (a->type == T_F64) memcpy(&w, &f, sizeof f);
    return w;
}

const char *slice_check(case_slice *c, const char *profile, bool no_fusion, how_to_run how) {
    static kept nests;
    if (!compute_all(c)) return "no meaning without a function for it";
    bool faulty = c->fault != 0 && c->fault != FAULT_NONE;
    message m = { 0 };
    nests = (kept){ 0 };
    plan_options o = { .no_fusion = no_fusion, .explain = true, .each_nest = keep_nest, .arg = &nests };
    plan *p = plan_build(&c->s, profile_named(profile), &o, &m);
    if (!p) {
        char *what = arena_alloc(&c->mem, MESSAGE_MAX);
        snprintf(what, MESSAGE_MAX, "%s", m.text);
        arena_free(&nests.mem);
        return what;
    }
    text_free(&c->why);
    text_addn(&c->why, p->why.at, p->why.len);
    char **leaves = arena_zero(&c->mem, (size_t)c->s.nleaves + 1, sizeof *leaves), **memory = arena_zero(&c->mem, (size_t)p->nmemory + 1, sizeof *memory);
    scalar *scalars = arena_zero(&c->mem, (size_t)c->s.nscalars + 1, sizeof *scalars);
    for (int i = 0; i < c->s.nleaves; i++) leaves[i] = copy_of_leaf(c, c->s.leaves[i]);
    for (int i = 0; i < c->s.nscalars; i++) scalars[i] = c->s.scalars[i]->attr.number;
    char *blocks[256] = { 0 };
    for (int i = 0; i < p->nmemory; i++) {
        const plan_memory *q = &p->memory[i];
        size_t bytes = (size_t)q->bytes + 64;
        if (q->reuses_leaf >= 0) memory[i] = leaves[q->reuses_leaf];
        else if (q->block >= 0 && q->block < 256) {
            if (!blocks[q->block]) {
                size_t most = 0;
                for (int j = 0; j < p->nmemory; j++) if (p->memory[j].block == q->block && (size_t)p->memory[j].bytes > most) most = (size_t)p->memory[j].bytes;
                blocks[q->block] = arena_alloc(&c->mem, most + 64);
                memset(blocks[q->block], 0xa5, most + 64);
            }
            memory[i] = blocks[q->block];
        } else {
            memory[i] = arena_alloc(&c->mem, bytes);
            memset(memory[i], q->zeroed ? 0 : 0xa5, bytes);
        }
    }
    c->nkernels = c->nsteps = 0;
    c->fault = FAULT_NONE;
    const char *wrong = NULL;
    nest_memory where = { leaves, memory, scalars };
    for (int i = 0, k = 0; i < p->nsteps && !wrong; i++) {
        const plan_step *s = &p->steps[i];
        c->nsteps++;
        for (int j = 0; j < p->nmemory; j++) if (p->memory[j].zeroed && p->memory[j].block >= 0 && p->memory[j].first_step == i) memset(memory[j], 0, (size_t)p->memory[j].bytes);
        bool first = k < nests.n && nests.at[k].step == i;
        if (s->kind == STEP_KERNEL) c->nkernels += first;
        if (s->kind == STEP_COPY) {
            char *from = (s->from.kind == PLACE_LEAF ? leaves[s->from.index] : memory[s->from.index]) + s->from.offset;
            char *to = (s->to.kind == PLACE_LEAF ? leaves[s->to.index] : memory[s->to.index]) + s->to.offset;
            memmove(to, from, (size_t)s->bytes);
        } else if (s->kind == STEP_KERNEL && how == BY_KERNELS) {
            uint64_t args[512];
            if (kernel_verify(s->code, &m)) wrong = arena_text(&c->mem, "%s", m.text);
            for (int j = 0; j < s->nargs && j < 512; j++) args[j] = word_of(&s->args[j], scalars, leaves, memory);
            if (!wrong && s->grid[0] > 0 && reference_run(s->code, args, 0, s->grid[0], &c->fault, &m)) wrong = arena_text(&c->mem, "%s", m.text);
        } else if (s->kind == STEP_KERNEL && first) {
            nest_run(nests.at[k].n, &where, how == BY_NESTS_BACKWARDS, &c->fault);
        }
        k += first;
    }
    if (!wrong && faulty != (c->fault != FAULT_NONE)) wrong = faulty ? "no fault was found" : "a fault without reason";
    if (!wrong && !faulty) wrong = compare(c, p, leaves, memory);
    if (faulty) c->fault = 1;
    else c->fault = 0;
    plan_free(p);
    arena_free(&nests.mem);
    return wrong;
}
