/* library.c: facts about dtypes and about the library itself. Nothing about particular arrays may be put here. */
#include <math.h>
#include <stdio.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/device.h"
#include "runtime/runtime.h"

/* ---- dtypes ---- */

static bool known(kn_dtype t) { return t > KN_DTYPE_UNSET && t < NDTYPES; }

kn_float_info kn_finfo(kn_dtype t) {
    if (!known(t) || !dtype_is_inexact(t)) return (kn_float_info){ 0 };
    t = dtype_table[t].part;
    const dtype_info *d = &dtype_table[t];
    int top = 1 << (d->exponent - 1);                    /* the largest exponent is top - 1, the smallest 2 - top */
    double eps = ldexp(1, -d->mantissa);
    kn_float_info f = { .bits = 8 * d->size, .nmant = d->mantissa, .nexp = d->exponent, .precision = (int)-log10(eps), .eps = eps, .epsneg = eps / 2,
                        .max = ldexp(2 - eps, top - 1), .tiny = ldexp(1, 2 - top) };
    f.min = -f.max;
    f.smallest_subnormal = f.tiny * eps;
    f.resolution = pow(10, -f.precision);
    return f;
}

kn_int_info kn_iinfo(kn_dtype t) {
    if (!known(t) || !dtype_is_integer(t)) return (kn_int_info){ 0 };
    int bits = 8 * dtype_table[t].size;
    if (dtype_kind_of(t) == KIND_UINT) return (kn_int_info){ .bits = bits, .max = UINT64_MAX >> (64 - bits) };
    return (kn_int_info){ .bits = bits, .min = INT64_MIN >> (64 - bits), .max = (uint64_t)INT64_MAX >> (64 - bits) };
}

bool kn_can_cast(kn_dtype from, kn_dtype to, kn_casting rule) {
    return known(from) && known(to) && rule >= KN_CAST_NO && rule <= KN_CAST_UNSAFE && dtype_can_cast(from, to, (casting)rule);
}

kn_dtype kn_promote_types(kn_dtype a, kn_dtype b) { return known(a) && known(b) ? dtype_promote(a, b) : KN_DTYPE_UNSET; }

kn_dtype kn_result_type(kn_list operands) {
    message m = { 0 };
    kn_dtype strong = KN_DTYPE_UNSET;
    int weak = -1;
    if (!operands.n) fail(&m, KN_VALUE_ERROR, "kn_result_type: at least one operand is needed");
    for (size_t i = 0; i < operands.n && !m.status; i++) {
        slot *s = array_operand(operands.at[i], "kn_result_type", &m);
        if (!s) break;
        layout l;
        slot_layout(s, &l);
        if (s->kind == SLOT_NUMBER) weak = (int)s->u.number.kind > weak ? (int)s->u.number.kind : weak;
        else strong = strong ? dtype_promote(strong, l.dtype) : l.dtype;
    }
    if (m.status) {
        error_record(&m);
        return KN_DTYPE_UNSET;
    }
    return weak < 0 ? strong : strong ? dtype_promote_weak(strong, (scalar_kind)weak) : dtype_default((scalar_kind)weak);
}

const char *kn_dtype_name(kn_dtype t) { return known(t) ? dtype_table[t].name : ""; }

kn_dtype kn_dtype_named(const char *name) {
    size_t n = 0;
    while (name && name[n]) n++;
    return n ? dtype_named(name, n) : KN_DTYPE_UNSET;
}

size_t kn_itemsize(kn_dtype t) { return known(t) ? dtype_size(t) : 0; }

kn_axis kn_axes_(int n, const int *axis) { return axis_pack(n, axis); }

/* ---- the library ---- */

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *kn_version(void) { return TEXT(KN_VERSION_MAJOR) "." TEXT(KN_VERSION_MINOR) "." TEXT(KN_VERSION_PATCH); }

const char *kn_status_name(kn_status status) { return status_name(status); }

void kn_set_threads(int n) { workers_set(n); }
int kn_threads(void) { return workers_count(); }

kn_status kn_set_device(kn_device d) {
    message m = { 0 };
    kn_status status = device_choose(d, &m);
    if (status) error_record(&m);
    return status;
}

kn_device kn_current_device(void) { return device_current()->kind; }

kn_status kn_wait(void) {
    message m = { 0 };
    device *d = device_current();
    kn_status status = d->wait(d, &m);
    if (status) error_record(&m);
    return status;
}

const char *kn_device_name(kn_device d) {
    const device *there = device_open(d, NULL);
    return there ? there->what : "";
}

kn_statistics_record kn_statistics(void) {
    runtime_counts c;
    runtime_count(&c);
    return (kn_statistics_record){
        .bytes_live = c.bytes_live, .bytes_peak = c.bytes_peak, .bytes_cached = c.bytes_cached, .buffers_live = c.buffers_live,
        .handles_live = (uint64_t)handles_live(), .evaluations = c.evaluations, .kernels_compiled = c.kernels_compiled,
        .kernels_from_disk = c.kernels_from_disk, .launches = c.launches,
    };
}
