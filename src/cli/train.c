#include "cli/train.h"

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/train_lines.h"
#include "report/train_sweep_text.h"
#include "report/train_text.h"
#include "result/json.h"
#include "study/train_sweep.h"

static void run_clear(train_run_state *run)
{
    weir_result_free(run->result);
    weir_lines_clear(&run->lines);
    weir_spmd_run_clear(&run->played);
    weir_budget_free(run->budget);
    weir_text_clear(&run->input);
}

static weir_code play(train_run_state *run, weir_err *err)
{
    const train_options *o = run->options;
    weir_train_scenario scenario = {0};
    const weir_train_options options = {.segments = o->perfetto || o->series_timeline,
                                        .flops = o->flops,
                                        .threads = o->threads,
                                        .ignores_memory = o->ignores_memory,
                                        .budget = run->budget};
    run->result = weir_result_new();
    if (!run->result)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    weir_code code =
        weir_train_scenario_parse(input_name(o->scenario), run->input.p ? run->input.p : "",
                                  run->input.n, o->settings, o->setting_count, &scenario, err);
    if (code == WEIR_OK)
        code = weir_train_study(&scenario, &options, run->result, &run->played, &run->lines, err);
    run->result->seed = scenario.seed;
    weir_train_scenario_clear(&scenario);
    return code;
}

static weir_code answer(train_run_state *run, progress *p, weir_err *err)
{
    const train_options *o = run->options;
    progress_stage(p, "reading");
    run->budget = weir_budget_new(o->max_memory_bytes);
    if (!run->budget)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    weir_code code = input_read(o->scenario, &run->input, err);
    progress_stage(p, "playing");
    if (code == WEIR_OK)
        code = play(run, err);
    if (code == WEIR_OK)
        code = train_note_scenario(run, err);
    progress_stage(p, "writing");
    return code == WEIR_OK ? train_write_files(run, err) : code;
}

/* The played step as the one row of a sweep without keys. */
static weir_code write_csv(weir_text *out, const weir_result *result, weir_err *err)
{
    const weir_training_result *t = result->training;
    weir_train_sweep_row row = {
        .fits =
            !(t->memory_bytes.capacity > 0) || t->memory_bytes.total <= t->memory_bytes.capacity,
        .step_s = t->step_s,
        .tokens_per_s = t->tokens_per_s,
        .tokens_per_s_per_device = t->tokens_per_s_per_device,
        .mfu = t->mfu,
        .hfu = t->hfu,
        .bubble_share = t->bubble_share,
        .memory_bytes = t->memory_bytes.total,
        .capacity_bytes = t->memory_bytes.capacity,
    };
    double wall_ns = (double)result->total.wall_ns;
    for (int w = 0; w < WEIR_WAIT_COUNT && wall_ns > 0; w++)
        row.wait_s[w] = (double)result->total.waits.ns[w] / wall_ns * t->step_s;
    const weir_train_sweep sweep = {.rows = &row, .row_count = 1, .best = 0};
    return weir_report_train_sweep_csv(out, &sweep, err);
}

static weir_code print_result(train_run_state *run, weir_err *err)
{
    const train_options *o = run->options;
    weir_text out = {0};
    weir_code code = WEIR_OK;
    if (o->series_timeline)
        output_show_timeline(run->result, &run->played, &run->lines);
    if (o->json)
        code = weir_result_json(&out, run->result, err);
    else if (o->csv)
        code = write_csv(&out, run->result, err);
    else if (!o->quiet)
        code = weir_report_train(&out, run->result, output_wants_colour(), err);
    if (code == WEIR_OK)
        code = output_print(&out, err);
    weir_text_clear(&out);
    return code;
}

static int run_one(const train_options *options)
{
    weir_err err = {0};
    train_run_state run = {.options = options};
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

static int run_sweep(const train_options *options)
{
    weir_err err = {0};
    train_run_state run = {.options = options};
    progress *p = progress_start(!options->quiet);
    progress_stage(p, "calculating");
    weir_code code = input_read(options->scenario, &run.input, &err);
    if (code == WEIR_OK)
        code = train_sweep(&run, &err);
    progress_stop(p);
    run_clear(&run);
    return code == WEIR_OK ? EXIT_DONE : report_error(&err);
}

static int run_lines(const train_options *o)
{
    weir_err err = {0};
    weir_code code = train_lines(o->lines, o->settings, o->setting_count, &err);
    return code == WEIR_OK ? EXIT_DONE : report_error(&err);
}

int train_run(int argc, char **argv)
{
    weir_err err = {0};
    train_options options;
    if (train_options_parse(argc, argv, &options, &err) != WEIR_OK)
        return report_error(&err);
    int exit_code = options.help              ? show_command_help(&TRAIN_COMMAND)
                    : options.lines           ? run_lines(&options)
                    : options.sweep_count > 0 ? run_sweep(&options)
                                              : run_one(&options);
    train_options_clear(&options);
    return exit_code;
}
