#include "fabric/fluid_inside.h"

#include <math.h>

/* --- the heap of links --- */

void fluid_turns_down(fluid_turn *turns, uint32_t count, uint32_t at)
{
    fluid_turn moved = turns[at];
    for (;;) {
        uint64_t child = 2 * (uint64_t)at + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && turn_before(turns[child + 1].key, turns[child + 1].link,
                                             turns[child].key, turns[child].link)) {
            child++;
        }
        if (!turn_before(turns[child].key, turns[child].link, moved.key, moved.link)) {
            break;
        }
        turns[at] = turns[child];
        at = (uint32_t)child;
    }
    turns[at] = moved;
}

void fluid_turns_push(weir_fluid *fluid, double key, weir_link_id link)
{
    fluid_turn *turns = fluid->turns;
    uint32_t at = fluid->turn_count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!turn_before(key, link, turns[parent].key, turns[parent].link)) {
            break;
        }
        turns[at] = turns[parent];
        at = parent;
    }
    turns[at] = (fluid_turn){key, link};
}

void fluid_turns_pop(weir_fluid *fluid)
{
    fluid->turns[0] = fluid->turns[--fluid->turn_count];
    if (fluid->turn_count > 1) {
        fluid_turns_down(fluid->turns, fluid->turn_count, 0);
    }
}

void fluid_turns_raise(weir_fluid *fluid, double key)
{
    fluid->turns[0].key = key;
    fluid_turns_down(fluid->turns, fluid->turn_count, 0);
}

/* --- what both kinds of solve use --- */

void fluid_set_rate(weir_fluid *fluid, weir_body_id id, double rate)
{
    fluid_body *b = &fluid->bodies[id];
    if (b->rate < rate || b->rate > rate) {
        b->rate = rate;
        if (b->told != fluid->solve) {
            b->told = fluid->solve;
            fluid->changed[fluid->changed_count++] = id;
        }
    }
}

void fluid_find_limit(weir_fluid *fluid, fluid_body *body, bool *is_alone)
{
    body->limit = body->cap / body->weight;
    body->limit_link = WEIR_NONE;
    *is_alone = true;
    for (uint32_t i = 0; i < body->count; i++) {
        weir_link_id l = fluid->path[body->first + i];
        if (fluid->shares[l].live > 1) {
            *is_alone = *is_alone && !fluid_is_shared(fluid, l);
            continue;
        }
        double level = fluid->links[l].capacity / (body->weight * fluid_factor(fluid, body, i));
        if (level < body->limit) {
            body->limit = level;
            body->limit_link = l;
        }
    }
}

double fluid_fair_level(weir_fluid *fluid, weir_link_id link)
{
    const fluid_link *l = &fluid->links[link];
    double used = 0, open = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const fluid_body *b = &fluid->bodies[l->entries[i].body];
        if (b->stage != BODY_LIVE) {
            continue;
        }
        double factor = fluid_factor(fluid, b, l->entries[i].step);
        if (b->pass == fluid->pass && b->mark == MARK_DONE) {
            used += b->rate * factor;
        } else {
            open += b->weight * factor;
        }
    }
    fluid->work.visits += l->count;
    return used < l->capacity ? (l->capacity - used) / open : 0;
}

/* --- the full solve --- */

static void freeze(weir_fluid *fluid, weir_body_id id, double level, fluid_turn turn, int phase)
{
    fluid_body *b = &fluid->bodies[id];
    double rate = level * b->weight;
    b->key = turn.key;
    b->link = turn.link;
    b->phase = (uint8_t)phase;
    b->pass = fluid->pass;
    b->mark = MARK_DONE;
    fluid_set_rate(fluid, id, rate);
    const weir_link_id *path = fluid->path + b->first;
    if (b->factors == WEIR_NONE) {
        for (uint32_t i = 0; i < b->count; i++) {
            fluid_share *share = &fluid->shares[path[i]];
            share->left -= rate;
            share->open -= b->weight;
            share->wait--;
        }
        return;
    }
    const double *factors = fluid->factors + b->factors;
    for (uint32_t i = 0; i < b->count; i++) {
        fluid_share *share = &fluid->shares[path[i]];
        share->left -= rate * factors[i];
        share->open -= b->weight * factors[i];
        share->wait--;
    }
}

static bool waits(const weir_fluid *fluid, const fluid_body *b)
{
    return b->stage == BODY_LIVE && !(b->pass == fluid->pass && b->mark == MARK_DONE);
}

/* Freezes the bodies that cannot reach the level at which the link would freeze them. */
static bool freeze_capped(weir_fluid *fluid, fluid_turn turn)
{
    const fluid_link *link = &fluid->links[turn.link];
    bool any = false;
    for (uint32_t i = 0; i < link->count; i++) {
        weir_body_id id = link->entries[i].body;
        const fluid_body *b = &fluid->bodies[id];
        if (b->limit < turn.key && waits(fluid, b)) {
            freeze(fluid, id, b->limit, turn, PHASE_CAPPED);
            any = true;
        }
    }
    fluid->work.visits += link->count;
    return any;
}

static void freeze_rest(weir_fluid *fluid, fluid_turn turn)
{
    const fluid_link *link = &fluid->links[turn.link];
    double level = fluid_fair_level(fluid, turn.link);
    for (uint32_t i = 0; i < link->count; i++) {
        weir_body_id id = link->entries[i].body;
        const fluid_body *b = &fluid->bodies[id];
        if (waits(fluid, b)) {
            freeze(fluid, id, level < b->limit ? level : b->limit, turn, PHASE_SHARED);
        }
    }
}

/* Links into the heap; bodies that share nothing are done at once. */
static void begin(weir_fluid *fluid)
{
    fluid->pass++;
    fluid->turn_count = 0;
    for (uint32_t i = 0; i < fluid->active_count; i++) {
        weir_link_id l = fluid->active[i];
        fluid_share *share = &fluid->shares[l];
        share->left = fluid->links[l].capacity;
        share->open = fluid->links[l].total;
        share->wait = share->live;
        if (fluid_is_shared(fluid, l)) {
            fluid->turns[fluid->turn_count++] = (fluid_turn){share->left / share->open, l};
        }
    }
    for (uint32_t i = fluid->turn_count / 2; i-- > 0;) {
        fluid_turns_down(fluid->turns, fluid->turn_count, i);
    }
    for (uint32_t i = 0; i < fluid->body_count && fluid->live_count > 0; i++) {
        fluid_body *b = &fluid->bodies[i];
        bool is_alone;
        if (b->stage != BODY_LIVE) {
            continue;
        }
        fluid_find_limit(fluid, b, &is_alone);
        if (is_alone) {
            freeze(fluid, i, b->limit, (fluid_turn){0, WEIR_NONE}, PHASE_CAPPED);
        }
    }
}

/* Its key has grown since the link was put into the heap: back it goes. */
static bool put_back(weir_fluid *fluid, fluid_turn turn)
{
    const fluid_share *share = &fluid->shares[turn.link];
    if (share->wait == 0) {
        return false;
    }
    double key = fluid_is_worn(fluid, turn.link) ? fluid_fair_level(fluid, turn.link)
                                                 : share->left / share->open;
    if (key > turn.key) {
        fluid_turns_raise(fluid, key);
        return true;
    }
    return false;
}

void fluid_solve_all(weir_fluid *fluid)
{
    begin(fluid);
    while (fluid->turn_count > 0) {
        fluid_turn turn = fluid->turns[0];
        const fluid_share *share = &fluid->shares[turn.link];
        if (share->wait > 0) {
            if (put_back(fluid, turn) || (freeze_capped(fluid, turn) && put_back(fluid, turn))) {
                continue;
            }
            if (share->wait > 0) {
                freeze_rest(fluid, turn);
            }
        }
        fluid_turns_pop(fluid);
    }
    fluid->work.full_solves++;
}

/* A partial solve looks at every body of every link that it reaches: not worth it for many. */
static bool is_small(const weir_fluid *fluid)
{
    uint64_t reach = fluid->pending_count;
    for (uint32_t i = 0; i < fluid->touched_count; i++) {
        reach += 1 + fluid->shares[fluid->touched[i]].live;
    }
    return reach <= 16 + fluid->live_entries / 32;
}

/* Where all hangs together partial solves are given up again and again: then they are tried less
 * and less often, until one gets through. */
static bool is_worth_a_try(weir_fluid *fluid)
{
    if (fluid->fresh || !is_small(fluid)) {
        return false;
    }
    if (fluid->paused > 0) {
        fluid->paused--;
        return false;
    }
    return true;
}

static bool try_part(weir_fluid *fluid, uint64_t budget)
{
    if (fluid_solve_part(fluid, budget)) {
        fluid->work.part_solves++;
        fluid->pause = 0;
        return true;
    }
    fluid->work.abandoned++;
    fluid->pause = fluid->pause < 32 ? 2 * fluid->pause + 1 : fluid->pause;
    fluid->paused = fluid->pause;
    return false;
}

weir_code weir_fluid_solve(weir_fluid *fluid, weir_solve how, weir_err *err)
{
    weir_code code = fluid_settle(fluid, err);
    if (code != WEIR_OK) {
        return code;
    }
    bool done = false;
    if (how == WEIR_SOLVE_PART) {
        done = try_part(fluid, UINT64_MAX);
    } else if (how == WEIR_SOLVE_CHOOSE && is_worth_a_try(fluid)) {
        done = try_part(fluid, 64 + fluid->live_entries / 4);
    }
    if (!done) {
        fluid_solve_all(fluid);
    }
    fluid->fresh = false;
    fluid_untouch(fluid);
    return WEIR_OK;
}
