/* yaml.c: documents read with libfyaml, into nodes of their own (yaml.h). */
#include "codec/yaml_inside.h"

#include "base/sort.h"

#include <assert.h>
#include <libfyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 16 << 20, MAX_DEPTH = 64, MAX_NODES = 1000000 };

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
        return yaml_fail_at(b->doc, line, column, b->err, "found more than a million nodes");
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
        return yaml_fail_at(b->doc, line, column, b->err,
                            "found a collection as a key, expected text");
    }
    if (b->depth == MAX_DEPTH) {
        return yaml_fail_at(b->doc, line, column, b->err, "found more than 64 levels");
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
            char key[YAML_EXCERPT + 4], sentence[160];
            yaml_excerpt(key, twin->key);
            snprintf(sentence, sizeof sentence, "found key '%s' again, it is already on line %u",
                     key, sorted[i - 1]->key_line);
            code = yaml_fail_at(b->doc, twin->key_line, twin->key_column, b->err, sentence);
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
            return yaml_fail_at(b->doc, line, column, b->err,
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
        return yaml_fail_at(b->doc, line, column, b->err,
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
    return yaml_fail_at(doc, (uint32_t)(first->line > 0 ? first->line : 1),
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
            return yaml_fail_at(doc, line, column, err, "found bytes that are no UTF-8 text");
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
