/* train_scenario.c: the sections of a training scenario put together, and checked as a whole. */
#include "study/train_scenario.h"

#include "fabric/cable_list.h"
#include "model/model_source.h"
#include "study/train_inside.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    const char *name;
    uint64_t seed;
    uint32_t steps;
    const weir_yaml_node *model, *cluster, *stack, *plan, *network, *disturb, *reliability,
        *checkpoint, *data;
} raw_scenario;

#define AT(member)      offsetof(raw_scenario, member)
#define SECTION(member) .name = #member, .type = WEIR_KEY_NODE, .offset = AT(member)

static const weir_key top_keys[] = {
    {.name = "name",
     .type = WEIR_KEY_TEXT,
     .offset = AT(name),
     .help = "what reports call it",
     .shown = "the file's name",
     .example = "Llama 3 405B on 16,384 H100"},
    {.name = "seed",
     .type = WEIR_KEY_UINT64,
     .offset = AT(seed),
     .unset = "1",
     .help = "of all that is drawn: jitter, the ways of ECMP",
     .example = "1"},
    {.name = "steps",
     .type = WEIR_KEY_UINT,
     .offset = AT(steps),
     .min = 1,
     .max = 1000,
     .unset = "1",
     .help = "how many are played",
     .example = "4"},
    {SECTION(model), .needed = WEIR_KEY_ALWAYS,
     .help =
         "a name of presets/models, the path of a config.json, or a mapping with its dimensions",
     .example = "llama3-405b"},
    {SECTION(cluster), .needed = WEIR_KEY_ALWAYS, .help = "accelerators, nodes and what joins them",
     .example = "{accelerator: h100-sxm, nodes: 8}"},
    {SECTION(stack),
     .help = "the software: a name of presets/stacks, or a mapping with its facts and constants",
     .shown = "megatron-core", .example = "nemo-24.12"},
    {SECTION(plan), .needed = WEIR_KEY_ALWAYS,
     .help = "how the model is divided, and in what order it is computed",
     .example = "{tensor: 8, pipeline: 16, global_batch: 2048, sequence: 8192}"},
    {SECTION(network),
     .help = "between nodes: a name of presets/fabrics, or a mapping with the keys of a candidate",
     .shown = "ideal: no link is shared",
     .example = "{kind: clos, switch: tomahawk5-400g, oversubscription: [1, 3]}"},
    {SECTION(disturb), .help = "what makes steps slower than planned", .shown = "nothing",
     .example = "{slow: [{device: 3, factor: 1.3}]}"},
    {SECTION(reliability),
     .help = "how often the job fails; a cluster of presets/reliability.yaml, a mapping, or `none`",
     .shown = "its `default`", .example = "a100-rsc"},
    {SECTION(checkpoint), .help = "what is written and how often; a mapping or `none`",
     .shown = "presets/reliability.yaml", .example = "{interval: 30 min}"},
    {SECTION(data), .help = "loading of data", .shown = "never waited for",
     .example = "{wait: 20 ms}"},
};

static const weir_key_table top = {
    .title = "The file, in training",
    .about = "One YAML (or JSON) document.",
    .keys = top_keys,
    .count = sizeof top_keys / sizeof *top_keys,
};

/* --- the whole ---------------------------------------------------------------------------- */

/* The fault where its key was written, in its section where it was not. */
static weir_code reject(train_reader *r, const weir_yaml_node *root, const weir_train_fault *fault,
                        weir_err *err)
{
    const weir_yaml_node *plan = weir_yaml_find(root, "plan");
    const char *dot = strchr(fault->key, '.');
    const weir_yaml_node *member = dot ? weir_yaml_find(plan, dot + 1) : NULL;
    if (!member && strcmp(fault->key, "plan.recompute_layers") == 0) {
        member = weir_yaml_find(plan, "recompute"); /* block, or {layers: n} */
    }
    if (member && member->line == 0) { /* --set names it */
        return weir_yaml_fail(r->source.doc, member, err, "%s", fault->text);
    }
    return weir_yaml_fail(r->source.doc, member ? member : plan, err, "%s: %s", fault->key,
                          fault->text);
}

static weir_code check(train_reader *r, const weir_yaml_node *root, weir_err *err)
{
    weir_train_scenario *s = r->scenario;
    weir_train_fault fault = {0};
    uint64_t devices = (uint64_t)s->cluster.nodes * s->cluster.devices;
    return weir_train_is_sound(&s->job, devices, &fault) ? WEIR_OK : reject(r, root, &fault, err);
}

/* Files are looked for beside the scenario. */
static weir_code read_model(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_train_scenario *s = r->scenario;
    const char *slash = strrchr(s->file, '/');
    weir_str folder = {s->file, slash ? (uint32_t)(slash - s->file) : 0};
    const char *copy = weir_arena_copy(r->source.arena, folder);
    weir_code code =
        copy ? weir_model_read(r->source.doc, node, copy, &s->model, err) : scenario_no_memory(err);
    s->job.model = &s->model;
    s->job.chains = &r->shelf->chains;
    return code;
}

static weir_code read_rest(train_reader *r, const raw_scenario *raw, weir_err *err)
{
    weir_code code = train_read_network(r, raw->network, err);
    if (code == WEIR_OK) {
        code = train_read_disturb(r, raw->disturb, err);
    }
    if (code == WEIR_OK) {
        code = train_read_data(r, raw->data, err);
    }
    return code == WEIR_OK ? train_read_goodput(r, raw->reliability, raw->checkpoint, err) : code;
}

/* NULL: no memory. */
static const char *place_of(const train_reader *r, const weir_yaml_node *section, const char *key)
{
    const weir_yaml_node *member = section ? weir_yaml_find(section, key) : NULL;
    weir_err at = {0};
    (void)weir_yaml_fail(r->source.doc, member ? member : section, &at, "%s", "");
    return weir_arena_copy(r->source.arena, weir_str_from(at.text));
}

static weir_code note_places(train_reader *r, const weir_yaml_node *root, weir_err *err)
{
    r->scenario->steps_at = place_of(r, root, "steps");
    r->scenario->batch_at = place_of(r, weir_yaml_find(root, "plan"), "global_batch");
    return r->scenario->steps_at && r->scenario->batch_at ? WEIR_OK : scenario_no_memory(err);
}

static weir_code read_sections(train_reader *r, const weir_yaml_node *root, weir_err *err)
{
    weir_train_scenario *s = r->scenario;
    raw_scenario raw = {0};
    weir_code code = weir_keys_read(&r->source, root, &top, 0, &raw, err);
    if (code == WEIR_OK) {
        s->name = raw.name ? raw.name : s->file;
        s->seed = raw.seed;
        s->steps = raw.steps;
        code = read_model(r, raw.model, err);
    }
    if (code == WEIR_OK) {
        code = train_read_cluster(r, raw.cluster, err);
    }
    if (code == WEIR_OK) {
        code = train_read_stack(r, raw.stack, err);
    }
    if (code == WEIR_OK) {
        code = train_read_plan(r, raw.plan, err);
    }
    if (code == WEIR_OK) {
        code = check(r, root, err);
    }
    if (code == WEIR_OK) {
        code = note_places(r, root, err);
    }
    return code == WEIR_OK ? read_rest(r, &raw, err) : code;
}

static weir_code make(train_reader *r, const weir_setting *settings, uint32_t setting_count,
                      weir_err *err)
{
    const weir_yaml *doc = r->source.doc;
    const weir_yaml_node *root;
    r->scenario->file = weir_arena_copy(r->source.arena, weir_str_from(weir_yaml_name(doc)));
    if (!r->scenario->file) {
        return scenario_no_memory(err);
    }
    weir_code code = weir_settings_apply(weir_yaml_root(doc), settings, setting_count,
                                         r->source.arena, &root, err);
    if (code == WEIR_OK) {
        code = train_shelf_fill(r->shelf, err);
    }
    return code == WEIR_OK ? read_sections(r, root, err) : code;
}

/* What is read, with whose presets (NULL: its own), to where. */
typedef struct {
    const weir_setting *settings;
    uint32_t setting_count;
    weir_train_shelf *lent;
    weir_train_scenario *scenario;
} reading;

static weir_code read_doc(const weir_yaml *doc, void *context, weir_err *err)
{
    reading *to = context;
    weir_train_scenario made = {.arena = weir_arena_new(),
                                .shelf = to->lent ? NULL : weir_train_shelf_new()};
    train_reader r = {{doc, made.arena}, to->lent ? to->lent : made.shelf, &made};
    weir_code code = made.arena && r.shelf ? make(&r, to->settings, to->setting_count, err)
                                           : scenario_no_memory(err);
    if (code == WEIR_OK) {
        *to->scenario = made;
        to->scenario->job.model = &to->scenario->model;
    } else {
        weir_train_scenario_clear(&made);
    }
    return code;
}

weir_code weir_train_scenario_read(const char *path, const weir_setting *settings,
                                   uint32_t setting_count, weir_train_scenario *scenario,
                                   weir_err *err)
{
    reading to = {settings, setting_count, NULL, scenario};
    return scenario_read_file(path, read_doc, &to, err);
}

weir_code weir_train_scenario_parse_on(weir_train_shelf *shelf, const weir_train_input *input,
                                       weir_train_scenario *scenario, weir_err *err)
{
    reading to = {input->settings, input->setting_count, shelf, scenario};
    return scenario_read_bytes(input->name, input->bytes, input->n, read_doc, &to, err);
}

weir_code weir_train_scenario_parse(const char *name, const char *bytes, size_t n,
                                    const weir_setting *settings, uint32_t setting_count,
                                    weir_train_scenario *scenario, weir_err *err)
{
    const weir_train_input input = {name, bytes, n, settings, setting_count};
    return weir_train_scenario_parse_on(NULL, &input, scenario, err);
}

void weir_train_scenario_clear(weir_train_scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->network.candidate_count; i++) {
        weir_cable_list_clear(&scenario->network.candidates[i].list);
    }
    weir_parts_free(scenario->parts);
    weir_train_shelf_free(scenario->shelf);
    weir_arena_free(scenario->arena);
    *scenario = (weir_train_scenario){0};
}

void weir_train_scenario_describe(weir_text *page)
{
    const weir_key_table *const tables[] = {
        &top,
        &train_cluster_keys,
        &weir_model_keys,
        &train_stack_keys,
        &train_plan_keys,
        &train_disturb_keys,
        &train_broken_keys,
        &train_data_keys,
        &train_reliability_keys,
        &train_checkpoint_keys,
    };
    weir_text_add(page, WEIR_STR("\n# Keys of weir train\n"));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        weir_keys_describe(tables[i], page);
    }
}
