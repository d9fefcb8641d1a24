/* natives.c: calling functions that are written in C: from what was written between the parentheses to one argument a name.
 *
 * How it works: the row's list of names is read at each call; it is short, and there is no second form of it. What a
 * function means must not be put here. */
#include <string.h>
#include "frontend/language/natives.h"

#define PARAMETERS_MOST 16

typedef struct parameter {
    const char *name; size_t length;
    bool optional, positional_only, keyword_only;
    char stars;                                      /* *args: 1, **keywords: 2 */
    const char *type;                                /* of "self: str"; NULL: any */
} parameter;

/* Reads "self: str, /, sep=, *, key=" (each comma with one space behind it). Gives how many there are. */
static int parameters_of(const char *names, parameter *p) {
    int n = 0;
    bool keyword_only = false;
    for (const char *s = names; *s && n < PARAMETERS_MOST;) {
        const char *name = s;
        while (*name == '*') name++;
        const char *after = name;
        while (*after && *after != '=' && *after != ':' && *after != ',' && *after != '/') after++;
        size_t stars = (size_t)(name - s), length = (size_t)(after - name);
        if (*name == '/') {
            for (int i = 0; i < n; i++) p[i].positional_only = true;
        } else if (stars == 1 && !length) keyword_only = true;
        else {
            p[n++] = (parameter){ .name = name, .length = length, .optional = *after == '=' || stars, .keyword_only = keyword_only, .stars = (char)stars,
                                  .type = *after == ':' ? after + 2 : NULL };
            keyword_only |= stars == 1;
        }
        while (*after && *after != ',') after++;
        s = after + (*after ? 2 : 0);                /* ", " */
    }
    return n;
}

typedef struct arguments {
    machine *m;
    const native_row *row;
    parameter p[PARAMETERS_MOST];
    value v[PARAMETERS_MOST];
    int n, rest, rest_named;                         /* where *args and **keywords are, or -1 */
    value tuple, dict;                               /* owned */
} arguments;

static bool positional(const parameter *p) { return !p->keyword_only && !p->stars; }

static bool put_positional(arguments *a, int n, const value *given) {
    int next = 0, most = 0;
    for (int i = 0; i < a->n; i++) most += positional(&a->p[i]);
    if (n > most && a->rest < 0) {
        raise(a->m, "TypeError", "%s() takes %d positional argument%s but %d %s given", a->row->name, most, most == 1 ? "" : "s", n, n == 1 ? "was" : "were");
        return false;
    }
    for (int i = 0; i < a->n && next < n; i++) if (positional(&a->p[i])) a->v[i] = given[next++];
    if (a->rest < 0) return true;
    a->tuple = tuple_value(a->m, (size_t)(n - next), given + next);
    a->v[a->rest] = a->tuple;
    return !absent(a->tuple);
}

static bool put_keyword(arguments *a, const keyword *k) {
    size_t length = strlen(k->name);
    for (int i = 0; i < a->n; i++) {
        const parameter *p = &a->p[i];
        if (p->stars || p->positional_only || p->length != length || memcmp(p->name, k->name, length)) continue;
        if (!absent(a->v[i])) {
            raise(a->m, "TypeError", "%s() got multiple values for argument '%s'", a->row->name, k->name);
            return false;
        }
        a->v[i] = k->v;
        return true;
    }
    if (a->rest_named < 0) {
        raise(a->m, "TypeError", "%s() got an unexpected keyword argument '%s'", a->row->name, k->name);
        return false;
    }
    value name = string_value(a->m, k->name, length);
    bool good = !absent(name) && dict_set(a->m, a->dict, name, k->v);
    value_drop(a->m, name);
    return good;
}

static bool complete(arguments *a) {
    for (int i = 0; i < a->n; i++) {
        const parameter *p = &a->p[i];
        if (absent(a->v[i]) && !p->optional) {
            raise(a->m, "TypeError", "%s() missing required argument: '%.*s'", a->row->name, (int)p->length, p->name);
            return false;
        }
        size_t length = p->type ? strcspn(p->type, ",") : 0;
        const char *is = p->type ? value_type_name(a->v[i]) : NULL;
        bool same = !is || (strlen(is) == length && !memcmp(is, p->type, length)) || (a->v[i].kind == VALUE_BOOL && !memcmp("int", p->type, length));
        if (!same) {
            raise(a->m, "TypeError", "%s() requires a '%.*s' object but received '%s'", a->row->name, (int)length, p->type, is);
            return false;
        }
    }
    return true;
}

static value call_with(machine *m, const native_row *row, const value *args, int n, const keyword *keywords, int nkeywords) {
    if (!row->names) {
        if (nkeywords) return raise(m, "TypeError", "%s() takes no keyword arguments", row->name);
        return row->f(m, args, n);
    }
    arguments a;                                     /* large: what is not used stays as it is */
    a.m = m;
    a.row = row;
    a.n = parameters_of(row->names, a.p);
    a.rest = a.rest_named = -1;
    a.tuple = a.dict = NO_VALUE_;
    for (int i = 0; i < a.n; i++) {
        a.v[i] = NO_VALUE_;
        if (a.p[i].stars == 1) a.rest = i;
        if (a.p[i].stars == 2) a.rest_named = i;
    }
    bool good = true;
    if (a.rest_named >= 0) {
        a.dict = a.v[a.rest_named] = dict_value(m);
        good = !absent(a.dict);
    }
    good = good && put_positional(&a, n, args);
    for (int i = 0; good && i < nkeywords; i++) good = put_keyword(&a, &keywords[i]);
    value result = good && complete(&a) ? row->f(m, a.v, a.n) : NO_VALUE_;
    value_drop(m, a.tuple);
    value_drop(m, a.dict);
    return result;
}

value native_call(machine *m, const native_row *row, const value *self, const value *args, int n, const keyword *keywords, int nkeywords) {
    if (!self) return call_with(m, row, args, n, keywords, nkeywords);
    value few[16], *all = n < 16 ? few : mem_array((size_t)n + 1, sizeof *all);
    if (!all) return raise_memory(m);
    all[0] = *self;
    if (n) memcpy(all + 1, args, (size_t)n * sizeof *all);
    value result = call_with(m, row, all, n + 1, keywords, nkeywords);
    if (all != few) mem_free(all);
    return result;
}

value native_value(machine *m, const native_row *row) {
    native_object *f = (native_object *)object_new(m, VALUE_NATIVE, sizeof *f);
    if (!f) return NO_VALUE_;
    f->row = row;
    return object_value(f);
}

value bound_value(machine *m, const native_row *row, value self) {
    bound_object *b = (bound_object *)object_new(m, VALUE_BOUND, sizeof *b);
    if (!b) return NO_VALUE_;
    b->row = row;
    b->self = value_keep(self);
    return object_value(b);
}
