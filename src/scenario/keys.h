/* keys.h: mappings of a document read into structs, by tables that say what each key is.
 *
 * A table names each key with its type, limits, default and what it means; from it come the
 * reading, the errors (unknown keys name the nearest one, a number without its unit is refused, a
 * key that has no meaning for this kind is an error) and the page of the reference. A default is
 * written as a user would write it and read in the same way, so that the page cannot lag behind.
 *
 * Not here: what values mean together, presets (the caller reads WEIR_KEY_NODE members itself). */
#ifndef WEIR_SCENARIO_KEYS_H
#define WEIR_SCENARIO_KEYS_H

#include "base/arena.h"
#include "base/text.h"
#include "scenario/unit.h"

typedef enum {
    WEIR_KEY_TEXT = 0, /* const char *, in the arena; never empty */
    WEIR_KEY_BOOL,     /* bool: yes, no, true, false */
    WEIR_KEY_UINT,     /* uint32_t */
    WEIR_KEY_UINT64,   /* uint64_t */
    WEIR_KEY_NUMBER,   /* double, without a unit */
    WEIR_KEY_QUANTITY, /* double, in the unit of its dimension's values; 0 or more */
    WEIR_KEY_CHOICE,   /* an enum or uint32_t: the index among words */
    WEIR_KEY_NODE,     /* const weir_yaml_node *: the caller reads it; NULL: not written */
} weir_key_type;

/* All kinds: of weir_key.needed. */
#define WEIR_KEY_ALWAYS UINT32_MAX

typedef struct {
    const char *name;
    weir_key_type type;
    uint32_t offset; /* in the struct */
    uint32_t count;  /* of an array of such values, written as a list; 0: one value. One value
                        without a list is the first; values that are not written keep the default */
    uint32_t kinds;  /* bit set of the kinds it has a meaning for; 0: all */
    uint32_t needed; /* bit set of the kinds that need it */
    weir_dimension dimension; /* QUANTITY */
    double min, max;          /* numbers; 0 = 0: no limit (of a NUMBER: none below either) */
    bool above;               /* min itself is too small */
    const char *const *words; /* CHOICE */
    uint32_t word_count;
    const char *unset; /* the default, of an array with ", " between; NULL: as the struct is */
    const char *help;  /* what it means, a clause */
    const char *shown; /* on the page: the default in words (NULL: unset), and an example */
    const char *example;
} weir_key;

typedef struct {
    const char *title; /* of the page's section: "cluster" */
    const char *about;
    const weir_key *keys; /* at most 64 */
    uint32_t count;
    const char *const *kinds; /* names of the kinds; NULL: there are none */
    uint32_t kind_count;      /* at most 32 */
} weir_key_table;

/* Where texts go, and what errors call the file. */
typedef struct {
    const weir_yaml *doc;
    weir_arena *arena;
} weir_key_source;

/* Reads node, a mapping, into *out, the struct that the table's offsets are of. kind: 0 where the
 * table has no kinds. On failure *out is partly written. */
weir_code weir_keys_read(const weir_key_source *source, const weir_yaml_node *node,
                         const weir_key_table *table, uint32_t kind, void *out, weir_err *err);

/* One value of that type, the same limits and errors; for what is no member of a mapping. */
weir_code weir_key_read(const weir_key_source *source, const weir_yaml_node *node,
                        const weir_key *key, void *out, weir_err *err);

/* Appends the section of the reference: title, about, a row for each key. */
void weir_keys_describe(const weir_key_table *table, weir_text *page);

#endif
