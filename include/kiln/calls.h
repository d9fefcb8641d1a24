/* kiln/calls.h: how calls are written: numbers of every C type as operands, options as `.name = value`, shapes and lists.
 * Included by kiln.h and kiln/ops.h; include kiln.h instead. */
#ifndef KILN_CALLS_H
#define KILN_CALLS_H
#include "kiln/types.h"

#define KN_API __attribute__((visibility("default")))
#define KN_USE __attribute__((warn_unused_result))
#ifdef __cplusplus
#define KN_BEGIN_C extern "C" {
#define KN_END_C }
#define KN_DEF_(v) = v                       /* C++: defaults live in the struct */
#define KN_NONE_INIT_ {}
#else
#define KN_BEGIN_C
#define KN_END_C
#define KN_DEF_(v)                           /* C: the call macros start from KN_..._DEFAULTS_ */
#define KN_NONE_INIT_ { 0 }
#endif

#define KN_ALL ((kn_axis)INT64_MIN)          /* every axis; for functions of one axis: the flattened array */
#define KN_UNSET INT64_MIN                   /* an integer option that is not given */
typedef int kn_flag;                         /* an option that is true or false; as an int it refuses strings */
#define KN_SCALAR_INIT_ { 0, 0 }
#define KN_NO_SHAPE_INIT_ { -1, 0 }

KN_BEGIN_C
/* ---- numbers; kn(x) makes one of any C number. Their dtype is weak, as of Python's numbers ---- */
KN_API kn_array kn_same_(kn_array a);
KN_API kn_array kn_bool_(bool v);
KN_API kn_array kn_int_(int64_t v);
KN_API kn_array kn_uint_(uint64_t v);
KN_API kn_array kn_float_(double v);
KN_API kn_array kn_complex_(double re, double im);
KN_API kn_axis kn_axes_(int n, const int *axis);       /* KN_AXES(0, 2) */
KN_END_C

/* ---- preprocessor: counting and walking arguments, at most 20 ---- */
#define KN_CAT2_(a, b) a##b
#define KN_CAT_(a, b) KN_CAT2_(a, b)
#define KN_PICK_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, n, ...) n
#define KN_COUNT_(...) KN_PICK_(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KN_MORE_1_(...) KN_PICK_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define KN_MORE_2_(...) KN_PICK_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0)
#define KN_MORE_3_(...) KN_PICK_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
#define KN_MORE_4_(...) KN_PICK_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0)
#define KN_EACH_1_(m, s, a) m(s, a)
#define KN_EACH_2_(m, s, a, ...) m(s, a) KN_EACH_1_(m, s, __VA_ARGS__)
#define KN_EACH_3_(m, s, a, ...) m(s, a) KN_EACH_2_(m, s, __VA_ARGS__)
#define KN_EACH_4_(m, s, a, ...) m(s, a) KN_EACH_3_(m, s, __VA_ARGS__)
#define KN_EACH_5_(m, s, a, ...) m(s, a) KN_EACH_4_(m, s, __VA_ARGS__)
#define KN_EACH_6_(m, s, a, ...) m(s, a) KN_EACH_5_(m, s, __VA_ARGS__)
#define KN_EACH_7_(m, s, a, ...) m(s, a) KN_EACH_6_(m, s, __VA_ARGS__)
#define KN_EACH_8_(m, s, a, ...) m(s, a) KN_EACH_7_(m, s, __VA_ARGS__)
#define KN_EACH_9_(m, s, a, ...) m(s, a) KN_EACH_8_(m, s, __VA_ARGS__)
#define KN_EACH_10_(m, s, a, ...) m(s, a) KN_EACH_9_(m, s, __VA_ARGS__)
#define KN_EACH_11_(m, s, a, ...) m(s, a) KN_EACH_10_(m, s, __VA_ARGS__)
#define KN_EACH_12_(m, s, a, ...) m(s, a) KN_EACH_11_(m, s, __VA_ARGS__)
#define KN_EACH_13_(m, s, a, ...) m(s, a) KN_EACH_12_(m, s, __VA_ARGS__)
#define KN_EACH_14_(m, s, a, ...) m(s, a) KN_EACH_13_(m, s, __VA_ARGS__)
#define KN_EACH_15_(m, s, a, ...) m(s, a) KN_EACH_14_(m, s, __VA_ARGS__)
#define KN_EACH_16_(m, s, a, ...) m(s, a) KN_EACH_15_(m, s, __VA_ARGS__)
#define KN_EACH_17_(m, s, a, ...) m(s, a) KN_EACH_16_(m, s, __VA_ARGS__)
#define KN_EACH_18_(m, s, a, ...) m(s, a) KN_EACH_17_(m, s, __VA_ARGS__)
#define KN_EACH_19_(m, s, a, ...) m(s, a) KN_EACH_18_(m, s, __VA_ARGS__)
#define KN_EACH_20_(m, s, a, ...) m(s, a) KN_EACH_19_(m, s, __VA_ARGS__)
#define KN_EACH_(m, s, ...) KN_CAT_(KN_CAT_(KN_EACH_, KN_COUNT_(__VA_ARGS__)), _)(m, s, __VA_ARGS__)

#ifndef __cplusplus
typedef kn_array kn_option;                  /* an optional array: KN_NONE, or kn(0) for a number */
#define KN_NONE ((kn_array){ 0 })
#define KN_NULL_ NULL

/* A number or an array, mentioned once so that nested calls stay linear in text. */
static inline kn_array kn_cfloat_(float _Complex v) { const float *p = (const float *)&v; return kn_complex_((double)p[0], (double)p[1]); }
static inline kn_array kn_cdouble_(double _Complex v) { const double *p = (const double *)&v; return kn_complex_(p[0], p[1]); }
static inline kn_array kn_ldouble_(long double v) { return kn_float_((double)v); }
#ifdef __FLT16_MANT_DIG__
__extension__ typedef _Float16 kn_half_;
static inline kn_array kn_half_arg_(kn_half_ v) { return kn_float_((double)v); }
#define KN_HALF_CASE_ , kn_half_: kn_half_arg_
#else
#define KN_HALF_CASE_
#endif
#define KN_PICK_ARG_(v) _Generic((v), kn_array: kn_same_, bool: kn_bool_, char: kn_int_, signed char: kn_int_, unsigned char: kn_int_, \
    short: kn_int_, unsigned short: kn_int_, int: kn_int_, unsigned: kn_int_, long: kn_int_, unsigned long: kn_uint_, long long: kn_int_, \
    unsigned long long: kn_uint_, float: kn_float_, double: kn_float_, long double: kn_ldouble_, \
    float _Complex: kn_cfloat_, double _Complex: kn_cdouble_ KN_HALF_CASE_)
#define KN_ARG_AS_(t, x) __extension__({ __auto_type t = (x); KN_PICK_ARG_(t)(t); })
#define KN_ARG(x) KN_ARG_AS_(KN_CAT_(kn_v_, KN_ID_), x)
#define kn(x) KN_ARG(x)
/* Clang 22 calls __COUNTER__ an extension under -pedantic; __LINE__ then costs no more than a -Wshadow in trees that use -I. */
#if defined(__clang_major__) && __clang_major__ >= 22
#define KN_ID_ __LINE__
#else
#define KN_ID_ __COUNTER__
#endif

KN_USE static inline kn_array kn_used_(kn_array a) { return a; }   /* a result that is dropped gets a warning through macros too */
/* `.axis = -1` becomes `o .axis = -1;`: plain assignments over the defaults, so nothing is overridden and every type is checked. */
#define KN_SET_(o, a) o a;
#define KN_OPTS_(o, F, f, args, ...) __extension__({ kn_##F##_opts o = KN_##F##_DEFAULTS_; KN_EACH_(KN_SET_, o, __VA_ARGS__) __auto_type KN_CAT_(o, r) = f(KN_UNWRAP_ args, &o); KN_CAT_(o, r); })
#define KN_UNWRAP_(...) __VA_ARGS__
#define KN_DTYPE_(t) ((kn_dtype)+(t))        /* + so that a string is refused */
#define KN_O_ KN_CAT_(kn_o_, KN_ID_)

#define KN_DIM_(s, d) (int64_t)(d),
#define KN_SHAPE(...) ((kn_shape){ (int)KN_COUNT_(__VA_ARGS__), (const int64_t[]){ KN_EACH_(KN_DIM_, , __VA_ARGS__) } })
#define KN_NO_DIMENSIONS ((kn_shape){ 0, NULL })   /* the shape of a 0-d array */
#define KN_ITEM_(s, x) KN_ARG(x),
#define KN_LIST(...) ((kn_list){ KN_COUNT_(__VA_ARGS__), (const kn_array[]){ KN_EACH_(KN_ITEM_, , __VA_ARGS__) } })
#define KN_AXES(...) kn_axes_((int)KN_COUNT_(__VA_ARGS__), (const int[]){ __VA_ARGS__ })

#else /* C++ */
#include <complex>
#include <initializer_list>
constexpr kn_array KN_NONE{0};
constexpr kn_shape KN_NO_DIMENSIONS{0, nullptr};
#define KN_NULL_ nullptr
struct kn_arg {                              /* what a call takes: an array or any number */
    kn_array a;
    kn_arg(kn_array x) : a(x) {}
    kn_arg(bool v) : a(kn_bool_(v)) {}
    kn_arg(int v) : a(kn_int_(v)) {}
    kn_arg(unsigned v) : a(kn_int_(v)) {}
    kn_arg(long v) : a(kn_int_(v)) {}
    kn_arg(unsigned long v) : a(kn_uint_(v)) {}
    kn_arg(long long v) : a(kn_int_(v)) {}
    kn_arg(unsigned long long v) : a(kn_uint_(v)) {}
    kn_arg(double v) : a(kn_float_(v)) {}
    kn_arg(long double v) : a(kn_float_(static_cast<double>(v))) {}
    kn_arg(std::complex<float> v) : a(kn_complex_(static_cast<double>(v.real()), static_cast<double>(v.imag()))) {}
    kn_arg(std::complex<double> v) : a(kn_complex_(v.real(), v.imag())) {}
    template <class T> kn_arg(T *) = delete; /* else a string would become true */
};
struct kn_option {                           /* an optional array or number; laid out as kn_array */
    kn_array a = {0};
    kn_option() = default;
    template <class T> kn_option(T v) : a(kn_arg(v).a) {}
};
static_assert(sizeof(kn_option) == sizeof(kn_array), "options are passed to C");
inline kn_array kn(kn_arg x) { return x.a; }
#define KN_ARG(x) (kn_arg(x).a)

/* Shapes and lists made by these live to the end of the full expression, so they are written in the call itself. */
template <class... T> struct kn_shape_of {
    int64_t d[sizeof...(T) + 1];
    kn_shape_of(T... t) : d{static_cast<int64_t>(t)..., 0} {}
    operator kn_shape() const { return {static_cast<int>(sizeof...(T)), d}; }
};
template <class... T> inline kn_shape_of<T...> KN_SHAPE(T... t) { return kn_shape_of<T...>(t...); }
template <class... T> struct kn_list_of {
    kn_array at[sizeof...(T) + 1];
    kn_list_of(T... t) : at{kn_arg(t).a..., {0}} {}
    operator kn_list() const { return {sizeof...(T), at}; }
};
template <class... T> inline kn_list_of<T...> KN_LIST(T... t) { return kn_list_of<T...>(t...); }
template <class... T> inline kn_axis KN_AXES(T... t) { const int axes[sizeof...(T) + 1] = {static_cast<int>(t)..., 0}; return kn_axes_(static_cast<int>(sizeof...(T)), axes); }
#endif
#endif
