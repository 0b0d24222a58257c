/* clock_shift.h: candidates for which entry of one node's list is which of another's. */
#ifndef WEIR_MATCH_CLOCK_SHIFT_H
#define WEIR_MATCH_CLOCK_SHIFT_H

#include "match/clock_pair.h"

enum { CLOCK_SHIFTS = 8 };

/* Up to CLOCK_SHIFTS clocks (offset, drift, residual), each that of a shift between the lists, best
 * first. Short lists: every shift is tried; long ones: those for which gaps between ends vote.
 * *chance_ns: the median residual of all that were tried. false: no memory. */
bool clock_shift_find(const align_list *a, const align_list *b, clock_fit *fits, uint32_t *count,
                      int64_t *chance_ns);

#endif
