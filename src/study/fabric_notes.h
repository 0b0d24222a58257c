/* fabric_notes.h: what a comparison assumes, in words: prices, transport, and what is left out.
 *
 * Not here: what is found (fabric_sentences.c). */
#ifndef WEIR_STUDY_FABRIC_NOTES_H
#define WEIR_STUDY_FABRIC_NOTES_H

#include "study/fabric_row.h"

/* Fills price_note and assumptions of result->fabric and adds the candidates' notes (evaluations:
 * by candidate). */
weir_code weir_fabric_write_notes(const weir_fabric_scenario *scenario,
                                  const weir_fabric_evaluation *evaluations, weir_result *result,
                                  weir_err *err);

/* fabric_unpriced.c: names what keeps candidates from being compared by their cost a year, where
 * something does, and says what is known without it: result->fabric->unpriced. After the
 * comparison. */
weir_code weir_fabric_tell_unpriced(const weir_fabric_scenario *scenario,
                                    const weir_fabric_evaluation *evaluations, weir_result *result,
                                    weir_err *err);

#endif
