/* fluid_inside.h: the inside of a fluid, for the files that keep its bodies and solve its rates.
 *
 * Freeze order. Progressive filling raises one level for all; a link whose bodies use it up at
 * level k freezes them. Links wait in a heap by (key, link), where the key is a lower bound of that
 * level; a link whose key has grown since it was put there goes back with the new one. So links
 * freeze in ascending order of (key, link), and all that happens to a link depends on its own
 * bodies only, in the order (key, link, phase, arrival) in which they freeze: that is what makes a
 * partial solve equal to a full one to the bit. A body's own cap, and the links that it has for
 * itself, never enter the heap: they make its `limit`, the level it can reach at most, which is
 * looked at when a link is about to freeze it. */
#ifndef WEIR_FABRIC_FLUID_INSIDE_H
#define WEIR_FABRIC_FLUID_INSIDE_H

#include "fabric/fluid.h"

typedef enum {
    BODY_FREE = 0,
    BODY_STORED,  /* known, takes nothing */
    BODY_PENDING, /* started since the last solve, not yet in the lists of its links */
    BODY_LIVE,
    BODY_DEAD, /* removed, may still be in lists */
} body_stage;

/* What a solve knows of a body; good where body.pass is the pass of the fluid. */
typedef enum {
    MARK_NONE = 0,
    MARK_SCHEDULED, /* partial: freezes as before unless something comes in between */
    MARK_AFFECTED,  /* partial: all its links are open */
    MARK_DONE,      /* frozen in this pass */
} body_mark;

enum { PHASE_CAPPED = 0, PHASE_SHARED = 1 };

typedef struct {
    uint32_t first, count; /* its links: fluid.path[first ..] */
    uint32_t factors;      /* its coefficients: fluid.factors[factors ..]; WEIR_NONE: all 1 */
    uint8_t stage;         /* body_stage */
    uint8_t phase;         /* how it froze: PHASE_... */
    uint8_t mark;          /* body_mark */
    uint32_t pass;
    uint32_t told;      /* the last solve that listed it as changed */
    double weight, cap; /* cap: INFINITY = none */
    double limit;       /* the highest level (rate / weight) it can reach on its own */
    double rate;
    double key;              /* of the link that froze it, at that time */
    uint64_t arrival;        /* order of starts */
    weir_link_id link;       /* that froze it; WEIR_NONE: no shared link holds it */
    weir_link_id limit_link; /* that makes its limit; WEIR_NONE: its own cap */
} fluid_body;

typedef struct {
    weir_body_id body;
    uint32_t step; /* which of the body's links */
} fluid_entry;

/* What freezing reads and writes: kept small, since every incidence comes by. */
typedef struct {
    double left;   /* bytes/s not yet given away */
    double open;   /* sum of weight x coefficient of what is not frozen */
    uint32_t live; /* entries of live bodies */
    uint32_t wait; /* of these: not yet frozen */
    uint32_t pass; /* partial: open since this pass */
} fluid_share;

typedef struct {
    double capacity;
    double total; /* sum of weight x coefficient of live entries, in order of arrival */
    fluid_entry *entries;
    uint32_t count, room; /* of entries, dead ones among them */
    uint32_t more;        /* entries about to be appended */
    uint32_t active_at;   /* place in fluid.active, WEIR_NONE: no live body */
    bool changed;         /* is in fluid.touched */
    bool stale;           /* total must be summed again */
    bool was_shared;      /* at the last solve */
} fluid_link;

typedef struct {
    double key;
    weir_link_id link;
} fluid_turn;

/* When an unaffected body freezes: as in the last solve. */
typedef struct {
    double key;
    weir_link_id link;
    weir_body_id body;
    uint32_t step; /* which of its links is meant, in the history of a link */
} fluid_event;

struct weir_fluid {
    const weir_net *net;
    uint32_t link_count;
    fluid_share *shares; /* by link */
    fluid_link *links;   /* by link */
    fluid_body *bodies;
    uint32_t body_count, body_room;
    weir_link_id *path; /* pool of the links of all bodies */
    uint32_t path_count, path_room;
    double *factors;
    uint32_t factor_count, factor_room;
    weir_body_id *spare; /* free ids */
    uint32_t spare_count, spare_room;
    weir_body_id *pending; /* started since the last solve */
    uint32_t pending_count, pending_room;
    weir_link_id *active; /* links with live bodies, in any order */
    uint32_t active_count;
    weir_link_id *touched; /* links whose bodies or capacity changed since the last solve */
    uint32_t touched_count;
    weir_body_id *changed;
    uint32_t changed_count, changed_room;
    uint32_t live_count, dead_count;
    uint64_t live_entries, dead_path;
    uint64_t arrivals;
    uint32_t pass, solve;
    bool fresh;             /* no solve yet */
    uint32_t pause, paused; /* full solves after the last abandoned one; of these still to come */
    fluid_turn *turns;
    uint32_t turn_count;
    fluid_event *events;
    uint32_t event_count, event_room;
    fluid_event *sorted; /* scratch of a partial solve */
    uint32_t sorted_room;
    weir_fluid_work work;
};

static inline double fluid_factor(const weir_fluid *fluid, const fluid_body *body, uint32_t step)
{
    return body->factors == WEIR_NONE ? 1 : fluid->factors[body->factors + step];
}

/* A link that several bodies use, and that can hold them back. */
static inline bool fluid_is_shared(const weir_fluid *fluid, weir_link_id link)
{
    return fluid->shares[link].live > 1 && fluid->links[link].capacity <= 1.7976931348623157e308;
}

static inline bool turn_before(double a_key, weir_link_id a, double b_key, weir_link_id b)
{
    return a_key < b_key || (a_key <= b_key && a < b);
}

/* So little of the link's weight waits that what is left in the running sums is rounding. */
static inline bool fluid_is_worn(const weir_fluid *fluid, weir_link_id link)
{
    return fluid->shares[link].open < 1e-6 * fluid->links[link].total;
}

/* The heap of links. */
void fluid_turns_down(fluid_turn *turns, uint32_t count, uint32_t at);
void fluid_turns_push(weir_fluid *fluid, double key, weir_link_id link); /* room was reserved */
void fluid_turns_pop(weir_fluid *fluid);
/* Puts the top back with a higher key. */
void fluid_turns_raise(weir_fluid *fluid, double key);

/* Brings lists and sums up to date before a solve; reserves all that a solve needs. */
weir_code fluid_settle(weir_fluid *fluid, weir_err *err);
void fluid_untouch(weir_fluid *fluid); /* after a solve */
void fluid_find_limit(weir_fluid *fluid, fluid_body *body, bool *is_alone);
void fluid_set_rate(weir_fluid *fluid, weir_body_id id, double rate);
/* The level at which link freezes what waits on it, from sums in order of arrival. */
double fluid_fair_level(weir_fluid *fluid, weir_link_id link);

void fluid_solve_all(weir_fluid *fluid);
/* false: it reached more than budget entries and gave up; only a full solve mends that. */
bool fluid_solve_part(weir_fluid *fluid, uint64_t budget);

#endif
