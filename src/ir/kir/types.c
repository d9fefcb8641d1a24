/* types.c: the types of kernel IR, and finding device functions. */
#include <string.h>
#include "ir/kir/kir.h"

const ktype_info ktype_table[NKTYPES] = {
    [T_VOID] = { "void", 0, false, false, false },
    [T_BOOL] = { "bool", 1, false, false, false },
    [T_I8] = { "i8", 1, true, true, false },
    [T_I16] = { "i16", 2, true, true, false },
    [T_I32] = { "i32", 4, true, true, false },
    [T_I64] = { "i64", 8, true, true, false },
    [T_U8] = { "u8", 1, false, true, false },
    [T_U16] = { "u16", 2, false, true, false },
    [T_U32] = { "u32", 4, false, true, false },
    [T_U64] = { "u64", 8, false, true, false },
    [T_F16] = { "f16", 2, true, false, true },
    [T_BF16] = { "bf16", 2, true, false, true },
    [T_F32] = { "f32", 4, true, false, true },
    [T_F64] = { "f64", 8, true, false, true },
};

ktype ktype_value(ktype storage) { return storage == T_F16 || storage == T_BF16 ? T_F32 : storage; }

ktype ktype_of_dtype(kn_dtype t) {
    static const uint8_t of[NDTYPES] = {
        [KN_BOOL] = T_BOOL, [KN_INT8] = T_I8, [KN_INT16] = T_I16, [KN_INT32] = T_I32, [KN_INT64] = T_I64,
        [KN_UINT8] = T_U8, [KN_UINT16] = T_U16, [KN_UINT32] = T_U32, [KN_UINT64] = T_U64, [KN_FLOAT16] = T_F16,
        [KN_BFLOAT16] = T_BF16, [KN_FLOAT32] = T_F32, [KN_FLOAT64] = T_F64, [KN_COMPLEX64] = T_F32, [KN_COMPLEX128] = T_F64,
    };
    return (unsigned)t < NDTYPES ? (ktype)of[t] : T_VOID;
}
