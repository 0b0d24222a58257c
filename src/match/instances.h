/* instances.h: paired lists -> the instances and members of a match.
 *
 * Not here: how they were paired (pairing.h). */
#ifndef WEIR_MATCH_INSTANCES_H
#define WEIR_MATCH_INSTANCES_H

#include "match/pairing.h"

/* Fills instances, members and refused, and the rows of the spans, all of which match owns. Times
 * of items and lists are aligned. component: by node. */
weir_code instances_build(const comm_items *items, const pair_lists *lists,
                          const uint32_t *component, weir_match *match, weir_err *err);

#endif
