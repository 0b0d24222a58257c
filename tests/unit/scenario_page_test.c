/* docs/reference/scenario.md lists the keys as the tables have them, and its examples are read.
 * With `--write PAGE` it writes the page's tables anew. */
#include "study/fabric_scenario.h"
#include "study/train_scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char page_path[] = "docs/reference/scenario.md";
static const char mark[] = "from the tables in src/study/. Do not edit. -->\n";

/* The whole file. */
static weir_text read_page(const char *path)
{
    weir_text page = {0};
    char block[4096];
    size_t n;
    FILE *file = fopen(path, "rb");
    while (file && (n = fread(block, 1, sizeof block, file)) > 0) {
        weir_text_bytes(&page, block, n);
    }
    if (file) {
        fclose(file);
    }
    return page;
}

static const char *tables_of(const weir_text *page)
{
    const char *at = page->p ? strstr(page->p, mark) : NULL;
    return at ? at + strlen(mark) : NULL;
}

static void describe(weir_text *tables)
{
    weir_text_add(tables, WEIR_STR("\n# Keys of weir fabric\n"));
    weir_fabric_scenario_describe(tables);
    weir_train_scenario_describe(tables);
}

static int write_page(const char *path)
{
    weir_text page = read_page(path), tables = {0};
    const char *at = tables_of(&page);
    if (!at) {
        fprintf(stderr, "%s: found no mark before the tables\n", path);
        return 1;
    }
    describe(&tables);
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(page.p, 1, (size_t)(at - page.p), file) == (size_t)(at - page.p) &&
              fwrite(tables.p, 1, tables.n, file) == tables.n;
    ok = file && fclose(file) == 0 && ok;
    weir_text_clear(&page);
    weir_text_clear(&tables);
    return ok ? 0 : 1;
}

static void the_page_lists_the_keys(void **state)
{
    weir_text page = read_page(page_path), tables = {0};
    const char *at = tables_of(&page);
    assert_non_null(at);
    describe(&tables);
    if (strcmp(at, tables.p) != 0) {
        fail_msg("%s is not up to date: tools/write-scenario-keys writes it", page_path);
    }
    weir_text_clear(&page);
    weir_text_clear(&tables);
}

/* The first example behind that heading, without its fences. */
static weir_str example_of(const weir_text *page, const char *heading)
{
    const char *fence = "```yaml\n";
    const char *section = page->p ? strstr(page->p, heading) : NULL;
    const char *from = section ? strstr(section, fence) : NULL;
    const char *to = from ? strstr(from + strlen(fence), "```") : NULL;
    assert_non_null(to);
    from += strlen(fence);
    return (weir_str){from, (uint32_t)(to - from)};
}

static void the_shortest_training_scenario_is_read(void **state)
{
    weir_text page = read_page(page_path);
    weir_str text = example_of(&page, "## The scenario of `weir train`");
    weir_train_scenario s = {0};
    weir_err err = {0};
    if (weir_train_scenario_parse("page", text.p, text.n, NULL, 0, &s, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(s.job.plan.data, 8);
    assert_int_equal(s.job.plan.micro_batches, 8);
    assert_string_equal(s.cluster.nic->id, "cx7-400g");
    weir_train_scenario_clear(&s);
    weir_text_clear(&page);
}

static void the_shortest_scenario_is_read(void **state)
{
    weir_text page = read_page(page_path);
    weir_str text = example_of(&page, "## The scenario of `weir fabric`");
    const char *from = text.p, *to = text.p + text.n;
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    if (weir_fabric_scenario_parse("page", from, (size_t)(to - from), NULL, 0, &s, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(s.candidate_count, 2);
    weir_fabric_scenario_clear(&s);
    weir_text_clear(&page);
}

static void the_training_examples_are_read(void **state)
{
    static const char *const paths[] = {
        "examples/llama3-405b-16k.yaml",         "examples/train/llama3-8b-8.yaml",
        "examples/train/llama3-70b-64.yaml",     "examples/train/llama3-405b-2304.yaml",
        "examples/train/gpt3-175b-64-a100.yaml", "examples/train/mixtral-8x7b-64.yaml",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        weir_train_scenario s = {0};
        weir_err err = {0};
        if (weir_train_scenario_read(paths[i], NULL, 0, &s, &err) != WEIR_OK) {
            fail_msg("%s", err.text);
        }
        assert_true(weir_train_devices(&s.job.plan) >= 8);
        weir_train_scenario_clear(&s);
    }
}

static void the_examples_are_read(void **state)
{
    static const char *const paths[] = {
        "examples/fabric/small.yaml",
        "examples/fabric/dense-16k.yaml",
        "examples/fabric/moe.yaml",
        "examples/fabric/small-messages.yaml",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        weir_fabric_scenario s = {0};
        weir_err err = {0};
        if (weir_fabric_scenario_read(paths[i], NULL, 0, &s, &err) != WEIR_OK) {
            fail_msg("%s", err.text);
        }
        assert_true(s.candidate_count >= 3);
        weir_fabric_scenario_clear(&s);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        return write_page(argv[2]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_lists_the_keys),
        cmocka_unit_test(the_shortest_scenario_is_read),
        cmocka_unit_test(the_shortest_training_scenario_is_read),
        cmocka_unit_test(the_training_examples_are_read),
        cmocka_unit_test(the_examples_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
