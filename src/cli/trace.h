/* trace.h: what one `weir trace` has read and derived, in the order in which it came about. */
#ifndef WEIR_CLI_TRACE_H
#define WEIR_CLI_TRACE_H

#include "cli/trace_options.h"
#include "import/paths.h"
#include "match/match.h"
#include "result/lines.h"

/* All owned; zero where not yet there. */
typedef struct {
    weir_paths paths;
    weir_budget *budget;
    weir_timeline *timeline;
    weir_families *families;
    weir_name_classes names;
    weir_match match;
    weir_span_classes classes;
    weir_host_names *host_names;
    weir_lines lines;
    weir_result *result;
} trace_run_state;

/* Writes the Perfetto file that the options name. */
weir_code trace_write_picture(const trace_options *options, const trace_run_state *run,
                              weir_err *err);

#endif
