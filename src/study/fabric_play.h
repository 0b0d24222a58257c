/* fabric_play.h: one candidate of a scenario, built, planned and played.
 *
 * A wish says what is different from the scenario as it is written: links of a tier that carry
 * more, a dead part, traffic that changes. What the candidate itself cannot do is no error: then
 * `refused` says why and nothing was played.
 *
 * Not here: what it costs (fabric_cost.h), comparisons (fabric_compare.h). */
#ifndef WEIR_STUDY_FABRIC_PLAY_H
#define WEIR_STUDY_FABRIC_PLAY_H

#include "study/fabric_program.h"

typedef struct weir_fabric_play weir_fabric_play;

typedef struct {
    const weir_fabric_scenario *scenario;
    uint32_t candidate;
    const weir_library *library; /* NULL: closed forms */
    double changing_share;       /* of light's repetitions (fabric_program.h) */
    bool link_series;
    weir_budget *budget;
    /* NULL, or a play that is zeroed at first: what was built and planned for this wish goes there
     * when it is cleared, and comes from there for the next wish. That may differ in changing_share
     * only, which must be above 0 in both. The caller clears it in the end. */
    weir_fabric_play *kept;
} weir_fabric_wish;

struct weir_fabric_play {
    const char *refused; /* NULL: it was played; lives in the network's arena or is static */
    weir_candidate_network network;
    weir_traffic_program program;
    weir_spmd spmd;         /* what was played; points into this struct's other members */
    weir_spmd_stage *stage; /* of the present plans */
    weir_spmd_run run;
    double step_s;
    uint64_t broken_found;    /* bits: entries of the scenario's broken links that it has */
    weir_arena *arena;        /* owns what spmd points to */
    weir_fabric_play *keeper; /* gets it all when it is cleared; NULL: nobody */
};

/* Fills a zeroed play. Errors: memory, limits, bugs. */
weir_code weir_fabric_play_run(const weir_fabric_wish *wish, weir_fabric_play *play, weir_err *err);
/* Only builds and plans: what weir_fabric_play_again needs. */
weir_code weir_fabric_play_prepare(const weir_fabric_wish *wish, weir_fabric_play *play,
                                   weir_err *err);
/* Plays the prepared program once more on the layout's present net; the run from before is gone. */
weir_code weir_fabric_play_again(weir_fabric_play *play, weir_err *err);
/* Plans once more (routes avoid what is dead), then plays. */
weir_code weir_fabric_play_replan(const weir_fabric_wish *wish, weir_fabric_play *play,
                                  weir_err *err);
void weir_fabric_play_clear(weir_fabric_play *play); /* a zeroed one is fine */

/* A copy of the scenario whose candidates and phases may be changed; the rest is borrowed. */
typedef struct {
    weir_fabric_scenario scenario;
    weir_arena *arena;
} weir_fabric_variant;

weir_code weir_fabric_variant_make(const weir_fabric_scenario *scenario,
                                   weir_fabric_variant *variant, weir_err *err);
void weir_fabric_variant_clear(weir_fabric_variant *variant);

/* fabric_disturb.c: slow devices, jitter and broken links of the scenario, for this layout. Broken
 * links that this network does not have are left out: bit i of *found tells of entry i (of the
 * first 64). */
weir_code weir_fabric_disturb(const weir_fabric_scenario *scenario, const weir_layout *layout,
                              weir_arena *arena, weir_spmd *spmd, uint64_t *found, weir_err *err);

#endif
