/* questions.h: what takes many plays: sweeps, questions turned round, mixes of jobs.
 *
 * The plays themselves are the caller's (weir_player): it reads the scenario with the settings that
 * it is given, plays it and says how long the step takes on each candidate. All results are in the
 * caller's arena.
 * Not here: one scenario as it is written (fabric_study.h). */
#ifndef WEIR_STUDY_QUESTIONS_H
#define WEIR_STUDY_QUESTIONS_H

#include "base/arena.h"
#include "scenario/settings.h"
#include "study/fabric_scenario.h"
#include "timeline/waits.h"

/* --- plays -------------------------------------------------------------------------------- */

typedef struct {
    const char *candidate;              /* its name */
    const char *refused;                /* why it was not played; NULL: it was */
    double step_s;                      /* NAN: refused */
    double wait_share[WEIR_WAIT_COUNT]; /* of the time of all devices */
} weir_play_row;

typedef struct {
    weir_play_row *rows; /* one for each candidate, in the order of the scenario */
    uint32_t count;
} weir_play;

typedef struct {
    const char *path; /* of the scenario; NULL: the one that the question is about */
    /* Of the scenario that the candidates are from; NULL: from path itself. */
    const char *candidates_path;
    const weir_setting *settings; /* after those that the user gave */
    uint32_t setting_count;
    uint32_t only; /* the one candidate that is asked for; others may be left out; WEIR_NONE: all */
} weir_play_wish;

typedef struct {
    void *context;
    weir_code (*play)(void *context, const weir_play_wish *wish, weir_arena *arena, weir_play *play,
                      weir_err *err);
} weir_player;

/* --- --sweep KEY=a,b,c -------------------------------------------------------------------- */

typedef struct {
    const char *key;
    const char **values;
    uint32_t count;
} weir_sweep_axis;

enum { WEIR_SWEEP_AXES = 8, WEIR_SWEEP_POINTS = 100000 };

/* Commas inside brackets, braces and quotes do not part values: "k=[1, 1],[1, 3]".
 * WEIR_ERR_USAGE: no key, no value, an empty value, a value twice. */
weir_code weir_sweep_parse(const char *text, weir_arena *arena, weir_sweep_axis *axis,
                           weir_err *err);

typedef struct {
    const weir_setting *settings; /* one for each axis */
    weir_play play;
} weir_sweep_point;

typedef struct {
    const weir_sweep_axis *axes;
    uint32_t axis_count;
    weir_sweep_point *points; /* the last axis goes round first */
    uint32_t count;
} weir_sweep;

/* Every combination. WEIR_ERR_USAGE: a key twice, more than WEIR_SWEEP_POINTS. */
weir_code weir_sweep_run(const weir_sweep_axis *axes, uint32_t axis_count,
                         const weir_player *player, weir_arena *arena, weir_sweep *sweep,
                         weir_err *err);

/* --- --find WHAT --lose P% ---------------------------------------------------------------- */

typedef enum {
    WEIR_FIND_OVERSUBSCRIPTION = 0, /* the most, of leaves; against 1:1 */
    WEIR_FIND_PORTS,                /* the fewest ends of circuits of a block; as it is written */
    WEIR_FIND_SWITCHING, /* the longest time to set circuits, link bring-up included; against 0 s */
    WEIR_FIND_COUNT
} weir_find_what;

/* "oversubscription", "ports", "switching". */
bool weir_find_what_find(weir_str name, weir_find_what *what);
const char *weir_find_what_name(weir_find_what what);
/* "2%", "2 %": 0.02; false: no percentage from 0 to 1000. */
bool weir_find_lose_parse(const char *text, double *share);
/* Whether that question has a meaning for such a candidate. */
bool weir_find_applies(weir_find_what what, weir_candidate_kind kind);

typedef struct {
    weir_find_what what;
    double lose_share; /* 0.02: 2 % */
    const weir_candidate
        *candidate; /* as it is written; its name, kind and upper oversubscription */
    uint32_t index; /* its number in the scenario */
} weir_find_question;

typedef enum {
    WEIR_FIND_INSIDE = 0, /* value keeps to the limit, the next one does not */
    WEIR_FIND_ALL,        /* every value that was tried keeps to it; value is the furthest */
    WEIR_FIND_NOTHING,    /* none does; value is the mildest that was tried */
} weir_find_end;

typedef struct {
    weir_find_what what;
    const char *candidate;
    weir_find_end end;
    double value;  /* a ratio, a number of ports, seconds */
    double step_s; /* with that value */
    double reference_s;
    double next_value, next_step_s; /* the first that breaks the limit; NAN: none was found */
    const char *next_refused;       /* why that cannot be built; NULL: it can, or there is none */
    uint32_t plays;
    const char *sentence;
} weir_find_answer;

/* Takes the step to get no faster on the way (more oversubscription, fewer ports, slower switches);
 * what is answered was played, and so was the next value. */
weir_code weir_find_search(const weir_find_question *question, const weir_player *player,
                           weir_arena *arena, weir_find_answer *answer, weir_err *err);

/* --- --mix a.yaml:0.6,b.yaml:0.4 ---------------------------------------------------------- */

typedef struct {
    const char *path;
    double weight; /* of all weights: they add up to 1 */
} weir_mix_job;

/* Weights are numbers above 0, of any sum. WEIR_ERR_USAGE: no weight, fewer than two jobs. */
weir_code weir_mix_parse(const char *text, weir_arena *arena, weir_mix_job **jobs, uint32_t *count,
                         weir_err *err);

typedef struct {
    const char *candidate;
    const char *refused; /* why, by the first job that it was refused for; NULL: it was played */
    double ratio; /* weighted mean over jobs of step ÷ the job's fastest step; NAN: refused */
    double wait_share[WEIR_WAIT_COUNT]; /* weighted means */
    const double *job_step_s;           /* by job */
} weir_mix_row;

typedef struct {
    weir_mix_row *rows;
    uint32_t count;
    uint32_t best; /* row of the smallest ratio, the first of equals; WEIR_NONE: all refused */
    const weir_mix_job *jobs;
    uint32_t job_count;
} weir_mix;

/* All jobs on the candidates of the first (weir_play_wish.candidates_path). */
weir_code weir_mix_run(const weir_mix_job *jobs, uint32_t job_count, const weir_player *player,
                       weir_arena *arena, weir_mix *mix, weir_err *err);

#endif
