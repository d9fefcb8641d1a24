/* plan_copy.c: copying the base of an assignment into the memory of its result, or only what the assignment leaves alone.
 *
 * How it works: the elements outside a box are slabs, one or two a dimension; the two slabs of a dimension are one kernel
 * when they are equally thick. A slab that is contiguous is a plain copy. */
#include <string.h>
#include "ir/plan/internal.h"

/* Elements are copied as bits, whatever they are. */
static ktype copy_type(int64_t size) { return size == 1 ? T_U8 : size == 2 ? T_U16 : size == 4 ? T_U32 : T_U64; }

static kn_status copy_bytes(const partition *p, plan_builder *b, place from, place to, int64_t offset, int64_t bytes) {
    plan_step *s = builder_step(b, STEP_COPY);
    if (!s) return fail_memory(p->m, "making a plan");
    from.offset += offset;
    to.offset += offset;
    s->from = from;
    s->to = to;
    s->bytes = bytes;
    return KN_OK;
}

/* A kernel that copies the elements at `at`, counted in elements of copy_type. */
static kn_status copy_kernel(partition *p, plan_builder *b, place from, place to, ktype type, const form *at, const atom *atoms, int natoms) {
    nest *n = arena_zero(&b->p->mem, 1, sizeof *n);
    expr *load = arena_zero(p->mem, 1, sizeof *load);
    nest_store *store = arena_zero(p->mem, 1, sizeof *store);
    if (!n || !load || !store) return fail_memory(p->m, "making a plan");
    memcpy(n->atoms, atoms, (size_t)natoms * sizeof *atoms);
    n->natoms = natoms;
    n->operands[0] = (nest_operand){ .at = from, .type = type, .read = true, .name = "a" };
    n->operands[1] = (nest_operand){ .at = to, .type = type, .written = true, .name = "out" };
    n->noperands = 2;
    *load = (expr){ .kind = EXPR_LOAD, .type = (uint8_t)type, .index = -1, .at = *at };
    *store = (nest_store){ .operand = 1, .index = -1, .at = *at };
    n->exprs = load;
    n->nexprs = 1;
    n->stores = store;
    n->nstores = 1;
    n->note = b->note;
    memcpy(n->name, "copy", 5);
    n->comment = "the part of an array that an assignment leaves alone";
    return plan_schedule(p, b, n);
}

/* The slabs of dimension d: everything in later dimensions, the box in earlier ones. */
static kn_status copy_slabs(partition *p, plan_builder *b, place from, place to, const node *base, int d, const int64_t *first, const int64_t *extent) {
    int64_t size = (int64_t)dtype_size((kn_dtype)base->dtype), unit = size == 16 ? 2 : 1, below = unit, offset = 0, rows = 1;
    ktype type = copy_type(size);
    atom atoms[NEST_ATOMS];
    form at = { 0 };
    int natoms = 0;
    for (int i = base->ndim; --i > d;) below *= base->shape[i];
    int64_t weight = below * base->shape[d];
    for (int i = d; i-- > 0;) {
        if (natoms + 4 > NEST_ATOMS) return fail(p->m, KN_NOT_AVAILABLE, "an assignment over more than %d dimensions", NEST_ATOMS);
        offset += first[i] * weight;
        rows *= extent[i];
        if (extent[i] > 1) {
            atoms[natoms] = (atom){ extent[i], false };
            at.stride[natoms++] = weight;
        }
        weight *= base->shape[i];
    }
    int64_t before = first[d], start = first[d] + extent[d], after = base->shape[d] - start, bytes = below * (int64_t)ktype_table[type].size;
    if (rows == 1) {
        int64_t skip = offset * (int64_t)ktype_table[type].size;
        kn_status status = before ? copy_bytes(p, b, from, to, skip, before * bytes) : KN_OK;
        return status || !after ? status : copy_bytes(p, b, from, to, skip + start * bytes, after * bytes);
    }
    int nslabs = before && after && before != after ? 2 : 1;
    for (int slab = 0; slab < nslabs; slab++) {
        int64_t thick = slab || !before ? after : before;
        int n = natoms;
        form f = at;
        f.offset = offset + (slab || !before ? start * below : 0);
        if (before && before == after) {
            atoms[n] = (atom){ 2, false };
            f.stride[n++] = start * below;
        }
        atoms[n] = (atom){ thick, false };
        f.stride[n++] = below;
        atoms[n] = (atom){ below, false };
        f.stride[n++] = 1;
        kn_status status = copy_kernel(p, b, from, to, type, &f, atoms, n);
        if (status) return status;
    }
    return KN_OK;
}

kn_status copy_base(partition *p, plan_builder *b, uint32_t w) {
    const note *q = &p->notes[w];
    const node *base = p->notes[q->base].n;
    place from = p->notes[q->base].at, to = q->at;
    if (base->kind == NODE_EMPTY && !is_leaf(p, q->base)) return KN_OK;
    if (q->way == WRITE_COPY) return copy_bytes(p, b, from, to, 0, value_bytes(q->n));
    int64_t first[NDIM_MAX], extent[NDIM_MAX];
    int dimension[NDIM_MAX];
    if (!write_box(base, &q->n->attr.view, first, extent, dimension)) return fail(p->m, KN_RUNTIME_ERROR, "an assignment lost its box");
    for (int d = 0; d < base->ndim; d++) {
        if (!first[d] && extent[d] == base->shape[d]) continue;
        kn_status status = copy_slabs(p, b, from, to, base, d, first, extent);
        if (status) return status;
    }
    return KN_OK;
}
