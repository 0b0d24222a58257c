/* presets_show.h: figures of presets as text, CSV and JSON. */
#ifndef WEIR_CLI_PRESETS_SHOW_H
#define WEIR_CLI_PRESETS_SHOW_H

#include "base/text.h"
#include "fabric/part_list.h"

typedef struct {
    const char *kind;   /* "switches" */
    const char *folder; /* below presets/, or one file */
    const char *about;  /* a few words */
    bool has_blocks;    /* a source belongs to a block of figures (presets_blocks.h) */
} presets_kind;

/* One kind, or what was chosen of it: rows of one preset stand together. */
typedef struct {
    const presets_kind *kind;
    const weir_part_row *rows;
    uint32_t count;
} presets_table;

uint32_t presets_count(const presets_table *table); /* presets, not figures */

/* A line for each kind, with how many there are. */
void presets_show_kinds(weir_text *out, const presets_table *tables, uint32_t count);
/* A few lines for each preset: its figures, shortly. */
void presets_show_list(weir_text *out, const presets_table *table);
/* Each figure of the presets with where it is from. */
void presets_show_figures(weir_text *out, const presets_table *table);
void presets_csv(weir_text *out, const presets_table *tables, uint32_t count);
/* docs/schema/presets.schema.json */
void presets_json(weir_text *out, const presets_table *tables, uint32_t count);

#endif
