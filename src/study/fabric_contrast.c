/* fabric_contrast.c: the built-in kinds of traffic and thresholds, presets/traffic.yaml
 * (fabric_judge.h). */
#include "study/fabric_judge.h"

#include "scenario/preset.h"
#include "scenario/unit.h"

#include <math.h>

static weir_code read_number(const weir_yaml *doc, const weir_yaml_node *node, double *value,
                             weir_err *err)
{
    return weir_number_parse(node->text, value) ? WEIR_OK
                                                : weir_yaml_reject(doc, node, "a number", err);
}

/* {value: ..., source: KEY, confidence: WORD}; bytes where the number needs that unit. */
static weir_code read_figure(const weir_yaml *doc, const weir_yaml_node *figure, bool is_bytes,
                             double *value, weir_err *err)
{
    static const char *const keys[] = {"value", "source", "confidence"};
    static const char *const words[] = {"verified", "secondary", "memory", "derived", "assumed"};
    const weir_yaml_node *v, *source, *confidence;
    const weir_yaml_node *sources = weir_yaml_find(weir_yaml_root(doc), "sources");
    uint32_t word;
    weir_code code = weir_yaml_check_keys(doc, figure, keys, 3, err);
    if (code || (code = weir_yaml_need(doc, figure, "value", WEIR_YAML_SCALAR, &v, err)) ||
        (code = weir_yaml_need(doc, figure, "source", WEIR_YAML_SCALAR, &source, err)) ||
        (code = weir_yaml_need(doc, figure, "confidence", WEIR_YAML_SCALAR, &confidence, err)) ||
        (code = weir_yaml_choice(doc, confidence, words, 5, &word, err))) {
        return code;
    }
    if (!sources || !weir_yaml_find(sources, source->text.p)) {
        return weir_yaml_reject(doc, source, "a key of `sources`", err);
    }
    return is_bytes ? weir_unit_read(doc, v, WEIR_DIMENSION_BYTES, value, err)
                    : read_number(doc, v, value, err);
}

static weir_code read_pattern(const weir_yaml *doc, const weir_yaml_node *pattern,
                              weir_contrast *contrast, weir_err *err)
{
    static const char *const keys[] = {"message_bytes", "fan_out", "persistence", "duty"};
    const char *name = weir_arena_copy(contrast->arena, pattern->key);
    if (!name) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for presets/traffic.yaml");
    }
    weir_fabric_traffic_row row = {.name = name,
                                   .axis = name,
                                   .bytes = NAN,
                                   .message_bytes = NAN,
                                   .peak_to_mean = NAN,
                                   .synchrony = NAN,
                                   .fan_out = NAN,
                                   .duty = NAN,
                                   .needed_bytes_per_s = NAN,
                                   .available_bytes_per_s = NAN,
                                   .persistence = NAN,
                                   .is_contrast = true};
    double *const figures[] = {&row.message_bytes, &row.fan_out, &row.persistence, &row.duty};
    weir_code code = weir_yaml_check_keys(doc, pattern, keys, 4, err);
    for (uint32_t i = 0; i < 4 && code == WEIR_OK; i++) {
        const weir_yaml_node *figure = weir_yaml_find(pattern, keys[i]);
        if (figure) {
            code = read_figure(doc, figure, i == 0, figures[i], err);
        }
    }
    if (code == WEIR_OK && contrast->count == WEIR_CONTRAST_MAX) {
        return weir_yaml_reject(doc, pattern, "at most 8 patterns", err);
    }
    if (code == WEIR_OK) {
        contrast->rows[contrast->count++] = row;
    }
    return code;
}

static weir_code read_document(const weir_yaml *doc, weir_contrast *contrast, weir_err *err)
{
    static const char *const keys[] = {"sources", "duty_share", "least_use", "patterns"};
    const weir_yaml_node *root = weir_yaml_root(doc), *duty, *use, *patterns;
    weir_code code = weir_yaml_check_keys(doc, root, keys, 4, err);
    if (code || (code = weir_yaml_need(doc, root, "duty_share", WEIR_YAML_MAPPING, &duty, err)) ||
        (code = weir_yaml_need(doc, root, "least_use", WEIR_YAML_MAPPING, &use, err)) ||
        (code = weir_yaml_need(doc, root, "patterns", WEIR_YAML_MAPPING, &patterns, err)) ||
        (code = read_figure(doc, duty, false, &contrast->duty_share, err)) ||
        (code = read_figure(doc, use, false, &contrast->least_use, err))) {
        return code;
    }
    for (const weir_yaml_node *p = patterns->first; p && code == WEIR_OK; p = p->next) {
        code = read_pattern(doc, p, contrast, err);
    }
    return code;
}

weir_code weir_contrast_load(weir_contrast *contrast, weir_err *err)
{
    weir_contrast made = {.arena = weir_arena_new()};
    weir_yaml *doc = NULL;
    if (!made.arena) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for presets/traffic.yaml");
    }
    weir_code code = weir_preset_open("traffic.yaml", &doc, err);
    if (code == WEIR_OK) {
        code = read_document(doc, &made, err);
    }
    weir_yaml_free(doc);
    if (code == WEIR_OK) {
        *contrast = made;
    } else {
        weir_contrast_clear(&made);
    }
    return code;
}

void weir_contrast_clear(weir_contrast *contrast)
{
    weir_arena_free(contrast->arena);
    *contrast = (weir_contrast){0};
}
