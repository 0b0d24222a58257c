/* The critical path (DESIGN 2.9): the exact segments through each kind of predecessor. */
#include "ledger_fixture.h"

#define CONV       WEIR_CAUSE_COMPUTE_CONVOLUTION
#define HOST       WEIR_CAUSE_DEPENDENCY_HOST
#define LAUNCH     WEIR_CAUSE_DEPENDENCY_LAUNCH
#define SYNC       WEIR_CAUSE_DEPENDENCY_SYNC
#define TURNAROUND WEIR_CAUSE_DEPENDENCY_TURNAROUND

#define PATH(f, ...)                                                                               \
    do {                                                                                           \
        static const expected_segment want[] = {__VA_ARGS__};                                      \
        assert_path(f, want, sizeof want / sizeof *want);                                          \
    } while (0)

/*   us       0    5      30  35      60
 *   thread   ll                            both launched before 5
 *   device        K1.....|   K2......|     K2 was queued behind K1 */
static void goes_through_the_stream(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t first = add_launch(&f, 0, 0), second = add_launch(&f, 0, 2);
    add_kernel(&f, on(0, 7), MATH, us(5, 30), first);
    add_kernel(&f, on(0, 7), MATH, us(35, 60), second);
    make_ledger(&f);
    PATH(&f, {0, 5, 30, CONV}, {0, 30, 35, TURNAROUND}, {0, 35, 60, CONV});
    assert_int_equal(whole_us(f.result->critical_path.length_ns), 55);
    ledger_fixture_close(&f);
}

/*   us       0   5      30     40 41    50     80
 *   thread   l                 [l)
 *   device       K1.....|               K2.....|     K1 has ended before K2 is launched */
static void goes_through_the_launch_to_the_host(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t first = add_launch(&f, 0, 0), second = add_launch(&f, 0, 40);
    add_kernel(&f, on(0, 7), MATH, us(5, 30), first);
    add_kernel(&f, on(0, 7), MATH, us(50, 80), second);
    make_ledger(&f);
    PATH(&f, {0, 5, 40, HOST}, {0, 40, 41, LAUNCH}, {0, 41, 50, TURNAROUND}, {0, 50, 80, CONV});
    ledger_fixture_close(&f);
}

/*   us       0 2  5     30 32     40 41    50     80
 *   thread   l [synchronise )     [l)
 *   device        K1....|                  K2.....|     the host waited for K1 */
static void goes_through_a_synchronisation_to_what_it_awaited(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t first = add_launch(&f, 0, 0);
    add_host(&f, on(0, 1), WEIR_SPAN_RUNTIME, "cudaDeviceSynchronize", us(2, 32));
    uint32_t second = add_launch(&f, 0, 40);
    add_kernel(&f, on(0, 7), MATH, us(5, 30), first);
    add_kernel(&f, on(0, 7), MATH, us(50, 80), second);
    make_ledger(&f);
    PATH(&f, {0, 5, 30, CONV}, {0, 30, 32, SYNC}, {0, 32, 40, HOST}, {0, 40, 41, LAUNCH},
         {0, 41, 50, TURNAROUND}, {0, 50, 80, CONV});
    ledger_fixture_close(&f);
}

/*   us       0 2  5     30  33 35     40 41    50     80
 *   thread   l [ cudaMemcpyAsync )    [l)
 *   device        K1....|copy |              K2.....|     the copy waited for K1, the host for it
 */
static void goes_through_a_copy_that_returned_when_it_was_done(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t first = add_launch(&f, 0, 0);
    uint32_t copy = add_host(&f, on(0, 1), WEIR_SPAN_RUNTIME, "cudaMemcpyAsync", us(2, 35));
    uint32_t second = add_launch(&f, 0, 40);
    add_kernel(&f, on(0, 7), MATH, us(5, 30), first);
    add_kernel(&f, on(0, 7), "Memcpy DtoH (Device -> Pageable)", us(30, 33), copy);
    add_kernel(&f, on(0, 7), MATH, us(50, 80), second);
    make_ledger(&f);
    PATH(&f, {0, 5, 30, CONV}, {0, 30, 33, WEIR_CAUSE_CACHE_MEMCPY}, {0, 33, 35, SYNC},
         {0, 35, 40, HOST}, {0, 40, 41, LAUNCH}, {0, 41, 50, TURNAROUND}, {0, 50, 80, CONV});
    ledger_fixture_close(&f);
}

/* The path of the host keeps the names of what it did.
 *
 *   us       0   5      30  30 .. 45       50 51   60
 *   thread   l                [DataLoader) [l)
 *   device       K1.....|                     K2...| */
static void names_what_the_host_did_on_the_path(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t first = add_launch(&f, 0, 0);
    add_host(&f, on(0, 1), WEIR_SPAN_ANNOTATION, "enumerate(DataLoader)#X.__next__", us(30, 45));
    uint32_t second = add_launch(&f, 0, 50);
    add_kernel(&f, on(0, 7), MATH, us(5, 30), first);
    add_kernel(&f, on(0, 7), MATH, us(51, 60), second);
    make_ledger(&f);
    PATH(&f, {0, 5, 30, HOST}, {0, 30, 45, WEIR_CAUSE_DEPENDENCY_DATA}, {0, 45, 50, HOST},
         {0, 50, 51, LAUNCH}, {0, 51, 60, CONV});
    ledger_fixture_close(&f);
}

/* K2 is launched on stream 8, behind a wait for an event that was recorded behind K1 on stream 7.
 *
 *   us         0 1 2 3 4 5       20   40 42     70
 *   thread     launch K1, K0, record, wait, launch K2
 *   stream 7      K1.............|                       2 .. 40
 *   stream 8      K0.....|             K2.......|        K0: memory, 2 .. 20 */
static void goes_through_an_event(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    const place thread = on(0, 1);
    uint32_t k1 = add_launch(&f, 0, 0), k0 = add_launch(&f, 0, 1);
    uint32_t record = add_host(&f, thread, WEIR_SPAN_RUNTIME, "cudaEventRecord", us(2, 3));
    uint32_t wait = add_host(&f, thread, WEIR_SPAN_RUNTIME, "cudaStreamWaitEvent", us(3, 4));
    uint32_t k2 = add_launch(&f, 0, 5);
    weir_event_wait event = {.rank = 0,
                             .device = 0,
                             .waiting_stream = 8,
                             .wait_correlation = wait,
                             .recorded_stream = 7,
                             .record_correlation = record};
    LEDGER_OK(weir_timeline_add_event_wait(f.t, &event, &f.err));
    add_kernel(&f, on(0, 7), MATH, us(2, 40), k1);
    add_kernel(&f, on(0, 8), MEMORY, us(2, 20), k0);
    add_kernel(&f, on(0, 8), MATH, us(42, 70), k2);
    make_ledger(&f);
    PATH(&f, {0, 2, 40, CONV}, {0, 40, 42, TURNAROUND}, {0, 42, 70, CONV});
    ledger_fixture_close(&f);
}

/*   us       0      20      50        70
 *   rank 0   K......|ar ..............|
 *   rank 1   K..............|ar ......|     the last to arrive */
static void goes_through_the_last_member_of_a_collective(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    weir_group_id both = add_group(&f, "dp", (const int32_t[]){0, 1}, 2);
    weir_comm comm = collective(both, 1, 1000);
    add_kernel(&f, on(0, 1), MATH, us(0, 20), 0);
    add_comm(&f, on(0, 7), &comm, us(20, 70), 0);
    add_kernel(&f, on(1, 1), MATH, us(0, 50), 0);
    add_comm(&f, on(1, 7), &comm, us(50, 70), 0);
    make_ledger(&f);
    PATH(&f, {1, 0, 50, CONV}, {0, 50, 70, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE});
    assert_int_equal(f.result->critical_path.rank_count, 2);
    assert_int_equal(f.result->critical_path.ranks[0].rank, 1);
    assert_int_equal(whole_us(f.result->critical_path.ranks[0].ns), 50);
    ledger_fixture_close(&f);
}

/*   us       0    10      40    50      90
 *   rank 0   K............|send |
 *   rank 1        recv ..........|K......|     waits for the sender, then computes */
static void goes_through_a_message(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    weir_comm sent = message(WEIR_COMM_SEND, 0, 1), got = message(WEIR_COMM_RECV, 0, 1);
    add_kernel(&f, on(0, 1), MATH, us(0, 40), 0);
    add_comm(&f, on(0, 7), &sent, us(40, 50), 0);
    add_comm(&f, on(1, 7), &got, us(10, 50), 0);
    add_kernel(&f, on(1, 1), MATH, us(50, 90), 0);
    make_ledger(&f);
    PATH(&f, {0, 0, 40, CONV}, {1, 40, 50, WEIR_CAUSE_COMMUNICATION_P2P}, {1, 50, 90, CONV});
    ledger_fixture_close(&f);
}

/* Rank 0 has nothing to do after 20; what ends last is on rank 1. */
static void begins_with_what_ended_last_on_any_device(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    add_kernel(&f, on(0, 7), MATH, us(0, 20), 0);
    add_kernel(&f, on(1, 7), MATH, us(0, 60), 0);
    make_ledger(&f);
    PATH(&f, {1, 0, 60, CONV});
    ledger_fixture_close(&f);
}

/* Step 1 ends where step 2's first span, a copy, starts: amid K1, which is on the path up to there.
 *
 *   us       0              100   120
 *   thread   [step 1 .......[step 2 ...
 *   launch   K1             copy
 *   stream 7    K1................|        5 .. 130
 *   stream 8                    copy       120 .. 125  */
static void begins_amid_a_span_that_reaches_over_the_end(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_step(&f, 0, "ProfilerStep#1", us(0, 100));
    add_step(&f, 0, "ProfilerStep#2", us(100, 200));
    add_kernel(&f, on(0, 7), MATH, us(5, 130), add_launch(&f, 0, 1));
    add_kernel(&f, on(0, 8), COPY, us(120, 125), add_launch(&f, 0, 110));
    f.options.has_steps = true;
    f.options.first_step = f.options.last_step = 1;
    make_ledger(&f);
    PATH(&f, {0, 5, 120, CONV});
    ledger_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_through_the_stream),
        cmocka_unit_test(goes_through_the_launch_to_the_host),
        cmocka_unit_test(goes_through_a_synchronisation_to_what_it_awaited),
        cmocka_unit_test(goes_through_a_copy_that_returned_when_it_was_done),
        cmocka_unit_test(names_what_the_host_did_on_the_path),
        cmocka_unit_test(goes_through_an_event),
        cmocka_unit_test(goes_through_the_last_member_of_a_collective),
        cmocka_unit_test(goes_through_a_message),
        cmocka_unit_test(begins_with_what_ended_last_on_any_device),
        cmocka_unit_test(begins_amid_a_span_that_reaches_over_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
