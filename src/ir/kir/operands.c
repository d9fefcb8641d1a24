/* operands.c: what is known of an instruction from its number alone: its name, and which fields name other instructions. */
#include "ir/kir/kir.h"

static const char *const names[NKINSTS] = {
#define KOP(name, ...) [KOP_##name] = #name,
#include "ir/kir/kops.def"
    [K_PARAM] = "param", [K_CONST] = "const", [K_VAR] = "var", [K_GET] = "get", [K_SET] = "set", [K_FOR] = "for", [K_IF] = "if", [K_ELSE] = "else",
    [K_LOOP] = "loop", [K_BREAK_UNLESS] = "break_unless", [K_END] = "end", [K_LOCAL] = "local", [K_SHARED] = "shared", [K_TABLE] = "table",
    [K_LOAD] = "load", [K_STORE] = "store", [K_VLOAD] = "vload", [K_VSTORE] = "vstore", [K_ATOMIC] = "atomic", [K_CAS] = "cas", [K_FENCE] = "fence",
    [K_BARRIER] = "barrier", [K_SHUFFLE] = "shuffle", [K_BALLOT] = "ballot", [K_LANE_INDEX] = "lane_index", [K_FIRST_LANE] = "first_lane",
    [K_CALL] = "call", [K_RESULT] = "result", [K_RETURN] = "return", [K_FAULT] = "fault", [K_COMMENT] = "comment",
};

static const uint8_t arities[NKOPS] = {
#define KOP(name, arity, ...) [KOP_##name] = arity,
#include "ir/kir/kops.def"
};

enum { A = OPERAND_A, B = OPERAND_B, C = OPERAND_C };
static const uint8_t operands[NKINSTS] = {
#define KOP(name, arity, ...) [KOP_##name] = (1 << arity) - 1,
#include "ir/kir/kops.def"
    [K_VAR] = A, [K_GET] = A, [K_SET] = A | B, [K_FOR] = A | B | C, [K_IF] = A, [K_ELSE] = A, [K_BREAK_UNLESS] = A, [K_END] = A,
    [K_LOAD] = A | B | OPERAND_MASK, [K_STORE] = A | B | C, [K_VLOAD] = A | B | C, [K_VSTORE] = A | B | C, [K_ATOMIC] = A | B | C,
    [K_CAS] = A | B | OPERAND_TWO, [K_SHUFFLE] = A | B, [K_BALLOT] = A, [K_FIRST_LANE] = A, [K_CALL] = OPERAND_LIST, [K_RESULT] = A,
    [K_RETURN] = OPERAND_LIST, [K_FAULT] = A | B,
};

uint8_t kinst_operands(const kinst *i) { return operands[i->op]; }
const char *kinst_name(uint16_t op) { return op < NKINSTS ? names[op] : "?"; }
uint8_t kop_arity(kop op) { return arities[op]; }
