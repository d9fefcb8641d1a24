/* language.h: Kiln's language: programs in a subset of Python with NumPy's names, run over array handles.
 *
 * How it works: text becomes a tree once (syntax.h); a machine runs trees over dynamic values. Numbers and containers are
 * ordinary host values; arrays are the handles that C programs use, so everything that the C interface promises (laziness,
 * views, updates in place, errors with sentences) holds here too. Names of array functions come from the table of operations (bind.c);
 * this folder has no list of them. Sectioned by the file that owns each part. Nothing about kernels or devices may be put here. */
#ifndef KILN_LANGUAGE_H
#define KILN_LANGUAGE_H
#include "frontend/array.h"
#include "frontend/language/syntax.h"

/* ---- value.c: values ---- */

typedef enum value_kind {
    VALUE_ABSENT,        /* no value: a failure (the machine holds the exception), or an argument that is not given */
    VALUE_NONE, VALUE_ELLIPSIS, VALUE_NOT_IMPLEMENTED,
    VALUE_BOOL,          /* u.i is 0 or 1 */
    VALUE_INT,           /* Python's int, weak: u.i */
    VALUE_FLOAT,         /* Python's float, weak: u.f */
    VALUE_ELEMENT,       /* NumPy's scalar, strong, real: dtype; bool and integers u.i (uint64: u.u), floats u.f */
    VALUE_DTYPE,         /* dtype */
    /* from here on u.o is counted */
    VALUE_BIG,           /* an int beyond int64 */
    VALUE_COMPLEX,       /* Python's complex, or with dtype set NumPy's */
    VALUE_ARRAY, VALUE_STRING, VALUE_BYTES, VALUE_TUPLE, VALUE_LIST, VALUE_DICT, VALUE_SET, VALUE_SLICE, VALUE_RANGE,
    VALUE_ITERATOR,      /* of anything: zip, map, a generator expression ... */
    VALUE_FUNCTION,      /* def, lambda */
    VALUE_NATIVE,        /* a function of this library's */
    VALUE_BOUND,         /* a method with its object */
    VALUE_OPERATION,     /* an array operation, or an elementwise function with its methods */
    VALUE_TYPE,          /* int, float, str, list, np.float32's are VALUE_DTYPE, exceptions' classes */
    VALUE_MODULE, VALUE_EXCEPTION,
    VALUE_RECORD,        /* named results: np.linalg.svd's, finfo, iinfo, a random generator ... attributes by name */
    VALUE_CELL,          /* a variable that inner functions share: never seen by programs */
    NVALUE_KINDS
} value_kind;

typedef struct object object;
typedef struct value {
    uint8_t kind, dtype;
    union { int64_t i; uint64_t u; double f; object *o; } u;
} value;

struct object {
    uint32_t refs;
    uint8_t kind;
    bool visiting;                       /* met while it is being printed or compared */
    uint8_t block;                       /* free list it came from, value.c */
    object *previous, *next;             /* of the machine's */
};

typedef struct complex_object { object head; double re, im; } complex_object;
typedef struct array_object {
    object head;
    kn_array array;                      /* kept */
    bool scalar;                         /* 0-d and immutable: a NumPy scalar that is not computed yet */
} array_object;
typedef struct string_object { object head; size_t length; /* bytes of UTF-8 */ size_t points; uint64_t hash; /* 0: not known */ char at[]; } string_object;   /* BYTES too */
typedef struct sequence_object { object head; size_t n, capacity; value *at; } sequence_object;        /* TUPLE, LIST */
typedef struct pair { value key, item; uint64_t hash; } pair;                                          /* key ABSENT: removed */
typedef struct dict_object { object head; size_t n, used, capacity; pair *at; /* in order of insertion */ uint32_t *index; size_t buckets; } dict_object;   /* DICT, SET */
typedef struct slice_object { object head; value start, stop, step; } slice_object;
typedef struct range_object { object head; int64_t start, stop, step, n; } range_object;
typedef struct machine machine;
typedef struct iterator_object { object head; value (*next)(machine *m, struct iterator_object *it, bool *done); value of[3]; int64_t at; void *state; void (*drop)(void *state); const char *name; } iterator_object;
typedef struct native_row native_row;
typedef struct operation_object { object head; int op; const char *method; /* "reduce", "at" ... of an elementwise function, or NULL */ } operation_object;
typedef struct bound_object { object head; const native_row *row; /* or NULL */ int op; /* then: the array operation, self is its first operand */ value self; } bound_object;
typedef struct native_object { object head; const native_row *row; } native_object;
typedef struct module_object { object head; const char *name; /* "numpy.linalg" */ } module_object;
typedef struct record_object { object head; const char *type; size_t n; const char *const *names; value at[]; } record_object;
typedef struct big_object big_object;                  /* big.c */
typedef struct exception_object {
    object head;
    const struct type_row *type;
    value args;                          /* a tuple */
    value cause, context;                /* raise ... from cause; the one that was being handled */
    bool suppressed;                     /* from None */
    struct trace *trace;                 /* machine.c: where it has passed */
} exception_object;

#define NO_VALUE_ ((value){ VALUE_ABSENT, 0, { 0 } })
static inline value none_value(void) { return (value){ VALUE_NONE, 0, { 0 } }; }
static inline value bool_value(bool b) { return (value){ VALUE_BOOL, 0, { .i = b } }; }
static inline value int_value(int64_t i) { return (value){ VALUE_INT, 0, { .i = i } }; }
static inline value float_value(double f) { return (value){ VALUE_FLOAT, 0, { .f = f } }; }
static inline value element_float(kn_dtype t, double f) { return (value){ VALUE_ELEMENT, (uint8_t)t, { .f = f } }; }
static inline value element_int(kn_dtype t, int64_t i) { return (value){ VALUE_ELEMENT, (uint8_t)t, { .i = i } }; }
static inline value object_value(void *o) { return (value){ ((object *)o)->kind, 0, { .o = (object *)o } }; }
static inline value dtype_value(kn_dtype t) { return (value){ VALUE_DTYPE, (uint8_t)t, { 0 } }; }
static inline bool absent(value v) { return v.kind == VALUE_ABSENT; }
static inline bool counted(value v) { return v.kind >= VALUE_BIG; }

/* Unless said otherwise arguments are borrowed, results are new references, and ABSENT (or false) means that the machine
 * holds an exception. A machine and its values belong to one thread at a time. */
void object_free(machine *m, object *o);
static inline value value_keep(value v) { if (counted(v)) v.u.o->refs++; return v; }
static inline void value_drop(machine *m, value v) { if (counted(v) && --v.u.o->refs == 0) object_free(m, v.u.o); }
object *object_new(machine *m, value_kind kind, size_t size);      /* zeroed behind the head, one reference */

value complex_value(machine *m, double re, double im);             /* Python's */
value array_value(machine *m, kn_array a, bool scalar);            /* keeps the handle; raises when it carries an error */
value string_value(machine *m, const char *s, size_t length);
value string_text(machine *m, text *t);                            /* takes and frees t */
value tuple_value(machine *m, size_t n, const value *items);       /* keeps items */
value list_value(machine *m, size_t n, const value *items);
value dict_value(machine *m);
value set_value(machine *m);
value slice_value(machine *m, value start, value stop, value step);
value range_value(machine *m, int64_t start, int64_t stop, int64_t step);
/* An iterator over what `of` (n <= 3, kept) holds: next gives a new reference, or sets *done. */
value iterator_value(machine *m, const char *name, value (*next)(machine *m, iterator_object *it, bool *done), int n, const value *of);
static inline array_object *as_array(value v) { return (array_object *)v.u.o; }
static inline complex_object *as_complex(value v) { return (complex_object *)v.u.o; }
static inline string_object *as_string(value v) { return (string_object *)v.u.o; }
static inline sequence_object *as_sequence(value v) { return (sequence_object *)v.u.o; }
static inline dict_object *as_dict(value v) { return (dict_object *)v.u.o; }
static inline slice_object *as_slice(value v) { return (slice_object *)v.u.o; }
static inline range_object *as_range(value v) { return (range_object *)v.u.o; }

bool value_is_number(value v);                                     /* bool, int, float, complex, element */
bool value_is_integer(value v);                                    /* bool, int of any size, element of integers or bool */
const char *value_type_name(value v);                              /* "int", "numpy.float32", "numpy.ndarray" ... for sentences */

/* Protocols. */
int value_truth(machine *m, value v);                              /* 0, 1, or -1 raised */
bool value_hash(machine *m, value v, uint64_t *hash);              /* equal values have equal hashes: 1, 1.0, True */
int value_equal(machine *m, value a, value b);                     /* as `==` inside containers: 0, 1, -1 */
bool value_index(machine *m, value v, int64_t *i, const char *what);   /* as operator.index: bool, int, integer elements and 0-d arrays */
bool value_double(machine *m, value v, double *d);                 /* as float(v) for numbers */
value value_iterate(machine *m, value v);                          /* iter(v); arrays along their first axis */
value value_next(machine *m, value iterator, bool *done);
bool value_length(machine *m, value v, int64_t *n);
bool value_same(value a, value b);                                 /* `is` */
value value_attribute(machine *m, value v, const char *name);      /* v.name: AttributeError when there is none */
bool value_attribute_set(machine *m, value v, const char *name, value to);
value value_subscript(machine *m, value v, value index);           /* v[index] of anything */
bool value_subscript_set(machine *m, value v, value index, value to);      /* to ABSENT: del v[index] */
bool value_str(machine *m, value v, text *out);                    /* print.c */
bool value_repr(machine *m, value v, text *out);

/* ---- containers.c ---- */
bool list_append(machine *m, value list, value item);              /* keeps item */
value dict_get(machine *m, value dict, value key);                 /* ABSENT without an exception: not there; borrowed */
bool dict_set(machine *m, value dict, value key, value item);      /* sets: item is None */
bool dict_remove(machine *m, value dict, value key, bool *was);
bool dict_find(machine *m, value dict, value key, value *item);    /* false: raised; *item borrowed, ABSENT: not there */
void dict_clear(machine *m, value dict);
const pair *dict_next(value dict, size_t *at);                     /* in order, *at is 0 at first; NULL: no more */
static inline size_t dict_count(value dict) { return as_dict(dict)->n; }
bool slice_bounds(machine *m, value slice, int64_t n, int64_t *start, int64_t *step, int64_t *count);   /* Python's slice.indices(n) */
/* Everything an iterable gives, as a new tuple or list. */
value sequence_of(machine *m, value iterable, value_kind kind);
value sequence_index(machine *m, value v, value index);            /* strings, ranges too; slices */
bool sequence_set(machine *m, value list, value index, value item);/* slices too; item ABSENT: del */

/* ---- big.c: integers of any size (at most BIG_MOST bits) ---- */
#define BIG_MOST (1 << 20)
value big_add(machine *m, value a, value b); value big_sub(machine *m, value a, value b); value big_mul(machine *m, value a, value b);
value big_divmod(machine *m, value a, value b, value *remainder);  /* floors; ZeroDivisionError */
value big_power(machine *m, value a, value b, value modulus /* or ABSENT */);
value big_shift(machine *m, value a, int64_t left);
value big_bits(machine *m, char op /* & | ^ */, value a, value b);
int big_compare(value a, value b);                                 /* of BOOL, INT, BIG */
value big_from_text(machine *m, const char *digits, size_t n, int base);   /* INT when it fits; underscores allowed */
value big_from_double(machine *m, double d);                       /* truncated; OverflowError, ValueError */
double big_double(value v);                                        /* rounded to nearest even; may be infinite */
bool big_text(machine *m, value v, int base, text *out);
void big_free(machine *m, object *o);

/* ---- operators.c: what operators mean for every pair of kinds ---- */
value operate_unary(machine *m, syntax_unary op, value v);
value operate(machine *m, syntax_binary op, value a, value b);
value operate_in_place(machine *m, syntax_binary op, value a, value b);   /* a op= b: a itself for arrays and lists */
value compare(machine *m, syntax_compare op, value a, value b);
int contains(machine *m, value container, value item);             /* 0, 1, -1 */

/* ---- arrays.c: values and arrays ---- */
/* What np.asarray(v) is: a handle of the innermost scope (numbers: weak). Nested sequences become arrays of the dtype that
 * all elements have together. {0}: raised. */
kn_array array_of(machine *m, value v);
kn_array array_made(machine *m, value v, kn_dtype t);              /* np.array(v, dtype=t): copied; KN_DTYPE_UNSET: found out */
value element_of(machine *m, kn_array zero_d);                     /* NumPy's scalar: evaluates */
value element_value(machine *m, scalar s, kn_dtype t);
value array_get(machine *m, value a, value index);                 /* a[index] */
value array_get_at(machine *m, value a, int n, const int64_t *at); /* the same for integers alone: reads memory straight where it can */
bool array_set(machine *m, value a, value index, value v);         /* a[index] = v */
bool array_set_at(machine *m, value a, int n, const int64_t *at, value v);
value array_update(machine *m, syntax_binary op, value a, value v);/* a op= v in place; gives a */
value array_attribute(machine *m, value a, const char *name);      /* shape, T, dtype ..., and methods bound; elements too */
bool array_attribute_set(machine *m, value a, const char *name, value v);
value element_operate(machine *m, syntax_binary op, value a, value b);   /* two numbers, one of them an ELEMENT */

/* ---- bind.c: array operations by NumPy's names ---- */
/* Whatever `numpy` (or another module) has under this name: an operation, a dtype, a constant, a submodule, a native function. ABSENT
 * without an exception: there is none. */
value module_name(machine *m, const char *module, const char *name);
value module_import(machine *m, const char *module);               /* ModuleNotFoundError when it is not one of ours */
typedef struct keyword { const char *name; value v; } keyword;
value operation_call(machine *m, int op, const value *args, int n, const keyword *keywords, int nkeywords);
value operation_method_call(machine *m, const operation_object *f, const value *args, int n, const keyword *keywords, int nkeywords);   /* np.add.reduce(...) */
value operation_attribute(machine *m, value operation, const char *name);   /* np.add.reduce, .identity, .nin ... */
/* A sentence for a name that is not there, with the nearest ones that are. */
void raise_name_missing(machine *m, const char *where /* NULL: a bare name */, const char *name);

/* ---- natives: functions written in C ---- */
/* One row a function. Arguments arrive in args, one for every name in `names`, ABSENT where not given; with names NULL
 * they arrive as they were written. Names before '/' are positional only, behind '*' keyword only, "name=" is optional:
 * "iterable, /, *, key=, reverse=". "*args" and "**keywords" arrive as a tuple and a dict. */
typedef value native_function(machine *m, const value *args, int n);
struct native_row { const char *name; native_function *f; const char *names; const char *doc; };
value native_call(machine *m, const native_row *row, const value *self /* or NULL */, const value *args, int n, const keyword *keywords, int nkeywords);   /* natives.c */
value native_value(machine *m, const native_row *row);
value bound_value(machine *m, const native_row *row, value self);  /* self arrives as args[0]: the first of `names` is "self" */
extern const native_row builtin_rows[]; extern const int nbuiltin_rows;                    /* builtins.c */
extern const native_row math_rows[], cmath_rows[]; extern const int nmath_rows, ncmath_rows;   /* math_module.c */
extern const native_row numpy_rows[]; extern const int nnumpy_rows;                        /* numpy_names.c: what is not an operation: array, asarray, dtype, finfo, shape ... */
/* Methods and attributes of strings, lists, dicts, sets, tuples, numbers (methods.c); ABSENT without an exception: none. */
value method_of(machine *m, value v, const char *name);
value builtin_name(machine *m, const char *name);                  /* a function, a type, an exception class; ABSENT without an exception: none */

/* ---- types.c: types as values ---- */
/* One row a type. Classes of exceptions have no `make`: calling one makes an exception with its arguments (machine.c). */
typedef struct type_row type_row;
struct type_row { const char *name, *base; /* NULL: object */ native_row make; bool (*holds)(value v); /* isinstance */ bool exception; };
typedef struct type_object { object head; const type_row *row; } type_object;
const type_row *type_named(const char *name);                      /* "ValueError"; NULL: none */
bool type_below(const type_row *a, const type_row *b);             /* a is b or inherits from it: what `except` asks */
value type_value(machine *m, const type_row *row);
value type_of(machine *m, value v);                                /* type(v) */
int is_instance(machine *m, value v, value types);                 /* a type or a tuple of types: 0, 1, -1 */

/* ---- format.c ---- */
bool format_value(machine *m, value v, const char *spec, size_t n, text *out);             /* format(v, spec) */
value format_percent(machine *m, value format, value args);        /* "..." % args */
value format_braces(machine *m, value format, value args, value keywords);                 /* "...".format(...) */

/* ---- machine.c: running ---- */
typedef struct machine_limits { int64_t steps; double seconds; int depth; int64_t bytes; } machine_limits;   /* 0: none; depth 0: 1000 */
typedef void output_function(const char *text, size_t n, void *arg);
typedef struct machine_state machine_state;
struct machine {
    value exception;                    /* raised and not caught yet, or ABSENT */
    machine_limits limits;
    int64_t steps, check_at;            /* counted; when limits are looked at again */
    int64_t bytes;                      /* of objects and what they hold */
    int depth;
    output_function *output; void *output_arg;         /* print's; NULL: nowhere */
    const struct print_options *printing;              /* of arrays; NULL: NumPy's defaults */
    uint64_t seed;
    value generator;                    /* generator.c: of numpy.random's own functions, or ABSENT */
    object *objects;                    /* all of them, for cycles that are left at the end */
    struct frame *frame;                /* evaluate.c: innermost */
    machine_state *state;               /* machine.h: what the evaluator alone uses */
};
machine *machine_new(message *m);
void machine_free(machine *m);
/* Raises kind ("ValueError") with a sentence; the place is the one being evaluated. Always gives ABSENT. */
value raise_error(machine *m, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define raise(...) raise_error(__VA_ARGS__)
value raise_message(machine *m, const message *why);               /* an error of the library */
value raise_memory(machine *m);
value raise_key(machine *m, value key);              /* KeyError(key) */
bool machine_check(machine *m);
static inline bool machine_step(machine *m) { return ++m->steps < m->check_at || machine_check(m); }   /* counts; false: a limit is passed (raised) */
/* So much memory is about to be taken for a value, or given back (negative); false: the limit is passed (raised). */
bool machine_bytes(machine *m, int64_t bytes);
/* For functions that call themselves along nested values: false (raised RecursionError) when the stack is used up. */
bool machine_enter(machine *m);
static inline void machine_leave(machine *m) { m->depth--; }
value exception_value(machine *m, const struct type_row *type, value args /* a tuple */);
bool exception_is(value exception, const char *name);              /* of this class or one derived from it */
/* Calls anything that can be called. */
value call_value(machine *m, value f, const value *args, int n, const keyword *keywords, int nkeywords);
/* Runs a tree in the machine's globals; *last is the value of the last statement if it is an expression (else None). */
bool machine_run(machine *m, const syntax_tree *t, value *last);
/* The uncaught exception as text: kind and sentence, and in `where` the stack with lines and carets; clears it. */
kn_status machine_error(machine *m, message *what, text *where);
bool machine_let(machine *m, const char *name, value v);           /* a global; v ABSENT: gone */
value machine_get(machine *m, const char *name);                   /* a global, borrowed; ABSENT without an exception: not there */
void machine_print(machine *m, const char *text, size_t n);
#endif
