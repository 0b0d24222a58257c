/* part_list.h: every figure of the presets with where it is from, for `weir presets KIND`.
 *
 * Reads the preset files of a folder as trees: whatever has a `value` and a `source` is a figure,
 * so that it serves kinds of presets that it knows nothing about (fabrics, collectives,
 * accelerators). A `source` that is a key of the file's `sources` is replaced by what stands there.
 *
 * Not here: what figures mean (parts.h). */
#ifndef WEIR_FABRIC_PART_LIST_H
#define WEIR_FABRIC_PART_LIST_H

#include "codec/yaml.h"

typedef struct {        /* no member is NULL: "" where the file does not say */
    const char *id;     /* file name without folder and suffix; in prices, the item */
    const char *name;   /* what the file calls it */
    const char *figure; /* "rate", "peaks.bf16" */
    const char
        *value; /* as it is written: "400 Gb/s"; of a price "449.9 USD .. 549 USD .. 749 USD" */
    const char *source, *url, *confidence, *date;
} weir_part_row;

typedef struct weir_part_list weir_part_list;

/* folder: "links", "switches", "nics", "optics", "ocs", "prices", "accelerators", ... or one file
 * ("transport.yaml"). In order of file, then as written. A folder without presets gives no rows.
 * Owned (free). */
weir_code weir_part_list_new(const char *folder, weir_part_list **list, weir_err *err);
void weir_part_list_free(weir_part_list *list); /* NULL is fine */
const weir_part_row *weir_part_list_rows(const weir_part_list *list, uint32_t *count);

#endif
