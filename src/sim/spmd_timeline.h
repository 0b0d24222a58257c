/* spmd_timeline.h: what an engine recorded, as a sealed timeline with its tables.
 *
 * One rank with one device for each device of the cast, numbered as the lowest one that it stands
 * for, with its multiplicity; its lanes are streams; the periods are step markers on a host thread.
 */
#ifndef WEIR_SIM_SPMD_TIMELINE_H
#define WEIR_SIM_SPMD_TIMELINE_H

#include "sim/engine.h"

/* Fills timeline, cause, parts, bound_by, meetings of a run that has its arena. */
weir_code sim_timeline_build(const sim_engine *engine, weir_spmd_run *run, weir_err *err);

/* spmd_steps.c: adds a marker for each period of each device; before sealing. */
weir_code sim_steps_mark(const sim_engine *engine, weir_timeline *t, weir_err *err);

#endif
