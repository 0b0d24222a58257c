/* Parts out of presets and out of scenarios: one table says what keys a kind has. */
#include "fabric/parts_inside.h"

#include "base/grow.h"
#include "base/nearest.h"
#include "scenario/preset.h"
#include "scenario/unit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum {
    FIELD_FIGURE = 0, /* double, with a unit */
    FIELD_COUNT,      /* uint32_t, a figure without a unit */
    FIELD_FLAG,       /* bool, a figure: true or false */
    FIELD_WORD,       /* int, one of words; says what the part is, no figure */
    FIELD_TEXT        /* const char *, no figure */
} field_type;

typedef struct {
    const char *key;
    field_type type;
    bool needed;
    weir_dimension dimension;
    size_t offset;
} part_field;

enum { MAX_FIELDS = 12, MAX_PORTS = 1000000 };

typedef struct {
    const char *folder, *what; /* what: in sentences */
    size_t size;
    const char *const *words; /* of its FIELD_WORD */
    uint32_t word_count;
    part_field fields[MAX_FIELDS]; /* until one without a key */
} part_table;

static const char *const module_kinds[] = {"pluggable", "linear", "copackaged", "copper"};
static const char *const link_kinds[] = {"pcie", "switched", "meshed", "ring"};
_Static_assert(WEIR_NODE_UNLINKED == 0 && WEIR_NODE_SWITCHED == 1 && WEIR_NODE_MESHED == 2 &&
                   WEIR_NODE_RING == 3,
               "link_kinds follows weir_node_wiring");
_Static_assert(sizeof(weir_module_kind) == sizeof(int) && sizeof(weir_node_wiring) == sizeof(int),
               "FIELD_WORD writes an int");

#define AT(type, member) offsetof(weir_##type##_part, member)

static const part_table tables[PART_KIND_COUNT] = {
    [PART_LINK] = {"links",
                   "link",
                   sizeof(weir_link_part),
                   link_kinds,
                   4,
                   {{"kind", FIELD_WORD, true, 0, AT(link, wiring)},
                    {"rate", FIELD_FIGURE, true, WEIR_DIMENSION_BYTES_PER_S, AT(link, bytes_per_s)},
                    {"latency", FIELD_FIGURE, false, WEIR_DIMENSION_SECONDS, AT(link, latency_s)}}},
    [PART_SWITCH] =
        {"switches",
         "switch",
         sizeof(weir_switch_part),
         NULL,
         0,
         {{"ports", FIELD_COUNT, true, 0, AT(switch, ports)},
          {"rate", FIELD_FIGURE, true, WEIR_DIMENSION_BYTES_PER_S, AT(switch, bytes_per_s)},
          {"latency", FIELD_FIGURE, false, WEIR_DIMENSION_SECONDS, AT(switch, latency_s)},
          {"watts", FIELD_FIGURE, false, WEIR_DIMENSION_WATTS, AT(switch, watts)}}},
    [PART_NIC] = {"nics",
                  "NIC",
                  sizeof(weir_nic_part),
                  NULL,
                  0,
                  {{"rate", FIELD_FIGURE, true, WEIR_DIMENSION_BYTES_PER_S, AT(nic, bytes_per_s)},
                   {"latency", FIELD_FIGURE, false, WEIR_DIMENSION_SECONDS, AT(nic, latency_s)},
                   {"watts", FIELD_FIGURE, false, WEIR_DIMENSION_WATTS, AT(nic, watts)}}},
    [PART_MODULE] =
        {"optics",
         "module",
         sizeof(weir_module_part),
         module_kinds,
         WEIR_MODULE_KIND_COUNT,
         {{"kind", FIELD_WORD, true, 0, AT(module, kind)},
          {"cable", FIELD_FLAG, false, 0, AT(module, is_cable)},
          {"rate", FIELD_FIGURE, true, WEIR_DIMENSION_BYTES_PER_S, AT(module, bytes_per_s)},
          {"watts", FIELD_FIGURE, false, WEIR_DIMENSION_WATTS, AT(module, watts)},
          {"latency", FIELD_FIGURE, false, WEIR_DIMENSION_SECONDS, AT(module, latency_s)},
          {"budget", FIELD_FIGURE, false, WEIR_DIMENSION_DECIBELS, AT(module, budget_db)},
          {"reach", FIELD_FIGURE, false, WEIR_DIMENSION_METRES, AT(module, reach_m)},
          {"fibres", FIELD_COUNT, false, 0, AT(module, fibres)}}},
    [PART_OCS] = {"ocs",
                  "optical switch",
                  sizeof(weir_ocs_part),
                  NULL,
                  0,
                  {{"technology", FIELD_TEXT, false, 0, AT(ocs, technology)},
                   {"ports", FIELD_COUNT, false, 0, AT(ocs, ports)},
                   {"circulators", FIELD_FLAG, false, 0, AT(ocs, circulators)},
                   {"switching", FIELD_FIGURE, false, WEIR_DIMENSION_SECONDS, AT(ocs, switch_s)},
                   {"linkup", FIELD_FIGURE, false, WEIR_DIMENSION_SECONDS, AT(ocs, linkup_s)},
                   {"loss", FIELD_FIGURE, false, WEIR_DIMENSION_DECIBELS, AT(ocs, loss_db)},
                   {"loss_max", FIELD_FIGURE, false, WEIR_DIMENSION_DECIBELS, AT(ocs, loss_max_db)},
                   {"watts", FIELD_FIGURE, false, WEIR_DIMENSION_WATTS, AT(ocs, watts)}}},
};

const char *weir_module_kind_name(weir_module_kind kind)
{
    return module_kinds[kind];
}

/* --- figures ------------------------------------------------------------------------------- */

static const char *const figure_keys[] = {"value", "source", "url", "confidence", "date", "note"};
enum { FIGURE_KEYS = sizeof figure_keys / sizeof *figure_keys };

weir_code parts_check_confidence(const weir_yaml *doc, const weir_yaml_node *mapping, weir_err *err)
{
    static const char *const words[] = {"verified", "secondary", "memory", "derived", "fitted"};
    const weir_yaml_node *node;
    uint32_t which;
    weir_code code = weir_yaml_need(doc, mapping, "source", WEIR_YAML_SCALAR, &node, err);
    if (code == WEIR_OK) {
        code = weir_yaml_need(doc, mapping, "confidence", WEIR_YAML_SCALAR, &node, err);
    }
    return code != WEIR_OK ? code : weir_yaml_choice(doc, node, words, 5, &which, err);
}

weir_code parts_read_figure(const weir_yaml *doc, const weir_yaml_node *node,
                            const weir_yaml_node **value, weir_err *err)
{
    weir_code code = weir_yaml_check_keys(doc, node, figure_keys, FIGURE_KEYS, err);
    if (code == WEIR_OK) {
        code = weir_yaml_need(doc, node, "value", WEIR_YAML_SCALAR, value, err);
    }
    return code == WEIR_OK ? parts_check_confidence(doc, node, err) : code;
}

weir_code parts_read_origin(weir_arena *arena, const weir_yaml_node *node, part_origin *origin,
                            weir_err *err)
{
    const char **members[] = {&origin->source, &origin->url, &origin->confidence, &origin->date,
                              &origin->note};
    static const char *const keys[] = {"source", "url", "confidence", "date", "note"};
    for (uint32_t i = 0; i < 5; i++) {
        const weir_yaml_node *text = weir_yaml_find(node, keys[i]);
        *members[i] = weir_arena_copy(arena, text ? text->text : WEIR_STR(""));
        if (!*members[i]) {
            return parts_no_memory(err);
        }
    }
    return WEIR_OK;
}

/* Of an inline part a figure may be plain; in a preset it may not. */
static weir_code figure_value(const weir_yaml *doc, const weir_yaml_node *node, bool is_preset,
                              const weir_yaml_node **value, weir_err *err)
{
    *value = node;
    if (is_preset) {
        return parts_read_figure(doc, node, value, err);
    }
    if (node->kind != WEIR_YAML_MAPPING) {
        return WEIR_OK;
    }
    weir_code code = weir_yaml_check_keys(doc, node, figure_keys, FIGURE_KEYS, err);
    return code ? code : weir_yaml_need(doc, node, "value", WEIR_YAML_SCALAR, value, err);
}

/* --- one part ------------------------------------------------------------------------------ */

/* What is being read, and where to. */
typedef struct {
    weir_parts *parts;
    const weir_yaml *doc;
    const weir_yaml_node *node;
    const part_table *table;
    bool is_preset;
    void *made;
} part_reader;

static weir_code read_field(const part_reader *r, const part_field *field,
                            const weir_yaml_node *node, weir_err *err)
{
    static const char *const flags[] = {"false", "true"};
    char *to = (char *)r->made + field->offset;
    const weir_yaml_node *value = node;
    uint64_t count = 0;
    uint32_t which = 0;
    weir_code code = field->type == FIELD_WORD || field->type == FIELD_TEXT
                         ? WEIR_OK
                         : figure_value(r->doc, node, r->is_preset, &value, err);
    if (code != WEIR_OK) {
        return code;
    }
    switch (field->type) {
    case FIELD_FIGURE:
        return weir_unit_read(r->doc, value, field->dimension, (double *)to, err);
    case FIELD_COUNT:
        code = weir_yaml_uint(r->doc, value, MAX_PORTS, &count, err);
        memcpy(to, &(uint32_t){(uint32_t)count}, sizeof(uint32_t));
        return code;
    case FIELD_FLAG:
        code = weir_yaml_choice(r->doc, value, flags, 2, &which, err);
        memcpy(to, &(bool){which == 1}, sizeof(bool));
        return code;
    case FIELD_WORD:
        code = weir_yaml_choice(r->doc, value, r->table->words, r->table->word_count, &which, err);
        memcpy(to, &(int){(int)which}, sizeof(int));
        return code;
    case FIELD_TEXT:
        break;
    }
    if (value->kind != WEIR_YAML_SCALAR) {
        return weir_yaml_reject(r->doc, value, "a word", err);
    }
    char *copy = weir_arena_copy(r->parts->arena, value->text);
    memcpy(to, &copy, sizeof copy);
    return copy ? WEIR_OK : parts_no_memory(err);
}

static uint32_t field_count(const part_table *table)
{
    uint32_t n = 0;
    while (n < MAX_FIELDS && table->fields[n].key) {
        n++;
    }
    return n;
}

/* What is not known until a file says it. */
static void clear_part(const part_table *table, void *part)
{
    static const double unknown = NAN;
    static const char *const empty = "";
    memset(part, 0, table->size);
    for (uint32_t i = 0; i < field_count(table); i++) {
        char *to = (char *)part + table->fields[i].offset;
        if (table->fields[i].type == FIELD_FIGURE) {
            memcpy(to, &unknown, sizeof unknown);
        } else if (table->fields[i].type == FIELD_TEXT) {
            memcpy(to, &empty, sizeof(const char *));
        }
    }
}

/* All fields of r->node; those that are needed must be there unless another part fills them in. */
static weir_code read_fields(const part_reader *r, bool has_base, weir_err *err)
{
    static const char *const beside[] = {"name", "id", "like", "price"};
    const char *known[MAX_FIELDS + 4];
    uint32_t n = field_count(r->table), all = n;
    for (uint32_t i = 0; i < n; i++) {
        known[i] = r->table->fields[i].key;
    }
    for (uint32_t i = 0; i < (r->is_preset ? 1u : 4u); i++) {
        known[all++] = beside[i];
    }
    weir_code code = weir_yaml_check_keys(r->doc, r->node, known, all, err);
    for (uint32_t i = 0; i < n && code == WEIR_OK; i++) {
        const part_field *field = &r->table->fields[i];
        const weir_yaml_node *node = weir_yaml_find(r->node, field->key);
        if (node) {
            code = read_field(r, field, node, err);
        } else if (field->needed && !has_base) {
            code = weir_yaml_need(r->doc, r->node, field->key, WEIR_YAML_ANY, &node, err);
        }
    }
    return code;
}

static weir_code add_item(weir_parts *parts, part_kind kind, void *item, weir_err *err)
{
    part_items *all = &parts->parts[kind];
    if (!weir_grow(&all->items, all->count, &all->capacity, sizeof *all->items)) {
        return parts_no_memory(err);
    }
    all->items[all->count++] = item;
    return WEIR_OK;
}

static weir_code set_names(weir_parts *parts, void *part, weir_str id, weir_str name, weir_err *err)
{
    const char *names[2] = {weir_arena_copy(parts->arena, id), weir_arena_copy(parts->arena, name)};
    memcpy(part, names, sizeof names);
    return names[0] && names[1] ? WEIR_OK : parts_no_memory(err);
}

/* --- presets ------------------------------------------------------------------------------- */

/* "switches/tomahawk5-400g.yaml" -> "tomahawk5-400g" */
static weir_str id_of(const char *path, const char *folder)
{
    weir_str id = weir_str_from(path);
    uint32_t before = (uint32_t)strlen(folder) + 1;
    return (weir_str){id.p + before, id.n - before - (uint32_t)strlen(".yaml")};
}

static weir_code load_preset(weir_parts *parts, part_kind kind, const char *path, weir_err *err)
{
    const part_table *table = &tables[kind];
    weir_yaml *doc = NULL;
    const weir_yaml_node *name;
    void *made = weir_arena_alloc(parts->arena, 1, table->size);
    if (!made) {
        return parts_no_memory(err);
    }
    clear_part(table, made);
    weir_code code = weir_preset_open(path, &doc, err);
    if (code == WEIR_OK) {
        part_reader r = {parts, doc, weir_yaml_root(doc), table, true, made};
        code = read_fields(&r, false, err);
        if (code == WEIR_OK &&
            (code = weir_yaml_need(doc, r.node, "name", WEIR_YAML_SCALAR, &name, err)) == WEIR_OK) {
            code = set_names(parts, made, id_of(path, table->folder), name->text, err);
        }
    }
    weir_yaml_free(doc);
    return code == WEIR_OK ? add_item(parts, kind, made, err) : code;
}

weir_code parts_load_kind(weir_parts *parts, part_kind kind, weir_err *err)
{
    uint32_t state = 0;
    const char *path;
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && (path = weir_preset_next(tables[kind].folder, &state))) {
        code = load_preset(parts, kind, path, err);
    }
    return code;
}

/* --- inline parts -------------------------------------------------------------------------- */

static weir_code find_named(const weir_parts *parts, part_kind kind, const weir_yaml *doc,
                            const weir_yaml_node *node, const void **part, weir_err *err)
{
    enum { MAX_WORDS = 256 };
    const part_items *all = &parts->parts[kind];
    const void *found = node->kind == WEIR_YAML_SCALAR ? parts_find(parts, kind, node->text) : NULL;
    if (found) {
        *part = found;
        return WEIR_OK;
    }
    const char *words[MAX_WORDS];
    uint32_t n = all->count < MAX_WORDS ? all->count : MAX_WORDS;
    for (uint32_t i = 0; i < n; i++) {
        words[i] = part_id(all->items[i]);
    }
    char near[120], expected[200];
    bool is_near = weir_nearest_list(node->text, words, n, near, sizeof near);
    snprintf(expected, sizeof expected, "%s%s%s of `weir presets %s` or a mapping of its figures",
             is_near ? "" : "a ", is_near ? near : tables[kind].what,
             is_near ? " or another one" : "", tables[kind].folder);
    return weir_yaml_reject(doc, node, expected, err);
}

/* The id that an inline part goes by: its own, else `like`'s, else where it was written. */
static weir_code name_inline(const part_reader *r, const char *base_id, weir_err *err)
{
    const weir_yaml_node *id = weir_yaml_find(r->node, "id");
    const weir_yaml_node *name = weir_yaml_find(r->node, "name");
    char made[64];
    snprintf(made, sizeof made, "%s of line %u", r->table->what, r->node->line);
    weir_str shown = weir_str_from(base_id ? base_id : made);
    if (id && (id->kind != WEIR_YAML_SCALAR || id->text.n == 0)) {
        return weir_yaml_reject(r->doc, id, "a word", err);
    }
    if (name && name->kind != WEIR_YAML_SCALAR) {
        return weir_yaml_reject(r->doc, name, "a name", err);
    }
    shown = id ? id->text : shown;
    return set_names(r->parts, r->made, shown, name ? name->text : shown, err);
}

weir_code parts_read_part(weir_parts *parts, part_kind kind, const weir_yaml *doc,
                          const weir_yaml_node *node, const void **part, weir_err *err)
{
    const part_table *table = &tables[kind];
    if (node->kind != WEIR_YAML_MAPPING) {
        return find_named(parts, kind, doc, node, part, err);
    }
    const weir_yaml_node *like = weir_yaml_find(node, "like");
    const weir_yaml_node *price = weir_yaml_find(node, "price");
    const void *base = NULL;
    weir_code code = like ? find_named(parts, kind, doc, like, &base, err) : WEIR_OK;
    void *made = weir_arena_alloc(parts->arena, 1, table->size);
    if (code != WEIR_OK || !made) {
        return code != WEIR_OK ? code : parts_no_memory(err);
    }
    clear_part(table, made);
    if (base) {
        memcpy(made, base, table->size);
    }
    part_reader r = {parts, doc, node, table, false, made};
    code = read_fields(&r, base != NULL, err);
    if (code == WEIR_OK && (code = name_inline(&r, base ? part_id(base) : NULL, err)) == WEIR_OK &&
        price) {
        code = parts_read_price(parts, doc, price, part_id(made), err);
    }
    if (code == WEIR_OK && !parts_find(parts, kind, weir_str_from(part_id(made)))) {
        code = add_item(parts, kind, made, err); /* its id may be quoted, or named again */
    }
    *part = code == WEIR_OK ? made : *part;
    return code;
}
