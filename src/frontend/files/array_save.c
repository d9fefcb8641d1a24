/* array_save.c: one way to write all the formats: the path's ending says which. */
#include "frontend/files/internal.h"

static kn_status write_piece(void *context, const void *piece, size_t n, message *m)
{
    return output_write(context, piece, n, m);
}

kn_status array_save(const char *path, const save_item *items, size_t n, const save_options *options, message *m)
{
    static const save_options plain = {.compress = false};
    const save_options *o = options ? options : &plain;
    bool archive = path_is_archive(path);
    char delimiter = path_table_delimiter(path);
    output out;
    if (!archive && n != 1)
        return fail(m, KN_VALUE_ERROR, "cannot write '%s': it takes one array, not %zu; an .npz takes any number", path, n);
    kn_status status = output_open(path, &out, m);
    if (status != KN_OK)
        return status;
    if (archive)
        status = npz_save(&out, items, n, o->compress, m);
    else if (delimiter)
        status = table_save(&out, &items[0].array, o->delimiter ? o->delimiter : delimiter, o->columns, o->ncolumns, m);
    else
        status = npy_write(&items[0].array, write_piece, &out, m);
    if (status == KN_OK)
        status = output_commit(&out, m);
    output_abandon(&out);
    return status;
}
