/* lanes.h: what the LLVM emitter's files share: values over lanes. */
#ifndef KILN_LLVM_LANES_H
#define KILN_LLVM_LANES_H
#include "codegen/codegen.h"
#include "codegen/llvm/llvm.h"

#define STEP_VARIES INT64_MIN

/* A value in code of `width` lanes. While `step` is known, lane l has scalar + l * step, and no vector is made until one
 * is needed; step 0 is a value that all lanes share. */
typedef struct lane_value {
    LLVMValueRef scalar, vector;
    int64_t step;                        /* STEP_VARIES: there is only the vector */
} lane_value;

/* A body being emitted: the kernel's, or a function's in the place of its call. */
typedef struct body {
    const kinst *code; uint32_t ncode;
    const uint32_t *extra;
    uint32_t *match;                     /* IF: its ELSE or END; ELSE, FOR, LOOP: the END */
    lane_value *values;
    LLVMValueRef *homes;                 /* VAR: its memory; LOCAL and array PARAM: the address */
    bool *wide;                          /* VAR: memory of a vector */
    const lane_value *args;              /* functions */
    lane_value results[8];
} body;

typedef struct lane_emitter {
    const kernel *k;
    arena *mem;
    message *m;
    kn_status status;                    /* sticky */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b, entry;             /* entry: where allocas go */
    LLVMValueRef function, arguments, lo, hi, fault;
    LLVMTypeRef types[NKTYPES];
    LLVMTypeRef pointer, half;
    int width;                           /* lanes of the present code; 1: scalar */
    LLVMValueRef mask;                   /* of the lanes that are active; NULL: all of them */
    LLVMValueRef live;                   /* memory of the innermost LOOP's mask, where lanes leave it one by one */
    LLVMBasicBlockRef leave;             /* of the innermost LOOP */
    int depth;
} lane_emitter;

/* lane_values.c */
LLVMTypeRef lanes_type(const lane_emitter *e, LLVMTypeRef t);
LLVMValueRef lanes_splat(lane_emitter *e, LLVMValueRef scalar);
LLVMValueRef lanes_vector(lane_emitter *e, lane_value *v, ktype t);      /* of the present width; width 1: the scalar */
LLVMValueRef lanes_call(lane_emitter *e, const char *name, LLVMTypeRef result, LLVMValueRef *args, int n);
LLVMValueRef lanes_any(lane_emitter *e, LLVMValueRef mask);              /* i1 */
LLVMValueRef lanes_mask(lane_emitter *e);                                /* the present mask, all ones where there is none */
LLVMValueRef int_const(const lane_emitter *e, ktype t, int64_t v);
lane_value lanes_primitive(lane_emitter *e, const body *f, uint32_t i);

/* lane_memory.c */
lane_value lanes_load(lane_emitter *e, body *f, uint32_t i);
void lanes_store(lane_emitter *e, body *f, uint32_t i);

/* lane_code.c */
kn_status lanes_emit(lane_emitter *e);   /* the kernel's function in e->module */
#endif
