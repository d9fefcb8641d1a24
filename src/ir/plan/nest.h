/* nest.h: what one kernel computes: an iteration domain of atoms, expressions over it, accesses and stores.
 *
 * The partition makes nests; schedules (schedule_cpu.c, schedule_gpu.c) turn them into kernel IR. A nest has no loops. */
#ifndef KILN_NEST_H
#define KILN_NEST_H
#include "ir/plan/plan.h"

#define NEST_ATOMS 24
#define NEST_OPERANDS 40

/* An atom: one loop variable. OUTER atoms enumerate the results of reductions (O); REDUCED atoms the reduced domain (R).
 * atoms[0] is outermost; the order is the schedule's to change. Extents are never 1 (such atoms are dropped). */
typedef struct atom { int64_t extent; bool reduced; } atom;

/* offset + sum of stride[i] * atom[i], in elements of the operand's storage type (complex: parts, so even) */
typedef struct form { int64_t offset; int64_t stride[NEST_ATOMS]; } form;

/* lo <= form < hi over the atoms: partial writes and padded reads */
typedef struct guard { form at; int64_t lo, hi; } guard;

typedef struct nest_operand {
    place at;                     /* memory; offsets live in the accesses' forms or here (bytes) */
    ktype type;                   /* storage */
    bool read, written, aliased;  /* aliased: another operand may overlap it */
    bool aligned;                 /* its memory (offset 0 of the place) starts at a 64-byte boundary */
    char name[24];                /* for emitted source: "a", "x1", "out" */
} nest_operand;

typedef enum {
    EXPR_CONST,    /* bits */
    EXPR_SCALAR,   /* scalar argument `scalar`, part `part` */
    EXPR_ARG,      /* a host-made integer argument: value */
    EXPR_INDEX,    /* the i64 value of `at` */
    EXPR_LOAD,     /* operand[at], with pair flag for complex parts; index >= 0: plus expr `index` * 1 (an i64 expression, gathers);
                    * args[0], where there is one, is a mask: where it is false no memory is touched and the value is 0 */
    EXPR_OP,       /* kop `op` of args */
    EXPR_CALL,     /* device function `op` of args; result 0 */
    EXPR_RESULT,   /* result `part` of call args[0] */
    EXPR_REDUCED,  /* component `part` of reduction `op` of this nest */
    EXPR_SCANNED,  /* component `part` of scan `op`: the running state up to and including this element */
    EXPR_FAULT     /* args[0] is the condition, args[1] the i64 position, op the fault code; value: none */
} expr_kind;

typedef struct expr {
    uint8_t kind, part;
    ktype type;                   /* of the value */
    uint8_t nargs; uint8_t pair;  /* LOAD: 0 none, 1 part 0, 2 part 1 */
    uint16_t op;
    int32_t operand, scalar;
    uint32_t *args;               /* earlier exprs */
    int32_t index;                /* LOAD: dynamic part, or -1 */
    form at;
    uint64_t bits;
    int64_t value;
    /* filled by nest_finish */
    uint8_t stage;                /* longest chain of reductions over R below it */
    bool inner;                   /* varies over R (uses a REDUCED atom) or is stored for every element of R; else only over O */
    const char *name;             /* for emitted source, or NULL */
} expr;

typedef struct nest_reduction {
    uint8_t nstate;
    ktype state_types[4];
    uint32_t lifted[4];           /* exprs over O x R */
    uint64_t identity[4];         /* bits */
    int combine;                  /* device function of 2*nstate -> nstate, or -1 - kop for nstate == 1 */
    bool ordered;                 /* strictly left to right in C order of R */
    bool from_first;              /* there is no identity: the first element's lifted value is the first state */
    bool compensate;              /* a float sum: keep it within the pairwise bound for any length */
    bool scan; uint8_t scan_atoms_from;   /* a scan along the REDUCED atoms */
} nest_reduction;

typedef struct nest_store {
    int32_t operand; uint32_t value; form at; uint8_t pair;
    int32_t index;                /* dynamic part of the position (scatter), or -1 */
    guard *guards; int nguards;
    bool combine; uint16_t op;    /* scatter with a combining primitive, or function (0x8000 | number) */
    bool atomic; uint8_t how;     /* combine by ATOMIC_`how`: the nest needs no order (GPU) */
    uint32_t when;                /* 0, or 1 + the bool expr under which the store happens */
} nest_store;

typedef struct nest nest;
struct nest {
    atom atoms[NEST_ATOMS]; int natoms;
    nest_operand operands[NEST_OPERANDS]; int noperands;
    expr *exprs; int nexprs;      /* in order: args come before users */
    nest_reduction *reductions; int nreductions;
    nest_store *stores; int nstores;
    bool serial;                  /* scatter with possible duplicates: keep C order */
    bool faults;
    int nstages;
    char name[64]; const char *comment;
    int note;                     /* slice.nodes number of the main node */
    const nest_operand *scratch;  /* set by schedules */
};

/* Merges neighbouring atoms where every access allows it, orders atoms by the output's strides, outer atoms before reduced
 * ones, drops extents of 1, fills stage and inner, checks limits. */
kn_status nest_finish(nest *n, arena *mem, message *m);

/* One nest becomes one or more steps (a large full reduction on the CPU: partial and finishing kernel). Steps are appended
 * through the plan builder below; scratch memory is asked for there. */
typedef struct plan_builder plan_builder;
kn_status schedule_cpu(const nest *n, const device_profile *p, plan_builder *b, message *m);
kn_status schedule_gpu(const nest *n, const device_profile *p, plan_builder *b, message *m);
plan_step *builder_step(plan_builder *b, step_kind kind);                 /* NULL on failure */
int builder_memory(plan_builder *b, int64_t bytes, bool zeroed);          /* -1 on failure */
arena *builder_arena(plan_builder *b);
#endif
