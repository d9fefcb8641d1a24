/* parse_target.c: what can be assigned to.
 *
 * How it works: targets are read as expressions, since only a later "=" or "in" tells that they are targets, and then
 * checked. */
#include "frontend/language/parser.h"

static bool check_items(parser *p, const syntax_list *items, bool deleting)
{
    uint32_t starred = 0;
    for (uint32_t i = 0; i < items->n; i++) {
        const syntax_node *n = items->at[i];
        if (n->kind == SYNTAX_STARRED && !deleting) {
            if (++starred > 1)
                return syntax_error(p, n->at, n->end, "only one of several targets can be starred"), false;
            n = n->u.operand;
        }
        if (!check_target(p, n, deleting))
            return false;
    }
    return true;
}

bool check_target(parser *p, const syntax_node *n, bool deleting)
{
    if (!n || p->failed)
        return false;
    switch (n->kind) {
    case SYNTAX_NAME: case SYNTAX_ATTRIBUTE: case SYNTAX_SUBSCRIPT: return true;
    case SYNTAX_TUPLE: case SYNTAX_LIST: return check_items(p, n->u.items, deleting);
    case SYNTAX_STARRED: return syntax_error(p, n->at, n->end, "a starred target makes sense among others only: '*a, = b'"), false;
    default: return syntax_error(p, n->at, n->end, "%s cannot be %s", describe(n), deleting ? "deleted" : "assigned to"), false;
    }
}

static syntax_node *parse_one(parser *p)
{
    uint32_t at = p->lex.now.at;
    if (!take(p, SIGN_MUL))
        return parse_sum_level(p);
    syntax_node *operand = parse_sum_level(p), *n = node_from(p, SYNTAX_STARRED, at);
    if (!n || !operand)
        return NULL;
    n->u.operand = operand;
    return node_above(p, n, operand);
}

syntax_node *parse_targets(parser *p)
{
    uint32_t at = p->lex.now.at;
    size_t from = p->nstack;
    syntax_node *n = parse_one(p);
    if (is(p, SIGN_COMMA)) {
        list_push(p, n);
        while (take(p, SIGN_COMMA) && starts_expression(p))
            list_push(p, parse_one(p));
        const syntax_list *items = list_take(p, from);
        n = node_from(p, SYNTAX_TUPLE, at);
        if (n)
            n->u.items = items;
        n = node_above_list(p, n, items);
    }
    return check_target(p, n, false) ? n : NULL;
}
