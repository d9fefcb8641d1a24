/* reference.h: what the interpreter's files share. */
#ifndef KILN_REFERENCE_H
#define KILN_REFERENCE_H
#include "codegen/codegen.h"

/* A value in the present lanes: n elements, or one that all lanes share (step 0). A bool is a byte, 0 or 1. */
typedef struct operand { const void *at; int step; } operand;

/* operations.c: the scalar primitives over lanes. type: of the operands; for select of operands 1 and 2. */
void reference_operation(kop op, ktype type, void *to, operand a, operand b, operand c, int n);
void reference_convert(void *to, ktype to_type, operand a, ktype from, int n);

/* memory.c: elements in memory: a bool is "not 0" when read; float16 and bfloat16 are f32 as values. Masked-off lanes (mask
 * not NULL and 0) touch no memory and load zero. */
void reference_load(void *to, const char *array, ktype storage, const int64_t *index, const uint8_t *mask, int n);
void reference_store(char *array, ktype storage, const int64_t *index, operand value, const uint8_t *mask, int n);
uint64_t reference_word(ktype t, const void *at);            /* a value's bits, integers extended */
void reference_put(ktype t, void *at, uint64_t bits);
uint64_t reference_atomic(char *at, ktype storage, int how, uint64_t value);
uint64_t reference_compare_exchange(char *at, ktype storage, uint64_t expected, uint64_t desired);
#endif
