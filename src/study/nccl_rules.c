#include "study/nccl_rules.h"

#include "scenario/preset.h"
#include "scenario/unit.h"

static const char *const finding_names[WEIR_NCCL_FINDING_COUNT] = {
#define X(finding, name) name,
    WEIR_NCCL_FINDINGS(X)
#undef X
};

const char *weir_nccl_finding_name(weir_nccl_finding_kind kind)
{
    return finding_names[kind];
}

/* WEIR_DIMENSION_COUNT: a plain number. */
typedef struct {
    const char *key;
    weir_dimension dimension;
    double *value;
} threshold;

static weir_code find_source(const weir_yaml *doc, const weir_yaml_node *mapping,
                             const weir_yaml_node **source, weir_err *err)
{
    const weir_yaml_node *key;
    weir_code code = weir_yaml_need(doc, mapping, "source", WEIR_YAML_SCALAR, &key, err);
    if (code != WEIR_OK) {
        return code;
    }
    const weir_yaml_node *sources = weir_yaml_find(weir_yaml_root(doc), "sources");
    *source = sources ? weir_yaml_find(sources, key->text.p) : NULL;
    return *source ? WEIR_OK : weir_yaml_reject(doc, key, "a key of `sources`", err);
}

static weir_code read_threshold(const weir_yaml *doc, const weir_yaml_node *all, const threshold *t,
                                weir_err *err)
{
    static const char *const keys[] = {"value", "source", "confidence"};
    static const char *const words[] = {"verified", "secondary", "memory",
                                        "derived",  "fitted",    "assumed"};
    const weir_yaml_node *figure, *value, *confidence, *source;
    uint32_t word;
    weir_code code;
    if ((code = weir_yaml_need(doc, all, t->key, WEIR_YAML_MAPPING, &figure, err)) ||
        (code = weir_yaml_check_keys(doc, figure, keys, 3, err)) ||
        (code = weir_yaml_need(doc, figure, "value", WEIR_YAML_SCALAR, &value, err)) ||
        (code = weir_yaml_need(doc, figure, "confidence", WEIR_YAML_SCALAR, &confidence, err)) ||
        (code = weir_yaml_choice(doc, confidence, words, 6, &word, err)) ||
        (code = find_source(doc, figure, &source, err))) {
        return code;
    }
    if (t->dimension != WEIR_DIMENSION_COUNT) {
        return weir_unit_read(doc, value, t->dimension, t->value, err);
    }
    return weir_number_parse(value->text, t->value) && *t->value > 0
               ? WEIR_OK
               : weir_yaml_reject(doc, value, "a number above 0", err);
}

static weir_code read_thresholds(const weir_yaml *doc, weir_nccl_rules *r, weir_err *err)
{
    const threshold all[] = {
        {"plateau_bytes", WEIR_DIMENSION_BYTES, &r->plateau_bytes},
        {"small_bytes", WEIR_DIMENSION_BYTES, &r->small_bytes},
        {"good_share", WEIR_DIMENSION_COUNT, &r->good_share},
        {"fast_share", WEIR_DIMENSION_COUNT, &r->fast_share},
        {"impossible_share", WEIR_DIMENSION_COUNT, &r->impossible_share},
        {"latency_factor", WEIR_DIMENSION_COUNT, &r->latency_factor},
        {"collapse_factor", WEIR_DIMENSION_COUNT, &r->collapse_factor},
        {"near", WEIR_DIMENSION_COUNT, &r->near},
        {"staged_least", WEIR_DIMENSION_BYTES_PER_S, &r->staged_least_bytes_per_s},
        {"staged_most", WEIR_DIMENSION_BYTES_PER_S, &r->staged_most_bytes_per_s},
        {"sockets_most", WEIR_DIMENSION_BYTES_PER_S, &r->sockets_most_bytes_per_s},
        {"pcie_most", WEIR_DIMENSION_BYTES_PER_S, &r->pcie_most_bytes_per_s},
        {"cross_rail_nodes", WEIR_DIMENSION_COUNT, &r->cross_rail_nodes},
    };
    enum { THRESHOLDS = sizeof all / sizeof all[0] };
    const char *keys[THRESHOLDS];
    const weir_yaml_node *node;
    weir_code code =
        weir_yaml_need(doc, weir_yaml_root(doc), "thresholds", WEIR_YAML_MAPPING, &node, err);
    for (uint32_t i = 0; i < THRESHOLDS; i++) {
        keys[i] = all[i].key;
    }
    code = code == WEIR_OK ? weir_yaml_check_keys(doc, node, keys, THRESHOLDS, err) : code;
    for (uint32_t i = 0; i < THRESHOLDS && code == WEIR_OK; i++) {
        code = read_threshold(doc, node, &all[i], err);
    }
    return code;
}

static weir_code read_findings(const weir_yaml *doc, weir_nccl_rules *r, weir_err *err)
{
    static const char *const keys[] = {"check", "source"};
    const weir_yaml_node *all, *finding, *check, *source = NULL;
    weir_code code =
        weir_yaml_need(doc, weir_yaml_root(doc), "findings", WEIR_YAML_MAPPING, &all, err);
    if (code == WEIR_OK) {
        code = weir_yaml_check_keys(doc, all, finding_names, WEIR_NCCL_FINDING_COUNT, err);
    }
    for (uint32_t i = 0; i < WEIR_NCCL_FINDING_COUNT && code == WEIR_OK; i++) {
        if ((code = weir_yaml_need(doc, all, finding_names[i], WEIR_YAML_MAPPING, &finding, err)) ||
            (code = weir_yaml_check_keys(doc, finding, keys, 2, err)) ||
            (code = weir_yaml_need(doc, finding, "check", WEIR_YAML_SCALAR, &check, err)) ||
            (code = find_source(doc, finding, &source, err)) || !source) {
            return code;
        }
        r->check[i] = weir_arena_copy(r->arena, check->text);
        r->source[i] = weir_arena_copy(r->arena, source->text);
        if (!r->check[i] || !r->source[i]) {
            return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for presets/diagnosis.yaml");
        }
    }
    return code;
}

weir_code weir_nccl_rules_load(weir_nccl_rules *rules, weir_err *err)
{
    static const char *const keys[] = {"sources", "thresholds", "findings"};
    weir_nccl_rules found = {.arena = weir_arena_new()};
    weir_yaml *doc = NULL;
    weir_code code = found.arena ? weir_preset_open("diagnosis.yaml", &doc, err)
                                 : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for rules");
    if (code == WEIR_OK) {
        code = weir_yaml_check_keys(doc, weir_yaml_root(doc), keys, 3, err);
    }
    code = code == WEIR_OK ? read_thresholds(doc, &found, err) : code;
    code = code == WEIR_OK ? read_findings(doc, &found, err) : code;
    weir_yaml_free(doc);
    if (code == WEIR_OK) {
        *rules = found;
    } else {
        weir_arena_free(found.arena);
    }
    return code;
}

void weir_nccl_rules_clear(weir_nccl_rules *rules)
{
    weir_arena_free(rules->arena);
    *rules = (weir_nccl_rules){0};
}
