#include "fabric/resets.h"

#include <math.h>
#include <stdlib.h>

static double exposed_before(const weir_reset_job *job, uint32_t step)
{
    return fmax(0, job->delay_s - job->slack_s[step]);
}

weir_reset_cost weir_reset_measure(const weir_reset_job *job, const uint32_t *topology_of_step)
{
    weir_reset_cost cost = {0};
    for (uint32_t i = 0; i < job->steps; i++) {
        uint32_t before = i ? i - 1 : job->steps - 1;
        bool follows = i > 0 || job->repeats;
        cost.steps_s += job->step_s[(size_t)i * job->topologies + topology_of_step[i]];
        if (follows && topology_of_step[i] != topology_of_step[before]) {
            cost.resets++;
            cost.exposed_s += exposed_before(job, i);
        }
    }
    cost.total_s = cost.steps_s + cost.exposed_s;
    return cost;
}

static weir_code check_step(const weir_reset_job *job, uint32_t i, weir_err *err)
{
    bool runs = false;
    if (!(job->slack_s[i] >= 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "step %u: a slack of %g s; it must be 0 or more",
                            i, job->slack_s[i]);
    }
    if (job->phase_of_step && i && job->phase_of_step[i] < job->phase_of_step[i - 1]) {
        return weir_err_set(err, WEIR_ERR_INPUT, "step %u is of phase %u, the one before of %u", i,
                            job->phase_of_step[i], job->phase_of_step[i - 1]);
    }
    for (uint32_t t = 0; t < job->topologies; t++) {
        double s = job->step_s[(size_t)i * job->topologies + t];
        if (!(s >= 0)) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "step %u takes %g s on topology %u; it must be 0 or more", i, s, t);
        }
        runs = runs || isfinite(s);
    }
    return runs ? WEIR_OK : weir_err_set(err, WEIR_ERR_INPUT, "step %u runs on no topology", i);
}

static weir_code check_job(const weir_reset_job *job, weir_err *err)
{
    if (job->steps == 0 || job->topologies == 0 || !(job->delay_s >= 0) || isinf(job->delay_s)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u steps on %u topologies with a delay of %g s; one or more of each "
                            "and 0 or more are due",
                            job->steps, job->topologies, job->delay_s);
    }
    for (uint32_t i = 0; i < job->steps; i++) {
        weir_code code = check_step(job, i, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

/* Stages are steps or phases. */
typedef struct {
    const weir_reset_job *job;
    uint32_t stages;
    uint32_t *first_step; /* stages + 1 */
    double *stage_s;      /* stages x topologies */
    uint32_t *came_from;  /* stages x topologies: the topology of the stage before */
    double *least_s;      /* topologies: up to the stage, ending on this topology */
    uint32_t *best;       /* stages: the plan */
} program;

static void program_clear(program *p)
{
    free(p->first_step);
    free(p->stage_s);
    free(p->came_from);
    free(p->least_s);
    free(p->best);
}

static weir_code program_init(program *p, bool per_phase, weir_err *err)
{
    const weir_reset_job *job = p->job;
    size_t cells = (size_t)job->steps * job->topologies;
    p->first_step = calloc((size_t)job->steps + 1, sizeof *p->first_step);
    p->stage_s = calloc(cells, sizeof *p->stage_s);
    p->came_from = calloc(cells, sizeof *p->came_from);
    p->least_s = calloc(job->topologies, sizeof *p->least_s);
    p->best = calloc(job->steps, sizeof *p->best);
    if (!p->first_step || !p->stage_s || !p->came_from || !p->least_s || !p->best) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to plan %u steps", job->steps);
    }
    for (uint32_t i = 0; i < job->steps; i++) {
        bool same = per_phase && job->phase_of_step && i &&
                    job->phase_of_step[i] == job->phase_of_step[i - 1];
        if (!same) {
            p->first_step[p->stages++] = i;
        }
        for (uint32_t t = 0; t < job->topologies; t++) {
            p->stage_s[(size_t)(p->stages - 1) * job->topologies + t] +=
                job->step_s[(size_t)i * job->topologies + t];
        }
    }
    p->first_step[p->stages] = job->steps;
    return WEIR_OK;
}

static uint32_t find_least(const double *values, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t t = 1; t < count; t++) {
        best = values[t] < values[best] ? t : best;
    }
    return best;
}

/* least_s holds what stage 0 costs on each topology; afterwards what all stages do. */
static void run_forward(program *p)
{
    uint32_t topologies = p->job->topologies;
    for (uint32_t k = 1; k < p->stages; k++) {
        uint32_t cheapest = find_least(p->least_s, topologies);
        double moved = p->least_s[cheapest] + exposed_before(p->job, p->first_step[k]);
        for (uint32_t t = 0; t < topologies; t++) {
            size_t cell = (size_t)k * topologies + t;
            bool stays = p->least_s[t] <= moved;
            p->came_from[cell] = stays ? t : cheapest;
            p->least_s[t] = (stays ? p->least_s[t] : moved) + p->stage_s[cell];
        }
    }
}

static void trace_back(program *p, uint32_t last)
{
    for (uint32_t k = p->stages; k-- > 0;) {
        p->best[k] = last;
        last = p->came_from[(size_t)k * p->job->topologies + last];
    }
}

static double run_once(program *p)
{
    for (uint32_t t = 0; t < p->job->topologies; t++) {
        p->least_s[t] = p->stage_s[t];
    }
    run_forward(p);
    uint32_t last = find_least(p->least_s, p->job->topologies);
    trace_back(p, last);
    return p->least_s[last];
}

/* The topology of the first stage is tried one after the other: it must be set again at the end. */
static double run_round(program *p)
{
    uint32_t topologies = p->job->topologies;
    double best_s = INFINITY;
    for (uint32_t first = 0; first < topologies; first++) {
        for (uint32_t t = 0; t < topologies; t++) {
            p->least_s[t] = t == first ? p->stage_s[t] : INFINITY;
        }
        run_forward(p);
        for (uint32_t t = 0; t < topologies; t++) {
            p->least_s[t] += t == first ? 0 : exposed_before(p->job, 0);
        }
        uint32_t last = find_least(p->least_s, topologies);
        last = p->least_s[first] <= p->least_s[last] ? first : last;
        if (p->least_s[last] < best_s) {
            best_s = p->least_s[last];
            trace_back(p, last);
        }
    }
    return best_s;
}

weir_code weir_reset_plan(const weir_reset_job *job, bool per_phase, uint32_t *topology_of_step,
                          weir_reset_cost *cost, weir_err *err)
{
    weir_code code = check_job(job, err);
    if (code != WEIR_OK) {
        return code;
    }
    program p = {.job = job};
    code = program_init(&p, per_phase, err);
    if (code == WEIR_OK) {
        double least_s = job->repeats ? run_round(&p) : run_once(&p);
        if (!isfinite(least_s)) {
            code = weir_err_set(err, WEIR_ERR_INPUT, "a phase runs on no topology");
        }
    }
    for (uint32_t k = 0; code == WEIR_OK && k < p.stages; k++) {
        for (uint32_t i = p.first_step[k]; i < p.first_step[k + 1]; i++) {
            topology_of_step[i] = p.best[k];
        }
    }
    program_clear(&p);
    if (code == WEIR_OK) {
        *cost = weir_reset_measure(job, topology_of_step);
    }
    return code;
}

static const double ROUNDING = 1e-12; /* of a total: less is no difference */

/* One topology for all steps. */
static weir_reset_cost stay_on(const weir_reset_job *job, uint32_t topology)
{
    weir_reset_cost cost = {0};
    for (uint32_t i = 0; i < job->steps; i++) {
        cost.steps_s +=
            topology == WEIR_NONE ? INFINITY : job->step_s[(size_t)i * job->topologies + topology];
    }
    cost.total_s = cost.steps_s;
    return cost;
}

/* Plans only get slower as the delay grows, so that halving finds where the gain ends. */
static weir_code find_break_even(const weir_reset_job *job, bool per_phase, double stay_s,
                                 uint32_t *plan, double *delay_s, weir_err *err)
{
    weir_reset_job tried = *job;
    double low = 0, high = stay_s;
    for (uint32_t i = 0; i < job->steps; i++) {
        high = fmax(high, stay_s + job->slack_s[i]);
    }
    if (isinf(high)) {
        *delay_s = INFINITY;
        return WEIR_OK;
    }
    for (int k = 0; k < 100; k++) {
        weir_reset_cost cost;
        tried.delay_s = k ? low + (high - low) / 2 : 0;
        weir_code code = weir_reset_plan(&tried, per_phase, plan, &cost, err);
        if (code != WEIR_OK) {
            return code;
        }
        bool gains = cost.total_s < stay_s * (1 - ROUNDING);
        if (k == 0 && !gains) {
            break;
        }
        low = gains ? tried.delay_s : low;
        high = gains ? high : tried.delay_s;
    }
    *delay_s = low;
    return WEIR_OK;
}

weir_code weir_reset_compare(const weir_reset_job *job, uint32_t given, weir_reset_levels *levels,
                             weir_err *err)
{
    weir_code code = check_job(job, err);
    if (code == WEIR_OK && given != WEIR_NONE && given >= job->topologies) {
        code = weir_err_set(err, WEIR_ERR_USAGE, "topology %u of %u", given, job->topologies);
    }
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t *plan = calloc(job->steps, sizeof *plan);
    if (!plan) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to plan %u steps", job->steps);
    }
    weir_reset_levels made = {0};
    made.cost[WEIR_RESET_NEVER] = stay_on(job, given);
    made.cost[WEIR_RESET_PER_JOB] = stay_on(job, 0);
    for (uint32_t t = 1; t < job->topologies; t++) {
        weir_reset_cost cost = stay_on(job, t);
        if (cost.total_s < made.cost[WEIR_RESET_PER_JOB].total_s) {
            made.cost[WEIR_RESET_PER_JOB] = cost;
        }
    }
    for (int k = WEIR_RESET_PER_PHASE; code == WEIR_OK && k < WEIR_RESET_LEVELS; k++) {
        bool per_phase = k == WEIR_RESET_PER_PHASE;
        code = weir_reset_plan(job, per_phase, plan, &made.cost[k], err);
        if (code == WEIR_OK) {
            code = find_break_even(job, per_phase, made.cost[WEIR_RESET_PER_JOB].total_s, plan,
                                   &made.break_even_s[k], err);
        }
    }
    free(plan);
    for (int k = 1; code == WEIR_OK && k < WEIR_RESET_LEVELS; k++) {
        if (made.cost[k].total_s < made.cost[made.best].total_s * (1 - ROUNDING)) {
            made.best = (weir_reset_level)k;
        }
    }
    if (code == WEIR_OK) {
        *levels = made;
    }
    return code;
}
