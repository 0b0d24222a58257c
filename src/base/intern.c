#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 << 10 };

typedef struct chunk {
    struct chunk *next;
    uint64_t taken; /* from the budget */
    char bytes[];
} chunk;

typedef struct {
    const char *p;
    uint32_t n;
    uint32_t hash; /* upper half of the text's hash: spares most comparisons */
} entry;

struct weir_intern {
    weir_budget *budget;
    chunk *chunks;
    size_t chunk_left;
    char *chunk_at;
    entry *entries;
    uint32_t count, capacity;
    uint32_t *slots; /* entry index + 1; 0 = free; slot_count is a power of two */
    uint32_t slot_count;
    uint64_t tables_taken;
};

static uint64_t load_le(const unsigned char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 u128;
    u128 product = (u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load8(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

uint64_t weir_hash(const void *bytes, size_t n)
{
    /* Multiply-and-fold over 8-byte words; the constants are the fractional digits of pi. */
    const unsigned char *p = bytes;
    uint64_t h = 0x243f6a8885a308d3u ^ n;
    for (; n >= 8; n -= 8, p += 8) {
        h = mix(h ^ load8(p), 0x13198a2e03707345u);
    }
    h = mix(h ^ load_le(p, n), 0xa4093822299f31d1u);
    return h ^ (h >> 32);
}

weir_intern *weir_intern_new(weir_budget *budget)
{
    weir_intern *table = calloc(1, sizeof *table);
    if (!table) {
        return NULL;
    }
    table->budget = budget;
    uint32_t id;
    if (weir_intern_add(table, (weir_str){"", 0}, &id) != WEIR_OK) {
        weir_intern_free(table);
        return NULL;
    }
    return table;
}

void weir_intern_free(weir_intern *table)
{
    if (!table) {
        return;
    }
    for (chunk *c = table->chunks; c;) {
        chunk *next = c->next;
        weir_budget_give(table->budget, c->taken);
        free(c);
        c = next;
    }
    weir_budget_give(table->budget, table->tables_taken);
    free(table->entries);
    free(table->slots);
    free(table);
}

static weir_code table_grow(weir_intern *table)
{
    uint32_t capacity = table->capacity ? 2 * table->capacity : 512;
    uint64_t more = (uint64_t)(capacity - table->capacity) * (sizeof(entry) + 2 * sizeof(uint32_t));
    if (capacity > UINT32_MAX / 4 || !weir_budget_take(table->budget, more)) {
        return WEIR_ERR_LIMIT;
    }
    entry *entries = realloc(table->entries, capacity * sizeof *entries);
    if (entries) {
        table->entries = entries;
    }
    uint32_t *slots = entries ? calloc(2 * (size_t)capacity, sizeof *slots) : NULL;
    if (!slots) {
        weir_budget_give(table->budget, more);
        return WEIR_ERR_MEMORY;
    }
    table->tables_taken += more;
    free(table->slots);
    table->slots = slots;
    table->slot_count = 2 * capacity;
    table->capacity = capacity;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t hash = weir_hash(entries[i].p, entries[i].n);
        uint32_t s = (uint32_t)hash & (table->slot_count - 1);
        while (slots[s]) {
            s = (s + 1) & (table->slot_count - 1);
        }
        slots[s] = i + 1;
    }
    return WEIR_OK;
}

static weir_code bytes_copy(weir_intern *table, weir_str text, const char **copy)
{
    if (text.n > table->chunk_left) {
        size_t size = text.n > CHUNK_BYTES ? text.n : CHUNK_BYTES;
        if (!weir_budget_take(table->budget, size)) {
            return WEIR_ERR_LIMIT;
        }
        chunk *c = malloc(sizeof *c + size);
        if (!c) {
            weir_budget_give(table->budget, size);
            return WEIR_ERR_MEMORY;
        }
        c->next = table->chunks;
        c->taken = size;
        table->chunks = c;
        table->chunk_at = c->bytes;
        table->chunk_left = size;
    }
    if (text.n) {
        memcpy(table->chunk_at, text.p, text.n);
    }
    *copy = table->chunk_at;
    table->chunk_at += text.n;
    table->chunk_left -= text.n;
    return WEIR_OK;
}

static bool find_hashed(const weir_intern *table, weir_str text, uint64_t hash, uint32_t *id)
{
    uint32_t upper = (uint32_t)(hash >> 32);
    if (table->slot_count == 0) {
        return false;
    }
    uint32_t s = (uint32_t)hash & (table->slot_count - 1);
    for (; table->slots[s]; s = (s + 1) & (table->slot_count - 1)) {
        const entry *e = &table->entries[table->slots[s] - 1];
        if (e->hash == upper && e->n == text.n &&
            (text.n == 0 || memcmp(e->p, text.p, text.n) == 0)) {
            *id = table->slots[s] - 1;
            return true;
        }
    }
    return false;
}

bool weir_intern_find(const weir_intern *table, weir_str text, uint32_t *id)
{
    return find_hashed(table, text, weir_hash(text.p, text.n), id);
}

weir_code weir_intern_add(weir_intern *table, weir_str text, uint32_t *id)
{
    uint64_t hash = weir_hash(text.p, text.n);
    if (find_hashed(table, text, hash, id)) {
        return WEIR_OK;
    }
    if (table->count == table->capacity) {
        weir_code code = table_grow(table);
        if (code != WEIR_OK) {
            return code;
        }
    }
    const char *copy = "";
    weir_code code = text.n ? bytes_copy(table, text, &copy) : WEIR_OK;
    if (code != WEIR_OK) {
        return code;
    }
    table->entries[table->count] = (entry){copy, text.n, (uint32_t)(hash >> 32)};
    uint32_t s = (uint32_t)hash & (table->slot_count - 1);
    while (table->slots[s]) {
        s = (s + 1) & (table->slot_count - 1);
    }
    *id = table->count++;
    table->slots[s] = table->count;
    return WEIR_OK;
}

weir_str weir_intern_text(const weir_intern *table, uint32_t id)
{
    return (weir_str){table->entries[id].p, table->entries[id].n};
}

uint32_t weir_intern_count(const weir_intern *table)
{
    return table->count;
}
