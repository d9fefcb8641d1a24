/* atoms.c: the atoms of a kernel, affine forms over them, and coordinates of elements as such forms.
 *
 * How it works: every access starts as the number of an element in C order. A reshape leaves that number alone; a strided
 * window needs coordinates, which are the number's digits in the mixed radix of the shape. A term stride * atom belongs to
 * the dimension whose weight it is a multiple of; where it carries into the next dimension the atom is split at the
 * boundary, everywhere in the kernel. Where the boundaries of two shapes do not divide each other there are no
 * affine coordinates. What the forms address must not be known here. */
#include <string.h>
#include "ir/plan/internal.h"

#define FIRST_FORMS 16

void space_init(space *s, arena *mem) {
    s->mem = mem;
    s->natoms = s->nforms = s->cap_forms = 0;
    s->forms = NULL;
    s->failed = false;
}

bool space_atom(space *s, int64_t extent, bool reduced) {
    if (s->natoms == NEST_ATOMS) return false;
    s->atoms[s->natoms++] = (atom){ extent, reduced };
    return true;
}

static bool same_form(const space *s, const form *a, const form *b) {
    return a->offset == b->offset && !memcmp(a->stride, b->stride, (size_t)s->natoms * sizeof a->stride[0]);
}

static void copy_form(const space *s, form *to, const form *from) {
    memcpy(to, from, offsetof(form, stride) + (size_t)s->natoms * sizeof from->stride[0]);
}

uint16_t space_form(space *s, const form *f) {
    for (int i = s->nforms; i-- > 0;) if (same_form(s, &s->forms[i], f)) return (uint16_t)i;
    if (s->nforms == s->cap_forms) {
        int cap = s->cap_forms ? 2 * s->cap_forms : FIRST_FORMS;
        form *more = cap < NO_FORM ? arena_alloc(s->mem, (size_t)cap * sizeof *more) : NULL;
        if (!more) { s->failed = true; return NO_FORM; }
        if (s->nforms) memcpy(more, s->forms, (size_t)s->nforms * sizeof *more);
        s->forms = more;
        s->cap_forms = cap;
    }
    copy_form(s, &s->forms[s->nforms], f);
    return (uint16_t)s->nforms++;
}

bool space_split(space *s, int a, int64_t inner) {
    if (s->natoms == NEST_ATOMS) return false;
    size_t rest = (size_t)(s->natoms - a - 1);
    memmove(&s->atoms[a + 2], &s->atoms[a + 1], rest * sizeof s->atoms[0]);
    s->atoms[a + 1] = (atom){ inner, s->atoms[a].reduced };
    s->atoms[a].extent /= inner;
    s->natoms++;
    for (int i = 0; i < s->nforms; i++) {
        int64_t *stride = s->forms[i].stride;
        memmove(&stride[a + 2], &stride[a + 1], rest * sizeof *stride);
        stride[a + 1] = stride[a];
        stride[a] *= inner;
    }
    return true;
}

bool form_constant(const space *s, uint16_t f) {
    for (int a = 0; a < s->natoms; a++) if (s->forms[f].stride[a]) return false;
    return true;
}

void form_range(const space *s, const form *f, int64_t *lo, int64_t *hi) {
    *lo = *hi = f->offset;
    for (int a = 0; a < s->natoms; a++) {
        int64_t reach = f->stride[a] * (s->atoms[a].extent - 1);
        *(reach < 0 ? lo : hi) += reach;
    }
}

int64_t form_evaluations(const space *s, uint16_t f) {
    int64_t n = 1;
    int last = s->natoms - 1;
    while (last >= 0 && !s->forms[f].stride[last]) last--;
    for (int a = 0; a <= last; a++) n *= s->atoms[a].extent;
    return n;
}

int64_t form_footprint(const space *s, uint16_t f) {
    int64_t n = 1;
    for (int a = 0; a < s->natoms; a++) if (s->forms[f].stride[a]) n *= s->atoms[a].extent;
    return n;
}

bool shape_is_whole(int ndim, const int64_t *shape, int64_t offset, const int64_t *strides) {
    if (offset) return false;
    int64_t weight = 1;
    for (int d = ndim; d-- > 0;) {
        if (shape[d] != 1 && strides[d] != weight) return false;
        weight *= shape[d];
    }
    return true;
}

/* ---- digits ---- */

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

/* Writes term a's stride as digits. nearest: digits may have either sign, the smallest ones are taken (an anti-diagonal
 * goes down one row and back one column); else all have the stride's sign. */
static void stride_digits(const int64_t *weight, const int64_t *shape, int ndim, int64_t stride, int a, bool nearest, digits *out) {
    for (int d = 0; d < ndim; d++) {
        int64_t q = 0;
        if (shape[d] > 1) {
            q = stride / weight[d];
            int64_t r = stride - q * weight[d];
            if (nearest && 2 * magnitude(r) > weight[d]) q += r < 0 ? -1 : 1;
            stride -= q * weight[d];
        }
        out->stride[d][a] = q;
    }
}

static bool digits_fit(const space *s, const int64_t *shape, const digits *x) {
    for (int d = 0; d < x->ndim; d++) {
        int64_t lo = x->base[d], hi = lo;
        for (int a = 0; a < s->natoms; a++) {
            int64_t reach = x->stride[d][a] * (s->atoms[a].extent - 1);
            *(reach < 0 ? &lo : &hi) += reach;
        }
        if (lo < 0 || hi >= shape[d]) return false;
    }
    return true;
}

static bool all_digits(const space *s, const form *f, const int64_t *weight, const int64_t *shape, bool nearest, digits *out) {
    int64_t rest = f->offset;
    for (int d = 0; d < out->ndim; d++) {
        out->base[d] = rest / weight[d];
        rest -= out->base[d] * weight[d];
    }
    for (int a = 0; a < s->natoms; a++) stride_digits(weight, shape, out->ndim, s->atoms[a].extent > 1 ? f->stride[a] : 0, a, nearest, out);
    return digits_fit(s, shape, out);
}

/* Splits one atom that carries from a dimension into the next, where the boundary is a multiple of its stride. */
static bool split_carry(space *s, const form *f, const int64_t *weight, int ndim) {
    for (int a = 0; a < s->natoms; a++) {
        int64_t n = s->atoms[a].extent, stride = magnitude(f->stride[a]);
        if (!stride || n < 2) continue;
        for (int d = 0; d + 1 < ndim; d++) {
            int64_t boundary = weight[d], inner = boundary / stride;
            if (stride >= boundary || boundary % stride || inner >= n || n % inner) continue;
            return space_split(s, a, inner);
        }
    }
    return false;
}

bool space_digits(space *s, uint16_t number, int ndim, const int64_t *shape, digits *out) {
    int64_t weight[NDIM_MAX + 1], w = 1;
    for (int d = ndim; d-- > 0;) {
        weight[d] = w;
        w *= shape[d];
    }
    out->ndim = ndim;
    if (w == 0) return false;                        /* no element has coordinates */
    for (;;) {
        const form *f = &s->forms[number];
        if (all_digits(s, f, weight, shape, false, out)) return true;
        if (!split_carry(s, f, weight, ndim)) return all_digits(s, f, weight, shape, true, out);
    }
}

uint16_t space_window(space *s, const digits *at, int64_t offset, const int64_t *strides) {
    form f;
    f.offset = offset;
    for (int a = 0; a < s->natoms; a++) f.stride[a] = 0;
    for (int d = 0; d < at->ndim; d++) {
        if (!strides[d]) continue;
        f.offset += strides[d] * at->base[d];
        for (int a = 0; a < s->natoms; a++) f.stride[a] += strides[d] * at->stride[d][a];
    }
    return space_form(s, &f);
}
