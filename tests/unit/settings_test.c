/* settings.h: --set replaces parts of a document, and errors name the setting. */
#include "scenario/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    weir_yaml *doc;
    weir_arena *arena;
    const weir_yaml_node *root;
    weir_err err;
    weir_code code;
} fixture;

static fixture apply(const char *text, const weir_setting *settings, uint32_t count)
{
    fixture f = {.arena = weir_arena_new()};
    assert_int_equal(weir_yaml_parse("t.yaml", text, strlen(text), &f.doc, &f.err), WEIR_OK);
    f.code = weir_settings_apply(weir_yaml_root(f.doc), settings, count, f.arena, &f.root, &f.err);
    return f;
}

static void done(fixture *f)
{
    weir_yaml_free(f->doc);
    weir_arena_free(f->arena);
}

static const char text[] = "a: 1\n"
                           "b:\n"
                           "  c: [10, 20]\n"
                           "nets:\n"
                           "  - {name: clos 1.5:1, tiers: 2}\n"
                           "  - {name: clos, tiers: 3}\n";

static const weir_yaml_node *at(const fixture *f, const char *key)
{
    return weir_yaml_find(f->root, key);
}

static void replaces_a_value_and_leaves_the_document_alone(void **state)
{
    weir_setting s[] = {{"a", "7"}, {"b.c.1", "[x, y]"}};
    fixture f = apply(text, s, 2);
    assert_int_equal(f.code, WEIR_OK);
    assert_string_equal(at(&f, "a")->text.p, "7");
    assert_string_equal(at(&f, "a")->origin, "--set a");
    const weir_yaml_node *c = weir_yaml_find(at(&f, "b"), "c");
    assert_int_equal(c->count, 2);
    assert_string_equal(c->first->text.p, "10");
    assert_int_equal(c->first->next->kind, WEIR_YAML_SEQUENCE);
    assert_string_equal(c->first->next->first->next->text.p, "y");
    assert_null(c->first->next->next);
    const weir_yaml_node *old = weir_yaml_root(f.doc);
    assert_string_equal(weir_yaml_find(old, "a")->text.p, "1");
    assert_string_equal(weir_yaml_find(weir_yaml_find(old, "b"), "c")->first->next->text.p, "20");
    done(&f);
}

static void finds_members_of_lists_by_name(void **state)
{
    weir_setting s[] = {{"nets.clos 1.5:1.tiers", "1"}, {"nets.clos.tiers", "9"}};
    fixture f = apply(text, s, 2);
    assert_int_equal(f.code, WEIR_OK);
    const weir_yaml_node *nets = at(&f, "nets");
    assert_string_equal(weir_yaml_find(nets->first, "tiers")->text.p, "1");
    assert_string_equal(weir_yaml_find(nets->first->next, "tiers")->text.p, "9");
    done(&f);
}

static void later_settings_see_earlier_ones(void **state)
{
    weir_setting s[] = {{"d", "{e: 1, f: {g: 2}}"},
                        {"d.f.g", "3"},
                        {"d.f.h.i", "4"},
                        {"a", "[]"},
                        {"a.0", "first"}};
    fixture f = apply(text, s, 5);
    assert_int_equal(f.code, WEIR_OK);
    const weir_yaml_node *d = at(&f, "d"), *inner = weir_yaml_find(d, "f");
    assert_string_equal(weir_yaml_find(d, "e")->text.p, "1");
    assert_string_equal(weir_yaml_find(inner, "g")->text.p, "3");
    assert_string_equal(weir_yaml_find(weir_yaml_find(inner, "h"), "i")->text.p, "4");
    assert_int_equal(f.root->count, 4);
    assert_int_equal(at(&f, "a")->count, 1);
    assert_string_equal(at(&f, "a")->first->text.p, "first");
    done(&f);
}

static void a_name_is_opened_where_a_mapping_may_stand(void **state)
{
    static const char names[] = "stack: nemo\nreliability: none\ncluster:\n  nic: cx7\n";
    weir_setting s[] = {{"stack.launch", "1us"},
                        {"reliability.mtbf", "3 h"},
                        {"cluster.nic.bandwidth", "1 Gb/s"},
                        {"cluster.nic.name", "slow"}};
    fixture f = apply(names, s, 4);
    assert_int_equal(f.code, WEIR_OK);
    const weir_yaml_node *stack = at(&f, "stack"), *nic = weir_yaml_find(at(&f, "cluster"), "nic");
    assert_int_equal(stack->count, 2);
    assert_string_equal(weir_yaml_find(stack, "preset")->text.p, "nemo");
    assert_int_equal(weir_yaml_find(stack, "preset")->line, 1);
    assert_int_equal(weir_yaml_find(stack, "preset")->column, 8);
    assert_string_equal(weir_yaml_find(stack, "launch")->text.p, "1us");
    assert_int_equal(at(&f, "reliability")->count, 1);
    assert_int_equal(nic->count, 3);
    assert_string_equal(weir_yaml_find(nic, "like")->text.p, "cx7");
    assert_int_equal(weir_yaml_find(weir_yaml_root(f.doc), "stack")->kind, WEIR_YAML_SCALAR);
    done(&f);
}

static void a_file_or_an_empty_value_is_not_opened(void **state)
{
    weir_setting s = {"model.layers", "4"};
    fixture file = apply("model: a/config.json\n", &s, 1), empty = apply("model:\n", &s, 1);
    assert_string_equal(file.err.text, "--set model.layers: found a value at 'model', expected a "
                                       "mapping or a list");
    assert_int_equal(empty.code, WEIR_ERR_INPUT);
    done(&file);
    done(&empty);
}

static void refuses_ways_that_lead_nowhere(void **state)
{
    static const struct {
        const char *key, *value, *sentence;
    } bad[] = {
        {"nets.2.tiers", "1",
         "--set nets.2.tiers: found '2' in 'nets', expected a position up to 1 or a name such as "
         "'clos 1.5:1'"},
        {"nets.torus.size", "1",
         "--set nets.torus.size: found 'torus' in 'nets', expected a position up to 1 or a name "
         "such as 'clos 1.5:1'"},
        {"b.c.x", "1", "--set b.c.x: found 'x' in 'b.c', expected a position up to 1"},
        {"b.c.3", "1", "--set b.c.3: found '3' in 'b.c', expected a position up to 1"},
        {"a.b", "1", "--set a.b: found a value at 'a', expected a mapping or a list"},
        {"a", "", "--set a: found no value, expected KEY=VALUE"},
        {"", "1", "--set : found no key, expected KEY=VALUE"},
        {"b..c", "1",
         "--set b..c: found an empty name or more than 32, expected names joined by dots"},
        {"b.", "1", "--set b.: found an empty name or more than 32, expected names joined by dots"},
        {"a", "[1", "--set a:2:1: flow sequence without a closing bracket"},
        {"a", "{b: 1, b: 2}", "--set a:1:8: found key 'b' again, it is already on line 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_setting s = {bad[i].key, bad[i].value};
        fixture f = apply(text, &s, 1);
        assert_int_equal(f.code, WEIR_ERR_INPUT);
        assert_string_equal(f.err.text, bad[i].sentence);
        assert_null(f.root);
        done(&f);
    }
}

static void errors_of_new_values_name_the_setting(void **state)
{
    static const char *const known[] = {"e"};
    weir_setting s = {"d", "{e: x, f: y}"};
    fixture f = apply(text, &s, 1);
    assert_int_equal(f.code, WEIR_OK);
    weir_yaml_reject(f.doc, at(&f, "d")->first, "a number", &f.err);
    assert_string_equal(f.err.text, "--set d: e: found 'x', expected a number");
    assert_int_equal(f.err.line, 0);
    f.err = (weir_err){0};
    weir_yaml_check_keys(f.doc, at(&f, "d"), known, 1, &f.err);
    assert_string_equal(f.err.text, "--set d: found unknown key 'f', expected 'e'");
    f.err = (weir_err){0};
    weir_yaml_reject(f.doc, at(&f, "b"), "a number", &f.err);
    assert_string_equal(f.err.text, "t.yaml:3:3: found a mapping, expected a number");
    done(&f);
}

static void lays_one_mapping_over_another(void **state)
{
    static const char under_text[] = "tiers: 3\nrouting: ecmp\nplanes: 2\n";
    weir_yaml *under = NULL;
    fixture f = apply("name: x\ntiers: 1\n", NULL, 0);
    assert_int_equal(weir_yaml_parse("p.yaml", under_text, strlen(under_text), &under, &f.err),
                     WEIR_OK);
    weir_yaml_node *copy = weir_settings_copy(weir_yaml_root(under), "p.yaml", true, f.arena);
    weir_yaml_free(under); /* the copy has texts of its own */
    const weir_yaml_node *both = weir_settings_overlay(f.root, copy, f.arena);
    assert_int_equal(both->count, 4);
    assert_string_equal(weir_yaml_find(both, "tiers")->text.p, "1");
    assert_string_equal(weir_yaml_find(both, "planes")->text.p, "2");
    weir_yaml_reject(f.doc, weir_yaml_find(both, "routing"), "spray", &f.err);
    assert_string_equal(f.err.text, "p.yaml:2:10: found 'ecmp', expected spray");
    assert_int_equal(f.root->count, 2);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_a_value_and_leaves_the_document_alone),
        cmocka_unit_test(finds_members_of_lists_by_name),
        cmocka_unit_test(later_settings_see_earlier_ones),
        cmocka_unit_test(a_name_is_opened_where_a_mapping_may_stand),
        cmocka_unit_test(a_file_or_an_empty_value_is_not_opened),
        cmocka_unit_test(refuses_ways_that_lead_nowhere),
        cmocka_unit_test(errors_of_new_values_name_the_setting),
        cmocka_unit_test(lays_one_mapping_over_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
