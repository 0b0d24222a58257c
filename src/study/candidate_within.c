/* candidate_within.c: a phase's demand as settings of the circuits, one after the other
 * (candidate_within.h). */
#include "study/candidate_within.h"

#include "fabric/decompose.h"
#include "study/fabric_traffic.h"

#include <math.h>
#include <stdlib.h>

/* A matching costs n^3; beyond so many steps for all that may be tried there is no sequence. */
static const double most_steps = 4e9;

/* Each is a body of its own, of one part or of several: beyond that too many for memory. */
static const double most_messages = 1 << 19;

static const char *const method_names[] = {[WEIR_DECOMPOSE_BIRKHOFF] = "birkhoff",
                                           [WEIR_DECOMPOSE_SOLSTICE] = "solstice",
                                           [WEIR_DECOMPOSE_ECLIPSE] = "eclipse"};

bool candidate_may_split(const candidate_build *b, uint32_t phase)
{
    const weir_phase *p = &b->scenario->phases[phase];
    if (b->candidate->within == WEIR_WITHIN_NONE || p->take == WEIR_TAKE_PACKETS) {
        return false;
    }
    if (p->kind != WEIR_PHASE_COLLECTIVE) {
        return true;
    }
    return p->collective == WEIR_COLLECTIVE_SEND_RECV ||
           (p->collective == WEIR_COLLECTIVE_ALL_TO_ALL &&
            (p->algorithm == WEIR_ALGORITHM_COUNT || p->algorithm == WEIR_ALGORITHM_DIRECT ||
             p->algorithm == WEIR_ALGORITHM_PAIRWISE));
}

double candidate_exposed_s(const candidate_build *b, uint32_t phase)
{
    const weir_phase *p = &b->scenario->phases[phase];
    return fmax(0, b->network->circuit_s - (isnan(p->slack_s) ? p->compute_s : p->slack_s));
}

/* --- one permutation as circuits --- */

/* How many of a block's ends on one switch lead to its partner. */
static uint32_t ends_to(const light_blocks *blocks, const uint32_t *to, uint32_t from)
{
    bool is_pair = to[to[from]] == from;
    return blocks->sw.circulators && !is_pair ? blocks->sw.node_ports / 2 : blocks->sw.node_ports;
}

static weir_code join(const light_blocks *blocks, const uint32_t *to, weir_circuit_design *design,
                      weir_err *err)
{
    const weir_circuit_switch *sw = &blocks->sw;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < design->n; i++) {
        bool is_pair = to[to[i]] == i;
        if (to[i] == i || (sw->circulators && is_pair && to[i] < i)) {
            continue; /* with circulators the lower one joins both ways */
        }
        uint32_t count = sw->planes * ends_to(blocks, to, i);
        for (uint32_t k = 0; k < count && code == WEIR_OK; k++) {
            code = weir_circuit_add(design, (weir_circuit){i, to[i], k % sw->planes}, err);
            if (code == WEIR_OK && sw->circulators) {
                code = weir_circuit_add(design, (weir_circuit){to[i], i, k % sw->planes}, err);
            }
        }
    }
    return code == WEIR_OK ? weir_circuit_check(sw, design, err) : code;
}

/* --- a demand as permutations --- */

typedef struct {
    const candidate_build *b;
    const light_blocks *blocks;
    const light_sequence_job *job;
    weir_demand once;         /* of one repetition, without what stays inside blocks; owned */
    double end_bytes_per_s;   /* of one end of a block on one switch, on all switches */
    double block_bytes_per_s; /* of all ends */
} splitting;

/* What each setting carries of its cells, and how long; settings that carry nothing are dropped.
 * carried: n x n, zero. */
static bool fill(const splitting *s, const weir_configurations *found, light_sequence *made,
                 double *carried)
{
    uint32_t n = s->once.n;
    for (uint32_t k = 0; k < found->count; k++) {
        const uint32_t *column = found->column_of_row + (size_t)k * n;
        uint32_t *to = made->to + (size_t)made->count * n;
        double *share = made->share + (size_t)made->count * n, longest_s = 0;
        for (uint32_t i = 0; i < n; i++) {
            size_t cell = (size_t)i * n + column[i];
            double bytes =
                fmin(s->once.bytes[cell] - carried[cell], found->seconds[k] * s->block_bytes_per_s);
            to[i] = column[i];
            share[i] = bytes > 0 ? bytes : 0;
            carried[cell] += share[i];
        }
        for (uint32_t i = 0; i < n; i++) {
            double rate = ends_to(s->blocks, to, i) * s->end_bytes_per_s;
            if (share[i] > 0 && !(rate > 0)) {
                return false; /* one end cannot lead both ways */
            }
            longest_s = share[i] > 0 ? fmax(longest_s, share[i] / rate) : longest_s;
        }
        made->transfer_s += longest_s;
        made->count += longest_s > 0;
    }
    return true;
}

/* From bytes to shares of the pair's; what the circuits leave goes on packets where there are any.
 * A pair without a rest is carried to the last byte. False: a rest, and no packets. */
static bool share_out(const splitting *s, const weir_configurations *found, light_sequence *made,
                      const double *carried)
{
    uint32_t n = s->once.n;
    for (size_t i = 0; i < (size_t)made->count * n; i++) {
        size_t cell = i % n * n + made->to[i];
        double all = found->rest_bytes[cell] > 0 ? s->once.bytes[cell] : carried[cell];
        made->share[i] = all > 0 ? made->share[i] / all : 0;
    }
    for (size_t cell = 0; cell < (size_t)n * n; cell++) {
        double bytes = s->once.bytes[cell];
        double rest = carried[cell] > 0 ? found->rest_bytes[cell] : bytes;
        made->rest_share[cell] = bytes > 0 ? rest / bytes : 0;
        made->packets_s = made->rest_share[cell] > 0 ? INFINITY : made->packets_s;
    }
    if (made->packets_s == 0) {
        made->rest_share = NULL;
        return true;
    }
    made->packets_s = s->job->packet_bytes_per_s > 0 ? found->times.packets_s : INFINITY;
    return s->job->packet_bytes_per_s > 0;
}

/* *made stays empty where it does not work; *settings: how many it would take. */
static weir_code split(const splitting *s, weir_decompose_method method, light_sequence *made,
                       uint32_t *settings, weir_err *err)
{
    const weir_decompose_terms terms = {.bytes_per_s = s->block_bytes_per_s,
                                        .switch_s = s->b->network->circuit_s,
                                        .packet_bytes_per_s = s->job->packet_bytes_per_s,
                                        .max_count = WITHIN_SETTINGS_MAX + 1};
    weir_configurations found = {0};
    uint32_t n = s->once.n;
    weir_code code = weir_decompose(&s->once, method, &terms, &found, err);
    if (code != WEIR_OK) {
        return code;
    }
    *settings = found.count;
    weir_arena *arena = s->b->network->arena;
    size_t cells = (size_t)n * n, rows = (size_t)found.count * n + 1;
    light_sequence tried = {.n = n, .method = method_names[method]};
    tried.to = weir_arena_alloc(arena, rows, sizeof *tried.to);
    tried.share = weir_arena_alloc(arena, rows, sizeof *tried.share);
    tried.rest_share = weir_arena_alloc(arena, cells, sizeof *tried.rest_share);
    double *carried = calloc(cells, sizeof *carried);
    if (!tried.to || !tried.share || !tried.rest_share || !carried) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u settings", found.count);
    } else if (found.count <= WITHIN_SETTINGS_MAX && fill(s, &found, &tried, carried) &&
               share_out(s, &found, &tried, carried)) {
        *made = tried;
    }
    free(carried);
    weir_configurations_clear(&found);
    return code;
}

/* --- which method --- */

static double steps_of(uint32_t n, weir_decompose_method method)
{
    double tries = method == WEIR_DECOMPOSE_ECLIPSE ? 64 : 1; /* decompose.h: durations */
    return tries * WITHIN_SETTINGS_MAX * n * n * n;
}

/* Fewer settings than partners there cannot be, nor less time than the busiest line takes; the rest
 * on packets makes both less certain. */
static bool is_hopeless(const splitting *s)
{
    weir_demand_shape shape = weir_demand_measure(&s->once);
    uint32_t fan = shape.fan_out > shape.fan_in ? shape.fan_out : shape.fan_in;
    double times = s->b->scenario->phases[s->job->phase].times;
    double least_s =
        shape.max_line_bytes / s->block_bytes_per_s + (fan - 1.0) * s->b->network->circuit_s;
    return s->job->packet_bytes_per_s == 0 &&
           (fan > WITHIN_SETTINGS_MAX || times * least_s >= s->job->other_s);
}

static weir_code try_all(const splitting *s, light_sequence *sequence, weir_err *err)
{
    double best_s = s->job->other_s;
    weir_code code = WEIR_OK;
    for (int m = WEIR_DECOMPOSE_BIRKHOFF; m <= WEIR_DECOMPOSE_ECLIPSE && code == WEIR_OK; m++) {
        weir_decompose_method method = (weir_decompose_method)m;
        light_sequence made = {0};
        uint32_t settings;
        double waited_s;
        if (steps_of(s->once.n, method) > most_steps) {
            continue;
        }
        code = split(s, method, &made, &settings, err);
        double all_s = candidate_sequence_s(s->b, s->job->phase, &made, true, &waited_s);
        if (code == WEIR_OK && made.count > 0 && all_s < best_s) {
            best_s = all_s;
            *sequence = made;
        }
    }
    return code;
}

static weir_code try_one(const splitting *s, weir_decompose_method method, light_sequence *sequence,
                         weir_err *err)
{
    const char *phase = s->b->scenario->phases[s->job->phase].name;
    light_sequence made = {0};
    uint32_t settings = 0;
    if (steps_of(s->once.n, method) > most_steps) {
        return weir_err_set(
            err, WEIR_ERR_INPUT,
            "within: %s of %u blocks would take too long; larger blocks, or within: "
            "none",
            method_names[method], s->once.n);
    }
    weir_code code = split(s, method, &made, &settings, err);
    if (code != WEIR_OK || made.count > 0) {
        *sequence = made;
        return code;
    }
    return settings > WITHIN_SETTINGS_MAX
               ? weir_err_set(err, WEIR_ERR_INPUT,
                              "within: %s sets circuits more than %d times within phase '%s'; "
                              "larger blocks, or within: none",
                              method_names[method], WITHIN_SETTINGS_MAX, phase)
               : weir_err_set(err, WEIR_ERR_INPUT,
                              "within: %s leaves bytes of phase '%s' without a circuit: with "
                              "circulators a block needs two ends on each optical switch",
                              method_names[method], phase);
}

static weir_code begin(splitting *s, weir_err *err)
{
    const weir_demand *demand = s->job->demand;
    double times = s->b->scenario->phases[s->job->phase].times;
    weir_code code = weir_demand_init(&s->once, demand->n, err);
    for (size_t i = 0; code == WEIR_OK && i < (size_t)demand->n * demand->n; i++) {
        s->once.bytes[i] = i / demand->n == i % demand->n ? 0 : demand->bytes[i] / times;
    }
    s->end_bytes_per_s = s->blocks->fabric.light.circuit.bytes_per_s * s->blocks->blocks.networks *
                         s->blocks->sw.planes;
    s->block_bytes_per_s = s->end_bytes_per_s * s->blocks->sw.node_ports;
    return code;
}

static weir_code count_messages(const candidate_build *b, uint32_t phase, double *messages,
                                weir_err *err)
{
    weir_traffic_shape shape = {0};
    weir_code code = weir_traffic_measure(b->scenario, phase, &shape, err);
    *messages = shape.senders * shape.fan_out;
    return code;
}

weir_code candidate_make_sequence(const candidate_build *b, const light_blocks *blocks,
                                  const light_sequence_job *job, light_sequence *sequence,
                                  weir_err *err)
{
    static const weir_decompose_method methods[] = {
        [WEIR_WITHIN_BIRKHOFF] = WEIR_DECOMPOSE_BIRKHOFF,
        [WEIR_WITHIN_SOLSTICE] = WEIR_DECOMPOSE_SOLSTICE,
        [WEIR_WITHIN_ECLIPSE] = WEIR_DECOMPOSE_ECLIPSE,
    };
    splitting s = {b, blocks, job, {0}, 0, 0};
    bool is_auto = b->candidate->within == WEIR_WITHIN_AUTO;
    double messages = 0;
    light_sequence made = {0};
    weir_code code = begin(&s, err);
    if (code == WEIR_OK) {
        code = count_messages(b, job->phase, &messages, err);
    }
    if (code == WEIR_OK && candidate_has_between(&s.once)) {
        if (is_auto) {
            bool is_lost = messages > most_messages || is_hopeless(&s);
            code = is_lost ? WEIR_OK : try_all(&s, &made, err);
        } else if (messages > most_messages) {
            code = weir_err_set(err, WEIR_ERR_INPUT,
                                "phase '%s' has %.0f messages; circuits are set within phases of "
                                "at most %.0f; smaller groups, or within: none",
                                b->scenario->phases[job->phase].name, messages, most_messages);
        } else {
            code = try_one(&s, methods[b->candidate->within], &made, err);
        }
    }
    if (code == WEIR_OK && (made.count > 1 || made.rest_share)) { /* else one set is enough */
        *sequence = made;
    }
    weir_demand_clear(&s.once);
    return code;
}

/* --- what it costs, its roads --- */

uint32_t candidate_sequence_resets(const candidate_build *b, uint32_t phase,
                                   const light_sequence *sequence, bool returns)
{
    uint32_t times = b->scenario->phases[phase].times;
    return sequence->count > 1 ? times * sequence->count - (returns ? 0 : 1) : 0;
}

double candidate_sequence_s(const candidate_build *b, uint32_t phase,
                            const light_sequence *sequence, bool returns, double *waited_s)
{
    double times = b->scenario->phases[phase].times, entries = times - (returns ? 0 : 1);
    if (sequence->count <= 1) {
        *waited_s = 0;
        return times * fmax(sequence->transfer_s, sequence->packets_s);
    }
    double inside_s = (sequence->count - 1) * b->network->circuit_s;
    double entry_s = candidate_exposed_s(b, phase);
    *waited_s = times * inside_s + entries * entry_s;
    return times * fmax(sequence->transfer_s + inside_s, sequence->packets_s) + entries * entry_s;
}

weir_code candidate_add_sequence(const candidate_build *b, const light_blocks *blocks,
                                 uint32_t phase, const light_sequence *sequence, weir_road packets,
                                 weir_road *first, weir_err *err)
{
    weir_candidate_network *n = b->network;
    weir_phase_road *road = &n->phases[phase];
    weir_phase_part *parts = weir_arena_alloc(n->arena, (size_t)sequence->count + 1, sizeof *parts);
    weir_code code =
        parts ? WEIR_OK
              : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u settings", sequence->count);
    for (uint32_t k = 0; k < sequence->count && code == WEIR_OK; k++) {
        weir_circuit_design design = {.n = sequence->n};
        const uint32_t *to = sequence->to + (size_t)k * sequence->n;
        parts[k] = (weir_phase_part){.circuits = ++n->designs,
                                     .to = to,
                                     .share = sequence->share + (size_t)k * sequence->n,
                                     .has_inside = k == 0};
        code = join(blocks, to, &design, err);
        if (code == WEIR_OK) {
            code = candidate_add_light(b, blocks, &design, *first, &parts[k].road, err);
        }
        *first = *first == WEIR_NONE && code == WEIR_OK ? parts[k].road : *first;
        weir_circuit_design_clear(&design);
    }
    if (code != WEIR_OK) {
        return code;
    }
    road->road = parts[0].road;
    road->circuits = parts[0].circuits;
    road->is_light = true;
    road->parts = parts;
    road->part_count = sequence->count;
    road->blocks = sequence->n;
    road->block_of_device = blocks->block_of_device;
    road->because = sequence->count > 1 ? "circuits that are set again within the phase"
                                        : "circuits of its own, the rest on packets";
    if (sequence->rest_share) {
        parts[road->part_count++] =
            (weir_phase_part){.road = packets, .share = sequence->rest_share};
    }
    candidate_note(b, "phase '%s': design: %s, %u setting%s within the phase%s",
                   b->scenario->phases[phase].name, sequence->method, sequence->count,
                   sequence->count == 1 ? "" : "s",
                   sequence->rest_share ? ", the rest on packets" : "");
    return WEIR_OK;
}
