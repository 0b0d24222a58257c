/* cable_list.h: a network cable by cable, and what is wrong with a list. */
#include "fabric/cable_list.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static weir_code read(const char *text, uint32_t devices, weir_cable_list *list, weir_err *err)
{
    weir_source *source = NULL;
    assert_int_equal(weir_source_memory(text, strlen(text), "c.csv", &source, err), WEIR_OK);
    weir_code code = weir_cable_list_read(source, "c.csv", devices, list, err);
    weir_source_close(source);
    return code;
}

static void reads_devices_switches_and_directions(void **state)
{
    weir_cable_list list = {0};
    weir_err err = {0};
    const char *text = "from,to,rate,latency,optical,one_way,tier\n"
                       "d0,sw0,400 Gb/s,600 ns,yes,,\n"
                       "d1,left leaf,50 GB/s,,no,no,between_racks\n"
                       "sw0,left leaf,100 Gb/s,1 us,,yes,hall\n"
                       "left leaf,sw0,100 Gb/s,1 us,,yes,hall\n";
    if (read(text, 2, &list, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(list.devices, 2);
    assert_int_equal(list.switches, 2);
    assert_int_equal(list.count, 4);
    assert_int_equal(list.cables[0].from, 0);
    assert_int_equal(list.cables[0].to, 2);
    assert_true(list.cables[0].cable.bytes_per_s == 50e9);
    assert_true(fabs(list.cables[0].cable.latency_s - 600e-9) < 1e-18);
    assert_true(list.cables[0].cable.is_optical);
    assert_int_equal(list.cables[0].tier, WEIR_TIER_BETWEEN_NODES);
    assert_int_equal(list.cables[1].to, 3);
    assert_true(list.cables[1].cable.bytes_per_s == 50e9);
    assert_true(list.cables[1].cable.latency_s == 0);
    assert_int_equal(list.cables[1].tier, WEIR_TIER_BETWEEN_RACKS);
    assert_int_equal(list.cables[2].from, 2);
    assert_true(list.cables[2].is_one_way);
    weir_cable_list_clear(&list);
    assert_null(list.cables);
}

static void builds_a_network_that_is_listed(void **state)
{
    weir_fabric fabric = {.kind = WEIR_FABRIC_LIST};
    weir_topology *topology = NULL;
    weir_err err = {0};
    assert_int_equal(read("to,from,rate\nhub,d0,1 GB/s\nhub,d1,1 GB/s\n", 2, &fabric.list, &err),
                     WEIR_OK);
    assert_int_equal(weir_topology_new(&fabric, &topology, &err), WEIR_OK);
    assert_int_equal(weir_net_count(weir_topology_net(topology)), 4);
    weir_topology_free(topology);
    weir_cable_list_clear(&fabric.list);
}

static void says_what_is_wrong_with_a_list(void **state)
{
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"", "c.csv: found no cables, expected a row from,to,rate and one for each"},
        {"from,to,rate\n", "c.csv: found no cables, expected a row from,to,rate and one for each"},
        {"from,to,rate,latancy\nd0,d1,1 GB/s,1 us\n",
         "c.csv:1:14: found 'latancy', expected 'latency'"},
        {"from,to,rate,to\n", "c.csv:1:14: found 'to', expected each column once"},
        {"from,to\nd0,d1\n", "c.csv:1: found no column 'rate', which is needed"},
        {"from,to,rate\nd0,d1\n", "c.csv:2:1: found 'd0', expected a row of 3 fields, found 2"},
        {"from,to,rate\nd0,d1,400\n",
         "c.csv:2:7: found '400', expected a rate above 0 with its unit, such as 400 Gb/s"},
        {"from,to,rate\nd0,d1,-1 GB/s\n",
         "c.csv:2:7: found '-1 GB/s', expected a rate above 0 with its unit, such as 400 Gb/s"},
        {"from,to,rate\nd0,d1,0 GB/s\n",
         "c.csv:2:7: found '0 GB/s', expected a rate above 0 with its unit, such as 400 Gb/s"},
        {"from,to,rate,latency\nd0,d1,1 GB/s,5\n",
         "c.csv:2:14: found '5', expected a time with its unit, such as 600 ns"},
        {"from,to,rate\nd0,d0,1 GB/s\n",
         "c.csv:2:4: found 'd0', expected another end than that of 'from'"},
        {"from,to,rate\nd0,d2,1 GB/s\n", "c.csv:2:4: found 'd2', expected a device from d0 to d1"},
        {"from,to,rate\nd0,d4294967295,1 GB/s\n",
         "c.csv:2:4: found 'd4294967295', expected a device from d0 to d1"},
        {"from,to,rate\n,d1,1 GB/s\n", "c.csv:2:1: found '', expected an end, such as d0 or sw0"},
        {"from,to,rate\nd0,d1,1 GB/s\nd1,d0,1 GB/s\n",
         "c.csv:3:1: found a cable again, it is already on line 2; cables side by side are one "
         "with the sum of their rates"},
        {"from,to,rate,one_way\nd0,d1,1 GB/s,yes\nd0,d1,2 GB/s,yes\n",
         "c.csv:3:1: found a cable again, it is already on line 2; cables side by side are one "
         "with the sum of their rates"},
        {"from,to,rate,optical\nd0,d1,1 GB/s,light\n",
         "c.csv:2:14: found 'light', expected yes or no"},
        {"from,to,rate,tier\nd0,d1,1 GB/s,row\n",
         "c.csv:2:14: found 'row', expected in_node, between_nodes, between_racks or hall"},
        {"from,to,rate\nd0,hub,1 GB/s\n",
         "c.csv: device d1 has no cable, expected one for each of the 2 devices"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_cable_list list = {0};
        weir_err err = {0};
        assert_int_equal(read(bad[i].text, 2, &list, &err), WEIR_ERR_INPUT);
        assert_string_equal(err.text, bad[i].sentence);
        assert_null(list.cables);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_devices_switches_and_directions),
        cmocka_unit_test(builds_a_network_that_is_listed),
        cmocka_unit_test(says_what_is_wrong_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
