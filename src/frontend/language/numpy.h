/* numpy.h: what the files between the language and the arrays share: arrays.c, elements.c, bind.c, attributes.c,
 * numpy_names.c. */
#ifndef KILN_LANGUAGE_NUMPY_H
#define KILN_LANGUAGE_NUMPY_H
#include "frontend/language/language.h"

/* ---- arrays.c ---- */
static inline kn_array array_handle(value v) { return as_array(v)->array; }
bool scalar_of(value v, scalar *s);                  /* a number as a scalar; false: it is none (nothing raised) */
bool array_update_at(machine *m, int ufunc, value a, value index, const value *v /* NULL: unary */);
kn_array array_again(machine *m, value a);           /* another handle on the same memory, which an error may spoil; {0}: raised */

/* ---- elements.c ---- */
extern const int binary_operations[];                /* by syntax_binary: the array operation */
value element_compare(machine *m, syntax_compare op, value a, value b);   /* two numbers, one of them an ELEMENT: NumPy's bool */

/* ---- bind.c ---- */
bool value_dtype(machine *m, value v, kn_dtype *t);  /* dtypes, their names, Python's number types; None: KN_DTYPE_UNSET */
value operation_value(machine *m, int op, const char *method);
value record_value(machine *m, const char *type, size_t n, const char *const *names, const value *items);   /* named results; keeps items */
int numpy_operation(const char *module /* "numpy.fft" */, const char *name);   /* the operation of that name; -1 */
bool value_shape(machine *m, value v, int *ndim, int64_t *shape /* NDIM_MAX */, const char *what);   /* an integer or integers */

/* ---- attributes.c ---- */
value dtype_attribute(machine *m, kn_dtype t, const char *name);   /* itemsize, kind, name ...; ABSENT without an exception: none */

value bound_operation(machine *m, int op, value self);   /* a method that is an operation, self its first argument */
value nonzero_columns(machine *m, value a);          /* np.nonzero: a tuple of positions, an array an axis */

/* ---- numpy_names.c ---- */
void module_each(const char *module, void (*visit)(const char *name, void *arg), void *arg);   /* every name that the module has */

/* ---- contexts.c ---- */
extern const native_row context_rows[]; extern const int ncontext_rows;   /* print options, error states */

/* ---- grids.c: s_, mgrid, r_ ... ---- */
value grid_named(machine *m, const char *name);      /* ABSENT without an exception: none of them */
bool is_grid(value v);
value grid_subscript(machine *m, value grid, value index);

/* ---- generator.c ---- */
bool value_generator(machine *m, value v, kn_rng *g);
bool is_generator(value v);
value generator_attribute(machine *m, value generator, const char *name);   /* its methods; ABSENT without an exception: none */
extern const native_row random_rows[]; extern const int nrandom_rows;
#endif
