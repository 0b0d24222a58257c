/* yaml.h: documents with positions, and errors that name the place and what was expected. */
#include "codec/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static weir_yaml *parse(const char *text)
{
    weir_yaml *doc = NULL;
    weir_err err = {0};
    weir_code code = weir_yaml_parse("t.yaml", text, strlen(text), &doc, &err);
    if (code != WEIR_OK) {
        print_error("%s\n", err.text);
    }
    assert_int_equal(code, WEIR_OK);
    return doc;
}

static void expect_error(const char *text, const char *sentence, uint32_t line, uint32_t column)
{
    weir_yaml *doc = NULL;
    weir_err err = {0};
    assert_int_equal(weir_yaml_parse("t.yaml", text, strlen(text), &doc, &err), WEIR_ERR_INPUT);
    assert_null(doc);
    if (!strstr(err.text, sentence)) {
        fail_msg("found '%s', expected '%s'", err.text, sentence);
    }
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
}

static void knows_the_place_of_every_node(void **state)
{
    (void)state;
    weir_yaml *doc = parse("a: 1\nb:\n  - x\n  - {c: 'two words'}\n");
    const weir_yaml_node *root = weir_yaml_root(doc);
    assert_int_equal(root->kind, WEIR_YAML_MAPPING);
    assert_int_equal(root->count, 2);
    const weir_yaml_node *b = weir_yaml_find(root, "b");
    assert_non_null(b);
    assert_int_equal(b->key_line, 2);
    assert_int_equal(b->key_column, 1);
    assert_int_equal(b->line, 3);
    assert_int_equal(b->column, 3);
    const weir_yaml_node *c = weir_yaml_find(b->first->next, "c");
    assert_non_null(c);
    assert_int_equal(c->line, 4);
    assert_int_equal(c->column, 9);
    assert_string_equal(c->text.p, "two words");
    assert_null(weir_yaml_find(root, "d"));
    weir_yaml_free(doc);
}

static void reads_json(void **state)
{
    (void)state;
    weir_yaml *doc = NULL;
    weir_err err = {0};
    const char *text = "{\"hidden_size\": 4096, \"layers\": [1, 2]}";
    assert_int_equal(weir_yaml_parse("c.json", text, strlen(text), &doc, &err), WEIR_OK);
    uint64_t value = 0;
    assert_int_equal(weir_yaml_uint(doc, weir_yaml_find(weir_yaml_root(doc), "hidden_size"), 10000,
                                    &value, &err),
                     WEIR_OK);
    assert_int_equal(value, 4096);
    weir_yaml_free(doc);
}

static void refuses_what_it_does_not_support(void **state)
{
    (void)state;
    expect_error("a: 1\nb: 2\na: 3\n", "t.yaml:3:1: found key 'a' again, it is already on line 1",
                 3, 1);
    expect_error("a: &x 1\nb: *x\n", "aliases are not supported", 2, 4);
    expect_error("---\na: 1\n---\nb: 2\n", "second document", 3, 1);
    expect_error("[a]: 1\n", "found a collection as a key", 1, 1);
    expect_error("a: [1, 2\nb: 3\n", "t.yaml:3:1: flow sequence without a closing bracket", 3, 1);
    expect_error("", "the file is empty", 0, 0);
    expect_error("# only a comment\n", "the file is empty", 0, 0);
}

static void refuses_deep_nesting(void **state)
{
    (void)state;
    char text[400];
    memset(text, '[', 200);
    memset(text + 200, ']', 199);
    text[399] = '\0';
    weir_yaml *doc = NULL;
    weir_err err = {0};
    assert_int_equal(weir_yaml_parse("t.yaml", text, 399, &doc, &err), WEIR_ERR_INPUT);
    assert_null(doc);
}

static void survives_binary_input(void **state)
{
    (void)state;
    static const char bytes[] = {0x1f, (char)0x8b, 0, 0, (char)0xff, (char)0xfe, 0, 1, '\n', ':'};
    weir_yaml *doc = NULL;
    weir_err err = {0};
    assert_int_equal(weir_yaml_parse("t.yaml", bytes, sizeof bytes, &doc, &err), WEIR_ERR_INPUT);
    assert_int_equal(strncmp(err.text, "t.yaml", 6), 0);
}

/* A directive with such a byte in it kept libfyaml 0.7.12 busy for good. */
static void refuses_what_is_no_text(void **state)
{
    (void)state;
    expect_error("a: 1\nb: \"\xC3\xA4\xCA\"\n", "t.yaml:2:6: found bytes that are no UTF-8 text", 2,
                 6);
    expect_error("%t\xCA\na: 1\n", "t.yaml:1:3: found bytes that are no UTF-8 text", 1, 3);
    expect_error("\xC0\xAF", "t.yaml:1:1: found bytes", 1, 1);         /* overlong */
    expect_error("\xED\xA0\x80", "t.yaml:1:1: found bytes", 1, 1);     /* surrogate */
    expect_error("\xF4\x90\x80\x80", "t.yaml:1:1: found bytes", 1, 1); /* beyond Unicode */
    expect_error("\xE2\x82", "t.yaml:1:1: found bytes", 1, 1);         /* cut */
    weir_yaml *doc = parse("a: \xF0\x9F\x98\x80 \xE2\x82\xAC \xC3\xA4\n");
    assert_string_equal(weir_yaml_find(weir_yaml_root(doc), "a")->text.p,
                        "\xF0\x9F\x98\x80 \xE2\x82\xAC \xC3\xA4");
    weir_yaml_free(doc);
}

static void names_the_nearest_key(void **state)
{
    (void)state;
    static const char *const known[] = {"name", "patterns", "class"};
    weir_yaml *doc = parse("name: x\npatern: y\n");
    weir_err err = {0};
    assert_int_equal(weir_yaml_check_keys(doc, weir_yaml_root(doc), known, 3, &err),
                     WEIR_ERR_INPUT);
    assert_string_equal(err.text, "t.yaml:2:1: found unknown key 'patern', expected 'patterns'");
    assert_int_equal(err.line, 2);
    weir_yaml_free(doc);
}

static void keeps_the_first_error(void **state)
{
    (void)state;
    weir_yaml *doc = parse("a: x\nb: y\n");
    weir_err err = {0};
    weir_yaml_reject(doc, weir_yaml_find(weir_yaml_root(doc), "a"), "a number", &err);
    weir_yaml_reject(doc, weir_yaml_find(weir_yaml_root(doc), "b"), "a number", &err);
    assert_string_equal(err.text, "t.yaml:1:4: found 'x', expected a number");
    assert_int_equal(err.line, 1);
    weir_yaml_free(doc);
}

static void needs_what_is_needed(void **state)
{
    (void)state;
    const weir_yaml_node *node;
    weir_yaml *doc = parse("a: [1]\n");
    weir_err err = {0};
    weir_yaml_need(doc, weir_yaml_root(doc), "b", WEIR_YAML_ANY, &node, &err);
    assert_string_equal(err.text, "t.yaml:1:1: found no key 'b', which is needed here");
    err = (weir_err){0};
    weir_yaml_need(doc, weir_yaml_root(doc), "a", WEIR_YAML_SCALAR, &node, &err);
    assert_string_equal(err.text, "t.yaml:1:4: found a list, expected a value");
    weir_yaml_free(doc);
}

static void refuses_numbers_that_are_none(void **state)
{
    (void)state;
    weir_yaml *doc = parse("[12, -1, 1.5, '', 99999999999999999999999, 101]\n");
    uint64_t value = 0;
    const weir_yaml_node *n = weir_yaml_root(doc)->first;
    assert_int_equal(weir_yaml_uint(doc, n, 100, &value, NULL), WEIR_OK);
    assert_int_equal(value, 12);
    for (n = n->next; n; n = n->next) {
        assert_int_equal(weir_yaml_uint(doc, n, 100, &value, NULL), WEIR_ERR_INPUT);
    }
    assert_int_equal(value, 12);
    weir_yaml_free(doc);
}

static void says_that_a_file_cannot_be_opened(void **state)
{
    (void)state;
    weir_yaml *doc = NULL;
    weir_err err = {0};
    assert_int_equal(weir_yaml_read("/nonexistent/x.yaml", &doc, &err), WEIR_ERR_IO);
    assert_string_equal(err.text, "/nonexistent/x.yaml: cannot be opened");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_place_of_every_node),
        cmocka_unit_test(reads_json),
        cmocka_unit_test(refuses_what_it_does_not_support),
        cmocka_unit_test(refuses_deep_nesting),
        cmocka_unit_test(survives_binary_input),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(names_the_nearest_key),
        cmocka_unit_test(keeps_the_first_error),
        cmocka_unit_test(needs_what_is_needed),
        cmocka_unit_test(refuses_numbers_that_are_none),
        cmocka_unit_test(says_that_a_file_cannot_be_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
