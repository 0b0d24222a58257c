/* weir presets: which parts are known, and where do their figures come from? */
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/output.h"
#include "cli/presets_blocks.h"
#include "cli/presets_show.h"

#include <string.h>

static const presets_kind KINDS[] = {
    {"fabrics", "fabrics", "shapes of networks", false},
    {"links", "links", "between the devices of a node, and PCIe", false},
    {"switches", "switches", "packet switches: ports, rates, watts", false},
    {"nics", "nics", "network interfaces", false},
    {"optics", "optics", "transceivers and cables", false},
    {"ocs", "ocs", "optical circuit switches", false},
    {"prices", "prices", "price ranges, with their dates", false},
    {"collectives", "collectives", "latencies and efficiencies of libraries", true},
    {"transport", "transport.yaml", "what packets reach of fluid rates; fibre", false},
    {"accelerators", "accelerators", "peaks and memory of devices", false},
    {"models", "models", "dimensions of models, parameters", true},
    {"stacks", "stacks", "software: what it fuses, overlaps, costs", true},
    {"kernel-times", "kernel-times", "fits to measured kernels", true},
    {"reliability", "reliability.yaml", "failures, checkpoints", false},
    {"hosts", "hosts.yaml", "usual nodes of accelerators", true},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

enum { OPT_JSON = 1, OPT_CSV };

static const cli_option OPTIONS[] = {
    {OPT_JSON, "--json", NULL, NULL, "print every figure as one JSON object", NULL},
    {OPT_CSV, "--csv", NULL, NULL, "print every figure as CSV", NULL},
};

static const cli_example EXAMPLES[] = {
    {"weir presets", "the kinds, and how many there are"},
    {"weir presets switches", "the switches and their figures"},
    {"weir presets ocs palomar", "each figure of one, with its source"},
    {"weir presets models llama3-405b", "dimensions and parameters of a model"},
    {"weir presets prices --csv > quotes.csv", "all prices"},
};

const cli_command PRESETS_COMMAND = {
    .name = "presets",
    .operands = "[KIND [ID...]]",
    .question = "which parts and prices are known, and from where?",
    .about = "Lists the figures that scenarios may name: links, switches, transceivers, optical "
             "switches, prices, libraries, accelerators, models, software stacks. Each figure has "
             "its source and how sure "
             "it is: verified (read at the source), secondary (read elsewhere), memory, derived "
             "or fitted.",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .examples = EXAMPLES,
    .example_count = sizeof EXAMPLES / sizeof *EXAMPLES,
    .run = presets_run,
};

typedef struct {
    bool help, json, csv;
    const char *kind;
    char **ids; /* operands behind the kind, in the array of main */
    uint32_t id_count;
} presets_options;

static weir_code take(const cli_arg *arg, presets_options *o, weir_err *err)
{
    switch (arg->id) {
    case CLI_HELP:
        o->help = true;
        return WEIR_OK;
    case OPT_JSON:
        o->json = true;
        return WEIR_OK;
    case OPT_CSV:
        o->csv = true;
        return WEIR_OK;
    case CLI_OPERAND:
        break;
    default:
        return weir_err_set(err, WEIR_ERR_INTERNAL, "presets: option %d without a reader", arg->id);
    }
    return WEIR_OK;
}

/* Operands are moved to the front of argv, behind the command's name. */
static weir_code parse(int argc, char **argv, presets_options *o, weir_err *err)
{
    cli_args args = args_start(&PRESETS_COMMAND, argc, argv);
    cli_arg arg = {0};
    weir_code code;
    uint32_t operands = 0;
    do {
        code = args_next(&args, &arg, err);
        if (code == WEIR_OK && arg.id == CLI_OPERAND)
            argv[1 + operands++] = argv[args.next - 1];
        if (code == WEIR_OK && arg.id != CLI_END)
            code = take(&arg, o, err);
    } while (code == WEIR_OK && arg.id != CLI_END && !o->help);
    if (code == WEIR_OK && o->json && o->csv)
        return weir_err_set(err, WEIR_ERR_USAGE, "presets: --json and --csv exclude each other");
    o->kind = operands > 0 ? argv[1] : NULL;
    o->ids = argv + 2;
    o->id_count = operands > 0 ? operands - 1 : 0;
    return code;
}

static weir_code find_kind(const char *name, const presets_kind **kind, weir_err *err)
{
    const char *names[KIND_COUNT];
    for (uint32_t i = 0; i < KIND_COUNT; i++) {
        names[i] = KINDS[i].kind;
        if (strcmp(name, names[i]) == 0) {
            *kind = &KINDS[i];
            return WEIR_OK;
        }
    }
    const char *near = nearest_name(name, names, KIND_COUNT);
    if (near)
        return weir_err_set(err, WEIR_ERR_USAGE, "presets: no kind %s; did you mean %s?", name,
                            near);
    return weir_err_set(err, WEIR_ERR_USAGE, "presets: no kind %s; weir presets lists them", name);
}

static weir_code refuse_id(const presets_table *table, const char *id, weir_err *err)
{
    enum { MOST = 512 };
    const char *ids[MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->count && count < MOST; i++)
        ids[count++] = table->rows[i].id;
    const char *near = nearest_name(id, ids, count);
    if (near)
        return weir_err_set(err, WEIR_ERR_USAGE, "presets: %s has no %s; did you mean %s?",
                            table->kind->kind, id, near);
    return weir_err_set(err, WEIR_ERR_USAGE, "presets: %s has no %s; weir presets %s lists them",
                        table->kind->kind, id, table->kind->kind);
}

/* The rows of that preset; rows of one preset stand together. */
static weir_code find_id(const presets_table *table, const char *id, presets_table *found,
                         weir_err *err)
{
    uint32_t first = 0;
    while (first < table->count && strcmp(table->rows[first].id, id) != 0)
        first++;
    if (first == table->count)
        return refuse_id(table, id, err);
    uint32_t end = first;
    while (end < table->count && !strcmp(table->rows[end].id, id))
        end++;
    *found = (presets_table){table->kind, table->rows + first, end - first};
    return WEIR_OK;
}

static void write_tables(weir_text *out, const presets_options *o, const presets_table *tables,
                         uint32_t count)
{
    if (o->json)
        presets_json(out, tables, count);
    else if (o->csv)
        presets_csv(out, tables, count);
    else if (!o->kind)
        presets_show_kinds(out, tables, count);
    else
        for (uint32_t i = 0; i < count; i++) {
            weir_text_add(out, i > 0 ? WEIR_STR("\n") : WEIR_STR(""));
            (o->id_count > 0 ? presets_show_figures : presets_show_list)(out, &tables[i]);
        }
}

/* The figures of a kind; one of both is there. */
typedef struct {
    weir_part_list *list;
    presets_blocks blocks;
} figures;

static weir_code figures_read(const presets_kind *kind, figures *f, presets_table *table,
                              weir_err *err)
{
    *table = (presets_table){.kind = kind};
    if (kind->has_blocks) {
        weir_code code = presets_blocks_read(kind->folder, &f->blocks, err);
        table->rows = f->blocks.rows;
        table->count = f->blocks.count;
        return code;
    }
    weir_code code = weir_part_list_new(kind->folder, &f->list, err);
    if (code == WEIR_OK)
        table->rows = weir_part_list_rows(f->list, &table->count);
    return code;
}

static void figures_clear(figures *f)
{
    weir_part_list_free(f->list);
    presets_blocks_clear(&f->blocks);
}

static weir_code write_kind(weir_text *out, const presets_options *o, weir_err *err)
{
    enum { IDS_MAX = 64 };
    const presets_kind *kind = NULL;
    figures f = {0};
    presets_table tables[IDS_MAX], whole = {0};
    weir_code code = find_kind(o->kind, &kind, err);
    if (code == WEIR_OK && o->id_count > IDS_MAX)
        code = weir_err_set(err, WEIR_ERR_USAGE, "presets: at most %d at once", IDS_MAX);
    if (code == WEIR_OK)
        code = figures_read(kind, &f, &whole, err);
    tables[0] = whole;
    for (uint32_t i = 0; i < o->id_count && code == WEIR_OK; i++)
        code = find_id(&whole, o->ids[i], &tables[i], err);
    if (code == WEIR_OK)
        write_tables(out, o, tables, o->id_count > 0 ? o->id_count : 1);
    figures_clear(&f);
    return code;
}

static weir_code write_all(weir_text *out, const presets_options *o, weir_err *err)
{
    figures all[KIND_COUNT] = {0};
    presets_table tables[KIND_COUNT];
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < KIND_COUNT && code == WEIR_OK; i++)
        code = figures_read(&KINDS[i], &all[i], &tables[i], err);
    if (code == WEIR_OK)
        write_tables(out, o, tables, KIND_COUNT);
    for (uint32_t i = 0; i < KIND_COUNT; i++)
        figures_clear(&all[i]);
    return code;
}

int presets_run(int argc, char **argv)
{
    weir_err err = {0};
    weir_text out = {0};
    presets_options o = {0};
    weir_code code = parse(argc, argv, &o, &err);
    if (code == WEIR_OK && o.help)
        document_command(&out, &PRESETS_COMMAND);
    else if (code == WEIR_OK)
        code = o.kind ? write_kind(&out, &o, &err) : write_all(&out, &o, &err);
    if (code == WEIR_OK)
        code = output_print(&out, &err);
    weir_text_clear(&out);
    return code == WEIR_OK ? EXIT_DONE : report_error(&err);
}
