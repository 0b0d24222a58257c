/* yaml.h: YAML and JSON documents as small trees whose every node knows its line and column.
 *
 * For files that people write: scenarios, presets, model configurations. A document is at most
 * 16 MiB, 64 levels deep and has one million nodes; more is an error. Anchors and aliases are
 * refused (a few bytes could stand for gigabytes), and so are a key that occurs twice and what is
 * no UTF-8 text.
 *
 * Not here: what keys mean, units (scenario/), profiler traces (json.h). */
#ifndef WEIR_CODEC_YAML_H
#define WEIR_CODEC_YAML_H

#include "weir/base.h"

typedef enum {
    WEIR_YAML_SCALAR = 0, /* an empty value is a scalar with empty text */
    WEIR_YAML_MAPPING,
    WEIR_YAML_SEQUENCE,
    WEIR_YAML_ANY, /* of weir_yaml_need only */
} weir_yaml_kind;

/* Read-only once parsed; everything in it lives as long as the document. */
typedef struct weir_yaml_node {
    weir_yaml_kind kind;
    uint32_t line, column;              /* 1-based, in characters, of the value */
    uint32_t key_line, key_column;      /* of the key; members of mappings only */
    weir_str key;                       /* members of mappings only */
    weir_str text;                      /* of a scalar, unquoted; NUL follows */
    uint32_t count;                     /* children of a collection */
    const struct weir_yaml_node *first; /* child */
    const struct weir_yaml_node *next;  /* sibling */
    const char *origin; /* what errors call the input it is from; NULL: the document's name. Set by
                           who builds a tree of several inputs; line 0 there: no place is known */
} weir_yaml_node;

typedef struct weir_yaml weir_yaml;

/* name: what errors call the file; copied. JSON is read as JSON where name ends in .json. *doc is
 * untouched on failure. */
weir_code weir_yaml_parse(const char *name, const char *bytes, size_t n, weir_yaml **doc,
                          weir_err *err);
/* The same of a file. */
weir_code weir_yaml_read(const char *path, weir_yaml **doc, weir_err *err);
void weir_yaml_free(weir_yaml *doc); /* NULL is fine */
const weir_yaml_node *weir_yaml_root(const weir_yaml *doc);
const char *weir_yaml_name(const weir_yaml *doc);

/* The member of a mapping, or NULL. O(members). */
const weir_yaml_node *weir_yaml_find(const weir_yaml_node *mapping, const char *key);
/* The member, which must be there and of that kind. */
weir_code weir_yaml_need(const weir_yaml *doc, const weir_yaml_node *mapping, const char *key,
                         weir_yaml_kind kind, const weir_yaml_node **node, weir_err *err);
/* An error unless node is a mapping whose keys are all among known; it names the near ones. */
weir_code weir_yaml_check_keys(const weir_yaml *doc, const weir_yaml_node *node,
                               const char *const *known, uint32_t known_count, weir_err *err);
/* A whole number, digits only. */
weir_code weir_yaml_uint(const weir_yaml *doc, const weir_yaml_node *node, uint64_t max,
                         uint64_t *value, weir_err *err);
/* Sets err: "FILE:LINE:COLUMN: found '...', expected EXPECTED". Returns WEIR_ERR_INPUT. */
weir_code weir_yaml_reject(const weir_yaml *doc, const weir_yaml_node *node, const char *expected,
                           weir_err *err);
/* "FILE:LINE:COLUMN: " of the value, or of the member's key, and the sentence; "--set a: KEY: " of
 * a value in what a setting says. WEIR_ERR_INPUT. */
weir_code weir_yaml_fail(const weir_yaml *doc, const weir_yaml_node *node, weir_err *err,
                         const char *fmt, ...) WEIR_PRINTF(4, 5);
weir_code weir_yaml_fail_key(const weir_yaml *doc, const weir_yaml_node *member, weir_err *err,
                             const char *fmt, ...) WEIR_PRINTF(4, 5);
/* Like weir_yaml_reject for a scalar that must be one of words; names the near ones. *index:
 * which one it is. */
weir_code weir_yaml_choice(const weir_yaml *doc, const weir_yaml_node *node,
                           const char *const *words, uint32_t word_count, uint32_t *index,
                           weir_err *err);

#endif
