/* machine.h: what the files of the evaluator share: frames, functions, names, places of failures. Everything else of the language
 * is in language.h. */
#ifndef KILN_LANGUAGE_MACHINE_H
#define KILN_LANGUAGE_MACHINE_H
#include "frontend/language/language.h"
#include "frontend/print/print.h"

/* ---- value.c, containers.c ---- */
#define MACHINE_BLOCKS 16                            /* free lists: objects of up to 16 * 16 bytes */
typedef struct cell_object { object head; value v; } cell_object;
const char *dtype_type_name(kn_dtype t);             /* "numpy.float32" */
void objects_free(machine *m);
bool list_reserve(machine *m, sequence_object *s, size_t n);
void dict_release(machine *m, dict_object *d);

/* ---- operators.c ---- */
value array_result(machine *m, kn_array a);

/* ---- functions.c ---- */
/* A tree in this machine: where its names' globals are, by the names' numbers; UINT32_MAX: not looked up yet. */
typedef struct link { const syntax_tree *tree; struct link *next; uint32_t global[]; } link;
typedef struct function_object {
    object head;
    link *in;
    const syntax_function *code;
    value at[];                                      /* nparameters defaults (ABSENT: none), then nfree cells */
} function_object;
typedef struct frame {
    struct frame *outer;
    link *in;
    const syntax_function *code;
    value *slot;                                     /* nlocals + nfree */
    value result;                                    /* of `return` */
    uint32_t mark;                                   /* handles that the scope had when it began */
} frame;
void function_drop(machine *m, function_object *f);
const char *function_name(const function_object *f);
value function_make(machine *m, const syntax_function *code);
value function_call(machine *m, function_object *f, const value *args, int n, const keyword *keywords, int nkeywords);
bool frame_slots(machine *m, const syntax_function *code, value *slot, const value *free);
bool frame_enter(machine *m, frame *f, link *in, const syntax_function *code);
void frame_leave(machine *m, frame *f);              /* slots stay */

/* ---- comprehensions.c ---- */
value comprehension(machine *m, const syntax_node *n);
value generator_make(machine *m, const syntax_function *code);
void iterator_forget(iterator_object *it);           /* at the machine's end: memory alone, no values */

/* ---- machine.c ---- */
typedef struct global {
    char *name;
    value v;
    value builtin;                                   /* what the bare name means without a variable; ABSENT: not looked up */
} global;
#define MODULE_ENTRIES 32
typedef struct module_entry { const char *module, *name; value v; } module_entry;   /* by address: names stay while the machine does */
struct machine_state {
    object *spare[MACHINE_BLOCKS];
    object **waiting; size_t nwaiting, most_waiting;
    int freeing;
    uintptr_t stack_low;                             /* below it the C stack is used up */
    int64_t deadline;                                /* nanoseconds; 0: none */
    uint64_t bytes_before;                           /* of arrays, when the run began */
    global *globals; uint32_t nglobals, most_globals;
    uint32_t *table, buckets;                        /* number + 1, by hash of the name */
    link *links;
    value handling;                                  /* the exception that an `except` or `finally` handles */
    bool placed;                                     /* this frame's place is noted in the exception */
    module_entry modules[MODULE_ENTRIES];            /* names of modules met before */
    print_options print; char nan_text[16], inf_text[16];   /* contexts.c */
    value no_memory;                                 /* a MemoryError made beforehand */
    size_t nobjects;
};
uint32_t machine_global(machine *m, const char *name, size_t length);   /* its number; UINT32_MAX: raised */
link *machine_link(machine *m, const syntax_tree *t);
bool array_within(machine *m, kn_array a);           /* its bytes are within the limit; false: raised */
value global_builtin(machine *m, uint32_t number);       /* what the name means without a variable; borrowed; ABSENT: raised */
void machine_forget(machine *m);                     /* all globals, and an exception */

static inline bool stack_left(const machine *m) { return (uintptr_t)__builtin_frame_address(0) > m->state->stack_low; }

bool machine_is_clean(const machine *m);             /* nothing is left but what it keeps for the next run */

/* ---- program.c ---- */
void programs_forget(void);                          /* empties the registry of texts met before (tests) */

/* ---- exceptions.c ---- */
typedef struct trace_place { const syntax_tree *tree; const syntax_node *at; const syntax_function *in; } trace_place;
typedef struct trace { size_t n, capacity; trace_place at[]; } trace;   /* innermost first */
value raise_value(machine *m, value exception);      /* keeps it */
void trace_note(machine *m, const syntax_node *at);  /* the innermost frame's place, once */
bool exception_matches(machine *m, value exception, value types, bool *matches);   /* a class, or a tuple of classes */
value exception_from(machine *m, value v);           /* what `raise v` raises: an exception, or a class called */

/* ---- evaluate.c, statements.c, assign.c ---- */
typedef enum { RUN_NEXT, RUN_BREAK, RUN_CONTINUE, RUN_RETURN, RUN_RAISED } run_state;
value evaluate_node(machine *m, const syntax_node *n);
run_state run_block(machine *m, const syntax_list *body);
bool run_program(machine *m, link *in, value *last);
bool assign(machine *m, const syntax_node *target, value v);            /* keeps v */
bool assign_variable(machine *m, const syntax_variable *variable, value v);   /* v ABSENT: unbinds */
uint32_t global_number(machine *m, uint32_t name);         /* among the machine's globals; UINT32_MAX: raised */
value variable_value(machine *m, const syntax_variable *variable);
bool augment(machine *m, const syntax_node *n);
bool delete_target(machine *m, const syntax_node *target);
value context_enter(machine *m, value context);       /* with: what `as` binds */
bool context_exit(machine *m, value context);
/* The index between the brackets: integers alone in at (n of them), else one value in *index. false: raised. */
#define MOST_INTEGERS 8
typedef struct index_value { int n; int64_t at[MOST_INTEGERS]; value index; } index_value;
bool evaluate_index(machine *m, const syntax_node *n, index_value *out);
value index_object(machine *m, const index_value *at);   /* as one value; a new reference */
value subscript_get(machine *m, value of, const index_value *at);
value evaluate_call(machine *m, const syntax_node *n);
static inline const char *name_text(machine *m, uint32_t name) { return m->frame->in->tree->names[name]; }
#endif
