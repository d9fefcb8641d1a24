/* load_save.c: arrays from files and into files.
 *
 * How it works: files/ reads and writes plain memory; here such memory becomes an array's, and an array's values become
 * such memory. A file in Fortran order becomes a transposed window on memory in C order, as in NumPy. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/files/files.h"
#include "runtime/runtime.h"

static void reversed(const array_header *h, int64_t *shape) { for (int d = 0; d < h->ndim; d++) shape[d] = h->shape[h->ndim - 1 - d]; }

static kn_array from_file(node *n, const array_header *h) {
    if (!h->fortran || h->ndim < 2) return array_from_node(n);
    layout memory, w = { .dtype = h->dtype, .ndim = h->ndim };
    layout_whole(n, &memory);
    cell *c = cell_new(n, NULL);
    if (!c) return array_from_cell(NULL, false);
    for (int d = 0; d < h->ndim; d++) {
        w.shape[d] = memory.shape[h->ndim - 1 - d];
        w.strides[d] = memory.strides[h->ndim - 1 - d];
    }
    kn_array a = array_from_window(c, &w, false);
    cell_drop(c);
    return a;
}

/* The array of that number in an open file; {0} with a message on failure. */
static kn_array load_one(array_file *file, size_t index, message *m) {
    array_header h;
    kn_array none = { 0 };
    int64_t shape[NDIM_MAX];
    if (array_file_header(file, index, &h, m)) return none;
    buffer *b = pool_buffer(h.bytes, m);
    node *n = NULL;
    if (b && !array_file_read(file, index, b->data, h.bytes, m)) {
        memcpy(shape, h.shape, sizeof shape);
        if (h.fortran) reversed(&h, shape);
        n = node_buffer(h.dtype, h.ndim, shape, b, 0, m);
    }
    buffer_drop(b);
    scope_weigh(h.bytes);
    return n ? from_file(n, &h) : none;
}

static kn_status find_member(array_file *file, const char *path, const char *name, size_t *index, message *m) {
    *index = 0;
    if (name) return array_file_find(file, name, index, m);
    if (array_file_count(file) == 1) return KN_OK;
    if (!array_file_count(file)) return fail(m, KN_VALUE_ERROR, "kn_load: '%s' holds no array", path);
    return fail(m, KN_VALUE_ERROR, "kn_load: '%s' holds %zu arrays ('%s', '%s', ...); name the one you want: kn_load_named(path, \"%s\")", path, array_file_count(file),
                array_file_name(file, 0), array_file_name(file, 1), array_file_name(file, 0));
}

static kn_array load(const char *path, const char *name) {
    message m = { 0 };
    array_file *file = NULL;
    size_t index;
    kn_array a = { 0 };
    if (!path) fail(&m, KN_VALUE_ERROR, "kn_load: the path is NULL");
    else if (!array_file_open(path, NULL, &file, &m) && !find_member(file, path, name, &index, &m)) a = load_one(file, index, &m);
    array_file_close(file);
    return a.id ? a : array_error(&m);
}

kn_array kn_load(const char *path) { return load(path, NULL); }
kn_array kn_load_named(const char *path, const char *name) { return load(path, name); }

/* ---- saving ---- */

kn_status kn_save_all(const char *path, const kn_named *arrays, size_t n) {
    message m = { 0 };
    bool carried = false;
    host_window *h = mem_zero(n ? n : 1, sizeof *h);
    save_item *items = mem_zero(n ? n : 1, sizeof *items);
    if (!h || !items) fail_memory(&m, "kn_save");
    if (!path) fail(&m, KN_VALUE_ERROR, "kn_save: the path is NULL");
    for (size_t i = 0; i < n && !m.status; i++) {
        carried = array_failed(arrays[i].value, NULL);
        if (array_host(arrays[i].value, "kn_save", &h[i], &m)) break;
        carried = false;
        items[i] = (save_item){ arrays[i].name, { .dtype = h[i].dtype, .ndim = h[i].ndim, .shape = h[i].shape, .strides = h[i].strides, .data = h[i].data } };
    }
    if (!m.status) array_save(path, items, n, NULL, &m);
    for (size_t i = 0; i < n && h; i++) host_drop(&h[i]);
    mem_free(items);
    mem_free(h);
    if (!m.status) return KN_OK;
    if (carried) error_repeat(&m);
    else error_record(&m);
    return m.status;
}

kn_status kn_save(kn_array a, const char *path) {
    kn_named one = { NULL, a };
    return kn_save_all(path, &one, 1);
}
