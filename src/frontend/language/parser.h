/* parser.h: what the parser's own files share; nobody else includes it.
 *
 * How it works: tokens are made one at a time, when the parser asks. The first error ends parsing: from then on every
 * token is END, and every function that makes a node gives NULL, also when it is handed a NULL. Callers therefore go on
 * without checks, and loops end. Sectioned by the file that owns each part. */
#ifndef KILN_LANGUAGE_PARSER_H
#define KILN_LANGUAGE_PARSER_H
#include "frontend/language/syntax.h"

/* ---- tokens ---- */

#define KEYWORDS(X) \
    X(FALSE, "False") X(NONE, "None") X(TRUE, "True") X(AND, "and") X(AS, "as") X(ASSERT, "assert") X(ASYNC, "async") \
    X(AWAIT, "await") X(BREAK, "break") X(CLASS, "class") X(CONTINUE, "continue") X(DEF, "def") X(DEL, "del") \
    X(ELIF, "elif") X(ELSE, "else") X(EXCEPT, "except") X(FINALLY, "finally") X(FOR, "for") X(FROM, "from") \
    X(GLOBAL, "global") X(IF, "if") X(IMPORT, "import") X(IN, "in") X(IS, "is") X(LAMBDA, "lambda") \
    X(NONLOCAL, "nonlocal") X(NOT, "not") X(OR, "or") X(PASS, "pass") X(RAISE, "raise") X(RETURN, "return") \
    X(TRY, "try") X(WHILE, "while") X(WITH, "with") X(YIELD, "yield")
/* Longer ones first: the first that fits is taken. */
#define OPERATORS(X) \
    X(ASSIGN_POW, "**=") X(ASSIGN_FLOORDIV, "//=") X(ASSIGN_LSHIFT, "<<=") X(ASSIGN_RSHIFT, ">>=") X(ELLIPSIS, "...") \
    X(EQ, "==") X(NE, "!=") X(LE, "<=") X(GE, ">=") X(ARROW, "->") X(NAMED, ":=") X(POW, "**") X(FLOORDIV, "//") \
    X(LSHIFT, "<<") X(RSHIFT, ">>") X(ASSIGN_ADD, "+=") X(ASSIGN_SUB, "-=") X(ASSIGN_MUL, "*=") \
    X(ASSIGN_MATMUL, "@=") X(ASSIGN_DIV, "/=") X(ASSIGN_MOD, "%=") X(ASSIGN_AND, "&=") X(ASSIGN_OR, "|=") \
    X(ASSIGN_XOR, "^=") X(ADD, "+") X(SUB, "-") X(MUL, "*") X(MATMUL, "@") X(DIV, "/") X(MOD, "%") X(AND_BITS, "&") \
    X(OR_BITS, "|") X(XOR_BITS, "^") X(INVERT, "~") X(LT, "<") X(GT, ">") X(ASSIGN, "=") X(COMMA, ",") X(COLON, ":") \
    X(SEMICOLON, ";") X(DOT, ".") X(OPEN, "(") X(CLOSE, ")") X(OPEN_SQUARE, "[") X(CLOSE_SQUARE, "]") \
    X(OPEN_CURLY, "{") X(CLOSE_CURLY, "}")

typedef enum token_kind {
    TOKEN_END, TOKEN_NEWLINE, TOKEN_INDENT, TOKEN_DEDENT, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING,
#define X(NAME, text) WORD_##NAME,
    KEYWORDS(X)
#undef X
#define X(NAME, text) SIGN_##NAME,
    OPERATORS(X)
#undef X
    NTOKEN_KINDS
} token_kind;

typedef struct token { uint8_t kind; uint32_t at, end; } token;

/* ---- the parser ---- */

enum { BRACKETS_MOST = 200, INDENTS_MOST = 100 };

/* Where the lexer stands; saved and set back to look ahead, and to parse the fields of an f-string. */
typedef struct lexer {
    uint32_t at, end;                /* what is left of the text, or of the field */
    token now;
    uint32_t last_end;               /* of the token before */
    uint32_t nbrackets, base;        /* open brackets; those opened outside the field */
    int pending;                     /* DEDENTs still to be given */
    bool line_start;
} lexer;

/* One level of indentation, with tabs to columns of 8 and with tabs as wide as spaces: both must agree. */
typedef struct indent { uint32_t column, narrow; } indent;

typedef struct parser {
    syntax_tree *tree;
    const char *text;                /* the tree's */
    syntax_limits limits;
    syntax_fault *fault;
    message *m;
    bool failed;
    lexer lex;
    uint32_t brackets[BRACKETS_MOST];          /* where each open one stands */
    indent indents[INDENTS_MOST + 1];
    uint32_t nindents;
    syntax_node **stack;             /* items of lists that are being read */
    size_t nstack, stack_cap;
    uint32_t *buckets;               /* of names: number + 1; a power of two of them */
    uint32_t nbuckets, names_cap;
    const char **names;
    uint32_t depth;                  /* of functions that call themselves */
    bool in_function;                /* `return` is possible */
    uint32_t loops;                  /* around this statement, within the function */
    const syntax_node *grouped;      /* the expression that was read last in parentheses of its own */
} parser;

/* ---- source.c ---- */
/* Copies a text into the tree's memory as the lexer wants it; see syntax_tree.text. */
void source_prepare(parser *p, const char *text, size_t length);

/* ---- lexer.c ---- */
void lexer_start(parser *p);
void lexer_next(parser *p);
token lexer_peek(parser *p);                     /* the token behind the current one, on the same logical line */
bool is_name_start(const char *s, size_t n, size_t *size);   /* and how many bytes that character has */
bool is_name_part(const char *s, size_t n, size_t *size);
/* What opens a string literal: its prefix, and one or three quotes. */
typedef struct string_head { bool is_string, raw, format, bytes; uint32_t quotes, body; /* where the text begins */ } string_head;
string_head string_head_of(const parser *p, uint32_t at, uint32_t limit);
/* Where the literal that starts at `at`, prefix included, ends; 0 when it does not (an error is set). */
uint32_t string_end(parser *p, uint32_t at, uint32_t limit);
/* How far the backslash at `at` reaches; in an f-string no brace belongs to it. */
uint32_t string_escape_end(const parser *p, uint32_t at, uint32_t limit, const string_head *h);
/* A field of an f-string: `at` is behind its brace; gives where its expression ends: at "=", "!", ":" or "}". 0: an error. */
uint32_t field_expression_end(parser *p, uint32_t at, uint32_t limit, const string_head *h);

static inline bool is(const parser *p, int kind) { return p->lex.now.kind == kind; }
static inline bool take(parser *p, int kind)
{
    if (!is(p, kind))
        return false;
    lexer_next(p);
    return true;
}
const char *token_text(int kind);                /* of keywords and operators */

/* ---- parse.c: errors, names, nodes ---- */
/* Sets the first error. Always gives NULL. */
void *syntax_error(parser *p, uint32_t at, uint32_t end, const char *format, ...) __attribute__((format(printf, 4, 5)));
void *syntax_error_of(parser *p, const char *kind, uint32_t at, uint32_t end, const char *format, ...) __attribute__((format(printf, 5, 6)));
void *not_in_language(parser *p, uint32_t at, uint32_t end, const char *construct);
void *parse_memory(parser *p);
void *expected(parser *p, const char *what);     /* "what was expected here, not 'x'" */
bool require(parser *p, int kind, const char *after);   /* takes the token or sets an error: "':' was expected after the condition" */
bool parse_enter(parser *p);                     /* counts depth; false: too deep (an error is set); parse_leave in any case */
static inline void parse_leave(parser *p) { p->depth--; }

uint32_t intern(parser *p, const char *s, size_t n);
uint32_t take_name(parser *p, const char *what);                /* NAME token: interned */
syntax_node *node_new(parser *p, int kind, uint32_t at, uint32_t end);   /* zeroed; mark is at */
/* The same, for what ends with the last token taken. */
static inline syntax_node *node_from(parser *p, int kind, uint32_t at) { return node_new(p, kind, at, p->lex.last_end); }
/* node->height grows above child's (NULL is allowed). Gives node, or NULL when it gets too deep or p has failed. */
syntax_node *node_above(parser *p, syntax_node *n, const syntax_node *child);
syntax_node *node_above_list(parser *p, syntax_node *n, const syntax_list *l);
void list_push(parser *p, syntax_node *n);
const syntax_list *list_take(parser *p, size_t from);           /* what has been pushed since p->nstack was `from` */
syntax_function *function_new(parser *p, int kind, const char *name, size_t n);   /* scope.c finds out what is around it */
const char *describe(const syntax_node *n);                     /* "a call", "a tuple" ... */

/* ---- parse_literal.c ---- */
syntax_node *parse_number(parser *p);
syntax_node *parse_strings(parser *p);                          /* adjacent ones */

/* ---- parse_expression.c ---- */
syntax_node *parse_expression(parser *p);
syntax_node *parse_named(parser *p);                            /* with := */
syntax_node *parse_sum_level(parser *p);                        /* above comparisons: what targets are read as */
syntax_node *parse_expressions(parser *p, bool stars);          /* "a, b": a TUPLE when there is a comma; starred items */
bool starts_expression(const parser *p);
bool is_bare_name(const parser *p, const syntax_node *n);       /* the expression just read is a name, without parentheses */
/* The generator, or the comprehension in brackets, whose element (and key) has just been read, up to its last clause. */
syntax_node *parse_comprehension(parser *p, int kind, uint32_t at, syntax_node *key, syntax_node *element);

/* ---- parse_target.c ---- */
bool check_target(parser *p, const syntax_node *n, bool deleting);   /* false: not something to be assigned to (an error is set) */
syntax_node *parse_targets(parser *p);                          /* of a `for`, up to its `in` */

/* ---- parse_parameters.c ---- */
void parse_parameters(parser *p, syntax_function *f, int close, bool annotations);
void parse_arguments(parser *p, syntax_node *call);             /* behind "(", up to and with ")" */

/* ---- parse_statement.c ---- */
const syntax_list *parse_program(parser *p);

/* ---- scope.c ---- */
void scope_resolve(parser *p);                                  /* slots of all names; errors of global and nonlocal */
#endif
