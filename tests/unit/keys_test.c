/* keys.h: a table of keys reads a mapping, writes its errors and its page. */
#include "scenario/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    const char *name;
    bool on;
    uint32_t ports, sizes[3], kind;
    uint64_t seed;
    double share, ratio[2], wait_s;
    const weir_yaml_node *more;
} things;

static const char *const colours[] = {"red", "green"};
static const char *const kinds[] = {"clos", "torus"};

#define AT(member) offsetof(things, member)

static const weir_key keys[] = {
    {.name = "name",
     .type = WEIR_KEY_TEXT,
     .offset = AT(name),
     .needed = WEIR_KEY_ALWAYS,
     .help = "what it is called",
     .example = "x"},
    {.name = "on",
     .type = WEIR_KEY_BOOL,
     .offset = AT(on),
     .unset = "yes",
     .help = "whether it is on",
     .example = "no"},
    {.name = "ports",
     .type = WEIR_KEY_UINT,
     .offset = AT(ports),
     .min = 1,
     .max = 128,
     .unset = "64",
     .help = "how many",
     .example = "64"},
    {.name = "sizes",
     .type = WEIR_KEY_UINT,
     .offset = AT(sizes),
     .count = 3,
     .kinds = 2,
     .needed = 2,
     .min = 1,
     .help = "of the dimensions",
     .example = "[4, 4]"},
    {.name = "seed",
     .type = WEIR_KEY_UINT64,
     .offset = AT(seed),
     .unset = "1",
     .help = "of draws",
     .example = "7"},
    {.name = "colour",
     .type = WEIR_KEY_CHOICE,
     .words = colours,
     .word_count = 2,
     .offset = AT(kind),
     .unset = "green",
     .help = "which",
     .example = "red"},
    {.name = "share",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(share),
     .above = true,
     .max = 1,
     .help = "of all",
     .shown = "all",
     .example = "0.5"},
    {.name = "ratio",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(ratio),
     .count = 2,
     .min = 1,
     .unset = "1, 3",
     .help = "down to up",
     .example = "[1, 3]"},
    {.name = "wait",
     .type = WEIR_KEY_QUANTITY,
     .dimension = WEIR_DIMENSION_SECONDS,
     .offset = AT(wait_s),
     .above = true,
     .unset = "2 ms",
     .help = "before",
     .example = "25 ms"},
    {.name = "more",
     .type = WEIR_KEY_NODE,
     .offset = AT(more),
     .help = "the rest",
     .example = "{}"},
};

static const weir_key_table table = {.title = "things",
                                     .about = "What there is.",
                                     .keys = keys,
                                     .count = sizeof keys / sizeof *keys,
                                     .kinds = kinds,
                                     .kind_count = 2};

static weir_code read(const char *text, uint32_t kind, weir_arena *arena, things *out,
                      weir_err *err)
{
    weir_yaml *doc = NULL;
    assert_int_equal(weir_yaml_parse("t.yaml", text, strlen(text), &doc, err), WEIR_OK);
    weir_key_source source = {doc, arena};
    weir_code code = weir_keys_read(&source, weir_yaml_root(doc), &table, kind, out, err);
    weir_yaml_free(doc);
    return code;
}

static void reads_every_type(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_err err = {0};
    things t = {0};
    assert_int_equal(read("name: a b\non: no\nports: 12\nsizes: [4, 5, 6]\n"
                          "seed: 18446744073709551615\ncolour: red\nshare: 0.25\nratio: [2, 7.5]\n"
                          "wait: 1.5 us\nmore: [1]\n",
                          1, arena, &t, &err),
                     WEIR_OK);
    assert_string_equal(t.name, "a b");
    assert_false(t.on);
    assert_int_equal(t.ports, 12);
    assert_int_equal(t.sizes[0] * 100 + t.sizes[1] * 10 + t.sizes[2], 456);
    assert_true(t.seed == UINT64_MAX);
    assert_int_equal(t.kind, 0);
    assert_true(t.share == 0.25 && t.ratio[0] == 2 && t.ratio[1] == 7.5 && t.wait_s == 1.5e-6);
    assert_non_null(t.more);
    weir_arena_free(arena);
}

static void takes_defaults_and_shorter_lists(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_err err = {0};
    things t = {.share = 9};
    assert_int_equal(read("name: x\nratio: 5\n", 0, arena, &t, &err), WEIR_OK);
    assert_true(t.on);
    assert_int_equal(t.ports, 64);
    assert_true(t.seed == 1);
    assert_int_equal(t.kind, 1);
    assert_true(t.share == 9); /* no default: as it was */
    assert_true(t.ratio[0] == 5 && t.ratio[1] == 3);
    assert_true(t.wait_s == 0.002);
    assert_null(t.more);
    assert_int_equal(read("name: x\nsizes: [8]\n", 1, arena, &t, &err), WEIR_OK);
    assert_int_equal(t.sizes[0], 8);
    assert_int_equal(t.sizes[1], 0);
    assert_true(t.ratio[0] == 1 && t.ratio[1] == 3);
    weir_arena_free(arena);
}

static void says_what_was_found_and_what_was_expected(void **state)
{
    static const struct {
        const char *text;
        uint32_t kind;
        const char *sentence;
    } bad[] = {
        {"[1]", 0, "t.yaml:1:1: found a list, expected a mapping"},
        {"on: yes\n", 0,
         "t.yaml:1:1: found no key 'name', which is needed here, for example name: x"},
        {"name: x\n", 1,
         "t.yaml:1:1: found no key 'sizes', which is needed here, for example sizes: [4, 4]"},
        {"name: x\nprots: 1\n", 0, "t.yaml:2:1: found unknown key 'prots', expected 'ports'"},
        {"name: x\nsizes: [1]\n", 0, "t.yaml:2:1: key 'sizes' has no meaning for kind clos"},
        {"name: ''\n", 0, "t.yaml:1:7: found '', expected text"},
        {"name: [x]\n", 0, "t.yaml:1:7: found a list, expected text"},
        {"name: x\non: maybe\n", 0, "t.yaml:2:5: found 'maybe', expected 'yes' or 'no'"},
        {"name: x\nports: 0\n", 0, "t.yaml:2:8: found '0', expected a whole number from 1 to 128"},
        {"name: x\nports: 129\n", 0,
         "t.yaml:2:8: found '129', expected a whole number from 1 to 128"},
        {"name: x\nports: 1.5\n", 0,
         "t.yaml:2:8: found '1.5', expected a whole number from 1 to 128"},
        {"name: x\nports: 5000000000\n", 0,
         "t.yaml:2:8: found '5000000000', expected a whole number from 1 to 128"},
        {"name: x\nseed: -1\n", 0, "t.yaml:2:7: found '-1', expected a whole number"},
        {"name: x\nsizes: [1, 2, 3, 4]\n", 1,
         "t.yaml:2:8: found a list of 4, expected 1 to 3 values"},
        {"name: x\nsizes: []\n", 1, "t.yaml:2:8: found a list of 0, expected 1 to 3 values"},
        {"name: x\nsizes: [4, x]\n", 1,
         "t.yaml:2:12: found 'x', expected a whole number, at least 1"},
        {"name: x\ncolour: rde\n", 0, "t.yaml:2:9: found 'rde', expected one of red, green"},
        {"name: x\nshare: 0\n", 0, "t.yaml:2:8: found '0', expected a number above 0 and up to 1"},
        {"name: x\nshare: 1.01\n", 0,
         "t.yaml:2:8: found '1.01', expected a number above 0 and up to 1"},
        {"name: x\nshare: 50 %\n", 0,
         "t.yaml:2:8: found '50 %', expected a number above 0 and up to 1"},
        {"name: x\nratio: [0.5]\n", 0, "t.yaml:2:9: found '0.5', expected a number, at least 1"},
        {"name: x\nwait: 25\n", 0,
         "t.yaml:2:7: found '25', expected a time with its unit, such as '25 ms'"},
        {"name: x\nwait: -1 ms\n", 0,
         "t.yaml:2:7: found '-1 ms', expected a time with its unit, such as '25 ms'"},
        {"name: x\nwait: 0 ms\n", 0, "t.yaml:2:7: found '0 ms', expected more than 0 s"},
    };
    weir_arena *arena = weir_arena_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        things t = {0};
        weir_err err = {0};
        assert_int_equal(read(bad[i].text, bad[i].kind, arena, &t, &err), WEIR_ERR_INPUT);
        assert_string_equal(err.text, bad[i].sentence);
    }
    weir_arena_free(arena);
}

static void writes_a_row_for_each_key(void **state)
{
    weir_text page = {0};
    weir_keys_describe(&table, &page);
    assert_non_null(strstr(page.p, "\n## things\n\nWhat there is.\n\n| key | value |"));
    assert_non_null(strstr(page.p, "| `name` | text | needed | what it is called | `x` |\n"));
    assert_non_null(strstr(page.p, "| `ports` | a whole number from 1 to 128 | 64 | how many | "
                                   "`64` |\n"));
    assert_non_null(strstr(page.p, "| `sizes` | a whole number, at least 1, up to 3 in a list | "
                                   "needed | of the dimensions (of torus) | `[4, 4]` |\n"));
    assert_non_null(strstr(page.p, "| `wait` | with its unit (s) | 2 ms | before | `25 ms` |\n"));
    assert_non_null(strstr(page.p, "| `share` | a number above 0 and up to 1 | all | of all | "
                                   "`0.5` |\n"));
    weir_text_clear(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(takes_defaults_and_shorter_lists),
        cmocka_unit_test(says_what_was_found_and_what_was_expected),
        cmocka_unit_test(writes_a_row_for_each_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
