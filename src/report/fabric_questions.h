/* fabric_questions.h: answers to questions about networks as text: sweeps, find, mixes. */
#ifndef WEIR_REPORT_FABRIC_QUESTIONS_H
#define WEIR_REPORT_FABRIC_QUESTIONS_H

#include "report/report.h"

/* A row for each point: values, the recommended candidate, the step on each candidate. */
weir_code weir_report_sweep(weir_text *out, const weir_result *result, bool colour, weir_err *err);
/* A sentence for each candidate. */
weir_code weir_report_find(weir_text *out, const weir_result *result, bool colour, weir_err *err);
/* A row for each candidate: how much slower than the fastest, over all jobs and for each. */
weir_code weir_report_mix(weir_text *out, const weir_result *result, bool colour, weir_err *err);

#endif
