/* owned.h: nodes made after this line are dropped by drop_all at the end of a test, so that leaks of others show. */
#ifndef KILN_OWNED_H
#define KILN_OWNED_H

static node **owned_nodes;
static size_t owned_count, owned_cap;

static node *own(node *n) {
    if (owned_count == owned_cap) owned_nodes = mem_grow(owned_nodes, owned_cap = owned_cap ? 2 * owned_cap : 256, sizeof *owned_nodes);
    return owned_nodes[owned_count++] = n;
}

static void drop_all(void) {
    for (size_t i = 0; i < owned_count; i++) node_drop(owned_nodes[i]);
    mem_free(owned_nodes);
    owned_nodes = NULL;
    owned_count = owned_cap = 0;
    eval_forget();
}

#define leaf_of(...) own(leaf_of(__VA_ARGS__))
#define node_keep(...) own(node_keep(__VA_ARGS__))
#define node_scalar(...) own(node_scalar(__VA_ARGS__))
#define node_empty(...) own(node_empty(__VA_ARGS__))
#define node_index(...) own(node_index(__VA_ARGS__))
#define node_view(...) own(node_view(__VA_ARGS__))
#define node_write(...) own(node_write(__VA_ARGS__))
#define node_broadcast(...) own(node_broadcast(__VA_ARGS__))
#define node_reshape(...) own(node_reshape(__VA_ARGS__))
#define node_transpose(...) own(node_transpose(__VA_ARGS__))
#define node_cast(...) own(node_cast(__VA_ARGS__))
#define node_map(...) own(node_map(__VA_ARGS__))
#define node_gather(...) own(node_gather(__VA_ARGS__))
#define node_scatter(...) own(node_scatter(__VA_ARGS__))
#define node_reduce(...) own(node_reduce(__VA_ARGS__))
#define node_scan(...) own(node_scan(__VA_ARGS__))
#define node_opaque(...) own(node_opaque(__VA_ARGS__))
#endif
