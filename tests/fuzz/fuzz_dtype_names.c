/* Any bytes as the name of a dtype: known or unknown, and nothing read beyond the length. */
#include "ir/base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kn_dtype t = dtype_named((const char *)data, size);
    if (t >= NDTYPES)
        __builtin_trap();
    return 0;
}
