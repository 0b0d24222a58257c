#include "result/json.h"
#include "result/lines.h"
#include "result/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "result_sample.h"

static weir_text json_of(const weir_result *r)
{
    weir_text text = {0};
    weir_err err = {0};
    assert_int_equal(weir_result_json(&text, r, &err), WEIR_OK);
    return text;
}

static void assert_has(const weir_text *text, const char *part)
{
    if (strstr(text->p, part) == NULL) {
        fail_msg("not found: %s\nin: %s", part, text->p);
    }
}

static void keeps_a_note_once_and_in_order(void **state)
{
    weir_result *r = weir_result_new();
    (void)state;
    for (int i = 0; i < 20; i++) {
        weir_result_note(r, "note %d", i % 10);
    }
    assert_int_equal(r->note_count, 10);
    assert_string_equal(r->notes[0], "note 0");
    assert_string_equal(r->notes[9], "note 9");
    weir_result_free(r);
    weir_result_free(NULL);
}

static void copies_live_as_long_as_the_result(void **state)
{
    weir_result *r = weir_result_new();
    char name[] = "rank 7 and more";
    (void)state;
    const char *copy = weir_result_copy(r, (weir_str){name, 6});
    name[0] = 'x';
    assert_string_equal(copy, "rank 7");
    assert_string_equal(weir_result_printf(r, "%s:%d", "a", 3), "a:3");
    assert_string_equal(weir_result_printf(r, "%s", ""), "");
    weir_result_free(r);
}

static void what_is_not_known_starts_as_not_known(void **state)
{
    weir_result *r = weir_result_new();
    (void)state;
    weir_text text = json_of(r);
    assert_has(&text, "\"efficiency\": {\"mfu\": null, \"peak_share_in_compute\": null, "
                      "\"ladder\": null, \"overlap_tax_ns\": null}");
    assert_has(&text, "\"blamed\": null");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void names_every_reason(void **state)
{
    static const char *const names[] = {"unknown",     "late_host", "more_work",
                                        "slow_device", "slow_link", "absent"};
    (void)state;
    for (int i = 0; i < WEIR_REASON_COUNT; i++) {
        assert_string_equal(weir_reason_name((weir_reason)i), names[i]);
    }
}

static void lines_can_be_cleared_twice(void **state)
{
    weir_lines lines = {0};
    (void)state;
    lines.lines = malloc(sizeof(*lines.lines));
    lines.first = calloc(2, sizeof(*lines.first));
    weir_lines_clear(&lines);
    weir_lines_clear(&lines);
    assert_null(lines.lines);
}

/* The order of reference/output.md, what is added at the end. */
static void writes_the_keys_in_their_order(void **state)
{
    static const char *const keys[] = {
        "weir",  "schema",  "command", "source",        "provenance", "window",      "verdict",
        "total", "devices", "steps",   "critical_path", "stragglers", "collectives", "efficiency",
        "clock", "classes", "dropped", "notes",         "nodes"};
    weir_result *r = sample_sleeper();
    (void)state;
    weir_text text = json_of(r);
    const char *at = text.p;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        weir_text key = {0};
        weir_text_printf(&key, "\n \"%s\": ", keys[i]);
        at = strstr(at, key.p);
        if (at == NULL) {
            fail_msg("no key %s, or not in its place", keys[i]);
        }
        weir_text_clear(&key);
    }
    weir_text_clear(&text);
    weir_result_free(r);
}

static void writes_the_sleeper_as_the_contract_says(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    assert_int_equal(weir_verdict_compose(r, NULL), WEIR_OK);
    weir_text text = json_of(r);
    assert_has(&text, "\"source\": {\"kind\": \"measured\", \"inputs\": [\"rank0.json.gz\", "
                      "\"rank1.json.gz\", \"rank2.json.gz\", \"rank3.json.gz\"], "
                      "\"scenario\": null}");
    assert_has(&text, "\"blamed\": {\"rank\": 2, \"device\": 0, \"node\": \"ip-172-31-5-7\", "
                      "\"reason\": \"late_host\"}");
    assert_has(&text, "\"waits\": {\"compute\": 240000000, \"communication\": 148000000, "
                      "\"dependency\": 12376000000, \"cache\": 400000000}");
    assert_has(&text, "\"causes\": {\"compute.gemm\": 60000000, "
                      "\"communication.all_to_all\": 37000000, \"dependency.host\": 3094000000, "
                      "\"cache.activations\": 100000000}");
    assert_has(&text, "{\"cause\": \"communication.all_to_all\", \"tier\": \"in_node\", "
                      "\"part\": null, \"ns\": 148000000}");
    assert_has(&text,
               "{\"rank\": 2, \"device\": 0, \"node\": \"ip-172-31-5-7\", \"axis\": \"world\", "
               "\"origin_rank\": 2, \"waited_for_ns\": 8970000000, \"reason\": "
               "\"late_host\", \"factor\": 1, \"host_cause\": \"dependency.host\", "
               "\"instances\": 12}");
    assert_has(&text, "\"bus_bandwidth_bytes_per_s\": 1500000000, "
                      "\"expected_bus_bandwidth_bytes_per_s\": null");
    assert_null(strstr(text.p, "\"segments\""));
    assert_null(strstr(text.p, "\"series\""));
    weir_text_clear(&text);
    weir_result_free(r);
}

static void writes_segments_and_kernels_only_where_there_are_some(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    weir_path_segment segment = {2, "stream 7", "k\"", 10, 20, WEIR_CAUSE_COMPUTE_GEMM, WEIR_NONE};
    weir_kernel_row kernel = {"k", NULL, WEIR_CAUSE_COMPUTE_GEMM, "math", 2, 30};
    r->critical_path.segments = &segment;
    r->critical_path.segment_count = 1;
    r->kernels = &kernel;
    r->kernel_count = 1;
    weir_text text = json_of(r);
    assert_has(&text,
               "{\"rank\": 2, \"lane\": \"stream 7\", \"name\": \"k\\\"\", \"begin_ns\": 10, "
               "\"end_ns\": 20, \"cause\": \"compute.gemm\"}");
    assert_has(&text, "{\"name\": \"k\", \"family\": null, \"cause\": \"compute.gemm\", "
                      "\"class\": \"math\", \"count\": 2, \"ns\": 30}");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void counts_only_what_is_lost_as_dropped(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    for (int i = 0; i < 3; i++) {
        weir_diags_add(&r->diags, "unescaped-quote", true, WEIR_STR("a.json"), 123, 45,
                       WEIR_STR(""));
    }
    weir_diags_add(&r->diags, "clamped", false, WEIR_STR("a.json"), 1, 1, WEIR_STR(""));
    r->stragglers[0].rank = r->stragglers[0].device = -1;
    r->stragglers[0].has_host_cause = false;
    weir_text text = json_of(r);
    assert_has(&text, "\"events\": 3,");
    assert_has(&text, "{\"kind\": \"unescaped-quote\", \"count\": 3, \"first\": \"a.json:123:45");
    assert_has(&text, "{\"rank\": null, \"device\": null, \"node\"");
    assert_has(&text, "\"host_cause\": null");
    weir_text_clear(&text);
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_a_note_once_and_in_order),
        cmocka_unit_test(copies_live_as_long_as_the_result),
        cmocka_unit_test(what_is_not_known_starts_as_not_known),
        cmocka_unit_test(names_every_reason),
        cmocka_unit_test(lines_can_be_cleared_twice),
        cmocka_unit_test(writes_the_keys_in_their_order),
        cmocka_unit_test(writes_the_sleeper_as_the_contract_says),
        cmocka_unit_test(writes_segments_and_kernels_only_where_there_are_some),
        cmocka_unit_test(counts_only_what_is_lost_as_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
