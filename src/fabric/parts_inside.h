/* parts_inside.h: how parts are kept and read, for parts.c, parts_read.c, prices.c and quotes.c
 * only. */
#ifndef WEIR_FABRIC_PARTS_INSIDE_H
#define WEIR_FABRIC_PARTS_INSIDE_H

#include "fabric/parts.h"

#include "base/arena.h"
#include "scenario/unit.h"

typedef enum {
    PART_LINK = 0,
    PART_SWITCH,
    PART_NIC,
    PART_MODULE,
    PART_OCS,
    PART_KIND_COUNT
} part_kind;

/* Items of one kind, each in the arena so that it never moves; every struct of a part begins with
 * its id and its name. */
typedef struct {
    void **items;
    uint32_t count, capacity;
} part_items;

struct weir_parts {
    weir_arena *arena;
    part_items parts[PART_KIND_COUNT];
    weir_price *prices;
    uint32_t price_count, price_capacity;
    weir_transport_part *transport;
    uint32_t transport_count, transport_capacity;
    uint32_t transport_default; /* row */
    weir_fibre_part fibre;
};

/* Where a figure is from, as its file says; "" where it does not. In the arena. */
typedef struct {
    const char *source, *url, *confidence, *date, *note;
} part_origin;

weir_code parts_no_memory(weir_err *err);
const char *part_id(const void *part);
/* The part of that id, or NULL. */
const void *parts_find(const weir_parts *parts, part_kind kind, weir_str id);

/* Reads presets/links ... ocs (parts_read.c), transport.yaml (parts_transport.c) and presets/prices
 * (prices.c). */
weir_code parts_load_kind(weir_parts *parts, part_kind kind, weir_err *err);
weir_code parts_load_transport(weir_parts *parts, weir_err *err);
weir_code parts_load_prices(weir_parts *parts, weir_err *err);

/* An id or a mapping; *part is of that kind. */
weir_code parts_read_part(weir_parts *parts, part_kind kind, const weir_yaml *doc,
                          const weir_yaml_node *node, const void **part, weir_err *err);

/* Whether a mapping has a source and one of the known words for how sure it is. */
weir_code parts_check_confidence(const weir_yaml *doc, const weir_yaml_node *mapping,
                                 weir_err *err);
/* The value of a figure of a preset, {value:, source:, url:, confidence:, date:, note:}: source and
 * confidence must be there. */
weir_code parts_read_figure(const weir_yaml *doc, const weir_yaml_node *node,
                            const weir_yaml_node **value, weir_err *err);
/* Copies what a mapping says of where its figures are from. */
weir_code parts_read_origin(weir_arena *arena, const weir_yaml_node *node, part_origin *origin,
                            weir_err *err);
/* `price:` of an inline part, a scalar or {low, typical, high}: sets the price of id. */
weir_code parts_read_price(weir_parts *parts, const weir_yaml *doc, const weir_yaml_node *node,
                           const char *id, weir_err *err);

/* What an amount of that price may be written in; WEIR_DIMENSION_COUNT: a number without a unit. */
weir_dimension parts_price_dimension(weir_str id);
bool parts_is_amount(double value); /* finite, 0 or more */
/* Adds the price, or puts it in the place of that of its id. */
weir_code parts_put_price(weir_parts *parts, const weir_price *price, weir_err *err);

#endif
