#include "cli/input.h"
#include "cli/picture.h"
#include "cli/resolved.h"
#include "cli/train.h"
#include "report/kineto_writer.h"

static const char *const PRESETS[] = {
    "accelerators/", "collectives/",     "fabrics/", "hosts.yaml", "kernel-times/",
    "links/",        "models/",          "nics/",    "ocs/",       "optics/",
    "prices/",       "reliability.yaml", "stacks/",  "switches/",  "training-bands.yaml",
    "transport.yaml"};

weir_code train_note_scenario(const train_run_state *run, weir_err *err)
{
    const train_options *o = run->options;
    weir_yaml *doc = NULL;
    const weir_yaml_node *root = NULL;
    weir_code code = weir_yaml_parse(input_name(o->scenario), run->input.p ? run->input.p : "",
                                     run->input.n, &doc, err);
    if (code == WEIR_OK)
        code = weir_settings_apply(weir_yaml_root(doc), o->settings, o->setting_count,
                                   run->result->arena, &root, err);
    const resolved_request request = {root, &o->scenario, 1, PRESETS,
                                      sizeof PRESETS / sizeof *PRESETS};
    if (code == WEIR_OK)
        code = resolved_note(&request, run->result, err);
    weir_yaml_free(doc);
    return code;
}

static weir_code write_picture(const train_run_state *run, weir_err *err)
{
    const weir_perfetto_request request = {.timeline = run->played.timeline,
                                           .lines = &run->lines,
                                           .result = run->result,
                                           .all = true,
                                           .full = {WEIR_NONE, WEIR_NONE}};
    return picture_write(run->options->perfetto, &request, err);
}

weir_code train_write_files(const train_run_state *run, weir_err *err)
{
    const train_options *o = run->options;
    const weir_kineto_request traces = {
        .timeline = run->played.timeline, .cause = run->played.cause, .gaps = &run->played.gaps};
    weir_code code = o->perfetto ? write_picture(run, err) : WEIR_OK;
    return code == WEIR_OK && o->kineto ? weir_kineto_write(o->kineto, &traces, err) : code;
}
