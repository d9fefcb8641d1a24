/* syntax_dump.c: a tree as text: one form for tests to compare, (kind parts ...), and a line for each function's scope.
 *
 * How it works: one function calls itself along the tree, whose height is bounded. Lists stand in brackets, what is missing
 * is "-"; with places, expressions are followed by theirs: name@4-7. Nothing here is read by programs that run. */
#include "frontend/language/syntax.h"

#include <string.h>

static const char *const kind_names[NSYNTAX_KINDS] = {
    [SYNTAX_NAME] = "name", [SYNTAX_NONE] = "None", [SYNTAX_TRUE] = "True", [SYNTAX_FALSE] = "False", [SYNTAX_ELLIPSIS] = "...",
    [SYNTAX_INTEGER] = "int", [SYNTAX_BIG_INTEGER] = "big", [SYNTAX_FLOAT] = "float", [SYNTAX_IMAGINARY] = "imaginary",
    [SYNTAX_STRING] = "str", [SYNTAX_BYTES] = "bytes", [SYNTAX_FORMAT_STRING] = "fstring", [SYNTAX_FORMAT_FIELD] = "field",
    [SYNTAX_UNARY] = "unary", [SYNTAX_BINARY] = "binary", [SYNTAX_AND] = "and", [SYNTAX_OR] = "or", [SYNTAX_COMPARE] = "compare",
    [SYNTAX_CONDITIONAL] = "conditional", [SYNTAX_LAMBDA] = "lambda", [SYNTAX_NAMED] = "named", [SYNTAX_ATTRIBUTE] = "attribute",
    [SYNTAX_SUBSCRIPT] = "subscript", [SYNTAX_SLICE] = "slice", [SYNTAX_CALL] = "call", [SYNTAX_KEYWORD] = "keyword",
    [SYNTAX_STARRED] = "starred", [SYNTAX_TUPLE] = "tuple", [SYNTAX_LIST] = "list", [SYNTAX_SET] = "set", [SYNTAX_DICT] = "dict",
    [SYNTAX_LIST_COMPREHENSION] = "listcomp", [SYNTAX_SET_COMPREHENSION] = "setcomp", [SYNTAX_DICT_COMPREHENSION] = "dictcomp",
    [SYNTAX_GENERATOR] = "genexpr", [SYNTAX_CLAUSE] = "for", [SYNTAX_EXPRESSION] = "expression", [SYNTAX_ASSIGN] = "assign",
    [SYNTAX_ANNOTATED] = "annotated", [SYNTAX_AUGMENTED] = "augmented", [SYNTAX_IF] = "if", [SYNTAX_WHILE] = "while",
    [SYNTAX_FOR] = "for", [SYNTAX_DEF] = "def", [SYNTAX_RETURN] = "return", [SYNTAX_DELETE] = "del", [SYNTAX_ASSERT] = "assert",
    [SYNTAX_RAISE] = "raise", [SYNTAX_TRY] = "try", [SYNTAX_HANDLER] = "except", [SYNTAX_WITH] = "with", [SYNTAX_WITH_ITEM] = "item",
    [SYNTAX_IMPORT] = "import", [SYNTAX_IMPORT_FROM] = "from", [SYNTAX_ALIAS] = "alias", [SYNTAX_GLOBAL] = "global",
    [SYNTAX_NONLOCAL] = "nonlocal", [SYNTAX_PASS] = "pass", [SYNTAX_BREAK] = "break", [SYNTAX_CONTINUE] = "continue",
};
static const char *const unary_signs[] = {"-", "+", "~", "not"};
static const char *const binary_signs[] = {"+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"};
static const char *const compare_signs[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is-not", "in", "not-in"};

typedef struct dump { const syntax_tree *tree; text *out; bool places; } dump;

static void put(dump *d, const syntax_node *n);

static void put_list(dump *d, const syntax_list *l)
{
    text_add(d->out, " [");
    for (uint32_t i = 0; i < l->n; i++)
        put(d, l->at[i]);
    text_add(d->out, "]");
}

static void put_items(dump *d, const syntax_list *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        put(d, l->at[i]);
}

static void put_name(dump *d, uint32_t name) { text_add(d->out, " %s", d->tree->names[name]); }

static void put_string(dump *d, const char *s, uint32_t n)
{
    text_addn(d->out, " \"", 2);
    for (uint32_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= ' ' && c < 0x7F && c != '"' && c != '\\')
            text_addn(d->out, s + i, 1);
        else
            text_add(d->out, "\\x%02x", c);
    }
    text_addn(d->out, "\"", 1);
}

static void put_function(dump *d, const syntax_function *f)
{
    text_add(d->out, " (");
    for (uint32_t i = 0; i < f->nparameters; i++) {
        const syntax_parameter *a = &f->parameters[i];
        bool stars = f->stars && i + 1 == f->nparameters, star = f->star && i + 1 + f->stars == f->nparameters;
        const char *class = stars ? "**" : star ? "*" : i < f->npositional_only ? "/" : i < f->npositional ? "" : "=";
        text_add(d->out, " (%s%s", class, d->tree->names[a->name]);
        put(d, a->initial);
        put(d, a->annotation);
        text_add(d->out, ")");
    }
    text_add(d->out, ")");
    if (f->kind == FUNCTION_LAMBDA)
        put(d, f->value);
    else
        put_list(d, f->body);
}

static void put_comprehension(dump *d, const syntax_function *f)
{
    if (f->key)
        put(d, f->key);
    put(d, f->value);
    put_list(d, f->clauses);
}

static void put_expression(dump *d, const syntax_node *n)
{
    switch (n->kind) {
    case SYNTAX_NAME: put_name(d, n->u.name.name); break;
    case SYNTAX_INTEGER: text_add(d->out, " %lld", (long long)n->u.integer); break;
    case SYNTAX_BIG_INTEGER: text_add(d->out, " %u %.*s", n->u.big.base, (int)n->u.big.length, n->u.big.digits); break;
    case SYNTAX_FLOAT: case SYNTAX_IMAGINARY: text_add(d->out, " %.17g", n->u.number); break;
    case SYNTAX_STRING: case SYNTAX_BYTES: put_string(d, n->u.string.at, n->u.string.length); break;
    case SYNTAX_FORMAT_FIELD:
        text_add(d->out, " %c", n->op ? n->op : '-');
        put(d, n->u.field.value);
        put(d, n->u.field.format);
        break;
    case SYNTAX_UNARY: text_add(d->out, " %s", unary_signs[n->op]); put(d, n->u.operand); break;
    case SYNTAX_STARRED: put(d, n->u.operand); break;
    case SYNTAX_BINARY: text_add(d->out, " %s", binary_signs[n->op]); put(d, n->u.binary.left); put(d, n->u.binary.right); break;
    case SYNTAX_FORMAT_STRING: case SYNTAX_AND: case SYNTAX_OR: case SYNTAX_TUPLE: case SYNTAX_LIST: case SYNTAX_SET: case SYNTAX_DICT:
        put_items(d, n->u.items);
        break;
    case SYNTAX_COMPARE:
        put(d, n->u.compare.first);
        for (uint32_t i = 0; i < n->u.compare.rest->n; i++) {
            text_add(d->out, " %s", compare_signs[n->u.compare.operators[i]]);
            put(d, n->u.compare.rest->at[i]);
        }
        break;
    case SYNTAX_CONDITIONAL: put(d, n->u.conditional.test); put(d, n->u.conditional.then); put(d, n->u.conditional.otherwise); break;
    case SYNTAX_LAMBDA: put_function(d, n->u.function); break;
    case SYNTAX_NAMED: put(d, n->u.bind.target); put(d, n->u.bind.value); break;
    case SYNTAX_ATTRIBUTE: put(d, n->u.attribute.value); put_name(d, n->u.attribute.name); break;
    case SYNTAX_SUBSCRIPT: put(d, n->u.subscript.value); put(d, n->u.subscript.index); break;
    case SYNTAX_SLICE: put(d, n->u.slice.start); put(d, n->u.slice.stop); put(d, n->u.slice.step); break;
    case SYNTAX_CALL: put(d, n->u.call.function); put_list(d, n->u.call.positional); put_list(d, n->u.call.keywords); break;
    case SYNTAX_KEYWORD: text_add(d->out, " %s", n->u.keyword.stars ? "**" : d->tree->names[n->u.keyword.name]); put(d, n->u.keyword.value); break;
    case SYNTAX_CLAUSE: put(d, n->u.clause.target); put(d, n->u.clause.iterable); put_list(d, n->u.clause.conditions); break;
    case SYNTAX_LIST_COMPREHENSION: case SYNTAX_SET_COMPREHENSION: case SYNTAX_DICT_COMPREHENSION: case SYNTAX_GENERATOR:
        put_comprehension(d, n->u.function);
        break;
    default: break;
    }
}

static void put_alias(dump *d, const syntax_node *n)
{
    put_name(d, n->u.alias.name);
    if (n->u.alias.renamed)
        put_name(d, n->u.alias.variable.name);
    else
        text_add(d->out, " -");
}

static void put_import_from(dump *d, const syntax_node *n)
{
    const char *module = d->tree->names[n->u.import_from.module];
    text_add(d->out, " %u", n->u.import_from.level);
    put_string(d, module, (uint32_t)strlen(module));
    put_list(d, n->u.import_from.aliases);
}

static void put_statement(dump *d, const syntax_node *n)
{
    switch (n->kind) {
    case SYNTAX_EXPRESSION: case SYNTAX_RETURN: put(d, n->u.operand); break;
    case SYNTAX_ASSIGN: put_list(d, n->u.assign.targets); put(d, n->u.assign.value); break;
    case SYNTAX_ANNOTATED:
        text_add(d->out, " %d", n->u.annotated.simple);
        put(d, n->u.annotated.target);
        put(d, n->u.annotated.annotation);
        put(d, n->u.annotated.value);
        break;
    case SYNTAX_AUGMENTED: text_add(d->out, " %s", binary_signs[n->op]); put(d, n->u.bind.target); put(d, n->u.bind.value); break;
    case SYNTAX_IF: put(d, n->u.branch.test); put_list(d, n->u.branch.then); put_list(d, n->u.branch.otherwise); break;
    case SYNTAX_WHILE: put(d, n->u.loop.iterable); put_list(d, n->u.loop.body); put_list(d, n->u.loop.otherwise); break;
    case SYNTAX_FOR: put(d, n->u.loop.target); put(d, n->u.loop.iterable); put_list(d, n->u.loop.body); put_list(d, n->u.loop.otherwise); break;
    case SYNTAX_DEF: put_name(d, n->u.definition.variable.name); put_function(d, n->u.definition.function); break;
    case SYNTAX_DELETE: case SYNTAX_IMPORT: case SYNTAX_GLOBAL: case SYNTAX_NONLOCAL: put_items(d, n->u.items); break;
    case SYNTAX_ASSERT: put(d, n->u.assert.test); put(d, n->u.assert.sentence); break;
    case SYNTAX_RAISE: put(d, n->u.raise.exception); put(d, n->u.raise.cause); break;
    case SYNTAX_TRY: put_list(d, n->u.try.body); put_list(d, n->u.try.handlers); put_list(d, n->u.try.otherwise); put_list(d, n->u.try.finally); break;
    case SYNTAX_HANDLER:
        put(d, n->u.handler.type);
        text_add(d->out, " %s", n->u.handler.named ? d->tree->names[n->u.handler.variable.name] : "-");
        put_list(d, n->u.handler.body);
        break;
    case SYNTAX_WITH: put_list(d, n->u.with.items); put_list(d, n->u.with.body); break;
    case SYNTAX_WITH_ITEM: put(d, n->u.with_item.context); put(d, n->u.with_item.target); break;
    case SYNTAX_IMPORT_FROM: put_import_from(d, n); break;
    case SYNTAX_ALIAS: put_alias(d, n); break;
    default: break;
    }
}

static void put(dump *d, const syntax_node *n)
{
    if (!n) {
        text_add(d->out, " -");
        return;
    }
    text_add(d->out, " (%s", kind_names[n->kind]);
    if (d->places && n->kind < SYNTAX_EXPRESSION && n->kind != SYNTAX_CLAUSE)
        text_add(d->out, "@%u-%u", n->at, n->end);
    put_expression(d, n);
    put_statement(d, n);
    text_add(d->out, ")");
}

void syntax_dump(const syntax_tree *t, bool places, text *out)
{
    dump d = {t, out, places};
    for (uint32_t i = 0; i < t->module->body->n; i++) {
        put(&d, t->module->body->at[i]);
        text_add(out, "\n");
    }
}

void syntax_dump_scopes(const syntax_tree *t, text *out)
{
    for (uint32_t i = 0; i < t->nfunctions; i++) {
        const syntax_function *f = t->functions[i];
        for (const syntax_function *g = f->around; g; g = g->around)
            text_add(out, "  ");
        text_add(out, "%s:", t->names[f->name]);
        for (uint32_t k = 0; k < f->nlocals; k++)
            text_add(out, " %s%s%s", k < f->nparameters ? "=" : "", t->names[f->slot_names[k]], f->is_cell[k] ? "*" : "");
        for (uint32_t k = 0; k < f->nfree; k++)
            text_add(out, " <%s@%u", t->names[f->slot_names[f->nlocals + k]], f->captures[k]);
        text_add(out, "\n");
    }
}
