/* kiln/ops.h: array operations. Printed from src/ir/graph/ops.def by `make ops`; included by kiln.h. */
#ifndef KILN_OPS_H
#define KILN_OPS_H
#include "kiln/calls.h"

#define KN_AXES2_(a, b) ((kn_axis)((int64_t)1 << 62 | (int64_t)2 << 56 | ((a) + 64) | (int64_t)((b) + 64) << 7))

/** Elementwise functions. Operands broadcast and are converted to the loop that NumPy 2 would take; numbers are
 * weak. out: an array that takes the result, cast under `casting`, and is returned. where: bool, broadcast; elsewhere
 * out keeps its values, without out they are not set. dtype: the loop with this result. casting: no, equiv, safe,
 * same_kind or unsafe. A ValueError when shapes do not broadcast, a TypeError when there is no loop. */
typedef struct kn_ufunc_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_ufunc_opts));
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_option where KN_DEF_(KN_NONE_INIT_);
    const char *casting KN_DEF_("same_kind");
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
} kn_ufunc_opts;
#ifndef __cplusplus
#define KN_ufunc_DEFAULTS_ { .size_ = sizeof(kn_ufunc_opts), .out = KN_NONE_INIT_, .where = KN_NONE_INIT_, .casting = "same_kind", .dtype = KN_DTYPE_UNSET }
#endif
/** As other elementwise functions, with two results. */
typedef struct kn_ufunc2_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_ufunc2_opts));
    kn_option out1 KN_DEF_(KN_NONE_INIT_);
    kn_option out2 KN_DEF_(KN_NONE_INIT_);
    kn_option where KN_DEF_(KN_NONE_INIT_);
    const char *casting KN_DEF_("same_kind");
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
} kn_ufunc2_opts;
#ifndef __cplusplus
#define KN_ufunc2_DEFAULTS_ { .size_ = sizeof(kn_ufunc2_opts), .out1 = KN_NONE_INIT_, .out2 = KN_NONE_INIT_, .where = KN_NONE_INIT_, .casting = "same_kind", .dtype = KN_DTYPE_UNSET }
#endif
typedef struct kn_clip_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_clip_opts));
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_clip_opts;
#ifndef __cplusplus
#define KN_clip_DEFAULTS_ { .size_ = sizeof(kn_clip_opts), .out = KN_NONE_INIT_ }
#endif
typedef struct kn_angle_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_angle_opts));
    kn_flag deg KN_DEF_(false);
} kn_angle_opts;
#ifndef __cplusplus
#define KN_angle_DEFAULTS_ { .size_ = sizeof(kn_angle_opts), .deg = false }
#endif
typedef struct kn_round_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_round_opts));
    int64_t decimals KN_DEF_(0);
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_round_opts;
#ifndef __cplusplus
#define KN_round_DEFAULTS_ { .size_ = sizeof(kn_round_opts), .decimals = 0, .out = KN_NONE_INIT_ }
#endif
typedef struct kn_nan_to_num_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_nan_to_num_opts));
    kn_option nan KN_DEF_(KN_NONE_INIT_);
    kn_option posinf KN_DEF_(KN_NONE_INIT_);
    kn_option neginf KN_DEF_(KN_NONE_INIT_);
} kn_nan_to_num_opts;
#ifndef __cplusplus
#define KN_nan_to_num_DEFAULTS_ { .size_ = sizeof(kn_nan_to_num_opts), .nan = KN_NONE_INIT_, .posinf = KN_NONE_INIT_, .neginf = KN_NONE_INIT_ }
#endif
typedef struct kn_out_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_out_opts));
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_out_opts;
#ifndef __cplusplus
#define KN_out_DEFAULTS_ { .size_ = sizeof(kn_out_opts), .out = KN_NONE_INIT_ }
#endif
typedef struct kn_close_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_close_opts));
    double rtol KN_DEF_(1e-05);
    double atol KN_DEF_(1e-08);
    kn_flag equal_nan KN_DEF_(false);
} kn_close_opts;
#ifndef __cplusplus
#define KN_close_DEFAULTS_ { .size_ = sizeof(kn_close_opts), .rtol = 1e-05, .atol = 1e-08, .equal_nan = false }
#endif
typedef struct kn_array_equal_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_array_equal_opts));
    kn_flag equal_nan KN_DEF_(false);
} kn_array_equal_opts;
#ifndef __cplusplus
#define KN_array_equal_DEFAULTS_ { .size_ = sizeof(kn_array_equal_opts), .equal_nan = false }
#endif
typedef struct kn_select_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_select_opts));
    kn_option default_ KN_DEF_(KN_NONE_INIT_);
} kn_select_opts;
#ifndef __cplusplus
#define KN_select_DEFAULTS_ { .size_ = sizeof(kn_select_opts), .default_ = KN_NONE_INIT_ }
#endif
/** axis: one, KN_AXES(...), or KN_ALL. dtype: what is added up in. keepdims: reduced axes stay with extent 1. initial:
 * the first operand. where: only these elements, broadcast against a. out: takes the result. */
typedef struct kn_reduce_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_reduce_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_flag keepdims KN_DEF_(false);
    kn_option initial KN_DEF_(KN_NONE_INIT_);
    kn_option where KN_DEF_(KN_NONE_INIT_);
} kn_reduce_opts;
#ifndef __cplusplus
#define KN_reduce_DEFAULTS_ { .size_ = sizeof(kn_reduce_opts), .axis = KN_ALL, .dtype = KN_DTYPE_UNSET, .out = KN_NONE_INIT_, .keepdims = false, .initial = KN_NONE_INIT_, .where = KN_NONE_INIT_ }
#endif
/** axis, keepdims, out as in sum. initial: takes part too. where: only these elements; needs initial. */
typedef struct kn_extreme_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_extreme_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_flag keepdims KN_DEF_(false);
    kn_option initial KN_DEF_(KN_NONE_INIT_);
    kn_option where KN_DEF_(KN_NONE_INIT_);
} kn_extreme_opts;
#ifndef __cplusplus
#define KN_extreme_DEFAULTS_ { .size_ = sizeof(kn_extreme_opts), .axis = KN_ALL, .out = KN_NONE_INIT_, .keepdims = false, .initial = KN_NONE_INIT_, .where = KN_NONE_INIT_ }
#endif
/** axis, keepdims, where, out as in sum. */
typedef struct kn_truth_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_truth_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_flag keepdims KN_DEF_(false);
    kn_option where KN_DEF_(KN_NONE_INIT_);
} kn_truth_opts;
#ifndef __cplusplus
#define KN_truth_DEFAULTS_ { .size_ = sizeof(kn_truth_opts), .axis = KN_ALL, .out = KN_NONE_INIT_, .keepdims = false, .where = KN_NONE_INIT_ }
#endif
/** axis, dtype, keepdims, where, out as in sum. */
typedef struct kn_mean_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_mean_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_flag keepdims KN_DEF_(false);
    kn_option where KN_DEF_(KN_NONE_INIT_);
} kn_mean_opts;
#ifndef __cplusplus
#define KN_mean_DEFAULTS_ { .size_ = sizeof(kn_mean_opts), .axis = KN_ALL, .dtype = KN_DTYPE_UNSET, .out = KN_NONE_INIT_, .keepdims = false, .where = KN_NONE_INIT_ }
#endif
/** axis, dtype, keepdims, where, out as in sum. ddof, correction: what is taken off the count. mean: the mean,
 * if known, with keepdims. */
typedef struct kn_var_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_var_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    double ddof KN_DEF_(0);
    kn_flag keepdims KN_DEF_(false);
    kn_option where KN_DEF_(KN_NONE_INIT_);
    kn_option mean KN_DEF_(KN_NONE_INIT_);
    double correction KN_DEF_(__builtin_nan(""));
} kn_var_opts;
#ifndef __cplusplus
#define KN_var_DEFAULTS_ { .size_ = sizeof(kn_var_opts), .axis = KN_ALL, .dtype = KN_DTYPE_UNSET, .out = KN_NONE_INIT_, .ddof = 0, .keepdims = false, .where = KN_NONE_INIT_, .mean = KN_NONE_INIT_, .correction = __builtin_nan("") }
#endif
/** axis: one, or KN_ALL for the flattened array. */
typedef struct kn_position_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_position_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_flag keepdims KN_DEF_(false);
} kn_position_opts;
#ifndef __cplusplus
#define KN_position_DEFAULTS_ { .size_ = sizeof(kn_position_opts), .axis = KN_ALL, .out = KN_NONE_INIT_, .keepdims = false }
#endif
typedef struct kn_ptp_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_ptp_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_flag keepdims KN_DEF_(false);
} kn_ptp_opts;
#ifndef __cplusplus
#define KN_ptp_DEFAULTS_ { .size_ = sizeof(kn_ptp_opts), .axis = KN_ALL, .out = KN_NONE_INIT_, .keepdims = false }
#endif
typedef struct kn_count_nonzero_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_count_nonzero_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_flag keepdims KN_DEF_(false);
} kn_count_nonzero_opts;
#ifndef __cplusplus
#define KN_count_nonzero_DEFAULTS_ { .size_ = sizeof(kn_count_nonzero_opts), .axis = KN_ALL, .keepdims = false }
#endif
typedef struct kn_average_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_average_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option weights KN_DEF_(KN_NONE_INIT_);
    kn_flag keepdims KN_DEF_(false);
} kn_average_opts;
#ifndef __cplusplus
#define KN_average_DEFAULTS_ { .size_ = sizeof(kn_average_opts), .axis = KN_ALL, .weights = KN_NONE_INIT_, .keepdims = false }
#endif
typedef struct kn_trace_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_trace_opts));
    int64_t offset KN_DEF_(0);
    kn_axis axis1 KN_DEF_(0);
    kn_axis axis2 KN_DEF_(1);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_trace_opts;
#ifndef __cplusplus
#define KN_trace_DEFAULTS_ { .size_ = sizeof(kn_trace_opts), .offset = 0, .axis1 = 0, .axis2 = 1, .dtype = KN_DTYPE_UNSET, .out = KN_NONE_INIT_ }
#endif
/** axis: one, or KN_ALL for the flattened array. dtype as in sum. */
typedef struct kn_scan_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_scan_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_scan_opts;
#ifndef __cplusplus
#define KN_scan_DEFAULTS_ { .size_ = sizeof(kn_scan_opts), .axis = KN_ALL, .dtype = KN_DTYPE_UNSET, .out = KN_NONE_INIT_ }
#endif
typedef struct kn_cumulative_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_cumulative_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_flag include_initial KN_DEF_(false);
} kn_cumulative_opts;
#ifndef __cplusplus
#define KN_cumulative_DEFAULTS_ { .size_ = sizeof(kn_cumulative_opts), .axis = KN_ALL, .dtype = KN_DTYPE_UNSET, .out = KN_NONE_INIT_, .include_initial = false }
#endif
typedef struct kn_diff_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_diff_opts));
    int64_t n KN_DEF_(1);
    kn_axis axis KN_DEF_(-1);
    kn_option prepend KN_DEF_(KN_NONE_INIT_);
    kn_option append KN_DEF_(KN_NONE_INIT_);
} kn_diff_opts;
#ifndef __cplusplus
#define KN_diff_DEFAULTS_ { .size_ = sizeof(kn_diff_opts), .n = 1, .axis = -1, .prepend = KN_NONE_INIT_, .append = KN_NONE_INIT_ }
#endif
typedef struct kn_ediff1d_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_ediff1d_opts));
    kn_option to_end KN_DEF_(KN_NONE_INIT_);
    kn_option to_begin KN_DEF_(KN_NONE_INIT_);
} kn_ediff1d_opts;
#ifndef __cplusplus
#define KN_ediff1d_DEFAULTS_ { .size_ = sizeof(kn_ediff1d_opts), .to_end = KN_NONE_INIT_, .to_begin = KN_NONE_INIT_ }
#endif
typedef struct kn_trapezoid_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_trapezoid_opts));
    kn_option x KN_DEF_(KN_NONE_INIT_);
    kn_option dx KN_DEF_(KN_NONE_INIT_);
    kn_axis axis KN_DEF_(-1);
} kn_trapezoid_opts;
#ifndef __cplusplus
#define KN_trapezoid_DEFAULTS_ { .size_ = sizeof(kn_trapezoid_opts), .x = KN_NONE_INIT_, .dx = KN_NONE_INIT_, .axis = -1 }
#endif
/** dtype; device: where the array will live. */
typedef struct kn_create_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_create_opts));
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_device device KN_DEF_(KN_CURRENT_DEVICE);
} kn_create_opts;
#ifndef __cplusplus
#define KN_create_DEFAULTS_ { .size_ = sizeof(kn_create_opts), .dtype = KN_DTYPE_UNSET, .device = KN_CURRENT_DEVICE }
#endif
/** dtype and shape override the prototype's. */
typedef struct kn_like_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_like_opts));
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_shape shape KN_DEF_(KN_NO_SHAPE_INIT_);
    kn_device device KN_DEF_(KN_CURRENT_DEVICE);
} kn_like_opts;
#ifndef __cplusplus
#define KN_like_DEFAULTS_ { .size_ = sizeof(kn_like_opts), .dtype = KN_DTYPE_UNSET, .shape = KN_NO_SHAPE_INIT_, .device = KN_CURRENT_DEVICE }
#endif
typedef struct kn_arange_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_arange_opts));
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_device device KN_DEF_(KN_CURRENT_DEVICE);
} kn_arange_opts;
#ifndef __cplusplus
#define KN_arange_DEFAULTS_ { .size_ = sizeof(kn_arange_opts), .dtype = KN_DTYPE_UNSET, .device = KN_CURRENT_DEVICE }
#endif
typedef struct kn_linspace_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_linspace_opts));
    kn_flag endpoint KN_DEF_(true);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_axis axis KN_DEF_(0);
    kn_device device KN_DEF_(KN_CURRENT_DEVICE);
} kn_linspace_opts;
#ifndef __cplusplus
#define KN_linspace_DEFAULTS_ { .size_ = sizeof(kn_linspace_opts), .endpoint = true, .dtype = KN_DTYPE_UNSET, .axis = 0, .device = KN_CURRENT_DEVICE }
#endif
typedef struct kn_logspace_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_logspace_opts));
    kn_flag endpoint KN_DEF_(true);
    kn_option base KN_DEF_(KN_NONE_INIT_);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_axis axis KN_DEF_(0);
} kn_logspace_opts;
#ifndef __cplusplus
#define KN_logspace_DEFAULTS_ { .size_ = sizeof(kn_logspace_opts), .endpoint = true, .base = KN_NONE_INIT_, .dtype = KN_DTYPE_UNSET, .axis = 0 }
#endif
typedef struct kn_geomspace_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_geomspace_opts));
    kn_flag endpoint KN_DEF_(true);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    kn_axis axis KN_DEF_(0);
} kn_geomspace_opts;
#ifndef __cplusplus
#define KN_geomspace_DEFAULTS_ { .size_ = sizeof(kn_geomspace_opts), .endpoint = true, .dtype = KN_DTYPE_UNSET, .axis = 0 }
#endif
typedef struct kn_eye_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_eye_opts));
    int64_t m KN_DEF_(KN_UNSET);
    int64_t k KN_DEF_(0);
    kn_dtype dtype KN_DEF_(KN_FLOAT64);
    kn_device device KN_DEF_(KN_CURRENT_DEVICE);
} kn_eye_opts;
#ifndef __cplusplus
#define KN_eye_DEFAULTS_ { .size_ = sizeof(kn_eye_opts), .m = KN_UNSET, .k = 0, .dtype = KN_FLOAT64, .device = KN_CURRENT_DEVICE }
#endif
typedef struct kn_identity_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_identity_opts));
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
} kn_identity_opts;
#ifndef __cplusplus
#define KN_identity_DEFAULTS_ { .size_ = sizeof(kn_identity_opts), .dtype = KN_DTYPE_UNSET }
#endif
typedef struct kn_tri_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_tri_opts));
    int64_t m KN_DEF_(KN_UNSET);
    int64_t k KN_DEF_(0);
    kn_dtype dtype KN_DEF_(KN_FLOAT64);
} kn_tri_opts;
#ifndef __cplusplus
#define KN_tri_DEFAULTS_ { .size_ = sizeof(kn_tri_opts), .m = KN_UNSET, .k = 0, .dtype = KN_FLOAT64 }
#endif
typedef struct kn_triangle_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_triangle_opts));
    int64_t k KN_DEF_(0);
} kn_triangle_opts;
#ifndef __cplusplus
#define KN_triangle_DEFAULTS_ { .size_ = sizeof(kn_triangle_opts), .k = 0 }
#endif
typedef struct kn_diagonal_k_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_diagonal_k_opts));
    int64_t k KN_DEF_(0);
} kn_diagonal_k_opts;
#ifndef __cplusplus
#define KN_diagonal_k_DEFAULTS_ { .size_ = sizeof(kn_diagonal_k_opts), .k = 0 }
#endif
typedef struct kn_vander_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_vander_opts));
    int64_t n KN_DEF_(KN_UNSET);
    kn_flag increasing KN_DEF_(false);
} kn_vander_opts;
#ifndef __cplusplus
#define KN_vander_DEFAULTS_ { .size_ = sizeof(kn_vander_opts), .n = KN_UNSET, .increasing = false }
#endif
typedef struct kn_indices_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_indices_opts));
    kn_dtype dtype KN_DEF_(KN_INT64);
} kn_indices_opts;
#ifndef __cplusplus
#define KN_indices_DEFAULTS_ { .size_ = sizeof(kn_indices_opts), .dtype = KN_INT64 }
#endif
typedef struct kn_copy_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_copy_opts));
} kn_copy_opts;
#ifndef __cplusplus
#define KN_copy_DEFAULTS_ { .size_ = sizeof(kn_copy_opts) }
#endif
typedef struct kn_astype_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_astype_opts));
    kn_flag copy KN_DEF_(true);
    kn_device device KN_DEF_(KN_CURRENT_DEVICE);
} kn_astype_opts;
#ifndef __cplusplus
#define KN_astype_DEFAULTS_ { .size_ = sizeof(kn_astype_opts), .copy = true, .device = KN_CURRENT_DEVICE }
#endif
typedef struct kn_reshape_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_reshape_opts));
    const char *order KN_DEF_("C");
    int64_t copy KN_DEF_(KN_UNSET);
} kn_reshape_opts;
#ifndef __cplusplus
#define KN_reshape_DEFAULTS_ { .size_ = sizeof(kn_reshape_opts), .order = "C", .copy = KN_UNSET }
#endif
typedef struct kn_ravel_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_ravel_opts));
    const char *order KN_DEF_("C");
} kn_ravel_opts;
#ifndef __cplusplus
#define KN_ravel_DEFAULTS_ { .size_ = sizeof(kn_ravel_opts), .order = "C" }
#endif
typedef struct kn_transpose_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_transpose_opts));
    kn_axis axes KN_DEF_(KN_ALL);
} kn_transpose_opts;
#ifndef __cplusplus
#define KN_transpose_DEFAULTS_ { .size_ = sizeof(kn_transpose_opts), .axes = KN_ALL }
#endif
typedef struct kn_rollaxis_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_rollaxis_opts));
    int64_t start KN_DEF_(0);
} kn_rollaxis_opts;
#ifndef __cplusplus
#define KN_rollaxis_DEFAULTS_ { .size_ = sizeof(kn_rollaxis_opts), .start = 0 }
#endif
typedef struct kn_squeeze_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_squeeze_opts));
    kn_axis axis KN_DEF_(KN_ALL);
} kn_squeeze_opts;
#ifndef __cplusplus
#define KN_squeeze_DEFAULTS_ { .size_ = sizeof(kn_squeeze_opts), .axis = KN_ALL }
#endif
typedef struct kn_flip_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_flip_opts));
    kn_axis axis KN_DEF_(KN_ALL);
} kn_flip_opts;
#ifndef __cplusplus
#define KN_flip_DEFAULTS_ { .size_ = sizeof(kn_flip_opts), .axis = KN_ALL }
#endif
typedef struct kn_rot90_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_rot90_opts));
    int64_t k KN_DEF_(1);
    kn_axis axes KN_DEF_(KN_AXES2_(0, 1));
} kn_rot90_opts;
#ifndef __cplusplus
#define KN_rot90_DEFAULTS_ { .size_ = sizeof(kn_rot90_opts), .k = 1, .axes = KN_AXES2_(0, 1) }
#endif
typedef struct kn_diagonal_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_diagonal_opts));
    int64_t offset KN_DEF_(0);
    kn_axis axis1 KN_DEF_(0);
    kn_axis axis2 KN_DEF_(1);
} kn_diagonal_opts;
#ifndef __cplusplus
#define KN_diagonal_DEFAULTS_ { .size_ = sizeof(kn_diagonal_opts), .offset = 0, .axis1 = 0, .axis2 = 1 }
#endif
typedef struct kn_sliding_window_view_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_sliding_window_view_opts));
    kn_axis axis KN_DEF_(KN_ALL);
} kn_sliding_window_view_opts;
#ifndef __cplusplus
#define KN_sliding_window_view_DEFAULTS_ { .size_ = sizeof(kn_sliding_window_view_opts), .axis = KN_ALL }
#endif
typedef struct kn_join_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_join_opts));
    kn_axis axis KN_DEF_(0);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    const char *casting KN_DEF_("same_kind");
} kn_join_opts;
#ifndef __cplusplus
#define KN_join_DEFAULTS_ { .size_ = sizeof(kn_join_opts), .axis = 0, .out = KN_NONE_INIT_, .dtype = KN_DTYPE_UNSET, .casting = "same_kind" }
#endif
typedef struct kn_pile_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_pile_opts));
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
    const char *casting KN_DEF_("same_kind");
} kn_pile_opts;
#ifndef __cplusplus
#define KN_pile_DEFAULTS_ { .size_ = sizeof(kn_pile_opts), .dtype = KN_DTYPE_UNSET, .casting = "same_kind" }
#endif
typedef struct kn_append_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_append_opts));
    kn_axis axis KN_DEF_(KN_ALL);
} kn_append_opts;
#ifndef __cplusplus
#define KN_append_DEFAULTS_ { .size_ = sizeof(kn_append_opts), .axis = KN_ALL }
#endif
typedef struct kn_repeat_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_repeat_opts));
    kn_axis axis KN_DEF_(KN_ALL);
} kn_repeat_opts;
#ifndef __cplusplus
#define KN_repeat_DEFAULTS_ { .size_ = sizeof(kn_repeat_opts), .axis = KN_ALL }
#endif
typedef struct kn_roll_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_roll_opts));
    kn_axis axis KN_DEF_(KN_ALL);
} kn_roll_opts;
#ifndef __cplusplus
#define KN_roll_DEFAULTS_ { .size_ = sizeof(kn_roll_opts), .axis = KN_ALL }
#endif
typedef struct kn_pad_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_pad_opts));
    const char *mode KN_DEF_("constant");
    kn_option constant_values KN_DEF_(KN_NONE_INIT_);
    kn_option end_values KN_DEF_(KN_NONE_INIT_);
    kn_shape stat_length KN_DEF_(KN_NO_SHAPE_INIT_);
    const char *reflect_type KN_DEF_("even");
} kn_pad_opts;
#ifndef __cplusplus
#define KN_pad_DEFAULTS_ { .size_ = sizeof(kn_pad_opts), .mode = "constant", .constant_values = KN_NONE_INIT_, .end_values = KN_NONE_INIT_, .stat_length = KN_NO_SHAPE_INIT_, .reflect_type = "even" }
#endif
typedef struct kn_take_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_take_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    const char *mode KN_DEF_("raise");
} kn_take_opts;
#ifndef __cplusplus
#define KN_take_DEFAULTS_ { .size_ = sizeof(kn_take_opts), .axis = KN_ALL, .out = KN_NONE_INIT_, .mode = "raise" }
#endif
typedef struct kn_take_along_axis_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_take_along_axis_opts));
    kn_axis axis KN_DEF_(-1);
} kn_take_along_axis_opts;
#ifndef __cplusplus
#define KN_take_along_axis_DEFAULTS_ { .size_ = sizeof(kn_take_along_axis_opts), .axis = -1 }
#endif
typedef struct kn_choose_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_choose_opts));
    kn_option out KN_DEF_(KN_NONE_INIT_);
    const char *mode KN_DEF_("raise");
} kn_choose_opts;
#ifndef __cplusplus
#define KN_choose_DEFAULTS_ { .size_ = sizeof(kn_choose_opts), .out = KN_NONE_INIT_, .mode = "raise" }
#endif
typedef struct kn_compress_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_compress_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_compress_opts;
#ifndef __cplusplus
#define KN_compress_DEFAULTS_ { .size_ = sizeof(kn_compress_opts), .axis = KN_ALL, .out = KN_NONE_INIT_ }
#endif
typedef struct kn_unique_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_unique_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_flag equal_nan KN_DEF_(true);
} kn_unique_opts;
#ifndef __cplusplus
#define KN_unique_DEFAULTS_ { .size_ = sizeof(kn_unique_opts), .axis = KN_ALL, .equal_nan = true }
#endif
typedef struct kn_delete_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_delete_opts));
    kn_axis axis KN_DEF_(KN_ALL);
} kn_delete_opts;
#ifndef __cplusplus
#define KN_delete_DEFAULTS_ { .size_ = sizeof(kn_delete_opts), .axis = KN_ALL }
#endif
typedef struct kn_insert_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_insert_opts));
    kn_axis axis KN_DEF_(KN_ALL);
} kn_insert_opts;
#ifndef __cplusplus
#define KN_insert_DEFAULTS_ { .size_ = sizeof(kn_insert_opts), .axis = KN_ALL }
#endif
typedef struct kn_trim_zeros_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_trim_zeros_opts));
    const char *trim KN_DEF_("fb");
    kn_axis axis KN_DEF_(KN_ALL);
} kn_trim_zeros_opts;
#ifndef __cplusplus
#define KN_trim_zeros_DEFAULTS_ { .size_ = sizeof(kn_trim_zeros_opts), .trim = "fb", .axis = KN_ALL }
#endif
typedef struct kn_triangle_positions_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_triangle_positions_opts));
    int64_t k KN_DEF_(0);
    int64_t m KN_DEF_(KN_UNSET);
} kn_triangle_positions_opts;
#ifndef __cplusplus
#define KN_triangle_positions_DEFAULTS_ { .size_ = sizeof(kn_triangle_positions_opts), .k = 0, .m = KN_UNSET }
#endif
typedef struct kn_set_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_set_opts));
    kn_flag assume_unique KN_DEF_(false);
} kn_set_opts;
#ifndef __cplusplus
#define KN_set_DEFAULTS_ { .size_ = sizeof(kn_set_opts), .assume_unique = false }
#endif
typedef struct kn_bincount_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_bincount_opts));
    kn_option weights KN_DEF_(KN_NONE_INIT_);
    int64_t minlength KN_DEF_(0);
} kn_bincount_opts;
#ifndef __cplusplus
#define KN_bincount_DEFAULTS_ { .size_ = sizeof(kn_bincount_opts), .weights = KN_NONE_INIT_, .minlength = 0 }
#endif
typedef struct kn_histogram_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_histogram_opts));
    kn_option bins KN_DEF_(KN_NONE_INIT_);
    kn_option range KN_DEF_(KN_NONE_INIT_);
    kn_flag density KN_DEF_(false);
    kn_option weights KN_DEF_(KN_NONE_INIT_);
} kn_histogram_opts;
#ifndef __cplusplus
#define KN_histogram_DEFAULTS_ { .size_ = sizeof(kn_histogram_opts), .bins = KN_NONE_INIT_, .range = KN_NONE_INIT_, .density = false, .weights = KN_NONE_INIT_ }
#endif
typedef struct kn_histogram_bin_edges_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_histogram_bin_edges_opts));
    kn_option bins KN_DEF_(KN_NONE_INIT_);
    kn_option range KN_DEF_(KN_NONE_INIT_);
    kn_option weights KN_DEF_(KN_NONE_INIT_);
} kn_histogram_bin_edges_opts;
#ifndef __cplusplus
#define KN_histogram_bin_edges_DEFAULTS_ { .size_ = sizeof(kn_histogram_bin_edges_opts), .bins = KN_NONE_INIT_, .range = KN_NONE_INIT_, .weights = KN_NONE_INIT_ }
#endif
typedef struct kn_histogram2d_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_histogram2d_opts));
    kn_option bins KN_DEF_(KN_NONE_INIT_);
    kn_option range KN_DEF_(KN_NONE_INIT_);
    kn_flag density KN_DEF_(false);
    kn_option weights KN_DEF_(KN_NONE_INIT_);
} kn_histogram2d_opts;
#ifndef __cplusplus
#define KN_histogram2d_DEFAULTS_ { .size_ = sizeof(kn_histogram2d_opts), .bins = KN_NONE_INIT_, .range = KN_NONE_INIT_, .density = false, .weights = KN_NONE_INIT_ }
#endif
typedef struct kn_put_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_put_opts));
    const char *mode KN_DEF_("raise");
} kn_put_opts;
#ifndef __cplusplus
#define KN_put_DEFAULTS_ { .size_ = sizeof(kn_put_opts), .mode = "raise" }
#endif
typedef struct kn_copyto_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_copyto_opts));
    const char *casting KN_DEF_("same_kind");
    kn_option where KN_DEF_(KN_NONE_INIT_);
} kn_copyto_opts;
#ifndef __cplusplus
#define KN_copyto_DEFAULTS_ { .size_ = sizeof(kn_copyto_opts), .casting = "same_kind", .where = KN_NONE_INIT_ }
#endif
typedef struct kn_fill_diagonal_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_fill_diagonal_opts));
    kn_flag wrap KN_DEF_(false);
} kn_fill_diagonal_opts;
#ifndef __cplusplus
#define KN_fill_diagonal_DEFAULTS_ { .size_ = sizeof(kn_fill_diagonal_opts), .wrap = false }
#endif
typedef struct kn_ravel_multi_index_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_ravel_multi_index_opts));
    const char *mode KN_DEF_("raise");
    const char *order KN_DEF_("C");
} kn_ravel_multi_index_opts;
#ifndef __cplusplus
#define KN_ravel_multi_index_DEFAULTS_ { .size_ = sizeof(kn_ravel_multi_index_opts), .mode = "raise", .order = "C" }
#endif
typedef struct kn_unravel_index_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_unravel_index_opts));
    const char *order KN_DEF_("C");
} kn_unravel_index_opts;
#ifndef __cplusplus
#define KN_unravel_index_DEFAULTS_ { .size_ = sizeof(kn_unravel_index_opts), .order = "C" }
#endif
typedef struct kn_diag_indices_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_diag_indices_opts));
    int64_t ndim KN_DEF_(2);
} kn_diag_indices_opts;
#ifndef __cplusplus
#define KN_diag_indices_DEFAULTS_ { .size_ = sizeof(kn_diag_indices_opts), .ndim = 2 }
#endif
typedef struct kn_packbits_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_packbits_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    const char *bitorder KN_DEF_("big");
} kn_packbits_opts;
#ifndef __cplusplus
#define KN_packbits_DEFAULTS_ { .size_ = sizeof(kn_packbits_opts), .axis = KN_ALL, .bitorder = "big" }
#endif
typedef struct kn_unpackbits_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_unpackbits_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    int64_t count KN_DEF_(KN_UNSET);
    const char *bitorder KN_DEF_("big");
} kn_unpackbits_opts;
#ifndef __cplusplus
#define KN_unpackbits_DEFAULTS_ { .size_ = sizeof(kn_unpackbits_opts), .axis = KN_ALL, .count = KN_UNSET, .bitorder = "big" }
#endif
typedef struct kn_split_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_split_opts));
    kn_axis axis KN_DEF_(0);
} kn_split_opts;
#ifndef __cplusplus
#define KN_split_DEFAULTS_ { .size_ = sizeof(kn_split_opts), .axis = 0 }
#endif
typedef struct kn_unstack_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_unstack_opts));
    kn_axis axis KN_DEF_(0);
} kn_unstack_opts;
#ifndef __cplusplus
#define KN_unstack_DEFAULTS_ { .size_ = sizeof(kn_unstack_opts), .axis = 0 }
#endif
typedef struct kn_meshgrid_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_meshgrid_opts));
    kn_flag sparse KN_DEF_(false);
    const char *indexing KN_DEF_("xy");
} kn_meshgrid_opts;
#ifndef __cplusplus
#define KN_meshgrid_DEFAULTS_ { .size_ = sizeof(kn_meshgrid_opts), .sparse = false, .indexing = "xy" }
#endif
typedef struct kn_gradient_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_gradient_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    int64_t edge_order KN_DEF_(1);
} kn_gradient_opts;
#ifndef __cplusplus
#define KN_gradient_DEFAULTS_ { .size_ = sizeof(kn_gradient_opts), .axis = KN_ALL, .edge_order = 1 }
#endif
/** kind is accepted, every sort is stable. */
typedef struct kn_sort_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_sort_opts));
    kn_axis axis KN_DEF_(-1);
    const char *kind KN_DEF_(0);
    int64_t stable KN_DEF_(KN_UNSET);
} kn_sort_opts;
#ifndef __cplusplus
#define KN_sort_DEFAULTS_ { .size_ = sizeof(kn_sort_opts), .axis = -1, .kind = 0, .stable = KN_UNSET }
#endif
typedef struct kn_partition_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_partition_opts));
    kn_axis axis KN_DEF_(-1);
} kn_partition_opts;
#ifndef __cplusplus
#define KN_partition_DEFAULTS_ { .size_ = sizeof(kn_partition_opts), .axis = -1 }
#endif
typedef struct kn_lexsort_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_lexsort_opts));
    kn_axis axis KN_DEF_(-1);
} kn_lexsort_opts;
#ifndef __cplusplus
#define KN_lexsort_DEFAULTS_ { .size_ = sizeof(kn_lexsort_opts), .axis = -1 }
#endif
typedef struct kn_median_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_median_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    kn_flag keepdims KN_DEF_(false);
} kn_median_opts;
#ifndef __cplusplus
#define KN_median_DEFAULTS_ { .size_ = sizeof(kn_median_opts), .axis = KN_ALL, .out = KN_NONE_INIT_, .keepdims = false }
#endif
typedef struct kn_quantile_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_quantile_opts));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_option out KN_DEF_(KN_NONE_INIT_);
    const char *method KN_DEF_("linear");
    kn_flag keepdims KN_DEF_(false);
    kn_option weights KN_DEF_(KN_NONE_INIT_);
} kn_quantile_opts;
#ifndef __cplusplus
#define KN_quantile_DEFAULTS_ { .size_ = sizeof(kn_quantile_opts), .axis = KN_ALL, .out = KN_NONE_INIT_, .method = "linear", .keepdims = false, .weights = KN_NONE_INIT_ }
#endif
typedef struct kn_cov_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_cov_opts));
    kn_option y KN_DEF_(KN_NONE_INIT_);
    kn_flag rowvar KN_DEF_(true);
    kn_flag bias KN_DEF_(false);
    int64_t ddof KN_DEF_(KN_UNSET);
    kn_option fweights KN_DEF_(KN_NONE_INIT_);
    kn_option aweights KN_DEF_(KN_NONE_INIT_);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
} kn_cov_opts;
#ifndef __cplusplus
#define KN_cov_DEFAULTS_ { .size_ = sizeof(kn_cov_opts), .y = KN_NONE_INIT_, .rowvar = true, .bias = false, .ddof = KN_UNSET, .fweights = KN_NONE_INIT_, .aweights = KN_NONE_INIT_, .dtype = KN_DTYPE_UNSET }
#endif
typedef struct kn_corrcoef_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_corrcoef_opts));
    kn_option y KN_DEF_(KN_NONE_INIT_);
    kn_flag rowvar KN_DEF_(true);
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
} kn_corrcoef_opts;
#ifndef __cplusplus
#define KN_corrcoef_DEFAULTS_ { .size_ = sizeof(kn_corrcoef_opts), .y = KN_NONE_INIT_, .rowvar = true, .dtype = KN_DTYPE_UNSET }
#endif
typedef struct kn_searchsorted_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_searchsorted_opts));
    const char *side KN_DEF_("left");
    kn_option sorter KN_DEF_(KN_NONE_INIT_);
} kn_searchsorted_opts;
#ifndef __cplusplus
#define KN_searchsorted_DEFAULTS_ { .size_ = sizeof(kn_searchsorted_opts), .side = "left", .sorter = KN_NONE_INIT_ }
#endif
typedef struct kn_digitize_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_digitize_opts));
    kn_flag right KN_DEF_(false);
} kn_digitize_opts;
#ifndef __cplusplus
#define KN_digitize_DEFAULTS_ { .size_ = sizeof(kn_digitize_opts), .right = false }
#endif
typedef struct kn_isin_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_isin_opts));
    kn_flag invert KN_DEF_(false);
} kn_isin_opts;
#ifndef __cplusplus
#define KN_isin_DEFAULTS_ { .size_ = sizeof(kn_isin_opts), .invert = false }
#endif
typedef struct kn_interp_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_interp_opts));
    kn_option left KN_DEF_(KN_NONE_INIT_);
    kn_option right KN_DEF_(KN_NONE_INIT_);
    double period KN_DEF_(__builtin_nan(""));
} kn_interp_opts;
#ifndef __cplusplus
#define KN_interp_DEFAULTS_ { .size_ = sizeof(kn_interp_opts), .left = KN_NONE_INIT_, .right = KN_NONE_INIT_, .period = __builtin_nan("") }
#endif
typedef struct kn_convolve_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_convolve_opts));
    const char *mode KN_DEF_("full");
} kn_convolve_opts;
#ifndef __cplusplus
#define KN_convolve_DEFAULTS_ { .size_ = sizeof(kn_convolve_opts), .mode = "full" }
#endif
typedef struct kn_correlate_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_correlate_opts));
    const char *mode KN_DEF_("valid");
} kn_correlate_opts;
#ifndef __cplusplus
#define KN_correlate_DEFAULTS_ { .size_ = sizeof(kn_correlate_opts), .mode = "valid" }
#endif
typedef struct kn_unwrap_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_unwrap_opts));
    kn_option discont KN_DEF_(KN_NONE_INIT_);
    kn_axis axis KN_DEF_(-1);
    kn_option period KN_DEF_(KN_NONE_INIT_);
} kn_unwrap_opts;
#ifndef __cplusplus
#define KN_unwrap_DEFAULTS_ { .size_ = sizeof(kn_unwrap_opts), .discont = KN_NONE_INIT_, .axis = -1, .period = KN_NONE_INIT_ }
#endif
typedef struct kn_matmul_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_matmul_opts));
    kn_option out KN_DEF_(KN_NONE_INIT_);
    const char *casting KN_DEF_("same_kind");
    kn_dtype dtype KN_DEF_(KN_DTYPE_UNSET);
} kn_matmul_opts;
#ifndef __cplusplus
#define KN_matmul_DEFAULTS_ { .size_ = sizeof(kn_matmul_opts), .out = KN_NONE_INIT_, .casting = "same_kind", .dtype = KN_DTYPE_UNSET }
#endif
typedef struct kn_out2_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_out2_opts));
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_out2_opts;
#ifndef __cplusplus
#define KN_out2_DEFAULTS_ { .size_ = sizeof(kn_out2_opts), .out = KN_NONE_INIT_ }
#endif
typedef struct kn_tensordot_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_tensordot_opts));
    int64_t axes KN_DEF_(2);
    kn_axis axes_a KN_DEF_(KN_ALL);
    kn_axis axes_b KN_DEF_(KN_ALL);
} kn_tensordot_opts;
#ifndef __cplusplus
#define KN_tensordot_DEFAULTS_ { .size_ = sizeof(kn_tensordot_opts), .axes = 2, .axes_a = KN_ALL, .axes_b = KN_ALL }
#endif
typedef struct kn_cross_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_cross_opts));
    kn_axis axisa KN_DEF_(-1);
    kn_axis axisb KN_DEF_(-1);
    kn_axis axisc KN_DEF_(-1);
    int64_t axis KN_DEF_(KN_UNSET);
} kn_cross_opts;
#ifndef __cplusplus
#define KN_cross_DEFAULTS_ { .size_ = sizeof(kn_cross_opts), .axisa = -1, .axisb = -1, .axisc = -1, .axis = KN_UNSET }
#endif
typedef struct kn_vecdot_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_vecdot_opts));
    kn_axis axis KN_DEF_(-1);
} kn_vecdot_opts;
#ifndef __cplusplus
#define KN_vecdot_DEFAULTS_ { .size_ = sizeof(kn_vecdot_opts), .axis = -1 }
#endif
typedef struct kn_einsum_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_einsum_opts));
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_einsum_opts;
#ifndef __cplusplus
#define KN_einsum_DEFAULTS_ { .size_ = sizeof(kn_einsum_opts), .out = KN_NONE_INIT_ }
#endif
typedef struct kn_out2l_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_out2l_opts));
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_out2l_opts;
#ifndef __cplusplus
#define KN_out2l_DEFAULTS_ { .size_ = sizeof(kn_out2l_opts), .out = KN_NONE_INIT_ }
#endif
typedef struct kn_norm_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_norm_opts));
    double ord KN_DEF_(__builtin_nan(""));
    kn_axis axis KN_DEF_(KN_ALL);
    kn_flag keepdims KN_DEF_(false);
} kn_norm_opts;
#ifndef __cplusplus
#define KN_norm_DEFAULTS_ { .size_ = sizeof(kn_norm_opts), .ord = __builtin_nan(""), .axis = KN_ALL, .keepdims = false }
#endif
typedef struct kn_svd_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_svd_opts));
    kn_flag full_matrices KN_DEF_(true);
} kn_svd_opts;
#ifndef __cplusplus
#define KN_svd_DEFAULTS_ { .size_ = sizeof(kn_svd_opts), .full_matrices = true }
#endif
/** n: length along the axis. norm: which of the two directions is scaled by 1 / n. */
typedef struct kn_fft_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_fft_opts));
    int64_t n KN_DEF_(KN_UNSET);
    kn_axis axis KN_DEF_(-1);
    kn_fft_norm norm KN_DEF_(KN_NORM_BACKWARD);
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_fft_opts;
#ifndef __cplusplus
#define KN_fft_DEFAULTS_ { .size_ = sizeof(kn_fft_opts), .n = KN_UNSET, .axis = -1, .norm = KN_NORM_BACKWARD, .out = KN_NONE_INIT_ }
#endif
typedef struct kn_fft2_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_fft2_opts));
    kn_shape s KN_DEF_(KN_NO_SHAPE_INIT_);
    kn_axis axes KN_DEF_(KN_AXES2_(-2, -1));
    kn_fft_norm norm KN_DEF_(KN_NORM_BACKWARD);
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_fft2_opts;
#ifndef __cplusplus
#define KN_fft2_DEFAULTS_ { .size_ = sizeof(kn_fft2_opts), .s = KN_NO_SHAPE_INIT_, .axes = KN_AXES2_(-2, -1), .norm = KN_NORM_BACKWARD, .out = KN_NONE_INIT_ }
#endif
typedef struct kn_fftn_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_fftn_opts));
    kn_shape s KN_DEF_(KN_NO_SHAPE_INIT_);
    kn_axis axes KN_DEF_(KN_ALL);
    kn_fft_norm norm KN_DEF_(KN_NORM_BACKWARD);
    kn_option out KN_DEF_(KN_NONE_INIT_);
} kn_fftn_opts;
#ifndef __cplusplus
#define KN_fftn_DEFAULTS_ { .size_ = sizeof(kn_fftn_opts), .s = KN_NO_SHAPE_INIT_, .axes = KN_ALL, .norm = KN_NORM_BACKWARD, .out = KN_NONE_INIT_ }
#endif
typedef struct kn_frequencies_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_frequencies_opts));
    double d KN_DEF_(1.0);
    kn_device device KN_DEF_(KN_CURRENT_DEVICE);
} kn_frequencies_opts;
#ifndef __cplusplus
#define KN_frequencies_DEFAULTS_ { .size_ = sizeof(kn_frequencies_opts), .d = 1.0, .device = KN_CURRENT_DEVICE }
#endif
typedef struct kn_shift_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_shift_opts));
    kn_axis axes KN_DEF_(KN_ALL);
} kn_shift_opts;
#ifndef __cplusplus
#define KN_shift_DEFAULTS_ { .size_ = sizeof(kn_shift_opts), .axes = KN_ALL }
#endif
typedef struct kn_random_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_random_opts));
    kn_shape size KN_DEF_(KN_SCALAR_INIT_);
    kn_dtype dtype KN_DEF_(KN_FLOAT64);
} kn_random_opts;
#ifndef __cplusplus
#define KN_random_DEFAULTS_ { .size_ = sizeof(kn_random_opts), .size = KN_SCALAR_INIT_, .dtype = KN_FLOAT64 }
#endif
typedef struct kn_uniform_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_uniform_opts));
    double low KN_DEF_(0.0);
    double high KN_DEF_(1.0);
    kn_shape size KN_DEF_(KN_SCALAR_INIT_);
    kn_dtype dtype KN_DEF_(KN_FLOAT64);
} kn_uniform_opts;
#ifndef __cplusplus
#define KN_uniform_DEFAULTS_ { .size_ = sizeof(kn_uniform_opts), .low = 0.0, .high = 1.0, .size = KN_SCALAR_INIT_, .dtype = KN_FLOAT64 }
#endif
typedef struct kn_integers_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_integers_opts));
    kn_shape size KN_DEF_(KN_SCALAR_INIT_);
    kn_dtype dtype KN_DEF_(KN_INT64);
    kn_flag endpoint KN_DEF_(false);
} kn_integers_opts;
#ifndef __cplusplus
#define KN_integers_DEFAULTS_ { .size_ = sizeof(kn_integers_opts), .size = KN_SCALAR_INIT_, .dtype = KN_INT64, .endpoint = false }
#endif
typedef struct kn_normal_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_normal_opts));
    double loc KN_DEF_(0.0);
    double scale KN_DEF_(1.0);
    kn_shape size KN_DEF_(KN_SCALAR_INIT_);
    kn_dtype dtype KN_DEF_(KN_FLOAT64);
} kn_normal_opts;
#ifndef __cplusplus
#define KN_normal_DEFAULTS_ { .size_ = sizeof(kn_normal_opts), .loc = 0.0, .scale = 1.0, .size = KN_SCALAR_INIT_, .dtype = KN_FLOAT64 }
#endif
typedef struct kn_exponential_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_exponential_opts));
    double scale KN_DEF_(1.0);
    kn_shape size KN_DEF_(KN_SCALAR_INIT_);
} kn_exponential_opts;
#ifndef __cplusplus
#define KN_exponential_DEFAULTS_ { .size_ = sizeof(kn_exponential_opts), .scale = 1.0, .size = KN_SCALAR_INIT_ }
#endif
typedef struct kn_permutation_opts {
    uint32_t size_ KN_DEF_(sizeof(struct kn_permutation_opts));
    kn_axis axis KN_DEF_(0);
} kn_permutation_opts;
#ifndef __cplusplus
#define KN_permutation_DEFAULTS_ { .size_ = sizeof(kn_permutation_opts), .axis = 0 }
#endif

KN_BEGIN_C

/* ---- Elementwise: arithmetic ---- */
/** x1 + x2. Of two bools: or. */
KN_API KN_USE kn_array (kn_add)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 - x2. A TypeError for two bools. */
KN_API KN_USE kn_array (kn_sub)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 * x2. Of two bools: and. */
KN_API KN_USE kn_array (kn_mul)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 / x2, always a float or complex number; integers divide as float64. */
KN_API KN_USE kn_array (kn_div)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The largest whole number not above x1 / x2. Integers divided by 0 give 0. */
KN_API KN_USE kn_array (kn_floor_divide)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 - x2 * floor(x1 / x2): has the sign of x2. Integers: 0 where x2 is 0. */
KN_API KN_USE kn_array (kn_remainder)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The remainder of C: has the sign of x1. Integers: 0 where x2 is 0. */
KN_API KN_USE kn_array (kn_fmod)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 ** x2. Integers to negative integer powers are a ValueError. */
KN_API KN_USE kn_array (kn_power)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 ** x2 in float64 or complex128. */
KN_API KN_USE kn_array (kn_float_power)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** -x. A TypeError for bools. */
KN_API KN_USE kn_array (kn_neg)(kn_array x, const kn_ufunc_opts *opts);
/** +x, a copy. A TypeError for bools. */
KN_API KN_USE kn_array (kn_positive)(kn_array x, const kn_ufunc_opts *opts);
/** The magnitude; of a complex number, a real one. The lowest signed integer stays as it is. */
KN_API KN_USE kn_array (kn_abs)(kn_array x, const kn_ufunc_opts *opts);
/** The magnitude as a float. */
KN_API KN_USE kn_array (kn_fabs)(kn_array x, const kn_ufunc_opts *opts);
/** -1, 0 or 1; of a complex number, x / |x|. NaN stays NaN. */
KN_API KN_USE kn_array (kn_sign)(kn_array x, const kn_ufunc_opts *opts);
/** x * x. */
KN_API KN_USE kn_array (kn_square)(kn_array x, const kn_ufunc_opts *opts);
/** 1 / x; integers truncate. */
KN_API KN_USE kn_array (kn_reciprocal)(kn_array x, const kn_ufunc_opts *opts);
/** The complex conjugate; real numbers as they are. */
KN_API KN_USE kn_array (kn_conjugate)(kn_array x, const kn_ufunc_opts *opts);
/** The greatest common divisor of integers, never negative. */
KN_API KN_USE kn_array (kn_gcd)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The least common multiple of integers, never negative. */
KN_API KN_USE kn_array (kn_lcm)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
typedef struct { kn_array quotient, remainder; } kn_divmod_result;
/** floor_divide(x1, x2) and remainder(x1, x2). */
KN_API KN_USE kn_divmod_result (kn_divmod)(kn_array x1, kn_array x2, const kn_ufunc2_opts *opts);
/** The larger; NaN where either is NaN. Complex numbers compare by real, then imaginary part. */
KN_API KN_USE kn_array (kn_maximum)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The smaller; NaN where either is NaN. Complex numbers compare by real, then imaginary part. */
KN_API KN_USE kn_array (kn_minimum)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The larger; a NaN loses against a number. */
KN_API KN_USE kn_array (kn_fmax)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The smaller; a NaN loses against a number. */
KN_API KN_USE kn_array (kn_fmin)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** a limited to [a_min, a_max], which broadcast against it: minimum(maximum(a, a_min), a_max), so a NaN anywhere
 * gives NaN. KN_NONE for no limit. The common dtype of the three. */
KN_API KN_USE kn_array (kn_clip)(kn_array a, kn_array a_min, kn_array a_max, const kn_clip_opts *opts);

/* ---- Elementwise: comparisons, truth, bits ---- */
/** x1 == x2, bool. */
KN_API KN_USE kn_array (kn_equal)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 != x2, bool. */
KN_API KN_USE kn_array (kn_not_equal)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 < x2, bool. Complex numbers compare by real, then imaginary part. */
KN_API KN_USE kn_array (kn_less)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 <= x2, bool. */
KN_API KN_USE kn_array (kn_less_equal)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 > x2, bool. */
KN_API KN_USE kn_array (kn_greater)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 >= x2, bool. */
KN_API KN_USE kn_array (kn_greater_equal)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** Whether both are true (not zero), bool. */
KN_API KN_USE kn_array (kn_logical_and)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** Whether one of the two is true, bool. */
KN_API KN_USE kn_array (kn_logical_or)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** Whether exactly one of the two is true, bool. */
KN_API KN_USE kn_array (kn_logical_xor)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** Whether x is zero, bool. */
KN_API KN_USE kn_array (kn_logical_not)(kn_array x, const kn_ufunc_opts *opts);
/** x1 & x2 of integers or bools. */
KN_API KN_USE kn_array (kn_bitwise_and)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 | x2 of integers or bools. */
KN_API KN_USE kn_array (kn_bitwise_or)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** x1 ^ x2 of integers or bools. */
KN_API KN_USE kn_array (kn_bitwise_xor)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** ~x of integers, not x of bools. */
KN_API KN_USE kn_array (kn_invert)(kn_array x, const kn_ufunc_opts *opts);
/** x1 * 2**x2 of integers; 0 where x2 is the width or more. */
KN_API KN_USE kn_array (kn_left_shift)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** floor(x1 / 2**x2) of integers. */
KN_API KN_USE kn_array (kn_right_shift)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** How many bits of |x| are set, uint8. */
KN_API KN_USE kn_array (kn_bitwise_count)(kn_array x, const kn_ufunc_opts *opts);
/** Whether x is not a number, bool. */
KN_API KN_USE kn_array (kn_isnan)(kn_array x, const kn_ufunc_opts *opts);
/** Whether x is infinite, bool. */
KN_API KN_USE kn_array (kn_isinf)(kn_array x, const kn_ufunc_opts *opts);
/** Whether x is neither infinite nor NaN, bool. */
KN_API KN_USE kn_array (kn_isfinite)(kn_array x, const kn_ufunc_opts *opts);
/** Whether the sign bit is set (negative, -0.0), bool. */
KN_API KN_USE kn_array (kn_signbit)(kn_array x, const kn_ufunc_opts *opts);

/* ---- Elementwise: exponentials, logarithms, roots ---- */
/** e**x. */
KN_API KN_USE kn_array (kn_exp)(kn_array x, const kn_ufunc_opts *opts);
/** 2**x. */
KN_API KN_USE kn_array (kn_exp2)(kn_array x, const kn_ufunc_opts *opts);
/** e**x - 1, exact near 0. */
KN_API KN_USE kn_array (kn_expm1)(kn_array x, const kn_ufunc_opts *opts);
/** The natural logarithm. */
KN_API KN_USE kn_array (kn_log)(kn_array x, const kn_ufunc_opts *opts);
/** The logarithm to base 2. */
KN_API KN_USE kn_array (kn_log2)(kn_array x, const kn_ufunc_opts *opts);
/** The logarithm to base 10. */
KN_API KN_USE kn_array (kn_log10)(kn_array x, const kn_ufunc_opts *opts);
/** log(1 + x), exact near 0. */
KN_API KN_USE kn_array (kn_log1p)(kn_array x, const kn_ufunc_opts *opts);
/** log(e**x1 + e**x2) without overflow. */
KN_API KN_USE kn_array (kn_logaddexp)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** log2(2**x1 + 2**x2) without overflow. */
KN_API KN_USE kn_array (kn_logaddexp2)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The square root, correctly rounded; NaN for negative real numbers. */
KN_API KN_USE kn_array (kn_sqrt)(kn_array x, const kn_ufunc_opts *opts);
/** The cube root. */
KN_API KN_USE kn_array (kn_cbrt)(kn_array x, const kn_ufunc_opts *opts);
/** sqrt(x1**2 + x2**2) without overflow. */
KN_API KN_USE kn_array (kn_hypot)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);

/* ---- Elementwise: trigonometric and hyperbolic; angles in radians ---- */
/** The sine of x radians. */
KN_API KN_USE kn_array (kn_sin)(kn_array x, const kn_ufunc_opts *opts);
/** The cosine of x radians. */
KN_API KN_USE kn_array (kn_cos)(kn_array x, const kn_ufunc_opts *opts);
/** The tangent of x radians. */
KN_API KN_USE kn_array (kn_tan)(kn_array x, const kn_ufunc_opts *opts);
/** The angle in [-pi/2, pi/2] whose sine is x. */
KN_API KN_USE kn_array (kn_arcsin)(kn_array x, const kn_ufunc_opts *opts);
/** The angle in [0, pi] whose cosine is x. */
KN_API KN_USE kn_array (kn_arccos)(kn_array x, const kn_ufunc_opts *opts);
/** The angle in [-pi/2, pi/2] whose tangent is x. */
KN_API KN_USE kn_array (kn_arctan)(kn_array x, const kn_ufunc_opts *opts);
/** The angle in [-pi, pi] of the point (x2, x1). */
KN_API KN_USE kn_array (kn_arctan2)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The hyperbolic sine. */
KN_API KN_USE kn_array (kn_sinh)(kn_array x, const kn_ufunc_opts *opts);
/** The hyperbolic cosine. */
KN_API KN_USE kn_array (kn_cosh)(kn_array x, const kn_ufunc_opts *opts);
/** The hyperbolic tangent. */
KN_API KN_USE kn_array (kn_tanh)(kn_array x, const kn_ufunc_opts *opts);
/** The inverse hyperbolic sine. */
KN_API KN_USE kn_array (kn_arcsinh)(kn_array x, const kn_ufunc_opts *opts);
/** The inverse hyperbolic cosine. */
KN_API KN_USE kn_array (kn_arccosh)(kn_array x, const kn_ufunc_opts *opts);
/** The inverse hyperbolic tangent. */
KN_API KN_USE kn_array (kn_arctanh)(kn_array x, const kn_ufunc_opts *opts);
/** Degrees to radians. */
KN_API KN_USE kn_array (kn_deg2rad)(kn_array x, const kn_ufunc_opts *opts);
/** Radians to degrees. */
KN_API KN_USE kn_array (kn_rad2deg)(kn_array x, const kn_ufunc_opts *opts);
/** sin(pi x) / (pi x), 1 at 0. */
KN_API KN_USE kn_array (kn_sinc)(kn_array x);
/** The modified Bessel function of the first kind, order 0. */
KN_API KN_USE kn_array (kn_i0)(kn_array x);
/** The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x. */
KN_API KN_USE kn_array (kn_erf)(kn_array x, const kn_ufunc_opts *opts);
/** 1 - erf(x), exact where erf is near 1. */
KN_API KN_USE kn_array (kn_erfc)(kn_array x, const kn_ufunc_opts *opts);
/** The x whose error function is y. */
KN_API KN_USE kn_array (kn_erfinv)(kn_array x, const kn_ufunc_opts *opts);
/** The x with erfc(x) = y. */
KN_API KN_USE kn_array (kn_erfcinv)(kn_array x, const kn_ufunc_opts *opts);
/** The logistic function, 1 / (1 + exp(-x)). */
KN_API KN_USE kn_array (kn_expit)(kn_array x, const kn_ufunc_opts *opts);
/** The argument of complex numbers, in radians or (deg) degrees. */
KN_API KN_USE kn_array (kn_angle)(kn_array z, const kn_angle_opts *opts);

/* ---- Elementwise: rounding, parts of numbers ---- */
/** The nearest whole number, ties to even. */
KN_API KN_USE kn_array (kn_rint)(kn_array x, const kn_ufunc_opts *opts);
/** The largest whole number not above x; integers as they are. */
KN_API KN_USE kn_array (kn_floor)(kn_array x, const kn_ufunc_opts *opts);
/** The smallest whole number not below x; integers as they are. */
KN_API KN_USE kn_array (kn_ceil)(kn_array x, const kn_ufunc_opts *opts);
/** x without its fraction; integers as they are. */
KN_API KN_USE kn_array (kn_trunc)(kn_array x, const kn_ufunc_opts *opts);
/** Rounded to so many decimals (negative: tens, hundreds ...), ties to even. Bools become float16; integers stay. */
KN_API KN_USE kn_array (kn_round)(kn_array a, const kn_round_opts *opts);
/** The magnitude of x1 with the sign of x2. */
KN_API KN_USE kn_array (kn_copysign)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The next float after x1 towards x2. */
KN_API KN_USE kn_array (kn_nextafter)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** The distance to the next float away from 0. */
KN_API KN_USE kn_array (kn_spacing)(kn_array x, const kn_ufunc_opts *opts);
/** x1 * 2**x2, x2 integers. */
KN_API KN_USE kn_array (kn_ldexp)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
/** 0 where x1 < 0, x2 where it is 0, 1 where it is greater. */
KN_API KN_USE kn_array (kn_heaviside)(kn_array x1, kn_array x2, const kn_ufunc_opts *opts);
typedef struct { kn_array mantissa, exponent; } kn_frexp_result;
/** mantissa in [0.5, 1) and int32 exponent with x = mantissa * 2**exponent. */
KN_API KN_USE kn_frexp_result (kn_frexp)(kn_array x, const kn_ufunc2_opts *opts);
typedef struct { kn_array fractional, integral; } kn_modf_result;
/** The fraction and the whole part, both with the sign of x. */
KN_API KN_USE kn_modf_result (kn_modf)(kn_array x, const kn_ufunc2_opts *opts);
/** NaN replaced by nan, infinities by posinf and neginf (the largest finite numbers when not given). Always a new
 * array. */
KN_API KN_USE kn_array (kn_nan_to_num)(kn_array x, const kn_nan_to_num_opts *opts);
/** Whether x is minus infinity, bool. A TypeError for complex numbers. */
KN_API KN_USE kn_array (kn_isneginf)(kn_array x, const kn_out_opts *opts);
/** Whether x is plus infinity, bool. A TypeError for complex numbers. */
KN_API KN_USE kn_array (kn_isposinf)(kn_array x, const kn_out_opts *opts);
/** Whether the imaginary part is zero, bool. */
KN_API KN_USE kn_array (kn_isreal)(kn_array x);
/** Whether the imaginary part is not zero, bool. */
KN_API KN_USE kn_array (kn_iscomplex)(kn_array x);
/** Whether |a - b| <= atol + rtol * |b|, bool; equal infinities are close, NaNs with equal_nan. */
KN_API KN_USE kn_array (kn_isclose)(kn_array a, kn_array b, const kn_close_opts *opts);
/** Whether isclose holds everywhere: one bool. */
KN_API KN_USE kn_array (kn_allclose)(kn_array a, kn_array b, const kn_close_opts *opts);
/** Whether shapes and all elements are equal: one bool. */
KN_API KN_USE kn_array (kn_array_equal)(kn_array a1, kn_array a2, const kn_array_equal_opts *opts);
/** Whether the arrays broadcast to one shape with equal elements: one bool. */
KN_API KN_USE kn_array (kn_array_equiv)(kn_array a1, kn_array a2);
/** x where condition is true, else y; the three broadcast. The common dtype of x and y. */
KN_API KN_USE kn_array (kn_where)(kn_array condition, kn_array x, kn_array y);
/** The first choice whose condition holds, else default; all broadcast. Conditions are bool. */
KN_API KN_USE kn_array (kn_select)(kn_list condlist, kn_list choicelist, const kn_select_opts *opts);
/** The number that goes with the last condition that holds, element by element; where none does, the number that
 * is left over, or 0. x's shape and dtype. */
KN_API KN_USE kn_array (kn_piecewise)(kn_array x, kn_list condlist, kn_list funclist);

/* ---- Reductions ---- */
/** The sum over axes. Integers smaller than int64 add up in int64 or uint64, bools are counted, float16 adds in
 * float32 and is rounded once. Floats stay within the pairwise bound, in an order that never depends on threads. */
KN_API KN_USE kn_array (kn_sum)(kn_array a, const kn_reduce_opts *opts);
/** The product over axes. Dtypes as for sum. */
KN_API KN_USE kn_array (kn_prod)(kn_array a, const kn_reduce_opts *opts);
/** The largest over axes; NaN if there is one. A ValueError over no elements without initial. */
KN_API KN_USE kn_array (kn_max)(kn_array a, const kn_extreme_opts *opts);
/** The smallest over axes; NaN if there is one. A ValueError over no elements without initial. */
KN_API KN_USE kn_array (kn_min)(kn_array a, const kn_extreme_opts *opts);
/** Whether any element is true, bool. */
KN_API KN_USE kn_array (kn_any)(kn_array a, const kn_truth_opts *opts);
/** Whether all elements are true, bool. */
KN_API KN_USE kn_array (kn_all)(kn_array a, const kn_truth_opts *opts);
/** The mean over axes: float64 for integers, else a's dtype; float16 adds in float32. NaN over no elements. */
KN_API KN_USE kn_array (kn_mean)(kn_array a, const kn_mean_opts *opts);
/** The variance over axes, sum of squared deviations / (n - ddof), in one pass. float64 for integers; real for
 * complex numbers. correction is another name of ddof. */
KN_API KN_USE kn_array (kn_var)(kn_array a, const kn_var_opts *opts);
/** The standard deviation over axes, sqrt(var). */
KN_API KN_USE kn_array (kn_std)(kn_array a, const kn_var_opts *opts);
/** Where the largest stands along one axis (of the flattened array: no axis), int64; the first of several, and
 * the first NaN before all. */
KN_API KN_USE kn_array (kn_argmax)(kn_array a, const kn_position_opts *opts);
/** Where the smallest stands along one axis (of the flattened array: no axis), int64; the first of several, and
 * the first NaN before all. */
KN_API KN_USE kn_array (kn_argmin)(kn_array a, const kn_position_opts *opts);
/** max - min over axes. */
KN_API KN_USE kn_array (kn_ptp)(kn_array a, const kn_ptp_opts *opts);
/** How many elements are not zero, int64. */
KN_API KN_USE kn_array (kn_count_nonzero)(kn_array a, const kn_count_nonzero_opts *opts);
/** sum(a * weights) / sum(weights) over axes; weights has a's shape or, for one axis, its length. */
KN_API KN_USE kn_array (kn_average)(kn_array a, const kn_average_opts *opts);
/** sum with NaN as 0. */
KN_API KN_USE kn_array (kn_nansum)(kn_array a, const kn_reduce_opts *opts);
/** prod with NaN as 1. */
KN_API KN_USE kn_array (kn_nanprod)(kn_array a, const kn_reduce_opts *opts);
/** max without NaNs; NaN where there is nothing else. */
KN_API KN_USE kn_array (kn_nanmax)(kn_array a, const kn_extreme_opts *opts);
/** min without NaNs; NaN where there is nothing else. */
KN_API KN_USE kn_array (kn_nanmin)(kn_array a, const kn_extreme_opts *opts);
/** mean without NaNs. */
KN_API KN_USE kn_array (kn_nanmean)(kn_array a, const kn_mean_opts *opts);
/** var without NaNs. */
KN_API KN_USE kn_array (kn_nanvar)(kn_array a, const kn_var_opts *opts);
/** std without NaNs. */
KN_API KN_USE kn_array (kn_nanstd)(kn_array a, const kn_var_opts *opts);
/** argmax without NaNs. */
KN_API KN_USE kn_array (kn_nanargmax)(kn_array a, const kn_position_opts *opts);
/** argmin without NaNs. */
KN_API KN_USE kn_array (kn_nanargmin)(kn_array a, const kn_position_opts *opts);
/** The sum along a diagonal. */
KN_API KN_USE kn_array (kn_trace)(kn_array a, const kn_trace_opts *opts);

/* ---- Running reductions, differences ---- */
/** The running sum along one axis (of the flattened array: no axis). Dtypes as for sum. */
KN_API KN_USE kn_array (kn_cumsum)(kn_array a, const kn_scan_opts *opts);
/** The running product along one axis. Dtypes as for sum. */
KN_API KN_USE kn_array (kn_cumprod)(kn_array a, const kn_scan_opts *opts);
/** cumsum with NaN as 0. */
KN_API KN_USE kn_array (kn_nancumsum)(kn_array a, const kn_scan_opts *opts);
/** cumprod with NaN as 1. */
KN_API KN_USE kn_array (kn_nancumprod)(kn_array a, const kn_scan_opts *opts);
/** cumsum of the array API; include_initial puts a 0 in front. The axis may be left out in one dimension only. */
KN_API KN_USE kn_array (kn_cumulative_sum)(kn_array x, const kn_cumulative_opts *opts);
/** cumprod of the array API; include_initial puts a 1 in front. The axis may be left out in one dimension only. */
KN_API KN_USE kn_array (kn_cumulative_prod)(kn_array x, const kn_cumulative_opts *opts);
/** a[1:] - a[:-1] along an axis, n times; of bools: where they differ. */
KN_API KN_USE kn_array (kn_diff)(kn_array a, const kn_diff_opts *opts);
/** Differences of the flattened array, with what to_begin and to_end put around them. */
KN_API KN_USE kn_array (kn_ediff1d)(kn_array ary, const kn_ediff1d_opts *opts);
/** The integral along an axis by the trapezoidal rule, over samples at x or a distance dx apart. */
KN_API KN_USE kn_array (kn_trapezoid)(kn_array y, const kn_trapezoid_opts *opts);

/* ---- Making arrays ---- */
/** All zero; float64 unless dtype is given. */
KN_API KN_USE kn_array (kn_zeros)(kn_shape shape, const kn_create_opts *opts);
/** All one; float64 unless dtype is given. */
KN_API KN_USE kn_array (kn_ones)(kn_shape shape, const kn_create_opts *opts);
/** Elements are not set; float64 unless dtype is given. */
KN_API KN_USE kn_array (kn_empty)(kn_shape shape, const kn_create_opts *opts);
/** All equal to fill_value, which broadcasts; its dtype unless another is given. */
KN_API KN_USE kn_array (kn_full)(kn_shape shape, kn_array fill_value, const kn_create_opts *opts);
/** zeros of a's shape and dtype. */
KN_API KN_USE kn_array (kn_zeros_like)(kn_array a, const kn_like_opts *opts);
/** ones of a's shape and dtype. */
KN_API KN_USE kn_array (kn_ones_like)(kn_array a, const kn_like_opts *opts);
/** empty of the prototype's shape and dtype. */
KN_API KN_USE kn_array (kn_empty_like)(kn_array prototype, const kn_like_opts *opts);
/** full of a's shape and dtype. */
KN_API KN_USE kn_array (kn_full_like)(kn_array a, kn_array fill_value, const kn_like_opts *opts);
/** start, start + step, ... before stop: ceil((stop - start) / step) elements, computed as start + i * delta like
 * NumPy's. KN_NONE as stop: from 0 to start. A ZeroDivisionError for step 0. */
KN_API KN_USE kn_array (kn_arange)(kn_array start, kn_array stop, kn_array step, const kn_arange_opts *opts);
/** num values from start to stop, evenly spaced, along a new axis; stop itself is the last with endpoint. Integer
 * dtypes take the floor. */
KN_API KN_USE kn_array (kn_linspace)(kn_array start, kn_array stop, int64_t num, const kn_linspace_opts *opts);
/** base ** linspace(start, stop, num). */
KN_API KN_USE kn_array (kn_logspace)(kn_array start, kn_array stop, int64_t num, const kn_logspace_opts *opts);
/** num values from start to stop with a constant ratio. */
KN_API KN_USE kn_array (kn_geomspace)(kn_array start, kn_array stop, int64_t num, const kn_geomspace_opts *opts);
/** N x M (M = N unless given), one on diagonal k, else zero. */
KN_API KN_USE kn_array (kn_eye)(int64_t n, const kn_eye_opts *opts);
/** The n x n identity matrix, float64 unless dtype is given. */
KN_API KN_USE kn_array (kn_identity)(int64_t n, const kn_identity_opts *opts);
/** N x M, one at and below diagonal k, else zero. */
KN_API KN_USE kn_array (kn_tri)(int64_t n, const kn_tri_opts *opts);
/** m with zeros above diagonal k of its last two axes. */
KN_API KN_USE kn_array (kn_tril)(kn_array m, const kn_triangle_opts *opts);
/** m with zeros below diagonal k of its last two axes. */
KN_API KN_USE kn_array (kn_triu)(kn_array m, const kn_triangle_opts *opts);
/** Of (n,): a square matrix with v on diagonal k. Of (n, m): its diagonal k, as a copy. */
KN_API KN_USE kn_array (kn_diag)(kn_array v, const kn_diagonal_k_opts *opts);
/** A square matrix with the flattened v on diagonal k. */
KN_API KN_USE kn_array (kn_diagflat)(kn_array v, const kn_diagonal_k_opts *opts);
/** Powers of x (n,) as columns, N of them (n unless given), highest first unless increasing. */
KN_API KN_USE kn_array (kn_vander)(kn_array x, const kn_vander_opts *opts);
/** Of shape (n,) + dimensions: [i] holds every element's index along axis i. */
KN_API KN_USE kn_array (kn_indices)(kn_shape dimensions, const kn_indices_opts *opts);
/** The triangular window of M points, float64. */
KN_API KN_USE kn_array (kn_bartlett)(int64_t m);
/** Blackman's window of M points, float64. */
KN_API KN_USE kn_array (kn_blackman)(int64_t m);
/** Hamming's window of M points, float64. */
KN_API KN_USE kn_array (kn_hamming)(int64_t m);
/** Hann's window of M points, float64. */
KN_API KN_USE kn_array (kn_hanning)(int64_t m);
/** Kaiser's window of M points, float64. */
KN_API KN_USE kn_array (kn_kaiser)(int64_t m, double beta);
/** A new array with a's values. */
KN_API KN_USE kn_array (kn_copy)(kn_array a, const kn_copy_opts *opts);
/** x converted to dtype. Floats truncate to integers, which wrap; complex numbers lose their imaginary part; bool
 * is "not zero". */
KN_API KN_USE kn_array (kn_astype)(kn_array x, kn_dtype dtype, const kn_astype_opts *opts);

/* ---- Views: the result shares memory with a where a has memory ---- */
/** The same elements in a new shape, one extent may be -1. A view where strides allow it, else a copy; copy = true
 * always copies, false refuses to. */
KN_API KN_USE kn_array (kn_reshape)(kn_array a, kn_shape shape, const kn_reshape_opts *opts);
/** One dimension; a view where strides allow it. */
KN_API KN_USE kn_array (kn_ravel)(kn_array a, const kn_ravel_opts *opts);
/** Axes in the order given, reversed if none is; a view. */
KN_API KN_USE kn_array (kn_transpose)(kn_array a, const kn_transpose_opts *opts);
/** The last two axes exchanged; a view. */
KN_API KN_USE kn_array (kn_matrix_transpose)(kn_array x);
/** Two axes exchanged; a view. */
KN_API KN_USE kn_array (kn_swapaxes)(kn_array a, kn_axis axis1, kn_axis axis2);
/** Axes moved to new places, the others keep their order; a view. */
KN_API KN_USE kn_array (kn_moveaxis)(kn_array a, kn_axis source, kn_axis destination);
/** axis moved back until it stands before start; a view. */
KN_API KN_USE kn_array (kn_rollaxis)(kn_array a, kn_axis axis, const kn_rollaxis_opts *opts);
/** array repeated to shape; a view that may not be written. */
KN_API KN_USE kn_array (kn_broadcast_to)(kn_array array, kn_shape shape);
/** New axes of extent 1 at these places of the result; a view. */
KN_API KN_USE kn_array (kn_expand_dims)(kn_array a, kn_axis axis);
/** Without axes of extent 1; a view. A ValueError for an axis of another extent. */
KN_API KN_USE kn_array (kn_squeeze)(kn_array a, const kn_squeeze_opts *opts);
/** Reversed along axes; a view. */
KN_API KN_USE kn_array (kn_flip)(kn_array m, const kn_flip_opts *opts);
/** Reversed along axis 1; a view. */
KN_API KN_USE kn_array (kn_fliplr)(kn_array m);
/** Reversed along axis 0; a view. */
KN_API KN_USE kn_array (kn_flipud)(kn_array m);
/** Turned by k right angles in the plane of two axes; a view. */
KN_API KN_USE kn_array (kn_rot90)(kn_array m, const kn_rot90_opts *opts);
/** The diagonal of two axes, as the last axis; a view that may not be written. */
KN_API KN_USE kn_array (kn_diagonal)(kn_array a, const kn_diagonal_opts *opts);
/** The real part; a view. */
KN_API KN_USE kn_array (kn_real)(kn_array val);
/** The imaginary part: a view of complex numbers, zeros for real ones. */
KN_API KN_USE kn_array (kn_imag)(kn_array val);
/** At least one dimension; a view. */
KN_API KN_USE kn_array (kn_atleast_1d)(kn_array a);
/** At least two dimensions, new ones in front; a view. */
KN_API KN_USE kn_array (kn_atleast_2d)(kn_array a);
/** At least three dimensions: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1); a view. */
KN_API KN_USE kn_array (kn_atleast_3d)(kn_array a);
/** Every window of this shape along the axes, as further axes at the end; a view that may not be written. */
KN_API KN_USE kn_array (kn_sliding_window_view)(kn_array x, kn_shape window_shape, const kn_sliding_window_view_opts *opts);

/* ---- Joining, repeating, choosing ---- */
/** Joined along an axis (flattened: KN_ALL); the other extents are equal. The common dtype. */
KN_API KN_USE kn_array (kn_concatenate)(kn_list arrays, const kn_join_opts *opts);
/** Joined along a new axis; all of one shape. */
KN_API KN_USE kn_array (kn_stack)(kn_list arrays, const kn_join_opts *opts);
/** Joined along axis 0 after atleast_2d. */
KN_API KN_USE kn_array (kn_vstack)(kn_list tup, const kn_pile_opts *opts);
/** Joined along axis 1, of one dimension along axis 0. */
KN_API KN_USE kn_array (kn_hstack)(kn_list tup, const kn_pile_opts *opts);
/** Joined along axis 2 after atleast_3d. */
KN_API KN_USE kn_array (kn_dstack)(kn_list tup);
/** One-dimensional arrays as columns, others joined along axis 1. */
KN_API KN_USE kn_array (kn_column_stack)(kn_list tup);
/** values joined to the end of arr along an axis; both flattened without one. */
KN_API KN_USE kn_array (kn_append)(kn_array arr, kn_array values, const kn_append_opts *opts);
/** Every element so many times, along an axis or flattened; an array of numbers, one for each, is evaluated. */
KN_API KN_USE kn_array (kn_repeat)(kn_array a, kn_array repeats, const kn_repeat_opts *opts);
/** The whole array so many times along each axis. */
KN_API KN_USE kn_array (kn_tile)(kn_array a, kn_shape reps);
/** Moved by shift along an axis (several by the same, or each by a number of its own), what leaves comes in again;
 * flattened without an axis. */
KN_API KN_USE kn_array (kn_roll)(kn_array a, kn_array shift, const kn_roll_opts *opts);
/** Bordered. pad_width: n, or (before, after), for all axes, or before and after of each axis in turn. Modes: constant
 * (constant_values), edge, reflect and symmetric (reflect_type even or odd: 2 edge - x), wrap, linear_ramp (to
 * end_values), maximum, minimum, mean, median (of stat_length elements at each edge), empty. Values may be a number,
 * a pair, or a pair for each axis. */
KN_API KN_USE kn_array (kn_pad)(kn_array array, kn_shape pad_width, const kn_pad_opts *opts);
/** The flattened array repeated or cut to a new shape. */
KN_API KN_USE kn_array (kn_resize)(kn_array a, kn_shape new_shape);
/** a's elements at integer positions along an axis (flattened: no axis). Out of range: an IndexError when values
 * are read, or mode wrap or clip. */
KN_API KN_USE kn_array (kn_take)(kn_array a, kn_array indices, const kn_take_opts *opts);
/** arr's elements at positions along an axis that go with the other axes, as argsort gives them. */
KN_API KN_USE kn_array (kn_take_along_axis)(kn_array arr, kn_array indices, const kn_take_along_axis_opts *opts);
/** Of the arrays in choices the one that a names, element by element; all broadcast. */
KN_API KN_USE kn_array (kn_choose)(kn_array a, kn_list choices, const kn_choose_opts *opts);
/** a's slices along an axis where condition is true. Evaluates condition. */
KN_API KN_USE kn_array (kn_compress)(kn_array condition, kn_array a, const kn_compress_opts *opts);
/** arr's elements where condition is true, flattened. Evaluates condition. */
KN_API KN_USE kn_array (kn_extract)(kn_array condition, kn_array arr);
/** The positions of what is not zero, (n, ndim) int64, in C order, one column an axis. Evaluates a. */
KN_API KN_USE kn_array (kn_nonzero)(kn_array a);
/** The positions in the flattened array of what is not zero. Evaluates a. */
KN_API KN_USE kn_array (kn_flatnonzero)(kn_array a);
/** The positions of what is not zero, (n, ndim). Evaluates a. */
KN_API KN_USE kn_array (kn_argwhere)(kn_array a);
typedef struct { kn_array values, index, inverse, counts; } kn_unique_result;
/** The distinct values, sorted; where each first stands, which of them every element is, how often each occurs.
 * Evaluates ar. */
KN_API KN_USE kn_unique_result (kn_unique)(kn_array ar, const kn_unique_opts *opts);
/** arr without the elements at these positions along an axis, or where a mask holds; flattened without an axis.
 * Evaluates obj. */
KN_API KN_USE kn_array (kn_delete)(kn_array arr, kn_array obj, const kn_delete_opts *opts);
/** arr with values put in before these positions along an axis; flattened without an axis. Evaluates obj. */
KN_API KN_USE kn_array (kn_insert)(kn_array arr, kn_array obj, kn_array values, const kn_insert_opts *opts);
/** filt without the zeros at its front (f) and back (b), along axes. Evaluates filt. */
KN_API KN_USE kn_array (kn_trim_zeros)(kn_array filt, const kn_trim_zeros_opts *opts);
/** The positions at and below diagonal k of an n by m matrix, (count, 2) in C order. */
KN_API KN_USE kn_array (kn_tril_indices)(int64_t n, const kn_triangle_positions_opts *opts);
/** The positions at and above diagonal k of an n by m matrix, (count, 2) in C order. */
KN_API KN_USE kn_array (kn_triu_indices)(int64_t n, const kn_triangle_positions_opts *opts);
/** tril_indices of arr's shape. */
KN_API KN_USE kn_array (kn_tril_indices_from)(kn_array arr, const kn_triangle_opts *opts);
/** triu_indices of arr's shape. */
KN_API KN_USE kn_array (kn_triu_indices_from)(kn_array arr, const kn_triangle_opts *opts);

/* ---- Sets, counts ---- */
typedef struct { kn_array values, indices, inverse_indices, counts; } kn_unique_all_result;
/** unique with all its results, each NaN for itself. Evaluates x. */
KN_API KN_USE kn_unique_all_result (kn_unique_all)(kn_array x);
typedef struct { kn_array values, counts; } kn_unique_counts_result;
/** The distinct values, and how often each occurs. Evaluates x. */
KN_API KN_USE kn_unique_counts_result (kn_unique_counts)(kn_array x);
typedef struct { kn_array values, inverse_indices; } kn_unique_inverse_result;
/** The distinct values, and which of them every element is. Evaluates x. */
KN_API KN_USE kn_unique_inverse_result (kn_unique_inverse)(kn_array x);
/** The distinct values. Evaluates x. */
KN_API KN_USE kn_array (kn_unique_values)(kn_array x);
/** The distinct values of both, sorted. Evaluates both. */
KN_API KN_USE kn_array (kn_union1d)(kn_array ar1, kn_array ar2);
typedef struct { kn_array values, index1, index2; } kn_intersect1d_result;
/** The distinct values that are in both, sorted, and where they first stand in each. Evaluates both. */
KN_API KN_USE kn_intersect1d_result (kn_intersect1d)(kn_array ar1, kn_array ar2);
/** The distinct values of ar1 that are not in ar2, sorted (assume_unique: in ar1's order). Evaluates both. */
KN_API KN_USE kn_array (kn_setdiff1d)(kn_array ar1, kn_array ar2, const kn_set_opts *opts);
/** The distinct values that are in one of the two only, sorted. Evaluates both. */
KN_API KN_USE kn_array (kn_setxor1d)(kn_array ar1, kn_array ar2, const kn_set_opts *opts);
/** How often each of 0, 1, ... max(x) occurs, at least minlength of them: int64, or with weights their sums as
 * float64. Evaluates x. */
KN_API KN_USE kn_array (kn_bincount)(kn_array x, const kn_bincount_opts *opts);
typedef struct { kn_array hist, bin_edges; } kn_histogram_result;
/** How many elements fall into each bin, the last of which is closed: bins equal ones over range (from the smallest
 * to the largest), or edges that rise. density: divided by the sum and by the widths. Evaluates the range. */
KN_API KN_USE kn_histogram_result (kn_histogram)(kn_array a, const kn_histogram_opts *opts);
/** histogram's edges. */
KN_API KN_USE kn_array (kn_histogram_bin_edges)(kn_array a, const kn_histogram_bin_edges_opts *opts);
typedef struct { kn_array H, xedges, yedges; } kn_histogram2d_result;
/** How many points (x, y) fall into each bin, float64, x along axis 0. bins: a number, two numbers, or edges for
 * both; range: two pairs. */
KN_API KN_USE kn_histogram2d_result (kn_histogram2d)(kn_array x, kn_array y, const kn_histogram2d_opts *opts);

/* ---- Changing an array in place: they give it back ---- */
/** a.flat[ind] = v, with v repeated as needed; of several values for one place the last. mode as in take. */
KN_API kn_array (kn_put)(kn_array a, kn_array ind, kn_array v, const kn_put_opts *opts);
/** The elements where mask is true become the first values of vals, repeated as needed. */
KN_API kn_array (kn_place)(kn_array arr, kn_array mask, kn_array vals);
/** a.flat[i] = values[i modulo their number] where mask is true. */
KN_API kn_array (kn_putmask)(kn_array a, kn_array mask, kn_array values);
/** dst becomes src, broadcast, where the condition holds. */
KN_API kn_array (kn_copyto)(kn_array dst, kn_array src, const kn_copyto_opts *opts);
/** The main diagonal becomes val, repeated as needed. wrap: in a tall matrix it begins again below. */
KN_API kn_array (kn_fill_diagonal)(kn_array a, kn_array val, const kn_fill_diagonal_opts *opts);
/** arr's elements at positions along an axis that go with the other axes become values. */
KN_API kn_array (kn_put_along_axis)(kn_array arr, kn_array indices, kn_array values, kn_axis axis);
/** The positions in the flattened array of positions along each axis. Out of range: a ValueError when values are
 * read, or mode wrap or clip. */
KN_API KN_USE kn_array (kn_ravel_multi_index)(kn_list multi_index, kn_shape dims, const kn_ravel_multi_index_opts *opts);
/** The positions along each axis of positions in the flattened array: indices.shape + (ndim,). Out of range: a
 * ValueError when values are read. */
KN_API KN_USE kn_array (kn_unravel_index)(kn_array indices, kn_shape shape, const kn_unravel_index_opts *opts);
/** The positions of the diagonal, (n, ndim). */
KN_API KN_USE kn_array (kn_diag_indices)(int64_t n, const kn_diag_indices_opts *opts);
/** Truth values as the bits of uint8, eight each, along an axis (flattened: none); the last byte is filled up with
 * zeros. */
KN_API KN_USE kn_array (kn_packbits)(kn_array a, const kn_packbits_opts *opts);
/** The bits of uint8 along an axis (flattened: none) as uint8 0 and 1; count of them, cut or filled up, if negative
 * without the last -count. */
KN_API KN_USE kn_array (kn_unpackbits)(kn_array a, const kn_unpackbits_opts *opts);

/* ---- Several arrays: the result is a kn_list of the innermost scope, empty on failure ---- */
/** Divided along an axis into that many equal sections, or at these places; views. A ValueError when the extent
 * does not divide. */
KN_API KN_USE kn_list (kn_split)(kn_array ary, kn_array indices_or_sections, const kn_split_opts *opts);
/** split into sections that may differ by one element. */
KN_API KN_USE kn_list (kn_array_split)(kn_array ary, kn_array indices_or_sections, const kn_split_opts *opts);
/** split along axis 1, of one dimension along axis 0. */
KN_API KN_USE kn_list (kn_hsplit)(kn_array ary, kn_array indices_or_sections);
/** split along axis 0 of two or more dimensions. */
KN_API KN_USE kn_list (kn_vsplit)(kn_array ary, kn_array indices_or_sections);
/** split along axis 2 of three or more dimensions. */
KN_API KN_USE kn_list (kn_dsplit)(kn_array ary, kn_array indices_or_sections);
/** Every element along an axis, which goes; views. */
KN_API KN_USE kn_list (kn_unstack)(kn_array x, const kn_unstack_opts *opts);
/** The arrays broadcast to their common shape. */
KN_API KN_USE kn_list (kn_broadcast_arrays)(kn_list arrays);
/** Coordinates of a grid: every array repeated along the axes of the others. indexing: xy (the first array along
 * axis 1) or ij. sparse: extents of 1 instead of repeats. */
KN_API KN_USE kn_list (kn_meshgrid)(kn_list xi, const kn_meshgrid_opts *opts);
/** Positions along one axis each, shaped so that as indices they pick a block; masks count as the positions where
 * they hold and are evaluated. */
KN_API KN_USE kn_list (kn_ix_)(kn_list arrays);
/** The derivative along every axis: central differences, at the ends of first or second order. varargs: nothing,
 * one distance, or a distance or coordinates for each axis. */
KN_API KN_USE kn_list (kn_gradient)(kn_array f, kn_list varargs, const kn_gradient_opts *opts);

/* ---- Sorting ---- */
/** A sorted copy along an axis (flattened: KN_ALL); NaN last. */
KN_API KN_USE kn_array (kn_sort)(kn_array a, const kn_sort_opts *opts);
/** The positions that sort a along an axis, int64; equal elements keep their order. */
KN_API KN_USE kn_array (kn_argsort)(kn_array a, const kn_sort_opts *opts);
/** A copy in which the elements at positions kth stand as if it were sorted, smaller ones before and larger ones
 * behind; here it is sorted. */
KN_API KN_USE kn_array (kn_partition)(kn_array a, kn_shape kth, const kn_partition_opts *opts);
/** The positions that partition a, int64. */
KN_API KN_USE kn_array (kn_argpartition)(kn_array a, kn_shape kth, const kn_partition_opts *opts);
/** The positions that sort by several keys, the last of which decides first, int64; stable. */
KN_API KN_USE kn_array (kn_lexsort)(kn_list keys, const kn_lexsort_opts *opts);
/** a sorted along its last axis, as complex numbers. */
KN_API KN_USE kn_array (kn_sort_complex)(kn_array a);

/* ---- Order statistics, covariances ---- */
/** The middle value over axes, of two the mean; NaN if there is one. float64 for integers. */
KN_API KN_USE kn_array (kn_median)(kn_array a, const kn_median_opts *opts);
/** median without NaNs. */
KN_API KN_USE kn_array (kn_nanmedian)(kn_array a, const kn_median_opts *opts);
/** The values below which the shares q of a's elements lie, over axes; q's axes come first. method: linear between
 * neighbours, or another of Hyndman and Fan's (inverted_cdf, hazen, weibull, median_unbiased ...), lower, higher,
 * nearest, midpoint. weights, with inverted_cdf only: of a's shape, or of one axis. NaN if there is one. A q outside
 * [0, 1] is a ValueError. */
KN_API KN_USE kn_array (kn_quantile)(kn_array a, kn_array q, const kn_quantile_opts *opts);
/** quantile(a, q / 100). */
KN_API KN_USE kn_array (kn_percentile)(kn_array a, kn_array q, const kn_quantile_opts *opts);
/** quantile without NaNs. */
KN_API KN_USE kn_array (kn_nanquantile)(kn_array a, kn_array q, const kn_quantile_opts *opts);
/** percentile without NaNs. */
KN_API KN_USE kn_array (kn_nanpercentile)(kn_array a, kn_array q, const kn_quantile_opts *opts);
/** The covariances of variables, which are rows (columns: rowvar = false), y's after m's. Divided by n - ddof;
 * ddof is 1, or 0 with bias. fweights: how often each observation counts; aweights: how much. */
KN_API KN_USE kn_array (kn_cov)(kn_array m, const kn_cov_opts *opts);
/** The correlation coefficients of variables: covariances over the product of standard deviations. */
KN_API KN_USE kn_array (kn_corrcoef)(kn_array x, const kn_corrcoef_opts *opts);

/* ---- Searching, signals ---- */
/** Where in the sorted one-dimensional a elements of v belong, int64: how many of a are smaller, with side right
 * also those that are equal. NaN is the largest. sorter: the positions that sort a. */
KN_API KN_USE kn_array (kn_searchsorted)(kn_array a, kn_array v, const kn_searchsorted_opts *opts);
/** Which of the bins elements of x fall into, int64: i with bins[i-1] <= x < bins[i], with right bins[i-1] < x
 * <= bins[i]; falling bins likewise. A ValueError for bins that neither rise nor fall. */
KN_API KN_USE kn_array (kn_digitize)(kn_array x, kn_array bins, const kn_digitize_opts *opts);
/** Whether each element occurs in test_elements, bool of element's shape; with invert whether it does not. */
KN_API KN_USE kn_array (kn_isin)(kn_array element, kn_array test_elements, const kn_isin_opts *opts);
/** The values at x of the line through points (xp, fp), xp rising: float64 or complex128. left and right: what
 * is given outside, the end values unless given. period: xp and x are taken modulo it. */
KN_API KN_USE kn_array (kn_interp)(kn_array x, kn_array xp, kn_array fp, const kn_interp_opts *opts);
/** The discrete convolution of two one-dimensional signals. mode: full, same (as long as the longer), valid (where
 * they overlap completely). */
KN_API KN_USE kn_array (kn_convolve)(kn_array a, kn_array v, const kn_convolve_opts *opts);
/** sum over n of a[n + k] * conjugate(v[n]) for each lag k. mode: valid, same, full. */
KN_API KN_USE kn_array (kn_correlate)(kn_array a, kn_array v, const kn_correlate_opts *opts);
/** p with multiples of period added so that steps along an axis are at most discont (half a period). */
KN_API KN_USE kn_array (kn_unwrap)(kn_array p, const kn_unwrap_opts *opts);

/* ---- Products ---- */
/** The matrix product over the last two axes: (..., m, k) @ (..., k, n) is (..., m, n); other axes broadcast; a
 * one-dimensional operand is a row or a column that leaves again. Numbers are a ValueError. */
KN_API KN_USE kn_array (kn_matmul)(kn_array x1, kn_array x2, const kn_matmul_opts *opts);
/** The sum over a's last axis and b's last but one; with a number, the product. */
KN_API KN_USE kn_array (kn_dot)(kn_array a, kn_array b, const kn_out2_opts *opts);
/** sum(conjugate(a) * b) of the flattened arrays. */
KN_API KN_USE kn_array (kn_vdot)(kn_array a, kn_array b);
/** The sum over the last axis of both. */
KN_API KN_USE kn_array (kn_inner)(kn_array a, kn_array b);
/** a[i] * b[j] of the flattened arrays, (m, n). */
KN_API KN_USE kn_array (kn_outer)(kn_array a, kn_array b, const kn_out2_opts *opts);
/** The Kronecker product. */
KN_API KN_USE kn_array (kn_kron)(kn_array a, kn_array b);
/** The sum over a's last and b's first `axes` axes, or over axes_a of a and axes_b of b. */
KN_API KN_USE kn_array (kn_tensordot)(kn_array a, kn_array b, const kn_tensordot_opts *opts);
/** The vector product of vectors of three components along an axis. */
KN_API KN_USE kn_array (kn_cross)(kn_array a, kn_array b, const kn_cross_opts *opts);
/** sum(conjugate(x1) * x2) along an axis, broadcast over the others. */
KN_API KN_USE kn_array (kn_vecdot)(kn_array x1, kn_array x2, const kn_vecdot_opts *opts);
/** Sums of products by Einstein's notation: "ij,jk->ik" is the matrix product, "ii" the trace, "ij->ji" the transpose;
 * ... stands for axes that broadcast. Without -> the labels that occur once stay, in alphabetical order. Operands
 * are multiplied from left to right. */
KN_API KN_USE kn_array (kn_einsum)(const char *subscripts, kn_list operands, const kn_einsum_opts *opts);
/** The product of two or more matrices, in the order with the fewest multiplications; the first and last may be
 * vectors. */
KN_API KN_USE kn_array (kn_multi_dot)(kn_list arrays, const kn_out2l_opts *opts);
/** Square matrices multiplied by themselves n times. */
KN_API KN_USE kn_array (kn_matrix_power)(kn_array a, int64_t n);
/** The norm of vectors (one axis) or matrices (two axes; of matrices the Frobenius norm unless ord is given): sum(|x|**ord)**(1/ord),
 * ord 0 counts, inf and -inf are the largest and smallest; of matrices 1 and inf are the largest sums of columns
 * and rows, -1 and -inf the smallest. */
KN_API KN_USE kn_array (kn_norm)(kn_array x, const kn_norm_opts *opts);
typedef struct { kn_array u, s, vh; } kn_svd_result;
/** a = u @ diag(s) @ vh with orthonormal u and vh, s falling and not negative. (..., m, n); without full_matrices
 * u and vh have min(m, n) columns and rows. float64 for integers; a TypeError for float16, a ValueError for NaN
 * and infinities when values are read. */
KN_API KN_USE kn_svd_result (kn_svd)(kn_array a, const kn_svd_opts *opts);

/* ---- Polynomials, the coefficient of the highest power first ---- */
/** The polynomial's values at x, by Horner's scheme. */
KN_API KN_USE kn_array (kn_polyval)(kn_array p, kn_array x);
/** The sum of two polynomials. */
KN_API KN_USE kn_array (kn_polyadd)(kn_array a1, kn_array a2);
/** The difference of two polynomials. */
KN_API KN_USE kn_array (kn_polysub)(kn_array a1, kn_array a2);

/* ---- Fourier transforms; float16 and float32 are transformed in complex64, all else in complex128 ---- */
/** The Fourier transform along an axis, cut or padded with zeros to n. */
KN_API KN_USE kn_array (kn_fft)(kn_array a, const kn_fft_opts *opts);
/** The inverse of fft. */
KN_API KN_USE kn_array (kn_ifft)(kn_array a, const kn_fft_opts *opts);
/** The transform of real numbers: the n / 2 + 1 coefficients that are not redundant. */
KN_API KN_USE kn_array (kn_rfft)(kn_array a, const kn_fft_opts *opts);
/** The inverse of rfft: n real numbers (2 (m - 1) unless given). */
KN_API KN_USE kn_array (kn_irfft)(kn_array a, const kn_fft_opts *opts);
/** The real transform of a signal with Hermitian symmetry. */
KN_API KN_USE kn_array (kn_hfft)(kn_array a, const kn_fft_opts *opts);
/** The inverse of hfft. */
KN_API KN_USE kn_array (kn_ihfft)(kn_array a, const kn_fft_opts *opts);
/** fftn over the last two axes. */
KN_API KN_USE kn_array (kn_fft2)(kn_array a, const kn_fft2_opts *opts);
/** ifftn over the last two axes. */
KN_API KN_USE kn_array (kn_ifft2)(kn_array a, const kn_fft2_opts *opts);
/** rfftn over the last two axes. */
KN_API KN_USE kn_array (kn_rfft2)(kn_array a, const kn_fft2_opts *opts);
/** irfftn over the last two axes. */
KN_API KN_USE kn_array (kn_irfft2)(kn_array a, const kn_fft2_opts *opts);
/** The Fourier transform along several axes, all unless given, cut or padded to s. */
KN_API KN_USE kn_array (kn_fftn)(kn_array a, const kn_fftn_opts *opts);
/** The inverse of fftn. */
KN_API KN_USE kn_array (kn_ifftn)(kn_array a, const kn_fftn_opts *opts);
/** rfft along the last of the axes, fft along the others. */
KN_API KN_USE kn_array (kn_rfftn)(kn_array a, const kn_fftn_opts *opts);
/** The inverse of rfftn. */
KN_API KN_USE kn_array (kn_irfftn)(kn_array a, const kn_fftn_opts *opts);
/** The frequencies of fft's coefficients, in cycles per unit of the sample spacing d. */
KN_API KN_USE kn_array (kn_fftfreq)(int64_t n, const kn_frequencies_opts *opts);
/** The frequencies of rfft's coefficients. */
KN_API KN_USE kn_array (kn_rfftfreq)(int64_t n, const kn_frequencies_opts *opts);
/** The zero frequency moved to the middle of the axes. */
KN_API KN_USE kn_array (kn_fftshift)(kn_array x, const kn_shift_opts *opts);
/** The inverse of fftshift. */
KN_API KN_USE kn_array (kn_ifftshift)(kn_array x, const kn_shift_opts *opts);

/* ---- Random numbers: a pure function of the generator's key and counter ---- */
/** Uniform in [0, 1), float64 or float32. */
KN_API KN_USE kn_array (kn_random)(kn_rng g, const kn_random_opts *opts);
/** Uniform in [low, high). */
KN_API KN_USE kn_array (kn_uniform)(kn_rng g, const kn_uniform_opts *opts);
/** Uniform integers in [low, high), with endpoint [low, high]. */
KN_API KN_USE kn_array (kn_integers)(kn_rng g, int64_t low, int64_t high, const kn_integers_opts *opts);
/** Normal deviates of mean 0 and standard deviation 1. */
KN_API KN_USE kn_array (kn_standard_normal)(kn_rng g, const kn_random_opts *opts);
/** Normal deviates of mean loc and standard deviation scale. */
KN_API KN_USE kn_array (kn_normal)(kn_rng g, const kn_normal_opts *opts);
/** Exponential deviates of mean 1. */
KN_API KN_USE kn_array (kn_standard_exponential)(kn_rng g, const kn_random_opts *opts);
/** Exponential deviates of mean scale, float64. */
KN_API KN_USE kn_array (kn_exponential)(kn_rng g, const kn_exponential_opts *opts);
/** A copy of x in random order along an axis; of a number n, the numbers 0, 1, ... n - 1. */
KN_API KN_USE kn_array (kn_permutation)(kn_rng g, kn_array x, const kn_permutation_opts *opts);
KN_END_C

#ifdef __cplusplus
inline kn_array kn_add(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_add)(x1.a, x2.a, &opts); }
inline kn_array kn_sub(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_sub)(x1.a, x2.a, &opts); }
inline kn_array kn_mul(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_mul)(x1.a, x2.a, &opts); }
inline kn_array kn_div(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_div)(x1.a, x2.a, &opts); }
inline kn_array kn_floor_divide(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_floor_divide)(x1.a, x2.a, &opts); }
inline kn_array kn_remainder(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_remainder)(x1.a, x2.a, &opts); }
inline kn_array kn_fmod(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_fmod)(x1.a, x2.a, &opts); }
inline kn_array kn_power(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_power)(x1.a, x2.a, &opts); }
inline kn_array kn_float_power(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_float_power)(x1.a, x2.a, &opts); }
inline kn_array kn_neg(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_neg)(x.a, &opts); }
inline kn_array kn_positive(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_positive)(x.a, &opts); }
inline kn_array kn_abs(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_abs)(x.a, &opts); }
inline kn_array kn_fabs(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_fabs)(x.a, &opts); }
inline kn_array kn_sign(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_sign)(x.a, &opts); }
inline kn_array kn_square(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_square)(x.a, &opts); }
inline kn_array kn_reciprocal(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_reciprocal)(x.a, &opts); }
inline kn_array kn_conjugate(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_conjugate)(x.a, &opts); }
inline kn_array kn_gcd(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_gcd)(x1.a, x2.a, &opts); }
inline kn_array kn_lcm(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_lcm)(x1.a, x2.a, &opts); }
inline kn_divmod_result kn_divmod(kn_arg x1, kn_arg x2, const kn_ufunc2_opts &opts = {}) { return (kn_divmod)(x1.a, x2.a, &opts); }
inline kn_array kn_maximum(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_maximum)(x1.a, x2.a, &opts); }
inline kn_array kn_minimum(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_minimum)(x1.a, x2.a, &opts); }
inline kn_array kn_fmax(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_fmax)(x1.a, x2.a, &opts); }
inline kn_array kn_fmin(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_fmin)(x1.a, x2.a, &opts); }
inline kn_array kn_clip(kn_arg a, kn_arg a_min, kn_arg a_max, const kn_clip_opts &opts = {}) { return (kn_clip)(a.a, a_min.a, a_max.a, &opts); }
inline kn_array kn_equal(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_equal)(x1.a, x2.a, &opts); }
inline kn_array kn_not_equal(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_not_equal)(x1.a, x2.a, &opts); }
inline kn_array kn_less(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_less)(x1.a, x2.a, &opts); }
inline kn_array kn_less_equal(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_less_equal)(x1.a, x2.a, &opts); }
inline kn_array kn_greater(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_greater)(x1.a, x2.a, &opts); }
inline kn_array kn_greater_equal(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_greater_equal)(x1.a, x2.a, &opts); }
inline kn_array kn_logical_and(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_logical_and)(x1.a, x2.a, &opts); }
inline kn_array kn_logical_or(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_logical_or)(x1.a, x2.a, &opts); }
inline kn_array kn_logical_xor(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_logical_xor)(x1.a, x2.a, &opts); }
inline kn_array kn_logical_not(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_logical_not)(x.a, &opts); }
inline kn_array kn_bitwise_and(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_bitwise_and)(x1.a, x2.a, &opts); }
inline kn_array kn_bitwise_or(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_bitwise_or)(x1.a, x2.a, &opts); }
inline kn_array kn_bitwise_xor(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_bitwise_xor)(x1.a, x2.a, &opts); }
inline kn_array kn_invert(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_invert)(x.a, &opts); }
inline kn_array kn_left_shift(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_left_shift)(x1.a, x2.a, &opts); }
inline kn_array kn_right_shift(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_right_shift)(x1.a, x2.a, &opts); }
inline kn_array kn_bitwise_count(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_bitwise_count)(x.a, &opts); }
inline kn_array kn_isnan(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_isnan)(x.a, &opts); }
inline kn_array kn_isinf(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_isinf)(x.a, &opts); }
inline kn_array kn_isfinite(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_isfinite)(x.a, &opts); }
inline kn_array kn_signbit(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_signbit)(x.a, &opts); }
inline kn_array kn_exp(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_exp)(x.a, &opts); }
inline kn_array kn_exp2(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_exp2)(x.a, &opts); }
inline kn_array kn_expm1(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_expm1)(x.a, &opts); }
inline kn_array kn_log(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_log)(x.a, &opts); }
inline kn_array kn_log2(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_log2)(x.a, &opts); }
inline kn_array kn_log10(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_log10)(x.a, &opts); }
inline kn_array kn_log1p(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_log1p)(x.a, &opts); }
inline kn_array kn_logaddexp(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_logaddexp)(x1.a, x2.a, &opts); }
inline kn_array kn_logaddexp2(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_logaddexp2)(x1.a, x2.a, &opts); }
inline kn_array kn_sqrt(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_sqrt)(x.a, &opts); }
inline kn_array kn_cbrt(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_cbrt)(x.a, &opts); }
inline kn_array kn_hypot(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_hypot)(x1.a, x2.a, &opts); }
inline kn_array kn_sin(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_sin)(x.a, &opts); }
inline kn_array kn_cos(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_cos)(x.a, &opts); }
inline kn_array kn_tan(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_tan)(x.a, &opts); }
inline kn_array kn_arcsin(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_arcsin)(x.a, &opts); }
inline kn_array kn_arccos(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_arccos)(x.a, &opts); }
inline kn_array kn_arctan(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_arctan)(x.a, &opts); }
inline kn_array kn_arctan2(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_arctan2)(x1.a, x2.a, &opts); }
inline kn_array kn_sinh(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_sinh)(x.a, &opts); }
inline kn_array kn_cosh(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_cosh)(x.a, &opts); }
inline kn_array kn_tanh(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_tanh)(x.a, &opts); }
inline kn_array kn_arcsinh(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_arcsinh)(x.a, &opts); }
inline kn_array kn_arccosh(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_arccosh)(x.a, &opts); }
inline kn_array kn_arctanh(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_arctanh)(x.a, &opts); }
inline kn_array kn_deg2rad(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_deg2rad)(x.a, &opts); }
inline kn_array kn_rad2deg(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_rad2deg)(x.a, &opts); }
inline kn_array kn_sinc(kn_arg x) { return (kn_sinc)(x.a); }
inline kn_array kn_i0(kn_arg x) { return (kn_i0)(x.a); }
inline kn_array kn_erf(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_erf)(x.a, &opts); }
inline kn_array kn_erfc(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_erfc)(x.a, &opts); }
inline kn_array kn_erfinv(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_erfinv)(x.a, &opts); }
inline kn_array kn_erfcinv(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_erfcinv)(x.a, &opts); }
inline kn_array kn_expit(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_expit)(x.a, &opts); }
inline kn_array kn_angle(kn_arg z, const kn_angle_opts &opts = {}) { return (kn_angle)(z.a, &opts); }
inline kn_array kn_rint(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_rint)(x.a, &opts); }
inline kn_array kn_floor(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_floor)(x.a, &opts); }
inline kn_array kn_ceil(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_ceil)(x.a, &opts); }
inline kn_array kn_trunc(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_trunc)(x.a, &opts); }
inline kn_array kn_round(kn_arg a, const kn_round_opts &opts = {}) { return (kn_round)(a.a, &opts); }
inline kn_array kn_copysign(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_copysign)(x1.a, x2.a, &opts); }
inline kn_array kn_nextafter(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_nextafter)(x1.a, x2.a, &opts); }
inline kn_array kn_spacing(kn_arg x, const kn_ufunc_opts &opts = {}) { return (kn_spacing)(x.a, &opts); }
inline kn_array kn_ldexp(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_ldexp)(x1.a, x2.a, &opts); }
inline kn_array kn_heaviside(kn_arg x1, kn_arg x2, const kn_ufunc_opts &opts = {}) { return (kn_heaviside)(x1.a, x2.a, &opts); }
inline kn_frexp_result kn_frexp(kn_arg x, const kn_ufunc2_opts &opts = {}) { return (kn_frexp)(x.a, &opts); }
inline kn_modf_result kn_modf(kn_arg x, const kn_ufunc2_opts &opts = {}) { return (kn_modf)(x.a, &opts); }
inline kn_array kn_nan_to_num(kn_arg x, const kn_nan_to_num_opts &opts = {}) { return (kn_nan_to_num)(x.a, &opts); }
inline kn_array kn_isneginf(kn_arg x, const kn_out_opts &opts = {}) { return (kn_isneginf)(x.a, &opts); }
inline kn_array kn_isposinf(kn_arg x, const kn_out_opts &opts = {}) { return (kn_isposinf)(x.a, &opts); }
inline kn_array kn_isreal(kn_arg x) { return (kn_isreal)(x.a); }
inline kn_array kn_iscomplex(kn_arg x) { return (kn_iscomplex)(x.a); }
inline kn_array kn_isclose(kn_arg a, kn_arg b, const kn_close_opts &opts = {}) { return (kn_isclose)(a.a, b.a, &opts); }
inline kn_array kn_allclose(kn_arg a, kn_arg b, const kn_close_opts &opts = {}) { return (kn_allclose)(a.a, b.a, &opts); }
inline kn_array kn_array_equal(kn_arg a1, kn_arg a2, const kn_array_equal_opts &opts = {}) { return (kn_array_equal)(a1.a, a2.a, &opts); }
inline kn_array kn_array_equiv(kn_arg a1, kn_arg a2) { return (kn_array_equiv)(a1.a, a2.a); }
inline kn_array kn_where(kn_arg condition, kn_arg x, kn_arg y) { return (kn_where)(condition.a, x.a, y.a); }
inline kn_array kn_select(kn_list condlist, kn_list choicelist, const kn_select_opts &opts = {}) { return (kn_select)(condlist, choicelist, &opts); }
inline kn_array kn_piecewise(kn_arg x, kn_list condlist, kn_list funclist) { return (kn_piecewise)(x.a, condlist, funclist); }
inline kn_array kn_sum(kn_arg a, const kn_reduce_opts &opts = {}) { return (kn_sum)(a.a, &opts); }
inline kn_array kn_prod(kn_arg a, const kn_reduce_opts &opts = {}) { return (kn_prod)(a.a, &opts); }
inline kn_array kn_max(kn_arg a, const kn_extreme_opts &opts = {}) { return (kn_max)(a.a, &opts); }
inline kn_array kn_min(kn_arg a, const kn_extreme_opts &opts = {}) { return (kn_min)(a.a, &opts); }
inline kn_array kn_any(kn_arg a, const kn_truth_opts &opts = {}) { return (kn_any)(a.a, &opts); }
inline kn_array kn_all(kn_arg a, const kn_truth_opts &opts = {}) { return (kn_all)(a.a, &opts); }
inline kn_array kn_mean(kn_arg a, const kn_mean_opts &opts = {}) { return (kn_mean)(a.a, &opts); }
inline kn_array kn_var(kn_arg a, const kn_var_opts &opts = {}) { return (kn_var)(a.a, &opts); }
inline kn_array kn_std(kn_arg a, const kn_var_opts &opts = {}) { return (kn_std)(a.a, &opts); }
inline kn_array kn_argmax(kn_arg a, const kn_position_opts &opts = {}) { return (kn_argmax)(a.a, &opts); }
inline kn_array kn_argmin(kn_arg a, const kn_position_opts &opts = {}) { return (kn_argmin)(a.a, &opts); }
inline kn_array kn_ptp(kn_arg a, const kn_ptp_opts &opts = {}) { return (kn_ptp)(a.a, &opts); }
inline kn_array kn_count_nonzero(kn_arg a, const kn_count_nonzero_opts &opts = {}) { return (kn_count_nonzero)(a.a, &opts); }
inline kn_array kn_average(kn_arg a, const kn_average_opts &opts = {}) { return (kn_average)(a.a, &opts); }
inline kn_array kn_nansum(kn_arg a, const kn_reduce_opts &opts = {}) { return (kn_nansum)(a.a, &opts); }
inline kn_array kn_nanprod(kn_arg a, const kn_reduce_opts &opts = {}) { return (kn_nanprod)(a.a, &opts); }
inline kn_array kn_nanmax(kn_arg a, const kn_extreme_opts &opts = {}) { return (kn_nanmax)(a.a, &opts); }
inline kn_array kn_nanmin(kn_arg a, const kn_extreme_opts &opts = {}) { return (kn_nanmin)(a.a, &opts); }
inline kn_array kn_nanmean(kn_arg a, const kn_mean_opts &opts = {}) { return (kn_nanmean)(a.a, &opts); }
inline kn_array kn_nanvar(kn_arg a, const kn_var_opts &opts = {}) { return (kn_nanvar)(a.a, &opts); }
inline kn_array kn_nanstd(kn_arg a, const kn_var_opts &opts = {}) { return (kn_nanstd)(a.a, &opts); }
inline kn_array kn_nanargmax(kn_arg a, const kn_position_opts &opts = {}) { return (kn_nanargmax)(a.a, &opts); }
inline kn_array kn_nanargmin(kn_arg a, const kn_position_opts &opts = {}) { return (kn_nanargmin)(a.a, &opts); }
inline kn_array kn_trace(kn_arg a, const kn_trace_opts &opts = {}) { return (kn_trace)(a.a, &opts); }
inline kn_array kn_cumsum(kn_arg a, const kn_scan_opts &opts = {}) { return (kn_cumsum)(a.a, &opts); }
inline kn_array kn_cumprod(kn_arg a, const kn_scan_opts &opts = {}) { return (kn_cumprod)(a.a, &opts); }
inline kn_array kn_nancumsum(kn_arg a, const kn_scan_opts &opts = {}) { return (kn_nancumsum)(a.a, &opts); }
inline kn_array kn_nancumprod(kn_arg a, const kn_scan_opts &opts = {}) { return (kn_nancumprod)(a.a, &opts); }
inline kn_array kn_cumulative_sum(kn_arg x, const kn_cumulative_opts &opts = {}) { return (kn_cumulative_sum)(x.a, &opts); }
inline kn_array kn_cumulative_prod(kn_arg x, const kn_cumulative_opts &opts = {}) { return (kn_cumulative_prod)(x.a, &opts); }
inline kn_array kn_diff(kn_arg a, const kn_diff_opts &opts = {}) { return (kn_diff)(a.a, &opts); }
inline kn_array kn_ediff1d(kn_arg ary, const kn_ediff1d_opts &opts = {}) { return (kn_ediff1d)(ary.a, &opts); }
inline kn_array kn_trapezoid(kn_arg y, const kn_trapezoid_opts &opts = {}) { return (kn_trapezoid)(y.a, &opts); }
inline kn_array kn_zeros(kn_shape shape, const kn_create_opts &opts = {}) { return (kn_zeros)(shape, &opts); }
inline kn_array kn_ones(kn_shape shape, const kn_create_opts &opts = {}) { return (kn_ones)(shape, &opts); }
inline kn_array kn_empty(kn_shape shape, const kn_create_opts &opts = {}) { return (kn_empty)(shape, &opts); }
inline kn_array kn_full(kn_shape shape, kn_arg fill_value, const kn_create_opts &opts = {}) { return (kn_full)(shape, fill_value.a, &opts); }
inline kn_array kn_zeros_like(kn_arg a, const kn_like_opts &opts = {}) { return (kn_zeros_like)(a.a, &opts); }
inline kn_array kn_ones_like(kn_arg a, const kn_like_opts &opts = {}) { return (kn_ones_like)(a.a, &opts); }
inline kn_array kn_empty_like(kn_arg prototype, const kn_like_opts &opts = {}) { return (kn_empty_like)(prototype.a, &opts); }
inline kn_array kn_full_like(kn_arg a, kn_arg fill_value, const kn_like_opts &opts = {}) { return (kn_full_like)(a.a, fill_value.a, &opts); }
inline kn_array kn_arange(kn_arg start, kn_arg stop, kn_arg step, const kn_arange_opts &opts = {}) { return (kn_arange)(start.a, stop.a, step.a, &opts); }
inline kn_array kn_linspace(kn_arg start, kn_arg stop, int64_t num, const kn_linspace_opts &opts = {}) { return (kn_linspace)(start.a, stop.a, num, &opts); }
inline kn_array kn_logspace(kn_arg start, kn_arg stop, int64_t num, const kn_logspace_opts &opts = {}) { return (kn_logspace)(start.a, stop.a, num, &opts); }
inline kn_array kn_geomspace(kn_arg start, kn_arg stop, int64_t num, const kn_geomspace_opts &opts = {}) { return (kn_geomspace)(start.a, stop.a, num, &opts); }
inline kn_array kn_eye(int64_t n, const kn_eye_opts &opts = {}) { return (kn_eye)(n, &opts); }
inline kn_array kn_identity(int64_t n, const kn_identity_opts &opts = {}) { return (kn_identity)(n, &opts); }
inline kn_array kn_tri(int64_t n, const kn_tri_opts &opts = {}) { return (kn_tri)(n, &opts); }
inline kn_array kn_tril(kn_arg m, const kn_triangle_opts &opts = {}) { return (kn_tril)(m.a, &opts); }
inline kn_array kn_triu(kn_arg m, const kn_triangle_opts &opts = {}) { return (kn_triu)(m.a, &opts); }
inline kn_array kn_diag(kn_arg v, const kn_diagonal_k_opts &opts = {}) { return (kn_diag)(v.a, &opts); }
inline kn_array kn_diagflat(kn_arg v, const kn_diagonal_k_opts &opts = {}) { return (kn_diagflat)(v.a, &opts); }
inline kn_array kn_vander(kn_arg x, const kn_vander_opts &opts = {}) { return (kn_vander)(x.a, &opts); }
inline kn_array kn_indices(kn_shape dimensions, const kn_indices_opts &opts = {}) { return (kn_indices)(dimensions, &opts); }
inline kn_array kn_copy(kn_arg a, const kn_copy_opts &opts = {}) { return (kn_copy)(a.a, &opts); }
inline kn_array kn_astype(kn_arg x, kn_dtype dtype, const kn_astype_opts &opts = {}) { return (kn_astype)(x.a, dtype, &opts); }
inline kn_array kn_reshape(kn_arg a, kn_shape shape, const kn_reshape_opts &opts = {}) { return (kn_reshape)(a.a, shape, &opts); }
inline kn_array kn_ravel(kn_arg a, const kn_ravel_opts &opts = {}) { return (kn_ravel)(a.a, &opts); }
inline kn_array kn_transpose(kn_arg a, const kn_transpose_opts &opts = {}) { return (kn_transpose)(a.a, &opts); }
inline kn_array kn_matrix_transpose(kn_arg x) { return (kn_matrix_transpose)(x.a); }
inline kn_array kn_swapaxes(kn_arg a, kn_axis axis1, kn_axis axis2) { return (kn_swapaxes)(a.a, axis1, axis2); }
inline kn_array kn_moveaxis(kn_arg a, kn_axis source, kn_axis destination) { return (kn_moveaxis)(a.a, source, destination); }
inline kn_array kn_rollaxis(kn_arg a, kn_axis axis, const kn_rollaxis_opts &opts = {}) { return (kn_rollaxis)(a.a, axis, &opts); }
inline kn_array kn_broadcast_to(kn_arg array, kn_shape shape) { return (kn_broadcast_to)(array.a, shape); }
inline kn_array kn_expand_dims(kn_arg a, kn_axis axis) { return (kn_expand_dims)(a.a, axis); }
inline kn_array kn_squeeze(kn_arg a, const kn_squeeze_opts &opts = {}) { return (kn_squeeze)(a.a, &opts); }
inline kn_array kn_flip(kn_arg m, const kn_flip_opts &opts = {}) { return (kn_flip)(m.a, &opts); }
inline kn_array kn_fliplr(kn_arg m) { return (kn_fliplr)(m.a); }
inline kn_array kn_flipud(kn_arg m) { return (kn_flipud)(m.a); }
inline kn_array kn_rot90(kn_arg m, const kn_rot90_opts &opts = {}) { return (kn_rot90)(m.a, &opts); }
inline kn_array kn_diagonal(kn_arg a, const kn_diagonal_opts &opts = {}) { return (kn_diagonal)(a.a, &opts); }
inline kn_array kn_real(kn_arg val) { return (kn_real)(val.a); }
inline kn_array kn_imag(kn_arg val) { return (kn_imag)(val.a); }
inline kn_array kn_atleast_1d(kn_arg a) { return (kn_atleast_1d)(a.a); }
inline kn_array kn_atleast_2d(kn_arg a) { return (kn_atleast_2d)(a.a); }
inline kn_array kn_atleast_3d(kn_arg a) { return (kn_atleast_3d)(a.a); }
inline kn_array kn_sliding_window_view(kn_arg x, kn_shape window_shape, const kn_sliding_window_view_opts &opts = {}) { return (kn_sliding_window_view)(x.a, window_shape, &opts); }
inline kn_array kn_concatenate(kn_list arrays, const kn_join_opts &opts = {}) { return (kn_concatenate)(arrays, &opts); }
inline kn_array kn_stack(kn_list arrays, const kn_join_opts &opts = {}) { return (kn_stack)(arrays, &opts); }
inline kn_array kn_vstack(kn_list tup, const kn_pile_opts &opts = {}) { return (kn_vstack)(tup, &opts); }
inline kn_array kn_hstack(kn_list tup, const kn_pile_opts &opts = {}) { return (kn_hstack)(tup, &opts); }
inline kn_array kn_append(kn_arg arr, kn_arg values, const kn_append_opts &opts = {}) { return (kn_append)(arr.a, values.a, &opts); }
inline kn_array kn_repeat(kn_arg a, kn_arg repeats, const kn_repeat_opts &opts = {}) { return (kn_repeat)(a.a, repeats.a, &opts); }
inline kn_array kn_tile(kn_arg a, kn_shape reps) { return (kn_tile)(a.a, reps); }
inline kn_array kn_roll(kn_arg a, kn_arg shift, const kn_roll_opts &opts = {}) { return (kn_roll)(a.a, shift.a, &opts); }
inline kn_array kn_pad(kn_arg array, kn_shape pad_width, const kn_pad_opts &opts = {}) { return (kn_pad)(array.a, pad_width, &opts); }
inline kn_array kn_resize(kn_arg a, kn_shape new_shape) { return (kn_resize)(a.a, new_shape); }
inline kn_array kn_take(kn_arg a, kn_arg indices, const kn_take_opts &opts = {}) { return (kn_take)(a.a, indices.a, &opts); }
inline kn_array kn_take_along_axis(kn_arg arr, kn_arg indices, const kn_take_along_axis_opts &opts = {}) { return (kn_take_along_axis)(arr.a, indices.a, &opts); }
inline kn_array kn_choose(kn_arg a, kn_list choices, const kn_choose_opts &opts = {}) { return (kn_choose)(a.a, choices, &opts); }
inline kn_array kn_compress(kn_arg condition, kn_arg a, const kn_compress_opts &opts = {}) { return (kn_compress)(condition.a, a.a, &opts); }
inline kn_array kn_extract(kn_arg condition, kn_arg arr) { return (kn_extract)(condition.a, arr.a); }
inline kn_array kn_nonzero(kn_arg a) { return (kn_nonzero)(a.a); }
inline kn_array kn_flatnonzero(kn_arg a) { return (kn_flatnonzero)(a.a); }
inline kn_array kn_argwhere(kn_arg a) { return (kn_argwhere)(a.a); }
inline kn_unique_result kn_unique(kn_arg ar, const kn_unique_opts &opts = {}) { return (kn_unique)(ar.a, &opts); }
inline kn_array kn_delete(kn_arg arr, kn_arg obj, const kn_delete_opts &opts = {}) { return (kn_delete)(arr.a, obj.a, &opts); }
inline kn_array kn_insert(kn_arg arr, kn_arg obj, kn_arg values, const kn_insert_opts &opts = {}) { return (kn_insert)(arr.a, obj.a, values.a, &opts); }
inline kn_array kn_trim_zeros(kn_arg filt, const kn_trim_zeros_opts &opts = {}) { return (kn_trim_zeros)(filt.a, &opts); }
inline kn_array kn_tril_indices(int64_t n, const kn_triangle_positions_opts &opts = {}) { return (kn_tril_indices)(n, &opts); }
inline kn_array kn_triu_indices(int64_t n, const kn_triangle_positions_opts &opts = {}) { return (kn_triu_indices)(n, &opts); }
inline kn_array kn_tril_indices_from(kn_arg arr, const kn_triangle_opts &opts = {}) { return (kn_tril_indices_from)(arr.a, &opts); }
inline kn_array kn_triu_indices_from(kn_arg arr, const kn_triangle_opts &opts = {}) { return (kn_triu_indices_from)(arr.a, &opts); }
inline kn_unique_all_result kn_unique_all(kn_arg x) { return (kn_unique_all)(x.a); }
inline kn_unique_counts_result kn_unique_counts(kn_arg x) { return (kn_unique_counts)(x.a); }
inline kn_unique_inverse_result kn_unique_inverse(kn_arg x) { return (kn_unique_inverse)(x.a); }
inline kn_array kn_unique_values(kn_arg x) { return (kn_unique_values)(x.a); }
inline kn_array kn_union1d(kn_arg ar1, kn_arg ar2) { return (kn_union1d)(ar1.a, ar2.a); }
inline kn_intersect1d_result kn_intersect1d(kn_arg ar1, kn_arg ar2) { return (kn_intersect1d)(ar1.a, ar2.a); }
inline kn_array kn_setdiff1d(kn_arg ar1, kn_arg ar2, const kn_set_opts &opts = {}) { return (kn_setdiff1d)(ar1.a, ar2.a, &opts); }
inline kn_array kn_setxor1d(kn_arg ar1, kn_arg ar2, const kn_set_opts &opts = {}) { return (kn_setxor1d)(ar1.a, ar2.a, &opts); }
inline kn_array kn_bincount(kn_arg x, const kn_bincount_opts &opts = {}) { return (kn_bincount)(x.a, &opts); }
inline kn_histogram_result kn_histogram(kn_arg a, const kn_histogram_opts &opts = {}) { return (kn_histogram)(a.a, &opts); }
inline kn_array kn_histogram_bin_edges(kn_arg a, const kn_histogram_bin_edges_opts &opts = {}) { return (kn_histogram_bin_edges)(a.a, &opts); }
inline kn_histogram2d_result kn_histogram2d(kn_arg x, kn_arg y, const kn_histogram2d_opts &opts = {}) { return (kn_histogram2d)(x.a, y.a, &opts); }
inline kn_array kn_put(kn_arg a, kn_arg ind, kn_arg v, const kn_put_opts &opts = {}) { return (kn_put)(a.a, ind.a, v.a, &opts); }
inline kn_array kn_place(kn_arg arr, kn_arg mask, kn_arg vals) { return (kn_place)(arr.a, mask.a, vals.a); }
inline kn_array kn_putmask(kn_arg a, kn_arg mask, kn_arg values) { return (kn_putmask)(a.a, mask.a, values.a); }
inline kn_array kn_copyto(kn_arg dst, kn_arg src, const kn_copyto_opts &opts = {}) { return (kn_copyto)(dst.a, src.a, &opts); }
inline kn_array kn_fill_diagonal(kn_arg a, kn_arg val, const kn_fill_diagonal_opts &opts = {}) { return (kn_fill_diagonal)(a.a, val.a, &opts); }
inline kn_array kn_put_along_axis(kn_arg arr, kn_arg indices, kn_arg values, kn_axis axis) { return (kn_put_along_axis)(arr.a, indices.a, values.a, axis); }
inline kn_array kn_ravel_multi_index(kn_list multi_index, kn_shape dims, const kn_ravel_multi_index_opts &opts = {}) { return (kn_ravel_multi_index)(multi_index, dims, &opts); }
inline kn_array kn_unravel_index(kn_arg indices, kn_shape shape, const kn_unravel_index_opts &opts = {}) { return (kn_unravel_index)(indices.a, shape, &opts); }
inline kn_array kn_diag_indices(int64_t n, const kn_diag_indices_opts &opts = {}) { return (kn_diag_indices)(n, &opts); }
inline kn_array kn_packbits(kn_arg a, const kn_packbits_opts &opts = {}) { return (kn_packbits)(a.a, &opts); }
inline kn_array kn_unpackbits(kn_arg a, const kn_unpackbits_opts &opts = {}) { return (kn_unpackbits)(a.a, &opts); }
inline kn_list kn_split(kn_arg ary, kn_arg indices_or_sections, const kn_split_opts &opts = {}) { return (kn_split)(ary.a, indices_or_sections.a, &opts); }
inline kn_list kn_array_split(kn_arg ary, kn_arg indices_or_sections, const kn_split_opts &opts = {}) { return (kn_array_split)(ary.a, indices_or_sections.a, &opts); }
inline kn_list kn_hsplit(kn_arg ary, kn_arg indices_or_sections) { return (kn_hsplit)(ary.a, indices_or_sections.a); }
inline kn_list kn_vsplit(kn_arg ary, kn_arg indices_or_sections) { return (kn_vsplit)(ary.a, indices_or_sections.a); }
inline kn_list kn_dsplit(kn_arg ary, kn_arg indices_or_sections) { return (kn_dsplit)(ary.a, indices_or_sections.a); }
inline kn_list kn_unstack(kn_arg x, const kn_unstack_opts &opts = {}) { return (kn_unstack)(x.a, &opts); }
inline kn_list kn_meshgrid(kn_list xi, const kn_meshgrid_opts &opts = {}) { return (kn_meshgrid)(xi, &opts); }
inline kn_list kn_gradient(kn_arg f, kn_list varargs, const kn_gradient_opts &opts = {}) { return (kn_gradient)(f.a, varargs, &opts); }
inline kn_array kn_sort(kn_arg a, const kn_sort_opts &opts = {}) { return (kn_sort)(a.a, &opts); }
inline kn_array kn_argsort(kn_arg a, const kn_sort_opts &opts = {}) { return (kn_argsort)(a.a, &opts); }
inline kn_array kn_partition(kn_arg a, kn_shape kth, const kn_partition_opts &opts = {}) { return (kn_partition)(a.a, kth, &opts); }
inline kn_array kn_argpartition(kn_arg a, kn_shape kth, const kn_partition_opts &opts = {}) { return (kn_argpartition)(a.a, kth, &opts); }
inline kn_array kn_lexsort(kn_list keys, const kn_lexsort_opts &opts = {}) { return (kn_lexsort)(keys, &opts); }
inline kn_array kn_sort_complex(kn_arg a) { return (kn_sort_complex)(a.a); }
inline kn_array kn_median(kn_arg a, const kn_median_opts &opts = {}) { return (kn_median)(a.a, &opts); }
inline kn_array kn_nanmedian(kn_arg a, const kn_median_opts &opts = {}) { return (kn_nanmedian)(a.a, &opts); }
inline kn_array kn_quantile(kn_arg a, kn_arg q, const kn_quantile_opts &opts = {}) { return (kn_quantile)(a.a, q.a, &opts); }
inline kn_array kn_percentile(kn_arg a, kn_arg q, const kn_quantile_opts &opts = {}) { return (kn_percentile)(a.a, q.a, &opts); }
inline kn_array kn_nanquantile(kn_arg a, kn_arg q, const kn_quantile_opts &opts = {}) { return (kn_nanquantile)(a.a, q.a, &opts); }
inline kn_array kn_nanpercentile(kn_arg a, kn_arg q, const kn_quantile_opts &opts = {}) { return (kn_nanpercentile)(a.a, q.a, &opts); }
inline kn_array kn_cov(kn_arg m, const kn_cov_opts &opts = {}) { return (kn_cov)(m.a, &opts); }
inline kn_array kn_corrcoef(kn_arg x, const kn_corrcoef_opts &opts = {}) { return (kn_corrcoef)(x.a, &opts); }
inline kn_array kn_searchsorted(kn_arg a, kn_arg v, const kn_searchsorted_opts &opts = {}) { return (kn_searchsorted)(a.a, v.a, &opts); }
inline kn_array kn_digitize(kn_arg x, kn_arg bins, const kn_digitize_opts &opts = {}) { return (kn_digitize)(x.a, bins.a, &opts); }
inline kn_array kn_isin(kn_arg element, kn_arg test_elements, const kn_isin_opts &opts = {}) { return (kn_isin)(element.a, test_elements.a, &opts); }
inline kn_array kn_interp(kn_arg x, kn_arg xp, kn_arg fp, const kn_interp_opts &opts = {}) { return (kn_interp)(x.a, xp.a, fp.a, &opts); }
inline kn_array kn_convolve(kn_arg a, kn_arg v, const kn_convolve_opts &opts = {}) { return (kn_convolve)(a.a, v.a, &opts); }
inline kn_array kn_correlate(kn_arg a, kn_arg v, const kn_correlate_opts &opts = {}) { return (kn_correlate)(a.a, v.a, &opts); }
inline kn_array kn_unwrap(kn_arg p, const kn_unwrap_opts &opts = {}) { return (kn_unwrap)(p.a, &opts); }
inline kn_array kn_matmul(kn_arg x1, kn_arg x2, const kn_matmul_opts &opts = {}) { return (kn_matmul)(x1.a, x2.a, &opts); }
inline kn_array kn_dot(kn_arg a, kn_arg b, const kn_out2_opts &opts = {}) { return (kn_dot)(a.a, b.a, &opts); }
inline kn_array kn_vdot(kn_arg a, kn_arg b) { return (kn_vdot)(a.a, b.a); }
inline kn_array kn_inner(kn_arg a, kn_arg b) { return (kn_inner)(a.a, b.a); }
inline kn_array kn_outer(kn_arg a, kn_arg b, const kn_out2_opts &opts = {}) { return (kn_outer)(a.a, b.a, &opts); }
inline kn_array kn_kron(kn_arg a, kn_arg b) { return (kn_kron)(a.a, b.a); }
inline kn_array kn_tensordot(kn_arg a, kn_arg b, const kn_tensordot_opts &opts = {}) { return (kn_tensordot)(a.a, b.a, &opts); }
inline kn_array kn_cross(kn_arg a, kn_arg b, const kn_cross_opts &opts = {}) { return (kn_cross)(a.a, b.a, &opts); }
inline kn_array kn_vecdot(kn_arg x1, kn_arg x2, const kn_vecdot_opts &opts = {}) { return (kn_vecdot)(x1.a, x2.a, &opts); }
inline kn_array kn_einsum(const char *subscripts, kn_list operands, const kn_einsum_opts &opts = {}) { return (kn_einsum)(subscripts, operands, &opts); }
inline kn_array kn_multi_dot(kn_list arrays, const kn_out2l_opts &opts = {}) { return (kn_multi_dot)(arrays, &opts); }
inline kn_array kn_matrix_power(kn_arg a, int64_t n) { return (kn_matrix_power)(a.a, n); }
inline kn_array kn_norm(kn_arg x, const kn_norm_opts &opts = {}) { return (kn_norm)(x.a, &opts); }
inline kn_svd_result kn_svd(kn_arg a, const kn_svd_opts &opts = {}) { return (kn_svd)(a.a, &opts); }
inline kn_array kn_polyval(kn_arg p, kn_arg x) { return (kn_polyval)(p.a, x.a); }
inline kn_array kn_polyadd(kn_arg a1, kn_arg a2) { return (kn_polyadd)(a1.a, a2.a); }
inline kn_array kn_polysub(kn_arg a1, kn_arg a2) { return (kn_polysub)(a1.a, a2.a); }
inline kn_array kn_fft(kn_arg a, const kn_fft_opts &opts = {}) { return (kn_fft)(a.a, &opts); }
inline kn_array kn_ifft(kn_arg a, const kn_fft_opts &opts = {}) { return (kn_ifft)(a.a, &opts); }
inline kn_array kn_rfft(kn_arg a, const kn_fft_opts &opts = {}) { return (kn_rfft)(a.a, &opts); }
inline kn_array kn_irfft(kn_arg a, const kn_fft_opts &opts = {}) { return (kn_irfft)(a.a, &opts); }
inline kn_array kn_hfft(kn_arg a, const kn_fft_opts &opts = {}) { return (kn_hfft)(a.a, &opts); }
inline kn_array kn_ihfft(kn_arg a, const kn_fft_opts &opts = {}) { return (kn_ihfft)(a.a, &opts); }
inline kn_array kn_fft2(kn_arg a, const kn_fft2_opts &opts = {}) { return (kn_fft2)(a.a, &opts); }
inline kn_array kn_ifft2(kn_arg a, const kn_fft2_opts &opts = {}) { return (kn_ifft2)(a.a, &opts); }
inline kn_array kn_rfft2(kn_arg a, const kn_fft2_opts &opts = {}) { return (kn_rfft2)(a.a, &opts); }
inline kn_array kn_irfft2(kn_arg a, const kn_fft2_opts &opts = {}) { return (kn_irfft2)(a.a, &opts); }
inline kn_array kn_fftn(kn_arg a, const kn_fftn_opts &opts = {}) { return (kn_fftn)(a.a, &opts); }
inline kn_array kn_ifftn(kn_arg a, const kn_fftn_opts &opts = {}) { return (kn_ifftn)(a.a, &opts); }
inline kn_array kn_rfftn(kn_arg a, const kn_fftn_opts &opts = {}) { return (kn_rfftn)(a.a, &opts); }
inline kn_array kn_irfftn(kn_arg a, const kn_fftn_opts &opts = {}) { return (kn_irfftn)(a.a, &opts); }
inline kn_array kn_fftfreq(int64_t n, const kn_frequencies_opts &opts = {}) { return (kn_fftfreq)(n, &opts); }
inline kn_array kn_rfftfreq(int64_t n, const kn_frequencies_opts &opts = {}) { return (kn_rfftfreq)(n, &opts); }
inline kn_array kn_fftshift(kn_arg x, const kn_shift_opts &opts = {}) { return (kn_fftshift)(x.a, &opts); }
inline kn_array kn_ifftshift(kn_arg x, const kn_shift_opts &opts = {}) { return (kn_ifftshift)(x.a, &opts); }
inline kn_array kn_random(kn_rng g, const kn_random_opts &opts = {}) { return (kn_random)(g, &opts); }
inline kn_array kn_uniform(kn_rng g, const kn_uniform_opts &opts = {}) { return (kn_uniform)(g, &opts); }
inline kn_array kn_integers(kn_rng g, int64_t low, int64_t high, const kn_integers_opts &opts = {}) { return (kn_integers)(g, low, high, &opts); }
inline kn_array kn_standard_normal(kn_rng g, const kn_random_opts &opts = {}) { return (kn_standard_normal)(g, &opts); }
inline kn_array kn_normal(kn_rng g, const kn_normal_opts &opts = {}) { return (kn_normal)(g, &opts); }
inline kn_array kn_standard_exponential(kn_rng g, const kn_random_opts &opts = {}) { return (kn_standard_exponential)(g, &opts); }
inline kn_array kn_exponential(kn_rng g, const kn_exponential_opts &opts = {}) { return (kn_exponential)(g, &opts); }
inline kn_array kn_permutation(kn_rng g, kn_arg x, const kn_permutation_opts &opts = {}) { return (kn_permutation)(g, x.a, &opts); }
#elif !defined(KN_NO_MACROS)
#define KN_CALL_aa_(f, F, ...) KN_CAT_(KN_CALL_aa_, KN_MORE_2_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_aa_0(f, F, a0, a1) f(KN_ARG(a0), KN_ARG(a1), NULL)
#define KN_CALL_aa_1(f, F, a0, a1, ...) KN_OPTS_(KN_O_, F, f, (KN_ARG(a0), KN_ARG(a1)), __VA_ARGS__)
#define KN_CALL_a_(f, F, ...) KN_CAT_(KN_CALL_a_, KN_MORE_1_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_a_0(f, F, a0) f(KN_ARG(a0), NULL)
#define KN_CALL_a_1(f, F, a0, ...) KN_OPTS_(KN_O_, F, f, (KN_ARG(a0)), __VA_ARGS__)
#define KN_CALL_aaa_(f, F, ...) KN_CAT_(KN_CALL_aaa_, KN_MORE_3_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_aaa_0(f, F, a0, a1, a2) f(KN_ARG(a0), KN_ARG(a1), KN_ARG(a2), NULL)
#define KN_CALL_aaa_1(f, F, a0, a1, a2, ...) KN_OPTS_(KN_O_, F, f, (KN_ARG(a0), KN_ARG(a1), KN_ARG(a2)), __VA_ARGS__)
#define KN_CALL_pp_(f, F, ...) KN_CAT_(KN_CALL_pp_, KN_MORE_2_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_pp_0(f, F, a0, a1) f(a0, a1, NULL)
#define KN_CALL_pp_1(f, F, a0, a1, ...) KN_OPTS_(KN_O_, F, f, (a0, a1), __VA_ARGS__)
#define KN_CALL_p_(f, F, ...) KN_CAT_(KN_CALL_p_, KN_MORE_1_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_p_0(f, F, a0) f(a0, NULL)
#define KN_CALL_p_1(f, F, a0, ...) KN_OPTS_(KN_O_, F, f, (a0), __VA_ARGS__)
#define KN_CALL_pa_(f, F, ...) KN_CAT_(KN_CALL_pa_, KN_MORE_2_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_pa_0(f, F, a0, a1) f(a0, KN_ARG(a1), NULL)
#define KN_CALL_pa_1(f, F, a0, a1, ...) KN_OPTS_(KN_O_, F, f, (a0, KN_ARG(a1)), __VA_ARGS__)
#define KN_CALL_aap_(f, F, ...) KN_CAT_(KN_CALL_aap_, KN_MORE_3_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_aap_0(f, F, a0, a1, a2) f(KN_ARG(a0), KN_ARG(a1), a2, NULL)
#define KN_CALL_aap_1(f, F, a0, a1, a2, ...) KN_OPTS_(KN_O_, F, f, (KN_ARG(a0), KN_ARG(a1), a2), __VA_ARGS__)
#define KN_CALL_ad_(f, F, ...) KN_CAT_(KN_CALL_ad_, KN_MORE_2_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_ad_0(f, F, a0, a1) f(KN_ARG(a0), KN_DTYPE_(a1), NULL)
#define KN_CALL_ad_1(f, F, a0, a1, ...) KN_OPTS_(KN_O_, F, f, (KN_ARG(a0), KN_DTYPE_(a1)), __VA_ARGS__)
#define KN_CALL_ap_(f, F, ...) KN_CAT_(KN_CALL_ap_, KN_MORE_2_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_ap_0(f, F, a0, a1) f(KN_ARG(a0), a1, NULL)
#define KN_CALL_ap_1(f, F, a0, a1, ...) KN_OPTS_(KN_O_, F, f, (KN_ARG(a0), a1), __VA_ARGS__)
#define KN_CALL_ppp_(f, F, ...) KN_CAT_(KN_CALL_ppp_, KN_MORE_3_(__VA_ARGS__))(f, F, __VA_ARGS__)
#define KN_CALL_ppp_0(f, F, a0, a1, a2) f(a0, a1, a2, NULL)
#define KN_CALL_ppp_1(f, F, a0, a1, a2, ...) KN_OPTS_(KN_O_, F, f, (a0, a1, a2), __VA_ARGS__)
#define kn_add(...) kn_used_(KN_CALL_aa_(kn_add, ufunc, __VA_ARGS__))
#define kn_sub(...) kn_used_(KN_CALL_aa_(kn_sub, ufunc, __VA_ARGS__))
#define kn_mul(...) kn_used_(KN_CALL_aa_(kn_mul, ufunc, __VA_ARGS__))
#define kn_div(...) kn_used_(KN_CALL_aa_(kn_div, ufunc, __VA_ARGS__))
#define kn_floor_divide(...) kn_used_(KN_CALL_aa_(kn_floor_divide, ufunc, __VA_ARGS__))
#define kn_remainder(...) kn_used_(KN_CALL_aa_(kn_remainder, ufunc, __VA_ARGS__))
#define kn_fmod(...) kn_used_(KN_CALL_aa_(kn_fmod, ufunc, __VA_ARGS__))
#define kn_power(...) kn_used_(KN_CALL_aa_(kn_power, ufunc, __VA_ARGS__))
#define kn_float_power(...) kn_used_(KN_CALL_aa_(kn_float_power, ufunc, __VA_ARGS__))
#define kn_neg(...) kn_used_(KN_CALL_a_(kn_neg, ufunc, __VA_ARGS__))
#define kn_positive(...) kn_used_(KN_CALL_a_(kn_positive, ufunc, __VA_ARGS__))
#define kn_abs(...) kn_used_(KN_CALL_a_(kn_abs, ufunc, __VA_ARGS__))
#define kn_fabs(...) kn_used_(KN_CALL_a_(kn_fabs, ufunc, __VA_ARGS__))
#define kn_sign(...) kn_used_(KN_CALL_a_(kn_sign, ufunc, __VA_ARGS__))
#define kn_square(...) kn_used_(KN_CALL_a_(kn_square, ufunc, __VA_ARGS__))
#define kn_reciprocal(...) kn_used_(KN_CALL_a_(kn_reciprocal, ufunc, __VA_ARGS__))
#define kn_conjugate(...) kn_used_(KN_CALL_a_(kn_conjugate, ufunc, __VA_ARGS__))
#define kn_gcd(...) kn_used_(KN_CALL_aa_(kn_gcd, ufunc, __VA_ARGS__))
#define kn_lcm(...) kn_used_(KN_CALL_aa_(kn_lcm, ufunc, __VA_ARGS__))
#define kn_divmod(...) KN_CALL_aa_(kn_divmod, ufunc2, __VA_ARGS__)
#define kn_maximum(...) kn_used_(KN_CALL_aa_(kn_maximum, ufunc, __VA_ARGS__))
#define kn_minimum(...) kn_used_(KN_CALL_aa_(kn_minimum, ufunc, __VA_ARGS__))
#define kn_fmax(...) kn_used_(KN_CALL_aa_(kn_fmax, ufunc, __VA_ARGS__))
#define kn_fmin(...) kn_used_(KN_CALL_aa_(kn_fmin, ufunc, __VA_ARGS__))
#define kn_clip(...) kn_used_(KN_CALL_aaa_(kn_clip, clip, __VA_ARGS__))
#define kn_equal(...) kn_used_(KN_CALL_aa_(kn_equal, ufunc, __VA_ARGS__))
#define kn_not_equal(...) kn_used_(KN_CALL_aa_(kn_not_equal, ufunc, __VA_ARGS__))
#define kn_less(...) kn_used_(KN_CALL_aa_(kn_less, ufunc, __VA_ARGS__))
#define kn_less_equal(...) kn_used_(KN_CALL_aa_(kn_less_equal, ufunc, __VA_ARGS__))
#define kn_greater(...) kn_used_(KN_CALL_aa_(kn_greater, ufunc, __VA_ARGS__))
#define kn_greater_equal(...) kn_used_(KN_CALL_aa_(kn_greater_equal, ufunc, __VA_ARGS__))
#define kn_logical_and(...) kn_used_(KN_CALL_aa_(kn_logical_and, ufunc, __VA_ARGS__))
#define kn_logical_or(...) kn_used_(KN_CALL_aa_(kn_logical_or, ufunc, __VA_ARGS__))
#define kn_logical_xor(...) kn_used_(KN_CALL_aa_(kn_logical_xor, ufunc, __VA_ARGS__))
#define kn_logical_not(...) kn_used_(KN_CALL_a_(kn_logical_not, ufunc, __VA_ARGS__))
#define kn_bitwise_and(...) kn_used_(KN_CALL_aa_(kn_bitwise_and, ufunc, __VA_ARGS__))
#define kn_bitwise_or(...) kn_used_(KN_CALL_aa_(kn_bitwise_or, ufunc, __VA_ARGS__))
#define kn_bitwise_xor(...) kn_used_(KN_CALL_aa_(kn_bitwise_xor, ufunc, __VA_ARGS__))
#define kn_invert(...) kn_used_(KN_CALL_a_(kn_invert, ufunc, __VA_ARGS__))
#define kn_left_shift(...) kn_used_(KN_CALL_aa_(kn_left_shift, ufunc, __VA_ARGS__))
#define kn_right_shift(...) kn_used_(KN_CALL_aa_(kn_right_shift, ufunc, __VA_ARGS__))
#define kn_bitwise_count(...) kn_used_(KN_CALL_a_(kn_bitwise_count, ufunc, __VA_ARGS__))
#define kn_isnan(...) kn_used_(KN_CALL_a_(kn_isnan, ufunc, __VA_ARGS__))
#define kn_isinf(...) kn_used_(KN_CALL_a_(kn_isinf, ufunc, __VA_ARGS__))
#define kn_isfinite(...) kn_used_(KN_CALL_a_(kn_isfinite, ufunc, __VA_ARGS__))
#define kn_signbit(...) kn_used_(KN_CALL_a_(kn_signbit, ufunc, __VA_ARGS__))
#define kn_exp(...) kn_used_(KN_CALL_a_(kn_exp, ufunc, __VA_ARGS__))
#define kn_exp2(...) kn_used_(KN_CALL_a_(kn_exp2, ufunc, __VA_ARGS__))
#define kn_expm1(...) kn_used_(KN_CALL_a_(kn_expm1, ufunc, __VA_ARGS__))
#define kn_log(...) kn_used_(KN_CALL_a_(kn_log, ufunc, __VA_ARGS__))
#define kn_log2(...) kn_used_(KN_CALL_a_(kn_log2, ufunc, __VA_ARGS__))
#define kn_log10(...) kn_used_(KN_CALL_a_(kn_log10, ufunc, __VA_ARGS__))
#define kn_log1p(...) kn_used_(KN_CALL_a_(kn_log1p, ufunc, __VA_ARGS__))
#define kn_logaddexp(...) kn_used_(KN_CALL_aa_(kn_logaddexp, ufunc, __VA_ARGS__))
#define kn_logaddexp2(...) kn_used_(KN_CALL_aa_(kn_logaddexp2, ufunc, __VA_ARGS__))
#define kn_sqrt(...) kn_used_(KN_CALL_a_(kn_sqrt, ufunc, __VA_ARGS__))
#define kn_cbrt(...) kn_used_(KN_CALL_a_(kn_cbrt, ufunc, __VA_ARGS__))
#define kn_hypot(...) kn_used_(KN_CALL_aa_(kn_hypot, ufunc, __VA_ARGS__))
#define kn_sin(...) kn_used_(KN_CALL_a_(kn_sin, ufunc, __VA_ARGS__))
#define kn_cos(...) kn_used_(KN_CALL_a_(kn_cos, ufunc, __VA_ARGS__))
#define kn_tan(...) kn_used_(KN_CALL_a_(kn_tan, ufunc, __VA_ARGS__))
#define kn_arcsin(...) kn_used_(KN_CALL_a_(kn_arcsin, ufunc, __VA_ARGS__))
#define kn_arccos(...) kn_used_(KN_CALL_a_(kn_arccos, ufunc, __VA_ARGS__))
#define kn_arctan(...) kn_used_(KN_CALL_a_(kn_arctan, ufunc, __VA_ARGS__))
#define kn_arctan2(...) kn_used_(KN_CALL_aa_(kn_arctan2, ufunc, __VA_ARGS__))
#define kn_sinh(...) kn_used_(KN_CALL_a_(kn_sinh, ufunc, __VA_ARGS__))
#define kn_cosh(...) kn_used_(KN_CALL_a_(kn_cosh, ufunc, __VA_ARGS__))
#define kn_tanh(...) kn_used_(KN_CALL_a_(kn_tanh, ufunc, __VA_ARGS__))
#define kn_arcsinh(...) kn_used_(KN_CALL_a_(kn_arcsinh, ufunc, __VA_ARGS__))
#define kn_arccosh(...) kn_used_(KN_CALL_a_(kn_arccosh, ufunc, __VA_ARGS__))
#define kn_arctanh(...) kn_used_(KN_CALL_a_(kn_arctanh, ufunc, __VA_ARGS__))
#define kn_deg2rad(...) kn_used_(KN_CALL_a_(kn_deg2rad, ufunc, __VA_ARGS__))
#define kn_rad2deg(...) kn_used_(KN_CALL_a_(kn_rad2deg, ufunc, __VA_ARGS__))
#define kn_sinc(x) kn_sinc(KN_ARG(x))
#define kn_i0(x) kn_i0(KN_ARG(x))
#define kn_erf(...) kn_used_(KN_CALL_a_(kn_erf, ufunc, __VA_ARGS__))
#define kn_erfc(...) kn_used_(KN_CALL_a_(kn_erfc, ufunc, __VA_ARGS__))
#define kn_erfinv(...) kn_used_(KN_CALL_a_(kn_erfinv, ufunc, __VA_ARGS__))
#define kn_erfcinv(...) kn_used_(KN_CALL_a_(kn_erfcinv, ufunc, __VA_ARGS__))
#define kn_expit(...) kn_used_(KN_CALL_a_(kn_expit, ufunc, __VA_ARGS__))
#define kn_angle(...) kn_used_(KN_CALL_a_(kn_angle, angle, __VA_ARGS__))
#define kn_rint(...) kn_used_(KN_CALL_a_(kn_rint, ufunc, __VA_ARGS__))
#define kn_floor(...) kn_used_(KN_CALL_a_(kn_floor, ufunc, __VA_ARGS__))
#define kn_ceil(...) kn_used_(KN_CALL_a_(kn_ceil, ufunc, __VA_ARGS__))
#define kn_trunc(...) kn_used_(KN_CALL_a_(kn_trunc, ufunc, __VA_ARGS__))
#define kn_round(...) kn_used_(KN_CALL_a_(kn_round, round, __VA_ARGS__))
#define kn_copysign(...) kn_used_(KN_CALL_aa_(kn_copysign, ufunc, __VA_ARGS__))
#define kn_nextafter(...) kn_used_(KN_CALL_aa_(kn_nextafter, ufunc, __VA_ARGS__))
#define kn_spacing(...) kn_used_(KN_CALL_a_(kn_spacing, ufunc, __VA_ARGS__))
#define kn_ldexp(...) kn_used_(KN_CALL_aa_(kn_ldexp, ufunc, __VA_ARGS__))
#define kn_heaviside(...) kn_used_(KN_CALL_aa_(kn_heaviside, ufunc, __VA_ARGS__))
#define kn_frexp(...) KN_CALL_a_(kn_frexp, ufunc2, __VA_ARGS__)
#define kn_modf(...) KN_CALL_a_(kn_modf, ufunc2, __VA_ARGS__)
#define kn_nan_to_num(...) kn_used_(KN_CALL_a_(kn_nan_to_num, nan_to_num, __VA_ARGS__))
#define kn_isneginf(...) kn_used_(KN_CALL_a_(kn_isneginf, out, __VA_ARGS__))
#define kn_isposinf(...) kn_used_(KN_CALL_a_(kn_isposinf, out, __VA_ARGS__))
#define kn_isreal(x) kn_isreal(KN_ARG(x))
#define kn_iscomplex(x) kn_iscomplex(KN_ARG(x))
#define kn_isclose(...) kn_used_(KN_CALL_aa_(kn_isclose, close, __VA_ARGS__))
#define kn_allclose(...) kn_used_(KN_CALL_aa_(kn_allclose, close, __VA_ARGS__))
#define kn_array_equal(...) kn_used_(KN_CALL_aa_(kn_array_equal, array_equal, __VA_ARGS__))
#define kn_array_equiv(a1, a2) kn_array_equiv(KN_ARG(a1), KN_ARG(a2))
#define kn_where(condition, x, y) kn_where(KN_ARG(condition), KN_ARG(x), KN_ARG(y))
#define kn_select(...) kn_used_(KN_CALL_pp_(kn_select, select, __VA_ARGS__))
#define kn_piecewise(x, condlist, funclist) kn_piecewise(KN_ARG(x), condlist, funclist)
#define kn_sum(...) kn_used_(KN_CALL_a_(kn_sum, reduce, __VA_ARGS__))
#define kn_prod(...) kn_used_(KN_CALL_a_(kn_prod, reduce, __VA_ARGS__))
#define kn_max(...) kn_used_(KN_CALL_a_(kn_max, extreme, __VA_ARGS__))
#define kn_min(...) kn_used_(KN_CALL_a_(kn_min, extreme, __VA_ARGS__))
#define kn_any(...) kn_used_(KN_CALL_a_(kn_any, truth, __VA_ARGS__))
#define kn_all(...) kn_used_(KN_CALL_a_(kn_all, truth, __VA_ARGS__))
#define kn_mean(...) kn_used_(KN_CALL_a_(kn_mean, mean, __VA_ARGS__))
#define kn_var(...) kn_used_(KN_CALL_a_(kn_var, var, __VA_ARGS__))
#define kn_std(...) kn_used_(KN_CALL_a_(kn_std, var, __VA_ARGS__))
#define kn_argmax(...) kn_used_(KN_CALL_a_(kn_argmax, position, __VA_ARGS__))
#define kn_argmin(...) kn_used_(KN_CALL_a_(kn_argmin, position, __VA_ARGS__))
#define kn_ptp(...) kn_used_(KN_CALL_a_(kn_ptp, ptp, __VA_ARGS__))
#define kn_count_nonzero(...) kn_used_(KN_CALL_a_(kn_count_nonzero, count_nonzero, __VA_ARGS__))
#define kn_average(...) kn_used_(KN_CALL_a_(kn_average, average, __VA_ARGS__))
#define kn_nansum(...) kn_used_(KN_CALL_a_(kn_nansum, reduce, __VA_ARGS__))
#define kn_nanprod(...) kn_used_(KN_CALL_a_(kn_nanprod, reduce, __VA_ARGS__))
#define kn_nanmax(...) kn_used_(KN_CALL_a_(kn_nanmax, extreme, __VA_ARGS__))
#define kn_nanmin(...) kn_used_(KN_CALL_a_(kn_nanmin, extreme, __VA_ARGS__))
#define kn_nanmean(...) kn_used_(KN_CALL_a_(kn_nanmean, mean, __VA_ARGS__))
#define kn_nanvar(...) kn_used_(KN_CALL_a_(kn_nanvar, var, __VA_ARGS__))
#define kn_nanstd(...) kn_used_(KN_CALL_a_(kn_nanstd, var, __VA_ARGS__))
#define kn_nanargmax(...) kn_used_(KN_CALL_a_(kn_nanargmax, position, __VA_ARGS__))
#define kn_nanargmin(...) kn_used_(KN_CALL_a_(kn_nanargmin, position, __VA_ARGS__))
#define kn_trace(...) kn_used_(KN_CALL_a_(kn_trace, trace, __VA_ARGS__))
#define kn_cumsum(...) kn_used_(KN_CALL_a_(kn_cumsum, scan, __VA_ARGS__))
#define kn_cumprod(...) kn_used_(KN_CALL_a_(kn_cumprod, scan, __VA_ARGS__))
#define kn_nancumsum(...) kn_used_(KN_CALL_a_(kn_nancumsum, scan, __VA_ARGS__))
#define kn_nancumprod(...) kn_used_(KN_CALL_a_(kn_nancumprod, scan, __VA_ARGS__))
#define kn_cumulative_sum(...) kn_used_(KN_CALL_a_(kn_cumulative_sum, cumulative, __VA_ARGS__))
#define kn_cumulative_prod(...) kn_used_(KN_CALL_a_(kn_cumulative_prod, cumulative, __VA_ARGS__))
#define kn_diff(...) kn_used_(KN_CALL_a_(kn_diff, diff, __VA_ARGS__))
#define kn_ediff1d(...) kn_used_(KN_CALL_a_(kn_ediff1d, ediff1d, __VA_ARGS__))
#define kn_trapezoid(...) kn_used_(KN_CALL_a_(kn_trapezoid, trapezoid, __VA_ARGS__))
#define kn_zeros(...) kn_used_(KN_CALL_p_(kn_zeros, create, __VA_ARGS__))
#define kn_ones(...) kn_used_(KN_CALL_p_(kn_ones, create, __VA_ARGS__))
#define kn_empty(...) kn_used_(KN_CALL_p_(kn_empty, create, __VA_ARGS__))
#define kn_full(...) kn_used_(KN_CALL_pa_(kn_full, create, __VA_ARGS__))
#define kn_zeros_like(...) kn_used_(KN_CALL_a_(kn_zeros_like, like, __VA_ARGS__))
#define kn_ones_like(...) kn_used_(KN_CALL_a_(kn_ones_like, like, __VA_ARGS__))
#define kn_empty_like(...) kn_used_(KN_CALL_a_(kn_empty_like, like, __VA_ARGS__))
#define kn_full_like(...) kn_used_(KN_CALL_aa_(kn_full_like, like, __VA_ARGS__))
#define kn_arange(...) kn_used_(KN_CALL_aaa_(kn_arange, arange, __VA_ARGS__))
#define kn_linspace(...) kn_used_(KN_CALL_aap_(kn_linspace, linspace, __VA_ARGS__))
#define kn_logspace(...) kn_used_(KN_CALL_aap_(kn_logspace, logspace, __VA_ARGS__))
#define kn_geomspace(...) kn_used_(KN_CALL_aap_(kn_geomspace, geomspace, __VA_ARGS__))
#define kn_eye(...) kn_used_(KN_CALL_p_(kn_eye, eye, __VA_ARGS__))
#define kn_identity(...) kn_used_(KN_CALL_p_(kn_identity, identity, __VA_ARGS__))
#define kn_tri(...) kn_used_(KN_CALL_p_(kn_tri, tri, __VA_ARGS__))
#define kn_tril(...) kn_used_(KN_CALL_a_(kn_tril, triangle, __VA_ARGS__))
#define kn_triu(...) kn_used_(KN_CALL_a_(kn_triu, triangle, __VA_ARGS__))
#define kn_diag(...) kn_used_(KN_CALL_a_(kn_diag, diagonal_k, __VA_ARGS__))
#define kn_diagflat(...) kn_used_(KN_CALL_a_(kn_diagflat, diagonal_k, __VA_ARGS__))
#define kn_vander(...) kn_used_(KN_CALL_a_(kn_vander, vander, __VA_ARGS__))
#define kn_indices(...) kn_used_(KN_CALL_p_(kn_indices, indices, __VA_ARGS__))
#define kn_copy(...) kn_used_(KN_CALL_a_(kn_copy, copy, __VA_ARGS__))
#define kn_astype(...) kn_used_(KN_CALL_ad_(kn_astype, astype, __VA_ARGS__))
#define kn_reshape(...) kn_used_(KN_CALL_ap_(kn_reshape, reshape, __VA_ARGS__))
#define kn_ravel(...) kn_used_(KN_CALL_a_(kn_ravel, ravel, __VA_ARGS__))
#define kn_transpose(...) kn_used_(KN_CALL_a_(kn_transpose, transpose, __VA_ARGS__))
#define kn_matrix_transpose(x) kn_matrix_transpose(KN_ARG(x))
#define kn_swapaxes(a, axis1, axis2) kn_swapaxes(KN_ARG(a), axis1, axis2)
#define kn_moveaxis(a, source, destination) kn_moveaxis(KN_ARG(a), source, destination)
#define kn_rollaxis(...) kn_used_(KN_CALL_ap_(kn_rollaxis, rollaxis, __VA_ARGS__))
#define kn_broadcast_to(array, shape) kn_broadcast_to(KN_ARG(array), shape)
#define kn_expand_dims(a, axis) kn_expand_dims(KN_ARG(a), axis)
#define kn_squeeze(...) kn_used_(KN_CALL_a_(kn_squeeze, squeeze, __VA_ARGS__))
#define kn_flip(...) kn_used_(KN_CALL_a_(kn_flip, flip, __VA_ARGS__))
#define kn_fliplr(m) kn_fliplr(KN_ARG(m))
#define kn_flipud(m) kn_flipud(KN_ARG(m))
#define kn_rot90(...) kn_used_(KN_CALL_a_(kn_rot90, rot90, __VA_ARGS__))
#define kn_diagonal(...) kn_used_(KN_CALL_a_(kn_diagonal, diagonal, __VA_ARGS__))
#define kn_real(val) kn_real(KN_ARG(val))
#define kn_imag(val) kn_imag(KN_ARG(val))
#define kn_atleast_1d(a) kn_atleast_1d(KN_ARG(a))
#define kn_atleast_2d(a) kn_atleast_2d(KN_ARG(a))
#define kn_atleast_3d(a) kn_atleast_3d(KN_ARG(a))
#define kn_sliding_window_view(...) kn_used_(KN_CALL_ap_(kn_sliding_window_view, sliding_window_view, __VA_ARGS__))
#define kn_concatenate(...) kn_used_(KN_CALL_p_(kn_concatenate, join, __VA_ARGS__))
#define kn_stack(...) kn_used_(KN_CALL_p_(kn_stack, join, __VA_ARGS__))
#define kn_vstack(...) kn_used_(KN_CALL_p_(kn_vstack, pile, __VA_ARGS__))
#define kn_hstack(...) kn_used_(KN_CALL_p_(kn_hstack, pile, __VA_ARGS__))
#define kn_append(...) kn_used_(KN_CALL_aa_(kn_append, append, __VA_ARGS__))
#define kn_repeat(...) kn_used_(KN_CALL_aa_(kn_repeat, repeat, __VA_ARGS__))
#define kn_tile(a, reps) kn_tile(KN_ARG(a), reps)
#define kn_roll(...) kn_used_(KN_CALL_aa_(kn_roll, roll, __VA_ARGS__))
#define kn_pad(...) kn_used_(KN_CALL_ap_(kn_pad, pad, __VA_ARGS__))
#define kn_resize(a, new_shape) kn_resize(KN_ARG(a), new_shape)
#define kn_take(...) kn_used_(KN_CALL_aa_(kn_take, take, __VA_ARGS__))
#define kn_take_along_axis(...) kn_used_(KN_CALL_aa_(kn_take_along_axis, take_along_axis, __VA_ARGS__))
#define kn_choose(...) kn_used_(KN_CALL_ap_(kn_choose, choose, __VA_ARGS__))
#define kn_compress(...) kn_used_(KN_CALL_aa_(kn_compress, compress, __VA_ARGS__))
#define kn_extract(condition, arr) kn_extract(KN_ARG(condition), KN_ARG(arr))
#define kn_nonzero(a) kn_nonzero(KN_ARG(a))
#define kn_flatnonzero(a) kn_flatnonzero(KN_ARG(a))
#define kn_argwhere(a) kn_argwhere(KN_ARG(a))
#define kn_unique(...) KN_CALL_a_(kn_unique, unique, __VA_ARGS__)
#define kn_delete(...) kn_used_(KN_CALL_aa_(kn_delete, delete, __VA_ARGS__))
#define kn_insert(...) kn_used_(KN_CALL_aaa_(kn_insert, insert, __VA_ARGS__))
#define kn_trim_zeros(...) kn_used_(KN_CALL_a_(kn_trim_zeros, trim_zeros, __VA_ARGS__))
#define kn_tril_indices(...) kn_used_(KN_CALL_p_(kn_tril_indices, triangle_positions, __VA_ARGS__))
#define kn_triu_indices(...) kn_used_(KN_CALL_p_(kn_triu_indices, triangle_positions, __VA_ARGS__))
#define kn_tril_indices_from(...) kn_used_(KN_CALL_a_(kn_tril_indices_from, triangle, __VA_ARGS__))
#define kn_triu_indices_from(...) kn_used_(KN_CALL_a_(kn_triu_indices_from, triangle, __VA_ARGS__))
#define kn_unique_all(x) kn_unique_all(KN_ARG(x))
#define kn_unique_counts(x) kn_unique_counts(KN_ARG(x))
#define kn_unique_inverse(x) kn_unique_inverse(KN_ARG(x))
#define kn_unique_values(x) kn_unique_values(KN_ARG(x))
#define kn_union1d(ar1, ar2) kn_union1d(KN_ARG(ar1), KN_ARG(ar2))
#define kn_intersect1d(ar1, ar2) kn_intersect1d(KN_ARG(ar1), KN_ARG(ar2))
#define kn_setdiff1d(...) kn_used_(KN_CALL_aa_(kn_setdiff1d, set, __VA_ARGS__))
#define kn_setxor1d(...) kn_used_(KN_CALL_aa_(kn_setxor1d, set, __VA_ARGS__))
#define kn_bincount(...) kn_used_(KN_CALL_a_(kn_bincount, bincount, __VA_ARGS__))
#define kn_histogram(...) KN_CALL_a_(kn_histogram, histogram, __VA_ARGS__)
#define kn_histogram_bin_edges(...) kn_used_(KN_CALL_a_(kn_histogram_bin_edges, histogram_bin_edges, __VA_ARGS__))
#define kn_histogram2d(...) KN_CALL_aa_(kn_histogram2d, histogram2d, __VA_ARGS__)
#define kn_put(...) KN_CALL_aaa_(kn_put, put, __VA_ARGS__)
#define kn_place(arr, mask, vals) kn_place(KN_ARG(arr), KN_ARG(mask), KN_ARG(vals))
#define kn_putmask(a, mask, values) kn_putmask(KN_ARG(a), KN_ARG(mask), KN_ARG(values))
#define kn_copyto(...) KN_CALL_aa_(kn_copyto, copyto, __VA_ARGS__)
#define kn_fill_diagonal(...) KN_CALL_aa_(kn_fill_diagonal, fill_diagonal, __VA_ARGS__)
#define kn_put_along_axis(arr, indices, values, axis) kn_put_along_axis(KN_ARG(arr), KN_ARG(indices), KN_ARG(values), axis)
#define kn_ravel_multi_index(...) kn_used_(KN_CALL_pp_(kn_ravel_multi_index, ravel_multi_index, __VA_ARGS__))
#define kn_unravel_index(...) kn_used_(KN_CALL_ap_(kn_unravel_index, unravel_index, __VA_ARGS__))
#define kn_diag_indices(...) kn_used_(KN_CALL_p_(kn_diag_indices, diag_indices, __VA_ARGS__))
#define kn_packbits(...) kn_used_(KN_CALL_a_(kn_packbits, packbits, __VA_ARGS__))
#define kn_unpackbits(...) kn_used_(KN_CALL_a_(kn_unpackbits, unpackbits, __VA_ARGS__))
#define kn_split(...) KN_CALL_aa_(kn_split, split, __VA_ARGS__)
#define kn_array_split(...) KN_CALL_aa_(kn_array_split, split, __VA_ARGS__)
#define kn_hsplit(ary, indices_or_sections) kn_hsplit(KN_ARG(ary), KN_ARG(indices_or_sections))
#define kn_vsplit(ary, indices_or_sections) kn_vsplit(KN_ARG(ary), KN_ARG(indices_or_sections))
#define kn_dsplit(ary, indices_or_sections) kn_dsplit(KN_ARG(ary), KN_ARG(indices_or_sections))
#define kn_unstack(...) KN_CALL_a_(kn_unstack, unstack, __VA_ARGS__)
#define kn_meshgrid(...) KN_CALL_p_(kn_meshgrid, meshgrid, __VA_ARGS__)
#define kn_gradient(...) KN_CALL_ap_(kn_gradient, gradient, __VA_ARGS__)
#define kn_sort(...) kn_used_(KN_CALL_a_(kn_sort, sort, __VA_ARGS__))
#define kn_argsort(...) kn_used_(KN_CALL_a_(kn_argsort, sort, __VA_ARGS__))
#define kn_partition(...) kn_used_(KN_CALL_ap_(kn_partition, partition, __VA_ARGS__))
#define kn_argpartition(...) kn_used_(KN_CALL_ap_(kn_argpartition, partition, __VA_ARGS__))
#define kn_lexsort(...) kn_used_(KN_CALL_p_(kn_lexsort, lexsort, __VA_ARGS__))
#define kn_sort_complex(a) kn_sort_complex(KN_ARG(a))
#define kn_median(...) kn_used_(KN_CALL_a_(kn_median, median, __VA_ARGS__))
#define kn_nanmedian(...) kn_used_(KN_CALL_a_(kn_nanmedian, median, __VA_ARGS__))
#define kn_quantile(...) kn_used_(KN_CALL_aa_(kn_quantile, quantile, __VA_ARGS__))
#define kn_percentile(...) kn_used_(KN_CALL_aa_(kn_percentile, quantile, __VA_ARGS__))
#define kn_nanquantile(...) kn_used_(KN_CALL_aa_(kn_nanquantile, quantile, __VA_ARGS__))
#define kn_nanpercentile(...) kn_used_(KN_CALL_aa_(kn_nanpercentile, quantile, __VA_ARGS__))
#define kn_cov(...) kn_used_(KN_CALL_a_(kn_cov, cov, __VA_ARGS__))
#define kn_corrcoef(...) kn_used_(KN_CALL_a_(kn_corrcoef, corrcoef, __VA_ARGS__))
#define kn_searchsorted(...) kn_used_(KN_CALL_aa_(kn_searchsorted, searchsorted, __VA_ARGS__))
#define kn_digitize(...) kn_used_(KN_CALL_aa_(kn_digitize, digitize, __VA_ARGS__))
#define kn_isin(...) kn_used_(KN_CALL_aa_(kn_isin, isin, __VA_ARGS__))
#define kn_interp(...) kn_used_(KN_CALL_aaa_(kn_interp, interp, __VA_ARGS__))
#define kn_convolve(...) kn_used_(KN_CALL_aa_(kn_convolve, convolve, __VA_ARGS__))
#define kn_correlate(...) kn_used_(KN_CALL_aa_(kn_correlate, correlate, __VA_ARGS__))
#define kn_unwrap(...) kn_used_(KN_CALL_a_(kn_unwrap, unwrap, __VA_ARGS__))
#define kn_matmul(...) kn_used_(KN_CALL_aa_(kn_matmul, matmul, __VA_ARGS__))
#define kn_dot(...) kn_used_(KN_CALL_aa_(kn_dot, out2, __VA_ARGS__))
#define kn_vdot(a, b) kn_vdot(KN_ARG(a), KN_ARG(b))
#define kn_inner(a, b) kn_inner(KN_ARG(a), KN_ARG(b))
#define kn_outer(...) kn_used_(KN_CALL_aa_(kn_outer, out2, __VA_ARGS__))
#define kn_kron(a, b) kn_kron(KN_ARG(a), KN_ARG(b))
#define kn_tensordot(...) kn_used_(KN_CALL_aa_(kn_tensordot, tensordot, __VA_ARGS__))
#define kn_cross(...) kn_used_(KN_CALL_aa_(kn_cross, cross, __VA_ARGS__))
#define kn_vecdot(...) kn_used_(KN_CALL_aa_(kn_vecdot, vecdot, __VA_ARGS__))
#define kn_einsum(...) kn_used_(KN_CALL_pp_(kn_einsum, einsum, __VA_ARGS__))
#define kn_multi_dot(...) kn_used_(KN_CALL_p_(kn_multi_dot, out2l, __VA_ARGS__))
#define kn_matrix_power(a, n) kn_matrix_power(KN_ARG(a), n)
#define kn_norm(...) kn_used_(KN_CALL_a_(kn_norm, norm, __VA_ARGS__))
#define kn_svd(...) KN_CALL_a_(kn_svd, svd, __VA_ARGS__)
#define kn_polyval(p, x) kn_polyval(KN_ARG(p), KN_ARG(x))
#define kn_polyadd(a1, a2) kn_polyadd(KN_ARG(a1), KN_ARG(a2))
#define kn_polysub(a1, a2) kn_polysub(KN_ARG(a1), KN_ARG(a2))
#define kn_fft(...) kn_used_(KN_CALL_a_(kn_fft, fft, __VA_ARGS__))
#define kn_ifft(...) kn_used_(KN_CALL_a_(kn_ifft, fft, __VA_ARGS__))
#define kn_rfft(...) kn_used_(KN_CALL_a_(kn_rfft, fft, __VA_ARGS__))
#define kn_irfft(...) kn_used_(KN_CALL_a_(kn_irfft, fft, __VA_ARGS__))
#define kn_hfft(...) kn_used_(KN_CALL_a_(kn_hfft, fft, __VA_ARGS__))
#define kn_ihfft(...) kn_used_(KN_CALL_a_(kn_ihfft, fft, __VA_ARGS__))
#define kn_fft2(...) kn_used_(KN_CALL_a_(kn_fft2, fft2, __VA_ARGS__))
#define kn_ifft2(...) kn_used_(KN_CALL_a_(kn_ifft2, fft2, __VA_ARGS__))
#define kn_rfft2(...) kn_used_(KN_CALL_a_(kn_rfft2, fft2, __VA_ARGS__))
#define kn_irfft2(...) kn_used_(KN_CALL_a_(kn_irfft2, fft2, __VA_ARGS__))
#define kn_fftn(...) kn_used_(KN_CALL_a_(kn_fftn, fftn, __VA_ARGS__))
#define kn_ifftn(...) kn_used_(KN_CALL_a_(kn_ifftn, fftn, __VA_ARGS__))
#define kn_rfftn(...) kn_used_(KN_CALL_a_(kn_rfftn, fftn, __VA_ARGS__))
#define kn_irfftn(...) kn_used_(KN_CALL_a_(kn_irfftn, fftn, __VA_ARGS__))
#define kn_fftfreq(...) kn_used_(KN_CALL_p_(kn_fftfreq, frequencies, __VA_ARGS__))
#define kn_rfftfreq(...) kn_used_(KN_CALL_p_(kn_rfftfreq, frequencies, __VA_ARGS__))
#define kn_fftshift(...) kn_used_(KN_CALL_a_(kn_fftshift, shift, __VA_ARGS__))
#define kn_ifftshift(...) kn_used_(KN_CALL_a_(kn_ifftshift, shift, __VA_ARGS__))
#define kn_random(...) kn_used_(KN_CALL_p_(kn_random, random, __VA_ARGS__))
#define kn_uniform(...) kn_used_(KN_CALL_p_(kn_uniform, uniform, __VA_ARGS__))
#define kn_integers(...) kn_used_(KN_CALL_ppp_(kn_integers, integers, __VA_ARGS__))
#define kn_standard_normal(...) kn_used_(KN_CALL_p_(kn_standard_normal, random, __VA_ARGS__))
#define kn_normal(...) kn_used_(KN_CALL_p_(kn_normal, normal, __VA_ARGS__))
#define kn_standard_exponential(...) kn_used_(KN_CALL_p_(kn_standard_exponential, random, __VA_ARGS__))
#define kn_exponential(...) kn_used_(KN_CALL_p_(kn_exponential, exponential, __VA_ARGS__))
#define kn_permutation(...) kn_used_(KN_CALL_pa_(kn_permutation, permutation, __VA_ARGS__))
#endif

/* ---- other names ---- */
#ifndef KN_NO_MACROS
#define kn_subtract kn_sub
#define kn_multiply kn_mul
#define kn_divide kn_div
#define kn_true_divide kn_div
#define kn_negative kn_neg
#define kn_absolute kn_abs
#define kn_mod kn_remainder
#define kn_pow kn_power
#define kn_conj kn_conjugate
#define kn_bitwise_not kn_invert
#define kn_bitwise_invert kn_invert
#define kn_bitwise_left_shift kn_left_shift
#define kn_bitwise_right_shift kn_right_shift
#define kn_asin kn_arcsin
#define kn_acos kn_arccos
#define kn_atan kn_arctan
#define kn_atan2 kn_arctan2
#define kn_asinh kn_arcsinh
#define kn_acosh kn_arccosh
#define kn_atanh kn_arctanh
#define kn_radians kn_deg2rad
#define kn_degrees kn_rad2deg
#define kn_around kn_round
#define kn_fix kn_trunc
#define kn_amax kn_max
#define kn_amin kn_min
#define kn_concat kn_concatenate
#define kn_permute_dims kn_transpose
#endif
#endif
