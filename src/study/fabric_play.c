/* fabric_play.c: builds, plans and plays a candidate (fabric_play.h). */
#include "study/fabric_play.h"

#include <string.h>

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a candidate");
}

/* One period of a phase: all its repetitions. */
static weir_code period_between(const void *context, uint32_t phase,
                                const uint32_t *block_of_device, weir_demand *demand, weir_err *err)
{
    const weir_fabric_scenario *scenario = context;
    return weir_traffic_between(scenario, phase, block_of_device, scenario->phases[phase].times,
                                demand, err);
}

/* What is wrong with the candidate becomes its refusal; everything else is an error. */
static weir_code refuse(weir_fabric_play *play, weir_code code, const weir_err *found,
                        weir_err *err)
{
    if (code != WEIR_ERR_INPUT && code != WEIR_ERR_LIMIT) {
        return code == WEIR_OK ? code : weir_err_set(err, code, "%s", found->text);
    }
    play->refused = weir_arena_copy(play->arena, weir_str_from(found->text));
    return play->refused ? WEIR_OK : no_memory(err);
}

static weir_code plan(const weir_fabric_wish *wish, weir_fabric_play *play, weir_err *err)
{
    weir_program_network network = {
        .scenario = wish->scenario,
        .layout = play->network.layout,
        .library = wish->library,
        .roads = play->network.phases,
        .changing_share = wish->changing_share,
    };
    return weir_traffic_program_build(&network, &play->program, err);
}

static weir_code make_spmd(const weir_fabric_wish *wish, weir_fabric_play *play, weir_err *err)
{
    const weir_fabric_scenario *scenario = wish->scenario;
    uint32_t devices = weir_traffic_devices(scenario);
    uint32_t *node_of_device = weir_arena_alloc(play->arena, devices, sizeof *node_of_device);
    if (!node_of_device) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < devices; i++) {
        node_of_device[i] = i / scenario->cluster.devices;
    }
    play->spmd = (weir_spmd){
        .net = weir_layout_net(play->network.layout),
        .devices = devices,
        .node_of_device = node_of_device,
        .programs = &play->program.program,
        .program_count = 1,
        .exchanges = play->program.exchanges,
        .exchange_count = play->program.exchange_count,
        .circuit_s = play->network.circuit_s,
        .circuits_return = true,
        .link_series = wish->link_series,
        .budget = wish->budget,
    };
    return weir_fabric_disturb(scenario, play->network.layout, play->arena, &play->spmd,
                               &play->broken_found, err);
}

weir_code weir_fabric_play_prepare(const weir_fabric_wish *wish, weir_fabric_play *play,
                                   weir_err *err)
{
    weir_err found = {0};
    weir_candidate_demand demand = {wish->scenario, period_between};
    play->arena = weir_arena_new();
    if (!play->arena) {
        return no_memory(err);
    }
    weir_code code = weir_candidate_network_build(wish->scenario, wish->candidate, &demand,
                                                  &play->network, &found);
    if (code != WEIR_OK) {
        return refuse(play, code, &found, err);
    }
    if (play->network.refused) {
        play->refused = play->network.refused;
        return WEIR_OK;
    }
    code = plan(wish, play, &found);
    return code == WEIR_OK ? make_spmd(wish, play, err) : refuse(play, code, &found, err);
}

/* What the ledger of traces would say in words about files. A stalled run ends where it stood. */
static weir_code check_length(const weir_spmd_run *run, weir_err *err)
{
    if (run->end_ns <= 0 && run->stalled_by == WEIR_NONE) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "nothing in traffic.phases takes time: expected computing, or bytes "
                            "that go from one device to another");
    }
    return WEIR_OK;
}

weir_code weir_fabric_play_again(weir_fabric_play *play, weir_err *err)
{
    weir_spmd_run run = {0};
    play->spmd.net = weir_layout_net(play->network.layout);
    play->spmd.exchanges = play->program.exchanges;
    weir_code code = weir_spmd_play_on(&play->spmd, &play->stage, &run, err);
    code = code == WEIR_OK ? check_length(&run, err) : code;
    if (code != WEIR_OK) {
        weir_spmd_run_clear(&run);
    } else {
        uint32_t ops = play->program.program.count;
        uint32_t steps = ops ? play->program.ops[ops - 1].step + 1 : 1;
        weir_spmd_run_clear(&play->run);
        play->run = run;
        play->step_s = run.end_s / steps;
    }
    return code;
}

weir_code weir_fabric_play_replan(const weir_fabric_wish *wish, weir_fabric_play *play,
                                  weir_err *err)
{
    weir_err found = {0};
    weir_spmd_stage_free(play->stage);
    play->stage = NULL;
    weir_traffic_program_clear(&play->program);
    play->refused = NULL;
    weir_code code = plan(wish, play, &found);
    if (code != WEIR_OK) {
        return refuse(play, code, &found, err);
    }
    play->spmd.programs = &play->program.program;
    play->spmd.exchange_count = play->program.exchange_count;
    return weir_fabric_play_again(play, err);
}

/* Which of its two exchanges each repetition on light that changes takes. */
static void change_share(weir_fabric_play *play, double changing_share, uint64_t *repetitions)
{
    const weir_traffic_program *program = &play->program;
    for (uint32_t i = 0; i < program->program.count; i++) {
        weir_program_op *op = &program->ops[i];
        if (op->kind != WEIR_STEP_EXCHANGE) {
            continue;
        }
        uint32_t phase = program->phase_of_exchange[op->exchange], first = op->exchange;
        while (first > 0 && program->phase_of_exchange[first - 1] == phase) {
            first--;
        }
        if (!program->phases[phase].changes) {
            continue; /* one exchange, or parts in a row */
        }
        bool anew = weir_program_is_anew(changing_share, repetitions[phase]);
        repetitions[phase]++;
        op->exchange = first + (anew ? 1 : 0);
    }
}

/* What was kept moves here. */
static weir_code take_over(const weir_fabric_wish *wish, weir_fabric_play *play, weir_err *err)
{
    *play = *wish->kept;
    *wish->kept = (weir_fabric_play){0};
    if (play->refused) {
        return WEIR_OK;
    }
    play->spmd.programs = &play->program.program;
    uint64_t *repetitions =
        weir_arena_alloc(play->arena, wish->scenario->phase_count, sizeof *repetitions);
    if (!repetitions) {
        return no_memory(err);
    }
    change_share(play, wish->changing_share, repetitions);
    return WEIR_OK;
}

weir_code weir_fabric_play_run(const weir_fabric_wish *wish, weir_fabric_play *play, weir_err *err)
{
    bool is_kept = wish->kept && wish->kept->arena;
    weir_code code =
        is_kept ? take_over(wish, play, err) : weir_fabric_play_prepare(wish, play, err);
    play->keeper = wish->kept;
    return code == WEIR_OK && !play->refused ? weir_fabric_play_again(play, err) : code;
}

void weir_fabric_play_clear(weir_fabric_play *play)
{
    weir_fabric_play *keeper = play->keeper;
    weir_spmd_run_clear(&play->run);
    if (keeper) {
        play->keeper = NULL;
        *keeper = *play;
    } else {
        weir_spmd_stage_free(play->stage);
        weir_traffic_program_clear(&play->program);
        weir_candidate_network_clear(&play->network);
        weir_arena_free(play->arena);
    }
    *play = (weir_fabric_play){0};
}

weir_code weir_fabric_variant_make(const weir_fabric_scenario *scenario,
                                   weir_fabric_variant *variant, weir_err *err)
{
    weir_fabric_variant made = {.scenario = *scenario, .arena = weir_arena_new()};
    size_t phases = scenario->phase_count, candidates = scenario->candidate_count;
    if (made.arena) {
        made.scenario.phases =
            weir_arena_alloc(made.arena, phases + 1, sizeof *made.scenario.phases);
        made.scenario.candidates =
            weir_arena_alloc(made.arena, candidates + 1, sizeof *made.scenario.candidates);
    }
    if (!made.arena || !made.scenario.phases || !made.scenario.candidates) {
        weir_arena_free(made.arena);
        return no_memory(err);
    }
    if (phases) {
        memcpy(made.scenario.phases, scenario->phases, phases * sizeof *scenario->phases);
    }
    if (candidates) {
        memcpy(made.scenario.candidates, scenario->candidates,
               candidates * sizeof *scenario->candidates);
    }
    *variant = made;
    return WEIR_OK;
}

void weir_fabric_variant_clear(weir_fabric_variant *variant)
{
    weir_arena_free(variant->arena);
    *variant = (weir_fabric_variant){0};
}
