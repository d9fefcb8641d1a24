/* functions.c: finding device functions by name and operand dtypes. */
#include <pthread.h>
#include <string.h>
#include "ir/kir/kir.h"

/* Open addressing over the generated table, filled once; entries are numbers + 1. */
#define SLOTS 8192
static uint16_t slots[SLOTS];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static uint32_t slot_for(const char *name, const kn_dtype *types, int n) {
    uint64_t h = hash_bytes(name, strlen(name), (uint64_t)n);
    for (int i = 0; i < n; i++) h = (h ^ (uint64_t)types[i]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32) & (SLOTS - 1);
}

static void fill(void) {
    for (uint32_t i = 0; i < ndevice_functions && i < SLOTS / 2; i++) {
        const kfunction *f = &device_functions[i];
        uint32_t s = slot_for(f->name, f->takes, f->ntakes);
        while (slots[s]) s = (s + 1) & (SLOTS - 1);
        slots[s] = (uint16_t)(i + 1);
    }
}

int device_function(const char *name, const kn_dtype *types, int ntypes) {
    pthread_once(&filled, fill);
    for (uint32_t s = slot_for(name, types, ntypes); slots[s]; s = (s + 1) & (SLOTS - 1)) {
        const kfunction *f = &device_functions[slots[s] - 1];
        if (f->ntakes == ntypes && !strcmp(f->name, name) && !memcmp(f->takes, types, (size_t)ntypes * sizeof *types)) return slots[s] - 1;
    }
    return -1;
}
