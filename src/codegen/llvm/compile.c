/* compile.c: a kernel through LLVM: module, passes, object file.
 *
 * How it works: one context a compilation, so that threads do not meet; a diagnostic handler of ours, because LLVM's own ends
 * the process. Passes are few: the emitter makes vectors and steps itself. What kernels mean is lane_code.c's business. */
#include <string.h>
#include "codegen/llvm/lanes.h"

#define PASSES(instcombine) "function(sroa,early-cse," instcombine ",simplifycfg,loop-mssa(licm),gvn,adce,simplifycfg)"

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *data) {
    message *m = data;
    if (llvm.GetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = llvm.GetDiagInfoDescription(info);
    fail(m, KN_RUNTIME_ERROR, "LLVM: %s", text ? text : "an error without a description");
    if (text) llvm.DisposeMessage(text);
}

static LLVMTargetMachineRef new_machine(const llvm_options *o) {
    const char *features = o && o->features ? o->features : cpu_features();
    return llvm.CreateTargetMachine(llvm.target, LLVM_TRIPLE, o && o->cpu ? o->cpu : "x86-64", features, LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
}

static kn_status run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, message *m) {
    LLVMPassBuilderOptionsRef options = llvm.CreatePassBuilderOptions();
    /* from 18 on it ends the process when one round was not enough, unless told that this is fine */
    const char *passes = llvm.version < 18 ? PASSES("instcombine") : PASSES("instcombine<no-verify-fixpoint>");
    LLVMErrorRef error = llvm.RunPasses(module, passes, machine, options);
    llvm.DisposePassBuilderOptions(options);
    if (!error) return KN_OK;
    char *text = llvm.GetErrorMessage(error);
    fail(m, KN_RUNTIME_ERROR, "LLVM: %s", text);
    llvm.DisposeErrorMessage(text);
    return KN_RUNTIME_ERROR;
}

static kn_status verified(LLVMModuleRef module, message *m) {
#ifdef KILN_TEST_BUILD
    char *text = NULL;
    bool bad = llvm.VerifyModule(module, LLVMReturnStatusAction, &text) != 0;
    if (bad) fail(m, KN_RUNTIME_ERROR, "LLVM refuses what was emitted: %.300s", text ? text : "");
    if (text) llvm.DisposeMessage(text);
    return bad ? KN_RUNTIME_ERROR : KN_OK;
#else
    (void)module;
    (void)m;
    return KN_OK;
#endif
}

typedef enum { OUTPUT_OBJECT, OUTPUT_ASSEMBLY, OUTPUT_IR } output;

static kn_status write_code(LLVMModuleRef module, LLVMTargetMachineRef machine, output what, text *out, message *m) {
    char *problem = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (what == OUTPUT_IR) {
        char *ir = llvm.PrintModuleToString(module);
        if (ir) { text_addn(out, ir, strlen(ir)); llvm.DisposeMessage(ir); }
        return out->failed ? fail_memory(m, "printing LLVM IR") : KN_OK;
    }
    if (llvm.TargetMachineEmitToMemoryBuffer(machine, module, what == OUTPUT_OBJECT ? LLVMObjectFile : LLVMAssemblyFile, &problem, &buffer)) {
        fail(m, KN_RUNTIME_ERROR, "LLVM: %.300s", problem ? problem : "no code could be made");
        if (problem) llvm.DisposeMessage(problem);
        return KN_RUNTIME_ERROR;
    }
    text_addn(out, llvm.GetBufferStart(buffer), llvm.GetBufferSize(buffer));
    llvm.DisposeMemoryBuffer(buffer);
    return out->failed ? fail_memory(m, "compiling a kernel") : KN_OK;
}

static kn_status compile_in(LLVMContextRef context, LLVMTargetMachineRef machine, const kernel *k, const llvm_options *o, output what, text *out, message *m) {
    arena mem = { 0 };
    lane_emitter e = { .k = k, .mem = &mem, .m = m, .context = context, .module = llvm.ModuleCreateWithNameInContext("kernel", context),
                       .b = llvm.CreateBuilderInContext(context), .entry = llvm.CreateBuilderInContext(context) };
    llvm.SetTarget(e.module, LLVM_TRIPLE);
    LLVMTargetDataRef layout = llvm.CreateTargetDataLayout(machine);
    llvm.SetModuleDataLayout(e.module, layout);
    llvm.DisposeTargetData(layout);
    kn_status status = lanes_emit(&e);
    llvm.DisposeBuilder(e.b);
    llvm.DisposeBuilder(e.entry);
    if (!status) status = verified(e.module, m);
    if (!status && !(o && o->opt == 1)) status = run_passes(e.module, machine, m);
    if (!status) status = write_code(e.module, machine, what, out, m);
    llvm.DisposeModule(e.module);
    arena_free(&mem);
    return status ? status : m->status;
}

static kn_status compile(const kernel *k, const llvm_options *o, output what, text *out, message *m) {
    message own = { 0 };
    if (!m) m = &own;
    if (k->lanes > 128) return fail(m, KN_NOT_AVAILABLE, "a kernel with %u lanes", k->lanes);
    kn_status status = llvm_available(m);
    if (status) return status;
    LLVMTargetMachineRef machine = new_machine(o);
    if (!machine) return fail(m, KN_NOT_AVAILABLE, "LLVM makes no code for this processor");
    LLVMContextRef context = llvm.ContextCreate();
    llvm.ContextSetDiagnosticHandler(context, on_diagnostic, m);
    status = compile_in(context, machine, k, o, what, out, m);
    llvm.ContextDispose(context);
    llvm.DisposeTargetMachine(machine);
    return status;
}

kn_status llvm_compile(const kernel *k, const llvm_options *o, text *object, message *m) { return compile(k, o, OUTPUT_OBJECT, object, m); }

kn_status llvm_print(const kernel *k, const llvm_options *o, bool assembly, text *out, message *m) {
    return compile(k, o, assembly ? OUTPUT_ASSEMBLY : OUTPUT_IR, out, m);
}
