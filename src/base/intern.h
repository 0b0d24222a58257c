/* intern.h: strings to small numbers, each text stored once.
 *
 * Id 0 is the empty string. Views stay good until the table is freed. One writer at a time. */
#ifndef WEIR_BASE_INTERN_H
#define WEIR_BASE_INTERN_H

#include "weir/base.h"

typedef struct weir_intern weir_intern;

weir_intern *weir_intern_new(weir_budget *budget); /* budget may be NULL; NULL: no memory */
void weir_intern_free(weir_intern *table);
/* The id of text, copied when new. WEIR_ERR_LIMIT or WEIR_ERR_MEMORY: *id untouched. */
weir_code weir_intern_add(weir_intern *table, weir_str text, uint32_t *id);
/* The id of text, if it is there. */
bool weir_intern_find(const weir_intern *table, weir_str text, uint32_t *id);
weir_str weir_intern_text(const weir_intern *table, uint32_t id);
uint32_t weir_intern_count(const weir_intern *table);

/* A well-mixed hash of bytes, the same on every machine. */
uint64_t weir_hash(const void *bytes, size_t n);

#endif
