#include "fabric/circuit.h"

#include "base/grow.h"

#include <stdlib.h>

uint32_t weir_circuit_link_ends(const weir_circuit_switch *sw)
{
    uint32_t lost = sw->spare > sw->failed ? sw->spare : sw->failed;
    uint32_t usable = sw->ports > lost ? sw->ports - lost : 0;
    return sw->circulators ? usable : usable / 2;
}

uint32_t weir_circuit_switch_count(const weir_circuit_switch *sw, uint64_t link_ends)
{
    uint32_t each = weir_circuit_link_ends(sw);
    uint64_t count = each ? link_ends / each + (link_ends % each != 0) : 0;
    return count < WEIR_NONE ? (uint32_t)count : 0;
}

void weir_circuit_design_clear(weir_circuit_design *design)
{
    free(design->circuits);
    *design = (weir_circuit_design){.n = design->n};
}

weir_code weir_circuit_add(weir_circuit_design *design, weir_circuit circuit, weir_err *err)
{
    if (!weir_grow(&design->circuits, design->count, &design->room, sizeof *design->circuits)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for circuit %u", design->count);
    }
    design->circuits[design->count++] = circuit;
    return WEIR_OK;
}

static weir_code check_switch(const weir_circuit_switch *sw, uint32_t n, weir_err *err)
{
    uint32_t ends = weir_circuit_link_ends(sw);
    if ((uint64_t)n * sw->node_ports <= ends) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%u nodes with %u link ends each need %llu on a plane; its switch has %u "
                        "(%u ports, %u spare, %u failed, %s)",
                        n, sw->node_ports, (unsigned long long)n * sw->node_ports, ends, sw->ports,
                        sw->spare, sw->failed,
                        sw->circulators ? "one for a link end" : "two for a link end");
}

static weir_code check_circuit(const weir_circuit_switch *sw, uint32_t n, weir_circuit c,
                               weir_err *err)
{
    if (c.from >= n || c.to >= n || c.from == c.to) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a circuit from node %u to node %u; two different nodes below %u "
                            "are due",
                            c.from, c.to, n);
    }
    if (c.plane >= sw->planes) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a circuit from node %u to node %u on plane %u; there are %u planes",
                            c.from, c.to, c.plane, sw->planes);
    }
    return WEIR_OK;
}

/* With circulators: as many circuits there as back, for each pair and plane. */
static bool has_opposites(const weir_circuit_design *design, int32_t *balance, uint32_t plane,
                          weir_circuit *alone)
{
    size_t n = design->n;
    for (size_t i = 0; i < n * n; i++) {
        balance[i] = 0;
    }
    for (uint32_t k = 0; k < design->count; k++) {
        const weir_circuit *c = &design->circuits[k];
        if (c->plane == plane) {
            balance[c->from * n + c->to]++;
            balance[c->to * n + c->from]--;
        }
    }
    for (size_t i = 0; i < n * n; i++) {
        if (balance[i] > 0) {
            *alone = (weir_circuit){(uint32_t)(i / n), (uint32_t)(i % n), plane};
            return false;
        }
    }
    return true;
}

static weir_code check_opposites(const weir_circuit_switch *sw, const weir_circuit_design *design,
                                 weir_err *err)
{
    weir_code code = WEIR_OK;
    int32_t *balance = calloc((size_t)design->n * design->n, sizeof *balance);
    if (!balance) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to check %u circuits", design->count);
    }
    for (uint32_t p = 0; code == WEIR_OK && p < sw->planes; p++) {
        weir_circuit alone;
        if (!has_opposites(design, balance, p, &alone)) {
            code = weir_err_set(err, WEIR_ERR_INPUT,
                                "the circuit from node %u to node %u on plane %u has no opposite; "
                                "with circulators a fibre carries both directions",
                                alone.from, alone.to, p);
        }
    }
    free(balance);
    return code;
}

/* used: of each plane and node, link ends that send, then those that receive. */
static weir_code check_ports(const weir_circuit_switch *sw, const weir_circuit_design *design,
                             uint32_t *used, weir_err *err)
{
    size_t half = (size_t)sw->planes * design->n;
    for (uint32_t k = 0; k < design->count; k++) {
        weir_circuit c = design->circuits[k];
        weir_code code = check_circuit(sw, design->n, c, err);
        if (code != WEIR_OK) {
            return code;
        }
        used[(size_t)c.plane * design->n + c.from]++;
        used[half + (size_t)c.plane * design->n + c.to]++;
    }
    for (size_t i = 0; i < 2 * half; i++) {
        if (used[i] > sw->node_ports) {
            size_t at = i % half;
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "node %zu has %u circuits that %s on plane %zu; it has %u ports "
                                "there",
                                at % design->n, used[i], i < half ? "leave" : "arrive",
                                at / design->n, sw->node_ports);
        }
    }
    return WEIR_OK;
}

weir_code weir_circuit_check(const weir_circuit_switch *sw, const weir_circuit_design *design,
                             weir_err *err)
{
    if (design->n == 0 || design->n > WEIR_DEMAND_MAX || sw->planes == 0 || sw->planes > 1024) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u nodes on %u planes; 1 to %u nodes on 1 to 1024 planes are due",
                            design->n, sw->planes, WEIR_DEMAND_MAX);
    }
    weir_code code = check_switch(sw, design->n, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t *used = calloc(2 * (size_t)sw->planes * design->n, sizeof *used);
    if (!used) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to check %u circuits", design->count);
    }
    code = check_ports(sw, design, used, err);
    free(used);
    if (code == WEIR_OK && sw->circulators) {
        code = check_opposites(sw, design, err);
    }
    return code;
}
