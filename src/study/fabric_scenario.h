/* fabric_scenario.h: a scenario of `weir fabric` as it was written, with presets resolved.
 *
 * Plain structs, everything in one arena. The format is in docs/reference/scenario.md. What a value
 * means together with others (does it fit, does it close) is not checked here: only that each is of
 * its kind, names what exists and has its unit.
 * Not here: building networks (fabric_candidate.h), playing (fabric_study.h). */
#ifndef WEIR_STUDY_FABRIC_SCENARIO_H
#define WEIR_STUDY_FABRIC_SCENARIO_H

#include "base/arena.h"
#include "collective/library.h"
#include "fabric/demand.h"
#include "fabric/parts.h"
#include "fabric/route.h"
#include "machine/accelerator.h"
#include "scenario/keys.h"
#include "scenario/settings.h"

typedef struct {           /* where a key was written, for errors that are found later */
    uint32_t line, column; /* 0: not written here (a default, --set, another file) */
} weir_place;

typedef struct {
    const weir_accelerator *accelerator; /* NULL: not named */
    uint32_t nodes, devices, nics;       /* of each node: devices, nics */
    const weir_link_part *node_link;     /* NULL: none */
    const weir_nic_part *nic;
    const weir_link_part *pcie; /* NULL: it never binds */
    const char *library;        /* preset id; NULL: closed forms without latency */
    weir_place place;
} weir_cluster;

typedef enum {
    WEIR_PHASE_COLLECTIVE = 0,
    WEIR_PHASE_PATTERN,
    WEIR_PHASE_DEMAND,
} weir_phase_kind;

#define WEIR_TRAFFIC_PATTERNS(X)                                                                   \
    X(PERMUTATION, "permutation")                                                                  \
    X(INCAST, "incast")                                                                            \
    X(ALL_TO_ALL, "all_to_all")                                                                    \
    X(RING, "ring")                                                                                \
    X(HOT_SPOT, "hot_spot")                                                                        \
    X(SHIFT, "shift")

typedef enum {
#define X(pattern, name) WEIR_PATTERN_##pattern,
    WEIR_TRAFFIC_PATTERNS(X)
#undef X
        WEIR_PATTERN_COUNT
} weir_traffic_pattern;

typedef enum { WEIR_TAKE_AUTO = 0, WEIR_TAKE_PACKETS, WEIR_TAKE_LIGHT } weir_take;

typedef struct {
    const char *name, *axis;
    double compute_s;
    double slack_s; /* NAN: its compute */
    bool overlap;
    uint32_t times;
    weir_take take;
    weir_phase_kind kind;
    weir_collective_kind collective;
    weir_collective_algorithm algorithm; /* WEIR_ALGORITHM_COUNT: auto */
    weir_collective_protocol protocol;   /* WEIR_PROTOCOL_COUNT: auto */
    weir_traffic_pattern pattern;
    uint32_t group_size, group_stride; /* 0: all devices, stride 1 */
    double bytes;
    uint32_t degree;
    double hot_share;
    weir_demand demand; /* owned by the scenario; of devices */
    double scale;
    weir_place place;
} weir_phase;

#define WEIR_CANDIDATE_KINDS(X)                                                                    \
    X(CLOS, "clos")                                                                                \
    X(RAIL, "rail")                                                                                \
    X(RAIL_ONLY, "rail-only")                                                                      \
    X(TORUS, "torus")                                                                              \
    X(DRAGONFLY, "dragonfly")                                                                      \
    X(LIST, "list")                                                                                \
    X(OCS_JOB, "ocs-job")                                                                          \
    X(OCS_PHASE, "ocs-phase")                                                                      \
    X(ROTOR, "rotor")                                                                              \
    X(HYBRID, "hybrid")

typedef enum {
#define X(kind, name) WEIR_CANDIDATE_##kind,
    WEIR_CANDIDATE_KINDS(X)
#undef X
        WEIR_CANDIDATE_KIND_COUNT
} weir_candidate_kind;

typedef enum { WEIR_BLOCK_POD = 0, WEIR_BLOCK_LEAF, WEIR_BLOCK_NIC } weir_block;
typedef enum { WEIR_WIRING_PLAIN = 0, WEIR_WIRING_RAILS } weir_block_wiring;
typedef enum {
    WEIR_DESIGN_AUTO = 0, /* the best of the others */
    WEIR_DESIGN_UNIFORM,
    WEIR_DESIGN_MATCHING,
    WEIR_DESIGN_RING,
    WEIR_DESIGN_TORUS,
    WEIR_DESIGN_GREEDY,
} weir_circuit_design_kind;

typedef enum {
    WEIR_WITHIN_NONE = 0, /* circuits stay while a phase sends */
    WEIR_WITHIN_BIRKHOFF,
    WEIR_WITHIN_SOLSTICE,
    WEIR_WITHIN_ECLIPSE,
    WEIR_WITHIN_AUTO, /* the fastest of all these */
} weir_within;

typedef enum {
    WEIR_OPTICAL_LEAF = 0,
    WEIR_OPTICAL_NIC,
    WEIR_OPTICAL_SPINE,
    WEIR_OPTICAL_NONE
} weir_optical_from;

typedef struct {
    const char *name;
    weir_candidate_kind kind;
    uint32_t tiers, planes;
    const weir_switch_part *sw; /* NULL: none (torus) */
    double oversubscription[2]; /* 1 by default */
    uint32_t trunk[2];
    const weir_module_part *module; /* NULL: none, all copper */
    const weir_module_part *copper; /* below optical_from; NULL: none */
    weir_optical_from optical_from;
    double length_m[3];
    weir_routing routing;
    double efficiency; /* eta_transport; NAN: presets/transport.yaml by pattern */
    bool pfc;
    uint32_t size[3], twist[3][3];           /* torus */
    uint32_t groups, routers, global_cables; /* dragonfly */
    weir_cable_list list;                    /* of the CSV; owned by the scenario */
    /* circuits */
    weir_block block;
    weir_block_wiring wiring; /* RAILS: leaves of one rail, each rail with circuits of its own */
    const weir_module_part *circuit_module; /* at the ends of circuits; NULL: `module` */
    const weir_ocs_part *ocs;
    uint32_t ocs_planes, uplinks, spare;
    weir_circuit_design_kind design;
    weir_within within;        /* a phase */
    double switch_s, linkup_s; /* of the part unless overruled */
    double slot_s;             /* rotor */
    double light_share;        /* hybrid */
    weir_place place;
} weir_candidate;

typedef struct {
    double gpu_hour_usd, kwh_usd, pue, life_years, hours_per_year;
} weir_economics;

typedef struct {
    uint32_t device;
    double factor;
    weir_place place;
} weir_slow_entry;

typedef struct {
    const char *link;     /* name; both directions if "leaf 3 - spine 1" */
    double at_s, until_s; /* INFINITY: for good */
    weir_place place;
} weir_broken_entry;

typedef struct {
    const char *file; /* for errors */
    const char *name;
    uint64_t seed;
    weir_cluster cluster;
    uint32_t steps;
    weir_phase *phases;
    uint32_t phase_count;
    weir_slow_entry *slow;
    uint32_t slow_count;
    double jitter;
    weir_broken_entry *broken;
    uint32_t broken_count;
    weir_candidate *candidates;
    uint32_t candidate_count;
    weir_economics economics;
    weir_parts *parts;               /* owned */
    weir_accelerators *accelerators; /* owned */
    weir_arena *arena;               /* owns the rest */
} weir_fabric_scenario;

/* Errors name file, line, column, what was found and what was expected; for settings "--set KEY".
 * Files that it names are looked for beside it. *scenario is untouched on failure. Owned (clear).
 */
weir_code weir_fabric_scenario_read(const char *path, const weir_setting *settings,
                                    uint32_t setting_count, weir_fabric_scenario *scenario,
                                    weir_err *err);
/* The same of bytes (standard input, tests); name: what errors call them, and beside which files
 * are looked for. */
weir_code weir_fabric_scenario_parse(const char *name, const char *bytes, size_t n,
                                     const weir_setting *settings, uint32_t setting_count,
                                     weir_fabric_scenario *scenario, weir_err *err);
/* The scenario at path on the candidates of another one, for jobs that share a fabric. Where path
 * has candidates of its own, their names must be the same; so must nodes, devices and NICs. */
weir_code weir_fabric_scenario_read_mixed(const char *path, const char *candidates_path,
                                          const weir_setting *settings, uint32_t setting_count,
                                          weir_fabric_scenario *scenario, weir_err *err);
void weir_fabric_scenario_clear(weir_fabric_scenario *scenario); /* a zeroed one is fine */

const char *weir_candidate_kind_name(weir_candidate_kind kind);
const char *weir_traffic_pattern_name(weir_traffic_pattern pattern);

/* The page docs/reference/scenario.md, as the tables of the keys have it. */
void weir_fabric_scenario_describe(weir_text *page);

/* "file:line:column: " + text, WEIR_ERR_INPUT: for what is found wrong later. */
weir_code weir_fabric_reject(const weir_fabric_scenario *scenario, weir_place place, weir_err *err,
                             const char *fmt, ...) WEIR_PRINTF(4, 5);

#endif
