#include "study/fabric_candidate.h"

#include "study/candidate_inside.h"

#include <math.h>
#include <stdlib.h>

static const char *const pattern_names[] = {
#define X(pattern, name) name,
    WEIR_TRAFFIC_PATTERNS(X)
#undef X
};

/* What presets/transport.yaml calls the traffic of a phase. */
static const char *pattern_of(const weir_phase *phase)
{
    switch (phase->kind) {
    case WEIR_PHASE_COLLECTIVE:
        return phase->collective == WEIR_COLLECTIVE_ALL_TO_ALL  ? "all_to_all"
               : phase->collective == WEIR_COLLECTIVE_SEND_RECV ? "permutation"
                                                                : "ring";
    case WEIR_PHASE_PATTERN:
        return pattern_names[phase->pattern];
    case WEIR_PHASE_DEMAND:
        break;
    }
    return "default";
}

static double efficiency_of(const candidate_build *b, const weir_phase *phase)
{
    if (!isnan(b->candidate->efficiency)) {
        return b->candidate->efficiency;
    }
    return weir_parts_transport(b->scenario->parts, weir_str_from(pattern_of(phase)))->share;
}

static weir_code begin(const candidate_build *b, weir_err *err)
{
    weir_candidate_network *n = b->network;
    n->place = b->candidate->place;
    n->phase_count = b->scenario->phase_count;
    n->arena = weir_arena_new();
    n->phases = n->arena ? weir_arena_alloc(n->arena, n->phase_count + 1, sizeof *n->phases) : NULL;
    if (!n->phases) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for candidate '%s'",
                            b->candidate->name);
    }
    for (uint32_t i = 0; i < n->phase_count; i++) {
        n->phases[i].efficiency = efficiency_of(b, &b->scenario->phases[i]);
        n->phases[i].has_pauses = b->candidate->pfc;
    }
    return weir_layout_new(&n->layout, err);
}

static weir_code build_kind(const candidate_build *b, weir_err *err)
{
    switch (b->candidate->kind) {
    case WEIR_CANDIDATE_CLOS:
    case WEIR_CANDIDATE_RAIL:
    case WEIR_CANDIDATE_RAIL_ONLY:
        return candidate_build_clos(b, err);
    case WEIR_CANDIDATE_TORUS:
        return candidate_build_torus(b, err);
    case WEIR_CANDIDATE_DRAGONFLY:
        return candidate_build_dragonfly(b, err);
    case WEIR_CANDIDATE_LIST:
        return candidate_build_list(b, err);
    case WEIR_CANDIDATE_OCS_JOB:
    case WEIR_CANDIDATE_OCS_PHASE:
        return candidate_build_circuits(b, err);
    case WEIR_CANDIDATE_ROTOR:
        return candidate_build_rotor(b, err);
    case WEIR_CANDIDATE_HYBRID:
        return candidate_build_hybrid(b, err);
    case WEIR_CANDIDATE_KIND_COUNT:
        break;
    }
    return weir_err_set(err, WEIR_ERR_USAGE, "there is no candidate of kind %d",
                        (int)b->candidate->kind);
}

/* The network becomes a refusal; what was built is freed. */
static weir_code refuse(const candidate_build *b, const weir_err *reason, weir_err *err)
{
    weir_candidate_network *n = b->network;
    weir_text text = {0};
    weir_text_printf(&text, "candidate '%s': %s", b->candidate->name, reason->text);
    char *refused =
        text.failed ? NULL : weir_arena_copy(n->arena, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    if (!refused) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for candidate '%s'",
                            b->candidate->name);
    }
    weir_layout_free(n->layout);
    *n = (weir_candidate_network){.refused = refused, .place = n->place, .arena = n->arena};
    return WEIR_OK;
}

weir_code weir_candidate_network_build(const weir_fabric_scenario *scenario, uint32_t candidate,
                                       const weir_candidate_demand *demand,
                                       weir_candidate_network *network, weir_err *err)
{
    weir_candidate_network made = {0};
    const candidate_build b = {scenario, &scenario->candidates[candidate], demand, &made};
    weir_err reason = {0};
    weir_code code = begin(&b, err);
    if (code == WEIR_OK) {
        code = build_kind(&b, &reason);
    }
    if (code == WEIR_OK) {
        code = weir_layout_seal(made.layout, &reason);
    }
    if (code == WEIR_OK) {
        code = candidate_reserve_dead(&made, &reason);
    }
    if (code == WEIR_OK && scenario->cluster.nic) {
        const weir_cluster *cluster = &scenario->cluster;
        made.nic = cluster->nic;
        made.nics = (uint64_t)cluster->nodes * (cluster->nics ? cluster->nics : cluster->devices);
    }
    if (code == WEIR_ERR_INPUT || code == WEIR_ERR_LIMIT) {
        code = refuse(&b, &reason, err);
    } else if (code != WEIR_OK) {
        weir_err_set(err, code, "candidate '%s': %s", b.candidate->name, reason.text);
    }
    if (code != WEIR_OK) {
        weir_candidate_network_clear(&made);
        return code;
    }
    *network = made;
    return WEIR_OK;
}

void weir_candidate_network_clear(weir_candidate_network *network)
{
    weir_layout_free(network->layout);
    weir_arena_free(network->arena);
    *network = (weir_candidate_network){0};
}
