/* codegen.h: kernel IR to something that runs or is read. One section a target; targets know nothing of each other, and
 * nothing about graphs, plans or devices may be put here. */
#ifndef KILN_CODEGEN_H
#define KILN_CODEGEN_H
#include "ir/kir/kir.h"

/* ---- what every way of running a kernel shares ---- */
/* Arguments: one 64-bit word a parameter: an array's address, or a scalar's value (integers sign- or zero-extended,
 * floats by their bit pattern in the low bytes, bool 0 or 1). */
/* A fault word starts as FAULT_NONE; FAULT lowers it atomically to (code << 48 | index) when that is smaller. */
#define FAULT_NONE UINT64_MAX
static inline uint64_t fault_word(unsigned code, int64_t index) { return (uint64_t)code << 48 | ((uint64_t)index & 0xffffffffffffu); }

/* ---- reference/: the lockstep interpreter, which defines what kernel IR means ---- */
/* Runs GRID iterations [lo, hi) of axis 0 (all of axes 1 and 2, whose counts the loops themselves give), in order,
 * threads of a block in lockstep. Kernels without a GRID loop run once. Thread-safe. */
kn_status reference_run(const kernel *k, const uint64_t *args, int64_t lo, int64_t hi, uint64_t *fault, message *m);
/* The same in two parts, for a kernel that runs often: what is prepared never changes, and any number of threads may run it
 * at once. Owned by the caller; the kernel may go before it. */
typedef struct reference_code reference_code;
kn_status reference_prepare(const kernel *k, reference_code **code, message *m);
kn_status reference_execute(const reference_code *c, const uint64_t *args, int64_t lo, int64_t hi, uint64_t *fault, message *m);
void reference_free(reference_code *c);

/* ---- source/: CUDA and HIP C source, one dialect, differences in one table ---- */
typedef enum { DIALECT_CUDA, DIALECT_HIP, NDIALECTS } dialect;
/* Complete source that includes no header. The entry point is extern "C" __global__ with the kernel's name; parameters
 * are the kernel's, then `unsigned long long *fault` if it has faults, then `unsigned *ticket` if it is ordered. */
kn_status source_print(const kernel *k, dialect d, text *out, message *m);
/* The same; portable: device functions by their own definitions, never the vendor's. */
kn_status source_print_as(const kernel *k, dialect d, bool portable, text *out, message *m);
/* The run-time compiler's options for an architecture ("sm_90", "gfx90a"); they refuse contraction of a*b+c. */
#define SOURCE_FLAGS 6
typedef struct source_flags {
    char arch[48];
    const char *option[SOURCE_FLAGS];   /* option[0] is arch: a copied struct needs that pointer set again */
    int count;
} source_flags;
void source_options(dialect d, const char *arch, source_flags *out);

/* ---- llvm/: object code for the CPU through LLVM-C, loaded at run time ---- */
typedef struct llvm_options {
    const char *cpu, *features;   /* NULL: this machine's */
    bool fast;
    int opt;                      /* 0: default passes; 1: none */
} llvm_options;
/* Loads libLLVM when it is first needed. KN_NOT_AVAILABLE with a sentence that says what to install when there is none. */
kn_status llvm_available(message *m);
const char *llvm_version(void);                       /* "19.1.7", or NULL before it is loaded */
/* Appends an object file (ELF, relocatable). entry: the kernel's name. */
kn_status llvm_compile(const kernel *k, const llvm_options *o, text *object, message *m);
kn_status llvm_print(const kernel *k, const llvm_options *o, bool assembly, text *out, message *m);   /* LLVM IR or assembly */
/* Our own cpuid: the features code is compiled for, as LLVM names them ("+avx2,+fma,..."); part of the cache key. */
const char *cpu_features(void);
int cpu_vector_bytes(void);                           /* 16, 32 or 64 */

/* ---- llvm/loader.c: an object file becomes callable code ---- */
typedef void (*cpu_entry)(const uint64_t *args, int64_t lo, int64_t hi, uint64_t *fault);
typedef struct cpu_code cpu_code;                     /* mapped pages: written, then executable, never both */
/* Every offset in the object is bounds-checked; undefined symbols may be memcpy, memset, memmove only (else
 * KN_NOT_AVAILABLE, and the caller interprets). */
kn_status code_load(const void *object, size_t size, const char *entry, cpu_code **code, message *m);
cpu_entry code_entry(const cpu_code *c);
void code_free(cpu_code *c);
#endif
