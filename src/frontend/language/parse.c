/* parse.c: what the parser's files stand on: errors with their place, names as numbers, nodes and lists; and the entries.
 *
 * How it works: nodes come from the tree's arena; a node knows how high it is, so that no later walk over the tree has to
 * fear for its stack. Items of a list are pushed on one stack, which nested lists share, and copied once their number is
 * known. Constructs must not be parsed here. */
#include "frontend/language/parser.h"
#include "frontend/place.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT_BYTES = 16 << 20, DEFAULT_NODES = 4000000, DEFAULT_DEPTH = 1000, DEPTH_MOST = 10000 };

/* ---- errors ---- */

static void *error_at(parser *p, const char *kind, kn_status status, uint32_t at, uint32_t end, const char *format, va_list args)
{
    if (p->failed)
        return NULL;
    const char *text = p->tree->text;
    size_t length = p->tree->length, place = at >= length && length > 0 ? length - 1 : at;
    text_place where = place_find(text, length, place);
    char sentence[MESSAGE_MAX / 2], shown[PLACE_SHOWN];
    vsnprintf(sentence, sizeof sentence, format, args);
    place_show(text, length, place, end, shown);
    p->failed = true;
    p->lex.now.kind = TOKEN_END;
    p->fault->kind = kind;
    p->fault->line = where.line;
    p->fault->column = where.column;
    fail(p->m, status, "%s (%s, line %u, column %u)\n%s", sentence, p->tree->name, where.line, where.column, shown);
    return NULL;
}

void *syntax_error_of(parser *p, const char *kind, uint32_t at, uint32_t end, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_at(p, kind, KN_SYNTAX_ERROR, at, end, format, args);
    va_end(args);
    return NULL;
}

void *syntax_error(parser *p, uint32_t at, uint32_t end, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_at(p, "SyntaxError", KN_SYNTAX_ERROR, at, end, format, args);
    va_end(args);
    return NULL;
}

void *not_in_language(parser *p, uint32_t at, uint32_t end, const char *construct)
{
    return syntax_error(p, at, end, "%s not in the language", construct);
}

void *parse_memory(parser *p)
{
    if (!p->failed)
        *p->fault = (syntax_fault){.kind = "MemoryError", .line = 1, .column = 1};
    p->failed = true;
    p->lex.now.kind = TOKEN_END;
    fail_memory(p->m, "reading a program");
    return NULL;
}

void *expected(parser *p, const char *what)
{
    const token *t = &p->lex.now;
    if (p->failed)
        return NULL;
    if (t->kind == TOKEN_END && p->lex.end == p->tree->length)
        p->fault->unfinished = true;
    switch (t->kind) {
    case TOKEN_END: return syntax_error(p, t->at, t->end, "%s was expected, but the %s ends here", what, p->lex.base ? "field of the f-string" : "text");
    case TOKEN_NEWLINE: return syntax_error(p, t->at, t->end, "%s was expected, but the line ends here", what);
    case TOKEN_INDENT: return syntax_error_of(p, "IndentationError", t->at, t->end, "this line is indented more than the one before it, but no block begins here");
    case TOKEN_DEDENT: return syntax_error(p, t->at, t->end, "%s was expected, but the block ends here", what);
    case SIGN_ASSIGN: return syntax_error(p, t->at, t->end, "%s was expected here, not '='; to compare, write '=='", what);
    default: break;
    }
    int n = t->end - t->at > 20 ? 20 : (int)(t->end - t->at);
    while (n > 0 && ((unsigned char)p->text[t->at + (uint32_t)n] & 0xC0) == 0x80)
        n--;
    const char *line = memchr(p->text + t->at, '\n', (size_t)n);
    if (line)
        n = (int)(line - (p->text + t->at));
    return syntax_error(p, t->at, t->end, "%s was expected here, not '%.*s'", what, n, p->text + t->at);
}

bool require(parser *p, int kind, const char *after)
{
    if (take(p, kind))
        return true;
    char what[100];
    snprintf(what, sizeof what, "'%s' after %s", token_text(kind), after);
    expected(p, what);
    return false;
}

bool parse_enter(parser *p)
{
    if (++p->depth <= p->limits.depth)
        return true;
    syntax_error(p, p->lex.now.at, p->lex.now.end, "the program is nested deeper than %u", p->limits.depth);
    return false;
}

/* ---- names ---- */

static bool grow_names(parser *p)
{
    uint32_t cap = p->names_cap ? p->names_cap * 2 : 64;
    const char **more = mem_grow(p->names, cap, sizeof *more);
    if (!more)
        return parse_memory(p), false;
    p->names = more;
    p->names_cap = cap;
    return true;
}

static bool rehash(parser *p)
{
    uint32_t n = p->nbuckets ? p->nbuckets * 2 : 128;
    uint32_t *buckets = mem_zero(n, sizeof *buckets);
    if (!buckets)
        return parse_memory(p), false;
    for (uint32_t i = 0; i < p->tree->nnames; i++) {
        uint32_t b = (uint32_t)hash_bytes(p->names[i], strlen(p->names[i]), 0) & (n - 1);
        while (buckets[b])
            b = (b + 1) & (n - 1);
        buckets[b] = i + 1;
    }
    mem_free(p->buckets);
    p->buckets = buckets;
    p->nbuckets = n;
    return true;
}

uint32_t intern(parser *p, const char *s, size_t n)
{
    syntax_tree *t = p->tree;
    if (p->failed || (2 * t->nnames >= p->nbuckets && !rehash(p)))
        return 0;
    uint32_t b = (uint32_t)hash_bytes(s, n, 0) & (p->nbuckets - 1);
    for (; p->buckets[b]; b = (b + 1) & (p->nbuckets - 1)) {
        const char *known = p->names[p->buckets[b] - 1];
        if (strncmp(known, s, n) == 0 && known[n] == '\0')
            return p->buckets[b] - 1;
    }
    if (t->nnames == p->names_cap && !grow_names(p))
        return 0;
    char *copy = arena_alloc(&t->memory, n + 1);
    if (!copy)
        return parse_memory(p), 0;
    memcpy(copy, s, n);
    copy[n] = '\0';
    p->names[t->nnames] = copy;
    p->buckets[b] = ++t->nnames;
    return t->nnames - 1;
}

uint32_t take_name(parser *p, const char *what)
{
    token t = p->lex.now;
    if (t.kind != TOKEN_NAME)
        return expected(p, what), 0;
    lexer_next(p);
    return intern(p, p->text + t.at, t.end - t.at);
}

/* ---- nodes ---- */

syntax_node *node_new(parser *p, int kind, uint32_t at, uint32_t end)
{
    if (p->failed)
        return NULL;
    if (p->tree->nnodes >= p->limits.nodes)
        return syntax_error(p, at, at, "the program has more than %u parts", p->limits.nodes);
    syntax_node *n = arena_zero(&p->tree->memory, 1, sizeof *n);
    if (!n)
        return parse_memory(p);
    p->tree->nnodes++;
    n->kind = (uint8_t)kind;
    n->at = n->mark = at;
    n->end = end;
    return n;
}

syntax_node *node_above(parser *p, syntax_node *n, const syntax_node *child)
{
    if (!n || p->failed)
        return NULL;
    if (child && child->height >= n->height) {
        if (child->height >= p->limits.depth)
            return syntax_error(p, n->at, n->end, "the program is nested deeper than %u", p->limits.depth);
        n->height = (uint16_t)(child->height + 1);
    }
    return n;
}

syntax_node *node_above_list(parser *p, syntax_node *n, const syntax_list *l)
{
    for (uint32_t i = 0; l && i < l->n && n; i++)
        n = node_above(p, n, l->at[i]);
    return p->failed ? NULL : n;
}

void list_push(parser *p, syntax_node *n)
{
    if (!n)
        return;
    if (p->nstack == p->stack_cap) {
        size_t cap = p->stack_cap ? p->stack_cap * 2 : 64;
        syntax_node **more = mem_grow(p->stack, cap, sizeof *more);
        if (!more) {
            parse_memory(p);
            return;
        }
        p->stack = more;
        p->stack_cap = cap;
    }
    p->stack[p->nstack++] = n;
}

const syntax_list *list_take(parser *p, size_t from)
{
    static const syntax_list empty = {0};
    size_t n = p->nstack - from;
    p->nstack = from;
    if (p->failed || n == 0)
        return &empty;
    syntax_list *l = arena_alloc(&p->tree->memory, sizeof *l + n * sizeof *l->at);
    if (!l)
        return parse_memory(p), &empty;
    l->n = (uint32_t)n;
    memcpy(l->at, p->stack + from, n * sizeof *l->at);
    return l;
}

const char *describe(const syntax_node *n)
{
    switch (n->kind) {
    case SYNTAX_NAME: return "a name";
    case SYNTAX_NONE: return "None";
    case SYNTAX_TRUE: return "True";
    case SYNTAX_FALSE: return "False";
    case SYNTAX_ELLIPSIS: return "'...'";
    case SYNTAX_INTEGER: case SYNTAX_BIG_INTEGER: case SYNTAX_FLOAT: case SYNTAX_IMAGINARY: return "a number";
    case SYNTAX_STRING: case SYNTAX_BYTES: return "a string";
    case SYNTAX_FORMAT_STRING: return "an f-string";
    case SYNTAX_COMPARE: return "a comparison";
    case SYNTAX_CONDITIONAL: return "a conditional expression";
    case SYNTAX_LAMBDA: return "a lambda";
    case SYNTAX_NAMED: return "an assignment by ':='";
    case SYNTAX_CALL: return "a call";
    case SYNTAX_STARRED: return "a starred item";
    case SYNTAX_TUPLE: return "a tuple";
    case SYNTAX_LIST: return "a list";
    case SYNTAX_SET: return "a set";
    case SYNTAX_DICT: return "a dict";
    case SYNTAX_LIST_COMPREHENSION: case SYNTAX_SET_COMPREHENSION: case SYNTAX_DICT_COMPREHENSION: return "a comprehension";
    case SYNTAX_GENERATOR: return "a generator expression";
    default: return "an expression";
    }
}

syntax_function *function_new(parser *p, int kind, const char *name, size_t n)
{
    static const syntax_list empty = {0};
    syntax_function *f = p->failed ? NULL : arena_zero(&p->tree->memory, 1, sizeof *f);
    if (!f)
        return parse_memory(p);
    f->kind = (uint8_t)kind;
    f->name = intern(p, name, n);
    f->body = f->clauses = &empty;
    return f;
}

/* ---- entries ---- */

static void finish_names(parser *p)
{
    syntax_tree *t = p->tree;
    t->names = arena_copy(&t->memory, p->names, t->nnames * sizeof *p->names);
    if (!t->names)
        parse_memory(p);
}

static const syntax_list *parse_alone(parser *p)
{
    size_t from = p->nstack;
    uint32_t at = p->lex.now.at;
    while (is(p, TOKEN_NEWLINE) || is(p, TOKEN_INDENT))    /* Python's eval forgives indentation */
        lexer_next(p);
    syntax_node *e = parse_expressions(p, false);
    while (take(p, TOKEN_NEWLINE) || take(p, TOKEN_DEDENT)) {}
    if (!is(p, TOKEN_END))
        expected(p, "the end of the expression");
    syntax_node *s = node_from(p, SYNTAX_EXPRESSION, at);
    if (s)
        s->u.operand = e;
    list_push(p, node_above(p, s, e));
    return list_take(p, from);
}

static void parse_all(parser *p, const char *text, size_t length, bool alone)
{
    source_prepare(p, text, length);
    syntax_function *module = function_new(p, FUNCTION_MODULE, "<module>", 8);
    if (!module)
        return;
    lexer_start(p);
    module->body = alone ? parse_alone(p) : parse_program(p);
    p->tree->module = module;
    if (!p->failed)
        scope_resolve(p);
    if (!p->failed)
        finish_names(p);
}

static void set_limits(parser *p, const syntax_limits *l)
{
    p->limits = l ? *l : (syntax_limits){0};
    if (p->limits.bytes == 0 || p->limits.bytes > UINT32_MAX - 16)
        p->limits.bytes = p->limits.bytes ? UINT32_MAX - 16 : DEFAULT_BYTES;
    if (p->limits.nodes == 0)
        p->limits.nodes = DEFAULT_NODES;
    if (p->limits.depth == 0 || p->limits.depth > DEPTH_MOST)
        p->limits.depth = p->limits.depth ? DEPTH_MOST : DEFAULT_DEPTH;
}

static kn_status parse_text(const char *text, size_t length, const char *name, const syntax_limits *limits, bool alone, syntax_tree **tree, syntax_fault *fault, message *m)
{
    message own = {0};
    syntax_fault nobodys;
    m = m ? m : &own;
    *tree = NULL;
    parser *p = mem_zero(1, sizeof *p);
    syntax_tree *t = p ? mem_zero(1, sizeof *t) : NULL;
    if (fault)
        *fault = (syntax_fault){.kind = "MemoryError", .line = 1, .column = 1};
    if (t)
        t->name = arena_text(&t->memory, "%s", name ? name : "<input>");
    if (!t || !t->name) {
        syntax_free(t);
        mem_free(p);
        return fail_memory(m, "reading a program");
    }
    p->tree = t;
    p->m = m;
    p->fault = fault ? fault : &nobodys;
    *p->fault = (syntax_fault){.kind = "SyntaxError", .line = 1, .column = 1};
    set_limits(p, limits);
    parse_all(p, text ? text : "", text ? length : 0, alone);
    bool failed = p->failed;
    mem_free(p->stack);
    mem_free(p->buckets);
    mem_free(p->names);
    mem_free(p);
    if (failed)
        syntax_free(t);
    else
        *tree = t;
    return failed ? m->status : KN_OK;
}

kn_status syntax_parse(const char *text, size_t length, const char *name, const syntax_limits *limits, syntax_tree **tree, syntax_fault *fault, message *m)
{
    return parse_text(text, length, name, limits, false, tree, fault, m);
}

kn_status syntax_parse_expression(const char *text, size_t length, const char *name, const syntax_limits *limits, syntax_tree **tree, syntax_fault *fault, message *m)
{
    return parse_text(text, length, name, limits, true, tree, fault, m);
}

void syntax_free(syntax_tree *t)
{
    if (!t)
        return;
    arena_free(&t->memory);
    mem_free(t);
}

uint32_t syntax_name(const syntax_tree *t, const char *name)
{
    for (uint32_t i = 0; i < t->nnames; i++)
        if (strcmp(t->names[i], name) == 0)
            return i;
    return UINT32_MAX;
}
