/* layout.h: the roads of one candidate network, side by side on one net.
 *
 * A road is a topology with its way of routing: packets, or circuits set for one phase. Their links
 * are numbered one road after the other on one net, so that traffic of all of them plays together.
 * Devices have the same numbers on all roads. After sealing routes may be found; one thread at a
 * time. Not here: what a topology is made of (topology.h), which traffic takes which road. */
#ifndef WEIR_FABRIC_LAYOUT_H
#define WEIR_FABRIC_LAYOUT_H

#include "fabric/route.h"

typedef uint32_t weir_road;

typedef struct weir_layout weir_layout;

weir_code weir_layout_new(weir_layout **layout, weir_err *err);
void weir_layout_free(weir_layout *layout); /* NULL is fine */
/* Takes the topology over, also on failure. WEIR_ERR_INPUT: another number of devices. */
weir_code weir_layout_add(weir_layout *layout, weir_topology *topology, const weir_routing *routing,
                          weir_road *road, weir_err *err);
/* All links of that tier carry factor times as much (what one more percent would gain); before
 * sealing. */
void weir_layout_scale(weir_layout *layout, weir_tier tier, double factor);
weir_code weir_layout_seal(weir_layout *layout, weir_err *err);

uint32_t weir_layout_devices(const weir_layout *layout);
uint32_t weir_layout_roads(const weir_layout *layout);
const weir_net *weir_layout_net(const weir_layout *layout);
const weir_topology *weir_layout_topology(const weir_layout *layout, weir_road road);
weir_road weir_layout_road_of(const weir_layout *layout, weir_link_id link);
weir_link_id weir_layout_first_link(const weir_layout *layout, weir_road road);
weir_tier weir_layout_tier(const weir_layout *layout, weir_link_id link);
bool weir_layout_is_optical(const weir_layout *layout, weir_link_id link);
void weir_layout_name(const weir_layout *layout, weir_link_id link, weir_text *name);
/* The link of that name ("leaf 3 -> spine 1"), WEIR_NONE where there is none. O(links). */
weir_link_id weir_layout_find_link(const weir_layout *layout, weir_str name);

void weir_layout_set_dead(weir_layout *layout, weir_link_id link, bool is_dead);
/* As weir_router_find, with link numbers of the layout's net. */
weir_code weir_layout_find(weir_layout *layout, weir_road road, uint32_t from, uint32_t to,
                           uint64_t flow, weir_route *route, weir_err *err);

#endif
