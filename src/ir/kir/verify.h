/* verify.h: what the verifier's files share. */
#ifndef KILN_VERIFY_H
#define KILN_VERIFY_H
#include "ir/kir/kir.h"

#define MOST_NESTING 64
#define MOST_ELEMENTS (1u << 20)     /* of one LOCAL or SHARED array */

typedef struct checker {
    const kernel *k;                            /* NULL in functions */
    const kinst *code; uint32_t ncode;
    const uint32_t *extra; uint32_t nextra;
    uint32_t nparams, nresults;
    const ktype *param_types, *result_types;    /* of functions; NULL: not checked */
    uint16_t lanes, block;                      /* the kernel's lanes and threads along x */
    uint32_t open[MOST_NESTING]; int depth;     /* regions that are open */
    uint32_t made[MOST_NESTING];                /* where each open region's present part starts */
    bool left[MOST_NESTING];                    /* LOOP: it has a BREAK_UNLESS; IF: it has an ELSE */
    uint8_t *closed;                            /* per instruction: its region is closed */
    uint8_t axes;                               /* GRID axes (bits 0 to 2), BLOCK axes (bits 4 to 6) that have occurred */
    message *m;
} checker;

#define REFUSE(...) return fail(c->m, KN_RUNTIME_ERROR, "kernel IR, instruction " __VA_ARGS__)

/* ---- verify.c: one instruction ---- */
kn_status check_inst(const checker *c, uint32_t at);

/* ---- verify_structure.c ---- */
int lane_depth(const checker *c);               /* place of the open LANE loop in `open`, or -1 */
bool inside(const checker *c, int kind);        /* a loop of that kind is open */
#endif
