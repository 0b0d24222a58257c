#include "study/train_scenario.h"

#include "model/model_source.h"
#include "study/train_inside.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    const char *name;
    uint64_t seed;
    uint32_t steps;
    uint32_t kernels;
    const weir_yaml_node *model, *cluster, *stack, *plan;
} raw_scenario;

#define AT(member) offsetof(raw_scenario, member)

static const char *const kernel_choices[] = {"measured", "datasheet"};

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
     .help = "of all that is drawn: jitter",
     .example = "1"},
    {.name = "steps",
     .type = WEIR_KEY_UINT,
     .offset = AT(steps),
     .min = 1,
     .max = 1000,
     .unset = "1",
     .help = "how many are played",
     .example = "1"},
    {.name = "model",
     .type = WEIR_KEY_NODE,
     .offset = AT(model),
     .needed = WEIR_KEY_ALWAYS,
     .help = "a name of presets/models, {config: config.json}, or its dimensions",
     .example = "llama3-405b"},
    {.name = "cluster",
     .type = WEIR_KEY_NODE,
     .offset = AT(cluster),
     .needed = WEIR_KEY_ALWAYS,
     .help = "accelerators, nodes and what joins them",
     .example = "{accelerator: h100-sxm, nodes: 8, node_link: nvlink4, nic: cx7-400g}"},
    {.name = "kernels",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(kernels),
     .words = kernel_choices,
     .word_count = 2,
     .unset = "measured",
     .help =
         "kernel times: fitted to measurements where there are any, or what the datasheet tells",
     .example = "datasheet"},
    {.name = "stack",
     .type = WEIR_KEY_NODE,
     .offset = AT(stack),
     .needed = WEIR_KEY_ALWAYS,
     .help = "the software, a name of presets/stacks or its facts and constants",
     .example = "megatron-core"},
    {.name = "plan",
     .type = WEIR_KEY_NODE,
     .offset = AT(plan),
     .needed = WEIR_KEY_ALWAYS,
     .help = "how the model is divided",
     .example = "{tensor: 8, pipeline: 16, global_batch: 2048, sequence: 8192}"},
};

static const weir_key_table top = {
    .title = "The file",
    .about = "One YAML document.",
    .keys = top_keys,
    .count = sizeof top_keys / sizeof *top_keys,
};

/* --- cluster --- */

static double node_rate(const weir_cluster *c)
{
    const weir_link_part *link = c->node_link;
    if (!link) {
        return c->devices > 1 && c->pcie ? c->pcie->bytes_per_s : 0;
    }
    double cables = link->wiring == WEIR_NODE_MESHED ? c->devices - 1.0
                    : link->wiring == WEIR_NODE_RING ? 2
                                                     : 1;
    return link->bytes_per_s * cables;
}

weir_code train_read_cluster(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_fabric_scenario shell = {.file = r->scenario->file,
                                  .parts = r->shelf->parts,
                                  .accelerators = r->shelf->accelerators,
                                  .arena = r->source.arena};
    scenario_reader reader = {.source = r->source, .scenario = &shell};
    weir_code code = scenario_read_cluster(&reader, node, err);
    const weir_cluster *c = &shell.cluster;
    if (code == WEIR_OK && !c->accelerator) {
        return weir_yaml_fail(
            r->source.doc, node, err,
            "found no accelerator, expected accelerator: h100-sxm or another name "
            "of presets/accelerators");
    }
    if (code != WEIR_OK) {
        return code;
    }
    weir_train_network *net = &r->scenario->job.network;
    r->scenario->cluster = *c;
    *net = (weir_train_network){.devices_per_node = c->devices,
                                .node_bytes_per_s = node_rate(c),
                                .nic_bytes_per_s = c->nic->bytes_per_s * c->nics / c->devices,
                                .node_transport = c->node_link ? c->node_link->id : NULL,
                                .network_transport = c->nic->id,
                                .has_node_reduction =
                                    c->node_link && c->node_link->wiring == WEIR_NODE_SWITCHED};
    for (uint32_t a = 0; a < WEIR_AXIS_COUNT; a++) {
        net->factor[a] = 1;
    }
    return c->library ? train_shelf_library(r->shelf, c->library, &net->library, err) : WEIR_OK;
}

/* --- the whole --- */

static weir_code check(train_reader *r, const weir_yaml_node *root, weir_err *err)
{
    weir_train_scenario *s = r->scenario;
    weir_train_fault fault = {0};
    uint64_t devices = (uint64_t)s->cluster.nodes * s->cluster.devices;
    if (weir_train_is_sound(&s->job, devices, &fault)) {
        return WEIR_OK;
    }
    const weir_yaml_node *at = weir_yaml_find(root, "plan");
    const char *dot = strchr(fault.key, '.');
    const weir_yaml_node *member = at && dot ? weir_yaml_find(at, dot + 1) : NULL;
    return weir_yaml_fail(r->source.doc, member ? member : at, err, "%s: %s", fault.key,
                          fault.text);
}

static weir_code read_model(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    const char *file = r->scenario->file, *slash = strrchr(file, '/');
    weir_str folder = {file, slash ? (uint32_t)(slash - file) : 0};
    const char *copy = weir_arena_copy(r->source.arena, folder);
    return copy ? weir_model_read(r->source.doc, node, copy, &r->scenario->model, err)
                : scenario_no_memory(err);
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
        code = train_shelf_kernels(r->shelf, s->cluster.accelerator, raw.kernels == 1,
                                   &s->job.kernels, err);
    }
    if (code == WEIR_OK) {
        code = train_read_stack(r, raw.stack, err);
    }
    if (code == WEIR_OK) {
        code = train_read_plan(r, raw.plan, err);
    }
    s->job.model = &s->model;
    return code == WEIR_OK ? check(r, root, err) : code;
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
    if (code == WEIR_OK && !r->shelf->parts) {
        code = weir_parts_load(&r->shelf->parts, err);
    }
    if (code == WEIR_OK && !r->shelf->accelerators) {
        code = weir_accelerators_load(&r->shelf->accelerators, err);
    }
    return code == WEIR_OK ? read_sections(r, root, err) : code;
}

/* lent: NULL, or whose presets are used. */
static weir_code read_doc(const weir_yaml *doc, weir_train_shelf *lent,
                          const weir_setting *settings, uint32_t setting_count,
                          weir_train_scenario *scenario, weir_err *err)
{
    weir_train_scenario made = {.arena = weir_arena_new(),
                                .shelf = lent ? NULL : weir_train_shelf_new()};
    train_reader r = {{doc, made.arena}, lent ? lent : made.shelf, &made};
    weir_code code =
        made.arena && r.shelf ? make(&r, settings, setting_count, err) : scenario_no_memory(err);
    if (code == WEIR_OK) {
        *scenario = made;
        scenario->job.model = &scenario->model;
    } else {
        weir_train_scenario_clear(&made);
    }
    return code;
}

weir_code weir_train_scenario_read(const char *path, const weir_setting *settings,
                                   uint32_t setting_count, weir_train_scenario *scenario,
                                   weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_yaml_read(path, &doc, err);
    if (code == WEIR_OK) {
        code = read_doc(doc, NULL, settings, setting_count, scenario, err);
    }
    weir_yaml_free(doc);
    return code;
}

weir_code weir_train_scenario_parse_on(weir_train_shelf *shelf, const char *name, const char *bytes,
                                       size_t n, const weir_setting *settings,
                                       uint32_t setting_count, weir_train_scenario *scenario,
                                       weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_yaml_parse(name, bytes, n, &doc, err);
    if (code == WEIR_OK) {
        code = read_doc(doc, shelf, settings, setting_count, scenario, err);
    }
    weir_yaml_free(doc);
    return code;
}

weir_code weir_train_scenario_parse(const char *name, const char *bytes, size_t n,
                                    const weir_setting *settings, uint32_t setting_count,
                                    weir_train_scenario *scenario, weir_err *err)
{
    return weir_train_scenario_parse_on(NULL, name, bytes, n, settings, setting_count, scenario,
                                        err);
}

void weir_train_scenario_clear(weir_train_scenario *scenario)
{
    weir_train_shelf_free(scenario->shelf);
    weir_arena_free(scenario->arena);
    *scenario = (weir_train_scenario){0};
}

void weir_train_scenario_describe(weir_text *page)
{
    weir_keys_describe(&top, page);
    weir_keys_describe(&train_plan_keys, page);
    weir_keys_describe(&train_stack_keys, page);
}
