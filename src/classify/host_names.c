#include "base/arena.h"
#include "classify/classify.h"
#include "classify/pattern.h"
#include "codec/yaml.h"
#include "scenario/preset.h"

#include <stdlib.h>

typedef struct {
    pattern text;
    uint8_t kinds; /* bit of weir_span_kind */
    uint8_t activity;
} rule;

struct weir_host_names {
    weir_arena *arena;
    rule *rules;
    uint32_t count, capacity;
};

static const char *const activity_words[WEIR_HOST_COUNT] = {"other",   "data",       "allocator",
                                                            "compile", "checkpoint", "sync"};
static const char *const kind_words[] = {"op", "annotation", "runtime", "python"};
static const weir_span_kind kinds_of_words[] = {WEIR_SPAN_OP, WEIR_SPAN_ANNOTATION,
                                                WEIR_SPAN_RUNTIME, WEIR_SPAN_PYTHON};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for host span names");
}

static weir_code add_rule(weir_host_names *h, const weir_yaml *doc, const weir_yaml_node *node,
                          rule made, weir_err *err)
{
    const char *why;
    if (node->kind != WEIR_YAML_SCALAR) {
        return weir_yaml_reject(doc, node, "a pattern", err);
    }
    if (h->count == h->capacity) {
        uint32_t capacity = h->capacity ? h->capacity * 2 : 256;
        rule *grown = realloc(h->rules, capacity * sizeof *grown);
        if (!grown) {
            return no_memory(err);
        }
        h->rules = grown;
        h->capacity = capacity;
    }
    if (!pattern_compile(node->text, h->arena, &made.text, &why)) {
        return why ? weir_yaml_reject(doc, node, why, err) : no_memory(err);
    }
    h->rules[h->count++] = made;
    return WEIR_OK;
}

static weir_code read_kinds(const weir_yaml *doc, const weir_yaml_node *list, uint8_t *kinds,
                            weir_err *err)
{
    if (!list) {
        *kinds = UINT8_MAX;
        return WEIR_OK;
    }
    if (list->kind != WEIR_YAML_SEQUENCE) {
        return weir_yaml_reject(doc, list, "a list of kinds", err);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next) {
        uint32_t word = 0;
        weir_code code = weir_yaml_choice(doc, n, kind_words, COUNT(kind_words), &word, err);
        if (code != WEIR_OK) {
            return code;
        }
        *kinds |= (uint8_t)(1u << kinds_of_words[word]);
    }
    return WEIR_OK;
}

static weir_code add_entry(weir_host_names *h, const weir_yaml *doc, const weir_yaml_node *node,
                           weir_err *err)
{
    static const char *const keys[] = {"activity", "kinds", "patterns"};
    const weir_yaml_node *activity, *patterns;
    uint32_t word = 0;
    rule made = {.kinds = 0};
    weir_code code = weir_yaml_check_keys(doc, node, keys, COUNT(keys), err);
    if (code || (code = weir_yaml_need(doc, node, "activity", WEIR_YAML_SCALAR, &activity, err)) ||
        (code = weir_yaml_choice(doc, activity, activity_words, WEIR_HOST_COUNT, &word, err)) ||
        (code = read_kinds(doc, weir_yaml_find(node, "kinds"), &made.kinds, err)) ||
        (code = weir_yaml_need(doc, node, "patterns", WEIR_YAML_SEQUENCE, &patterns, err))) {
        return code;
    }
    made.activity = (uint8_t)word;
    for (const weir_yaml_node *n = patterns->first; n && !code; n = n->next) {
        code = add_rule(h, doc, n, made, err);
    }
    return code;
}

static weir_code read_document(weir_host_names *h, const weir_yaml *doc, weir_err *err)
{
    static const char *const keys[] = {"spans"};
    const weir_yaml_node *root = weir_yaml_root(doc), *list;
    weir_code code = weir_yaml_check_keys(doc, root, keys, COUNT(keys), err);
    if (code || (code = weir_yaml_need(doc, root, "spans", WEIR_YAML_SEQUENCE, &list, err))) {
        return code;
    }
    for (const weir_yaml_node *n = list->first; n && !code; n = n->next) {
        code = add_entry(h, doc, n, err);
    }
    return code;
}

weir_code weir_host_names_load(weir_host_names **names, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_host_names *h = calloc(1, sizeof *h);
    if (!h || !(h->arena = weir_arena_new())) {
        weir_host_names_free(h);
        return no_memory(err);
    }
    weir_code code = weir_preset_open("host-spans.yaml", &doc, err);
    if (code == WEIR_OK) {
        code = read_document(h, doc, err);
    }
    weir_yaml_free(doc);
    if (code != WEIR_OK) {
        weir_host_names_free(h);
        return code;
    }
    *names = h;
    return WEIR_OK;
}

void weir_host_names_free(weir_host_names *names)
{
    if (names) {
        weir_arena_free(names->arena);
        free(names->rules);
        free(names);
    }
}

weir_host_activity weir_host_names_classify(const weir_host_names *names, weir_span_kind kind,
                                            weir_str name)
{
    pattern_digest digest;
    pattern_digest_name(&digest, name);
    for (uint32_t i = 0; i < names->count; i++) {
        const rule *r = &names->rules[i];
        if (r->kinds & 1u << kind && pattern_matches(&r->text, &digest)) {
            return (weir_host_activity)r->activity;
        }
    }
    return WEIR_HOST_OTHER;
}
