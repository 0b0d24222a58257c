#include "sim/link_watch.h"

#include "base/grow.h"

#include <stdlib.h>

typedef struct {
    uint32_t link;
    double at_s, bytes_per_s;
} watch_change;

struct sim_watch {
    uint32_t links; /* of the net that is played */
    double *load;   /* by link, as noted last */
    watch_change *changes;
    uint32_t count, room;
};

sim_watch *sim_watch_new(const sim_cast *cast)
{
    sim_watch *watch = calloc(1, sizeof *watch);
    if (watch) {
        watch->links = weir_net_count(cast->net);
        watch->load = calloc((size_t)watch->links + 1, sizeof *watch->load);
    }
    if (watch && !watch->load) {
        sim_watch_free(watch);
        watch = NULL;
    }
    return watch;
}

void sim_watch_free(sim_watch *watch)
{
    if (watch) {
        free(watch->load);
        free(watch->changes);
        free(watch);
    }
}

/* Loads are sums of rates: their last bits are rounding. */
static bool is_other_load(double a, double b)
{
    double difference = a > b ? a - b : b - a, larger = a > b ? a : b;
    return difference > 1e-9 * larger;
}

bool sim_watch_note(sim_watch *watch, weir_bodies *bodies, double now_s)
{
    const weir_fluid *fluid = weir_bodies_fluid(bodies);
    for (uint32_t l = 0; l < watch->links; l++) {
        double load = weir_fluid_load(fluid, l);
        if (!is_other_load(load, watch->load[l])) {
            continue;
        }
        if (!weir_grow(&watch->changes, watch->count, &watch->room, sizeof *watch->changes)) {
            return false;
        }
        watch->changes[watch->count++] = (watch_change){l, now_s, load};
        watch->load[l] = load;
    }
    return true;
}

/* Changes by link, in time order; those of one moment become the last one of them. */
static bool fill(const sim_watch *watch, weir_link_series *rows, const uint32_t *row_of,
                 weir_arena *arena)
{
    double *at_s = weir_arena_alloc(arena, (size_t)watch->count + 1, sizeof *at_s);
    double *load = weir_arena_alloc(arena, (size_t)watch->count + 1, sizeof *load);
    uint32_t *first = calloc((size_t)watch->links + 1, sizeof *first);
    if (!at_s || !load || !first) {
        free(first);
        return false;
    }
    for (uint32_t i = 0; i < watch->count; i++) {
        first[watch->changes[i].link + 1]++;
    }
    for (uint32_t l = 0; l < watch->links; l++) {
        first[l + 1] += first[l];
    }
    for (uint32_t i = 0; i < watch->count; i++) {
        const watch_change *change = &watch->changes[i];
        weir_link_series *row = &rows[row_of[change->link]];
        uint32_t at = first[change->link] + row->count;
        if (row->count && !(at_s[at - 1] < change->at_s)) {
            at--;
        } else {
            row->count++;
        }
        at_s[at] = change->at_s;
        load[at] = change->bytes_per_s;
        row->at_s = at_s + first[change->link];
        row->bytes_per_s = load + first[change->link];
    }
    free(first);
    return true;
}

bool sim_watch_publish(const sim_watch *watch, const sim_cast *cast, weir_arena *arena,
                       weir_link_series **series, uint32_t *count)
{
    weir_link_series *rows = weir_arena_alloc(arena, (size_t)watch->links + 1, sizeof *rows);
    uint32_t *row_of = calloc((size_t)watch->links + 1, sizeof *row_of);
    bool ok = rows && row_of;
    uint32_t used = 0;
    for (uint32_t i = 0; ok && i < watch->count; i++) {
        row_of[watch->changes[i].link] = 1;
    }
    for (uint32_t l = 0; ok && l < watch->links; l++) {
        if (row_of[l]) {
            row_of[l] = used;
            rows[used++] = (weir_link_series){
                .link = cast->link_of ? cast->link_of[l] : l,
                .multiplicity = cast->link_multiplicity ? cast->link_multiplicity[l] : 1};
        }
    }
    ok = ok && fill(watch, rows, row_of, arena);
    if (ok) {
        *series = rows;
        *count = used;
    }
    free(row_of);
    return ok;
}
