/* candidate_design.c: which circuits to set for a demand between blocks. */
#include "fabric/uniform_mesh.h"
#include "study/candidate_light.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Matchings cost ports x n^3: beyond that many steps `auto` leaves them out. */
static const double most_matching_steps = 4e9;

static const char *const design_names[] = {"auto", "uniform", "matching",
                                           "ring", "torus",   "greedy"};

typedef struct {
    const light_blocks *blocks;
    const weir_demand *demand;
    const light_traffic *traffic; /* whose sum it is */
    bool has_shares;              /* greedy goes by what is exposed, not by bytes alone */
} design_job;

/* A design, and what speaks for it. */
typedef struct {
    weir_circuit_design design;
    weir_circuit_load load; /* busiest: INFINITY where a pair that sends has no way */
    double step_s;          /* 0 where all bytes count alike: the busiest circuit decides */
    weir_circuit_design_kind kind;
    bool has_shares;
} design_try;

static uint32_t ends_of(const design_job *job)
{
    return job->blocks->sw.planes * job->blocks->sw.node_ports;
}

static weir_code take_order(uint32_t n, uint32_t **order, weir_err *err)
{
    uint32_t *made = calloc(n, sizeof *made);
    if (!made) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for an order of %u blocks", n);
    }
    for (uint32_t i = 0; i < n; i++) {
        made[i] = i;
    }
    *order = made;
    return WEIR_OK;
}

/* --- planes for circuits that were made for one large switch --- */

/* Each circuit (with circulators each pair) on the first plane where both ends have a port; what
 * finds none is left out. */
static weir_code assign_planes(const weir_circuit_switch *sw, weir_circuit_design *design,
                               weir_err *err)
{
    size_t half = (size_t)sw->planes * design->n;
    uint32_t *used = calloc(2 * half + 1, sizeof *used), kept = 0;
    uint32_t step = sw->circulators ? 2 : 1;
    if (!used) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u circuits", design->count);
    }
    uint32_t *arriving = sw->circulators ? used : used + half;
    for (uint32_t k = 0; k + step <= design->count; k += step) {
        weir_circuit c = design->circuits[k];
        for (uint32_t plane = 0; plane < sw->planes; plane++) {
            uint32_t *out = &used[(size_t)plane * design->n + c.from];
            uint32_t *in = &arriving[(size_t)plane * design->n + c.to];
            if (*out < sw->node_ports && *in < sw->node_ports) {
                ++*out;
                ++*in;
                for (uint32_t i = 0; i < step; i++) {
                    design->circuits[kept] = design->circuits[k + i];
                    design->circuits[kept++].plane = plane;
                }
                break;
            }
        }
    }
    design->count = kept;
    free(used);
    return weir_circuit_check(sw, design, err);
}

/* Rings of ever other strides, as many as there are ends. */
static weir_code make_rings(const design_job *job, weir_circuit_design *design, weir_err *err)
{
    const weir_circuit_switch *sw = &job->blocks->sw;
    weir_circuit_switch whole = *sw;
    whole.planes = 1;
    whole.node_ports = ends_of(job);
    whole.spare = whole.failed = 0;
    whole.ports = UINT32_MAX;
    uint32_t *order = NULL;
    weir_code code = take_order(design->n, &order, err);
    if (code == WEIR_OK) {
        code = weir_circuit_from_ring(&whole, order, design->n, design, err);
        free(order);
    }
    return code == WEIR_OK ? assign_planes(sw, design, err) : code;
}

/* The dimensions of the most even torus. */
static uint32_t sizes_of(uint32_t n, uint32_t sizes[3])
{
    uint32_t cube[3], dimensions = 0;
    candidate_cube(n, cube);
    for (int i = 0; i < 3; i++) {
        if (cube[i] > 1) {
            sizes[dimensions++] = cube[i];
        }
    }
    return dimensions;
}

/* The same torus again and again, as often as ends allow. */
static weir_code make_torus(const design_job *job, weir_circuit_design *design, weir_err *err)
{
    const weir_circuit_switch *sw = &job->blocks->sw;
    uint32_t sizes[3], dimensions = sizes_of(design->n, sizes), each = 0;
    for (uint32_t i = 0; i < dimensions; i++) {
        each += sizes[i] == 2 ? 1 : 2;
    }
    uint32_t copies = each ? ends_of(job) / each : 0;
    if (copies == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a torus of %u blocks in %u dimensions takes %u ends of each; there "
                            "are %u",
                            design->n, dimensions, each, ends_of(job));
    }
    const weir_circuit_switch whole = {
        .ports = UINT32_MAX, .planes = dimensions, .node_ports = 2, .circulators = sw->circulators};
    uint32_t *order = NULL;
    weir_code code = take_order(design->n, &order, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_circuit_design one = {.n = design->n};
    code = weir_circuit_from_torus(&whole, order, sizes, dimensions, &one, err);
    free(order);
    for (uint32_t k = 0; k < copies && code == WEIR_OK; k++) {
        for (uint32_t i = 0; i < one.count && code == WEIR_OK; i++) {
            code = weir_circuit_add(design, one.circuits[i], err);
        }
    }
    weir_circuit_design_clear(&one);
    return code == WEIR_OK ? assign_planes(sw, design, err) : code;
}

/* Transfers are the cells of the demand, as critical as they are exposed. */
static weir_code make_greedy(const design_job *job, weir_circuit_design *design, weir_err *err)
{
    size_t n = design->n;
    uint32_t count = 0;
    weir_circuit_transfer *transfers = calloc(n * n, sizeof *transfers);
    if (!transfers) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %zu transfers", n * n);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            double bytes = job->demand->bytes[i * n + j];
            if (i != j && bytes > 0) {
                double share = job->has_shares ? candidate_cell_share(job->traffic, i * n + j) : 1;
                transfers[count++] = (weir_circuit_transfer){i, j, bytes, share};
            }
        }
    }
    const weir_circuit_rates rates = {.circuit_bytes_per_s =
                                          job->blocks->fabric.light.circuit.bytes_per_s};
    weir_code code = weir_circuit_greedy(&job->blocks->sw, transfers, count, &rates, design, err);
    free(transfers);
    return code;
}

static weir_code make_kind(const design_job *job, weir_circuit_design_kind kind,
                           weir_circuit_design *design, weir_err *err)
{
    switch (kind) {
    case WEIR_DESIGN_UNIFORM:
    case WEIR_DESIGN_AUTO:
        return weir_circuit_from_uniform(&job->blocks->sw, design, err);
    case WEIR_DESIGN_MATCHING:
        return weir_circuit_from_matching(&job->blocks->sw, job->demand, design, err);
    case WEIR_DESIGN_RING:
        return make_rings(job, design, err);
    case WEIR_DESIGN_TORUS:
        return make_torus(job, design, err);
    case WEIR_DESIGN_GREEDY:
        return make_greedy(job, design, err);
    }
    return weir_err_set(err, WEIR_ERR_USAGE, "there is no design %d", (int)kind);
}

/* The kind's circuits, what they carry, and how long the step is with them. */
static weir_code try_kind(const design_job *job, weir_circuit_design_kind kind, design_try *tried,
                          weir_err *err)
{
    design_try made = {.design.n = job->demand->n, .kind = kind, .has_shares = job->has_shares};
    weir_code code = make_kind(job, kind, &made.design, err);
    if (code == WEIR_OK) {
        code = weir_circuit_carry(&made.design, job->demand, true, &made.load, err);
    }
    if (code == WEIR_OK && job->traffic->count > 0) {
        code = candidate_design_step(job->traffic, &made.design, &made.step_s, err);
    }
    if (code != WEIR_OK) {
        weir_circuit_design_clear(&made.design);
        return code;
    }
    if (made.load.rest_line_bytes > 0) {
        made.load.max_circuit_bytes = INFINITY;
    }
    *tried = made;
    return WEIR_OK;
}

static bool is_worth_trying(const design_job *job, weir_circuit_design_kind kind)
{
    double n = job->demand->n;
    return kind != WEIR_DESIGN_MATCHING || ends_of(job) * n * n * n <= most_matching_steps;
}

/* The shorter step; of equal ones the less on the busiest circuit. */
static bool is_better(const design_try *a, const design_try *b)
{
    static const double same = 1e-12;
    if (isinf(a->load.max_circuit_bytes) || isinf(b->load.max_circuit_bytes)) {
        return isinf(b->load.max_circuit_bytes) && !isinf(a->load.max_circuit_bytes);
    }
    if (fabs(a->step_s - b->step_s) > same * b->step_s) {
        return a->step_s < b->step_s;
    }
    return a->load.max_circuit_bytes < b->load.max_circuit_bytes;
}

/* Takes the kind's design in place of the best so far if it is better; `is_any`: there is one. A
 * kind that cannot be made is the caller's to judge: *err and the code. Greedy, where phases are
 * exposed in part, is tried both ways: what counts for little may become exposed. */
static weir_code try_for_best(design_job job, weir_circuit_design_kind kind, design_try *best,
                              bool *is_any, weir_err *err)
{
    bool has_both = kind == WEIR_DESIGN_GREEDY && job.traffic->count > 0;
    weir_code code = WEIR_OK;
    for (int way = 0; way <= (has_both ? 1 : 0) && code == WEIR_OK; way++) {
        design_try tried;
        job.has_shares = has_both && way == 0;
        code = try_kind(&job, kind, &tried, err);
        if (code == WEIR_OK && (!*is_any || is_better(&tried, best))) {
            weir_circuit_design_clear(&best->design);
            *best = tried;
            *is_any = true;
        } else if (code == WEIR_OK) {
            weir_circuit_design_clear(&tried.design);
        }
    }
    return code;
}

/* Of all kinds; ties: the first. */
static weir_code make_best(const design_job *job, design_try *best, weir_err *err)
{
    weir_err reason = {0};
    bool is_any = false;
    for (int kind = WEIR_DESIGN_UNIFORM; kind <= WEIR_DESIGN_GREEDY; kind++) {
        if (!is_worth_trying(job, (weir_circuit_design_kind)kind)) {
            continue;
        }
        weir_code code = try_for_best(*job, (weir_circuit_design_kind)kind, best, &is_any, &reason);
        if (code == WEIR_ERR_MEMORY) {
            return weir_err_set(err, code, "%s", reason.text);
        }
    }
    if (is_any && !isinf(best->load.max_circuit_bytes)) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "no design of %u circuits' ends a block joins all blocks that send to each "
                        "other%s%s",
                        ends_of(job), reason.code ? "; the first reason: " : "", reason.text);
}

static weir_code make_asked(const design_job *job, weir_circuit_design_kind kind, design_try *made,
                            weir_err *err)
{
    bool is_any = false;
    weir_code code = try_for_best(*job, kind, made, &is_any, err);
    if (code == WEIR_OK && isinf(made->load.max_circuit_bytes)) {
        code = weir_err_set(err, WEIR_ERR_INPUT,
                            "design %s of %u ends a block leaves blocks without a way that send to "
                            "each other (%g bytes of the busiest); more uplinks, or another design",
                            design_names[kind], ends_of(job), made->load.rest_line_bytes);
    }
    return code;
}

static void note_design(const candidate_build *b, const light_traffic *traffic,
                        const design_try *made)
{
    double circuits =
        made->load.carried_bytes > 0 ? made->load.byte_hops / made->load.carried_bytes : 0;
    if (!made->has_shares) {
        candidate_note(b, "design: %s, %.3g circuits a byte on average", design_names[made->kind],
                       circuits);
        return;
    }
    uint32_t least = traffic->phase[0];
    for (uint32_t k = 1; k < traffic->count; k++) {
        uint32_t phase = traffic->phase[k];
        least = traffic->share[phase] < traffic->share[least] ? phase : least;
    }
    candidate_note(b,
                   "design: %s by what is exposed (%.3g %% of '%s', the least), %.3g circuits a "
                   "byte on average",
                   design_names[made->kind], traffic->share[least] * 100,
                   traffic->phases[least].name, circuits);
}

weir_code candidate_make_design(const candidate_build *b, const light_blocks *blocks,
                                const light_traffic *traffic, weir_circuit_design *design,
                                weir_circuit_load *load, weir_err *err)
{
    const design_job job = {blocks, &traffic->sum, traffic, false};
    weir_circuit_design_kind kind = b->candidate->design;
    if (!candidate_has_between(&traffic->sum)) { /* nothing to design for */
        *load = (weir_circuit_load){0};
        return make_kind(&job, WEIR_DESIGN_UNIFORM, design, err);
    }
    design_try made = {.design.n = design->n};
    weir_code code =
        kind == WEIR_DESIGN_AUTO ? make_best(&job, &made, err) : make_asked(&job, kind, &made, err);
    if (code != WEIR_OK) {
        weir_circuit_design_clear(&made.design);
        return code;
    }
    if (b->candidate->kind != WEIR_CANDIDATE_OCS_PHASE) {
        note_design(b, traffic, &made);
    }
    *design = made.design;
    *load = made.load;
    return WEIR_OK;
}
