/* net.h: the links of a network: how much each carries and how long it delays.
 *
 * Links are numbered from 0 in the order in which they are added; a link has one direction. After
 * sealing a net never changes and may be read by any number of threads: what fails or is widened
 * during a run belongs to that run (weir_fluid_set_capacity). 16 bytes a link.
 * Not here: which links a transfer crosses (the caller's), how links are shared (fluid.h). */
#ifndef WEIR_FABRIC_NET_H
#define WEIR_FABRIC_NET_H

#include "weir/base.h"

typedef uint32_t weir_link_id; /* WEIR_NONE: no link */

typedef struct weir_net weir_net;

weir_net *weir_net_new(void);      /* NULL: no memory */
void weir_net_free(weir_net *net); /* NULL is fine */

/* One more link. bytes_per_s: 0 (broken from the beginning) or more, INFINITY never binds;
 * latency_s: finite, 0 or more. WEIR_ERR_INPUT otherwise, WEIR_ERR_USAGE after sealing. */
weir_code weir_net_add(weir_net *net, double bytes_per_s, double latency_s, weir_link_id *link,
                       weir_err *err);
void weir_net_seal(weir_net *net);

uint32_t weir_net_count(const weir_net *net);
bool weir_net_is_sealed(const weir_net *net);
double weir_net_bytes_per_s(const weir_net *net, weir_link_id link);
double weir_net_latency_s(const weir_net *net, weir_link_id link);
/* The sum over a route. */
double weir_net_route_latency_s(const weir_net *net, const weir_link_id *links, uint32_t count);

#endif
