#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGN = 16, ARENA_FIRST = 4096, ARENA_LARGEST = 1 << 20 };

typedef struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(ARENA_ALIGN) unsigned char bytes[];
} arena_block;

struct weir_arena {
    arena_block *blocks; /* newest first */
    size_t next_size;
};

weir_arena *weir_arena_new(void)
{
    weir_arena *arena = calloc(1, sizeof *arena);
    if (arena) {
        arena->next_size = ARENA_FIRST;
    }
    return arena;
}

void weir_arena_free(weir_arena *arena)
{
    if (!arena) {
        return;
    }
    for (arena_block *b = arena->blocks; b;) {
        arena_block *next = b->next;
        free(b);
        b = next;
    }
    free(arena);
}

static arena_block *block_add(weir_arena *arena, size_t at_least)
{
    size_t size = at_least > arena->next_size ? at_least : arena->next_size;
    arena_block *block = calloc(1, sizeof *block + size);
    if (!block) {
        return NULL;
    }
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    if (arena->next_size < ARENA_LARGEST) {
        arena->next_size *= 2;
    }
    return block;
}

void *weir_arena_alloc(weir_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) {
        block = block_add(arena, bytes);
        if (!block) {
            return NULL;
        }
    }
    void *p = block->bytes + block->used;
    block->used += bytes;
    return p;
}

char *weir_arena_copy(weir_arena *arena, weir_str text)
{
    char *copy = weir_arena_alloc(arena, (size_t)text.n + 1, 1);
    if (copy && text.n) {
        memcpy(copy, text.p, text.n);
    }
    return copy;
}
