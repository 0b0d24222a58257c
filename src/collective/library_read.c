/* Reads a library as presets/collectives have it; tables below name each key with its unit and its
 * place. */
#include "collective/library_inside.h"

#include "base/text.h"
#include "scenario/preset.h"
#include "scenario/unit.h"

#include <math.h>
#include <string.h>

typedef enum { AS_SECONDS, AS_BYTES_PER_S, AS_SHARE, AS_COUNT } figure_kind;

typedef struct {
    const char *key;
    figure_kind kind;
    bool needed;
    size_t offset;
} figure;

#define FIELDS_MAX 8

static const figure node_road_figures[] = {
    {"base", AS_SECONDS, true, offsetof(library_node_road, base_s)},
    {"hop", AS_SECONDS, false, offsetof(library_node_road, hop_s)},
    {"efficiency", AS_SHARE, true, offsetof(library_node_road, efficiency)},
    {"between", AS_SHARE, false, offsetof(library_node_road, between)},
    {"step", AS_SECONDS, false, offsetof(library_node_road, step_s)},
    {"fill", AS_SECONDS, false, offsetof(library_node_road, fill_s)},
};

static const figure network_road_figures[] = {
    {"hop", AS_SECONDS, true, offsetof(library_network_road, hop_s)},
    {"message", AS_SECONDS, false, offsetof(library_network_road, message_s)},
    {"efficiency", AS_SHARE, true, offsetof(library_network_road, efficiency)},
    {"tree", AS_SHARE, false, offsetof(library_network_road, tree)},
    {"reduction", AS_SHARE, false, offsetof(library_network_road, reduction)},
    {"step", AS_SECONDS, false, offsetof(library_network_road, step_s)},
    {"fill", AS_SECONDS, false, offsetof(library_network_road, fill_s)},
};

static const figure node_figures[] = {
    {"rate", AS_BYTES_PER_S, false, offsetof(library_node, bytes_per_s)},
    {"copy", AS_BYTES_PER_S, false, offsetof(library_node, copy_bytes_per_s)},
    {"reduction_from", AS_COUNT, false, offsetof(library_node, reduction_ranks)},
};

static const figure network_figures[] = {
    {"rate", AS_BYTES_PER_S, false, offsetof(library_network, bytes_per_s)},
    {"base", AS_SECONDS, true, offsetof(library_network, base_s)},
    {"tree_until", AS_COUNT, false, offsetof(library_network, most_at_tree)},
};

static const figure residue_figures[] = {
    {"large", AS_SHARE, false, offsetof(library_residue, large_share)},
    {"small", AS_SHARE, false, offsetof(library_residue, small_share)},
};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static const char *const node_road_names[LIBRARY_ROAD_COUNT] = {"ll", "ll128", "simple",
                                                                "reduction", "exchange"};

typedef struct {
    struct weir_library *library;
    const weir_yaml *doc;
    const weir_yaml_node *root; /* of the library: a whole document, or a mapping in one */
} library_reader;

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a collective library");
}

static weir_code read_share(const weir_yaml *doc, const weir_yaml_node *node, double *value,
                            weir_err *err)
{
    double share;
    if (node->kind != WEIR_YAML_SCALAR || !weir_number_parse(node->text, &share) || share <= 0 ||
        share > 1) {
        return weir_yaml_reject(doc, node, "a share above 0 and up to 1", err);
    }
    *value = share;
    return WEIR_OK;
}

static weir_code read_figure(const weir_yaml *doc, const weir_yaml_node *node, const figure *f,
                             void *made, weir_err *err)
{
    void *place = (char *)made + f->offset;
    uint64_t count;
    weir_code code;
    switch (f->kind) {
    case AS_SECONDS:
        return weir_unit_read(doc, node, WEIR_DIMENSION_SECONDS, place, err);
    case AS_BYTES_PER_S:
        return weir_unit_read(doc, node, WEIR_DIMENSION_BYTES_PER_S, place, err);
    case AS_SHARE:
        return read_share(doc, node, place, err);
    case AS_COUNT:
        code = weir_yaml_uint(doc, node, UINT32_MAX, &count, err);
        if (code == WEIR_OK) {
            *(uint32_t *)place = (uint32_t)count;
        }
        return code;
    }
    return WEIR_ERR_INTERNAL;
}

/* Of a mapping, the figures of one table; keys that are not in it are left to the caller. */
static weir_code read_figures(const weir_yaml *doc, const weir_yaml_node *mapping,
                              const figure *figures, uint32_t count, void *made, weir_err *err)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < count && !code; i++) {
        const weir_yaml_node *node = weir_yaml_find(mapping, figures[i].key);
        if (node) {
            code = read_figure(doc, node, &figures[i], made, err);
        } else if (figures[i].needed) {
            code = weir_yaml_need(doc, mapping, figures[i].key, WEIR_YAML_SCALAR, &node, err);
        }
    }
    return code;
}

static weir_code read_road(const weir_yaml *doc, const weir_yaml_node *mapping,
                           const figure *figures, uint32_t count, void *made, weir_err *err)
{
    const char *keys[FIELDS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = figures[i].key;
    }
    weir_code code = weir_yaml_check_keys(doc, mapping, keys, count, err);
    return code ? code : read_figures(doc, mapping, figures, count, made, err);
}

/* Every transport says which of `sources` its figures are from. own: a key beside, or NULL. */
static weir_code check_transport(const library_reader *reader, const weir_yaml_node *mapping,
                                 const figure *figures, uint32_t count, const char *own,
                                 weir_err *err)
{
    const char *keys[FIELDS_MAX + LIBRARY_ROAD_COUNT + 3];
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        keys[known++] = figures[i].key;
    }
    for (uint32_t i = 0; i < LIBRARY_ROAD_COUNT; i++) {
        keys[known++] = node_road_names[i];
    }
    keys[known++] = "source";
    keys[known++] = "parts";
    if (own) {
        keys[known++] = own;
    }
    const weir_yaml_node *source, *sources = weir_yaml_find(reader->root, "sources");
    const weir_yaml *doc = reader->doc;
    weir_code code = weir_yaml_check_keys(doc, mapping, keys, known, err);
    if (code || (code = weir_yaml_need(doc, mapping, "source", WEIR_YAML_SCALAR, &source, err))) {
        return code;
    }
    if (!sources || !weir_yaml_find(sources, source->text.p)) {
        return weir_yaml_reject(doc, source, "a key of `sources`", err);
    }
    return WEIR_OK;
}

static weir_code read_parts(const library_reader *reader, const weir_yaml_node *mapping,
                            library_parts *parts, weir_err *err)
{
    const weir_yaml_node *list = weir_yaml_find(mapping, "parts");
    if (!list) {
        return WEIR_OK;
    }
    if (list->kind != WEIR_YAML_SEQUENCE) {
        return weir_yaml_reject(reader->doc, list, "a list of ids of links or NICs", err);
    }
    parts->ids = weir_arena_alloc(reader->library->arena, list->count + 1, sizeof *parts->ids);
    if (!parts->ids) {
        return no_memory(err);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next) {
        if (n->kind != WEIR_YAML_SCALAR) {
            return weir_yaml_reject(reader->doc, n, "the id of a link or NIC", err);
        }
        parts->ids[parts->count] = weir_arena_copy(reader->library->arena, n->text);
        if (!parts->ids[parts->count++]) {
            return no_memory(err);
        }
    }
    return WEIR_OK;
}

/* callers: {torch: 16 us}, or nothing. */
static weir_code read_callers(const library_reader *reader, const weir_yaml_node *mapping,
                              library_callers *callers, weir_err *err)
{
    struct weir_library *library = reader->library;
    const weir_yaml *doc = reader->doc;
    const weir_yaml_node *list = weir_yaml_find(mapping, "callers");
    if (!list) {
        return WEIR_OK;
    }
    if (list->kind != WEIR_YAML_MAPPING) {
        return weir_yaml_reject(doc, list, "callers with seconds (torch: 16 us)", err);
    }
    callers->items = weir_arena_alloc(library->arena, list->count + 1, sizeof *callers->items);
    if (!callers->items) {
        return no_memory(err);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next) {
        library_caller *made = &callers->items[callers->count++];
        weir_code code = weir_unit_read(doc, n, WEIR_DIMENSION_SECONDS, &made->seconds, err);
        if (code) {
            return code;
        }
        made->name = weir_arena_copy(library->arena, n->key);
        if (!made->name) {
            return no_memory(err);
        }
    }
    return WEIR_OK;
}

static weir_code read_node(const library_reader *reader, const weir_yaml_node *mapping,
                           library_node *made, weir_err *err)
{
    const weir_yaml *doc = reader->doc;
    weir_code code = check_transport(reader, mapping, node_figures, COUNT(node_figures), NULL, err);
    if (!code) {
        code = read_figures(doc, mapping, node_figures, COUNT(node_figures), made, err);
    }
    if (!code) {
        code = read_parts(reader, mapping, &made->parts, err);
    }
    for (uint32_t i = 0; i < LIBRARY_ROAD_COUNT && !code; i++) {
        const weir_yaml_node *road = weir_yaml_find(mapping, node_road_names[i]);
        if (road) {
            code = read_road(doc, road, node_road_figures, COUNT(node_road_figures),
                             &made->roads[i], err);
        }
    }
    return code;
}

static weir_code read_network(const library_reader *reader, const weir_yaml_node *mapping,
                              library_network *made, weir_err *err)
{
    const weir_yaml *doc = reader->doc;
    weir_code code =
        check_transport(reader, mapping, network_figures, COUNT(network_figures), "callers", err);
    if (!code) {
        code = read_figures(doc, mapping, network_figures, COUNT(network_figures), made, err);
    }
    if (!code) {
        code = read_parts(reader, mapping, &made->parts, err);
    }
    if (!code) {
        code = read_callers(reader, mapping, &made->callers, err);
    }
    for (uint32_t i = 0; i < LIBRARY_ROAD_COUNT && !code; i++) {
        const weir_yaml_node *road = weir_yaml_find(mapping, node_road_names[i]);
        if (road) {
            code = read_road(doc, road, network_road_figures, COUNT(network_road_figures),
                             &made->roads[i], err);
        }
    }
    return code;
}

static weir_code read_nodes(const library_reader *reader, const weir_yaml_node *list, weir_err *err)
{
    struct weir_library *library = reader->library;
    weir_code code = WEIR_OK;
    library->nodes = weir_arena_alloc(library->arena, list->count + 1, sizeof *library->nodes);
    if (!library->nodes) {
        return no_memory(err);
    }
    for (const weir_yaml_node *n = list->first; n && !code; n = n->next) {
        library_node *made = &library->nodes[library->node_count];
        made->id = weir_arena_copy(library->arena, n->key);
        library->node_count++;
        code = made->id ? read_node(reader, n, made, err) : no_memory(err);
    }
    return code;
}

static weir_code read_networks(const library_reader *reader, const weir_yaml_node *list,
                               weir_err *err)
{
    struct weir_library *library = reader->library;
    weir_code code = WEIR_OK;
    library->networks =
        weir_arena_alloc(library->arena, list->count + 1, sizeof *library->networks);
    if (!library->networks) {
        return no_memory(err);
    }
    for (const weir_yaml_node *n = list->first; n && !code; n = n->next) {
        library_network *made = &library->networks[library->network_count];
        made->id = weir_arena_copy(library->arena, n->key);
        library->network_count++;
        code = made->id ? read_network(reader, n, made, err) : no_memory(err);
    }
    return code;
}

/* takes: {all_reduce: [ring, tree], ...}: what the library picks from when nobody asks. */
static weir_code read_takes(const library_reader *reader, const weir_yaml_node *mapping,
                            weir_err *err)
{
    struct weir_library *library = reader->library;
    const weir_yaml *doc = reader->doc;
    for (const weir_yaml_node *n = mapping->first; n; n = n->next) {
        weir_collective_kind kind;
        if (!weir_collective_kind_find(n->key, &kind)) {
            return weir_err_set(
                err, WEIR_ERR_INPUT, "%s:%u:%u: '%.*s' is no collective; expected all_reduce, ...",
                weir_yaml_name(doc), n->key_line, n->key_column, (int)n->key.n, n->key.p);
        }
        if (n->kind != WEIR_YAML_SEQUENCE) {
            return weir_yaml_reject(doc, n, "a list of algorithms", err);
        }
        for (const weir_yaml_node *a = n->first; a; a = a->next) {
            weir_collective_algorithm algorithm;
            if (a->kind != WEIR_YAML_SCALAR ||
                !weir_collective_algorithm_find(a->text, &algorithm) ||
                algorithm == WEIR_ALGORITHM_COUNT) {
                return weir_yaml_reject(doc, a, "an algorithm (ring, tree, ...)", err);
            }
            library->takes[kind][algorithm] = true;
        }
    }
    return WEIR_OK;
}

/* left: a list of {node: ID, network: ID, large: SHARE, small: SHARE}. */
static weir_code read_residues(const library_reader *reader, const weir_yaml_node *list,
                               weir_err *err)
{
    struct weir_library *library = reader->library;
    const weir_yaml *doc = reader->doc;
    static const char *const keys[] = {"node", "network", "large", "small"};
    library->residues =
        weir_arena_alloc(library->arena, list->count + 1, sizeof *library->residues);
    if (!library->residues) {
        return no_memory(err);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next) {
        library_residue *made = &library->residues[library->residue_count++];
        const weir_yaml_node *node, *network = weir_yaml_find(n, "network");
        weir_code code = weir_yaml_check_keys(doc, n, keys, COUNT(keys), err);
        made->large_share = made->small_share = (double)NAN;
        if (code || (code = weir_yaml_need(doc, n, "node", WEIR_YAML_SCALAR, &node, err)) ||
            (code = read_figures(doc, n, residue_figures, COUNT(residue_figures), made, err))) {
            return code;
        }
        made->node = weir_arena_copy(library->arena, node->text);
        made->network = network ? weir_arena_copy(library->arena, network->text) : NULL;
        if (!made->node || (network && !made->network)) {
            return no_memory(err);
        }
    }
    return WEIR_OK;
}

weir_code library_read(struct weir_library *library, const weir_yaml *doc,
                       const weir_yaml_node *mapping, weir_err *err)
{
    static const char *const keys[] = {"name",     "takes", "callers", "nodes",
                                       "networks", "left",  "sources"};
    const library_reader reader = {library, doc, mapping};
    const weir_yaml_node *name, *takes, *nodes, *networks, *sources;
    weir_code code = weir_yaml_check_keys(doc, mapping, keys, COUNT(keys), err);
    if (code || (code = weir_yaml_need(doc, mapping, "name", WEIR_YAML_SCALAR, &name, err)) ||
        (code = weir_yaml_need(doc, mapping, "takes", WEIR_YAML_MAPPING, &takes, err)) ||
        (code = weir_yaml_need(doc, mapping, "nodes", WEIR_YAML_MAPPING, &nodes, err)) ||
        (code = weir_yaml_need(doc, mapping, "networks", WEIR_YAML_MAPPING, &networks, err)) ||
        (code = weir_yaml_need(doc, mapping, "sources", WEIR_YAML_MAPPING, &sources, err))) {
        return code;
    }
    const weir_yaml_node *left = weir_yaml_find(mapping, "left");
    if ((code = read_takes(&reader, takes, err)) || (code = read_nodes(&reader, nodes, err)) ||
        (code = read_networks(&reader, networks, err)) ||
        (code = read_callers(&reader, mapping, &library->callers, err)) ||
        (left && (code = read_residues(&reader, left, err)))) {
        return code;
    }
    if (library->node_count == 0) {
        return weir_yaml_reject(doc, nodes, "at least one transport inside nodes", err);
    }
    library->name = weir_arena_copy(library->arena, name->text);
    return library->name ? WEIR_OK : no_memory(err);
}
