/* train_scenario.h: a training scenario: one YAML (or JSON) document, read and checked.
 *
 *   model: llama3-405b                # presets/models, a config.json, or dimensions
 *   cluster: {accelerator: h100-sxm, nodes: 2048, devices: 8, node_link: nvlink4, nic: cx7-400g,
 *             library: nccl-2.27}     # as in weir fabric; without node_link, nic, library: the
 *                                     # accelerator's usual ones
 *   stack: megatron-core              # presets/stacks, or {preset: ID, key: value}
 *   plan: {tensor: 8, pipeline: 16, chunks: 4, context: 1, expert: 1, zero: 1, micro_batch: 1,
 *          global_batch: 2048, sequence: 8192, schedule: interleaved, recompute: none,
 *          precision: bf16}           # data follows from the cluster
 *   network: {kind: clos, ...}        # optional: a candidate of weir fabric
 *   disturb: {slow: [{device: 3, factor: 1.3}], jitter: 0.02, broken: [{link: nic 3}]}
 *   reliability: a100-rsc
 *   checkpoint: {interval: 30 min}
 *   data: {wait: 20 ms}
 *
 * All keys: docs/reference/scenario.md. Not here: playing (train_study.h). */
#ifndef WEIR_STUDY_TRAIN_SCENARIO_H
#define WEIR_STUDY_TRAIN_SCENARIO_H

#include "study/fabric_scenario.h"
#include "train/goodput.h"
#include "train/train_check.h"
#include "train/train_program.h"
#include "train/train_step.h"

typedef struct {
    const char *file; /* for errors */
    /* where these keys are written, for errors: "file.yaml:3:5: "; of a missing key its section */
    const char *steps_at, *batch_at;
    const char *name;
    uint64_t seed;
    uint32_t steps; /* to be played */
    weir_model model;
    weir_cluster cluster;
    weir_train_job job;       /* points into this struct */
    weir_goodput_job goodput; /* stored_bytes_per_s 0: no checkpoints */
    const char *precision;    /* as the plan has it: "fp16" */
    bool has_network;
    /* The cluster with one candidate and no phases yet, if has_network. Its owners are this
     * struct's: never cleared by itself. */
    weir_fabric_scenario network;
    weir_slow_entry *slow;
    uint32_t slow_count;
    double jitter;
    weir_train_link *links; /* that carry less for a while */
    uint32_t link_count;
    weir_parts *parts;              /* owned; NULL: those of the shelf do */
    struct weir_train_shelf *shelf; /* owned; NULL: it was lent */
    weir_arena *arena;              /* owned */
} weir_train_scenario;

/* Presets that have been read already, for many scenarios one after the other. Not thread-safe. */
typedef struct weir_train_shelf weir_train_shelf;
weir_train_shelf *weir_train_shelf_new(void);        /* NULL: no memory. Owned (free) */
void weir_train_shelf_free(weir_train_shelf *shelf); /* NULL is fine */

/* Errors name file, line, column, what was found, what was expected. A plan that does not fit
 * itself (train_check.h) is an error here; one that does not fit into memory is not. *scenario is
 * untouched on failure. Owned (clear). */
weir_code weir_train_scenario_read(const char *path, const weir_setting *settings,
                                   uint32_t setting_count, weir_train_scenario *scenario,
                                   weir_err *err);
weir_code weir_train_scenario_parse(const char *name, const char *bytes, size_t n,
                                    const weir_setting *settings, uint32_t setting_count,
                                    weir_train_scenario *scenario, weir_err *err);
/* A document and what is set in it; borrowed. */
typedef struct {
    const char *name; /* what errors call it, and beside which files are looked for */
    const char *bytes;
    size_t n;
    const weir_setting *settings;
    uint32_t setting_count;
} weir_train_input;
/* The same with the presets of a shelf, which must outlive the scenario; NULL: with its own. */
weir_code weir_train_scenario_parse_on(weir_train_shelf *shelf, const weir_train_input *input,
                                       weir_train_scenario *scenario, weir_err *err);
void weir_train_scenario_clear(weir_train_scenario *scenario); /* a zeroed one is fine */

/* Sections of the page docs/reference/scenario.md; keys of `cluster` and of candidates are in
 * those of weir_fabric_scenario_describe. */
void weir_train_scenario_describe(weir_text *page);

#endif
