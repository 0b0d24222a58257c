/* allocation_test.c: the n-th allocation fails, for every n: no crash, no leak, a clean error.
 *
 * Linked with --wrap (cmake/Tests.cmake), so that the library's calls of malloc, calloc and realloc
 * come here; under the preset sanitize a leak ends the test. What libfyaml, ISA-L and zstd allocate
 * inside is theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocator.h"

#include "import/kineto.h"
#include "ledger/ledger.h"
#include "report/report.h"
#include "result/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- a small trace of two ranks, with steps, shapes, collectives, a wait and some damage --- */

static int trace_write(int rank, char path[64])
{
    int fd = memfd_create("trace.json", MFD_CLOEXEC);
    assert_true(fd >= 0);
    FILE *out = fdopen(dup(fd), "w");
    assert_non_null(out);
    fprintf(out,
            "{\"distributedInfo\":{\"rank\":%d,\"world_size\":2,\"pg_config\":[{\"pg_name\":\"0\","
            "\"pg_desc\":\"default_pg\",\"pg_size\":2,\"ranks\":[0,1]}]},\"host_name\":\"h%d\","
            "\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100\",\"numSms\":132}],\n"
            "\"traceEvents\":[\n",
            rank, rank);
    for (int i = 0; i < 3; i++) {
        int at = 1000 * i + 100 * rank;
        fprintf(out,
                "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\",\"pid\":9,"
                "\"tid\":9,\"ts\":%d,\"dur\":900,\"args\":{\"External id\":%d}},\n",
                i, at, 100 + i);
        fprintf(out,
                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":9,\"tid\":9,"
                "\"ts\":%d,\"dur\":20,\"args\":{\"External id\":%d,\"Input Dims\":[[%d,64],"
                "[64,64]],\"Input type\":[\"float\",\"float\"]}},\n",
                at + 1, 10 * i + 1, 64 * (i + 1));
        fprintf(
            out,
            "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
            "\"tid\":9,\"ts\":%d,\"dur\":5,\"args\":{\"External id\":%d,\"correlation\":%d}},\n",
            at + 5, 10 * i + 1, 10 * i + 1);
        fprintf(out,
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ampere_sgemm_%d\",\"pid\":0,\"tid\":7,"
                "\"ts\":%d,\"dur\":300,\"args\":{\"External id\":%d,\"device\":0,\"stream\":7,"
                "\"correlation\":%d,\"grid\":[%d,1,1],\"block\":[128,1,1]}},\n",
                i, at + 20, 10 * i + 1, 10 * i + 1, i + 1);
        fprintf(
            out,
            "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_f32_RING_LL"
            "\",\"pid\":0,\"tid\":20,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,\"stream\":20,"
            "\"correlation\":%d,\"Collective name\":\"allreduce\",\"In msg nelems\":1000,"
            "\"dtype\":\"Float\",\"Group size\":2,\"Process Group Name\":\"0\","
            "\"Process Group Description\":\"default_pg\",\"Process Group Ranks\":\"[0, 1]\","
            "\"Seq\":%d}},\n",
            at + 400, 300 - 100 * rank, 10 * i + 2, i);
        fprintf(out, "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\\qb \"c\",\"pid\":0,\"tid\":7,"
                     "\"ts\":1,\"dur\":-1,\"args\":{\"device\":0}},\n oops,\n");
    }
    fprintf(out, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,"
                 "\"args\":{\"name\":\"stream 7\"}}]}\n");
    assert_int_equal(fclose(out), 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

typedef struct {
    const char *paths[2];
    weir_families *families;
    weir_host_names *host_names;
} fixture;

/* --- everything that `weir trace` does --- */

static weir_code ledger_build(const fixture *f, const weir_timeline *t, weir_result *result,
                              weir_err *err)
{
    weir_name_classes names = {0};
    weir_match match = {0};
    weir_span_classes classes = {0};
    weir_lines lines = {0};
    weir_code code = weir_classify_names(t, f->families, &names, err);
    if (code == WEIR_OK) {
        weir_match_options options = {names.is_comm, names.comm_kind, 1};
        code = weir_match_build(t, &options, &match, err);
    }
    if (code == WEIR_OK) {
        code = weir_classify_spans(t, &names, match.launch, NULL, &classes, err);
    }
    if (code == WEIR_OK) {
        weir_ledger_input input = {.timeline = t,
                                   .match = &match,
                                   .names = &names,
                                   .classes = &classes,
                                   .host_names = f->host_names,
                                   .families = f->families};
        weir_ledger_options options = {.segments = true, .kernels = true, .threads = 1};
        result->command = "trace";
        code = weir_ledger_build(&input, &options, result, &lines, err);
    }
    weir_lines_clear(&lines);
    weir_span_classes_clear(&classes);
    weir_match_clear(&match);
    weir_name_classes_clear(&names);
    return code;
}

static weir_code print_all(const weir_result *result, weir_text *json, weir_err *err)
{
    weir_text text = {0};
    weir_text_options options = {.by = WEIR_BY_RANK};
    weir_code code = weir_report_text(&text, result, &options, err);
    if (code == WEIR_OK) {
        code = weir_report_csv(&text, result, WEIR_BY_CAUSE, err);
    }
    weir_text_clear(&text);
    return code == WEIR_OK ? weir_result_json(json, result, err) : code;
}

static weir_code run_all(const fixture *f, weir_text *json, weir_err *err)
{
    weir_budget *budget = weir_budget_new(0);
    weir_timeline *t = weir_timeline_new(budget);
    weir_result *result = weir_result_new();
    weir_code code = WEIR_ERR_MEMORY;
    if (budget && t && result) {
        weir_kineto_options options = {.threads = 1};
        code = weir_kineto_read(t, f->paths, 2, &options, &result->diags, err);
        code = code == WEIR_OK ? ledger_build(f, t, result, err) : code;
        code = code == WEIR_OK ? print_all(result, json, err) : code;
    } else {
        weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    }
    weir_result_free(result);
    weir_timeline_free(t);
    weir_budget_free(budget);
    return code;
}

/* The text between two keys of the document is the same. */
static void expect_same(const char *json, const char *reference, const char *from, const char *to)
{
    const char *a = strstr(json, from), *b = strstr(reference, from);
    assert_non_null(a);
    assert_non_null(b);
    const char *a_end = strstr(a, to), *b_end = strstr(b, to);
    assert_non_null(a_end);
    assert_non_null(b_end);
    assert_int_equal(a_end - a, b_end - b);
    assert_memory_equal(a, b, (size_t)(b_end - b));
}

static void expect_clean(const fixture *f, uint64_t n, bool for_good, weir_str reference,
                         uint32_t *survived)
{
    weir_err err = {0};
    weir_text json = {0};
    for (int fd = 3; fd < 16; fd++) {
        lseek(fd, 0, SEEK_SET);
    }
    allocator.calls = 0;
    allocator.for_good = for_good;
    allocator.fail_at = n;
    weir_code code = run_all(f, &json, &err);
    allocator.fail_at = 0;
    if (code == WEIR_OK) { /* lost: words, places of diagnostics, peaks of accelerators; no wait */
        (*survived)++;
        expect_same(json.p, reference.p, "\n \"verdict\"", "\n \"critical_path\"");
        expect_same(json.p, reference.p, "\n \"stragglers\"", "\n \"efficiency\"");
    } else if ((code != WEIR_ERR_MEMORY && code != WEIR_ERR_LIMIT) || err.code != code ||
               !err.text[0]) {
        fail_msg("allocation %llu: code %d, err %d '%s'", (unsigned long long)n, code, err.code,
                 err.text);
    }
    weir_text_clear(&json);
}

static void each_allocation(void **state, bool for_good)
{
    fixture f = {0};
    char paths[2][64];
    weir_err err = {0};
    int fds[2];
    for (int i = 0; i < 2; i++) {
        fds[i] = trace_write(i, paths[i]);
        f.paths[i] = paths[i];
    }
    assert_int_equal(weir_families_load(NULL, &f.families, &err), WEIR_OK);
    assert_int_equal(weir_host_names_load(&f.host_names, &err), WEIR_OK);
    weir_text reference = {0};
    allocator.calls = 0;
    assert_int_equal(run_all(&f, &reference, &err), WEIR_OK);
    uint64_t total = allocator.calls;
    assert_in_range(total, 100, 100000);
    uint32_t survived = 0;
    for (uint64_t n = 1; n <= total; n++) {
        expect_clean(&f, n, for_good, (weir_str){reference.p, (uint32_t)reference.n}, &survived);
    }
    print_message("%llu allocations, %u of them only for words\n", (unsigned long long)total,
                  survived);
    weir_text_clear(&reference);
    weir_host_names_free(f.host_names);
    weir_families_free(f.families);
    close(fds[0]);
    close(fds[1]);
}

static void each_allocation_may_fail_once(void **state)
{
    each_allocation(state, false);
}

static void each_allocation_may_be_the_last(void **state)
{
    each_allocation(state, true);
}

/* Every 7th, to stay within a second: each run reads the presets. */
static void presets_survive_failing_allocations(void **state)
{
    for (uint64_t n = 1;; n += 7) {
        weir_err err = {0};
        weir_families *families = NULL;
        weir_host_names *names = NULL;
        allocator.calls = 0;
        allocator.fail_at = n;
        allocator.for_good = false;
        weir_code code = weir_families_load(NULL, &families, &err);
        code = code == WEIR_OK ? weir_host_names_load(&names, &err) : code;
        allocator.fail_at = 0;
        bool done = allocator.calls < n;
        assert_true(code == WEIR_OK ? done : err.code == WEIR_ERR_MEMORY);
        weir_families_free(families);
        weir_host_names_free(names);
        if (done) {
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail_once),
        cmocka_unit_test(each_allocation_may_be_the_last),
        cmocka_unit_test(presets_survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
