/* yaml_inside.h: a document, and sentences about it (private to the files of yaml.h). */
#ifndef WEIR_CODEC_YAML_INSIDE_H
#define WEIR_CODEC_YAML_INSIDE_H

#include "base/arena.h"
#include "codec/yaml.h"

enum { YAML_EXCERPT = 60 }; /* bytes of the input that a sentence shows */

struct weir_yaml {
    weir_arena *arena;
    const char *name;
    const weir_yaml_node *root;
};

/* Sets an error of the document at that place; line 0: it has none. */
weir_code yaml_fail_at(const weir_yaml *doc, uint32_t line, uint32_t column, weir_err *err,
                       const char *sentence);
/* Writes text for a sentence: cut, control bytes as '?'. */
void yaml_excerpt(char out[YAML_EXCERPT + 4], weir_str text);

#endif
