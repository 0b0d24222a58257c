/* arena.h: memory that is freed all at once.
 *
 * Blocks double up to 1 MiB; alignment is 16 bytes. Not thread-safe. */
#ifndef WEIR_BASE_ARENA_H
#define WEIR_BASE_ARENA_H

#include "weir/base.h"

typedef struct weir_arena weir_arena;

weir_arena *weir_arena_new(void);        /* NULL: no memory */
void weir_arena_free(weir_arena *arena); /* NULL is fine */
/* Zeroed memory, or NULL. count * size may not overflow: checked. */
void *weir_arena_alloc(weir_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy, or NULL. */
char *weir_arena_copy(weir_arena *arena, weir_str text);

#endif
