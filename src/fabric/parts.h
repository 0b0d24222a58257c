/* parts.h: what networks are bought from: links, switches, NICs, modules, optical switches, prices.
 *
 * Every figure comes from a file under presets/ (links, switches, nics, optics, ocs, prices) and
 * keeps there where it is from and how sure it is (part_list.h shows that). A figure that is not
 * known is NAN; who needs it says so (weir_parts_need).
 *
 * Not here: how many of each are needed (bill.h), accelerators (machine/). */
#ifndef WEIR_FABRIC_PARTS_H
#define WEIR_FABRIC_PARTS_H

#include "codec/csv_read.h"
#include "codec/yaml.h"
#include "fabric/topology.h"

typedef enum {
    WEIR_MODULE_PLUGGABLE = 0, /* with its own signal processor */
    WEIR_MODULE_LINEAR,        /* without (LPO) */
    WEIR_MODULE_COPACKAGED,    /* in the switch's package */
    WEIR_MODULE_COPPER,        /* a cable without light: no conversion */
    WEIR_MODULE_KIND_COUNT
} weir_module_kind;

typedef struct { /* presets/links: inside a node, PCIe */
    const char *id, *name;
    weir_node_wiring wiring; /* UNLINKED for PCIe */
    /* Of one cable of that wiring, one direction, raw: switched: a device's link to the switch;
     * meshed: the cable of a pair; ring: the one to the next device. */
    double bytes_per_s;
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
    double bytes_per_s; /* one direction */
    double latency_s, watts;
} weir_nic_part;

typedef struct { /* presets/optics */
    const char *id, *name;
    weir_module_kind kind;
    bool is_cable; /* comes as a whole cable (DAC, AOC): price of both ends, watts of one */
    double bytes_per_s;
    double watts;     /* of one end */
    double latency_s; /* of one end: signal processor */
    double budget_db; /* what may be lost between two of them (channel insertion loss) */
    double reach_m;
    uint32_t fibres; /* of one direction: 1 where wavelengths share it, 4 of DR4; 0: not known */
} weir_module_part;

typedef struct { /* presets/ocs */
    const char *id, *name;
    const char *technology; /* "mems", "piezo", "patch-panel", ... */
    /* Fibres that it takes, as weir_circuit_switch counts: an N x N switch takes 2 N, and a cable
     * two of them, or one with circulators. 0: not known (prototypes without a published size). */
    uint32_t ports;
    bool circulators; /* both directions on one fibre */
    double switch_s;  /* until the light arrives; a bulk change where they differ */
    double linkup_s;  /* from then until the link carries packets again */
    double loss_db;   /* of one pass, typical */
    double loss_max_db;
    double watts;
} weir_ocs_part;

typedef struct {    /* presets/prices; quotes of the user overrule */
    const char *id; /* of what it is for: "tomahawk5-400g", "gpu_hour:h100-sxm", "electricity" */
    /* Where only one is known, all three are that. Of gpu_hour: of an hour; electricity: of a kWh;
     * fibre_m: of a metre; pue, life_years, hours_per_year: no dollars, those numbers. */
    double low_usd, typical_usd, high_usd;
    const char *date, *source, *url, *confidence, *note;
} weir_price;

/* presets/transport.yaml: the share of max-min fluid rates that packets reach, by pattern. */
typedef struct {
    const char *id; /* "permutation", "all_to_all", "ring", ... "default" */
    double share, low_share, high_share;
} weir_transport_part;

/* presets/transport.yaml: fibre and what lies in it. */
typedef struct {
    double s_per_m, db_per_m, connector_db, circulator_db;
    double lane_bytes_per_s; /* of the slowest lane of light that is made */
} weir_fibre_part;           /* NAN: not said */

typedef struct weir_parts weir_parts;

/* All presets of these kinds; owned. A part stays where it is until weir_parts_free. */
weir_code weir_parts_load(weir_parts **parts, weir_err *err);
void weir_parts_free(weir_parts *parts); /* NULL is fine */
/* The user's quotes (item,low_usd,typical_usd,high_usd,date,source; items are part ids) replace or
 * add prices. Only item and typical_usd are needed; the order of the columns is free; an item that
 * nothing is bought as is refused. Errors name file, line, column; rows before them have been
 * taken. Pointers to prices from before are no longer good. */
weir_code weir_parts_quote(weir_parts *parts, weir_source *source, const char *name, weir_err *err);

/* NULL where there is none of that id. */
const weir_link_part *weir_parts_link(const weir_parts *parts, weir_str id);
const weir_switch_part *weir_parts_switch(const weir_parts *parts, weir_str id);
const weir_nic_part *weir_parts_nic(const weir_parts *parts, weir_str id);
const weir_module_part *weir_parts_module(const weir_parts *parts, weir_str id);
const weir_ocs_part *weir_parts_ocs(const weir_parts *parts, weir_str id);
/* NULL: no price. Good until a price is added (quotes, inline parts). Which ids are tried for a
 * part: prices.h. */
const weir_price *weir_parts_price(const weir_parts *parts, weir_str id);
const weir_price *weir_parts_prices(const weir_parts *parts, uint32_t *count);
/* The row of that pattern, that of "default" where there is none. Never NULL. */
const weir_transport_part *weir_parts_transport(const weir_parts *parts, weir_str pattern);
const weir_fibre_part *weir_parts_fibre(const weir_parts *parts);

/* A part as a scenario gives it: the id of a preset, or a mapping with the keys of a preset whose
 * figures are plain ("rate: 400 Gb/s") or as in presets ({value: 400 Gb/s, source: ...}). Beside
 * them `like: ID` takes what is missing from that preset (its price too), and `price: 549 USD`
 * (or {low, typical, high}) sets its price. An inline part has the id of its key `id`, of its
 * `like`, or "KIND of line N". Errors name file, line, column and the nearest id or key. */
weir_code weir_parts_read_link(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                               const weir_link_part **part, weir_err *err);
weir_code weir_parts_read_switch(weir_parts *parts, const weir_yaml *doc,
                                 const weir_yaml_node *node, const weir_switch_part **part,
                                 weir_err *err);
weir_code weir_parts_read_nic(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                              const weir_nic_part **part, weir_err *err);
weir_code weir_parts_read_module(weir_parts *parts, const weir_yaml *doc,
                                 const weir_yaml_node *node, const weir_module_part **part,
                                 weir_err *err);
weir_code weir_parts_read_ocs(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                              const weir_ocs_part **part, weir_err *err);

/* WEIR_ERR_INPUT where value is NAN: "'palomar' has no known watts; say it: watts: 15 W". key: of
 * the preset ("watts"); example: a value with its unit. */
weir_code weir_parts_need(const char *id, const char *key, double value, const char *example,
                          weir_err *err);

/* "pluggable", "linear", "copackaged", "copper". */
const char *weir_module_kind_name(weir_module_kind kind);

#endif
