/* The partial solve: plays the last freeze order again, and recomputes only what the change
 * reaches.
 *
 * A body is affected when it is new, when it (or its limit) may freeze otherwise than before, and
 * then all its links are open: they take part in the heap. On open links the bodies that are not
 * affected freeze at the moment that the last solve recorded, an event, unless an open link freezes
 * them earlier, or the link that froze them is open and does not do it again at that moment.
 * Everything before the present moment is final, so one pass forward is enough. */
#include "fabric/fluid_inside.h"

#include "base/grow.h"

#include <stdlib.h>

typedef struct {
    weir_fluid *fluid;
    fluid_turn now;
    uint64_t left; /* entries that may still be looked at */
    bool failed;   /* gave up */
} part;

static body_mark mark_of(const weir_fluid *fluid, const fluid_body *b)
{
    return b->pass == fluid->pass ? (body_mark)b->mark : MARK_NONE;
}

static void set_mark(const weir_fluid *fluid, fluid_body *b, body_mark mark)
{
    b->pass = fluid->pass;
    b->mark = (uint8_t)mark;
}

static bool is_open(const weir_fluid *fluid, weir_link_id link)
{
    return link != WEIR_NONE && fluid->shares[link].pass == fluid->pass;
}

static bool is_past(const fluid_body *b, fluid_turn moment)
{
    return turn_before(b->key, b->link, moment.key, moment.link);
}

static bool look_at(part *p, uint64_t entries)
{
    p->fluid->work.visits += entries;
    if (entries > p->left) {
        p->failed = true;
        return false;
    }
    p->left -= entries;
    return true;
}

/* --- events --- */

static bool event_before(const weir_fluid *fluid, const fluid_event *a, const fluid_event *b)
{
    if (a->key < b->key || a->key > b->key) {
        return a->key < b->key;
    }
    if (a->link != b->link) {
        return a->link < b->link;
    }
    const fluid_body *x = &fluid->bodies[a->body], *y = &fluid->bodies[b->body];
    return x->phase != y->phase ? x->phase < y->phase : x->arrival < y->arrival;
}

static void schedule(part *p, weir_body_id id)
{
    weir_fluid *fluid = p->fluid;
    fluid_body *b = &fluid->bodies[id];
    if (!weir_grow(&fluid->events, fluid->event_count, &fluid->event_room, sizeof *fluid->events)) {
        p->failed = true;
        return;
    }
    set_mark(fluid, b, MARK_SCHEDULED);
    fluid_event event = {b->key, b->link, id, 0};
    uint32_t at = fluid->event_count++;
    while (at > 0 && event_before(fluid, &event, &fluid->events[(at - 1) / 2])) {
        fluid->events[at] = fluid->events[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    fluid->events[at] = event;
}

static void pop_event(weir_fluid *fluid)
{
    fluid_event *events = fluid->events, moved = events[--fluid->event_count];
    uint32_t count = fluid->event_count, at = 0;
    while (2 * at + 1 < count) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count && event_before(fluid, &events[child + 1], &events[child])) {
            child++;
        }
        if (!event_before(fluid, &events[child], &moved)) {
            break;
        }
        events[at] = events[child];
        at = child;
    }
    if (count) {
        events[at] = moved;
    }
}

/* --- opening a link: its state at the present moment --- */

static void take(fluid_share *share, double rate, double weight, double factor)
{
    share->left -= rate * factor;
    share->open -= weight * factor;
    share->wait--;
}

/* Shell sort: there is a handful of bodies on most links, and no memory to be had. Two entries of
 * one body on one link are equal in all but their step, and keep no order: put it into the key. */
static void sort_history(const weir_fluid *fluid, fluid_event *history, uint32_t count)
{
    uint32_t gap = 1;
    while (gap < count / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (uint32_t i = gap; i < count; i++) {
            fluid_event moved = history[i];
            uint32_t j = i;
            for (; j >= gap; j -= gap) {
                const fluid_event *other = &history[j - gap];
                bool before = moved.body == other->body ? moved.step < other->step
                                                        : event_before(fluid, &moved, other);
                if (!before) {
                    break;
                }
                history[j] = *other;
            }
            history[j] = moved;
        }
    }
}

/* Who froze on the link before now, in order, into fluid.sorted; who did not yet is scheduled. */
static uint32_t gather_history(part *p, const fluid_link *link)
{
    weir_fluid *fluid = p->fluid;
    uint32_t count = 0;
    for (uint32_t i = 0; i < link->count && !p->failed; i++) {
        fluid_entry entry = link->entries[i];
        fluid_body *b = &fluid->bodies[entry.body];
        body_mark mark = mark_of(fluid, b);
        if (b->stage != BODY_LIVE || mark == MARK_AFFECTED) {
            continue;
        }
        if (mark != MARK_DONE && !is_past(b, p->now)) {
            if (mark == MARK_NONE) {
                schedule(p, entry.body);
            }
            continue;
        }
        set_mark(fluid, b, MARK_DONE);
        if (!weir_grow(&fluid->sorted, count, &fluid->sorted_room, sizeof *fluid->sorted)) {
            p->failed = true;
        } else {
            fluid->sorted[count++] = (fluid_event){b->key, b->link, entry.body, entry.step};
        }
    }
    sort_history(fluid, fluid->sorted, count);
    return count;
}

/* Takes what froze before (key, link), and at it up to `phase`; returns where it stopped. */
static uint32_t take_until(part *p, weir_link_id link, double key, int phase, uint32_t at,
                           uint32_t count)
{
    weir_fluid *fluid = p->fluid;
    for (; at < count; at++) {
        fluid_event e = fluid->sorted[at];
        const fluid_body *b = &fluid->bodies[e.body];
        bool is_here = e.link == link && e.key >= key && e.key <= key && b->phase <= phase;
        if (!is_here && !turn_before(e.key, e.link, key, link)) {
            break;
        }
        take(&fluid->shares[link], b->rate, b->weight, fluid_factor(fluid, b, e.step));
    }
    return at;
}

/* What the full solve did with the link before now: the same keys, the same sums. */
static double replay(part *p, weir_link_id link, uint32_t count)
{
    weir_fluid *fluid = p->fluid;
    const fluid_share *share = &fluid->shares[link];
    double key = share->left / share->open;
    uint32_t at = 0;
    while (turn_before(key, link, p->now.key, p->now.link)) {
        bool has_grown = false;
        for (int phase = PHASE_CAPPED - 1; phase <= PHASE_CAPPED && !has_grown; phase++) {
            at = take_until(p, link, key, phase, at, count);
            if (share->wait == 0) {
                return key;
            }
            if (fluid_is_worn(fluid, link)) {
                p->failed = true;
                return key;
            }
            has_grown = share->left / share->open > key;
        }
        if (!has_grown) { /* it froze all that waited: then it would not be opened now */
            p->failed = true;
            return key;
        }
        key = share->left / share->open;
    }
    for (; at < count; at++) {
        fluid_event e = fluid->sorted[at];
        const fluid_body *b = &fluid->bodies[e.body];
        take(&fluid->shares[link], b->rate, b->weight, fluid_factor(fluid, b, e.step));
    }
    return key;
}

static void open_link(part *p, weir_link_id link)
{
    weir_fluid *fluid = p->fluid;
    fluid_share *share = &fluid->shares[link];
    if (share->pass == fluid->pass) {
        return;
    }
    share->pass = fluid->pass;
    if (!fluid_is_shared(fluid, link) || !look_at(p, fluid->links[link].count)) {
        return;
    }
    share->left = fluid->links[link].capacity;
    share->open = fluid->links[link].total;
    share->wait = share->live;
    uint32_t count = gather_history(p, &fluid->links[link]);
    if (p->failed) {
        return;
    }
    double key = replay(p, link, count);
    if (share->wait > 0) {
        fluid_turns_push(fluid, key, link);
    }
}

static void affect(part *p, weir_body_id id)
{
    weir_fluid *fluid = p->fluid;
    fluid_body *b = &fluid->bodies[id];
    set_mark(fluid, b, MARK_AFFECTED);
    for (uint32_t i = 0; i < b->count && !p->failed; i++) {
        open_link(p, fluid->path[b->first + i]);
    }
}

/* --- freezing --- */

static void take_open(const weir_fluid *fluid, const fluid_body *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        weir_link_id l = fluid->path[b->first + i];
        if (is_open(fluid, l)) {
            take(&fluid->shares[l], b->rate, b->weight, fluid_factor(fluid, b, i));
        }
    }
}

static void freeze_now(part *p, weir_body_id id, double level, int phase)
{
    weir_fluid *fluid = p->fluid;
    fluid_body *b = &fluid->bodies[id];
    double rate = level * b->weight;
    if (mark_of(fluid, b) != MARK_AFFECTED) {
        bool as_before = b->key >= p->now.key && b->key <= p->now.key && b->link == p->now.link &&
                         b->phase == phase && b->rate >= rate && b->rate <= rate;
        if (!as_before) {
            affect(p, id);
        }
    }
    b->key = p->now.key;
    b->link = p->now.link;
    b->phase = (uint8_t)phase;
    set_mark(fluid, b, MARK_DONE);
    fluid_set_rate(fluid, id, rate);
    take_open(fluid, b);
}

static bool freeze_capped(part *p)
{
    weir_fluid *fluid = p->fluid;
    const fluid_link *link = &fluid->links[p->now.link];
    bool any = false;
    for (uint32_t i = 0; i < link->count && !p->failed; i++) {
        weir_body_id id = link->entries[i].body;
        const fluid_body *b = &fluid->bodies[id];
        if (b->stage == BODY_LIVE && b->limit < p->now.key && mark_of(fluid, b) != MARK_DONE) {
            freeze_now(p, id, b->limit, PHASE_CAPPED);
            any = true;
        }
    }
    return any;
}

static void freeze_rest(part *p)
{
    weir_fluid *fluid = p->fluid;
    const fluid_link *link = &fluid->links[p->now.link];
    double level = fluid_fair_level(fluid, p->now.link);
    for (uint32_t i = 0; i < link->count && !p->failed; i++) {
        weir_body_id id = link->entries[i].body;
        const fluid_body *b = &fluid->bodies[id];
        if (b->stage == BODY_LIVE && mark_of(fluid, b) != MARK_DONE) {
            freeze_now(p, id, level < b->limit ? level : b->limit, PHASE_SHARED);
        }
    }
}

static bool put_back(part *p)
{
    weir_fluid *fluid = p->fluid;
    const fluid_share *share = &fluid->shares[p->now.link];
    if (share->wait == 0) {
        return false;
    }
    if (fluid_is_worn(fluid, p->now.link)) {
        p->failed = true;
        return true;
    }
    double key = share->left / share->open;
    if (key > p->now.key) {
        fluid_turns_raise(fluid, key);
        return true;
    }
    return false;
}

static void play_turn(part *p)
{
    weir_fluid *fluid = p->fluid;
    p->now = fluid->turns[0];
    const fluid_share *share = &fluid->shares[p->now.link];
    if (share->wait > 0) {
        if (!look_at(p, fluid->links[p->now.link].count) || put_back(p) ||
            (freeze_capped(p) && put_back(p))) {
            return;
        }
        if (share->wait > 0) {
            freeze_rest(p);
        }
    }
    fluid_turns_pop(fluid);
}

static void play_event(part *p)
{
    weir_fluid *fluid = p->fluid;
    fluid_event event = fluid->events[0];
    fluid_body *b = &fluid->bodies[event.body];
    p->now = (fluid_turn){event.key, event.link};
    pop_event(fluid);
    if (mark_of(fluid, b) != MARK_SCHEDULED) {
        return;
    }
    if (is_open(fluid, event.link)) { /* which did not freeze it as it had done before */
        affect(p, event.body);
    } else {
        set_mark(fluid, b, MARK_DONE);
        take_open(fluid, b);
    }
}

/* --- what the change touches itself --- */

/* Bodies that are new, and those whose links began or ceased to be shared: their limit changes. */
static void mark_first(part *p)
{
    weir_fluid *fluid = p->fluid;
    for (uint32_t i = 0; i < fluid->pending_count; i++) {
        set_mark(fluid, &fluid->bodies[fluid->pending[i]], MARK_AFFECTED);
    }
    for (uint32_t i = 0; i < fluid->touched_count; i++) {
        weir_link_id l = fluid->touched[i];
        const fluid_link *link = &fluid->links[l];
        if ((link->was_shared && fluid_is_shared(fluid, l)) || !look_at(p, link->count)) {
            continue;
        }
        for (uint32_t j = 0; j < link->count; j++) {
            fluid_body *b = &fluid->bodies[link->entries[j].body];
            if (b->stage == BODY_LIVE) {
                set_mark(fluid, b, MARK_AFFECTED);
            }
        }
    }
}

static void begin_body(part *p, weir_body_id id)
{
    weir_fluid *fluid = p->fluid;
    fluid_body *b = &fluid->bodies[id];
    bool is_alone;
    if (b->stage != BODY_LIVE || mark_of(fluid, b) != MARK_AFFECTED) {
        return;
    }
    fluid_find_limit(fluid, b, &is_alone);
    affect(p, id);
    if (is_alone) {
        p->now = (fluid_turn){0, WEIR_NONE};
        freeze_now(p, id, b->limit, PHASE_CAPPED);
        p->now = (fluid_turn){-1, 0};
    }
}

static void begin(part *p)
{
    weir_fluid *fluid = p->fluid;
    mark_first(p);
    for (uint32_t i = 0; i < fluid->pending_count && !p->failed; i++) {
        begin_body(p, fluid->pending[i]);
    }
    for (uint32_t i = 0; i < fluid->touched_count && !p->failed; i++) {
        weir_link_id l = fluid->touched[i];
        const fluid_link *link = &fluid->links[l];
        for (uint32_t j = 0; j < link->count && !fluid_is_shared(fluid, l); j++) {
            begin_body(p, link->entries[j].body);
        }
        for (uint32_t j = 0; j < link->count && !link->was_shared; j++) {
            begin_body(p, link->entries[j].body);
        }
        open_link(p, l);
    }
}

bool fluid_solve_part(weir_fluid *fluid, uint64_t budget)
{
    part p = {.fluid = fluid, .now = {-1, 0}, .left = budget};
    fluid->pass++;
    fluid->turn_count = 0;
    fluid->event_count = 0;
    begin(&p);
    while (!p.failed && (fluid->turn_count > 0 || fluid->event_count > 0)) {
        const fluid_turn *turn = fluid->turns;
        const fluid_event *event = fluid->events;
        if (fluid->turn_count > 0 &&
            (fluid->event_count == 0 ||
             !turn_before(event->key, event->link, turn->key, turn->link))) {
            play_turn(&p);
        } else {
            play_event(&p);
        }
    }
    return !p.failed;
}
