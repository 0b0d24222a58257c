/* topology.h: the networks that we build: which devices, switches and cables there are.
 *
 * A plain description (zero means default) becomes a sealed weir_net plus what routes and bills of
 * materials need: the two ends of each link, its tier, a name made on request, counts. Endpoints
 * are devices, numbered node by node; a cable is two links, one for each direction. Building costs
 * O(links), 16 bytes a link more than the net; afterwards any number of threads may read.
 * Not here: which links a transfer crosses (route.h), prices and watts (cost.h). */
#ifndef WEIR_FABRIC_TOPOLOGY_H
#define WEIR_FABRIC_TOPOLOGY_H

#include "fabric/net.h"

#include "base/text.h"

/* How far apart the ends of a link are. X(enumerator, name in reports) */
#define WEIR_TIERS(X)                                                                              \
    X(WEIR_TIER_IN_NODE, "in_node")                                                                \
    X(WEIR_TIER_BETWEEN_NODES, "between_nodes")                                                    \
    X(WEIR_TIER_BETWEEN_RACKS, "between_racks")                                                    \
    X(WEIR_TIER_HALL, "hall")

typedef enum {
#define X(tier, name) tier,
    WEIR_TIERS(X)
#undef X
        WEIR_TIER_COUNT
} weir_tier;

/* What a link ends at. X(enumerator, name in reports) */
#define WEIR_VERTEX_KINDS(X)                                                                       \
    X(WEIR_VERTEX_DEVICE, "device")                                                                \
    X(WEIR_VERTEX_NODE_SWITCH, "node switch")                                                      \
    X(WEIR_VERTEX_NIC, "nic")                                                                      \
    X(WEIR_VERTEX_LEAF, "leaf")                                                                    \
    X(WEIR_VERTEX_SPINE, "spine")                                                                  \
    X(WEIR_VERTEX_CORE, "core")                                                                    \
    X(WEIR_VERTEX_ROUTER, "router")

typedef enum {
#define X(kind, name) kind,
    WEIR_VERTEX_KINDS(X)
#undef X
        WEIR_VERTEX_KIND_COUNT
} weir_vertex_kind;

/* One direction of a cable. latency_s: the whole hop, with the switch at its end. */
typedef struct {
    double bytes_per_s;
    double latency_s;
    bool is_optical; /* a module at each end */
} weir_cable;

/* --- inside a node: devices that share a link domain, and their NICs --- */

typedef enum {
    WEIR_NODE_UNLINKED = 0, /* devices meet on the network only */
    WEIR_NODE_SWITCHED,     /* one link up and one down for each device, nothing blocks between */
    WEIR_NODE_MESHED,       /* a cable for each pair */
    WEIR_NODE_RING,         /* a cable to the next device, the last one to the first */
} weir_node_wiring;

typedef struct {
    uint32_t nodes;
    uint32_t devices; /* of each node; 72 for a rack that is one link domain */
    weir_node_wiring wiring;
    weir_cable cable; /* of that wiring */
    /* Of each node, 0 = one for each device. One of nics and devices must divide the other: device
     * i has NICs i x nics/devices and on, or shares NIC i / (devices/nics). Rail = NIC's number. */
    uint32_t nics;
    weir_cable pcie; /* device to NIC; bytes_per_s 0: it never binds */
} weir_nodes;

/* --- Clos networks --- */

typedef enum {
    WEIR_CLOS_PLAIN = 0, /* a leaf takes all NICs of neighbouring nodes */
    WEIR_CLOS_RAILS,     /* a leaf takes one rail of neighbouring nodes; spines join the rails */
    WEIR_CLOS_RAIL_ONLY, /* each rail is a network of its own */
} weir_clos_wiring;

typedef struct {
    uint32_t tiers;  /* 1: leaves; 2: and spines; 3: and cores, leaves and spines in pods */
    uint32_t planes; /* like networks side by side, each NIC has a port in each; 0 = 1 */
    weir_clos_wiring wiring;
    uint32_t radix[3]; /* ports of a leaf, spine, core */
    /* Bandwidth down / bandwidth up of a full leaf and a full spine; 0 = 1. */
    double oversubscription[2];
    /* Cables between a switch and each one above it that it has; 0 = as many as make the fewest
     * switches, 1 = as many switches as uplinks (XGFT). */
    uint32_t trunk[2];
    /* Nodes are spread evenly over as many leaves as they need, and leaves over pods; each has the
     * uplinks that those attached to the fullest one need, in whole trunks. Else: a full tree's. */
    bool is_fitted;
    /* NIC to leaf (one port), leaf to spine, spine to core; bytes_per_s 0: as the tier below. */
    weir_cable cable[3];
} weir_clos;

/* --- networks without switches between --- */

typedef struct {
    uint32_t size[3]; /* 0 or 1: this dimension is not there; 2: two cables join the pair */
    /* How far, in dimension j, one is displaced by walking once round dimension i. */
    uint32_t twist[3][3];
    weir_cable cable[3]; /* by dimension; bytes_per_s 0: as the one before */
} weir_torus;

/* Groups of routers, all joined within a group; each pair of groups is joined by as many cables as
 * fit: port q of a group leads to the group q % (groups - 1) + 1 further on. */
typedef struct {
    uint32_t groups, routers;     /* routers of each group */
    uint32_t nics, global_cables; /* of each router */
    weir_cable nic, local, global;
} weir_dragonfly;

/* --- circuits of light between blocks, instead of upper tiers --- */

typedef enum {
    WEIR_LIGHT_PODS = 0, /* leaves and spines; circuits end at spines */
    WEIR_LIGHT_LEAVES,
    WEIR_LIGHT_NICS, /* no switches: a block is a node, each of its NICs on a network of its own */
} weir_light_ends;

typedef struct {
    uint32_t from, to; /* blocks */
} weir_light_circuit;

/* Blocks take whole nodes, in order; the same circuits on each network (plane of switches, rail of
 * leaves or of NICs). A circuit that is followed by its opposite is one cable with it. Those of a
 * block take its ends in the order of the list; ends are dealt out to the spines of a pod in turn.
 */
typedef struct {
    weir_light_ends ends;
    /* Of the leaves and spines below; its tiers and upper parts are not read. Wiring: PLAIN, or
     * RAIL_ONLY: a leaf takes one rail of neighbouring nodes, each rail is a network of its own. */
    weir_clos clos;
    uint32_t uplinks; /* ends of each block on each network; 0: as oversubscription says, NICs: 2 */
    weir_cable circuit;
    const weir_light_circuit *circuits;
    uint32_t count;
    bool turns; /* circuits are shares of time of all ends (rotor): there may be more than ends */
    /* Of the bytes between two blocks that a circuit joins, this goes over one other block, all of
     * them equally; 0..1. */
    double transit_share;
} weir_light;

/* An end: devices are 0 .. devices - 1, then come the switches. */
typedef struct {
    uint32_t from, to;
    bool is_one_way;
    weir_cable cable;
    weir_tier tier;
} weir_listed_cable;

typedef struct {
    uint32_t devices, switches;
    bool devices_forward; /* traffic of others may cross a device */
    const weir_listed_cable *cables;
    uint32_t count;
} weir_cable_list;

typedef enum {
    WEIR_FABRIC_NODE = 0,  /* one node and nothing between nodes */
    WEIR_FABRIC_CLOS,      /* nodes, clos */
    WEIR_FABRIC_DRAGONFLY, /* nodes, dragonfly */
    WEIR_FABRIC_LIGHT,     /* nodes, light */
    WEIR_FABRIC_TORUS,     /* torus; a device at each place */
    WEIR_FABRIC_LIST,      /* list */
} weir_fabric_kind;

typedef struct {
    weir_fabric_kind kind;
    weir_nodes nodes;
    union {
        weir_clos clos;
        weir_dragonfly dragonfly;
        weir_light light;
        weir_torus torus;
        weir_cable_list list;
    };
} weir_fabric;

/* --- what is built --- */

typedef struct {
    uint32_t from, to; /* vertices */
    uint32_t cable;    /* links of one cable have the same number */
    weir_tier tier;
    bool is_optical;
} weir_link;

typedef struct {
    uint32_t vertices[WEIR_VERTEX_KIND_COUNT]; /* switches, NICs, ... by kind */
    uint64_t ports[WEIR_VERTEX_KIND_COUNT];    /* with a cable in them, by kind of their owner */
    uint64_t cables[WEIR_TIER_COUNT];
    uint64_t optical_cables[WEIR_TIER_COUNT]; /* of those; twice as many modules */
} weir_fabric_counts;

typedef struct weir_topology weir_topology;

/* WEIR_ERR_INPUT: what cannot be built, with what was found and what would be right. fabric and
 * what it points to are needed during the call only. */
weir_code weir_topology_new(const weir_fabric *fabric, weir_topology **topology, weir_err *err);
void weir_topology_free(weir_topology *topology); /* NULL is fine */

/* The blocks that circuits would join, before there are any. */
typedef struct {
    uint32_t blocks, block_nodes; /* nodes of each (the last one may have less) */
    uint32_t networks;            /* with the same circuits each */
    uint32_t spines;              /* of a block, at which circuits end; 0: it has none */
    uint32_t uplinks;             /* ends of each block on each network */
} weir_light_blocks;

weir_code weir_light_measure(const weir_fabric *fabric, weir_light_blocks *blocks, weir_err *err);
/* Links before the first circuit, of a topology of that kind. */
uint32_t weir_topology_links_below_light(const weir_topology *topology);
bool weir_topology_is_circuit(const weir_topology *topology, weir_link_id link);
/* Links inside nodes: they come first. */
uint32_t weir_topology_node_links(const weir_topology *topology);

const weir_net *weir_topology_net(const weir_topology *topology); /* lives as long as topology */
uint32_t weir_topology_devices(const weir_topology *topology);
uint32_t weir_topology_node_of(const weir_topology *topology, uint32_t device);
weir_link weir_topology_link(const weir_topology *topology, weir_link_id link);
weir_fabric_counts weir_topology_counts(const weir_topology *topology);
/* Which kind of thing a vertex is, and its number among them. */
weir_vertex_kind weir_topology_vertex(const weir_topology *topology, uint32_t vertex,
                                      uint32_t *number);
/* Appends "leaf 3 -> spine 1", and which cable where there are several side by side. Reads all
 * links: for reports, not for loops over links. */
void weir_topology_name(const weir_topology *topology, weir_link_id link, weir_text *name);
/* The link of such a name ("leaf 3 -> spine 1", of several cables the first; or "... (cable 2)"),
 * WEIR_NONE where there is none. O(links). */
weir_link_id weir_topology_find_link(const weir_topology *topology, weir_str name);
const char *weir_tier_name(weir_tier tier);

#endif
