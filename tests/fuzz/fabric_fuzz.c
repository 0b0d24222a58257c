/* fabric_fuzz.c: a small scenario is played whole, as `weir fabric` does it: it ends with a result
 * that can be printed, or is refused in one sentence.
 *
 * What makes a run long is left out here (bounded(), below): limits have a test of their own
 * (tests/data/fabric_limits_test.py). Files that a scenario names do not exist. */
#include "report/fabric_csv.h"
#include "report/fabric_text.h"
#include "result/json.h"
#include "study/fabric_study.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { NODES = 16, DEVICES = 64, PHASES = 4, CANDIDATES = 4, TIMES = 8, SIZE = 256 };

static bool is_small(const weir_candidate *c)
{
    uint64_t torus = (uint64_t)c->size[0] * c->size[1] * c->size[2];
    return torus <= SIZE && c->groups <= NODES && c->routers <= NODES && c->planes <= NODES &&
           c->uplinks <= SIZE && c->ocs_planes <= NODES && c->global_cables <= NODES &&
           c->trunk[0] <= NODES && c->trunk[1] <= NODES;
}

static bool bounded(const weir_fabric_scenario *s)
{
    bool is = s->cluster.nodes <= NODES && s->cluster.devices <= NODES &&
              s->cluster.nodes * s->cluster.devices <= DEVICES && s->steps <= 2 &&
              s->phase_count <= PHASES && s->candidate_count <= CANDIDATES;
    for (uint32_t i = 0; is && i < s->phase_count; i++)
        is = s->phases[i].times <= TIMES;
    for (uint32_t i = 0; is && i < s->candidate_count; i++)
        is = is_small(&s->candidates[i]);
    return is;
}

static weir_code print_all(const weir_result *result, weir_err *err)
{
    weir_text out = {0};
    weir_fabric_text_options options = {.traffic = true};
    weir_code code = weir_result_json(&out, result, err);
    if (code == WEIR_OK)
        code = weir_report_fabric(&out, result, &options, err);
    if (code == WEIR_OK)
        code = weir_report_candidates_csv(&out, result, err);
    if (code == WEIR_OK && (strstr(out.p, "nan,") || strstr(out.p, "inf,")))
        abort(); /* what is not known has its own word in each of them */
    weir_text_clear(&out);
    return code;
}

static void play(const weir_fabric_scenario *s)
{
    weir_err err = {0};
    weir_lines lines = {0};
    weir_spmd_run run = {0};
    weir_budget *budget = weir_budget_new(512u << 20);
    weir_result *result = weir_result_new();
    if (budget && result) {
        weir_fabric_options options = {.threads = 1, .details = true, .budget = budget};
        weir_code code = weir_fabric_study(s, &options, result, &run, &lines, &err);
        if (code == WEIR_OK)
            code = print_all(result, &err);
        if (code == WEIR_ERR_INTERNAL || (code != WEIR_OK && err.text[0] == '\0'))
            abort();
    }
    weir_lines_clear(&lines);
    weir_spmd_run_clear(&run);
    weir_result_free(result);
    weir_budget_free(budget);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    if (weir_fabric_scenario_parse("fuzz/scenario", (const char *)bytes, n, NULL, 0, &s, &err) ==
        WEIR_OK) {
        if (bounded(&s))
            play(&s);
        weir_fabric_scenario_clear(&s);
    }
    return 0;
}
