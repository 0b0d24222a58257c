/* fabric_study.c: a scenario on each of its candidates, compared (fabric_study.h).
 *
 * Candidates are evaluated side by side, each with its own memory, and merged in their order; then
 * the recommended one is played once more for the ledger and the pictures. */
#include "study/fabric_study.h"

#include "base/text.h"
#include "base/thread.h"
#include "result/quantity.h"
#include "study/fabric_break_even.h"
#include "study/fabric_compare.h"
#include "study/fabric_judge.h"
#include "study/fabric_notes.h"
#include "study/fabric_ranking.h"
#include "study/fabric_values.h"
#include "study/sim_ledger.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const weir_fabric_scenario *scenario;
    const weir_fabric_options *options;
    weir_library *library;
    weir_fabric_evaluation *evaluations; /* by candidate */
    weir_arena **arenas;
    weir_code *codes;
    weir_err *errs;
    weir_result *result;
} study;

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the comparison of networks");
}

enum { OPERATIONS_MAX = 4 << 20 }; /* of a device in a run */

/* Computing and an exchange for each repetition in each step. */
static weir_code check_length(const weir_fabric_scenario *scenario, weir_err *err)
{
    double operations = 0;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < scenario->phase_count; i++) {
        operations += 2.0 * scenario->phases[i].times * scenario->steps;
        longest = scenario->phases[i].times > scenario->phases[longest].times ? i : longest;
    }
    const weir_phase *phase = &scenario->phases[longest];
    return operations <= OPERATIONS_MAX
               ? WEIR_OK
               : weir_fabric_reject(scenario, phase->place, err,
                                    "phase '%s': %u repetitions in each of %u steps; a device may "
                                    "have at most %d operations in a run, %.0f here",
                                    phase->name, phase->times, scenario->steps, OPERATIONS_MAX,
                                    operations);
}

/* What is wrong with the traffic is wrong for all candidates. */
static weir_code check(const weir_fabric_scenario *scenario, weir_err *err)
{
    weir_code code = WEIR_OK;
    if (scenario->candidate_count == 0 || scenario->phase_count == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: %u candidates and %u phases of traffic; one or more of each are "
                            "due",
                            scenario->file, scenario->candidate_count, scenario->phase_count);
    }
    for (uint32_t i = 0; i < scenario->phase_count && code == WEIR_OK; i++) {
        weir_traffic_groups groups;
        code = weir_traffic_group(scenario, i, &groups, err);
    }
    return code == WEIR_OK ? check_length(scenario, err) : code;
}

static weir_fabric_wish wish_for(const study *s, uint32_t candidate)
{
    return (weir_fabric_wish){.scenario = s->scenario,
                              .candidate = candidate,
                              .library = s->library,
                              .budget = s->options->budget};
}

static void evaluate_one(void *context, uint32_t candidate)
{
    study *s = context;
    weir_fabric_wish wish = wish_for(s, candidate);
    s->arenas[candidate] = weir_arena_new();
    s->codes[candidate] =
        s->arenas[candidate]
            ? weir_fabric_evaluate(&wish, s->options->details, s->arenas[candidate],
                                   &s->evaluations[candidate], &s->errs[candidate])
            : no_memory(&s->errs[candidate]);
}

static weir_code evaluate_all(study *s, weir_err *err)
{
    uint32_t count = s->scenario->candidate_count;
    weir_thread_for(count, s->options->threads, evaluate_one, s);
    for (uint32_t i = 0; i < count; i++) {
        if (s->codes[i] != WEIR_OK) {
            return weir_err_set(err, s->codes[i], "%s", s->errs[i].text);
        }
    }
    return WEIR_OK;
}

/* What waits for a link that works again waits like others on a link that is full. */
static void note_outage(study *s, const char *candidate, const weir_broken_entry *broken)
{
    weir_text text = {0};
    if (isinf(broken->until_s)) {
        return;
    }
    weir_text_printf(&text, "%s: '%s' carries nothing from ", candidate, broken->link);
    weir_quantity_seconds(&text, broken->at_s, 2);
    weir_text_add(&text, WEIR_STR(" to "));
    weir_quantity_seconds(&text, broken->until_s, 2);
    if (!text.failed) {
        weir_result_note(s->result, "%s; waiting for it counts as contention", text.p);
    }
    weir_text_clear(&text);
}

/* A broken link that none of them has is a mistake; one that some lack is told. */
static weir_code check_broken(study *s, weir_err *err)
{
    const weir_fabric_scenario *scenario = s->scenario;
    for (uint32_t i = 0; i < scenario->broken_count && i < 64; i++) {
        bool is_somewhere = false, was_played = false;
        for (uint32_t k = 0; k < scenario->candidate_count; k++) {
            bool has = s->evaluations[k].broken_found >> i & 1;
            bool played = !s->evaluations[k].row.refused;
            is_somewhere = is_somewhere || has;
            was_played = was_played || played;
            if (played && !has) {
                weir_result_note(s->result, "%s: has no link '%s' that could break",
                                 scenario->candidates[k].name, scenario->broken[i].link);
            } else if (played) {
                note_outage(s, scenario->candidates[k].name, &scenario->broken[i]);
            }
        }
        if (was_played && !is_somewhere) {
            return weir_fabric_reject(scenario, scenario->broken[i].place, err,
                                      "found link '%s', expected a name that a candidate's network "
                                      "has, such as 'leaf 0 -> spine 0'",
                                      scenario->broken[i].link);
        }
    }
    return WEIR_OK;
}

/* Time until a stall is no time of a step: where another candidate ends, those that do not are not
 * compared. */
static void refuse_stalled(study *s)
{
    bool one_ends = false;
    for (uint32_t i = 0; i < s->scenario->candidate_count; i++) {
        one_ends = one_ends || (!s->evaluations[i].row.refused && !s->evaluations[i].stalled);
    }
    for (uint32_t i = 0; i < s->scenario->candidate_count; i++) {
        weir_fabric_evaluation *e = &s->evaluations[i];
        if (e->stalled && one_ends) {
            e->row.refused = e->stalled;
        } else if (e->stalled) {
            weir_result_note(s->result, "%s: %s", s->scenario->candidates[i].name, e->stalled);
        }
    }
}

/* What never ends has no time; until here it was measured up to where it stops. */
static void forget_stalled(const study *s)
{
    for (uint32_t i = 0; i < s->scenario->candidate_count; i++) {
        weir_fabric_candidate_row *row = &s->result->fabric->candidates[i];
        if (s->evaluations[i].stalled) {
            row->step_s = row->band_low_s = row->band_high_s = row->joules_per_step = NAN;
            row->waiting_usd_per_year = row->waiting_hours_per_year = row->total_usd_per_year = NAN;
        }
    }
}

/* --- into the result --- */

static bool keep_text(weir_result *result, const char **text)
{
    if (*text) {
        *text = weir_result_copy(result, weir_str_from(*text));
        return *text != NULL;
    }
    return true;
}

static bool keep_row(weir_result *result, weir_fabric_candidate_row *row)
{
    weir_bill_row *bill =
        weir_arena_alloc(result->arena, (size_t)row->bill_count + 1, sizeof *bill);
    bool kept = bill != NULL;
    for (uint32_t i = 0; kept && i < row->bill_count; i++) {
        bill[i] = row->bill[i];
        kept = keep_text(result, &bill[i].item) && keep_text(result, &bill[i].part) &&
               keep_text(result, &bill[i].place) && keep_text(result, &bill[i].price_source);
    }
    row->bill = bill;
    return kept && keep_text(result, &row->name) && keep_text(result, &row->kind) &&
           keep_text(result, &row->refused) && keep_text(result, &row->band_basis) &&
           keep_text(result, &row->failure_part) && keep_text(result, &row->stoppers) &&
           keep_text(result, &row->bottleneck.link) && keep_text(result, &row->bottleneck.tier);
}

static weir_code merge(study *s, weir_err *err)
{
    uint32_t count = s->scenario->candidate_count;
    weir_fabric_result *fabric = weir_arena_alloc(s->result->arena, 1, sizeof *fabric);
    if (!fabric) {
        return no_memory(err);
    }
    fabric->candidates = weir_arena_alloc(s->result->arena, count, sizeof *fabric->candidates);
    fabric->scenario_name = weir_result_copy(s->result, weir_str_from(s->scenario->name));
    fabric->break_even = (weir_fabric_break_even){NAN, NAN, NAN, NULL};
    fabric->recommended = WEIR_NONE;
    if (!fabric->candidates || !fabric->scenario_name) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        fabric->candidates[i] = s->evaluations[i].row;
        if (!keep_row(s->result, &fabric->candidates[i])) {
            return no_memory(err);
        }
    }
    fabric->candidate_count = count;
    s->result->fabric = fabric;
    return WEIR_OK;
}

/* --- the recommended candidate --- */

/* Circuits that the traffic is judged by: those of the best candidate with circuits; without one,
 * of a Palomar (presets/ocs) that joins the NICs of nodes. */
static weir_judge_ground ground_of(const study *s)
{
    const weir_cluster *cluster = &s->scenario->cluster;
    uint32_t light = weir_fabric_best_light(s->result->fabric);
    weir_judge_ground ground = {
        .rule = {.bytes_per_s = cluster->nic ? cluster->nic->bytes_per_s : 0,
                 .ports = cluster->nics}};
    const weir_ocs_part *ocs = weir_parts_ocs(s->scenario->parts, WEIR_STR("palomar"));
    if (ocs) {
        ground.rule.delay_s = ocs->switch_s + (isnan(ocs->linkup_s) ? 0 : ocs->linkup_s);
    }
    if (light != WEIR_NONE && s->evaluations[light].blocks) {
        ground.blocks = s->evaluations[light].blocks;
        ground.rule.ports = s->evaluations[light].uplinks;
        ground.rule.bytes_per_s = s->evaluations[light].circuit_bytes_per_s > 0
                                      ? s->evaluations[light].circuit_bytes_per_s
                                      : ground.rule.bytes_per_s;
        ground.rule.delay_s = s->evaluations[light].circuit_s;
    }
    return ground;
}

static weir_code read_ledger(study *s, const weir_fabric_play *play, weir_lines *lines,
                             weir_err *err)
{
    weir_ledger_options options = {.threads = s->options->threads,
                                   .segments = s->options->segments};
    weir_fabric_result *fabric = s->result->fabric;
    weir_code code =
        weir_sim_ledger_build(&play->spmd, &play->run, &options, s->result, lines, err);
    s->result->fabric = fabric;
    s->result->command = "fabric";
    return code;
}

static weir_code play_best(study *s, uint32_t best, weir_spmd_run *run, weir_lines *lines,
                           weir_err *err)
{
    weir_fabric_wish wish = wish_for(s, best);
    weir_fabric_play play = {0};
    wish.link_series = s->options->link_series;
    weir_code code = weir_fabric_play_run(&wish, &play, err);
    if (code == WEIR_OK && play.refused) {
        code = weir_err_set(err, WEIR_ERR_INTERNAL, "a candidate that was played is refused: %s",
                            play.refused);
    }
    if (code == WEIR_OK) {
        code = read_ledger(s, &play, lines, err);
    }
    if (code == WEIR_OK) {
        weir_judge_input input = {s->scenario, ground_of(s), &play};
        code = weir_fabric_judge(&input, s->result, err);
    }
    if (code == WEIR_OK && run) {
        *run = play.run;
        play.run = (weir_spmd_run){0};
    }
    if (code == WEIR_OK && s->options->details) {
        code = weir_fabric_find_gains(s->scenario, &play, s->result, best, err);
    }
    if (code == WEIR_OK && s->options->details) {
        code = weir_fabric_find_values(s->scenario, &play, s->result, best, err);
    }
    weir_fabric_play_clear(&play);
    return code;
}

/* The first one's reason, with the place of what is wrong. */
static weir_code refuse_all(const study *s, weir_err *err)
{
    const weir_fabric_candidate_row *row = s->result->fabric->candidates;
    const char *why = row->refused ? row->refused : "its light does not arrive";
    if (weir_str_starts(weir_str_from(why), WEIR_STR("candidate '"))) {
        return weir_fabric_reject(s->scenario, s->scenario->candidates[0].place, err,
                                  "no candidate can be built: %s", why);
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "%s: no candidate can be built: %s: %s",
                        s->scenario->file, row->name, why);
}

static weir_code compare(study *s, weir_spmd_run *run, weir_lines *lines, weir_err *err)
{
    uint32_t best = weir_fabric_best(s->result->fabric);
    if (best == WEIR_NONE) {
        return refuse_all(s, err);
    }
    weir_code code = play_best(s, best, run, lines, err);
    if (code == WEIR_OK) {
        code = weir_fabric_compare(s->result, err);
    }
    if (code == WEIR_OK) {
        code = weir_fabric_find_flips(s->scenario, s->evaluations, s->result, err);
    }
    if (code == WEIR_OK && s->options->details) {
        code = weir_fabric_find_break_even(s->scenario, s->library, s->options->threads, s->result,
                                           err);
    }
    if (code == WEIR_OK) {
        code = weir_fabric_tell_unpriced(s->scenario, s->evaluations, s->result, err);
    }
    return code == WEIR_OK ? weir_fabric_write_notes(s->scenario, s->evaluations, s->result, err)
                           : code;
}

static weir_code reserve(study *s, weir_err *err)
{
    uint32_t count = s->scenario->candidate_count;
    s->evaluations = calloc(count, sizeof *s->evaluations);
    s->arenas = calloc(count, sizeof *s->arenas);
    s->codes = calloc(count, sizeof *s->codes);
    s->errs = calloc(count, sizeof *s->errs);
    return s->evaluations && s->arenas && s->codes && s->errs ? WEIR_OK : no_memory(err);
}

static void release(study *s)
{
    for (uint32_t i = 0; s->arenas && i < s->scenario->candidate_count; i++) {
        weir_arena_free(s->arenas[i]);
    }
    free(s->evaluations);
    free(s->arenas);
    free(s->codes);
    free(s->errs);
    weir_library_free(s->library);
}

weir_code weir_fabric_study(const weir_fabric_scenario *scenario,
                            const weir_fabric_options *options, weir_result *result,
                            weir_spmd_run *run, weir_lines *lines, weir_err *err)
{
    study s = {.scenario = scenario, .options = options, .result = result};
    weir_code code = check(scenario, err);
    if (code != WEIR_OK) {
        return code;
    }
    code = reserve(&s, err);
    if (code == WEIR_OK && scenario->cluster.library) {
        code = weir_library_open(scenario->cluster.library, &s.library, err);
    }
    if (code == WEIR_OK) {
        code = evaluate_all(&s, err);
    }
    if (code == WEIR_OK) {
        code = check_broken(&s, err);
        refuse_stalled(&s);
    }
    if (code == WEIR_OK) {
        code = merge(&s, err);
    }
    if (code == WEIR_OK) {
        code = compare(&s, run, lines, err);
    }
    if (code == WEIR_OK) {
        forget_stalled(&s);
    }
    release(&s);
    return code;
}
