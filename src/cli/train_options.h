/* train_options.h: the options of `weir train`. */
#ifndef WEIR_CLI_TRAIN_OPTIONS_H
#define WEIR_CLI_TRAIN_OPTIONS_H

#include "cli/lists.h"
#include "cli/options.h"
#include "study/questions.h"
#include "study/train_study.h"

/* Texts are borrowed from argv or live in the arena. */
typedef struct {
    const char *scenario; /* "-": standard input; NULL: --lines */
    bool help, json, csv, quiet, series_timeline, ignores_memory;
    weir_setting *settings;
    uint32_t setting_count;
    weir_sweep_axis sweep[WEIR_SWEEP_AXES];
    uint32_t sweep_count;
    const char *lines, *perfetto, *kineto; /* NULL: none */
    weir_flops_formula flops;
    uint32_t threads;
    uint64_t max_memory_bytes; /* 0: no limit */
    fail_condition conditions[CLI_CONDITIONS_MAX];
    uint32_t condition_count;
    weir_arena *arena;
} train_options;

/* On failure options is cleared. */
weir_code train_options_parse(int argc, char **argv, train_options *options, weir_err *err);
void train_options_clear(train_options *options);

#endif
