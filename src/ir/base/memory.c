/* memory.c: checked allocation, the arena, and growing text.
 *
 * How it works: every host allocation asks `allowed` first, which tests can make say no at a chosen allocation. Sizes
 * are multiplied with overflow checks and never exceed PTRDIFF_MAX. Device memory and pools belong to the run time. */
#include "ir/base/base.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- failing on purpose ---- */

/* Process-wide, for tests. countdown: 0 nothing fails; k > 0 the k-th allocation from now fails; ALWAYS every one. */
enum { ALWAYS = -1 };
static _Atomic int64_t countdown;
static atomic_bool fail_ever_after;

void mem_fail_after(int64_t n, bool stay)
{
    atomic_store(&fail_ever_after, stay);
    atomic_store(&countdown, n < 0 ? 0 : n == 0 ? 1 : n);
}

static bool allowed(void)
{
    int64_t left = atomic_load_explicit(&countdown, memory_order_relaxed);
    if (left == 0)
        return true;
    while (left > 0) {
        int64_t next = left > 1 ? left - 1 : atomic_load(&fail_ever_after) ? ALWAYS : 0;
        if (atomic_compare_exchange_weak(&countdown, &left, next))
            return left > 1;
    }
    return left == 0;
}

/* ---- allocation ---- */

static bool array_size(size_t count, size_t size, size_t *bytes)
{
    return !__builtin_mul_overflow(count, size, bytes) && *bytes <= PTRDIFF_MAX;
}

void *mem_alloc(size_t size)
{
    return size <= PTRDIFF_MAX && allowed() ? malloc(size ? size : 1) : NULL;
}

void *mem_zero(size_t count, size_t size)
{
    size_t bytes;
    return array_size(count, size, &bytes) && allowed() ? calloc(bytes ? bytes : 1, 1) : NULL;
}

void *mem_array(size_t count, size_t size)
{
    size_t bytes;
    return array_size(count, size, &bytes) ? mem_alloc(bytes) : NULL;
}

void *mem_grow(void *p, size_t count, size_t size)
{
    size_t bytes;
    return array_size(count, size, &bytes) && allowed() ? realloc(p, bytes ? bytes : 1) : NULL;
}

void *mem_aligned(size_t size, size_t alignment)
{
    size_t bytes;
    if (__builtin_add_overflow(size ? size : 1, alignment - 1, &bytes) || bytes > PTRDIFF_MAX || !allowed())
        return NULL;
    return aligned_alloc(alignment, bytes & ~(alignment - 1));
}

void mem_free(void *p)
{
    free(p);
}

char *mem_text(const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = mem_alloc(size);
    return copy ? memcpy(copy, s, size) : NULL;
}

/* ---- the arena ---- */

enum { ARENA_ALIGNMENT = 16, ARENA_FIRST_BLOCK = 4096, ARENA_LARGEST_STEP = 1 << 20 };

struct arena_block {
    arena_block *older;
    size_t size;
    _Alignas(ARENA_ALIGNMENT) unsigned char bytes[];
};

/* Puts a new block with room for at least `size` bytes at the head; each is twice the last, up to a limit. */
static bool arena_extend(arena *a, size_t size)
{
    size_t room = a->size ? a->size : ARENA_FIRST_BLOCK / 2;
    room = room < ARENA_LARGEST_STEP ? 2 * room : ARENA_LARGEST_STEP;
    if (room < size)
        room = size;
    if (room > PTRDIFF_MAX - sizeof(arena_block))
        return false;
    arena_block *block = mem_alloc(sizeof(arena_block) + room);
    if (block == NULL)
        return false;
    block->older = a->head;
    block->size = room;
    *a = (arena){.head = block, .used = 0, .size = room};
    return true;
}

void *arena_alloc(arena *a, size_t size)
{
    if (size > PTRDIFF_MAX - ARENA_ALIGNMENT)
        return NULL;
    size_t rounded = size ? (size + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1) : ARENA_ALIGNMENT;
    if (rounded > a->size - a->used && !arena_extend(a, rounded))
        return NULL;
    void *p = a->head->bytes + a->used;
    a->used += rounded;
    return p;
}

void *arena_zero(arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (!array_size(count, size, &bytes))
        return NULL;
    void *p = arena_alloc(a, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void *arena_copy(arena *a, const void *bytes, size_t size)
{
    void *p = arena_alloc(a, size);
    return p && size ? memcpy(p, bytes, size) : p;
}

char *arena_text(arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return NULL;
    char *s = arena_alloc(a, (size_t)length + 1);
    if (s == NULL)
        return NULL;
    va_start(args, format);
    vsnprintf(s, (size_t)length + 1, format, args);
    va_end(args);
    return s;
}

/* Frees every block but `kept`. */
static void free_blocks(arena_block *head, const arena_block *kept)
{
    while (head) {
        arena_block *older = head->older;
        if (head != kept)
            mem_free(head);
        head = older;
    }
}

void arena_reset(arena *a)
{
    if (a->head == NULL)
        return;
    arena_block *largest = a->head;
    for (arena_block *block = a->head; block; block = block->older)
        if (block->size > largest->size)
            largest = block;
    free_blocks(a->head, largest);
    largest->older = NULL;
    *a = (arena){.head = largest, .used = 0, .size = largest->size};
}

void arena_free(arena *a)
{
    free_blocks(a->head, NULL);
    *a = (arena){0};
}

/* ---- growing text ---- */

/* What `at` points to while nothing has been allocated (cap is 0); never written to. */
static char nothing[1];

/* Makes room for `more` bytes and the NUL; false, with `failed` set, when there is no memory. */
static bool text_reserve(text *t, size_t more)
{
    if (t->at == NULL)
        t->at = nothing;
    if (t->failed)
        return false;
    if (more < t->cap - t->len)
        return true;
    size_t need, cap = t->cap ? t->cap : 128;
    if (!__builtin_add_overflow(t->len + 1, more, &need)) {
        while (cap < need && cap <= PTRDIFF_MAX / 2)
            cap *= 2;
        char *at = cap < need ? NULL : mem_grow(t->cap ? t->at : NULL, cap, 1);
        if (at) {
            at[t->len] = '\0';
            t->at = at;
            t->cap = cap;
            return true;
        }
    }
    t->failed = true;
    return false;
}

void text_addn(text *t, const char *s, size_t n)
{
    if (!text_reserve(t, n) || n == 0)
        return;
    memcpy(t->at + t->len, s, n);
    t->len += n;
    t->at[t->len] = '\0';
}

void text_add(text *t, const char *format, ...)
{
    if (!text_reserve(t, 0))
        return;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(t->at + t->len, t->cap - t->len, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length >= t->cap - t->len) {
        t->at[t->len] = '\0';
        if (!text_reserve(t, (size_t)length))
            return;
        va_start(args, format);
        length = vsnprintf(t->at + t->len, t->cap - t->len, format, args);
        va_end(args);
    }
    if (length < 0) {
        t->at[t->len] = '\0';
        t->failed = true;
        return;
    }
    t->len += (size_t)length;
}

void text_free(text *t)
{
    if (t->cap)
        mem_free(t->at);
    *t = (text){0};
}
