/* reference.h: what the interpreter's files share.
 *
 * How it works: a kernel becomes a `reference_code`: device functions are put in their callers' place (expand.c), every value
 * gets a place in the memory of a run (prepare.c), and each instruction becomes a step that knows its operands' places and
 * the function that does it over lanes (emit.c). execute.c runs the steps. A value that all lanes share is a cell; an
 * index that grows by one amount from lane to lane is its first value and that amount; any other is an array over the
 * lanes. Lanes are the threads of a block, or iterations of a LANE loop; control that lanes do not share runs under masks. */
#ifndef KILN_REFERENCE_H
#define KILN_REFERENCE_H
#include "codegen/codegen.h"

/* Values that are moved without being looked at: of any type of that width. */
typedef uint16_t __attribute__((may_alias)) any16;
typedef uint32_t __attribute__((may_alias)) any32;
typedef uint64_t __attribute__((may_alias)) any64;

/* ---- operations.h: a primitive over n lanes. shared: bit i: operand i is one element for all lanes. to overlaps nothing ---- */
typedef void lane_function(void *to, const void *a, const void *b, const void *c, int n, unsigned shared);
typedef struct lane_tables {
    lane_function *operation[NKOPS][NKTYPES];    /* by the operands' type; select: that of operands 1 and 2 */
    lane_function *convert[NKTYPES][NKTYPES];    /* to, from */
} lane_tables;
extern const lane_tables operation_tables;        /* for every processor */
#if defined __x86_64__
extern const lane_tables operation_tables_avx2;
#endif
const lane_tables *lane_tables_best(void);       /* for this one */

/* ---- memory.c: elements in memory: a bool is "not 0" when read; float16 and bfloat16 are f32 as values. Lanes whose
 * mask is 0 (mask NULL: none) touch no memory and load zero ---- */
typedef struct operand { const void *at; int step; } operand;   /* step 0: shared by all lanes, else 1 */
void reference_load(void *to, const char *array, ktype storage, const int64_t *index, const uint8_t *mask, int n);
void reference_store(char *array, ktype storage, const int64_t *index, operand value, const uint8_t *mask, int n);
void load_strided(void *to, const char *first, ktype storage, int64_t stride, const uint8_t *mask, int n);
void store_strided(char *first, ktype storage, int64_t stride, operand value, const uint8_t *mask, int n);
uint64_t reference_word(ktype t, const void *at);            /* a value's bits, integers extended */
void reference_put(ktype t, void *at, uint64_t bits);

/* ---- atomic.c ---- */
uint64_t reference_atomic(char *at, ktype storage, int how, uint64_t value);
uint64_t reference_compare_exchange(char *at, ktype storage, uint64_t expected, uint64_t desired);
uint64_t ordered_load(const char *at, ktype storage, bool acquire);
void ordered_store(char *at, ktype storage, bool release, uint64_t bits);

/* ---- expand.c ---- */
typedef struct flat_code { const kinst *code; uint32_t n; const uint32_t *extra; } flat_code;
bool expand_calls(const kernel *k, arena *mem, flat_code *out, message *m);

/* ---- steps ---- */
typedef enum step_kind {
    STEP_PRIMITIVE, STEP_AFFINE, STEP_SPREAD, STEP_COPY, STEP_FILL, STEP_SET,
    STEP_LOAD, STEP_LOAD_CELL, STEP_STORE, STEP_STORE_CELL, STEP_VECTOR, STEP_ATOMIC, STEP_CAS, STEP_FENCE,
    STEP_SHUFFLE, STEP_BALLOT, STEP_LANE_INDEX, STEP_FAULT,
    STEP_IF_CELL, STEP_JUMP, STEP_IF, STEP_ELSE, STEP_ENDIF,
    STEP_LOOP, STEP_BREAK_CELL, STEP_BREAK, STEP_AGAIN,
    STEP_FOR, STEP_NEXT, STEP_FOR_LANES, STEP_NEXT_LANES, STEP_GRID, STEP_BLOCK, STEP_LEAVE_BLOCK, STEP_LANE, STEP_NEXT_CHUNK,
    STEP_STOP
} step_kind;

typedef enum place_form { FORM_NONE, FORM_CELL, FORM_AFFINE, FORM_LANES } place_form;

/* Places are offsets into the memory of a run; 0 is none. */
typedef struct step {
    lane_function *f;
    uint8_t kind, type, flags;
    uint8_t shared;              /* PRIMITIVE: operands that are cells; others: bit 0: runs over lanes */
    uint8_t form[3];             /* of operands a, b, c */
    uint8_t wide;                /* bit i: integer operand i is an i64, else an i32 */
    uint32_t to, a, b, c;
    uint32_t state;              /* of loops and branches */
    uint32_t jump;               /* a step */
    uint32_t count;              /* LANE: chunk; LOCAL arrays of one copy a lane: elements from one index to the next, else 0 */
    uint32_t extra;
} step;

/* A loop or branch while it runs. */
typedef struct region_state {
    int64_t now, step;
    uint64_t left;               /* further iterations; LOOP: those done */
    const uint8_t *outer;        /* the mask around it */
} region_state;

typedef struct affine { int64_t first, step; } affine;

struct reference_code {
    arena mem;
    step *steps; uint32_t nsteps;
    uint8_t *image; uint32_t image_size;         /* what the cells hold at first */
    uint32_t size;                               /* memory of a run */
    uint32_t cleared, cleared_size;              /* LOCAL and SHARED arrays: zero at first, so that runs repeat */
    uint32_t *param_cell; uint32_t nparams;
    struct { uint32_t cell, at; } *local; uint32_t nlocal;    /* pointers to arrays inside the memory of a run */
    uint32_t scratch_mask, scratch_index;
    int capacity;                                /* lanes */
    uint16_t lanes, block[3];
    int warp;
};

/* ---- emit.c ---- */
bool emit_steps(struct reference_code *c, const kernel *k, const flat_code *flat, arena *scratch, message *m);

/* ---- lanes.c: steps between lanes, and those that go lane by lane ---- */
typedef struct machine {
    const struct reference_code *code;
    char *base;
    int n;                       /* lanes */
    const uint8_t *mask;         /* those that are active; NULL: all */
    int64_t lo, hi;
    uint64_t *fault;
} machine;
static inline affine affine_of(const machine *r, uint32_t at, unsigned form, bool wide);
int64_t lane_integer(const machine *r, uint32_t at, unsigned form, bool wide, int lane);
void run_load(machine *r, const step *s);
void run_store(machine *r, const step *s);
void run_vector(machine *r, const step *s);
void run_atomic(machine *r, const step *s);
void run_shuffle(machine *r, const step *s);
void run_ballot(machine *r, const step *s);
void run_lane_index(machine *r, const step *s);
void run_fault(machine *r, const step *s);
void run_set(machine *r, const step *s);

static inline affine affine_of(const machine *r, uint32_t at, unsigned form, bool wide) {
    const char *p = r->base + at;
    if (form == FORM_AFFINE) return *(const affine *)(const void *)p;
    return (affine){ wide ? *(const int64_t *)(const void *)p : *(const int32_t *)(const void *)p, 0 };
}
#endif
