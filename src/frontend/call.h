/* call.h: what the printed binder hands to the frontend: an operation and its arguments as C programs give them. */
#ifndef KILN_FRONTEND_CALL_H
#define KILN_FRONTEND_CALL_H
#include "ir/graph/graph.h"

typedef struct call_arg {
    uint8_t kind;                 /* param_kind */
    bool given;                   /* false: an option at its default, an array that is KN_NONE */
    union {
        kn_array array; kn_list list; kn_shape shape; kn_axis axis; kn_dtype dtype; bool flag; int64_t integer; double number;
        kn_device device; kn_fft_norm norm; const char *text; kn_rng rng;
    };
} call_arg;

/* args has ops[op].nparams entries in the row's order; NULL when the program's option struct was not initialised. */
kn_array frontend_call1(int op, const struct call_arg *args);
void frontend_call(int op, const struct call_arg *args, kn_array *results);   /* fills ops[op].nresults */
kn_list frontend_call_list(int op, const struct call_arg *args);              /* of OP_MANY; the list belongs to the innermost scope, empty on failure */
#endif
