/* fold.h: what build.c and fold.c share. */
#ifndef KILN_FOLD_H
#define KILN_FOLD_H
#include "ir/kir/kir.h"

#define NOT_FOLDED UINT32_MAX

/* The value that stands for the operation, or NOT_FOLDED. Makes at most one constant. */
kval fold(kernel *k, kop op, ktype type, kval a, kval b, kval c);
#endif
