#include "study/train_circuits.h"

#include "train/train_timing.h"

#include <math.h>
#include <string.h>

typedef struct {
    const weir_train_job *job;
    const weir_train_light *light;
    weir_train_timing timing;
    weir_training_circuit_row *rows;
    uint32_t count;
} listing;

/* --- traffic --- */

/* Nodes that one of them exchanges with. */
static uint32_t partners_of(const weir_train_job *job, weir_train_axis axis, weir_comm_kind comm)
{
    uint32_t nodes = weir_train_span(job, axis).nodes;
    if (comm == WEIR_COMM_ALL_TO_ALL) {
        return nodes - 1;
    }
    return nodes > 2 ? 2 : nodes - 1;
}

typedef struct {
    const char *phase;
    weir_train_axis axis;
    weir_comm_kind comm;
    double times, bytes, seconds; /* of a device and step */
} moved;

static void add_row(listing *l, const moved *m)
{
    if (!(m->bytes > 0) || !(m->times > 0) || weir_train_span(l->job, m->axis).nodes <= 1) {
        return;
    }
    l->rows[l->count++] =
        (weir_training_circuit_row){.phase = m->phase,
                                    .axis = weir_train_axis_name(m->axis),
                                    .collective = weir_comm_kind_name(m->comm),
                                    .nodes = weir_train_span(l->job, m->axis).nodes,
                                    .partners = partners_of(l->job, m->axis, m->comm),
                                    .ports = l->light->ports,
                                    .times = m->times,
                                    .bytes_per_device = m->bytes,
                                    .seconds = m->seconds};
}

static void add_pass(const weir_pass_cost *pass, double passes, moved *m, double *most)
{
    for (uint32_t i = 0; i < pass->count; i++) {
        const weir_piece *piece = &pass->piece[i];
        bool is_wire = piece->kind == WEIR_PIECE_EXCHANGE || piece->kind == WEIR_PIECE_HIDDEN;
        if (!is_wire || piece->axis != m->axis || !(piece->bytes > 0)) {
            continue;
        }
        m->times += passes * (piece->count ? piece->count : 1);
        m->bytes += passes * piece->bytes;
        m->seconds += passes * piece->seconds;
        if (piece->bytes > *most) { /* the kind that moves most of it */
            *most = piece->bytes;
            m->comm = piece->comm;
        }
    }
}

/* Exchanges within passes of all micro-batches, and what is handed on behind them. */
static void add_passes(listing *l, bool is_backward)
{
    const weir_train_plan *plan = &l->job->plan;
    const weir_stage_costs *costs = &l->timing.costs;
    const char *phase = is_backward ? "backward" : "forward";
    double passes = (double)plan->micro_batches / plan->pipeline; /* of a position, by device */
    for (int axis = 0; axis < WEIR_AXIS_COUNT; axis++) {
        moved m = {.phase = phase, .axis = (weir_train_axis)axis};
        double most = 0;
        for (uint32_t i = 0; i < costs->positions; i++) {
            const weir_chunk_cost *chunk = costs->chunk[i];
            if (is_backward) {
                add_pass(&chunk->dgrad, passes, &m, &most);
                add_pass(&chunk->wgrad, passes, &m, &most);
            } else {
                add_pass(&chunk->forward, passes, &m, &most);
            }
        }
        add_row(l, &m);
    }
    double sends = (costs->positions - 1) * passes;
    add_row(l, &(moved){.phase = phase,
                        .axis = WEIR_AXIS_PIPELINE,
                        .comm = WEIR_COMM_SEND,
                        .times = sends,
                        .bytes = sends * costs->send_bytes,
                        .seconds = sends * costs->send_s});
}

/* Behind the passes: mean over the stages. */
static void add_tail(listing *l)
{
    const weir_train_tail *tail = &l->timing.tail;
    moved gradients = {.phase = "gradients",
                       .axis = WEIR_AXIS_DATA,
                       .comm = weir_train_comm_kind(tail->reduction),
                       .times = l->job->plan.chunks};
    moved parameters = {.phase = "parameters",
                        .axis = WEIR_AXIS_DATA,
                        .comm = WEIR_COMM_ALL_GATHER,
                        .times = l->job->plan.chunks};
    for (uint32_t i = 0; i < tail->stages; i++) {
        gradients.bytes += tail->reduce_bytes[i] / tail->stages;
        gradients.seconds += tail->reduce_s[i] / tail->stages;
        parameters.bytes += tail->gather_bytes[i] / tail->stages;
        parameters.seconds += tail->gather_s[i] / tail->stages;
    }
    add_row(l, &gradients);
    add_row(l, &parameters);
}

/* --- circuits --- */

/* A ring or a pipeline of that axis has circuits already: they serve for this phase, too. */
static bool is_served(const listing *l, const weir_training_circuit_row *row)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const weir_training_circuit_row *other = &l->rows[i];
        if (other->circuits == WEIR_CIRCUITS_STAY && strcmp(other->axis, row->axis) == 0 &&
            other->partners >= row->partners) {
            return true;
        }
    }
    return false;
}

static weir_training_circuit_row *most_bytes(listing *l)
{
    weir_training_circuit_row *most = NULL;
    for (uint32_t i = 0; i < l->count; i++) {
        weir_training_circuit_row *row = &l->rows[i];
        if (row->circuits == WEIR_CIRCUITS_UNKNOWN &&
            (!most || row->bytes_per_device > most->bytes_per_device)) {
            most = row;
        }
    }
    return most;
}

static void choose(listing *l)
{
    double duty = l->light->duty_share > 0 ? l->light->duty_share : 0.9;
    double rate = l->job->network.nic_bytes_per_s;
    uint32_t free = l->light->ports;
    for (weir_training_circuit_row *row; (row = most_bytes(l)) != NULL;) {
        bool is_served_already = is_served(l, row);
        double each_s = rate > 0 ? row->bytes_per_device / row->times / rate : 0;
        row->setting_s = NAN;
        if (is_served_already || row->partners <= free) {
            free -= is_served_already ? 0 : row->partners;
            row->circuits = WEIR_CIRCUITS_STAY;
        } else if (row->partners <= l->light->ports) {
            row->circuits = WEIR_CIRCUITS_SET;
            row->setting_s = each_s * (1 - duty) / duty;
        } else {
            row->circuits = WEIR_CIRCUITS_PACKETS;
        }
    }
}

weir_code weir_train_circuits_of(const weir_train_job *job, const weir_train_light *light,
                                 weir_training_circuit_row *rows, uint32_t *count, weir_err *err)
{
    listing l = {.job = job, .light = light, .rows = rows};
    weir_arena *arena = weir_arena_new();
    weir_code code = arena ? weir_train_timing_of(job, arena, &l.timing, err)
                           : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for circuits");
    *count = 0;
    if (code == WEIR_OK) {
        add_passes(&l, false);
        add_passes(&l, true);
        add_tail(&l);
        choose(&l);
        *count = l.count;
    }
    weir_arena_free(arena);
    return code;
}
