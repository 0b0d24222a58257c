/* Opens a library's preset and picks the fastest of what it would take. */
#include "collective/library.h"

#include "base/text.h"
#include "collective/library_inside.h"
#include "scenario/preset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_BYTES (1024.0 * 1024.0) /* what the residues of a fit call large */

/* --- opening ------------------------------------------------------------------------------ */

static weir_code unknown_library(const char *id, weir_err *err)
{
    const char *path;
    uint32_t state = 0;
    weir_text known = {0};
    while ((path = weir_preset_next("collectives", &state))) {
        weir_str name = weir_str_from(path);
        name.p += strlen("collectives/");
        name.n -= (uint32_t)(strlen("collectives/") + strlen(".yaml"));
        weir_text_printf(&known, "%s%.*s", known.n ? ", " : "", (int)name.n, name.p);
    }
    weir_code code =
        weir_err_set(err, WEIR_ERR_INPUT, "'%.60s' is no collective library; known are %s", id,
                     known.p ? known.p : "none");
    weir_text_clear(&known);
    return code;
}

static bool is_preset(const char *folder, const char *id)
{
    const char *path;
    uint32_t state = 0;
    size_t from = strlen(folder) + 1, n = strlen(id);
    while ((path = weir_preset_next(folder, &state))) {
        if (strncmp(path + from, id, n) == 0 && strcmp(path + from + n, ".yaml") == 0) {
            return true;
        }
    }
    return false;
}

weir_code weir_library_read(const char *id, const weir_yaml *doc, const weir_yaml_node *mapping,
                            weir_library **out, weir_err *err)
{
    weir_code code;
    weir_library *library = calloc(1, sizeof *library);
    if (!library || !(library->arena = weir_arena_new()) ||
        !(library->id = weir_arena_copy(library->arena, weir_str_from(id)))) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a collective library");
    } else {
        code = library_read(library, doc, mapping, err);
    }
    if (code != WEIR_OK) {
        weir_library_free(library);
        return code;
    }
    *out = library;
    return WEIR_OK;
}

weir_code weir_library_open(const char *id, weir_library **library, weir_err *err)
{
    weir_code code;
    weir_yaml *doc = NULL;
    weir_text path = {0};
    weir_text_printf(&path, "collectives/%s.yaml", id);
    if (!path.p || path.failed) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a collective library");
    } else if (!is_preset("collectives", id)) {
        code = unknown_library(id, err);
    } else if ((code = weir_preset_open(path.p, &doc, err)) == WEIR_OK) {
        code = weir_library_read(id, doc, weir_yaml_root(doc), library, err);
    }
    weir_yaml_free(doc);
    weir_text_clear(&path);
    return code;
}

void weir_library_free(weir_library *library)
{
    if (library) {
        weir_arena_free(library->arena);
        free(library);
    }
}

/* --- which transports --------------------------------------------------------------------- */

/* How far two rates are apart, as a ratio of at least 1. */
static double apart(double a, double b)
{
    return a > b ? a / b : b / a;
}

/* Whether a transport of rate is nearer to wanted than the best so far; wanted 0: no matter. */
static bool is_nearer(double rate, double best, double wanted)
{
    return rate > 0 && (best <= 0 || (wanted > 0 && apart(rate, wanted) < apart(best, wanted)));
}

static bool stands_for(const char *own, const library_parts *parts, const char *id)
{
    bool found = strcmp(own, id) == 0;
    for (uint32_t i = 0; i < parts->count && !found; i++) {
        found = strcmp(parts->ids[i], id) == 0;
    }
    return found;
}

/* By name; without one, by rate. NULL: no transport of that name. */
static const library_node *find_node(const weir_library *library, const char *id, double wanted)
{
    const library_node *best = NULL;
    for (uint32_t i = 0; i < library->node_count; i++) {
        const library_node *node = &library->nodes[i];
        if (id && stands_for(node->id, &node->parts, id)) {
            return node;
        }
        if (!id && is_nearer(node->bytes_per_s, best ? best->bytes_per_s : 0, wanted)) {
            best = node;
        }
    }
    return best;
}

static const library_network *find_network(const weir_library *library, const char *id,
                                           double wanted)
{
    const library_network *best = NULL;
    for (uint32_t i = 0; i < library->network_count; i++) {
        const library_network *network = &library->networks[i];
        if (id && stands_for(network->id, &network->parts, id)) {
            return network;
        }
        if (!id && is_nearer(network->bytes_per_s, best ? best->bytes_per_s : 0, wanted)) {
            best = network;
        }
    }
    return best;
}

static weir_code unknown_transport(const weir_library *library, const char *id, bool is_network,
                                   weir_err *err)
{
    weir_text known = {0};
    for (uint32_t i = 0; i < (is_network ? library->network_count : library->node_count); i++) {
        weir_text_printf(&known, "%s%s", i ? ", " : "",
                         is_network ? library->networks[i].id : library->nodes[i].id);
    }
    weir_code code = weir_err_set(
        err, WEIR_ERR_INPUT, "library %s knows no transport '%.60s' %s nodes; it knows %s",
        library->id, id, is_network ? "between" : "inside", known.p ? known.p : "none");
    weir_text_clear(&known);
    return code;
}

static weir_code find_transports(const weir_library *library, const weir_collective_shape *shape,
                                 const weir_collective_wish *wish, library_transports *found,
                                 weir_err *err)
{
    bool inside = shape->ranks > shape->nodes, between = shape->nodes > 1;
    const char *node = wish->node_transport, *network = wish->network_transport;
    double node_rate = inside ? shape->node_bytes_per_s : 0;
    *found = (library_transports){find_node(library, node, node_rate), NULL, inside && !node};
    if (!found->node && node && (!inside || is_preset("links", node))) {
        found->node = find_node(library, NULL, node_rate);
        found->was_assumed = inside;
    }
    if (!found->node) {
        return unknown_transport(library, node ? node : "any", false, err);
    }
    if (between) {
        found->network = find_network(library, network, shape->network_bytes_per_s);
        found->was_assumed |= !network;
        if (!found->network && network && is_preset("nics", network)) {
            found->network = find_network(library, NULL, shape->network_bytes_per_s);
            found->was_assumed = true;
        }
        if (!found->network) {
            return unknown_transport(library, network ? network : "any", true, err);
        }
    }
    return WEIR_OK;
}

/* --- choosing ----------------------------------------------------------------------------- */

static weir_code check_shape(const weir_collective_shape *shape, weir_err *err)
{
    if (shape->ranks == 0 || shape->nodes == 0 || shape->nodes > shape->ranks) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u ranks on %u nodes: expected 1 <= nodes <= ranks", shape->ranks,
                            shape->nodes);
    }
    if (!(shape->bytes >= 0) || isinf(shape->bytes)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a collective of %g bytes", shape->bytes);
    }
    if (shape->ranks > shape->nodes && !(shape->node_bytes_per_s > 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u ranks on %u nodes, but nothing joins the devices of a node",
                            shape->ranks, shape->nodes);
    }
    if (shape->nodes > 1 && !(shape->network_bytes_per_s > 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "%u nodes, but nothing joins them", shape->nodes);
    }
    return WEIR_OK;
}

/* What the library would take of its own accord, on these transports, at this scale. */
static bool is_taken(const weir_library *library, const weir_collective_shape *shape,
                     const library_transports *transports, weir_collective_algorithm algorithm)
{
    if (!library->takes[shape->kind][algorithm]) {
        return false;
    }
    bool is_tree = algorithm == WEIR_ALGORITHM_TREE || algorithm == WEIR_ALGORITHM_NVLS_TREE;
    if (is_tree && (shape->nodes == 1 || (transports->network->most_at_tree > 0 &&
                                          shape->nodes > transports->network->most_at_tree))) {
        return false;
    }
    uint32_t from = transports->node->reduction_ranks;
    return algorithm != WEIR_ALGORITHM_NVLS || (from > 0 && shape->ranks >= from);
}

static bool find_best(const weir_library *library, const weir_collective_shape *shape,
                      const weir_collective_wish *wish, const library_transports *transports,
                      weir_collective_choice *best)
{
    bool found = false;
    double best_s = 0;
    for (uint32_t a = 0; a < WEIR_ALGORITHM_COUNT; a++) {
        weir_collective_algorithm algorithm = (weir_collective_algorithm)a;
        bool wished = wish->algorithm != WEIR_ALGORITHM_COUNT;
        if ((wished && algorithm != wish->algorithm) ||
            !weir_collective_is_possible(shape, algorithm) ||
            (!wished && !is_taken(library, shape, transports, algorithm))) {
            continue;
        }
        for (uint32_t p = 0; p < WEIR_PROTOCOL_COUNT; p++) {
            weir_collective_choice choice;
            if ((wish->protocol != WEIR_PROTOCOL_COUNT && p != (uint32_t)wish->protocol) ||
                !library_model_choice(shape, transports, algorithm, (weir_collective_protocol)p,
                                      &choice)) {
                continue;
            }
            double seconds = weir_collective_estimate_s(shape, &choice);
            if (!found || seconds < best_s) {
                *best = choice;
                best_s = seconds;
                found = true;
            }
        }
    }
    return found;
}

static const library_caller *caller_named(const library_callers *callers, const char *name)
{
    for (uint32_t i = 0; i < callers->count; i++) {
        if (strcmp(callers->items[i].name, name) == 0) {
            return &callers->items[i];
        }
    }
    return NULL;
}

/* What a call by name adds: everywhere, and on the network where that has a figure of its own. */
static weir_code find_caller(const weir_library *library, const library_network *network,
                             const char *name, double *seconds, weir_err *err)
{
    *seconds = 0;
    if (!name) {
        return WEIR_OK;
    }
    const library_caller *everywhere = caller_named(&library->callers, name);
    const library_caller *here = network ? caller_named(&network->callers, name) : NULL;
    if (!everywhere && !here) {
        return weir_err_set(err, WEIR_ERR_INPUT, "library %s knows no caller '%.60s'", library->id,
                            name);
    }
    *seconds = (everywhere ? everywhere->seconds : 0) + (here ? here->seconds : 0);
    return WEIR_OK;
}

weir_code weir_library_choose(const weir_library *library, const weir_collective_shape *shape,
                              const weir_collective_wish *wish, weir_collective_choice *choice,
                              weir_err *err)
{
    library_transports transports;
    weir_collective_choice best;
    double caller_s;
    weir_code code = check_shape(shape, err);
    if (code || (code = find_transports(library, shape, wish, &transports, err)) ||
        (code = find_caller(library, transports.network, wish->caller, &caller_s, err))) {
        return code;
    }
    if (!find_best(library, shape, wish, &transports, &best)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "library %s cannot do %s by %s with protocol %s for %u ranks on %u "
                            "nodes over %s",
                            library->id, weir_collective_kind_name(shape->kind),
                            weir_collective_algorithm_name(wish->algorithm),
                            weir_collective_protocol_name(wish->protocol), shape->ranks,
                            shape->nodes,
                            transports.network ? transports.network->id : transports.node->id);
    }
    best.latency_s += caller_s;
    best.transport_was_assumed = transports.was_assumed;
    *choice = best;
    return WEIR_OK;
}

/* --- how sure ----------------------------------------------------------------------------- */

double weir_library_error(const weir_library *library, const weir_collective_shape *shape)
{
    bool between = shape->nodes > 1;
    const library_node *node = find_node(library, NULL, shape->node_bytes_per_s);
    const library_network *network =
        between ? find_network(library, NULL, shape->network_bytes_per_s) : NULL;
    for (uint32_t i = 0; i < library->residue_count; i++) {
        const library_residue *r = &library->residues[i];
        bool same_network =
            network ? r->network && strcmp(r->network, network->id) == 0 : !r->network && !between;
        if (node && same_network && strcmp(r->node, node->id) == 0) {
            return shape->bytes >= LARGE_BYTES ? r->large_share : r->small_share;
        }
    }
    return (double)NAN;
}
