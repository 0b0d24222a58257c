/* train_lines.h: `weir train --lines`: a scenario on each line in, a result on each line out. */
#ifndef WEIR_CLI_TRAIN_LINES_H
#define WEIR_CLI_TRAIN_LINES_H

#include "base/text.h"
#include "scenario/settings.h"
#include "study/train_scenario.h"

/* One object of the closed form, without a line end. */
void train_step_write(weir_text *out, const weir_train_scenario *scenario,
                      const weir_train_step *step);

/* path: "-" is standard input. What is wrong with a scenario is said on its line, and is no error;
 * settings apply to all of them. */
weir_code train_lines(const char *path, const weir_setting *settings, uint32_t setting_count,
                      weir_err *err);

#endif
