/* train_inside.h: between the files that read a training scenario: one reader, one function a
 * section, and the shelf of presets that they take from. */
#ifndef WEIR_STUDY_TRAIN_INSIDE_H
#define WEIR_STUDY_TRAIN_INSIDE_H

#include "study/scenario_inside.h"
#include "study/train_scenario.h"

enum { TRAIN_SHELF_PLACES = 64 };

/* What was read of each kind of preset. */
struct weir_train_shelf {
    weir_train_chains chains;
    bool has_chains;
    weir_parts *parts;
    weir_accelerators *accelerators;
    weir_yaml *hosts, *reliability;
    struct {
        bool is_datasheet;
        weir_kernel_times *times;
    } kernels[TRAIN_SHELF_PLACES];
    uint32_t kernel_count;
    struct {
        const char *id; /* owned by the arena */
        weir_library *library;
    } libraries[TRAIN_SHELF_PLACES];
    uint32_t library_count;
    struct {
        const char *id; /* owned by the arena, like all texts of the stack */
        weir_train_stack stack;
    } stacks[TRAIN_SHELF_PLACES];
    uint32_t stack_count;
    weir_arena *arena;
};

/* Reads what all scenarios need. Called before the others. */
weir_code train_shelf_fill(weir_train_shelf *shelf, weir_err *err);
weir_code train_shelf_kernels(weir_train_shelf *shelf, const weir_accelerator *accelerator,
                              bool is_datasheet, const weir_kernel_times **kernels, weir_err *err);
weir_code train_shelf_library(weir_train_shelf *shelf, const char *id, const weir_library **library,
                              weir_err *err);
/* id: of a preset that exists. */
weir_code train_shelf_stack(weir_train_shelf *shelf, const char *id, const weir_train_stack **stack,
                            weir_err *err);

typedef struct {
    weir_key_source source;
    weir_train_shelf *shelf;
    weir_train_scenario *scenario;
} train_reader;

/* As the table reads it. */
enum { TRAIN_LAYOUT_AUTO = WEIR_LAYOUT_LIST + 1 };
typedef struct {
    weir_train_plan plan;
    uint32_t precision, schedule, layout; /* WEIR_SCHEDULE_COUNT, TRAIN_LAYOUT_AUTO: as it fits */
    double packed_mean_length;            /* 0: not written */
    const weir_yaml_node *chunk_layers, *order, *recompute, *recompute_parts;
} train_raw_plan;
extern const weir_gemm_format train_format_of_precision[];
extern const char *const train_precisions[];
/* in the same order */ /* by train_raw_plan.precision */

/* One each for the sections of the document, in this order: what comes later needs what came
 * before. node NULL: not written. */
weir_code train_read_cluster(train_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code train_read_stack(train_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code train_read_plan(train_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code train_read_network(train_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code train_read_disturb(train_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code train_read_data(train_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code train_read_goodput(train_reader *r, const weir_yaml_node *reliability,
                             const weir_yaml_node *checkpoint, weir_err *err);

/* A stack's mapping over *stack; {value: X, source: S} stands for X. Texts go to the arena. */
weir_code train_stack_over(const weir_key_source *source, const weir_yaml_node *node,
                           weir_train_stack *stack, weir_err *err);
/* Whether a preset that is made of no other one has every value. */
weir_code train_stack_is_whole(const weir_yaml *doc, const weir_yaml_node *root, weir_err *err);

static inline bool train_is_word(const weir_yaml_node *node, const char *word)
{
    return node->kind == WEIR_YAML_SCALAR && weir_str_eq(node->text, weir_str_from(word));
}

extern const weir_key_table train_cluster_keys, train_plan_keys, train_stack_keys,
    train_disturb_keys, train_broken_keys, train_data_keys, train_reliability_keys,
    train_checkpoint_keys;

#endif
