/* Random kernels on the interpreter: one computation gives the same in every shape: scalar code, vectors of every width,
 * blocks of threads; in one run or cut into ranges. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include "../support/random_kernel.c"

TestSuite(random_kernels, .timeout = 300);

static arena mem;

static uint64_t run_case(const random_case *c, void **copies, const char *what, uint64_t seed) {
    uint64_t fault = FAULT_NONE;
    message m = { 0 };
    cr_assert(random_copies(c, &mem, copies));
    cr_assert_eq(random_run_reference(c, copies, &fault, &m), KN_OK, "seed %llu, %s: %s", (unsigned long long)seed, what, m.text);
    return fault;
}

static random_case make_case(const random_options *o) {
    random_case c;
    message m = { 0 };
    bool made = random_kernel(o, &mem, &c, &m);
    if (!made && c.k) {
        text t = { 0 };
        kernel_dump(c.k, &t);
        fputs(t.at, stderr);
        text_free(&t);
    }
    cr_assert(made, "seed %llu: %s", (unsigned long long)o->seed, m.text);
    return c;
}

static void show(const random_case *c) {
    text t = { 0 };
    kernel_dump(c->k, &t);
    fputs(t.at, stderr);
    text_free(&t);
}

static void compare_shapes(random_options o) {
    void *want[RANDOM_ARRAYS], *got[RANDOM_ARRAYS];
    char sentence[200];
    o.shape = SHAPE_SCALAR;
    random_case scalar = make_case(&o);
    uint64_t fault = run_case(&scalar, want, "scalar", o.seed);
    static const struct { random_shape shape; int lanes; const char *name; } ways[] = { { SHAPE_LANES, 8, "8 lanes" }, { SHAPE_LANES, 32, "32 lanes" }, { SHAPE_BLOCKS, 0, "blocks" } };
    for (int i = 0; i < 3; i++) {
        o.shape = ways[i].shape;
        o.lanes = ways[i].lanes;
        random_case c = make_case(&o);
        uint64_t f = run_case(&c, got, ways[i].name, o.seed);
        if (o.shape == SHAPE_BLOCKS) memcpy(got[PARTIALS], want[PARTIALS], 1024 * (size_t)ktype_table[c.array[PARTIALS].type].size);   /* other tiles */
        bool same = random_equal(&c, got, want, sentence, sizeof sentence);
        if (!same && getenv("SHOW")) show(&c);
        cr_assert(same, "seed %llu, %s: %s", (unsigned long long)o.seed, ways[i].name, sentence);
        cr_assert_eq(f, fault, "seed %llu, %s: fault %llx, not %llx", (unsigned long long)o.seed, ways[i].name, (unsigned long long)f, (unsigned long long)fault);
    }
    arena_free(&mem);
}

Test(random_kernels, shapes_agree_on_arithmetic) { for (uint64_t s = 1; s <= 150; s++) compare_shapes((random_options){ .seed = s, .integers = s % 3 == 0, .calls = s % 2, .size = 10 + (int)s % 60 }); }
Test(random_kernels, shapes_agree_on_control) {
    for (uint64_t s = 1; s <= 300; s++)
        compare_shapes((random_options){ .seed = s + 1000, .integers = s % 3 == 0, .control = true, .calls = s % 4 == 0, .faults = s % 5 == 0, .size = 10 + (int)s % 50 });
}

/* A range after the other gives what one run gives; so does prepared code, twice. */
static void compare_ranges(random_options o) {
    void *want[RANDOM_ARRAYS], *got[RANDOM_ARRAYS];
    uint64_t args[RANDOM_ARRAYS + RANDOM_SCALARS], fault = FAULT_NONE;
    char sentence[200];
    random_case c = make_case(&o);
    run_case(&c, want, "one run", o.seed);
    for (int way = 0; way < 2; way++) {
        reference_code *code;
        cr_assert(random_copies(&c, &mem, got));
        random_args(&c, got, args);
        cr_assert_eq(reference_prepare(c.k, &code, NULL), KN_OK);
        for (int64_t at = 0; at < c.grid; at += 3) reference_execute(code, args, at, at + 3 < c.grid ? at + 3 : c.grid, &fault, NULL);
        reference_free(code);
        cr_assert(random_equal(&c, got, want, sentence, sizeof sentence), "seed %llu: %s", (unsigned long long)o.seed, sentence);
    }
    arena_free(&mem);
}

Test(random_kernels, ranges_agree) {
    for (uint64_t s = 1; s <= 100; s++) compare_ranges((random_options){ .seed = s + 5000, .shape = SHAPE_LANES, .control = s % 2, .between = true, .size = 20 });
    for (uint64_t s = 1; s <= 50; s++) compare_ranges((random_options){ .seed = s + 6000, .shape = SHAPE_BLOCKS, .control = s % 2, .between = true, .warp = s % 2 ? 32 : 64, .size = 20 });
}

Test(random_kernels, dump_and_bytes) {
    for (uint64_t s = 1; s <= 20; s++) {
        random_options o = { .seed = s, .shape = (random_shape)(s % 3), .control = true, .between = true, .calls = true, .size = 40 };
        random_case a = make_case(&o), b = make_case(&o);
        text x = { 0 }, y = { 0 };
        kernel_bytes(a.k, &x);
        kernel_bytes(b.k, &y);
        cr_expect(x.len == y.len && !memcmp(x.at, y.at, x.len), "seed %llu", (unsigned long long)s);
        text_free(&x);
        text_free(&y);
        arena_free(&mem);
    }
}
