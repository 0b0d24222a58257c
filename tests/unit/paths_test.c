#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "import/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of its own for each test, and the working folder during it. */
static int enter_folder(void **state)
{
    char *folder = strdup("/tmp/weir-paths-XXXXXX");
    if (!folder || !mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    *state = folder;
    return 0;
}

static int leave_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    int failed = chdir("/") != 0 || system(command) != 0;
    free(*state);
    return failed;
}

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void expect_paths(const char *name, const char *const *expected, uint32_t count)
{
    weir_err err = {0};
    weir_paths paths = {0};
    assert_int_equal(weir_paths_expand(&name, 1, &paths, &err), WEIR_OK);
    assert_int_equal(paths.count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(paths.items[i], expected[i]);
    weir_paths_clear(&paths);
}

static void expect_error(const char *name, weir_code code, const char *part)
{
    weir_err err = {0};
    weir_paths paths = {0};
    assert_int_equal(weir_paths_expand(&name, 1, &paths, &err), code);
    assert_non_null(strstr(err.text, part));
    assert_int_equal(paths.count, 0);
    assert_null(paths.items);
}

static void a_folder_becomes_its_traces_in_natural_order(void **state)
{
    touch("rank10.json.gz");
    touch("rank2.json.gz");
    touch("rank1.json");
    touch("rank3.json.zst");
    touch("rank4.json.tmp");
    touch("notes.txt");
    touch(".hidden.json");
    static const char *const EXPECTED[] = {"./rank1.json", "./rank2.json.gz", "./rank3.json.zst",
                                           "./rank4.json.tmp", "./rank10.json.gz"};
    expect_paths(".", EXPECTED, 5);
}

static void subfolders_are_opened(void **state)
{
    mkdir("job", 0777);
    mkdir("job/b", 0777);
    mkdir("job/a", 0777);
    touch("job/b/0.json");
    touch("job/a/1.json");
    static const char *const EXPECTED[] = {"job/a/1.json", "job/b/0.json"};
    expect_paths("job/", EXPECTED, 2);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void other_json_of_a_folder_is_left_out_and_named(void **state)
{
    put("rank0.json", "{\"schemaVersion\": 1, \"traceEvents\": []}");
    put("rank1.json", "[{\"ph\": \"X\"}]");
    put("rank2.json", ""); /* the reader says what is wrong with it */
    put("truth.json", " {\"ranks\": 4}");
    put("config.json", "{\"model\": \"llama\"}");
    static const char *const FOLDER[] = {"."};
    weir_err err = {0};
    weir_paths paths = {0};
    assert_int_equal(weir_paths_expand(FOLDER, 1, &paths, &err), WEIR_OK);
    assert_int_equal(paths.count, 3);
    assert_int_equal(paths.skipped_count, 2);
    assert_string_equal(paths.skipped[0], "./config.json");
    assert_string_equal(paths.skipped[1], "./truth.json");
    weir_paths_clear(&paths);
    static const char *const NAMED[] = {"truth.json"};
    expect_paths("truth.json", NAMED, 1);
}

static void a_loop_of_links_ends(void **state)
{
    mkdir("job", 0777);
    touch("job/0.json");
    assert_int_equal(symlink("../job", "job/again"), 0);
    static const char *const EXPECTED[] = {"job/0.json"};
    expect_paths("job", EXPECTED, 1);
}

static void a_pattern_becomes_what_it_matches(void **state)
{
    touch("b.json");
    touch("a.json");
    touch("c.txt");
    static const char *const EXPECTED[] = {"a.json", "b.json"};
    expect_paths("*.json", EXPECTED, 2);
}

static void a_file_with_the_name_of_a_pattern_is_that_file(void **state)
{
    touch("run[1].json");
    touch("run1.json");
    static const char *const EXPECTED[] = {"run[1].json"};
    expect_paths("run[1].json", EXPECTED, 1);
}

static void a_named_file_needs_no_suffix(void **state)
{
    touch("trace");
    static const char *const EXPECTED[] = {"trace"};
    expect_paths("trace", EXPECTED, 1);
}

static void the_same_file_is_listed_once_at_its_first_place(void **state)
{
    touch("a.json");
    touch("b.json");
    assert_int_equal(symlink("b.json", "link.json"), 0);
    static const char *const NAMES[] = {"b.json", ".", "-", "-"};
    weir_err err = {0};
    weir_paths paths = {0};
    assert_int_equal(weir_paths_expand(NAMES, 4, &paths, &err), WEIR_OK);
    assert_int_equal(paths.count, 3);
    assert_string_equal(paths.items[0], "b.json");
    assert_string_equal(paths.items[1], "./a.json");
    assert_string_equal(paths.items[2], "-");
    weir_paths_clear(&paths);
}

static void what_is_not_there_is_an_error_that_names_it(void **state)
{
    mkdir("empty", 0777);
    expect_error("nothing.json", WEIR_ERR_IO, "nothing.json");
    expect_error("nothing-*.json", WEIR_ERR_IO, "nothing-*.json");
    expect_error("empty", WEIR_ERR_INPUT, "empty: no trace file");
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_folder_becomes_its_traces_in_natural_order),
        IN_FOLDER(subfolders_are_opened),
        IN_FOLDER(other_json_of_a_folder_is_left_out_and_named),
        IN_FOLDER(a_loop_of_links_ends),
        IN_FOLDER(a_pattern_becomes_what_it_matches),
        IN_FOLDER(a_file_with_the_name_of_a_pattern_is_that_file),
        IN_FOLDER(a_named_file_needs_no_suffix),
        IN_FOLDER(the_same_file_is_listed_once_at_its_first_place),
        IN_FOLDER(what_is_not_there_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
