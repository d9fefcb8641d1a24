/* svd.c: singular values and vectors of matrices, our own, for float32, float64, complex64 and complex128.
 *
 * How it works: one-sided Jacobi rotations (Hestenes 1958; de Rijk 1989) make the columns of a tall matrix orthogonal, two at
 * a time, until all pairs are; their lengths are the singular values. Wide matrices are transposed first. Everything is
 * computed in complex128. Vectors that the matrix does not determine are filled up from unit vectors. attr: full matrices. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include "libs/libs.h"
#include "runtime/runtime.h"

#define MOST_SWEEPS 64

typedef double complex number;
/* Column by column: w has `rows` x n elements, v n x n, u rows x (columns of u). w = a v throughout. */
typedef struct problem { int64_t rows, n, ucolumns; number *w, *v, *u; double *sigma; int64_t *order; } problem;

/* ---- rotations ---- */

static double length2(const number *x, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
    return s;
}

static number product(const number *x, const number *y, int64_t n) {
    number s = 0;
    for (int64_t i = 0; i < n; i++) s += conj(x[i]) * y[i];
    return s;
}

static void rotate(number *x, number *y, int64_t n, double c, double s, number turn) {
    for (int64_t i = 0; i < n; i++) {
        number a = x[i], b = turn * y[i];
        x[i] = c * a - s * b;
        y[i] = s * a + c * b;
    }
}

/* Makes columns p and q orthogonal; false when they were. */
static bool orthogonalise(problem *t, int64_t p, int64_t q) {
    number *x = t->w + p * t->rows, *y = t->w + q * t->rows;
    double a = length2(x, t->rows), b = length2(y, t->rows);
    number g = product(x, y, t->rows);
    double size = cabs(g);
    if (!(size > DBL_EPSILON * sqrt(a) * sqrt(b)) || size < DBL_MIN) return false;
    double zeta = (b - a) / (2 * size), tangent = (zeta < 0 ? -1 : 1) / (fabs(zeta) + hypot(1, zeta)), c = 1 / hypot(1, tangent), s = c * tangent;
    number turn = conj(g) / size;
    rotate(x, y, t->rows, c, s, turn);
    rotate(t->v + p * t->n, t->v + q * t->n, t->n, c, s, turn);
    return true;
}

static bool converge(problem *t) {
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        bool changed = false;
        for (int64_t p = 0; p < t->n; p++) for (int64_t q = p + 1; q < t->n; q++) changed |= orthogonalise(t, p, q);
        if (!changed) return true;
    }
    return false;
}

/* ---- vectors ---- */

/* Column k of u: the unit vector that the columns before it say least about, made orthogonal to them. */
static void fill_column(problem *t, int64_t k) {
    number *to = t->u + k * t->rows;
    int64_t best = 0;
    double most = -1;
    for (int64_t i = 0; i < t->rows; i++) {
        double left = 1;
        for (int64_t j = 0; j < k; j++) left -= length2(t->u + j * t->rows + i, 1);
        if (left > most) { most = left; best = i; }
    }
    for (int64_t i = 0; i < t->rows; i++) to[i] = i == best;
    for (int again = 0; again < 2; again++)
        for (int64_t j = 0; j < k; j++) {
            const number *have = t->u + j * t->rows;
            number c = product(have, to, t->rows);
            for (int64_t i = 0; i < t->rows; i++) to[i] -= c * have[i];
        }
    double size = sqrt(length2(to, t->rows));
    for (int64_t i = 0; i < t->rows; i++) to[i] /= size;
}

/* Singular values in falling order, and u. */
static void finish(problem *t) {
    for (int64_t j = 0; j < t->n; j++) {
        double s = sqrt(length2(t->w + j * t->rows, t->rows));
        int64_t k = j;
        for (; k > 0 && t->sigma[k - 1] < s; k--) {
            t->sigma[k] = t->sigma[k - 1];
            t->order[k] = t->order[k - 1];
        }
        t->sigma[k] = s;
        t->order[k] = j;
    }
    for (int64_t k = 0; k < t->ucolumns; k++) {
        if (k >= t->n || t->sigma[k] <= DBL_MIN) { fill_column(t, k); continue; }
        const number *from = t->w + t->order[k] * t->rows;
        for (int64_t i = 0; i < t->rows; i++) t->u[k * t->rows + i] = from[i] / t->sigma[k];
    }
}

/* ---- one matrix ---- */

static number element(const struct opaque_operand *o, const char *p) {
    scalar s = element_load(o->dtype, p);
    return s.kind == SCALAR_COMPLEX ? s.v.c.re + s.v.c.im * I : s.v.f;
}

static void put(const struct opaque_operand *o, char *p, number x) {
    bool complex_value = dtype_is_complex(o->dtype);
    element_store(o->dtype, p, complex_value ? (scalar){ SCALAR_COMPLEX, { .c = { creal(x), cimag(x) } } } : (scalar){ SCALAR_FLOAT, { .f = creal(x) } });
}

/* Reads a (or its conjugate transpose, when it is wide), scaled by its largest element, which is returned; not finite: an error. */
static double load(problem *t, const struct opaque_operand *in, const char *from, bool wide) {
    int64_t down = in->strides[in->ndim - (wide ? 1 : 2)], across = in->strides[in->ndim - (wide ? 2 : 1)];
    double most = 0;
    bool finite = true;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->rows; i++) {
            number x = element(in, from + i * down + j * across);
            t->w[j * t->rows + i] = wide ? conj(x) : x;
            finite &= isfinite(creal(x)) && isfinite(cimag(x));
            most = fmax(most, fmax(fabs(creal(x)), fabs(cimag(x))));
        }
    for (int64_t i = 0; i < t->n * t->rows && most > 0; i++) t->w[i] /= most;
    memset(t->v, 0, (size_t)(t->n * t->n) * sizeof *t->v);
    for (int64_t j = 0; j < t->n; j++) t->v[j * t->n + j] = 1;
    return finite ? most : NAN;
}

/* The results that are wanted; data NULL: not. In a wide matrix left and right vectors change places. */
static void store(const problem *t, const struct opaque_operand *out, char *const *to, double scale, bool wide) {
    for (int64_t k = 0; k < t->n && to[1]; k++) put(&out[1], to[1] + k * out[1].strides[out[1].ndim - 1], t->sigma[k] * scale);
    for (int side = 0; side < 2; side++) {
        const struct opaque_operand *o = &out[side ? 2 : 0];
        char *p = to[side ? 2 : 0];
        if (!p) continue;
        int64_t down = o->strides[o->ndim - 2], across = o->strides[o->ndim - 1], rows = o->shape[o->ndim - 2], columns = o->shape[o->ndim - 1];
        bool from_u = (side == 0) != wide;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) {
                int64_t vector = side ? i : j, at = side ? j : i;
                number x = from_u ? t->u[vector * t->rows + at] : t->v[t->order[vector] * t->n + at];
                put(o, p + i * down + j * across, side ? conj(x) : x);
            }
    }
}

static bool solve(problem *t, const struct provider_call *c, const char *from, char *const *to, bool wide) {
    double scale = load(t, &c->operands[0], from, wide);
    if (isnan(scale) || !converge(t)) return false;
    finish(t);
    store(t, &c->operands[1], to, scale, wide);
    return true;
}

/* ---- the provider ---- */

static kn_status allocate(problem *t, message *m) {
    size_t n = (size_t)t->n, rows = (size_t)t->rows;
    t->w = mem_array(rows * n + 1, sizeof *t->w);
    t->v = mem_array(n * n + 1, sizeof *t->v);
    t->u = mem_array(rows * (size_t)t->ucolumns + 1, sizeof *t->u);
    t->sigma = mem_array(n + 1, sizeof *t->sigma);
    t->order = mem_array(n + 1, sizeof *t->order);
    return t->w && t->v && t->u && t->sigma && t->order ? KN_OK : fail_memory(m, "svd");
}

static kn_status run(const struct provider_call *c) {
    const struct opaque_operand *in = &c->operands[0];
    int64_t rows = in->shape[in->ndim - 2], columns = in->shape[in->ndim - 1];
    bool wide = rows < columns, full = c->nattr > 0 && c->attr[0];
    problem t = { .rows = wide ? columns : rows, .n = wide ? rows : columns };
    t.ucolumns = full ? t.rows : t.n;
    batch b = { .ndim = in->ndim - 2, .count = 1 };
    for (int d = 0; d < b.ndim; d++) b.count *= b.shape[d] = in->shape[d];
    kn_status status = b.count ? allocate(&t, c->m) : KN_OK;
    for (int64_t i = 0; i < b.count && !status; i++, batch_next(&b)) {
        const char *from = c->data[0];
        char *to[3];
        for (int d = 0; d < b.ndim; d++) from += b.index[d] * in->strides[d];
        for (int r = 0; r < 3; r++) {
            to[r] = r < c->nout && c->operands[1 + r].dtype != KN_DTYPE_UNSET ? c->data[1 + r] : NULL;
            for (int d = 0; d < b.ndim && to[r]; d++) to[r] += b.index[d] * c->operands[1 + r].strides[d];
        }
        if (!solve(&t, c, from, to, wide)) status = fail(c->m, KN_VALUE_ERROR, "svd: the array holds NaN or infinities");
    }
    mem_free(t.w);
    mem_free(t.v);
    mem_free(t.u);
    mem_free(t.sigma);
    mem_free(t.order);
    return status;
}

static int applicable(const struct provider_call *c) { return c->operands[0].ndim >= 2; }

void svd_register(void) {
    static provider row = { "own", 0, TARGET_CPU, applicable, NULL, run };
    row.operation = family_op_named("svd");
    provider_register(&row);
}
