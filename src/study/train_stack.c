/* train_stack.c: the software of a scenario: a preset, and what is written over it. */
#include "study/train_inside.h"

#include <string.h>

static const char usual_stack[] = "megatron-core";

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

const weir_yaml_node *train_plain_members(const weir_yaml_node *mapping, const char *const *without,
                                          const char *origin, weir_arena *arena)
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

weir_code train_read_stack(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    scenario_reader ids = {.source = r->source};
    const weir_yaml_node *preset = node;
    const weir_train_stack *base = NULL;
    const char *id = usual_stack;
    bool is_mapping = node && node->kind == WEIR_YAML_MAPPING;
    if (is_mapping) {
        preset = weir_yaml_find(node, "preset");
    }
    weir_code code = preset ? scenario_read_id(&ids, preset, "stacks", &id, err) : WEIR_OK;
    if (code == WEIR_OK) {
        code = train_shelf_stack(r->shelf, id, &base, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    r->scenario->job.stack = *base;
    return is_mapping ? train_stack_over(&r->source, node, &r->scenario->job.stack, err) : WEIR_OK;
}
