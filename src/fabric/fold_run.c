#include "fabric/fold.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const weir_net *net;
    const weir_traffic *traffic;
    weir_link_change *changes; /* by moment */
    uint32_t change_count, change_at;
    double *capacities; /* by link, now */
    double now_s;
    weir_body *rest; /* what is not yet ended, as it stands now */
    uint32_t *whose; /* by place in rest: its number in the traffic */
    double *stood_s; /* by place in rest: since when it stands still; NAN: it moves */
    uint32_t count;
    weir_fold_end *ends;
    weir_fold_work work;
} stretch;

static int compare_changes(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_link_change *x = a, *y = b;
    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

static weir_code check_changes(const weir_net *net, const weir_link_changes *changes, weir_err *err)
{
    for (uint32_t i = 0; changes && i < changes->count; i++) {
        const weir_link_change *c = &changes->items[i];
        if (c->link >= weir_net_count(net) || !(c->at_s >= 0) || isinf(c->at_s) ||
            !(c->bytes_per_s >= 0)) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "link %u of %u changes at %g s to %g bytes/s; each must be 0 or "
                                "more, and the moment finite",
                                c->link, weir_net_count(net), c->at_s, c->bytes_per_s);
        }
    }
    return WEIR_OK;
}

static weir_code begin(stretch *s, const weir_link_changes *changes, weir_err *err)
{
    uint32_t links = weir_net_count(s->net), count = s->traffic->count;
    s->change_count = changes ? changes->count : 0;
    s->changes = malloc(((size_t)s->change_count + 1) * sizeof *s->changes);
    s->capacities = malloc(((size_t)links + 1) * sizeof *s->capacities);
    s->rest = malloc(((size_t)count + 1) * sizeof *s->rest);
    s->whose = malloc(((size_t)count + 1) * sizeof *s->whose);
    s->stood_s = malloc(((size_t)count + 1) * sizeof *s->stood_s);
    if (!s->changes || !s->capacities || !s->rest || !s->whose || !s->stood_s) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u transfers", count);
    }
    if (s->change_count) {
        memcpy(s->changes, changes->items, s->change_count * sizeof *s->changes);
    }
    if (!weir_sort(s->changes, s->change_count, sizeof *s->changes, compare_changes, NULL)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u changes", s->change_count);
    }
    for (uint32_t l = 0; l < links; l++) {
        s->capacities[l] =
            s->traffic->capacities ? s->traffic->capacities[l] : weir_net_bytes_per_s(s->net, l);
    }
    for (uint32_t i = 0; i < count; i++) {
        s->rest[i] = s->traffic->bodies[i];
        s->whose[i] = i;
        s->stood_s[i] = NAN;
    }
    s->count = count;
    return WEIR_OK;
}

static void clear(stretch *s)
{
    free(s->changes);
    free(s->capacities);
    free(s->rest);
    free(s->whose);
    free(s->stood_s);
}

/* The moment of the next change; those of now are made. */
static double next_change_s(stretch *s)
{
    while (s->change_at < s->change_count && s->changes[s->change_at].at_s <= s->now_s) {
        weir_link_change c = s->changes[s->change_at++];
        s->capacities[c.link] = c.bytes_per_s;
    }
    return s->change_at < s->change_count ? s->changes[s->change_at].at_s : INFINITY;
}

/* A link of the body itself for the class of links that stalled its class. */
static weir_link_id own_link(const stretch *s, const weir_fold *fold, uint32_t place,
                             weir_link_id class)
{
    const weir_path *path = &s->rest[place].path;
    for (uint32_t j = 0; j < path->count && class != WEIR_NONE; j++) {
        if (weir_fold_class_of_link(fold)[path->links[j]] == class) {
            return path->links[j];
        }
    }
    return WEIR_NONE;
}

static void end_one(stretch *s, uint32_t place, const weir_body_end *end, weir_link_id link)
{
    double end_s = end->end_s;
    if (link != WEIR_NONE && end_s <= s->now_s && s->stood_s[place] < end_s) {
        end_s = s->stood_s[place]; /* it had been cut off before the last change */
    }
    s->ends[s->whose[place]] = (weir_fold_end){end_s, weir_ns_from_s(end_s), link};
}

/* How a class stands when a stretch is over. */
typedef struct {
    weir_body_id id;
    bool has_ended;
    weir_body_end end;
    double left, enter_s, stood_s;
} class_state;

static void read_state(class_state *state, weir_bodies *bodies, double now_s)
{
    if (state->has_ended) {
        return;
    }
    state->left = weir_bodies_left(bodies, state->id);
    state->enter_s = weir_bodies_enter_s(bodies, state->id);
    bool stands = state->enter_s < now_s && state->left > 0 &&
                  !(weir_fluid_rate(weir_bodies_fluid(bodies), state->id) > 0);
    state->stood_s = stands ? state->enter_s : NAN;
}

/* What goes on after the change moves up in `rest`, with what is left of it. */
static void carry_on(stretch *s, const weir_fold *fold, const class_state *states, double until_s)
{
    const uint32_t *class = weir_fold_class_of_body(fold);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const class_state *state = &states[class[i]];
        if (state->has_ended) {
            end_one(s, i, &state->end, own_link(s, fold, i, state->end.stalled_by));
            continue;
        }
        weir_body body = s->rest[i];
        body.size = state->left;
        body.start_s = state->enter_s > until_s ? state->enter_s : until_s;
        body.latency_s = 0;
        double stood_s = state->stood_s;
        if (s->stood_s[i] < stood_s && stood_s <= s->now_s) {
            stood_s = s->stood_s[i]; /* as in the stretch before */
        }
        s->rest[kept] = body;
        s->whose[kept] = s->whose[i];
        s->stood_s[kept++] = stood_s;
    }
    s->count = kept;
}

static weir_code play_classes(weir_fold *fold, weir_bodies *bodies, double until_s,
                              class_state *states, weir_err *err)
{
    weir_code code = WEIR_OK;
    uint32_t classes = weir_fold_body_classes(fold);
    for (uint32_t c = 0; c < classes && code == WEIR_OK; c++) {
        weir_body body = weir_fold_body(fold, c);
        code = weir_bodies_add(bodies, &body, &states[c].id, err);
    }
    if (code == WEIR_OK) {
        code = isinf(until_s) ? weir_bodies_run(bodies, err)
                              : weir_bodies_advance(bodies, until_s, err);
    }
    for (weir_body_end end; code == WEIR_OK && weir_bodies_take(bodies, &end);) {
        states[end.tag].has_ended = true;
        states[end.tag].end = end;
    }
    for (uint32_t c = 0; c < classes && code == WEIR_OK; c++) {
        read_state(&states[c], bodies, until_s);
    }
    return code;
}

static weir_code play_folded(stretch *s, weir_fold *fold, double until_s, weir_err *err)
{
    weir_bodies *bodies = NULL;
    class_state *states = calloc((size_t)weir_fold_body_classes(fold) + 1, sizeof *states);
    if (!states) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u classes of transfers",
                            weir_fold_body_classes(fold));
    }
    weir_code code = weir_bodies_new(weir_fold_net(fold), &bodies, err);
    if (code == WEIR_OK) {
        code = play_classes(fold, bodies, until_s, states, err);
    }
    if (code == WEIR_OK) {
        carry_on(s, fold, states, until_s);
        s->work.folds++;
    }
    weir_bodies_free(bodies);
    free(states);
    return code;
}

/* Body by body to the end, with all changes that are still to come. */
static weir_code play_unfolded(stretch *s, weir_err *err)
{
    weir_bodies *bodies = NULL;
    weir_code code = weir_bodies_new(s->net, &bodies, err);
    for (uint32_t l = 0; l < weir_net_count(s->net) && code == WEIR_OK; l++) {
        if (s->capacities[l] < weir_net_bytes_per_s(s->net, l) ||
            s->capacities[l] > weir_net_bytes_per_s(s->net, l)) {
            code = weir_bodies_set_capacity(bodies, l, 0, s->capacities[l], err);
        }
    }
    for (; s->change_at < s->change_count && code == WEIR_OK; s->change_at++) {
        weir_link_change c = s->changes[s->change_at];
        code = weir_bodies_set_capacity(bodies, c.link, c.at_s, c.bytes_per_s, err);
    }
    for (uint32_t i = 0; i < s->count && code == WEIR_OK; i++) {
        weir_body body = s->rest[i];
        weir_body_id id;
        body.tag = i;
        code = weir_bodies_add(bodies, &body, &id, err);
    }
    if (code == WEIR_OK) {
        code = weir_bodies_run(bodies, err);
    }
    for (weir_body_end end; code == WEIR_OK && weir_bodies_take(bodies, &end);) {
        end_one(s, (uint32_t)end.tag, &end, end.stalled_by);
    }
    weir_bodies_free(bodies);
    s->count = 0;
    s->work.unfolded++;
    return code;
}

static weir_code play(stretch *s, weir_err *err)
{
    double until_s = next_change_s(s);
    weir_fold *fold = NULL;
    const weir_traffic rest = {.bodies = s->rest,
                               .count = s->count,
                               .capacities = s->capacities,
                               .link_colours = s->traffic->link_colours};
    weir_code code = weir_fold_new(s->net, &rest, &fold, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (!fold) {
        return play_unfolded(s, err);
    }
    if (s->work.body_classes == 0 && s->work.folds == 0) {
        s->work.body_classes = weir_fold_body_classes(fold);
        s->work.link_classes = weir_fold_link_classes(fold);
    }
    code = play_folded(s, fold, until_s, err);
    s->now_s = until_s;
    weir_fold_free(fold);
    return code;
}

weir_code weir_fold_run(const weir_net *net, const weir_traffic *traffic,
                        const weir_link_changes *changes, weir_fold_end *ends, weir_fold_work *work,
                        weir_err *err)
{
    stretch s = {.net = net, .traffic = traffic, .ends = ends};
    weir_code code = check_changes(net, changes, err);
    if (code == WEIR_OK) {
        code = begin(&s, changes, err);
    }
    while (code == WEIR_OK && s.count > 0) {
        code = play(&s, err);
    }
    if (code == WEIR_OK && work) {
        *work = s.work;
    }
    clear(&s);
    return code;
}
