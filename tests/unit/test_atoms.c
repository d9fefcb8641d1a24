/* Atoms: coordinates and windows as affine forms, against enumeration of every element on small shapes. */
#include <criterion/criterion.h>

#include <string.h>
#include "ir/plan/internal.h"

static uint32_t state = 12345;
static int64_t below(int64_t n)
{
    state = state * 1664525u + 1013904223u;
    return (int64_t)(state >> 8) % n;
}

static int64_t value(const space *s, const form *f, const int64_t *at)
{
    int64_t v = f->offset;
    for (int a = 0; a < s->natoms; a++) v += f->stride[a] * at[a];
    return v;
}

static bool next(const space *s, int64_t *at)
{
    for (int a = s->natoms; a-- > 0;) {
        if (++at[a] < s->atoms[a].extent) return true;
        at[a] = 0;
    }
    return false;
}

static int64_t number_of(int ndim, const int64_t *shape, const int64_t *coordinate)
{
    int64_t n = 0;
    for (int d = 0; d < ndim; d++) n = n * shape[d] + coordinate[d];
    return n;
}

/* Digits name the same element, and lie within the shape. */
static void check_digits(const space *s, uint16_t f, int ndim, const int64_t *shape, const digits *x)
{
    int64_t at[NEST_ATOMS] = {0};
    do {
        int64_t coordinate[NDIM_MAX];
        for (int d = 0; d < ndim; d++) {
            coordinate[d] = x->base[d];
            for (int a = 0; a < s->natoms; a++) coordinate[d] += x->stride[d][a] * at[a];
            cr_assert(coordinate[d] >= 0 && coordinate[d] < shape[d], "coordinate %d is %lld of %lld", d, (long long)coordinate[d], (long long)shape[d]);
        }
        cr_assert(number_of(ndim, shape, coordinate) == value(s, &s->forms[f], at));
    } while (next(s, at));
}

static uint16_t start(space *s, arena *mem, int64_t size)
{
    form f = {0};
    space_init(s, mem);
    space_atom(s, size, false);
    f.stride[0] = 1;
    return space_form(s, &f);
}

Test(atoms, shapes_that_refine_each_other_split_atoms)
{
    arena mem = {0};
    space s;
    digits x;
    uint16_t f = start(&s, &mem, 24);
    cr_assert(space_digits(&s, f, 2, (int64_t[]){6, 4}, &x));
    cr_expect(s.natoms == 2, "%d atoms", s.natoms);
    cr_assert(space_digits(&s, f, 2, (int64_t[]){3, 8}, &x));
    cr_assert(s.natoms == 3, "%d atoms", s.natoms);
    cr_expect(s.atoms[0].extent == 3 && s.atoms[1].extent == 2 && s.atoms[2].extent == 4);
    check_digits(&s, f, 2, (int64_t[]){3, 8}, &x);
    arena_free(&mem);
}

Test(atoms, shapes_without_a_chain_have_no_coordinates)
{
    arena mem = {0};
    space s;
    digits x;
    uint16_t f = start(&s, &mem, 30);
    cr_assert(space_digits(&s, f, 2, (int64_t[]){5, 6}, &x));
    cr_expect(!space_digits(&s, f, 2, (int64_t[]){6, 5}, &x));
    cr_expect(space_digits(&s, f, 2, (int64_t[]){5, 6}, &x), "what was possible stays possible");
    check_digits(&s, f, 2, (int64_t[]){5, 6}, &x);
    arena_free(&mem);
}

Test(atoms, splitting_rewrites_every_form)
{
    arena mem = {0};
    space s;
    digits x;
    uint16_t f = start(&s, &mem, 12);
    form back = {.offset = 11, .stride = {-1}};
    uint16_t g = space_form(&s, &back);
    cr_assert(space_digits(&s, f, 2, (int64_t[]){3, 4}, &x));
    int64_t at[NEST_ATOMS] = {0};
    do cr_assert(value(&s, &s.forms[f], at) + value(&s, &s.forms[g], at) == 11); while (next(&s, at));
    cr_expect(space_form(&s, &s.forms[f]) == f, "equal forms are one");
    arena_free(&mem);
}

Test(atoms, diagonals_both_ways)
{
    arena mem = {0};
    space s;
    digits x;
    space_init(&s, &mem);
    space_atom(&s, 5, false);
    uint16_t down = space_form(&s, &(form){.stride = {6}}), up = space_form(&s, &(form){.offset = 4, .stride = {4}});
    cr_assert(space_digits(&s, down, 2, (int64_t[]){5, 5}, &x));
    check_digits(&s, down, 2, (int64_t[]){5, 5}, &x);
    cr_assert(space_digits(&s, up, 2, (int64_t[]){5, 5}, &x));
    check_digits(&s, up, 2, (int64_t[]){5, 5}, &x);
    arena_free(&mem);
}

/* ---- chains of views against enumeration ---- */

/* A view under construction: its shape, and for every element in C order the element of the first array. */
typedef struct listed { int ndim; int64_t shape[NDIM_MAX], size; int64_t element[4096]; } listed;

typedef struct chain { int n; struct { int ndim; int64_t shape[8], strides[8], offset; } view[8]; } chain;

static int64_t size_of(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) n *= shape[d];
    return n;
}

static void c_strides(int ndim, const int64_t *shape, int64_t *strides)
{
    int64_t w = 1;
    for (int d = ndim; d-- > 0;) {
        strides[d] = w;
        w *= shape[d];
    }
}

/* A random view of an array of this shape: reshape, transposition, slice with a step, flip, broadcast, window. */
static void random_view(int *ndim, int64_t *shape, int64_t *strides, int64_t *offset)
{
    c_strides(*ndim, shape, strides);
    *offset = 0;
    int d = *ndim ? (int)below(*ndim) : 0;
    switch (*ndim ? below(6) : 4) {
    case 0: {                                        /* reshape: move a factor from one dimension to the next */
        static const int64_t factors[] = {2, 3, 2, 5};
        int64_t k = factors[below(4)];
        if (shape[d] % k) break;
        if (d + 1 < *ndim) { shape[d] /= k; shape[d + 1] *= k; }
        else if (*ndim < 5) { shape[d] /= k; shape[(*ndim)++] = k; }
        c_strides(*ndim, shape, strides);
        break;
    }
    case 1: {
        int e = (int)below(*ndim);
        int64_t t = shape[d];
        shape[d] = shape[e], shape[e] = t;
        t = strides[d], strides[d] = strides[e], strides[e] = t;
        break;
    }
    case 2: {
        int64_t lo = below(shape[d]), step = 1 + below(3), n = 1 + (shape[d] - 1 - lo) / step;
        n -= n > 1 ? below(n) : 0;
        *offset = lo * strides[d];
        strides[d] *= step;
        shape[d] = n;
        break;
    }
    case 3:
        *offset = strides[d] * (shape[d] - 1);
        strides[d] = -strides[d];
        break;
    case 4:
        if (*ndim == 5 || size_of(*ndim, shape) > 200) break;
        memmove(shape + 1, shape, (size_t)*ndim * sizeof *shape);
        memmove(strides + 1, strides, (size_t)*ndim * sizeof *strides);
        shape[0] = 1 + below(3);
        strides[0] = 0;
        (*ndim)++;
        break;
    default: {
        int64_t n = 1 + below(3);
        if (*ndim == 5 || n > shape[d] || size_of(*ndim, shape) > 200) break;
        shape[*ndim] = n;
        strides[*ndim] = strides[d];
        shape[d] -= n - 1;
        (*ndim)++;
        break;
    }
    }
}

static void push_view(listed *l, chain *c)
{
    static listed old;
    int64_t strides[NDIM_MAX], offset;
    old = *l;
    random_view(&l->ndim, l->shape, strides, &offset);
    l->size = size_of(l->ndim, l->shape);
    int v = c->n++;
    c->view[v].ndim = l->ndim;
    c->view[v].offset = offset;
    memcpy(c->view[v].shape, l->shape, (size_t)l->ndim * sizeof(int64_t));
    memcpy(c->view[v].strides, strides, (size_t)l->ndim * sizeof(int64_t));
    for (int64_t i = 0; i < l->size; i++) {
        int64_t rest = i, e = offset;
        for (int d = l->ndim; d-- > 0;) {
            e += strides[d] * (rest % l->shape[d]);
            rest /= l->shape[d];
        }
        l->element[i] = old.element[e];
    }
}

/* The element of the first array as a form over the atoms of the last view; false where there is none. */
static bool follow(space *s, uint16_t *f, const chain *c)
{
    digits x;
    for (int v = c->n; v-- > 0;) {
        if (shape_is_whole(c->view[v].ndim, c->view[v].shape, c->view[v].offset, c->view[v].strides)) continue;
        if (!space_digits(s, *f, c->view[v].ndim, c->view[v].shape, &x)) return false;
        check_digits(s, *f, c->view[v].ndim, c->view[v].shape, &x);
        *f = space_window(s, &x, c->view[v].offset, c->view[v].strides);
    }
    return true;
}

Test(atoms, chains_of_views_address_the_right_elements)
{
    static listed l;
    int possible = 0, all = 0;
    for (int trial = 0; trial < 20000; trial++) {
        chain c = {0};
        arena mem = {0};
        space s;
        l.ndim = 1 + (int)below(4);
        for (int d = 0; d < l.ndim; d++) l.shape[d] = (int64_t[]){1, 2, 3, 4, 6}[below(5)];
        l.size = size_of(l.ndim, l.shape);
        for (int64_t i = 0; i < l.size; i++) l.element[i] = i;
        for (int n = 1 + (int)below(5); n > 0; n--) push_view(&l, &c);
        uint16_t f = start(&s, &mem, l.size), last = f;
        all++;
        if (follow(&s, &f, &c)) {
            int64_t at[NEST_ATOMS] = {0};
            possible++;
            do {
                int64_t i = value(&s, &s.forms[last], at);
                cr_assert(value(&s, &s.forms[f], at) == l.element[i], "trial %d element %lld: %lld, want %lld", trial, (long long)i, (long long)value(&s, &s.forms[f], at), (long long)l.element[i]);
            } while (next(&s, at));
        }
        arena_free(&mem);
    }
    cr_expect(possible * 10 > all * 8, "only %d of %d chains have a form", possible, all);
}
