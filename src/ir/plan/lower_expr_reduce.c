/* lower_expr_reduce.c: reductions and running reductions as states: lift, combine, identity, finish.
 *
 * How it works: a row of the reduction table names the functions; the operand's dtype decides which ones they are and of
 * which types the state consists. A sum of complex numbers is two sums. A reduction over one element, or none, needs no
 * state. How states are combined in parallel is the schedules' business. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ir/plan/internal.h"

/* Shorter float sums stay within the pairwise bound without carrying errors: rows, which lanes share, and columns, which one
 * lane adds up. */
#define COMPENSATED_ROW 1024
#define COMPENSATED_COLUMN 128

typedef struct state { kn_dtype types[4]; int ntypes; uint32_t lifted[4]; int nparts; } state;

static void missing(lowering *l, const node *n) {
    if (!l->status) l->status = fail(l->m, KN_NOT_AVAILABLE, "the reduction %s is not available for %s", reductions[n->op].name, dtype_table[n->in[0]->dtype].name);
}

/* The number of an element within R, in C order. */
static uint32_t reduced_index(lowering *l) {
    const space *s = &l->t->at;
    form f = { 0 };
    int64_t weight = 1;
    for (int a = s->natoms; a-- > 0;) {
        if (!s->atoms[a].reduced) continue;
        f.stride[a] = weight;
        weight *= s->atoms[a].extent;
    }
    return lower_index(l, &f);
}

static bool lift(lowering *l, const node *n, const uint32_t *in, state *s) {
    const reduction_info *r = &reductions[n->op];
    kn_dtype t = (kn_dtype)n->in[0]->dtype, types[2] = { t, KN_INT64 }, gives[4];
    uint32_t args[3];
    int nargs = 0;
    for (int part = 0; part < parts_of(t); part++) args[nargs++] = in[part];
    s->ntypes = r->lift ? r->nstate : 1;
    s->types[0] = t;
    if (!r->lift) {
        memcpy(s->lifted, args, (size_t)nargs * sizeof *args);
    } else {
        if (r->indexed) args[nargs++] = reduced_extent(n) == 1 ? lower_int(l, T_I64, 0) : reduced_index(l);
        if (!lower_named(l, r->lift, types, r->indexed ? 2 : 1, args, s->lifted, gives)) { missing(l, n); return false; }
        for (int i = 0; i < s->ntypes; i++) s->types[i] = gives[i];
    }
    s->nparts = 0;
    for (int i = 0; i < s->ntypes; i++) s->nparts += parts_of(s->types[i]);
    return true;
}

/* ---- identities ---- */

static uint64_t float_bits(ktype t, double v) {
    uint64_t bits = 0;
    float f = (float)v;
    if (t == T_F32) memcpy(&bits, &f, sizeof f);
    else memcpy(&bits, &v, sizeof v);
    return bits;
}

static uint64_t least(ktype t) {
    if (ktype_table[t].is_float) return float_bits(t, -INFINITY);
    return t == T_BOOL || !ktype_table[t].is_signed ? 0 : ~(uint64_t)0 << (8 * ktype_table[t].size - 1);
}

static uint64_t greatest(ktype t) {
    if (ktype_table[t].is_float) return float_bits(t, INFINITY);
    return t == T_BOOL ? 1 : ktype_table[t].is_signed ? ~least(t) : ~(uint64_t)0 >> (64 - 8 * ktype_table[t].size);
}

/* The i-th number of a list, or the only one of a list of one. Integers have neither NaN nor infinity: a NaN is what
 * minimum or maximum (`combine`) ignores. */
static uint64_t identity_bits(const char *list, int i, ktype t, const char *combine) {
    for (const char *next; i > 0 && (next = strchr(list, ',')); i--) list = next + 1;
    if (!strncmp(list, "lowest", 6)) return least(t);
    if (!strncmp(list, "highest", 7)) return greatest(t);
    double v = strtod(list, NULL);
    if (ktype_table[t].is_float) return float_bits(t, v);
    if (isnan(v)) return !strcmp(combine, "minimum") || !strcmp(combine, "and") ? greatest(t) : least(t);
    if (isinf(v)) return v < 0 ? least(t) : greatest(t);
    if (t == T_BOOL) return v != 0;
    int unused = 64 - 8 * ktype_table[t].size;
    uint64_t bits = (uint64_t)(int64_t)v << unused;
    return ktype_table[t].is_signed ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

/* The function that combines states: that of the ufunc's loop for this dtype (or on bool, maximum for fmax of integers), else
 * the one that the table names. */
static const char *combine_name(const node *n) {
    const reduction_info *r = &reductions[n->op];
    kn_dtype twice[2] = { (kn_dtype)n->in[0]->dtype, (kn_dtype)n->in[0]->dtype };
    const ufunc_loop *loop = r->ufunc >= 0 && r->nstate == 1 && ufuncs[r->ufunc].nin == 2 ? ufunc_loop_for(r->ufunc, twice) : NULL;
    return loop && loop->body && loop->out[0] == twice[0] ? loop->body : r->combine;
}

/* The identity of a complex product is 1 + 0i: a plain number has no imaginary part. */
static uint64_t identity_part(const node *n, const state *s, int part) {
    const reduction_info *r = &reductions[n->op];
    const char *list = r->identity ? r->identity : "0";
    int type = 0, within = part;
    while (within >= parts_of(s->types[type])) within -= parts_of(s->types[type++]);
    bool number = strncmp(list, "lowest", 6) && strncmp(list, "highest", 7);
    return within && number ? 0 : identity_bits(list, type, element_type(s->types[type]), combine_name(n));
}

/* ---- states ---- */

static bool is_float_sum(int combine, ktype t) { return combine == -1 - KOP_add && ktype_table[t].is_float; }

static nest_reduction *add_reduction(lowering *l) {
    nest *n = l->n;
    if (!reserve(l->mem, (void **)&n->reductions, &l->cap_reductions, (uint32_t)n->nreductions + 1, sizeof *n->reductions)) {
        if (!l->status) l->status = fail_memory(l->m, "making a plan");
        return NULL;
    }
    nest_reduction *r = &n->reductions[n->nreductions++];
    memset(r, 0, sizeof *r);
    return r;
}

static bool sums_rows(const domain *d) { return d->nruns > 0 && d->run[d->nruns - 1].reduced; }

/* parts [from, from + count) of the state as one reduction of the nest; its results go to out. */
static void reduce_parts(lowering *l, const node *n, const state *s, int from, int count, int combine, uint32_t *out) {
    const reduction_info *info = &reductions[n->op];
    nest_reduction *r = add_reduction(l);
    if (!r) return;
    bool scan = n->kind == NODE_SCAN;
    r->nstate = (uint8_t)count;
    r->combine = combine;
    r->scan = scan;
    r->ordered = info->ordered || (n->kind == NODE_REDUCE && n->attr.reduce.ordered);
    r->from_first = info->ordered;
    for (int i = 0; i < count; i++) {
        r->lifted[i] = s->lifted[from + i];
        r->state_types[i] = lower_type(l, r->lifted[i]);
        r->identity[i] = identity_part(n, s, from + i);
        expr x = { .kind = scan ? EXPR_SCANNED : EXPR_REDUCED, .part = (uint8_t)i, .type = r->state_types[i], .op = (uint16_t)(l->n->nreductions - 1), .index = -1 };
        out[i] = lower_expr(l, &x, NULL, 0);
    }
    r->compensate = is_float_sum(combine, r->state_types[0]) && !scan && !r->ordered && l->g->d.inner > (sums_rows(&l->g->d) ? COMPENSATED_ROW : COMPENSATED_COLUMN);
    if (!scan) return;
    while (r->scan_atoms_from < l->n->natoms && !l->n->atoms[r->scan_atoms_from].reduced) r->scan_atoms_from++;
}

static void reduce_state(lowering *l, const node *n, const state *s, uint32_t *out) {
    const char *name = combine_name(n);
    kn_dtype twice[8];
    for (int i = 0; i < s->ntypes; i++) twice[i] = twice[s->ntypes + i] = s->types[i];
    int combine = function_named(name, twice, 2 * s->ntypes), op = primitive_named(name);
    if (combine >= 0) { reduce_parts(l, n, s, 0, s->nparts, combine, out); return; }
    if (op < 0 || (s->nparts > 1 && op != KOP_add && op != KOP_sub)) { missing(l, n); return; }
    for (int i = 0; i < s->nparts; i++) reduce_parts(l, n, s, i, 1, -1 - op, &out[i]);
}

void lower_reduction(lowering *l, visit *v, const node *n, const uint32_t *in) {
    const reduction_info *r = &reductions[n->op];
    state s;
    uint32_t out[4] = { 0 }, value[4];
    kn_dtype gives[4];
    uint32_t zero[2] = { 0, 0 };
    bool empty = !n->in[0]->size;
    if (empty) zero[0] = zero[1] = lower_int(l, element_type((kn_dtype)n->in[0]->dtype), 0);
    if (!lift(l, n, empty ? zero : in, &s)) return;
    if (empty) for (int i = 0; i < s.nparts; i++) out[i] = lower_bits(l, lower_type(l, s.lifted[i]), identity_part(n, &s, i));
    else if (reduced_extent(n) == 1) memcpy(out, s.lifted, sizeof out);
    else reduce_state(l, n, &s, out);
    if (r->finish) {
        if (!lower_named(l, r->finish, s.types, s.ntypes, out, value, gives)) { missing(l, n); return; }
        memcpy(out, value, sizeof out);
    }
    v->expr[0] = out[0];
    v->expr[1] = parts_of((kn_dtype)n->dtype) == 2 ? out[1] : out[0];
}
