/* thread.h: the only place that knows of threads.
 *
 * Work is a numbered list of independent tasks; results go to places that the task's number names,
 * never by order of arrival, so that the number of threads cannot change them. */
#ifndef WEIR_BASE_THREAD_H
#define WEIR_BASE_THREAD_H

#include "weir/base.h"

/* Cores that this process may use, at least 1. */
uint32_t weir_thread_cores(void);

/* Calls task(context, 0 .. count-1), each once, on at most `threads` threads (0 = one a core) of
 * which the caller's is one; returns when all are done. Where a thread cannot be started, the
 * others do its work. */
void weir_thread_for(uint32_t count, uint32_t threads, void (*task)(void *context, uint32_t index),
                     void *context);

#endif
