/* disk_cache.h: compiled code kept between processes. Nothing here is ever an error for the caller: what cannot be read is
 * missing, what cannot be written is not kept. */
#ifndef KILN_DISK_CACHE_H
#define KILN_DISK_CACHE_H
#include "ir/base/base.h"

/* Appends the entry of that kind ("cpu", "cubin") and key; false: there is none. */
bool disk_cache_get(const char *kind, digest key, text *out);
/* version: of the compiler that made it, kept with the entry for people; may be NULL. */
void disk_cache_put(const char *kind, digest key, const char *version, const void *bytes, size_t n);

typedef struct disk_cache_counts { uint64_t entries, bytes, limit; char folder[1024]; bool usable; } disk_cache_counts;
void disk_cache_stats(disk_cache_counts *out);
void disk_cache_clear(void);
/* Reads the environment again (tests). */
void disk_cache_reset(void);
#endif
