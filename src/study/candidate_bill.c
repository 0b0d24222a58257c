/* candidate_bill.c: what must be bought for a candidate network. */
#include "study/candidate_inside.h"

#include <math.h>
#include <stdarg.h>

static const char *const cable_places[WEIR_TIER_COUNT] = {
    [WEIR_TIER_BETWEEN_NODES] = "nic to leaf",
    [WEIR_TIER_BETWEEN_RACKS] = "leaf to spine",
    [WEIR_TIER_HALL] = "spine to core",
};
static const char *const dragonfly_places[WEIR_TIER_COUNT] = {
    [WEIR_TIER_BETWEEN_NODES] = "nic to router",
    [WEIR_TIER_BETWEEN_RACKS] = "router to router",
    [WEIR_TIER_HALL] = "group to group",
};

void candidate_count_switches(const candidate_build *b, const weir_topology *topology)
{
    static const struct {
        weir_vertex_kind kind;
        const char *place;
    } places[] = {{WEIR_VERTEX_LEAF, "leaf"},
                  {WEIR_VERTEX_SPINE, "spine"},
                  {WEIR_VERTEX_CORE, "core"},
                  {WEIR_VERTEX_ROUTER, "router"}};
    weir_candidate_network *n = b->network;
    weir_fabric_counts counts = weir_topology_counts(topology);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint32_t count = counts.vertices[places[i].kind];
        if (count > 0 && n->switch_rows < WEIR_NEED_SWITCHES) {
            n->switches[n->switch_rows++] = (weir_switch_need){places[i].place, b->candidate->sw,
                                                               count, counts.ports[places[i].kind]};
        }
    }
}

/* Slower modules than the port: several of them in each. */
static uint64_t modules_of(const weir_cable_need *need)
{
    uint64_t ends = need->cables * (need->to_ocs ? 1 : 2);
    double rate = need->module ? need->module->bytes_per_s : NAN;
    double each = rate > 0 ? ceil(need->bytes_per_s / rate * (1 - 1e-9)) : 1;
    return need->module ? ends * (uint64_t)fmax(1, each) : 0;
}

void candidate_add_cables(const candidate_build *b, weir_cable_need need)
{
    weir_candidate_network *n = b->network;
    const weir_module_part *module = need.module;
    double metres = need.to_ocs ? 2 * need.length_m : need.length_m; /* between two modules */
    if (need.cables > 0 && module && module->reach_m < metres * (1 - 1e-9)) {
        candidate_note(b, "%s reaches %g m; %s is %g m", module->id, module->reach_m, need.place,
                       metres);
    }
    if (need.cables > 0 && n->cable_rows < WEIR_NEED_CABLES) {
        need.modules = modules_of(&need);
        n->cables[n->cable_rows++] = need;
    }
}

/* The rate of the first link of that tier. */
static double tier_rate(const weir_topology *topology, weir_tier tier)
{
    const weir_net *net = weir_topology_net(topology);
    uint32_t count = weir_net_count(net);
    for (weir_link_id link = 0; link < count; link++) {
        if (weir_topology_link(topology, link).tier == tier) {
            return weir_net_bytes_per_s(net, link);
        }
    }
    return 0;
}

void candidate_count_cables(const candidate_build *b, const weir_topology *topology)
{
    const weir_candidate *c = b->candidate;
    weir_fabric_counts counts = weir_topology_counts(topology);
    const char *const *places =
        c->kind == WEIR_CANDIDATE_DRAGONFLY ? dragonfly_places : cable_places;
    for (int tier = WEIR_TIER_BETWEEN_NODES; tier < WEIR_TIER_COUNT; tier++) {
        bool is_listed = c->kind == WEIR_CANDIDATE_TORUS || c->kind == WEIR_CANDIDATE_LIST;
        weir_cable_need need = {.place = is_listed ? weir_tier_name((weir_tier)tier) : places[tier],
                                .tier = (weir_tier)tier,
                                .length_m = c->length_m[tier - 1],
                                .bytes_per_s = tier_rate(topology, (weir_tier)tier)};
        need.is_optical = true;
        need.module = c->module;
        need.cables = counts.optical_cables[tier];
        need.fibres_each = 2;
        candidate_add_cables(b, need);
        need.is_optical = false;
        need.module = c->copper;
        need.cables = counts.cables[tier] - counts.optical_cables[tier];
        need.fibres_each = 0;
        candidate_add_cables(b, need);
    }
}

void candidate_note(const candidate_build *b, const char *fmt, ...)
{
    weir_candidate_network *n = b->network;
    weir_text text = {0};
    va_list args;
    va_start(args, fmt);
    weir_text_vprintf(&text, fmt, args);
    va_end(args);
    char *note =
        text.failed ? NULL : weir_arena_copy(n->arena, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    if (note && n->note_count < sizeof n->notes / sizeof *n->notes) {
        n->notes[n->note_count++] = note;
    }
}
