#include "fabric/part_list.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/text.h"
#include "scenario/preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weir_part_list {
    weir_arena *arena;
    weir_part_row *rows;
    uint32_t count, capacity;
};

/* The file that is being read. */
typedef struct {
    weir_part_list *list;
    const weir_yaml_node *sources; /* NULL: it has none */
    const char *id, *name;
} list_file;

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the list of parts");
}

/* The text of a member, "" where it is not there or no scalar. Lives as long as the document. */
static weir_str member(const weir_yaml_node *mapping, const char *key)
{
    const weir_yaml_node *node = weir_yaml_find(mapping, key);
    return node && node->kind == WEIR_YAML_SCALAR ? node->text : WEIR_STR("");
}

static weir_str source_text(const list_file *file, const weir_yaml_node *figure)
{
    weir_str text = member(figure, "source");
    const weir_yaml_node *known =
        file->sources && text.n > 0 ? weir_yaml_find(file->sources, text.p) : NULL;
    return known && known->kind == WEIR_YAML_SCALAR ? known->text : text;
}

/* "449.9 USD .. 549 USD .. 749 USD", or the value alone. */
static bool write_value(const weir_yaml_node *figure, weir_text *value)
{
    static const char *const ends[] = {"low", "value", "typical", "high"};
    for (uint32_t i = 0; i < 4; i++) {
        weir_str part = member(figure, ends[i]);
        if (part.n > 0) {
            weir_text_printf(value, "%s%.*s", value->n ? " .. " : "", (int)part.n, part.p);
        }
    }
    return !value->failed;
}

static weir_code add_row(const list_file *file, const weir_yaml_node *figure, const char *id,
                         const char *path, weir_err *err)
{
    weir_part_list *list = file->list;
    weir_text value = {0};
    bool ok = write_value(figure, &value) &&
              weir_grow(&list->rows, list->count, &list->capacity, sizeof *list->rows);
    weir_part_row row = {0};
    const char **to[] = {&row.id,     &row.name, &row.figure,     &row.value,
                         &row.source, &row.url,  &row.confidence, &row.date};
    weir_str from[] = {weir_str_from(id),
                       weir_str_from(file->name),
                       weir_str_from(path),
                       {value.n ? value.p : "", (uint32_t)value.n},
                       source_text(file, figure),
                       member(figure, "url"),
                       member(figure, "confidence"),
                       member(figure, "date")};
    for (uint32_t i = 0; i < sizeof to / sizeof *to && ok; i++) {
        *to[i] = weir_arena_copy(list->arena, from[i]);
        ok = *to[i] != NULL;
    }
    weir_text_clear(&value);
    if (!ok) {
        return no_memory(err);
    }
    list->rows[list->count++] = row;
    return WEIR_OK;
}

static bool is_figure(const weir_yaml_node *node)
{
    return (weir_yaml_find(node, "value") || weir_yaml_find(node, "typical")) &&
           weir_yaml_find(node, "source");
}

/* Figures below node, which is called path ("peaks", "" at the top). Depth is bounded by yaml.h. */
static weir_code walk(const list_file *file, const weir_yaml_node *node, const char *path,
                      weir_err *err)
{
    weir_code code = WEIR_OK;
    uint32_t number = 0;
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next, number++) {
        char below[256];
        if (n->kind == WEIR_YAML_SCALAR || n == file->sources) {
            continue;
        }
        if (node->kind == WEIR_YAML_MAPPING) {
            snprintf(below, sizeof below, "%s%s%.*s", path, *path ? "." : "", (int)n->key.n,
                     n->key.p);
        } else {
            snprintf(below, sizeof below, "%s.%u", path, number);
        }
        if (!is_figure(n)) {
            code = walk(file, n, below, err);
        } else if (weir_str_starts(weir_str_from(below), WEIR_STR("items."))) {
            code = add_row(file, n, below + strlen("items."), "price", err); /* presets/prices */
        } else {
            code = add_row(file, n, file->id, below, err);
        }
    }
    return code;
}

static weir_code add_file(weir_part_list *list, const char *path, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_preset_open(path, &doc, err);
    if (code != WEIR_OK) {
        return code;
    }
    const weir_yaml_node *root = weir_yaml_root(doc);
    const char *slash = strrchr(path, '/');
    weir_str id = weir_str_from(slash ? slash + 1 : path);
    id.n -= weir_str_ends(id, WEIR_STR(".yaml")) ? (uint32_t)strlen(".yaml") : 0;
    list_file file = {list, weir_yaml_find(root, "sources"), weir_arena_copy(list->arena, id),
                      weir_arena_copy(list->arena, member(root, "name"))};
    code = file.id && file.name ? walk(&file, root, "", err) : no_memory(err);
    weir_yaml_free(doc);
    return code;
}

weir_code weir_part_list_new(const char *folder, weir_part_list **out, weir_err *err)
{
    weir_code code = WEIR_OK;
    weir_part_list *list = calloc(1, sizeof *list);
    if (!list || !(list->arena = weir_arena_new())) {
        weir_part_list_free(list);
        return no_memory(err);
    }
    if (weir_str_ends(weir_str_from(folder), WEIR_STR(".yaml"))) {
        code = add_file(list, folder, err);
    } else {
        uint32_t state = 0;
        const char *path;
        while (code == WEIR_OK && (path = weir_preset_next(folder, &state))) {
            code = add_file(list, path, err);
        }
    }
    if (code != WEIR_OK) {
        weir_part_list_free(list);
        return code;
    }
    *out = list;
    return WEIR_OK;
}

void weir_part_list_free(weir_part_list *list)
{
    if (list) {
        weir_arena_free(list->arena);
        free(list->rows);
        free(list);
    }
}

const weir_part_row *weir_part_list_rows(const weir_part_list *list, uint32_t *count)
{
    *count = list->count;
    return list->rows;
}
