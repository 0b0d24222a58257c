/* fabric_compare.h: which of the candidates, and in which words.
 *
 * Candidates are measured by what they cost a year: the network over its life, its power, and the
 * waiting of the devices; where a price is missing for one of them, by the time of a step. Ties go
 * to the cheaper network, then to the earlier one.
 *
 * Not here: where the figures of a candidate come from (fabric_study.h, fabric_cost.h). */
#ifndef WEIR_STUDY_FABRIC_COMPARE_H
#define WEIR_STUDY_FABRIC_COMPARE_H

#include "base/text.h"
#include "result/result.h"

/* Was played, and its light arrives. */
bool weir_fabric_is_possible(const weir_fabric_candidate_row *row);
/* Has circuits: ocs-job, ocs-phase, rotor, hybrid. */
bool weir_fabric_is_light(const weir_fabric_candidate_row *row);
/* All possible candidates have their cost a year. */
bool weir_fabric_has_prices(const weir_fabric_result *fabric);
/* What a candidate is measured by: dollars a year, or seconds. Less is better. */
double weir_fabric_measure(const weir_fabric_result *fabric, const weir_fabric_candidate_row *row);
/* The best of all, of those with circuits, of those without; WEIR_NONE: there is none. */
uint32_t weir_fabric_best(const weir_fabric_result *fabric);
uint32_t weir_fabric_best_light(const weir_fabric_result *fabric);
uint32_t weir_fabric_best_packets(const weir_fabric_result *fabric);

/* Fills recommended, pareto, light_or_packets and the sentences of result->fabric, whose candidates
 * and traffic are there. */
weir_code weir_fabric_compare(weir_result *result, weir_err *err);

/* "wins", "breaks even", "loses": of light, whose measure and waiting is light's, against packets'.
 * Even: within 1 %, or where an error of the communication time that both share (error_share) turns
 * the sign. */
typedef struct {
    double measure;
    double waiting; /* the part of it that grows with communication time */
} weir_fabric_side;
const char *weir_fabric_light_verdict(weir_fabric_side light, weir_fabric_side packets,
                                      double error_share);

/* fabric_sentences.c: what is to be said about each candidate, and about light. NULL: no memory. */
const char *weir_fabric_sentence(weir_result *result, uint32_t candidate);
const char *weir_fabric_light_sentence(weir_result *result, uint32_t light, uint32_t packets,
                                       const char *verdict);
/* How sentences call a candidate: "B" of "B ocs per job", else its whole name. */
void weir_fabric_call(weir_text *text, const weir_fabric_candidate_row *row);

#endif
