/* train_sweep.h: a training scenario with every combination of some values, in closed form.
 *
 * Not here: playing (train_study.h), sweeps over networks (questions.h). */
#ifndef WEIR_STUDY_TRAIN_SWEEP_H
#define WEIR_STUDY_TRAIN_SWEEP_H

#include "result/train_sweep_result.h"
#include "study/questions.h"
#include "study/train_scenario.h"

typedef struct {
    const char *name; /* of the document, for errors */
    const char *bytes;
    size_t n;
    const weir_setting *settings; /* before those of the axes */
    uint32_t setting_count;
    const weir_sweep_axis *axes; /* weir_sweep_parse */
    uint32_t axis_count;
    uint32_t threads; /* 0: one for each core; the result does not depend on it */
} weir_train_sweep_request;

/* A combination that makes no sense is a row that says why, and no error. Lives in the arena, but
 * for what request has. WEIR_ERR_USAGE: a key twice, more than WEIR_SWEEP_POINTS. */
weir_code weir_train_sweep_run(const weir_train_sweep_request *request, weir_arena *arena,
                               weir_train_sweep *sweep, weir_err *err);

/* One scenario's row; values stay as they are. */
void weir_train_sweep_fill(const weir_train_scenario *scenario, const weir_train_step *step,
                           weir_train_sweep_row *row);

#endif
