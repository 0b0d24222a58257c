/* diag.h: "I did, but": what was repaired, dropped or assumed on the way, counted by kind.
 *
 * Only the first few places of each kind are kept, the count is exact. One writer; lists of several
 * threads are merged in a fixed order afterwards. */
#ifndef WEIR_BASE_DIAG_H
#define WEIR_BASE_DIAG_H

#include "weir/base.h"

enum { WEIR_DIAG_PLACES = 10 };

typedef struct {
    char *text; /* "rank0.json:123:45: excerpt", owned by the list, control bytes escaped */
} weir_diag_place;

typedef struct {
    const char *kind; /* "unescaped-quote": a static string */
    bool loss;        /* events were dropped (true) or only repaired or noted (false) */
    uint64_t count;
    uint32_t place_count;
    weir_diag_place places[WEIR_DIAG_PLACES];
} weir_diag;

typedef struct {
    weir_diag *items; /* by kind, in order of first appearance */
    uint32_t count, capacity;
} weir_diags;

void weir_diags_clear(weir_diags *diags); /* frees what it holds, leaves it empty and usable */
/* Counts one more of kind (static string). file: printed as it is; line, column 0 = unknown. On
 * lack of memory only the place is lost. */
void weir_diags_add(weir_diags *diags, const char *kind, bool loss, weir_str file, uint64_t line,
                    uint64_t column, weir_str excerpt);
void weir_diags_merge(weir_diags *into, weir_diags *from); /* empties from */
uint64_t weir_diags_lost(const weir_diags *diags);         /* sum of counts with loss */

#endif
