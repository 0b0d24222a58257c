/* Comparing and diagnosing: rows of shared/data/collectives/measured.csv that are marked degraded
 * or misconfigured (their sources are named), and good ones of the same machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "study/nccl_compare.h"

#include <math.h>
#include <string.h>

typedef struct {
    double bytes, time_us, busbw; /* one of the last two may be 0: made from the other */
} row;

typedef struct {
    const char *test;
    uint32_t ranks; /* that the quotient is of */
    uint32_t listed, hosts;
    const row *rows;
    uint32_t count;
} log_of;

static const weir_link_part nvlink4 = {
    .id = "nvlink4", .wiring = WEIR_NODE_SWITCHED, .bytes_per_s = 450e9};
static const weir_link_part nvlink3 = {
    .id = "nvlink3", .wiring = WEIR_NODE_SWITCHED, .bytes_per_s = 300e9};
static const weir_nic_part nic400 = {.id = "cx7-400g", .bytes_per_s = 50e9};
static const weir_nic_part nic200 = {.id = "cx6-200g", .bytes_per_s = 25e9};

static weir_cluster cluster_of(uint32_t nodes, uint32_t devices, const weir_link_part *link,
                               const weir_nic_part *nic, uint32_t nics)
{
    return (weir_cluster){.nodes = nodes,
                          .devices = devices,
                          .nics = nics,
                          .node_link = link,
                          .nic = nic,
                          .library = "nccl-2.27"};
}

static double factor_of(const char *test, double n)
{
    if (strcmp(test, "all_reduce_perf") == 0) {
        return 2 * (n - 1) / n;
    }
    return strcmp(test, "sendrecv_perf") == 0 ? 1 : (n - 1) / n;
}

/* The log as nccl-tests would print it. */
static void print_log(weir_text *text, const log_of *log)
{
    weir_text_printf(text, "# Collective test starting: %s\n", log->test);
    for (uint32_t i = 0; i < log->listed; i++) {
        weir_text_printf(text, "#  Rank %u Group 0 Pid %u on host-%u device %u [0x07] NVIDIA\n", i,
                         i, i * log->hosts / log->listed, i);
    }
    double factor = factor_of(log->test, log->ranks);
    for (uint32_t i = 0; i < log->count; i++) {
        const row *r = &log->rows[i];
        double time_us = r->time_us > 0 ? r->time_us : r->bytes * factor / r->busbw / 1e3;
        double algbw = r->bytes / time_us / 1e3;
        weir_text_printf(text, "%.0f 1 float sum -1 %.2f %.2f %.2f 0 %.2f %.2f %.2f 0\n", r->bytes,
                         time_us, algbw, algbw * factor, time_us, algbw, algbw * factor);
    }
}

static weir_nccl_report compare(const weir_cluster *cluster, const log_of *log,
                                weir_nccl_options options)
{
    weir_text text = {0};
    weir_source *source;
    weir_nccl_tests tests = {0};
    weir_diags diags = {0};
    weir_nccl_report report = {0};
    weir_err err = {0};
    print_log(&text, log);
    assert_int_equal(weir_source_memory(text.p, text.n, "log", &source, &err), WEIR_OK);
    if (weir_nccl_tests_read(source, "log", &tests, &diags, &err) != WEIR_OK ||
        weir_nccl_compare(cluster, &tests, &options, &report, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_source_close(source);
    weir_nccl_tests_clear(&tests);
    weir_diags_clear(&diags);
    weir_text_clear(&text);
    return report;
}

static const weir_nccl_finding *find(const weir_nccl_report *report, weir_nccl_finding_kind kind)
{
    const weir_nccl_comparison *run = &report->runs[0];
    for (uint32_t i = 0; i < run->finding_count; i++) {
        if (run->findings[i].kind == kind) {
            return &run->findings[i];
        }
    }
    return NULL;
}

static void show(const weir_nccl_report *report)
{
    const weir_nccl_comparison *run = &report->runs[0];
    print_message("%s: plateau %.3g, latency x %.3g, seeming %.3g GB/s\n", run->title,
                  run->plateau_share, run->latency_factor, run->seeming_nic_bytes_per_s / 1e9);
    for (uint32_t i = 0; i < run->finding_count; i++) {
        print_message("  %s: %s\n", weir_nccl_finding_name(run->findings[i].kind),
                      run->findings[i].sentence);
    }
}

static void expect_first(const weir_nccl_report *report, weir_nccl_finding_kind kind)
{
    if (report->runs[0].findings[0].kind != kind) {
        show(report);
        fail_msg("expected %s first", weir_nccl_finding_name(kind));
    }
}

static void expect_among(const weir_nccl_report *report, weir_nccl_finding_kind kind)
{
    if (!find(report, kind)) {
        show(report);
        fail_msg("expected %s among them", weir_nccl_finding_name(kind));
    }
}

static void expect_not(const weir_nccl_report *report, weir_nccl_finding_kind kind)
{
    if (find(report, kind)) {
        show(report);
        fail_msg("expected no %s", weir_nccl_finding_name(kind));
    }
}

static const row alps_on[] = {{8, 17.93, 0},         {1024, 20.35, 0},      {8192, 37.21, 0},
                              {1048576, 164.3, 0},   {16777216, 461.7, 0},  {33554432, 686.5, 0},
                              {67108864, 1090.5, 0}, {134217728, 1916.4, 0}};
static const row alps_off[] = {{8, 85.47, 0},        {1024, 373.0, 0},     {2048, 53.22, 0},
                               {8192, 58.52, 0},     {1048576, 1502.2, 0}, {16777216, 5036.9, 0},
                               {33554432, 17388, 0}, {67108864, 21253, 0}, {134217728, 43293, 0}};

/* CSCS Alps, 2 x 4 GH200: 122.57 GB/s at 128 MiB with the plugin, 5.43 without (22.6 x). */
static void a_missing_network_plugin_is_told_from_a_good_run(void **state)
{
    weir_cluster alps = cluster_of(2, 4, &nvlink4, &nic200, 4);
    const weir_nccl_options options = {.network_transport = "slingshot-11"};
    log_of log = {"all_reduce_perf", 8, 8, 2, alps_on, sizeof alps_on / sizeof alps_on[0]};
    weir_nccl_report report = compare(&alps, &log, options);
    expect_first(&report, WEIR_NCCL_AS_EXPECTED);
    assert_string_equal(report.runs[0].title, "all_reduce_perf, 8 ranks on 2 hosts");
    weir_nccl_report_clear(&report);
    log.rows = alps_off;
    log.count = sizeof alps_off / sizeof alps_off[0];
    report = compare(&alps, &log, options);
    expect_first(&report, WEIR_NCCL_SOCKETS);
    expect_among(&report, WEIR_NCCL_LATENCY);
    expect_not(&report, WEIR_NCCL_COLLAPSE);
    weir_nccl_report_clear(&report);
}

/* NVIDIA/nccl issue 1453: 29.5 GB/s at 32 MiB, 5.27 at 64 MiB; 24 ranks by the quotient. */
static void a_collapse_is_told_with_its_size_and_ranks_with_their_quotient(void **state)
{
    static const row rows[] = {{4194304, 622.6, 0},    {8388608, 992.6, 0},   {16777216, 1334.9, 0},
                               {33554432, 2180.1, 0},  {67108864, 24410, 0},  {134217728, 49264, 0},
                               {268435456, 125807, 0}, {536870912, 193909, 0}};
    const log_of log = {"all_reduce_perf", 24, 0, 0, rows, 8};
    weir_cluster cluster = cluster_of(2, 8, &nvlink4, &nic400, 8);
    weir_nccl_report report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_first(&report, WEIR_NCCL_RANK_COUNT);
    assert_non_null(strstr(find(&report, WEIR_NCCL_RANK_COUNT)->sentence, "of 24 ranks"));
    expect_among(&report, WEIR_NCCL_COLLAPSE);
    assert_int_equal(find(&report, WEIR_NCCL_COLLAPSE)->from_bytes, 67108864);
    weir_nccl_report_clear(&report);
}

/* Two public tables state 64 and 144 GPUs where the quotient says 96 and 128. */
static void stated_ranks_that_the_quotient_contradicts_are_told(void **state)
{
    static const row rows[] = {{8589934592.0, 0, 350}, {17179869184.0, 0, 352}};
    log_of log = {"all_reduce_perf", 96, 64, 8, rows, 2};
    weir_cluster cluster = cluster_of(8, 8, &nvlink4, &nic400, 8);
    weir_nccl_report report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_first(&report, WEIR_NCCL_RANK_COUNT);
    weir_nccl_report_clear(&report);
    log.ranks = 64;
    report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_not(&report, WEIR_NCCL_RANK_COUNT);
    weir_nccl_report_clear(&report);
}

/* NVIDIA/nccl issue 700: 2 x 8 A100 with 4 x 200G, NCCL_IB_HCA names one of them: 9.84 GB/s. */
static void one_nic_of_four_is_a_candidate(void **state)
{
    static const row rows[] = {{8589934592.0, 0, 9.84}};
    const log_of log = {"all_reduce_perf", 16, 16, 2, rows, 1};
    weir_cluster cluster = cluster_of(2, 8, &nvlink3, &nic200, 4);
    weir_nccl_report report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_among(&report, WEIR_NCCL_PART_OF_NICS);
    assert_non_null(strstr(find(&report, WEIR_NCCL_PART_OF_NICS)->sentence, "1 of 4 NICs"));
    weir_nccl_report_clear(&report);
}

/* NVIDIA/nccl issue 2409: 2 x 8 H100 with 8 x 400G; perftest reaches 392 Gb/s, a NIC under NCCL
 * 13.1 GB/s: every collective speaks of the same rate. */
static void buffers_in_host_memory_are_a_candidate_for_every_collective(void **state)
{
    static const row all_reduce[] = {{1073741824.0, 0, 216.5}, {8589934592.0, 0, 231}};
    static const row gather[] = {{268435456.0, 0, 101}}, scatter[] = {{268435456.0, 0, 100}};
    static const row all_to_all[] = {{268435456.0, 0, 25}}, message[] = {{1073741824.0, 0, 13.1}};
    const log_of logs[] = {{"all_reduce_perf", 16, 16, 2, all_reduce, 2},
                           {"all_gather_perf", 16, 16, 2, gather, 1},
                           {"reduce_scatter_perf", 16, 16, 2, scatter, 1},
                           {"alltoall_perf", 16, 16, 2, all_to_all, 1},
                           {"sendrecv_perf", 2, 2, 2, message, 1}};
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        uint32_t devices = logs[i].ranks / 2;
        weir_cluster cluster = cluster_of(2, devices, &nvlink4, &nic400, devices);
        weir_nccl_report report = compare(&cluster, &logs[i], (weir_nccl_options){0});
        expect_among(&report, WEIR_NCCL_NO_GDR);
        double seeming = report.runs[0].seeming_nic_bytes_per_s;
        assert_true(seeming > 10e9 && seeming < 18e9);
        weir_nccl_report_clear(&report);
    }
}

/* NVIDIA/nccl issue 1600: 16 x 8 H100, some NICs, across rails: 10 GB/s (no size is told). */
static void changing_rails_is_a_candidate_over_many_nodes(void **state)
{
    static const row rows[] = {{1073741824.0, 0, 10}};
    const log_of log = {"all_reduce_perf", 128, 128, 16, rows, 1};
    weir_cluster cluster = cluster_of(16, 8, &nvlink4, &nic400, 8);
    weir_nccl_report report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_among(&report, WEIR_NCCL_CROSS_RAIL);
    expect_among(&report, WEIR_NCCL_PART_OF_NICS);
    weir_nccl_report_clear(&report);
}

/* What the library foretells for a cluster with half of the NICs is half of the NICs. */
static void half_of_the_nics_is_told_first(void **state)
{
    static const row any[] = {{1073741824.0, 0, 100}};
    log_of log = {"all_gather_perf", 32, 32, 4, any, 1};
    const weir_nccl_options options = {.network_transport = "ib-ndr"};
    weir_cluster half = cluster_of(4, 8, &nvlink4, &nic400, 4);
    weir_cluster whole = cluster_of(4, 8, &nvlink4, &nic400, 8);
    weir_nccl_report report = compare(&half, &log, options);
    const row slow[] = {{1073741824.0, report.runs[0].rows[0].foretold_s * 1e6, 0}};
    weir_nccl_report_clear(&report);
    log.rows = slow;
    report = compare(&whole, &log, options);
    expect_first(&report, WEIR_NCCL_PART_OF_NICS);
    assert_non_null(strstr(report.runs[0].findings[0].sentence, "4 of 8 NICs"));
    weir_nccl_report_clear(&report);
}

/* The foretold times and 2 ms on top of each: every size looks slow, but only latency is. */
static void slow_small_messages_are_not_taken_for_missing_bandwidth(void **state)
{
    static const row any[] = {
        {8, 10, 0}, {1024, 10, 0}, {134217728.0, 0, 100}, {1073741824.0, 0, 100}};
    log_of log = {"all_reduce_perf", 16, 16, 2, any, 4};
    weir_cluster cluster = cluster_of(2, 8, &nvlink4, &nic400, 8);
    weir_nccl_report report = compare(&cluster, &log, (weir_nccl_options){0});
    row late[4];
    for (int i = 0; i < 4; i++) {
        late[i] = (row){any[i].bytes, report.runs[0].rows[i].foretold_s * 1e6 + 2000, 0};
    }
    weir_nccl_report_clear(&report);
    log.rows = late;
    report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_first(&report, WEIR_NCCL_LATENCY);
    assert_int_equal(report.runs[0].finding_count, 1);
    weir_nccl_report_clear(&report);
}

static void a_spine_that_is_too_narrow_is_told_by_its_ratio(void **state)
{
    static const row any[] = {{1073741824.0, 0, 100}};
    log_of log = {"all_gather_perf", 32, 32, 4, any, 1};
    weir_cluster third = cluster_of(4, 8, &nvlink4, &nic400, 8), whole = third;
    weir_nic_part slow_nic = nic400;
    weir_nccl_options options = {.network_transport = "ib-ndr"};
    slow_nic.bytes_per_s /= 3.5;
    third.nic = &slow_nic;
    weir_nccl_report report = compare(&third, &log, options);
    const row slow[] = {{1073741824.0, report.runs[0].rows[0].foretold_s * 1e6, 0}};
    weir_nccl_report_clear(&report);
    log.rows = slow;
    options.oversubscription = 3.5;
    report = compare(&whole, &log, options);
    expect_first(&report, WEIR_NCCL_CROSS_RAIL);
    weir_nccl_report_clear(&report);
}

/* Half of the gathered bytes enter each node over 8 x 50 GB/s, which allows 2 x 400 x 15/16 = 750
 * GB/s; but a device gets 7/8 of all from its node over 450 GB/s: 8/7 x 450 x 15/16 = 482.1. */
static void more_than_the_links_carry_is_impossible(void **state)
{
    static const row rows[] = {{1073741824.0, 0, 800}};
    const log_of log = {"all_gather_perf", 16, 16, 2, rows, 1};
    weir_cluster cluster = cluster_of(2, 8, &nvlink4, &nic400, 8);
    weir_nccl_report report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_first(&report, WEIR_NCCL_IMPOSSIBLE);
    assert_non_null(strstr(report.runs[0].findings[0].sentence, "carry, 482.1 GB/s"));
    weir_nccl_report_clear(&report);
}

/* 8 x H100 at 8 GiB: 480 GB/s with sums in the switch, 370 by rings (nccl-tests issue 212). */
static void a_switch_that_does_not_add_is_told(void **state)
{
    static const row with[] = {{8589934592.0, 0, 480}}, without[] = {{8589934592.0, 0, 370}};
    log_of log = {"all_reduce_perf", 8, 8, 1, with, 1};
    weir_cluster cluster = cluster_of(1, 8, &nvlink4, NULL, 0);
    weir_nccl_report report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_first(&report, WEIR_NCCL_AS_EXPECTED);
    weir_nccl_report_clear(&report);
    log.rows = without;
    report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_first(&report, WEIR_NCCL_NO_NODE_REDUCTION);
    weir_nccl_report_clear(&report);
}

/* A100 bridged in pairs: 208 GB/s for 2, 20 for 3 (nccl-tests issue 178). */
static void devices_that_meet_through_pcie_are_told(void **state)
{
    static const row rows[] = {{12884901888.0, 0, 20}};
    const log_of log = {"all_reduce_perf", 3, 3, 1, rows, 1};
    weir_cluster cluster = cluster_of(1, 3, &nvlink3, NULL, 0);
    weir_nccl_report report = compare(&cluster, &log, (weir_nccl_options){0});
    expect_first(&report, WEIR_NCCL_THROUGH_PCIE);
    weir_nccl_report_clear(&report);
}

static void a_cluster_without_nics_cannot_be_compared_over_nodes(void **state)
{
    static const row rows[] = {{1073741824.0, 0, 100}};
    const log_of log = {"all_reduce_perf", 16, 16, 2, rows, 1};
    weir_cluster cluster = cluster_of(2, 8, &nvlink4, NULL, 0);
    weir_text text = {0};
    weir_source *source;
    weir_nccl_tests tests = {0};
    weir_diags diags = {0};
    weir_nccl_report report = {0};
    weir_err err = {0};
    print_log(&text, &log);
    assert_int_equal(weir_source_memory(text.p, text.n, "log", &source, &err), WEIR_OK);
    assert_int_equal(weir_nccl_tests_read(source, "log", &tests, &diags, &err), WEIR_OK);
    weir_nccl_options options = {0};
    assert_int_equal(weir_nccl_compare(&cluster, &tests, &options, &report, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "give cluster.nic"));
    assert_null(report.arena);
    weir_source_close(source);
    weir_nccl_tests_clear(&tests);
    weir_diags_clear(&diags);
    weir_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_network_plugin_is_told_from_a_good_run),
        cmocka_unit_test(a_collapse_is_told_with_its_size_and_ranks_with_their_quotient),
        cmocka_unit_test(stated_ranks_that_the_quotient_contradicts_are_told),
        cmocka_unit_test(one_nic_of_four_is_a_candidate),
        cmocka_unit_test(buffers_in_host_memory_are_a_candidate_for_every_collective),
        cmocka_unit_test(changing_rails_is_a_candidate_over_many_nodes),
        cmocka_unit_test(half_of_the_nics_is_told_first),
        cmocka_unit_test(slow_small_messages_are_not_taken_for_missing_bandwidth),
        cmocka_unit_test(a_spine_that_is_too_narrow_is_told_by_its_ratio),
        cmocka_unit_test(more_than_the_links_carry_is_impossible),
        cmocka_unit_test(a_switch_that_does_not_add_is_told),
        cmocka_unit_test(devices_that_meet_through_pcie_are_told),
        cmocka_unit_test(a_cluster_without_nics_cannot_be_compared_over_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
