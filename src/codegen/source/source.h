/* source.h: the printer of CUDA and HIP C source, inside. Sections by the file that owns each part.
 *
 * How it works: `analyse` decides which values become expressions inside their user and which get a name; `express` and
 * `memory` make the texts; `print` walks the instructions and writes statements. All that differs between the dialects
 * is the table in dialect.c. */
#ifndef KILN_SOURCE_H
#define KILN_SOURCE_H
#include "codegen/codegen.h"

#define NOWHERE UINT32_MAX
#define LINE_WIDTH 116         /* a statement may be this long; a part of an expression that is longer gets a name */
#define PART_WIDTH 72

/* C's precedences, from what binds closest. */
enum { PREC_PRIMARY = 16, PREC_POSTFIX = 15, PREC_UNARY = 14, PREC_MUL = 13, PREC_ADD = 12, PREC_SHIFT = 11, PREC_ORDER = 10, PREC_EQUAL = 9,
       PREC_AND = 8, PREC_XOR = 7, PREC_OR = 6, PREC_BOTH = 5, PREC_EITHER = 4, PREC_CHOICE = 3 };

/* The text of a value. Converting a C value of type `have` to `type` as C does gives the value, so an assignment needs
 * no cast, and other uses need one only where the two differ. */
typedef struct expr {
    const char *text;          /* NULL: not made */
    uint8_t prec, have, type;
    bool literal;              /* an integer constant without suffix */
    bool builtin;              /* contains blockIdx or threadIdx: unsigned where the IR has i32 */
} expr;

/* What is known of an instruction. */
typedef struct fact {
    uint32_t uses, user;       /* how many operands name it; the first instruction that does */
    uint32_t region;           /* the instruction that opened the C block it stands in; NOWHERE for the outermost */
    uint32_t root;             /* the statement that evaluates its text */
    uint32_t far;              /* the last place where its text may be evaluated */
    uint32_t pair;             /* the other part of a complex element, or NOWHERE */
    bool live;
    bool fold;                 /* its text goes into its users; else it is a variable or a statement of its own */
    bool repeated;             /* folded into several users: its operands must be names */
    bool lazy;                 /* evaluated only sometimes: an arm of ?:, the right of && */
    bool bound;                /* stands in the end of a loop, which is looked at again and again */
    bool index;                /* index arithmetic, which never overflows */
    uint8_t align;             /* LOCAL, SHARED: bytes that vector accesses ask for */
} fact;

/* Names in scope. */
typedef struct scope_names { const char **name; uint32_t n, cap; } scope_names;

/* One function or kernel being printed. */
typedef struct body {
    const kernel *k;           /* NULL for a device function */
    const kinst *code; uint32_t n;
    const uint32_t *extra;
    const char *const *names;
    fact *facts;
    expr *exprs;
    const char **names_made;   /* of arrays and variables */
    scope_names scope;
} body;

typedef struct line { int indent; const char *text; bool block; } line;   /* block: opens or closes one, or is a comment */

/* Parts that are printed before the kernel where they are used; see dialect.c. */
typedef enum {
    HELP_INF_F32, HELP_NAN_F32, HELP_INF_F64, HELP_NAN_F64,
    HELP_F16_READ, HELP_F16_WRITE, HELP_F16_WRITE_F64, HELP_ROUND_F16, HELP_ROUND_F16_F64,
    HELP_BF16_READ, HELP_BF16_WRITE, HELP_BF16_ODD, HELP_BF16_WRITE_F64, HELP_ROUND_BF16, HELP_ROUND_BF16_F64,
    HELP_ACQUIRE_32, HELP_ACQUIRE_64, HELP_RELEASE_32, HELP_RELEASE_64,
    HELP_RELAXED_LOAD_32, HELP_RELAXED_LOAD_64, HELP_RELAXED_STORE_32, HELP_RELAXED_STORE_64, HELP_FAULT,
    NHELPS
} help;

typedef struct dialect_info dialect_info;
typedef struct printer {
    const dialect_info *d;
    bool portable;
    arena mem;
    bool failed;                             /* out of memory */
    const char *unsupported;                 /* a sentence, when the kernel cannot be printed */
    body *b;
    line *lines; uint32_t nlines, cap_lines;
    int indent;
    bool help[NHELPS];
    text types, atomics, tables, functions;  /* printed where used, each once */
    bool *function_done, *table_done;
} printer;

/* ---- dialect.c ---- */
struct dialect_info {
    const char *warp_shuffle[4];             /* by SHUFFLE_*; $0 value, $1 lane or distance, $2 ", width" or nothing */
    const char *ballot; ktype ballot_type;   /* $0 */
    const char *f16;                         /* the C type of float16 in memory; NULL: its bits, read and written by helpers */
    const char *load_stream, *load_readonly, *store_stream;   /* $0 the address, $1 the value; load_readonly may be NULL */
    bool own_vectors;                        /* float4 and its like are there */
    const char *vector_type;                 /* defines others: $0 element, $1 name, $2 bytes, $3 elements */
    bool atomic_min_i64;                     /* atomicMin and atomicMax know long long */
    const char *const *help;                 /* NHELPS texts; they come in the order of their numbers */
    const char *launch_bounds, *resident;    /* $0 threads of a block, $1 blocks of a multiprocessor; NULL: not said */
    const char *arch_option, *options[SOURCE_FLAGS - 1];
};
extern const dialect_info source_dialects[NDIALECTS];
void source_help(printer *p, help h);                                                    /* with what it needs itself */

/* ---- analyse.c ---- */
/* The operands of an instruction that are values, arrays or variables. slot: 0, 1, 2 for a, b, c; 3 for those in extra. */
typedef struct operand { uint32_t value; uint8_t slot; } operand;
uint32_t source_operand_count(const kinst *i);
operand source_operand_at(const kinst *i, const uint32_t *extra, uint32_t n);
bool source_analyse(printer *p, body *b);                                                /* fills facts; false without memory */
bool source_is_flat(const kinst *i);                                                     /* a GRID or BLOCK loop that opens no C block */

/* ---- index.c ---- */
bool source_index_arithmetic(body *b, arena *mem);

/* ---- names.c ---- */
const char *source_name(printer *p, const char *wanted);                                 /* made unique among the names in scope */
void source_names_reset(body *b, uint32_t n);                                            /* forget those made since there were n */
const char *source_name_for(printer *p, uint32_t v);                                     /* from kb_name, or from what the value is */
bool source_is_reserved(const char *name);

/* ---- literal.c ---- */
uint64_t source_constant(const kinst *x);                                                 /* its bits; integers extended to 64 */
expr source_literal(printer *p, ktype type, uint64_t bits);
expr source_literal_exact(printer *p, expr e);                                           /* an integer literal with the suffix of its type */
const char *source_float(printer *p, ktype type, uint64_t bits);

/* ---- express.c ---- */
extern const char *const source_type[NKTYPES];
extern const char *const source_format[NKOPS];
expr source_value(printer *p, uint32_t v);                                               /* the text of an operand */
expr source_exact(printer *p, expr e);                                                   /* with a cast where `have` is not the type */
const char *source_within(printer *p, expr e, int prec);                                 /* in parentheses unless it binds as close as prec */
expr source_primary(printer *p, ktype type, const char *text);
const char *source_filled(printer *p, const char *format, const char *const part[4]);    /* $0 ... $3 replaced */
expr source_filled_call(printer *p, ktype type, const char *format, const char *a, const char *b, const char *c);   /* $0 $1 $2 */
expr source_negation(printer *p, uint32_t v);                                            /* !v, as a reader would write it */
expr source_choice(printer *p, ktype type, expr c, expr a, expr b);                      /* c ? a : b */
expr source_cast(printer *p, expr e, ktype to);
expr source_operation(printer *p, uint32_t v);                                           /* a scalar primitive */
ktype source_promoted(ktype t);

/* ---- memory.c ---- */
ktype source_storage_of(const body *b, uint32_t array);
const char *source_storage(printer *p, ktype storage, bool is_private);                  /* of elements; a bool that others wrote is a byte */
expr source_load(printer *p, uint32_t v);
void source_store(printer *p, uint32_t v);
void source_vector(printer *p, uint32_t v);
void source_pair(printer *p, uint32_t v);                                                /* both parts of a complex element; v is the first */

/* ---- atomic.c ---- */
expr source_shuffle(printer *p, uint32_t v);
expr source_ballot(printer *p, uint32_t v);
expr source_lane(printer *p, uint32_t v);
expr source_atomic(printer *p, uint32_t v);
expr source_cas(printer *p, uint32_t v);
const char *source_element(printer *p, uint32_t array, uint32_t index);                  /* a[i] */

/* ---- print.c ---- */
void source_line(printer *p, bool block, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *source_text(printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));   /* arena text, never NULL */
void source_refuse(printer *p, const char *sentence);

/* ---- function.c ---- */
expr source_call(printer *p, uint32_t v);
void source_results(printer *p, uint32_t v);                                             /* a call with several results */
void source_table(printer *p, uint32_t number);
void source_body(printer *p, body *b);
void source_flush(printer *p, text *out);
#endif
