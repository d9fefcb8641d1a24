/* dump.c: kernels as text for readers, and as canonical bytes for caches. */
#include <string.h>
#include "ir/kir/kir.h"

/* ---- text ---- */

typedef struct flag_name { uint8_t bit; const char *name; } flag_name;
static const flag_name load_flags[] = { { LOAD_STREAM, "stream" }, { LOAD_READONLY, "readonly" }, { LOAD_ACQUIRE, "acquire" }, { LOAD_RELAXED, "relaxed" },
                                        { LOAD_PAIR0, "pair0" }, { LOAD_PAIR1, "pair1" }, { 0, NULL } };
static const flag_name store_flags[] = { { STORE_STREAM, "stream" }, { STORE_RELEASE, "release" }, { STORE_RELAXED, "relaxed" },
                                         { STORE_PAIR0, "pair0" }, { STORE_PAIR1, "pair1" }, { 0, NULL } };
static const char *const loop_names[] = { "grid", "block", "lane", "serial", "unroll" };
static const char *const atomic_names[] = { "add", "min", "max", "and", "or", "xor", "exchange" };
static const char *const shuffle_names[] = { "xor", "down", "up", "index" };
#define NAME(table, n) ((size_t)(n) < sizeof(table) / sizeof *(table) ? (table)[n] : "?")

static void add_flags(const flag_name *names, uint8_t flags, text *out) {
    for (; names->name; names++) if (flags & names->bit) text_add(out, " %s", names->name);
}

static void dump_params(const kernel *k, text *out) {
    text_add(out, "kernel %s(", k->name);
    for (uint32_t i = 0; i < k->nparams; i++) {
        const kparam *p = &k->params[i];
        text_add(out, "%s%%%u %s%s", i ? ", " : "", i, ktype_table[p->type].name, p->array ? "[]" : "");
        if (p->array) text_add(out, "%s%s%s%s", p->read ? " read" : "", p->written ? " written" : "", p->aliased ? " aliased" : "", p->aligned ? " aligned" : "");
        text_add(out, " %s", p->name ? p->name : "?");
    }
    text_add(out, ")");
    if (k->lanes) text_add(out, " lanes %u", k->lanes);
    if (k->block[0]) text_add(out, " block %u,%u,%u warp %u", k->block[0], k->block[1], k->block[2], k->warp);
    if (k->resident) text_add(out, " resident %u", k->resident);
    text_add(out, "%s%s\n", k->faults ? " faults" : "", k->ordered ? " ordered" : "");
}

static void dump_call(const kernel *k, const kinst *i, text *out) {
    text_add(out, " %s(", i->a < ndevice_functions ? device_functions[i->a].symbol : "?");
    for (uint32_t j = 0; j < i->c && i->b + j < k->nextra; j++) text_add(out, "%s%%%u", j ? ", " : "", k->extra[i->b + j]);
    text_add(out, ")");
}

static void dump_const(const kinst *i, text *out) {
    uint64_t bits = (uint64_t)i->c << 32 | i->b;
    float f;
    double d;
    memcpy(&f, &i->b, sizeof f);
    memcpy(&d, &bits, sizeof d);
    if (i->type == T_F32) text_add(out, " %.9g", (double)f);
    else if (i->type == T_F64) text_add(out, " %.17g", d);
    else if (ktype_table[i->type].is_signed) text_add(out, " %lld", (long long)bits);
    else text_add(out, " %llu", (unsigned long long)bits);
}

/* Instructions whose operands are better shown in a form of their own; false: none. */
static bool dump_special(const kernel *k, const kinst *i, text *out) {
    switch (i->op) {
    case K_PARAM: text_add(out, " %s", i->a < k->nparams && k->params[i->a].name ? k->params[i->a].name : "?"); return true;
    case K_CONST: dump_const(i, out); return true;
    case K_VAR: text_add(out, "%s %%%u", i->flags & VAR_LANES ? " lanes" : "", i->a); return true;
    case K_SET: text_add(out, " %%%u = %%%u", i->a, i->b); return true;
    case K_FOR:
        text_add(out, " %s", NAME(loop_names, loop_kind(i)));
        if (loop_kind(i) <= LOOP_BLOCK) text_add(out, ".%c%s", "xyz?"[loop_axis(i)], i->flags & LOOP_STRIDE ? " stride" : "");
        text_add(out, " %%%u to %%%u step %%%u", i->a, i->b, i->c);
        return true;
    case K_LOCAL: case K_SHARED: text_add(out, "[%u]", i->a); return true;
    case K_TABLE: text_add(out, " %s", i->a < ndevice_tables ? device_tables[i->a].name : "?"); return true;
    case K_LOAD:
        text_add(out, " %%%u[%%%u]", i->a, i->b);
        if (i->c) text_add(out, " where %%%u", i->c - 1);
        add_flags(load_flags, i->flags, out);
        return true;
    case K_STORE:
        text_add(out, " %%%u[%%%u] = %%%u", i->a, i->b, i->c);
        add_flags(store_flags, i->flags, out);
        return true;
    case K_VLOAD: text_add(out, " %%%u = %%%u[%%%u] by %d%s", i->c, i->a, i->b, i->flags & ~LOAD_STREAM, i->flags & LOAD_STREAM ? " stream" : ""); return true;
    case K_VSTORE: text_add(out, " %%%u[%%%u] = %%%u by %d%s", i->a, i->b, i->c, i->flags & ~STORE_STREAM, i->flags & STORE_STREAM ? " stream" : ""); return true;
    case K_ATOMIC: text_add(out, " %s %%%u[%%%u], %%%u", NAME(atomic_names, i->flags), i->a, i->b, i->c); return true;
    case K_CAS:
        text_add(out, " %%%u[%%%u]", i->a, i->b);
        if (i->c + 1 < k->nextra) text_add(out, " from %%%u to %%%u", k->extra[i->c], k->extra[i->c + 1]);
        return true;
    case K_SHUFFLE: text_add(out, " %s %%%u by %%%u width %u", NAME(shuffle_names, i->flags), i->a, i->b, i->c); return true;
    case K_CALL: dump_call(k, i, out); return true;
    case K_RESULT: text_add(out, " %u of %%%u", i->b, i->a); return true;
    case K_FAULT: text_add(out, " if %%%u at %%%u code %u", i->a, i->b, i->c); return true;
    case K_COMMENT: text_add(out, " %s", i->a < k->ntexts ? k->texts[i->a] : "?"); return true;
    case K_ELSE: case K_END: return true;
    default: return false;
    }
}

void kernel_dump(const kernel *k, text *out) {
    int depth = 1;
    if (!kernel_ok(k)) { text_add(out, "kernel (no memory)\n"); return; }
    dump_params(k, out);
    for (uint32_t v = k->nparams; v < k->ncode; v++) {
        const kinst *i = &k->code[v];
        if ((i->op == K_END || i->op == K_ELSE) && depth > 1) depth--;
        text_add(out, "%*s", 2 * depth, "");
        if (i->type != T_VOID) text_add(out, "%%%u = ", v);
        text_add(out, "%s", kinst_name(i->op));
        if (i->type != T_VOID) text_add(out, ".%s", i->type < NKTYPES ? ktype_table[i->type].name : "?");
        if (i->op < NKINSTS && !dump_special(k, i, out)) {
            const uint32_t field[3] = { i->a, i->b, i->c };
            for (int j = 0; j < 3; j++) if (kinst_operands(i) >> j & 1) text_add(out, "%s%%%u", j ? ", " : " ", field[j]);
        }
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

static void add_params(const kernel *k, text *out) {
    add_word(out, k->nparams);
    add_word(out, (uint32_t)k->lanes | (uint32_t)k->warp << 16);
    add_word(out, (uint32_t)k->block[0] | (uint32_t)k->block[1] << 16);
    add_word(out, (uint32_t)k->block[2] | (uint32_t)k->faults << 16 | (uint32_t)k->ordered << 17 | (uint32_t)k->resident << 24);
    for (uint32_t i = 0; i < k->nparams; i++) {
        const kparam *p = &k->params[i];
        add_word(out, (uint32_t)p->type | (uint32_t)p->array << 8 | (uint32_t)p->read << 9 | (uint32_t)p->written << 10 | (uint32_t)p->aliased << 11 | (uint32_t)p->aligned << 12);
    }
}

/* One instruction with operands by their place among all instructions that are no comments. */
static void add_inst(const kernel *k, kinst i, const uint32_t *place, text *out) {
    uint8_t fields = kinst_operands(&i);
    uint32_t number = i.a, list = fields & OPERAND_TWO ? i.c : i.b, n = fields & OPERAND_TWO ? 2 : fields & OPERAND_LIST ? i.c : 0;
    if (fields & OPERAND_A) i.a = place[i.a];
    if (fields & OPERAND_B) i.b = place[i.b];
    if (fields & OPERAND_C) i.c = place[i.c];
    if (fields & OPERAND_MASK && i.c) i.c = place[i.c - 1] + 1;
    if (fields & OPERAND_LIST) i.b = 0;
    if (fields & OPERAND_TWO) i.c = 0;
    bool named = i.op == K_CALL || i.op == K_TABLE;
    if (named) i.a = 0;
    text_addn(out, (const char *)&i, sizeof i);
    for (uint32_t j = 0; j < n; j++) add_word(out, place[k->extra[list + j]]);
    if (named) add_symbol(out, i.op == K_CALL ? device_functions[number].symbol : device_tables[number].name);
}

void kernel_bytes(const kernel *k, text *out) {
    uint32_t *place = mem_array((size_t)k->ncode + 1, sizeof *place), n = 0;
    bool library = false;
    if (!place) { out->failed = true; return; }
    for (uint32_t v = 0; v < k->ncode; v++) {
        place[v] = n;
        n += k->code[v].op != K_COMMENT;
        library |= k->code[v].op == K_CALL || k->code[v].op == K_TABLE;
    }
    add_params(k, out);
    add_word(out, n);
    for (uint32_t v = 0; v < k->ncode; v++) if (k->code[v].op != K_COMMENT) add_inst(k, k->code[v], place, out);
    if (library) text_addn(out, (const char *)&device_digest, sizeof device_digest);
    mem_free(place);
}
