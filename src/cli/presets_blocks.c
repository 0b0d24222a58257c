#include "cli/presets_blocks.h"

#include "base/grow.h"
#include "base/text.h"
#include "scenario/preset.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    presets_blocks *blocks;
    const weir_yaml_node *sources; /* NULL: none */
    const char *id, *name;
    weir_text path; /* of the node that is read */
} reading;

static weir_str scalar(const weir_yaml_node *mapping, const char *key)
{
    const weir_yaml_node *node =
        mapping && mapping->kind == WEIR_YAML_MAPPING ? weir_yaml_find(mapping, key) : NULL;
    return node && node->kind == WEIR_YAML_SCALAR ? node->text : WEIR_STR("");
}

/* A mapping or list of scalars only: one figure. */
static bool is_plain(const weir_yaml_node *node)
{
    for (const weir_yaml_node *n = node->first; n; n = n->next)
        if (n->kind != WEIR_YAML_SCALAR)
            return false;
    return true;
}

static bool is_about(const weir_yaml_node *node) /* of figures, none itself */
{
    return weir_str_eq(node->key, WEIR_STR("source")) ||
           weir_str_eq(node->key, WEIR_STR("sources")) || weir_str_eq(node->key, WEIR_STR("name"));
}

/* "base 8.5 us, hop 0.517 us"; "ring, tree" */
static void write_value(weir_text *value, const weir_yaml_node *node)
{
    if (node->kind == WEIR_YAML_SCALAR) {
        weir_text_add(value, node->text);
        return;
    }
    for (const weir_yaml_node *n = node->first; n; n = n->next) {
        weir_text_add(value, value->n > 0 ? WEIR_STR(", ") : WEIR_STR(""));
        if (node->kind == WEIR_YAML_MAPPING) {
            weir_text_add(value, n->key);
            weir_text_char(value, ' ');
        }
        weir_text_add(value, n->text);
    }
}

static bool add_row(reading *r, const weir_yaml_node *node, weir_str source)
{
    presets_blocks *b = r->blocks;
    weir_text value = {0};
    weir_part_row row = {.url = "", .date = ""};
    const weir_yaml_node *known =
        r->sources && source.n > 0 ? weir_yaml_find(r->sources, source.p) : NULL;
    const char **to[] = {&row.id, &row.name, &row.figure, &row.value, &row.source, &row.confidence};
    write_value(&value, node);
    weir_str from[] = {weir_str_from(r->id),
                       weir_str_from(r->name),
                       {r->path.p, (uint32_t)r->path.n},
                       {value.n ? value.p : "", (uint32_t)value.n},
                       known ? scalar(known, "what") : source,
                       scalar(known, "confidence")};
    bool ok = !value.failed && weir_grow(&b->rows, b->count, &b->capacity, sizeof *b->rows);
    for (uint32_t i = 0; i < sizeof to / sizeof *to && ok; i++) {
        *to[i] = weir_arena_copy(b->arena, from[i]);
        ok = *to[i] != NULL;
    }
    weir_text_clear(&value);
    if (ok)
        b->rows[b->count++] = row;
    return ok;
}

/* source: of the innermost block around node. Depth is bounded by yaml.h. */
static bool walk(reading *r, const weir_yaml_node *node, weir_str source)
{
    uint32_t number = 0;
    weir_str own = scalar(node, "source");
    size_t before = r->path.n;
    bool ok = true;
    source = own.n > 0 ? own : source;
    for (const weir_yaml_node *n = node->first; n && ok; n = n->next, number++) {
        if (node->kind == WEIR_YAML_MAPPING && is_about(n))
            continue;
        if (before > 0)
            weir_text_char(&r->path, '.');
        if (node->kind == WEIR_YAML_MAPPING)
            weir_text_add(&r->path, n->key);
        else
            weir_text_printf(&r->path, "%u", (unsigned)number);
        ok = !r->path.failed && (n->kind == WEIR_YAML_SCALAR || is_plain(n) ? add_row(r, n, source)
                                                                            : walk(r, n, source));
        r->path.n = before;
    }
    return ok;
}

static weir_code read_file(const char *path, const char *folder, presets_blocks *blocks,
                           weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_preset_open(path, &doc, err);
    if (code != WEIR_OK)
        return code;
    const weir_yaml_node *root = weir_yaml_root(doc);
    size_t skip = strlen(folder) + 1;
    weir_str id = {path + skip, (uint32_t)(strlen(path) - skip - strlen(".yaml"))};
    reading r = {.blocks = blocks,
                 .sources = weir_yaml_find(root, "sources"),
                 .id = weir_arena_copy(blocks->arena, id),
                 .name = weir_arena_copy(blocks->arena, scalar(root, "name"))};
    bool ok = r.id && r.name && walk(&r, root, WEIR_STR(""));
    weir_text_clear(&r.path);
    weir_yaml_free(doc);
    return ok ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for presets");
}

weir_code presets_blocks_read(const char *folder, presets_blocks *blocks, weir_err *err)
{
    const char *path;
    uint32_t state = 0;
    weir_code code = WEIR_OK;
    blocks->arena = weir_arena_new();
    if (!blocks->arena)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for presets");
    while (code == WEIR_OK && (path = weir_preset_next(folder, &state)))
        code = read_file(path, folder, blocks, err);
    return code;
}

void presets_blocks_clear(presets_blocks *blocks)
{
    weir_arena_free(blocks->arena);
    free(blocks->rows);
    *blocks = (presets_blocks){0};
}
