#include "result/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "result_sample.h"

/* The sentences are written by hand: each is what a reader should be told for these figures. */
static void assert_verdict(weir_result *r, weir_cause cause, const char *sentence)
{
    weir_err err = {0};
    assert_int_equal(weir_verdict_compose(r, &err), WEIR_OK);
    assert_string_equal(r->verdict.sentence, sentence);
    assert_string_equal(weir_cause_name(r->verdict.cause), weir_cause_name(cause));
    assert_int_equal(r->verdict.wait, weir_cause_wait(cause));
}

static void names_the_sleeper_and_its_host(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                   "Rank 2 (node ip-172-31-5-7) makes the others wait: 68 % of the time ranks "
                   "wait for it in all-to-alls, 997 ms a step. Its host is late (the host had not "
                   "launched the next kernel); not its GPU or the network.");
    assert_true(r->verdict.blames);
    assert_int_equal(r->verdict.rank, 2);
    assert_int_equal(r->verdict.device, 0);
    assert_int_equal(r->verdict.reason, WEIR_REASON_LATE_HOST);
    assert_true(fabs(r->verdict.share - 8970.0 / 13164.0) < 1e-12);
    weir_result_free(r);
}

static void says_the_reason_of_more_work_and_slow_devices(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    r->stragglers[0].reason = WEIR_REASON_MORE_WORK;
    r->stragglers[0].factor = 1.744;
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                   "Rank 2 (node ip-172-31-5-7) makes the others wait: 68 % of the time ranks "
                   "wait for it in all-to-alls, 997 ms a step. It has more work (1.74x the "
                   "others'); not its GPU, its host or the network.");
    r->stragglers[0].reason = WEIR_REASON_SLOW_DEVICE;
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                   "Rank 2 (node ip-172-31-5-7) makes the others wait: 68 % of the time ranks "
                   "wait for it in all-to-alls, 997 ms a step. Its GPU is slow (the same kernels "
                   "take 1.74x as long); not its host or the network.");
    r->stragglers[0].reason = WEIR_REASON_UNKNOWN;
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                   "Rank 2 (node ip-172-31-5-7) makes the others wait: 68 % of the time ranks "
                   "wait for it in all-to-alls, 997 ms a step. Nothing recorded tells why it is "
                   "late.");
    weir_result_free(r);
}

/* Rank 3 is waited for 5.97 s, but only because it waited for rank 2. */
static void blames_the_origin_of_a_chain(void **state)
{
    weir_result *r = sample_sleeper();
    weir_straggler_row itself = r->stragglers[0];
    (void)state;
    r->stragglers[0].rank = 3;
    r->stragglers[0].reason = WEIR_REASON_UNKNOWN;
    r->stragglers[0].waited_for_ns = 5970 * SAMPLE_MS;
    itself.waited_for_ns = 3000 * SAMPLE_MS;
    sample_straggler(r, itself);
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                   "Rank 2 (node ip-172-31-5-7) makes the others wait: 68 % of the time ranks "
                   "wait for it in all-to-alls, 997 ms a step. Its host is late (the host had not "
                   "launched the next kernel); not its GPU or the network.");
    assert_int_equal(r->verdict.rank, 2);
    weir_result_free(r);
}

static void blames_no_rank_that_has_less_than_half(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    r->stragglers[0].waited_for_ns = 2400 * SAMPLE_MS;
    for (int32_t rank = 0; rank < 4; rank++) {
        if (rank != 2) {
            sample_straggler(r, (weir_straggler_row){.rank = rank,
                                                     .origin_rank = rank,
                                                     .axis = "world",
                                                     .waited_for_ns = 2190 * SAMPLE_MS});
        }
    }
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                   "Ranks wait for one another in all-to-alls: 68 % of the time, for no rank in "
                   "particular (most for rank 2 (node ip-172-31-5-7), 18 %).");
    assert_false(r->verdict.blames);
    weir_result_free(r);
}

static void names_no_rank_whose_files_are_missing(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    r->stragglers[0].rank = r->stragglers[0].origin_rank = -1;
    r->stragglers[0].reason = WEIR_REASON_ABSENT;
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                   "Ranks wait for ranks whose files are missing or cut: 68 % of the time, in "
                   "all-to-alls.");
    assert_false(r->verdict.blames);
    weir_result_free(r);
}

static void says_why_communication_is_not_split(void **state)
{
    weir_result *r = sample_empty(1, 3);
    (void)state;
    sample_spend(r, 0, WEIR_CAUSE_COMMUNICATION_UNSPLIT, 710);
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_GEMM, 290);
    sample_collective(r, (weir_collective_row){.kind = WEIR_COMM_ALL_TO_ALL,
                                               .ranks = 4,
                                               .axis = "world",
                                               .unsplit_ns = 710 * SAMPLE_MS});
    assert_verdict(r, WEIR_CAUSE_COMMUNICATION_UNSPLIT,
                   "71 % of the time is in all-to-alls that cannot be split into waiting and "
                   "transfer: the files of 3 ranks are missing.");
    r->collectives[0].ranks = 2;
    assert_verdict(r, WEIR_CAUSE_COMMUNICATION_UNSPLIT,
                   "71 % of the time is in all-to-alls that cannot be split into waiting and "
                   "transfer: the file of 1 rank is missing.");
    r->collectives[0].complete = true;
    r->clock.aligned = false;
    assert_verdict(r, WEIR_CAUSE_COMMUNICATION_UNSPLIT,
                   "71 % of the time is in all-to-alls that cannot be split into waiting and "
                   "transfer: the clocks of the hosts could not be aligned.");
    weir_result_free(r);
}

static void names_kind_place_and_bandwidth_of_transfers(void **state)
{
    weir_result *r = sample_empty(16, 3);
    (void)state;
    sample_spend(r, 0, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE, 500);
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_GEMM, 400);
    sample_spend(r, 0, WEIR_CAUSE_CACHE_OPTIMIZER, 100);
    sample_collective(r, (weir_collective_row){.kind = WEIR_COMM_ALL_GATHER,
                                               .axis = "tensor",
                                               .transfer_ns = 900 * SAMPLE_MS});
    sample_collective(r, (weir_collective_row){.kind = WEIR_COMM_ALL_REDUCE,
                                               .axis = "data",
                                               .tier = "between_nodes",
                                               .complete = true,
                                               .transfer_ns = 500 * SAMPLE_MS,
                                               .bus_bandwidth_bytes_per_s = 37.6e9});
    assert_verdict(r, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE,
                   "It is moving data: 50 % of the time is communication that nothing hides, most "
                   "of it all-reduces (data, between nodes) at 38 GB/s of bus bandwidth.");
    weir_result_free(r);
}

static void says_that_it_computes_and_how_well(void **state)
{
    weir_result *r = sample_empty(1, 3);
    (void)state;
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_GEMM, 700);
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_ATTENTION, 120);
    sample_spend(r, 0, WEIR_CAUSE_CACHE_ACTIVATIONS, 130);
    sample_spend(r, 0, WEIR_CAUSE_DEPENDENCY_HOST, 50);
    assert_verdict(r, WEIR_CAUSE_COMPUTE_GEMM,
                   "It is computing: 82 % of the time. Next: cache, 13 % (activations).");
    r->efficiency.peak_share_in_compute = 0.61;
    assert_verdict(r, WEIR_CAUSE_COMPUTE_GEMM,
                   "It is computing: 82 % of the time, at 61 % of peak. Next: cache, 13 % "
                   "(activations).");
    weir_result_free(r);
}

static void rests_no_verdict_on_kernels_of_unknown_bound(void **state)
{
    weir_result *r = sample_empty(1, 3);
    (void)state;
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_UNKNOWN, 620);
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_GEMM, 110);
    sample_spend(r, 0, WEIR_CAUSE_CACHE_ACTIVATIONS, 270);
    assert_verdict(r, WEIR_CAUSE_COMPUTE_UNKNOWN,
                   "62 % of the time is in kernels, most of them GEMMs, whose size nothing tells: "
                   "arithmetic or memory cannot be told apart (capture with record_shapes=True). "
                   "Next: cache, 27 % (activations).");
    sample_spend(r, 0, WEIR_CAUSE_DEPENDENCY_ALLOCATOR, 600);
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_ALLOCATOR,
                   "The GPU idles 38 % of the time: device memory is allocated or freed. 39 % is "
                   "in kernels whose size nothing tells (capture with record_shapes=True).");
    weir_result_free(r);
}

static void names_what_is_read_from_memory(void **state)
{
    weir_result *r = sample_empty(1, 0);
    (void)state;
    sample_spend(r, 0, WEIR_CAUSE_CACHE_WEIGHTS, 450);
    sample_spend(r, 0, WEIR_CAUSE_CACHE_KV, 160);
    sample_spend(r, 0, WEIR_CAUSE_DEPENDENCY_HOST, 390);
    assert_verdict(r, WEIR_CAUSE_CACHE_WEIGHTS,
                   "It waits for memory: 61 % of the time, most of it (45 %) reading weights for "
                   "few rows at a time.");
    weir_result_free(r);
}

static void says_why_a_device_idles(void **state)
{
    weir_result *r = sample_empty(1, 0);
    (void)state;
    sample_spend(r, 0, WEIR_CAUSE_DEPENDENCY_HOST, 390);
    sample_spend(r, 0, WEIR_CAUSE_DEPENDENCY_LAUNCH, 10);
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_GEMM, 350);
    sample_spend(r, 0, WEIR_CAUSE_CACHE_ACTIVATIONS, 250);
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_HOST,
                   "The GPU idles 40 % of the time: the host does not launch fast enough.");
    sample_spend(r, 0, WEIR_CAUSE_DEPENDENCY_DATA, 600);
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_DATA,
                   "The GPU idles 63 % of the time, 38 % because the data loader is late.");
    weir_result_free(r);
}

static void names_the_device_that_idles_most(void **state)
{
    weir_result *r = sample_empty(4, 0);
    (void)state;
    for (uint32_t d = 0; d < 4; d++) {
        sample_spend(r, d, WEIR_CAUSE_DEPENDENCY_UNKNOWN, d == 3 ? 900 : 100);
        sample_spend(r, d, WEIR_CAUSE_COMPUTE_GEMM, 150);
    }
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_UNKNOWN,
                   "The GPUs idle 67 % of the time: nothing recorded tells why. Most of it is on "
                   "rank 3.");
    weir_result_free(r);
}

static void says_who_is_waited_for_in_a_pipeline(void **state)
{
    weir_result *r = sample_empty(4, 2);
    (void)state;
    sample_spend(r, 0, WEIR_CAUSE_DEPENDENCY_BUBBLE, 600);
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_GEMM, 400);
    sample_straggler(
        r, (weir_straggler_row){
               .rank = 3, .axis = "pipeline", .origin_rank = -1, .waited_for_ns = 250 * SAMPLE_MS});
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_BUBBLE,
                   "60 % of the time ranks wait for the other end of a message (most for rank 3 "
                   "(node ip-172-31-5-7), 25 %).");
    weir_result_free(r);
}

static void has_a_sentence_for_an_empty_window(void **state)
{
    weir_result *r = sample_empty(1, 0);
    (void)state;
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_UNKNOWN, "No device activity in the window.");
    weir_result_free(r);
}

static void escapes_names_from_input(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    r->devices[2].node = "evil\033[2J";
    assert_verdict(r, WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                   "Rank 2 (node evil\\x1b[2J) makes the others wait: 68 % of the time ranks wait "
                   "for it in all-to-alls, 997 ms a step. Its host is late (the host had not "
                   "launched the next kernel); not its GPU or the network.");
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_sleeper_and_its_host),
        cmocka_unit_test(says_the_reason_of_more_work_and_slow_devices),
        cmocka_unit_test(blames_the_origin_of_a_chain),
        cmocka_unit_test(blames_no_rank_that_has_less_than_half),
        cmocka_unit_test(names_no_rank_whose_files_are_missing),
        cmocka_unit_test(says_why_communication_is_not_split),
        cmocka_unit_test(names_kind_place_and_bandwidth_of_transfers),
        cmocka_unit_test(says_that_it_computes_and_how_well),
        cmocka_unit_test(rests_no_verdict_on_kernels_of_unknown_bound),
        cmocka_unit_test(names_what_is_read_from_memory),
        cmocka_unit_test(says_why_a_device_idles),
        cmocka_unit_test(names_the_device_that_idles_most),
        cmocka_unit_test(says_who_is_waited_for_in_a_pipeline),
        cmocka_unit_test(has_a_sentence_for_an_empty_window),
        cmocka_unit_test(escapes_names_from_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
