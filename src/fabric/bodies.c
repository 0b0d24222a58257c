#include "fabric/bodies.h"

#include "base/grow.h"
#include "base/sort.h"
#include "fabric/bodies_queue.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIMULTANEOUS 1e-12 /* of the moment */

typedef enum { ABSENT = 0, COMING, MOVING } body_place;

typedef struct {
    double left;    /* of its size, at since_s */
    double since_s; /* when its rate changed last; before it enters: when it will */
    double rate;
    uint64_t tag;
    body_place place;
} body_state;

typedef struct {
    double at_s;
    double bytes_per_s;
    weir_link_id link;
} link_change;

struct weir_bodies {
    weir_fluid *fluid;
    uint32_t link_count;
    double now_s;
    bool dirty;         /* rates must be solved again */
    body_state *states; /* by body id */
    uint32_t bound, state_room;
    uint32_t count;
    bodies_queue coming;  /* by the moment of entering */
    bodies_queue moving;  /* by the moment of ending */
    link_change *changes; /* from changes_at on, by moment */
    uint32_t changes_at, change_count, change_room;
    weir_body_end *ends; /* from ends_at on, not yet taken */
    uint32_t ends_at, end_count, end_room;
    uint32_t *due; /* scratch */
    uint32_t due_room;
};

int64_t weir_ns_from_s(double s)
{
    double ns = floor(s * 1e9 + 0.5);
    return ns < 9.2e18 ? (int64_t)ns : INT64_MAX;
}

weir_code weir_bodies_new(const weir_net *net, weir_bodies **bodies, weir_err *err)
{
    weir_bodies *made = calloc(1, sizeof *made);
    if (!made) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for transfers");
    }
    weir_code code = weir_fluid_new(net, &made->fluid, err);
    if (code != WEIR_OK) {
        weir_bodies_free(made);
        return code;
    }
    made->link_count = weir_net_count(net);
    *bodies = made;
    return WEIR_OK;
}

void weir_bodies_free(weir_bodies *bodies)
{
    if (!bodies) {
        return;
    }
    weir_fluid_free(bodies->fluid);
    bodies_queue_clear(&bodies->coming);
    bodies_queue_clear(&bodies->moving);
    free(bodies->states);
    free(bodies->changes);
    free(bodies->ends);
    free(bodies->due);
    free(bodies);
}

/* --- what will happen --- */

static bool is_duration(double s)
{
    return s >= 0 && !isinf(s);
}

/* Room for one more body wherever it may go: nothing fails halfway later. */
static bool make_room(weir_bodies *bodies, uint32_t bound)
{
    while (bodies->state_room < bound) {
        if (!weir_grow(&bodies->states, bodies->state_room, &bodies->state_room,
                       sizeof *bodies->states)) {
            return false;
        }
    }
    while (bodies->due_room < bound) {
        if (!weir_grow(&bodies->due, bodies->due_room, &bodies->due_room, sizeof *bodies->due)) {
            return false;
        }
    }
    return bodies_queue_reserve(&bodies->coming, bound) &&
           bodies_queue_reserve(&bodies->moving, bound);
}

static weir_code enter(weir_bodies *bodies, weir_body_id id, weir_err *err)
{
    body_state *state = &bodies->states[id];
    weir_code code = weir_fluid_start(bodies->fluid, id, err);
    if (code == WEIR_OK) {
        state->place = MOVING;
        state->since_s = bodies->now_s;
        bodies_queue_set(&bodies->moving, id, INFINITY); /* until it has a rate */
        bodies->dirty = true;
    }
    return code;
}

weir_code weir_bodies_add(weir_bodies *bodies, const weir_body *body, weir_body_id *id,
                          weir_err *err)
{
    if (!is_duration(body->size) || !is_duration(body->start_s) || !is_duration(body->latency_s)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a transfer of %g bytes, start %g s, latency %g s: each must be 0 or "
                            "more, and finite",
                            body->size, body->start_s, body->latency_s);
    }
    weir_body_id made;
    weir_code code = weir_fluid_add(bodies->fluid, &body->path, &made, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (!make_room(bodies, made + 1)) {
        weir_fluid_remove(bodies->fluid, made);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u transfers", made + 1);
    }
    bodies->bound = made + 1 > bodies->bound ? made + 1 : bodies->bound;
    double start_s = body->start_s > bodies->now_s ? body->start_s : bodies->now_s;
    body_state state = {.left = body->size,
                        .since_s = start_s + body->latency_s,
                        .tag = body->tag,
                        .place = COMING};
    bodies->states[made] = state;
    if (state.since_s <= bodies->now_s && body->size > 0) {
        code = enter(bodies, made, err);
    } else {
        bodies_queue_set(&bodies->coming, made, state.since_s);
    }
    bodies->count++;
    *id = made;
    return code;
}

static void forget(weir_bodies *bodies, weir_body_id id)
{
    bodies->states[id].place = ABSENT;
    bodies->count--;
    weir_fluid_remove(bodies->fluid, id);
}

void weir_bodies_remove(weir_bodies *bodies, weir_body_id id)
{
    assert(id < bodies->bound && bodies->states[id].place != ABSENT);
    bodies_queue_drop(&bodies->coming, id);
    bodies_queue_drop(&bodies->moving, id);
    bodies->dirty = bodies->dirty || bodies->states[id].place == MOVING;
    forget(bodies, id);
}

weir_code weir_bodies_set_capacity(weir_bodies *bodies, weir_link_id link, double at_s,
                                   double bytes_per_s, weir_err *err)
{
    if (!is_duration(at_s)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a link changes at %g s; it must be 0 or more, and finite", at_s);
    }
    if (at_s <= bodies->now_s) {
        bodies->dirty = true;
        return weir_fluid_set_capacity(bodies->fluid, link, bytes_per_s, err);
    }
    if (link >= bodies->link_count || !(bytes_per_s >= 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a capacity of %g bytes/s for link %u of %u; it must be 0 or more",
                            bytes_per_s, link, bodies->link_count);
    }
    if (!weir_grow(&bodies->changes, bodies->change_count, &bodies->change_room,
                   sizeof *bodies->changes)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u changes of links",
                            bodies->change_count + 1);
    }
    uint32_t at = bodies->change_count++;
    for (; at > bodies->changes_at && bodies->changes[at - 1].at_s > at_s; at--) {
        bodies->changes[at] = bodies->changes[at - 1];
    }
    bodies->changes[at] = (link_change){at_s, bytes_per_s, link};
    return WEIR_OK;
}

/* --- rates --- */

/* The moment of its end at the rate that it has from now on. */
static double new_end(weir_bodies *bodies, weir_body_id id)
{
    body_state *state = &bodies->states[id];
    double left = state->left;
    if (bodies->now_s > state->since_s) { /* guarded: 0 s at an infinite rate are no progress */
        left -= state->rate * (bodies->now_s - state->since_s);
    }
    state->left = left > 0 ? left : 0;
    state->since_s = bodies->now_s;
    state->rate = weir_fluid_rate(bodies->fluid, id);
    if (state->left <= 0) {
        return bodies->now_s;
    }
    return state->rate > 0 ? bodies->now_s + state->left / state->rate : INFINITY;
}

static weir_code settle(weir_bodies *bodies, weir_err *err)
{
    if (!bodies->dirty) {
        return WEIR_OK;
    }
    weir_code code = weir_fluid_solve(bodies->fluid, WEIR_SOLVE_CHOOSE, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t count;
    const weir_body_id *changed = weir_fluid_changed(bodies->fluid, &count);
    bool is_many = count > bodies->moving.count / 8;
    for (uint32_t i = 0; i < count; i++) {
        double end_s = new_end(bodies, changed[i]);
        if (is_many) {
            bodies_queue_note(&bodies->moving, changed[i], end_s);
        } else {
            bodies_queue_set(&bodies->moving, changed[i], end_s);
        }
    }
    if (is_many) {
        bodies_queue_order(&bodies->moving);
    }
    bodies->dirty = false;
    return WEIR_OK;
}

weir_code weir_bodies_next_s(weir_bodies *bodies, double *next_s, weir_err *err)
{
    weir_code code = settle(bodies, err);
    if (code != WEIR_OK) {
        return code;
    }
    double first_s = bodies_queue_first_s(&bodies->moving);
    double enter_s = bodies_queue_first_s(&bodies->coming);
    first_s = enter_s < first_s ? enter_s : first_s;
    if (bodies->changes_at < bodies->change_count &&
        bodies->changes[bodies->changes_at].at_s < first_s) {
        first_s = bodies->changes[bodies->changes_at].at_s;
    }
    *next_s = first_s > bodies->now_s ? first_s : bodies->now_s;
    return WEIR_OK;
}

/* --- what happens --- */

static weir_code end_body(weir_bodies *bodies, weir_body_id id, double end_s,
                          weir_link_id stalled_by, weir_err *err)
{
    if (!weir_grow(&bodies->ends, bodies->end_count, &bodies->end_room, sizeof *bodies->ends)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the ends of transfers");
    }
    bodies->ends[bodies->end_count++] = (weir_body_end){.body = id,
                                                        .tag = bodies->states[id].tag,
                                                        .end_s = end_s,
                                                        .end_ns = weir_ns_from_s(end_s),
                                                        .stalled_by = stalled_by};
    forget(bodies, id);
    return WEIR_OK;
}

static weir_code change_links(weir_bodies *bodies, weir_err *err)
{
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && bodies->changes_at < bodies->change_count &&
           bodies->changes[bodies->changes_at].at_s <= bodies->now_s) {
        link_change change = bodies->changes[bodies->changes_at++];
        code = weir_fluid_set_capacity(bodies->fluid, change.link, change.bytes_per_s, err);
        bodies->dirty = true;
    }
    if (bodies->changes_at == bodies->change_count) {
        bodies->changes_at = bodies->change_count = 0;
    }
    return code;
}

static weir_code happen(weir_bodies *bodies, weir_err *err)
{
    double now_s = bodies->now_s;
    uint32_t count = bodies_queue_take(&bodies->moving, now_s + SIMULTANEOUS * now_s, bodies->due);
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < count && code == WEIR_OK; i++) {
        code = end_body(bodies, bodies->due[i], now_s, WEIR_NONE, err);
        bodies->dirty = true;
    }
    if (code == WEIR_OK) {
        code = change_links(bodies, err);
    }
    count = bodies_queue_take(&bodies->coming, now_s, bodies->due);
    for (uint32_t i = 0; i < count && code == WEIR_OK; i++) {
        weir_body_id id = bodies->due[i];
        code = bodies->states[id].left > 0 ? enter(bodies, id, err)
                                           : end_body(bodies, id, now_s, WEIR_NONE, err);
    }
    return code;
}

static int compare_ends(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_body_end *x = a, *y = b;
    if (x->end_ns != y->end_ns) {
        return x->end_ns < y->end_ns ? -1 : 1;
    }
    if (x->tag != y->tag) {
        return x->tag < y->tag ? -1 : 1;
    }
    return x->body < y->body ? -1 : x->body > y->body;
}

static weir_code sort_ends(weir_bodies *bodies, uint32_t from, weir_err *err)
{
    if (bodies->end_count > from && !weir_sort(bodies->ends + from, bodies->end_count - from,
                                               sizeof *bodies->ends, compare_ends, NULL)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for ordering the ends of transfers");
    }
    return WEIR_OK;
}

weir_code weir_bodies_advance(weir_bodies *bodies, double until_s, weir_err *err)
{
    if (!(until_s >= bodies->now_s)) {
        return weir_err_set(err, WEIR_ERR_USAGE, "%g s is past: transfers are at %g s", until_s,
                            bodies->now_s);
    }
    uint32_t from = bodies->end_count;
    for (;;) {
        double next_s;
        weir_code code = weir_bodies_next_s(bodies, &next_s, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (next_s > until_s || isinf(next_s)) {
            break;
        }
        bodies->now_s = next_s;
        code = happen(bodies, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    if (!isinf(until_s)) {
        bodies->now_s = until_s;
    }
    return sort_ends(bodies, from, err);
}

weir_code weir_bodies_stall(weir_bodies *bodies, weir_err *err)
{
    weir_code code = settle(bodies, err);
    uint32_t from = bodies->end_count;
    for (uint32_t id = 0; id < bodies->bound && code == WEIR_OK; id++) {
        const body_state *state = &bodies->states[id];
        if (state->place == MOVING && !(state->rate > 0)) {
            weir_link_id link = weir_fluid_bottleneck(bodies->fluid, id);
            double since_s = state->since_s;
            bodies_queue_drop(&bodies->moving, id);
            code = end_body(bodies, id, since_s, link, err);
            bodies->dirty = true;
        }
    }
    return code == WEIR_OK ? sort_ends(bodies, from, err) : code;
}

weir_code weir_bodies_run(weir_bodies *bodies, weir_err *err)
{
    uint32_t from = bodies->end_count;
    weir_code code = weir_bodies_advance(bodies, INFINITY, err);
    if (code == WEIR_OK && bodies->count > 0) {
        code = weir_bodies_stall(bodies, err);
    }
    return code == WEIR_OK ? sort_ends(bodies, from, err) : code;
}

bool weir_bodies_take(weir_bodies *bodies, weir_body_end *end)
{
    if (bodies->ends_at == bodies->end_count) {
        bodies->ends_at = bodies->end_count = 0;
        return false;
    }
    *end = bodies->ends[bodies->ends_at++];
    return true;
}

/* --- reading --- */

double weir_bodies_now_s(const weir_bodies *bodies)
{
    return bodies->now_s;
}

uint32_t weir_bodies_count(const weir_bodies *bodies)
{
    return bodies->count;
}

double weir_bodies_left(const weir_bodies *bodies, weir_body_id id)
{
    const body_state *state = &bodies->states[id];
    if (state->place != MOVING || !(bodies->now_s > state->since_s)) {
        return state->left;
    }
    double left = state->left - state->rate * (bodies->now_s - state->since_s);
    return left > 0 ? left : 0;
}

double weir_bodies_enter_s(const weir_bodies *bodies, weir_body_id id)
{
    return bodies->states[id].since_s;
}

weir_fluid *weir_bodies_fluid(weir_bodies *bodies)
{
    return bodies->fluid;
}
