#include "train/train_wire.h"

#include "train/train_shape.h"

#include <math.h>

weir_train_axis weir_train_group_axis(weir_train_group group)
{
    switch (group) {
    case WEIR_GROUP_TENSOR:
        return WEIR_AXIS_TENSOR;
    case WEIR_GROUP_CONTEXT:
        return WEIR_AXIS_CONTEXT;
    case WEIR_GROUP_EXPERT:
    case WEIR_GROUP_EXPERT_TENSOR:
        return WEIR_AXIS_EXPERT;
    case WEIR_GROUP_PIPELINE:
    case WEIR_GROUP_PIPELINE_IN_NODE:
        return WEIR_AXIS_PIPELINE;
    case WEIR_GROUP_DATA:
    case WEIR_GROUP_EXPERT_DATA:
        break;
    }
    return WEIR_AXIS_DATA;
}

weir_comm_kind weir_train_comm_kind(weir_collective_kind kind)
{
    switch (kind) {
    case WEIR_COLLECTIVE_ALL_REDUCE:
        return WEIR_COMM_ALL_REDUCE;
    case WEIR_COLLECTIVE_ALL_GATHER:
        return WEIR_COMM_ALL_GATHER;
    case WEIR_COLLECTIVE_REDUCE_SCATTER:
        return WEIR_COMM_REDUCE_SCATTER;
    case WEIR_COLLECTIVE_ALL_TO_ALL:
        return WEIR_COMM_ALL_TO_ALL;
    case WEIR_COLLECTIVE_BROADCAST:
        return WEIR_COMM_BROADCAST;
    default:
        return WEIR_COMM_SEND;
    }
}

weir_cause weir_train_comm_cause(weir_collective_kind kind)
{
    switch (kind) {
    case WEIR_COLLECTIVE_ALL_REDUCE:
        return WEIR_CAUSE_COMMUNICATION_ALL_REDUCE;
    case WEIR_COLLECTIVE_ALL_GATHER:
        return WEIR_CAUSE_COMMUNICATION_ALL_GATHER;
    case WEIR_COLLECTIVE_REDUCE_SCATTER:
        return WEIR_CAUSE_COMMUNICATION_REDUCE_SCATTER;
    case WEIR_COLLECTIVE_ALL_TO_ALL:
        return WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL;
    case WEIR_COLLECTIVE_BROADCAST:
        return WEIR_CAUSE_COMMUNICATION_BROADCAST;
    default:
        return WEIR_CAUSE_COMMUNICATION_P2P;
    }
}

static weir_axis_span spread(uint32_t ranks, uint64_t stride, uint32_t node)
{
    uint64_t room = node / stride;
    uint32_t together = room < 1 ? 1 : room < ranks ? (uint32_t)room : ranks;
    return (weir_axis_span){ranks, (ranks + together - 1) / together};
}

static weir_axis_span placed(const weir_train_job *job, weir_train_group group)
{
    const weir_train_plan *p = &job->plan;
    uint32_t node = job->network.devices_per_node;
    weir_axis_span span;
    switch (group) {
    case WEIR_GROUP_EXPERT_TENSOR:
        return spread(p->expert_tensor, 1, node);
    case WEIR_GROUP_EXPERT_DATA:
        return spread(weir_train_expert_replicas(p), (uint64_t)p->expert * p->expert_tensor, node);
    case WEIR_GROUP_PIPELINE:
        span = weir_train_span(job, WEIR_AXIS_PIPELINE);
        return (weir_axis_span){p->pipeline > 1 ? 2 : 1, span.nodes > 1 ? 2 : 1};
    case WEIR_GROUP_PIPELINE_IN_NODE:
        return (weir_axis_span){p->pipeline > 1 ? 2 : 1, 1};
    case WEIR_GROUP_DATA:
        span = weir_train_span(job, WEIR_AXIS_DATA);
        if (p->zero > 0 && p->shard_ranks > 0 && p->shard_ranks < span.ranks) {
            uint32_t together = (span.ranks + span.nodes - 1) / span.nodes;
            span = (weir_axis_span){p->shard_ranks, (p->shard_ranks + together - 1) / together};
        }
        return span;
    default:
        return weir_train_span(job, weir_train_group_axis(group));
    }
}

weir_axis_span weir_train_wire_span(const weir_train_job *job, weir_train_group group)
{
    weir_axis_span span = placed(job, group);
    if (!(job->network.node_bytes_per_s > 0)) { /* nothing joins a node's devices but their NICs */
        span.nodes = span.ranks;
    }
    return span;
}

static double factor_of(const weir_train_job *job, weir_train_group group)
{
    const weir_train_stack *s = &job->stack;
    double of_network = job->network.factor[weir_train_group_axis(group)];
    switch (group) {
    case WEIR_GROUP_EXPERT:
    case WEIR_GROUP_EXPERT_TENSOR:
        return of_network * s->expert_factor;
    case WEIR_GROUP_DATA:
    case WEIR_GROUP_EXPERT_DATA:
        return of_network * s->data_factor;
    case WEIR_GROUP_PIPELINE:
        return of_network;
    case WEIR_GROUP_PIPELINE_IN_NODE:
        return 1;
    default:
        return of_network * s->tensor_factor;
    }
}

/* No factor makes a link faster; switches between nodes that reduce make do with fewer bytes than
 * a ring sends. */
static double least_s(const weir_train_network *net, const weir_axis_span *span,
                      weir_collective_kind kind, double sent)
{
    bool reduces = kind == WEIR_COLLECTIVE_ALL_REDUCE || kind == WEIR_COLLECTIVE_REDUCE_SCATTER ||
                   kind == WEIR_COLLECTIVE_ALL_GATHER;
    if (span->nodes > 1) {
        return reduces && net->has_network_reduction ? 0 : sent / net->nic_bytes_per_s;
    }
    return sent / net->node_bytes_per_s;
}

weir_wire weir_wire_times(weir_wire wire, double times)
{
    weir_wire made = {.seconds = wire.seconds * times, .bytes = wire.bytes * times};
    weir_wire_parts_add(&made.parts, &wire.parts, times);
    return made;
}

weir_wire weir_wire_join(weir_wire a, weir_wire b)
{
    a.seconds += b.seconds;
    a.bytes += b.bytes;
    weir_wire_parts_add(&a.parts, &b.parts, 1);
    return a;
}

/* Over links of those rates; choice: what the library takes, zeroes where there is none. */
static weir_wire wire_over(const weir_train_job *job, const weir_train_network *net,
                           weir_train_group group, weir_collective_kind kind, double bytes,
                           weir_collective_choice *choice)
{
    *choice = (weir_collective_choice){0};
    weir_axis_span span = weir_train_wire_span(job, group);
    weir_wire wire = {0};
    if (span.ranks <= 1 || !(bytes > 0)) {
        return wire;
    }
    double together = (double)span.ranks / span.nodes;
    double sent = weir_collective_bus_factor(kind, span.ranks) * bytes;
    if (span.nodes > 1) { /* what goes over the device's NIC; the rest stays in the node */
        sent = kind == WEIR_COLLECTIVE_ALL_TO_ALL ? bytes * (1 - together / span.ranks)
                                                  : sent / together;
    }
    if (net->is_infinite) {
        wire.bytes = sent;
        return wire;
    }
    const weir_collective_shape shape = {.kind = kind,
                                         .bytes = bytes,
                                         .ranks = span.ranks,
                                         .nodes = span.nodes,
                                         .node_bytes_per_s = net->node_bytes_per_s,
                                         .network_bytes_per_s = net->nic_bytes_per_s,
                                         .has_node_reduction = net->has_node_reduction,
                                         .has_network_reduction = net->has_network_reduction};
    const weir_collective_wish wish = {.algorithm = WEIR_ALGORITHM_COUNT,
                                       .protocol = WEIR_PROTOCOL_COUNT,
                                       .node_transport = net->node_transport,
                                       .network_transport = net->network_transport};
    weir_err ignored = {0};
    if (net->library &&
        weir_library_choose(net->library, &shape, &wish, choice, &ignored) == WEIR_OK) {
        wire.seconds = weir_collective_estimate_s(&shape, choice);
        if (span.nodes == 1 && choice->algorithm == WEIR_ALGORITHM_NVLS) {
            sent = bytes * weir_collective_node_factor(&shape, choice->algorithm);
        }
    } else {
        double rate = span.nodes > 1 ? net->nic_bytes_per_s : net->node_bytes_per_s;
        wire.seconds = sent / rate;
    }
    wire.bytes = sent;
    wire.seconds = fmax(wire.seconds * factor_of(job, group), least_s(net, &span, kind, sent));
    return wire;
}

/* By how much it takes longer on links of that share of their rate, over 1 / share - 1. */
static double hangs_on(double whole_s, double weak_s, double share)
{
    return fmax(0, (weak_s - whole_s) / (1 / share - 1));
}

/* The same with weaker links, of the same make. */
static weir_wire_parts weak_parts(const weir_train_job *job, weir_train_group group,
                                  weir_collective_kind kind, double bytes, weir_wire whole,
                                  const weir_collective_choice *choice)
{
    weir_collective_choice ignored;
    weir_train_network net = job->network;
    weir_wire_parts parts = whole.parts;
    net.node_transport = choice->node_transport ? choice->node_transport : net.node_transport;
    net.network_transport =
        choice->network_transport ? choice->network_transport : net.network_transport;
    if (net.weak_nic > 0 && net.weak_nic < 1) {
        net.nic_bytes_per_s *= net.weak_nic;
        weir_wire weak = wire_over(job, &net, group, kind, bytes, &ignored);
        parts.nic_s = hangs_on(whole.seconds, weak.seconds, net.weak_nic);
        net.nic_bytes_per_s = job->network.nic_bytes_per_s;
    }
    if (net.weak_node_link > 0 && net.weak_node_link < 1) {
        net.node_bytes_per_s *= net.weak_node_link;
        weir_wire weak = wire_over(job, &net, group, kind, bytes, &ignored);
        parts.node_link_s = hangs_on(whole.seconds, weak.seconds, net.weak_node_link);
    }
    return parts;
}

weir_wire weir_train_wire(const weir_train_job *job, weir_train_group group,
                          weir_collective_kind kind, double bytes)
{
    const weir_train_network *net = &job->network;
    weir_collective_choice choice;
    weir_wire wire = wire_over(job, net, group, kind, bytes, &choice);
    if (weir_train_wire_span(job, group).nodes == 1) {
        wire.parts.near_s = wire.seconds;
        wire.parts.near_bytes = wire.bytes;
    }
    if (net->weak_nic > 0 || net->weak_node_link > 0) {
        wire.parts = weak_parts(job, group, kind, bytes, wire, &choice);
    }
    return wire;
}

weir_train_group weir_train_group_of(weir_train_axis axis)
{
    static const weir_train_group groups[WEIR_AXIS_COUNT] = {
        [WEIR_AXIS_TENSOR] = WEIR_GROUP_TENSOR,
        [WEIR_AXIS_CONTEXT] = WEIR_GROUP_CONTEXT,
        [WEIR_AXIS_EXPERT] = WEIR_GROUP_EXPERT,
        [WEIR_AXIS_DATA] = WEIR_GROUP_DATA,
        [WEIR_AXIS_PIPELINE] = WEIR_GROUP_PIPELINE};
    return groups[axis];
}

double weir_train_collective_s(const weir_train_job *job, weir_train_axis axis,
                               weir_collective_kind kind, double bytes)
{
    return weir_train_wire(job, weir_train_group_of(axis), kind, bytes).seconds;
}

weir_piece weir_train_wire_piece(weir_piece_kind kind, weir_train_group group,
                                 weir_collective_kind collective, const weir_wire *wire)
{
    return (weir_piece){.kind = (uint8_t)kind,
                        .cause = (uint8_t)weir_train_comm_cause(collective),
                        .axis = (uint8_t)weir_train_group_axis(group),
                        .comm = weir_train_comm_kind(collective),
                        .seconds = wire->seconds,
                        .bytes = wire->bytes,
                        .parts = wire->parts,
                        .count = 1};
}
