/* yaml_fail.c: sentences about a document: which input, which line and column, what was found. */
#include "codec/yaml_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { INPUT = 280 }; /* bytes of the name of an input and a key in it */

static weir_code fail_in(const char *input, uint32_t line, uint32_t column, weir_err *err,
                         const char *sentence)
{
    bool first = err && err->code == WEIR_OK;
    if (line == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: %s", input, sentence);
    }
    weir_err_set(err, WEIR_ERR_INPUT, "%s:%u:%u: %s", input, line, column, sentence);
    if (first) {
        err->line = line;
        err->column = column;
    }
    return WEIR_ERR_INPUT;
}

weir_code yaml_fail_at(const weir_yaml *doc, uint32_t line, uint32_t column, weir_err *err,
                       const char *sentence)
{
    return fail_in(doc->name, line, column, err, sentence);
}

static const char *origin(const weir_yaml *doc, const weir_yaml_node *node)
{
    return node->origin ? node->origin : doc->name;
}

void yaml_excerpt(char out[YAML_EXCERPT + 4], weir_str text)
{
    uint32_t n = text.n < YAML_EXCERPT ? text.n : YAML_EXCERPT;
    while (n < text.n && n > 0 && ((unsigned char)text.p[n] & 0xC0) == 0x80) {
        n--; /* never cut inside a UTF-8 character */
    }
    for (uint32_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        out[i] = c < 0x20 || c == 0x7F ? '?' : (char)c;
    }
    memcpy(out + n, n < text.n ? "..." : "", n < text.n ? 4 : 1);
}

/* Whether the key is one of those that "--set a.b.c" names. */
static bool names_key(weir_str name, weir_str key)
{
    for (uint32_t at = 0; (at = weir_str_find(name, key, at)) < name.n; at++) {
        uint32_t end = at + key.n;
        bool begins = at > 0 && (name.p[at - 1] == '.' || name.p[at - 1] == ' ');
        if (begins && (end == name.n || name.p[end] == '.')) {
            return true;
        }
    }
    return false;
}

/* Of a value without a place its key tells where it is: "--set network: switch". */
static const char *input_of(const weir_yaml *doc, const weir_yaml_node *node, char room[INPUT])
{
    const char *name = origin(doc, node);
    if (node->line > 0 || node->key.n == 0 || names_key(weir_str_from(name), node->key)) {
        return name;
    }
    char key[YAML_EXCERPT + 4];
    yaml_excerpt(key, node->key);
    snprintf(room, INPUT, "%s: %s", name, key);
    return room;
}

weir_code weir_yaml_fail(const weir_yaml *doc, const weir_yaml_node *node, weir_err *err,
                         const char *fmt, ...)
{
    char sentence[400], input[INPUT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    return fail_in(input_of(doc, node, input), node->line, node->column, err, sentence);
}

weir_code weir_yaml_fail_key(const weir_yaml *doc, const weir_yaml_node *member, weir_err *err,
                             const char *fmt, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    return fail_in(origin(doc, member), member->key_line, member->key_column, err, sentence);
}

weir_code weir_yaml_reject(const weir_yaml *doc, const weir_yaml_node *node, const char *expected,
                           weir_err *err)
{
    char found[YAML_EXCERPT + 4];
    if (node->kind != WEIR_YAML_SCALAR) {
        return weir_yaml_fail(doc, node, err, "found %s %s, expected %s",
                              node->count > 0 ? "a" : "an empty",
                              node->kind == WEIR_YAML_MAPPING ? "mapping" : "list", expected);
    }
    yaml_excerpt(found, node->text);
    return weir_yaml_fail(doc, node, err, "found '%s', expected %s", found, expected);
}
