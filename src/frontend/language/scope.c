/* scope.c: where every name lives: in a slot of its function's frame, in a cell that functions share, or among the globals.
 *
 * How it works: one walk over the tree notes what each function does with each name (a symbol) and every place where one
 * stands (a use). Then each symbol is resolved, as Python does: what a function binds is its own, unless declared
 * otherwise; other names belong to the nearest function around that binds them, which makes that one a cell, passed
 * down through the functions between; the rest is global. Last, slots are numbered and written into the uses.
 * The nodes are constant to everybody else; this pass completes them. Annotations are not looked at. */
#include "frontend/language/parser.h"

#include <string.h>

enum {
    BOUND = 1, PARAMETER = 2, USED = 4, ANNOTATED = 8,
    ITERATION = 16,          /* target of a comprehension's clause */
    GLOBAL = 32, NONLOCAL = 64,   /* declared */
    CELL = 128, FREE = 256   /* found out */
};
#define NOWHERE UINT32_MAX       /* no symbol */

typedef struct symbol { uint32_t scope, name, flags, slot, at; } symbol;
typedef struct scope { syntax_function *function; uint32_t around; } scope;
typedef struct use { syntax_variable *variable; uint32_t symbol; } use;

typedef struct resolver {
    parser *p;
    scope *scopes;
    symbol *symbols;
    use *uses;
    uint32_t nscopes, scopes_cap, nsymbols, symbols_cap, nuses, uses_cap;
    uint32_t *buckets, nbuckets;   /* of symbols, by scope and name: number + 1 */
    uint32_t here;                 /* the scope walked through */
    uint32_t iterables;            /* of comprehensions, around this place */
} resolver;

/* ---- symbols ---- */

/* `array` points to the pointer to the items. */
static bool make_room(resolver *r, void *array, uint32_t n, uint32_t *cap, size_t size)
{
    void *at;
    if (n < *cap)
        return true;
    memcpy(&at, array, sizeof at);
    if (!(at = mem_grow(at, *cap ? 2 * (size_t)*cap : 64, size)))
        return parse_memory(r->p), false;
    memcpy(array, &at, sizeof at);
    *cap = *cap ? 2 * *cap : 64;
    return true;
}

static uint32_t bucket_of(const resolver *r, uint32_t scope, uint32_t name)
{
    uint64_t h = ((uint64_t)scope << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t b = (uint32_t)(h >> 32) & (r->nbuckets - 1);
    while (r->buckets[b]) {
        const symbol *s = &r->symbols[r->buckets[b] - 1];
        if (s->scope == scope && s->name == name)
            break;
        b = (b + 1) & (r->nbuckets - 1);
    }
    return b;
}

static uint32_t find(const resolver *r, uint32_t scope, uint32_t name)
{
    return r->nbuckets ? r->buckets[bucket_of(r, scope, name)] - 1 : NOWHERE;
}

static bool rehash(resolver *r)
{
    uint32_t n = r->nbuckets ? 2 * r->nbuckets : 256, *buckets = mem_zero(n, sizeof *buckets);
    if (!buckets)
        return parse_memory(r->p), false;
    mem_free(r->buckets);
    r->buckets = buckets;
    r->nbuckets = n;
    for (uint32_t i = 0; i < r->nsymbols; i++)
        r->buckets[bucket_of(r, r->symbols[i].scope, r->symbols[i].name)] = i + 1;
    return true;
}

/* The symbol, made if there is none; NOWHERE without memory. */
static uint32_t symbol_of(resolver *r, uint32_t scope, uint32_t name, uint32_t at)
{
    uint32_t known = find(r, scope, name);
    if (known != NOWHERE)
        return known;
    if ((2 * r->nsymbols >= r->nbuckets && !rehash(r)) || !make_room(r, &r->symbols, r->nsymbols, &r->symbols_cap, sizeof *r->symbols))
        return NOWHERE;
    r->buckets[bucket_of(r, scope, name)] = r->nsymbols + 1;
    r->symbols[r->nsymbols] = (symbol){.scope = scope, .name = name, .at = at};
    return r->nsymbols++;
}

static const char *name_of(const resolver *r, uint32_t name) { return r->p->names[name]; }
static uint8_t kind_of(const resolver *r, uint32_t scope) { return r->scopes[scope].function->kind; }

/* `format` takes the name. */
static void complain(resolver *r, uint32_t at, uint32_t name, const char *format)
{
    const char *text = name_of(r, name);
    syntax_error(r->p, at, at + (uint32_t)strlen(text), format, text);
}

/* Notes that a name of this scope stands at `variable` (NULL: nothing to be resolved) and is used so. */
static void note(resolver *r, const syntax_variable *variable, uint32_t name, uint32_t at, uint32_t flags)
{
    uint32_t s = r->p->failed ? NOWHERE : symbol_of(r, r->here, name, at);
    if (s == NOWHERE)
        return;
    if ((flags & BOUND) && strcmp(name_of(r, name), "__debug__") == 0)
        complain(r, at, name, "%s cannot be assigned to");
    if ((flags & PARAMETER) && (r->symbols[s].flags & PARAMETER))
        complain(r, at, name, "the parameter '%s' appears twice");
    if ((flags & ITERATION) && (r->symbols[s].flags & (GLOBAL | NONLOCAL)))
        complain(r, at, name, "'%s' is assigned by ':=' within the comprehension and cannot be its 'for' target");
    r->symbols[s].flags |= flags;
    if (!variable || !make_room(r, &r->uses, r->nuses, &r->uses_cap, sizeof *r->uses))
        return;
    r->uses[r->nuses++] = (use){(syntax_variable *)variable, s};
}

/* ---- the walk ---- */

static void visit(resolver *r, const syntax_node *n);

static void visit_list(resolver *r, const syntax_list *l)
{
    for (uint32_t i = 0; i < l->n && !r->p->failed; i++)
        visit(r, l->at[i]);
}

static void visit_target(resolver *r, const syntax_node *n, uint32_t flags)
{
    switch (n->kind) {
    case SYNTAX_NAME: note(r, &n->u.name, n->u.name.name, n->at, flags | BOUND); break;
    case SYNTAX_STARRED: visit_target(r, n->u.operand, flags); break;
    case SYNTAX_TUPLE: case SYNTAX_LIST:
        for (uint32_t i = 0; i < n->u.items->n; i++)
            visit_target(r, n->u.items->at[i], flags);
        break;
    default: visit(r, n);
    }
}

/* Makes the function's scope the current one; gives the one around it. */
static uint32_t enter(resolver *r, const syntax_function *f)
{
    uint32_t around = r->here;
    if (!make_room(r, &r->scopes, r->nscopes, &r->scopes_cap, sizeof *r->scopes))
        return around;
    syntax_function *mine = (syntax_function *)f;
    mine->around = r->nscopes ? r->scopes[around].function : NULL;
    r->here = r->nscopes;
    r->scopes[r->nscopes++] = (scope){mine, around};
    return around;
}

static void visit_defaults(resolver *r, const syntax_function *f)
{
    for (uint32_t i = 0; i < f->nparameters; i++)
        visit(r, f->parameters[i].initial);
}

static void visit_function(resolver *r, const syntax_function *f)
{
    uint32_t around = enter(r, f);
    for (uint32_t i = 0; i < f->nparameters; i++)
        note(r, NULL, f->parameters[i].name, f->parameters[i].at, PARAMETER | BOUND);
    visit_list(r, f->body);
    visit(r, f->value);
    r->here = around;
}

static void visit_iterable(resolver *r, const syntax_node *n)
{
    r->iterables++;
    visit(r, n);
    r->iterables--;
}

static void visit_comprehension(resolver *r, const syntax_function *f)
{
    visit_iterable(r, f->clauses->at[0]->u.clause.iterable);
    uint32_t around = enter(r, f);
    for (uint32_t i = 0; i < f->clauses->n; i++) {
        const syntax_node *clause = f->clauses->at[i];
        visit_target(r, clause->u.clause.target, ITERATION);
        if (i > 0)
            visit_iterable(r, clause->u.clause.iterable);
        visit_list(r, clause->u.clause.conditions);
    }
    visit(r, f->key);
    visit(r, f->value);
    r->here = around;
}

/* A target of ":=": in a comprehension it is a name of the function around. */
static void visit_named(resolver *r, const syntax_node *n)
{
    const syntax_node *target = n->u.bind.target;
    uint32_t name = target->u.name.name, outer = r->here, inner = r->here;
    if (r->iterables)
        syntax_error(r->p, n->at, n->end, "':=' cannot stand in what a comprehension runs over");
    while (kind_of(r, outer) == FUNCTION_COMPREHENSION && !r->p->failed) {
        uint32_t s = find(r, outer, name);
        if (s != NOWHERE && (r->symbols[s].flags & ITERATION))
            complain(r, n->at, name, "':=' cannot assign to '%s', which this comprehension runs through");
        outer = r->scopes[outer].around;
    }
    visit(r, n->u.bind.value);
    r->here = outer;
    note(r, outer == inner ? &target->u.name : NULL, name, target->at, BOUND);
    r->here = inner;
    uint32_t s = find(r, outer, name);
    if (outer == inner || s == NOWHERE)
        return;
    bool global = kind_of(r, outer) == FUNCTION_MODULE || (r->symbols[s].flags & GLOBAL);
    note(r, &target->u.name, name, target->at, global ? GLOBAL : NONLOCAL);
}

static void visit_annotated(resolver *r, const syntax_node *n)
{
    const syntax_node *target = n->u.annotated.target;
    if (target->kind != SYNTAX_NAME)
        visit(r, target);
    else if (n->u.annotated.simple || n->u.annotated.value) {
        uint32_t s = find(r, r->here, target->u.name.name);
        bool declared = s != NOWHERE && (r->symbols[s].flags & (GLOBAL | NONLOCAL));
        if (declared && n->u.annotated.simple && kind_of(r, r->here) != FUNCTION_MODULE)
            complain(r, target->at, target->u.name.name, "'%s' is declared global or nonlocal and cannot be annotated");
        note(r, &target->u.name, target->u.name.name, target->at, BOUND | (n->u.annotated.simple ? ANNOTATED : 0));
    }
    visit(r, n->u.annotated.value);
}

static void visit_declaration(resolver *r, const syntax_node *n)
{
    bool global = n->kind == SYNTAX_GLOBAL;
    for (uint32_t i = 0; i < n->u.items->n; i++) {
        const syntax_node *item = n->u.items->at[i];
        uint32_t name = item->u.name.name, s = find(r, r->here, name), flags = s == NOWHERE ? 0 : r->symbols[s].flags;
        if (!global && kind_of(r, r->here) == FUNCTION_MODULE)
            complain(r, item->at, name, "'%s' cannot be nonlocal: no function is around it");
        if (flags & PARAMETER)
            complain(r, item->at, name, global ? "'%s' is a parameter and cannot be global" : "'%s' is a parameter and cannot be nonlocal");
        else if (flags & (BOUND | USED | ANNOTATED))
            complain(r, item->at, name, global ? "'%s' is used before it is declared global" : "'%s' is used before it is declared nonlocal");
        if (flags & (global ? NONLOCAL : GLOBAL))
            complain(r, item->at, name, "'%s' is declared global and nonlocal");
        note(r, &item->u.name, name, item->at, global ? GLOBAL : NONLOCAL);
    }
}

static void visit_import(resolver *r, const syntax_list *aliases)
{
    for (uint32_t i = 0; i < aliases->n; i++) {
        const syntax_node *n = aliases->at[i];
        uint32_t name = n->u.alias.variable.name;
        if (strcmp(name_of(r, name), "*") != 0)
            note(r, &n->u.alias.variable, name, n->at, BOUND);
    }
}

static void visit_try(resolver *r, const syntax_node *n)
{
    visit_list(r, n->u.try.body);
    for (uint32_t i = 0; i < n->u.try.handlers->n; i++) {
        const syntax_node *h = n->u.try.handlers->at[i];
        visit(r, h->u.handler.type);
        if (h->u.handler.named)
            note(r, &h->u.handler.variable, h->u.handler.variable.name, h->mark, BOUND);
        visit_list(r, h->u.handler.body);
    }
    visit_list(r, n->u.try.otherwise);
    visit_list(r, n->u.try.finally);
}

static void visit_expression(resolver *r, const syntax_node *n)
{
    switch (n->kind) {
    case SYNTAX_NAME: note(r, &n->u.name, n->u.name.name, n->at, USED); break;
    case SYNTAX_FORMAT_FIELD: visit(r, n->u.field.value); visit(r, n->u.field.format); break;
    case SYNTAX_UNARY: case SYNTAX_STARRED: visit(r, n->u.operand); break;
    case SYNTAX_BINARY: visit(r, n->u.binary.left); visit(r, n->u.binary.right); break;
    case SYNTAX_FORMAT_STRING: case SYNTAX_AND: case SYNTAX_OR: case SYNTAX_TUPLE: case SYNTAX_LIST: case SYNTAX_SET: case SYNTAX_DICT:
        visit_list(r, n->u.items);
        break;
    case SYNTAX_COMPARE: visit(r, n->u.compare.first); visit_list(r, n->u.compare.rest); break;
    case SYNTAX_CONDITIONAL:
        visit(r, n->u.conditional.test);
        visit(r, n->u.conditional.then);
        visit(r, n->u.conditional.otherwise);
        break;
    case SYNTAX_LAMBDA: visit_defaults(r, n->u.function); visit_function(r, n->u.function); break;
    case SYNTAX_NAMED: visit_named(r, n); break;
    case SYNTAX_ATTRIBUTE: visit(r, n->u.attribute.value); break;
    case SYNTAX_SUBSCRIPT: visit(r, n->u.subscript.value); visit(r, n->u.subscript.index); break;
    case SYNTAX_SLICE: visit(r, n->u.slice.start); visit(r, n->u.slice.stop); visit(r, n->u.slice.step); break;
    case SYNTAX_CALL: visit(r, n->u.call.function); visit_list(r, n->u.call.positional); visit_list(r, n->u.call.keywords); break;
    case SYNTAX_KEYWORD: visit(r, n->u.keyword.value); break;
    case SYNTAX_LIST_COMPREHENSION: case SYNTAX_SET_COMPREHENSION: case SYNTAX_DICT_COMPREHENSION: case SYNTAX_GENERATOR:
        visit_comprehension(r, n->u.function);
        break;
    default: break;
    }
}

static void visit_statement(resolver *r, const syntax_node *n)
{
    switch (n->kind) {
    case SYNTAX_EXPRESSION: case SYNTAX_RETURN: visit(r, n->u.operand); break;
    case SYNTAX_ASSIGN:
        visit(r, n->u.assign.value);
        for (uint32_t i = 0; i < n->u.assign.targets->n; i++)
            visit_target(r, n->u.assign.targets->at[i], 0);
        break;
    case SYNTAX_ANNOTATED: visit_annotated(r, n); break;
    case SYNTAX_AUGMENTED: visit_target(r, n->u.bind.target, 0); visit(r, n->u.bind.value); break;
    case SYNTAX_IF: visit(r, n->u.branch.test); visit_list(r, n->u.branch.then); visit_list(r, n->u.branch.otherwise); break;
    case SYNTAX_WHILE: case SYNTAX_FOR:
        if (n->u.loop.target)
            visit_target(r, n->u.loop.target, 0);
        visit(r, n->u.loop.iterable);
        visit_list(r, n->u.loop.body);
        visit_list(r, n->u.loop.otherwise);
        break;
    case SYNTAX_DEF:
        visit_defaults(r, n->u.definition.function);
        note(r, &n->u.definition.variable, n->u.definition.variable.name, n->mark, BOUND);
        visit_function(r, n->u.definition.function);
        break;
    case SYNTAX_DELETE:
        for (uint32_t i = 0; i < n->u.items->n; i++)
            visit_target(r, n->u.items->at[i], 0);
        break;
    case SYNTAX_ASSERT: visit(r, n->u.assert.test); visit(r, n->u.assert.sentence); break;
    case SYNTAX_RAISE: visit(r, n->u.raise.exception); visit(r, n->u.raise.cause); break;
    case SYNTAX_TRY: visit_try(r, n); break;
    case SYNTAX_WITH:
        for (uint32_t i = 0; i < n->u.with.items->n; i++) {
            const syntax_node *item = n->u.with.items->at[i];
            visit(r, item->u.with_item.context);
            if (item->u.with_item.target)
                visit_target(r, item->u.with_item.target, 0);
        }
        visit_list(r, n->u.with.body);
        break;
    case SYNTAX_IMPORT: visit_import(r, n->u.items); break;
    case SYNTAX_IMPORT_FROM: visit_import(r, n->u.import_from.aliases); break;
    case SYNTAX_GLOBAL: case SYNTAX_NONLOCAL: visit_declaration(r, n); break;
    default: break;
    }
}

static void visit(resolver *r, const syntax_node *n)
{
    if (!n || r->p->failed)
        return;
    if (n->kind < SYNTAX_EXPRESSION)
        visit_expression(r, n);
    else
        visit_statement(r, n);
}

/* ---- resolving ---- */

static bool is_own(const symbol *s) { return (s->flags & BOUND) && !(s->flags & (GLOBAL | NONLOCAL)); }

/* Whether the functions from this scope outwards bind the name; then it gets a cell, which each of them passes down. */
static bool find_around(resolver *r, uint32_t scope, uint32_t name, uint32_t at)
{
    if (kind_of(r, scope) == FUNCTION_MODULE)
        return false;
    uint32_t s = find(r, scope, name);
    if (s != NOWHERE && (r->symbols[s].flags & GLOBAL))
        return false;
    if (s != NOWHERE && is_own(&r->symbols[s])) {
        r->symbols[s].flags |= CELL;
        return true;
    }
    if (s != NOWHERE && (r->symbols[s].flags & FREE))
        return true;
    if (!find_around(r, r->scopes[scope].around, name, at) || (s = symbol_of(r, scope, name, at)) == NOWHERE)
        return false;
    r->symbols[s].flags |= FREE;
    return true;
}

static void resolve(resolver *r, uint32_t i)
{
    symbol s = r->symbols[i];
    if (kind_of(r, s.scope) == FUNCTION_MODULE || is_own(&s) || (s.flags & (GLOBAL | FREE)))
        return;
    if (find_around(r, r->scopes[s.scope].around, s.name, s.at))
        r->symbols[i].flags |= FREE;
    else if (s.flags & NONLOCAL)
        complain(r, s.at, s.name, "'%s' is declared nonlocal, but no function around binds it");
}

/* ---- slots ---- */

static void number_slots(resolver *r)
{
    for (int free = 0; free < 2; free++)
        for (uint32_t i = 0; i < r->nsymbols; i++) {
            symbol *s = &r->symbols[i];
            syntax_function *f = r->scopes[s->scope].function;
            if (f->kind == FUNCTION_MODULE)
                continue;
            if (free && (s->flags & FREE))
                s->slot = f->nlocals + f->nfree++;
            else if (!free && is_own(s))
                s->slot = f->nlocals++;
        }
}

static bool make_tables(resolver *r)
{
    arena *memory = &r->p->tree->memory;
    const syntax_function **all = arena_zero(memory, r->nscopes, sizeof *all);
    if (!all)
        return parse_memory(r->p), false;
    r->p->tree->functions = all;
    r->p->tree->nfunctions = r->nscopes;
    for (uint32_t i = 0; i < r->nscopes; i++) {
        syntax_function *f = r->scopes[i].function;
        all[i] = f;
        f->slot_names = arena_zero(memory, f->nlocals + f->nfree, sizeof *f->slot_names);
        f->is_cell = arena_zero(memory, f->nlocals, sizeof *f->is_cell);
        f->captures = arena_zero(memory, f->nfree, sizeof *f->captures);
        if (!f->slot_names || !f->is_cell || !f->captures)
            return parse_memory(r->p), false;
    }
    return true;
}

static void fill_tables(resolver *r)
{
    for (uint32_t i = 0; i < r->nsymbols; i++) {
        const symbol *s = &r->symbols[i];
        syntax_function *f = r->scopes[s->scope].function;
        if (f->kind == FUNCTION_MODULE || !(is_own(s) || (s->flags & FREE)))
            continue;
        ((uint32_t *)f->slot_names)[s->slot] = s->name;
        if (s->flags & FREE)
            ((uint32_t *)f->captures)[s->slot - f->nlocals] = r->symbols[find(r, r->scopes[s->scope].around, s->name)].slot;
        else
            ((bool *)f->is_cell)[s->slot] = s->flags & CELL;
    }
    for (uint32_t i = 0; i < r->nuses; i++) {
        const symbol *s = &r->symbols[r->uses[i].symbol];
        syntax_variable *v = r->uses[i].variable;
        bool global = kind_of(r, s->scope) == FUNCTION_MODULE || !(is_own(s) || (s->flags & FREE));
        v->name = s->name;
        v->slot = s->slot;
        v->where = global ? WHERE_GLOBAL : s->flags & (CELL | FREE) ? WHERE_CELL : WHERE_LOCAL;
    }
}

void scope_resolve(parser *p)
{
    resolver r = {.p = p};
    visit_function(&r, p->tree->module);
    for (uint32_t i = 0; i < r.nsymbols && !p->failed; i++)
        resolve(&r, i);
    if (!p->failed) {
        number_slots(&r);
        if (make_tables(&r))
            fill_tables(&r);
    }
    mem_free(r.scopes);
    mem_free(r.symbols);
    mem_free(r.uses);
    mem_free(r.buckets);
}
