/* kineto.h: files of torch.profiler (Kineto) -> a timeline.
 *
 * Streaming: a file is never held as a document. What can be read of damaged files is read; each
 * loss is counted by kind with its first places. Files are read in parallel, the result does not
 * depend on the number of threads. Formats and dirt: docs/formats.md.
 *
 * Not here: clocks, launches, collectives (match/), classes (classify/). */
#ifndef WEIR_IMPORT_KINETO_H
#define WEIR_IMPORT_KINETO_H

#include "base/diag.h"
#include "weir/timeline.h"

typedef struct {
    uint32_t threads;         /* 0 = one for each core */
    bool python_functions;    /* keep python_function events (often 80 % of a file) */
    uint64_t max_event_bytes; /* 0 = 16 MiB: a longer event is dropped and counted */
    uint64_t max_inflation;   /* 0 = 200: output over input bytes at which a file is a bomb */
} weir_kineto_options;

/* Reads paths (files, or "-" for standard input; directories and patterns are expanded by the
 * caller, see import/paths.h) into t, which must be new, and seals it. Damage is no error: it is
 * in diags and in weir_rank.cut. An error is: a file that cannot be opened, a file that is no trace
 * at all (err names the place), lack of memory, a limit. */
weir_code weir_kineto_read(weir_timeline *t, const char *const *paths, uint32_t path_count,
                           const weir_kineto_options *options, weir_diags *diags, weir_err *err);

#endif
