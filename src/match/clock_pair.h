/* clock_pair.h: the clock of one node on that of another, from the collectives they share.
 *
 * Which entry of one list is which of the other (the shift) and how far the clocks are apart (the
 * offset) are found together: of all shifts that kinds and sizes allow, the one whose ends differ
 * by the same amount everywhere (least median residual), over all shared channels at once.
 *
 * Not here: more than two nodes (clock.h). */
#ifndef WEIR_MATCH_CLOCK_PAIR_H
#define WEIR_MATCH_CLOCK_PAIR_H

#include "match/align.h"

/* a's moment = b's moment + offset + drift * (b's moment - origin). */
typedef struct {
    int64_t offset_ns;
    double drift;
    int64_t origin_ns;
    int64_t residual_ns;             /* median of what is left */
    uint32_t pairs;                  /* collectives that were paired; 0 = nothing links the nodes */
    int level;                       /* align_level of those that gave the clock */
    uint32_t of_level[ALIGN_LEVELS]; /* pairs of each level */
    int64_t left_of_level[ALIGN_LEVELS]; /* ... and the median of what is left of them */
} clock_fit;

/* Two lists of the same channel. */
typedef struct {
    const align_list *a, *b;
    bool recorded; /* the process group was recorded: the lists do belong together */
} clock_lists;

/* lists: at most CLOCK_LISTS, the longest first. false: no memory. */
enum { CLOCK_LISTS = 16 };
bool clock_pair_fit(const clock_lists *lists, uint32_t count, clock_fit *fit);

int64_t clock_fit_apply(const clock_fit *fit, int64_t moment_ns);

#endif
