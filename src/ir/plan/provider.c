/* provider.c: the registry of libraries that run opaque operations. Providers come from above, at start; what they do must
 * not be known here. */
#include "ir/plan/plan.h"

#define MOST_PROVIDERS 256

/* Rows are only ever added; a row is complete before the count says that it is there. */
static const provider *registered[MOST_PROVIDERS];
static int nregistered, nreserved;

void provider_register(const provider *p) {
    int at = __atomic_fetch_add(&nreserved, 1, __ATOMIC_RELAXED);
    if (at >= MOST_PROVIDERS) return;
    __atomic_store_n(&registered[at], p, __ATOMIC_RELEASE);
    int seen = __atomic_load_n(&nregistered, __ATOMIC_RELAXED);
    while (seen <= at && !__atomic_compare_exchange_n(&nregistered, &seen, at + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}

const provider *provider_for(const struct provider_call *c, target_kind t) {
    const provider *best = NULL;
    int most = 0, n = __atomic_load_n(&nregistered, __ATOMIC_ACQUIRE);
    for (int i = 0; i < n; i++) {
        const provider *p = __atomic_load_n(&registered[i], __ATOMIC_ACQUIRE);
        if (!p || p->operation != c->operation || p->target != t) continue;
        int fitness = p->applicable(c);
        if (fitness > most) {
            best = p;
            most = fitness;
        }
    }
    return best;
}
