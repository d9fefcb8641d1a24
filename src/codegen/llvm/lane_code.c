/* lane_code.c: kernel IR to LLVM instructions: control, variables, calls.
 *
 * How it works: a LANE loop becomes a loop over full vectors without masks and one masked pass for the rest, so its body is
 * emitted twice. Inside, conditions that lanes do not share become masks; a branch around them is taken when no lane is
 * left. Variables live in memory that LLVM's first pass turns into values. Device functions are emitted where they are
 * called. Nothing here knows which instructions a primitive takes: that is lane_values.c. */
#include <stdio.h>
#include <string.h>
#include "codegen/llvm/lanes.h"

#define B e->b
#define MOST_DEPTH 32
#define MOST_TABLE 4096

static void emit(lane_emitter *e, body *f, uint32_t from, uint32_t to);

static void out_of_memory(lane_emitter *e) { e->status = fail_memory(e->m, "compiling a kernel"); }
static void unsupported(lane_emitter *e, const char *what) { e->status = fail(e->m, KN_NOT_AVAILABLE, "%s has no place in a kernel for the CPU", what); }

static LLVMBasicBlockRef block(lane_emitter *e) { return llvm.AppendBasicBlockInContext(e->context, e->function, ""); }

/* Memory that lives as long as the call. */
static LLVMValueRef home(lane_emitter *e, LLVMTypeRef t) {
    LLVMBasicBlockRef first = llvm.GetEntryBasicBlock(e->function);
    LLVMValueRef start = llvm.GetFirstInstruction(first);
    if (start) llvm.PositionBuilderBefore(e->entry, start);
    else llvm.PositionBuilderAtEnd(e->entry, first);
    return llvm.BuildAlloca(e->entry, t, "");
}

static body *body_new(lane_emitter *e, const kinst *code, uint32_t ncode, const uint32_t *extra) {
    body *f = arena_zero(e->mem, 1, sizeof *f);
    if (!f) { out_of_memory(e); return NULL; }
    *f = (body){ .code = code, .ncode = ncode, .extra = extra };
    f->match = arena_zero(e->mem, ncode + 1, sizeof *f->match);
    f->values = arena_zero(e->mem, ncode + 1, sizeof *f->values);
    f->homes = arena_zero(e->mem, ncode + 1, sizeof *f->homes);
    f->wide = arena_zero(e->mem, ncode + 1, sizeof *f->wide);
    if (!f->match || !f->values || !f->homes || !f->wide) { out_of_memory(e); return NULL; }
    for (uint32_t i = 0; i < ncode; i++) {
        if (code[i].op == K_ELSE) f->match[code[i].a] = i;
        if (code[i].op != K_END) continue;
        uint32_t opener = code[i].a;
        if (f->match[opener]) f->match[f->match[opener]] = i;
        else f->match[opener] = i;
    }
    return f;
}

static lane_value shared(LLVMValueRef v) { return (lane_value){ .scalar = v }; }
static lane_value varying(LLVMValueRef v) { return (lane_value){ .vector = v, .step = STEP_VARIES }; }
static bool is_shared(const lane_emitter *e, const lane_value *v) { return e->width == 1 || v->step == 0; }

/* ---- constants and parameters ---- */

static LLVMValueRef constant(lane_emitter *e, const kinst *x) {
    uint64_t bits = (uint64_t)x->c << 32 | x->b;
    if (x->type == T_F32) return llvm.ConstBitCast(llvm.ConstInt(e->types[T_I32], (uint32_t)bits, 0), e->types[T_F32]);
    if (x->type == T_F64) return llvm.ConstBitCast(llvm.ConstInt(e->types[T_I64], bits, 0), e->types[T_F64]);
    return llvm.ConstInt(e->types[x->type], bits, 0);
}

static void parameter(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    if (f->args) { f->values[i] = f->args[x->a]; return; }
    LLVMValueRef number = int_const(e, T_I64, x->a), at = llvm.BuildGEP2(B, e->types[T_I64], e->arguments, &number, 1, "");
    const kparam *p = &e->k->params[x->a];
    LLVMValueRef word = llvm.BuildLoad2(B, e->types[T_I64], at, "");
    if (p->array) { f->homes[i] = llvm.BuildCast(B, LLVMIntToPtr, word, e->pointer, ""); return; }
    ktype t = p->type;
    LLVMValueRef v = word;
    if (t == T_F64) v = llvm.BuildCast(B, LLVMBitCast, word, e->types[T_F64], "");
    else if (t == T_F32) v = llvm.BuildCast(B, LLVMBitCast, llvm.BuildCast(B, LLVMTrunc, word, e->types[T_I32], ""), e->types[T_F32], "");
    else if (ktype_table[t].size < 8) v = llvm.BuildCast(B, LLVMTrunc, word, e->types[t], "");
    f->values[i] = shared(v);
}

static void table(lane_emitter *e, body *f, uint32_t i) {
    const ktable *t = &device_tables[f->code[i].a];
    char name[80];
    snprintf(name, sizeof name, "table_%.60s", t->name);
    size_t bytes = (size_t)t->count * ktype_table[t->type].size;
    if (bytes > MOST_TABLE * 8) { unsupported(e, "a table of this size"); return; }
    LLVMValueRef data = llvm.ConstStringInContext(e->context, t->data, (unsigned)bytes, 1);
    LLVMValueRef g = llvm.AddGlobal(e->module, llvm.TypeOf(data), name);
    llvm.SetInitializer(g, data);
    llvm.SetGlobalConstant(g, 1);
    llvm.SetLinkage(g, LLVMPrivateLinkage);
    llvm.SetAlignment(g, 16);
    f->homes[i] = g;
}

/* ---- variables ---- */

static void declare(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    int width = e->width;
    f->wide[i] = x->flags & VAR_LANES || width > 1;
    if (x->flags & VAR_LANES) e->width = e->k->lanes;
    LLVMTypeRef t = lanes_type(e, e->types[x->type]);
    if (!f->homes[i] || !(x->flags & VAR_LANES)) f->homes[i] = home(e, t);
    llvm.BuildStore(B, x->flags & VAR_LANES ? lanes_splat(e, f->values[x->a].scalar) : lanes_vector(e, &f->values[x->a], (ktype)x->type), f->homes[i]);
    e->width = width;
}

static lane_value get(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    LLVMTypeRef t = f->wide[x->a] ? lanes_type(e, e->types[x->type]) : e->types[x->type];
    LLVMValueRef v = llvm.BuildLoad2(B, t, f->homes[x->a], "");
    return f->wide[x->a] && e->width > 1 ? varying(v) : shared(v);
}

static void set(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    LLVMValueRef at = f->homes[x->a], v = f->wide[x->a] ? lanes_vector(e, &f->values[x->b], (ktype)f->code[x->b].type) : f->values[x->b].scalar;
    if (e->mask && f->wide[x->a]) {
        LLVMValueRef old = llvm.BuildLoad2(B, llvm.TypeOf(v), at, "");
        v = llvm.BuildSelect(B, e->mask, v, old, "");
    }
    llvm.BuildStore(B, v, at);
}

static lane_value first_lane(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    LLVMValueRef all = llvm.BuildLoad2(B, llvm.VectorType(e->types[x->type], e->k->lanes), f->homes[x->a], "");
    return shared(llvm.BuildExtractElement(B, all, int_const(e, T_I32, 0), ""));
}

static lane_value shuffle(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    const kinst *d = &f->code[x->b];
    if (d->op != K_CONST || e->width == 1) { unsupported(e, "a shuffle by a distance that is not constant"); return f->values[x->a]; }
    int distance = (int32_t)d->b, width = x->c ? (int)x->c : e->width;
    LLVMValueRef order[256], v = lanes_vector(e, &f->values[x->a], (ktype)x->type);
    for (int l = 0; l < e->width; l++) {
        int base = l / width * width, in = l - base, from = x->flags == SHUFFLE_XOR ? in ^ distance : x->flags == SHUFFLE_DOWN ? in + distance : x->flags == SHUFFLE_UP ? in - distance : distance & (width - 1);
        if (from < 0 || from >= width || base + from >= e->width) from = in;
        order[l] = int_const(e, T_I32, base + from);
    }
    return varying(llvm.BuildShuffleVector(B, v, llvm.GetPoison(llvm.TypeOf(v)), llvm.ConstVector(order, (unsigned)e->width), ""));
}

/* ---- loops ---- */

/* Opens `for (i = begin; i < end; i += step)`; returns i, and the blocks to close it with. */
typedef struct loop { LLVMBasicBlockRef head, exit; LLVMValueRef index, step; } loop;

static loop open_loop(lane_emitter *e, LLVMValueRef begin, LLVMValueRef end, LLVMValueRef step) {
    loop l = { .head = block(e), .exit = NULL, .step = step };
    LLVMBasicBlockRef inside = block(e), before = llvm.GetInsertBlock(B);
    l.exit = block(e);
    llvm.BuildBr(B, l.head);
    llvm.PositionBuilderAtEnd(B, l.head);
    l.index = llvm.BuildPhi(B, llvm.TypeOf(begin), "");
    llvm.AddIncoming(l.index, &begin, &before, 1);
    llvm.BuildCondBr(B, llvm.BuildICmp(B, LLVMIntSLT, l.index, end, ""), inside, l.exit);
    llvm.PositionBuilderAtEnd(B, inside);
    return l;
}

static void close_loop(lane_emitter *e, const loop *l) {
    LLVMValueRef next = llvm.BuildBinOp(B, LLVMAdd, l->index, l->step, "");
    LLVMBasicBlockRef last = llvm.GetInsertBlock(B);
    llvm.AddIncoming(l->index, &next, &last, 1);
    llvm.BuildBr(B, l->head);
    llvm.PositionBuilderAtEnd(B, l->exit);
}

static void plain_loop(lane_emitter *e, body *f, uint32_t i, LLVMValueRef begin, LLVMValueRef end) {
    loop l = open_loop(e, begin, end, f->values[f->code[i].c].scalar);
    f->values[i] = shared(l.index);
    emit(e, f, i + 1, f->match[i]);
    close_loop(e, &l);
}

static void grid_loop(lane_emitter *e, body *f, uint32_t i) {
    LLVMValueRef end = f->values[f->code[i].b].scalar, begin = f->values[f->code[i].a].scalar;
    ktype t = (ktype)f->code[i].type;
    if (loop_axis(&f->code[i]) == 0) {
        LLVMValueRef hi = e->hi, lo = e->lo;
        if (t != T_I64) { hi = llvm.BuildCast(B, LLVMTrunc, hi, e->types[t], ""); lo = llvm.BuildCast(B, LLVMTrunc, lo, e->types[t], ""); }
        end = llvm.BuildSelect(B, llvm.BuildICmp(B, LLVMIntSLT, end, hi, ""), end, hi, "");
        begin = lo;
    }
    plain_loop(e, f, i, begin, end);
}

/* Instructions of a piece of code, those of called functions included. */
static uint32_t weight(const body *f, uint32_t from, uint32_t to) {
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++) n += f->code[i].op == K_CALL ? device_functions[f->code[i].a].ncode : 1;
    return n;
}

static void masked_lanes(lane_emitter *e, body *f, uint32_t i, LLVMValueRef first, LLVMValueRef count) {
    ktype t = (ktype)f->code[i].type;
    lane_value number = { .scalar = int_const(e, t, 0), .step = 1 };
    e->width = e->k->lanes;
    f->values[i] = (lane_value){ .scalar = first, .step = e->width > 1 ? 1 : 0 };
    if (e->width > 1) e->mask = llvm.BuildICmp(B, LLVMIntSLT, lanes_vector(e, &number, t), lanes_splat(e, count), "");
    emit(e, f, i + 1, f->match[i]);
    e->mask = NULL;
    e->width = 1;
}

#define LONG_BODY 120          /* instructions from which a body is emitted once: the mask is cheap beside it, compiling is not */

/* Full vectors, then what is left under a mask; long bodies under a mask all the time. */
static void lane_loop(lane_emitter *e, body *f, uint32_t i) {
    ktype t = (ktype)f->code[i].type;
    int width = e->k->lanes;
    LLVMValueRef end = f->values[f->code[i].b].scalar, zero = int_const(e, t, 0), w = int_const(e, t, width);
    if (weight(f, i + 1, f->match[i]) > LONG_BODY) {
        loop all = open_loop(e, zero, end, w);
        masked_lanes(e, f, i, all.index, llvm.BuildBinOp(B, LLVMSub, end, all.index, ""));
        close_loop(e, &all);
        return;
    }
    LLVMValueRef rest = llvm.BuildBinOp(B, LLVMURem, end, w, ""), full = llvm.BuildBinOp(B, LLVMSub, end, rest, "");
    LLVMBasicBlockRef tail = block(e), after = block(e);
    loop l = open_loop(e, zero, full, w);
    e->width = width;
    f->values[i] = (lane_value){ .scalar = l.index, .step = width > 1 ? 1 : 0 };
    emit(e, f, i + 1, f->match[i]);
    e->width = 1;
    close_loop(e, &l);
    llvm.BuildCondBr(B, llvm.BuildICmp(B, LLVMIntSGT, rest, zero, ""), tail, after);
    llvm.PositionBuilderAtEnd(B, tail);
    masked_lanes(e, f, i, full, rest);
    llvm.BuildBr(B, after);
    llvm.PositionBuilderAtEnd(B, after);
}

static void for_loop(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    switch (loop_kind(x)) {
    case LOOP_GRID: grid_loop(e, f, i); break;
    case LOOP_LANE: lane_loop(e, f, i); break;
    case LOOP_BLOCK: unsupported(e, "a block of threads"); break;
    default:
        if (!is_shared(e, &f->values[x->a]) || !is_shared(e, &f->values[x->b])) unsupported(e, "a loop whose bounds differ between lanes");
        else plain_loop(e, f, i, f->values[x->a].scalar, f->values[x->b].scalar);
    }
}

/* A LOOP ends for each lane by itself: a mask in memory says which are still inside. */
static void endless_loop(lane_emitter *e, body *f, uint32_t i) {
    LLVMBasicBlockRef head = block(e), exit = block(e), outer_leave = e->leave;
    LLVMValueRef outer_mask = e->mask, outer_live = e->live;
    e->leave = exit;
    e->live = NULL;
    if (e->width > 1) {
        e->live = home(e, lanes_type(e, e->types[T_BOOL]));
        llvm.BuildStore(B, lanes_mask(e), e->live);
    }
    llvm.BuildBr(B, head);
    llvm.PositionBuilderAtEnd(B, head);
    if (e->live) e->mask = llvm.BuildLoad2(B, lanes_type(e, e->types[T_BOOL]), e->live, "");
    emit(e, f, i + 1, f->match[i]);
    llvm.BuildBr(B, head);
    llvm.PositionBuilderAtEnd(B, exit);
    e->mask = outer_mask;
    e->live = outer_live;
    e->leave = outer_leave;
}

static void break_unless(lane_emitter *e, body *f, uint32_t i) {
    LLVMBasicBlockRef on = block(e);
    lane_value *c = &f->values[f->code[i].a];
    if (e->width == 1) {
        llvm.BuildCondBr(B, c->scalar, on, e->leave);
    } else {
        LLVMValueRef live = llvm.BuildBinOp(B, LLVMAnd, e->mask, lanes_vector(e, c, T_BOOL), "");
        llvm.BuildStore(B, live, e->live);
        llvm.BuildCondBr(B, lanes_any(e, live), on, e->leave);
        e->mask = live;
    }
    llvm.PositionBuilderAtEnd(B, on);
}

/* ---- branches ---- */

static void branch(lane_emitter *e, body *f, uint32_t i) {
    uint32_t middle = f->match[i], end = f->code[middle].op == K_ELSE ? f->match[middle] : middle;
    lane_value *c = &f->values[f->code[i].a];
    bool same = is_shared(e, c);
    LLVMValueRef outer = e->mask, cond = same ? c->scalar : c->vector, yes = NULL, no = NULL;
    if (!same) {
        yes = outer ? llvm.BuildBinOp(B, LLVMAnd, outer, cond, "") : cond;
        LLVMValueRef flipped = llvm.BuildNot(B, cond, "");
        no = outer ? llvm.BuildBinOp(B, LLVMAnd, outer, flipped, "") : flipped;
    }
    LLVMBasicBlockRef then = block(e), next = block(e);
    llvm.BuildCondBr(B, same ? cond : lanes_any(e, yes), then, next);
    llvm.PositionBuilderAtEnd(B, then);
    if (!same) e->mask = yes;
    emit(e, f, i + 1, middle);
    e->mask = outer;
    if (middle == end) {
        llvm.BuildBr(B, next);
        llvm.PositionBuilderAtEnd(B, next);
        return;
    }
    LLVMBasicBlockRef done = block(e);
    if (same) {
        llvm.BuildBr(B, done);
        llvm.PositionBuilderAtEnd(B, next);
    } else {
        llvm.BuildBr(B, next);
        llvm.PositionBuilderAtEnd(B, next);
        LLVMBasicBlockRef other = block(e);
        llvm.BuildCondBr(B, lanes_any(e, no), other, done);
        llvm.PositionBuilderAtEnd(B, other);
        e->mask = no;
    }
    emit(e, f, middle + 1, end);
    e->mask = outer;
    llvm.BuildBr(B, done);
    llvm.PositionBuilderAtEnd(B, done);
}

/* ---- calls, faults ---- */

static void call(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    const kfunction *g = &device_functions[x->a];
    lane_value *args = arena_zero(e->mem, x->c + 1, sizeof *args);
    body *inner = body_new(e, g->code, g->ncode, g->extra);
    if (!args || !inner) { out_of_memory(e); return; }
    if (++e->depth > MOST_DEPTH) { unsupported(e, "a device function that calls this deep"); return; }
    /* steps are for addresses: arithmetic of functions sees whole vectors or shared values */
    for (uint32_t j = 0; j < x->c; j++) {
        lane_value *v = &f->values[f->extra[x->b + j]];
        args[j] = is_shared(e, v) ? *v : varying(lanes_vector(e, v, (ktype)f->code[f->extra[x->b + j]].type));
    }
    inner->args = args;
    emit(e, inner, 0, inner->ncode);
    e->depth--;
    f->values[i] = inner->results[0];
    /* results 1... are asked for through the call: they are kept behind its home */
    lane_value *more = arena_zero(e->mem, 8, sizeof *more);
    if (!more) { out_of_memory(e); return; }
    memcpy(more, inner->results, sizeof inner->results);
    f->homes[i] = (LLVMValueRef)(void *)more;
}

static void fault(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    LLVMBasicBlockRef bad = block(e), on = block(e);
    LLVMValueRef cond = lanes_vector(e, &f->values[x->a], T_BOOL);
    if (e->mask) cond = llvm.BuildBinOp(B, LLVMAnd, cond, e->mask, "");
    llvm.BuildCondBr(B, lanes_any(e, cond), bad, on);
    llvm.PositionBuilderAtEnd(B, bad);
    LLVMValueRef low = lanes_splat(e, int_const(e, T_I64, 0xffffffffffff)), code = lanes_splat(e, llvm.ConstInt(e->types[T_I64], (unsigned long long)x->c << 48, 0));
    LLVMValueRef at = llvm.BuildBinOp(B, LLVMAnd, lanes_vector(e, &f->values[x->b], T_I64), low, ""), word = llvm.BuildBinOp(B, LLVMOr, at, code, "");
    if (e->width > 1) {
        char name[64];
        LLVMValueRef none = lanes_splat(e, int_const(e, T_I64, -1)), some = llvm.BuildSelect(B, cond, word, none, "");
        snprintf(name, sizeof name, "llvm.vector.reduce.umin.v%di64", e->width);
        word = lanes_call(e, name, e->types[T_I64], &some, 1);
    }
    llvm.BuildAtomicRMW(B, LLVMAtomicRMWBinOpUMin, e->fault, word, LLVMAtomicOrderingMonotonic, 0);
    llvm.BuildBr(B, on);
    llvm.PositionBuilderAtEnd(B, on);
}

/* ---- one instruction after the other ---- */

static void emit_other(lane_emitter *e, body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    switch (x->op) {
    case K_PARAM: parameter(e, f, i); break;
    case K_CONST: f->values[i] = shared(constant(e, x)); break;
    case K_VAR: declare(e, f, i); break;
    case K_GET: f->values[i] = get(e, f, i); break;
    case K_SET: set(e, f, i); break;
    case K_TABLE: table(e, f, i); break;
    case K_LOAD: f->values[i] = lanes_load(e, f, i); break;
    case K_STORE: lanes_store(e, f, i); break;
    case K_SHUFFLE: f->values[i] = shuffle(e, f, i); break;
    case K_FIRST_LANE: f->values[i] = first_lane(e, f, i); break;
    case K_BREAK_UNLESS: break_unless(e, f, i); break;
    case K_CALL: call(e, f, i); break;
    case K_RESULT: f->values[i] = ((lane_value *)(void *)f->homes[x->a])[x->b]; break;
    case K_RETURN: for (uint32_t j = 0; j < x->c && j < 8; j++) f->results[j] = f->values[f->extra[x->b + j]]; break;
    case K_FAULT: fault(e, f, i); break;
    case K_COMMENT: break;
    default: unsupported(e, "an instruction of GPU kernels"); break;
    }
}

static void emit(lane_emitter *e, body *f, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to && !e->status; i++) {
        const kinst *x = &f->code[i];
        if (x->op < NKOPS) {
            f->values[i] = lanes_primitive(e, f, i);
        } else if (x->op == K_FOR) {
            for_loop(e, f, i);
            i = f->match[i];
        } else if (x->op == K_LOOP) {
            endless_loop(e, f, i);
            i = f->match[i];
        } else if (x->op == K_IF) {
            branch(e, f, i);
            i = f->match[i];
            if (f->code[i].op == K_ELSE) i = f->match[i];
        } else {
            emit_other(e, f, i);
        }
    }
}

static void attribute(lane_emitter *e, const char *key, const char *value) {
    LLVMAttributeRef a = llvm.CreateStringAttribute(e->context, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
    llvm.AddAttributeAtIndex(e->function, (unsigned)LLVMAttributeFunctionIndex, a);
}

kn_status lanes_emit(lane_emitter *e) {
    static const unsigned char widths[NKTYPES] = { [T_BOOL] = 1, [T_I8] = 8, [T_I16] = 16, [T_I32] = 32, [T_I64] = 64, [T_U8] = 8, [T_U16] = 16, [T_U32] = 32, [T_U64] = 64 };
    for (int t = 0; t < NKTYPES; t++) if (widths[t]) e->types[t] = llvm.IntTypeInContext(e->context, widths[t]);
    e->types[T_F32] = llvm.FloatTypeInContext(e->context);
    e->types[T_F64] = llvm.DoubleTypeInContext(e->context);
    e->half = llvm.HalfTypeInContext(e->context);
    e->pointer = llvm.PointerTypeInContext(e->context, 0);
    e->width = 1;
    LLVMTypeRef params[4] = { e->pointer, e->types[T_I64], e->types[T_I64], e->pointer };
    e->function = llvm.AddFunction(e->module, e->k->name, llvm.FunctionType(llvm.VoidTypeInContext(e->context), params, 4, 0));
    unsigned nounwind = llvm.GetEnumAttributeKindForName("nounwind", 8);
    llvm.AddAttributeAtIndex(e->function, (unsigned)LLVMAttributeFunctionIndex, llvm.CreateEnumAttribute(e->context, nounwind, 0));
    attribute(e, "no-builtins", "");
    attribute(e, "prefer-vector-width", cpu_vector_bytes() >= 64 ? "512" : "256");
    e->arguments = llvm.GetParam(e->function, 0);
    e->lo = llvm.GetParam(e->function, 1);
    e->hi = llvm.GetParam(e->function, 2);
    e->fault = llvm.GetParam(e->function, 3);
    block(e);                                                        /* entry: allocas only */
    LLVMBasicBlockRef start = block(e);
    llvm.PositionBuilderAtEnd(B, start);
    body *f = body_new(e, e->k->code, e->k->ncode, e->k->extra);
    if (f) emit(e, f, 0, f->ncode);
    llvm.BuildRetVoid(B);
    llvm.PositionBuilderAtEnd(e->entry, llvm.GetEntryBasicBlock(e->function));
    llvm.BuildBr(e->entry, start);
    return e->status;
}
