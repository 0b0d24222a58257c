/* parts_transport.c: what of a link's rate transports reach, and what fibres cost light, out of
 * presets/transport.yaml. */
#include "fabric/parts_inside.h"

#include "base/grow.h"
#include "scenario/preset.h"
#include "scenario/unit.h"

#include <math.h>

static weir_code read_share(const weir_yaml *doc, const weir_yaml_node *node, double *share,
                            weir_err *err)
{
    double value;
    if (node->kind != WEIR_YAML_SCALAR || !weir_number_parse(node->text, &value) ||
        !(value > 0 && value <= 1)) {
        return weir_yaml_reject(doc, node, "a share above 0 up to 1, such as 0.87", err);
    }
    *share = value;
    return WEIR_OK;
}

static weir_code add_transport(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                               weir_err *err)
{
    static const char *const keys[] = {"value", "low",        "high", "source",
                                       "url",   "confidence", "note"};
    const weir_yaml_node *at[3] = {0};
    weir_transport_part made = {0};
    double *to[3] = {&made.share, &made.low_share, &made.high_share};
    static const char *const ends[3] = {"value", "low", "high"};
    weir_code code = weir_yaml_check_keys(doc, node, keys, 7, err);
    for (uint32_t i = 0; i < 3 && code == WEIR_OK; i++) {
        code = weir_yaml_need(doc, node, ends[i], WEIR_YAML_SCALAR, &at[i], err);
        code = code == WEIR_OK ? read_share(doc, at[i], to[i], err) : code;
    }
    if (code != WEIR_OK || (code = parts_check_confidence(doc, node, err)) != WEIR_OK) {
        return code;
    }
    made.id = weir_arena_copy(parts->arena, node->key);
    if (!made.id || !weir_grow(&parts->transport, parts->transport_count,
                               &parts->transport_capacity, sizeof made)) {
        return parts_no_memory(err);
    }
    if (weir_str_eq(node->key, WEIR_STR("default"))) {
        parts->transport_default = parts->transport_count;
    }
    parts->transport[parts->transport_count++] = made;
    return WEIR_OK;
}

static weir_code read_fibre(const weir_yaml *doc, const weir_yaml_node *node,
                            weir_fibre_part *fibre, weir_err *err)
{
    enum { KEYS = 5 };
    static const char *const keys[KEYS] = {"delay", "loss", "connector_loss", "circulator_loss",
                                           "lane"};
    static const weir_dimension dimensions[KEYS] = {
        WEIR_DIMENSION_S_PER_M, WEIR_DIMENSION_DB_PER_M, WEIR_DIMENSION_DECIBELS,
        WEIR_DIMENSION_DECIBELS, WEIR_DIMENSION_BYTES_PER_S};
    double *to[KEYS] = {&fibre->s_per_m, &fibre->db_per_m, &fibre->connector_db,
                        &fibre->circulator_db, &fibre->lane_bytes_per_s};
    weir_code code = weir_yaml_check_keys(doc, node, keys, KEYS, err);
    for (uint32_t i = 0; i < KEYS && code == WEIR_OK; i++) {
        const weir_yaml_node *figure, *value;
        *to[i] = NAN;
        if ((figure = weir_yaml_find(node, keys[i])) &&
            (code = parts_read_figure(doc, figure, &value, err)) == WEIR_OK) {
            code = weir_unit_read(doc, value, dimensions[i], to[i], err);
        }
    }
    return code;
}

weir_code parts_load_transport(weir_parts *parts, weir_err *err)
{
    static const char *const keys[] = {"name", "efficiency", "fibre"};
    weir_yaml *doc = NULL;
    const weir_yaml_node *efficiency, *fibre, *fallback;
    weir_code code = weir_preset_open("transport.yaml", &doc, err);
    if (code != WEIR_OK) {
        return code;
    }
    const weir_yaml_node *root = weir_yaml_root(doc);
    if ((code = weir_yaml_check_keys(doc, root, keys, 3, err)) == WEIR_OK &&
        (code = weir_yaml_need(doc, root, "efficiency", WEIR_YAML_MAPPING, &efficiency, err)) ==
            WEIR_OK &&
        (code = weir_yaml_need(doc, root, "fibre", WEIR_YAML_MAPPING, &fibre, err)) == WEIR_OK &&
        (code = weir_yaml_need(doc, efficiency, "default", WEIR_YAML_ANY, &fallback, err)) ==
            WEIR_OK) {
        for (const weir_yaml_node *n = efficiency->first; n && code == WEIR_OK; n = n->next) {
            code = add_transport(parts, doc, n, err);
        }
        code = code == WEIR_OK ? read_fibre(doc, fibre, &parts->fibre, err) : code;
    }
    weir_yaml_free(doc);
    return code;
}
