#include "fabric/uniform_mesh.h"

#include <stdlib.h>

/* Nodes of the circle; for even n one more stands in its middle. */
static uint32_t circle_of(uint32_t n)
{
    return n % 2 == 0 ? n - 1 : n;
}

uint32_t weir_uniform_rounds(uint32_t n)
{
    return n > 1 ? circle_of(n) : 0;
}

void weir_uniform_round(uint32_t n, uint32_t round, uint32_t *partner)
{
    uint32_t circle = circle_of(n);
    for (uint32_t i = 0; i < circle; i++) {
        uint32_t j = (round + circle - i) % circle;
        partner[i] = j;
        if (j == i) { /* meets the one in the middle */
            partner[i] = n > circle ? n - 1 : WEIR_NONE;
            if (n > circle) {
                partner[n - 1] = i;
            }
        }
    }
}

/* Which rounds the last ends take: each next one adds the most new differences, the lowest round
 * wins ties. i reaches j over one node in rounds r, s where j - i = s - r. */
static bool choose_rounds(uint32_t circle, uint32_t count, uint32_t *chosen)
{
    bool *covered = calloc(circle, sizeof *covered), *taken = calloc(circle, sizeof *taken);
    bool is_done = covered && taken;
    for (uint32_t k = 0; is_done && k < count; k++) {
        uint32_t best = WEIR_NONE, most = 0;
        for (uint32_t r = 0; r < circle; r++) {
            uint32_t fresh = 0;
            for (uint32_t i = 0; i < k && !taken[r]; i++) {
                uint32_t up = (r + circle - chosen[i]) % circle, down = (circle - up) % circle;
                fresh += !covered[up];
                fresh += !covered[down] && down != up;
            }
            if (!taken[r] && (best == WEIR_NONE || fresh > most)) {
                best = r;
                most = fresh;
            }
        }
        for (uint32_t i = 0; i < k; i++) {
            uint32_t up = (best + circle - chosen[i]) % circle;
            covered[up] = covered[(circle - up) % circle] = true;
        }
        taken[best] = true;
        chosen[k] = best;
    }
    free(covered);
    free(taken);
    return is_done;
}

static weir_code add_round(weir_circuit_design *design, const uint32_t *partner, uint32_t plane,
                           weir_err *err)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < design->n && code == WEIR_OK; i++) {
        if (partner[i] != WEIR_NONE && i < partner[i]) {
            code = weir_circuit_add(design, (weir_circuit){i, partner[i], plane}, err);
            if (code == WEIR_OK) {
                code = weir_circuit_add(design, (weir_circuit){partner[i], i, plane}, err);
            }
        }
    }
    return code;
}

weir_code weir_circuit_from_uniform(const weir_circuit_switch *sw, weir_circuit_design *design,
                                    weir_err *err)
{
    uint32_t before = design->count, ends = sw->planes * sw->node_ports;
    uint32_t rounds = weir_uniform_rounds(design->n);
    if (rounds == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a mesh of %u nodes; 2 or more are due",
                            design->n);
    }
    uint32_t rest = ends % rounds;
    uint32_t *partner = calloc(design->n, sizeof *partner), *last = calloc(rest + 1, sizeof *last);
    weir_code code = WEIR_OK;
    if (!partner || !last || !choose_rounds(rounds, rest, last)) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a mesh of %u nodes", design->n);
    }
    for (uint32_t end = 0; end < ends && code == WEIR_OK; end++) {
        uint32_t round = end < ends - rest ? end % rounds : last[end - (ends - rest)];
        weir_uniform_round(design->n, round, partner);
        code = add_round(design, partner, end / sw->node_ports, err);
    }
    if (code == WEIR_OK) {
        code = weir_circuit_check(sw, design, err);
    }
    if (code != WEIR_OK) {
        design->count = before;
    }
    free(partner);
    free(last);
    return code;
}
