/* parse_parameters.c: parameters of functions, and arguments of calls.
 *
 * How it works: parameters are drafted in the order in which they are written, with their class, and then sorted into the
 * order of the frame. That no name appears twice is found out in scope.c. */
#include "frontend/language/parser.h"

#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

enum { CLASS_POSITIONAL, CLASS_KEYWORD, CLASS_STAR, CLASS_STARS, NCLASSES };
typedef struct draft { syntax_parameter parameter; int class; } draft;
typedef struct drafts {
    draft *at;
    uint32_t n, cap;
    uint32_t positional_only;
    bool initial;            /* a positional parameter has a default: so must the next ones */
    bool star, bare, stars;  /* "*" or "*args" was there; "*" and no name yet; "**keywords" was there */
} drafts;

static void draft_add(parser *p, drafts *d, int class, bool annotations)
{
    draft new = {.class = class, .parameter.at = p->lex.now.at};
    new.parameter.name = take_name(p, "the name of a parameter");
    if (annotations && take(p, SIGN_COLON)) {
        if (class == CLASS_STAR)
            take(p, SIGN_MUL);
        new.parameter.annotation = parse_expression(p);
    }
    uint32_t at = p->lex.now.at;
    if (take(p, SIGN_ASSIGN)) {
        if (class >= CLASS_STAR)
            syntax_error(p, at, at + 1, "a starred parameter takes what is left: it has no default");
        new.parameter.initial = parse_expression(p);
    }
    if (class == CLASS_POSITIONAL) {
        if (d->initial && !new.parameter.initial)
            syntax_error(p, new.parameter.at, p->lex.last_end, "a parameter without a default stands behind one with a default");
        d->initial = new.parameter.initial != NULL;
    }
    if (d->n == d->cap) {
        draft *more = mem_grow(d->at, d->cap ? d->cap * 2 : 8, sizeof *more);
        if (!more) {
            parse_memory(p);
            return;
        }
        d->at = more;
        d->cap = d->cap ? d->cap * 2 : 8;
    }
    d->at[d->n++] = new;
}

static void draft_one(parser *p, drafts *d, bool annotations)
{
    token t = p->lex.now;
    if (d->stars)
        syntax_error(p, t.at, t.end, "nothing can follow the parameter with '**'");
    else if (take(p, SIGN_DIV)) {
        if (d->n == 0 || d->positional_only || d->star)
            syntax_error(p, t.at, t.end, "'/' stands once, behind the parameters that are positional only and before '*'");
        d->positional_only = d->n;
    } else if (take(p, SIGN_MUL)) {
        if (d->star)
            syntax_error(p, t.at, t.end, "'*' stands once among parameters");
        d->star = true;
        d->bare = !is(p, TOKEN_NAME);
        if (!d->bare)
            draft_add(p, d, CLASS_STAR, annotations);
    } else if (take(p, SIGN_POW)) {
        if (d->bare)
            syntax_error(p, t.at, t.end, "a name must follow the '*' that makes parameters keyword-only");
        d->stars = true;
        draft_add(p, d, CLASS_STARS, annotations);
    } else {
        draft_add(p, d, d->star ? CLASS_KEYWORD : CLASS_POSITIONAL, annotations);
        d->bare = false;
    }
}

static void finish_parameters(parser *p, syntax_function *f, const drafts *d)
{
    syntax_parameter *all = arena_alloc(&p->tree->memory, d->n * sizeof *all);
    if (!all) {
        parse_memory(p);
        return;
    }
    for (int class = 0; class < NCLASSES; class++)
        for (uint32_t i = 0; i < d->n; i++) {
            if (d->at[i].class != class)
                continue;
            all[f->nparameters++] = d->at[i].parameter;
            f->npositional += class == CLASS_POSITIONAL;
            f->star |= class == CLASS_STAR;
            f->stars |= class == CLASS_STARS;
        }
    f->npositional_only = d->positional_only;
    f->parameters = all;
}

void parse_parameters(parser *p, syntax_function *f, int close, bool annotations)
{
    drafts d = {0};
    while (!is(p, close) && !p->failed) {
        draft_one(p, &d, annotations);
        if (!is(p, close) && !take(p, SIGN_COMMA))
            expected(p, close == SIGN_CLOSE ? "',' or ')'" : "',' or ':'");
    }
    if (d.bare)
        syntax_error(p, p->lex.now.at, p->lex.now.end, "a name must follow the '*' that makes parameters keyword-only");
    if (!p->failed)
        finish_parameters(p, f, &d);
    mem_free(d.at);
}

/* ---- arguments ---- */

/* What has been seen so far decides what may follow. */
typedef struct argument_state { bool keyword, stars; uint32_t positional; } argument_state;

static syntax_node *keyword_node(parser *p, uint32_t at, uint32_t name, bool stars, syntax_node *value)
{
    syntax_node *n = node_from(p, SYNTAX_KEYWORD, at);
    if (!n || !value)
        return NULL;
    n->u.keyword.value = value;
    n->u.keyword.name = name;
    n->u.keyword.stars = stars;
    return node_above(p, n, value);
}

static syntax_node *starred_argument(parser *p, argument_state *s, uint32_t at)
{
    if (s->stars)
        syntax_error(p, at, at + 1, "an argument with '*' cannot follow one with '**'");
    lexer_next(p);
    syntax_node *value = parse_expression(p), *n = node_from(p, SYNTAX_STARRED, at);
    if (!n || !value)
        return NULL;
    n->u.operand = value;
    s->positional++;
    return node_above(p, n, value);
}

static syntax_node *plain_argument(parser *p, argument_state *s, uint32_t at)
{
    syntax_node *e = parse_named(p);
    if (!e)
        return NULL;
    if (is(p, SIGN_ASSIGN)) {
        if (!is_bare_name(p, e))
            return syntax_error(p, e->at, p->lex.now.end, "'=' in a call follows the name of a parameter; to compare, write '=='");
        lexer_next(p);
        s->keyword = true;
        return keyword_node(p, at, e->u.name.name, false, parse_expression(p));
    }
    if (is(p, WORD_FOR) || is(p, WORD_ASYNC)) {
        e = parse_comprehension(p, SYNTAX_GENERATOR, at, NULL, e);
        if (e && (s->positional || s->keyword || s->stars || !is(p, SIGN_CLOSE)))
            return syntax_error(p, e->at, e->end, "a generator expression beside other arguments needs parentheses");
    }
    if (s->keyword || s->stars)
        return syntax_error(p, at, e ? e->end : at, "an argument without a name cannot follow one with a name or '**'");
    s->positional++;
    return e;
}

/* Keyword arguments are sorted out of the one list that the stack allows. */
static void divide_arguments(parser *p, syntax_node *call, size_t from)
{
    size_t n = p->nstack - from, positional = 0, keywords;
    syntax_node **items = n ? p->stack + from : NULL, **sorted = mem_array(n, sizeof *sorted);
    if (!sorted) {
        parse_memory(p);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (items[i]->kind != SYNTAX_KEYWORD)
            sorted[positional++] = items[i];
    keywords = positional;
    for (size_t i = 0; i < n; i++)
        if (items[i]->kind == SYNTAX_KEYWORD)
            sorted[keywords++] = items[i];
    if (n)
        memcpy(items, sorted, n * sizeof *sorted);
    mem_free(sorted);
    call->u.call.keywords = list_take(p, from + positional);
    call->u.call.positional = list_take(p, from);
}

static int by_name(const void *a, const void *b)
{
    const syntax_node *const *x = a, *const *y = b;
    uint32_t m = (*x)->u.keyword.name, n = (*y)->u.keyword.name;
    return m != n ? (m > n) - (m < n) : ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

static void check_repeated(parser *p, const syntax_list *keywords)
{
    const syntax_node **sorted = keywords->n > 1 ? mem_array(keywords->n, sizeof *sorted) : NULL;
    if (keywords->n < 2)
        return;
    if (!sorted) {
        parse_memory(p);
        return;
    }
    size_t n = 0;
    for (uint32_t i = 0; i < keywords->n; i++)
        if (!keywords->at[i]->u.keyword.stars)
            sorted[n++] = keywords->at[i];
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1; i < n; i++)
        if (sorted[i]->u.keyword.name == sorted[i - 1]->u.keyword.name)
            syntax_error(p, sorted[i]->at, sorted[i]->end, "the argument '%s' is given twice", p->names[sorted[i]->u.keyword.name]);
    mem_free(sorted);
}

void parse_arguments(parser *p, syntax_node *call)
{
    argument_state s = {0};
    size_t from = p->nstack;
    call->u.call.keywords = call->u.call.positional = list_take(p, from);
    while (!is(p, SIGN_CLOSE) && !p->failed) {
        uint32_t at = p->lex.now.at;
        if (is(p, SIGN_MUL))
            list_push(p, starred_argument(p, &s, at));
        else if (take(p, SIGN_POW)) {
            s.stars = true;
            list_push(p, keyword_node(p, at, 0, true, parse_expression(p)));
        } else
            list_push(p, plain_argument(p, &s, at));
        if (!is(p, SIGN_CLOSE) && !take(p, SIGN_COMMA))
            expected(p, "',' or ')'");
    }
    take(p, SIGN_CLOSE);
    if (!p->failed)
        divide_arguments(p, call, from);
    check_repeated(p, call->u.call.keywords);
}
