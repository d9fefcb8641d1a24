/* operations.c: the scalar primitives over lanes, for every processor. */
#define VARIANT(name) name
#include "codegen/reference/operations.h"
