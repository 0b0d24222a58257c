#include "scenario/settings.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LEVELS = 32 };

typedef struct {
    weir_arena *arena;
    const char *origin; /* "--set traffic.phases.0.bytes" */
    weir_str key;       /* the whole of it */
    const weir_yaml_node *value;
} change;

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for settings");
}

/* Of a node that this file made: links of a tree are const for those who read it. */
static weir_yaml_node *own(const weir_yaml_node *node)
{
    return (weir_yaml_node *)(uintptr_t)node;
}

/* --- copies ------------------------------------------------------------------------------- */

/* Recursive: a document has at most 64 levels. */
weir_yaml_node *weir_settings_copy(const weir_yaml_node *node, const char *origin, bool with_places,
                                   weir_arena *arena)
{
    weir_yaml_node *copy = weir_arena_alloc(arena, 1, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    *copy = *node;
    copy->origin = origin;
    copy->next = NULL;
    if (!with_places) {
        copy->line = copy->column = copy->key_line = copy->key_column = 0;
    }
    copy->text.p = weir_arena_copy(arena, node->text);
    copy->key.p = weir_arena_copy(arena, node->key);
    if (!copy->text.p || !copy->key.p) {
        return NULL;
    }
    const weir_yaml_node **tail = &copy->first;
    for (const weir_yaml_node *child = node->first; child; child = child->next) {
        weir_yaml_node *made = weir_settings_copy(child, origin, with_places, arena);
        if (!made) {
            return NULL;
        }
        *tail = made;
        tail = &made->next;
    }
    return copy;
}

/* A collection whose list of children may be changed; the children's own children are shared. */
static weir_yaml_node *copy_level(const weir_yaml_node *node, weir_arena *arena)
{
    weir_yaml_node *copy = weir_arena_alloc(arena, 1, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    *copy = *node;
    const weir_yaml_node **tail = &copy->first;
    for (const weir_yaml_node *child = node->first; child; child = child->next) {
        weir_yaml_node *made = weir_arena_alloc(arena, 1, sizeof *made);
        if (!made) {
            return NULL;
        }
        *made = *child;
        *tail = made;
        tail = &made->next;
    }
    return copy;
}

static const weir_yaml_node *member_of(const weir_yaml_node *mapping, weir_str key)
{
    for (const weir_yaml_node *m = mapping->first; m; m = m->next) {
        if (weir_str_eq(m->key, key)) {
            return m;
        }
    }
    return NULL;
}

const weir_yaml_node *weir_settings_overlay(const weir_yaml_node *over, const weir_yaml_node *under,
                                            weir_arena *arena)
{
    weir_yaml_node *both = copy_level(over, arena), *below = copy_level(under, arena);
    if (!both || !below) {
        return NULL;
    }
    const weir_yaml_node **tail = &both->first;
    while (*tail) {
        tail = &own(*tail)->next;
    }
    for (const weir_yaml_node *m = below->first, *next; m; m = next) {
        next = m->next;
        if (!member_of(over, m->key)) {
            weir_yaml_node *added = own(m);
            added->next = NULL;
            *tail = added;
            tail = &added->next;
            both->count++;
        }
    }
    return both;
}

/* --- the way to a key --------------------------------------------------------------------- */

/* The number that text is, or WEIR_NONE. */
static uint32_t position(weir_str text)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || value > 100000000) {
            return WEIR_NONE;
        }
        value = value * 10 + (uint32_t)(text.p[i] - '0');
    }
    return text.n ? value : WEIR_NONE;
}

/* Which member of the list way begins with, and how much of way that is: its position, or the
 * longest `name` that a dot or the end follows. */
static uint32_t find_in_list(const weir_yaml_node *list, weir_str way, uint32_t *used)
{
    uint32_t dot = weir_str_find(way, WEIR_STR("."), 0), best = WEIR_NONE, i = 0;
    uint32_t at = position((weir_str){way.p, dot});
    if (at < list->count || (at == list->count && dot == way.n)) {
        *used = dot;
        return at;
    }
    *used = 0;
    for (const weir_yaml_node *item = list->first; item; item = item->next, i++) {
        const weir_yaml_node *name = weir_yaml_find(item, "name");
        if (name && name->text.n > *used && weir_str_starts(way, name->text) &&
            (name->text.n == way.n || way.p[name->text.n] == '.')) {
            *used = name->text.n;
            best = i;
        }
    }
    return best;
}

static weir_code miss(const change *c, const weir_yaml_node *list, weir_str way, weir_err *err)
{
    const weir_yaml_node *name = list->first ? weir_yaml_find(list->first, "name") : NULL;
    uint32_t dot = weir_str_find(way, WEIR_STR("."), 0), done = c->key.n - way.n;
    uint32_t shown = dot < 60 ? dot : 60, last = list->count ? list->count - 1 : 0;
    if (name && name->text.n < 60) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: found '%.*s' in '%.*s', expected a position up to %u or a name "
                            "such as '%s'",
                            c->origin, (int)shown, way.p, (int)(done ? done - 1 : 0), c->key.p,
                            last, name->text.p);
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%s: found '%.*s' in '%.*s', expected a position up to %u", c->origin,
                        (int)shown, way.p, (int)(done ? done - 1 : 0), c->key.p, last);
}

/* Adds an empty child, or finds the one that is there, in a collection that copy_level made. */
static weir_code step_into(const change *c, weir_yaml_node *at, weir_str way, uint32_t *used,
                           weir_yaml_node **child, weir_err *err)
{
    uint32_t index = WEIR_NONE, i = 0;
    const weir_yaml_node **link = &at->first;
    weir_str key = {way.p, weir_str_find(way, WEIR_STR("."), 0)};
    *used = key.n;
    if (at->kind == WEIR_YAML_SEQUENCE) {
        index = find_in_list(at, way, used);
        if (index == WEIR_NONE) {
            return miss(c, at, way, err);
        }
    }
    while (*link &&
           (at->kind == WEIR_YAML_SEQUENCE ? i < index : !weir_str_eq((*link)->key, key))) {
        link = &own(*link)->next;
        i++;
    }
    if (!*link) {
        weir_yaml_node *made = weir_arena_alloc(c->arena, 1, sizeof *made);
        if (!made || !(key.p = weir_arena_copy(c->arena, key))) {
            return no_memory(err);
        }
        *made = (weir_yaml_node){.kind = WEIR_YAML_MAPPING, .origin = c->origin};
        made->key = at->kind == WEIR_YAML_MAPPING ? key : WEIR_STR("");
        made->text = WEIR_STR("");
        *link = made;
        at->count++;
    }
    *child = own(*link);
    return WEIR_OK;
}

/* Keys whose value is a name or a mapping, and the mapping's key that such a name stands for. */
static const struct {
    const char *key, *name_is;
} named[] = {
    {"model", "preset"},   {"stack", "preset"}, {"network", "preset"}, {"reliability", "preset"},
    {"node_link", "like"}, {"nic", "like"},     {"pcie", "like"},      {"switch", "like"},
    {"module", "like"},    {"copper", "like"},  {"ocs", "like"},       {"circuit_module", "like"},
};

/* `stack: nemo-24.12` as {preset: nemo-24.12}, into which a way can lead; `none` as {}. at is a
 * scalar; it stays what it is where no name may stand, or where it is a file's. */
static weir_code open_name(const change *c, weir_yaml_node *at, weir_err *err)
{
    uint32_t i = 0, n = sizeof named / sizeof *named;
    bool is_none = weir_str_eq(at->text, WEIR_STR("none"));
    while (i < n && !weir_str_eq(at->key, weir_str_from(named[i].key))) {
        i++;
    }
    if (is_none && weir_str_eq(at->key, WEIR_STR("checkpoint"))) {
        at->kind = WEIR_YAML_MAPPING;
        return WEIR_OK;
    }
    if (i == n || at->text.n == 0 || weir_str_ends(at->text, WEIR_STR(".json"))) {
        return WEIR_OK;
    }
    weir_yaml_node *name = weir_arena_alloc(c->arena, 1, sizeof *name);
    if (!name) {
        return no_memory(err);
    }
    *name = *at;
    name->key = weir_str_from(named[i].name_is);
    name->key_line = at->line;
    name->key_column = at->column;
    name->next = NULL;
    at->kind = WEIR_YAML_MAPPING;
    at->first = is_none ? NULL : name;
    at->count = is_none ? 0 : 1;
    return WEIR_OK;
}

/* Puts the value into the place of target, which keeps its key and its place among siblings. */
static void put(const change *c, weir_yaml_node *target)
{
    weir_yaml_node old = *target;
    *target = *c->value;
    target->key = old.key;
    target->next = old.next;
}

static weir_code apply(const change *c, const weir_yaml_node **root, weir_err *err)
{
    weir_str way = c->key;
    weir_yaml_node *at = copy_level(*root, c->arena);
    const weir_yaml_node *made = at;
    for (uint32_t level = 0; at; level++) {
        uint32_t used = 0;
        weir_yaml_node *child = NULL;
        if (way.n == 0 || way.p[0] == '.' || level == MAX_LEVELS) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "%s: found an empty name or more than %d, expected names joined by "
                                "dots",
                                c->origin, MAX_LEVELS);
        }
        weir_code code = at->kind == WEIR_YAML_SCALAR ? open_name(c, at, err) : WEIR_OK;
        if (code != WEIR_OK) {
            return code;
        }
        if (at->kind == WEIR_YAML_SCALAR) {
            uint32_t done = c->key.n - way.n;
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "%s: found a value at '%.*s', expected a mapping or a list",
                                c->origin, (int)(done ? done - 1 : 0), c->key.p);
        }
        code = step_into(c, at, way, &used, &child, err);
        if (code != WEIR_OK) {
            return code;
        }
        assert(child);
        way.p += used;
        way.n -= used;
        if (way.n == 0) {
            put(c, child);
            *root = made;
            return WEIR_OK;
        }
        way.p++; /* the dot */
        way.n--;
        weir_yaml_node *level_copy = copy_level(child, c->arena);
        if (!level_copy) {
            break;
        }
        child->first = level_copy->first;
        at = child;
    }
    return no_memory(err);
}

static weir_code apply_one(const weir_setting *setting, weir_arena *arena,
                           const weir_yaml_node **root, weir_err *err)
{
    char origin[200];
    weir_yaml *value = NULL;
    snprintf(origin, sizeof origin, "--set %.180s", setting->key);
    change c = {.arena = arena, .origin = weir_arena_copy(arena, weir_str_from(origin))};
    c.key = weir_str_from(setting->key);
    if (!c.origin) {
        return no_memory(err);
    }
    if (c.key.n == 0 || setting->value[0] == '\0') {
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: found no %s, expected KEY=VALUE", c.origin,
                            c.key.n ? "value" : "key");
    }
    weir_code code = weir_yaml_parse(origin, setting->value, strlen(setting->value), &value, err);
    if (code != WEIR_OK) {
        return code;
    }
    c.value = weir_settings_copy(weir_yaml_root(value), c.origin, false, arena);
    code = c.value ? apply(&c, root, err) : no_memory(err);
    weir_yaml_free(value);
    return code;
}

weir_code weir_settings_apply(const weir_yaml_node *from, const weir_setting *settings,
                              uint32_t count, weir_arena *arena, const weir_yaml_node **root,
                              weir_err *err)
{
    const weir_yaml_node *tree = from;
    for (uint32_t i = 0; i < count; i++) {
        weir_code code = apply_one(&settings[i], arena, &tree, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    *root = tree;
    return WEIR_OK;
}
