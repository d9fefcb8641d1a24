/* kir.h: the kernel IR: what a kernel does, one scalar at a time, with its loops and memory made explicit.
 *
 * How it works: a kernel is a flat array of 16-byte instructions. An instruction's index is the name of its value (SSA);
 * control flow is structured (FOR, IF, LOOP ... END); what changes lives in variables (VAR, GET, SET) or arrays. The IR
 * says how work is spread: over a grid (GRID), over the threads of a block (BLOCK), over vector lanes (LANE), or not at
 * all (SERIAL, UNROLL). The reference interpreter defines the meaning; docs/kernel-ir.md is the specification.
 * Extents, strides and scalars are parameters, never constants, so that one kernel serves all sizes of its class.
 * Nothing about array operations, graphs or targets may be put here. */
#ifndef KILN_KIR_H
#define KILN_KIR_H
#include "ir/base/base.h"

/* ---- types ---- */
/* Values have types BOOL..F64 except F16 and BF16, which exist in memory only: a LOAD from such an array gives f32, a
 * STORE of an f32 rounds to nearest even (exact after round_f16). Complex numbers are two scalars by the time they get
 * here. A bool is one byte in memory: 0 or 1 when written, "not 0" when read. */
typedef enum { T_VOID, T_BOOL, T_I8, T_I16, T_I32, T_I64, T_U8, T_U16, T_U32, T_U64, T_F16, T_BF16, T_F32, T_F64, NKTYPES } ktype;

typedef struct ktype_info { const char *name; uint8_t size; bool is_signed, is_int, is_float; } ktype_info;
extern const ktype_info ktype_table[NKTYPES];      /* names: bool i8 ... u64 f16 bf16 f32 f64 */
ktype ktype_value(ktype storage);                  /* F16, BF16 -> F32; others unchanged */
ktype ktype_of_dtype(kn_dtype t);                  /* the storage type of an element, or of a complex element's parts */

/* ---- instructions ---- */
typedef struct kinst {
    uint16_t op;      /* kop or kstructure */
    uint8_t type;     /* ktype of the value; T_VOID for none */
    uint8_t flags;    /* by op, below */
    uint32_t a, b, c; /* operands: values unless said otherwise */
} kinst;

typedef enum {
#define KOP(name, ...) KOP_##name,
#include "ir/kir/kops.def"
    NKOPS
} kop;

typedef enum {
    /* values and variables */
    K_PARAM = NKOPS, /* a = parameter number; the first nparams instructions of a body are its PARAMs, in order */
    K_CONST,         /* b, c = low and high half of the 64-bit pattern (floats: the pattern of their own width) */
    K_VAR,           /* a = first value; flags VAR_LANES: one copy a lane (CPU), see FOR LANE */
    K_GET,           /* a = the VAR; its present value */
    K_SET,           /* a = the VAR, b = value */
    /* control */
    K_FOR,           /* flags = loop kind | axis << 4; a = begin, b = end, c = step (a positive constant value); the value is the index (i32 or i64) */
    K_IF,            /* a = condition */
    K_ELSE,
    K_LOOP,          /* until a BREAK_UNLESS directly inside it leaves */
    K_BREAK_UNLESS,  /* a = condition; only directly inside LOOP (not inside an IF of it) */
    K_END,           /* closes FOR, IF, LOOP; a = the instruction it closes */
    /* memory; an array operand names a PARAM, LOCAL, SHARED or TABLE instruction; indices count elements */
    K_LOCAL,         /* type = storage, a = elements (plain number); private to one thread or lane; not initialised */
    K_SHARED,        /* the same, shared by the block */
    K_TABLE,         /* a = constant table number in the program */
    K_LOAD,          /* a = array, b = index, c = mask value + 1 or 0 (masked-off gives zero); flags: LOAD_* */
    K_STORE,         /* a = array, b = index, c = value; flags: STORE_* */
    K_VLOAD,         /* flags = n in {2,4,8,16}, | LOAD_STREAM: LOCAL c[0..n) = array a[b .. b+n); the address is aligned to the vector's size, or to 16 bytes where that is less */
    K_VSTORE,        /* array a[b .. b+n) = LOCAL c[0..n); flags = n, | STORE_STREAM */
    K_ATOMIC,        /* a = array, b = index, c = value; flags = ATOMIC_*; value: what was there */
    K_CAS,           /* a = array, b = index, c = extra offset of {expected, desired}; value: what was there */
    K_FENCE,         /* memory order at device scope */
    K_BARRIER,       /* all threads of the block, and their memory */
    /* between lanes: threads of a warp (GPU), lanes of FOR LANE (CPU); every lane takes part */
    K_SHUFFLE,       /* a = value, b = lane distance or number (plain i32 value), flags = SHUFFLE_*; c = group width (plain number, power of two; 0: the warp or vector) */
    K_BALLOT,        /* a = bool; u64 mask of the lanes (GPU) */
    K_LANE_INDEX,    /* i32: this thread's lane in its warp, or lane in the vector */
    K_FIRST_LANE,    /* a = VAR with VAR_LANES, outside LANE loops: the copy of lane 0 */
    /* calls */
    K_CALL,          /* a = function number in the program, b = extra offset, c = argument count; the value is result 0 */
    K_RESULT,        /* a = CALL, b = which result (1...) */
    K_RETURN,        /* last instruction of a function; b = extra offset, c = result count */
    K_FAULT,         /* a = condition, b = i64 index, c = plain code: where the condition holds, the run ends in a fault; the smallest (code, index) is kept */
    K_COMMENT,       /* a = text number in the kernel; for the reader of emitted source; no meaning */
    NKINSTS
} kstructure;

/* Loop kinds. GRID and BLOCK stand at the top: FOR GRID { FOR BLOCK { ... } } on a GPU, FOR GRID { ... } on the CPU.
 * GRID   iterations are independent; each is one block (GPU) or part of a worker's range (CPU: only axis 0 is spread).
 *        On the GPU, LOOP_STRIDE in the axis bits' top makes it a grid-stride loop; otherwise the grid has exactly
 *        (end - begin) blocks along that axis. begin is 0, step 1.
 * BLOCK  the threads of a block along that axis: begin 0, end = the kernel's block[axis] as a constant, step 1. No code
 *        stands between GRID and BLOCK except uniform arithmetic. BARRIER, SHUFFLE, SHARED belong inside.
 * LANE   CPU vectors: iterations may run W = kernel.lanes at a time; lane l of a chunk takes begin + chunk*W + l; the tail
 *        is masked. begin 0, step 1. Values made outside are uniform. A VAR with VAR_LANES has one copy a lane and keeps
 *        them between LANE loops; tail lanes that are masked off keep their copies. Plain VARs set inside LANE loops
 *        must be declared inside. Innermost array loop: only SERIAL, UNROLL, IF, LOOP may stand inside.
 * SERIAL in order. UNROLL: bounds are constants and the body is to be repeated. */
enum { LOOP_GRID, LOOP_BLOCK, LOOP_LANE, LOOP_SERIAL, LOOP_UNROLL, LOOP_KIND = 0x0f, LOOP_AXIS = 0x30, LOOP_STRIDE = 0x40 };
static inline int loop_kind(const kinst *i) { return i->flags & LOOP_KIND; }
static inline int loop_axis(const kinst *i) { return (i->flags & LOOP_AXIS) >> 4; }

enum { VAR_LANES = 1 };
enum {
    LOAD_STREAM = 1,    /* read once: do not keep in cache */
    LOAD_READONLY = 2,  /* nobody writes this array while the kernel runs */
    LOAD_ACQUIRE = 4,   /* ordered, device scope */
    LOAD_RELAXED = 32,  /* device scope, the whole element at once, not ordered with anything else */
    LOAD_PAIR0 = 8, LOAD_PAIR1 = 16   /* part 0 or 1 of a complex element: index is even + 0 or 1, neighbours are loaded together */
};
enum { STORE_STREAM = 1, STORE_RELEASE = 4, STORE_PAIR0 = 8, STORE_PAIR1 = 16, STORE_RELAXED = 32 };
enum { ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR, ATOMIC_EXCHANGE };
enum { SHUFFLE_XOR, SHUFFLE_DOWN, SHUFFLE_UP, SHUFFLE_INDEX };

/* ---- programs ---- */
typedef struct kparam {
    const char *name;     /* identifier for emitted source */
    ktype type;           /* scalar: value type; array: storage type */
    bool array, read, written;
    bool aliased;         /* another array parameter may name the same memory: no restrict, no read-only loads */
    bool aligned;         /* array: 16-byte aligned */
} kparam;

typedef struct ktable { const char *name; ktype type; uint32_t count; const void *data; } ktable;

/* A device function from src/device, compiled into the library. */
typedef struct kfunction {
    const char *name;            /* "log1p" */
    const char *symbol;          /* "log1p_f32": unique */
    const char *vendor;          /* CUDA/HIP text of the vendor's function, e.g. "log1pf", or NULL */
    const kn_dtype *takes;       /* as declared, complex unsplit; ntakes of them */
    const kn_dtype *gives;
    uint8_t ntakes, ngives;
    uint8_t nparams, nresults;   /* after splitting complex numbers */
    const ktype *param_types, *result_types;
    const kinst *code; uint32_t ncode;
    const uint32_t *extra; uint32_t nextra;
    uint16_t cost;               /* rough flops */
} kfunction;

/* The library of device functions, generated from the .kn files of src/device, sorted by symbol; K_CALL and K_TABLE number into it. */
extern const kfunction device_functions[]; extern const uint32_t ndevice_functions;
extern const ktable device_tables[]; extern const uint32_t ndevice_tables;
extern const digest device_digest;   /* of all of the above; part of every cache key */
/* The function of that name for exactly these operand dtypes, or -1. */
int device_function(const char *name, const kn_dtype *types, int ntypes);

typedef struct kernel {
    char name[64];               /* identifier, e.g. "add_sqrt_mul" */
    const char *comment;         /* the expression it came from, for the first line of source; may be NULL */
    kparam *params; uint32_t nparams;
    kinst *code; uint32_t ncode, code_cap;
    uint32_t *extra; uint32_t nextra, extra_cap;
    const char **names;          /* a name for value i in emitted source, or NULL; may itself be NULL */
    const char **texts; uint32_t ntexts;
    uint16_t lanes;              /* W of LANE loops; 0 where there are none */
    uint16_t block[3];           /* threads of a block; all 0 for a CPU kernel */
    uint16_t warp;               /* lanes of a warp this kernel was scheduled for; 0 on the CPU */
    uint16_t resident;           /* GPU: blocks that a multiprocessor is to hold at a time, which limits registers; 0: as the compiler likes */
    bool faults;                 /* has FAULT */
    bool ordered;                /* GRID iterations depend on earlier ones by index (look-back): blocks take tickets */
    arena *mem;                  /* everything above lives here */
    uint32_t *heads, *chain;     /* build.c: pure values that are visible, by their bits; NULL: nothing is reused */
} kernel;

/* ---- operands.c: which fields of an instruction name other instructions ---- */
enum {
    OPERAND_A = 1, OPERAND_B = 2, OPERAND_C = 4,
    OPERAND_MASK = 8,            /* c - 1, where c is not 0 (LOAD) */
    OPERAND_LIST = 16,           /* extra[b .. b + c) (CALL, RETURN) */
    OPERAND_TWO = 32             /* extra[c], extra[c + 1] (CAS) */
};
uint8_t kinst_operands(const kinst *i);
const char *kinst_name(uint16_t op);   /* "add", "for" */
uint8_t kop_arity(kop op);

/* ---- varying.c: what may differ between the threads of a block, or the lanes of a LANE loop ---- */
/* varies[i]: value i may. depth[i]: how many regions around i lanes may enter or leave at different times (0: all lanes
 * come here together). varies, depth and scratch have ncode elements. */
void kir_varying(const kinst *code, uint32_t ncode, const uint32_t *extra, uint8_t *varies, uint8_t *depth, uint32_t *scratch);

/* ---- build.c: making kernels; folds constants, x+0, x*1 and the like, never changing a float's bits; reuses equal pure
 * values (READONLY loads and calls too) wherever they dominate ---- */
/* A failed allocation sets k->code to NULL and every later call returns 0; kernel_ok tells. */
typedef uint32_t kval;
kernel *kernel_new(arena *mem, const char *name, const kparam *params, uint32_t nparams);
bool kernel_ok(const kernel *k);
kval kb_op(kernel *k, kop op, ktype type, kval a, kval b, kval c);       /* type = result type */
kval kb_const_int(kernel *k, ktype type, int64_t v);
kval kb_const_bits(kernel *k, ktype type, uint64_t bits);
kval kb_const_float(kernel *k, ktype type, double v);
kval kb_for(kernel *k, int kind, ktype index_type, kval begin, kval end, kval step);
void kb_else(kernel *k, kval opened);
void kb_end(kernel *k, kval opened);
kval kb_inst(kernel *k, kstructure op, ktype type, uint8_t flags, uint32_t a, uint32_t b, uint32_t c);   /* the rest */
kval kb_call(kernel *k, int function, const kval *args, int nargs);
kval kb_result(kernel *k, kval call, int which);
kval kb_cas(kernel *k, kval array, kval index, kval expected, kval desired);
void kb_return(kernel *k, const kval *values, int n);                      /* of a function */
void kb_name(kernel *k, kval v, const char *name);                        /* copied */
void kb_comment(kernel *k, const char *text);
ktype kb_type(const kernel *k, kval v);
bool kb_constant(const kernel *k, kval v, int64_t *value);                /* integer constants */

/* ---- verify.c ---- */
/* Checks types, dominance, nesting, operand kinds, loop rules above, unused parameters. Every kernel passes it before
 * it is emitted in test builds, and whenever KILN_VERIFY is set. */
kn_status kernel_verify(const kernel *k, message *m);
kn_status function_verify(const kfunction *f, message *m);

/* ---- dump.c ---- */
void kernel_dump(const kernel *k, text *out);          /* readable, indented, one instruction a line */
void kernel_bytes(const kernel *k, text *out);         /* canonical bytes: equal kernels (names and comments apart) give equal bytes */
#endif
