/* kineto_ranks.h: lists of ranks as process groups write them. */
#ifndef WEIR_IMPORT_KINETO_RANKS_H
#define WEIR_IMPORT_KINETO_RANKS_H

#include "weir/base.h"

/* "[0, 1, 2]", as an array or as text -> ascending ranks, to be freed; NULL and *count = 0 where
 * there are none or the list was cut by an ellipsis (torch cuts those over 128). */
int32_t *kineto_ranks_parse(weir_str text, uint32_t *count);

#endif
