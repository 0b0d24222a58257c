/* layout.h: the roads of one candidate network, side by side on one net.
 *
 * A road is a topology with its way of routing: packets, or circuits set for one phase. Their links
 * are numbered one road after the other on one net, so that traffic of all of them plays together;
 * a road may stand on the first links of an earlier one (the same nodes, the same NICs). Devices
 * have the same numbers on all roads. After sealing routes may be found; one thread at a time.
 * Not here: what a topology is made of (topology.h), which traffic takes which road. */
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
/* The first `count` links of this road are those of an earlier road, which must have as many (own
 * ones or shared ones); before sealing. WEIR_ERR_USAGE otherwise. */
weir_code weir_layout_share(weir_layout *layout, weir_road road, weir_road with, uint32_t count,
                            weir_err *err);
/* What the names of that road's links begin with ("light" gives "light: leaf 3 -> leaf 5");
 * borrowed. NULL: nothing, as at first. */
void weir_layout_label(weir_layout *layout, weir_road road, const char *label);
/* All links of that tier carry factor times as much (what one more percent would gain), from the
 * next sealing on. */
void weir_layout_scale(weir_layout *layout, weir_tier tier, double factor);
/* Builds the net. May be called again after weir_layout_scale: the net from before is gone then. */
weir_code weir_layout_seal(weir_layout *layout, weir_err *err);

uint32_t weir_layout_devices(const weir_layout *layout);
uint32_t weir_layout_roads(const weir_layout *layout);
const weir_net *weir_layout_net(const weir_layout *layout); /* NULL before sealing */
const weir_topology *weir_layout_topology(const weir_layout *layout, weir_road road);
/* Whose own link it is: of shared ones the earliest road. */
weir_road weir_layout_road_of(const weir_layout *layout, weir_link_id link);
/* A road's own link is this + its number in the road's topology; links that it shares come before
 * its own ones and have the numbers of the road that it shares them with. */
weir_link_id weir_layout_first_link(const weir_layout *layout, weir_road road);
/* As the topology of the road whose own link it is tells; its ends are vertices there. */
weir_link weir_layout_link(const weir_layout *layout, weir_link_id link);
typedef struct {
    weir_vertex_kind from, to;
} weir_link_ends;
weir_link_ends weir_layout_ends(const weir_layout *layout, weir_link_id link);
weir_tier weir_layout_tier(const weir_layout *layout, weir_link_id link);
bool weir_layout_is_optical(const weir_layout *layout, weir_link_id link);
/* Joined by optical switches, not by a cable. */
bool weir_layout_is_circuit(const weir_layout *layout, weir_link_id link);
void weir_layout_name(const weir_layout *layout, weir_link_id link, weir_text *name);
/* The link of that name ("leaf 3 -> spine 1"; without a label the first road that has one),
 * WEIR_NONE where there is none. O(links). */
weir_link_id weir_layout_find_link(const weir_layout *layout, weir_str name);

/* On every road that has it. */
void weir_layout_set_dead(weir_layout *layout, weir_link_id link, bool is_dead);
/* As weir_router_find, with link numbers of the layout's net. */
weir_code weir_layout_find(weir_layout *layout, weir_road road, uint32_t from, uint32_t to,
                           uint64_t flow, weir_route *route, weir_err *err);

#endif
