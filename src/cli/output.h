/* output.h: results on standard output, and files that appear whole or not at all. */
#ifndef WEIR_CLI_OUTPUT_H
#define WEIR_CLI_OUTPUT_H

#include "base/text.h"

#include "result/result.h"
#include "sim/spmd.h"

#include <stdio.h>

/* Writes text to standard output; WEIR_ERR_IO where that fails (a full disk). */
weir_code output_print(const weir_text *text, weir_err *err);
/* Whether standard output is a terminal that takes colours (NO_COLOR and TERM are heeded). */
bool output_wants_colour(void);

/* --series timeline: what was played becomes a part of the result, both borrowed; a note says where
 * the cap bites. */
void output_show_timeline(weir_result *result, const weir_spmd_run *played,
                          const weir_lines *lines);

/* A file being written beside its target, which keeps its old content until output_commit. A target
 * that is no regular file (a pipe, /dev/null) is written directly. */
typedef struct {
    FILE *file;
    const char *target; /* borrowed */
    char *path;         /* of the file that is written; NULL where it is the target itself */
} output_file;

weir_code output_open(output_file *out, const char *target, weir_err *err);
/* Closes, checks and renames. After a failure the target is as it was. */
weir_code output_commit(output_file *out, weir_err *err);
/* Closes and removes what was written; does nothing after output_commit. */
void output_discard(output_file *out);

#endif
