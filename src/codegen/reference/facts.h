/* facts.h: what prepare.c finds out about a body before emit.c makes its steps. */
#ifndef KILN_FACTS_H
#define KILN_FACTS_H
#include "codegen/reference/reference.h"

#define NONE UINT32_MAX

/* One element an instruction. */
typedef struct facts {
    uint8_t *varies, *depth;     /* as kir_varying says */
    uint32_t *divergent;         /* openers: lanes may part there */
    uint32_t *match;             /* IF: its ELSE or END; ELSE, FOR, LOOP: the END */
    uint32_t *loop;              /* the innermost FOR or LOOP around it, or NONE */
    uint32_t *last;              /* the last instruction that needs the value */
    uint8_t *live;
    uint8_t *form;               /* place_form of the value */
    uint8_t *wants_lanes;        /* an AFFINE value that somebody needs lane by lane */
    uint8_t *widened;            /* an AFFINE i64 made from an i32: right as an address, not as data where the i32 wraps */
    uint8_t *exact_lanes;        /* LANE loops: chunks are exactly the kernel's lanes */
    uint8_t *alias;              /* GET: stands for the variable itself, which is not set while the value is needed */
} facts;

bool find_facts(const kernel *k, const flat_code *flat, arena *mem, facts *f);
#endif
