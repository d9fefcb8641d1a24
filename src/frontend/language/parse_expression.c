/* parse_expression.c: expressions, by Python's precedence.
 *
 * How it works: recursive descent from the loosest operator (:=, lambda, if-else) to the tightest (calls, subscripts); the
 * binary operators with numbers and bits are one function that climbs through the rows of a table. Arguments and parameters
 * are read in parse_parameters.c, literals in parse_literal.c. */
#include "frontend/language/parser.h"

#include <string.h>

bool starts_expression(const parser *p)
{
    switch (p->lex.now.kind) {
    case TOKEN_NAME: case TOKEN_NUMBER: case TOKEN_STRING: case WORD_FALSE: case WORD_NONE: case WORD_TRUE: case WORD_NOT:
    case WORD_LAMBDA: case WORD_AWAIT: case WORD_YIELD: case SIGN_ELLIPSIS: case SIGN_ADD: case SIGN_SUB: case SIGN_INVERT:
    case SIGN_MUL: case SIGN_OPEN: case SIGN_OPEN_SQUARE: case SIGN_OPEN_CURLY: return true;
    default: return false;
    }
}

bool is_bare_name(const parser *p, const syntax_node *n) { return n && n->kind == SYNTAX_NAME && p->grouped != n; }

static syntax_node *parse_unary(parser *p);

static syntax_node *binary(parser *p, int kind, int op, uint32_t at, uint32_t mark, const syntax_node *left, const syntax_node *right)
{
    if (!left || !right)
        return NULL;
    syntax_node *n = node_from(p, kind, at);
    if (!n)
        return NULL;
    n->op = (uint8_t)op;
    n->mark = mark;
    n->u.binary.left = left;
    n->u.binary.right = right;
    return node_above(p, node_above(p, n, left), right);
}

/* A node of one child, which stands in u.operand or u.unary alike. */
static syntax_node *over(parser *p, int kind, int op, uint32_t at, const syntax_node *operand)
{
    syntax_node *n = node_from(p, kind, at);
    if (!n || !operand)
        return NULL;
    n->op = (uint8_t)op;
    n->u.operand = operand;
    return node_above(p, n, operand);
}

static syntax_node *with_items(parser *p, int kind, uint32_t at, size_t from)
{
    const syntax_list *items = list_take(p, from);
    syntax_node *n = node_from(p, kind, at);
    if (n)
        n->u.items = items;
    return node_above_list(p, n, items);
}

/* ---- displays, groups and comprehensions ---- */

static syntax_node *parse_item(parser *p)
{
    uint32_t at = p->lex.now.at;
    if (take(p, SIGN_MUL))
        return over(p, SYNTAX_STARRED, 0, at, parse_sum_level(p));
    return parse_named(p);
}

static syntax_node *parse_or(parser *p);

static syntax_node *parse_clause(parser *p)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    lexer_next(p);
    syntax_node *target = parse_targets(p), *iterable = NULL;
    if (require(p, WORD_IN, "the target of 'for'"))
        iterable = parse_or(p);
    while (take(p, WORD_IF))
        list_push(p, parse_or(p));
    const syntax_list *conditions = list_take(p, from);
    syntax_node *n = node_from(p, SYNTAX_CLAUSE, at);
    if (!n)
        return NULL;
    n->u.clause.target = target;
    n->u.clause.iterable = iterable;
    n->u.clause.conditions = conditions;
    return node_above_list(p, node_above(p, node_above(p, n, target), iterable), conditions);
}

static void comprehension_clauses(parser *p, syntax_function *f)
{
    size_t from = p->nstack;
    while (is(p, WORD_FOR) || is(p, WORD_ASYNC)) {
        if (is(p, WORD_ASYNC))
            not_in_language(p, p->lex.now.at, p->lex.now.end, "async is");
        list_push(p, parse_clause(p));
    }
    f->clauses = list_take(p, from);
}

syntax_node *parse_comprehension(parser *p, int kind, uint32_t at, syntax_node *key, syntax_node *element)
{
    const char *name = kind == SYNTAX_LIST_COMPREHENSION ? "<listcomp>" : kind == SYNTAX_SET_COMPREHENSION ? "<setcomp>"
                     : kind == SYNTAX_DICT_COMPREHENSION ? "<dictcomp>" : "<genexpr>";
    if (element && element->kind == SYNTAX_STARRED)
        return syntax_error(p, element->at, element->end, "the element of a comprehension cannot be starred");
    syntax_function *f = function_new(p, FUNCTION_COMPREHENSION, name, strlen(name));
    if (!f || !element || !parse_enter(p)) {
        parse_leave(p);
        return NULL;
    }
    f->key = key;
    f->value = element;
    comprehension_clauses(p, f);
    parse_leave(p);
    syntax_node *n = node_from(p, kind, at);
    if (!n)
        return NULL;
    n->u.function = f;
    return node_above_list(p, node_above(p, node_above(p, n, element), key), f->clauses);
}

static bool at_comprehension(const parser *p) { return is(p, WORD_FOR) || is(p, WORD_ASYNC); }

/* "]" or "," behind an item. */
static bool close_or_comma(parser *p, int close)
{
    if (is(p, close) || take(p, SIGN_COMMA))
        return true;
    if (close == SIGN_CLOSE)
        expected(p, "',' or ')'");
    else
        expected(p, close == SIGN_CLOSE_SQUARE ? "',' or ']'" : "',' or '}'");
    return false;
}

static syntax_node *parse_list(parser *p)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    lexer_next(p);
    if (!is(p, SIGN_CLOSE_SQUARE)) {
        syntax_node *first = parse_item(p);
        if (at_comprehension(p)) {
            syntax_node *n = parse_comprehension(p, SYNTAX_LIST_COMPREHENSION, at, NULL, first);
            require(p, SIGN_CLOSE_SQUARE, "a comprehension");
            if (n)
                n->end = p->lex.last_end;
            return n;
        }
        list_push(p, first);
        while (close_or_comma(p, SIGN_CLOSE_SQUARE) && !is(p, SIGN_CLOSE_SQUARE))
            list_push(p, parse_item(p));
    }
    take(p, SIGN_CLOSE_SQUARE);
    return with_items(p, SYNTAX_LIST, at, from);
}

static syntax_node *parse_group(parser *p)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    lexer_next(p);
    if (take(p, SIGN_CLOSE))
        return with_items(p, SYNTAX_TUPLE, at, from);
    syntax_node *first = parse_item(p);
    if (at_comprehension(p)) {
        syntax_node *n = parse_comprehension(p, SYNTAX_GENERATOR, at, NULL, first);
        require(p, SIGN_CLOSE, "a generator expression");
        if (n)
            n->end = p->lex.last_end;
        p->grouped = n;
        return n;
    }
    if (take(p, SIGN_CLOSE)) {
        if (first && first->kind == SYNTAX_STARRED)
            return syntax_error(p, first->at, first->end, "a starred item makes sense among others only: (*a,) is a tuple");
        p->grouped = first;
        return first;
    }
    list_push(p, first);
    while (close_or_comma(p, SIGN_CLOSE) && !is(p, SIGN_CLOSE))
        list_push(p, parse_item(p));
    take(p, SIGN_CLOSE);
    syntax_node *n = with_items(p, SYNTAX_TUPLE, at, from);
    p->grouped = n;
    return n;
}

/* A dict's pair, or **dict with *key NULL. */
static syntax_node *parse_pair(parser *p, syntax_node **key)
{
    *key = NULL;
    if (take(p, SIGN_POW))
        return parse_sum_level(p);
    *key = parse_expression(p);
    return require(p, SIGN_COLON, "the key of a dict") ? parse_expression(p) : NULL;
}

/* The missing key of **dict has no node: the list is built by hand. */
static syntax_node *finish_dict(parser *p, uint32_t at, size_t from, syntax_node *none)
{
    syntax_list *items = (syntax_list *)list_take(p, from);
    syntax_node *n = node_from(p, SYNTAX_DICT, at);
    if (!n)
        return NULL;
    n->u.items = items;
    n = node_above_list(p, n, items);
    for (uint32_t i = 0; i < items->n; i += 2)
        if (items->at[i] == none)
            items->at[i] = NULL;
    return n;
}

static syntax_node *parse_dict_rest(parser *p, uint32_t at, size_t from, syntax_node *key, syntax_node *value)
{
    syntax_node *none = node_from(p, SYNTAX_NONE, at);
    list_push(p, key ? key : none);
    list_push(p, value);
    while (close_or_comma(p, SIGN_CLOSE_CURLY) && !is(p, SIGN_CLOSE_CURLY)) {
        value = parse_pair(p, &key);
        list_push(p, key ? key : none);
        list_push(p, value);
    }
    take(p, SIGN_CLOSE_CURLY);
    return finish_dict(p, at, from, none);
}

static syntax_node *curly_comprehension(parser *p, int kind, uint32_t at, syntax_node *key, syntax_node *element)
{
    if (kind == SYNTAX_DICT_COMPREHENSION && !key)
        return syntax_error(p, at, p->lex.now.at, "the element of a dict comprehension is one key: value, not **");
    syntax_node *n = parse_comprehension(p, kind, at, key, element);
    require(p, SIGN_CLOSE_CURLY, "a comprehension");
    if (n)
        n->end = p->lex.last_end;
    return n;
}

static syntax_node *parse_curly(parser *p)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    lexer_next(p);
    if (take(p, SIGN_CLOSE_CURLY))
        return with_items(p, SYNTAX_DICT, at, from);
    bool dict = is(p, SIGN_POW);
    syntax_node *key = NULL, *first = dict ? parse_pair(p, &key) : parse_item(p);
    if (!dict && is(p, SIGN_COLON) && first && first->kind != SYNTAX_STARRED && (first->kind != SYNTAX_NAMED || p->grouped == first)) {
        lexer_next(p);
        dict = true;
        key = first;
        first = parse_expression(p);
    }
    if (at_comprehension(p))
        return curly_comprehension(p, dict ? SYNTAX_DICT_COMPREHENSION : SYNTAX_SET_COMPREHENSION, at, key, first);
    if (dict)
        return parse_dict_rest(p, at, from, key, first);
    list_push(p, first);
    while (close_or_comma(p, SIGN_CLOSE_CURLY) && !is(p, SIGN_CLOSE_CURLY))
        list_push(p, parse_item(p));
    take(p, SIGN_CLOSE_CURLY);
    return with_items(p, SYNTAX_SET, at, from);
}

/* ---- atoms ---- */

static syntax_node *parse_name(parser *p)
{
    token t = p->lex.now;
    uint32_t name = take_name(p, "a name");
    syntax_node *n = node_new(p, SYNTAX_NAME, t.at, t.end);
    if (n)
        n->u.name.name = name;
    return n;
}

static syntax_node *parse_constant(parser *p, int kind)
{
    uint32_t at = p->lex.now.at;
    lexer_next(p);
    return node_from(p, kind, at);
}

static syntax_node *parse_atom(parser *p)
{
    token t = p->lex.now;
    switch (t.kind) {
    case TOKEN_NAME: return parse_name(p);
    case TOKEN_NUMBER: return parse_number(p);
    case TOKEN_STRING: return parse_strings(p);
    case WORD_NONE: return parse_constant(p, SYNTAX_NONE);
    case WORD_TRUE: return parse_constant(p, SYNTAX_TRUE);
    case WORD_FALSE: return parse_constant(p, SYNTAX_FALSE);
    case SIGN_ELLIPSIS: return parse_constant(p, SYNTAX_ELLIPSIS);
    case SIGN_OPEN: return parse_group(p);
    case SIGN_OPEN_SQUARE: return parse_list(p);
    case SIGN_OPEN_CURLY: return parse_curly(p);
    case WORD_YIELD: return not_in_language(p, t.at, t.end, "yield is");
    case WORD_AWAIT: return not_in_language(p, t.at, t.end, "await is");
    case WORD_ASYNC: return not_in_language(p, t.at, t.end, "async is");
    case WORD_CLASS: return not_in_language(p, t.at, t.end, "class is");
    default: return expected(p, "an expression");
    }
}

/* ---- attributes, subscripts, calls ---- */

static syntax_node *parse_attribute(parser *p, uint32_t at, syntax_node *value)
{
    lexer_next(p);
    uint32_t mark = p->lex.now.at, name = take_name(p, "a name after '.'");
    syntax_node *n = value ? node_from(p, SYNTAX_ATTRIBUTE, at) : NULL;
    if (!n)
        return NULL;
    n->mark = mark;
    n->u.attribute.value = value;
    n->u.attribute.name = name;
    return node_above(p, n, value);
}

static syntax_node *slice_part(parser *p)
{
    return is(p, SIGN_COLON) || is(p, SIGN_COMMA) || is(p, SIGN_CLOSE_SQUARE) ? NULL : parse_expression(p);
}

static syntax_node *parse_slice(parser *p, uint32_t at, syntax_node *start)
{
    lexer_next(p);
    syntax_node *stop = slice_part(p), *step = take(p, SIGN_COLON) ? slice_part(p) : NULL;
    syntax_node *n = node_from(p, SYNTAX_SLICE, at);
    if (!n)
        return NULL;
    n->u.slice.start = start;
    n->u.slice.stop = stop;
    n->u.slice.step = step;
    return node_above(p, node_above(p, node_above(p, n, start), stop), step);
}

static syntax_node *parse_index(parser *p)
{
    uint32_t at = p->lex.now.at;
    if (is(p, SIGN_COLON))
        return parse_slice(p, at, NULL);
    syntax_node *e = parse_item(p);
    if (!is(p, SIGN_COLON) || !e)
        return e;
    if (e->kind == SYNTAX_STARRED || (e->kind == SYNTAX_NAMED && p->grouped != e))
        return expected(p, "',' or ']'");
    return parse_slice(p, at, e);
}

static syntax_node *parse_subscript(parser *p, uint32_t start, syntax_node *value)
{
    size_t from = p->nstack;
    lexer_next(p);
    uint32_t at = p->lex.now.at;
    syntax_node *index = parse_index(p);
    if (is(p, SIGN_COMMA) || (index && index->kind == SYNTAX_STARRED)) {
        list_push(p, index);
        while (close_or_comma(p, SIGN_CLOSE_SQUARE) && !is(p, SIGN_CLOSE_SQUARE))
            list_push(p, parse_index(p));
        index = with_items(p, SYNTAX_TUPLE, at, from);
    }
    if (!is(p, SIGN_CLOSE_SQUARE))
        expected(p, "',' or ']'");
    take(p, SIGN_CLOSE_SQUARE);
    return binary(p, SYNTAX_SUBSCRIPT, 0, start, at, value, index);
}

/* A generator that is a call's only argument ends with the call: its parentheses are the call's. */
static void place_generator(const parser *p, const syntax_node *call, uint32_t open)
{
    const syntax_list *arguments = call->u.call.positional;
    if (arguments->n != 1 || call->u.call.keywords->n || arguments->at[0]->kind != SYNTAX_GENERATOR || arguments->at[0] == p->grouped)
        return;
    syntax_node *generator = (syntax_node *)arguments->at[0];
    generator->at = generator->mark = open;
    generator->end = p->lex.last_end;
}

static syntax_node *parse_call(parser *p, uint32_t at, syntax_node *function)
{
    uint32_t open = p->lex.now.at;
    syntax_node *n = function ? node_from(p, SYNTAX_CALL, at) : NULL;
    lexer_next(p);
    if (!n || !parse_enter(p)) {
        parse_leave(p);
        return NULL;
    }
    n->mark = function->mark;
    n->u.call.function = function;
    parse_arguments(p, n);
    parse_leave(p);
    place_generator(p, n, open);
    n->end = p->lex.last_end;
    return node_above_list(p, node_above_list(p, node_above(p, n, function), n->u.call.positional), n->u.call.keywords);
}

static syntax_node *parse_primary(parser *p)
{
    uint32_t at = p->lex.now.at;
    syntax_node *n = parse_atom(p);
    for (;;) {
        if (is(p, SIGN_DOT))
            n = parse_attribute(p, at, n);
        else if (is(p, SIGN_OPEN))
            n = parse_call(p, at, n);
        else if (is(p, SIGN_OPEN_SQUARE))
            n = parse_subscript(p, at, n);
        else
            return n;
    }
}

/* ---- operators ---- */

static syntax_node *parse_power(parser *p)
{
    uint32_t at = p->lex.now.at;
    syntax_node *base = parse_primary(p);
    uint32_t mark = p->lex.now.at;
    return take(p, SIGN_POW) ? binary(p, SYNTAX_BINARY, BINARY_POW, at, mark, base, parse_unary(p)) : base;
}

static syntax_node *parse_unary(parser *p)
{
    token t = p->lex.now;
    int op = t.kind == SIGN_SUB ? UNARY_NEG : t.kind == SIGN_ADD ? UNARY_POS : t.kind == SIGN_INVERT ? UNARY_INVERT : -1;
    syntax_node *n = NULL;
    if (parse_enter(p)) {
        if (op < 0)
            n = parse_power(p);
        else {
            lexer_next(p);
            n = over(p, SYNTAX_UNARY, op, t.at, parse_unary(p));
        }
    }
    parse_leave(p);
    return n;
}

typedef struct operator_row { uint8_t token, level, op; } operator_row;
static const operator_row operators[] = {
    {SIGN_OR_BITS, 1, BINARY_OR}, {SIGN_XOR_BITS, 2, BINARY_XOR}, {SIGN_AND_BITS, 3, BINARY_AND},
    {SIGN_LSHIFT, 4, BINARY_LSHIFT}, {SIGN_RSHIFT, 4, BINARY_RSHIFT}, {SIGN_ADD, 5, BINARY_ADD}, {SIGN_SUB, 5, BINARY_SUB},
    {SIGN_MUL, 6, BINARY_MUL}, {SIGN_MATMUL, 6, BINARY_MATMUL}, {SIGN_DIV, 6, BINARY_DIV}, {SIGN_FLOORDIV, 6, BINARY_FLOORDIV}, {SIGN_MOD, 6, BINARY_MOD},
};

static const operator_row *operator_here(const parser *p, int least)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].token == p->lex.now.kind)
            return operators[i].level >= least ? &operators[i] : NULL;
    return NULL;
}

/* Operators of this level and tighter ones; all of them group from the left. */
static syntax_node *parse_binary(parser *p, int least)
{
    uint32_t at = p->lex.now.at;
    syntax_node *left = parse_unary(p);
    for (const operator_row *o; (o = operator_here(p, least));) {
        uint32_t mark = p->lex.now.at;
        lexer_next(p);
        left = binary(p, SYNTAX_BINARY, o->op, at, mark, left, parse_binary(p, o->level + 1));
    }
    return left;
}

syntax_node *parse_sum_level(parser *p) { return parse_binary(p, 1); }

/* Takes a comparison's operator, or gives -1. */
static int take_comparison(parser *p)
{
    int kind = p->lex.now.kind;
    switch (kind) {
    case SIGN_EQ: lexer_next(p); return COMPARE_EQ;
    case SIGN_NE: lexer_next(p); return COMPARE_NE;
    case SIGN_LT: lexer_next(p); return COMPARE_LT;
    case SIGN_LE: lexer_next(p); return COMPARE_LE;
    case SIGN_GT: lexer_next(p); return COMPARE_GT;
    case SIGN_GE: lexer_next(p); return COMPARE_GE;
    case WORD_IN: lexer_next(p); return COMPARE_IN;
    case WORD_IS: lexer_next(p); return take(p, WORD_NOT) ? COMPARE_IS_NOT : COMPARE_IS;
    case WORD_NOT:
        lexer_next(p);
        require(p, WORD_IN, "'not' between two values");
        return COMPARE_NOT_IN;
    default: return -1;
    }
}

static syntax_node *parse_comparison(parser *p)
{
    uint32_t at = p->lex.now.at;
    syntax_node *first = parse_sum_level(p);
    size_t from = p->nstack;
    text operators_read = {0};
    uint32_t mark = p->lex.now.at;
    for (int op; (op = take_comparison(p)) >= 0;) {
        char byte = (char)op;
        text_addn(&operators_read, &byte, 1);
        list_push(p, parse_sum_level(p));
    }
    if (operators_read.len == 0 && !operators_read.failed)
        return first;
    const syntax_list *rest = list_take(p, from);
    uint8_t *ops = operators_read.failed ? NULL : arena_copy(&p->tree->memory, operators_read.at, operators_read.len);
    text_free(&operators_read);
    syntax_node *n = !ops ? parse_memory(p) : first ? node_from(p, SYNTAX_COMPARE, at) : NULL;
    if (!n)
        return NULL;
    n->mark = mark;
    n->u.compare.first = first;
    n->u.compare.rest = rest;
    n->u.compare.operators = ops;
    return node_above_list(p, node_above(p, n, first), rest);
}

static syntax_node *parse_not(parser *p)
{
    uint32_t at = p->lex.now.at;
    if (!take(p, WORD_NOT))
        return parse_comparison(p);
    syntax_node *n = parse_enter(p) ? over(p, SYNTAX_UNARY, UNARY_NOT, at, parse_not(p)) : NULL;
    parse_leave(p);
    return n;
}

static syntax_node *parse_chain(parser *p, int word, int kind, syntax_node *operand(parser *p))
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    syntax_node *first = operand(p);
    if (!is(p, word))
        return first;
    list_push(p, first);
    while (take(p, word))
        list_push(p, operand(p));
    return with_items(p, kind, at, from);
}

static syntax_node *parse_and(parser *p) { return parse_chain(p, WORD_AND, SYNTAX_AND, parse_not); }
static syntax_node *parse_or(parser *p) { return parse_chain(p, WORD_OR, SYNTAX_OR, parse_and); }

/* ---- lambda, conditional, := ---- */

static syntax_node *parse_lambda(parser *p)
{
    uint32_t at = p->lex.now.at;
    lexer_next(p);
    syntax_function *f = function_new(p, FUNCTION_LAMBDA, "<lambda>", 8);
    if (!f)
        return NULL;
    parse_parameters(p, f, SIGN_COLON, false);
    require(p, SIGN_COLON, "the parameters of a lambda");
    f->value = parse_expression(p);
    syntax_node *n = node_from(p, SYNTAX_LAMBDA, at);
    if (!n)
        return NULL;
    n->u.function = f;
    for (uint32_t i = 0; i < f->nparameters; i++)
        n = node_above(p, n, f->parameters[i].initial);
    return node_above(p, n, f->value);
}

static syntax_node *parse_conditional(parser *p, uint32_t at, syntax_node *then)
{
    lexer_next(p);
    syntax_node *test = parse_or(p), *otherwise = NULL;
    if (require(p, WORD_ELSE, "the condition of a conditional expression"))
        otherwise = parse_expression(p);
    syntax_node *n = then ? node_from(p, SYNTAX_CONDITIONAL, at) : NULL;
    if (!n)
        return NULL;
    n->u.conditional.test = test;
    n->u.conditional.then = then;
    n->u.conditional.otherwise = otherwise;
    return node_above(p, node_above(p, node_above(p, n, test), then), otherwise);
}

syntax_node *parse_expression(parser *p)
{
    syntax_node *n = NULL;
    uint32_t at = p->lex.now.at;
    if (parse_enter(p)) {
        if (is(p, WORD_LAMBDA))
            n = parse_lambda(p);
        else {
            n = parse_or(p);
            if (is(p, WORD_IF))
                n = parse_conditional(p, at, n);
        }
    }
    parse_leave(p);
    return n;
}

syntax_node *parse_named(parser *p)
{
    syntax_node *n = parse_expression(p);
    if (!is(p, SIGN_NAMED) || !n)
        return n;
    if (!is_bare_name(p, n))
        return syntax_error(p, n->at, n->end, "':=' assigns to a name, not to %s", n->kind == SYNTAX_NAME ? "one in parentheses" : describe(n));
    lexer_next(p);
    return binary(p, SYNTAX_NAMED, 0, n->at, n->at, n, parse_expression(p));
}

static syntax_node *parse_listed(parser *p, bool stars)
{
    uint32_t at = p->lex.now.at;
    if (stars && take(p, SIGN_MUL))
        return over(p, SYNTAX_STARRED, 0, at, parse_sum_level(p));
    return parse_expression(p);
}

syntax_node *parse_expressions(parser *p, bool stars)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    syntax_node *first = parse_listed(p, stars);
    if (!is(p, SIGN_COMMA)) {
        if (first && first->kind == SYNTAX_STARRED)
            return syntax_error(p, first->at, first->end, "a starred item makes sense among others only: '*a,' is a tuple");
        return first;
    }
    list_push(p, first);
    while (take(p, SIGN_COMMA) && starts_expression(p))
        list_push(p, parse_listed(p, stars));
    return with_items(p, SYNTAX_TUPLE, at, from);
}
