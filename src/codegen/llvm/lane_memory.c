/* lane_memory.c: loads and stores over lanes.
 *
 * How it works: the step of an index tells the access: 0 one element for all lanes, 1 a vector, -1 a vector reversed, 2 with
 * a PAIR flag every other element of a vector twice as long; anything else, and a PAIR under a mask, is gathered. */
#include <stdio.h>
#include "codegen/llvm/lanes.h"

#define B e->b

static LLVMTypeRef memory_type(const lane_emitter *e, ktype t) {
    return t == T_BOOL ? e->types[T_U8] : t == T_F16 ? e->half : t == T_BF16 ? e->types[T_U16] : e->types[t];
}

static ktype array_type(const lane_emitter *e, const body *f, uint32_t array) {
    const kinst *x = &f->code[array];
    return x->op == K_PARAM ? e->k->params[x->a].type : x->op == K_TABLE ? device_tables[x->a].type : (ktype)x->type;
}

static const char *type_name(const lane_emitter *e, ktype t, int width, char out[24]) {
    (void)e;
    char element[8];
    if (t == T_F16 || t == T_F32 || t == T_F64) snprintf(element, sizeof element, "f%d", 8 * ktype_table[t].size);
    else snprintf(element, sizeof element, "i%d", 8 * ktype_table[t].size);
    snprintf(out, 24, "v%d%s", width, element);
    return out;
}

static LLVMValueRef element(lane_emitter *e, ktype t, LLVMValueRef base, LLVMValueRef index) {
    return llvm.BuildGEP2(B, memory_type(e, t), base, &index, 1, "");
}

static LLVMValueRef cast(lane_emitter *e, LLVMOpcode op, LLVMValueRef v, LLVMTypeRef to) { return llvm.BuildCast(B, op, v, lanes_type(e, to), ""); }

/* From what is in memory to a value, and back. */
static LLVMValueRef unpacked(lane_emitter *e, LLVMValueRef v, ktype t) {
    if (t == T_BOOL) return llvm.BuildICmp(B, LLVMIntNE, v, llvm.ConstNull(llvm.TypeOf(v)), "");
    if (t == T_F16) return cast(e, LLVMFPExt, v, e->types[T_F32]);
    if (t != T_BF16) return v;
    LLVMValueRef wide = cast(e, LLVMZExt, v, e->types[T_U32]);
    return cast(e, LLVMBitCast, llvm.BuildBinOp(B, LLVMShl, wide, lanes_splat(e, int_const(e, T_U32, 16)), ""), e->types[T_F32]);
}

static LLVMValueRef packed(lane_emitter *e, LLVMValueRef v, ktype t) {
    if (t == T_BOOL) return cast(e, LLVMZExt, v, e->types[T_U8]);
    if (t == T_F16) return cast(e, LLVMFPTrunc, v, e->half);
    if (t != T_BF16) return v;
    LLVMValueRef w = cast(e, LLVMBitCast, v, e->types[T_U32]), sixteen = lanes_splat(e, int_const(e, T_U32, 16));
    LLVMValueRef odd = llvm.BuildBinOp(B, LLVMAnd, llvm.BuildBinOp(B, LLVMLShr, w, sixteen, ""), lanes_splat(e, int_const(e, T_U32, 1)), "");
    LLVMValueRef sum = llvm.BuildBinOp(B, LLVMAdd, llvm.BuildBinOp(B, LLVMAdd, w, lanes_splat(e, int_const(e, T_U32, 0x7fff)), ""), odd, "");
    LLVMValueRef quiet = llvm.BuildBinOp(B, LLVMOr, w, lanes_splat(e, int_const(e, T_U32, 0x400000)), "");
    LLVMValueRef chosen = llvm.BuildSelect(B, llvm.BuildFCmp(B, LLVMRealUNO, v, v, ""), quiet, sum, "");
    return cast(e, LLVMTrunc, llvm.BuildBinOp(B, LLVMLShr, chosen, sixteen, ""), e->types[T_U16]);
}

static LLVMValueRef reversed(lane_emitter *e, LLVMValueRef v) {
    LLVMValueRef order[256];
    for (int l = 0; l < e->width; l++) order[l] = int_const(e, T_I32, e->width - 1 - l);
    return llvm.BuildShuffleVector(B, v, llvm.GetPoison(llvm.TypeOf(v)), llvm.ConstVector(order, (unsigned)e->width), "");
}

static LLVMValueRef aligned(lane_emitter *e, LLVMValueRef access, ktype t) {
    llvm.SetAlignment(access, ktype_table[t].size);
    (void)e;
    return access;
}

static LLVMValueRef addresses(lane_emitter *e, ktype t, LLVMValueRef base, lane_value *index, ktype index_type) {
    LLVMValueRef at = lanes_vector(e, index, index_type);
    return llvm.BuildGEP2(B, memory_type(e, t), base, &at, 1, "");
}

/* A masked intrinsic. args[alignment] says how memory is aligned; from LLVM 22 on that is an attribute of the pointer before it. */
static LLVMValueRef masked(lane_emitter *e, const char *name, LLVMTypeRef result, LLVMValueRef *args, int n, int alignment, ktype t) {
    if (llvm.version < 22) return lanes_call(e, name, result, args, n);
    for (int i = alignment; i + 1 < n; i++) args[i] = args[i + 1];
    LLVMValueRef call = lanes_call(e, name, result, args, n - 1);
    unsigned kind = llvm.GetEnumAttributeKindForName("align", 5);
    llvm.AddCallSiteAttribute(call, (unsigned)alignment, llvm.CreateEnumAttribute(e->context, kind, ktype_table[t].size));
    return call;
}

static LLVMValueRef gather(lane_emitter *e, ktype t, LLVMValueRef base, lane_value *index, ktype index_type, LLVMValueRef mask) {
    char name[64], type[24];
    LLVMTypeRef result = lanes_type(e, memory_type(e, t));
    LLVMValueRef args[4] = { addresses(e, t, base, index, index_type), int_const(e, T_I32, ktype_table[t].size), mask, llvm.ConstNull(result) };
    snprintf(name, sizeof name, "llvm.masked.gather.%s.v%dp0", type_name(e, t, e->width, type), e->width);
    return masked(e, name, result, args, 4, 1, t);
}

static void scatter(lane_emitter *e, ktype t, LLVMValueRef base, lane_value *index, ktype index_type, LLVMValueRef v) {
    char name[64], type[24];
    LLVMValueRef args[4] = { v, addresses(e, t, base, index, index_type), int_const(e, T_I32, ktype_table[t].size), lanes_mask(e) };
    snprintf(name, sizeof name, "llvm.masked.scatter.%s.v%dp0", type_name(e, t, e->width, type), e->width);
    masked(e, name, llvm.VoidTypeInContext(e->context), args, 4, 2, t);
}

static LLVMValueRef masked_load(lane_emitter *e, ktype t, LLVMValueRef at, LLVMValueRef mask) {
    char name[64], type[24];
    LLVMTypeRef result = lanes_type(e, memory_type(e, t));
    if (!mask) return aligned(e, llvm.BuildLoad2(B, result, at, ""), t);
    LLVMValueRef args[4] = { at, int_const(e, T_I32, ktype_table[t].size), mask, llvm.ConstNull(result) };
    snprintf(name, sizeof name, "llvm.masked.load.%s.p0", type_name(e, t, e->width, type));
    return masked(e, name, result, args, 4, 1, t);
}

static void masked_store(lane_emitter *e, ktype t, LLVMValueRef at, LLVMValueRef v, LLVMValueRef mask) {
    char name[64], type[24];
    if (!mask) { aligned(e, llvm.BuildStore(B, v, at), t); return; }
    LLVMValueRef args[4] = { v, at, int_const(e, T_I32, ktype_table[t].size), mask };
    snprintf(name, sizeof name, "llvm.masked.store.%s.p0", type_name(e, t, e->width, type));
    masked(e, name, llvm.VoidTypeInContext(e->context), args, 4, 2, t);
}

/* The parts of complex elements lie side by side: both are loaded, every other one is taken. */
static LLVMValueRef load_pairs(lane_emitter *e, ktype t, LLVMValueRef base, const lane_value *index, ktype index_type, int part) {
    LLVMValueRef first = part ? llvm.BuildBinOp(B, LLVMSub, index->scalar, int_const(e, index_type, 1), "") : index->scalar;
    LLVMTypeRef wide = llvm.VectorType(memory_type(e, t), 2 * (unsigned)e->width);
    LLVMValueRef both = aligned(e, llvm.BuildLoad2(B, wide, element(e, t, base, first), ""), t), order[256];
    for (int l = 0; l < e->width; l++) order[l] = int_const(e, T_I32, 2 * l + part);
    return llvm.BuildShuffleVector(B, both, llvm.GetPoison(wide), llvm.ConstVector(order, (unsigned)e->width), "");
}

/* Address of the lowest of a reversed vector's elements. */
static LLVMValueRef reversed_address(lane_emitter *e, ktype t, LLVMValueRef base, const lane_value *index, ktype index_type) {
    return element(e, t, base, llvm.BuildBinOp(B, LLVMSub, index->scalar, int_const(e, index_type, e->width - 1), ""));
}

lane_value lanes_load(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    ktype t = array_type(e, f, x->a), it = (ktype)f->code[x->b].type;
    LLVMValueRef base = f->homes[x->a], mask = e->mask;
    lane_value *index = &f->values[x->b];
    if (x->c) {
        LLVMValueRef own = lanes_vector(e, &f->values[x->c - 1], T_BOOL);
        mask = mask ? llvm.BuildBinOp(B, LLVMAnd, mask, own, "") : own;
    }
    if (e->width == 1 || (index->step == 0 && !x->c)) {
        int width = e->width;
        e->width = 1;
        LLVMValueRef v = unpacked(e, aligned(e, llvm.BuildLoad2(B, memory_type(e, t), element(e, t, base, index->scalar), ""), t), t);
        e->width = width;
        return (lane_value){ .scalar = v };
    }
    LLVMValueRef v;
    if (index->step == 1) v = masked_load(e, t, element(e, t, base, index->scalar), mask);
    else if (index->step == -1) v = reversed(e, masked_load(e, t, reversed_address(e, t, base, index, it), mask ? reversed(e, mask) : NULL));
    else if (index->step == 2 && !mask && x->flags & (LOAD_PAIR0 | LOAD_PAIR1) && e->width <= 128) v = load_pairs(e, t, base, index, it, x->flags & LOAD_PAIR1 ? 1 : 0);
    else v = gather(e, t, base, index, it, mask ? mask : lanes_mask(e));
    return (lane_value){ .vector = unpacked(e, v, t), .step = STEP_VARIES };
}

void lanes_store(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    ktype t = array_type(e, f, x->a), it = (ktype)f->code[x->b].type;
    LLVMValueRef base = f->homes[x->a];
    lane_value *index = &f->values[x->b];
    LLVMValueRef v = packed(e, lanes_vector(e, &f->values[x->c], (ktype)f->code[x->c].type), t);
    if (e->width == 1) { aligned(e, llvm.BuildStore(B, v, element(e, t, base, index->scalar)), t); return; }
    if (index->step == 1) masked_store(e, t, element(e, t, base, index->scalar), v, e->mask);
    else if (index->step == -1) masked_store(e, t, reversed_address(e, t, base, index, it), reversed(e, v), e->mask ? reversed(e, e->mask) : NULL);
    else scatter(e, t, base, index, it, v);
}
