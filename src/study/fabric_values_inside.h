/* fabric_values_inside.h: the values of links between the file that finds them and the one that
 * keeps those that are worth most. */
#ifndef WEIR_STUDY_FABRIC_VALUES_INSIDE_H
#define WEIR_STUDY_FABRIC_VALUES_INSIDE_H

#include "study/fabric_values.h"

enum { KINDS_MAX = 64, SHOWN_MAX = 10 };

/* Links alike, both directions of their cables. */
typedef struct {
    weir_link_ends ends;
    weir_tier tier;
    double bytes_per_s;
    bool is_circuit;
    uint32_t count;
    weir_link_id best;  /* that one of them which is worth most */
    double best_s;      /* what is gained by it */
    double structure_s; /* by all, as the structure says */
    double gain_s, loss_s;
} link_kind;

/* One of the links that are worth most by themselves. */
typedef struct {
    weir_link_id link;
    double gain_s, loss_s;
} single_link;

typedef struct {
    const weir_layout *layout;
    const weir_net *net;
    uint32_t links;
    link_kind kinds[KINDS_MAX];
    uint32_t kind_count;
    uint8_t *kind_of; /* by link; KINDS_MAX: none */
    double *value;    /* by link, of one round */
    double *seconds;  /* by link, of a step */
    double *pace_s;   /* by link, of a step: while the pace hangs on it */
    single_link singles[SHOWN_MAX];
    uint32_t single_count; /* 0: not chosen yet */
    /* of the exchange that is looked at */
    weir_fluid *fluid;
    double *gain;      /* by body id */
    weir_body_id *ids; /* of the round, in order */
    const weir_body **bodies;
    uint32_t body_count, body_room;
    double times; /* of its rounds in a step, as far as they are exposed */
} link_values;

weir_code values_no_memory(weir_err *err);

/* --- fabric_values_keep.c --- */

/* The links to be looked at alone: by the slope, as for kinds; ties: the first. */
void values_choose_singles(link_values *v);
/* Into values and singles of result->fabric. */
weir_code values_keep_kinds(link_values *v, weir_result *result, weir_err *err);
weir_code values_keep_singles(const link_values *v, double step_s, weir_result *result,
                              weir_err *err);

#endif
