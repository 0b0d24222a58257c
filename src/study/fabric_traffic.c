/* fabric_traffic.c: groups, pairs and figures of the phases (fabric_traffic.h). */
#include "study/fabric_traffic.h"

#include <stdlib.h>

typedef struct {
    const weir_fabric_scenario *scenario;
    const weir_phase *phase;
    const weir_traffic_groups *groups;
    const weir_traffic_visitor *visitor;
    uint32_t number; /* of the phase */
    uint32_t group;
} visit;

uint32_t weir_traffic_devices(const weir_fabric_scenario *scenario)
{
    return scenario->cluster.nodes * scenario->cluster.devices;
}

/* Steele et al., Fast Splittable Pseudorandom Number Generators, OOPSLA 2014. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static weir_code check_pattern(const weir_fabric_scenario *scenario, const weir_phase *phase,
                               uint32_t size, weir_err *err)
{
    if (phase->pattern == WEIR_PATTERN_INCAST && phase->degree >= size) {
        return weir_fabric_reject(scenario, phase->place, err,
                                  "phase '%s': an incast of %u senders in groups of %u devices; at "
                                  "most %u can send to the first",
                                  phase->name, phase->degree, size, size - 1);
    }
    if (phase->pattern == WEIR_PATTERN_SHIFT && phase->degree && phase->degree % size == 0) {
        return weir_fabric_reject(scenario, phase->place, err,
                                  "phase '%s': a shift by %u in groups of %u devices sends each "
                                  "device's message to itself",
                                  phase->name, phase->degree, size);
    }
    return WEIR_OK;
}

weir_code weir_traffic_group(const weir_fabric_scenario *scenario, uint32_t phase_number,
                             weir_traffic_groups *groups, weir_err *err)
{
    const weir_phase *phase = &scenario->phases[phase_number];
    uint32_t devices = weir_traffic_devices(scenario);
    if (phase->kind == WEIR_PHASE_DEMAND) {
        if (phase->demand.n != devices) {
            return weir_fabric_reject(scenario, phase->place, err,
                                      "phase '%s': the matrix has %u rows, the cluster %u devices",
                                      phase->name, phase->demand.n, devices);
        }
        *groups = (weir_traffic_groups){devices, 1, 1};
        return WEIR_OK;
    }
    uint32_t size = phase->group_size ? phase->group_size : devices;
    uint32_t stride = phase->group_stride ? phase->group_stride : 1;
    uint64_t span = (uint64_t)size * stride;
    if (span > devices || devices % span != 0) {
        weir_fabric_reject(scenario, phase->place, err,
                           "phase '%s': groups of %u devices with stride %u span %llu, which "
                           "does not divide the %u devices of the cluster",
                           phase->name, size, stride, (unsigned long long)span, devices);
        return WEIR_ERR_INPUT;
    }
    weir_code code =
        phase->kind == WEIR_PHASE_PATTERN ? check_pattern(scenario, phase, size, err) : WEIR_OK;
    if (code == WEIR_OK) {
        *groups = (weir_traffic_groups){size, stride, devices / size};
    }
    return code;
}

uint32_t weir_traffic_member(const weir_traffic_groups *groups, uint32_t group, uint32_t k)
{
    uint32_t block = group / groups->stride, offset = group % groups->stride;
    return block * groups->size * groups->stride + offset + k * groups->stride;
}

static void tell(const visit *v, uint32_t from, uint32_t to, double bytes)
{
    if (from != to && bytes > 0) {
        v->visitor->pair(v->visitor->context, weir_traffic_member(v->groups, v->group, from),
                         weir_traffic_member(v->groups, v->group, to), bytes);
    }
}

static void all_pairs(const visit *v, double bytes)
{
    for (uint32_t i = 0; i < v->groups->size; i++) {
        for (uint32_t j = 0; j < v->groups->size; j++) {
            tell(v, i, j, bytes);
        }
    }
}

static void shifted(const visit *v, uint32_t distance, double bytes)
{
    uint32_t n = v->groups->size;
    for (uint32_t i = 0; i < n; i++) {
        tell(v, i, (uint32_t)(((uint64_t)i + distance) % n), bytes);
    }
}

/* What each member hands to its neighbour when a ring carries it (rings of several channels carry
 * the same between nodes); broadcast and reduce: a chain, from the first and to the last. */
static void collective(const visit *v)
{
    double n = v->groups->size, bytes = v->phase->bytes;
    switch (v->phase->collective) {
    case WEIR_COLLECTIVE_ALL_REDUCE:
        shifted(v, 1, 2 * (n - 1) / n * bytes);
        break;
    case WEIR_COLLECTIVE_ALL_GATHER:
    case WEIR_COLLECTIVE_REDUCE_SCATTER:
        shifted(v, 1, (n - 1) / n * bytes);
        break;
    case WEIR_COLLECTIVE_ALL_TO_ALL:
        all_pairs(v, bytes / n);
        break;
    case WEIR_COLLECTIVE_SEND_RECV:
        shifted(v, 1, bytes);
        break;
    case WEIR_COLLECTIVE_BROADCAST:
    case WEIR_COLLECTIVE_REDUCE:
    case WEIR_COLLECTIVE_KIND_COUNT:
        for (uint32_t i = 0; i + 1 < v->groups->size; i++) {
            tell(v, i, i + 1, bytes);
        }
        break;
    }
}

/* One cycle through all members, drawn by seed, phase and group (the oracles' PERM for the first
 * group of the first phase). */
static weir_code permutation(const visit *v, weir_err *err)
{
    uint32_t n = v->groups->size;
    uint32_t *order = malloc((n ? n : 1) * sizeof *order);
    if (!order) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a permutation");
    }
    uint64_t state = v->scenario->seed + (uint64_t)v->number * 0x100000001B3u + v->group;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (uint32_t i = n; i-- > 1;) {
        uint32_t j = (uint32_t)(draw(&state) % (i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (uint32_t i = 0; i < n; i++) {
        tell(v, order[i], order[(i + 1) % n], v->phase->bytes);
    }
    free(order);
    return WEIR_OK;
}

/* Each member sends `bytes`: a share to the first one, the rest evenly to all others (Pfister and
 * Norton, IEEE Trans. Computers 1985, with the uniform part in equal messages). */
static void hot_spot(const visit *v)
{
    uint32_t n = v->groups->size;
    double each = n > 1 ? (1 - v->phase->hot_share) * v->phase->bytes / (n - 1) : 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            tell(v, i, j, each + (j == 0 ? v->phase->hot_share * v->phase->bytes : 0));
        }
    }
}

static weir_code pattern(const visit *v, weir_err *err)
{
    uint32_t n = v->groups->size, degree = v->phase->degree;
    switch (v->phase->pattern) {
    case WEIR_PATTERN_PERMUTATION:
        return permutation(v, err);
    case WEIR_PATTERN_INCAST:
        for (uint32_t i = 1; i <= (degree ? degree : n - 1); i++) {
            tell(v, i, 0, v->phase->bytes);
        }
        break;
    case WEIR_PATTERN_ALL_TO_ALL:
        all_pairs(v, v->phase->bytes);
        break;
    case WEIR_PATTERN_RING:
        shifted(v, 1, v->phase->bytes);
        break;
    case WEIR_PATTERN_SHIFT:
        shifted(v, degree ? degree : 1, v->phase->bytes);
        break;
    case WEIR_PATTERN_HOT_SPOT:
        hot_spot(v);
        break;
    case WEIR_PATTERN_COUNT:
        break;
    }
    return WEIR_OK;
}

static void matrix(const visit *v)
{
    const weir_demand *demand = &v->phase->demand;
    for (uint32_t i = 0; i < demand->n; i++) {
        for (uint32_t j = 0; j < demand->n; j++) {
            tell(v, i, j, demand->bytes[(size_t)i * demand->n + j] * v->phase->scale);
        }
    }
}

weir_code weir_traffic_visit(const weir_fabric_scenario *scenario, uint32_t phase, uint32_t group,
                             const weir_traffic_visitor *visitor, weir_err *err)
{
    weir_traffic_groups groups = {0};
    weir_code code = weir_traffic_group(scenario, phase, &groups, err);
    if (code != WEIR_OK) {
        return code;
    }
    visit v = {scenario, &scenario->phases[phase], &groups, visitor, phase, group};
    switch (v.phase->kind) {
    case WEIR_PHASE_COLLECTIVE:
        collective(&v);
        break;
    case WEIR_PHASE_PATTERN:
        return pattern(&v, err);
    case WEIR_PHASE_DEMAND:
        matrix(&v);
        break;
    }
    return WEIR_OK;
}

typedef struct {
    weir_traffic_shape *shape;
    uint64_t messages;
    uint8_t *sends; /* by device */
} measuring;

static void measure_pair(void *context, uint32_t from, uint32_t to, double bytes)
{
    measuring *m = context;
    (void)to;
    m->messages++;
    m->shape->bytes += bytes;
    m->shape->peak_bytes = bytes > m->shape->peak_bytes ? bytes : m->shape->peak_bytes;
    m->shape->senders += !m->sends[from];
    m->sends[from] = 1;
}

/* Bytes of one message where all pairs of a group exchange the same; 0: something else. */
static double all_to_all_bytes(const weir_phase *phase, uint32_t size)
{
    if (phase->kind == WEIR_PHASE_COLLECTIVE && phase->collective == WEIR_COLLECTIVE_ALL_TO_ALL) {
        return phase->bytes / size;
    }
    bool is_pattern =
        phase->kind == WEIR_PHASE_PATTERN && phase->pattern == WEIR_PATTERN_ALL_TO_ALL;
    return is_pattern ? phase->bytes : 0;
}

static weir_traffic_shape all_to_all_shape(double bytes, uint32_t size)
{
    double partners = size - 1.0;
    return (weir_traffic_shape){size * partners * bytes, bytes,    bytes,
                                partners * bytes,        partners, size};
}

/* Groups are alike, so that the first one tells. */
weir_code weir_traffic_measure(const weir_fabric_scenario *scenario, uint32_t phase,
                               weir_traffic_shape *shape, weir_err *err)
{
    weir_traffic_groups groups = {0};
    weir_code code = weir_traffic_group(scenario, phase, &groups, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_traffic_shape sum = {0};
    measuring m = {&sum, 0, calloc(weir_traffic_devices(scenario), 1)};
    if (!m.sends) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for traffic");
    }
    weir_traffic_visitor visitor = {measure_pair, &m};
    double each = all_to_all_bytes(&scenario->phases[phase], groups.size);
    if (each > 0 && groups.size > 1) {
        sum = all_to_all_shape(each, groups.size);
    } else {
        code = weir_traffic_visit(scenario, phase, 0, &visitor, err);
    }
    free(m.sends);
    if (code == WEIR_OK) {
        if (m.messages) {
            sum.message_bytes = sum.bytes / (double)m.messages;
            sum.device_bytes = sum.bytes / sum.senders;
            sum.fan_out = (double)m.messages / sum.senders;
        }
        sum.bytes *= groups.count;
        sum.senders *= groups.count;
        *shape = sum;
    }
    return code;
}

typedef struct {
    const uint32_t *block_of_device;
    double times;
    weir_demand *demand;
} between;

static void between_pair(void *context, uint32_t from, uint32_t to, double bytes)
{
    const between *b = context;
    size_t row = b->block_of_device[from], column = b->block_of_device[to];
    b->demand->bytes[row * b->demand->n + column] += bytes * b->times;
}

/* All pairs of a group at once, by how many members each block has: members^2 pairs would be too
 * many for one group of all devices. present, members: room for one entry a block. */
static void between_all(const between *b, const weir_traffic_groups *groups, uint32_t group,
                        double bytes, uint32_t *present, uint32_t *members)
{
    uint32_t blocks = 0;
    for (uint32_t k = 0; k < groups->size; k++) {
        uint32_t block = b->block_of_device[weir_traffic_member(groups, group, k)];
        if (members[block]++ == 0) {
            present[blocks++] = block;
        }
    }
    for (uint32_t i = 0; i < blocks; i++) {
        for (uint32_t j = 0; j < blocks; j++) {
            double partners = i == j ? members[present[j]] - 1.0 : members[present[j]];
            b->demand->bytes[(size_t)present[i] * b->demand->n + present[j]] +=
                members[present[i]] * partners * bytes * b->times;
        }
    }
    for (uint32_t i = 0; i < blocks; i++) {
        members[present[i]] = 0;
    }
}

weir_code weir_traffic_between(const weir_fabric_scenario *scenario, uint32_t phase,
                               const uint32_t *block_of_device, double times, weir_demand *demand,
                               weir_err *err)
{
    weir_traffic_groups groups = {0};
    weir_code code = weir_traffic_group(scenario, phase, &groups, err);
    if (code != WEIR_OK) {
        return code;
    }
    between b = {block_of_device, times, demand};
    weir_traffic_visitor visitor = {between_pair, &b};
    double each = all_to_all_bytes(&scenario->phases[phase], groups.size);
    uint32_t *room = calloc(2 * (size_t)demand->n, sizeof *room);
    if (!room) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for traffic between blocks");
    }
    for (uint32_t g = 0; g < groups.count && code == WEIR_OK; g++) {
        if (each > 0) {
            between_all(&b, &groups, g, each, room, room + demand->n);
        } else {
            code = weir_traffic_visit(scenario, phase, g, &visitor, err);
        }
    }
    free(room);
    return code;
}
