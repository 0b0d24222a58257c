/* library_inside.h: what a preset of presets/collectives says, as read (library_read.c) and as used
 * (library.c, library_model.c).
 *
 * A *road* is the set of figures of one protocol on one transport; docs/model/collective.md says
 * what each stands for. A road whose efficiency is 0 does not exist. */
#ifndef WEIR_COLLECTIVE_LIBRARY_INSIDE_H
#define WEIR_COLLECTIVE_LIBRARY_INSIDE_H

#include "base/arena.h"
#include "collective/library.h"

typedef enum {
    LIBRARY_ROAD_LL = WEIR_PROTOCOL_LL,
    LIBRARY_ROAD_LL128 = WEIR_PROTOCOL_LL128,
    LIBRARY_ROAD_SIMPLE = WEIR_PROTOCOL_SIMPLE,
    LIBRARY_ROAD_REDUCTION, /* through the switches of the node */
    LIBRARY_ROAD_EXCHANGE,  /* messages: all-to-all, send-recv */
    LIBRARY_ROAD_COUNT
} library_road;

typedef struct {
    double base_s;     /* launch of the kernel, first and last copy */
    double hop_s;      /* of each step from device to device */
    double efficiency; /* payload / raw rate where nothing else binds */
    double between;    /* the same where a network carries the rest; 0: efficiency */
    double step_s;     /* what each piece of the pipeline costs */
    double fill_s;     /* pieces grow up to this time on the wire */
} library_node_road;

typedef struct {
    double hop_s;
    double message_s;  /* of each message beyond that, where one device sends to many */
    double efficiency; /* rings, messages, whatever has no own figure */
    double tree;       /* trees between nodes; 0: efficiency */
    double reduction;  /* reduced in the switches of the network; 0: efficiency */
    double step_s, fill_s;
} library_network_road;

/* Ids of presets/links or presets/nics that a transport stands for, beside its own id. */
typedef struct {
    const char **ids;
    uint32_t count;
} library_parts;

typedef struct {
    const char *id;
    library_parts parts;
    double bytes_per_s;       /* raw, of a device; a transport without it is found by name only */
    double copy_bytes_per_s;  /* a device's own share, copied where it lies; 0: free */
    uint32_t reduction_ranks; /* from so many devices on the switches reduce; 0: never */
    library_node_road roads[LIBRARY_ROAD_COUNT];
} library_node;

/* Who launches collectives, and what each of their calls adds. */
typedef struct {
    const char *name;
    double seconds;
} library_caller;

typedef struct {
    library_caller *items;
    uint32_t count;
} library_callers;

typedef struct {
    const char *id;
    library_parts parts;
    double bytes_per_s;
    double base_s;           /* where a node has one device: there is no road inside it */
    uint32_t most_at_tree;   /* over so many nodes the library takes rings only; 0: no limit */
    library_callers callers; /* what their calls add here beside those of the library */
    library_network_road roads[LIBRARY_ROAD_COUNT];
} library_network;

typedef struct {
    const char *node, *network;      /* network NULL: one node */
    double large_share, small_share; /* mean error from 1 MiB on, and below; NAN: no rows */
} library_residue;

struct weir_library {
    weir_arena *arena;
    const char *id, *name;
    bool takes[WEIR_COLLECTIVE_KIND_COUNT][WEIR_ALGORITHM_COUNT]; /* of its own accord */
    library_node *nodes;
    uint32_t node_count;
    library_network *networks;
    uint32_t network_count;
    library_callers callers;
    library_residue *residues;
    uint32_t residue_count;
};

/* The two sets of figures that a shape is judged by; network NULL with one node. */
typedef struct {
    const library_node *node;
    const library_network *network;
    bool was_assumed; /* one of them was found by its rate */
} library_transports;

/* Fills library (its id and arena are set) from a mapping of doc. Errors name file, line, column.
 */
weir_code library_read(struct weir_library *library, const weir_yaml *doc,
                       const weir_yaml_node *mapping, weir_err *err);

/* The closed form of one algorithm and protocol; false where the transports have no such road. */
bool library_model_choice(const weir_collective_shape *shape, const library_transports *transports,
                          weir_collective_algorithm algorithm, weir_collective_protocol protocol,
                          weir_collective_choice *choice);

#endif
