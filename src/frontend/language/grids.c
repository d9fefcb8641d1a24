/* grids.c: what NumPy writes with brackets alone: s_, index_exp, mgrid, ogrid, r_, c_.
 *
 * How it works: each is a record that value_subscript hands to grid_subscript. Slices become points: of arange, or of
 * linspace when the step is imaginary; the rest is array operations by their names. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/language/machine.h"
#include "frontend/language/numpy.h"

static const char *const names[] = { "s_", "index_exp", "mgrid", "ogrid", "r_", "c_" };

value grid_named(machine *m, const char *name) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return record_value(m, names[i], 0, NULL, NULL);
    return NO_VALUE_;
}

bool is_grid(value v) {
    if (v.kind != VALUE_RECORD || ((record_object *)v.u.o)->n) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (((record_object *)v.u.o)->type == names[i]) return true;
    return false;
}

static value numpy_call(machine *m, const char *name, const value *args, int n, const keyword *keywords, int nkeywords) {
    value f = module_name(m, "numpy", name);
    value v = absent(f) ? f : call_value(m, f, args, n, keywords, nkeywords);
    value_drop(m, f);
    return v;
}

/* The points of a slice. */
static value points(machine *m, const slice_object *s) {
    value args[3] = { s->start.kind == VALUE_NONE ? int_value(0) : s->start, s->stop, s->step.kind == VALUE_NONE ? int_value(1) : s->step };
    if (args[2].kind != VALUE_COMPLEX) return numpy_call(m, "arange", args, 3, NULL, 0);
    args[2] = int_value((int64_t)hypot(as_complex(args[2])->re, as_complex(args[2])->im));
    return numpy_call(m, "linspace", args, 3, NULL, 0);
}

/* ---- mgrid, ogrid ---- */

/* All axes of one dtype. */
static bool same_dtype(machine *m, value list) {
    sequence_object *s = as_sequence(list);
    kn_dtype t = KN_DTYPE_UNSET;
    for (size_t i = 0; i < s->n; i++) t = t ? kn_promote_types(t, kn_dtype_of(as_array(s->at[i])->array)) : kn_dtype_of(as_array(s->at[i])->array);
    for (size_t i = 0; i < s->n; i++) {
        if (kn_dtype_of(as_array(s->at[i])->array) == t) continue;
        value v = array_value(m, (kn_astype)(as_array(s->at[i])->array, t, NULL), false);
        if (absent(v)) return false;
        value_drop(m, s->at[i]);
        s->at[i] = v;
    }
    return true;
}

static value axes_of(machine *m, value index) {
    value list = list_value(m, 0, NULL);
    for (size_t i = 0; !absent(list) && i < as_sequence(index)->n; i++) {
        value item = as_sequence(index)->at[i];
        value v = item.kind == VALUE_SLICE ? points(m, as_slice(item)) : raise_error(m, "TypeError", "a grid is written with slices, not with '%s'", value_type_name(item));
        bool good = !absent(v) && list_append(m, list, v);
        value_drop(m, v);
        if (!good) value_drop(m, list), list = NO_VALUE_;
    }
    if (!absent(list) && !same_dtype(m, list)) value_drop(m, list), list = NO_VALUE_;
    return list;
}

static value grid(machine *m, value index, bool open) {
    if (index.kind == VALUE_SLICE) return points(m, as_slice(index));
    if (index.kind != VALUE_TUPLE) return raise_error(m, "TypeError", "a grid is written with slices, not with '%s'", value_type_name(index));
    value axes = axes_of(m, index);
    if (absent(axes)) return axes;
    value ij = string_value(m, "ij", 2), sparse = bool_value(open), grids = NO_VALUE_;
    keyword keywords[2] = { { "indexing", ij }, { "sparse", sparse } };
    if (!absent(ij)) grids = numpy_call(m, "meshgrid", as_sequence(axes)->at, (int)as_sequence(axes)->n, keywords, 2);
    value v = absent(grids) ? grids : open ? sequence_of(m, grids, VALUE_TUPLE) : numpy_call(m, "stack", &grids, 1, NULL, 0);
    value_drop(m, grids);
    value_drop(m, ij);
    value_drop(m, axes);
    return v;
}

/* ---- r_, c_ ---- */

static value joined_item(machine *m, value item, bool columns) {
    value v = item.kind == VALUE_SLICE ? points(m, as_slice(item)) : numpy_call(m, "atleast_1d", &item, 1, NULL, 0);
    if (!columns || absent(v) || v.kind != VALUE_ARRAY || kn_ndim(as_array(v)->array) != 1) return v;
    value column = array_value(m, (kn_reshape)(as_array(v)->array, (kn_shape){ 2, (int64_t[]){ -1, 1 } }, NULL), false);
    value_drop(m, v);
    return column;
}

static value joined(machine *m, value index, bool columns) {
    value items = index.kind == VALUE_TUPLE ? value_keep(index) : tuple_value(m, 1, &index), list = absent(items) ? items : list_value(m, 0, NULL);
    for (size_t i = 0; !absent(list) && i < as_sequence(items)->n; i++) {
        value item = as_sequence(items)->at[i];
        value v = item.kind == VALUE_STRING ? raise_error(m, "ValueError", "r_ and c_ take no directives here; use concatenate, stack or reshape") : joined_item(m, item, columns);
        bool good = !absent(v) && list_append(m, list, v);
        value_drop(m, v);
        if (!good) value_drop(m, list), list = NO_VALUE_;
    }
    keyword axis = { "axis", int_value(columns ? -1 : 0) };
    value v = absent(list) ? list : numpy_call(m, "concatenate", &list, 1, &axis, 1);
    value_drop(m, list);
    value_drop(m, items);
    return v;
}

value grid_subscript(machine *m, value record, value index) {
    const char *name = ((record_object *)record.u.o)->type;
    if (name == names[0]) return value_keep(index);
    if (name == names[1]) return index.kind == VALUE_TUPLE ? value_keep(index) : tuple_value(m, 1, &index);
    if (name == names[2] || name == names[3]) return grid(m, index, name == names[3]);
    return joined(m, index, name == names[5]);
}
