/* fabric_candidate.h: from what a scenario says of a candidate to a network that can be played on.
 *
 * A candidate becomes a layout (one road of packets, one of light, or one for each setting of the
 * circuits), the road and the setting that each phase takes, and what must be bought for it. What
 * cannot be built (too few ports, light that does not arrive, devices that nothing joins) is no
 * error of the program: `refused` says why, and the candidate is not played.
 *
 * Circuits join blocks: NICs of a rail, leaves, or pods; designs are made from the demand between
 * blocks (docs/model/circuits.md). Not here: prices (bill.h), playing (fabric_study.h). */
#ifndef WEIR_STUDY_FABRIC_CANDIDATE_H
#define WEIR_STUDY_FABRIC_CANDIDATE_H

#include "fabric/layout.h"
#include "study/fabric_scenario.h"

/* Who tells how much a phase sends: adds the bytes of one period (all its repetitions) between
 * blocks to demand; block_of_device is below demand->n. */
typedef struct {
    const void *context;
    weir_code (*between)(const void *context, uint32_t phase, const uint32_t *block_of_device,
                         weir_demand *demand, weir_err *err);
} weir_candidate_demand;

/* One of the settings of the circuits that a phase takes one after the other, or what goes on
 * packets beside them all. */
typedef struct {
    weir_road road;
    uint32_t circuits;   /* setting of the optical switches, from 1; 0: packets */
    const uint32_t *to;  /* by block: whom its circuits lead to; NULL: to all (packets) */
    const double *share; /* by block (to NULL: by pair of blocks): of the bytes between the two */
    bool has_inside;     /* and what stays inside blocks */
} weir_phase_part;

typedef struct {
    weir_road road;
    bool is_light;
    uint32_t circuits;   /* setting of the optical switches, from 1; 0: any */
    double efficiency;   /* eta_transport: share of the fluid rates that packets reach */
    bool has_pauses;     /* lossless: an incast holds up all that leaves its senders' ports */
    const char *because; /* why this road, one clause; NULL: there is no other */
    /* Circuits are set within the phase: what each setting carries; road and circuits are those of
     * the first. 0: one road takes it all. */
    const weir_phase_part *parts;
    uint32_t part_count, blocks;
    const uint32_t *block_of_device;
} weir_phase_road;

typedef struct {
    const char *place; /* "leaf", "spine", "core", "router" */
    const weir_switch_part *part;
    uint64_t count;
    uint64_t ports; /* with a cable in them, of all */
} weir_switch_need;

typedef struct {
    const char *place; /* "nic to leaf", "leaf to spine", "block to ocs", ... */
    weir_tier tier;
    bool is_optical;
    bool to_ocs;                    /* one end at an optical switch: no module there */
    const weir_module_part *module; /* at each end (to_ocs: at one); NULL: not named */
    uint64_t cables;
    uint64_t modules;     /* of all; more than one an end where a module is slower than the port */
    double length_m;      /* of one */
    double bytes_per_s;   /* of one, one direction */
    uint32_t fibres_each; /* strands: 1 with circulators, else 2; 0: copper */
} weir_cable_need;

/* What light passes on the longest circuit. */
typedef struct {
    uint32_t ocs_passes, connectors, circulators;
    double fibre_m;
    double loss_db, budget_db; /* NAN: a figure of a part is not known */
    bool closes;               /* true where a figure is not known, which `note` then says */
    const char *note;          /* NULL: nothing to say */
} weir_light_path;

enum { WEIR_NEED_SWITCHES = 8, WEIR_NEED_CABLES = 8 };

typedef struct {
    const char *refused; /* NULL: it can be played; else the rest is zero, layout NULL */
    weir_place place;    /* where the candidate is written */
    weir_layout *layout; /* owned, sealed */
    weir_phase_road *phases;
    uint32_t phase_count;
    double circuit_s; /* to set circuits: switching and link bring-up; 0: none */
    uint32_t resets;  /* of circuits in one period */
    uint32_t designs; /* settings that differ */

    weir_switch_need switches[WEIR_NEED_SWITCHES];
    weir_cable_need cables[WEIR_NEED_CABLES];
    uint32_t switch_rows, cable_rows;
    const weir_nic_part *nic; /* NULL: none */
    uint64_t nics;
    const weir_ocs_part *ocs; /* NULL: none */
    uint64_t ocs_count;
    uint64_t ocs_ports;       /* with a fibre in them, of all */
    uint64_t ocs_spare_ports; /* the rest */
    uint32_t blocks, uplinks; /* uplinks: circuits' ends of each block on each of its networks */
    weir_light_path light;    /* zero: no circuits */

    /* What was assumed or left out, one sentence each, for the report. */
    const char *notes[8];
    uint32_t note_count;
    weir_arena *arena;               /* owns the texts and phases */
    struct candidate_dead *dead;     /* what weir_candidate_network_fail broke; NULL: refused */
    struct candidate_lights *lights; /* which circuits are on which optical switch; NULL: none */
} weir_candidate_network;

/* demand may be NULL for candidates without circuits. Owned (clear). Errors are those of memory;
 * what is wrong with the candidate itself (or found so by `between`) is in network->refused
 * ("candidate 'NAME': ..."). What more bandwidth would bring: weir_layout_scale and
 * weir_layout_seal on the layout. */
weir_code weir_candidate_network_build(const weir_fabric_scenario *scenario, uint32_t candidate,
                                       const weir_candidate_demand *demand,
                                       weir_candidate_network *network, weir_err *err);
void weir_candidate_network_clear(weir_candidate_network *network); /* a zeroed one is fine */

/* One part of the network, the first of its kind; by symmetry any does about the same harm. */
typedef enum {
    WEIR_DEAD_TOP_SWITCH = 0, /* a core; a spine where there are no cores */
    WEIR_DEAD_LEAF,
    WEIR_DEAD_OCS,
    WEIR_DEAD_NIC_LINK,
    WEIR_DEAD_KIND_COUNT
} weir_dead_kind;

/* Its links are dead from now on: routes avoid them. *name: of the part ("spine 0"), good as long
 * as the network. false: the network has none (or only one way without it would be left). Only one
 * part at a time: repairs the one before. */
bool weir_candidate_network_fail(weir_candidate_network *network, weir_dead_kind kind,
                                 const char **name);
void weir_candidate_network_repair(weir_candidate_network *network);

#endif
