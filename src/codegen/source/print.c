/* print.c: the instructions of a body as C statements, one after the other.
 *
 * How it works: every value that is not folded (analyse.c) becomes a constant with a name where it stands in the IR; lines
 * are kept until a block closes, so that a block of one statement can lose its braces. Expressions are made elsewhere. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "codegen/source/source.h"

#define JOINED_WIDTH 100       /* "if (c) statement;" on one line may be this long */

/* ---- lines ---- */

static const char *make_list(printer *p, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *s = n < 0 ? NULL : arena_alloc(&p->mem, (size_t)n + 1);
    if (!s) {
        p->failed = true;
        return "";
    }
    vsnprintf(s, (size_t)n + 1, format, args);
    return s;
}

const char *source_text(printer *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *s = make_list(p, format, args);
    va_end(args);
    return s;
}

void source_line(printer *p, bool block, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *s = make_list(p, format, args);
    va_end(args);
    if (p->nlines == p->cap_lines) {
        uint32_t cap = p->cap_lines ? 2 * p->cap_lines : 64;
        line *more = arena_alloc(&p->mem, cap * sizeof *more);
        if (!more) { p->failed = true; return; }
        if (p->nlines) memcpy(more, p->lines, p->nlines * sizeof *more);
        p->lines = more;
        p->cap_lines = cap;
    }
    p->lines[p->nlines++] = (line){ p->indent, s, block };
}

void source_refuse(printer *p, const char *sentence) { if (!p->unsupported) p->unsupported = sentence; }

/* ---- values ---- */

static void declare(printer *p, uint32_t v, expr e) {
    const kinst *x = &p->b->code[v];
    const char *name = source_name_for(p, v);
    source_line(p, true, "const %s %s = %s;", source_type[x->type], name, e.text);
    p->b->exprs[v] = source_primary(p, (ktype)x->type, name);
    p->b->facts[v].fold = false;
}

/* Unsigned text of a signed value may go on into sums and products only. */
static bool takes_builtin(const kinst *user) { return (user->op == KOP_add || user->op == KOP_mul) && user->type == T_I32; }

static void place(printer *p, uint32_t v, expr e) {
    const fact *f = &p->b->facts[v];
    if (f->fold && !f->repeated && p->b->code[v].op != K_GET) {
        const kinst *user = &p->b->code[f->user];
        size_t width = user->op < NKOPS || user->op == K_CALL || user->op == K_LOAD ? PART_WIDTH : LINE_WIDTH - 24;
        bool odd = e.builtin && e.have != e.type && !takes_builtin(user);
        if (odd || strlen(e.text) > width) {
            declare(p, v, e);
            return;
        }
    }
    if (f->fold) p->b->exprs[v] = e;
    else declare(p, v, e);
}

/* ---- variables ---- */

static bool reads_variable(const body *b, uint32_t v, uint32_t var) {
    return b->facts[v].fold && b->code[v].op == K_GET && b->code[v].a == var;
}

/* x = x + y as x += y, where C computes the same: floats, unsigned numbers and indices. */
static bool set_compound(printer *p, const kinst *x) {
    const body *b = p->b;
    const kinst *v = &b->code[x->b];
    ktype type = (ktype)v->type;
    bool wraps = ktype_table[type].is_int && ktype_table[type].is_signed && ktype_table[type].size >= 4 && !b->facts[x->b].index;
    if (!b->facts[x->b].fold || type == T_BOOL || v->op >= NKOPS || kop_arity((kop)v->op) != 2) return false;
    const char *sign;
    bool swaps = true;
    switch (v->op) {
    case KOP_add: sign = "+"; break;
    case KOP_mul: sign = "*"; break;
    case KOP_sub: sign = "-"; swaps = false; break;
    case KOP_div: sign = "/"; swaps = false; break;
    case KOP_and: sign = "&"; wraps = false; break;
    case KOP_or: sign = "|"; wraps = false; break;
    case KOP_xor: sign = "^"; wraps = false; break;
    default: return false;
    }
    bool first = reads_variable(b, v->a, x->a);
    if (wraps || !(first || (swaps && reads_variable(b, v->b, x->a)))) return false;
    expr e = source_value(p, first ? v->b : v->a);
    const char *name = b->exprs[x->a].text;
    if (v->op == KOP_add && e.literal && !strcmp(e.text, "1")) source_line(p, false, "%s++;", name);
    else source_line(p, false, "%s %s= %s;", name, sign, e.have == e.type || e.literal ? e.text : source_exact(p, e).text);
    return true;
}

/* ---- loops and blocks ---- */

typedef struct open_block { uint32_t header, other, names; bool has_else, flat; } open_block;   /* other: the line of its else */
typedef struct block_stack { open_block *at; uint32_t n; } block_stack;

static void open_lines(printer *p, block_stack *s, uint32_t names, const char *header) {
    s->at[s->n++] = (open_block){ .header = p->nlines, .names = names };
    source_line(p, true, "%s {", header);
    p->indent++;
}

static const char axis_letter[] = "xyz";

/* Blocks of an ordered kernel take numbers, so that a block with a smaller number has always started before. */
static void put_ticket(printer *p, const char *name, const char *type) {
    const kernel *k = p->b->k;
    source_line(p, true, "__shared__ unsigned taken;   /* blocks start in the order of their numbers */");
    source_line(p, false, "if (threadIdx.x == 0%s) taken = atomicInc(ticket, gridDim.x - 1);", k->block[1] > 1 || k->block[2] > 1 ? " && threadIdx.y == 0 && threadIdx.z == 0" : "");
    source_line(p, false, "__syncthreads();");
    source_line(p, true, "const %s %s = taken;", type, name);
}

/* GRID and BLOCK: blockIdx and threadIdx are the loop. */
static void open_flat(printer *p, block_stack *s, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    s->at[s->n++] = (open_block){ .flat = true };
    bool grid = loop_kind(x) == LOOP_GRID, ordered = grid && b->k && b->k->ordered && loop_axis(x) == 0;
    const char *source = source_text(p, "%s.%c", grid ? "blockIdx" : "threadIdx", axis_letter[loop_axis(x) % 3]);
    if (b->facts[v].fold && !ordered) {
        b->exprs[v] = (expr){ .text = source, .prec = PREC_POSTFIX, .have = T_U32, .type = x->type, .builtin = true };
        return;
    }
    if (!b->facts[v].uses && !ordered) return;
    const char *name = source_name_for(p, v);
    if (ordered) put_ticket(p, name, source_type[x->type]);
    else source_line(p, true, "const %s %s = %s;", source_type[x->type], name, source);
    b->exprs[v] = source_primary(p, (ktype)x->type, name);
}

static void open_for(printer *p, block_stack *s, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    if (loop_kind(x) == LOOP_LANE) source_refuse(p, "a loop over vector lanes, which only a CPU kernel has");
    if (source_is_flat(x)) {
        open_flat(p, s, v);
        return;
    }
    uint32_t names = b->scope.n;
    expr begin = source_value(p, x->a), end = source_value(p, x->b), step = source_value(p, x->c);
    if (end.have != end.type && !end.literal && ktype_table[end.have].size == ktype_table[end.type].size) end = source_exact(p, end);
    const char *name = source_name_for(p, v), *type = source_type[x->type], *limit = source_within(p, end, PREC_SHIFT);
    b->exprs[v] = source_primary(p, (ktype)x->type, name);
    if (loop_kind(x) == LOOP_UNROLL) source_line(p, true, "#pragma unroll");
    if (loop_kind(x) == LOOP_GRID) {
        char c = axis_letter[loop_axis(x) % 3];
        open_lines(p, s, names, source_text(p, "for (%s %s = blockIdx.%c; %s < %s; %s += gridDim.%c)", type, name, c, name, limit, name, c));
        return;
    }
    const char *next = !strcmp(step.text, "1") ? source_text(p, "%s++", name) : source_text(p, "%s += %s", name, step.text);
    open_lines(p, s, names, source_text(p, "for (%s %s = %s; %s < %s; %s)", type, name, begin.text, name, limit, next));
}

static bool uses_shared(const body *b) {
    for (uint32_t i = 0; i < b->n; i++) if (b->code[i].op == K_SHARED && b->facts[i].live) return true;
    return false;
}

/* A block of one short statement needs no braces. */
static bool join_lines(printer *p, const open_block *o) {
    if (o->has_else || p->nlines != o->header + 2) return false;
    line *head = &p->lines[o->header], *only = &p->lines[o->header + 1];
    size_t n = strlen(head->text) - 2;
    if (only->block || n + 1 + strlen(only->text) + 4u * (size_t)head->indent > JOINED_WIDTH) return false;
    head->text = source_text(p, "%.*s %s", (int)n, head->text, only->text);
    head->block = false;
    p->nlines--;
    return true;
}

/* } else { if (c) { ... } } as } else if (c) { ... } */
static void join_else(printer *p, const open_block *o) {
    uint32_t h = o->other, n = p->nlines;
    if (!o->has_else || n < h + 3 || strncmp(p->lines[h + 1].text, "if (", 4)) return;
    int inner = p->lines[h + 1].indent;
    bool braces = !strcmp(p->lines[n - 1].text, "}") && p->lines[n - 1].indent == inner;
    for (uint32_t i = h + 2; i < n - 1; i++) braces &= p->lines[i].indent > inner || !strncmp(p->lines[i].text, "} else", 6);
    if (!braces) return;
    p->lines[h].text = source_text(p, "} else %s", p->lines[h + 1].text);
    for (uint32_t i = h + 1; i + 2 < n; i++) {
        p->lines[i] = p->lines[i + 1];
        p->lines[i].indent--;
    }
    p->nlines -= 2;   /* the if, and its closing brace: the outer one closes both */
}

static void close_block(printer *p, block_stack *s, uint32_t v) {
    body *b = p->b;
    if (!s->n) return;
    open_block o = s->at[--s->n];
    if (o.flat) return;
    const kinst *opened = &b->code[b->code[v].a];
    if (opened->op == K_FOR && loop_kind(opened) == LOOP_GRID && uses_shared(b)) source_line(p, false, "__syncthreads();   /* before the shared arrays are used again */");
    p->indent--;
    source_names_reset(b, o.names);
    join_else(p, &o);
    if (!join_lines(p, &o)) source_line(p, true, "}");
}

static void put_else(printer *p, block_stack *s) {
    if (!s->n) return;
    open_block *o = &s->at[s->n - 1];
    o->has_else = true;
    source_names_reset(p->b, o->names);
    p->indent--;
    o->other = p->nlines;
    source_line(p, true, "} else {");
    p->indent++;
}

static void put_break(printer *p, const block_stack *s, uint32_t v) {
    uint32_t condition = p->b->code[v].a;
    if (s->n && p->nlines == s->at[s->n - 1].header + 1 && !strcmp(p->lines[p->nlines - 1].text, "for (;;) {"))
        p->lines[p->nlines - 1].text = source_text(p, "while (%s) {", source_value(p, condition).text);
    else source_line(p, false, "if (%s) break;", source_negation(p, condition).text);
}

/* ---- statements ---- */

static void put_array(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    const char *name = source_name_for(p, v), *type = source_storage(p, (ktype)x->type, true);
    uint8_t align = p->b->facts[v].align;
    const char *aligned = align > ktype_table[x->type].size ? source_text(p, "alignas(%u) ", align) : "";
    source_line(p, true, "%s%s%s %s[%u];", aligned, x->op == K_SHARED ? "__shared__ " : "", type, name, x->a);
    p->b->exprs[v] = source_primary(p, (ktype)x->type, name);
}

static void put_comment(printer *p, const kinst *x) {
    const char *s = p->b->k && x->a < p->b->k->ntexts ? p->b->k->texts[x->a] : "";
    if (!strstr(s, "*/")) source_line(p, true, "/* %s */", s);
}

static void put_return(printer *p, const kinst *x) {
    const body *b = p->b;
    for (uint32_t i = 1; i < x->c; i++) source_line(p, true, "*result%u = %s;", i, source_value(p, b->extra[x->b + i]).text);
    if (x->c) source_line(p, true, "return %s;", source_value(p, b->extra[x->b]).text);
}

static void statement_or_value(printer *p, uint32_t v, expr e) {
    if (p->b->facts[v].uses) place(p, v, e);
    else source_line(p, false, "%s;", e.text);
}

static void print_memory(printer *p, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    uint32_t pair = b->facts[v].pair;
    switch (x->op) {
    case K_LOAD:
        if (pair == NOWHERE) place(p, v, source_load(p, v));
        else if (pair > v) source_pair(p, v);
        break;
    case K_STORE:
        if (pair == NOWHERE) source_store(p, v);
        else if (pair < v) source_pair(p, pair);
        break;
    case K_VLOAD: case K_VSTORE: source_vector(p, v); break;
    case K_ATOMIC: statement_or_value(p, v, source_atomic(p, v)); break;
    case K_CAS: statement_or_value(p, v, source_cas(p, v)); break;
    case K_FENCE: source_line(p, false, "__threadfence();"); break;
    case K_BARRIER: source_line(p, false, "__syncthreads();"); break;
    default: put_array(p, v); break;
    }
}

static void print_inst(printer *p, block_stack *s, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    if (x->op < NKOPS) {
        place(p, v, source_operation(p, v));
        return;
    }
    switch (x->op) {
    case K_PARAM: break;   /* named with the signature */
    case K_CONST: b->exprs[v] = source_literal(p, (ktype)x->type, source_constant(x)); break;
    case K_VAR: {
        const char *name = source_name_for(p, v);
        source_line(p, true, "%s %s = %s;", source_type[x->type], name, source_value(p, x->a).text);
        b->exprs[v] = source_primary(p, (ktype)x->type, name);
        break;
    }
    case K_GET: place(p, v, source_primary(p, (ktype)x->type, b->exprs[x->a].text)); break;
    case K_SET:
        if (!set_compound(p, x)) source_line(p, false, "%s = %s;", b->exprs[x->a].text, source_value(p, x->b).text);
        break;
    case K_FOR: open_for(p, s, v); break;
    case K_IF: open_lines(p, s, b->scope.n, source_text(p, "if (%s)", source_value(p, x->a).text)); break;
    case K_ELSE: put_else(p, s); break;
    case K_LOOP: open_lines(p, s, b->scope.n, "for (;;)"); break;
    case K_BREAK_UNLESS: put_break(p, s, v); break;
    case K_END: close_block(p, s, v); break;
    case K_TABLE:
        source_table(p, x->a);
        b->exprs[v] = source_primary(p, (ktype)x->type, device_tables[x->a].name);
        break;
    case K_SHUFFLE: place(p, v, source_shuffle(p, v)); break;
    case K_BALLOT: place(p, v, source_ballot(p, v)); break;
    case K_LANE_INDEX: place(p, v, source_lane(p, v)); break;
    case K_FIRST_LANE: source_refuse(p, "the first vector lane, which only a CPU kernel has"); break;
    case K_CALL:
        if (device_functions[x->a].nresults > 1) source_results(p, v);
        else place(p, v, source_call(p, v));
        break;
    case K_RESULT: break;  /* named with the call */
    case K_RETURN: put_return(p, x); break;
    case K_FAULT:
        source_help(p, HELP_FAULT);
        source_line(p, false, "if (%s) raise_fault(fault, %u, %s);", source_value(p, x->a).text, x->c, source_value(p, x->b).text);
        break;
    case K_COMMENT: put_comment(p, x); break;
    default: print_memory(p, v); break;
    }
}

void source_body(printer *p, body *b) {
    block_stack s = { arena_alloc(&p->mem, (b->n + 1) * sizeof *s.at), 0 };
    if (!s.at) {
        p->failed = true;
        return;
    }
    p->indent++;
    for (uint32_t v = 0; v < b->n && !p->failed && !p->unsupported; v++) if (b->facts[v].live) print_inst(p, &s, v);
    p->indent--;
}

void source_flush(printer *p, text *out) {
    for (uint32_t i = 0; i < p->nlines; i++) text_add(out, "%*s%s\n", 4 * p->lines[i].indent, "", p->lines[i].text);
    p->nlines = 0;
}
