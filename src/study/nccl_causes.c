/* nccl_causes.c: which causes predict the bandwidth that was seen, the nearest first. */
#include "study/nccl_inside.h"

#include "base/sort.h"

#include <math.h>

static double gb(double bytes_per_s)
{
    return bytes_per_s / 1e9;
}

/* A cause and how far what it predicts is from what was seen, as |log|. */
typedef struct {
    weir_nccl_finding_kind kind;
    double distance;
    uint32_t nics; /* PART_OF_NICS: of how many */
    bool is_less;  /* not even that much was reached */
} candidate;

typedef struct {
    candidate items[8];
    uint32_t count;
} candidates;

static void push(candidates *all, candidate one)
{
    if (all->count < sizeof all->items / sizeof all->items[0]) {
        all->items[all->count++] = one;
    }
}

/* Inside a band: 0; outside, how far from its edge. */
static double beside(double value, double least, double most)
{
    return value < least ? log(least / value) : value > most ? log(value / most) : 0;
}

static void push_nics(const nccl_judge *j, double share, candidates *all)
{
    uint32_t devices = j->cluster->devices ? j->cluster->devices : 1;
    uint32_t nics = j->cluster->nics ? j->cluster->nics : devices, best = 0;
    double distance = INFINITY;
    for (uint32_t k = 1; k < nics; k++) {
        double found = fabs(log(share * nics / k));
        if (found < distance) {
            distance = found;
            best = k;
        }
    }
    if (best == 0) {
        return;
    }
    bool is_less = share * nics < 1 - j->rules->near;
    if (is_less || distance <= j->rules->near) {
        push(all, (candidate){WEIR_NCCL_PART_OF_NICS, is_less ? j->rules->near : distance, best,
                              is_less});
    }
}

/* Causes between nodes; seeming: the rate that a device's NICs seem to have had. */
static void network_candidates(const nccl_judge *j, double seeming, candidates *all)
{
    const weir_nccl_rules *r = j->rules;
    const weir_collective_shape *shape = &j->out->shape;
    double share = seeming / shape->network_bytes_per_s;
    double per_node = seeming * shape->ranks / shape->nodes, latency = j->out->latency_factor;
    uint32_t devices = j->cluster->devices ? j->cluster->devices : 1;
    double nics_each = j->cluster->nics > devices ? (double)j->cluster->nics / devices : 1;
    push_nics(j, share, all);
    double staged =
        beside(seeming / nics_each, r->staged_least_bytes_per_s, r->staged_most_bytes_per_s);
    bool is_slower = share < r->good_share;
    if (is_slower && staged <= r->near) {
        push(all, (candidate){WEIR_NCCL_NO_GDR, staged, 0, false});
    }
    if (per_node <= r->sockets_most_bytes_per_s) {
        /* Slow small messages are what sockets are known by; where none were measured, a single
         * NIC is as likely. */
        bool is_sure = latency >= r->latency_factor;
        push(all, (candidate){WEIR_NCCL_SOCKETS, is_sure ? 0 : r->near, 0, false});
    }
    double over = j->options->oversubscription, beyond = fabs(log(share * over));
    if (over > 1 && beyond <= r->near) {
        /* The scenario says so itself: before what merely fits. */
        push(all, (candidate){WEIR_NCCL_CROSS_RAIL, beyond - r->near, 0, false});
    } else if (is_slower && shape->nodes >= r->cross_rail_nodes) {
        push(all, (candidate){WEIR_NCCL_CROSS_RAIL, 2 * r->near, 0, false});
    }
}

/* Causes inside one node; the plateau's row is foretold again without sums in the switch. */
static weir_code node_candidates(const nccl_judge *j, const weir_nccl_compared *row, double seeming,
                                 candidates *all)
{
    weir_collective_shape without = j->out->shape;
    weir_collective_choice choice;
    double without_s;
    without.bytes = (double)row->bytes;
    without.has_node_reduction = false;
    weir_code code = nccl_foretell(j, &without, &choice, &without_s);
    if (code == WEIR_OK && without_s > row->foretold_s * (1 + j->rules->near) &&
        fabs(log(row->measured_s / without_s)) <= j->rules->near) {
        push(all, (candidate){WEIR_NCCL_NO_NODE_REDUCTION, fabs(log(row->measured_s / without_s)),
                              0, false});
    }
    if (code == WEIR_OK && seeming <= j->rules->pcie_most_bytes_per_s) {
        push(all, (candidate){WEIR_NCCL_THROUGH_PCIE, 0, 0, false});
    }
    return code;
}

static int compare_candidates(const void *a, const void *b, const void *context)
{
    (void)context;
    double x = ((const candidate *)a)->distance, y = ((const candidate *)b)->distance;
    return (x > y) - (x < y);
}

static weir_code tell_candidate(const nccl_judge *j, const candidate *c, uint64_t bytes)
{
    double seeming = gb(j->out->seeming_nic_bytes_per_s);
    const weir_collective_shape *shape = &j->out->shape;
    uint32_t devices = j->cluster->devices ? j->cluster->devices : 1;
    uint32_t nics = j->cluster->nics ? j->cluster->nics : devices;
    switch (c->kind) {
    case WEIR_NCCL_PART_OF_NICS:
        return nccl_add_finding(j, c->kind, bytes, "It is %s what %u of %u NICs carry.",
                                c->is_less ? "not even" : "about", c->nics, nics);
    case WEIR_NCCL_NO_GDR:
        return nccl_add_finding(
            j, c->kind, bytes,
            "A NIC seems to carry %.3g GB/s, as when buffers go through host memory "
            "(no GPUDirect RDMA).",
            seeming);
    case WEIR_NCCL_SOCKETS:
        return nccl_add_finding(
            j, c->kind, bytes,
            "A node seems to send %.3g GB/s, no more than sockets without RDMA do.",
            seeming * shape->ranks / shape->nodes);
    case WEIR_NCCL_CROSS_RAIL:
        return nccl_add_finding(
            j, c->kind, bytes,
            "Over %u nodes it may be that rings change rails: traffic of several "
            "rails then shares spines or a host's PCIe.",
            shape->nodes);
    case WEIR_NCCL_NO_NODE_REDUCTION:
        return nccl_add_finding(j, c->kind, bytes,
                                "It is what rings reach: the node's switches do not add (NVLS).");
    default:
        return nccl_add_finding(
            j, c->kind, bytes,
            "A device seems to exchange %.3g GB/s: through PCIe or host memory, not "
            "over its own links.",
            seeming);
    }
}

weir_code nccl_tell_gap(const nccl_judge *j, const weir_nccl_compared *row)
{
    weir_nccl_comparison *out = j->out;
    weir_collective_shape shape = out->shape;
    candidates all = {0};
    shape.bytes = (double)row->bytes;
    weir_code code = nccl_seeming_rate(j, &shape, row->measured_s, &out->seeming_nic_bytes_per_s);
    if (code == WEIR_OK && shape.nodes > 1) {
        network_candidates(j, out->seeming_nic_bytes_per_s, &all);
    } else if (code == WEIR_OK) {
        code = node_candidates(j, row, out->seeming_nic_bytes_per_s, &all);
    }
    if (code == WEIR_OK &&
        !weir_sort(all.items, all.count, sizeof all.items[0], compare_candidates, NULL)) {
        code = weir_err_set(j->err, WEIR_ERR_MEMORY, "no memory for candidates");
    }
    for (uint32_t i = 0; i < all.count && code == WEIR_OK; i++) {
        code = tell_candidate(j, &all.items[i], row->bytes);
    }
    if (code == WEIR_OK && all.count == 0) {
        code =
            nccl_add_finding(j, WEIR_NCCL_SLOW, row->bytes,
                             "%.4g GB/s at %llu bytes is %.0f %% of the %.4g GB/s foretold, and no "
                             "known cause predicts that.",
                             gb(row->measured_bus_bytes_per_s), (unsigned long long)row->bytes,
                             100 * row->share, gb(row->foretold_bus_bytes_per_s));
    }
    return code;
}
