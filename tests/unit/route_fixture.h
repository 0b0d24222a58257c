/* route_fixture.h: fabrics and networks for the tests of routes. */
#ifndef WEIR_TESTS_ROUTE_FIXTURE_H
#define WEIR_TESTS_ROUTE_FIXTURE_H

#include "fabric/route.h"

#include "fluid_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const weir_cable cable = {.bytes_per_s = 50e9};

static inline void expect_near(const char *what, double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected))) {
        fail_msg("%s: found %.17g, expected %.17g", what, found, expected);
    }
}

static inline void expect_ok(weir_code code, const weir_err *err)
{
    if (code != WEIR_OK) {
        fail_msg("%s", err->text);
    }
}

/* --- fabrics --- */

static inline weir_fabric clos_fabric(uint32_t nodes, uint32_t devices, weir_clos clos)
{
    weir_fabric f = {.kind = WEIR_FABRIC_CLOS, .nodes = {.nodes = nodes, .devices = devices}};
    f.clos = clos;
    f.clos.cable[0] = cable;
    return f;
}

/* XGFT(m1,m2,m3; 1,w2,w3) of the oracles. */
static inline weir_fabric tree_fabric(const tree *x)
{
    weir_clos clos = {
        .tiers = 3,
        .radix = {x->m1 + x->w2, x->m2 + x->w3, x->m3},
        .oversubscription = {(double)x->m1 / x->w2, (double)x->m2 / x->w3},
        .trunk = {1, 1},
    };
    return clos_fabric(tree_hosts(x), 1, clos);
}

static inline weir_fabric torus_fabric(uint32_t x, uint32_t y, uint32_t z)
{
    weir_fabric f = {.kind = WEIR_FABRIC_TORUS};
    f.torus = (weir_torus){.size = {x, y, z}, .cable = {cable, cable, cable}};
    return f;
}

static inline weir_fabric dragonfly_fabric(uint32_t groups)
{
    weir_fabric f = {.kind = WEIR_FABRIC_DRAGONFLY, .nodes = {.nodes = 8 * groups, .devices = 1}};
    f.dragonfly = (weir_dragonfly){groups, 4, 2, 2, cable, cable, cable};
    return f;
}

typedef struct {
    weir_topology *t;
    weir_router *r;
} network;

static inline network network_new(weir_fabric fabric, weir_routing routing)
{
    network n = {0};
    weir_err err = {0};
    expect_ok(weir_topology_new(&fabric, &n.t, &err), &err);
    expect_ok(weir_router_new(n.t, &routing, &n.r, &err), &err);
    return n;
}

static inline void network_free(network n)
{
    weir_router_free(n.r);
    weir_topology_free(n.t);
}

static inline weir_route find(network n, uint32_t from, uint32_t to, uint64_t flow)
{
    weir_err err = {0};
    weir_route route;
    expect_ok(weir_router_find(n.r, from, to, flow, &route, &err), &err);
    return route;
}

static inline double *loads_new(network n)
{
    double *loads = calloc(weir_net_count(weir_topology_net(n.t)), sizeof *loads);
    assert_non_null(loads);
    return loads;
}

static inline void load(network n, double *loads, uint32_t from, uint32_t to, uint64_t flow)
{
    weir_route route = find(n, from, to, flow);
    for (uint32_t i = 0; i < route.path.count; i++) {
        loads[route.path.links[i]] += route.path.bytes_per_unit[i];
    }
}

#endif
