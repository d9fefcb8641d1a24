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

const char *make(printer *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *s = make_list(p, format, args);
    va_end(args);
    return s;
}

void put(printer *p, bool block, const char *format, ...) {
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

void unsupported(printer *p, const char *sentence) { if (!p->unsupported) p->unsupported = sentence; }

/* ---- values ---- */

static void declare(printer *p, uint32_t v, expr e) {
    const kinst *x = &p->b->code[v];
    const char *name = name_for(p, v);
    put(p, true, "const %s %s = %s;", c_type[x->type], name, e.text);
    p->b->exprs[v] = primary(p, (ktype)x->type, name);
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
    if (!b->facts[x->b].fold || type == T_BOOL || v->op >= NKOPS || op_arity[v->op] != 2) return false;
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
    expr e = value(p, first ? v->b : v->a);
    const char *name = b->exprs[x->a].text;
    if (v->op == KOP_add && e.literal && !strcmp(e.text, "1")) put(p, false, "%s++;", name);
    else put(p, false, "%s %s= %s;", name, sign, e.have == e.type || e.literal ? e.text : exact(p, e).text);
    return true;
}

/* ---- loops and blocks ---- */

typedef struct open_block { uint32_t header, names; bool has_else, flat; } open_block;
typedef struct block_stack { open_block *at; uint32_t n; } block_stack;

static void open_lines(printer *p, block_stack *s, uint32_t names, const char *header) {
    s->at[s->n++] = (open_block){ .header = p->nlines, .names = names };
    put(p, true, "%s {", header);
    p->indent++;
}

static const char axis_letter[] = "xyz";

/* Blocks of an ordered kernel take numbers, so that a block with a smaller number has always started before. */
static void put_ticket(printer *p, const char *name, const char *type) {
    const kernel *k = p->b->k;
    put(p, true, "__shared__ unsigned taken;   /* blocks start in the order of their numbers */");
    put(p, false, "if (threadIdx.x == 0%s) taken = atomicInc(ticket, gridDim.x - 1);", k->block[1] > 1 || k->block[2] > 1 ? " && threadIdx.y == 0 && threadIdx.z == 0" : "");
    put(p, false, "__syncthreads();");
    put(p, true, "const %s %s = taken;", type, name);
}

/* GRID and BLOCK: blockIdx and threadIdx are the loop. */
static void open_flat(printer *p, block_stack *s, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    s->at[s->n++] = (open_block){ .flat = true };
    bool grid = loop_kind(x) == LOOP_GRID, ordered = grid && b->k && b->k->ordered && loop_axis(x) == 0;
    const char *source = make(p, "%s.%c", grid ? "blockIdx" : "threadIdx", axis_letter[loop_axis(x) % 3]);
    if (b->facts[v].fold && !ordered) {
        b->exprs[v] = (expr){ .text = source, .prec = PREC_POSTFIX, .have = T_U32, .type = x->type, .builtin = true };
        return;
    }
    if (!b->facts[v].uses && !ordered) return;
    const char *name = name_for(p, v);
    if (ordered) put_ticket(p, name, c_type[x->type]);
    else put(p, true, "const %s %s = %s;", c_type[x->type], name, source);
    b->exprs[v] = primary(p, (ktype)x->type, name);
}

static void open_for(printer *p, block_stack *s, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    if (loop_kind(x) == LOOP_LANE) unsupported(p, "a loop over vector lanes, which only a CPU kernel has");
    if (is_flat(x)) {
        open_flat(p, s, v);
        return;
    }
    uint32_t names = b->scope.n;
    expr begin = value(p, x->a), end = value(p, x->b), step = value(p, x->c);
    if (end.have != end.type && !end.literal && ktype_table[end.have].size == ktype_table[end.type].size) end = exact(p, end);
    const char *name = name_for(p, v), *type = c_type[x->type], *limit = within(p, end, PREC_SHIFT);
    b->exprs[v] = primary(p, (ktype)x->type, name);
    if (loop_kind(x) == LOOP_UNROLL) put(p, true, "#pragma unroll");
    if (loop_kind(x) == LOOP_GRID) {
        char c = axis_letter[loop_axis(x) % 3];
        open_lines(p, s, names, make(p, "for (%s %s = blockIdx.%c; %s < %s; %s += gridDim.%c)", type, name, c, name, limit, name, c));
        return;
    }
    const char *next = !strcmp(step.text, "1") ? make(p, "%s++", name) : make(p, "%s += %s", name, step.text);
    open_lines(p, s, names, make(p, "for (%s %s = %s; %s < %s; %s)", type, name, begin.text, name, limit, next));
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
    head->text = make(p, "%.*s %s", (int)n, head->text, only->text);
    head->block = false;
    p->nlines--;
    return true;
}

static void close_block(printer *p, block_stack *s, uint32_t v) {
    body *b = p->b;
    if (!s->n) return;
    open_block o = s->at[--s->n];
    if (o.flat) return;
    const kinst *opened = &b->code[b->code[v].a];
    if (opened->op == K_FOR && loop_kind(opened) == LOOP_GRID && uses_shared(b)) put(p, false, "__syncthreads();   /* before the shared arrays are used again */");
    p->indent--;
    names_reset(b, o.names);
    if (!join_lines(p, &o)) put(p, true, "}");
}

static void put_else(printer *p, block_stack *s) {
    if (!s->n) return;
    open_block *o = &s->at[s->n - 1];
    o->has_else = true;
    names_reset(p->b, o->names);
    p->indent--;
    put(p, true, "} else {");
    p->indent++;
}

static void put_break(printer *p, const block_stack *s, uint32_t v) {
    uint32_t condition = p->b->code[v].a;
    if (s->n && p->nlines == s->at[s->n - 1].header + 1 && !strcmp(p->lines[p->nlines - 1].text, "for (;;) {"))
        p->lines[p->nlines - 1].text = make(p, "while (%s) {", value(p, condition).text);
    else put(p, false, "if (%s) break;", negation(p, condition).text);
}

/* ---- statements ---- */

static void put_array(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    const char *name = name_for(p, v), *type = storage_c_type(p, (ktype)x->type, true);
    uint8_t align = p->b->facts[v].align;
    const char *aligned = align > ktype_table[x->type].size ? make(p, "alignas(%u) ", align) : "";
    put(p, true, "%s%s%s %s[%u];", x->op == K_SHARED ? "__shared__ " : "", aligned, type, name, x->a);
    p->b->exprs[v] = primary(p, (ktype)x->type, name);
}

static void put_comment(printer *p, const kinst *x) {
    const char *s = p->b->k && x->a < p->b->k->ntexts ? p->b->k->texts[x->a] : "";
    if (!strstr(s, "*/")) put(p, true, "/* %s */", s);
}

static void put_return(printer *p, const kinst *x) {
    const body *b = p->b;
    for (uint32_t i = 1; i < x->c; i++) put(p, true, "*result%u = %s;", i, value(p, b->extra[x->b + i]).text);
    if (x->c) put(p, true, "return %s;", value(p, b->extra[x->b]).text);
}

static void statement_or_value(printer *p, uint32_t v, expr e) {
    if (p->b->facts[v].uses) place(p, v, e);
    else put(p, false, "%s;", e.text);
}

static void print_memory(printer *p, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    uint32_t pair = b->facts[v].pair;
    switch (x->op) {
    case K_LOAD:
        if (pair == NOWHERE) place(p, v, express_load(p, v));
        else if (pair > v) print_pair(p, v);
        break;
    case K_STORE:
        if (pair == NOWHERE) print_store(p, v);
        else if (pair < v) print_pair(p, pair);
        break;
    case K_VLOAD: case K_VSTORE: print_vector(p, v); break;
    case K_ATOMIC: statement_or_value(p, v, express_atomic(p, v)); break;
    case K_CAS: statement_or_value(p, v, express_cas(p, v)); break;
    case K_FENCE: put(p, false, "__threadfence();"); break;
    case K_BARRIER: put(p, false, "__syncthreads();"); break;
    default: put_array(p, v); break;
    }
}

static void print_inst(printer *p, block_stack *s, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    if (x->op < NKOPS) {
        place(p, v, express_op(p, v));
        return;
    }
    switch (x->op) {
    case K_PARAM: break;   /* named with the signature */
    case K_CONST: b->exprs[v] = literal(p, (ktype)x->type, (uint64_t)x->c << 32 | x->b); break;
    case K_VAR: {
        const char *name = name_for(p, v);
        put(p, true, "%s %s = %s;", c_type[x->type], name, value(p, x->a).text);
        b->exprs[v] = primary(p, (ktype)x->type, name);
        break;
    }
    case K_GET: place(p, v, primary(p, (ktype)x->type, b->exprs[x->a].text)); break;
    case K_SET:
        if (!set_compound(p, x)) put(p, false, "%s = %s;", b->exprs[x->a].text, value(p, x->b).text);
        break;
    case K_FOR: open_for(p, s, v); break;
    case K_IF: open_lines(p, s, b->scope.n, make(p, "if (%s)", value(p, x->a).text)); break;
    case K_ELSE: put_else(p, s); break;
    case K_LOOP: open_lines(p, s, b->scope.n, "for (;;)"); break;
    case K_BREAK_UNLESS: put_break(p, s, v); break;
    case K_END: close_block(p, s, v); break;
    case K_TABLE:
        use_table(p, x->a);
        b->exprs[v] = primary(p, (ktype)x->type, device_tables[x->a].name);
        break;
    case K_SHUFFLE: place(p, v, express_shuffle(p, v)); break;
    case K_BALLOT: place(p, v, express_ballot(p, v)); break;
    case K_LANE_INDEX: place(p, v, express_lane(p, v)); break;
    case K_FIRST_LANE: unsupported(p, "the first vector lane, which only a CPU kernel has"); break;
    case K_CALL:
        if (device_functions[x->a].nresults > 1) print_call(p, v);
        else place(p, v, express_call(p, v));
        break;
    case K_RESULT: break;  /* named with the call */
    case K_RETURN: put_return(p, x); break;
    case K_FAULT:
        help_use(p, HELP_FAULT);
        put(p, false, "if (%s) raise_fault(fault, %u, %s);", value(p, x->a).text, x->c, value(p, x->b).text);
        break;
    case K_COMMENT: put_comment(p, x); break;
    default: print_memory(p, v); break;
    }
}

void print_body(printer *p, body *b) {
    block_stack s = { arena_alloc(&p->mem, (b->n + 1) * sizeof *s.at), 0 };
    if (!s.at) {
        p->failed = true;
        return;
    }
    p->indent++;
    for (uint32_t v = 0; v < b->n && !p->failed && !p->unsupported; v++) if (b->facts[v].live) print_inst(p, &s, v);
    p->indent--;
}

void flush_lines(printer *p, text *out) {
    for (uint32_t i = 0; i < p->nlines; i++) text_add(out, "%*s%s\n", 4 * p->lines[i].indent, "", p->lines[i].text);
    p->nlines = 0;
}
