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
        weir_kernel_times_free(shelf->kernels[i]);
    }
    for (uint32_t i = 0; i < shelf->library_count; i++) {
        weir_library_free(shelf->libraries[i].library);
    }
    for (uint32_t i = 0; i < shelf->stack_count; i++) {
        weir_yaml_free(shelf->stacks[i].doc);
    }
    weir_parts_free(shelf->parts);
    weir_accelerators_free(shelf->accelerators);
    weir_arena_free(shelf->arena);
    free(shelf);
}

static weir_code full(const char *what, weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_LIMIT, "more than %d different %s", TRAIN_SHELF_PLACES, what);
}

weir_code train_shelf_kernels(weir_train_shelf *shelf, const weir_accelerator *accelerator,
                              bool datasheet, const weir_kernel_times **kernels, weir_err *err)
{
    for (uint32_t i = 0; i < shelf->kernel_count; i++) {
        if (weir_kernel_accelerator(shelf->kernels[i]) == accelerator &&
            shelf->from_datasheet[i] == datasheet) {
            *kernels = shelf->kernels[i];
            return WEIR_OK;
        }
    }
    if (shelf->kernel_count == TRAIN_SHELF_PLACES) {
        return full("accelerators", err);
    }
    const weir_kernel_options options = {.datasheet = datasheet};
    weir_kernel_times *made = NULL;
    weir_code code = weir_kernel_times_open_with(accelerator, &options, &made, err);
    if (code == WEIR_OK) {
        shelf->from_datasheet[shelf->kernel_count] = datasheet;
        shelf->kernels[shelf->kernel_count++] = made;
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

weir_code train_shelf_stack(weir_train_shelf *shelf, const char *id, const weir_yaml **doc,
                            weir_err *err)
{
    char path[128];
    for (uint32_t i = 0; i < shelf->stack_count; i++) {
        if (strcmp(shelf->stacks[i].id, id) == 0) {
            *doc = shelf->stacks[i].doc;
            return WEIR_OK;
        }
    }
    if (shelf->stack_count == TRAIN_SHELF_PLACES) {
        return full("stacks", err);
    }
    const char *copy = weir_arena_copy(shelf->arena, weir_str_from(id));
    weir_yaml *made = NULL;
    snprintf(path, sizeof path, "stacks/%s.yaml", id);
    weir_code code = copy ? weir_preset_open(path, &made, err) : scenario_no_memory(err);
    if (code == WEIR_OK) {
        shelf->stacks[shelf->stack_count].id = copy;
        shelf->stacks[shelf->stack_count++].doc = made;
        *doc = made;
    }
    return code;
}
