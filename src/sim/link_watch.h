/* link_watch.h: what each link carries over time, noted whenever it changes.
 *
 * Costs O(links) for each moment at which something changes: only for those who ask. */
#ifndef WEIR_SIM_LINK_WATCH_H
#define WEIR_SIM_LINK_WATCH_H

#include "sim/cast.h"

typedef struct sim_watch sim_watch;

sim_watch *sim_watch_new(const sim_cast *cast); /* NULL: no memory */
void sim_watch_free(sim_watch *watch);          /* NULL is fine */
/* The rates as they are from now_s on. false: no memory. */
bool sim_watch_note(sim_watch *watch, weir_bodies *bodies, double now_s);
/* The links that ever carried something, in the arena. false: no memory. */
bool sim_watch_publish(const sim_watch *watch, const sim_cast *cast, weir_arena *arena,
                       weir_link_series **series, uint32_t *count);

#endif
