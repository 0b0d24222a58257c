/* A played step, written as traces and read again, has the same ledger (DESIGN 7.3). */
#include "report/kineto_writer.h"

#include "classify/classify.h"
#include "import/kineto.h"
#include "import/paths.h"
#include "ledger/ledger.h"
#include "study/train_study.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CLUSTER                                                                                    \
    "cluster: {accelerator: h100-sxm, nodes: 4, devices: 8, node_link: nvlink4, nic: cx7-400g, "   \
    "library: nccl-2.27}\n"
#define DENSE                                                                                      \
    "name: dense\nmodel: llama3-8b\n" CLUSTER "stack: nemo-24.12\n"                                \
    "plan: {sequence: 8192, micro_batch: 1, global_batch: 32, tensor: 2, pipeline: 4, chunks: 2, " \
    "schedule: interleaved, zero: 1, precision: bf16}\n"
#define DUAL                                                                                       \
    "name: dual\nmodel: llama3-8b\n" CLUSTER "stack: megatron-core\n"                              \
    "plan: {sequence: 4096, micro_batch: 1, global_batch: 64, tensor: 2, pipeline: 4, "            \
    "schedule: dualpipe, zero: 1, precision: bf16}\n"
#define MIXTURE                                                                                    \
    "name: moe\nmodel: mixtral-8x7b\n" CLUSTER "stack: megatron-core\n"                            \
    "plan: {sequence: 4096, micro_batch: 1, global_batch: 32, tensor: 2, pipeline: 2, expert: 4, " \
    "schedule: 1f1b, zero: 1, precision: bf16}\n"
#define SHARDED                                                                                    \
    "name: fsdp\nmodel: llama3-8b\n" CLUSTER "stack: fsdp-torch-2.1\n"                             \
    "plan: {sequence: 4096, micro_batch: 1, global_batch: 64, zero: 3, precision: bf16, "          \
    "recompute: full}\n"

#define RING                                                                                       \
    "name: ring\nmodel: llama3-8b\n" CLUSTER "stack: nemo-24.12\n"                                 \
    "plan: {sequence: 8192, micro_batch: 1, global_batch: 16, tensor: 2, context: 2, "             \
    "pipeline: 2, zero: 1, precision: bf16}\n"

/* A stage's messages hold it until they are there. */
#define BLOCKING                                                                                   \
    "name: blocking\nmodel: gpt3-175b\n"                                                           \
    "cluster: {accelerator: a100-sxm-80gb, nodes: 8, devices: 8, node_link: nvlink3, "             \
    "nic: cx6-200g, library: nccl-2.18}\nstack: megatron-2022-selective\n"                         \
    "plan: {sequence: 2048, micro_batch: 1, global_batch: 16, tensor: 8, pipeline: 8, chunks: 3, " \
    "schedule: interleaved, zero: 0, recompute: selective, precision: fp16}\n"
#define NO_BARRIER                                                                                 \
    "name: zb\nmodel: llama3-8b\n" CLUSTER "stack: megatron-zero-bubble-2023\n"                    \
    "plan: {sequence: 4096, micro_batch: 1, global_batch: 64, tensor: 2, pipeline: 4, "            \
    "schedule: zb-h2, zero: 1, precision: bf16}\nsteps: 2\n"

#define OK(call, err)                                                                              \
    do {                                                                                           \
        if ((call) != WEIR_OK) {                                                                   \
            fail_msg("%s", (err)->text);                                                           \
        }                                                                                          \
    } while (0)

typedef struct {
    weir_result *result;
    weir_spmd_run run;
} simulated;

static simulated simulate(const char *scenario, bool unfolded)
{
    weir_err err = {0};
    weir_train_scenario s = {0};
    simulated made = {.result = weir_result_new()};
    const weir_train_options options = {.unfolded = unfolded, .ignores_memory = true};
    assert_non_null(made.result);
    OK(weir_train_scenario_parse("test.yaml", scenario, strlen(scenario), NULL, 0, &s, &err), &err);
    OK(weir_train_study(&s, &options, made.result, &made.run, NULL, &err), &err);
    weir_train_scenario_clear(&s);
    return made;
}

static void simulated_clear(simulated *s)
{
    weir_result_free(s->result);
    weir_spmd_run_clear(&s->run);
}

static void build(const weir_timeline *t, weir_result *result)
{
    weir_err err = {0};
    weir_families *families = NULL;
    weir_name_classes names = {0};
    weir_match match = {0};
    weir_span_classes classes = {0};
    weir_host_names *host_names = NULL;
    uint32_t count = weir_timeline_spans(t).device_count;
    weir_comm_kind *kinds = calloc(count + (size_t)1, sizeof *kinds);
    OK(weir_families_load(NULL, &families, &err), &err);
    OK(weir_classify_names(t, families, &names, &err), &err);
    const weir_match_options options = {.is_comm = names.is_comm, .kind_of = names.comm_kind};
    OK(weir_match_build(t, &options, &match, &err), &err);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t instance = match.instance_of_span[i];
        kinds[i] = instance == WEIR_NONE ? WEIR_COMM_UNKNOWN : match.instances[instance].kind;
    }
    OK(weir_classify_spans(t, &names, match.launch, kinds, &classes, &err), &err);
    OK(weir_host_names_load(&host_names, &err), &err);
    const weir_ledger_input input = {.timeline = t,
                                     .match = &match,
                                     .names = &names,
                                     .classes = &classes,
                                     .host_names = host_names,
                                     .families = families};
    OK(weir_ledger_build(&input, NULL, result, NULL, &err), &err);
    free(kinds);
    weir_host_names_free(host_names);
    weir_span_classes_clear(&classes);
    weir_match_clear(&match);
    weir_name_classes_clear(&names);
    weir_families_free(families);
}

/* As `weir trace DIR` does; removes the files. */
static weir_result *read_again(const char *dir)
{
    weir_err err = {0};
    weir_paths paths = {0};
    weir_result *result = weir_result_new();
    weir_timeline *t = weir_timeline_new(NULL);
    const weir_kineto_options options = {0};
    OK(weir_paths_expand(&dir, 1, &paths, &err), &err);
    OK(weir_kineto_read(t, (const char *const *)paths.items, paths.count, &options, &result->diags,
                        &err),
       &err);
    build(t, result);
    assert_int_equal(weir_diags_lost(&result->diags), 0);
    for (uint32_t i = 0; i < paths.count; i++) {
        assert_int_equal(unlink(paths.items[i]), 0);
    }
    weir_paths_clear(&paths);
    weir_timeline_free(t);
    return result;
}

static void assert_same(const weir_result *a, const weir_result *b, bool causes)
{
    assert_int_equal(a->device_count, b->device_count);
    for (uint32_t d = 0; d < a->device_count; d++) {
        const weir_account *x = &a->devices[d].account, *y = &b->devices[d].account;
        assert_int_equal(a->devices[d].rank, b->devices[d].rank);
        for (int w = 0; w < WEIR_WAIT_COUNT; w++) {
            if (x->waits.ns[w] != y->waits.ns[w]) {
                fail_msg("rank %d, %s: %lld ns, read again %lld ns", a->devices[d].rank,
                         weir_wait_name((weir_wait)w), (long long)x->waits.ns[w],
                         (long long)y->waits.ns[w]);
            }
        }
        for (int c = 0; causes && c < WEIR_CAUSE_COUNT; c++) {
            if (x->causes.ns[c] != y->causes.ns[c]) {
                fail_msg("rank %d, %s: %lld ns, read again %lld ns", a->devices[d].rank,
                         weir_cause_name((weir_cause)c), (long long)x->causes.ns[c],
                         (long long)y->causes.ns[c]);
            }
        }
    }
}

/* A trace infers what waited for what, so the path is nearly the same: a host that is held by a
 * message of one nanosecond more is not seen to wait for it. */
static void assert_like_path(const weir_result *a, const weir_result *b)
{
    for (int w = 0; w < WEIR_WAIT_COUNT; w++) {
        int64_t apart = a->critical_path.waits.ns[w] - b->critical_path.waits.ns[w];
        if (llabs(apart) > a->critical_path.length_ns / 100) {
            fail_msg("path, %s: %lld ns, read again %lld ns", weir_wait_name((weir_wait)w),
                     (long long)a->critical_path.waits.ns[w],
                     (long long)b->critical_path.waits.ns[w]);
        }
    }
}

static void go_round(const char *scenario, bool unfolded, bool is_plain)
{
    char dir[] = "/tmp/weir-kineto-XXXXXX";
    weir_err err = {0};
    simulated s = simulate(scenario, unfolded);
    assert_non_null(mkdtemp(dir));
    const weir_kineto_request request = {.timeline = s.run.timeline,
                                         .cause = s.run.cause,
                                         .gaps = &s.run.gaps,
                                         .is_plain = is_plain};
    OK(weir_kineto_write(dir, &request, &err), &err);
    weir_result *again = read_again(dir);
    assert_int_equal(rmdir(dir), 0); /* nothing else was left there */
    assert_same(s.result, again, !is_plain);
    if (!is_plain) {
        assert_like_path(s.result, again);
    }
    weir_result_free(again);
    simulated_clear(&s);
}

static void a_pipeline_has_the_same_ledger_again(void **state)
{
    (void)state;
    go_round(DENSE, false, false);
    go_round(DENSE, true, false);
    go_round(DUAL, false, false);
    go_round(BLOCKING, false, false);
}

static void steps_without_a_barrier_have_the_same_ledger_again(void **state)
{
    (void)state;
    go_round(NO_BARRIER, false, false);
    go_round(NO_BARRIER "disturb: {jitter: 0.02}\n", false, false);
}

static void a_mixture_of_experts_has_the_same_ledger_again(void **state)
{
    (void)state;
    go_round(MIXTURE, false, false);
    go_round(MIXTURE, true, false);
    char loaded[sizeof MIXTURE + 32];
    static const char even[] = MIXTURE;
    const char *precision = strstr(even, "precision");
    snprintf(loaded, sizeof loaded, "%.*sexpert_load: 1.5, %s", (int)(precision - even), even,
             precision);
    go_round(loaded, false, false);
}

static void shards_have_the_same_ledger_again(void **state)
{
    (void)state;
    go_round(SHARDED, false, false);
    go_round(SHARDED, true, false);
}

static void a_disturbed_step_has_the_same_ledger_again(void **state)
{
    (void)state;
    go_round(DENSE "disturb: {slow: [{device: 3, factor: 1.3}], jitter: 0.02}\n", false, false);
    go_round(MIXTURE "disturb: {slow: [{device: 9, factor: 1.2}]}\n", false, false);
    go_round(RING "disturb: {slow: [{device: 3, factor: 1.3}]}\n", false, false);
    go_round(RING "disturb: {broken: [{link: node link 3, rate: 0.1}]}\n", false, false);
}

/* Copies to the host beside computing, and what of them is seen. */
static void offloaded_activations_have_the_same_ledger_again(void **state)
{
    (void)state;
    go_round("name: offload\nmodel: llama3-8b\n" CLUSTER "stack: nemo-24.12\n"
             "plan: {sequence: 8192, micro_batch: 1, global_batch: 64, tensor: 2, zero: 1, "
             "offload_share: 0.9, precision: bf16}\n",
             false, false);
}

static void several_steps_have_the_same_ledger_again(void **state)
{
    (void)state;
    go_round(DENSE "steps: 3\n", false, false);
}

/* What a profiler cannot tell is named otherwise, but it is the same wait. */
static void without_causes_the_four_waits_are_the_same(void **state)
{
    (void)state;
    go_round(DENSE, true, true);
    go_round(MIXTURE, false, true);
    go_round(SHARDED, false, true);
    go_round(RING "disturb: {slow: [{device: 3, factor: 1.3}]}\n", false, true);
    go_round(DENSE "disturb: {slow: [{device: 3, factor: 1.3}], jitter: 0.02}\n", false, true);
}

static void a_folder_that_cannot_be_made_is_told(void **state)
{
    (void)state;
    simulated s = simulate(SHARDED, false);
    weir_err err = {0};
    const weir_kineto_request request = {
        .timeline = s.run.timeline, .cause = s.run.cause, .gaps = &s.run.gaps};
    assert_int_equal(weir_kineto_write("/nowhere/at/all", &request, &err), WEIR_ERR_IO);
    assert_string_equal(err.text, "/nowhere/at/all: No such file or directory");
    simulated_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_has_the_same_ledger_again),
        cmocka_unit_test(a_mixture_of_experts_has_the_same_ledger_again),
        cmocka_unit_test(shards_have_the_same_ledger_again),
        cmocka_unit_test(a_disturbed_step_has_the_same_ledger_again),
        cmocka_unit_test(steps_without_a_barrier_have_the_same_ledger_again),
        cmocka_unit_test(offloaded_activations_have_the_same_ledger_again),
        cmocka_unit_test(several_steps_have_the_same_ledger_again),
        cmocka_unit_test(without_causes_the_four_waits_are_the_same),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
