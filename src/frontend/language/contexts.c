/* contexts.c: NumPy's print options and error states, as functions and as contexts of `with`.
 *
 * How it works: the machine has its own print options; np.printoptions is a record whose fields `enter` and `exit` change them and
 * put them back. Floating-point errors give NaN and infinity and tell nobody, so error states are accepted and change
 * nothing. How arrays are printed is in frontend/print. */
#include <string.h>
#include "frontend/language/machine.h"
#include "frontend/language/natives.h"
#include "frontend/language/numpy.h"
#include "frontend/print/print.h"

/* ---- print options by name ---- */

static const char *const float_modes[] = { [FLOATMODE_FIXED] = "fixed", [FLOATMODE_UNIQUE] = "unique", [FLOATMODE_MAXPREC] = "maxprec", [FLOATMODE_MAXPREC_EQUAL] = "maxprec_equal" };

static const print_options *options_of(const machine *m) { return m->printing ? m->printing : &print_defaults; }

static bool put(machine *m, value dict, const char *name, value v) {
    value key = absent(v) ? v : string_value(m, name, strlen(name));
    bool good = !absent(key) && dict_set(m, dict, key, v);
    value_drop(m, key);
    value_drop(m, v);
    return good;
}

static value text_value(machine *m, const char *s) { return string_value(m, s, strlen(s)); }

static value options_dict(machine *m) {
    const print_options *o = options_of(m);
    value d = dict_value(m);
    if (absent(d)) return d;
    if (put(m, d, "edgeitems", int_value(o->edgeitems)) && put(m, d, "threshold", int_value(o->threshold)) && put(m, d, "floatmode", text_value(m, float_modes[o->floatmode])) &&
        put(m, d, "precision", int_value(o->precision)) && put(m, d, "suppress", bool_value(o->suppress)) && put(m, d, "linewidth", int_value(o->linewidth)) &&
        put(m, d, "nanstr", text_value(m, o->nanstr)) && put(m, d, "infstr", text_value(m, o->infstr)) && put(m, d, "sign", string_value(m, &o->sign, 1)))
        return d;
    value_drop(m, d);
    return NO_VALUE_;
}

static bool read_text(machine *m, const char *name, value v, char *to, size_t size, const char **out) {
    if (v.kind != VALUE_STRING || as_string(v)->length >= size) return raise_error(m, "TypeError", "%s must be a str of less than %zu bytes", name, size), false;
    memcpy(to, as_string(v)->at, as_string(v)->length + 1);
    *out = to;
    return true;
}

static bool read_mode(machine *m, value v, float_mode *mode) {
    for (size_t i = 0; v.kind == VALUE_STRING && i < sizeof float_modes / sizeof *float_modes; i++)
        if (!strcmp(as_string(v)->at, float_modes[i])) return *mode = (float_mode)i, true;
    return raise_error(m, "ValueError", "floatmode must be one of 'fixed', 'unique', 'maxprec', 'maxprec_equal'"), false;
}

static bool read_whole(machine *m, const char *name, value v, int64_t *out) {
    if (v.kind != VALUE_FLOAT || v.u.f < 0x1p62) return value_index(m, v, out, name);
    *out = INT64_MAX;                                /* threshold=inf */
    return true;
}

static bool read_option(machine *m, print_options *o, const char *name, value v) {
    machine_state *s = m->state;
    int64_t n;
    if (v.kind == VALUE_NONE) return true;
    if (!strcmp(name, "precision")) return value_index(m, v, &n, name) ? o->precision = n < 0 || n > INT32_MAX ? -1 : (int)n, true : false;
    if (!strcmp(name, "threshold")) return read_whole(m, name, v, &o->threshold);
    if (!strcmp(name, "edgeitems")) return read_whole(m, name, v, &o->edgeitems);
    if (!strcmp(name, "linewidth")) return read_whole(m, name, v, &o->linewidth);
    if (!strcmp(name, "suppress")) return o->suppress = value_truth(m, v) == 1, absent(m->exception);
    if (!strcmp(name, "sign") && v.kind == VALUE_STRING && as_string(v)->length == 1) return o->sign = as_string(v)->at[0], true;
    if (!strcmp(name, "floatmode")) return read_mode(m, v, &o->floatmode);
    if (!strcmp(name, "nanstr")) return read_text(m, name, v, s->nan_text, sizeof s->nan_text, &o->nanstr);
    if (!strcmp(name, "infstr")) return read_text(m, name, v, s->inf_text, sizeof s->inf_text, &o->infstr);
    return raise_error(m, "TypeError", "there is no print option '%s' with such a value", name), false;
}

static bool set_options(machine *m, value dict) {
    print_options o = *options_of(m);
    message why = { 0 };
    const pair *p;
    for (size_t at = 0; (p = dict_next(dict, &at));)
        if (!read_option(m, &o, as_string(p->key)->at, p->item)) return false;
    if (print_options_check(&o, &why)) return raise_message(m, &why), false;
    m->state->print = o;
    m->printing = &m->state->print;
    return true;
}

/* ---- functions ---- */

static value set_printoptions(machine *m, const value *args, int n) {
    (void)n;
    if (!absent(args[0]) && !put(m, args[1], "precision", value_keep(args[0]))) return NO_VALUE_;
    return set_options(m, args[1]) ? none_value() : NO_VALUE_;
}

static value get_printoptions(machine *m, const value *args, int n) {
    (void)args, (void)n;
    return options_dict(m);
}

/* self: [what is asked for, what was there before]. */
static value print_enter(machine *m, const value *args, int n) {
    (void)n;
    value before = options_dict(m);
    bool good = !absent(before) && list_append(m, args[0], before) && set_options(m, as_sequence(args[0])->at[0]);
    value_drop(m, before);
    return good ? none_value() : NO_VALUE_;
}

static value print_exit(machine *m, const value *args, int n) {
    (void)n;
    sequence_object *s = as_sequence(args[0]);
    bool good = set_options(m, s->at[--s->n]);
    value_drop(m, s->at[s->n]);
    return good ? none_value() : NO_VALUE_;
}

static const native_row enter_row = { "enter", print_enter, "self", "" }, exit_row = { "exit", print_exit, "self", "" };

static value printoptions(machine *m, const value *args, int n) {
    static const char *const names[] = { "enter", "exit" };
    (void)n;
    if (!absent(args[0]) && !put(m, args[1], "precision", value_keep(args[0]))) return NO_VALUE_;
    value state = list_value(m, 1, &args[1]), ends[2] = { NO_VALUE_, NO_VALUE_ }, record = NO_VALUE_;
    if (!absent(state)) {
        ends[0] = bound_value(m, &enter_row, state);
        ends[1] = absent(ends[0]) ? ends[0] : bound_value(m, &exit_row, state);
        if (!absent(ends[1])) record = record_value(m, "printoptions", 2, names, ends);
    }
    value_drop(m, ends[0]);
    value_drop(m, ends[1]);
    value_drop(m, state);
    return record;
}

static value error_state(machine *m, const value *args, int n) {
    static const char *const states[] = { "divide", "over", "under", "invalid" };
    (void)args, (void)n;
    value d = dict_value(m);
    for (int i = 0; i < 4 && !absent(d); i++)
        if (!put(m, d, states[i], text_value(m, "ignore"))) {
            value_drop(m, d);
            d = NO_VALUE_;
        }
    return d;
}

static value errstate(machine *m, const value *args, int n) {
    (void)args, (void)n;
    return record_value(m, "errstate", 0, NULL, NULL);
}

const native_row context_rows[] = {
    { "set_printoptions", set_printoptions, "precision=, **options", "How arrays are printed from here on." },
    { "get_printoptions", get_printoptions, "", "How arrays are printed: a dict." },
    { "printoptions", printoptions, "precision=, **options", "with printoptions(...): how arrays are printed there." },
    { "errstate", errstate, "**states", "Accepted; floating-point errors give NaN and infinity." },
    { "seterr", error_state, "all=, divide=, over=, under=, invalid=", "Accepted; gives the state, which is \"ignore\"." },
    { "geterr", error_state, "", "What happens at floating-point errors: nothing." },
};
const int ncontext_rows = sizeof context_rows / sizeof *context_rows;
