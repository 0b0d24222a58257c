/* train_reliability.c: failures and checkpoints of a training run; presets/reliability.yaml has
 * what is not written. */
#include "model/model_count.h"
#include "study/train_inside.h"

#include <stddef.h>

typedef struct {
    const weir_yaml_node *preset;
    double device_mtbf_s, detect_s, restart_s;
} raw_reliability;

typedef struct {
    double interval_s, bytes_per_parameter, storage_bytes_per_s, host_copy_bytes_per_s;
    bool asynchronous;
} raw_checkpoint;

#define SECONDS .type = WEIR_KEY_QUANTITY, .dimension = WEIR_DIMENSION_SECONDS
#define RATE    .type = WEIR_KEY_QUANTITY, .dimension = WEIR_DIMENSION_BYTES_PER_S

static const char preset_has[] = "that of presets/reliability.yaml";

static const weir_key reliability_keys[] = {
    {.name = "preset",
     .type = WEIR_KEY_NODE,
     .offset = offsetof(raw_reliability, preset),
     .help = "a cluster of presets/reliability.yaml whose rate of failures is taken",
     .shown = "its `default`",
     .example = "a100-rsc"},
    {.name = "device_mtbf",
     SECONDS,
     .offset = offsetof(raw_reliability, device_mtbf_s),
     .above = true,
     .help = "mean time between failures of one device with its share of host and network",
     .shown = preset_has,
     .example = "50000 h"},
    {.name = "detect",
     SECONDS,
     .offset = offsetof(raw_reliability, detect_s),
     .help = "until a failure is noticed",
     .shown = preset_has,
     .example = "10 min"},
    {.name = "restart",
     SECONDS,
     .offset = offsetof(raw_reliability, restart_s),
     .help = "from then until the job works again",
     .shown = preset_has,
     .example = "15 min"},
};

const weir_key_table train_reliability_keys = {
    .title = "reliability",
    .about = "How often a training job fails; `none`: never.",
    .keys = reliability_keys,
    .count = sizeof reliability_keys / sizeof *reliability_keys,
};

static const weir_key checkpoint_keys[] = {
    {.name = "interval",
     SECONDS,
     .offset = offsetof(raw_checkpoint, interval_s),
     .unset = "0 s",
     .help = "of work between two checkpoints",
     .shown = "the best one (Daly)",
     .example = "30 min"},
    {.name = "asynchronous",
     .type = WEIR_KEY_BOOL,
     .offset = offsetof(raw_checkpoint, asynchronous),
     .unset = "yes",
     .help = "training goes on once the state is copied to the hosts' memory",
     .example = "no"},
    {.name = "bytes_per_parameter",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(raw_checkpoint, bytes_per_parameter),
     .above = true,
     .max = 64,
     .help = "that a checkpoint has",
     .shown = preset_has,
     .example = "14"},
    {.name = "storage",
     RATE,
     .offset = offsetof(raw_checkpoint, storage_bytes_per_s),
     .above = true,
     .help = "that the whole cluster writes",
     .shown = preset_has,
     .example = "2 TB/s"},
    {.name = "host_copy",
     RATE,
     .offset = offsetof(raw_checkpoint, host_copy_bytes_per_s),
     .above = true,
     .help = "that one device copies to its host",
     .shown = preset_has,
     .example = "10 GB/s"},
};

const weir_key_table train_checkpoint_keys = {
    .title = "checkpoint",
    .about = "What is written so that a failed job need not begin anew; `none`: nothing.",
    .keys = checkpoint_keys,
    .count = sizeof checkpoint_keys / sizeof *checkpoint_keys,
};

/* A section of the preset into *raw; what is there besides is not looked at. */
static weir_code read_section(const train_reader *r, const weir_yaml_node *section,
                              const weir_key_table *table, void *raw, weir_err *err)
{
    const weir_key_source source = {r->shelf->reliability, r->source.arena};
    const weir_yaml_node *plain = scenario_plain_members(section, NULL, NULL, r->source.arena);
    return plain ? weir_keys_read(&source, plain, table, 0, raw, err) : scenario_no_memory(err);
}

/* The rate of failures of the cluster that is named, or of the default one. */
static weir_code read_cluster_rate(train_reader *r, const weir_yaml_node *named,
                                   raw_reliability *raw, weir_err *err)
{
    enum { MOST = 32 };
    const weir_yaml *doc = r->shelf->reliability;
    const weir_yaml_node *root = weir_yaml_root(doc), *clusters, *usual;
    const char *names[MOST];
    uint32_t count = 0, at;
    weir_code code = weir_yaml_need(doc, root, "clusters", WEIR_YAML_MAPPING, &clusters, err);
    if (code == WEIR_OK) {
        code = weir_yaml_need(doc, root, "default", WEIR_YAML_SCALAR, &usual, err);
    }
    for (const weir_yaml_node *n = code == WEIR_OK ? clusters->first : NULL; n && count < MOST;
         n = n->next) {
        names[count++] = n->key.p;
    }
    if (code == WEIR_OK) {
        code = named ? weir_yaml_choice(r->source.doc, named, names, count, &at, err)
                     : weir_yaml_choice(doc, usual, names, count, &at, err);
    }
    return code == WEIR_OK ? read_section(r, weir_yaml_find(clusters, names[at]),
                                          &train_reliability_keys, raw, err)
                           : code;
}

static weir_code read_reliability(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_reliability raw = {0};
    weir_goodput_job *job = &r->scenario->goodput;
    const weir_yaml *doc = r->shelf->reliability;
    const weir_yaml_node *recovery, *named = NULL;
    if (node && train_is_word(node, "none")) {
        return WEIR_OK;
    }
    if (node) {
        named = node->kind == WEIR_YAML_MAPPING ? weir_yaml_find(node, "preset") : node;
    }
    weir_code code = read_cluster_rate(r, named, &raw, err);
    if (code == WEIR_OK) {
        code =
            weir_yaml_need(doc, weir_yaml_root(doc), "recovery", WEIR_YAML_MAPPING, &recovery, err);
    }
    if (code == WEIR_OK) {
        code = read_section(r, recovery, &train_reliability_keys, &raw, err);
    }
    if (code == WEIR_OK && node && node->kind == WEIR_YAML_MAPPING) {
        code = weir_keys_read(&r->source, node, &train_reliability_keys, 0, &raw, err);
    }
    job->device_mtbf_s = raw.device_mtbf_s;
    job->detect_s = raw.detect_s;
    job->restart_s = raw.restart_s;
    return code;
}

static weir_code read_checkpoint(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_checkpoint raw = {0};
    weir_goodput_job *job = &r->scenario->goodput;
    const weir_yaml *doc = r->shelf->reliability;
    const weir_yaml_node *section;
    if (node && train_is_word(node, "none")) {
        return WEIR_OK;
    }
    weir_code code =
        weir_yaml_need(doc, weir_yaml_root(doc), "checkpoint", WEIR_YAML_MAPPING, &section, err);
    if (code == WEIR_OK) {
        code = read_section(r, section, &train_checkpoint_keys, &raw, err);
    }
    if (code == WEIR_OK && node) {
        code = weir_keys_read(&r->source, node, &train_checkpoint_keys, 0, &raw, err);
    }
    double parameters = (double)weir_count_model(&r->scenario->model).total;
    job->interval_s = raw.interval_s;
    job->asynchronous = raw.asynchronous;
    job->state_bytes = parameters * raw.bytes_per_parameter / job->devices;
    job->stored_bytes_per_s = raw.storage_bytes_per_s / job->devices;
    job->copied_bytes_per_s = raw.host_copy_bytes_per_s;
    return code;
}

weir_code train_read_goodput(train_reader *r, const weir_yaml_node *reliability,
                             const weir_yaml_node *checkpoint, weir_err *err)
{
    const weir_cluster *c = &r->scenario->cluster;
    r->scenario->goodput = (weir_goodput_job){.devices = (double)c->nodes * c->devices};
    weir_code code = read_reliability(r, reliability, err);
    return code == WEIR_OK ? read_checkpoint(r, checkpoint, err) : code;
}
