/* syntax.h: programs as trees: what the parser makes and the evaluator runs.
 *
 * How it works: source.c checks the text (UTF-8, line ends, prompts of copied examples), lexer.c cuts it into tokens,
 * parse_*.c build nodes by recursive descent, scope.c gives every name its slot. A tree lies in one arena, with the text
 * it was made from; it is never changed once syntax_parse has returned it, so threads may share it, and one parse serves
 * many runs. Tokens are private. What constructs mean must not be decided here. */
#ifndef KILN_LANGUAGE_SYNTAX_H
#define KILN_LANGUAGE_SYNTAX_H
#include "ir/base/base.h"

/* ---- nodes ---- */

typedef enum syntax_kind {
    /* Expressions. The member of syntax_node.u stands behind each; "-" has none. */
    SYNTAX_NAME,             /* name */
    SYNTAX_NONE,             /* - */
    SYNTAX_TRUE,             /* - */
    SYNTAX_FALSE,            /* - */
    SYNTAX_ELLIPSIS,         /* - */
    SYNTAX_INTEGER,          /* integer: fits int64 */
    SYNTAX_BIG_INTEGER,      /* big: does not */
    SYNTAX_FLOAT,            /* number */
    SYNTAX_IMAGINARY,        /* number: times 1j */
    SYNTAX_STRING,           /* string: UTF-8; adjacent literals are one already */
    SYNTAX_BYTES,            /* string */
    SYNTAX_FORMAT_STRING,    /* items: STRING and FORMAT_FIELD, to be joined; also a field's specification */
    SYNTAX_FORMAT_FIELD,     /* field; op: 0 or the conversion 'r' 's' 'a' */
    SYNTAX_UNARY,            /* unary; op: syntax_unary */
    SYNTAX_BINARY,           /* binary; op: syntax_binary */
    SYNTAX_AND, SYNTAX_OR,   /* items: two or more operands */
    SYNTAX_COMPARE,          /* compare: a chain */
    SYNTAX_CONDITIONAL,      /* branch: then if test else otherwise */
    SYNTAX_LAMBDA,           /* function */
    SYNTAX_NAMED,            /* bind: target (a NAME) := value */
    SYNTAX_ATTRIBUTE,        /* attribute */
    SYNTAX_SUBSCRIPT,        /* subscript: several indices are one TUPLE */
    SYNTAX_SLICE,            /* slice */
    SYNTAX_CALL,             /* call */
    SYNTAX_KEYWORD,          /* keyword: name=value, or **value */
    SYNTAX_STARRED,          /* operand: *operand, in calls, displays and targets */
    SYNTAX_TUPLE, SYNTAX_LIST, SYNTAX_SET,   /* items */
    SYNTAX_DICT,             /* items: key, value, key, value ...; a NULL key is **value */
    SYNTAX_LIST_COMPREHENSION, SYNTAX_SET_COMPREHENSION, SYNTAX_DICT_COMPREHENSION, SYNTAX_GENERATOR,   /* function */
    SYNTAX_CLAUSE,           /* clause: for target in iterable if ... if ..., of a comprehension */

    /* Statements. */
    SYNTAX_EXPRESSION,       /* operand */
    SYNTAX_ASSIGN,           /* assign: one or more targets, left to right */
    SYNTAX_ANNOTATED,        /* annotated: target: annotation = value; without a value nothing happens when it is run */
    SYNTAX_AUGMENTED,        /* bind; op: syntax_binary */
    SYNTAX_IF,               /* branch of lists; `elif` is an `otherwise` of one IF */
    SYNTAX_WHILE,            /* loop (target NULL, iterable is the test) */
    SYNTAX_FOR,              /* loop */
    SYNTAX_DEF,              /* definition */
    SYNTAX_RETURN,           /* operand, or NULL */
    SYNTAX_DELETE,           /* items: NAME, ATTRIBUTE, SUBSCRIPT, TUPLE, LIST */
    SYNTAX_ASSERT,           /* assert */
    SYNTAX_RAISE,            /* raise */
    SYNTAX_TRY,              /* try */
    SYNTAX_HANDLER,          /* handler: except type as target: body */
    SYNTAX_WITH,             /* with */
    SYNTAX_WITH_ITEM,        /* with_item: context as target */
    SYNTAX_IMPORT,           /* items: ALIAS */
    SYNTAX_IMPORT_FROM,      /* import_from */
    SYNTAX_ALIAS,            /* alias */
    SYNTAX_GLOBAL, SYNTAX_NONLOCAL,          /* items: NAME; slots are resolved, running them does nothing */
    SYNTAX_PASS, SYNTAX_BREAK, SYNTAX_CONTINUE,   /* - */
    NSYNTAX_KINDS
} syntax_kind;

typedef enum syntax_unary { UNARY_NEG, UNARY_POS, UNARY_INVERT, UNARY_NOT } syntax_unary;
typedef enum syntax_binary {
    BINARY_ADD, BINARY_SUB, BINARY_MUL, BINARY_MATMUL, BINARY_DIV, BINARY_FLOORDIV, BINARY_MOD, BINARY_POW,
    BINARY_LSHIFT, BINARY_RSHIFT, BINARY_AND, BINARY_OR, BINARY_XOR
} syntax_binary;
typedef enum syntax_compare {
    COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE,
    COMPARE_IS, COMPARE_IS_NOT, COMPARE_IN, COMPARE_NOT_IN
} syntax_compare;

/* Where a name's value is found. */
typedef enum syntax_where {
    WHERE_GLOBAL,            /* not in the frame: by its name among the globals, then the builtins; slot is of no use */
    WHERE_LOCAL,             /* the frame's slot holds the value */
    WHERE_CELL               /* the frame's slot holds a cell, shared between functions, that holds the value */
} syntax_where;

typedef struct syntax_node syntax_node;
typedef struct syntax_function syntax_function;
typedef struct syntax_list { uint32_t n; const syntax_node *at[]; } syntax_list;

/* A use or a binding of a name. */
typedef struct syntax_variable {
    uint32_t name;           /* number in syntax_tree.names */
    uint32_t slot;
    uint8_t where;           /* syntax_where */
} syntax_variable;

/* Lists are never NULL; nodes that may be missing say so. */
struct syntax_node {
    uint8_t kind, op;
    uint16_t height;         /* longest way down to a leaf; at most syntax_limits.depth */
    uint32_t at, end;        /* the construct in syntax_tree.text, in bytes */
    uint32_t mark;           /* the place to show when running it fails: an operator, the name behind a dot, else `at` */
    union {
        syntax_variable name;
        int64_t integer;
        struct { const char *digits; uint32_t length, base; } big;            /* no prefix, no underscores */
        double number;
        struct { const char *at; uint32_t length; } string;                   /* a NUL follows; may hold more of them */
        struct { const syntax_node *value, *format; /* FORMAT_STRING, or NULL */ } field;
        const syntax_node *operand;
        struct { const syntax_node *operand; } unary;
        struct { const syntax_node *left, *right; } binary;
        struct { const syntax_node *first; const syntax_list *rest; const uint8_t *operators; /* syntax_compare, one for each of rest */ } compare;
        struct { const syntax_node *test, *then, *otherwise; } conditional;
        struct { const syntax_node *test; const syntax_list *then, *otherwise; } branch;
        struct { const syntax_node *target, *value; } bind;
        struct { const syntax_node *value; uint32_t name; } attribute;
        struct { const syntax_node *value, *index; } subscript;
        struct { const syntax_node *start, *stop, *step; } slice;             /* each may be NULL */
        struct { const syntax_node *function; const syntax_list *positional; /* STARRED among them */ const syntax_list *keywords; } call;
        struct { const syntax_node *value; uint32_t name; bool stars; /* **value: no name */ } keyword;
        const syntax_list *items;
        const syntax_function *function;
        struct { const syntax_node *target, *iterable; const syntax_list *conditions; } clause;
        struct { const syntax_list *targets; const syntax_node *value; } assign;
        struct { const syntax_node *target, *annotation, *value; /* or NULL */ bool simple; /* a bare name */ } annotated;
        struct { const syntax_node *target, *iterable; const syntax_list *body, *otherwise; } loop;
        struct { const syntax_function *function; syntax_variable variable; } definition;
        struct { const syntax_node *test, *sentence; /* or NULL */ } assert;
        struct { const syntax_node *exception, *cause; /* each may be NULL */ } raise;
        struct { const syntax_list *body, *handlers, *otherwise, *finally; } try;
        struct { const syntax_node *type; /* NULL: all */ const syntax_list *body; syntax_variable variable; bool named; /* `as variable`, deleted at the end */ } handler;
        struct { const syntax_list *items, *body; } with;
        struct { const syntax_node *context, *target; /* or NULL */ } with_item;
        struct { const syntax_list *aliases; uint32_t module; /* "numpy.linalg"; "" for `from . import` */ uint32_t level; /* dots */ } import_from;
        struct { uint32_t name; /* "numpy.linalg", "*" */ bool renamed; /* by `as` */ syntax_variable variable; /* what is bound: `numpy` for `import numpy.linalg` */ } alias;
    } u;
};

/* ---- functions ---- */

typedef enum syntax_function_kind { FUNCTION_MODULE, FUNCTION_DEF, FUNCTION_LAMBDA, FUNCTION_COMPREHENSION } syntax_function_kind;

typedef struct syntax_parameter {
    uint32_t name, at;
    const syntax_node *initial;      /* the default, evaluated in the scope around the function when it is defined; or NULL */
    const syntax_node *annotation;   /* or NULL; annotations are parsed and never run, their names have no slots */
} syntax_parameter;

/* A frame of a function has nlocals + nfree slots. The first nparameters are its parameters, in the order of `parameters`.
 * Locals with is_cell get a fresh cell when the frame is made (a parameter's value moves into its cell). Slot nlocals + i
 * gets the cell that lies in slot captures[i] of the frame in which the function was defined; that slot is a cell there.
 * A comprehension is a function without parameters: its first clause's iterable is evaluated in the scope around it, the
 * rest in its own frame. The module has no slots: its names are global. */
struct syntax_function {
    uint8_t kind;                            /* syntax_function_kind */
    bool star, stars;                        /* has *args; has **keywords */
    uint32_t name;                           /* "<module>", "<lambda>", "<listcomp>" ... */
    uint32_t npositional_only, npositional;  /* the former are among the latter */
    uint32_t nparameters;                    /* positional, then keyword-only, then *args, then **keywords */
    const syntax_parameter *parameters;
    const syntax_node *doc;                  /* STRING or NULL; also the first statement of the body */
    const syntax_list *body;                 /* MODULE, DEF */
    const syntax_node *value;                /* LAMBDA: the result; COMPREHENSION: the element, DICT: the value */
    const syntax_node *key;                  /* DICT_COMPREHENSION, else NULL */
    const syntax_list *clauses;              /* COMPREHENSION: CLAUSE, outermost first */
    const syntax_function *around;           /* where it is defined; NULL for the module */
    uint32_t nlocals, nfree;
    const uint32_t *slot_names;              /* nlocals + nfree */
    const bool *is_cell;                     /* nlocals */
    const uint32_t *captures;                /* nfree */
};

/* ---- parse.c ---- */

typedef struct syntax_tree {
    const char *name;                /* what the text is called: "<input>", a file's name */
    const char *text;                /* UTF-8, lines end in \n, prompts removed, output of copied examples emptied; a NUL follows */
    size_t length;
    const char *const *names;        /* every name once */
    uint32_t nnames, nnodes;
    const syntax_function *module;   /* the program; body: its statements */
    const syntax_function *const *functions;   /* all, the module first, each before those inside it */
    uint32_t nfunctions;
    arena memory;
} syntax_tree;

/* 0 takes the default. */
typedef struct syntax_limits {
    size_t bytes;            /* of text: 16 MiB */
    uint32_t nodes;          /* 4,000,000 */
    uint32_t depth;          /* of the tree: 1,000; brackets nest 200 deep and blocks 100 at most, whatever this says */
} syntax_limits;

/* Beside the sentence: what a program needs to know about an error. */
typedef struct syntax_fault {
    const char *kind;        /* "SyntaxError", "IndentationError", "TabError", "MemoryError" */
    uint32_t line, column;   /* from 1; columns in characters */
    bool unfinished;         /* the text ends within a bracket, a string or a block's head: more lines may repair it */
} syntax_fault;

/* Parses a program. The tree belongs to the caller; on failure it is NULL and m has the sentence, the place and the line
 * with a caret below. `fault` may be NULL. */
kn_status syntax_parse(const char *text, size_t length, const char *name, const syntax_limits *limits, syntax_tree **tree, syntax_fault *fault, message *m);
/* The same for one expression, as Python's eval takes it: the module's body is one EXPRESSION. */
kn_status syntax_parse_expression(const char *text, size_t length, const char *name, const syntax_limits *limits, syntax_tree **tree, syntax_fault *fault, message *m);
void syntax_free(syntax_tree *t);    /* NULL is allowed */
/* The number of a name, or UINT32_MAX when the program does not use it. */
uint32_t syntax_name(const syntax_tree *t, const char *name);

/* ---- syntax_dump.c ---- */
void syntax_dump(const syntax_tree *t, bool places, text *out);   /* the tree, as text for tests and for reading */
void syntax_dump_scopes(const syntax_tree *t, text *out);         /* a line for each function: its slots and what they capture */
#endif
