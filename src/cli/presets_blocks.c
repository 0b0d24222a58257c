#include "cli/presets_blocks.h"

#include "base/grow.h"
#include "base/text.h"
#include "model/model_count.h"
#include "model/model_source.h"
#include "result/quantity.h"
#include "scenario/preset.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    presets_blocks *blocks;
    const weir_yaml_node *sources; /* NULL: none */
    const weir_yaml_node *fit;     /* {of: [keys that were fitted], source: ...}; NULL: none */
    const char *id, *name;
    weir_text path; /* of the node that is read */
} reading;

/* Where a figure is from: a key of the file's sources, or words of its own. */
typedef struct {
    weir_str source, url, confidence;
} origin;

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
    static const char *const words[] = {"source", "sources", "name", "url", "confidence", "note"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (weir_str_eq(node->key, weir_str_from(words[i])))
            return true;
    return false;
}

/* {value: 1.1, source: fit} is one figure: its value. */
static const weir_yaml_node *value_of(const weir_yaml_node *node)
{
    const weir_yaml_node *value =
        node->kind == WEIR_YAML_MAPPING ? weir_yaml_find(node, "value") : NULL;
    return value ? value : node;
}

/* "base 8.5 us, hop 0.517 us"; "ring, tree" */
static void write_value(weir_text *value, const weir_yaml_node *node)
{
    if (node->kind == WEIR_YAML_SCALAR) {
        weir_text_add(value, node->text);
        return;
    }
    for (const weir_yaml_node *n = node->first; n; n = n->next) {
        if (node->kind == WEIR_YAML_MAPPING && is_about(n))
            continue;
        weir_text_add(value, value->n > 0 ? WEIR_STR(", ") : WEIR_STR(""));
        if (node->kind == WEIR_YAML_MAPPING) {
            weir_text_add(value, n->key);
            weir_text_char(value, ' ');
        }
        weir_text_add(value, n->text);
    }
}

/* sources: KEY: {what: ..., confidence: ...}, or KEY: 'words'. */
static origin resolve(const reading *r, const origin *from)
{
    const weir_yaml_node *known =
        r->sources && from->source.n > 0 ? weir_yaml_find(r->sources, from->source.p) : NULL;
    if (!known)
        return *from;
    if (known->kind == WEIR_YAML_SCALAR)
        return (origin){known->text, WEIR_STR(""), from->confidence};
    return (origin){scalar(known, "what"), scalar(known, "url"), scalar(known, "confidence")};
}

static bool add_row(reading *r, const weir_yaml_node *node, const origin *from_block)
{
    presets_blocks *b = r->blocks;
    weir_text value = {0};
    weir_part_row row = {.date = ""};
    origin known = resolve(r, from_block);
    const char **to[] = {&row.id,     &row.name, &row.figure,    &row.value,
                         &row.source, &row.url,  &row.confidence};
    write_value(&value, value_of(node));
    weir_str from[] = {weir_str_from(r->id),
                       weir_str_from(r->name),
                       {r->path.p, (uint32_t)r->path.n},
                       {value.n ? value.p : "", (uint32_t)value.n},
                       known.source,
                       known.url,
                       known.confidence};
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

/* Whether the file says that this key of its was fitted. */
static bool is_fitted(const reading *r, weir_str key)
{
    const weir_yaml_node *keys = r->fit ? weir_yaml_find(r->fit, "of") : NULL;
    for (const weir_yaml_node *n = keys ? keys->first : NULL; n; n = n->next)
        if (weir_str_eq(n->text, key))
            return true;
    return false;
}

/* What node says of its own figures, else what is said around it. */
static origin origin_of(const weir_yaml_node *node, const origin *around)
{
    origin own = {scalar(node, "source"), scalar(node, "url"), scalar(node, "confidence")};
    if (own.source.n == 0)
        return *around;
    return own;
}

/* around: of the innermost block around node. Depth is bounded by yaml.h. */
static bool walk(reading *r, const weir_yaml_node *node, const origin *around)
{
    uint32_t number = 0;
    origin own = origin_of(node, around);
    size_t before = r->path.n;
    bool ok = true;
    for (const weir_yaml_node *n = node->first; n && ok; n = n->next, number++) {
        if (node->kind == WEIR_YAML_MAPPING && is_about(n))
            continue;
        if (before > 0)
            weir_text_char(&r->path, '.');
        if (node->kind == WEIR_YAML_MAPPING)
            weir_text_add(&r->path, n->key);
        else
            weir_text_printf(&r->path, "%u", (unsigned)number);
        bool is_row = n->kind == WEIR_YAML_SCALAR || is_plain(n);
        origin of_row = origin_of(is_fitted(r, n->key) ? r->fit : n, &own);
        ok = !r->path.failed && (is_row ? add_row(r, n, &of_row) : walk(r, n, &own));
        r->path.n = before;
    }
    return ok;
}

/* Models have a row that nobody wrote: how many parameters that makes. */
static weir_code count_model(reading *r, weir_err *err)
{
    weir_model model;
    weir_text value = {0};
    weir_code code = weir_model_preset(r->id, &model, err);
    if (code != WEIR_OK)
        return code;
    weir_model_count count = weir_count_model(&model);
    weir_quantity_count(&value, count.main);
    if (count.mtp > 0) {
        weir_text_add(&value, WEIR_STR(", multi-token modules "));
        weir_quantity_count(&value, count.mtp);
    }
    if (count.active < count.main) {
        weir_text_add(&value, WEIR_STR(", a token passes "));
        weir_quantity_count(&value, count.active);
    }
    const weir_yaml_node row = {.kind = WEIR_YAML_SCALAR, .text = {value.p, (uint32_t)value.n}};
    const origin from = {WEIR_STR("counted, tensor by tensor, from the dimensions"), WEIR_STR(""),
                         WEIR_STR("derived")};
    r->path.n = 0;
    weir_text_add(&r->path, WEIR_STR("parameters"));
    bool ok = !value.failed && !r->path.failed && add_row(r, &row, &from);
    r->path.n = 0;
    weir_text_clear(&value);
    return ok ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for presets");
}

static weir_code read_file(const char *path, const char *folder, presets_blocks *blocks,
                           weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_preset_open(path, &doc, err);
    if (code != WEIR_OK)
        return code;
    const weir_yaml_node *root = weir_yaml_root(doc);
    bool is_file = strcmp(path, folder) == 0;
    size_t skip = is_file ? 0 : strlen(folder) + 1;
    weir_str id = {path + skip, (uint32_t)(strlen(path) - skip - strlen(".yaml"))};
    reading r = {.blocks = blocks,
                 .sources = weir_yaml_find(root, "sources"),
                 .fit = weir_yaml_find(root, "fit"),
                 .id = weir_arena_copy(blocks->arena, id),
                 .name = weir_arena_copy(blocks->arena, scalar(root, "name"))};
    const origin nothing = {WEIR_STR(""), WEIR_STR(""), WEIR_STR("")};
    bool ok = r.id && r.name;
    if (ok && strcmp(folder, "models") == 0)
        code = count_model(&r, err);
    if (code == WEIR_OK && !(ok && walk(&r, root, &nothing)))
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for presets");
    weir_text_clear(&r.path);
    weir_yaml_free(doc);
    return code;
}

weir_code presets_blocks_read(const char *folder, presets_blocks *blocks, weir_err *err)
{
    const char *path;
    uint32_t state = 0;
    weir_code code = WEIR_OK;
    blocks->arena = weir_arena_new();
    if (!blocks->arena)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for presets");
    if (weir_str_ends(weir_str_from(folder), WEIR_STR(".yaml")))
        return read_file(folder, folder, blocks, err);
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
