/* fabric_message.c: a phase of messages as one round of bodies (fabric_program.h). */
#include "study/fabric_program.h"

#include "base/grow.h"
#include "fabric/transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries (links of bodies) of one plan: 12 bytes each. */
enum { ENTRIES_MAX = 48 << 20 };

typedef struct {
    const weir_program_group *group;
    const weir_collective_choice *choice;
    weir_plan *plan;
    uint64_t entries;
    double *load;          /* by link: bytes on the raw link */
    weir_link_id *touched; /* links with a load */
    uint32_t touched_count, touched_room;
    double route_s;               /* latency of the farthest message */
    double part_bytes, all_bytes; /* of the part, of all messages */
    weir_code code;
    weir_err *err;
} builder;

static double efficiency_of(const builder *b, weir_link_id link)
{
    const weir_program_network *network = b->group->network;
    if (weir_layout_tier(network->layout, link) == WEIR_TIER_IN_NODE) {
        return b->choice->node_efficiency;
    }
    double fabric = network->roads[b->group->phase].efficiency;
    return b->choice->network_efficiency * (fabric > 0 ? fabric : 1);
}

static bool touch(builder *b, weir_link_id link)
{
    if (!weir_grow(&b->touched, b->touched_count, &b->touched_room, sizeof *b->touched)) {
        return false;
    }
    b->touched[b->touched_count++] = link;
    return true;
}

static weir_code keep_body(builder *b, const weir_route *route, double bytes)
{
    uint32_t count = route->path.count;
    weir_link_id *links = weir_arena_alloc(b->plan->arena, count ? count : 1, sizeof *links);
    double *coefficients =
        weir_arena_alloc(b->plan->arena, count ? count : 1, sizeof *coefficients);
    if (!links || !coefficients ||
        !weir_grow(&b->plan->bodies, b->plan->body_count, &b->plan->body_room,
                   sizeof *b->plan->bodies)) {
        return weir_err_set(b->err, WEIR_ERR_MEMORY, "out of memory for messages");
    }
    for (uint32_t i = 0; i < count; i++) {
        links[i] = route->path.links[i];
        double share = route->path.bytes_per_unit ? route->path.bytes_per_unit[i] : 1;
        coefficients[i] = share / efficiency_of(b, links[i]);
        if (b->load[links[i]] == 0 && !touch(b, links[i])) {
            return weir_err_set(b->err, WEIR_ERR_MEMORY, "out of memory for messages");
        }
        b->load[links[i]] += bytes * coefficients[i];
    }
    b->plan->bodies[b->plan->body_count++] = (weir_body){
        .path = {.count = count, .links = links, .bytes_per_unit = coefficients}, .size = bytes};
    return WEIR_OK;
}

static void add_message(void *context, uint32_t from, uint32_t to, double bytes)
{
    builder *b = context;
    const weir_program_network *network = b->group->network;
    const weir_phase *phase = &network->scenario->phases[b->group->phase];
    const weir_phase_road *road = &network->roads[b->group->phase];
    const weir_phase_part *part = b->group->part;
    weir_route route;
    double share = part ? weir_program_share(road, part, from, to) : 1;
    b->all_bytes += bytes;
    b->part_bytes += bytes * share;
    if (b->code != WEIR_OK || share == 0) {
        return;
    }
    uint64_t flow = (uint64_t)b->group->group << 32 | b->plan->body_count;
    b->code = weir_layout_find(network->layout, part ? part->road : road->road, from, to, flow,
                               &route, b->err);
    if (b->code != WEIR_OK) {
        return;
    }
    b->route_s = fmax(b->route_s, route.latency_s);
    b->entries += route.path.count;
    if (b->entries > ENTRIES_MAX) {
        b->code = weir_fabric_reject(network->scenario, phase->place, b->err,
                                     "phase '%s': its messages cross more than %d links; smaller "
                                     "groups or a collective are due",
                                     phase->name, ENTRIES_MAX);
        return;
    }
    b->code = keep_body(b, &route, bytes * share);
}

static double latency_of(const builder *b)
{
    if (!b->group->part) {
        return b->choice->latency_s;
    }
    double share = b->all_bytes > 0 ? b->part_bytes / b->all_bytes : 0;
    return weir_program_part_latency(b->group, b->choice, b->route_s, share);
}

/* No network is done before its busiest link is; that link is the pace (ties: the lower one). */
static void finish_round(builder *b, double latency_s)
{
    const weir_layout *layout = b->group->network->layout;
    const weir_net *net = weir_layout_net(layout);
    weir_round *round = b->plan->rounds;
    *round = (weir_round){0, b->plan->body_count, latency_s, 0};
    b->plan->round_count = b->group->part && b->plan->body_count == 0 ? 0 : 1;
    b->plan->pace_link = WEIR_NONE;
    for (uint32_t i = 0; i < b->touched_count; i++) {
        weir_link_id link = b->touched[i];
        double s = b->load[link] / weir_net_bytes_per_s(net, link);
        if (isfinite(s) && (b->plan->pace_link == WEIR_NONE || s > round->alone_s ||
                            (s == round->alone_s && link < b->plan->pace_link))) {
            round->alone_s = s;
            b->plan->pace_link = link;
            b->plan->pace_tier = weir_layout_tier(layout, link);
        }
    }
}

weir_code weir_program_messages(const weir_program_group *group,
                                const weir_collective_choice *choice, weir_plan *plan,
                                weir_err *err)
{
    weir_plan made = {0};
    builder b = {.group = group,
                 .choice = choice,
                 .plan = &made,
                 .load = group->scratch,
                 .code = WEIR_OK,
                 .err = err};
    made.arena = weir_arena_new();
    made.rounds = malloc(sizeof *made.rounds);
    made.round_room = 1;
    weir_code code = WEIR_OK;
    if (!made.arena || !made.rounds) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for messages");
    }
    weir_traffic_visitor visitor = {add_message, &b};
    if (code == WEIR_OK) {
        code =
            weir_traffic_visit(group->network->scenario, group->phase, group->group, &visitor, err);
        code = code == WEIR_OK ? b.code : code;
    }
    if (code == WEIR_OK && group->network->roads[group->phase].has_pauses) {
        code = weir_transport_couple(group->network->layout, made.arena, made.bodies,
                                     &made.body_count, err);
    }
    if (code == WEIR_OK) {
        finish_round(&b, latency_of(&b));
        *plan = made;
    } else {
        weir_plan_clear(&made);
    }
    for (uint32_t i = 0; i < b.touched_count; i++) {
        b.load[b.touched[i]] = 0;
    }
    free(b.touched);
    return code;
}
