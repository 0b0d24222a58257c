/* prices.h: what one piece of a part costs, and which price that is from.
 *
 * A part is priced by its own id; where nobody quotes it, by a generic price of its kind and rate:
 *   switch  ID, then switch_port:400g x its ports      NIC  ID, then nic:400g
 *   module  ID, then module:400g (pluggable ones that are no cables only)
 *   optical switch  ID (of the box), then ocs_port:ID, patch_panel_port (robots), ocs_port, each x
 *          the link ends that it takes (two fibres without circulators)
 * Each price is quoted as low, typical and high; a quote without low or high has the typical one.
 *
 * Not here: reading presets (parts.h), counts (bill.h). */
#ifndef WEIR_FABRIC_PRICES_H
#define WEIR_FABRIC_PRICES_H

#include "fabric/parts.h"

typedef struct {
    const weir_price *price; /* NULL: nobody quotes it */
    double units;            /* of that price in one piece: 1, or its ports */
} weir_unit_price;

weir_unit_price weir_price_of_switch(const weir_parts *parts, const weir_switch_part *part);
weir_unit_price weir_price_of_nic(const weir_parts *parts, const weir_nic_part *part);
weir_unit_price weir_price_of_module(const weir_parts *parts, const weir_module_part *part);
weir_unit_price weir_price_of_ocs(const weir_parts *parts, const weir_ocs_part *part);
weir_unit_price weir_price_of_fibre(const weir_parts *parts); /* a metre of cable */
/* NULL where accelerator is NULL or has no price. */
const weir_price *weir_price_of_gpu_hour(const weir_parts *parts, const char *accelerator);

#endif
