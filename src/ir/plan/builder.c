/* builder.c: what schedules add to a plan: steps, memory, notes on faults; and arrays that grow in an arena. */
#include <string.h>
#include "ir/plan/internal.h"

bool reserve(arena *mem, void **array, uint32_t *cap, uint32_t need, size_t size) {
    if (need <= *cap) return true;
    uint32_t more = *cap ? *cap : 8;
    while (more < need) more *= 2;
    void *q = arena_alloc(mem, more * size);
    if (!q) return false;
    if (*cap) memcpy(q, *array, *cap * size);
    *array = q;
    *cap = more;
    return true;
}

plan_step *builder_step(plan_builder *b, step_kind kind) {
    plan *p = b->p;
    if (!reserve(&p->mem, (void **)&p->steps, &b->cap_steps, (uint32_t)p->nsteps + 1, sizeof *p->steps)) return NULL;
    plan_step *s = &p->steps[p->nsteps++];
    memset(s, 0, sizeof *s);
    s->kind = (uint8_t)kind;
    s->note = b->note;
    return s;
}

int builder_memory(plan_builder *b, int64_t bytes, bool zeroed) {
    plan *p = b->p;
    if (!reserve(&p->mem, (void **)&p->memory, &b->cap_memory, (uint32_t)p->nmemory + 1, sizeof *p->memory)) return -1;
    p->memory[p->nmemory] = (plan_memory){ .bytes = bytes, .reuses_leaf = -1, .zeroed = zeroed, .block = -1 };
    return p->nmemory++;
}

arena *builder_arena(plan_builder *b) { return &b->p->mem; }

unsigned builder_fault(plan_builder *b, const char *sentence, kn_status status) {
    plan *p = b->p;
    for (int i = 0; i < p->nfaults; i++) if (p->faults[i].status == status && !strcmp(p->faults[i].text, sentence)) return p->faults[i].code;
    if (!reserve(&p->mem, (void **)&p->faults, &b->cap_faults, (uint32_t)p->nfaults + 1, sizeof *p->faults)) return 0;
    char *copy = arena_copy(&p->mem, sentence, strlen(sentence) + 1);
    if (!copy) return 0;
    p->faults[p->nfaults] = (fault_note){ .code = (unsigned)p->nfaults + 1, .text = copy, .status = status };
    return p->faults[p->nfaults++].code;
}
