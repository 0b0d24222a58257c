#include "collective/plan.h"

#include "collective/plan_inside.h"

#include <math.h>
#include <stdlib.h>

void weir_plan_clear(weir_plan *plan)
{
    free(plan->bodies);
    free(plan->rounds);
    weir_arena_free(plan->arena);
    *plan = (weir_plan){.pace_link = WEIR_NONE};
}

double weir_plan_alone_s(const weir_plan *plan)
{
    double total_s = 0;
    for (uint32_t i = 0; i < plan->round_count; i++) {
        total_s += plan->rounds[i].latency_s + plan->rounds[i].alone_s;
    }
    return total_s;
}

weir_code plan_refuse(planner *p, const char *why)
{
    return weir_err_set(p->err, WEIR_ERR_INPUT, "%s cannot do this %s: %s",
                        weir_collective_algorithm_name(p->choice->algorithm),
                        weir_collective_kind_name(p->job->kind), why);
}

static weir_code run_algorithm(planner *p)
{
    switch (p->choice->algorithm) {
    case WEIR_ALGORITHM_CHAIN:
        if (p->job->kind != WEIR_COLLECTIVE_BROADCAST && p->job->kind != WEIR_COLLECTIVE_REDUCE) {
            return plan_refuse(p, "it does broadcast and reduce");
        }
        return plan_ring(p);
    case WEIR_ALGORITHM_RING:
        return plan_ring(p);
    case WEIR_ALGORITHM_TREE:
        return plan_tree(p);
    case WEIR_ALGORITHM_HALVING:
        return plan_halving(p);
    case WEIR_ALGORITHM_DOUBLING:
        return plan_doubling(p);
    case WEIR_ALGORITHM_BRUCK:
        return plan_bruck(p);
    case WEIR_ALGORITHM_PAIRWISE:
        return plan_pairwise(p);
    case WEIR_ALGORITHM_DIRECT:
        return plan_direct(p);
    case WEIR_ALGORITHM_HIERARCHICAL:
        return plan_hierarchical(p, false);
    case WEIR_ALGORITHM_HIERARCHICAL3:
        return plan_hierarchical(p, true);
    case WEIR_ALGORITHM_NVLS:
    case WEIR_ALGORITHM_NVLS_TREE:
        return plan_node_reduction(p);
    case WEIR_ALGORITHM_SHARP:
        return plan_network_reduction(p);
    case WEIR_ALGORITHM_PAT:
        return plan_pat(p);
    case WEIR_ALGORITHM_RAILS:
        return plan_rails(p);
    case WEIR_ALGORITHM_COUNT:
        break;
    }
    return weir_err_set(p->err, WEIR_ERR_USAGE, "a plan needs an algorithm; auto is none");
}

static weir_code check_job(const weir_layout *layout, const weir_collective_job *job,
                           const weir_collective_choice *choice, weir_err *err)
{
    if (job->road >= weir_layout_roads(layout)) {
        return weir_err_set(err, WEIR_ERR_USAGE, "road %u of a layout with %u", job->road,
                            weir_layout_roads(layout));
    }
    if (!(job->bytes >= 0) || !isfinite(job->bytes)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a collective of %g bytes; 0 or more", job->bytes);
    }
    if (!(choice->latency_s >= 0) || !isfinite(choice->latency_s)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a collective's latency of %g s; 0 or more",
                            choice->latency_s);
    }
    return WEIR_OK;
}

/* Nothing to move: all that is left is the latency. */
static weir_code latency_only(planner *p)
{
    return p->choice->latency_s > 0 && p->count > 1 ? plan_end_round(p, 1) : WEIR_OK;
}

static weir_code run_planner(planner *p, weir_code (*run)(planner *))
{
    weir_code code = WEIR_OK;
    p->plan.pace_link = WEIR_NONE;
    p->plan.arena = weir_arena_new();
    p->known = calloc((size_t)weir_net_count(p->net) + 1, 1);
    if (!p->plan.arena || !p->known) {
        code =
            weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory to plan a collective of %u", p->count);
    }
    if (code == WEIR_OK && (p->count < 2 || p->job->bytes == 0)) {
        code = latency_only(p);
    } else if (code == WEIR_OK) {
        code = plan_group_members(p);
        code = code == WEIR_OK ? run(p) : code;
    }
    return code == WEIR_OK ? plan_finish(p) : code;
}

static weir_code plan_job(planner *p, weir_code (*run)(planner *), weir_plan *plan)
{
    weir_code code = check_job(p->layout, p->job, p->choice, p->err);
    if (code != WEIR_OK) {
        return code;
    }
    p->net = weir_layout_net(p->layout);
    p->count = p->job->count;
    code = run_planner(p, run);
    if (code == WEIR_OK) {
        *plan = p->plan;
    } else {
        weir_plan_clear(&p->plan);
    }
    plan_drafts_free(p);
    free(p->known);
    free(p->order);
    free(p->first);
    return code;
}

weir_code weir_plan_collective(weir_layout *layout, const weir_collective_job *job,
                               const weir_collective_choice *choice, weir_plan *plan, weir_err *err)
{
    planner p = {.layout = layout, .job = job, .choice = choice, .err = err};
    return plan_job(&p, run_algorithm, plan);
}

static weir_code run_message(planner *p)
{
    weir_code code = plan_load(p, &p->drafts[0], p->job->members, p->job->bytes);
    return code == WEIR_OK ? plan_round_of(p, p->job->bytes, 1) : code;
}

weir_code weir_plan_message(weir_layout *layout, const weir_collective_job *job,
                            const weir_collective_choice *choice, weir_plan *plan, weir_err *err)
{
    if (job->count != 2) {
        return weir_err_set(err, WEIR_ERR_USAGE, "a message between %u devices; 2", job->count);
    }
    planner p = {.layout = layout, .job = job, .choice = choice, .err = err};
    return plan_job(&p, run_message, plan);
}
