/* bill.h: what a network is made of, what that costs, draws and converts.
 *
 * One bill for every kind of network: counts of switches, cables, NICs and optical switches with
 * the part that each is bought as, right to the port. Prices and watts are those of the parts;
 * what is not known is left out of the sums and named (`unpriced`, `unpowered`), never guessed.
 * Counts are exact; O(rows), and O(links) to take them from a topology.
 * Not here: which parts and how many (the study), at which price another network wins (flips.h). */
#ifndef WEIR_FABRIC_BILL_H
#define WEIR_FABRIC_BILL_H

#include "fabric/prices.h"

#include "base/arena.h"

/* --- what is billed --- */

typedef struct {
    const char *place;            /* "leaf", "spine", "core", "router" */
    const weir_switch_part *part; /* NULL: of a kind that is not named: no price, no power */
    uint64_t count;
    uint64_t ports_used; /* of all of them */
} weir_bill_switches;

typedef struct {
    const char *place; /* "nic-leaf", "leaf-spine" */
    /* At its ends, or the cable itself (is_cable). NULL: it is no part of the bill. */
    const weir_module_part *part;
    uint64_t count;
    double bytes_per_s; /* of one; 0: the part's. Each end takes ceil(this / the part's) modules. */
    double length_m;    /* of one; 0: not known, then its fibre is free */
    uint32_t ends;      /* with a module: 2, or 1 for a cable that ends at an optical switch */
} weir_bill_cables;

typedef struct {
    const char *place;
    const weir_ocs_part *part;
    uint64_t count;
    uint64_t ports_used, ports_spare; /* fibres, of all of them; spare: kept free on purpose */
} weir_bill_ocs;

typedef struct {
    const weir_parts *parts; /* prices */
    const weir_nic_part *nic;
    uint64_t nics;
    const weir_bill_switches *switches;
    const weir_bill_cables *cables;
    const weir_bill_ocs *ocs;
    uint32_t switch_rows, cable_rows, ocs_rows;
} weir_bill_input;

/* --- the bill --- */

typedef struct {
    const char *item;        /* "nic", "switch", "module", "cable", "fibre", "optical switch" */
    const char *part, *name; /* id and name of the part */
    const char *place;
    uint64_t count;                        /* pieces; of fibre, cables */
    double watts;                          /* of all; NAN: not known */
    double low_usd, typical_usd, high_usd; /* of all; NAN: no price */
    const weir_price *price;               /* NULL: none. Good as weir_parts_price says. */
    double units;                          /* of that price in all of them: usd = units x price */
} weir_bill_item;

typedef struct {
    weir_bill_item *items; /* in the arena, as their texts */
    uint32_t count;
    uint64_t nics, switches, switch_ports, switch_ports_used;
    uint64_t ocs, optical_ports, optical_ports_used, spare_ports; /* spare: of optical switches */
    uint64_t cables, optical_cables;          /* circuits' cables count as they are laid */
    uint64_t modules[WEIR_MODULE_KIND_COUNT]; /* copper: whole cables */
    double fibre_m;
    double watts;                          /* of what is known */
    double low_usd, typical_usd, high_usd; /* of what is known */
    const char *unpriced, *unpowered;      /* "quantum-x800, 800g-cpo"; NULL: all is known */
} weir_bill;

/* bill lives in the arena. WEIR_ERR_INPUT: a count that does not fit (more ports used than there
 * are), a cable without a rate. */
weir_code weir_bill_make(const weir_bill_input *input, weir_arena *arena, weir_bill *bill,
                         weir_err *err);

/* --- counts of a topology --- */

typedef struct {
    weir_vertex_kind from, to; /* from <= to */
    weir_tier tier;
    bool is_optical;
    double bytes_per_s;
    uint64_t count;
} weir_cable_group;

enum { WEIR_CABLE_GROUPS_MAX = 64 };

/* The cables of a topology, one group for each kind of ends, tier, rate and light. *count is at
 * most WEIR_CABLE_GROUPS_MAX, the room of groups; more are WEIR_ERR_LIMIT. A NIC whose PCIe never
 * binds is no vertex of its own: its cables begin at the device. */
weir_code weir_bill_group_cables(const weir_topology *topology, weir_cable_group *groups,
                                 uint32_t *count, weir_err *err);

/* --- what it costs --- */

typedef struct {
    double kwh_usd, pue, life_years;
    double gpu_hour_usd;   /* NAN: not known, then is waiting not either */
    double hours_per_year; /* in which devices work and wait; the network is on all year */
} weir_bill_economics;

typedef struct {
    uint64_t devices;
    double wait_share; /* 0..1, of the devices' time: exposed communication */
    double step_s;     /* NAN: not known */
} weir_bill_use;

typedef struct {
    double capex_usd_per_year; /* typical price / life */
    double kwh_per_year;       /* with PUE */
    double opex_usd_per_year;  /* those */
    double waiting_hours_per_year;
    double waiting_usd_per_year;
    double total_usd_per_year; /* of the three; NAN where one is */
    double joules_per_step;    /* of the network itself, without PUE */
} weir_bill_costs;

weir_bill_costs weir_bill_yearly(const weir_bill *bill, const weir_bill_economics *economics,
                                 const weir_bill_use *use);

/* --- conversions between light and electricity --- */

typedef struct {
    const weir_module_part *part;
    /* Bytes that crossed links with such a module at both ends, each link's counted; a circuit
     * counts once for all its way, whatever mirrors are in it. */
    double link_bytes;
} weir_conversion_load;

/* NAN where a figure of a module with bytes on it is not known. */
typedef struct {
    double per_byte;           /* of those bytes that it is asked for */
    double ns;                 /* that they add to the way of a byte, in the mean */
    double pj_per_bit;         /* of a bit of them, modules at their full rate */
    double watts, usd;         /* of all converting modules of the bill */
    double pj_per_carried_bit; /* watts x step / their bits in it */
} weir_conversions;

/* bytes: what conversions are counted per: of a step, each message once; weir fabric gives those
 * that leave their node. bill: for watts and usd. step_s NAN: not known. */
weir_conversions weir_bill_conversions(const weir_bill *bill, const weir_conversion_load *loads,
                                       uint32_t count, double bytes, double step_s);

/* --- files --- */

/* Rows of the bill as CSV with a heading: item,part,name,place,count,watts,low_usd,typical_usd,
 * high_usd,price,price_date,price_source,price_confidence; empty: not known. */
void weir_bill_csv(const weir_bill *bill, weir_text *text);
/* Each cable with both ends, right to the port: cable,from,from_port,to,to_port,tier,optical,
 * gbit_per_s. Ports of a device or switch are numbered as its cables come. false: no memory. */
bool weir_bill_cabling_csv(const weir_topology *topology, weir_text *text);

#endif
