/* parse_statement.c: statements and blocks.
 *
 * How it works: a statement begins with its keyword, or is an expression that "=", "+=" or ":" turns into an assignment.
 * Statements of a block are pushed on the parser's stack. A compound statement's node ends with its head, so that the place
 * shown for it is one line. Where a name lives is found out in scope.c. */
#include "frontend/language/parser.h"
#include "frontend/place.h"

#include <string.h>

static void parse_statement(parser *p);
static void parse_simple_line(parser *p);

/* ---- blocks ---- */

/* ":" and the block behind it. `word` is the keyword of its head, which stands at `at`. */
static const syntax_list *parse_block(parser *p, uint32_t at, const char *word)
{
    size_t from = p->nstack;
    if (!take(p, SIGN_COLON))
        return expected(p, "':'"), list_take(p, from);
    if (!take(p, TOKEN_NEWLINE)) {
        parse_simple_line(p);
        return list_take(p, from);
    }
    if (!take(p, TOKEN_INDENT) && !p->failed) {
        p->fault->unfinished = is(p, TOKEN_END);
        text_place where = place_find(p->text, p->tree->length, at);
        syntax_error_of(p, "IndentationError", p->lex.now.at, p->lex.now.end, "an indented block was expected after '%s' of line %u", word, where.line);
    }
    if (parse_enter(p))
        while (!is(p, TOKEN_DEDENT) && !is(p, TOKEN_END))
            parse_statement(p);
    parse_leave(p);
    take(p, TOKEN_DEDENT);
    return list_take(p, from);
}

static const syntax_list *parse_else(parser *p)
{
    uint32_t at = p->lex.now.at;
    return take(p, WORD_ELSE) ? parse_block(p, at, "else") : list_take(p, p->nstack);
}

/* The blocks of a loop: break and continue are possible in the first. */
static const syntax_list *parse_loop_body(parser *p, uint32_t at, const char *word)
{
    p->loops++;
    const syntax_list *body = parse_block(p, at, word);
    p->loops--;
    return body;
}

/* ---- compound statements ---- */

static syntax_node *parse_if(parser *p)
{
    uint32_t at = p->lex.now.at;
    const char *word = token_text(p->lex.now.kind);
    lexer_next(p);
    syntax_node *test = parse_named(p), *n = node_from(p, SYNTAX_IF, at);
    const syntax_list *then = parse_block(p, at, word), *otherwise;
    size_t from = p->nstack;
    if (is(p, WORD_ELIF)) {
        list_push(p, parse_enter(p) ? parse_if(p) : NULL);
        parse_leave(p);
        otherwise = list_take(p, from);
    } else
        otherwise = parse_else(p);
    if (!n || p->failed)
        return NULL;
    n->u.branch.test = test;
    n->u.branch.then = then;
    n->u.branch.otherwise = otherwise;
    return node_above_list(p, node_above_list(p, node_above(p, n, test), then), otherwise);
}

static syntax_node *finish_loop(parser *p, syntax_node *n, const syntax_node *target, const syntax_node *iterable, uint32_t at, const char *word)
{
    const syntax_list *body = parse_loop_body(p, at, word), *otherwise = parse_else(p);
    if (!n || p->failed)
        return NULL;
    n->u.loop.target = target;
    n->u.loop.iterable = iterable;
    n->u.loop.body = body;
    n->u.loop.otherwise = otherwise;
    return node_above_list(p, node_above_list(p, node_above(p, node_above(p, n, target), iterable), body), otherwise);
}

static syntax_node *parse_while(parser *p)
{
    uint32_t at = p->lex.now.at;
    lexer_next(p);
    syntax_node *test = parse_named(p);
    return finish_loop(p, node_from(p, SYNTAX_WHILE, at), NULL, test, at, "while");
}

static syntax_node *parse_for(parser *p)
{
    uint32_t at = p->lex.now.at;
    lexer_next(p);
    syntax_node *target = parse_targets(p), *iterable = NULL;
    if (require(p, WORD_IN, "the target of 'for'"))
        iterable = parse_expressions(p, true);
    return finish_loop(p, node_from(p, SYNTAX_FOR, at), target, iterable, at, "for");
}

static void parse_body(parser *p, syntax_function *f, uint32_t at)
{
    bool in_function = p->in_function;
    uint32_t loops = p->loops;
    p->in_function = true;
    p->loops = 0;
    f->body = parse_block(p, at, "def");
    p->in_function = in_function;
    p->loops = loops;
    const syntax_node *first = f->body->n ? f->body->at[0] : NULL;
    if (first && first->kind == SYNTAX_EXPRESSION && first->u.operand->kind == SYNTAX_STRING)
        f->doc = first->u.operand;
}

static syntax_node *parse_def(parser *p)
{
    uint32_t at = p->lex.now.at;
    lexer_next(p);
    token name = p->lex.now;
    uint32_t number = take_name(p, "the name of the function");
    syntax_function *f = function_new(p, FUNCTION_DEF, p->text + name.at, name.end - name.at);
    if (!f || !require(p, SIGN_OPEN, "the name of the function"))
        return NULL;
    parse_parameters(p, f, SIGN_CLOSE, true);
    take(p, SIGN_CLOSE);
    if (take(p, SIGN_ARROW))
        parse_expression(p);
    syntax_node *n = node_from(p, SYNTAX_DEF, at);
    parse_body(p, f, at);
    if (!n || p->failed)
        return NULL;
    n->mark = name.at;
    n->u.definition.function = f;
    n->u.definition.variable.name = number;
    for (uint32_t i = 0; i < f->nparameters; i++)
        n = node_above(p, n, f->parameters[i].initial);
    return node_above_list(p, n, f->body);
}

static syntax_node *parse_handler(parser *p)
{
    uint32_t at = p->lex.now.at, name = 0;
    lexer_next(p);
    if (is(p, SIGN_MUL))
        return not_in_language(p, at, p->lex.now.end, "except* is");
    syntax_node *type = is(p, SIGN_COLON) ? NULL : parse_expression(p);
    if (is(p, SIGN_COMMA))
        return syntax_error(p, p->lex.now.at, p->lex.now.end, "several exceptions stand in parentheses: except (A, B):");
    uint32_t mark = at;
    bool named = type && take(p, WORD_AS);
    if (named) {
        mark = p->lex.now.at;
        name = take_name(p, "a name after 'as'");
    }
    syntax_node *n = node_from(p, SYNTAX_HANDLER, at);
    const syntax_list *body = parse_block(p, at, "except");
    if (!n || p->failed)
        return NULL;
    n->mark = mark;
    n->u.handler.type = type;
    n->u.handler.body = body;
    n->u.handler.named = named;
    n->u.handler.variable.name = name;
    return node_above_list(p, node_above(p, n, type), body);
}

static const syntax_list *parse_handlers(parser *p)
{
    size_t from = p->nstack;
    while (is(p, WORD_EXCEPT)) {
        const syntax_node *before = p->nstack > from ? p->stack[p->nstack - 1] : NULL;
        if (before && !before->u.handler.type)
            syntax_error(p, before->at, before->end, "'except:' takes every exception: it must be the last");
        list_push(p, parse_handler(p));
    }
    return list_take(p, from);
}

static syntax_node *parse_try(parser *p)
{
    uint32_t at = p->lex.now.at;
    lexer_next(p);
    syntax_node *n = node_from(p, SYNTAX_TRY, at);
    const syntax_list *body = parse_block(p, at, "try"), *handlers = parse_handlers(p);
    const syntax_list *otherwise = handlers->n ? parse_else(p) : list_take(p, p->nstack), *finally = list_take(p, p->nstack);
    uint32_t last = p->lex.now.at;
    if (take(p, WORD_FINALLY))
        finally = parse_block(p, last, "finally");
    else if (handlers->n == 0)
        expected(p, "'except' or 'finally'");
    if (!n || p->failed)
        return NULL;
    n->u.try.body = body;
    n->u.try.handlers = handlers;
    n->u.try.otherwise = otherwise;
    n->u.try.finally = finally;
    return node_above_list(p, node_above_list(p, node_above_list(p, node_above_list(p, n, body), handlers), otherwise), finally);
}

static syntax_node *parse_with_item(parser *p)
{
    uint32_t at = p->lex.now.at;
    syntax_node *context = parse_expression(p), *target = NULL;
    if (take(p, WORD_AS)) {
        target = parse_sum_level(p);
        check_target(p, target, false);
    }
    syntax_node *n = node_from(p, SYNTAX_WITH_ITEM, at);
    if (!n)
        return NULL;
    n->u.with_item.context = context;
    n->u.with_item.target = target;
    return node_above(p, node_above(p, n, context), target);
}

/* Whether the "(" here opens a list of items, and no expression: ":" follows its end, and between stand items alone. */
static bool opens_items(parser *p)
{
    if (!is(p, SIGN_OPEN))
        return false;
    lexer saved = p->lex;
    uint32_t inside = saved.nbrackets;
    bool items = true, first = true;
    lexer_next(p);
    if (is(p, SIGN_CLOSE))
        items = false;
    for (; p->lex.nbrackets >= inside && !is(p, TOKEN_END); lexer_next(p)) {
        bool nested = p->lex.nbrackets > inside;
        items &= nested || !(is(p, SIGN_NAMED) || is(p, WORD_FOR) || is(p, WORD_ASYNC) || is(p, WORD_YIELD) || (first && is(p, SIGN_MUL)));
        first = !nested && is(p, SIGN_COMMA);
    }
    lexer_next(p);
    items &= is(p, SIGN_COLON);
    if (!p->failed)
        p->lex = saved;
    return items;
}

static syntax_node *parse_with(parser *p)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    lexer_next(p);
    bool parentheses = opens_items(p);
    if (parentheses)
        lexer_next(p);
    do list_push(p, parse_with_item(p)); while (take(p, SIGN_COMMA) && !(parentheses && is(p, SIGN_CLOSE)));
    if (parentheses)
        require(p, SIGN_CLOSE, "the items of 'with'");
    const syntax_list *items = list_take(p, from);
    syntax_node *n = node_from(p, SYNTAX_WITH, at);
    const syntax_list *body = parse_block(p, at, "with");
    if (!n || p->failed)
        return NULL;
    n->u.with.items = items;
    n->u.with.body = body;
    return node_above_list(p, node_above_list(p, n, items), body);
}

/* ---- assignments and expressions ---- */

static int augmented_operator(int token)
{
    static const struct { uint8_t token, op; } rows[] = {
        {SIGN_ASSIGN_ADD, BINARY_ADD}, {SIGN_ASSIGN_SUB, BINARY_SUB}, {SIGN_ASSIGN_MUL, BINARY_MUL}, {SIGN_ASSIGN_MATMUL, BINARY_MATMUL},
        {SIGN_ASSIGN_DIV, BINARY_DIV}, {SIGN_ASSIGN_FLOORDIV, BINARY_FLOORDIV}, {SIGN_ASSIGN_MOD, BINARY_MOD}, {SIGN_ASSIGN_POW, BINARY_POW},
        {SIGN_ASSIGN_LSHIFT, BINARY_LSHIFT}, {SIGN_ASSIGN_RSHIFT, BINARY_RSHIFT}, {SIGN_ASSIGN_AND, BINARY_AND}, {SIGN_ASSIGN_OR, BINARY_OR},
        {SIGN_ASSIGN_XOR, BINARY_XOR},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].token == token)
            return rows[i].op;
    return -1;
}

/* A target of "+=" or ":": one place, not several. */
static bool check_single(parser *p, const syntax_node *n, const char *what)
{
    if (n && (n->kind == SYNTAX_TUPLE || n->kind == SYNTAX_LIST))
        return syntax_error(p, n->at, n->end, "%s has one target, not %s", what, describe(n)), false;
    return check_target(p, n, false);
}

static syntax_node *parse_augmented(parser *p, uint32_t at, syntax_node *target, int op)
{
    uint32_t mark = p->lex.now.at;
    if (!check_single(p, target, "an assignment with an operator"))
        return NULL;
    lexer_next(p);
    syntax_node *value = parse_expressions(p, true), *n = node_from(p, SYNTAX_AUGMENTED, at);
    if (!n)
        return NULL;
    n->op = (uint8_t)op;
    n->mark = mark;
    n->u.bind.target = target;
    n->u.bind.value = value;
    return node_above(p, node_above(p, n, target), value);
}

static syntax_node *parse_annotated(parser *p, uint32_t at, syntax_node *target)
{
    bool simple = is_bare_name(p, target);
    if (!check_single(p, target, "an annotation"))
        return NULL;
    lexer_next(p);
    syntax_node *annotation = parse_expression(p), *value = take(p, SIGN_ASSIGN) ? parse_expressions(p, true) : NULL;
    syntax_node *n = node_from(p, SYNTAX_ANNOTATED, at);
    if (!n)
        return NULL;
    n->u.annotated.target = target;
    n->u.annotated.annotation = annotation;
    n->u.annotated.value = value;
    n->u.annotated.simple = simple;
    return node_above(p, node_above(p, node_above(p, n, target), annotation), value);
}

static syntax_node *parse_assign(parser *p, uint32_t at, syntax_node *first)
{
    size_t from = p->nstack;
    syntax_node *value = first;
    while (take(p, SIGN_ASSIGN)) {
        check_target(p, value, false);
        list_push(p, value);
        value = parse_expressions(p, true);
    }
    const syntax_list *targets = list_take(p, from);
    syntax_node *n = node_from(p, SYNTAX_ASSIGN, at);
    if (!n)
        return NULL;
    n->u.assign.targets = targets;
    n->u.assign.value = value;
    return node_above(p, node_above_list(p, n, targets), value);
}

static bool is_word(const parser *p, token t, const char *word)
{
    return t.kind == TOKEN_NAME && t.end - t.at == strlen(word) && memcmp(p->text + t.at, word, t.end - t.at) == 0;
}

/* A line that starts with `match` and ends in ":" is no expression. */
static bool is_match(parser *p)
{
    if (!is_word(p, p->lex.now, "match"))
        return false;
    lexer saved = p->lex;
    int last = TOKEN_NAME;
    for (; !is(p, TOKEN_NEWLINE) && !is(p, TOKEN_END); lexer_next(p))
        last = p->lex.now.kind;
    if (!p->failed)
        p->lex = saved;
    return last == SIGN_COLON && !p->failed;
}

static syntax_node *parse_expression_statement(parser *p)
{
    token start = p->lex.now;
    if (is_match(p))
        return not_in_language(p, start.at, start.end, "match is");
    if (!starts_expression(p))
        return expected(p, "a statement");
    syntax_node *e = parse_expressions(p, true);
    int op = augmented_operator(p->lex.now.kind);
    if (op >= 0)
        return parse_augmented(p, start.at, e, op);
    if (is(p, SIGN_ASSIGN))
        return parse_assign(p, start.at, e);
    if (is(p, SIGN_COLON))
        return parse_annotated(p, start.at, e);
    if (is_word(p, start, "print") && is_bare_name(p, e) && starts_expression(p))
        return syntax_error(p, start.at, start.end, "print is a function: its arguments stand in parentheses");
    syntax_node *n = node_from(p, SYNTAX_EXPRESSION, start.at);
    if (!n || !e)
        return NULL;
    n->u.operand = e;
    return node_above(p, n, e);
}

/* ---- simple statements ---- */

static syntax_node *parse_return(parser *p)
{
    token t = p->lex.now;
    if (!p->in_function)
        return syntax_error(p, t.at, t.end, "'return' stands outside of a function");
    lexer_next(p);
    syntax_node *value = starts_expression(p) ? parse_expressions(p, true) : NULL, *n = node_from(p, SYNTAX_RETURN, t.at);
    if (n)
        n->u.operand = value;
    return node_above(p, n, value);
}

static syntax_node *parse_leave_loop(parser *p)
{
    token t = p->lex.now;
    if (p->loops == 0)
        return syntax_error(p, t.at, t.end, "'%s' stands outside of a loop", token_text(t.kind));
    lexer_next(p);
    return node_from(p, t.kind == WORD_BREAK ? SYNTAX_BREAK : SYNTAX_CONTINUE, t.at);
}

static syntax_node *items_node(parser *p, int kind, uint32_t at, size_t from)
{
    const syntax_list *items = list_take(p, from);
    syntax_node *n = node_from(p, kind, at);
    if (n)
        n->u.items = items;
    return node_above_list(p, n, items);
}

static syntax_node *parse_delete(parser *p)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    lexer_next(p);
    do {
        syntax_node *target = parse_sum_level(p);
        check_target(p, target, true);
        list_push(p, target);
    } while (take(p, SIGN_COMMA) && starts_expression(p));
    return items_node(p, SYNTAX_DELETE, at, from);
}

static syntax_node *parse_assert(parser *p)
{
    uint32_t at = p->lex.now.at;
    lexer_next(p);
    syntax_node *test = parse_expression(p), *sentence = take(p, SIGN_COMMA) ? parse_expression(p) : NULL;
    syntax_node *n = node_from(p, SYNTAX_ASSERT, at);
    if (!n)
        return NULL;
    n->u.assert.test = test;
    n->u.assert.sentence = sentence;
    return node_above(p, node_above(p, n, test), sentence);
}

static syntax_node *parse_raise(parser *p)
{
    uint32_t at = p->lex.now.at;
    lexer_next(p);
    syntax_node *exception = starts_expression(p) ? parse_expression(p) : NULL, *cause = NULL;
    if (exception && take(p, WORD_FROM))
        cause = parse_expression(p);
    syntax_node *n = node_from(p, SYNTAX_RAISE, at);
    if (!n)
        return NULL;
    n->u.raise.exception = exception;
    n->u.raise.cause = cause;
    return node_above(p, node_above(p, n, exception), cause);
}

static syntax_node *parse_declaration(parser *p, int kind)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    do {
        lexer_next(p);
        token t = p->lex.now;
        uint32_t name = take_name(p, "a name");
        syntax_node *n = node_new(p, SYNTAX_NAME, t.at, t.end);
        if (n)
            n->u.name.name = name;
        list_push(p, n);
    } while (is(p, SIGN_COMMA));
    return items_node(p, kind, at, from);
}

/* ---- imports ---- */

/* "numpy.linalg" as one name; *first is "numpy". */
static uint32_t parse_dotted(parser *p, uint32_t *first)
{
    text whole = {0};
    token t = p->lex.now;
    *first = take_name(p, "the name of a module");
    text_addn(&whole, p->text + t.at, t.end - t.at);
    while (take(p, SIGN_DOT)) {
        t = p->lex.now;
        take_name(p, "a name after '.'");
        text_addn(&whole, ".", 1);
        text_addn(&whole, p->text + t.at, t.end - t.at);
    }
    uint32_t name = whole.failed ? 0 : intern(p, whole.at, whole.len);
    if (whole.failed)
        parse_memory(p);
    text_free(&whole);
    return name;
}

static syntax_node *parse_alias(parser *p, bool module)
{
    uint32_t at = p->lex.now.at, bound, name;
    if (module)
        name = parse_dotted(p, &bound);
    else
        name = bound = take_name(p, "the name of what is imported");
    bool renamed = take(p, WORD_AS);
    if (renamed)
        bound = take_name(p, "a name after 'as'");
    syntax_node *n = node_from(p, SYNTAX_ALIAS, at);
    if (!n)
        return NULL;
    n->u.alias.name = name;
    n->u.alias.renamed = renamed;
    n->u.alias.variable.name = bound;
    return n;
}

static syntax_node *parse_import(parser *p)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    do {
        lexer_next(p);
        list_push(p, parse_alias(p, true));
    } while (is(p, SIGN_COMMA));
    return items_node(p, SYNTAX_IMPORT, at, from);
}

static void parse_imported(parser *p)
{
    token t = p->lex.now;
    if (take(p, SIGN_MUL)) {
        if (p->in_function)
            syntax_error(p, t.at, t.end, "'import *' stands outside of functions only");
        syntax_node *n = node_from(p, SYNTAX_ALIAS, t.at);
        if (n)
            n->u.alias.name = n->u.alias.variable.name = intern(p, "*", 1);
        list_push(p, n);
        return;
    }
    bool parentheses = take(p, SIGN_OPEN);
    do list_push(p, parse_alias(p, false)); while (take(p, SIGN_COMMA) && !(parentheses && is(p, SIGN_CLOSE)));
    if (parentheses)
        require(p, SIGN_CLOSE, "the imported names");
}

static syntax_node *parse_import_from(parser *p)
{
    uint32_t at = p->lex.now.at, level = 0, first;
    size_t from = p->nstack;
    lexer_next(p);
    for (; is(p, SIGN_DOT) || is(p, SIGN_ELLIPSIS); lexer_next(p))
        level += is(p, SIGN_DOT) ? 1 : 3;
    uint32_t module = level && is(p, WORD_IMPORT) ? intern(p, "", 0) : parse_dotted(p, &first);
    if (require(p, WORD_IMPORT, "the name of the module"))
        parse_imported(p);
    const syntax_list *aliases = list_take(p, from);
    syntax_node *n = node_from(p, SYNTAX_IMPORT_FROM, at);
    if (!n)
        return NULL;
    n->u.import_from.aliases = aliases;
    n->u.import_from.module = module;
    n->u.import_from.level = level;
    return node_above_list(p, n, aliases);
}

/* ---- statements ---- */

static syntax_node *parse_simple(parser *p)
{
    token t = p->lex.now;
    switch (t.kind) {
    case WORD_PASS: lexer_next(p); return node_from(p, SYNTAX_PASS, t.at);
    case WORD_BREAK: case WORD_CONTINUE: return parse_leave_loop(p);
    case WORD_RETURN: return parse_return(p);
    case WORD_DEL: return parse_delete(p);
    case WORD_ASSERT: return parse_assert(p);
    case WORD_RAISE: return parse_raise(p);
    case WORD_GLOBAL: return parse_declaration(p, SYNTAX_GLOBAL);
    case WORD_NONLOCAL: return parse_declaration(p, SYNTAX_NONLOCAL);
    case WORD_IMPORT: return parse_import(p);
    case WORD_FROM: return parse_import_from(p);
    default: return parse_expression_statement(p);
    }
}

/* Simple statements up to the end of the line. */
static void parse_simple_line(parser *p)
{
    do list_push(p, parse_simple(p)); while (take(p, SIGN_SEMICOLON) && !is(p, TOKEN_NEWLINE));
    if (!take(p, TOKEN_NEWLINE) && !p->failed)
        expected(p, "the end of the statement");
}

static void parse_statement(parser *p)
{
    token t = p->lex.now;
    switch (t.kind) {
    case WORD_IF: list_push(p, parse_if(p)); break;
    case WORD_WHILE: list_push(p, parse_while(p)); break;
    case WORD_FOR: list_push(p, parse_for(p)); break;
    case WORD_DEF: list_push(p, parse_def(p)); break;
    case WORD_TRY: list_push(p, parse_try(p)); break;
    case WORD_WITH: list_push(p, parse_with(p)); break;
    case WORD_CLASS: not_in_language(p, t.at, t.end, "class is"); break;
    case WORD_ASYNC: not_in_language(p, t.at, t.end, "async is"); break;
    case SIGN_MATMUL: not_in_language(p, t.at, t.end, "decorators are"); break;
    default: parse_simple_line(p);
    }
}

const syntax_list *parse_program(parser *p)
{
    size_t from = p->nstack;
    while (!is(p, TOKEN_END))
        parse_statement(p);
    return list_take(p, from);
}
