/* train_allocation_test.c: the n-th allocation of `weir train` fails: no crash, no leak, a clean
 * error; what comes out in spite of it is what would have come out without.
 *
 * Linked with --wrap (cmake/Tests.cmake) like allocation_test. n goes in strides (primes);
 * WEIR_ALLOCATION_STRIDE=1 in the environment takes every n (minutes). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocator.h"

#include "report/train_sweep_text.h"
#include "report/train_text.h"
#include "result/json.h"
#include "study/train_study.h"
#include "study/train_sweep.h"

#include <stdlib.h>
#include <string.h>

static const char every_section[] =
    "name: all\n"
    "model: {layers: 8, hidden: 256, heads: 4, ffn: 1024, vocab: 1000}\n"
    "cluster: {accelerator: h100-sxm, nodes: 2, devices: 4, nic: {like: cx7-400g, rate: 200 "
    "Gb/s}}\n"
    "stack: {preset: nemo-24.12, launch: 12 us}\n"
    "plan: {sequence: 512, global_batch: 16, tensor: 2, pipeline: 2, chunks: 2, order: tp-pp-dp,\n"
    "       recompute: [core, norms]}\n"
    "network: {kind: clos, switch: tomahawk5-400g, oversubscription: [1, 3]}\n"
    "disturb: {slow: [{device: 3, factor: 1.3}], broken: [{link: nic 3, at: 0 s, rate: 0.5}]}\n"
    "reliability: a100-rsc\n"
    "checkpoint: {interval: 30 min}\n";

static const char small[] = "model: {layers: 4, hidden: 256, heads: 4, ffn: 1024, vocab: 1000}\n"
                            "cluster: {accelerator: a100-sxm-80gb, nodes: 1, devices: 4}\n"
                            "plan: {sequence: 512, global_batch: 8, pipeline: 2}\n";

/* What a run leaves, to be compared with a run without failures. */
typedef weir_code (*runner)(const char *text, weir_text *out, weir_err *err);

static const char *run_with_failure(runner run, const char *text, uint64_t n, bool for_good,
                                    const weir_text *reference, uint32_t *survived)
{
    weir_err err = {0};
    weir_text out = {0};
    const char *wrong = NULL;
    allocator.calls = 0;
    allocator.for_good = for_good;
    allocator.fail_at = n;
    weir_code code = run(text, &out, &err);
    allocator.fail_at = 0;
    *survived += code == WEIR_OK;
    if (code == WEIR_OK && (out.n != reference->n || memcmp(out.p, reference->p, out.n) != 0))
        wrong = "other bytes are printed";
    else if (code != WEIR_OK && code != WEIR_ERR_MEMORY)
        wrong = "another error than that of memory";
    else if (code != WEIR_OK && (err.code != code || !err.text[0]))
        wrong = "an error without a sentence";
    if (wrong)
        print_error("allocation %llu%s: %s (code %d, err %d '%s')\n", (unsigned long long)n,
                    for_good ? " and all later ones" : "", wrong, code, err.code, err.text);
    weir_text_clear(&out);
    return wrong;
}

static void let_fail(runner run, const char *text, uint64_t stride, const char *name)
{
    const char *wish = getenv("WEIR_ALLOCATION_STRIDE");
    weir_text reference = {0};
    weir_err err = {0};
    uint32_t survived = 0, runs = 0, wrong = 0;
    stride = wish && wish[0] == '1' ? 1 : stride;
    allocator.calls = 0;
    if (run(text, &reference, &err) != WEIR_OK)
        fail_msg("%s without failures: %s", name, err.text);
    uint64_t total = allocator.calls;
    assert_true(reference.n > 0);
    for (uint64_t n = 1; n <= total; n += stride, runs += 2) {
        wrong += run_with_failure(run, text, n, false, &reference, &survived) != NULL;
        wrong += run_with_failure(run, text, n, true, &reference, &survived) != NULL;
    }
    print_message("%s: %llu allocations, %u runs, %u survived\n", name, (unsigned long long)total,
                  runs, survived);
    weir_text_clear(&reference);
    assert_in_range(runs, 20, UINT32_MAX);
    assert_int_equal(wrong, 0);
}

/* --- what is run -------------------------------------------------------------------------- */

static weir_code read_scenario(const char *text, weir_text *out, weir_err *err)
{
    weir_train_scenario s = {0};
    weir_code code = weir_train_scenario_parse("job.yaml", text, strlen(text), NULL, 0, &s, err);
    if (code != WEIR_OK) {
        assert_null(s.arena);
        return code;
    }
    allocator.fail_at = 0;
    weir_text_printf(out, "%s %u %u %u\n", s.name, s.job.plan.data, s.link_count,
                     s.network.candidate_count);
    weir_train_scenario_clear(&s);
    return WEIR_OK;
}

static weir_code sweep(const char *text, weir_text *out, weir_err *err)
{
    weir_arena *arena = weir_arena_new();
    weir_sweep_axis axis;
    weir_train_sweep made;
    weir_code code = arena ? weir_sweep_parse("plan.tensor=1,2,3", arena, &axis, err)
                           : weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    const weir_train_sweep_request request = {.name = "job.yaml",
                                              .bytes = text,
                                              .n = strlen(text),
                                              .axes = &axis,
                                              .axis_count = 1,
                                              .threads = 1};
    if (code == WEIR_OK)
        code = weir_train_sweep_run(&request, arena, &made, err);
    if (code == WEIR_OK)
        code = weir_report_train_sweep(out, &made, false, err);
    if (code == WEIR_OK)
        code = weir_report_train_sweep_csv(out, &made, err);
    if (code == WEIR_OK)
        code = weir_report_train_sweep_json(out, &made, err);
    weir_arena_free(arena);
    return code;
}

static weir_code study(const weir_train_scenario *s, weir_text *out, weir_err *err)
{
    weir_spmd_run run = {0};
    weir_lines lines = {0};
    const weir_train_options options = {.threads = 1};
    weir_result *result = weir_result_new();
    weir_code code = result ? weir_train_study(s, &options, result, &run, &lines, err)
                            : weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    if (code == WEIR_OK) {
        result->note_count = 0; /* words that may be lost */
        code = weir_result_json(out, result, err);
    }
    if (code == WEIR_OK)
        code = weir_report_train(out, result, false, err);
    weir_lines_clear(&lines);
    weir_spmd_run_clear(&run);
    weir_result_free(result);
    return code;
}

/* Reading takes most allocations and is tried by itself. */
static weir_code play(const char *text, weir_text *out, weir_err *err)
{
    uint64_t fail_at = allocator.fail_at;
    weir_train_scenario s = {0};
    allocator.fail_at = 0;
    weir_code code = weir_train_scenario_parse("job.yaml", text, strlen(text), NULL, 0, &s, err);
    allocator.fail_at = fail_at;
    allocator.calls = 0;
    if (code == WEIR_OK)
        code = study(&s, out, err);
    weir_train_scenario_clear(&s);
    return code;
}

static void scenarios_are_read_or_refused_for_memory(void **state)
{
    let_fail(read_scenario, every_section, 31, "reading");
}

static void sweeps_are_run_or_refused_for_memory(void **state)
{
    let_fail(sweep, small, 61, "sweeping");
}

static void steps_are_played_or_refused_for_memory(void **state)
{
    let_fail(play, small, 7, "playing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenarios_are_read_or_refused_for_memory),
        cmocka_unit_test(sweeps_are_run_or_refused_for_memory),
        cmocka_unit_test(steps_are_played_or_refused_for_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
