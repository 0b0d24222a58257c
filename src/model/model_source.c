#include "model/model_source.h"

#include "base/nearest.h"
#include "model/model_config.h"
#include "model/model_keys.h"
#include "scenario/preset.h"
#include "scenario/settings.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "models/"
#define SUFFIX ".yaml"

enum { MAX_PRESETS = 256, MAX_PATH = 4096 };

/* --- presets ------------------------------------------------------------------------------ */

/* "models/llama3-8b.yaml" -> "llama3-8b" */
static void id_of(const char *path, char id[WEIR_MODEL_ID])
{
    size_t n = strlen(path) - strlen(FOLDER) - strlen(SUFFIX);
    assert(n < WEIR_MODEL_ID);
    memcpy(id, path + strlen(FOLDER), n);
    id[n] = '\0';
}

bool weir_model_preset_next(uint32_t *state, char id[WEIR_MODEL_ID])
{
    const char *path = weir_preset_next("models", state);
    if (path) {
        id_of(path, id);
    }
    return path != NULL;
}

/* Sets err: the nearest preset to a name that is none. at NULL: no place is known. */
static weir_code unknown_preset(const weir_yaml *doc, const weir_yaml_node *at, weir_str name,
                                weir_err *err)
{
    char ids[MAX_PRESETS][WEIR_MODEL_ID];
    const char *words[MAX_PRESETS];
    uint32_t state = 0, count = 0;
    while (count < MAX_PRESETS && weir_model_preset_next(&state, ids[count])) {
        words[count] = ids[count];
        count++;
    }
    char shown[3 * WEIR_MODEL_ID] = "'llama3-8b'";
    if (weir_nearest_word(name, words, count) != WEIR_NONE) {
        weir_nearest_list(name, words, count, shown, sizeof shown);
    }
    if (at) {
        char expected[sizeof shown + 80];
        snprintf(expected, sizeof expected, "a model of presets/models such as %s, or a file %s",
                 shown, "ending in .json");
        return weir_yaml_reject(doc, at, expected, err);
    }
    return weir_err_set(err, WEIR_ERR_USAGE,
                        "found model '%.*s', expected one of presets/models such as %s",
                        (int)(name.n < 60 ? name.n : 60), name.p, shown);
}

static bool is_preset(weir_str name)
{
    char id[WEIR_MODEL_ID];
    uint32_t state = 0;
    while (weir_model_preset_next(&state, id)) {
        if (weir_str_eq(name, weir_str_from(id))) {
            return true;
        }
    }
    return false;
}

/* name is a preset's id: its document. */
static weir_code open_preset(weir_str name, weir_yaml **doc, weir_err *err)
{
    char path[WEIR_MODEL_ID + sizeof FOLDER + sizeof SUFFIX];
    snprintf(path, sizeof path, FOLDER "%.*s" SUFFIX, (int)name.n, name.p);
    return weir_preset_open(path, doc, err);
}

static void set_id(weir_model *model, weir_str name)
{
    snprintf(model->id, sizeof model->id, "%.*s", (int)name.n, name.p);
}

static weir_code read_preset(weir_str name, weir_model *model, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_model made = {0};
    weir_code code = open_preset(name, &doc, err);
    if (code == WEIR_OK) {
        code = model_keys_read(doc, weir_yaml_root(doc), &made, err);
    }
    weir_yaml_free(doc);
    if (code == WEIR_OK) {
        set_id(&made, name);
        *model = made;
    }
    return code;
}

weir_code weir_model_preset(const char *id, weir_model *model, weir_err *err)
{
    weir_str name = weir_str_from(id);
    return is_preset(name) ? read_preset(name, model, err) : unknown_preset(NULL, NULL, name, err);
}

/* --- scenarios ---------------------------------------------------------------------------- */

static weir_code read_file(const weir_yaml *doc, const weir_yaml_node *node, const char *folder,
                           weir_model *model, weir_err *err)
{
    char path[MAX_PATH];
    bool absolute = node->text.p[0] == '/' || !folder || !folder[0];
    int n = snprintf(path, sizeof path, "%s%s%.*s", absolute ? "" : folder, absolute ? "" : "/",
                     (int)node->text.n, node->text.p);
    if (n < 0 || (size_t)n >= sizeof path || memchr(node->text.p, '\0', node->text.n)) {
        return weir_yaml_reject(doc, node, "the path of a config.json", err);
    }
    weir_err inner = {0};
    weir_code code = weir_model_config_read(path, model, &inner);
    if (code == WEIR_ERR_IO) {
        return weir_yaml_fail(doc, node, err, "found '%.*s', expected a file: %.250s",
                              (int)(node->text.n < 100 ? node->text.n : 100), node->text.p,
                              inner.text);
    }
    if (code != WEIR_OK && err && err->code == WEIR_OK) {
        *err = inner;
    }
    return code;
}

/* The mapping's own keys over those of its preset. */
static weir_code read_over(const weir_yaml *doc, const weir_yaml_node *node, weir_str preset,
                           weir_model *model, weir_err *err)
{
    char origin[WEIR_MODEL_ID + 32];
    weir_yaml *base = NULL;
    weir_arena *arena = weir_arena_new();
    const weir_yaml_node *merged = NULL;
    weir_code code = open_preset(preset, &base, err);
    if (code == WEIR_OK && arena) {
        snprintf(origin, sizeof origin, "presets/" FOLDER "%.*s" SUFFIX, (int)preset.n, preset.p);
        const weir_yaml_node *under = weir_settings_copy(weir_yaml_root(base), origin, true, arena);
        merged = under ? weir_settings_overlay(node, under, arena) : NULL;
    }
    if (code == WEIR_OK && !merged) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a model");
    }
    if (code == WEIR_OK) {
        code = model_keys_read(doc, merged, model, err);
    }
    weir_yaml_free(base);
    weir_arena_free(arena);
    return code;
}

static weir_code read_mapping(const weir_yaml *doc, const weir_yaml_node *node, weir_model *model,
                              weir_err *err)
{
    const weir_yaml_node *preset = weir_yaml_find(node, "preset");
    weir_model made = {0};
    weir_code code;
    if (!preset) {
        code = model_keys_read(doc, node, &made, err);
    } else if (preset->kind != WEIR_YAML_SCALAR || !is_preset(preset->text)) {
        code = unknown_preset(doc, preset, preset->text, err);
    } else {
        code = read_over(doc, node, preset->text, &made, err);
    }
    if (code == WEIR_OK) {
        *model = made;
    }
    return code;
}

weir_code weir_model_read(const weir_yaml *doc, const weir_yaml_node *node, const char *folder,
                          weir_model *model, weir_err *err)
{
    if (node->kind == WEIR_YAML_MAPPING) {
        return weir_model_config_is(node) ? weir_model_config_node(doc, node, model, err)
                                          : read_mapping(doc, node, model, err);
    }
    if (node->kind != WEIR_YAML_SCALAR || node->text.n == 0) {
        return weir_yaml_reject(doc, node, "a model's name, file or dimensions", err);
    }
    if (weir_str_ends(node->text, WEIR_STR(".json"))) {
        return read_file(doc, node, folder, model, err);
    }
    return is_preset(node->text) ? read_preset(node->text, model, err)
                                 : unknown_preset(doc, node, node->text, err);
}
