/* kineto_args.h: the arguments of an event (private to import/). */
#ifndef WEIR_IMPORT_KINETO_ARGS_H
#define WEIR_IMPORT_KINETO_ARGS_H

#include "import/kineto_value.h"

/* As if no argument had been given. */
void kineto_reset_arguments(kineto_event *event);
/* p at the value of "args"; phase and category decide which arguments matter, so they should stand
 * before. Returns the byte behind it, or NULL. */
const char *kineto_read_arguments(const kineto_parser *ps, const char *p);

#endif
