/* selections.h: handlers of operations that look at values when they are called, for the table in selections.c. */
#ifndef KILN_FRONTEND_SELECTIONS_H
#define KILN_FRONTEND_SELECTIONS_H
#include "ir/graph/compose.h"

#define MOST_OPERANDS 24          /* parameters of one row */

/* ---- counting.c ---- */
nodes_handler op_bincount, op_histogram, op_histogram_bin_edges, op_histogram2d;

/* ---- sets.c ---- */
nodes_handler op_unique_all, op_unique_counts, op_unique_inverse, op_unique_values, op_union1d, op_intersect1d, op_setdiff1d, op_setxor1d;

/* ---- edits.c ---- */
node *numbers_node(const int64_t *numbers, int64_t n, message *m);   /* as an int64 array */
/* The values of integers, which must be in 0 ... n-1; *out is freed by mem_free, also after a failure. */
kn_status positions_read(node *obj, int64_t n, const char *name, int64_t **out, int64_t *count, message *m);
nodes_handler op_delete, op_insert, op_trim_zeros, op_repeat, op_roll, op_tril_indices, op_triu_indices, op_tril_indices_from, op_triu_indices_from;
#endif
