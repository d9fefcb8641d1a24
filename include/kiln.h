/* kiln.h: lazy arrays with NumPy's meaning, computed by fused kernels on CPU and GPU.
 *
 * A kn_array is an 8-byte value that names an array; it is copied freely, never dereferenced, and checked at every use.
 * Calls record what is to be computed; values are computed when they are read (kn_f64, kn_read, kn_true, kn_save,
 * kn_show) or at kn_eval.
 *
 * Ownership. Every array and string belongs to the calling thread's innermost scope and goes with it. KN_SCOPE(s); makes
 * the rest of a block a scope. kn_return hands an array out of its scope, kn_keep owns it beyond scopes and threads.
 *
 * Errors. A bad call gives an error array that carries a sentence; everything made from it carries it too. Ask with
 * kn_check, kn_message, kn_scope_status, kn_error, or be told by kn_on_error. Reading an error gives NaN, 0 or false.
 * The library never prints, exits or aborts.
 *
 * Threads. Scopes, last error and current device are per thread. Arrays may be read by several threads at once while
 * their scope is open or they are kept; in-place operations on one array from several threads need the program's own lock.
 *
 * The array operations themselves are declared in kiln/ops.h, which this header includes: kn_add, kn_sum, kn_reshape ...
 * They take arrays and numbers of every C type. Options are written .name = value and have NumPy's defaults:
 * kn_sum(a, .axis = 0, .keepdims = true). In C++20: kn_sum(a, {.axis = 0}). */
#ifndef KILN_H
#define KILN_H
#include "kiln/calls.h"
#include "kiln/types.h"

#define KN_VERSION_MAJOR 0
#define KN_VERSION_MINOR 1
#define KN_VERSION_PATCH 0

KN_BEGIN_C
/* ---- scopes and owners ---- */

/** Opens a scope on this thread; KN_SCOPE and kn_scope_open() fill in the place. A scope that cannot be opened is {0}, and
 * what is made in it are error arrays. */
KN_API kn_scope kn_scope_open_at(const char *file, int line);
/** Closes s and any scope opened after it: their arrays and strings are gone. May evaluate updates of arrays that live on. */
KN_API void kn_scope_close(kn_scope s);
/** Hands a to the scope around s, which must be open on this thread. An array that is not of s is returned as it is. */
KN_API KN_USE kn_array kn_return(kn_scope s, kn_array a);
/** One more owner, who must call kn_release: a stays valid when its scope closes, on every thread. Returns a. */
KN_API kn_array kn_keep(kn_array a);
/** Ends the ownership of one kn_keep. */
KN_API void kn_release(kn_array a);
/** variable = v, as with a name in Python: the handle `variable` shows v's array from now on and stays in its own scope.
 * What loops carry from step to step is given its next value like this. Returns variable. */
KN_API kn_array kn_let(kn_array variable, kn_array v);
/** The first error made in s, KN_OK if there was none. */
KN_API kn_status kn_scope_status(kn_scope s);
#define kn_scope_open() kn_scope_open_at(__FILE__, __LINE__)

/* ---- updates in place ----
 * a and every view of the same memory see the new values. v broadcasts to a's shape; the result is cast to a's dtype under
 * the rule "same_kind" (a TypeError otherwise), kn_assign casts freely. A failure makes a an error array. They return a. */
KN_API kn_array (kn_iadd)(kn_array a, kn_array v);
KN_API kn_array (kn_isub)(kn_array a, kn_array v);
KN_API kn_array (kn_imul)(kn_array a, kn_array v);
KN_API kn_array (kn_idiv)(kn_array a, kn_array v);
KN_API kn_array (kn_ifloordiv)(kn_array a, kn_array v);
KN_API kn_array (kn_imod)(kn_array a, kn_array v);
KN_API kn_array (kn_ipow)(kn_array a, kn_array v);
KN_API kn_array (kn_iand)(kn_array a, kn_array v);
KN_API kn_array (kn_ior)(kn_array a, kn_array v);
KN_API kn_array (kn_ixor)(kn_array a, kn_array v);
KN_API kn_array (kn_ilshift)(kn_array a, kn_array v);
KN_API kn_array (kn_irshift)(kn_array a, kn_array v);
/** a[...] = v */
KN_API kn_array (kn_assign)(kn_array a, kn_array v);

/* ---- indexing, text ----
 * kn_index(a, "i:, None, mask", i, mask): the text between the brackets of NumPy's a[...]; names in it are the C variables
 * that follow. Basic indices give views, arrays and masks give new arrays; a mask is evaluated. Positions out of range:
 * an IndexError, for arrays of positions when values are read. kn_set(a, "1:, 0", v) is a[1:, 0] = v and returns a.
 * kn_text("sqrt(a**2 + b**2)", a, b) is the value of an expression in Kiln's language, kn_run("u[m] += v", u, m, v) runs a
 * program on arrays that it may update. C numbers are Python's numbers there. An array whose name kn_run's program binds
 * anew (u = u + 1) shows the new value afterwards, as after kn_let. A text is read once, however often it is run. */
KN_API KN_USE kn_array kn_index_with(kn_array a, const char *index, const kn_named *names, size_t n);
KN_API kn_array kn_set_with(kn_array a, const char *index, kn_array v, const kn_named *names, size_t n);
KN_API KN_USE kn_array kn_text_with(const char *text, const kn_named *names, size_t n);
KN_API kn_status kn_run_with(const char *text, const kn_named *names, size_t n);
/** A program that is kept by its owner: read once, run by any number of threads at a time. NULL when it cannot be read (kn_error).
 * kn_program_run(p, u, v) runs it as kn_run, kn_program_value(p, u, v) gives the value of its last expression as kn_text. */
typedef struct kn_program kn_program;
KN_API KN_USE kn_program *kn_program_new(const char *text);
KN_API kn_status kn_program_run_with(kn_program *p, const kn_named *names, size_t n);
KN_API KN_USE kn_array kn_program_value_with(kn_program *p, const kn_named *names, size_t n);
KN_API void kn_program_free(kn_program *p);

/* ---- memory of the program ---- */
typedef enum {
    KN_COPY = 0,      /* values are copied at the call */
    KN_BORROW,        /* read where they lie, until the array is gone; the array's own changes go to a private copy */
    KN_SHARE,         /* read and written there: the program sees values after kn_sync and may change them until the next use */
    KN_MEMORY_MAX_ = 0x7fffffff
} kn_memory;
typedef void kn_release_callback(void *data, void *arg);
/** kn_from(data, n, m ...): a copy of C-ordered memory; the dtype is that of *data. */
KN_API KN_USE kn_array kn_from_(kn_dtype t, const void *data, kn_shape shape);
/** An array of `shape` whose element [0, 0, ...] is at data; strides in bytes, any sign, or NULL for C order. release (or NULL)
 * is called once when the memory is no longer used: at once with KN_COPY and on failure. */
KN_API KN_USE kn_array kn_from_memory(kn_dtype t, void *data, kn_shape shape, const int64_t *strides, kn_memory how, kn_release_callback *release, void *arg);
/** Shared memory holds a's values afterwards, and nothing pending reads it any more. Otherwise the same as kn_eval. */
KN_API kn_status kn_sync(kn_array a);

/* ---- values ---- */
/** kn_read(a, to, n): all n elements of a in C order, cast to the type of *to. n must be kn_size(a). */
KN_API KN_USE kn_status kn_read_(kn_array a, kn_dtype t, void *to, size_t n);
/** The value of an array of one element: as double (NaN on error; a complex number's real part), as an integer truncated
 * towards 0 (0 on error), as truth (false on error, so that loops end). */
KN_API double kn_f64(kn_array a);
KN_API int64_t kn_i64(kn_array a);
KN_API bool kn_true(kn_array a);
/** The value of an array of one element as a complex number, real part and imaginary part; NaN on error. */
typedef struct { double re, im; } kn_complex;
KN_API kn_complex kn_c128(kn_array a);
/** Dimensions, extent of an axis (negative: from the end), elements, dtype; 0 for errors. Nothing is evaluated. */
KN_API int kn_ndim(kn_array a);
KN_API int64_t kn_len(kn_array a, int axis);
KN_API int64_t kn_size(kn_array a);
KN_API kn_dtype kn_dtype_of(kn_array a);
/** Computes a now. */
KN_API KN_USE kn_status kn_eval(kn_array a);

/* ---- files: .npy, .npz, .csv and .txt, by the name's ending ---- */
KN_API KN_USE kn_array kn_load(const char *path);                          /* the only array of the file */
KN_API KN_USE kn_array kn_load_named(const char *path, const char *name);  /* one of an .npz */
KN_API KN_USE kn_status kn_save(kn_array a, const char *path);             /* written to a temporary and renamed */
KN_API KN_USE kn_status kn_save_all(const char *path, const kn_named *arrays, size_t n);   /* an .npz; names may be NULL: arr_0 ... */

/* ---- text for people; it belongs to the innermost scope, "" on failure ---- */
KN_API const char *kn_show(kn_array a);                /* as NumPy's str() */
KN_API const char *kn_source(kn_array a, kn_device d); /* the kernels that computing a would run on d, as source; needs no such device */
KN_API const char *kn_explain(kn_array a, kn_device d);/* the graph, the kernels it becomes and why, bytes moved */

/* ---- errors ---- */
KN_API kn_status kn_check(kn_array a);                 /* the status a carries; evaluates nothing */
KN_API const char *kn_message(kn_array a);             /* its sentence, "" for a sound array; valid while a is */
KN_API const char *kn_error(void);                     /* this thread's last error; "" when there was none */
KN_API kn_status kn_error_status(void);
KN_API void kn_error_clear(void);
typedef void kn_error_callback(kn_status status, const char *sentence, void *arg);
/** f is called once for every new error of any thread, on that thread; NULL switches it off. */
KN_API void kn_on_error(kn_error_callback *f, void *arg);
KN_API const char *kn_status_name(kn_status status);   /* "ValueError" */

/* ---- dtypes ---- */
typedef enum { KN_CAST_NO, KN_CAST_EQUIV, KN_CAST_SAFE, KN_CAST_SAME_KIND, KN_CAST_UNSAFE, KN_CAST_MAX_ = 0x7fffffff } kn_casting;
/** What a float dtype can hold, as numpy.finfo; all 0 for other dtypes. A complex dtype has its parts' values. */
typedef struct { int bits, nmant, nexp, precision; double eps, epsneg, max, min, tiny, smallest_subnormal, resolution; } kn_float_info;
/** What an integer dtype can hold, as numpy.iinfo; all 0 for other dtypes. */
typedef struct { int bits; int64_t min; uint64_t max; } kn_int_info;
KN_API kn_float_info kn_finfo(kn_dtype t);
KN_API kn_int_info kn_iinfo(kn_dtype t);
KN_API bool kn_can_cast(kn_dtype from, kn_dtype to, kn_casting rule);
KN_API kn_dtype kn_promote_types(kn_dtype a, kn_dtype b);
/** The dtype that operands have together by NumPy 2's rules; numbers are weak. KN_DTYPE_UNSET on error. */
KN_API kn_dtype kn_result_type(kn_list operands);
KN_API const char *kn_dtype_name(kn_dtype t);          /* "float32"; "" for what is no dtype */
KN_API kn_dtype kn_dtype_named(const char *name);      /* "float32", "f4", "<f8", "int" ...; KN_DTYPE_UNSET when unknown */
KN_API size_t kn_itemsize(kn_dtype t);                 /* bytes of an element */

/* ---- methods of elementwise functions of two operands, by NumPy's name ("add", "maximum", "bitwise_or") ---- */
/** op.reduce(a) over axes (in NumPy axis 0 unless given: so here): op(op(a[0], a[1]), a[2]) ... */
KN_API KN_USE kn_array kn_reduce(const char *op, kn_array a, kn_axis axis, bool keepdims);
/** op.accumulate(a): every intermediate result along one axis. */
KN_API KN_USE kn_array kn_accumulate(const char *op, kn_array a, kn_axis axis);
/** op.reduceat(a, indices) along one axis: of a[indices[i] : indices[i + 1]] the reduction, or a[indices[i]] where that is
 * empty; the last segment reaches to the end. Evaluates indices. */
KN_API KN_USE kn_array kn_reduceat(const char *op, kn_array a, kn_array indices, kn_axis axis);
/** op.outer(a, b): op of every pair, of shape a.shape + b.shape. */
KN_API KN_USE kn_array kn_outer_of(const char *op, kn_array a, kn_array b);
/** op.at(a, index, b): a[index] op= b, where positions that occur several times count every time. Returns a. */
KN_API kn_array kn_at_with(const char *op, kn_array a, const char *index, kn_array b, const kn_named *names, size_t n);

/* ---- random numbers: equal on every device, a pure function of seed and count ---- */
KN_API kn_rng kn_rng_new(uint64_t seed);               /* belongs to the innermost scope */

/* ---- devices ----
 * A thread's evaluations run on its current device: the CPU unless the environment has KILN_DEVICE=cuda or hip. Arrays lie
 * where they were computed, and are copied to where they are read. */
/** Changes the thread's device; KN_NOT_AVAILABLE, and no change, where there is no such device: kn_error() says what is missing. */
KN_API KN_USE kn_status kn_set_device(kn_device d);
KN_API kn_device kn_current_device(void);
/** Waits until the thread's device has done everything: kn_eval only asks for it. For timing; reading values waits by itself. */
KN_API KN_USE kn_status kn_wait(void);
/** "NVIDIA H200, sm_90, driver 13.0"; "" where there is no such device. */
KN_API const char *kn_device_name(kn_device d);

/* ---- the library itself ---- */
KN_API const char *kn_version(void);                   /* "0.1.0" */
KN_API void kn_set_threads(int n);                     /* CPU threads of the whole process; 0: the machine's cores */
KN_API int kn_threads(void);
typedef struct {
    uint64_t bytes_live, bytes_peak, bytes_cached, buffers_live;   /* of the library's own memory for arrays */
    uint64_t handles_live;
    uint64_t evaluations, kernels_compiled, kernels_from_disk, launches;
} kn_statistics_record;
KN_API kn_statistics_record kn_statistics(void);       /* of all threads */

KN_END_C

/* C variables are seen by the text under their own names. */
#define KN_NAMES_(...) KN_EACH_(KN_NAME_, , __VA_ARGS__)
#define kn_index(...) KN_CAT_(kn_index_, KN_MORE_2_(__VA_ARGS__))(__VA_ARGS__)
#define kn_index_0(a, i) kn_index_with(a, i, KN_NULL_, 0)
#define kn_set(...) KN_CAT_(kn_set_, KN_MORE_3_(__VA_ARGS__))(__VA_ARGS__)
#define kn_set_0(a, i, v) kn_set_with(a, i, KN_ARG(v), KN_NULL_, 0)
#define kn_text(...) KN_CAT_(kn_text_, KN_MORE_1_(__VA_ARGS__))(__VA_ARGS__)
#define kn_text_0(t) kn_text_with(t, KN_NULL_, 0)
#define kn_run(...) KN_CAT_(kn_run_, KN_MORE_1_(__VA_ARGS__))(__VA_ARGS__)
#define kn_run_0(t) kn_run_with(t, KN_NULL_, 0)
#define kn_program_run(...) KN_CAT_(kn_program_run_, KN_MORE_1_(__VA_ARGS__))(__VA_ARGS__)
#define kn_program_run_0(p) kn_program_run_with(p, KN_NULL_, 0)
#define kn_program_value(...) KN_CAT_(kn_program_value_, KN_MORE_1_(__VA_ARGS__))(__VA_ARGS__)
#define kn_program_value_0(p) kn_program_value_with(p, KN_NULL_, 0)
#define kn_at(...) KN_CAT_(kn_at_, KN_MORE_4_(__VA_ARGS__))(__VA_ARGS__)
#define kn_at_0(op, a, i, b) kn_at_with(op, a, i, KN_ARG(b), KN_NULL_, 0)

#ifndef __cplusplus
#define KN_NAME_(s, x) { #x, KN_ARG(x) },
#define KN_NAMED_(...) (const kn_named[]){ KN_NAMES_(__VA_ARGS__) }, KN_COUNT_(__VA_ARGS__)
#define kn_index_1(a, i, ...) kn_index_with(a, i, KN_NAMED_(__VA_ARGS__))
#define kn_set_1(a, i, v, ...) kn_set_with(a, i, KN_ARG(v), KN_NAMED_(__VA_ARGS__))
#define kn_text_1(t, ...) kn_text_with(t, KN_NAMED_(__VA_ARGS__))
#define kn_run_1(t, ...) kn_run_with(t, KN_NAMED_(__VA_ARGS__))
#define kn_program_run_1(p, ...) kn_program_run_with(p, KN_NAMED_(__VA_ARGS__))
#define kn_program_value_1(p, ...) kn_program_value_with(p, KN_NAMED_(__VA_ARGS__))
#define kn_at_1(op, a, i, b, ...) kn_at_with(op, a, i, KN_ARG(b), KN_NAMED_(__VA_ARGS__))

#define KN_DTYPE_OF_(p) _Generic(*(p), bool: KN_BOOL, signed char: KN_INT8, short: KN_INT16, int: KN_INT32, long: KN_INT64, long long: KN_INT64, \
    unsigned char: KN_UINT8, unsigned short: KN_UINT16, unsigned: KN_UINT32, unsigned long: KN_UINT64, unsigned long long: KN_UINT64, \
    float: KN_FLOAT32, double: KN_FLOAT64, float _Complex: KN_COMPLEX64, double _Complex: KN_COMPLEX128)
#define kn_from(data, ...) kn_from_(KN_DTYPE_OF_(data), data, KN_SHAPE(__VA_ARGS__))
#define kn_read(a, to, n) kn_read_(a, KN_DTYPE_OF_(to), to, n)

static inline void kn_scope_end_(const kn_scope *s) { kn_scope_close(*s); }
/* The rest of this block is a scope; it closes however the block is left. */
#define KN_SCOPE(s) __attribute__((cleanup(kn_scope_end_), unused)) const kn_scope s = kn_scope_open()

#else /* C++ */
struct kn_scope_guard {
    kn_scope s;
    kn_scope_guard(const char *file, int line) : s(kn_scope_open_at(file, line)) {}
    kn_scope_guard(const kn_scope_guard &) = delete;
    kn_scope_guard &operator=(const kn_scope_guard &) = delete;
    ~kn_scope_guard() { kn_scope_close(s); }
    operator kn_scope() const { return s; }
};
#define KN_SCOPE(s) const kn_scope_guard s(__FILE__, __LINE__)

typedef std::initializer_list<kn_named> kn_names;
inline kn_array kn_index_named(kn_array a, const char *index, kn_names n) { return kn_index_with(a, index, n.begin(), n.size()); }
inline kn_array kn_set_named(kn_array a, const char *index, kn_array v, kn_names n) { return kn_set_with(a, index, v, n.begin(), n.size()); }
inline kn_array kn_text_named(const char *text, kn_names n) { return kn_text_with(text, n.begin(), n.size()); }
inline kn_status kn_run_named(const char *text, kn_names n) { return kn_run_with(text, n.begin(), n.size()); }
inline kn_status kn_program_run_named(kn_program *p, kn_names n) { return kn_program_run_with(p, n.begin(), n.size()); }
inline kn_array kn_program_value_named(kn_program *p, kn_names n) { return kn_program_value_with(p, n.begin(), n.size()); }
inline kn_array kn_at_named(const char *op, kn_array a, const char *index, kn_array b, kn_names n) { return kn_at_with(op, a, index, b, n.begin(), n.size()); }
#define KN_NAME_(s, x) kn_named{#x, kn_arg(x).a},
#define kn_index_1(a, i, ...) kn_index_named(a, i, {KN_NAMES_(__VA_ARGS__)})
#define kn_set_1(a, i, v, ...) kn_set_named(a, i, KN_ARG(v), {KN_NAMES_(__VA_ARGS__)})
#define kn_text_1(t, ...) kn_text_named(t, {KN_NAMES_(__VA_ARGS__)})
#define kn_run_1(t, ...) kn_run_named(t, {KN_NAMES_(__VA_ARGS__)})
#define kn_program_run_1(p, ...) kn_program_run_named(p, {KN_NAMES_(__VA_ARGS__)})
#define kn_program_value_1(p, ...) kn_program_value_named(p, {KN_NAMES_(__VA_ARGS__)})
#define kn_at_1(op, a, i, b, ...) kn_at_named(op, a, i, KN_ARG(b), {KN_NAMES_(__VA_ARGS__)})

template <class T> struct kn_dtype_of_type;
#define KN_TYPE_(type, value) template <> struct kn_dtype_of_type<type> { static constexpr kn_dtype dtype = value; };
KN_TYPE_(bool, KN_BOOL) KN_TYPE_(signed char, KN_INT8) KN_TYPE_(short, KN_INT16) KN_TYPE_(int, KN_INT32) KN_TYPE_(long, KN_INT64) KN_TYPE_(long long, KN_INT64)
KN_TYPE_(unsigned char, KN_UINT8) KN_TYPE_(unsigned short, KN_UINT16) KN_TYPE_(unsigned, KN_UINT32) KN_TYPE_(unsigned long, KN_UINT64) KN_TYPE_(unsigned long long, KN_UINT64)
KN_TYPE_(float, KN_FLOAT32) KN_TYPE_(double, KN_FLOAT64) KN_TYPE_(std::complex<float>, KN_COMPLEX64) KN_TYPE_(std::complex<double>, KN_COMPLEX128)
#undef KN_TYPE_
template <class T, class... N> inline kn_array kn_from(const T *data, N... n) { return kn_from_(kn_dtype_of_type<T>::dtype, data, KN_SHAPE(n...)); }
template <class T> inline kn_status kn_read(kn_array a, T *to, size_t n) { return kn_read_(a, kn_dtype_of_type<T>::dtype, to, n); }

#define KN_IN_PLACE_(name) inline kn_array name(kn_array a, kn_arg v) { return (name)(a, v.a); }
KN_IN_PLACE_(kn_iadd) KN_IN_PLACE_(kn_isub) KN_IN_PLACE_(kn_imul) KN_IN_PLACE_(kn_idiv) KN_IN_PLACE_(kn_ifloordiv) KN_IN_PLACE_(kn_imod) KN_IN_PLACE_(kn_ipow)
KN_IN_PLACE_(kn_iand) KN_IN_PLACE_(kn_ior) KN_IN_PLACE_(kn_ixor) KN_IN_PLACE_(kn_ilshift) KN_IN_PLACE_(kn_irshift) KN_IN_PLACE_(kn_assign)
#undef KN_IN_PLACE_
#endif

#include "kiln/ops.h"

#if !defined(__cplusplus) && !defined(KN_NO_MACROS)
#define kn_iadd(a, v) kn_iadd(KN_ARG(a), KN_ARG(v))
#define kn_isub(a, v) kn_isub(KN_ARG(a), KN_ARG(v))
#define kn_imul(a, v) kn_imul(KN_ARG(a), KN_ARG(v))
#define kn_idiv(a, v) kn_idiv(KN_ARG(a), KN_ARG(v))
#define kn_ifloordiv(a, v) kn_ifloordiv(KN_ARG(a), KN_ARG(v))
#define kn_imod(a, v) kn_imod(KN_ARG(a), KN_ARG(v))
#define kn_ipow(a, v) kn_ipow(KN_ARG(a), KN_ARG(v))
#define kn_iand(a, v) kn_iand(KN_ARG(a), KN_ARG(v))
#define kn_ior(a, v) kn_ior(KN_ARG(a), KN_ARG(v))
#define kn_ixor(a, v) kn_ixor(KN_ARG(a), KN_ARG(v))
#define kn_ilshift(a, v) kn_ilshift(KN_ARG(a), KN_ARG(v))
#define kn_irshift(a, v) kn_irshift(KN_ARG(a), KN_ARG(v))
#endif
#endif
