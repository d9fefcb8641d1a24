/* llvm.h: the part of LLVM's C interface that Kiln uses, as a table of functions filled when the library is loaded.
 *
 * How it works: LLVM_FUNCTIONS lists every function once; the struct, the names that library.c looks up and the calls
 * (llvm.BuildBr(...)) all come from it. Types and enumerators carry LLVM's own names and values, which LLVM keeps stable.
 * Only functions that exist unchanged in versions 17 to 22 may be listed. Nothing about kernels may be put here. */
#ifndef KILN_LLVM_H
#define KILN_LLVM_H
#include "ir/base/base.h"

#define LLVM_OLDEST 17
#define LLVM_NEWEST 22

typedef int LLVMBool;
typedef struct LLVMOpaqueContext *LLVMContextRef;
typedef struct LLVMOpaqueModule *LLVMModuleRef;
typedef struct LLVMOpaqueType *LLVMTypeRef;
typedef struct LLVMOpaqueValue *LLVMValueRef;
typedef struct LLVMOpaqueBasicBlock *LLVMBasicBlockRef;
typedef struct LLVMOpaqueBuilder *LLVMBuilderRef;
typedef struct LLVMOpaqueMetadata *LLVMMetadataRef;
typedef struct LLVMOpaqueAttributeRef *LLVMAttributeRef;
typedef struct LLVMOpaqueDiagnosticInfo *LLVMDiagnosticInfoRef;
typedef struct LLVMOpaqueMemoryBuffer *LLVMMemoryBufferRef;
typedef struct LLVMOpaqueTargetData *LLVMTargetDataRef;
typedef struct LLVMTarget *LLVMTargetRef;
typedef struct LLVMOpaqueTargetMachine *LLVMTargetMachineRef;
typedef struct LLVMOpaquePassBuilderOptions *LLVMPassBuilderOptionsRef;
typedef struct LLVMOpaqueError *LLVMErrorRef;
typedef void (*LLVMDiagnosticHandler)(LLVMDiagnosticInfoRef info, void *data);

typedef enum {
    LLVMAdd = 8, LLVMFAdd, LLVMSub, LLVMFSub, LLVMMul, LLVMFMul, LLVMUDiv, LLVMSDiv, LLVMFDiv, LLVMURem, LLVMSRem, LLVMFRem,
    LLVMShl = 20, LLVMLShr, LLVMAShr, LLVMAnd, LLVMOr, LLVMXor,
    LLVMTrunc = 30, LLVMZExt, LLVMSExt, LLVMFPToUI, LLVMFPToSI, LLVMUIToFP, LLVMSIToFP, LLVMFPTrunc, LLVMFPExt,
    LLVMPtrToInt = 39, LLVMIntToPtr, LLVMBitCast
} LLVMOpcode;
typedef enum {
    LLVMIntEQ = 32, LLVMIntNE, LLVMIntUGT, LLVMIntUGE, LLVMIntULT, LLVMIntULE, LLVMIntSGT, LLVMIntSGE, LLVMIntSLT, LLVMIntSLE
} LLVMIntPredicate;
typedef enum {
    LLVMRealOEQ = 1, LLVMRealOGT, LLVMRealOGE, LLVMRealOLT, LLVMRealOLE, LLVMRealONE, LLVMRealORD, LLVMRealUNO,
    LLVMRealUEQ, LLVMRealUGT, LLVMRealUGE, LLVMRealULT, LLVMRealULE, LLVMRealUNE
} LLVMRealPredicate;
typedef enum { LLVMAtomicOrderingMonotonic = 2, LLVMAtomicOrderingAcquire = 4, LLVMAtomicOrderingRelease = 5,
               LLVMAtomicOrderingSequentiallyConsistent = 7 } LLVMAtomicOrdering;
typedef enum { LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpNand,
               LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMax,
               LLVMAtomicRMWBinOpUMin, LLVMAtomicRMWBinOpFAdd } LLVMAtomicRMWBinOp;
typedef enum { LLVMInternalLinkage = 8, LLVMPrivateLinkage = 9 } LLVMLinkage;
typedef enum { LLVMReturnStatusAction = 2 } LLVMVerifierFailureAction;
typedef enum { LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault, LLVMCodeGenLevelAggressive } LLVMCodeGenOptLevel;
typedef enum { LLVMRelocPIC = 2 } LLVMRelocMode;
typedef enum { LLVMCodeModelSmall = 3 } LLVMCodeModel;
typedef enum { LLVMAssemblyFile, LLVMObjectFile } LLVMCodeGenFileType;
typedef enum { LLVMDSError, LLVMDSWarning, LLVMDSRemark, LLVMDSNote } LLVMDiagnosticSeverity;
enum { LLVMAttributeFunctionIndex = -1 };
/* Reassociation, no signed zeros, reciprocals, contraction, approximate functions; NaN and infinity keep their meaning. */
enum { LLVM_FAST_MATH = 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 };

/* F(result, name, parameters) */
#define LLVM_FUNCTIONS(F) \
    F(void, GetVersion, (unsigned *, unsigned *, unsigned *)) \
    /* contexts and modules */ \
    F(LLVMContextRef, ContextCreate, (void)) \
    F(void, ContextDispose, (LLVMContextRef)) \
    F(void, ContextSetDiagnosticHandler, (LLVMContextRef, LLVMDiagnosticHandler, void *)) \
    F(char *, GetDiagInfoDescription, (LLVMDiagnosticInfoRef)) \
    F(LLVMDiagnosticSeverity, GetDiagInfoSeverity, (LLVMDiagnosticInfoRef)) \
    F(void, DisposeMessage, (char *)) \
    F(LLVMModuleRef, ModuleCreateWithNameInContext, (const char *, LLVMContextRef)) \
    F(void, DisposeModule, (LLVMModuleRef)) \
    F(void, SetTarget, (LLVMModuleRef, const char *)) \
    F(void, SetModuleDataLayout, (LLVMModuleRef, LLVMTargetDataRef)) \
    F(char *, PrintModuleToString, (LLVMModuleRef)) \
    F(LLVMBool, VerifyModule, (LLVMModuleRef, LLVMVerifierFailureAction, char **)) \
    /* types */ \
    F(LLVMTypeRef, VoidTypeInContext, (LLVMContextRef)) \
    F(LLVMTypeRef, IntTypeInContext, (LLVMContextRef, unsigned)) \
    F(LLVMTypeRef, HalfTypeInContext, (LLVMContextRef)) \
    F(LLVMTypeRef, FloatTypeInContext, (LLVMContextRef)) \
    F(LLVMTypeRef, DoubleTypeInContext, (LLVMContextRef)) \
    F(LLVMTypeRef, PointerTypeInContext, (LLVMContextRef, unsigned)) \
    F(LLVMTypeRef, VectorType, (LLVMTypeRef, unsigned)) \
    F(LLVMTypeRef, ArrayType2, (LLVMTypeRef, uint64_t)) \
    F(LLVMTypeRef, StructTypeInContext, (LLVMContextRef, LLVMTypeRef *, unsigned, LLVMBool)) \
    F(LLVMTypeRef, FunctionType, (LLVMTypeRef, LLVMTypeRef *, unsigned, LLVMBool)) \
    F(LLVMTypeRef, TypeOf, (LLVMValueRef)) \
    /* constants and globals */ \
    F(LLVMValueRef, ConstInt, (LLVMTypeRef, unsigned long long, LLVMBool)) \
    F(LLVMValueRef, ConstNull, (LLVMTypeRef)) \
    F(LLVMValueRef, ConstVector, (LLVMValueRef *, unsigned)) \
    F(LLVMValueRef, ConstBitCast, (LLVMValueRef, LLVMTypeRef)) \
    F(LLVMValueRef, ConstStringInContext, (LLVMContextRef, const char *, unsigned, LLVMBool)) \
    F(LLVMValueRef, GetPoison, (LLVMTypeRef)) \
    F(LLVMBool, IsConstant, (LLVMValueRef)) \
    F(LLVMValueRef, IsAConstantInt, (LLVMValueRef)) \
    F(long long, ConstIntGetSExtValue, (LLVMValueRef)) \
    F(LLVMValueRef, AddGlobal, (LLVMModuleRef, LLVMTypeRef, const char *)) \
    F(void, SetInitializer, (LLVMValueRef, LLVMValueRef)) \
    F(void, SetGlobalConstant, (LLVMValueRef, LLVMBool)) \
    F(void, SetLinkage, (LLVMValueRef, LLVMLinkage)) \
    F(void, SetAlignment, (LLVMValueRef, unsigned)) \
    /* functions and blocks */ \
    F(LLVMValueRef, AddFunction, (LLVMModuleRef, const char *, LLVMTypeRef)) \
    F(LLVMValueRef, GetNamedFunction, (LLVMModuleRef, const char *)) \
    F(LLVMValueRef, GetParam, (LLVMValueRef, unsigned)) \
    F(LLVMTypeRef, GlobalGetValueType, (LLVMValueRef)) \
    F(void, SetValueName2, (LLVMValueRef, const char *, size_t)) \
    F(unsigned, GetEnumAttributeKindForName, (const char *, size_t)) \
    F(LLVMAttributeRef, CreateEnumAttribute, (LLVMContextRef, unsigned, uint64_t)) \
    F(LLVMAttributeRef, CreateStringAttribute, (LLVMContextRef, const char *, unsigned, const char *, unsigned)) \
    F(void, AddAttributeAtIndex, (LLVMValueRef, unsigned, LLVMAttributeRef)) \
    F(void, AddCallSiteAttribute, (LLVMValueRef, unsigned, LLVMAttributeRef)) \
    F(LLVMBasicBlockRef, AppendBasicBlockInContext, (LLVMContextRef, LLVMValueRef, const char *)) \
    F(LLVMBasicBlockRef, GetEntryBasicBlock, (LLVMValueRef)) \
    F(LLVMBasicBlockRef, GetInsertBlock, (LLVMBuilderRef)) \
    F(LLVMValueRef, GetBasicBlockTerminator, (LLVMBasicBlockRef)) \
    F(LLVMValueRef, GetFirstInstruction, (LLVMBasicBlockRef)) \
    /* instructions */ \
    F(LLVMBuilderRef, CreateBuilderInContext, (LLVMContextRef)) \
    F(void, DisposeBuilder, (LLVMBuilderRef)) \
    F(void, PositionBuilderAtEnd, (LLVMBuilderRef, LLVMBasicBlockRef)) \
    F(void, PositionBuilderBefore, (LLVMBuilderRef, LLVMValueRef)) \
    F(LLVMValueRef, BuildRetVoid, (LLVMBuilderRef)) \
    F(LLVMValueRef, BuildRet, (LLVMBuilderRef, LLVMValueRef)) \
    F(LLVMValueRef, BuildBr, (LLVMBuilderRef, LLVMBasicBlockRef)) \
    F(LLVMValueRef, BuildCondBr, (LLVMBuilderRef, LLVMValueRef, LLVMBasicBlockRef, LLVMBasicBlockRef)) \
    F(LLVMValueRef, BuildPhi, (LLVMBuilderRef, LLVMTypeRef, const char *)) \
    F(void, AddIncoming, (LLVMValueRef, LLVMValueRef *, LLVMBasicBlockRef *, unsigned)) \
    F(LLVMValueRef, BuildBinOp, (LLVMBuilderRef, LLVMOpcode, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildNeg, (LLVMBuilderRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildFNeg, (LLVMBuilderRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildNot, (LLVMBuilderRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildICmp, (LLVMBuilderRef, LLVMIntPredicate, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildFCmp, (LLVMBuilderRef, LLVMRealPredicate, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildSelect, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildCast, (LLVMBuilderRef, LLVMOpcode, LLVMValueRef, LLVMTypeRef, const char *)) \
    F(LLVMValueRef, BuildFreeze, (LLVMBuilderRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildAlloca, (LLVMBuilderRef, LLVMTypeRef, const char *)) \
    F(LLVMValueRef, BuildLoad2, (LLVMBuilderRef, LLVMTypeRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildStore, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef)) \
    F(LLVMValueRef, BuildGEP2, (LLVMBuilderRef, LLVMTypeRef, LLVMValueRef, LLVMValueRef *, unsigned, const char *)) \
    F(LLVMValueRef, BuildExtractElement, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildInsertElement, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildShuffleVector, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, LLVMValueRef, const char *)) \
    F(LLVMValueRef, BuildExtractValue, (LLVMBuilderRef, LLVMValueRef, unsigned, const char *)) \
    F(LLVMValueRef, BuildInsertValue, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, unsigned, const char *)) \
    F(LLVMValueRef, BuildCall2, (LLVMBuilderRef, LLVMTypeRef, LLVMValueRef, LLVMValueRef *, unsigned, const char *)) \
    F(LLVMValueRef, BuildAtomicRMW, (LLVMBuilderRef, LLVMAtomicRMWBinOp, LLVMValueRef, LLVMValueRef, LLVMAtomicOrdering, LLVMBool)) \
    F(LLVMValueRef, BuildAtomicCmpXchg, (LLVMBuilderRef, LLVMValueRef, LLVMValueRef, LLVMValueRef, LLVMAtomicOrdering, LLVMAtomicOrdering, LLVMBool)) \
    F(LLVMValueRef, BuildFence, (LLVMBuilderRef, LLVMAtomicOrdering, LLVMBool, const char *)) \
    F(void, SetOrdering, (LLVMValueRef, LLVMAtomicOrdering)) \
    F(void, SetMetadata, (LLVMValueRef, unsigned, LLVMValueRef)) \
    F(unsigned, GetMDKindIDInContext, (LLVMContextRef, const char *, unsigned)) \
    F(LLVMMetadataRef, MDNodeInContext2, (LLVMContextRef, LLVMMetadataRef *, size_t)) \
    F(LLVMMetadataRef, ValueAsMetadata, (LLVMValueRef)) \
    F(LLVMValueRef, MetadataAsValue, (LLVMContextRef, LLVMMetadataRef)) \
    /* targets, passes, output */ \
    F(LLVMBool, GetTargetFromTriple, (const char *, LLVMTargetRef *, char **)) \
    F(LLVMTargetMachineRef, CreateTargetMachine, (LLVMTargetRef, const char *, const char *, const char *, LLVMCodeGenOptLevel, LLVMRelocMode, LLVMCodeModel)) \
    F(void, DisposeTargetMachine, (LLVMTargetMachineRef)) \
    F(LLVMTargetDataRef, CreateTargetDataLayout, (LLVMTargetMachineRef)) \
    F(void, DisposeTargetData, (LLVMTargetDataRef)) \
    F(LLVMErrorRef, RunPasses, (LLVMModuleRef, const char *, LLVMTargetMachineRef, LLVMPassBuilderOptionsRef)) \
    F(LLVMPassBuilderOptionsRef, CreatePassBuilderOptions, (void)) \
    F(void, DisposePassBuilderOptions, (LLVMPassBuilderOptionsRef)) \
    F(char *, GetErrorMessage, (LLVMErrorRef)) \
    F(void, DisposeErrorMessage, (char *)) \
    F(LLVMBool, TargetMachineEmitToMemoryBuffer, (LLVMTargetMachineRef, LLVMModuleRef, LLVMCodeGenFileType, char **, LLVMMemoryBufferRef *)) \
    F(const char *, GetBufferStart, (LLVMMemoryBufferRef)) \
    F(size_t, GetBufferSize, (LLVMMemoryBufferRef)) \
    F(void, DisposeMemoryBuffer, (LLVMMemoryBufferRef))

/* Functions that not every accepted version has; NULL where missing. */
#define LLVM_OPTIONAL_FUNCTIONS(F) \
    F(void, SetFastMathFlags, (LLVMValueRef, unsigned))

typedef struct llvm_api {
#define LLVM_MEMBER(result, name, parameters) result (*name) parameters;
    LLVM_FUNCTIONS(LLVM_MEMBER)
    LLVM_OPTIONAL_FUNCTIONS(LLVM_MEMBER)
#undef LLVM_MEMBER
    int version;          /* major */
    LLVMTargetRef target; /* this machine's architecture */
} llvm_api;

/* Filled by llvm_available, never changed afterwards. */
extern llvm_api llvm;

/* This machine's architecture as LLVM calls it. */
#if defined(__x86_64__)
#define LLVM_ARCH "X86"
#define LLVM_TRIPLE "x86_64-unknown-linux-gnu"
#elif defined(__aarch64__)
#define LLVM_ARCH "AArch64"
#define LLVM_TRIPLE "aarch64-unknown-linux-gnu"
#endif
#endif
