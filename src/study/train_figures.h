/* train_figures.h: what is reported of a training step beside its ledger.
 *
 * Between train_study.c and the files that fill the parts of weir_training_result. */
#ifndef WEIR_STUDY_TRAIN_FIGURES_H
#define WEIR_STUDY_TRAIN_FIGURES_H

#include "study/train_study.h"
#include "train/train_program.h"

typedef struct {
    const weir_train_scenario *scenario;
    const weir_train_options *options;
    const weir_train_step *step; /* in closed form */
    const weir_train_program *program;
    const weir_spmd_run *run;
    const weir_lines *lines;
    weir_result *result; /* with its ledger; training is being filled */
} train_figures;

/* train_headline.c: rates, shares of the peak, memory, goodput. */
weir_code train_figure_headline(const train_figures *f, weir_err *err);
/* train_band.c: how sure the step's time is. */
weir_code train_figure_band(const train_figures *f, weir_err *err);
/* train_axes.c: traffic by axis, circuits for it, and the stages. */
weir_code train_figure_axes(const train_figures *f, weir_err *err);
weir_code train_figure_circuits(const train_figures *f, weir_err *err);
weir_code train_figure_stages(const train_figures *f, weir_err *err);
/* train_blame.c: the verdict names who has a weak link or a slow GPU, where that is what the step
 * suffers from. Behind the headline. */
weir_code train_blame(const train_figures *f, weir_err *err);

#define TRAIN_NO_MEMORY(err)                                                                       \
    weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the training step")

#endif
