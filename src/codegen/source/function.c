/* function.c: the frame of emitted source: signatures, device functions and constant tables, each printed once before
 * what uses it, and the whole. */
#include <string.h>
#include "codegen/source/source.h"

/* ---- tables ---- */

static const char *table_element(printer *p, ktype type, const void *data, uint32_t i) {
    uint64_t bits = 0;
    const unsigned char *at = (const unsigned char *)data + (size_t)i * ktype_table[type].size;
    memcpy(&bits, at, ktype_table[type].size);   /* little-endian, as every machine this runs on */
    if (type == T_F32 || type == T_F64) return source_float(p, type, bits);
    if (ktype_table[type].is_signed) return source_text(p, ktype_table[type].size == 8 ? "%lldll" : "%lld", (long long)(bits << (64 - 8 * ktype_table[type].size)) >> (64 - 8 * ktype_table[type].size));
    return source_text(p, ktype_table[type].size == 8 ? "0x%llxull" : "0x%llx", (unsigned long long)bits);
}

void source_table(printer *p, uint32_t number) {
    if (p->table_done[number]) return;
    p->table_done[number] = true;
    const ktable *t = &device_tables[number];
    text_add(&p->tables, "static __device__ const %s %s[%u] = {", source_storage(p, t->type, false), t->name, t->count);
    size_t column = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const char *s = table_element(p, t->type, t->data, i);
        if (!column || column + strlen(s) + 2 > 100) {
            text_add(&p->tables, "\n   ");
            column = 3;
        }
        text_add(&p->tables, " %s,", s);
        column += strlen(s) + 2;
    }
    text_add(&p->tables, "\n};\n");
}

/* ---- signatures ---- */

/* "name(" then the parameters, on as many lines as it takes. */
static void put_signature(printer *p, const char *head, const char **parameter, uint32_t n) {
    text t = { 0 };
    text_add(&t, "%s", head);
    size_t column = strlen(head);
    for (uint32_t i = 0; i < n; i++) {
        size_t width = strlen(parameter[i]) + 2;
        if (column + width > LINE_WIDTH) {
            text_add(&t, "\n        ");
            column = 8;
        }
        text_add(&t, "%s%s", parameter[i], i + 1 < n ? ", " : "");
        column += width;
        if (i + 1 < n && column + strlen(parameter[i + 1]) + 2 > LINE_WIDTH) {   /* no blank at the end of a line */
            t.len--;
            t.at[t.len] = 0;
        }
    }
    if (t.failed) p->failed = true;
    else source_line(p, true, "%s) {", t.at);
    text_free(&t);
}

/* Threads that talk through an array read what others wrote: the compiler must not think that it knows the contents. */
static bool is_shared_between_threads(const body *b, const kparam *q) {
    if (!q->read || !q->written) return false;
    for (uint32_t i = 0; i < b->n; i++) {
        const kinst *x = &b->code[i];
        if (x->op == K_FENCE || x->op == K_BARRIER || x->op == K_ATOMIC || x->op == K_CAS) return true;
        if (x->op == K_LOAD && x->flags & (LOAD_ACQUIRE | LOAD_RELAXED)) return true;
    }
    return false;
}

static const char *kernel_parameter(printer *p, body *b, uint32_t i) {
    const kparam *q = &b->k->params[i];
    const char *name = source_name(p, q->name ? q->name : "x");
    b->exprs[i] = source_primary(p, (ktype)b->code[i].type, name);
    if (!q->array) return source_text(p, "%s %s", source_type[ktype_value(q->type)], name);
    const char *alone = q->aliased || is_shared_between_threads(b, q) ? "" : "__restrict__ ";
    return source_text(p, "%s%s *%s%s", q->written ? "" : "const ", source_storage(p, q->type, false), alone, name);
}

static bool put_kernel_signature(printer *p, body *b) {
    const kernel *k = b->k;
    const char **parameter = arena_alloc(&p->mem, (k->nparams + 3) * sizeof *parameter);
    if (!parameter) return false;
    uint32_t n = 0;
    if (k->faults) source_name(p, "fault");
    if (k->ordered) {
        source_name(p, "ticket");
        source_name(p, "taken");
    }
    for (uint32_t i = 0; i < k->nparams; i++) parameter[n++] = kernel_parameter(p, b, i);
    if (k->faults) parameter[n++] = "unsigned long long *fault";
    if (k->ordered) parameter[n++] = "unsigned *ticket";
    unsigned threads = (k->block[0] ? k->block[0] : 1u) * (k->block[1] ? k->block[1] : 1u) * (k->block[2] ? k->block[2] : 1u);
    const char *const part[4] = { source_text(p, "%u", threads), source_text(p, "%u", k->resident), "", "" };
    const char *bounds = source_filled(p, k->resident && p->d->resident ? p->d->resident : p->d->launch_bounds, part);
    put_signature(p, source_text(p, "extern \"C\" __global__ void %s %s(", bounds, k->name), parameter, n);
    return !p->failed;
}

/* ---- device functions ---- */

static const char *function_parameter(printer *p, const kfunction *f, body *b, uint32_t i) {
    static const char *const letter[] = { "x", "y", "z", "w", "u", "v" };
    uint32_t at = 0;
    const char *name = "x";
    for (uint32_t j = 0; j < f->ntakes; j++) {   /* a complex operand is two parameters */
        bool complex = dtype_is_complex(f->takes[j]);
        const char *stem = j < 6 ? letter[j] : source_text(p, "x%u", j);
        if (i == at) name = complex ? source_text(p, "%s_re", stem) : stem;
        if (complex && i == at + 1) name = source_text(p, "%s_im", stem);
        at += complex ? 2 : 1;
    }
    name = source_name(p, name);
    b->exprs[i] = source_primary(p, (ktype)b->code[i].type, name);
    return source_text(p, "%s %s", source_type[b->code[i].type], name);
}

static void put_function_signature(printer *p, const kfunction *f, body *b) {
    const char *parameter[64];
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->nparams && n < 48; i++) parameter[n++] = function_parameter(p, f, b, i);
    for (uint32_t i = 1; i < f->nresults && n < 64; i++) {
        source_name(p, source_text(p, "result%u", i));
        parameter[n++] = source_text(p, "%s *result%u", source_type[f->result_types[i]], i);
    }
    put_signature(p, source_text(p, "static __device__ %s %s(", source_type[f->result_types[0]], f->symbol), parameter, n);
}

static void use_function(printer *p, uint32_t number) {
    if (p->function_done[number]) return;
    p->function_done[number] = true;
    const kfunction *f = &device_functions[number];
    body b = { .code = f->code, .n = f->ncode, .extra = f->extra }, *outer = p->b;
    line *lines = p->lines;
    uint32_t nlines = p->nlines, cap = p->cap_lines;
    int indent = p->indent;
    p->lines = NULL;
    p->nlines = p->cap_lines = 0;
    p->indent = 0;
    p->b = &b;
    if (source_analyse(p, &b)) {
        put_function_signature(p, f, &b);
        source_body(p, &b);   /* prints what this one calls, before it */
        source_line(p, true, "}");
        if (p->functions.len) text_add(&p->functions, "\n");
        source_flush(p, &p->functions);
    } else {
        p->failed = true;
    }
    p->b = outer;
    p->lines = lines;
    p->nlines = nlines;
    p->cap_lines = cap;
    p->indent = indent;
}

static bool takes_vendor(const printer *p, const kfunction *f) { return f->vendor && !p->portable && f->nresults == 1; }

static const char *arguments(printer *p, const kinst *x, bool overloaded) {
    text t = { 0 };
    for (uint32_t i = 0; i < x->c; i++) {
        expr e = source_value(p, p->b->extra[x->b + i]);
        text_add(&t, "%s%s", i ? ", " : "", overloaded ? source_exact(p, e).text : e.text);
    }
    const char *s = t.failed ? NULL : source_text(p, "%s", t.at ? t.at : "");
    if (!s) p->failed = true;
    text_free(&t);
    return s ? s : "";
}

expr source_call(printer *p, uint32_t v) {
    const kinst *x = &p->b->code[v];
    const kfunction *f = &device_functions[x->a];
    bool vendor = takes_vendor(p, f);
    if (!vendor) use_function(p, x->a);
    if (p->failed) return source_primary(p, (ktype)x->type, "0");
    return (expr){ .text = source_text(p, "%s(%s)", vendor ? f->vendor : f->symbol, arguments(p, x, vendor)), .prec = PREC_POSTFIX, .have = x->type, .type = x->type };
}

void source_results(printer *p, uint32_t v) {
    body *b = p->b;
    const kinst *x = &b->code[v];
    const kfunction *f = &device_functions[x->a];
    use_function(p, x->a);
    const char *given = arguments(p, x, false), *more = "";
    for (uint32_t i = 1; i < f->nresults; i++) {
        const char *name = source_name(p, source_text(p, "%s_%u", f->name, i));
        source_line(p, true, "%s %s;", source_type[f->result_types[i]], name);
        more = source_text(p, "%s, &%s", more, name);
        for (uint32_t j = v + 1; j < b->n; j++)
            if (b->code[j].op == K_RESULT && b->code[j].a == v && b->code[j].b == i) b->exprs[j] = source_primary(p, f->result_types[i], name);
    }
    const char *name = source_name_for(p, v);
    source_line(p, true, "const %s %s = %s(%s%s);", source_type[x->type], name, f->symbol, given, more);
    b->exprs[v] = source_primary(p, (ktype)x->type, name);
}

/* ---- the whole ---- */

static void add_part(text *out, const text *part) {
    if (part->len) text_add(out, "%s\n", part->at);
}

static void assemble(printer *p, const kernel *k, const text *main, text *out) {
    text helpers = { 0 };
    for (int i = 0; i < NHELPS; i++) if (p->help[i]) text_add(&helpers, "%s\n", p->d->help[i]);
    if (k->comment && !strstr(k->comment, "*/") && !strchr(k->comment, '\n')) text_add(out, "/* %s */\n", k->comment);
    add_part(out, &p->types);
    add_part(out, &p->tables);
    add_part(out, &helpers);
    add_part(out, &p->atomics);
    add_part(out, &p->functions);
    text_add(out, "%s", main->at ? main->at : "");
    if (helpers.failed) out->failed = true;
    text_free(&helpers);
}

static bool print_all(printer *p, const kernel *k, text *main) {
    p->function_done = arena_zero(&p->mem, ndevice_functions + 1, 1);
    p->table_done = arena_zero(&p->mem, ndevice_tables + 1, 1);
    body b = { .k = k, .code = k->code, .n = k->ncode, .extra = k->extra, .names = k->names };
    p->b = &b;
    if (!p->function_done || !p->table_done || !source_analyse(p, &b) || !put_kernel_signature(p, &b)) {
        p->b = NULL;
        return false;
    }
    source_body(p, &b);
    source_line(p, true, "}");
    source_flush(p, main);
    p->b = NULL;
    return !p->failed && !main->failed && !p->functions.failed && !p->tables.failed && !p->atomics.failed && !p->types.failed;
}

kn_status source_print_as(const kernel *k, dialect d, bool portable, text *out, message *m) {
    if (!kernel_ok(k)) return fail_memory(m, "printing a kernel");
    printer p = { .d = &source_dialects[d], .portable = portable };
    text main = { 0 };
    bool made = print_all(&p, k, &main);
    kn_status status = KN_OK;
    if (p.unsupported) status = fail(m, KN_NOT_AVAILABLE, "source of kernel %s: %s", k->name, p.unsupported);
    else if (!made) status = fail_memory(m, "printing a kernel");
    else {
        assemble(&p, k, &main, out);
        if (out->failed) status = fail_memory(m, "printing a kernel");
    }
    text_free(&main);
    text_free(&p.types);
    text_free(&p.atomics);
    text_free(&p.tables);
    text_free(&p.functions);
    arena_free(&p.mem);
    return status;
}

kn_status source_print(const kernel *k, dialect d, text *out, message *m) { return source_print_as(k, d, false, out, m); }
