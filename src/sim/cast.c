#include "sim/cast.h"

#include "base/sort.h"

#include <string.h>

void sim_cast_clear(sim_cast *cast)
{
    weir_budget_give(cast->budget, cast->taken);
    weir_fold_free(cast->fold);
    weir_arena_free(cast->arena);
    *cast = (sim_cast){0};
}

weir_code sim_budget_take(weir_budget *budget, uint64_t bytes, weir_err *err)
{
    if (weir_budget_take(budget, bytes)) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_LIMIT,
                        "the simulation needs more memory than --max-memory allows (%llu MiB)",
                        (unsigned long long)(weir_budget_max(budget) >> 20));
}

static weir_code take(sim_cast *cast, uint64_t bytes, weir_err *err)
{
    weir_code code = sim_budget_take(cast->budget, bytes, err);
    cast->taken += code == WEIR_OK ? bytes : 0;
    return code;
}

/* --- one of everything --- */

static bool is_fixed(const weir_plan *plan)
{
    return plan->body_count == 0 && plan->round_count > 0;
}

static uint32_t bodies_of(const weir_plan *plan)
{
    uint32_t count = 0;
    if (is_fixed(plan)) {
        return 0;
    }
    for (uint32_t r = 0; r < plan->round_count; r++) {
        count += plan->rounds[r].body_count ? plan->rounds[r].body_count : 1;
    }
    return count;
}

static weir_code make_room(sim_cast *cast, weir_err *err)
{
    const weir_spmd *spmd = cast->spmd;
    size_t meetings = 0, members = 0, rounds = 0, bodies = 0;
    for (uint32_t e = 0; e < spmd->exchange_count; e++) {
        const weir_exchange *exchange = &spmd->exchanges[e];
        meetings += exchange->group_count;
        for (uint32_t g = 0; g < exchange->group_count; g++) {
            members += exchange->groups[g].count;
            rounds += exchange->groups[g].plan->round_count;
            bodies += bodies_of(exchange->groups[g].plan);
        }
    }
    if (meetings >= WEIR_NONE || members >= WEIR_NONE || bodies >= WEIR_NONE) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "more than 4e9 transfers or members of groups");
    }
    weir_code code = take(cast,
                          bodies * sizeof *cast->bodies + members * sizeof *cast->members +
                              meetings * sizeof *cast->meetings + rounds * sizeof *cast->rounds,
                          err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_arena *arena = cast->arena;
    cast->devices = weir_arena_alloc(arena, spmd->devices + (size_t)1, sizeof *cast->devices);
    cast->class_of_device =
        weir_arena_alloc(arena, spmd->devices + (size_t)1, sizeof *cast->class_of_device);
    cast->meetings = weir_arena_alloc(arena, meetings + 1, sizeof *cast->meetings);
    cast->members = weir_arena_alloc(arena, members + 1, sizeof *cast->members);
    cast->rounds = weir_arena_alloc(arena, rounds + 1, sizeof *cast->rounds);
    cast->bodies = weir_arena_alloc(arena, bodies + 1, sizeof *cast->bodies);
    bool ok = cast->devices && cast->class_of_device && cast->meetings && cast->members &&
              cast->rounds && cast->bodies;
    return ok ? WEIR_OK : SIM_NO_MEMORY(err);
}

static void add_devices(sim_cast *cast)
{
    const weir_spmd *spmd = cast->spmd;
    for (uint32_t d = 0; d < spmd->devices; d++) {
        uint32_t program = spmd->program_of_device ? spmd->program_of_device[d] : 0;
        uint32_t times = spmd->times_of_device ? spmd->times_of_device[d] : 1;
        cast->devices[d] = (cast_device){d, times, program, 1};
        cast->class_of_device[d] = d;
    }
    for (uint32_t i = 0; i < spmd->slow_count; i++) {
        cast->devices[spmd->slow[i].device].factor *= spmd->slow[i].factor;
    }
    cast->device_count = spmd->devices;
}

static void add_fixed(const weir_plan *plan, cast_meeting *meeting)
{
    meeting->is_fixed = true;
    for (uint32_t r = 0; r < plan->round_count; r++) {
        meeting->latency_s += plan->rounds[r].latency_s;
        meeting->alone_s += plan->rounds[r].alone_s;
    }
}

/* A round without bodies among others is one that moves nothing and ends after its latency. */
static void add_rounds(sim_cast *cast, const weir_plan *plan, cast_meeting *meeting)
{
    meeting->first_round = cast->round_count;
    if (is_fixed(plan)) {
        add_fixed(plan, meeting);
        return;
    }
    meeting->round_count = plan->round_count;
    for (uint32_t r = 0; r < plan->round_count; r++) {
        const weir_round *round = &plan->rounds[r];
        cast_round *row = &cast->rounds[cast->round_count++];
        *row = (cast_round){cast->body_count, round->body_count ? round->body_count : 1};
        for (uint32_t b = 0; b < row->body_count; b++) {
            weir_body *body = &cast->bodies[cast->body_count++];
            if (round->body_count) {
                *body = plan->bodies[round->first_body + b];
            }
            body->latency_s += round->latency_s;
        }
        meeting->latency_s += round->latency_s;
        meeting->alone_s += round->alone_s;
    }
}

static bool add_members(sim_cast *cast, const weir_exchange_group *group, cast_meeting *meeting,
                        weir_sort_pair *order)
{
    meeting->first_member = cast->member_count;
    meeting->member_count = group->count;
    for (uint32_t i = 0; i < group->count; i++) {
        order[i] = (weir_sort_pair){group->members[i], i};
    }
    if (!weir_sort_pairs(order, group->count)) {
        return false;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        cast->members[cast->member_count++] = (uint32_t)order[i].key;
    }
    return true;
}

static bool add_meetings(sim_cast *cast)
{
    const weir_spmd *spmd = cast->spmd;
    weir_sort_pair *order = weir_arena_alloc(cast->arena, spmd->devices + (size_t)1, sizeof *order);
    bool ok = order != NULL;
    for (uint32_t e = 0; ok && e < spmd->exchange_count; e++) {
        const weir_exchange *exchange = &spmd->exchanges[e];
        for (uint32_t g = 0; ok && g < exchange->group_count; g++) {
            cast_meeting *meeting = &cast->meetings[cast->meeting_count++];
            const weir_exchange_group *group = &exchange->groups[g];
            *meeting = (cast_meeting){.exchange = e,
                                      .group = g,
                                      .multiplicity = group->times ? group->times : 1,
                                      .sender = exchange->is_eager ? group->members[0] : WEIR_NONE};
            ok = add_members(cast, group, meeting, order);
            add_rounds(cast, group->plan, meeting);
        }
    }
    return ok;
}

static bool add_changes(sim_cast *cast)
{
    const weir_link_changes *changes = cast->spmd->changes;
    if (!changes || changes->count == 0) {
        return true;
    }
    cast->changes = weir_arena_alloc(cast->arena, changes->count, sizeof *cast->changes);
    if (!cast->changes) {
        return false;
    }
    memcpy(cast->changes, changes->items, changes->count * sizeof *cast->changes);
    cast->change_count = changes->count;
    return true;
}

weir_code sim_cast_index(sim_cast *cast, weir_err *err)
{
    size_t count = (size_t)cast->spmd->exchange_count * cast->device_count;
    cast->meeting_of = weir_arena_alloc(cast->arena, count + 1, sizeof *cast->meeting_of);
    if (!cast->meeting_of) {
        return SIM_NO_MEMORY(err);
    }
    for (size_t i = 0; i < count; i++) {
        cast->meeting_of[i] = WEIR_NONE;
    }
    for (uint32_t m = 0; m < cast->meeting_count; m++) {
        const cast_meeting *meeting = &cast->meetings[m];
        uint32_t *row = cast->meeting_of + (size_t)meeting->exchange * cast->device_count;
        for (uint32_t i = 0; i < meeting->member_count; i++) {
            uint32_t device = cast->members[meeting->first_member + i];
            if (row[device] != WEIR_NONE) {
                return weir_err_set(
                    err, WEIR_ERR_INPUT, "%s: device %u is in two of its groups; it may be in one",
                    cast->spmd->exchanges[meeting->exchange].name, cast->devices[device].device);
            }
            row[device] = m;
        }
    }
    return WEIR_OK;
}

static weir_code cast_all(const weir_spmd *spmd, sim_cast *cast, weir_err *err)
{
    *cast = (sim_cast){
        .spmd = spmd, .net = spmd->net, .links = weir_net_count(spmd->net), .budget = spmd->budget};
    cast->arena = weir_arena_new();
    weir_code code = cast->arena ? make_room(cast, err) : SIM_NO_MEMORY(err);
    if (code == WEIR_OK) {
        add_devices(cast);
        code = add_meetings(cast) && add_changes(cast) ? WEIR_OK : SIM_NO_MEMORY(err);
    }
    return code == WEIR_OK ? sim_cast_index(cast, err) : code;
}

/* What folding takes for a while: bodies, their longer paths, links, colours (cast_fold.c, fold.c).
 */
static uint64_t fold_bytes(const sim_cast *all)
{
    uint64_t steps = 0, bodies = (uint64_t)all->body_count + all->meeting_count;
    uint64_t links = (uint64_t)all->links + all->device_count + all->meeting_count;
    for (uint32_t b = 0; b < all->body_count; b++) {
        steps += all->bodies[b].path.count + (uint64_t)1;
    }
    return steps * (sizeof(weir_link_id) + sizeof(double)) + all->member_count * sizeof(uint32_t) +
           bodies * (sizeof(weir_body) + 64) + links * 128;
}

static weir_code fold_all(sim_cast *all, sim_cast *folded, weir_err *err)
{
    uint64_t bytes = fold_bytes(all);
    weir_code code = take(all, bytes, err);
    if (code == WEIR_OK) {
        code = sim_cast_fold(all, folded, err);
        weir_budget_give(all->budget, bytes);
        all->taken -= bytes;
    }
    return code;
}

weir_code sim_cast_build(const weir_spmd *spmd, sim_cast *cast, weir_err *err)
{
    sim_cast all = {0}, folded = {0};
    weir_code code = cast_all(spmd, &all, err);
    if (code == WEIR_OK && !spmd->unfolded && !(spmd->jitter > 0)) {
        code = fold_all(&all, &folded, err);
    }
    if (code != WEIR_OK) {
        sim_cast_clear(&all);
        return code;
    }
    if (folded.fold) {
        sim_cast_clear(&all);
        *cast = folded;
    } else {
        *cast = all;
    }
    return WEIR_OK;
}

/* --- the same cast on links that carry something else --- */

static bool is_same(double a, double b)
{
    return a >= b && a <= b;
}

/* Every link of the net carries what the first one of its class does. */
static bool classes_agree(const sim_cast *cast, const weir_net *net)
{
    const uint32_t *class_of = weir_fold_class_of_link(cast->fold);
    uint32_t links = weir_net_count(net);
    for (uint32_t l = 0; l < links; l++) {
        weir_link_id first = cast->link_of[class_of[l]];
        if (!is_same(weir_net_bytes_per_s(net, l), weir_net_bytes_per_s(net, first))) {
            return false;
        }
    }
    return true;
}

static weir_code scale_classes(const sim_cast *cast, const weir_net *net, weir_net **scaled,
                               weir_err *err)
{
    uint32_t classes = weir_net_count(cast->net);
    weir_net *made = weir_net_new();
    weir_code code = made ? WEIR_OK : SIM_NO_MEMORY(err);
    for (uint32_t c = 0; c < classes && code == WEIR_OK; c++) {
        weir_link_id first = cast->link_of[c], link;
        double bytes_per_s = first == WEIR_NONE ? weir_net_bytes_per_s(cast->net, c)
                                                : weir_net_bytes_per_s(net, first);
        code = weir_net_add(made, bytes_per_s, 0, &link, err);
    }
    if (code != WEIR_OK) {
        weir_net_free(made);
        return code;
    }
    weir_net_seal(made);
    *scaled = made;
    return WEIR_OK;
}

weir_code sim_cast_carry(sim_cast *cast, const weir_spmd *spmd, weir_net **scaled, bool *fits,
                         weir_err *err)
{
    weir_net *made = NULL;
    *fits = !cast->fold || classes_agree(cast, spmd->net);
    if (!*fits) {
        return WEIR_OK;
    }
    weir_code code = cast->fold ? scale_classes(cast, spmd->net, &made, err) : WEIR_OK;
    if (code == WEIR_OK) {
        cast->spmd = spmd;
        cast->net = cast->fold ? made : spmd->net;
        weir_net_free(*scaled);
        *scaled = made;
    }
    return code;
}
