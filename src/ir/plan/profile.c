/* profile.c: what schedules need to know of devices, one row each. Figures of GPUs are those of the vendors' programming
 * guides for the compute capability; `units` is that of a common model. */
#include <string.h>
#include "ir/plan/plan.h"

const device_profile profiles[] = {
    { .name = "cpu", .target = TARGET_CPU, .units = 16, .warp = 1, .max_threads = 1, .threads_per_unit = 1, .shared_bytes = 0, .registers = 0,
      .vector_bytes = 32, .balance = 6, .on_chip_row = 1 << 18 },
    { .name = "sm_75", .target = TARGET_CUDA, .units = 40, .warp = 32, .max_threads = 1024, .threads_per_unit = 1024, .shared_bytes = 49152, .registers = 65536,
      .vector_bytes = 16, .balance = 14, .on_chip_row = 65536 },
    { .name = "sm_80", .target = TARGET_CUDA, .units = 108, .warp = 32, .max_threads = 1024, .threads_per_unit = 2048, .shared_bytes = 49152, .registers = 65536,
      .vector_bytes = 16, .balance = 14, .on_chip_row = 65536 },
    { .name = "sm_90", .target = TARGET_CUDA, .units = 132, .warp = 32, .max_threads = 1024, .threads_per_unit = 2048, .shared_bytes = 49152, .registers = 65536,
      .vector_bytes = 16, .balance = 14, .on_chip_row = 65536 },
    { .name = "sm_120", .target = TARGET_CUDA, .units = 170, .warp = 32, .max_threads = 1024, .threads_per_unit = 1536, .shared_bytes = 49152, .registers = 65536,
      .vector_bytes = 16, .balance = 14, .on_chip_row = 65536 },
    { .name = "gfx90a", .target = TARGET_HIP, .units = 104, .warp = 64, .max_threads = 1024, .threads_per_unit = 2048, .shared_bytes = 65536, .registers = 131072,
      .vector_bytes = 16, .balance = 14, .on_chip_row = 65536 },
    { .name = "gfx1030", .target = TARGET_HIP, .units = 60, .warp = 32, .max_threads = 1024, .threads_per_unit = 1024, .shared_bytes = 65536, .registers = 65536,
      .vector_bytes = 16, .balance = 14, .on_chip_row = 65536 },
};
const int nprofiles = sizeof profiles / sizeof *profiles;

const device_profile *profile_named(const char *name) {
    for (int i = 0; i < nprofiles; i++) if (!strcmp(profiles[i].name, name)) return &profiles[i];
    return NULL;
}
