/* knc.c: device functions: the .kn files of src/device become tables of kernel IR, compiled into the library.
 *
 * knc OUTPUT.c FILE.kn ...
 *
 * How it works: a file is parsed into syntax trees; every function is compiled once for each list of operand types it is
 * declared for, straight into kernel IR. Calls between .kn functions are expanded in place, so that a device function
 * never calls another. Complex numbers are pairs of values here and nothing else afterwards. docs/device-functions.md
 * describes the language. What functions compute must not be put here. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ir/kir/kir.h"

/* The builder asks for these; nothing here makes a CALL, and TABLEs are numbered below. */
const kfunction device_functions[1];
const uint32_t ndevice_functions = 0;
const ktable device_tables[1];
const uint32_t ndevice_tables = 0;
const digest device_digest;

#define MOST 4096
#define MOST_PARAMS 16
#define MOST_DEPTH 40

/* ---- errors ---- */

static const char *file_name;
static int line_number;

static _Noreturn void stop(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file_name, line_number);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static void *get(size_t n) {
    void *p = calloc(1, n ? n : 1);
    if (!p) stop("out of memory");
    return p;
}

/* ---- words ---- */

typedef enum { END_OF_FILE, NAME, NUMBER, STRING, SIGN } word_kind;
static struct { word_kind kind; char text[128]; } word;
static const char *at;

static const char *const signs[] = { "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "->", "..", NULL };

static bool letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool digit(int c) { return c >= '0' && c <= '9'; }

static void take(word_kind kind, size_t n) {
    if (n >= sizeof word.text) stop("a word is too long");
    word.kind = kind;
    memcpy(word.text, at, n);
    word.text[n] = 0;
    at += n;
}

static size_t number_length(void) {
    size_t n = 0;
    bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    if (hex) n = 2;
    for (;; n++) {
        char c = at[n];
        if (c == '.' && at[n + 1] == '.') return n;
        if ((c == '+' || c == '-') && n && strchr(hex ? "pP" : "eE", at[n - 1])) continue;
        if (!digit(c) && !letter(c) && c != '.') return n;
    }
}

static void next(void) {
    for (;;) {
        while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') if (*at++ == '\n') line_number++;
        if (*at != '#') break;
        while (*at && *at != '\n') at++;
    }
    if (!*at) { word.kind = END_OF_FILE; strcpy(word.text, "the end of the file"); return; }
    if (letter(*at)) {
        size_t n = 1;
        while (letter(at[n]) || digit(at[n])) n++;
        take(NAME, n);
    } else if (digit(*at) || (*at == '.' && digit(at[1]))) {
        take(NUMBER, number_length());
    } else if (*at == '"') {
        const char *end = strchr(at + 1, '"');
        if (!end) stop("a string without end");
        at++;
        take(STRING, (size_t)(end - at));
        at++;
    } else {
        for (int i = 0; signs[i]; i++) if (!strncmp(at, signs[i], 2)) { take(SIGN, 2); return; }
        take(SIGN, 1);
    }
}

static bool is(const char *s) { return word.kind != STRING && !strcmp(word.text, s); }
static bool accept(const char *s) { if (!is(s)) return false; next(); return true; }
static void expect(const char *s) { if (!accept(s)) stop("expected '%s', found '%s'", s, word.text); }
static char *name(void) {
    if (word.kind != NAME) stop("expected a name, found '%s'", word.text);
    char *s = get(strlen(word.text) + 1);
    strcpy(s, word.text);
    next();
    return s;
}

/* ---- syntax trees ---- */

typedef enum { T_NUMBER, T_NAME, T_CALL, T_UNARY, T_BINARY, T_CHOICE, T_FIELD, T_ELEMENT, T_LET, T_VAR, T_ASSIGN, T_IF, T_WHILE, T_FOR, T_RETURN, T_BLOCK } tree_kind;
typedef struct tree tree;
struct tree {
    tree_kind kind;
    int line;
    char *text;                    /* name, operator, number */
    tree *kid[MOST_PARAMS]; int nkids;
    char *names[MOST_PARAMS]; int nnames;   /* LET of several results */
    tree **list; int nlist;        /* BLOCK */
};

typedef struct function {
    char *name, *vendor, *type_name;         /* type_name: T of `for T in (...)`, or NULL */
    char *types[16]; int ntypes;
    char *vendors[16];                       /* per type, or NULL */
    char *params[MOST_PARAMS], *param_types[MOST_PARAMS]; int nparams;
    char *results[8]; int nresults;
    tree *body;
    const char *file; int line;
} function;
static function *functions[MOST]; static int nfunctions;

typedef struct table { char *name; ktype type; double *f; uint64_t *u; int n; } table;
static table tables[256]; static int ntables;

static tree *node(tree_kind kind, char *text) {
    tree *t = get(sizeof *t);
    t->kind = kind;
    t->text = text;
    t->line = line_number;
    return t;
}

static tree *expression(void);

static char *copy(const char *s) { char *p = get(strlen(s) + 1); return strcpy(p, s); }

static tree *primary(void) {
    if (word.kind == NUMBER) {
        tree *t = node(T_NUMBER, copy(word.text));
        next();
        return t;
    }
    if (accept("(")) {
        tree *t = expression();
        expect(")");
        return t;
    }
    tree *t = node(T_NAME, name());
    if (!accept("(")) return t;
    t->kind = T_CALL;
    while (!is(")")) {
        if (t->nkids == MOST_PARAMS) stop("too many arguments");
        t->kid[t->nkids++] = expression();
        if (!accept(",")) break;
    }
    expect(")");
    return t;
}

static tree *postfix(void) {
    tree *t = primary();
    for (;;) {
        if (is(".") ) {
            next();
            tree *f = node(T_FIELD, name());
            f->kid[f->nkids++] = t;
            t = f;
        } else if (accept("[")) {
            tree *e = node(T_ELEMENT, t->text);
            e->kid[e->nkids++] = expression();
            expect("]");
            t = e;
        } else {
            return t;
        }
    }
}

static tree *unary(void) {
    if (is("-") || is("!") || is("~")) {
        tree *t = node(T_UNARY, copy(word.text));
        next();
        t->kid[t->nkids++] = unary();
        return t;
    }
    return postfix();
}

static const char *const levels[][5] = { { "||" }, { "&&" }, { "|" }, { "^" }, { "&" }, { "==", "!=" }, { "<", "<=", ">", ">=" }, { "<<", ">>" }, { "+", "-" }, { "*", "/", "%" } };
#define NLEVELS ((int)(sizeof levels / sizeof *levels))

static tree *binary(int level) {
    if (level == NLEVELS) return unary();
    tree *left = binary(level + 1);
    for (;;) {
        bool found = false;
        for (int i = 0; i < 5 && levels[level][i] && !found; i++) found = word.kind == SIGN && is(levels[level][i]);
        if (!found) return left;
        tree *t = node(T_BINARY, copy(word.text));
        next();
        t->kid[0] = left;
        t->kid[1] = binary(level + 1);
        t->nkids = 2;
        left = t;
    }
}

static tree *expression(void) {
    tree *c = binary(0);
    if (!accept("?")) return c;
    tree *t = node(T_CHOICE, NULL);
    t->kid[0] = c;
    t->kid[1] = expression();
    expect(":");
    t->kid[2] = expression();
    t->nkids = 3;
    return t;
}

static tree *block(void);

static tree *if_statement(void) {
    tree *t = node(T_IF, NULL);
    t->kid[t->nkids++] = expression();
    t->kid[t->nkids++] = block();
    if (accept("else")) t->kid[t->nkids++] = accept("if") ? if_statement() : block();
    return t;
}

static tree *let_statement(void) {
    tree *t = node(T_LET, NULL);
    if (accept("(")) {
        do t->names[t->nnames++] = name(); while (accept(",") && t->nnames < MOST_PARAMS);
        expect(")");
    } else {
        t->names[t->nnames++] = name();
    }
    expect("=");
    t->kid[t->nkids++] = expression();
    expect(";");
    return t;
}

static tree *statement(void) {
    if (accept("let")) return let_statement();
    if (accept("if")) return if_statement();
    tree *t;
    if (accept("var")) {
        t = node(T_VAR, name());
        expect("=");
        t->kid[t->nkids++] = expression();
        expect(";");
    } else if (accept("while")) {
        t = node(T_WHILE, NULL);
        t->kid[t->nkids++] = expression();
        t->kid[t->nkids++] = block();
    } else if (accept("for")) {
        t = node(T_FOR, name());
        expect("in");
        t->kid[t->nkids++] = binary(0);
        expect("..");
        t->kid[t->nkids++] = binary(0);
        t->kid[t->nkids++] = block();
    } else if (accept("return")) {
        t = node(T_RETURN, NULL);
        do t->kid[t->nkids++] = expression(); while (accept(",") && t->nkids < MOST_PARAMS);
        expect(";");
    } else {
        t = node(T_ASSIGN, name());
        expect("=");
        t->kid[t->nkids++] = expression();
        expect(";");
    }
    return t;
}

static tree *block(void) {
    tree *t = node(T_BLOCK, NULL);
    expect("{");
    while (!is("}")) {
        if (word.kind == END_OF_FILE) stop("a block without end");
        t->list = realloc(t->list, (size_t)(t->nlist + 1) * sizeof *t->list);
        if (!t->list) stop("out of memory");
        t->list[t->nlist++] = statement();
    }
    expect("}");
    return t;
}

/* ---- declarations ---- */

static const char *const type_names[NDTYPES] = { NULL, "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", NULL, NULL, "f32", "f64", "c64", "c128" };

static kn_dtype type_named(const char *s) {
    for (int t = 1; t < NDTYPES; t++) if (type_names[t] && !strcmp(type_names[t], s)) return (kn_dtype)t;
    return KN_DTYPE_UNSET;
}

static void parse_function(function *f) {
    f->file = file_name;
    f->line = line_number;
    f->name = name();
    expect("(");
    while (!is(")")) {
        if (f->nparams == MOST_PARAMS) stop("too many parameters");
        f->params[f->nparams] = name();
        expect(":");
        f->param_types[f->nparams++] = name();
        if (!accept(",")) break;
    }
    expect(")");
    expect("->");
    if (accept("(")) {
        do f->results[f->nresults++] = name(); while (accept(",") && f->nresults < 8);
        expect(")");
    } else {
        f->results[f->nresults++] = name();
    }
    for (int i = 0; accept(i ? "," : "vendor"); i++) {     /* one text for all types, or one a type in their order */
        if (word.kind != STRING) stop("expected a string");
        f->vendors[i] = *word.text ? copy(word.text) : NULL;
        next();
    }
    f->body = block();
    functions[nfunctions++] = f;
    if (nfunctions == MOST) stop("too many functions");
}

static double number_value(const char *s) {
    char *end;
    double v = strtod(s, &end);
    if (*end) stop("'%s' is no number", s);
    return v;
}

static uint64_t integer_value(const char *s) {
    char *end;
    errno = 0;
    uint64_t v = strtoull(s, &end, 0);
    if (*end || errno) stop("'%s' is no integer", s);
    return v;
}

static void parse_table(void) {
    table *t = &tables[ntables++];
    t->name = name();
    expect(":");
    char *type = name();
    t->type = ktype_of_dtype(type_named(type));
    if (t->type == T_VOID) stop("no type is named %s", type);
    expect("=");
    expect("{");
    bool is_float = ktype_table[t->type].is_float;
    while (!is("}")) {
        bool minus = accept("-");
        t->f = realloc(t->f, (size_t)(t->n + 1) * sizeof *t->f);
        t->u = realloc(t->u, (size_t)(t->n + 1) * sizeof *t->u);
        if (!t->f || !t->u) stop("out of memory");
        t->f[t->n] = is_float ? (minus ? -1 : 1) * number_value(word.text) : 0;
        t->u[t->n] = is_float ? 0 : minus ? 0 - integer_value(word.text) : integer_value(word.text);
        t->n++;
        next();
        if (!accept(",")) break;
    }
    expect("}");
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    file_name = path;
    if (!f) stop("%s", strerror(errno));
    size_t n = 0, cap = 1 << 20;
    char *s = get(cap);
    while ((n += fread(s + n, 1, cap - n - 1, f)), n + 1 == cap) {
        s = realloc(s, cap *= 2);
        if (!s) stop("out of memory");
    }
    s[n] = 0;
    fclose(f);
    return s;
}

static void parse_file(const char *path) {
    at = read_file(path);
    line_number = 1;
    next();
    while (word.kind != END_OF_FILE) {
        if (accept("table")) { parse_table(); continue; }
        function *f = get(sizeof *f);
        if (accept("for")) {
            f->type_name = name();
            expect("in");
            expect("(");
            do f->types[f->ntypes++] = name(); while (accept(",") && f->ntypes < 16);
            expect(")");
        }
        expect("fn");
        parse_function(f);
    }
}

/* ---- compiling ---- */

typedef struct val { kn_dtype t; kval v[2]; } val;
typedef struct binding { const char *name; val v; bool variable; } binding;
typedef struct scope { binding b[256]; int n; const function *f; kn_dtype type; } scope;   /* type: what f->type_name stands for */
static kernel *k;
static int depth;

static kn_dtype resolve(const scope *s, const char *n) {
    if (s->f->type_name && !strcmp(n, s->f->type_name)) return s->type;
    kn_dtype t = type_named(n);
    if (!t && s->f->type_name && !strncmp(n, "part_", 5)) t = dtype_table[s->type].part;   /* the parts' type of a complex T */
    if (!t) stop("no type is named %s", n);
    return t;
}

static ktype kt(kn_dtype t) { return ktype_of_dtype(t); }

static val one(kn_dtype t, kval v) { return (val){ t, { v, 0 } }; }

static bool is_literal(const tree *t) {
    return t->kind == T_NUMBER || (t->kind == T_UNARY && !strcmp(t->text, "-") && is_literal(t->kid[0])) ||
           (t->kind == T_NAME && (!strcmp(t->text, "inf") || !strcmp(t->text, "nan")));
}

static void compile(scope *s, const tree *t, kn_dtype hint, val *out, int *nout);

static val compile_one(scope *s, const tree *t, kn_dtype hint) {
    val out[8];
    int n;
    compile(s, t, hint, out, &n);
    if (n != 1) stop("one value is wanted here");
    return out[0];
}

static val literal(const tree *t, kn_dtype hint) {
    bool minus = t->kind == T_UNARY;
    const char *s = minus ? t->kid[0]->text : t->text;
    bool hex = !strncmp(s, "0x", 2), fraction = strpbrk(s, hex ? ".pP" : ".eE") || !strcmp(s, "inf") || !strcmp(s, "nan");
    if (!hint) hint = fraction ? KN_FLOAT64 : KN_INT32;
    if (hint == KN_BOOL) stop("a bool is true or false");
    ktype type = kt(hint);
    if (ktype_table[type].is_float) {
        double v = !strcmp(s, "inf") ? (double)INFINITY : !strcmp(s, "nan") ? (double)NAN : number_value(s);
        return one(hint, kb_const_float(k, type, minus ? -v : v));
    }
    uint64_t v = integer_value(s);
    return one(hint, kb_const_int(k, type, (int64_t)(minus ? 0 - v : v)));
}

static val op(kop o, kn_dtype t, val a, val b, val c) { return one(t, kb_op(k, o, kt(t), a.v[0], b.v[0], c.v[0])); }

static binding *lookup(scope *s, const char *n) {
    for (int i = s->n; i-- > 0;) if (!strcmp(s->b[i].name, n)) return &s->b[i];
    return NULL;
}

static void bind(scope *s, const char *n, val v, bool variable) {
    if (s->n == 256) stop("too many names");
    s->b[s->n++] = (binding){ n, v, variable };
}

static val read_variable(const binding *b) {
    if (!b->variable) return b->v;
    val v = { b->v.t, { 0, 0 } };
    for (int i = 0; i < (dtype_is_complex(v.t) ? 2 : 1); i++) v.v[i] = kb_inst(k, K_GET, kt(v.t), 0, b->v.v[i], 0, 0);
    return v;
}

static void same_type(val a, val b) {
    if (a.t != b.t) stop("operands of types %s and %s", type_names[a.t], type_names[b.t]);
}

static val compile_binary(scope *s, const tree *t, kn_dtype hint) {
    static const struct { const char *sign; kop o; bool truth; } rows[] = {
        { "+", KOP_add, false }, { "-", KOP_sub, false }, { "*", KOP_mul, false }, { "/", KOP_div, false }, { "%", KOP_rem, false },
        { "&", KOP_and, false }, { "|", KOP_or, false }, { "^", KOP_xor, false }, { "<<", KOP_shl, false }, { ">>", KOP_shr, false },
        { "&&", KOP_and, false }, { "||", KOP_or, false }, { "==", KOP_eq, true }, { "!=", KOP_ne, true }, { "<", KOP_lt, true },
        { "<=", KOP_le, true }, { ">", KOP_gt, true }, { ">=", KOP_ge, true },
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].sign, t->text)) continue;
        kn_dtype want = rows[i].truth ? KN_DTYPE_UNSET : hint;
        val a, b;
        if (is_literal(t->kid[0]) && !is_literal(t->kid[1])) {
            b = compile_one(s, t->kid[1], want);
            a = compile_one(s, t->kid[0], b.t);
        } else {
            a = compile_one(s, t->kid[0], want);
            b = compile_one(s, t->kid[1], a.t);
        }
        same_type(a, b);
        if (dtype_is_complex(a.t)) stop("complex arithmetic is written as a call");
        return op(rows[i].o, rows[i].truth ? KN_BOOL : a.t, a, b, a);
    }
    stop("no operator %s", t->text);
}

static val choose(val c, val a, val b) {
    val r = { a.t, { 0, 0 } };
    for (int i = 0; i < (dtype_is_complex(a.t) ? 2 : 1); i++) r.v[i] = kb_op(k, KOP_select, kt(a.t), c.v[0], a.v[i], b.v[i]);
    return r;
}

static val compile_choice(scope *s, const tree *t, kn_dtype hint) {
    val c = compile_one(s, t->kid[0], KN_BOOL), a, b;
    if (is_literal(t->kid[1]) && !is_literal(t->kid[2])) {
        b = compile_one(s, t->kid[2], hint);
        a = compile_one(s, t->kid[1], b.t);
    } else {
        a = compile_one(s, t->kid[1], hint);
        b = compile_one(s, t->kid[2], a.t);
    }
    same_type(a, b);
    if (c.t != KN_BOOL) stop("a condition is a bool");
    return choose(c, a, b);
}

static const char *const kop_names[NKOPS] = {
#define KOP(name, ...) [KOP_##name] = #name,
#include "ir/kir/kops.def"
};
static const uint8_t kop_arities[NKOPS] = {
#define KOP(name, arity, ...) [KOP_##name] = arity,
#include "ir/kir/kops.def"
};

static function *overload(const char *name, const val *args, int n, kn_dtype *type, bool *exists) {
    for (int i = 0; i < nfunctions; i++) {
        function *f = functions[i];
        if (strcmp(f->name, name)) continue;
        *exists = true;
        if (f->nparams != n) continue;
        for (int j = 0; j < (f->type_name ? f->ntypes : 1); j++) {
            scope s = { .f = f, .type = f->type_name ? type_named(f->types[j]) : KN_DTYPE_UNSET };
            bool fits = true;
            for (int p = 0; p < n && fits; p++) fits = resolve(&s, f->param_types[p]) == args[p].t;
            if (fits) { *type = s.type; return f; }
        }
    }
    return NULL;
}

static void compile_body(scope *s, const tree *body, val *out, int *nout);

static void expand(const function *f, kn_dtype type, const val *args, val *out, int *nout) {
    const char *file = file_name;
    int line = line_number;
    if (++depth > MOST_DEPTH) stop("%s: calls are nested too deep", f->name);
    scope *s = get(sizeof *s);
    s->f = f;
    s->type = type;
    for (int i = 0; i < f->nparams; i++) bind(s, f->params[i], args[i], false);
    file_name = f->file;
    compile_body(s, f->body, out, nout);
    if (*nout != f->nresults) stop("%s gives %d results, not %d", f->name, *nout, f->nresults);
    for (int i = 0; i < *nout; i++)
        if (out[i].t != resolve(s, f->results[i])) stop("%s: result %d is %s, not %s", f->name, i, type_names[out[i].t], f->results[i]);
    free(s);
    depth--;
    file_name = file;
    line_number = line;
}

/* T(x) converts, T.bits(x) is written bits_T(x); c64(re, im) makes a complex number. */
static bool conversion(scope *s, const tree *t, val *out) {
    bool bits = !strncmp(t->text, "bits_", 5);
    const char *n = bits ? t->text + 5 : t->text;
    kn_dtype to = s->f->type_name && !strcmp(n, s->f->type_name) ? s->type : type_named(n);
    if (!to) return false;
    if (dtype_is_complex(to)) {
        if (t->nkids != 2) stop("%s takes two parts", n);
        kn_dtype part = dtype_table[to].part;
        val re = compile_one(s, t->kid[0], part), im = compile_one(s, t->kid[1], part);
        if (re.t != part || im.t != part) stop("the parts of %s are %s", n, type_names[part]);
        *out = (val){ to, { re.v[0], im.v[0] } };
        return true;
    }
    if (t->nkids != 1) stop("%s takes one value", t->text);
    val a = compile_one(s, t->kid[0], is_literal(t->kid[0]) && !bits ? to : KN_DTYPE_UNSET);
    if (dtype_is_complex(a.t)) stop("%s of a complex number", t->text);
    *out = a.t == to ? a : op(bits ? KOP_bitcast : KOP_convert, to, a, a, a);
    return true;
}

static bool primitive(scope *s, const tree *t, kn_dtype hint, val *out) {
    for (int o = 0; o < NKOPS; o++) {
        if (strcmp(kop_names[o], t->text) || kop_arities[o] != t->nkids || o == KOP_convert || o == KOP_bitcast) continue;
        val v[3];
        int first = o == KOP_select ? 1 : 0;
        for (int i = first; i < t->nkids; i++) if (!is_literal(t->kid[i])) { v[i] = compile_one(s, t->kid[i], hint); hint = v[i].t; break; }
        for (int i = 0; i < t->nkids; i++) v[i] = compile_one(s, t->kid[i], i < first ? KN_BOOL : hint);
        kn_dtype r = o == KOP_round_f16 || o == KOP_round_bf16 ? KN_FLOAT32 : o >= KOP_eq && o <= KOP_ge ? KN_BOOL : v[first].t;
        *out = op((kop)o, r, v[0], t->nkids > 1 ? v[1] : v[0], t->nkids > 2 ? v[2] : v[0]);
        return true;
    }
    return false;
}

/* The function of that name and number of parameters, when there is just one, for one list of types: it says what literals are. */
static const function *only_function(const char *name, int n) {
    const function *found = NULL;
    for (int i = 0; i < nfunctions; i++) {
        if (strcmp(functions[i]->name, name) || functions[i]->nparams != n) continue;
        if (found || functions[i]->type_name) return NULL;
        found = functions[i];
    }
    return found;
}

static void compile_call(scope *s, const tree *t, kn_dtype hint, val *out, int *nout) {
    *nout = 1;
    bool exists = false;
    val args[MOST_PARAMS];
    kn_dtype type, known = KN_DTYPE_UNSET;
    if (conversion(s, t, out)) return;
    for (int i = 0; i < nfunctions && !exists; i++) exists = !strcmp(functions[i]->name, t->text);
    if (exists) {
        for (int i = 0; i < t->nkids; i++) if (!is_literal(t->kid[i])) { args[i] = compile_one(s, t->kid[i], KN_DTYPE_UNSET); if (!known) known = args[i].t; }
        const function *only = only_function(t->text, t->nkids);
        for (int i = 0; i < t->nkids; i++)
            if (is_literal(t->kid[i])) args[i] = compile_one(s, t->kid[i], only ? type_named(only->param_types[i]) : known ? known : hint);
        function *f = overload(t->text, args, t->nkids, &type, &exists);
        if (f) { expand(f, type, args, out, nout); return; }
    }
    if (primitive(s, t, hint, out)) return;
    if (exists) stop("%s does not take these types", t->text);
    stop("no function is named %s", t->text);
}

static val compile_element(scope *s, const tree *t) {
    for (int i = 0; i < ntables; i++) {
        if (strcmp(tables[i].name, t->text)) continue;
        val index = compile_one(s, t->kid[0], KN_INT32);
        if (index.t != KN_INT32 && index.t != KN_INT64) stop("an index is i32 or i64");
        kval array = kb_inst(k, K_TABLE, tables[i].type, 0, (uint32_t)i, 0, 0);
        kn_dtype type = KN_DTYPE_UNSET;
        for (int d = 1; d < NDTYPES; d++) if (type_names[d] && !dtype_is_complex((kn_dtype)d) && kt((kn_dtype)d) == tables[i].type) type = (kn_dtype)d;
        return one(type, kb_inst(k, K_LOAD, tables[i].type, LOAD_READONLY, array, index.v[0], 0));
    }
    stop("no table is named %s", t->text);
}

static void compile(scope *s, const tree *t, kn_dtype hint, val *out, int *nout) {
    *nout = 1;
    line_number = t->line;
    if (is_literal(t) && !lookup(s, t->kind == T_NAME ? t->text : "")) { *out = literal(t, hint); return; }
    switch (t->kind) {
    case T_NAME: {
        binding *b = lookup(s, t->text);
        if (b) { *out = read_variable(b); return; }
        if (strcmp(t->text, "true") && strcmp(t->text, "false")) stop("no value is named %s", t->text);
        *out = one(KN_BOOL, kb_const_int(k, T_BOOL, !strcmp(t->text, "true")));
        return;
    }
    case T_CALL: compile_call(s, t, hint, out, nout); return;
    case T_UNARY: {
        val a = compile_one(s, t->kid[0], hint);
        *out = op(!strcmp(t->text, "-") ? KOP_neg : KOP_not, a.t, a, a, a);
        return;
    }
    case T_BINARY: *out = compile_binary(s, t, hint); return;
    case T_CHOICE: *out = compile_choice(s, t, hint); return;
    case T_FIELD: {
        val a = compile_one(s, t->kid[0], KN_DTYPE_UNSET);
        bool im = !strcmp(t->text, "im");
        if (!dtype_is_complex(a.t) || (!im && strcmp(t->text, "re"))) stop("only complex numbers have parts, .re and .im");
        *out = one(dtype_table[a.t].part, a.v[im]);
        return;
    }
    case T_ELEMENT: *out = compile_element(s, t); return;
    default: stop("no expression");
    }
}

/* ---- statements ---- */

static void statement_let(scope *s, const tree *t) {
    val v[8];
    int n;
    compile(s, t->kid[0], KN_DTYPE_UNSET, v, &n);
    if (n != t->nnames) stop("%d names for %d values", t->nnames, n);
    for (int i = 0; i < n; i++) bind(s, t->names[i], v[i], false);
}

static void statement_var(scope *s, const tree *t) {
    val v = compile_one(s, t->kid[0], KN_DTYPE_UNSET), var = v;
    for (int i = 0; i < (dtype_is_complex(v.t) ? 2 : 1); i++) var.v[i] = kb_inst(k, K_VAR, kt(v.t), 0, v.v[i], 0, 0);
    bind(s, t->text, var, true);
}

static void statement_assign(scope *s, const tree *t) {
    binding *b = lookup(s, t->text);
    if (!b || !b->variable) stop("%s is no variable", t->text);
    val v = compile_one(s, t->kid[0], b->v.t);
    same_type(v, b->v);
    for (int i = 0; i < (dtype_is_complex(v.t) ? 2 : 1); i++) kb_inst(k, K_SET, T_VOID, 0, b->v.v[i], v.v[i], 0);
}

static void compile_block(scope *s, const tree *t);

static void statement_loop(scope *s, const tree *t) {
    if (t->kind == T_WHILE) {
        kval opened = kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0);
        val c = compile_one(s, t->kid[0], KN_BOOL);
        kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, c.v[0], 0, 0);
        compile_block(s, t->kid[1]);
        kb_end(k, opened);
        return;
    }
    val from = compile_one(s, t->kid[0], KN_INT32), to = compile_one(s, t->kid[1], KN_INT32);
    int64_t constant;
    bool unroll = kb_constant(k, from.v[0], &constant) && kb_constant(k, to.v[0], &constant);
    kval opened = kb_for(k, unroll ? LOOP_UNROLL : LOOP_SERIAL, T_I32, from.v[0], to.v[0], kb_const_int(k, T_I32, 1));
    int n = s->n;
    bind(s, t->text, one(KN_INT32, opened), false);
    compile_block(s, t->kid[2]);
    s->n = n;
    kb_end(k, opened);
}

static void compile_statement(scope *s, const tree *t) {
    line_number = t->line;
    switch (t->kind) {
    case T_LET: statement_let(s, t); return;
    case T_VAR: statement_var(s, t); return;
    case T_ASSIGN: statement_assign(s, t); return;
    case T_IF: {
        val c = compile_one(s, t->kid[0], KN_BOOL);
        if (c.t != KN_BOOL) stop("a condition is a bool");
        kval opened = kb_inst(k, K_IF, T_VOID, 0, c.v[0], 0, 0);
        compile_block(s, t->kid[1]);
        if (t->nkids > 2) {
            kb_else(k, opened);
            if (t->kid[2]->kind == T_IF) compile_statement(s, t->kid[2]);
            else compile_block(s, t->kid[2]);
        }
        kb_end(k, opened);
        return;
    }
    case T_WHILE: case T_FOR: statement_loop(s, t); return;
    default: stop("return stands at the end of a function");
    }
}

static void compile_block(scope *s, const tree *t) {
    int n = s->n;
    for (int i = 0; i < t->nlist; i++) compile_statement(s, t->list[i]);
    s->n = n;
}

static void compile_body(scope *s, const tree *body, val *out, int *nout) {
    if (!body->nlist || body->list[body->nlist - 1]->kind != T_RETURN) { line_number = body->line; stop("%s does not return", s->f->name); }
    for (int i = 0; i + 1 < body->nlist; i++) compile_statement(s, body->list[i]);
    const tree *t = body->list[body->nlist - 1];
    line_number = t->line;
    if (t->nkids == 1) { compile(s, t->kid[0], resolve(s, s->f->results[0]), out, nout); return; }
    for (int i = 0; i < t->nkids; i++) out[i] = compile_one(s, t->kid[i], i < s->f->nresults ? resolve(s, s->f->results[i]) : KN_DTYPE_UNSET);
    *nout = t->nkids;
}

/* ---- output ---- */

typedef struct compiled { char symbol[128]; const char *vendor; const function *f; kn_dtype type; kernel *k; kn_dtype takes[MOST_PARAMS]; val results[8]; int nresults; uint32_t *ret; int nret, cost; } compiled;
static compiled *done[MOST * 4]; static int ndone;

/* Rough flops: what a primitive weighs in the partition's choice between computing again and storing. */
static int cost_of(const kernel *k) {
    int cost = 0;
    for (uint32_t i = 0; i < k->ncode; i++) {
        int op = k->code[i].op;
        if (op == KOP_div || op == KOP_rem || op == KOP_sqrt) cost += 8;
        else if (op < NKOPS) cost += 1;
        else if (op == K_LOAD) cost += 4;
    }
    return cost < 65535 ? cost : 65535;
}

static void compile_function(const function *f, int which) {
    static arena mem;
    compiled *c = get(sizeof *c);
    scope s = { .f = f, .type = f->type_name ? type_named(f->types[which]) : KN_DTYPE_UNSET };
    kparam params[2 * MOST_PARAMS] = { { 0 } };
    val args[MOST_PARAMS];
    uint32_t n = 0;
    file_name = f->file;
    line_number = f->line;
    size_t len = (size_t)snprintf(c->symbol, sizeof c->symbol, "%s", f->name);
    for (int i = 0; i < f->nparams; i++) {
        kn_dtype t = c->takes[i] = resolve(&s, f->param_types[i]);
        int parts = dtype_is_complex(t) ? 2 : 1;
        bool repeats = i && t == c->takes[i - 1];
        if (!repeats) len += (size_t)snprintf(c->symbol + len, sizeof c->symbol - len, "_%s", type_names[t]);
        args[i] = (val){ t, { n, n + 1 } };
        for (int p = 0; p < parts; p++) params[n++] = (kparam){ .name = f->params[i], .type = kt(t) };
    }
    k = kernel_new(&mem, c->symbol, params, n);
    if (!k) stop("out of memory");
    depth = 0;
    expand(f, s.type, args, c->results, &c->nresults);
    c->ret = get(16 * sizeof *c->ret);
    for (int i = 0; i < c->nresults; i++)
        for (int p = 0; p < (dtype_is_complex(c->results[i].t) ? 2 : 1); p++) c->ret[c->nret++] = c->results[i].v[p];
    kb_inst(k, K_RETURN, T_VOID, 0, 0, 0, (uint32_t)c->nret);
    if (!kernel_ok(k)) stop("out of memory");
    c->f = f;
    c->k = k;
    c->vendor = f->vendors[which] ? f->vendors[which] : f->ntypes > 1 && f->vendors[1] ? NULL : which ? NULL : f->vendors[0];
    c->cost = cost_of(k);
    kfunction view = { .symbol = c->symbol, .nparams = (uint8_t)k->nparams, .code = k->code, .ncode = k->ncode, .extra = c->ret, .nextra = (uint32_t)c->nret };
    message m = { 0 };
    if (function_verify(&view, &m)) stop("%s: %s", c->symbol, m.text);
    done[ndone++] = c;
}

static int by_symbol(const void *a, const void *b) { return strcmp((*(compiled *const *)a)->symbol, (*(compiled *const *)b)->symbol); }

static void print_function(FILE *out, const compiled *c, int number, text *all) {
    fprintf(out, "\n/* %s */\nstatic const kinst code_%d[] = {\n", c->symbol, number);
    for (uint32_t i = 0; i < c->k->ncode; i++) {
        const kinst *x = &c->k->code[i];
        fprintf(out, "{%u,%u,%u,%uu,%uu,%uu},%s", x->op, x->type, x->flags, x->a, x->b, x->c, i % 6 == 5 ? "\n" : "");
    }
    fprintf(out, "};\nstatic const uint32_t extra_%d[] = {", number);
    for (int i = 0; i < c->nret; i++) fprintf(out, "%uu,", c->ret[i]);
    fprintf(out, "};\nstatic const kn_dtype takes_%d[] = {", number);
    for (int i = 0; i < c->f->nparams; i++) fprintf(out, "%d,", (int)c->takes[i]);
    fprintf(out, "0};\nstatic const kn_dtype gives_%d[] = {", number);
    for (int i = 0; i < c->nresults; i++) fprintf(out, "%d,", (int)c->results[i].t);
    fprintf(out, "};\nstatic const ktype params_%d[] = {", number);
    for (uint32_t i = 0; i < c->k->nparams; i++) fprintf(out, "%d,", (int)c->k->params[i].type);
    fprintf(out, "0};\nstatic const ktype results_%d[] = {", number);
    for (int i = 0; i < c->nresults; i++) for (int p = 0; p < (dtype_is_complex(c->results[i].t) ? 2 : 1); p++) fprintf(out, "%d,", (int)kt(c->results[i].t));
    fprintf(out, "};\n");
    text_add(all, "%s", c->symbol);
    text_addn(all, (const char *)c->k->code, c->k->ncode * sizeof *c->k->code);
    text_addn(all, (const char *)c->ret, (size_t)c->nret * sizeof *c->ret);
}

static void print_tables(FILE *out, text *all) {
    for (int i = 0; i < ntables; i++) {
        const table *t = &tables[i];
        static const char *const c_types[NKTYPES] = { [T_I32] = "int32_t", [T_I64] = "int64_t", [T_U32] = "uint32_t", [T_U64] = "uint64_t", [T_F32] = "float", [T_F64] = "double", [T_U8] = "uint8_t" };
        if (!c_types[t->type]) stop("tables of this type are not made");
        fprintf(out, "static const %s table_%d[] = {", c_types[t->type], i);
        for (int j = 0; j < t->n; j++) {
            if (ktype_table[t->type].is_float) fprintf(out, "%a%s,", t->f[j], t->type == T_F32 ? "f" : "");
            else fprintf(out, "%llu%s,", (unsigned long long)t->u[j], "u");
        }
        fprintf(out, "};\n");
        text_add(all, "%s", t->name);
        text_addn(all, (const char *)t->f, (size_t)t->n * sizeof *t->f);
        text_addn(all, (const char *)t->u, (size_t)t->n * sizeof *t->u);
    }
    fprintf(out, "const ktable device_tables[] = {\n");
    for (int i = 0; i < ntables; i++) fprintf(out, "{\"%s\",%d,%d,table_%d},\n", tables[i].name, (int)tables[i].type, tables[i].n, i);
    fprintf(out, "{0}};\nconst uint32_t ndevice_tables = %d;\n", ntables);
}

static void print_all(FILE *out) {
    text all = { 0 };
    qsort(done, (size_t)ndone, sizeof *done, by_symbol);
    fprintf(out, "/* Generated from the .kn files of src/device by knc. Do not edit. */\n#include \"ir/kir/kir.h\"\n\n");
    print_tables(out, &all);
    for (int i = 0; i < ndone; i++) {
        if (i && !strcmp(done[i]->symbol, done[i - 1]->symbol)) { file_name = done[i]->f->file; line_number = done[i]->f->line; stop("%s is defined twice", done[i]->symbol); }
        print_function(out, done[i], i, &all);
    }
    fprintf(out, "\nconst kfunction device_functions[] = {\n");
    for (int i = 0; i < ndone; i++) {
        const compiled *c = done[i];
        fprintf(out, "{\"%s\",\"%s\",", c->f->name, c->symbol);
        if (c->vendor) fprintf(out, "\"%s\",", c->vendor);
        else fprintf(out, "0,");
        fprintf(out, "takes_%d,gives_%d,%d,%d,%u,%d,params_%d,results_%d,code_%d,%u,extra_%d,%d,%d},\n", i, i, c->f->nparams, c->nresults, c->k->nparams, c->nret, i, i, i, c->k->ncode, i, c->nret, c->cost);
    }
    digest d = digest_bytes(all.at, all.len);
    if (all.failed) stop("out of memory");
    fprintf(out, "{0}};\nconst uint32_t ndevice_functions = %d;\nconst digest device_digest = {{0x%llxu,0x%llxu}};\n", ndone, (unsigned long long)d.w[0], (unsigned long long)d.w[1]);
    text_free(&all);
}

int main(int argc, char **argv) {
    if (argc < 3) { fprintf(stderr, "usage: knc OUTPUT.c FILE.kn ...\n"); return 2; }
    for (int i = 2; i < argc; i++) parse_file(argv[i]);
    for (int i = 0; i < nfunctions; i++)
        for (int j = 0; j < (functions[i]->type_name ? functions[i]->ntypes : 1); j++) compile_function(functions[i], j);
    FILE *out = fopen(argv[1], "w");
    file_name = argv[1];
    line_number = 0;
    if (!out) stop("%s", strerror(errno));
    print_all(out);
    if (fclose(out)) stop("%s", strerror(errno));
    return 0;
}
