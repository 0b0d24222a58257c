/* yaml_values.c: what a node of a document holds: a member, a whole number, one of some words. */
#include "codec/yaml_inside.h"

#include "base/nearest.h"

#include <stdio.h>

enum { EXPECTED = 320 }; /* bytes of the words that a sentence says were expected */

const weir_yaml_node *weir_yaml_find(const weir_yaml_node *mapping, const char *key)
{
    weir_str wanted = weir_str_from(key);
    if (mapping->kind != WEIR_YAML_MAPPING) {
        return NULL;
    }
    for (const weir_yaml_node *m = mapping->first; m; m = m->next) {
        if (weir_str_eq(m->key, wanted)) {
            return m;
        }
    }
    return NULL;
}

weir_code weir_yaml_need(const weir_yaml *doc, const weir_yaml_node *mapping, const char *key,
                         weir_yaml_kind kind, const weir_yaml_node **node, weir_err *err)
{
    static const char *const kinds[] = {"a value", "a mapping", "a list"};
    const weir_yaml_node *found = weir_yaml_find(mapping, key);
    if (!found) {
        return weir_yaml_fail(doc, mapping, err, "found no key '%s', which is needed here", key);
    }
    if (kind != WEIR_YAML_ANY && found->kind != kind) {
        return weir_yaml_reject(doc, found, kinds[kind], err);
    }
    *node = found;
    return WEIR_OK;
}

weir_code weir_yaml_check_keys(const weir_yaml *doc, const weir_yaml_node *node,
                               const char *const *known, uint32_t known_count, weir_err *err)
{
    if (node->kind != WEIR_YAML_MAPPING) {
        return weir_yaml_reject(doc, node, "a mapping", err);
    }
    for (const weir_yaml_node *m = node->first; m; m = m->next) {
        uint32_t i = 0;
        while (i < known_count && !weir_str_eq(m->key, weir_str_from(known[i]))) {
            i++;
        }
        if (i == known_count) {
            char key[YAML_EXCERPT + 4], expected[EXPECTED];
            weir_expected_word(m->key, known, known_count, expected, sizeof expected);
            yaml_excerpt(key, m->key);
            return weir_yaml_fail_key(doc, m, err, "found unknown key '%s', expected %s", key,
                                      expected);
        }
    }
    return WEIR_OK;
}

weir_code weir_yaml_uint(const weir_yaml *doc, const weir_yaml_node *node, uint64_t max,
                         uint64_t *value, weir_err *err)
{
    uint64_t v = 0;
    bool ok = node->kind == WEIR_YAML_SCALAR && node->text.n > 0;
    for (uint32_t i = 0; ok && i < node->text.n; i++) {
        char c = node->text.p[i];
        ok = c >= '0' && c <= '9' && !__builtin_mul_overflow(v, 10u, &v) &&
             !__builtin_add_overflow(v, (uint64_t)(c - '0'), &v);
    }
    if (!ok || v > max) {
        char expected[64];
        snprintf(expected, sizeof expected, "a whole number up to %llu", (unsigned long long)max);
        return weir_yaml_reject(doc, node, expected, err);
    }
    *value = v;
    return WEIR_OK;
}

weir_code weir_yaml_choice(const weir_yaml *doc, const weir_yaml_node *node,
                           const char *const *words, uint32_t word_count, uint32_t *index,
                           weir_err *err)
{
    if (node->kind == WEIR_YAML_SCALAR) {
        for (uint32_t i = 0; i < word_count; i++) {
            if (weir_str_eq(node->text, weir_str_from(words[i]))) {
                *index = i;
                return WEIR_OK;
            }
        }
    }
    char expected[EXPECTED];
    weir_expected_word(node->text, words, word_count, expected, sizeof expected);
    return weir_yaml_reject(doc, node, expected, err);
}
