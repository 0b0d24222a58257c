/* docs/reference/scenario.md lists the keys as the tables have them, and every example in those
 * tables is one that is read. With `--write PAGE` it writes the page's tables anew. */
#include "study/fabric_scenario.h"

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

static int write_page(const char *path)
{
    weir_text page = read_page(path), tables = {0};
    const char *at = tables_of(&page);
    if (!at) {
        fprintf(stderr, "%s: found no mark before the tables\n", path);
        return 1;
    }
    weir_fabric_scenario_describe(&tables);
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
    weir_fabric_scenario_describe(&tables);
    if (strcmp(at, tables.p) != 0) {
        fail_msg("%s is not up to date: tools/write-scenario-keys writes it", page_path);
    }
    weir_text_clear(&page);
    weir_text_clear(&tables);
}

/* The first example of the page. */
static void the_shortest_scenario_is_read(void **state)
{
    weir_text page = read_page(page_path);
    const char *fence = "```yaml\n";
    const char *from = page.p ? strstr(page.p, fence) : NULL;
    const char *to = from ? strstr(from + strlen(fence), "```") : NULL;
    assert_non_null(to);
    from += strlen(fence);
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    if (weir_fabric_scenario_parse("page", from, (size_t)(to - from), NULL, 0, &s, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(s.candidate_count, 2);
    weir_fabric_scenario_clear(&s);
    weir_text_clear(&page);
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
        cmocka_unit_test(the_examples_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
