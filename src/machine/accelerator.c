#include "machine/accelerator.h"

#include "base/arena.h"
#include "scenario/preset.h"
#include "scenario/unit.h"

#include <stdlib.h>
#include <string.h>

struct weir_accelerators {
    weir_arena *arena;
    weir_accelerator *items;
    uint32_t count, capacity;
};

static const char *const dtype_names[WEIR_DTYPE_COUNT] = {
#define X(name, text, bits) text,
    WEIR_DTYPES(X)
#undef X
};

static const uint32_t dtype_bits[WEIR_DTYPE_COUNT] = {
#define X(name, text, bits) bits,
    WEIR_DTYPES(X)
#undef X
};

const char *weir_dtype_name(weir_dtype dtype)
{
    return dtype_names[dtype];
}

uint32_t weir_dtype_bits(weir_dtype dtype)
{
    return dtype_bits[dtype];
}

/* --- reading ------------------------------------------------------------------------------ */

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for accelerators");
}

/* A figure is {value: 80 GiB, source: KEY}, KEY one of `sources`: no number without its origin. */
static weir_code read_figure(const weir_yaml *doc, const weir_yaml_node *node,
                             weir_dimension dimension, double *value, weir_err *err)
{
    static const char *const keys[] = {"value", "source"};
    const weir_yaml_node *v, *source;
    const weir_yaml_node *sources = weir_yaml_find(weir_yaml_root(doc), "sources");
    weir_code code = weir_yaml_check_keys(doc, node, keys, 2, err);
    if (code || (code = weir_yaml_need(doc, node, "value", WEIR_YAML_SCALAR, &v, err)) ||
        (code = weir_yaml_need(doc, node, "source", WEIR_YAML_SCALAR, &source, err))) {
        return code;
    }
    if (!sources || !weir_yaml_find(sources, source->text.p)) {
        return weir_yaml_reject(doc, source, "a key of `sources`", err);
    }
    return weir_unit_read(doc, v, dimension, value, err);
}

static weir_code read_peaks(const weir_yaml *doc, const weir_yaml_node *peaks,
                            weir_accelerator *made, weir_err *err)
{
    weir_code code = weir_yaml_check_keys(doc, peaks, dtype_names, WEIR_DTYPE_COUNT, err);
    for (uint32_t i = 0; i < WEIR_DTYPE_COUNT && !code; i++) {
        const weir_yaml_node *figure = weir_yaml_find(peaks, dtype_names[i]);
        if (figure) {
            code =
                read_figure(doc, figure, WEIR_DIMENSION_FLOP_PER_S, &made->peak_flop_per_s[i], err);
        }
    }
    return code;
}

static weir_code read_names(const weir_yaml *doc, const weir_yaml_node *list, weir_arena *arena,
                            weir_accelerator *made, weir_err *err)
{
    const char **names = weir_arena_alloc(arena, (size_t)list->count + 1, sizeof *names);
    if (!names) {
        return no_memory(err);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next) {
        if (n->kind != WEIR_YAML_SCALAR || n->text.n == 0) {
            return weir_yaml_reject(doc, n, "a device name", err);
        }
        names[made->device_name_count] = weir_arena_copy(arena, n->text);
        if (!names[made->device_name_count++]) {
            return no_memory(err);
        }
    }
    made->device_names = names;
    return WEIR_OK;
}

static weir_code read_accelerator(const weir_yaml *doc, weir_arena *arena, weir_accelerator *made,
                                  weir_err *err)
{
    static const char *const keys[] = {"name",   "device_names",     "sm_count",
                                       "memory", "memory_bandwidth", "host_link",
                                       "peaks",  "sources"};
    const weir_yaml_node *root = weir_yaml_root(doc), *name, *names, *memory, *bandwidth, *peaks;
    const weir_yaml_node *sm_count = weir_yaml_find(root, "sm_count");
    const weir_yaml_node *host_link = weir_yaml_find(root, "host_link");
    uint64_t sms = 0;
    weir_code code = weir_yaml_check_keys(doc, root, keys, sizeof keys / sizeof *keys, err);
    if (code || (code = weir_yaml_need(doc, root, "name", WEIR_YAML_SCALAR, &name, err)) ||
        (code = weir_yaml_need(doc, root, "device_names", WEIR_YAML_SEQUENCE, &names, err)) ||
        (code = weir_yaml_need(doc, root, "memory", WEIR_YAML_MAPPING, &memory, err)) ||
        (code =
             weir_yaml_need(doc, root, "memory_bandwidth", WEIR_YAML_MAPPING, &bandwidth, err)) ||
        (code = weir_yaml_need(doc, root, "peaks", WEIR_YAML_MAPPING, &peaks, err)) ||
        (sm_count && (code = weir_yaml_uint(doc, sm_count, 100000, &sms, err))) ||
        (code = read_figure(doc, memory, WEIR_DIMENSION_BYTES, &made->memory_bytes, err)) ||
        (code = read_figure(doc, bandwidth, WEIR_DIMENSION_BYTES_PER_S, &made->memory_bytes_per_s,
                            err)) ||
        (host_link && (code = read_figure(doc, host_link, WEIR_DIMENSION_BYTES_PER_S,
                                          &made->host_bytes_per_s, err))) ||
        (code = read_peaks(doc, peaks, made, err)) ||
        (code = read_names(doc, names, arena, made, err))) {
        return code;
    }
    made->sm_count = (uint32_t)sms;
    made->name = weir_arena_copy(arena, name->text);
    return made->name ? WEIR_OK : no_memory(err);
}

static weir_code add_preset(weir_accelerators *all, const char *path, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_accelerator made = {0};
    weir_str id = weir_str_from(path);
    id.p += strlen("accelerators/");
    id.n -= (uint32_t)(strlen("accelerators/") + strlen(".yaml"));
    weir_code code = weir_preset_open(path, &doc, err);
    if (code == WEIR_OK) {
        code = read_accelerator(doc, all->arena, &made, err);
    }
    weir_yaml_free(doc);
    if (code != WEIR_OK) {
        return code;
    }
    made.id = weir_arena_copy(all->arena, id);
    if (all->count == all->capacity) {
        uint32_t capacity = all->capacity ? all->capacity * 2 : 32;
        weir_accelerator *grown = realloc(all->items, capacity * sizeof *grown);
        if (!grown) {
            return no_memory(err);
        }
        all->items = grown;
        all->capacity = capacity;
    }
    all->items[all->count++] = made;
    return made.id ? WEIR_OK : no_memory(err);
}

weir_code weir_accelerators_load(weir_accelerators **out, weir_err *err)
{
    weir_code code = WEIR_OK;
    weir_accelerators *all = calloc(1, sizeof *all);
    if (!all || !(all->arena = weir_arena_new())) {
        weir_accelerators_free(all);
        return no_memory(err);
    }
    uint32_t state = 0;
    const char *path;
    while (code == WEIR_OK && (path = weir_preset_next("accelerators", &state))) {
        code = add_preset(all, path, err);
    }
    if (code != WEIR_OK) {
        weir_accelerators_free(all);
        return code;
    }
    *out = all;
    return WEIR_OK;
}

void weir_accelerators_free(weir_accelerators *all)
{
    if (all) {
        weir_arena_free(all->arena);
        free(all->items);
        free(all);
    }
}

const weir_accelerator *weir_accelerators_list(const weir_accelerators *all, uint32_t *count)
{
    *count = all->count;
    return all->items;
}

/* --- finding ------------------------------------------------------------------------------ */

static bool has_name(const weir_accelerator *a, weir_str device_name)
{
    for (uint32_t i = 0; i < a->device_name_count; i++) {
        weir_str known = weir_str_from(a->device_names[i]);
        bool open = weir_str_ends(known, WEIR_STR("*"));
        known.n -= open;
        if (open ? weir_str_starts(device_name, known) : weir_str_eq(device_name, known)) {
            return true;
        }
    }
    return false;
}

static double distance(double a, double b)
{
    return a > b ? a - b : b - a;
}

const weir_accelerator *weir_accelerators_find(const weir_accelerators *all, weir_str device_name,
                                               uint32_t sm_count, uint64_t memory_bytes)
{
    const weir_accelerator *best = NULL;
    double memory = (double)memory_bytes;
    for (uint32_t i = 0; i < all->count; i++) {
        const weir_accelerator *a = &all->items[i];
        if (has_name(a, device_name) &&
            (!best || (memory_bytes > 0 &&
                       distance(a->memory_bytes, memory) < distance(best->memory_bytes, memory)))) {
            best = a;
        }
    }
    if (best || sm_count == 0 || memory_bytes == 0 || !all->items) {
        return best;
    }
    for (uint32_t i = 0; i < all->count && !best; i++) {
        const weir_accelerator *a = &all->items[i];
        if (a->sm_count == sm_count &&
            distance(a->memory_bytes, memory) <= 0.04 * a->memory_bytes) {
            best = a;
        }
    }
    return best;
}
