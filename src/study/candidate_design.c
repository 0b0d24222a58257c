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
} design_job;

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

/* Transfers are the cells of the demand; all are on the critical path. */
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
                transfers[count++] = (weir_circuit_transfer){i, j, bytes, 1};
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

/* The kind's circuits and what they carry; INFINITY where a pair that sends has no way. */
static weir_code try_kind(const design_job *job, weir_circuit_design_kind kind,
                          weir_circuit_design *design, weir_circuit_load *load, weir_err *err)
{
    weir_code code = make_kind(job, kind, design, err);
    if (code == WEIR_OK) {
        code = weir_circuit_carry(design, job->demand, true, load, err);
    }
    if (code == WEIR_OK && load->rest_line_bytes > 0) {
        load->max_circuit_bytes = INFINITY;
    }
    return code;
}

static bool is_worth_trying(const design_job *job, weir_circuit_design_kind kind)
{
    double n = job->demand->n;
    return kind != WEIR_DESIGN_MATCHING || ends_of(job) * n * n * n <= most_matching_steps;
}

/* The one whose busiest circuit has the least; ties: the first. */
static weir_code make_best(const design_job *job, weir_circuit_design *design,
                           weir_circuit_load *load, weir_circuit_design_kind *best, weir_err *err)
{
    weir_err reason = {0};
    load->max_circuit_bytes = INFINITY;
    *best = WEIR_DESIGN_AUTO;
    for (int kind = WEIR_DESIGN_UNIFORM; kind <= WEIR_DESIGN_GREEDY; kind++) {
        weir_circuit_design tried = {.n = design->n};
        weir_circuit_load carried = {0};
        if (!is_worth_trying(job, (weir_circuit_design_kind)kind)) {
            continue;
        }
        weir_code code = try_kind(job, (weir_circuit_design_kind)kind, &tried, &carried, &reason);
        if (code == WEIR_ERR_MEMORY) {
            weir_circuit_design_clear(&tried);
            return weir_err_set(err, code, "%s", reason.text);
        }
        if (code == WEIR_OK && carried.max_circuit_bytes < load->max_circuit_bytes) {
            weir_circuit_design swap = *design;
            *design = tried;
            tried = swap;
            *load = carried;
            *best = (weir_circuit_design_kind)kind;
        }
        weir_circuit_design_clear(&tried);
    }
    if (*best != WEIR_DESIGN_AUTO) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "no design of %u circuits' ends a block joins all blocks that send to each "
                        "other%s%s",
                        ends_of(job), reason.code ? "; the first reason: " : "", reason.text);
}

weir_code candidate_make_design(const candidate_build *b, const light_blocks *blocks,
                                const weir_demand *demand, weir_circuit_design *design,
                                weir_circuit_load *load, weir_err *err)
{
    const design_job job = {blocks, demand};
    weir_circuit_design_kind kind = b->candidate->design;
    if (!candidate_has_between(demand)) { /* nothing to design for */
        *load = (weir_circuit_load){0};
        return make_kind(&job, WEIR_DESIGN_UNIFORM, design, err);
    }
    weir_code code = WEIR_OK;
    if (kind == WEIR_DESIGN_AUTO) {
        code = make_best(&job, design, load, &kind, err);
    } else {
        code = try_kind(&job, kind, design, load, err);
        if (code == WEIR_OK && isinf(load->max_circuit_bytes)) {
            code = weir_err_set(
                err, WEIR_ERR_INPUT,
                "design %s of %u ends a block leaves blocks without a way that send to "
                "each other (%g bytes of the busiest); more uplinks, or another design",
                design_names[kind], ends_of(&job), load->rest_line_bytes);
        }
    }
    if (code == WEIR_OK && b->candidate->kind != WEIR_CANDIDATE_OCS_PHASE) {
        candidate_note(b, "design: %s, %.3g circuits a byte on average", design_names[kind],
                       load->carried_bytes > 0 ? load->byte_hops / load->carried_bytes : 0);
    }
    return code;
}
