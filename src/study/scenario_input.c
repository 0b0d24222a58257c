/* scenario_input.c: what the readers of sections have in common: documents, files beside them,
 * names of presets, presets' figures as plain values. */
#include "scenario/preset.h"
#include "study/scenario_inside.h"

#include <string.h>

enum { MOST_PRESETS = 256 };

weir_code scenario_no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a scenario");
}

weir_code scenario_open(scenario_reader *r, const weir_yaml_node *node, const char **path,
                        weir_source **source, weir_err *err)
{
    static const weir_key file = {.name = "file", .type = WEIR_KEY_TEXT};
    weir_err inner = {0};
    weir_text joined = {0};
    const char *name;
    weir_code code = weir_key_read(&r->source, node, &file, &name, err);
    if (code != WEIR_OK) {
        return code;
    }
    /* Beside the input that names it: a mix has candidates of another file. */
    const char *beside = node->origin && node->line ? node->origin : weir_yaml_name(r->source.doc);
    const char *slash = strrchr(beside, '/');
    int folder = slash && name[0] != '/' ? (int)(slash - beside) + 1 : 0;
    weir_text_printf(&joined, "%.*s%s", folder, beside, name);
    *path = joined.failed ? NULL : weir_arena_copy(r->source.arena, weir_str_from(joined.p));
    weir_text_clear(&joined);
    if (!*path) {
        return scenario_no_memory(err);
    }
    code = weir_source_open(*path, 0, source, &inner);
    if (code == WEIR_ERR_IO) {
        return weir_yaml_fail(r->source.doc, node, err, "found '%.100s', expected a file: %.250s",
                              name, inner.text);
    }
    return code == WEIR_OK ? code : weir_err_set(err, code, "%s", inner.text);
}

weir_code scenario_read_id(scenario_reader *r, const weir_yaml_node *node, const char *folder,
                           const char **id, weir_err *err)
{
    const char *known[MOST_PRESETS], *path;
    uint32_t state = 0, count = 0, at;
    size_t skip = strlen(folder) + 1;
    while ((path = weir_preset_next(folder, &state)) && count < MOST_PRESETS) {
        weir_str name = {path + skip, (uint32_t)(strlen(path) - skip - strlen(".yaml"))};
        known[count] = weir_arena_copy(r->source.arena, name);
        if (!known[count++]) {
            return scenario_no_memory(err);
        }
    }
    if (count == 0) {
        return weir_yaml_fail(r->source.doc, node, err, "presets/%s is empty", folder);
    }
    weir_code code = weir_yaml_choice(r->source.doc, node, known, count, &at, err);
    if (code == WEIR_OK) {
        *id = known[at];
    }
    return code;
}

weir_code scenario_read_file(const char *path, scenario_reading read, void *context, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_yaml_read(path, &doc, err);
    code = code == WEIR_OK ? read(doc, context, err) : code;
    weir_yaml_free(doc);
    return code;
}

weir_code scenario_read_bytes(const char *name, const char *bytes, size_t n, scenario_reading read,
                              void *context, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_yaml_parse(name, bytes, n, &doc, err);
    code = code == WEIR_OK ? read(doc, context, err) : code;
    weir_yaml_free(doc);
    return code;
}

/* Whether the member is left out. */
static bool is_among(const char *const *without, weir_str key)
{
    for (; without && *without; without++) {
        if (weir_str_eq(key, weir_str_from(*without))) {
            return true;
        }
    }
    return false;
}

const weir_yaml_node *scenario_plain_members(const weir_yaml_node *mapping,
                                             const char *const *without, const char *origin,
                                             weir_arena *arena)
{
    weir_yaml_node *made = weir_arena_alloc(arena, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    const weir_yaml_node **tail = &made->first;
    *made = *mapping;
    made->first = made->next = NULL;
    made->count = 0;
    for (const weir_yaml_node *m = mapping->first; m; m = m->next) {
        const weir_yaml_node *value =
            m->kind == WEIR_YAML_MAPPING ? weir_yaml_find(m, "value") : NULL;
        if (is_among(without, m->key)) {
            continue;
        }
        weir_yaml_node *copy = weir_arena_alloc(arena, 1, sizeof *copy);
        if (!copy) {
            return NULL;
        }
        *copy = value ? *value : *m;
        copy->key = m->key;
        copy->key_line = m->key_line;
        copy->key_column = m->key_column;
        copy->origin = origin ? origin : m->origin;
        copy->next = NULL;
        *tail = copy;
        tail = &copy->next;
        made->count++;
    }
    return made;
}
