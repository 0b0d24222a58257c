#include "cli/input.h"
#include "cli/output.h"
#include "cli/train.h"
#include "report/train_sweep_text.h"
#include "study/train_sweep.h"

weir_code train_sweep(const train_run_state *run, weir_err *err)
{
    const train_options *o = run->options;
    const weir_train_sweep_request request = {.name = input_name(o->scenario),
                                              .bytes = run->input.p ? run->input.p : "",
                                              .n = run->input.n,
                                              .settings = o->settings,
                                              .setting_count = o->setting_count,
                                              .axes = o->sweep,
                                              .axis_count = o->sweep_count,
                                              .threads = o->threads};
    weir_text out = {0};
    weir_train_sweep sweep;
    weir_code code = weir_train_sweep_run(&request, o->arena, &sweep, err);
    if (code == WEIR_OK && o->json)
        code = weir_report_train_sweep_json(&out, &sweep, err);
    else if (code == WEIR_OK && o->csv)
        code = weir_report_train_sweep_csv(&out, &sweep, err);
    else if (code == WEIR_OK && !o->quiet)
        code = weir_report_train_sweep(&out, &sweep, output_wants_colour(), err);
    if (code == WEIR_OK)
        code = output_print(&out, err);
    weir_text_clear(&out);
    return code;
}
