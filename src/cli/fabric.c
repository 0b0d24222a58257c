#include "cli/fabric.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "report/fabric_csv.h"
#include "report/fabric_questions.h"
#include "report/fabric_text.h"
#include "report/nccl_text.h"
#include "result/json.h"

#include <stdlib.h>
#include <string.h>

static void run_clear(fabric_run_state *run)
{
    weir_result_free(run->result);
    for (uint32_t i = 0; i < run->result_count; i++)
        weir_result_free(run->results[i]);
    free(run->results);
    weir_lines_clear(&run->lines);
    weir_spmd_run_clear(&run->played);
    weir_budget_free(run->budget);
    weir_text_clear(&run->input);
}

/* The scenario on each of its candidates. */
static weir_code compare(fabric_run_state *run, weir_err *err)
{
    const fabric_options *o = run->options;
    weir_fabric_scenario scenario = {0};
    weir_fabric_options options = {
        .threads = o->threads,
        .details = true,
        .link_series = o->perfetto || o->series_links,
        .segments = o->series_timeline,
        .budget = run->budget,
    };
    run->result = weir_result_new();
    if (!run->result)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    weir_code code = fabric_read_scenario(run, NULL, &scenario, err);
    if (code == WEIR_OK)
        code = weir_fabric_study(&scenario, &options, run->result, &run->played, &run->lines, err);
    run->result->seed = scenario.seed;
    if (code == WEIR_OK && options.link_series)
        code = fabric_note_links(run, &scenario, err);
    weir_fabric_scenario_clear(&scenario);
    return code;
}

static weir_code play(fabric_run_state *run, weir_err *err)
{
    const fabric_options *o = run->options;
    if (o->sweep_count > 0)
        return fabric_sweep(run, err);
    if (o->finds)
        return fabric_find(run, err);
    if (o->mix_count > 0)
        return fabric_mix(run, err);
    return o->compare ? fabric_compare(run, err) : compare(run, err);
}

static weir_code answer(fabric_run_state *run, progress *p, weir_err *err)
{
    const fabric_options *o = run->options;
    progress_stage(p, "reading");
    run->budget = weir_budget_new(o->max_memory_bytes);
    if (!run->budget)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    weir_code code = fabric_read_input(run, err);
    progress_stage(p, "playing");
    if (code == WEIR_OK)
        code = play(run, err);
    if (code == WEIR_OK)
        code = fabric_note_scenario(run, run->result, err);
    progress_stage(p, "writing");
    if (code == WEIR_OK && o->bom)
        code = fabric_write_bills(run, err);
    if (code == WEIR_OK && o->perfetto)
        code = fabric_write_picture(run, err);
    return code;
}

static weir_code write_text(weir_text *out, const fabric_run_state *run, weir_err *err)
{
    const fabric_options *o = run->options;
    bool colour = output_wants_colour();
    if (o->sweep_count > 0)
        return weir_report_sweep(out, run->result, colour, err);
    if (o->finds)
        return weir_report_find(out, run->result, colour, err);
    if (o->mix_count > 0)
        return weir_report_mix(out, run->result, colour, err);
    if (o->compare)
        return weir_report_compared(out, run->result, colour, err);
    weir_fabric_text_options options = {.traffic = o->traffic, .colour = colour};
    return weir_report_fabric(out, run->result, &options, err);
}

static weir_code print_result(fabric_run_state *run, weir_err *err)
{
    const fabric_options *o = run->options;
    weir_text out = {0};
    weir_code code = WEIR_OK;
    run->result->with_links = o->series_links;
    if (o->series_timeline)
        output_show_timeline(run->result, &run->played, &run->lines);
    if (o->json)
        code = weir_result_json(&out, run->result, err);
    else if (o->csv && o->traffic)
        code = weir_report_traffic_csv(&out, run->result, err);
    else if (o->csv && o->compare)
        code = weir_report_compared_csv(&out, run->result, err);
    else if (o->csv)
        code = weir_report_candidates_csv(&out, run->result, err);
    else if (!o->quiet)
        code = write_text(&out, run, err);
    if (code == WEIR_OK)
        code = output_print(&out, err);
    weir_text_clear(&out);
    return code;
}

/* One scenario, from reading to the last condition. */
static int run_one(const fabric_options *options)
{
    weir_err err = {0};
    fabric_run_state run = {.options = options};
    progress *p = progress_start(!options->quiet);
    weir_code code = answer(&run, p, &err);
    progress_stop(p);
    if (code == WEIR_OK)
        code = print_result(&run, &err);
    int exit_code = code == WEIR_OK ? EXIT_DONE : report_error(&err);
    if (code == WEIR_OK &&
        fail_if_report(options->conditions, options->condition_count, run.result))
        exit_code = EXIT_FINDING;
    run_clear(&run);
    return exit_code;
}

/* One after the other, with a blank line between; an error ends them. */
static int run_all(fabric_options *options)
{
    int exit_code = run_one(options);
    for (uint32_t i = 1; i < options->scenario_count && exit_code <= EXIT_FINDING; i++) {
        weir_err err = {0};
        weir_text gap = {0};
        if (!options->quiet)
            weir_text_char(&gap, '\n');
        weir_code code = output_print(&gap, &err);
        weir_text_clear(&gap);
        if (code != WEIR_OK)
            return report_error(&err);
        options->scenario = options->scenarios[i];
        int next = run_one(options);
        exit_code = next > exit_code ? next : exit_code;
    }
    return exit_code;
}

int fabric_run(int argc, char **argv)
{
    weir_err err = {0};
    fabric_options options;
    if (fabric_options_parse(argc, argv, &options, &err) != WEIR_OK)
        return report_error(&err);
    weir_code code =
        options.traffic_from && !options.help ? fabric_take_training(&options, &err) : WEIR_OK;
    int exit_code = options.help      ? show_command_help(&FABRIC_COMMAND)
                    : code != WEIR_OK ? report_error(&err)
                                      : run_all(&options);
    fabric_options_clear(&options);
    return exit_code;
}
