#include "cli/trace_options.h"

#include "cli/commands.h"
#include "cli/value.h"

#include <stdlib.h>

enum {
    OPT_JSON = 1,
    OPT_CSV,
    OPT_PERFETTO,
    OPT_PERFETTO_ALL,
    OPT_BY,
    OPT_TOP,
    OPT_STEPS,
    OPT_WINDOW,
    OPT_FAIL_IF,
    OPT_QUIET,
    OPT_UNKNOWN_KERNELS,
    OPT_KERNELS,
    OPT_PYTHON_FUNCTIONS,
    OPT_SERIES,
    OPT_MAX_MEMORY,
    OPT_THREADS,
};

#define BY_CHOICES     "rank node axis step cause kernel" /* the order of weir_by, from 1 */
#define SERIES_CHOICES "timeline"

static const cli_option TRACE_OPTIONS[] = {
    {OPT_JSON, "--json", NULL, NULL, "print the result as one JSON object", NULL},
    {OPT_CSV, "--csv", NULL, NULL, "print a table as CSV: devices, or what --by names", NULL},
    {OPT_PERFETTO, "--perfetto", "FILE", "@file",
     "also write a picture for ui.perfetto.dev: the worst step, with a lane per device that shows "
     "the four waits, and the critical path",
     NULL},
    {OPT_PERFETTO_ALL, "--perfetto-all", NULL, NULL,
     "with --perfetto: every lane of every rank over the whole window", NULL},
    {OPT_BY, "--by", "WHAT", BY_CHOICES,
     "an additional table: by rank, node, axis, step, cause or kernel", "--by axis"},
    {OPT_TOP, "--top", "N", NULL, "rows of each table", "--top 10"},
    {OPT_STEPS, "--steps", "A..B", NULL, "only these steps, by the numbers of their markers",
     "--steps 3..7"},
    {OPT_WINDOW, "--window", "A..B", NULL, "only this part of the run, in ms since its first event",
     "--window 120..340.5"},
    {OPT_FAIL_IF, "--fail-if", "CONDITION", NULL,
     "end with 1 where a wait or a cause holds more (>, >=) or less (<, <=) than this share of "
     "the time; may be given several times",
     "--fail-if 'dependency.straggler>5%'"},
    {OPT_QUIET, "--quiet", NULL, NULL, "no text report and no progress; errors and findings only",
     NULL},
    {OPT_UNKNOWN_KERNELS, "--unknown-kernels", NULL, NULL,
     "list only the kernels that no family knows, most time first", NULL},
    {OPT_KERNELS, "--kernels", "FILE", "@file",
     "further kernel families (YAML), tried before the built-in ones", NULL},
    {OPT_PYTHON_FUNCTIONS, "--python-functions", NULL, NULL,
     "read python_function events, too (often most of a file)", NULL},
    {OPT_SERIES, "--series", "WHAT", SERIES_CHOICES,
     "with --json: the segments of the critical path, too", "--series timeline"},
    {OPT_MAX_MEMORY, "--max-memory", "SIZE", NULL,
     "stop with an error before the tables need more (three quarters of the machine)",
     "--max-memory 4GiB"},
    {OPT_THREADS, "--threads", "N", NULL,
     "threads (one for each core); the result does not depend on it", "--threads 2"},
};

static const cli_example TRACE_EXAMPLES[] = {
    {"weir trace prof/", "every rank's file of a directory"},
    {"weir trace prof/*.pt.trace.json.gz --by rank", "and a row for each rank"},
    {"weir trace prof/ --perfetto worst.pftrace", "and a picture of the worst step"},
    {"weir trace prof/ --json | jq .verdict", "the same result for scripts"},
    {"weir trace prof/ --quiet --fail-if 'dependency>30%'", "a check: ends with 1 if so"},
    {"zcat rank0.json.gz | weir trace -", "from standard input"},
};

const cli_command TRACE_COMMAND = {
    .name = "trace",
    .operands = "FILE...",
    .question = "where did this measured run wait?",
    .about = "Reads profiler traces (torch.profiler, Kineto) of one or many ranks and says "
             "where the time was spent: computing, or in one of the other three waits "
             "(communication, dependency, cache), for whom the others waited, and why. FILE "
             "is a trace (.json, .json.gz, .json.zst), a directory, a pattern, or - for "
             "standard input. Damaged files are read as far as possible; what was lost is "
             "counted in the report.",
    .options = TRACE_OPTIONS,
    .option_count = sizeof TRACE_OPTIONS / sizeof *TRACE_OPTIONS,
    .examples = TRACE_EXAMPLES,
    .example_count = sizeof TRACE_EXAMPLES / sizeof *TRACE_EXAMPLES,
    .run = trace_run,
};

static weir_code read_by(const char *text, trace_options *o, weir_err *err)
{
    uint32_t choice = 0;
    weir_code code = value_choice("--by", text, BY_CHOICES, &choice, err);
    if (code == WEIR_OK)
        o->text.by = (weir_by)(WEIR_BY_RANK + choice);
    return code;
}

static weir_code read_threads(const char *text, trace_options *o, weir_err *err)
{
    weir_code code = value_count("--threads", text, 1, 1024, &o->import.threads, err);
    o->ledger.threads = o->import.threads;
    return code;
}

static weir_code read_series(const char *text, trace_options *o, weir_err *err)
{
    uint32_t choice = 0;
    o->series_timeline = true;
    return value_choice("--series", text, SERIES_CHOICES, &choice, err);
}

/* Options with a value that has to be understood. */
static weir_code read_value(const cli_arg *arg, trace_options *o, weir_err *err)
{
    weir_ledger_options *ledger = &o->ledger;
    switch (arg->id) {
    case OPT_BY:
        return read_by(arg->value, o, err);
    case OPT_TOP:
        return value_count("--top", arg->value, 1, 1000000, &o->text.top, err);
    case OPT_STEPS:
        ledger->has_steps = true;
        return value_steps("--steps", arg->value, &ledger->first_step, &ledger->last_step, err);
    case OPT_WINDOW:
        ledger->has_window = true;
        return value_window("--window", arg->value, &ledger->window_begin_ns,
                            &ledger->window_end_ns, err);
    case OPT_FAIL_IF:
        return list_add_condition(arg->value, o->conditions, &o->condition_count, err);
    case OPT_SERIES:
        return read_series(arg->value, o, err);
    case OPT_MAX_MEMORY:
        return value_bytes("--max-memory", arg->value, &o->max_memory_bytes, err);
    case OPT_THREADS:
        return read_threads(arg->value, o, err);
    default:
        return weir_err_set(err, WEIR_ERR_INTERNAL, "trace: option %d without a reader", arg->id);
    }
}

static weir_code take(const cli_arg *arg, trace_options *o, weir_err *err)
{
    switch (arg->id) {
    case CLI_OPERAND:
        o->names[o->name_count++] = arg->value;
        return WEIR_OK;
    case CLI_HELP:
        o->help = true;
        return WEIR_OK;
    case OPT_JSON:
        o->json = true;
        return WEIR_OK;
    case OPT_CSV:
        o->csv = true;
        return WEIR_OK;
    case OPT_QUIET:
        o->quiet = true;
        return WEIR_OK;
    case OPT_PERFETTO:
        o->perfetto = arg->value;
        return WEIR_OK;
    case OPT_PERFETTO_ALL:
        o->perfetto_all = true;
        return WEIR_OK;
    case OPT_UNKNOWN_KERNELS:
        o->text.unknown_kernels = true;
        return WEIR_OK;
    case OPT_KERNELS:
        o->kernels = arg->value;
        return WEIR_OK;
    case OPT_PYTHON_FUNCTIONS:
        o->import.python_functions = true;
        return WEIR_OK;
    default:
        return read_value(arg, o, err);
    }
}

static weir_code check_together(const trace_options *o, weir_err *err)
{
    if (o->name_count == 0)
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "trace: no file is named; see weir help trace, and weir help capture "
                            "for how to record one");
    if (o->json && o->csv)
        return weir_err_set(err, WEIR_ERR_USAGE, "trace: --json and --csv exclude each other");
    if (o->perfetto_all && !o->perfetto)
        return weir_err_set(err, WEIR_ERR_USAGE, "trace: --perfetto-all needs --perfetto FILE");
    if (o->series_timeline && !o->json)
        return weir_err_set(err, WEIR_ERR_USAGE, "trace: --series needs --json");
    if (o->ledger.has_steps && o->ledger.has_window)
        return weir_err_set(err, WEIR_ERR_USAGE, "trace: --steps and --window exclude each other");
    return WEIR_OK;
}

weir_code trace_options_parse(int argc, char **argv, trace_options *options, weir_err *err)
{
    *options = (trace_options){.names = calloc((size_t)argc, sizeof *options->names)};
    if (!options->names)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the arguments");
    cli_args args = args_start(&TRACE_COMMAND, argc, argv);
    cli_arg arg = {0};
    weir_code code;
    do {
        code = args_next(&args, &arg, err);
        if (code == WEIR_OK && arg.id != CLI_END)
            code = take(&arg, options, err);
    } while (code == WEIR_OK && arg.id != CLI_END && !options->help);
    if (code == WEIR_OK && !options->help)
        code = check_together(options, err);
    options->ledger.kernels = options->text.by == WEIR_BY_KERNEL || options->text.unknown_kernels;
    options->ledger.segments = options->series_timeline || options->perfetto;
    if (code != WEIR_OK)
        trace_options_clear(options);
    return code;
}

void trace_options_clear(trace_options *options)
{
    free(options->names);
    *options = (trace_options){0};
}
