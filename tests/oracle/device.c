/* Runs device functions on arrays, for test_device_*.py to compare with NumPy and mpmath.
 *
 *   device list                       a line a function: symbol, name, operand dtypes, result dtypes, cost, instructions
 *   device reference SYMBOL COUNT     operands from standard input, one array after the other, results to standard output
 *   device llvm SYMBOL COUNT          the same, compiled for the CPU
 *   device time SYMBOL COUNT          the same operands; nanoseconds an element, compiled, best of several runs
 * Complex operands and results are arrays of pairs. */
#include "codegen/codegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROW 1024
#define MOST 16

typedef struct job {
    const kfunction *f;
    kernel *k;
    size_t count, rows;
    int narrays;
    kn_dtype type[MOST];
    uint64_t args[MOST + 1];
} job;

static const kfunction *function_of(const char *symbol, int *number)
{
    for (uint32_t i = 0; i < ndevice_functions; i++) {
        *number = (int)i;
        if (!strcmp(device_functions[i].symbol, symbol)) return &device_functions[i];
    }
    return NULL;
}

static int stop(const char *what)
{
    fprintf(stderr, "device: %s\n", what);
    return 1;
}

static kval index_of(kernel *k, kval at, bool complex, int part)
{
    if (!complex) return at;
    kval twice = kb_op(k, KOP_mul, T_I64, at, kb_const_int(k, T_I64, 2), 0);
    return kb_op(k, KOP_add, T_I64, twice, kb_const_int(k, T_I64, part), 0);
}

/* Rows of ROW elements are the GRID, the elements of a row the vector loop. */
static kernel *kernel_of(job *j, int number, arena *mem)
{
    kparam params[MOST + 1] = { 0 };
    const kfunction *f = j->f;
    size_t widest = 1;
    for (int i = 0; i < f->ntakes + f->ngives; i++) {
        bool gives = i >= f->ntakes;
        j->type[i] = gives ? f->gives[i - f->ntakes] : f->takes[i];
        params[i] = (kparam){ .name = arena_text(mem, "%s%d", gives ? "r" : "x", i), .type = ktype_of_dtype(j->type[i]), .array = true, .read = !gives, .written = gives };
        if (ktype_table[params[i].type].size > widest) widest = ktype_table[params[i].type].size;
    }
    j->narrays = f->ntakes + f->ngives;
    params[j->narrays] = (kparam){ .name = "n", .type = T_I64 };
    kernel *k = kernel_new(mem, "device", params, (uint32_t)j->narrays + 1);
    if (!k) return NULL;
    k->lanes = (uint16_t)((size_t)cpu_vector_bytes() / (widest < 4 ? 4 : widest));
    kval zero = kb_const_int(k, T_I64, 0), step = kb_const_int(k, T_I64, 1), length = kb_const_int(k, T_I64, ROW);
    kval row = kb_for(k, LOOP_GRID, T_I64, zero, (kval)j->narrays, step), lane = kb_for(k, LOOP_LANE, T_I64, zero, length, step);
    kval at = kb_op(k, KOP_add, T_I64, kb_op(k, KOP_mul, T_I64, row, length, 0), lane, 0), args[2 * MOST];
    int n = 0;
    for (int i = 0; i < f->ntakes; i++)
        for (int part = 0; part <= (int)dtype_is_complex(j->type[i]); part++)
            args[n++] = kb_inst(k, K_LOAD, ktype_value(params[i].type), 0, (uint32_t)i, index_of(k, at, dtype_is_complex(j->type[i]), part), 0);
    kval call = kb_call(k, number, args, n);
    n = 0;
    for (int i = f->ntakes; i < j->narrays; i++)
        for (int part = 0; part <= (int)dtype_is_complex(j->type[i]); part++) {
            kval v = n ? kb_result(k, call, n) : call;
            kb_inst(k, K_STORE, T_VOID, 0, (uint32_t)i, index_of(k, at, dtype_is_complex(j->type[i]), part), v);
            n++;
        }
    kb_end(k, lane);
    kb_end(k, row);
    return kernel_ok(k) ? k : NULL;
}

static int read_operands(job *j)
{
    for (int i = 0; i < j->narrays; i++) {
        size_t size = dtype_size(j->type[i]), whole = j->rows * ROW * size, given = j->count * size;
        char *p = mem_aligned(whole, 64);
        if (!p) return stop("out of memory");
        memset(p, 0, whole);
        if (i < j->f->ntakes && fread(p, 1, given, stdin) != given) return stop("too few operands");
        j->args[i] = (uint64_t)(uintptr_t)p;
    }
    j->args[j->narrays] = j->rows;
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run(job *j, const char *how)
{
    message m = { 0 };
    uint64_t fault = FAULT_NONE;
    if (!strcmp(how, "reference")) {
        if (reference_run(j->k, j->args, 0, (int64_t)j->rows, &fault, &m)) return stop(m.text);
        return 0;
    }
    text object = { 0 };
    cpu_code *code;
    if (llvm_compile(j->k, &(llvm_options){ 0 }, &object, &m) || code_load(object.at, object.len, j->k->name, &code, &m)) {
        stop(m.text);
        return m.status == KN_NOT_AVAILABLE ? 77 : 1;
    }
    double best = 1e9;
    for (int i = 0; i < (strcmp(how, "time") ? 1 : 7); i++) {
        double start = now();
        code_entry(code)(j->args, 0, (int64_t)j->rows, &fault);
        double took = now() - start;
        if (took < best) best = took;
    }
    if (!strcmp(how, "time")) printf("%.3f\n", best * 1e9 / (double)(j->rows * ROW));
    return 0;
}

static int list(void)
{
    for (uint32_t i = 0; i < ndevice_functions; i++) {
        const kfunction *f = &device_functions[i];
        printf("%s %s ", f->symbol, f->name);
        for (int a = 0; a < f->ntakes; a++) printf("%s%s", a ? "," : "", dtype_table[f->takes[a]].name);
        printf(" ");
        for (int a = 0; a < f->ngives; a++) printf("%s%s", a ? "," : "", dtype_table[f->gives[a]].name);
        printf(" %u %u\n", f->cost, f->ncode);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "list")) return list();
    if (argc != 4) return stop("usage: device list | device reference|llvm|time SYMBOL COUNT");
    arena mem = { 0 };
    message m = { 0 };
    int number = 0;
    job j = { .f = function_of(argv[2], &number), .count = strtoull(argv[3], NULL, 10) };
    if (!j.f) return stop("no function has this symbol");
    if (j.f->ntakes + j.f->ngives > MOST) return stop("too many operands");
    j.rows = (j.count + ROW - 1) / ROW;
    j.k = kernel_of(&j, number, &mem);
    if (!j.k) return stop("out of memory");
    if (kernel_verify(j.k, &m)) return stop(m.text);
    int status = read_operands(&j);
    if (!status) status = run(&j, argv[1]);
    if (!status && strcmp(argv[1], "time"))
        for (int i = j.f->ntakes; i < j.narrays; i++) fwrite((void *)(uintptr_t)j.args[i], dtype_size(j.type[i]), j.count, stdout);
    for (int i = 0; i < j.narrays; i++) mem_free((void *)(uintptr_t)j.args[i]);
    arena_free(&mem);
    return status;
}
