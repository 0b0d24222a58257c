/* train_circuits_text.h: the table of circuits of a training step (private to report/). */
#ifndef WEIR_REPORT_TRAIN_CIRCUITS_TEXT_H
#define WEIR_REPORT_TRAIN_CIRCUITS_TEXT_H

#include "report/page.h"

/* Nothing where all traffic stays in its node. */
void page_circuits(const page *p, const weir_training_result *training);

#endif
