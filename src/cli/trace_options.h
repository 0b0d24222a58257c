/* trace_options.h: the options of `weir trace`. */
#ifndef WEIR_CLI_TRACE_OPTIONS_H
#define WEIR_CLI_TRACE_OPTIONS_H

#include "cli/lists.h"
#include "cli/options.h"
#include "import/kineto.h"
#include "ledger/ledger.h"
#include "report/report.h"

typedef struct {
    const char **names; /* operands: borrowed texts in an owned array */
    uint32_t name_count;
    bool help;
    bool json, csv, quiet;
    bool perfetto_all;
    bool series_timeline;      /* critical_path.segments in the JSON */
    const char *perfetto;      /* file to write, NULL = none */
    const char *kernels;       /* --kernels FILE, NULL = none */
    uint64_t max_memory_bytes; /* 0 = no limit */
    weir_kineto_options import;
    weir_ledger_options ledger;
    weir_text_options text;
    fail_condition conditions[CLI_CONDITIONS_MAX];
    uint32_t condition_count;
} trace_options;

/* On failure options is cleared. */
weir_code trace_options_parse(int argc, char **argv, trace_options *options, weir_err *err);
void trace_options_clear(trace_options *options);

#endif
