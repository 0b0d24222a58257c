/* presets_blocks.h: figures of presets whose files name a source for a block of figures.
 *
 * presets/collectives/ID.yaml says `source: KEY` beside the figures that were fitted together; KEY
 * is a row of its `sources`, with what they were fitted on and how sure that is. A mapping of plain
 * values is one figure here: "nodes.nvlink4.simple" is "base 8.5 us, hop 0.517 us, ...". Models
 * have their number of parameters beside what is written.
 *
 * Not here: files in which each figure has its own source (fabric/part_list.h). */
#ifndef WEIR_CLI_PRESETS_BLOCKS_H
#define WEIR_CLI_PRESETS_BLOCKS_H

#include "base/arena.h"
#include "fabric/part_list.h"

typedef struct {
    weir_arena *arena; /* owns the texts */
    weir_part_row *rows;
    uint32_t count, capacity;
} presets_blocks;

/* In order of file, then as written. Fills a zeroed one; owned (clear). */
weir_code presets_blocks_read(const char *folder, presets_blocks *blocks, weir_err *err);
void presets_blocks_clear(presets_blocks *blocks); /* a zeroed one is fine */

#endif
