/* scenario_traffic.c: what is sent: phases, groups, demand matrices, and what disturbs them. */
#include "study/scenario_inside.h"

#include "base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An error unless node is a list with something in it. */
static weir_code need_list(const scenario_reader *r, const weir_yaml_node *node, const char *what,
                           weir_err *err)
{
    return node->kind == WEIR_YAML_SEQUENCE && node->count > 0
               ? WEIR_OK
               : weir_yaml_reject(r->source.doc, node, what, err);
}

static uint32_t devices_of(const scenario_reader *r)
{
    return r->scenario->cluster.nodes * r->scenario->cluster.devices;
}

/* --- demand ------------------------------------------------------------------------------- */

/* Of nodes: what one sends to another, its devices send evenly to the devices of the other. */
static weir_code spread(const weir_demand *nodes, uint32_t each, weir_demand *out, weir_err *err)
{
    weir_demand made = {0};
    weir_code code = weir_demand_init(&made, nodes->n * each, err);
    if (code != WEIR_OK) {
        return code;
    }
    double share = 1.0 / ((double)each * each);
    for (uint32_t i = 0; i < made.n; i++) {
        for (uint32_t j = 0; j < made.n; j++) {
            made.bytes[(size_t)i * made.n + j] =
                nodes->bytes[(size_t)(i / each) * nodes->n + j / each] * share;
        }
    }
    *out = made;
    return WEIR_OK;
}

static weir_code read_demand(scenario_reader *r, const scenario_raw_phase *raw, weir_phase *made,
                             weir_err *err)
{
    const weir_cluster *cluster = &r->scenario->cluster;
    uint32_t due = raw->of_nodes ? cluster->nodes : devices_of(r);
    weir_source *source = NULL;
    const char *path;
    weir_demand found = {0};
    if (devices_of(r) > WEIR_DEMAND_MAX) {
        return weir_yaml_fail(r->source.doc, raw->demand, err,
                              "found a demand matrix for %u devices, expected at most %d",
                              devices_of(r), WEIR_DEMAND_MAX);
    }
    weir_code code = scenario_open(r, raw->demand, &path, &source, err);
    if (code == WEIR_OK) {
        code = weir_demand_read(source, path, &found, err);
    }
    weir_source_close(source);
    if (code == WEIR_OK && found.n != due) {
        code = weir_yaml_fail(r->source.doc, raw->demand, err,
                              "found %u rows in '%.200s', expected %u, one for each %s", found.n,
                              path, due, raw->of_nodes ? "node" : "device");
    }
    if (code == WEIR_OK && raw->of_nodes) {
        code = spread(&found, cluster->devices, &made->demand, err);
    } else if (code == WEIR_OK) {
        made->demand = found;
        found = (weir_demand){0};
    }
    weir_demand_clear(&found);
    return code;
}

/* --- phases ------------------------------------------------------------------------------- */

static weir_code phase_kind(const scenario_reader *r, const weir_yaml_node *node,
                            weir_phase_kind *kind, weir_err *err)
{
    static const char *const names[] = {"collective", "pattern", "demand"};
    uint32_t found = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const weir_yaml_node *member = weir_yaml_find(node, names[i]);
        if (member && found++) {
            return weir_yaml_fail_key(r->source.doc, member, err,
                                      "found '%s' beside '%s', expected one of them", names[i],
                                      names[*kind]);
        }
        *kind = member ? (weir_phase_kind)i : *kind;
    }
    if (found == 0 && node->kind == WEIR_YAML_MAPPING) {
        for (const weir_yaml_node *m = node->first; m; m = m->next) {
            if (weir_nearest_word(m->key, names, 3) != WEIR_NONE) {
                return WEIR_OK; /* a slip of the pen: the unknown key tells more */
            }
        }
        return weir_yaml_fail(r->source.doc, node, err,
                              "found no traffic, expected 'collective', 'pattern' or 'demand'");
    }
    return WEIR_OK;
}

static weir_code read_group(scenario_reader *r, const weir_yaml_node *node, weir_phase *made,
                            weir_err *err)
{
    scenario_raw_phase raw = {0};
    uint32_t devices = devices_of(r);
    weir_code code = weir_keys_read(&r->source, node, &scenario_group_keys, 0, &raw, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint64_t product = (uint64_t)raw.phase.group_size * raw.phase.group_stride;
    if (product > devices || devices % product != 0) {
        uint64_t right = product < devices ? product : devices;
        while (devices % right != 0) {
            right--;
        }
        return weir_yaml_fail(r->source.doc, node, err,
                              "found size %u x stride %u = %llu, expected a product that divides "
                              "the %u devices, such as %llu",
                              raw.phase.group_size, raw.phase.group_stride,
                              (unsigned long long)product, devices, (unsigned long long)right);
    }
    made->group_size = raw.phase.group_size;
    made->group_stride = raw.phase.group_stride;
    return WEIR_OK;
}

/* Keys that one pattern has and others do not. */
static weir_code check_pattern(scenario_reader *r, const weir_yaml_node *node,
                               const weir_phase *phase, weir_err *err)
{
    const weir_yaml_node *degree = weir_yaml_find(node, "degree"),
                         *hot = weir_yaml_find(node, "hot");
    const char *name = weir_traffic_pattern_name(phase->pattern);
    bool has_degree = phase->pattern == WEIR_PATTERN_INCAST || phase->pattern == WEIR_PATTERN_SHIFT;
    bool has_hot = phase->pattern == WEIR_PATTERN_HOT_SPOT;
    uint32_t members = phase->group_size ? phase->group_size : devices_of(r);
    if ((degree && !has_degree) || (hot && !has_hot)) {
        const weir_yaml_node *extra = degree && !has_degree ? degree : hot;
        return weir_yaml_fail_key(r->source.doc, extra, err,
                                  "key '%s' has no meaning for pattern %s", extra->key.p, name);
    }
    if (has_hot && !hot) {
        return weir_yaml_need(r->source.doc, node, "hot", WEIR_YAML_SCALAR, &hot, err);
    }
    if (degree && phase->degree >= members) {
        char expected[96];
        snprintf(expected, sizeof expected, "at most %u: the group has %u members", members - 1,
                 members);
        return weir_yaml_reject(r->source.doc, degree, expected, err);
    }
    return WEIR_OK;
}

static weir_code read_phase(scenario_reader *r, const weir_yaml_node *node, uint32_t number,
                            weir_phase *made, weir_err *err)
{
    scenario_raw_phase raw = {.phase = {.slack_s = NAN}};
    weir_phase_kind kind = WEIR_PHASE_COLLECTIVE;
    weir_code code = phase_kind(r, node, &kind, err);
    if (code == WEIR_OK) {
        code = weir_keys_read(&r->source, node, &scenario_phase_keys, kind, &raw, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    raw.phase.kind = kind;
    raw.phase.place = scenario_place(node);
    raw.phase.group_stride = 1;
    if (!raw.phase.name) {
        char name[32];
        snprintf(name, sizeof name, "phase %u", number + 1);
        raw.phase.name = weir_arena_copy(r->source.arena, weir_str_from(name));
        code = raw.phase.name ? WEIR_OK : scenario_no_memory(err);
    }
    if (code == WEIR_OK && raw.group) {
        code = read_group(r, raw.group, &raw.phase, err);
    }
    if (code == WEIR_OK && kind == WEIR_PHASE_PATTERN) {
        code = check_pattern(r, node, &raw.phase, err);
    }
    if (code == WEIR_OK && kind == WEIR_PHASE_DEMAND) {
        code = read_demand(r, &raw, &raw.phase, err);
    }
    if (code == WEIR_OK) {
        *made = raw.phase;
    }
    return code;
}

static weir_code read_phases(scenario_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_fabric_scenario *s = r->scenario;
    weir_code code = need_list(r, node, "a list of at least one phase", err);
    if (code != WEIR_OK) {
        return code;
    }
    s->phases = weir_arena_alloc(r->source.arena, node->count, sizeof *s->phases);
    if (!s->phases) {
        return scenario_no_memory(err);
    }
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        code = read_phase(r, n, s->phase_count, &s->phases[s->phase_count], err);
        s->phase_count += code == WEIR_OK;
    }
    return code;
}

/* --- disturbances ------------------------------------------------------------------------- */

static weir_code read_slow(scenario_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_fabric_scenario *s = r->scenario;
    weir_code code = need_list(r, node, "a list such as [{device: 17, factor: 1.3}]", err);
    if (code != WEIR_OK) {
        return code;
    }
    s->slow = weir_arena_alloc(r->source.arena, node->count, sizeof *s->slow);
    if (!s->slow) {
        return scenario_no_memory(err);
    }
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        weir_slow_entry *made = &s->slow[s->slow_count];
        code = weir_keys_read(&r->source, n, &scenario_slow_keys, 0, made, err);
        if (code == WEIR_OK && made->device >= devices_of(r)) {
            char expected[64];
            snprintf(expected, sizeof expected, "a device from 0 to %u", devices_of(r) - 1);
            code = weir_yaml_reject(r->source.doc, weir_yaml_find(n, "device"), expected, err);
        }
        made->place = scenario_place(n);
        s->slow_count++;
    }
    return code;
}

static weir_code read_broken(scenario_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_fabric_scenario *s = r->scenario;
    weir_code code = need_list(r, node, "a list such as [{link: leaf 3 -> spine 1}]", err);
    if (code != WEIR_OK) {
        return code;
    }
    s->broken = weir_arena_alloc(r->source.arena, node->count, sizeof *s->broken);
    if (!s->broken) {
        return scenario_no_memory(err);
    }
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        weir_broken_entry *made = &s->broken[s->broken_count];
        made->until_s = INFINITY;
        code = weir_keys_read(&r->source, n, &scenario_broken_keys, 0, made, err);
        if (code == WEIR_OK && !(made->until_s > made->at_s)) {
            code = weir_yaml_reject(r->source.doc, weir_yaml_find(n, "until"), "a time after 'at'",
                                    err);
        }
        made->place = scenario_place(n);
        s->broken_count++;
    }
    return code;
}

weir_code scenario_read_traffic(scenario_reader *r, const weir_yaml_node *node, weir_err *err)
{
    scenario_raw_traffic raw = {0};
    weir_code code = weir_keys_read(&r->source, node, &scenario_traffic_keys, 0, &raw, err);
    if (code == WEIR_OK) {
        r->scenario->steps = raw.steps;
        r->scenario->jitter = raw.jitter;
        code = read_phases(r, raw.phases, err);
    }
    if (code == WEIR_OK && raw.slow) {
        code = read_slow(r, raw.slow, err);
    }
    if (code == WEIR_OK && raw.broken) {
        code = read_broken(r, raw.broken, err);
    }
    return code;
}

const char *weir_traffic_pattern_name(weir_traffic_pattern pattern)
{
    static const char *const names[] = {
#define X(pattern, name) name,
        WEIR_TRAFFIC_PATTERNS(X)
#undef X
    };
    return names[pattern];
}
