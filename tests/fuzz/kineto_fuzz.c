/* kineto_fuzz.c: files of any bytes through everything that `weir trace` does with them.
 *
 * A line of five # begins the next file, so that ranks meet ranks.
 *
 * Whatever is in the file: no crash, no hang, bounded memory, and where there is a ledger it
 * conserves time (any internal error ends the fuzzer). */
#include "import/kineto.h"
#include "ledger/ledger.h"
#include "report/report.h"
#include "result/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { BUDGET_BYTES = 256 << 20, MOST_FILES = 4, PATH_BYTES = 64 };

/* What does not depend on the input is loaded once. */
typedef struct {
    weir_families *families;
    weir_host_names *host_names;
} presets;

static const presets *presets_get(void)
{
    static presets loaded;
    weir_err err = {0};
    if (!loaded.families && (weir_families_load(NULL, &loaded.families, &err) != WEIR_OK ||
                             weir_host_names_load(&loaded.host_names, &err) != WEIR_OK)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return &loaded;
}

static void expect_no_bug(weir_code code, const weir_err *err)
{
    if (code == WEIR_ERR_INTERNAL) {
        fprintf(stderr, "%s\n", err->text);
        abort();
    }
}

static void report(const weir_result *result, weir_err *err)
{
    weir_text text = {0};
    weir_text_options options = {.by = WEIR_BY_RANK};
    expect_no_bug(weir_report_text(&text, result, &options, err), err);
    expect_no_bug(weir_report_csv(&text, result, WEIR_BY_CAUSE, err), err);
    expect_no_bug(weir_result_json(&text, result, err), err);
    weir_text_clear(&text);
}

static void ledger(const weir_timeline *t, weir_result *result)
{
    const presets *p = presets_get();
    weir_err err = {0};
    weir_name_classes names = {0};
    weir_match match = {0};
    weir_span_classes classes = {0};
    weir_code code = weir_classify_names(t, p->families, &names, &err);
    if (code == WEIR_OK) {
        weir_match_options options = {names.is_comm, names.comm_kind, 1};
        code = weir_match_build(t, &options, &match, &err);
    }
    if (code == WEIR_OK)
        code = weir_classify_spans(t, &names, match.launch, NULL, &classes, &err);
    if (code == WEIR_OK) {
        weir_ledger_input input = {.timeline = t,
                                   .match = &match,
                                   .names = &names,
                                   .classes = &classes,
                                   .host_names = p->host_names,
                                   .families = p->families};
        weir_ledger_options options = {.segments = true, .kernels = true, .threads = 1};
        result->command = "trace";
        code = weir_ledger_build(&input, &options, result, NULL, &err);
    }
    expect_no_bug(code, &err);
    if (code == WEIR_OK)
        report(result, &err);
    weir_span_classes_clear(&classes);
    weir_match_clear(&match);
    weir_name_classes_clear(&names);
}

static void read_files(const char *const *paths, uint32_t count)
{
    weir_err err = {0};
    weir_budget *budget = weir_budget_new(BUDGET_BYTES);
    weir_timeline *timeline = weir_timeline_new(budget);
    weir_result *result = weir_result_new();
    if (budget && timeline && result) {
        weir_kineto_options options = {.threads = 1};
        weir_code code = weir_kineto_read(timeline, paths, count, &options, &result->diags, &err);
        expect_no_bug(code, &err);
        if (code == WEIR_OK && weir_timeline_spans(timeline).device_count > 0)
            ledger(timeline, result);
    }
    weir_result_free(result);
    weir_timeline_free(timeline);
    weir_budget_free(budget);
}

/* A file in memory, or -1. */
static int file_make(const uint8_t *bytes, size_t n, char path[PATH_BYTES])
{
    int fd = memfd_create("trace.json", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(path, PATH_BYTES, "/proc/self/fd/%d", fd);
    if (write(fd, bytes, n) == (ssize_t)n)
        return fd;
    close(fd);
    return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char separator[] = "\n#####\n";
    const size_t separator_n = sizeof separator - 1;
    char names[MOST_FILES][PATH_BYTES];
    const char *paths[MOST_FILES];
    int fds[MOST_FILES];
    uint32_t count = 0;
    for (const uint8_t *end = bytes + n; count < MOST_FILES;) {
        const uint8_t *next = memmem(bytes, (size_t)(end - bytes), separator, separator_n);
        size_t size = next ? (size_t)(next - bytes) : (size_t)(end - bytes);
        fds[count] = file_make(bytes, size, names[count]);
        paths[count] = names[count];
        if (fds[count] < 0)
            break;
        count++;
        if (!next)
            break;
        bytes = next + separator_n;
    }
    read_files(paths, count);
    while (count > 0)
        close(fds[--count]);
    return 0;
}
