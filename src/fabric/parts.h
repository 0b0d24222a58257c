/* parts.h: what networks are bought from: links, switches, NICs, modules, optical switches, prices.
 *
 * Every figure comes from a file under presets/ (links, switches, nics, optics, ocs, prices) and
 * keeps where it is from and how sure it is. A part that a figure is not known of has NAN there;
 * who needs it says so (weir_parts_need).
 *
 * Not here: how many of each are needed (bill.h), accelerators (machine/). */
#ifndef WEIR_FABRIC_PARTS_H
#define WEIR_FABRIC_PARTS_H

#include "codec/csv_read.h"
#include "fabric/topology.h"

typedef enum {
    WEIR_MODULE_PLUGGABLE = 0, /* with its own signal processor */
    WEIR_MODULE_LINEAR,        /* without (LPO) */
    WEIR_MODULE_COPACKAGED,    /* in the switch's package */
    WEIR_MODULE_COPPER,        /* a passive cable: no conversion */
    WEIR_MODULE_KIND_COUNT
} weir_module_kind;

typedef struct { /* presets/links: inside a node, PCIe */
    const char *id, *name;
    weir_node_wiring wiring; /* UNLINKED for PCIe */
    double bytes_per_s;      /* of one device, one direction, raw */
    double latency_s;
} weir_link_part;

typedef struct { /* presets/switches */
    const char *id, *name;
    uint32_t ports;
    double bytes_per_s; /* of a port */
    double latency_s;
    double watts; /* without modules */
} weir_switch_part;

typedef struct { /* presets/nics */
    const char *id, *name;
    double bytes_per_s, latency_s, watts;
} weir_nic_part;

typedef struct { /* presets/optics */
    const char *id, *name;
    weir_module_kind kind;
    double bytes_per_s;
    double watts;
    double latency_s; /* of one module: signal processor and FEC */
    double budget_db; /* what may be lost between two of them */
} weir_module_part;

typedef struct { /* presets/ocs */
    const char *id, *name;
    uint32_t ports;
    bool circulators;
    double switch_s, linkup_s;
    double loss_db; /* of one pass */
    double watts;
} weir_ocs_part;

typedef struct {    /* presets/prices; quotes of the user overrule */
    const char *id; /* of the part that it is for: "tomahawk5-400g", "gpu_hour:h100-sxm", ... */
    double low_usd, typical_usd, high_usd;
    const char *date, *source, *confidence;
} weir_price;

typedef struct weir_parts weir_parts;

/* All presets of these kinds; owned. */
weir_code weir_parts_load(weir_parts **parts, weir_err *err);
void weir_parts_free(weir_parts *parts); /* NULL is fine */
/* The user's quotes (item,low_usd,typical_usd,high_usd,date,source; items are part ids) replace or
 * add prices. Errors name file, line, column. */
weir_code weir_parts_quote(weir_parts *parts, weir_source *source, const char *name, weir_err *err);

/* NULL where there is none of that id. */
const weir_link_part *weir_parts_link(const weir_parts *parts, weir_str id);
const weir_switch_part *weir_parts_switch(const weir_parts *parts, weir_str id);
const weir_nic_part *weir_parts_nic(const weir_parts *parts, weir_str id);
const weir_module_part *weir_parts_module(const weir_parts *parts, weir_str id);
const weir_ocs_part *weir_parts_ocs(const weir_parts *parts, weir_str id);
const weir_price *weir_parts_price(const weir_parts *parts, weir_str id);
const weir_price *weir_parts_prices(const weir_parts *parts, uint32_t *count);

#endif
