/* slices.h: slices of hand-made graphs, run in several ways: node by node as NumPy means it, nest by nest, and by the
 * kernels of a plan in the reference interpreter. Include slices.c (and nest_eval.c) once in a test program. */
#ifndef KILN_SLICES_H
#define KILN_SLICES_H
#include "nest_eval.h"

typedef struct case_slice {
    arena mem;
    slice s;
    node **roots; int nroots;
    char **values;                /* by slot: what every node is, computed node by node; leaves: their memory */
    char **leaf_values;
    int nkernels, nsteps;         /* of the last run */
    uint64_t fault;
    text why;                     /* of the last run, when explain was asked for */
} case_slice;

/* Leaves with memory of their own, filled from `numbers` (converted), or 0, 1, 2 ... when it is NULL. */
node *leaf_of(kn_dtype t, int ndim, const int64_t *shape, const double *numbers);
double leaf_number(const node *n, int64_t i);

/* Walks the graph below the roots. Keeps no reference: the roots must live on. */
void slice_make(case_slice *c, int nroots, node *const *roots);
/* Lets writes take over a leaf's memory (its contents are then lost after a run on kernels; a copy is used). */
void slice_overwritable(case_slice *c, const node *leaf);
void slice_free(case_slice *c);

typedef enum { BY_NESTS, BY_NESTS_BACKWARDS, BY_KERNELS } how_to_run;
/* Plans for the profile, runs, compares every root with its value node by node. Returns NULL, or what is wrong. */
const char *slice_check(case_slice *c, const char *profile, bool no_fusion, how_to_run how);
#endif
