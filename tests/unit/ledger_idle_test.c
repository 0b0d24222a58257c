/* Why a device was idle: every branch of DESIGN 2.4.
 *
 * In all cases but those with several devices, the device runs MATH over 0 .. 10, is idle, and runs
 * MEMORY from 100 on; the launch of the second kernel and what its thread did before decide. */
#include "ledger_fixture.h"

enum { GAP_BEGIN = 10, GAP_END = 100 };

static void open_with_a_gap(ledger_fixture *f, uint32_t first_launch, uint32_t second_launch)
{
    add_kernel(f, on(0, 7), MATH, us(0, GAP_BEGIN), first_launch);
    add_kernel(f, on(0, 7), MEMORY, us(GAP_END, GAP_END + 10), second_launch);
}

typedef struct {
    weir_cause cause;
    int64_t us;
} expected_idle;

/* The idle causes are these, and no others. */
static void assert_idle(const ledger_fixture *f, uint32_t row, const expected_idle *want,
                        uint32_t n)
{
    int64_t idle = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        bool waits = weir_cause_wait((weir_cause)c) == WEIR_WAIT_DEPENDENCY;
        idle += waits ? device_us(f, row, (weir_cause)c) : 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (device_us(f, row, want[i].cause) != want[i].us) {
            fail_msg("%s is %lld us, expected %lld us", weir_cause_name(want[i].cause),
                     (long long)device_us(f, row, want[i].cause), (long long)want[i].us);
        }
        idle -= want[i].us;
    }
    assert_int_equal(idle, 0);
}

static void is_unknown_where_no_launch_is_known(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_host(&f, on(0, 1), WEIR_SPAN_OP, "aten::conv2d", us(0, 100));
    open_with_a_gap(&f, 0, 0);
    make_ledger(&f);
    assert_idle(&f, 0, (const expected_idle[]){{WEIR_CAUSE_DEPENDENCY_UNKNOWN, 90}}, 1);
    ledger_fixture_close(&f);
}

/*   us      0    10        60        70              100
 *   thread                 [ launch )
 *   device  MATH |                                   MEMORY
 *   gap          host ...  launch    turnaround ....  */
static void goes_from_the_host_over_the_launch_to_turnaround(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t launch = add_host(&f, on(0, 1), WEIR_SPAN_RUNTIME, "cudaLaunchKernel", us(60, 70));
    open_with_a_gap(&f, 0, launch);
    make_ledger(&f);
    static const expected_idle want[] = {{WEIR_CAUSE_DEPENDENCY_HOST, 50},
                                         {WEIR_CAUSE_DEPENDENCY_LAUNCH, 10},
                                         {WEIR_CAUSE_DEPENDENCY_TURNAROUND, 30}};
    assert_idle(&f, 0, want, 3);
    ledger_fixture_close(&f);
}

/* Launched before the gap began: queued all the time. */
static void is_turnaround_where_the_kernel_was_queued(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    open_with_a_gap(&f, 0, add_launch(&f, 0, 5));
    make_ledger(&f);
    assert_idle(&f, 0, (const expected_idle[]){{WEIR_CAUSE_DEPENDENCY_TURNAROUND, 90}}, 1);
    ledger_fixture_close(&f);
}

/* The innermost span that says something decides, moment by moment.
 *
 *   us      10      20         30        40          55      60      70      80   90
 *   thread  [ ProfilerStep ....................................................... ]
 *           host    [DataLoader......... ]  host     [load .[ malloc ]..... ]host [launch)
 *   gap     host 10 data 20              host 15     compile 5, allocator 10, compile 10 */
static void asks_the_table_of_names_for_what_the_host_did(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    const place thread = on(0, 1);
    add_host(&f, thread, WEIR_SPAN_ANNOTATION, "## forward ##", us(0, 100));
    add_host(&f, thread, WEIR_SPAN_ANNOTATION,
             "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", us(20, 40));
    add_host(&f, thread, WEIR_SPAN_RUNTIME, "cuModuleLoadData", us(55, 80));
    add_host(&f, thread, WEIR_SPAN_RUNTIME, "cudaMalloc", us(60, 70));
    open_with_a_gap(&f, 0, add_launch(&f, 0, 90));
    make_ledger(&f);
    static const expected_idle want[] = {
        {WEIR_CAUSE_DEPENDENCY_DATA, 20},      {WEIR_CAUSE_DEPENDENCY_COMPILE, 15},
        {WEIR_CAUSE_DEPENDENCY_ALLOCATOR, 10}, {WEIR_CAUSE_DEPENDENCY_HOST, 10 + 15 + 10},
        {WEIR_CAUSE_DEPENDENCY_LAUNCH, 1},     {WEIR_CAUSE_DEPENDENCY_TURNAROUND, 9}};
    assert_idle(&f, 0, want, 6);
    ledger_fixture_close(&f);
}

static void names_checkpoints(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_host(&f, on(0, 1), WEIR_SPAN_ANNOTATION, "save_checkpoint", us(10, 90));
    open_with_a_gap(&f, 0, add_launch(&f, 0, 90));
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_CHECKPOINT), 80);
    ledger_fixture_close(&f);
}

/* The host waited for the device when the gap began: what it does then, up to the launch, is the
 * price of having waited; what has a name of its own keeps it.
 *
 *   us      5 .. 12            12 .. 40   40 .. 60     60 .. 90   90  91
 *   thread  [synchronise]      nothing    [DataLoader] nothing    [launch)
 *   gap     sync 2             sync 28    data 20      sync 30    1  9 turnaround */
static void charges_the_synchronisation_with_the_gap_behind_it(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    const place thread = on(0, 1);
    add_host(&f, thread, WEIR_SPAN_RUNTIME, "cudaDeviceSynchronize", us(5, 12));
    add_host(&f, thread, WEIR_SPAN_ANNOTATION, "enumerate(DataLoader)#X.__next__", us(40, 60));
    open_with_a_gap(&f, 0, add_launch(&f, 0, 90));
    make_ledger(&f);
    static const expected_idle want[] = {{WEIR_CAUSE_DEPENDENCY_SYNC, 2 + 28 + 30},
                                         {WEIR_CAUSE_DEPENDENCY_DATA, 20},
                                         {WEIR_CAUSE_DEPENDENCY_LAUNCH, 1},
                                         {WEIR_CAUSE_DEPENDENCY_TURNAROUND, 9}};
    assert_idle(&f, 0, want, 4);
    ledger_fixture_close(&f);
}

/* cudaMemcpyAsync into pageable memory returns when the copy is done: the host was waiting.
 *
 *   us      0    8      10 12              90 91   100
 *   thread  [ cudaMemcpyAsync )            [launch)
 *   device  MATH | copy |                          MEMORY
 *   gap                 sync 2, sync 78    launch 1, turnaround 9 */
static void charges_a_copy_that_returned_when_it_was_done(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t copy = add_host(&f, on(0, 1), WEIR_SPAN_RUNTIME, "cudaMemcpyAsync", us(1, 12));
    add_kernel(&f, on(0, 7), "Memcpy DtoH (Device -> Pageable)", us(8, 10), copy);
    add_kernel(&f, on(0, 7), MATH, us(0, 8), 0);
    add_kernel(&f, on(0, 7), MEMORY, us(100, 110), add_launch(&f, 0, 90));
    make_ledger(&f);
    static const expected_idle want[] = {{WEIR_CAUSE_DEPENDENCY_SYNC, 80},
                                         {WEIR_CAUSE_DEPENDENCY_LAUNCH, 1},
                                         {WEIR_CAUSE_DEPENDENCY_TURNAROUND, 9}};
    assert_idle(&f, 0, want, 3);
    ledger_fixture_close(&f);
}

/* A synchronisation that ended before the gap began has nothing to do with it. */
static void does_not_charge_a_synchronisation_that_was_over(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_host(&f, on(0, 1), WEIR_SPAN_RUNTIME, "cudaDeviceSynchronize", us(5, 8));
    open_with_a_gap(&f, 0, add_launch(&f, 0, 90));
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_SYNC), 0);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_HOST), 80);
    ledger_fixture_close(&f);
}

/* The launching thread does nothing that was recorded: the process's other threads tell, moment by
 * moment; one that waits for the device tells nothing.
 *
 *   us        10        30         50         70          90
 *   thread 1                                              [launch)
 *   thread 2            [ malloc...........]
 *   thread 3  [ cudaStreamSynchronize .................... ]
 *   gap       host      allocator            host         launch, turnaround */
static void asks_other_threads_where_the_launching_one_is_silent(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_host(&f, on(0, 2), WEIR_SPAN_RUNTIME, "cudaMalloc", us(30, 70));
    add_host(&f, on(0, 3), WEIR_SPAN_RUNTIME, "cudaStreamSynchronize", us(10, 90));
    open_with_a_gap(&f, 0, add_launch(&f, 0, 90));
    make_ledger(&f);
    static const expected_idle want[] = {{WEIR_CAUSE_DEPENDENCY_HOST, 20 + 20},
                                         {WEIR_CAUSE_DEPENDENCY_ALLOCATOR, 40},
                                         {WEIR_CAUSE_DEPENDENCY_LAUNCH, 1},
                                         {WEIR_CAUSE_DEPENDENCY_TURNAROUND, 9}};
    assert_idle(&f, 0, want, 4);
    ledger_fixture_close(&f);
}

/* An annotation is no activity: under loss.backward() the main thread waits for the thread of
 * autograd, which tells.
 *
 *   us        10        30        60           90
 *   thread 1  [ ## backward ## .. ][ aten::add ..][launch)
 *   thread 2            [ malloc ............. ]
 *   gap       host 20   allocator 30 host 30   */
static void asks_other_threads_under_an_annotation(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_host(&f, on(0, 1), WEIR_SPAN_ANNOTATION, "## backward ##", us(0, 60));
    add_host(&f, on(0, 1), WEIR_SPAN_OP, "aten::add", us(60, 90));
    add_host(&f, on(0, 2), WEIR_SPAN_RUNTIME, "cudaMalloc", us(30, 90));
    open_with_a_gap(&f, 0, add_launch(&f, 0, 90));
    make_ledger(&f);
    static const expected_idle want[] = {{WEIR_CAUSE_DEPENDENCY_HOST, 20 + 30},
                                         {WEIR_CAUSE_DEPENDENCY_ALLOCATOR, 30},
                                         {WEIR_CAUSE_DEPENDENCY_LAUNCH, 1},
                                         {WEIR_CAUSE_DEPENDENCY_TURNAROUND, 9}};
    assert_idle(&f, 0, want, 4);
    ledger_fixture_close(&f);
}

/* Threads of another rank, which is another process, are not asked. */
static void does_not_ask_the_threads_of_other_processes(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    add_host(&f, on(1, 2), WEIR_SPAN_RUNTIME, "cudaMalloc", us(0, 100));
    open_with_a_gap(&f, 0, add_launch(&f, 0, 90));
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_ALLOCATOR), 0);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_HOST), 80);
    ledger_fixture_close(&f);
}

/* The three kernels of one graph; the call that launched it goes on while they run.
 *
 *   us       0    10      20    30      40    50   60
 *   thread  [ cudaGraphLaunch (-5 .. 45) ...... ]
 *   device  MATH  .gap.   MATH  .gap.   MEMORY
 *   gaps          turnaround    turnaround           both inside the graph */
static void is_turnaround_inside_a_graph(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t launch = add_host(&f, on(0, 1), WEIR_SPAN_RUNTIME, "cudaGraphLaunch", us(0, 50));
    add_kernel(&f, on(0, 7), MATH, us(5, 15), launch);
    add_kernel(&f, on(0, 7), MATH, us(25, 35), launch);
    add_kernel(&f, on(0, 7), MEMORY, us(45, 55), launch);
    make_ledger(&f);
    assert_idle(&f, 0, (const expected_idle[]){{WEIR_CAUSE_DEPENDENCY_TURNAROUND, 20}}, 1);
    ledger_fixture_close(&f);
}

/* A graph was launched at 30 and nothing of it is in the trace: from then on the gap may have been
 * work. What came before is as ever. */
static void is_unknown_behind_a_graph_launch_without_kernels(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t first = add_launch(&f, 0, 0);
    add_host(&f, on(0, 1), WEIR_SPAN_RUNTIME, "cudaGraphLaunch", us(30, 35));
    open_with_a_gap(&f, first, add_launch(&f, 0, 90));
    make_ledger(&f);
    static const expected_idle want[] = {{WEIR_CAUSE_DEPENDENCY_HOST, 20},
                                         {WEIR_CAUSE_DEPENDENCY_UNKNOWN, 70}};
    assert_idle(&f, 0, want, 2);
    ledger_fixture_close(&f);
}

/* A graph launch whose kernels were recorded is a launch like any other. */
static void trusts_a_graph_launch_whose_kernels_are_there(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    uint32_t first = add_launch(&f, 0, 0);
    uint32_t graph = add_host(&f, on(0, 1), WEIR_SPAN_RUNTIME, "cudaGraphLaunch", us(30, 35));
    open_with_a_gap(&f, first, graph);
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_UNKNOWN), 0);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_TURNAROUND), 65);
    ledger_fixture_close(&f);
}

/* Rank 0 has finished at 10; the set goes on to 60 on rank 1. */
static void is_tail_after_the_last_span(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    add_kernel(&f, on(0, 7), MATH, us(0, 10), 0);
    add_kernel(&f, on(1, 7), MATH, us(0, 60), 0);
    make_ledger(&f);
    assert_idle(&f, 0, (const expected_idle[]){{WEIR_CAUSE_DEPENDENCY_TAIL, 50}}, 1);
    ledger_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_unknown_where_no_launch_is_known),
        cmocka_unit_test(goes_from_the_host_over_the_launch_to_turnaround),
        cmocka_unit_test(is_turnaround_where_the_kernel_was_queued),
        cmocka_unit_test(asks_the_table_of_names_for_what_the_host_did),
        cmocka_unit_test(names_checkpoints),
        cmocka_unit_test(charges_the_synchronisation_with_the_gap_behind_it),
        cmocka_unit_test(charges_a_copy_that_returned_when_it_was_done),
        cmocka_unit_test(does_not_charge_a_synchronisation_that_was_over),
        cmocka_unit_test(asks_other_threads_where_the_launching_one_is_silent),
        cmocka_unit_test(asks_other_threads_under_an_annotation),
        cmocka_unit_test(does_not_ask_the_threads_of_other_processes),
        cmocka_unit_test(is_turnaround_inside_a_graph),
        cmocka_unit_test(is_unknown_behind_a_graph_launch_without_kernels),
        cmocka_unit_test(trusts_a_graph_launch_whose_kernels_are_there),
        cmocka_unit_test(is_tail_after_the_last_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
