/* kernel_time_read.c: presets/kernel-times as laws. What a preset does not write stays as the one
 * that it continues has it. */
#include "machine/kernel_time_inside.h"

#include "scenario/keys.h"

#include <string.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* Where a number is needed that has no unit: shares are above 0 and up to 1. */
#define SHARE(key, struct_name, member)                                                            \
    {                                                                                              \
        .name = (key), .type = WEIR_KEY_NUMBER, .offset = offsetof(struct_name, member), .max = 1, \
        .above = true                                                                              \
    }
#define NUMBER(key, struct_name, member, least, largest)                                           \
    {                                                                                              \
        .name = (key), .type = WEIR_KEY_NUMBER, .offset = offsetof(struct_name, member),           \
        .min = (least), .max = (largest)                                                           \
    }
#define SECONDS(key, struct_name, member)                                                          \
    {                                                                                              \
        .name = (key), .type = WEIR_KEY_QUANTITY, .offset = offsetof(struct_name, member),         \
        .dimension = WEIR_DIMENSION_SECONDS                                                        \
    }
#define NODE(key, struct_name, member)                                                             \
    {                                                                                              \
        .name = (key), .type = WEIR_KEY_NODE, .offset = offsetof(struct_name, member)              \
    }

/* --- the tables --------------------------------------------------------------------------- */

typedef struct {
    kernel_gemm_law law;
    const weir_yaml_node *tiles, *left, *source;
} raw_gemm;

static const weir_key gemm_keys[] = {
    NODE("tiles", raw_gemm, tiles),
    NODE("left", raw_gemm, left),
    NODE("source", raw_gemm, source),
    NUMBER("depth", raw_gemm, law.depth, 0, 65536),
    NUMBER("tail", raw_gemm, law.tail, 0, 1),
    SECONDS("fixed", raw_gemm, law.fixed_s),
    SHARE("sustained", raw_gemm, law.sustained),
    SHARE("burst", raw_gemm, law.burst),
    NUMBER("heating", raw_gemm, law.heating, 1, 1e18),
    SHARE("memory", raw_gemm, law.memory),
    NUMBER("split_traffic", raw_gemm, law.split_traffic, 0, 100),
    SECONDS("split", raw_gemm, law.split_s),
    NUMBER("accumulate", raw_gemm, law.accumulate, 0.5, 10),
    NUMBER("misaligned", raw_gemm, law.misaligned, 1, 100),
};

typedef struct {
    kernel_attention_law law;
    const weir_yaml_node *dims, *left, *source;
} raw_attention;

static const weir_key attention_keys[] = {
    NODE("dims", raw_attention, dims),
    NODE("left", raw_attention, left),
    NODE("source", raw_attention, source),
    {.name = "tile",
     .type = WEIR_KEY_UINT,
     .offset = offsetof(raw_attention, law.tile),
     .min = 1,
     .max = 1024},
    {.name = "blocks",
     .type = WEIR_KEY_UINT,
     .offset = offsetof(raw_attention, law.blocks),
     .min = 1,
     .max = 32},
    {.name = "dim_step",
     .type = WEIR_KEY_UINT,
     .offset = offsetof(raw_attention, law.dim_step),
     .min = 1,
     .max = 128},
    NUMBER("depth", raw_attention, law.depth, 0, 65536),
    NUMBER("diagonal", raw_attention, law.diagonal, 0, 65536),
    NUMBER("tail", raw_attention, law.tail, 0, 1),
    SECONDS("fixed", raw_attention, law.fixed_s),
    SHARE("memory", raw_attention, law.memory),
    NUMBER("traffic", raw_attention, law.traffic, 0, 100),
    NUMBER("fp8", raw_attention, law.fp8, 0.1, 2),
};

typedef struct {
    kernel_memory_law law;
    const weir_yaml_node *left, *source;
} raw_memory;

static const weir_key memory_keys[] = {
    SECONDS("fixed", raw_memory, law.fixed_s),
    SHARE("share", raw_memory, law.memory),
    NODE("left", raw_memory, left),
    NODE("source", raw_memory, source),
};

typedef struct {
    kernel_quantise_law law;
    const weir_yaml_node *left, *source;
} raw_quantise;

typedef struct {
    double steady, attention;
    const weir_yaml_node *source;
} raw_power;

static const weir_key power_keys[] = {
    NUMBER("steady", raw_power, steady, 0.5, 4),
    NUMBER("attention", raw_power, attention, 0.5, 4),
    NODE("source", raw_power, source),
};

static const weir_key quantise_keys[] = {
    SECONDS("fixed", raw_quantise, law.fixed_s),
    NUMBER("bytes", raw_quantise, law.bytes, 0, 100),
    NODE("left", raw_quantise, left),
    NODE("source", raw_quantise, source),
};

typedef struct {
    double rows, median, p90;
} fit_left;

static const weir_key left_keys[] = {
    NUMBER("rows", fit_left, rows, 0, 1e9),
    NUMBER("median", fit_left, median, 0, 10),
    NUMBER("p90", fit_left, p90, 0, 10),
};

#define TABLE(name, rows)                                                                          \
    static const weir_key_table name = {.title = #name, .keys = (rows), .count = COUNT(rows)}
TABLE(gemm_table, gemm_keys);
TABLE(attention_table, attention_keys);
TABLE(memory_table, memory_keys);
TABLE(power_table, power_keys);
TABLE(quantise_table, quantise_keys);
TABLE(left_table, left_keys);

/* --- sections ----------------------------------------------------------------------------- */

typedef struct {
    weir_key_source keys;
    const weir_yaml *doc;
    const weir_yaml_node *sources;
    struct weir_kernel_times *times;
} reader;

/* Every section says where it is from; `left`: the error that its fit left on rows not seen. */
static weir_code read_origin(const reader *r, const weir_yaml_node *section,
                             const weir_yaml_node *left, const weir_yaml_node *source,
                             weir_err *err)
{
    fit_left read = {0};
    if (!source) {
        return weir_yaml_need(r->doc, section, "source", WEIR_YAML_SCALAR, &source, err);
    }
    if (source->kind != WEIR_YAML_SCALAR || !r->sources ||
        !weir_yaml_find(r->sources, source->text.p)) {
        return weir_yaml_reject(r->doc, source, "a key of `sources`", err);
    }
    return left ? weir_keys_read(&r->keys, left, &left_table, 0, &read, err) : WEIR_OK;
}

static weir_code read_numbers(const reader *r, const weir_yaml_node *list, double *values,
                              uint32_t count, const char *expected, weir_err *err)
{
    uint32_t i = 0;
    if (list->kind != WEIR_YAML_SEQUENCE || list->count != count) {
        return weir_yaml_reject(r->doc, list, expected, err);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next, i++) {
        if (n->kind != WEIR_YAML_SCALAR || !weir_number_parse(n->text, &values[i]) ||
            !(values[i] > 0)) {
            return weir_yaml_reject(r->doc, n, expected, err);
        }
    }
    return WEIR_OK;
}

static weir_code read_tiles(const reader *r, const weir_yaml_node *list, kernel_gemm_law *law,
                            weir_err *err)
{
    static const char expected[] = "[rows, columns, SMs, share of their peak]";
    uint32_t count = 0;
    if (list->kind != WEIR_YAML_SEQUENCE || list->count == 0 || list->count > KERNEL_TILES_MAX) {
        return weir_yaml_reject(r->doc, list, "a list of one to eight tiles", err);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next) {
        double v[4] = {0};
        weir_code code = read_numbers(r, n, v, 4, expected, err);
        if (code) {
            return code;
        }
        for (int i = 0; i < 3; i++) {
            if (v[i] > 4096 || v[i] != (double)(uint32_t)v[i]) {
                return weir_yaml_reject(r->doc, n, expected, err);
            }
        }
        if (v[3] > 1) {
            return weir_yaml_reject(r->doc, n, expected, err);
        }
        law->tiles[count++] = (kernel_tile){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2], v[3]};
    }
    law->tile_count = count;
    return WEIR_OK;
}

static weir_code read_gemm(const reader *r, const weir_yaml_node *node, kernel_gemm_law *law,
                           weir_err *err)
{
    raw_gemm raw = {.law = *law};
    weir_code code = weir_keys_read(&r->keys, node, &gemm_table, 0, &raw, err);
    if (code || (code = read_origin(r, node, raw.left, raw.source, err)) ||
        (raw.tiles && (code = read_tiles(r, raw.tiles, &raw.law, err)))) {
        return code;
    }
    if (raw.law.tile_count == 0) {
        return weir_yaml_need(r->doc, node, "tiles", WEIR_YAML_SEQUENCE, &raw.tiles, err);
    }
    if (raw.law.burst < raw.law.sustained) {
        return weir_yaml_fail(r->doc, node, err, "burst is %g, expected at least sustained, %g",
                              raw.law.burst, raw.law.sustained);
    }
    *law = raw.law;
    return WEIR_OK;
}

static weir_code read_dims(const reader *r, const weir_yaml_node *list, kernel_attention_law *law,
                           weir_err *err)
{
    static const char expected[] = "[head dimension, share of the peak], by head dimension";
    uint32_t count = 0;
    if (list->kind != WEIR_YAML_SEQUENCE || list->count == 0 || list->count > KERNEL_DIMS_MAX) {
        return weir_yaml_reject(r->doc, list, "a list of one to eight head dimensions", err);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next) {
        double v[2] = {0};
        weir_code code = read_numbers(r, n, v, 2, expected, err);
        if (code) {
            return code;
        }
        if (v[1] > 1 || (count && law->dims[count - 1].dim >= v[0])) {
            return weir_yaml_reject(r->doc, n, expected, err);
        }
        law->dims[count++] = (kernel_dim){v[0], v[1]};
    }
    law->dim_count = count;
    return WEIR_OK;
}

static weir_code read_attention(const reader *r, const weir_yaml_node *node,
                                kernel_attention_law *law, weir_err *err)
{
    raw_attention raw = {.law = *law};
    weir_code code = weir_keys_read(&r->keys, node, &attention_table, 0, &raw, err);
    if (code || (code = read_origin(r, node, raw.left, raw.source, err)) ||
        (raw.dims && (code = read_dims(r, raw.dims, &raw.law, err)))) {
        return code;
    }
    if (raw.law.dim_count == 0) {
        return weir_yaml_need(r->doc, node, "dims", WEIR_YAML_SEQUENCE, &raw.dims, err);
    }
    *law = raw.law;
    return WEIR_OK;
}

/* --- lists of sections -------------------------------------------------------------------- */

static weir_code read_formats(const reader *r, const weir_yaml_node *node, bool grouped,
                              weir_err *err)
{
    const char *names[WEIR_GEMM_FORMAT_COUNT];
    for (uint32_t f = 0; f < WEIR_GEMM_FORMAT_COUNT; f++) {
        names[f] = weir_gemm_format_name(f);
    }
    weir_code code = weir_yaml_check_keys(r->doc, node, names, WEIR_GEMM_FORMAT_COUNT, err);
    for (uint32_t f = 0; f < WEIR_GEMM_FORMAT_COUNT && !code; f++) {
        const weir_yaml_node *section = weir_yaml_find(node, names[f]);
        kernel_gemm_law *law = grouped ? &r->times->grouped[f] : &r->times->gemm[f];
        if (section && grouped && !r->times->has_grouped[f]) {
            *law = r->times->gemm[f];
            r->times->has_grouped[f] = true;
        }
        code = section ? read_gemm(r, section, law, err) : WEIR_OK;
    }
    return code;
}

static weir_code read_kernels(const reader *r, const weir_yaml_node *node, weir_err *err)
{
    static const char *const directions[] = {"forward", "backward"};
    const char *names[WEIR_ATTENTION_KERNEL_COUNT];
    for (uint32_t k = 0; k < WEIR_ATTENTION_KERNEL_COUNT; k++) {
        names[k] = weir_attention_kernel_name(k);
    }
    weir_code code = weir_yaml_check_keys(r->doc, node, names, WEIR_ATTENTION_KERNEL_COUNT, err);
    for (uint32_t k = 0; k < WEIR_ATTENTION_KERNEL_COUNT && !code; k++) {
        const weir_yaml_node *kernel = weir_yaml_find(node, names[k]);
        if (!kernel || (code = weir_yaml_check_keys(r->doc, kernel, directions, 2, err))) {
            continue;
        }
        for (uint32_t d = 0; d < 2 && !code; d++) {
            const weir_yaml_node *section = weir_yaml_find(kernel, directions[d]);
            code = section ? read_attention(r, section, &r->times->attention[k][d], err) : WEIR_OK;
        }
    }
    return code;
}

static weir_code read_memory(const reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_memory raw = {.law = r->times->memory};
    weir_code code = weir_keys_read(&r->keys, node, &memory_table, 0, &raw, err);
    if (code || (code = read_origin(r, node, raw.left, raw.source, err))) {
        return code;
    }
    r->times->memory = raw.law;
    return WEIR_OK;
}

static weir_code read_power(const reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_power raw = {.steady = r->times->steady, .attention = r->times->steady_attention};
    weir_code code = weir_keys_read(&r->keys, node, &power_table, 0, &raw, err);
    if (code || (code = read_origin(r, node, NULL, raw.source, err))) {
        return code;
    }
    r->times->steady = raw.steady;
    r->times->steady_attention = raw.attention;
    return WEIR_OK;
}

static weir_code read_quantise(const reader *r, const weir_yaml_node *node, weir_err *err)
{
    static const weir_gemm_format formats[] = {WEIR_GEMM_FP8, WEIR_GEMM_FP8_BLOCK, WEIR_GEMM_FP4};
    const char *names[COUNT(formats)];
    for (uint32_t i = 0; i < COUNT(formats); i++) {
        names[i] = weir_gemm_format_name(formats[i]);
    }
    weir_code code = weir_yaml_check_keys(r->doc, node, names, COUNT(formats), err);
    for (uint32_t i = 0; i < COUNT(formats) && !code; i++) {
        const weir_yaml_node *section = weir_yaml_find(node, names[i]);
        raw_quantise raw = {.law = r->times->quantise[formats[i]]};
        if (!section || (code = weir_keys_read(&r->keys, section, &quantise_table, 0, &raw, err)) ||
            (code = read_origin(r, section, raw.left, raw.source, err))) {
            continue;
        }
        r->times->quantise[formats[i]] = raw.law;
    }
    return code;
}

/* --- the document ------------------------------------------------------------------------- */

const char *kernel_times_like(const weir_yaml *doc)
{
    const weir_yaml_node *like = weir_yaml_find(weir_yaml_root(doc), "like");
    return like && like->kind == WEIR_YAML_SCALAR && like->text.n ? like->text.p : NULL;
}

static weir_code read_root(const reader *r, weir_err *err)
{
    static const char *const keys[] = {"basis",  "like",  "gemm",     "grouped", "attention",
                                       "memory", "power", "quantise", "sources"};
    static const char *const bases[] = {"measured", "family", "datasheet"};
    const weir_yaml_node *root = weir_yaml_root(r->doc), *basis, *gemm, *grouped, *attention;
    uint32_t kind = 0;
    weir_code code = weir_yaml_check_keys(r->doc, root, keys, COUNT(keys), err);
    if (code || (code = weir_yaml_need(r->doc, root, "basis", WEIR_YAML_SCALAR, &basis, err)) ||
        (code = weir_yaml_choice(r->doc, basis, bases, COUNT(bases), &kind, err))) {
        return code;
    }
    gemm = weir_yaml_find(root, "gemm");
    grouped = weir_yaml_find(root, "grouped");
    attention = weir_yaml_find(root, "attention");
    const weir_yaml_node *memory = weir_yaml_find(root, "memory");
    const weir_yaml_node *power = weir_yaml_find(root, "power");
    const weir_yaml_node *quantise = weir_yaml_find(root, "quantise");
    if ((gemm && (code = read_formats(r, gemm, false, err))) ||
        (grouped && (code = read_formats(r, grouped, true, err))) ||
        (attention && (code = read_kernels(r, attention, err))) ||
        (memory && (code = read_memory(r, memory, err))) ||
        (power && (code = read_power(r, power, err))) ||
        (quantise && (code = read_quantise(r, quantise, err)))) {
        return code;
    }
    r->times->basis = (weir_kernel_basis_kind)kind;
    return WEIR_OK;
}

weir_code kernel_times_read(const weir_yaml *doc, struct weir_kernel_times *times, weir_err *err)
{
    weir_arena *arena = weir_arena_new();
    if (!arena) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for kernel times");
    }
    reader r = {
        .keys = {.doc = doc, .arena = arena},
        .doc = doc,
        .sources = weir_yaml_find(weir_yaml_root(doc), "sources"),
        .times = times,
    };
    weir_code code = read_root(&r, err);
    weir_arena_free(arena);
    return code;
}
