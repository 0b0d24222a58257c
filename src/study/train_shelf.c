/* train_shelf.c: presets that many scenarios have in common, read once. */
#include "scenario/preset.h"
#include "study/train_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

weir_train_shelf *weir_train_shelf_new(void)
{
    weir_train_shelf *shelf = calloc(1, sizeof *shelf);
    if (shelf) {
        shelf->arena = weir_arena_new();
    }
    if (shelf && !shelf->arena) {
        free(shelf);
        shelf = NULL;
    }
    return shelf;
}

void weir_train_shelf_free(weir_train_shelf *shelf)
{
    if (!shelf) {
        return;
    }
    for (uint32_t i = 0; i < shelf->kernel_count; i++) {
        weir_kernel_times_free(shelf->kernels[i].times);
    }
    for (uint32_t i = 0; i < shelf->library_count; i++) {
        weir_library_free(shelf->libraries[i].library);
    }
    weir_yaml_free(shelf->hosts);
    weir_yaml_free(shelf->reliability);
    weir_parts_free(shelf->parts);
    weir_accelerators_free(shelf->accelerators);
    weir_arena_free(shelf->arena);
    free(shelf);
}

static weir_code full(const char *what, weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_LIMIT, "more than %d different %s", TRAIN_SHELF_PLACES, what);
}

weir_code train_shelf_fill(weir_train_shelf *shelf, weir_err *err)
{
    weir_code code = WEIR_OK;
    if (!shelf->parts) {
        code = weir_parts_load(&shelf->parts, err);
    }
    if (code == WEIR_OK && !shelf->accelerators) {
        code = weir_accelerators_load(&shelf->accelerators, err);
    }
    if (code == WEIR_OK && !shelf->hosts) {
        code = weir_preset_open("hosts.yaml", &shelf->hosts, err);
    }
    if (code == WEIR_OK && !shelf->reliability) {
        code = weir_preset_open("reliability.yaml", &shelf->reliability, err);
    }
    if (code == WEIR_OK && !shelf->has_chains) {
        code = weir_train_chains_load(&shelf->chains, err);
        shelf->has_chains = code == WEIR_OK;
    }
    return code;
}

weir_code train_shelf_kernels(weir_train_shelf *shelf, const weir_accelerator *accelerator,
                              bool is_datasheet, const weir_kernel_times **kernels, weir_err *err)
{
    for (uint32_t i = 0; i < shelf->kernel_count; i++) {
        if (weir_kernel_accelerator(shelf->kernels[i].times) == accelerator &&
            shelf->kernels[i].is_datasheet == is_datasheet) {
            *kernels = shelf->kernels[i].times;
            return WEIR_OK;
        }
    }
    if (shelf->kernel_count == TRAIN_SHELF_PLACES) {
        return full("accelerators", err);
    }
    const weir_kernel_options options = {.datasheet = is_datasheet};
    weir_kernel_times *made = NULL;
    weir_code code = weir_kernel_times_open_with(accelerator, &options, &made, err);
    if (code == WEIR_OK) {
        shelf->kernels[shelf->kernel_count].is_datasheet = is_datasheet;
        shelf->kernels[shelf->kernel_count++].times = made;
        *kernels = made;
    }
    return code;
}

weir_code train_shelf_library(weir_train_shelf *shelf, const char *id, const weir_library **library,
                              weir_err *err)
{
    for (uint32_t i = 0; i < shelf->library_count; i++) {
        if (strcmp(shelf->libraries[i].id, id) == 0) {
            *library = shelf->libraries[i].library;
            return WEIR_OK;
        }
    }
    if (shelf->library_count == TRAIN_SHELF_PLACES) {
        return full("libraries", err);
    }
    const char *copy = weir_arena_copy(shelf->arena, weir_str_from(id));
    weir_library *made = NULL;
    weir_code code = copy ? weir_library_open(id, &made, err) : scenario_no_memory(err);
    if (code == WEIR_OK) {
        shelf->libraries[shelf->library_count].id = copy;
        shelf->libraries[shelf->library_count++].library = made;
        *library = made;
    }
    return code;
}

/* A preset over the one that it names, down to one that names none. */
static weir_code open_stack(weir_train_shelf *shelf, const char *id, uint32_t depth,
                            weir_train_stack *stack, weir_err *err)
{
    enum { DEEPEST = 8 };
    char path[128];
    weir_yaml *doc = NULL;
    snprintf(path, sizeof path, "stacks/%.100s.yaml", id);
    weir_code code = weir_preset_open(path, &doc, err);
    const weir_yaml_node *root = doc ? weir_yaml_root(doc) : NULL;
    const weir_yaml_node *below = root ? weir_yaml_find(root, "preset") : NULL;
    if (code == WEIR_OK && below && depth == DEEPEST) {
        code = weir_yaml_reject(doc, below, "a preset that is not made of itself", err);
    } else if (code == WEIR_OK && below) {
        code = open_stack(shelf, below->text.p, depth + 1, stack, err);
    } else if (code == WEIR_OK) {
        code = train_stack_is_whole(doc, root, err);
    }
    if (code == WEIR_OK) {
        const weir_key_source source = {doc, shelf->arena};
        code = train_stack_over(&source, root, stack, err);
    }
    weir_yaml_free(doc);
    return code;
}

weir_code train_shelf_stack(weir_train_shelf *shelf, const char *id, const weir_train_stack **stack,
                            weir_err *err)
{
    for (uint32_t i = 0; i < shelf->stack_count; i++) {
        if (strcmp(shelf->stacks[i].id, id) == 0) {
            *stack = &shelf->stacks[i].stack;
            return WEIR_OK;
        }
    }
    if (shelf->stack_count == TRAIN_SHELF_PLACES) {
        return full("stacks", err);
    }
    weir_train_stack made = {0};
    const char *copy = weir_arena_copy(shelf->arena, weir_str_from(id));
    weir_code code = copy ? open_stack(shelf, id, 0, &made, err) : scenario_no_memory(err);
    if (code == WEIR_OK) {
        made.id = copy;
        shelf->stacks[shelf->stack_count].id = copy;
        shelf->stacks[shelf->stack_count].stack = made;
        *stack = &shelf->stacks[shelf->stack_count++].stack;
    }
    return code;
}
