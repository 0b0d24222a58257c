#include "cli/train_options.h"

#include "cli/commands.h"
#include "cli/value.h"

#include <string.h>

enum {
    OPT_SET = 1,
    OPT_SWEEP,
    OPT_LINES,
    OPT_JSON,
    OPT_CSV,
    OPT_PERFETTO,
    OPT_KINETO,
    OPT_SERIES,
    OPT_FLOPS,
    OPT_FAIL_IF,
    OPT_IGNORE_MEMORY,
    OPT_QUIET,
    OPT_MAX_MEMORY,
    OPT_THREADS,
};

#define SERIES_CHOICES "timeline"
#define FLOPS_CHOICES  "exact megatron palm megatron-2021" /* the order of weir_flops_formula */

static const cli_option TRAIN_OPTIONS[] = {
    {OPT_SET, "--set", "KEY=VALUE", NULL,
     "replace a part of the scenario; may be given several times", "--set plan.tensor=4"},
    {OPT_SWEEP, "--sweep", "KEY=A,B,C", NULL,
     "each of these values, in closed form; given several times, each combination",
     "--sweep plan.tensor=2,4,8"},
    {OPT_LINES, "--lines", "FILE", "@file",
     "a scenario as JSON on each line, instead of SCENARIO (-: standard input); for each a line of "
     "JSON with its step in closed form, or its error",
     NULL},
    {OPT_JSON, "--json", NULL, NULL, "print the result as one JSON object", NULL},
    {OPT_CSV, "--csv", NULL, NULL, "print step, memory and waits as CSV, of a sweep for each plan",
     NULL},
    {OPT_PERFETTO, "--perfetto", "FILE", "@file",
     "also write a picture for ui.perfetto.dev: a lane for each device that was played, the four "
     "waits, the critical path",
     NULL},
    {OPT_KINETO, "--kineto", "FOLDER", "@file",
     "also write a trace for each device that was played, which weir trace reads", NULL},
    {OPT_SERIES, "--series", "WHAT", SERIES_CHOICES,
     "with --json: what each device does moment by moment", "--series timeline"},
    {OPT_FLOPS, "--flops", "WHAT", FLOPS_CHOICES,
     "whose FLOPs MFU counts: every operation of the model, what Megatron-LM logs, or a paper's "
     "formula",
     "--flops megatron"},
    {OPT_FAIL_IF, "--fail-if", "CONDITION", NULL,
     "end with 1 where a wait or a cause holds more (>, >=) or less (<, <=) than this share of "
     "the time; may be given several times",
     "--fail-if 'communication>10%'"},
    {OPT_IGNORE_MEMORY, "--ignore-memory", NULL, NULL,
     "play a plan that does not fit into memory, too", NULL},
    {OPT_QUIET, "--quiet", NULL, NULL, "no text report and no progress; errors and findings only",
     NULL},
    {OPT_MAX_MEMORY, "--max-memory", "SIZE", NULL, "stop with an error before the tables need more",
     "--max-memory 4GiB"},
    {OPT_THREADS, "--threads", "N", NULL,
     "threads (one for each core); the result does not depend on it", "--threads 2"},
};

static const cli_example TRAIN_EXAMPLES[] = {
    {"weir train job.yaml", "how long a step takes, where it waits, whether it fits"},
    {"weir train job.yaml --set plan.recompute=full --set plan.micro_batch=2",
     "two parts of the plan changed"},
    {"weir train job.yaml --sweep plan.tensor=1,2,4,8 --sweep plan.pipeline=1,2,4",
     "twelve plans side by side"},
    {"weir train job.yaml --set 'disturb.slow=[{device: 3, factor: 1.3}]'", "with a slow device"},
    {"weir train job.yaml --perfetto step.pftrace", "and a picture of the step"},
    {"weir train --lines plans.ndjson > steps.ndjson", "thousands of plans, one a line"},
};

const cli_command TRAIN_COMMAND = {
    .name = "train",
    .operands = "SCENARIO",
    .question = "where would this training step wait?",
    .about = "Simulates a training step of a model with a parallel plan on a cluster and says how "
             "long it takes, how much memory it needs, where the time is spent: computing, or in "
             "one of the other three waits (communication, dependency, cache), and what would "
             "make it shorter. SCENARIO is a YAML or JSON file, or - for standard input; "
             "docs/reference/scenario.md has its keys, weir presets the models, accelerators and "
             "software stacks that it may name.",
    .options = TRAIN_OPTIONS,
    .option_count = sizeof TRAIN_OPTIONS / sizeof *TRAIN_OPTIONS,
    .examples = TRAIN_EXAMPLES,
    .example_count = sizeof TRAIN_EXAMPLES / sizeof *TRAIN_EXAMPLES,
    .run = train_run,
};

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the arguments");
}

static weir_code read_series(const char *text, train_options *o, weir_err *err)
{
    uint32_t choice = 0;
    weir_code code = value_choice("--series", text, SERIES_CHOICES, &choice, err);
    o->series_timeline |= code == WEIR_OK;
    return code;
}

static weir_code read_flops(const char *text, train_options *o, weir_err *err)
{
    uint32_t choice = 0;
    weir_code code = value_choice("--flops", text, FLOPS_CHOICES, &choice, err);
    if (code == WEIR_OK)
        o->flops = (weir_flops_formula)choice;
    return code;
}

/* Options with a value that has to be understood. */
static weir_code read_value(const cli_arg *arg, train_options *o, weir_err *err)
{
    switch (arg->id) {
    case OPT_SET:
        return list_add_setting(arg->value, "plan.tensor=4", o->arena, o->settings,
                                &o->setting_count, err);
    case OPT_SWEEP:
        return list_add_sweep(arg->value, o->arena, o->sweep, &o->sweep_count, err);
    case OPT_SERIES:
        return read_series(arg->value, o, err);
    case OPT_FLOPS:
        return read_flops(arg->value, o, err);
    case OPT_FAIL_IF:
        return list_add_condition(arg->value, o->conditions, &o->condition_count, err);
    case OPT_MAX_MEMORY:
        return value_bytes("--max-memory", arg->value, &o->max_memory_bytes, err);
    case OPT_THREADS:
        return value_count("--threads", arg->value, 1, 1024, &o->threads, err);
    default:
        return weir_err_set(err, WEIR_ERR_INTERNAL, "train: option %d without a reader", arg->id);
    }
}

static bool *flag_of(int id, train_options *o)
{
    switch (id) {
    case CLI_HELP:
        return &o->help;
    case OPT_JSON:
        return &o->json;
    case OPT_CSV:
        return &o->csv;
    case OPT_QUIET:
        return &o->quiet;
    case OPT_IGNORE_MEMORY:
        return &o->ignores_memory;
    default:
        return NULL;
    }
}

static const char **text_of(int id, train_options *o)
{
    switch (id) {
    case OPT_LINES:
        return &o->lines;
    case OPT_PERFETTO:
        return &o->perfetto;
    case OPT_KINETO:
        return &o->kineto;
    default:
        return NULL;
    }
}

static weir_code take(const cli_arg *arg, train_options *o, weir_err *err)
{
    bool *flag = flag_of(arg->id, o);
    const char **text = flag ? NULL : text_of(arg->id, o);
    if (arg->id == CLI_OPERAND && o->scenario)
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "train: one scenario at a time, found %s and %s; --lines and --sweep "
                            "take many",
                            o->scenario, arg->value);
    if (arg->id == CLI_OPERAND)
        o->scenario = arg->value;
    else if (flag)
        *flag = true;
    else if (text)
        *text = arg->value;
    else
        return read_value(arg, o, err);
    return WEIR_OK;
}

static weir_code exclude(bool a, bool b, const char *names, weir_err *err)
{
    return a && b ? weir_err_set(err, WEIR_ERR_USAGE, "train: %s exclude each other", names)
                  : WEIR_OK;
}

static weir_code check_together(const train_options *o, weir_err *err)
{
    bool sweeps = o->sweep_count > 0;
    bool plays = o->perfetto || o->kineto || o->series_timeline || o->condition_count > 0;
    if (!o->scenario && !o->lines)
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "train: no scenario is named; see weir help train");
    weir_code code = exclude(o->scenario, o->lines, "SCENARIO and --lines", err);
    if (code == WEIR_OK)
        code = exclude(o->json, o->csv, "--json and --csv", err);
    if (code == WEIR_OK)
        code = exclude(sweeps, o->lines, "--sweep and --lines", err);
    if (code == WEIR_OK)
        code = exclude(sweeps || o->lines, plays,
                       "closed forms (--sweep, --lines) and what is played (--perfetto, --kineto, "
                       "--series, --fail-if)",
                       err);
    if (code == WEIR_OK)
        code = exclude(sweeps || o->lines, o->flops != WEIR_FLOPS_EXACT,
                       "closed forms (--sweep, --lines) and --flops", err);
    if (code == WEIR_OK && o->lines && (o->csv || o->json))
        return weir_err_set(err, WEIR_ERR_USAGE, "train: --lines has JSON lines only");
    if (code == WEIR_OK && o->series_timeline && !o->json)
        return weir_err_set(err, WEIR_ERR_USAGE, "train: --series needs --json");
    return code;
}

weir_code train_options_parse(int argc, char **argv, train_options *options, weir_err *err)
{
    cli_args args = args_start(&TRAIN_COMMAND, argc, argv);
    cli_arg arg = {0};
    *options = (train_options){.arena = weir_arena_new()};
    if (options->arena)
        options->settings =
            weir_arena_alloc(options->arena, (size_t)argc, sizeof *options->settings);
    weir_code code = options->settings ? WEIR_OK : no_memory(err);
    while (code == WEIR_OK && !options->help) {
        code = args_next(&args, &arg, err);
        if (code == WEIR_OK && arg.id == CLI_END)
            break;
        if (code == WEIR_OK)
            code = take(&arg, options, err);
    }
    if (code == WEIR_OK && !options->help)
        code = check_together(options, err);
    if (code != WEIR_OK)
        train_options_clear(options);
    return code;
}

void train_options_clear(train_options *options)
{
    weir_arena_free(options->arena);
    *options = (train_options){0};
}
