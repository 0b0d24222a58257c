#include "fabric/layout.h"

#include "base/grow.h"

#include <assert.h>
#include <stdlib.h>

typedef struct {
    weir_topology *topology; /* owned */
    weir_router *router;     /* owned */
    const char *label;
    weir_road with;     /* whose links its first `shared` ones are */
    uint32_t shared;    /* 0: it stands alone */
    weir_link_id first; /* of link 0; with shared ones that far before its own */
} road_entry;

struct weir_layout {
    road_entry *roads;
    uint32_t count, room;
    weir_net *net;
    double scale[WEIR_TIER_COUNT];
    weir_link_id *links; /* of the route found last */
    uint32_t link_room;
};

weir_code weir_layout_new(weir_layout **layout, weir_err *err)
{
    weir_layout *made = calloc(1, sizeof *made);
    if (!made) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a layout of networks");
    }
    for (int tier = 0; tier < WEIR_TIER_COUNT; tier++) {
        made->scale[tier] = 1;
    }
    *layout = made;
    return WEIR_OK;
}

void weir_layout_free(weir_layout *layout)
{
    if (!layout) {
        return;
    }
    for (uint32_t i = 0; i < layout->count; i++) {
        weir_router_free(layout->roads[i].router);
        weir_topology_free(layout->roads[i].topology);
    }
    free(layout->roads);
    weir_net_free(layout->net);
    free(layout->links);
    free(layout);
}

weir_code weir_layout_add(weir_layout *layout, weir_topology *topology, const weir_routing *routing,
                          weir_road *road, weir_err *err)
{
    weir_router *router = NULL;
    weir_code code = WEIR_OK;
    uint32_t devices = weir_topology_devices(topology);
    if (layout->count > 0 && devices != weir_layout_devices(layout)) {
        code = weir_err_set(err, WEIR_ERR_INPUT,
                            "a road for %u devices beside one for %u; all roads join the same ones",
                            devices, weir_layout_devices(layout));
    }
    if (code == WEIR_OK &&
        !weir_grow(&layout->roads, layout->count, &layout->room, sizeof *layout->roads)) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for road %u", layout->count);
    }
    if (code == WEIR_OK) {
        code = weir_router_new(topology, routing, &router, err);
    }
    if (code != WEIR_OK) {
        weir_topology_free(topology);
        return code;
    }
    layout->roads[layout->count] = (road_entry){.topology = topology, .router = router};
    *road = layout->count++;
    return WEIR_OK;
}

static uint32_t link_count(const road_entry *road)
{
    return weir_net_count(weir_topology_net(road->topology));
}

weir_code weir_layout_share(weir_layout *layout, weir_road road, weir_road with, uint32_t count,
                            weir_err *err)
{
    road_entry *r = &layout->roads[road];
    const road_entry *other = &layout->roads[with];
    if (with >= road || count > link_count(other) || count > link_count(r)) {
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "road %u (%u links) cannot share %u links with road %u (%u links)",
                            road, link_count(r), count, with, link_count(other));
    }
    r->with = with;
    r->shared = count;
    return WEIR_OK;
}

void weir_layout_label(weir_layout *layout, weir_road road, const char *label)
{
    layout->roads[road].label = label;
}

void weir_layout_scale(weir_layout *layout, weir_tier tier, double factor)
{
    layout->scale[tier] = factor;
}

static weir_code add_links(const weir_layout *layout, weir_net *net, road_entry *road,
                           weir_err *err)
{
    const weir_net *own = weir_topology_net(road->topology);
    weir_code code = WEIR_OK;
    road->first = weir_net_count(net) - road->shared;
    for (weir_link_id i = road->shared; i < link_count(road) && code == WEIR_OK; i++) {
        weir_link_id link;
        double scale = layout->scale[weir_topology_link(road->topology, i).tier];
        code = weir_net_add(net, weir_net_bytes_per_s(own, i) * scale, weir_net_latency_s(own, i),
                            &link, err);
    }
    return code;
}

weir_code weir_layout_seal(weir_layout *layout, weir_err *err)
{
    weir_net *net = weir_net_new();
    weir_code code = WEIR_OK;
    if (!net) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the net of a layout");
    }
    for (uint32_t i = 0; i < layout->count && code == WEIR_OK; i++) {
        code = add_links(layout, net, &layout->roads[i], err);
    }
    if (code != WEIR_OK) {
        weir_net_free(net);
        return code;
    }
    weir_net_seal(net);
    weir_net_free(layout->net);
    layout->net = net;
    return WEIR_OK;
}

/* --- reading --- */

uint32_t weir_layout_devices(const weir_layout *layout)
{
    return layout->count ? weir_topology_devices(layout->roads[0].topology) : 0;
}

uint32_t weir_layout_roads(const weir_layout *layout)
{
    return layout->count;
}

const weir_net *weir_layout_net(const weir_layout *layout)
{
    return layout->net;
}

const weir_topology *weir_layout_topology(const weir_layout *layout, weir_road road)
{
    return layout->roads[road].topology;
}

weir_road weir_layout_road_of(const weir_layout *layout, weir_link_id link)
{
    assert(layout->net && link < weir_net_count(layout->net));
    weir_road road = layout->count - 1;
    while (link < layout->roads[road].first + layout->roads[road].shared) {
        road--;
    }
    return road;
}

weir_link_id weir_layout_first_link(const weir_layout *layout, weir_road road)
{
    return layout->roads[road].first;
}

weir_link weir_layout_link(const weir_layout *layout, weir_link_id link)
{
    const road_entry *road = &layout->roads[weir_layout_road_of(layout, link)];
    return weir_topology_link(road->topology, link - road->first);
}

weir_link_ends weir_layout_ends(const weir_layout *layout, weir_link_id link)
{
    const weir_topology *t = layout->roads[weir_layout_road_of(layout, link)].topology;
    weir_link found = weir_layout_link(layout, link);
    uint32_t number;
    return (weir_link_ends){weir_topology_vertex(t, found.from, &number),
                            weir_topology_vertex(t, found.to, &number)};
}

weir_tier weir_layout_tier(const weir_layout *layout, weir_link_id link)
{
    return weir_layout_link(layout, link).tier;
}

bool weir_layout_is_optical(const weir_layout *layout, weir_link_id link)
{
    return weir_layout_link(layout, link).is_optical;
}

bool weir_layout_is_circuit(const weir_layout *layout, weir_link_id link)
{
    weir_road road = weir_layout_road_of(layout, link);
    const weir_topology *t = weir_layout_topology(layout, road);
    return weir_topology_is_circuit(t, link - weir_layout_first_link(layout, road));
}

void weir_layout_name(const weir_layout *layout, weir_link_id link, weir_text *name)
{
    const road_entry *road = &layout->roads[weir_layout_road_of(layout, link)];
    if (road->label) {
        weir_text_printf(name, "%s: ", road->label);
    }
    weir_topology_name(road->topology, link - road->first, name);
}

/* The number on the layout's net of a road's link. */
static weir_link_id on_net(const weir_layout *layout, const road_entry *road, weir_link_id link)
{
    while (link < road->shared) {
        road = &layout->roads[road->with];
    }
    return road->first + link;
}

/* Takes "label: " off the name; false: it names another road. */
static bool take_label(const char *label, weir_str *name)
{
    uint32_t colon = weir_str_find(*name, WEIR_STR(": "), 0);
    if (colon == name->n) {
        return true;
    }
    if (!label || !weir_str_eq(weir_str_from(label), (weir_str){name->p, colon})) {
        return false;
    }
    *name = (weir_str){name->p + colon + 2, name->n - colon - 2};
    return true;
}

weir_link_id weir_layout_find_link(const weir_layout *layout, weir_str name)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        const road_entry *road = &layout->roads[i];
        weir_str rest = name;
        if (!take_label(road->label, &rest)) {
            continue;
        }
        weir_link_id link = weir_topology_find_link(road->topology, rest);
        if (link != WEIR_NONE) {
            return on_net(layout, road, link);
        }
    }
    return WEIR_NONE;
}

/* --- routes --- */

void weir_layout_set_dead(weir_layout *layout, weir_link_id link, bool is_dead)
{
    weir_road owner = weir_layout_road_of(layout, link);
    weir_link_id local = link - layout->roads[owner].first;
    for (uint32_t i = owner; i < layout->count; i++) {
        const road_entry *road = &layout->roads[i];
        if (i == owner || (local < road->shared && on_net(layout, road, local) == link)) {
            weir_router_set_dead(road->router, local, is_dead);
        }
    }
}

weir_code weir_layout_find(weir_layout *layout, weir_road road, uint32_t from, uint32_t to,
                           uint64_t flow, weir_route *route, weir_err *err)
{
    if (road >= layout->count) {
        return weir_err_set(err, WEIR_ERR_USAGE, "road %u; there are %u", road, layout->count);
    }
    const road_entry *r = &layout->roads[road];
    weir_route found;
    weir_code code = weir_router_find(r->router, from, to, flow, &found, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (found.path.count > layout->link_room) {
        weir_link_id *links = realloc(layout->links, 2 * (size_t)found.path.count * sizeof *links);
        if (!links) {
            return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a path of %u links",
                                found.path.count);
        }
        layout->links = links;
        layout->link_room = 2 * found.path.count;
    }
    for (uint32_t i = 0; i < found.path.count; i++) {
        layout->links[i] = on_net(layout, r, found.path.links[i]);
    }
    found.path.links = layout->links;
    *route = found;
    return WEIR_OK;
}
