/* generator.c: numpy.random: generators as values, and the module's functions, which use the machine's own generator.
 *
 * How it works: a generator is a record that holds the handle of one of the C interface; its methods are the operations of
 * numpy.random.Generator. Numbers are Kiln's own, equal on every device, and not NumPy's for the same seed. */
#include <string.h>
#include "frontend/language/numpy.h"
#include "kiln.h"

static const char *const field[] = { "_handle" };

bool is_generator(value v) { return v.kind == VALUE_RECORD && ((const record_object *)v.u.o)->names == field; }

static value generator_new(machine *m, uint64_t seed) {
    message why = { 0 };
    kn_array handle = { kn_rng_new(seed).id };
    array_object *o = array_failed(handle, &why) ? NULL : (array_object *)object_new(m, VALUE_ARRAY, sizeof *o);
    if (why.status) return raise_message(m, &why);
    if (!o) return NO_VALUE_;
    o->array = kn_keep(handle);                       /* let go of with the record, as an array's */
    value state = object_value(o), v = record_value(m, "Generator", 1, field, &state);
    value_drop(m, state);
    return v;
}

bool value_generator(machine *m, value v, kn_rng *g) {
    if (!is_generator(v)) {
        raise_error(m, "TypeError", "a generator is needed, as np.random.default_rng(seed) gives it, not '%s'", value_type_name(v));
        return false;
    }
    g->id = array_handle(((const record_object *)v.u.o)->at[0]).id;
    return true;
}

value generator_attribute(machine *m, value generator, const char *name) {
    int op = numpy_operation("numpy.random.Generator", name);
    return op >= 0 ? bound_operation(m, op, generator) : NO_VALUE_;
}

/* ---- the module ---- */

/* The generator behind np.random.normal() and its like, made from the machine's seed when it is first needed. Borrowed. */
static value own_generator(machine *m) {
    if (absent(m->generator)) m->generator = generator_new(m, m->seed);
    return m->generator;
}

static value default_rng(machine *m, const value *args, int n) {
    int64_t seed = (int64_t)m->seed;
    (void)n;
    if (!absent(args[0]) && is_generator(args[0])) return value_keep(args[0]);
    if (!absent(args[0]) && args[0].kind != VALUE_NONE && !value_index(m, args[0], &seed, "a seed is an integer")) return NO_VALUE_;
    return generator_new(m, (uint64_t)seed);
}

static value set_seed(machine *m, const value *args, int n) {
    int64_t seed = 0;
    (void)n;
    if (!absent(args[0]) && args[0].kind != VALUE_NONE && !value_index(m, args[0], &seed, "a seed is an integer")) return NO_VALUE_;
    value g = generator_new(m, (uint64_t)seed);
    if (absent(g)) return g;
    value_drop(m, m->generator);
    m->generator = g;
    return none_value();
}

static value draw(machine *m, int op, const value *args, const char *const *names, int n) {
    keyword given[6];
    int have = 0;
    value g = own_generator(m);
    for (int i = 0; i < n; i++) if (!absent(args[i])) given[have++] = (keyword){ names[i], args[i] };
    return absent(g) ? g : operation_call(m, op, &g, 1, given, have);
}

static value random_sample(machine *m, const value *args, int n) { (void)n; return draw(m, OPERATION_random, args, (const char *const[]){ "size" }, 1); }
static value uniform(machine *m, const value *args, int n) { (void)n; return draw(m, OPERATION_uniform, args, (const char *const[]){ "low", "high", "size" }, 3); }
static value normal(machine *m, const value *args, int n) { (void)n; return draw(m, OPERATION_normal, args, (const char *const[]){ "loc", "scale", "size" }, 3); }
static value standard_normal(machine *m, const value *args, int n) { (void)n; return draw(m, OPERATION_standard_normal, args, (const char *const[]){ "size" }, 1); }
static value randint(machine *m, const value *args, int n) { (void)n; return draw(m, OPERATION_integers, args, (const char *const[]){ "low", "high", "size", "dtype" }, 4); }

/* rand(d0, d1, ...) and randn: without extents one number. */
static value of_extents(machine *m, int op, value extents) {
    return draw(m, op, as_sequence(extents)->n ? &extents : (const value[]){ NO_VALUE_ }, (const char *const[]){ "size" }, 1);
}
static value rand_(machine *m, const value *args, int n) { (void)n; return of_extents(m, OPERATION_random, args[0]); }
static value randn(machine *m, const value *args, int n) { (void)n; return of_extents(m, OPERATION_standard_normal, args[0]); }

const native_row random_rows[] = {
    { "default_rng", default_rng, "seed=", "A generator of random numbers." },
    { "seed", set_seed, "seed=", "Where the module's own numbers start." },
    { "random", random_sample, "size=", "Uniform in [0, 1)." },
    { "random_sample", random_sample, "size=", "Uniform in [0, 1)." },
    { "rand", rand_, "*extents", "Uniform in [0, 1), of these extents." },
    { "randn", randn, "*extents", "Standard normal, of these extents." },
    { "uniform", uniform, "low=, high=, size=", "Uniform in [low, high)." },
    { "normal", normal, "loc=, scale=, size=", "Normal with this mean and standard deviation." },
    { "standard_normal", standard_normal, "size=", "Normal with mean 0 and standard deviation 1." },
    { "randint", randint, "low, high=, size=, dtype=", "Integers in [low, high)." },
};
const int nrandom_rows = sizeof random_rows / sizeof *random_rows;
