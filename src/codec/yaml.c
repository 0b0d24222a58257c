#include "codec/yaml.h"

#include "base/arena.h"
#include "base/nearest.h"
#include "base/sort.h"

#include <assert.h>
#include <libfyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_BYTES = 16 << 20,
    MAX_DEPTH = 64,
    MAX_NODES = 1000000,
    EXCERPT = 60,  /* bytes of the input that a sentence shows */
    INPUT = 280,   /* bytes of the name of an input and a key in it */
    EXPECTED = 320 /* bytes of the words that it expected */
};

struct weir_yaml {
    weir_arena *arena;
    const char *name;
    const weir_yaml_node *root;
};

/* A collection that is still open. */
typedef struct {
    weir_yaml_node *node, *last_child;
    weir_yaml_node *member; /* has its key, waits for its value */
} level;

typedef struct {
    weir_yaml *doc;
    weir_err *err;
    level levels[MAX_DEPTH];
    uint32_t depth, nodes, documents;
    weir_yaml_node *root;
} builder;

/* --- errors ------------------------------------------------------------------------------- */

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

static weir_code fail_at(const weir_yaml *doc, uint32_t line, uint32_t column, weir_err *err,
                         const char *sentence)
{
    return fail_in(doc->name, line, column, err, sentence);
}

static const char *origin(const weir_yaml *doc, const weir_yaml_node *node)
{
    return node->origin ? node->origin : doc->name;
}

/* Writes text for a sentence: cut, control bytes as '?'. */
static void excerpt(char out[EXCERPT + 4], weir_str text)
{
    uint32_t n = text.n < EXCERPT ? text.n : EXCERPT;
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
    char key[EXCERPT + 4];
    excerpt(key, node->key);
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
    char found[EXCERPT + 4];
    if (node->kind != WEIR_YAML_SCALAR) {
        return weir_yaml_fail(doc, node, err, "found %s %s, expected %s",
                              node->count > 0 ? "a" : "an empty",
                              node->kind == WEIR_YAML_MAPPING ? "mapping" : "list", expected);
    }
    excerpt(found, node->text);
    return weir_yaml_fail(doc, node, err, "found '%s', expected %s", found, expected);
}

/* --- building ----------------------------------------------------------------------------- */

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a YAML document");
}

/* libfyaml marks the text, not the quote or the asterisk before it. */
static bool mark_is_late(const struct fy_event *event)
{
    if (event->type == FYET_ALIAS) {
        return true;
    }
    if (event->type != FYET_SCALAR || !event->scalar.value) {
        return false;
    }
    enum fy_scalar_style style = fy_token_scalar_style(event->scalar.value);
    return style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
}

static void place(struct fy_event *event, uint32_t *line, uint32_t *column)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    *line = mark ? (uint32_t)mark->line + 1 : 1;
    *column = mark ? (uint32_t)mark->column + 1 : 1;
    *column -= *column > 1 && mark_is_late(event);
}

static weir_code copy_text(builder *b, struct fy_event *event, weir_str *text)
{
    size_t n = 0;
    const char *p = event->scalar.value ? fy_token_get_text(event->scalar.value, &n) : NULL;
    *text = (weir_str){p ? p : "", p ? (uint32_t)n : 0};
    text->p = weir_arena_copy(b->doc->arena, *text);
    return text->p ? WEIR_OK : no_memory(b->err);
}

/* The node that the event opens, hung into the open collection. */
static weir_code add_node(builder *b, weir_yaml_kind kind, struct fy_event *event,
                          weir_yaml_node **out)
{
    level *top = b->depth ? &b->levels[b->depth - 1] : NULL;
    uint32_t line, column;
    place(event, &line, &column);
    if (++b->nodes > MAX_NODES) {
        return fail_at(b->doc, line, column, b->err, "found more than a million nodes");
    }
    weir_yaml_node *node = top ? top->member : NULL;
    if (!node) {
        node = weir_arena_alloc(b->doc->arena, 1, sizeof *node);
        if (!node) {
            return no_memory(b->err);
        }
        node->key = node->text = WEIR_STR("");
    }
    node->kind = kind;
    node->line = line;
    node->column = column;
    *out = node;
    if (!top) {
        b->root = node;
        return WEIR_OK;
    }
    top->member = NULL;
    if (top->last_child) {
        top->last_child->next = node;
    } else {
        top->node->first = node;
    }
    top->last_child = node;
    top->node->count++;
    return WEIR_OK;
}

static weir_code open_collection(builder *b, weir_yaml_kind kind, struct fy_event *event)
{
    weir_yaml_node *node;
    uint32_t line, column;
    place(event, &line, &column);
    level *top = b->depth ? &b->levels[b->depth - 1] : NULL;
    if (top && top->node->kind == WEIR_YAML_MAPPING && !top->member) {
        return fail_at(b->doc, line, column, b->err, "found a collection as a key, expected text");
    }
    if (b->depth == MAX_DEPTH) {
        return fail_at(b->doc, line, column, b->err, "found more than 64 levels");
    }
    weir_code code = add_node(b, kind, event, &node);
    if (code == WEIR_OK) {
        b->levels[b->depth++] = (level){.node = node};
    }
    return code;
}

static int compare_keys(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_yaml_node *const *x = a, *const *y = b;
    return weir_str_cmp((*x)->key, (*y)->key);
}

static weir_code check_twice(builder *b, const weir_yaml_node *mapping)
{
    weir_code code = WEIR_OK;
    if (mapping->count < 2) {
        return WEIR_OK;
    }
    const weir_yaml_node **sorted = calloc(mapping->count, sizeof *sorted);
    if (!sorted) {
        return no_memory(b->err);
    }
    uint32_t n = 0;
    for (const weir_yaml_node *m = mapping->first; m; m = m->next) {
        sorted[n++] = m;
    }
    if (!weir_sort(sorted, n, sizeof *sorted, compare_keys, NULL)) {
        code = no_memory(b->err);
    }
    for (uint32_t i = 1; i < n && code == WEIR_OK; i++) {
        const weir_yaml_node *twin = sorted[i];
        if (weir_str_eq(twin->key, sorted[i - 1]->key)) {
            char key[EXCERPT + 4], sentence[160];
            excerpt(key, twin->key);
            snprintf(sentence, sizeof sentence, "found key '%s' again, it is already on line %u",
                     key, sorted[i - 1]->key_line);
            code = fail_at(b->doc, twin->key_line, twin->key_column, b->err, sentence);
        }
    }
    free(sorted);
    return code;
}

static weir_code add_scalar(builder *b, struct fy_event *event)
{
    weir_yaml_node *node = NULL;
    level *top = b->depth ? &b->levels[b->depth - 1] : NULL;
    if (top && top->node->kind == WEIR_YAML_MAPPING && !top->member) {
        node = weir_arena_alloc(b->doc->arena, 1, sizeof *node);
        if (!node) {
            return no_memory(b->err);
        }
        node->text = WEIR_STR("");
        place(event, &node->key_line, &node->key_column);
        top->member = node;
        return copy_text(b, event, &node->key);
    }
    weir_code code = add_node(b, WEIR_YAML_SCALAR, event, &node);
    if (code != WEIR_OK) {
        return code;
    }
    assert(node);
    return copy_text(b, event, &node->text);
}

static weir_code take_event(builder *b, struct fy_event *event)
{
    uint32_t line, column;
    switch (event->type) {
    case FYET_DOCUMENT_START:
        place(event, &line, &column);
        if (b->documents++ > 0) {
            return fail_at(b->doc, line, column, b->err,
                           "found a second document, expected one in a file");
        }
        return WEIR_OK;
    case FYET_MAPPING_START:
        return open_collection(b, WEIR_YAML_MAPPING, event);
    case FYET_SEQUENCE_START:
        return open_collection(b, WEIR_YAML_SEQUENCE, event);
    case FYET_MAPPING_END:
        return check_twice(b, b->levels[--b->depth].node);
    case FYET_SEQUENCE_END:
        b->depth--;
        return WEIR_OK;
    case FYET_SCALAR:
        return add_scalar(b, event);
    case FYET_ALIAS:
        place(event, &line, &column);
        return fail_at(b->doc, line, column, b->err,
                       "found an alias, expected the value itself: aliases are not supported");
    default:
        return WEIR_OK;
    }
}

/* libfyaml's first complaint; without one (binary, empty), a sentence without a place. */
static weir_code syntax_error(const weir_yaml *doc, struct fy_diag *diag, weir_err *err)
{
    void *previous = NULL;
    const struct fy_diag_error *first = fy_diag_errors_iterate(diag, &previous);
    if (!first) {
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: found no YAML or JSON document", doc->name);
    }
    char sentence[200];
    snprintf(sentence, sizeof sentence, "%s", first->msg ? first->msg : "not YAML");
    return fail_at(doc, (uint32_t)(first->line > 0 ? first->line : 1),
                   (uint32_t)(first->column > 0 ? first->column : 1), err, sentence);
}

static weir_code build(builder *b, struct fy_parser *parser, struct fy_diag *diag)
{
    for (;;) {
        struct fy_event *event = fy_parser_parse(parser);
        if (!event) {
            return syntax_error(b->doc, diag, b->err);
        }
        bool end = event->type == FYET_STREAM_END;
        weir_code code = take_event(b, event);
        fy_parser_event_free(parser, event);
        if (code != WEIR_OK) {
            return code;
        }
        if (end) {
            b->doc->root = b->root;
            return b->root
                       ? WEIR_OK
                       : weir_err_set(b->err, WEIR_ERR_INPUT,
                                      "%s: the file is empty, expected a document", b->doc->name);
        }
    }
}

static weir_code parse_into(weir_yaml *doc, const char *bytes, size_t n, weir_err *err)
{
    weir_code code = WEIR_ERR_MEMORY;
    bool json = weir_str_ends(weir_str_from(doc->name), WEIR_STR(".json"));
    builder *b = calloc(1, sizeof *b);
    /* A diag of its own: libfyaml adds errors up in a shared one. */
    struct fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    struct fy_parser *parser = NULL;
    if (b && diag) {
        fy_diag_set_collect_errors(diag, true);
        struct fy_parse_cfg cfg = {
            .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | (json ? FYPCF_JSON_FORCE : FYPCF_JSON_NONE),
            .diag = diag,
        };
        parser = fy_parser_create(&cfg);
    }
    if (!parser || fy_parser_set_string(parser, n ? bytes : " ", n ? n : 1) != 0) {
        weir_err_set(err, code, "no memory for a YAML document");
    } else {
        b->doc = doc;
        b->err = err;
        code = build(b, parser, diag);
    }
    if (parser) {
        fy_parser_destroy(parser);
    }
    fy_diag_destroy(diag);
    free(b);
    return code;
}

/* Bytes of the UTF-8 character that p begins with, at most n; 0: it is none (RFC 3629). */
static uint32_t character(const unsigned char *p, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t length = p[0] < 0x80 ? 1 : p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (length <= 1 || length > n || p[0] > 0xF4) {
        return length == 1;
    }
    uint32_t code = p[0] & (0x7Fu >> length);
    for (uint32_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (p[i] & 0x3F);
    }
    bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return code < least[length] || code > 0x10FFFF || is_surrogate ? 0 : length;
}

/* libfyaml 0.7.12 does not come back from a directive that is no UTF-8 ("%a\xCA"). */
static weir_code check_text(const weir_yaml *doc, const char *bytes, size_t n, weir_err *err)
{
    uint32_t line = 1, column = 1, length;
    for (size_t i = 0; i < n; i += length) {
        length = character((const unsigned char *)bytes + i, n - i);
        if (length == 0) {
            return fail_at(doc, line, column, err, "found bytes that are no UTF-8 text");
        }
        bool is_end = bytes[i] == '\n';
        line += is_end;
        column = is_end ? 1 : column + 1;
    }
    return WEIR_OK;
}

weir_code weir_yaml_parse(const char *name, const char *bytes, size_t n, weir_yaml **doc,
                          weir_err *err)
{
    if (n > MAX_BYTES) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "%s: more than 16 MiB of YAML", name);
    }
    weir_yaml *d = calloc(1, sizeof *d);
    if (d) {
        d->arena = weir_arena_new();
        d->name = d->arena ? weir_arena_copy(d->arena, weir_str_from(name)) : NULL;
    }
    if (!d || !d->name) {
        weir_yaml_free(d);
        return no_memory(err);
    }
    weir_code code = check_text(d, bytes, n, err);
    if (code == WEIR_OK) {
        code = parse_into(d, bytes, n, err);
    }
    if (code != WEIR_OK) {
        weir_yaml_free(d);
        return code;
    }
    *doc = d;
    return WEIR_OK;
}

weir_code weir_yaml_read(const char *path, weir_yaml **doc, weir_err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return weir_err_set(err, WEIR_ERR_IO, "%s: cannot be opened", path);
    }
    weir_code code = WEIR_OK;
    char *bytes = NULL;
    size_t n = 0, capacity = 0;
    while (code == WEIR_OK && n <= MAX_BYTES && !feof(file) && !ferror(file)) {
        if (n == capacity) {
            capacity = capacity ? capacity * 2 : 16384;
            char *grown = realloc(bytes, capacity);
            if (!grown) {
                code = no_memory(err);
                break;
            }
            bytes = grown;
        }
        n += fread(bytes + n, 1, capacity - n, file);
    }
    if (code == WEIR_OK && ferror(file)) {
        code = weir_err_set(err, WEIR_ERR_IO, "%s: cannot be read", path);
    }
    fclose(file);
    if (code == WEIR_OK) {
        code = weir_yaml_parse(path, bytes, n, doc, err);
    }
    free(bytes);
    return code;
}

void weir_yaml_free(weir_yaml *doc)
{
    if (doc) {
        weir_arena_free(doc->arena);
        free(doc);
    }
}

const weir_yaml_node *weir_yaml_root(const weir_yaml *doc)
{
    return doc->root;
}

const char *weir_yaml_name(const weir_yaml *doc)
{
    return doc->name;
}

/* --- reading ------------------------------------------------------------------------------ */

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
            char key[EXCERPT + 4], expected[EXPECTED];
            weir_expected_word(m->key, known, known_count, expected, sizeof expected);
            excerpt(key, m->key);
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
