#include "cli/resolved.h"

#include "base/intern.h"
#include "base/text.h"
#include "scenario/embedded.h"

/* Leaves of the tree, in the order in which they stand, with the way to them. */
typedef struct {
    weir_result *result;
    struct weir_scenario_row *rows; /* NULL: only counting */
    uint32_t count;
    weir_text key, all; /* all: "key=value" lines, for the hash */
} flattening;

static void add_leaf(flattening *f, weir_str value)
{
    if (f->rows) {
        f->rows[f->count].key =
            weir_result_copy(f->result, (weir_str){f->key.p, (uint32_t)f->key.n});
        f->rows[f->count].value = weir_result_copy(f->result, value);
        weir_text_bytes(&f->all, f->key.p, f->key.n);
        weir_text_char(&f->all, '=');
        weir_text_add(&f->all, value);
        weir_text_char(&f->all, '\n');
    }
    f->count++;
}

static void flatten(flattening *f, const weir_yaml_node *node, uint32_t depth)
{
    enum { DEEPEST = 64 }; /* as codec/yaml.h allows */
    size_t before = f->key.n;
    uint32_t position = 0;
    if (node->kind == WEIR_YAML_SCALAR || node->count == 0 || depth == DEEPEST) {
        bool is_list = node->kind == WEIR_YAML_SEQUENCE;
        add_leaf(f, node->kind == WEIR_YAML_SCALAR ? node->text
                    : is_list                      ? WEIR_STR("[]")
                                                   : WEIR_STR("{}"));
        return;
    }
    for (const weir_yaml_node *child = node->first; child; child = child->next, position++) {
        if (before > 0)
            weir_text_char(&f->key, '.');
        if (node->kind == WEIR_YAML_MAPPING)
            weir_text_add(&f->key, child->key);
        else
            weir_text_printf(&f->key, "%u", (unsigned)position);
        flatten(f, child, depth + 1);
        f->key.n = before;
    }
}

static weir_code note_rows(const weir_yaml_node *root, weir_result *result, weir_err *err)
{
    flattening f = {.result = result};
    flatten(&f, root, 0);
    f.rows = weir_arena_alloc(result->arena, (size_t)f.count + 1, sizeof *f.rows);
    bool failed = !f.rows;
    if (!failed) {
        f.count = 0;
        flatten(&f, root, 0);
        result->scenario = f.rows;
        result->scenario_count = f.count;
        unsigned long long hash = weir_hash(f.all.p ? f.all.p : "", f.all.n);
        result->scenario_hash = weir_result_printf(result, "%016llx", hash);
    }
    for (uint32_t i = 0; !failed && i < f.count; i++)
        failed = !f.rows[i].key || !f.rows[i].value;
    failed |= f.key.failed || f.all.failed || (!failed && !result->scenario_hash);
    weir_text_clear(&f.key);
    weir_text_clear(&f.all);
    return failed ? weir_err_set(err, WEIR_ERR_MEMORY, "no memory") : WEIR_OK;
}

static weir_code note_inputs(const resolved_request *request, weir_result *result, weir_err *err)
{
    uint32_t count = request->input_count;
    result->inputs = weir_arena_alloc(result->arena, (size_t)count + 1, sizeof *result->inputs);
    for (uint32_t i = 0; result->inputs && i < count; i++) {
        result->inputs[i] = weir_result_copy(result, weir_str_from(request->inputs[i]));
        if (!result->inputs[i])
            return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    }
    result->input_count = count;
    return result->inputs ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
}

/* The bytes of all presets whose path begins so; false: there are none. */
static bool hash_presets(weir_str start, uint64_t *hash)
{
    uint32_t count;
    const weir_embedded_file *files = weir_embedded_files(&count);
    bool any = false;
    *hash = 0;
    for (uint32_t i = 0; i < count; i++)
        if (weir_str_starts(weir_str_from(files[i].path), start)) {
            *hash = *hash * 31 + weir_hash(files[i].bytes, files[i].n);
            any = true;
        }
    return any;
}

static weir_code note_presets(const resolved_request *request, weir_result *result, weir_err *err)
{
    result->presets =
        weir_arena_alloc(result->arena, (size_t)request->preset_count + 1, sizeof *result->presets);
    result->preset_count = 0;
    for (uint32_t k = 0; result->presets && k < request->preset_count; k++) {
        uint64_t hash;
        weir_str name = weir_str_from(request->presets[k]);
        if (!hash_presets(name, &hash))
            continue;
        name.n -= name.p[name.n - 1] == '/';
        result->presets[result->preset_count++] = (struct weir_preset_row){
            weir_result_copy(result, name),
            weir_result_printf(result, "%016llx", (unsigned long long)hash)};
    }
    return result->presets ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
}

weir_code resolved_note(const resolved_request *request, weir_result *result, weir_err *err)
{
    weir_code code = note_rows(request->root, result, err);
    if (code == WEIR_OK)
        code = note_inputs(request, result, err);
    if (code == WEIR_OK && result->preset_count == 0)
        code = note_presets(request, result, err);
    return code;
}
