/* plan_inside.h: what the algorithms share: members by node, drafts of bodies, rounds.
 *
 * An algorithm loads bytes on routes into a draft, makes the draft a body, and ends the round. A
 * draft holds bytes by link; it is empty again when it has become a body. Every call returns the
 * code of the first thing that went wrong, told in planner.err. */
#ifndef WEIR_COLLECTIVE_PLAN_INSIDE_H
#define WEIR_COLLECTIVE_PLAN_INSIDE_H

#include "collective/plan.h"

/* How the members of a node reach one another. */
typedef enum {
    PLAN_WIRING_SWITCHED = 0, /* also: only one member in each node */
    PLAN_WIRING_MESHED,
    PLAN_WIRING_RING,
} plan_wiring;

typedef struct {
    double *bytes; /* by link of the net; NULL: never used */
    weir_link_id *touched;
    uint32_t count, room;
} plan_draft;

enum { PLAN_DRAFTS = 1 << WEIR_TIER_COUNT }; /* one for each set of tiers that a route may cross */

typedef struct {
    weir_layout *layout;
    const weir_collective_job *job;
    const weir_collective_choice *choice;
    weir_plan plan; /* in the making; a round's latency_s counts its steps until the end */
    weir_err *err;
    const weir_net *net;
    uint8_t *known; /* by link, what link_traits knows; 0: not yet looked at */

    /* Members, node by node; members of one node in rank order. */
    uint32_t *order;
    uint32_t *first; /* of node k: order[first[k]] .. order[first[k + 1] - 1] */
    uint32_t count, nodes;
    uint32_t least, most; /* members of a node */
    plan_wiring wiring;
    bool is_direct; /* devices are joined to devices, without switches (a torus) */

    plan_draft drafts[PLAN_DRAFTS];
    plan_draft sums; /* seconds by link, while a round is timed */
    double tier_s[WEIR_TIER_COUNT];
    double tier_round_s[WEIR_TIER_COUNT];
    weir_link_id tier_link[WEIR_TIER_COUNT];
} planner;

/* --- plan_members.c --- */

weir_code plan_group_members(planner *p);
static inline uint32_t plan_members_of(const planner *p, uint32_t node)
{
    return p->first[node + 1] - p->first[node];
}
/* Member `index` of a node, as a device; index is taken modulo the node's members. */
uint32_t plan_member(const planner *p, uint32_t node, uint32_t index);
/* Racks: runs of nodes whose members of one rail meet below the spines. first: nodes + 1 entries;
 * rack k has the nodes first[k] .. first[k + 1] - 1. */
weir_code plan_find_racks(planner *p, uint32_t *first, uint32_t *racks);

/* --- plan_load.c --- */

weir_tier plan_link_tier(planner *p, weir_link_id link);
/* Whether the network's efficiency holds there: also on PCIe to a NIC. */
bool plan_link_is_network(planner *p, weir_link_id link);

/* The route between two devices as it is loaded; good until the next call. */
weir_code plan_find(planner *p, const uint32_t pair[2], weir_route *route);
/* The bytes of a connection, on all links of its route. From a device to itself: nothing. */
weir_code plan_load(planner *p, plan_draft *draft, const uint32_t pair[2], double bytes);
/* The same; where nothing joins the two directly, over the network to the device of the receiver's
 * node that stands where the sender does in its own, and from there inside the node. */
weir_code plan_load_rail(planner *p, plan_draft *draft, const uint32_t pair[2], double bytes);
/* The same as plan_load, into the draft of the tiers that the route crosses. */
weir_code plan_load_class(planner *p, const uint32_t pair[2], double bytes);
/* A message between each two members, each into the draft of its tiers (plan_sites.c); false: not
 * done, routes are not made of parts. */
weir_code plan_load_sites(planner *p, double bytes, bool *is_done);
weir_code plan_load_link(planner *p, plan_draft *draft, weir_link_id link, double bytes);
/* Each member sends so many bytes to the others of its node, as evenly as the wiring wants it. */
weir_code plan_load_nodes(planner *p, plan_draft *draft, double bytes);
/* Each rail's member of each node sends so many bytes to the next node's: rings along the rails. */
weir_code plan_load_rails(planner *p, plan_draft *draft, double bytes);

/* --- plan_draft.c --- */

/* A body of what was loaded; unit_bytes: what one of its connections carries. Nothing: no body. */
weir_code plan_body(planner *p, plan_draft *draft, double unit_bytes);
weir_code plan_class_bodies(planner *p, double unit_bytes); /* one for each draft */
/* Ends the round; steps: how many it stands for in the share of latency. */
weir_code plan_end_round(planner *p, double steps);
/* A round of one body. */
weir_code plan_round_of(planner *p, double unit_bytes, double steps);
weir_code plan_finish(planner *p);
void plan_drafts_free(planner *p);

weir_code plan_refuse(planner *p, const char *why); /* WEIR_ERR_INPUT; names algorithm and kind */

/* --- the algorithms --- */

weir_code plan_ring(planner *p);
/* Rings along all dimensions, where the members are a grid of a torus; else does nothing. */
weir_code plan_torus(planner *p, bool *is_torus);
weir_code plan_tree(planner *p);
/* Loads the double tree over the nodes, along the rails: bytes up and down in all. */
weir_code plan_load_trees(planner *p, plan_draft *draft, double bytes);
weir_code plan_halving(planner *p);
weir_code plan_doubling(planner *p);
weir_code plan_bruck(planner *p);
weir_code plan_pairwise(planner *p);
weir_code plan_pat(planner *p);
weir_code plan_hierarchical(planner *p, bool has_racks);
weir_code plan_direct(planner *p);
weir_code plan_rails(planner *p);
weir_code plan_node_reduction(planner *p);    /* NVLS, NVLS_TREE */
weir_code plan_network_reduction(planner *p); /* SHARP */

#endif
