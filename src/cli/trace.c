#include "cli/trace.h"

#include "base/intern.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "result/json.h"
#include "scenario/embedded.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void run_clear(trace_run_state *run)
{
    weir_result_free(run->result);
    weir_lines_clear(&run->lines);
    weir_host_names_free(run->host_names);
    weir_span_classes_clear(&run->classes);
    weir_match_clear(&run->match);
    weir_name_classes_clear(&run->names);
    weir_families_free(run->families);
    weir_timeline_free(run->timeline);
    weir_budget_free(run->budget);
    weir_paths_clear(&run->paths);
}

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
}

/* Without --max-memory: three quarters of the machine, so that a hostile file ends in an error and
 * not in the system's killer. 0 = unknown, no limit. */
static uint64_t usual_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages / 4 * 3 * (uint64_t)bytes : 0;
}

static weir_code read_files(const trace_options *o, trace_run_state *run, weir_err *err)
{
    weir_code code = weir_paths_expand(o->names, o->name_count, &run->paths, err);
    if (code != WEIR_OK)
        return code;
    run->budget = weir_budget_new(o->max_memory_bytes ? o->max_memory_bytes : usual_memory());
    run->timeline = weir_timeline_new(run->budget);
    run->result = weir_result_new();
    if (!run->budget || !run->timeline || !run->result)
        return no_memory(err);
    code = weir_kineto_read(run->timeline, (const char *const *)run->paths.items, run->paths.count,
                            &o->import, &run->result->diags, err);
    if (code != WEIR_OK)
        return code;
    if (weir_timeline_spans(run->timeline).device_count > 0)
        return WEIR_OK;
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%s%s: no device activity, so there is nothing that waits; was the "
                        "profiler told to record the device (ProfilerActivity.CUDA)? see weir help "
                        "capture",
                        run->paths.items[0], run->paths.count > 1 ? " and the others" : "");
}

static weir_code match_ranks(const trace_options *o, trace_run_state *run, weir_err *err)
{
    weir_code code = weir_families_load(o->kernels, &run->families, err);
    if (code == WEIR_OK)
        code = weir_classify_names(run->timeline, run->families, &run->names, err);
    if (code != WEIR_OK)
        return code;
    weir_match_options options = {
        .is_comm = run->names.is_comm,
        .kind_of = run->names.comm_kind,
        .threads = o->import.threads,
    };
    return weir_match_build(run->timeline, &options, &run->match, err);
}

static weir_code classify(trace_run_state *run, weir_err *err)
{
    uint32_t count = weir_timeline_spans(run->timeline).device_count;
    weir_comm_kind *kinds = calloc(count, sizeof *kinds);
    if (!kinds)
        return no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t instance = run->match.instance_of_span[i];
        if (instance == WEIR_NONE)
            continue;
        const weir_instance *row = &run->match.instances[instance];
        bool batch =
            row->kind == WEIR_COMM_SEND_RECV && row->is_message; /* of sends and receives */
        kinds[i] = batch ? WEIR_COMM_SEND : row->kind;
    }
    weir_code code = weir_classify_spans(run->timeline, &run->names, run->match.launch, kinds,
                                         &run->classes, err);
    free(kinds);
    return code;
}

/* The paths, for the report; they live in the result's own arena. */
static weir_code note_inputs(trace_run_state *run, weir_err *err)
{
    weir_result *result = run->result;
    result->command = "trace";
    result->inputs = weir_arena_alloc(result->arena, run->paths.count, sizeof *result->inputs);
    if (!result->inputs)
        return no_memory(err);
    for (uint32_t i = 0; i < run->paths.count; i++) {
        result->inputs[i] = weir_result_copy(result, weir_str_from(run->paths.items[i]));
        if (!result->inputs[i])
            return no_memory(err);
    }
    result->input_count = run->paths.count;
    for (uint32_t i = 0; i < run->paths.skipped_count; i++)
        weir_result_note(result, "%s is no trace: left out", run->paths.skipped[i]);
    return WEIR_OK;
}

/* The presets that decide about classes and causes. The accelerators are told by their devices'
 * names; all of them count as one. */
static weir_code note_presets(trace_run_state *run, weir_err *err)
{
    static const weir_str whole[] = {{"kernels.yaml", 12}, {"host-spans.yaml", 15}};
    enum { WHOLE = sizeof whole / sizeof *whole };
    weir_result *result = run->result;
    uint32_t count;
    const weir_embedded_file *files = weir_embedded_files(&count);
    result->presets = weir_arena_alloc(result->arena, WHOLE + 1, sizeof *result->presets);
    if (!result->presets)
        return no_memory(err);
    uint64_t accelerators = 0;
    for (uint32_t i = 0; i < count; i++) {
        weir_str path = weir_str_from(files[i].path);
        uint64_t hash = weir_hash(files[i].bytes, files[i].n);
        if (weir_str_starts(path, WEIR_STR("accelerators/")))
            accelerators = accelerators * 31 + hash;
        for (int k = 0; k < WHOLE; k++)
            if (weir_str_eq(path, whole[k]))
                result->presets[result->preset_count++] = (struct weir_preset_row){
                    files[i].path, weir_result_printf(result, "%016llx", (unsigned long long)hash)};
    }
    result->presets[result->preset_count++] = (struct weir_preset_row){
        "accelerators", weir_result_printf(result, "%016llx", (unsigned long long)accelerators)};
    return WEIR_OK;
}

static weir_code build_ledger(const trace_options *o, trace_run_state *run, weir_err *err)
{
    weir_code code = weir_host_names_load(&run->host_names, err);
    if (code == WEIR_OK)
        code = note_inputs(run, err);
    if (code == WEIR_OK)
        code = note_presets(run, err);
    if (code != WEIR_OK)
        return code;
    weir_ledger_input input = {
        .timeline = run->timeline,
        .match = &run->match,
        .names = &run->names,
        .classes = &run->classes,
        .host_names = run->host_names,
        .families = run->families,
    };
    return weir_ledger_build(&input, &o->ledger, run->result, o->perfetto ? &run->lines : NULL,
                             err);
}

static weir_code print_result(const trace_options *o, trace_run_state *run, weir_err *err)
{
    weir_text out = {0};
    weir_code code = WEIR_OK;
    if (!o->series_timeline)
        run->result->critical_path.segment_count = 0; /* they were for the picture */
    if (o->json) {
        code = weir_result_json(&out, run->result, err);
    } else if (o->csv) {
        code = weir_report_csv(&out, run->result, o->text.by, err);
    } else if (!o->quiet) {
        weir_text_options text = o->text;
        text.colour = output_wants_colour();
        code = weir_report_text(&out, run->result, &text, err);
    }
    if (code == WEIR_OK)
        code = output_print(&out, err);
    weir_text_clear(&out);
    return code;
}

static weir_code analyse(const trace_options *o, trace_run_state *run, progress *p, weir_err *err)
{
    progress_stage(p, "reading");
    weir_code code = read_files(o, run, err);
    progress_stage(p, "matching ranks");
    if (code == WEIR_OK)
        code = match_ranks(o, run, err);
    if (code == WEIR_OK)
        code = classify(run, err);
    progress_stage(p, "adding up the waits");
    if (code == WEIR_OK)
        code = build_ledger(o, run, err);
    progress_stage(p, "drawing");
    if (code == WEIR_OK && o->perfetto)
        code = trace_write_picture(o, run, err);
    return code;
}

int trace_run(int argc, char **argv)
{
    weir_err err = {0};
    trace_options options;
    if (trace_options_parse(argc, argv, &options, &err) != WEIR_OK)
        return report_error(&err);
    if (options.help) {
        trace_options_clear(&options);
        return show_command_help(&TRACE_COMMAND);
    }
    trace_run_state run = {0};
    progress *p = progress_start(!options.quiet);
    weir_code code = analyse(&options, &run, p, &err);
    progress_stop(p);
    if (code == WEIR_OK)
        code = print_result(&options, &run, &err);
    int exit_code = code == WEIR_OK ? EXIT_DONE : report_error(&err);
    if (code == WEIR_OK && fail_if_report(options.conditions, options.condition_count, run.result))
        exit_code = EXIT_FINDING;
    run_clear(&run);
    trace_options_clear(&options);
    return exit_code;
}
