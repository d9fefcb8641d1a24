/* plans.c: the exact plan cache. Everything here runs with the graph mutex held, except the freeing in variant_drop.
 *
 * How it works: an open hash table of entries by their key words; bounded, the entry used longest ago goes first. An
 * entry holds what was learned about a slice (which intermediate results later evaluations asked for) and a plan for
 * each combination of stored results and overwritten leaves that occurred. What a key means is walk.c's business. */
#include <string.h>
#include "runtime/internal.h"

#define TABLE_SIZE 4096
#define MOST_PLANS 2048
#define MOST_VARIANTS 8

static struct {
    plan_entry *chain[TABLE_SIZE];
    plan_entry **by_number; uint32_t cap_numbers;    /* ring: number % cap */
    int count;
    uint64_t clock;
    uint32_t numbers;
} table;

void variant_drop(plan_variant *v) {
    if (!v || __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL)) return;
    if (v->kernels && v->p) for (int i = 0; i < v->p->nsteps; i++) if (v->kernels[i]) v->on->kernel_drop(v->on, v->kernels[i]);
    mem_free(v->kernels);
    if (v->p) plan_free(v->p);
    mem_free(v->bits);
    mem_free(v->block_bytes);
    mem_free(v);
}

static void entry_free(plan_entry *e) {
    if (table.by_number && table.by_number[e->number % table.cap_numbers] == e) table.by_number[e->number % table.cap_numbers] = NULL;
    while (e->variants) {
        plan_variant *v = e->variants;
        e->variants = v->next;
        variant_drop(v);
    }
    mem_free(e->key);
    mem_free(e->exports);
    mem_free(e);
}

plan_entry *plans_find(uint64_t hash, const uint64_t *key, uint32_t nkey) {
    for (plan_entry *e = table.chain[hash & (TABLE_SIZE - 1)]; e; e = e->next)
        if (e->hash == hash && e->nkey == nkey && !memcmp(e->key, key, nkey * sizeof *key)) {
            e->last_use = ++table.clock;
            return e;
        }
    return NULL;
}

plan_entry *plans_numbered(uint32_t number) {
    if (!table.by_number || !number) return NULL;
    plan_entry *e = table.by_number[number % table.cap_numbers];
    return e && e->number == number ? e : NULL;
}

static void evict_one(void) {
    plan_entry **oldest = NULL;
    for (int i = 0; i < TABLE_SIZE; i++)
        for (plan_entry **p = &table.chain[i]; *p; p = &(*p)->next)
            if (!oldest || (*p)->last_use < (*oldest)->last_use) oldest = p;
    if (!oldest) return;
    plan_entry *e = *oldest;
    *oldest = e->next;
    table.count--;
    entry_free(e);
}

plan_entry *plans_add(uint64_t hash, const uint64_t *key, uint32_t nkey, uint32_t nnodes) {
    if (!table.by_number) {
        table.by_number = mem_zero(2 * MOST_PLANS, sizeof *table.by_number);
        if (!table.by_number) return NULL;
        table.cap_numbers = 2 * MOST_PLANS;
    }
    plan_entry *e = mem_zero(1, sizeof *e);
    if (!e) return NULL;
    e->key = mem_array(nkey, sizeof *key);
    e->exports = mem_zero(nnodes + 1, 1);
    if (!e->key || !e->exports) { mem_free(e->key); mem_free(e->exports); mem_free(e); return NULL; }
    memcpy(e->key, key, nkey * sizeof *key);
    e->nkey = nkey;
    e->nnodes = nnodes;
    e->hash = hash;
    if (table.count >= MOST_PLANS) evict_one();
    if (++table.numbers == 0) table.numbers = 1;
    e->number = table.numbers;
    e->last_use = ++table.clock;
    table.by_number[e->number % table.cap_numbers] = e;
    e->next = table.chain[hash & (TABLE_SIZE - 1)];
    table.chain[hash & (TABLE_SIZE - 1)] = e;
    table.count++;
    return e;
}

static bool same_bits(const plan_variant *v, const walk *w) {
    return v->nbits == w->nnodes + w->nleaves && !memcmp(v->bits, w->wanted, w->nnodes) && !memcmp(v->bits + w->nnodes, w->overwritable, w->nleaves);
}

plan_variant *plans_variant(plan_entry *e, const walk *w) {
    for (plan_variant *v = e->variants; v; v = v->next) if (same_bits(v, w)) return v;
    return NULL;
}

bool plans_add_variant(plan_entry *e, const walk *w, plan_variant *v) {
    v->nbits = w->nnodes + w->nleaves;
    v->bits = mem_alloc(v->nbits + 1);
    if (!v->bits) return false;
    memcpy(v->bits, w->wanted, w->nnodes);
    memcpy(v->bits + w->nnodes, w->overwritable, w->nleaves);
    if (e->nvariants >= MOST_VARIANTS) {
        plan_variant **last = &e->variants;
        while ((*last)->next) last = &(*last)->next;
        variant_drop(*last);
        *last = NULL;
        e->nvariants--;
    }
    v->next = e->variants;
    e->variants = v;
    e->nvariants++;
    return true;
}

void plans_forget(void) {
    for (int i = 0; i < TABLE_SIZE; i++)
        while (table.chain[i]) {
            plan_entry *e = table.chain[i];
            table.chain[i] = e->next;
            table.count--;
            entry_free(e);
        }
}
