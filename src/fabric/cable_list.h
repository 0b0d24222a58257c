/* cable_list.h: a network given cable by cable, as a CSV file.
 *
 * The first row names the columns: from, to, rate, latency, and if wanted optical (yes, no),
 * one_way (yes, no: the cable carries one direction) and tier (in_node, between_nodes,
 * between_racks, hall; default between_nodes). An end is a device d0, d1, ... or a switch: any
 * other name, numbered as they come. Rates and latencies have their units; blank: no latency, not
 * optical.
 *
 * Not here: what is built of it (topology.h), what it costs. */
#ifndef WEIR_FABRIC_CABLE_LIST_H
#define WEIR_FABRIC_CABLE_LIST_H

#include "codec/csv_read.h"
#include "fabric/topology.h"

/* devices: how many there are; others are refused. list->cables is owned (clear); list is untouched
 * on failure. Errors name file, line and column: unknown or missing columns, missing units, a cable
 * from an end to itself, the same two ends in the same direction again, a device that does not
 * exist or has no cable. */
weir_code weir_cable_list_read(weir_source *source, const char *name, uint32_t devices,
                               weir_cable_list *list, weir_err *err);
void weir_cable_list_clear(weir_cable_list *list); /* a zeroed one is fine */

#endif
