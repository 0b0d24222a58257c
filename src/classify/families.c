#include "base/arena.h"
#include "classify/classify.h"
#include "classify/pattern.h"
#include "codec/yaml.h"
#include "scenario/preset.h"
#include "timeline/comm_names.h"

#include <stdlib.h>

typedef struct {
    const char *name; /* in the arena */
    weir_name_class tells;
    uint32_t first_pattern, pattern_count;
} family;

struct weir_families {
    weir_arena *arena;
    family *items;
    uint32_t count, capacity;
    pattern *patterns;
    uint32_t pattern_count, pattern_capacity;
};

static const char *const class_words[WEIR_CLASS_COUNT] = {"math", "memory", "communication",
                                                          "copy"};
/* From weir_comm_kind 1 on. */
static const char *const collective_words[] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce",
    "gather",     "scatter",    "barrier",        "send",       "recv",      "send_recv"};
static const char *const flag_words[] = {"gemm", "experts", "attention"};
static const char *const family_keys[] = {"name",  "class",    "cause",
                                          "flags", "patterns", "collective"};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for kernel families");
}

static weir_code add_pattern(weir_families *f, const weir_yaml *doc, const weir_yaml_node *node,
                             weir_err *err)
{
    if (node->kind != WEIR_YAML_SCALAR) {
        return weir_yaml_reject(doc, node, "a pattern", err);
    }
    if (f->pattern_count == f->pattern_capacity) {
        uint32_t capacity = f->pattern_capacity ? f->pattern_capacity * 2 : 1024;
        pattern *grown = realloc(f->patterns, capacity * sizeof *grown);
        if (!grown) {
            return no_memory(err);
        }
        f->patterns = grown;
        f->pattern_capacity = capacity;
    }
    const char *why;
    if (!pattern_compile(node->text, f->arena, &f->patterns[f->pattern_count], &why)) {
        return why ? weir_yaml_reject(doc, node, why, err) : no_memory(err);
    }
    f->pattern_count++;
    return WEIR_OK;
}

static weir_code read_flags(const weir_yaml *doc, const weir_yaml_node *flags, family *made,
                            weir_err *err)
{
    weir_code code = WEIR_OK;
    if (flags && flags->kind != WEIR_YAML_SEQUENCE) {
        return weir_yaml_reject(doc, flags, "a list of flags", err);
    }
    for (const weir_yaml_node *n = flags ? flags->first : NULL; n && !code; n = n->next) {
        uint32_t flag = 0;
        code = weir_yaml_choice(doc, n, flag_words, COUNT(flag_words), &flag, err);
        if (code != WEIR_OK) {
            break;
        }
        made->tells.is_gemm |= flag <= 1; /* experts are matrix products too */
        made->tells.is_experts |= flag == 1;
        made->tells.is_attention |= flag == 2;
    }
    return code;
}

/* Communication is told by `collective`, everything else by `cause`. */
static weir_code read_cause(const weir_yaml *doc, const weir_yaml_node *node, family *made,
                            weir_err *err)
{
    const weir_yaml_node *cause = weir_yaml_find(node, "cause");
    const weir_yaml_node *collective = weir_yaml_find(node, "collective");
    weir_name_class *tells = &made->tells;
    if (tells->cls == WEIR_CLASS_COMM) {
        uint32_t kind = 0;
        if (cause) {
            return weir_yaml_reject(doc, cause, "no cause: `collective` tells it", err);
        }
        if (collective) {
            weir_code code = weir_yaml_choice(doc, collective, collective_words,
                                              COUNT(collective_words), &kind, err);
            if (code != WEIR_OK) {
                return code;
            }
            tells->comm = (weir_comm_kind)(kind + 1);
        }
        tells->cause = weir_comm_cause(tells->comm);
        return WEIR_OK;
    }
    if (collective) {
        return weir_yaml_reject(doc, collective, "no collective: the class is not communication",
                                err);
    }
    weir_code code = weir_yaml_need(doc, node, "cause", WEIR_YAML_SCALAR, &cause, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (!weir_cause_find(cause->text, &tells->cause)) {
        return weir_yaml_reject(doc, cause, "a cause such as compute.gemm or cache.activations",
                                err);
    }
    weir_wait wait = weir_cause_wait(tells->cause);
    if (wait != (tells->cls == WEIR_CLASS_MATH ? WEIR_WAIT_COMPUTE : WEIR_WAIT_CACHE)) {
        return weir_yaml_reject(doc, cause,
                                tells->cls == WEIR_CLASS_MATH ? "a cause of compute (class math)"
                                                              : "a cause of cache",
                                err);
    }
    return WEIR_OK;
}

static weir_code check_name(const weir_families *f, uint32_t first, const weir_yaml *doc,
                            const weir_yaml_node *name, weir_err *err)
{
    for (uint32_t i = first; i < f->count; i++) {
        if (weir_str_eq(weir_str_from(f->items[i].name), name->text)) {
            return weir_yaml_reject(doc, name, "a name that no earlier family has", err);
        }
    }
    return name->text.n > 0 ? WEIR_OK : weir_yaml_reject(doc, name, "a name", err);
}

/* first: the families of the same file begin there. */
static weir_code add_family(weir_families *f, uint32_t first, const weir_yaml *doc,
                            const weir_yaml_node *node, weir_err *err)
{
    family made = {.first_pattern = f->pattern_count};
    const weir_yaml_node *name, *cls, *patterns;
    uint32_t choice = 0;
    weir_code code = weir_yaml_check_keys(doc, node, family_keys, COUNT(family_keys), err);
    if (code || (code = weir_yaml_need(doc, node, "name", WEIR_YAML_SCALAR, &name, err)) ||
        (code = check_name(f, first, doc, name, err)) ||
        (code = weir_yaml_need(doc, node, "class", WEIR_YAML_SCALAR, &cls, err)) ||
        (code = weir_yaml_choice(doc, cls, class_words, WEIR_CLASS_COUNT, &choice, err)) ||
        (code = weir_yaml_need(doc, node, "patterns", WEIR_YAML_SEQUENCE, &patterns, err))) {
        return code;
    }
    made.tells = (weir_name_class){.known = true, .cls = (weir_class)choice, .family = f->count};
    if ((code = read_cause(doc, node, &made, err)) ||
        (code = read_flags(doc, weir_yaml_find(node, "flags"), &made, err))) {
        return code;
    }
    for (const weir_yaml_node *n = patterns->first; n && !code; n = n->next) {
        code = add_pattern(f, doc, n, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    made.pattern_count = f->pattern_count - made.first_pattern;
    made.name = weir_arena_copy(f->arena, name->text);
    if (!made.name) {
        return no_memory(err);
    }
    if (f->count == f->capacity) {
        uint32_t capacity = f->capacity ? f->capacity * 2 : 64;
        family *grown = realloc(f->items, capacity * sizeof *grown);
        if (!grown) {
            return no_memory(err);
        }
        f->items = grown;
        f->capacity = capacity;
    }
    f->items[f->count++] = made;
    return WEIR_OK;
}

static weir_code add_document(weir_families *f, const weir_yaml *doc, weir_err *err)
{
    static const char *const keys[] = {"families"};
    const weir_yaml_node *root = weir_yaml_root(doc), *list;
    uint32_t first = f->count;
    weir_code code = weir_yaml_check_keys(doc, root, keys, COUNT(keys), err);
    if (code || (code = weir_yaml_need(doc, root, "families", WEIR_YAML_SEQUENCE, &list, err))) {
        return code;
    }
    for (const weir_yaml_node *n = list->first; n && !code; n = n->next) {
        code = add_family(f, first, doc, n, err);
    }
    return code;
}

weir_code weir_families_load(const char *extra_path, weir_families **families, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = WEIR_OK;
    weir_families *f = calloc(1, sizeof *f);
    if (!f || !(f->arena = weir_arena_new())) {
        code = no_memory(err);
        goto done;
    }
    if (extra_path) {
        if ((code = weir_yaml_read(extra_path, &doc, err)) || (code = add_document(f, doc, err))) {
            goto done;
        }
        weir_yaml_free(doc);
        doc = NULL;
    }
    code = weir_preset_open("kernels.yaml", &doc, err);
    if (code == WEIR_OK) {
        code = add_document(f, doc, err);
    }
done:
    weir_yaml_free(doc);
    if (code != WEIR_OK) {
        weir_families_free(f);
        return code;
    }
    *families = f;
    return WEIR_OK;
}

void weir_families_free(weir_families *families)
{
    if (families) {
        weir_arena_free(families->arena);
        free(families->items);
        free(families->patterns);
        free(families);
    }
}

weir_name_class weir_families_classify(const weir_families *families, weir_str kernel_name)
{
    pattern_digest digest;
    pattern_digest_name(&digest, kernel_name);
    for (uint32_t i = 0; i < families->count; i++) {
        const family *f = &families->items[i];
        for (uint32_t k = 0; k < f->pattern_count; k++) {
            if (pattern_matches(&families->patterns[f->first_pattern + k], &digest)) {
                return f->tells;
            }
        }
    }
    return (weir_name_class){
        .cls = WEIR_CLASS_MATH, .cause = WEIR_CAUSE_COMPUTE_UNKNOWN, .family = WEIR_NONE};
}

const char *weir_families_name(const weir_families *families, uint32_t family_index)
{
    return family_index < families->count ? families->items[family_index].name : NULL;
}
