/* fabric_traffic.h: what the phases of a scenario send, before any network is known.
 *
 * A phase runs in groups of equal shape, side by side: group b * stride + o has the devices
 * b * size * stride + o + k * stride. What a group sends is told pair by pair: a collective as a
 * ring carries it (an all-to-all as its pairs), a pattern as its messages, a demand matrix as its
 * cells. Bytes are those of one repetition; a message is what one device sends to one partner in
 * one repetition.
 *
 * Not here: which links are loaded and how long that takes (fabric_program.h). */
#ifndef WEIR_STUDY_FABRIC_TRAFFIC_H
#define WEIR_STUDY_FABRIC_TRAFFIC_H

#include "study/fabric_scenario.h"

typedef struct {
    uint32_t size, stride, count;
} weir_traffic_groups;

/* WEIR_ERR_INPUT with the phase's place: groups that do not divide the devices, an incast of more
 * senders than there are, a shift onto itself, a matrix of another size than the cluster. */
weir_code weir_traffic_group(const weir_fabric_scenario *scenario, uint32_t phase,
                             weir_traffic_groups *groups, weir_err *err);
uint32_t weir_traffic_member(const weir_traffic_groups *groups, uint32_t group, uint32_t k);

typedef struct {
    void (*pair)(void *context, uint32_t from, uint32_t to, double bytes); /* bytes > 0 */
    void *context;
} weir_traffic_visitor;

/* The pairs of one group, in a fixed order. O(size), all-to-all O(size^2). */
weir_code weir_traffic_visit(const weir_fabric_scenario *scenario, uint32_t phase, uint32_t group,
                             const weir_traffic_visitor *visitor, weir_err *err);

typedef struct {
    double bytes;         /* of all devices in one repetition, from one device to another */
    double message_bytes; /* mean */
    double peak_bytes;    /* the largest message */
    double device_bytes;  /* mean over the devices that send */
    double fan_out;       /* partners of a device that sends, mean */
    uint32_t senders;
} weir_traffic_shape;

weir_code weir_traffic_measure(const weir_fabric_scenario *scenario, uint32_t phase,
                               weir_traffic_shape *shape, weir_err *err);

/* Adds times x what one repetition of the phase sends between blocks of devices (the diagonal: what
 * stays inside a block). block_of_device: below demand->n. */
weir_code weir_traffic_between(const weir_fabric_scenario *scenario, uint32_t phase,
                               const uint32_t *block_of_device, double times, weir_demand *demand,
                               weir_err *err);

/* Devices of the cluster; they are numbered node by node. */
uint32_t weir_traffic_devices(const weir_fabric_scenario *scenario);

#endif
