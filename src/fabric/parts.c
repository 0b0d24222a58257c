#include "fabric/parts_inside.h"

#include <math.h>
#include <stdlib.h>

weir_code parts_no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for parts of networks");
}

weir_code weir_parts_load(weir_parts **out, weir_err *err)
{
    weir_parts *parts = calloc(1, sizeof *parts);
    if (!parts || !(parts->arena = weir_arena_new())) {
        weir_parts_free(parts);
        return parts_no_memory(err);
    }
    weir_code code = WEIR_OK;
    for (int kind = 0; kind < PART_KIND_COUNT && code == WEIR_OK; kind++) {
        code = parts_load_kind(parts, (part_kind)kind, err);
    }
    if (code == WEIR_OK && (code = parts_load_transport(parts, err)) == WEIR_OK) {
        code = parts_load_prices(parts, err);
    }
    if (code != WEIR_OK) {
        weir_parts_free(parts);
        return code;
    }
    *out = parts;
    return WEIR_OK;
}

void weir_parts_free(weir_parts *parts)
{
    if (parts) {
        for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
            free(parts->parts[kind].items);
        }
        free(parts->prices);
        free(parts->transport);
        weir_arena_free(parts->arena);
        free(parts);
    }
}

/* --- finding ------------------------------------------------------------------------------ */

const char *part_id(const void *part)
{
    const char *const *id = part; /* every struct of a part begins with it */
    return *id;
}

const void *parts_find(const weir_parts *parts, part_kind kind, weir_str id)
{
    const part_items *all = &parts->parts[kind];
    for (uint32_t i = 0; i < all->count; i++) {
        if (weir_str_eq(id, weir_str_from(part_id(all->items[i])))) {
            return all->items[i];
        }
    }
    return NULL;
}

const weir_link_part *weir_parts_link(const weir_parts *parts, weir_str id)
{
    return parts_find(parts, PART_LINK, id);
}

const weir_switch_part *weir_parts_switch(const weir_parts *parts, weir_str id)
{
    return parts_find(parts, PART_SWITCH, id);
}

const weir_nic_part *weir_parts_nic(const weir_parts *parts, weir_str id)
{
    return parts_find(parts, PART_NIC, id);
}

const weir_module_part *weir_parts_module(const weir_parts *parts, weir_str id)
{
    return parts_find(parts, PART_MODULE, id);
}

const weir_ocs_part *weir_parts_ocs(const weir_parts *parts, weir_str id)
{
    return parts_find(parts, PART_OCS, id);
}

const weir_price *weir_parts_price(const weir_parts *parts, weir_str id)
{
    for (uint32_t i = 0; i < parts->price_count; i++) {
        if (weir_str_eq(id, weir_str_from(parts->prices[i].id))) {
            return &parts->prices[i];
        }
    }
    return NULL;
}

const weir_price *weir_parts_prices(const weir_parts *parts, uint32_t *count)
{
    *count = parts->price_count;
    return parts->prices;
}

const weir_transport_part *weir_parts_transport(const weir_parts *parts, weir_str pattern)
{
    for (uint32_t i = 0; i < parts->transport_count; i++) {
        if (weir_str_eq(pattern, weir_str_from(parts->transport[i].id))) {
            return &parts->transport[i];
        }
    }
    return &parts->transport[parts->transport_default];
}

const weir_fibre_part *weir_parts_fibre(const weir_parts *parts)
{
    return &parts->fibre;
}

/* --- reading what scenarios give ----------------------------------------------------------- */

weir_code weir_parts_read_link(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                               const weir_link_part **part, weir_err *err)
{
    const void *found = NULL;
    weir_code code = parts_read_part(parts, PART_LINK, doc, node, &found, err);
    *part = code == WEIR_OK ? found : *part;
    return code;
}

weir_code weir_parts_read_switch(weir_parts *parts, const weir_yaml *doc,
                                 const weir_yaml_node *node, const weir_switch_part **part,
                                 weir_err *err)
{
    const void *found = NULL;
    weir_code code = parts_read_part(parts, PART_SWITCH, doc, node, &found, err);
    *part = code == WEIR_OK ? found : *part;
    return code;
}

weir_code weir_parts_read_nic(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                              const weir_nic_part **part, weir_err *err)
{
    const void *found = NULL;
    weir_code code = parts_read_part(parts, PART_NIC, doc, node, &found, err);
    *part = code == WEIR_OK ? found : *part;
    return code;
}

weir_code weir_parts_read_module(weir_parts *parts, const weir_yaml *doc,
                                 const weir_yaml_node *node, const weir_module_part **part,
                                 weir_err *err)
{
    const void *found = NULL;
    weir_code code = parts_read_part(parts, PART_MODULE, doc, node, &found, err);
    *part = code == WEIR_OK ? found : *part;
    return code;
}

weir_code weir_parts_read_ocs(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                              const weir_ocs_part **part, weir_err *err)
{
    const void *found = NULL;
    weir_code code = parts_read_part(parts, PART_OCS, doc, node, &found, err);
    *part = code == WEIR_OK ? found : *part;
    return code;
}

weir_code weir_parts_need(const char *id, const char *key, double value, const char *example,
                          weir_err *err)
{
    if (!isnan(value)) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "'%s' has no known %s; give it one: {like: %s, %s: %s}", id, key, id, key,
                        example);
}
