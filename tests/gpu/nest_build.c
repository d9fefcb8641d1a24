/* nest_build.c: see nest_build.h. */
#include "nest_build.h"

kparam in(const char *name) { return (kparam){ .name = name, .type = T_F32, .array = true, .read = true, .aligned = true }; }
kparam out(const char *name) { return (kparam){ .name = name, .type = T_F32, .array = true, .written = true, .aligned = true }; }
kparam scalar_i32(const char *name) { return (kparam){ .name = name, .type = T_I32 }; }

kernel *new_kernel(arena *mem, const char *name, const char *comment, const kparam *params, uint32_t n, nest_shape s) {
    kernel *k = kernel_new(mem, name, params, n);
    if (!k) return NULL;
    k->comment = comment;
    k->block[0] = (uint16_t)s.threads;
    k->block[1] = k->block[2] = 1;
    k->warp = (uint16_t)s.warp;
    k->resident = (uint16_t)s.resident;
    return k;
}

spread open_grid(kernel *k, nest_shape s, kval blocks) {
    kval zero = i32(k, 0), one = i32(k, 1);
    spread at;
    at.block = kb_for(k, LOOP_GRID, T_I32, zero, blocks, one);
    kb_name(k, at.block, "block");
    at.thread = kb_for(k, LOOP_BLOCK, T_I32, zero, i32(k, s.threads), one);
    kb_name(k, at.thread, "thread");
    return at;
}

void close_grid(kernel *k, spread at) {
    kb_end(k, at.thread);
    kb_end(k, at.block);
}

kval i32(kernel *k, int64_t v) { return kb_const_int(k, T_I32, v); }
kval add(kernel *k, kval a, kval b) { return kb_op(k, KOP_add, kb_type(k, a), a, b, 0); }
kval mul(kernel *k, kval a, kval b) { return kb_op(k, KOP_mul, kb_type(k, a), a, b, 0); }
kval compare(kernel *k, kop op, kval a, kval b) { return kb_op(k, op, T_BOOL, a, b, 0); }
kval div_up(kernel *k, kval a, int by) { return kb_op(k, KOP_div, T_I32, add(k, a, i32(k, by - 1)), i32(k, by), 0); }

kval call_exp(kernel *k, kval a) {
    int f = device_function("exp", (const kn_dtype[]){ KN_FLOAT32 }, 1);
    return f < 0 ? a : kb_call(k, f, &a, 1);
}

kval named(kernel *k, kval v, const char *name) {
    if (kb_type(k, v) != T_VOID && k->code[v].op != K_CONST && k->code[v].op != K_PARAM) kb_name(k, v, name);
    return v;
}

kval unroll(kernel *k, int n) { return kb_for(k, LOOP_UNROLL, T_I32, i32(k, 0), i32(k, n), i32(k, 1)); }
kval begin_if(kernel *k, kval condition) { return kb_inst(k, K_IF, T_VOID, 0, condition, 0, 0); }

kval variable(kernel *k, ktype type, kval first, const char *name) {
    kval v = kb_inst(k, K_VAR, type, 0, first, 0, 0);
    kb_name(k, v, name);
    return v;
}

kval get(kernel *k, ktype type, kval var) { return kb_inst(k, K_GET, type, 0, var, 0, 0); }
void set(kernel *k, kval var, kval v) { kb_inst(k, K_SET, T_VOID, 0, var, v, 0); }

kval local(kernel *k, ktype type, int n, const char *name) {
    kval v = kb_inst(k, K_LOCAL, type, 0, (uint32_t)n, 0, 0);
    kb_name(k, v, name);
    return v;
}

kval load(kernel *k, ktype type, kval array, kval index) { return kb_inst(k, K_LOAD, type, 0, array, index, 0); }
void store(kernel *k, kval array, kval index, kval v) { kb_inst(k, K_STORE, T_VOID, 0, array, index, v); }

void vload(kernel *k, nest_shape s, kval to, kval array, kval index) {
    kb_inst(k, K_VLOAD, T_VOID, (uint8_t)(4 | (s.stream & STREAM_LOADS ? LOAD_STREAM : 0)), array, index, to);
}

void vstore(kernel *k, nest_shape s, kval array, kval index, kval from) {
    kb_inst(k, K_VSTORE, T_VOID, (uint8_t)(4 | (s.stream & STREAM_STORES ? STORE_STREAM : 0)), array, index, from);
}

void barrier(kernel *k) { kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0); }

kval shuffle(kernel *k, int how, kval v, kval lane, int warp) {
    return kb_inst(k, K_SHUFFLE, kb_type(k, v), (uint8_t)how, v, lane, (uint32_t)warp);
}

static int log2_of(int n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

kval warp_reduce(kernel *k, kval v, int width, int warp, combine_fn *combine, const char *name) {
    kval all = variable(k, kb_type(k, v), v, name);
    kval i = unroll(k, log2_of(width)), distance = kb_op(k, KOP_shr, T_I32, i32(k, width / 2), i, 0);
    kval mine = get(k, kb_type(k, v), all);
    set(k, all, combine(k, mine, shuffle(k, SHUFFLE_XOR, mine, distance, warp)));
    kb_end(k, i);
    return get(k, kb_type(k, v), all);
}

kval block_reduce(kernel *k, nest_shape s, kval thread, kval v, combine_fn *combine, const char *name) {
    int warps = s.threads / s.warp;
    ktype type = kb_type(k, v);
    v = warp_reduce(k, v, s.warp, s.warp, combine, name);
    if (warps == 1) return v;
    kval shared = kb_inst(k, K_SHARED, type, 0, (uint32_t)warps, 0, 0);
    kb_name(k, shared, "of_warp");
    kval lane = kb_inst(k, K_LANE_INDEX, T_I32, 0, 0, 0, 0);
    kval first = begin_if(k, named(k, compare(k, KOP_eq, lane, i32(k, 0)), "leads"));
    store(k, shared, kb_op(k, KOP_div, T_I32, thread, i32(k, s.warp), 0), v);
    kb_end(k, first);
    barrier(k);
    kval of_warp = load(k, type, shared, kb_op(k, KOP_rem, T_I32, lane, i32(k, warps), 0));
    return warp_reduce(k, of_warp, warps, s.warp, combine, name);
}
