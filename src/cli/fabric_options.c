#include "cli/fabric_options.h"

#include "cli/commands.h"
#include "cli/value.h"

#include <string.h>

enum {
    OPT_SET = 1,
    OPT_CANDIDATE,
    OPT_TRAFFIC,
    OPT_TRAFFIC_FROM,
    OPT_SWEEP,
    OPT_FIND,
    OPT_LOSE,
    OPT_MIX,
    OPT_PRICES,
    OPT_BOM,
    OPT_COMPARE,
    OPT_JSON,
    OPT_CSV,
    OPT_PERFETTO,
    OPT_SERIES,
    OPT_FAIL_IF,
    OPT_QUIET,
    OPT_MAX_MEMORY,
    OPT_THREADS,
};

#define FIND_CHOICES   "oversubscription ports switching"
#define SERIES_CHOICES "links timeline"

static const cli_option FABRIC_OPTIONS[] = {
    {OPT_SET, "--set", "KEY=VALUE", NULL,
     "replace a part of the scenario; may be given several times", "--set cluster.nodes=64"},
    {OPT_CANDIDATE, "--candidate", "NAME", NULL,
     "only the candidate of this name; may be given several times", NULL},
    {OPT_TRAFFIC, "--traffic", NULL, NULL,
     "an additional table: each kind of traffic, what it needs and which road suits it; with "
     "--csv instead of the candidates",
     NULL},
    {OPT_TRAFFIC_FROM, "--traffic-from", "FILE", "@file",
     "cluster and traffic are those of a scenario of weir train; SCENARIO has the candidates, "
     "without it usual ones are compared",
     NULL},
    {OPT_SWEEP, "--sweep", "KEY=A,B,C", NULL,
     "play each of these values; given several times, each combination",
     "--sweep traffic.phases.0.bytes=1MiB,1GiB"},
    {OPT_FIND, "--find", "WHAT", FIND_CHOICES,
     "how far it can go: the most oversubscription, the fewest ports, the slowest switching; "
     "needs --lose",
     "--find oversubscription"},
    {OPT_LOSE, "--lose", "SHARE", NULL, "with --find: how much longer the step may become",
     "--lose 2%"},
    {OPT_MIX, "--mix", "LIST", NULL,
     "a weighted mix of jobs on the candidates of the first, instead of SCENARIO",
     "--mix a.yaml:0.6,b.yaml:0.4"},
    {OPT_PRICES, "--prices", "FILE", "@file",
     "your quotes (CSV: item,low_usd,typical_usd,high_usd,date,source); items as in weir presets "
     "prices",
     NULL},
    {OPT_BOM, "--bom", "FOLDER", "@file",
     "also write the bill of materials and the list of cables of each candidate there, as CSV",
     NULL},
    {OPT_COMPARE, "--compare", "FILE", "@file",
     "an output of nccl-tests beside what the cluster of the scenario should reach, and why not",
     NULL},
    {OPT_JSON, "--json", NULL, NULL, "print the result as one JSON object", NULL},
    {OPT_CSV, "--csv", NULL, NULL, "print the candidates as CSV, of a sweep at each point", NULL},
    {OPT_PERFETTO, "--perfetto", "FILE", "@file",
     "also write a picture of the recommended candidate for ui.perfetto.dev: devices, the four "
     "waits, load of links",
     NULL},
    {OPT_SERIES, "--series", "LIST", SERIES_CHOICES,
     "with --json: the load of links over time, what each device does moment by moment, or both",
     "--series links,timeline"},
    {OPT_FAIL_IF, "--fail-if", "CONDITION", NULL,
     "end with 1 where a wait or a cause of the recommended candidate holds more (>, >=) or less "
     "(<, <=) than this share of the time; may be given several times",
     "--fail-if 'communication>10%'"},
    {OPT_QUIET, "--quiet", NULL, NULL, "no text report and no progress; errors and findings only",
     NULL},
    {OPT_MAX_MEMORY, "--max-memory", "SIZE", NULL, "stop with an error before the tables need more",
     "--max-memory 4GiB"},
    {OPT_THREADS, "--threads", "N", NULL,
     "threads (one for each core); the result does not depend on it", "--threads 2"},
};

static const cli_example FABRIC_EXAMPLES[] = {
    {"weir fabric job.yaml", "the candidates, what they cost, and which one to take"},
    {"weir fabric examples/fabric/*.yaml", "several jobs, one after the other"},
    {"weir fabric job.yaml --prices quotes.csv --bom bom/",
     "with your prices; a bill of materials for each candidate"},
    {"weir fabric job.yaml --find oversubscription --lose 2%",
     "how much oversubscription costs at most 2 % of the step"},
    {"weir fabric job.yaml --sweep cluster.nodes=64,128,256 --csv > grid.csv", "a table to plot"},
    {"weir fabric --traffic-from training.yaml --traffic",
     "networks for a training step, and what light could do for it"},
    {"weir fabric --mix train.yaml:0.6,moe.yaml:0.4", "one fabric for two jobs"},
    {"weir fabric job.yaml --set 'candidates.A.switching=1 ms' --json | jq .fabric.break_even",
     "one figure changed, for scripts"},
};

const cli_command FABRIC_COMMAND = {
    .name = "fabric",
    .operands = "SCENARIO...",
    .question = "which network, electrical or optical, for this traffic?",
    .about = "Plays the traffic of a scenario on each of its candidate networks and says how long "
             "the step takes, how much of it waits for the network and why, what each network "
             "costs and draws, and where light stops paying. SCENARIO is a YAML file, or - for "
             "standard input; several are reported one after the other.",
    .options = FABRIC_OPTIONS,
    .option_count = sizeof FABRIC_OPTIONS / sizeof *FABRIC_OPTIONS,
    .examples = FABRIC_EXAMPLES,
    .example_count = sizeof FABRIC_EXAMPLES / sizeof *FABRIC_EXAMPLES,
    .run = fabric_run,
};

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the arguments");
}

static weir_code read_find(const char *text, fabric_options *o, weir_err *err)
{
    uint32_t choice = 0;
    weir_code code = value_choice("--find", text, FIND_CHOICES, &choice, err);
    if (code != WEIR_OK)
        return code;
    o->finds = weir_find_what_find(weir_str_from(text), &o->find);
    return o->finds ? WEIR_OK
                    : weir_err_set(err, WEIR_ERR_INTERNAL, "--find %s is not known", text);
}

static weir_code read_lose(const char *text, fabric_options *o, weir_err *err)
{
    if (weir_find_lose_parse(text, &o->lose_share))
        return WEIR_OK;
    return weir_err_set(err, WEIR_ERR_USAGE, "--lose: expected a percentage such as 2%%, found %s",
                        text);
}

/* "links,timeline" */
static weir_code read_series(const char *text, fabric_options *o, weir_err *err)
{
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, ",");
        uint32_t choice = 0;
        const char *word = weir_arena_copy(o->arena, (weir_str){p, (uint32_t)n});
        if (!word)
            return no_memory(err);
        weir_code code = value_choice("--series", word, SERIES_CHOICES, &choice, err);
        if (code != WEIR_OK)
            return code;
        *(choice == 0 ? &o->series_links : &o->series_timeline) = true;
        p += n;
        if (*p == '\0')
            return WEIR_OK;
    }
}

/* Options with a value that has to be understood. */
static weir_code read_value(const cli_arg *arg, fabric_options *o, weir_err *err)
{
    switch (arg->id) {
    case OPT_SET:
        return list_add_setting(arg->value, "cluster.nodes=64", o->arena, o->settings,
                                &o->setting_count, err);
    case OPT_SWEEP:
        return list_add_sweep(arg->value, o->arena, o->sweep, &o->sweep_count, err);
    case OPT_FIND:
        return read_find(arg->value, o, err);
    case OPT_LOSE:
        return read_lose(arg->value, o, err);
    case OPT_MIX:
        return weir_mix_parse(arg->value, o->arena, &o->mix, &o->mix_count, err);
    case OPT_SERIES:
        return read_series(arg->value, o, err);
    case OPT_FAIL_IF:
        return list_add_condition(arg->value, o->conditions, &o->condition_count, err);
    case OPT_MAX_MEMORY:
        return value_bytes("--max-memory", arg->value, &o->max_memory_bytes, err);
    case OPT_THREADS:
        return value_count("--threads", arg->value, 1, 1024, &o->threads, err);
    default:
        return weir_err_set(err, WEIR_ERR_INTERNAL, "fabric: option %d without a reader", arg->id);
    }
}

static bool *flag_of(int id, fabric_options *o)
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
    case OPT_TRAFFIC:
        return &o->traffic;
    default:
        return NULL;
    }
}

static const char **text_of(int id, fabric_options *o)
{
    switch (id) {
    case OPT_PRICES:
        return &o->prices;
    case OPT_BOM:
        return &o->bom;
    case OPT_COMPARE:
        return &o->compare;
    case OPT_PERFETTO:
        return &o->perfetto;
    case OPT_TRAFFIC_FROM:
        return &o->traffic_from;
    case OPT_CANDIDATE:
        return &o->candidates[o->candidate_count++];
    case CLI_OPERAND:
        return &o->scenarios[o->scenario_count++];
    default:
        return NULL;
    }
}

static weir_code take(const cli_arg *arg, fabric_options *o, weir_err *err)
{
    bool *flag = flag_of(arg->id, o);
    const char **text = flag ? NULL : text_of(arg->id, o);
    if (flag)
        *flag = true;
    else if (text)
        *text = arg->value;
    return flag || text ? WEIR_OK : read_value(arg, o, err);
}

static weir_code exclude(bool a, bool b, const char *names, weir_err *err)
{
    if (a && b)
        return weir_err_set(err, WEIR_ERR_USAGE, "fabric: %s exclude each other", names);
    return WEIR_OK;
}

static weir_code check_together(const fabric_options *o, weir_err *err)
{
    bool sweeps = o->sweep_count > 0, mixes = o->mix_count > 0;
    bool compares = o->compare != NULL;
    bool several = o->scenario_count > 1;
    bool questions = sweeps || o->finds || mixes || compares;
    if (o->scenario_count == 0 && !mixes && !o->traffic_from)
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "fabric: no scenario is named; see weir help fabric");
    weir_code code = exclude(o->scenario_count > 0, mixes, "SCENARIO and --mix", err);
    if (code == WEIR_OK)
        code = exclude(o->traffic_from, mixes || compares || several,
                       "--traffic-from and --mix, --compare or several scenarios", err);
    if (code == WEIR_OK && several && (questions || o->json || o->csv || o->bom || o->perfetto))
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "fabric: several scenarios have text only; --mix is for jobs that "
                            "share a fabric");
    if (code == WEIR_OK)
        code = exclude(o->json, o->csv, "--json and --csv", err);
    if (code == WEIR_OK)
        code = exclude(sweeps + o->finds + mixes + compares > 1, true,
                       "--sweep, --find, --mix and --compare", err);
    if (code == WEIR_OK)
        code = exclude(questions, o->bom || o->perfetto, "questions and --bom or --perfetto", err);
    if (code == WEIR_OK && o->csv && (o->finds || mixes))
        return weir_err_set(err, WEIR_ERR_USAGE, "fabric: --find and --mix have text and --json");
    if (code == WEIR_OK && o->finds != (o->lose_share >= 0))
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "fabric: --find and --lose need each other, e.g. "
                            "--find oversubscription --lose 2%%");
    if (code == WEIR_OK && (o->series_links || o->series_timeline) && !o->json)
        return weir_err_set(err, WEIR_ERR_USAGE, "fabric: --series needs --json");
    return code;
}

static weir_code make_room(int argc, fabric_options *o, weir_err *err)
{
    *o = (fabric_options){.arena = weir_arena_new(), .lose_share = -1};
    if (!o->arena)
        return no_memory(err);
    /* --traffic-from puts two more before the user's own. */
    o->settings = weir_arena_alloc(o->arena, (size_t)argc + 2, sizeof *o->settings);
    o->candidates = weir_arena_alloc(o->arena, (size_t)argc, sizeof *o->candidates);
    o->scenarios = weir_arena_alloc(o->arena, (size_t)argc, sizeof *o->scenarios);
    return o->settings && o->candidates && o->scenarios ? WEIR_OK : no_memory(err);
}

weir_code fabric_options_parse(int argc, char **argv, fabric_options *options, weir_err *err)
{
    weir_code code = make_room(argc, options, err);
    cli_args args = args_start(&FABRIC_COMMAND, argc, argv);
    cli_arg arg = {0};
    while (code == WEIR_OK && !options->help) {
        code = args_next(&args, &arg, err);
        if (code == WEIR_OK && arg.id == CLI_END)
            break;
        if (code == WEIR_OK)
            code = take(&arg, options, err);
    }
    if (code == WEIR_OK && !options->help)
        code = check_together(options, err);
    if (code == WEIR_OK && options->scenario_count > 0)
        options->scenario = options->scenarios[0];
    if (code != WEIR_OK)
        fabric_options_clear(options);
    return code;
}

void fabric_options_clear(fabric_options *options)
{
    weir_arena_free(options->arena);
    *options = (fabric_options){0};
}
