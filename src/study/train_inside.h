/* train_inside.h: between the files that read a training scenario. */
#ifndef WEIR_STUDY_TRAIN_INSIDE_H
#define WEIR_STUDY_TRAIN_INSIDE_H

#include "study/scenario_inside.h"
#include "study/train_scenario.h"

enum { TRAIN_SHELF_PLACES = 64 };

/* Of each preset the first so many; what finds no place is read anew and kept by the scenario. */
struct weir_train_shelf {
    weir_parts *parts;
    weir_accelerators *accelerators;
    weir_kernel_times *kernels[TRAIN_SHELF_PLACES];
    bool from_datasheet[TRAIN_SHELF_PLACES];
    uint32_t kernel_count;
    struct {
        const char *id; /* owned by the arena */
        weir_library *library;
    } libraries[TRAIN_SHELF_PLACES];
    uint32_t library_count;
    struct {
        const char *id;
        weir_yaml *doc;
    } stacks[TRAIN_SHELF_PLACES];
    uint32_t stack_count;
    weir_arena *arena;
};

weir_code train_shelf_kernels(weir_train_shelf *shelf, const weir_accelerator *accelerator,
                              bool datasheet, const weir_kernel_times **kernels, weir_err *err);
weir_code train_shelf_library(weir_train_shelf *shelf, const char *id, const weir_library **library,
                              weir_err *err);
weir_code train_shelf_stack(weir_train_shelf *shelf, const char *id, const weir_yaml **doc,
                            weir_err *err);

typedef struct {
    weir_key_source source;
    weir_train_shelf *shelf;
    weir_train_scenario *scenario;
} train_reader;

weir_code train_read_plan(train_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code train_read_stack(train_reader *r, const weir_yaml_node *node, weir_err *err);
/* cluster, with the links of its nodes and the kernels of its accelerator. */
weir_code train_read_cluster(train_reader *r, const weir_yaml_node *node, weir_err *err);

extern const weir_key_table train_plan_keys, train_stack_keys;

#endif
