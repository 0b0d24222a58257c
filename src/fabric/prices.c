#include "fabric/prices.h"

#include "base/grow.h"
#include "fabric/parts_inside.h"
#include "scenario/preset.h"
#include "scenario/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- amounts ------------------------------------------------------------------------------- */

weir_dimension parts_price_dimension(weir_str id)
{
    static const struct {
        const char *id;
        weir_dimension dimension;
    } rows[] = {
        {"electricity", WEIR_DIMENSION_USD_PER_KWH}, {"gpu_hour", WEIR_DIMENSION_USD_PER_H},
        {"fibre_m", WEIR_DIMENSION_USD_PER_M},       {"pue", WEIR_DIMENSION_COUNT},
        {"life_years", WEIR_DIMENSION_YEARS},        {"hours_per_year", WEIR_DIMENSION_HOURS},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (weir_str_eq(id, weir_str_from(rows[i].id)) ||
            (i == 1 && weir_str_starts(id, WEIR_STR("gpu_hour:")))) {
            return rows[i].dimension;
        }
    }
    return WEIR_DIMENSION_USD;
}

bool parts_is_amount(double value)
{
    return value >= 0 && !isinf(value);
}

static weir_code read_amount(const weir_yaml *doc, const weir_yaml_node *node, weir_str id,
                             double *value, weir_err *err)
{
    weir_dimension dimension = parts_price_dimension(id);
    if (dimension != WEIR_DIMENSION_COUNT) {
        return weir_unit_read(doc, node, dimension, value, err);
    }
    double number;
    if (node->kind != WEIR_YAML_SCALAR || !weir_number_parse(node->text, &number) ||
        !parts_is_amount(number)) {
        return weir_yaml_reject(doc, node, "a number, such as 1.5", err);
    }
    *value = number;
    return WEIR_OK;
}

/* low, typical and high of a mapping; the first and the last may be missing. */
static weir_code read_band(const weir_yaml *doc, const weir_yaml_node *node, weir_str id,
                           weir_price *price, weir_err *err)
{
    const weir_yaml_node *typical, *low = weir_yaml_find(node, "low");
    const weir_yaml_node *high = weir_yaml_find(node, "high");
    weir_code code = weir_yaml_need(doc, node, "typical", WEIR_YAML_SCALAR, &typical, err);
    if (code != WEIR_OK ||
        (code = read_amount(doc, typical, id, &price->typical_usd, err)) != WEIR_OK) {
        return code;
    }
    price->low_usd = price->high_usd = price->typical_usd;
    if ((low && (code = read_amount(doc, low, id, &price->low_usd, err)) != WEIR_OK) ||
        (high && (code = read_amount(doc, high, id, &price->high_usd, err)) != WEIR_OK)) {
        return code;
    }
    if (price->low_usd > price->typical_usd || price->typical_usd > price->high_usd) {
        return weir_yaml_reject(doc, node, "low <= typical <= high", err);
    }
    return WEIR_OK;
}

weir_code parts_put_price(weir_parts *parts, const weir_price *price, weir_err *err)
{
    for (uint32_t i = 0; i < parts->price_count; i++) {
        if (strcmp(parts->prices[i].id, price->id) == 0) {
            parts->prices[i] = *price;
            return WEIR_OK;
        }
    }
    if (!weir_grow(&parts->prices, parts->price_count, &parts->price_capacity,
                   sizeof *parts->prices)) {
        return parts_no_memory(err);
    }
    parts->prices[parts->price_count++] = *price;
    return WEIR_OK;
}

/* --- presets/prices ------------------------------------------------------------------------ */

static weir_code read_item(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                           weir_err *err)
{
    static const char *const keys[] = {"low", "typical",    "high", "source",
                                       "url", "confidence", "date", "note"};
    const weir_yaml_node *needed;
    weir_price price = {0};
    part_origin origin;
    weir_code code = weir_yaml_check_keys(doc, node, keys, 8, err);
    for (uint32_t i = 3; i < 7 && code == WEIR_OK; i++) {
        code = weir_yaml_need(doc, node, keys[i], WEIR_YAML_SCALAR, &needed, err);
    }
    if (code != WEIR_OK || (code = read_band(doc, node, node->key, &price, err)) != WEIR_OK ||
        (code = parts_read_origin(parts->arena, node, &origin, err)) != WEIR_OK) {
        return code;
    }
    price.date = origin.date;
    price.source = origin.source;
    price.url = origin.url;
    price.confidence = origin.confidence;
    price.note = origin.note;
    price.id = weir_arena_copy(parts->arena, node->key);
    return price.id ? parts_put_price(parts, &price, err) : parts_no_memory(err);
}

weir_code parts_load_prices(weir_parts *parts, weir_err *err)
{
    static const char *const keys[] = {"name", "items"};
    uint32_t state = 0;
    const char *path;
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && (path = weir_preset_next("prices", &state))) {
        weir_yaml *doc = NULL;
        const weir_yaml_node *items = NULL;
        if ((code = weir_preset_open(path, &doc, err)) == WEIR_OK &&
            (code = weir_yaml_check_keys(doc, weir_yaml_root(doc), keys, 2, err)) == WEIR_OK) {
            code =
                weir_yaml_need(doc, weir_yaml_root(doc), "items", WEIR_YAML_MAPPING, &items, err);
        }
        for (const weir_yaml_node *n = items ? items->first : NULL; n && code == WEIR_OK;
             n = n->next) {
            code = read_item(parts, doc, n, err);
        }
        weir_yaml_free(doc);
    }
    return code;
}

weir_code parts_read_price(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                           const char *id, weir_err *err)
{
    static const char *const keys[] = {"low", "typical", "high", "date", "source", "url", "note"};
    weir_price price = {.id = id,
                        .date = "",
                        .source = "the scenario",
                        .url = "",
                        .confidence = "given",
                        .note = ""};
    weir_code code;
    if (node->kind == WEIR_YAML_MAPPING) {
        part_origin origin;
        if ((code = weir_yaml_check_keys(doc, node, keys, 7, err)) == WEIR_OK &&
            (code = read_band(doc, node, weir_str_from(id), &price, err)) == WEIR_OK &&
            (code = parts_read_origin(parts->arena, node, &origin, err)) == WEIR_OK) {
            price.date = origin.date;
            price.source = *origin.source ? origin.source : price.source;
            price.url = origin.url;
            price.note = origin.note;
        }
    } else if ((code = read_amount(doc, node, weir_str_from(id), &price.typical_usd, err)) ==
               WEIR_OK) {
        price.low_usd = price.high_usd = price.typical_usd;
    }
    return code == WEIR_OK ? parts_put_price(parts, &price, err) : code;
}

/* --- what a piece costs --------------------------------------------------------------------- */

static const weir_price *price_by_rate(const weir_parts *parts, const char *kind,
                                       double bytes_per_s)
{
    char id[64];
    snprintf(id, sizeof id, "%s:%.0fg", kind, bytes_per_s * 8 / 1e9);
    return weir_parts_price(parts, weir_str_from(id));
}

weir_unit_price weir_price_of_switch(const weir_parts *parts, const weir_switch_part *part)
{
    const weir_price *price = weir_parts_price(parts, weir_str_from(part->id));
    if (price) {
        return (weir_unit_price){price, 1};
    }
    price = part->ports ? price_by_rate(parts, "switch_port", part->bytes_per_s) : NULL;
    return (weir_unit_price){price, part->ports};
}

weir_unit_price weir_price_of_nic(const weir_parts *parts, const weir_nic_part *part)
{
    const weir_price *price = weir_parts_price(parts, weir_str_from(part->id));
    return (weir_unit_price){price ? price : price_by_rate(parts, "nic", part->bytes_per_s), 1};
}

weir_unit_price weir_price_of_module(const weir_parts *parts, const weir_module_part *part)
{
    const weir_price *price = weir_parts_price(parts, weir_str_from(part->id));
    if (!price && part->kind == WEIR_MODULE_PLUGGABLE && !part->is_cable) {
        price = price_by_rate(parts, "module", part->bytes_per_s);
    }
    return (weir_unit_price){price, 1};
}

weir_unit_price weir_price_of_ocs(const weir_parts *parts, const weir_ocs_part *part)
{
    char id[256];
    const weir_price *price = weir_parts_price(parts, weir_str_from(part->id));
    if (price) {
        return (weir_unit_price){price, 1};
    }
    snprintf(id, sizeof id, "ocs_port:%s", part->id);
    price = weir_parts_price(parts, weir_str_from(id));
    if (!price && strcmp(part->technology, "patch-panel") == 0) {
        price = weir_parts_price(parts, WEIR_STR("patch_panel_port"));
    }
    price = price ? price : weir_parts_price(parts, WEIR_STR("ocs_port"));
    uint32_t link_ends = part->circulators ? part->ports : part->ports / 2;
    return (weir_unit_price){link_ends ? price : NULL, link_ends};
}

weir_unit_price weir_price_of_fibre(const weir_parts *parts)
{
    return (weir_unit_price){weir_parts_price(parts, WEIR_STR("fibre_m")), 1};
}

const weir_price *weir_price_of_gpu_hour(const weir_parts *parts, const char *accelerator)
{
    char id[256];
    snprintf(id, sizeof id, "gpu_hour:%s", accelerator ? accelerator : "");
    return accelerator ? weir_parts_price(parts, weir_str_from(id)) : NULL;
}
