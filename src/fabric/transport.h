/* transport.h: where packets do worse than a fluid: what a lossless network does to bystanders.
 *
 * With priority flow control a switch whose queue is full pauses the port that fills it, and with
 * it everything that comes from there, wherever it goes (head-of-line blocking). At worst all
 * messages of such a port advance together. max-min shares then come out lower than a fluid's: of
 * the victim in network-oracles.md A9 a half (1/3 instead of 2/3).
 *
 * How much of a fluid's rate packets reach otherwise is a figure (presets/transport.yaml). */
#ifndef WEIR_FABRIC_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_H

#include "base/arena.h"
#include "fabric/bodies.h"
#include "fabric/layout.h"

/* The messages of one moment on a lossless network: those that leave one port become one body, if
 * one of them goes to a port that messages from other ports go to as well. Its size is the sum of
 * theirs, so that they keep their proportions; its weight their number; it starts and is as late as
 * the latest. Messages keep their order, joined ones stand where their first one stood; *count
 * falls. New arrays live in arena. A port is the first (or last) link of a path outside nodes. */
weir_code weir_transport_couple(const weir_layout *layout, weir_arena *arena, weir_body *bodies,
                                uint32_t *count, weir_err *err);

#endif
