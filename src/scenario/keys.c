#include "scenario/keys.h"

#include <assert.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

enum { MAX_KEYS = 64 };

/* --- single values ------------------------------------------------------------------------ */

/* What a number should have been: "a number above 0 and up to 1". */
static void expect_number(const weir_key *key, char *text, size_t n)
{
    const char *whole = key->type == WEIR_KEY_UINT || key->type == WEIR_KEY_UINT64 ? "whole " : "";
    const char *word = key->above ? "above" : "from";
    if (key->max > 0) {
        snprintf(text, n, "a %snumber %s %.15g %s %.15g", whole, word, key->min,
                 key->above ? "and up to" : "to", key->max);
    } else if (key->above) {
        snprintf(text, n, "a %snumber above %.15g", whole, key->min);
    } else if (key->min != 0) {
        snprintf(text, n, "a %snumber, at least %.15g", whole, key->min);
    } else {
        snprintf(text, n, "a %snumber", whole);
    }
}

static bool is_inside(const weir_key *key, double value)
{
    bool limited = key->min != 0 || key->max != 0 || key->above;
    if (!limited) {
        return true;
    }
    bool low = key->above ? value > key->min : value >= key->min;
    return low && (key->max == 0 || value <= key->max);
}

static weir_code read_uint(const weir_key_source *source, const weir_yaml_node *node,
                           const weir_key *key, void *out, weir_err *err)
{
    char expected[96];
    uint64_t most = key->type == WEIR_KEY_UINT ? UINT32_MAX : UINT64_MAX, value;
    if (weir_yaml_uint(source->doc, node, most, &value, NULL) != WEIR_OK ||
        !is_inside(key, (double)value)) {
        expect_number(key, expected, sizeof expected);
        return weir_yaml_reject(source->doc, node, expected, err);
    }
    if (key->type == WEIR_KEY_UINT) {
        *(uint32_t *)out = (uint32_t)value;
    } else {
        *(uint64_t *)out = value;
    }
    return WEIR_OK;
}

static weir_code read_number(const weir_key_source *source, const weir_yaml_node *node,
                             const weir_key *key, double *out, weir_err *err)
{
    char expected[96];
    double value;
    if (node->kind != WEIR_YAML_SCALAR || !weir_number_parse(node->text, &value) ||
        !is_inside(key, value)) {
        expect_number(key, expected, sizeof expected);
        return weir_yaml_reject(source->doc, node, expected, err);
    }
    *out = value;
    return WEIR_OK;
}

static weir_code read_quantity(const weir_key_source *source, const weir_yaml_node *node,
                               const weir_key *key, double *out, weir_err *err)
{
    double value;
    weir_code code = weir_unit_read(source->doc, node, key->dimension, &value, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (!is_inside(key, value)) {
        char expected[96];
        const char *unit = weir_unit_name(key->dimension);
        const char *word = key->above ? "more than" : "at least";
        if (key->max > 0) {
            snprintf(expected, sizeof expected, "%s %.6g and at most %.6g %s", word, key->min,
                     key->max, unit);
        } else {
            snprintf(expected, sizeof expected, "%s %.6g %s", word, key->min, unit);
        }
        return weir_yaml_reject(source->doc, node, expected, err);
    }
    *out = value;
    return WEIR_OK;
}

static weir_code read_bool(const weir_key_source *source, const weir_yaml_node *node, bool *out,
                           weir_err *err)
{
    static const char *const words[] = {"yes", "true", "no", "false"};
    for (uint32_t i = 0; i < 4 && node->kind == WEIR_YAML_SCALAR; i++) {
        if (weir_str_eq(node->text, weir_str_from(words[i]))) {
            *out = i < 2;
            return WEIR_OK;
        }
    }
    return weir_yaml_reject(source->doc, node, "'yes' or 'no'", err);
}

static weir_code read_text(const weir_key_source *source, const weir_yaml_node *node,
                           const char **out, weir_err *err)
{
    if (node->kind != WEIR_YAML_SCALAR || node->text.n == 0 ||
        memchr(node->text.p, '\0', node->text.n)) {
        return weir_yaml_reject(source->doc, node, "text", err);
    }
    *out = weir_arena_copy(source->arena, node->text);
    return *out ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a scenario");
}

weir_code weir_key_read(const weir_key_source *source, const weir_yaml_node *node,
                        const weir_key *key, void *out, weir_err *err)
{
    switch (key->type) {
    case WEIR_KEY_TEXT:
        return read_text(source, node, out, err);
    case WEIR_KEY_BOOL:
        return read_bool(source, node, out, err);
    case WEIR_KEY_UINT:
    case WEIR_KEY_UINT64:
        return read_uint(source, node, key, out, err);
    case WEIR_KEY_NUMBER:
        return read_number(source, node, key, out, err);
    case WEIR_KEY_QUANTITY:
        return read_quantity(source, node, key, out, err);
    case WEIR_KEY_CHOICE:
        return weir_yaml_choice(source->doc, node, key->words, key->word_count, out, err);
    case WEIR_KEY_NODE:
        *(const weir_yaml_node **)out = node;
        return WEIR_OK;
    }
    return WEIR_ERR_INTERNAL;
}

/* --- members ------------------------------------------------------------------------------ */

static uint32_t size_of(weir_key_type type)
{
    switch (type) {
    case WEIR_KEY_BOOL:
        return sizeof(bool);
    case WEIR_KEY_UINT:
    case WEIR_KEY_CHOICE:
        return sizeof(uint32_t);
    case WEIR_KEY_UINT64:
    case WEIR_KEY_NUMBER:
    case WEIR_KEY_QUANTITY:
        return sizeof(uint64_t);
    case WEIR_KEY_TEXT:
    case WEIR_KEY_NODE:
        break;
    }
    return sizeof(void *);
}

static weir_code read_member(const weir_key_source *source, const weir_yaml_node *node,
                             const weir_key *key, char *out, weir_err *err)
{
    if (key->count == 0 || node->kind != WEIR_YAML_SEQUENCE) {
        return weir_key_read(source, node, key, out, err);
    }
    if (node->count == 0 || node->count > key->count) {
        return weir_yaml_fail(source->doc, node, err, "found a list of %u, expected 1 to %u values",
                              node->count, key->count);
    }
    for (const weir_yaml_node *n = node->first; n; n = n->next) {
        weir_code code = weir_key_read(source, n, key, out, err);
        if (code != WEIR_OK) {
            return code;
        }
        out += size_of(key->type);
    }
    return WEIR_OK;
}

/* The default as if it had been written. */
static weir_code read_unset(const weir_key_source *source, const weir_key *key, char *out,
                            weir_err *err)
{
    weir_str rest = weir_str_from(key->unset), comma = WEIR_STR(", ");
    for (uint32_t i = 0; i < (key->count ? key->count : 1); i++) {
        uint32_t end = key->count ? weir_str_find(rest, comma, 0) : rest.n;
        weir_yaml_node node = {.kind = WEIR_YAML_SCALAR, .origin = key->name};
        char text[64];
        assert(end < sizeof text);
        memcpy(text, rest.p, end);
        text[end] = '\0';
        node.text = weir_str_from(text);
        weir_code code = weir_key_read(source, &node, key, out, err);
        if (code != WEIR_OK) {
            return code;
        }
        out += size_of(key->type);
        if (end < rest.n) { /* else the last one stands for those that follow */
            rest.p += end + comma.n;
            rest.n -= end + comma.n;
        }
    }
    return WEIR_OK;
}

static bool has_meaning(const weir_key *key, uint32_t kind)
{
    return key->kinds == 0 || (key->kinds >> kind & 1) != 0;
}

static weir_code check_names(const weir_key_source *source, const weir_yaml_node *node,
                             const weir_key_table *table, uint32_t kind, weir_err *err)
{
    const char *names[MAX_KEYS];
    uint32_t count = 0;
    assert(table->count <= MAX_KEYS);
    for (uint32_t i = 0; i < table->count; i++) {
        const weir_yaml_node *member = weir_yaml_find(node, table->keys[i].name);
        if (has_meaning(&table->keys[i], kind)) {
            names[count++] = table->keys[i].name;
        } else if (member) {
            return weir_yaml_fail_key(source->doc, member, err,
                                      "key '%s' has no meaning for kind %s", table->keys[i].name,
                                      table->kinds[kind]);
        }
    }
    return weir_yaml_check_keys(source->doc, node, names, count, err);
}

static weir_code miss(const weir_key_source *source, const weir_yaml_node *node,
                      const weir_key *key, weir_err *err)
{
    const weir_yaml_node *none;
    return key->example ? weir_yaml_fail(source->doc, node, err,
                                         "found no key '%s', which is needed here, for example "
                                         "%s: %s",
                                         key->name, key->name, key->example)
                        : weir_yaml_need(source->doc, node, key->name, WEIR_YAML_ANY, &none, err);
}

weir_code weir_keys_read(const weir_key_source *source, const weir_yaml_node *node,
                         const weir_key_table *table, uint32_t kind, void *out, weir_err *err)
{
    weir_code code = check_names(source, node, table, kind, err);
    for (uint32_t i = 0; i < table->count && code == WEIR_OK; i++) {
        const weir_key *key = &table->keys[i];
        const weir_yaml_node *member = weir_yaml_find(node, key->name);
        char *to = (char *)out + key->offset;
        if (!member && has_meaning(key, kind) && (key->needed >> kind & 1)) {
            return miss(source, node, key, err);
        }
        if (key->unset) {
            code = read_unset(source, key, to, err);
        }
        if (member && code == WEIR_OK) {
            code = read_member(source, member, key, to, err);
        }
    }
    return code;
}

/* --- the page ----------------------------------------------------------------------------- */

static void describe_value(const weir_key *key, weir_text *page)
{
    char expected[96];
    switch (key->type) {
    case WEIR_KEY_TEXT:
        weir_text_add(page, WEIR_STR("text"));
        break;
    case WEIR_KEY_BOOL:
        weir_text_add(page, WEIR_STR("yes or no"));
        break;
    case WEIR_KEY_UINT:
    case WEIR_KEY_UINT64:
    case WEIR_KEY_NUMBER:
        expect_number(key, expected, sizeof expected);
        weir_text_add(page, weir_str_from(expected));
        break;
    case WEIR_KEY_QUANTITY:
        weir_text_printf(page, "with its unit (%s)", weir_unit_name(key->dimension));
        break;
    case WEIR_KEY_CHOICE:
        for (uint32_t i = 0; i < key->word_count; i++) {
            weir_text_printf(page, "%s`%s`", i ? " " : "", key->words[i]);
        }
        break;
    case WEIR_KEY_NODE:
        weir_text_add(page, WEIR_STR("as its meaning says"));
        break;
    }
    if (key->count) {
        weir_text_printf(page, ", up to %u in a list", key->count);
    }
}

static void describe_kinds(const weir_key_table *table, const weir_key *key, weir_text *page)
{
    if (!table->kinds || key->kinds == 0) {
        return;
    }
    weir_text_add(page, WEIR_STR(" (of"));
    for (uint32_t k = 0; k < table->kind_count; k++) {
        if (key->kinds >> k & 1) {
            weir_text_printf(page, " %s", table->kinds[k]);
        }
    }
    weir_text_char(page, ')');
}

void weir_keys_describe(const weir_key_table *table, weir_text *page)
{
    weir_text_printf(page, "\n## %s\n\n%s\n\n", table->title, table->about);
    weir_text_add(page, WEIR_STR("| key | value | default | meaning | example |\n"
                                 "|---|---|---|---|---|\n"));
    for (uint32_t i = 0; i < table->count; i++) {
        const weir_key *key = &table->keys[i];
        const char *unset = key->shown ? key->shown : key->unset ? key->unset : "none";
        weir_text_printf(page, "| `%s` | ", key->name);
        describe_value(key, page);
        weir_text_printf(page, " | %s | %s", key->needed ? "needed" : unset, key->help);
        describe_kinds(table, key, page);
        weir_text_printf(page, " | `%s` |\n", key->example);
    }
}
