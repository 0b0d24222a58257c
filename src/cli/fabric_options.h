/* fabric_options.h: the options of `weir fabric`. */
#ifndef WEIR_CLI_FABRIC_OPTIONS_H
#define WEIR_CLI_FABRIC_OPTIONS_H

#include "cli/lists.h"
#include "cli/options.h"
#include "study/questions.h"

/* Texts are borrowed from argv or live in the arena. */
typedef struct {
    const char *scenario; /* that is played now; "-": standard input; NULL: --mix names them */
    const char **scenarios;
    uint32_t scenario_count; /* several: each has its own report */
    bool help, json, csv, quiet, traffic;
    bool series_links, series_timeline;
    weir_setting *settings;
    uint32_t setting_count;
    weir_sweep_axis sweep[WEIR_SWEEP_AXES];
    uint32_t sweep_count;
    bool finds;
    weir_find_what find;
    double lose_share;
    weir_mix_job *mix;
    uint32_t mix_count;
    const char *prices, *bom, *compare, *perfetto; /* NULL: none */
    const char *traffic_from;                      /* a training scenario; NULL: none */
    const char *document;    /* what is played instead of a file, where traffic_from stands alone */
    const char **candidates; /* only those; none: all */
    uint32_t candidate_count;
    uint32_t threads;
    uint64_t max_memory_bytes; /* 0: no limit */
    fail_condition conditions[CLI_CONDITIONS_MAX];
    uint32_t condition_count;
    weir_arena *arena;
} fabric_options;

/* On failure options is cleared. */
weir_code fabric_options_parse(int argc, char **argv, fabric_options *options, weir_err *err);
void fabric_options_clear(fabric_options *options);

#endif
