/* candidate_within.h: circuits that are set several times within one phase.
 *
 * The demand between blocks of one repetition is taken apart (fabric/decompose.h) into permutations
 * that follow one another: all ends of a block lead to one other block at a time. With circulators,
 * whose circuits come in pairs, a permutation that is no set of pairs gives each block half of its
 * ends in either direction. Only messages can be taken apart: demand matrices, patterns, all-to-all
 * that goes directly, send_recv; a ring or a tree needs all of its circuits at once.
 *
 * Not here: whether it pays (candidate_light.c), what is played (fabric_part.c). */
#ifndef WEIR_STUDY_CANDIDATE_WITHIN_H
#define WEIR_STUDY_CANDIDATE_WITHIN_H

#include "study/candidate_light.h"

enum { WITHIN_SETTINGS_MAX = 64 }; /* each one is a road of its own */

/* In the network's arena. */
typedef struct {
    uint32_t n, count; /* blocks; settings, 0: there is no such sequence */
    const char *method;
    uint32_t *to;       /* count x n: the block that each one's circuits lead to */
    double *share;      /* count x n: of what it sends there in the phase */
    double *rest_share; /* n x n: of what each pair exchanges, on packets; NULL: none */
    double transfer_s;  /* of one repetition: all settings, without delays */
    double packets_s;   /* of one repetition: the rest, beside them */
} light_sequence;

typedef struct {
    uint32_t phase;
    const weir_demand *demand; /* of all its repetitions */
    double packet_bytes_per_s; /* of a block, for the rest; 0: there are no packets */
    double other_s;            /* what all repetitions take otherwise: `auto` gives up beyond it */
} light_sequence_job;

/* Whether the candidate's `within` asks for sequences and the phase is of messages. */
bool candidate_may_split(const candidate_build *b, uint32_t phase);
/* By the candidate's `within`; auto: the fastest of the methods. sequence: zeroed, stays so where
 * one set of circuits carries all, or auto finds none. WEIR_ERR_INPUT: a method that was asked for
 * takes too many settings or messages, or cannot be set with these switches. */
weir_code candidate_make_sequence(const candidate_build *b, const light_blocks *blocks,
                                  const light_sequence_job *job, light_sequence *sequence,
                                  weir_err *err);
/* All repetitions of the phase, from the first setting on; returns: it comes back to itself (after
 * its last setting the first one is set for the next period). *waited_s: of it, for circuits. */
double candidate_sequence_s(const candidate_build *b, uint32_t phase,
                            const light_sequence *sequence, bool returns, double *waited_s);
/* Settings within the period beside the first one. */
uint32_t candidate_sequence_resets(const candidate_build *b, uint32_t phase,
                                   const light_sequence *sequence, bool returns);
/* A road for each setting, standing on the links of *first (set to the first road where it is
 * WEIR_NONE); the phase takes them. packets: the rest's road. Positions are numbered from
 * network->designs on. */
weir_code candidate_add_sequence(const candidate_build *b, const light_blocks *blocks,
                                 uint32_t phase, const light_sequence *sequence, weir_road packets,
                                 weir_road *first, weir_err *err);
/* What is waited for before the first setting: the delay less the phase's slack. */
double candidate_exposed_s(const candidate_build *b, uint32_t phase);

#endif
