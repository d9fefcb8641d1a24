/* dump.c: kernels as text for readers, and as canonical bytes for caches. */
#include <string.h>
#include "ir/kir/kir.h"

static const char *const kop_names[NKOPS] = {
#define KOP(name, ...) [KOP_##name] = #name,
#include "ir/kir/kops.def"
};
static const uint8_t kop_arities[NKOPS] = {
#define KOP(name, arity, ...) [KOP_##name] = arity,
#include "ir/kir/kops.def"
};
static const char *const structure_names[] = { "param", "const", "var", "get", "set", "for", "if", "else", "loop", "break_unless", "end", "local", "shared",
    "table", "load", "store", "vload", "vstore", "atomic", "cas", "fence", "barrier", "shuffle", "ballot", "lane_index", "first_lane", "call", "result",
    "return", "fault", "comment" };
_Static_assert(sizeof structure_names / sizeof *structure_names == NKINSTS - NKOPS, "one name an instruction");
static const char *const loop_names[] = { "grid", "block", "lane", "serial", "unroll" };

static void dump_params(const kernel *k, text *out) {
    text_add(out, "kernel %s(", k->name);
    for (uint32_t i = 0; i < k->nparams; i++) {
        const kparam *p = &k->params[i];
        text_add(out, "%s%%%u %s%s%s%s%s %s", i ? ", " : "", i, ktype_table[p->type].name, p->array ? "[]" : "", p->read && p->array ? " read" : "",
                 p->written ? " written" : "", p->aliased ? " aliased" : "", p->name ? p->name : "?");
    }
    text_add(out, ")");
    if (k->lanes) text_add(out, " lanes %u", k->lanes);
    if (k->block[0]) text_add(out, " block %u,%u,%u warp %u", k->block[0], k->block[1], k->block[2], k->warp);
    text_add(out, "%s%s\n", k->faults ? " faults" : "", k->ordered ? " ordered" : "");
}

static void dump_values(const uint32_t *extra, uint32_t at, uint32_t n, text *out) {
    for (uint32_t i = 0; i < n; i++) text_add(out, "%s%%%u", i ? ", " : "", extra[at + i]);
}

static void dump_operands(const kernel *k, const kinst *i, text *out) {
    if (i->op < NKOPS) {
        const uint32_t v[3] = { i->a, i->b, i->c };
        for (int j = 0; j < kop_arities[i->op]; j++) text_add(out, "%s%%%u", j ? ", " : " ", v[j]);
        return;
    }
    switch (i->op) {
    case K_CONST: text_add(out, " 0x%llx", (unsigned long long)i->c << 32 | i->b); break;
    case K_FOR: text_add(out, " %s.%d%s %%%u to %%%u step %%%u", loop_names[loop_kind(i)], loop_axis(i), i->flags & LOOP_STRIDE ? " stride" : "", i->a, i->b, i->c); break;
    case K_CALL:
        text_add(out, " %s(", device_functions[i->a].symbol);
        dump_values(k->extra, i->b, i->c, out);
        text_add(out, ")");
        break;
    case K_COMMENT: text_add(out, " %s", k->texts[i->a]); break;
    case K_LOCAL: case K_SHARED: case K_TABLE: text_add(out, " %u", i->a); break;
    case K_FAULT: text_add(out, " if %%%u at %%%u code %u", i->a, i->b, i->c); break;
    case K_ELSE: case K_LOOP: case K_FENCE: case K_BARRIER: case K_LANE_INDEX: case K_END: break;
    case K_PARAM: text_add(out, " %s", k->params[i->a].name ? k->params[i->a].name : "?"); break;
    case K_LOAD: text_add(out, " %%%u[%%%u]%s flags %u", i->a, i->b, i->c ? " masked" : "", i->flags); break;
    case K_STORE: text_add(out, " %%%u[%%%u] = %%%u flags %u", i->a, i->b, i->c, i->flags); break;
    default: text_add(out, " %%%u %%%u %%%u flags %u", i->a, i->b, i->c, i->flags); break;
    }
}

void kernel_dump(const kernel *k, text *out) {
    int depth = 1;
    dump_params(k, out);
    for (uint32_t v = k->nparams; v < k->ncode; v++) {
        const kinst *i = &k->code[v];
        if ((i->op == K_END || i->op == K_ELSE) && depth > 1) depth--;
        text_add(out, "%*s", 2 * depth, "");
        if (i->type != T_VOID) text_add(out, "%%%u = ", v);
        text_add(out, "%s", i->op < NKOPS ? kop_names[i->op] : structure_names[i->op - NKOPS]);
        if (i->type != T_VOID) text_add(out, ".%s", ktype_table[i->type].name);
        dump_operands(k, i, out);
        if (k->names && k->names[v]) text_add(out, "   ; %s", k->names[v]);
        text_add(out, "\n");
        if (i->op == K_FOR || i->op == K_IF || i->op == K_LOOP || i->op == K_ELSE) depth++;
    }
}

/* ---- canonical bytes ---- */

static void add_word(text *out, uint32_t v) { text_addn(out, (const char *)&v, sizeof v); }

/* Functions and tables go by symbol: their numbers change whenever the library of device functions does. */
static void add_symbol(text *out, const char *s) {
    add_word(out, (uint32_t)strlen(s));
    text_addn(out, s, strlen(s));
}

void kernel_bytes(const kernel *k, text *out) {
    add_word(out, k->nparams);
    add_word(out, (uint32_t)k->lanes | (uint32_t)k->warp << 16);
    add_word(out, (uint32_t)k->block[0] | (uint32_t)k->block[1] << 16);
    add_word(out, (uint32_t)k->block[2] | (uint32_t)k->faults << 16 | (uint32_t)k->ordered << 17);
    for (uint32_t i = 0; i < k->nparams; i++) {
        const kparam *p = &k->params[i];
        add_word(out, (uint32_t)p->type | (uint32_t)p->array << 8 | (uint32_t)p->read << 9 | (uint32_t)p->written << 10 | (uint32_t)p->aliased << 11 | (uint32_t)p->aligned << 12);
    }
    uint32_t comments = 0;
    for (uint32_t v = 0; v < k->ncode; v++) comments += k->code[v].op == K_COMMENT;
    add_word(out, k->ncode - comments);
    for (uint32_t v = 0; v < k->ncode; v++) {
        kinst i = k->code[v];
        if (i.op == K_COMMENT) { add_word(out, UINT32_MAX); continue; }     /* keeps the place: later values count it */
        uint32_t function = i.a;
        if (i.op == K_CALL || i.op == K_TABLE) i.a = 0;
        text_addn(out, (const char *)&i, sizeof i);
        if (i.op == K_CALL) add_symbol(out, device_functions[function].symbol);
        if (i.op == K_TABLE) add_symbol(out, device_tables[function].name);
    }
    add_word(out, k->nextra);
    if (k->nextra) text_addn(out, (const char *)k->extra, k->nextra * sizeof *k->extra);
    text_addn(out, (const char *)&device_digest, sizeof device_digest);
}
