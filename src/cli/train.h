/* train.h: what one `weir train` has read and played, and the steps that its files share. */
#ifndef WEIR_CLI_TRAIN_H
#define WEIR_CLI_TRAIN_H

#include "base/text.h"
#include "cli/train_options.h"

/* All owned; zero where not yet there. */
typedef struct {
    const train_options *options; /* borrowed */
    weir_text input;              /* the scenario's document */
    weir_budget *budget;
    weir_result *result;
    weir_spmd_run played;
    weir_lines lines;
} train_run_state;

/* train_files.c: notes in the result which scenario, with which settings, was played. */
weir_code train_note_scenario(const train_run_state *run, weir_err *err);
/* --perfetto, --kineto. */
weir_code train_write_files(const train_run_state *run, weir_err *err);

/* train_sweep_run.c: --sweep, from reading to printing. */
weir_code train_sweep(const train_run_state *run, weir_err *err);

#endif
