/* nccl_foretell.c: what a run of nccl-tests should have taken on the scenario's cluster. */
#include "study/nccl_inside.h"

#include <math.h>

bool nccl_kind_of(weir_comm_kind kind, weir_collective_kind *found)
{
    switch (kind) {
    case WEIR_COMM_ALL_REDUCE:
        *found = WEIR_COLLECTIVE_ALL_REDUCE;
        return true;
    case WEIR_COMM_ALL_GATHER:
        *found = WEIR_COLLECTIVE_ALL_GATHER;
        return true;
    case WEIR_COMM_REDUCE_SCATTER:
        *found = WEIR_COLLECTIVE_REDUCE_SCATTER;
        return true;
    case WEIR_COMM_ALL_TO_ALL:
        *found = WEIR_COLLECTIVE_ALL_TO_ALL;
        return true;
    case WEIR_COMM_BROADCAST:
        *found = WEIR_COLLECTIVE_BROADCAST;
        return true;
    case WEIR_COMM_REDUCE:
        *found = WEIR_COLLECTIVE_REDUCE;
        return true;
    case WEIR_COMM_SEND_RECV:
        *found = WEIR_COLLECTIVE_SEND_RECV;
        return true;
    default:
        return false;
    }
}

bool nccl_shape_of(const nccl_judge *j, weir_collective_shape *shape)
{
    const weir_cluster *c = j->cluster;
    const weir_nccl_run *run = j->run;
    uint32_t devices = c->devices ? c->devices : 1, nics = c->nics ? c->nics : devices;
    bool is_exact = run->least_ranks > 0 && run->least_ranks == run->most_ranks;
    *shape = (weir_collective_shape){0};
    /* The quotient is arithmetic, the list may be of another run. */
    shape->ranks = is_exact ? run->least_ranks : run->ranks ? run->ranks : c->nodes * devices;
    shape->nodes = run->hosts && (!is_exact || run->ranks == run->least_ranks)
                       ? run->hosts
                       : (shape->ranks + devices - 1) / devices;
    shape->nodes = shape->nodes < shape->ranks ? shape->nodes : shape->ranks;
    shape->nodes = shape->nodes ? shape->nodes : 1;
    shape->node_bytes_per_s = c->node_link ? c->node_link->bytes_per_s : 0;
    shape->network_bytes_per_s = c->nic ? c->nic->bytes_per_s * nics / devices : 0;
    shape->has_node_reduction = c->node_link && c->node_link->wiring == WEIR_NODE_SWITCHED;
    return nccl_kind_of(run->kind, &shape->kind) && shape->ranks > 1;
}

/* The best of all algorithms with these efficiencies of 1 and no latency. */
static double best_raw_s(const weir_collective_shape *shape, weir_collective_choice *best)
{
    double best_s = INFINITY;
    for (uint32_t a = 0; a < WEIR_ALGORITHM_COUNT; a++) {
        weir_collective_choice choice = {.algorithm = (weir_collective_algorithm)a,
                                         .protocol = WEIR_PROTOCOL_SIMPLE,
                                         .node_efficiency = 1,
                                         .network_efficiency = 1};
        if (weir_collective_is_possible(shape, choice.algorithm)) {
            double seconds = weir_collective_estimate_s(shape, &choice);
            if (seconds < best_s) {
                best_s = seconds;
                *best = choice;
            }
        }
    }
    return best_s;
}

double nccl_limit_s(const weir_collective_shape *shape)
{
    weir_collective_choice choice;
    return best_raw_s(shape, &choice);
}

weir_code nccl_foretell(const nccl_judge *j, const weir_collective_shape *shape,
                        weir_collective_choice *choice, double *seconds)
{
    if ((shape->nodes > 1 && !(shape->network_bytes_per_s > 0)) ||
        (shape->ranks > shape->nodes && !(shape->node_bytes_per_s > 0))) {
        return weir_err_set(
            j->err, WEIR_ERR_INPUT,
            "%u ranks on %u nodes were measured, but the cluster has no %s to "
            "compare with; give cluster.%s",
            shape->ranks, shape->nodes,
            shape->nodes > 1 && !(shape->network_bytes_per_s > 0) ? "NIC" : "node link",
            shape->nodes > 1 && !(shape->network_bytes_per_s > 0) ? "nic" : "node_link");
    }
    if (!j->library) {
        *seconds = best_raw_s(shape, choice);
        return WEIR_OK;
    }
    const weir_collective_wish wish = {
        .algorithm = WEIR_ALGORITHM_COUNT,
        .protocol = WEIR_PROTOCOL_COUNT,
        .node_transport = j->cluster->node_link ? j->cluster->node_link->id : NULL,
        .network_transport = j->options->network_transport,
    };
    weir_code code = weir_library_choose(j->library, shape, &wish, choice, j->err);
    *seconds = code == WEIR_OK ? weir_collective_estimate_s(shape, choice) : NAN;
    return code;
}

/* Bisection of the logarithm: time falls as the rate grows. The transport stays the one of the full
 * rate, because a slow NIC is still that NIC. */
weir_code nccl_seeming_rate(const nccl_judge *j, const weir_collective_shape *shape, double seconds,
                            double *bytes_per_s)
{
    enum { STEPS = 50 };
    bool is_between = shape->nodes > 1;
    double full = is_between ? shape->network_bytes_per_s : shape->node_bytes_per_s;
    double low = log(full) - log(1e5), high = log(full);
    weir_nccl_options options = *j->options;
    nccl_judge fixed = *j;
    weir_collective_choice choice;
    double found_s;
    weir_code code = nccl_foretell(j, shape, &choice, &found_s);
    if (code == WEIR_OK && j->library && !options.network_transport) {
        options.network_transport = choice.network_transport;
    }
    fixed.options = &options;
    for (int i = 0; i < STEPS && code == WEIR_OK; i++) {
        double middle = (low + high) / 2;
        weir_collective_shape slower = *shape;
        *(is_between ? &slower.network_bytes_per_s : &slower.node_bytes_per_s) = exp(middle);
        code = nccl_foretell(&fixed, &slower, &choice, &found_s);
        if (code == WEIR_OK && found_s > seconds) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *bytes_per_s = exp((low + high) / 2);
    return code;
}
