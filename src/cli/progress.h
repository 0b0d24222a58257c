/* progress.h: one line on standard error that says what takes so long.
 *
 * Nothing is shown before a second has passed, nor where standard error is no terminal. */
#ifndef WEIR_CLI_PROGRESS_H
#define WEIR_CLI_PROGRESS_H

#include "weir/base.h"

typedef struct progress progress;

/* NULL where nothing is to be shown; every function takes that. */
progress *progress_start(bool wanted);
/* stage: "reading 4 files"; must stay valid until the next call. */
void progress_stage(progress *p, const char *stage);
void progress_stop(progress *p); /* wipes the line, frees */

#endif
