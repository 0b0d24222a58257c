/* Links are numbered, checked and sealed. */
#include "fabric/fluid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void numbers_links_in_order(void **state)
{
    (void)state;
    weir_net *net = weir_net_new();
    weir_link_id first, second;
    assert_int_equal(weir_net_add(net, 50e9, 1e-6, &first, NULL), WEIR_OK);
    assert_int_equal(weir_net_add(net, 0, 2e-6, &second, NULL), WEIR_OK);
    assert_int_equal(first, 0);
    assert_int_equal(second, 1);
    assert_int_equal(weir_net_count(net), 2);
    assert_true(weir_net_bytes_per_s(net, first) == 50e9);
    const weir_link_id route[] = {first, second, second};
    assert_true(fabs(weir_net_route_latency_s(net, route, 3) - 5e-6) < 1e-18);
    weir_net_free(net);
    weir_net_free(NULL);
}

static void refuses_what_no_link_can_be(void **state)
{
    (void)state;
    weir_net *net = weir_net_new();
    static const struct {
        double bytes_per_s, latency_s;
        const char *says;
    } bad[] = {
        {-1, 0, "link 0: a capacity of -1 bytes/s; it must be 0 or more"},
        {NAN, 0, "link 0: a capacity of nan bytes/s; it must be 0 or more"},
        {1, -1e-6, "link 0: a latency of -1e-06 s; it must be 0 or more"},
        {1, INFINITY, "link 0: a latency of inf s; it must be 0 or more"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_err err = {0};
        weir_link_id link = 77;
        assert_int_equal(weir_net_add(net, bad[i].bytes_per_s, bad[i].latency_s, &link, &err),
                         WEIR_ERR_INPUT);
        assert_string_equal(err.text, bad[i].says);
        assert_int_equal(link, 77);
    }
    assert_int_equal(weir_net_count(net), 0);
    weir_net_free(net);
}

static void takes_no_link_after_sealing_and_shares_none_before(void **state)
{
    (void)state;
    weir_net *net = weir_net_new();
    weir_link_id link;
    weir_fluid *fluid = NULL;
    weir_err err = {0};
    assert_int_equal(weir_net_add(net, 1, 0, &link, NULL), WEIR_OK);
    assert_int_equal(weir_fluid_new(net, &fluid, &err), WEIR_ERR_USAGE);
    assert_null(fluid);
    weir_net_seal(net);
    assert_true(weir_net_is_sealed(net));
    assert_int_equal(weir_net_add(net, 1, 0, &link, NULL), WEIR_ERR_USAGE);
    assert_int_equal(weir_fluid_new(net, &fluid, NULL), WEIR_OK);
    weir_fluid_free(fluid);
    weir_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_links_in_order),
        cmocka_unit_test(refuses_what_no_link_can_be),
        cmocka_unit_test(takes_no_link_after_sealing_and_shares_none_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
