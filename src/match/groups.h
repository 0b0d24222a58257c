/* groups.h: which recorded process groups are the same one.
 *
 * Files describe a group by name, description, size and ranks, but long lists of ranks are cut and
 * names may be given anew by each process. Not here: pairing without recorded groups (pairing.h).
 */
#ifndef WEIR_MATCH_GROUPS_H
#define WEIR_MATCH_GROUPS_H

#include "match/match.h"

/* A group as a rank recorded it: `row` of the timeline's groups, seen by the rank `number`. */
typedef struct {
    weir_group_id row;
    int32_t number;
    weir_group_id same; /* filled in: the row that stands for all that are the same */
} group_use;

/* uses: each pair (row, number) once, by row. */
weir_code groups_unite(const weir_timeline *t, group_use *uses, uint32_t count, weir_err *err);

#endif
