/* settings.h: `--set a.b.0.c=value`: parts of a document replaced before it is read.
 *
 * A setting's value is YAML ("400 Gb/s", "[1, 3]", "{size: 8}"). The document itself stays as it
 * is: what comes out is a tree that shares all that was not replaced, in which the new values are
 * called "--set KEY" by errors.
 *
 * Not here: what keys mean (keys.h); unknown ones are found when the tree is read. */
#ifndef WEIR_SCENARIO_SETTINGS_H
#define WEIR_SCENARIO_SETTINGS_H

#include "base/arena.h"
#include "codec/yaml.h"

/* Borrowed as long as the call that they are given to. */
typedef struct {
    /* Names and positions joined by dots: "traffic.phases.0.bytes". A member of a list may also be
     * named by its `name`: "candidates.A clos 1:1.tiers"; names may have dots in them. */
    const char *key;
    const char *value; /* "1GiB" */
} weir_setting;

/* A way through a value that may be a name or a mapping (`stack: nemo-24.12`) leads into the
 * mapping that the name stands for ({preset: nemo-24.12}).
 *
 * One after the other, later ones see what earlier ones did. The tree lives as long as that of
 * from and the arena. Keys that a mapping does not have are added, a position at the end of a list
 * adds to it. WEIR_ERR_INPUT: a value that is no YAML, a position or name that a list does not
 * have, a way through a text. */
weir_code weir_settings_apply(const weir_yaml_node *from, const weir_setting *settings,
                              uint32_t count, weir_arena *arena, const weir_yaml_node **root,
                              weir_err *err);

/* A deep copy with its texts; errors call it origin, which is not copied. with_places: line and
 * column are kept. NULL: no memory. */
weir_yaml_node *weir_settings_copy(const weir_yaml_node *node, const char *origin, bool with_places,
                                   weir_arena *arena);

/* Members of over, then those of under whose key over does not have. Both mappings; shares their
 * children. NULL: no memory. */
const weir_yaml_node *weir_settings_overlay(const weir_yaml_node *over, const weir_yaml_node *under,
                                            weir_arena *arena);

#endif
