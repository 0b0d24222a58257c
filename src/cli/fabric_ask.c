/* Questions that take many plays: what study/questions.h asks for is played here, and its answers
 * become rows of the result. */
#include "cli/fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
}

/* --- one play --- */

static weir_code keep(fabric_run_state *run, weir_result *result, weir_err *err)
{
    if (run->result_count == run->result_capacity) {
        uint32_t capacity = run->result_capacity > 0 ? 2 * run->result_capacity : 16;
        weir_result **results = realloc(run->results, capacity * sizeof(*results));
        if (!results)
            return no_memory(err);
        run->results = results;
        run->result_capacity = capacity;
    }
    run->results[run->result_count++] = result;
    return WEIR_OK;
}

static void fill_row(const weir_fabric_candidate_row *from, weir_play_row *row)
{
    *row = (weir_play_row){from->name, from->refused, NAN, {0}};
    if (from->refused)
        return;
    row->step_s = from->step_s;
    for (int i = 0; i < WEIR_WAIT_COUNT; i++)
        row->wait_share[i] =
            from->wall_ns > 0 ? (double)from->waits_ns[i] / (double)from->wall_ns : 0;
}

/* A row for each candidate of the scenario; those that were left out are refused. */
static weir_code fill_play(const weir_fabric_scenario *scenario, const weir_fabric_result *fabric,
                           uint32_t only, weir_arena *arena, weir_play *play, weir_err *err)
{
    uint32_t count = only == WEIR_NONE ? fabric->candidate_count : scenario->candidate_count;
    play->rows = weir_arena_alloc(arena, (size_t)count + 1, sizeof *play->rows);
    play->count = count;
    for (uint32_t i = 0; play->rows && i < count; i++)
        play->rows[i] = (weir_play_row){"", "it was not asked for", NAN, {0}};
    for (uint32_t i = 0; play->rows && i < fabric->candidate_count; i++)
        fill_row(&fabric->candidates[i], &play->rows[only == WEIR_NONE ? i : only]);
    return play->rows ? WEIR_OK : no_memory(err);
}

/* Where nothing can be built a question has its answer: each candidate is refused, and says why. */
static bool refuses_all(weir_result *result, const char *why)
{
    weir_fabric_result *fabric = result->fabric;
    if (!fabric || fabric->candidate_count == 0)
        return false;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (!row->refused && row->closes)
            return false;
        if (!row->refused)
            row->refused = weir_result_copy(result, weir_str_from(why));
    }
    fabric->recommended = WEIR_NONE;
    return true;
}

/* The study sees only the candidate that is asked for. */
static weir_code study_only(const fabric_run_state *run, weir_fabric_scenario *scenario,
                            uint32_t only, weir_result *result, weir_err *err)
{
    weir_fabric_options options = {.threads = run->options->threads, .budget = run->budget};
    weir_fabric_scenario shown = *scenario; /* borrows all of it */
    if (only != WEIR_NONE && only < shown.candidate_count) {
        shown.candidates += only;
        shown.candidate_count = 1;
    }
    weir_err inner = {0};
    weir_code code = weir_fabric_study(&shown, &options, result, NULL, NULL, &inner);
    if (code == WEIR_OK || refuses_all(result, inner.text))
        return WEIR_OK;
    if (err)
        *err = inner;
    return code;
}

static weir_code play_into(const fabric_run_state *run, const weir_play_wish *wish,
                           weir_arena *arena, weir_result *result, weir_play *play, weir_err *err)
{
    weir_fabric_scenario scenario = {0};
    weir_code code = fabric_read_scenario(run, wish, &scenario, err);
    if (code == WEIR_OK)
        code = study_only(run, &scenario, wish->only, result, err);
    if (code == WEIR_OK)
        code = fill_play(&scenario, result->fabric, wish->only, arena, play, err);
    weir_fabric_scenario_clear(&scenario);
    return code;
}

static weir_code play_wish(void *context, const weir_play_wish *wish, weir_arena *arena,
                           weir_play *play, weir_err *err)
{
    fabric_run_state *run = context;
    weir_err inner = {0};
    weir_result *result = weir_result_new();
    if (!result)
        return no_memory(err);
    weir_code code = play_into(run, wish, arena, result, play, &inner);
    if (code == WEIR_ERR_INPUT && run->options->sweep_count > 0) {
        /* A point that makes no sense is a row with its reason, not the end of the sweep. */
        result->fabric = NULL;
        weir_result_note(result, "%s", inner.text);
        *play = (weir_play){0};
        code = WEIR_OK;
    }
    if (code == WEIR_OK)
        code = keep(run, result, &inner);
    if (code == WEIR_OK)
        return WEIR_OK;
    weir_result_free(result);
    if (err)
        *err = inner;
    return code;
}

/* The result that answers stand in: a play of its own, of the scenario as it is. */
static weir_code play_base(fabric_run_state *run, const weir_play_wish *wish, weir_err *err)
{
    weir_fabric_scenario scenario = {0};
    run->result = weir_result_new();
    if (!run->result)
        return no_memory(err);
    weir_code code = fabric_read_scenario(run, wish, &scenario, err);
    if (code == WEIR_OK)
        code = study_only(run, &scenario, WEIR_NONE, run->result, err);
    run->result->seed = scenario.seed;
    weir_fabric_scenario_clear(&scenario);
    return code;
}

/* --- sweep --- */

static bool fill_point(fabric_run_state *run, const weir_sweep *sweep, uint32_t i,
                       weir_fabric_point *point)
{
    weir_result *r = run->result;
    const weir_result *at = run->results[i];
    bool refused = !at->fabric && at->note_count > 0;
    const char **values = weir_arena_alloc(r->arena, sweep->axis_count, sizeof *values);
    for (uint32_t k = 0; values && k < sweep->axis_count; k++) {
        values[k] = weir_result_copy(r, weir_str_from(sweep->points[i].settings[k].value));
        if (!values[k])
            return false;
    }
    *point = (weir_fabric_point){
        .values = values, .refused = refused ? at->notes[0] : NULL, .fabric = at->fabric};
    return values != NULL;
}

static weir_code fill_sweep(fabric_run_state *run, const weir_sweep *sweep, weir_err *err)
{
    weir_arena *arena = run->result->arena;
    weir_fabric_sweep *rows = weir_arena_alloc(arena, 1, sizeof *rows);
    if (!rows)
        return no_memory(err);
    rows->keys = weir_arena_alloc(arena, sweep->axis_count, sizeof *rows->keys);
    rows->points = weir_arena_alloc(arena, sweep->count, sizeof *rows->points);
    if (!rows->keys || !rows->points)
        return no_memory(err);
    for (uint32_t k = 0; k < sweep->axis_count; k++) {
        rows->keys[k] = weir_result_copy(run->result, weir_str_from(sweep->axes[k].key));
        if (!rows->keys[k])
            return no_memory(err);
    }
    for (uint32_t i = 0; i < sweep->count; i++)
        if (!fill_point(run, sweep, i, &rows->points[i]))
            return no_memory(err);
    rows->key_count = sweep->axis_count;
    rows->point_count = sweep->count;
    run->result->sweep = rows;
    return WEIR_OK;
}

/* The rest of the object is that of the first point that could be played. */
weir_code fabric_sweep(fabric_run_state *run, weir_err *err)
{
    const fabric_options *o = run->options;
    weir_player player = {run, play_wish};
    weir_sweep sweep = {0};
    weir_code code = weir_sweep_run(o->sweep, o->sweep_count, &player, o->arena, &sweep, err);
    if (code == WEIR_OK && (sweep.count == 0 || sweep.count != run->result_count))
        return weir_err_set(err, WEIR_ERR_INTERNAL, "a sweep of %u points was played %u times",
                            sweep.count, run->result_count);
    uint32_t first = 0;
    while (code == WEIR_OK && first < sweep.count && !run->results[first]->fabric)
        first++;
    if (code == WEIR_OK && first == sweep.count)
        return weir_err_set(err, WEIR_ERR_INPUT, "%s", run->results[0]->notes[0]);
    weir_play_wish wish = {.settings = code == WEIR_OK ? sweep.points[first].settings : NULL,
                           .setting_count = o->sweep_count,
                           .only = WEIR_NONE};
    run->point = wish.settings;
    run->point_count = wish.settings ? wish.setting_count : 0;
    if (code == WEIR_OK)
        code = play_base(run, &wish, err);
    return code == WEIR_OK ? fill_sweep(run, &sweep, err) : code;
}

/* --- find --- */

static void fill_find(fabric_run_state *run, const weir_find_answer *answer, weir_fabric_find *row)
{
    static const char *const ends[] = {"inside", "all", "nothing"};
    weir_result *r = run->result;
    *row = (weir_fabric_find){
        .what = weir_find_what_name(answer->what),
        .unit = answer->what == WEIR_FIND_SWITCHING ? "s" : "",
        .candidate = weir_result_copy(r, weir_str_from(answer->candidate)),
        .lose_share = run->options->lose_share,
        .end = ends[answer->end],
        .value = answer->value,
        .step_s = answer->step_s,
        .reference_s = answer->reference_s,
        .next_value = answer->next_value,
        .next_step_s = answer->next_step_s,
    };
    if (answer->next_refused)
        row->next_refused = weir_result_copy(r, weir_str_from(answer->next_refused));
    if (answer->sentence)
        row->sentence = weir_result_copy(r, weir_str_from(answer->sentence));
}

/* Why the candidate cannot be played as it is written; NULL: it was. */
static const char *refusal_of(const weir_fabric_result *fabric, const char *name)
{
    for (uint32_t i = 0; i < fabric->candidate_count; i++)
        if (strcmp(fabric->candidates[i].name, name) == 0)
            return fabric->candidates[i].refused;
    return NULL;
}

static weir_fabric_find refused_find(fabric_run_state *run, const char *name, const char *refused)
{
    return (weir_fabric_find){
        .what = weir_find_what_name(run->options->find),
        .unit = run->options->find == WEIR_FIND_SWITCHING ? "s" : "",
        .candidate = weir_result_copy(run->result, weir_str_from(name)),
        .lose_share = run->options->lose_share,
        .end = "nothing",
        .value = NAN,
        .step_s = NAN,
        .reference_s = NAN,
        .next_value = NAN,
        .next_step_s = NAN,
        .next_refused = refused,
        .sentence = refused ? weir_result_printf(run->result, "Refused: %s", refused) : NULL,
    };
}

static weir_fabric_find useless_find(fabric_run_state *run, const weir_candidate *candidate)
{
    weir_fabric_find find = refused_find(run, candidate->name, NULL);
    find.sentence =
        weir_result_printf(run->result, "'%s': there is no %s in a network of kind %s",
                           candidate->name, find.what, weir_candidate_kind_name(candidate->kind));
    return find;
}

static weir_code find_each(fabric_run_state *run, const weir_fabric_scenario *scenario,
                           weir_err *err)
{
    const fabric_options *o = run->options;
    weir_player player = {run, play_wish};
    weir_result *r = run->result;
    bool applies = false;
    weir_code code = WEIR_OK;
    r->finds = weir_arena_alloc(r->arena, (size_t)scenario->candidate_count + 1, sizeof *r->finds);
    if (!r->finds)
        return no_memory(err);
    for (uint32_t i = 0; i < scenario->candidate_count && code == WEIR_OK; i++) {
        weir_find_answer answer = {0};
        if (!fabric_wants(o, scenario->candidates[i].name))
            continue;
        if (!weir_find_applies(o->find, scenario->candidates[i].kind)) {
            r->finds[r->find_count++] = useless_find(run, &scenario->candidates[i]);
            continue;
        }
        applies = true;
        const char *refused = refusal_of(r->fabric, scenario->candidates[i].name);
        if (refused) {
            r->finds[r->find_count++] = refused_find(run, scenario->candidates[i].name, refused);
            continue;
        }
        weir_find_question question = {o->find, o->lose_share, &scenario->candidates[i], i};
        code = weir_find_search(&question, &player, o->arena, &answer, err);
        if (code == WEIR_OK)
            fill_find(run, &answer, &r->finds[r->find_count++]);
    }
    if (code == WEIR_OK && !applies)
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: no candidate has %s that could be looked for",
                            scenario->file, weir_find_what_name(o->find));
    return code;
}

weir_code fabric_find(fabric_run_state *run, weir_err *err)
{
    static const weir_play_wish all = {.only = 0}; /* positions are those of the file */
    weir_fabric_scenario scenario = {0};
    weir_code code = play_base(run, NULL, err);
    if (code == WEIR_OK)
        code = fabric_read_scenario(run, &all, &scenario, err);
    if (code == WEIR_OK)
        code = find_each(run, &scenario, err);
    weir_fabric_scenario_clear(&scenario);
    return code;
}

/* --- mix --- */

static weir_code fill_mix_jobs(weir_result *r, const weir_mix *mix, weir_fabric_mix *to)
{
    double *weights = weir_arena_alloc(r->arena, mix->job_count, sizeof *weights);
    to->jobs = weir_arena_alloc(r->arena, mix->job_count, sizeof *to->jobs);
    if (!weights || !to->jobs)
        return WEIR_ERR_MEMORY;
    for (uint32_t i = 0; i < mix->job_count; i++) {
        to->jobs[i] = weir_result_copy(r, weir_str_from(mix->jobs[i].path));
        weights[i] = mix->jobs[i].weight;
    }
    to->weights = weights;
    to->job_count = mix->job_count;
    return WEIR_OK;
}

static weir_code fill_mix_row(weir_result *r, const weir_mix *mix, const weir_mix_row *from,
                              weir_fabric_mix_row *row)
{
    row->name = weir_result_copy(r, weir_str_from(from->candidate));
    row->refused = from->refused ? weir_result_copy(r, weir_str_from(from->refused)) : NULL;
    row->ratio = from->ratio;
    for (int i = 0; i < WEIR_WAIT_COUNT; i++)
        row->wait_share[i] = from->wait_share[i];
    if (from->refused || !from->job_step_s)
        return row->name ? WEIR_OK : WEIR_ERR_MEMORY;
    double *steps = weir_arena_alloc(r->arena, mix->job_count, sizeof *steps);
    for (uint32_t k = 0; steps && k < mix->job_count; k++)
        steps[k] = from->job_step_s[k];
    row->job_step_s = steps;
    return row->name && steps ? WEIR_OK : WEIR_ERR_MEMORY;
}

static weir_code fill_mix(fabric_run_state *run, const weir_mix *mix, weir_err *err)
{
    weir_result *r = run->result;
    weir_fabric_mix *to = weir_arena_alloc(r->arena, 1, sizeof *to);
    if (!to || fill_mix_jobs(r, mix, to) != WEIR_OK)
        return no_memory(err);
    to->rows = weir_arena_alloc(r->arena, (size_t)mix->count + 1, sizeof *to->rows);
    if (!to->rows)
        return no_memory(err);
    for (uint32_t i = 0; i < mix->count; i++)
        if (fill_mix_row(r, mix, &mix->rows[i], &to->rows[i]) != WEIR_OK)
            return no_memory(err);
    to->count = mix->count;
    to->best = mix->best;
    r->mix = to;
    return WEIR_OK;
}

/* The rest of the object is that of the first job. */
weir_code fabric_mix(fabric_run_state *run, weir_err *err)
{
    const fabric_options *o = run->options;
    weir_player player = {run, play_wish};
    weir_mix mix = {0};
    weir_play_wish first = {.path = o->mix[0].path, .only = WEIR_NONE};
    weir_code code = play_base(run, &first, err);
    if (code == WEIR_OK)
        code = weir_mix_run(o->mix, o->mix_count, &player, o->arena, &mix, err);
    return code == WEIR_OK ? fill_mix(run, &mix, err) : code;
}
