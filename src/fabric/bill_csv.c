/* A bill as files: what is bought, and which port each cable goes to. */
#include "fabric/bill.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A field of CSV: quoted where it must be. */
static void add_field(weir_text *text, const char *field)
{
    weir_str s = weir_str_from(field);
    bool quote = false;
    for (uint32_t i = 0; i < s.n && !quote; i++) {
        quote = s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r';
    }
    if (!quote) {
        weir_text_add(text, s);
        return;
    }
    weir_text_char(text, '"');
    for (uint32_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"') {
            weir_text_char(text, '"');
        }
        weir_text_char(text, s.p[i]);
    }
    weir_text_char(text, '"');
}

static void add_number(weir_text *text, double value)
{
    weir_text_char(text, ',');
    if (!isnan(value)) {
        weir_text_printf(text, "%.12g", value);
    }
}

void weir_bill_csv(const weir_bill *bill, weir_text *text)
{
    weir_text_add(text, WEIR_STR("item,part,name,place,count,watts,low_usd,typical_usd,high_usd,"
                                 "price,price_date,price_source,price_confidence\n"));
    for (uint32_t i = 0; i < bill->count; i++) {
        const weir_bill_item *b = &bill->items[i];
        const weir_price none = {.id = "", .date = "", .source = "", .confidence = ""};
        const weir_price *price = b->price ? b->price : &none;
        const char *before[] = {b->item, b->part, b->name, b->place};
        const char *after[] = {price->id, price->date, price->source, price->confidence};
        for (uint32_t f = 0; f < 4; f++) {
            add_field(text, before[f]);
            weir_text_char(text, ',');
        }
        weir_text_printf(text, "%" PRIu64, b->count);
        add_number(text, b->watts);
        add_number(text, b->low_usd);
        add_number(text, b->typical_usd);
        add_number(text, b->high_usd);
        for (uint32_t f = 0; f < 4; f++) {
            weir_text_char(text, ',');
            add_field(text, after[f]);
        }
        weir_text_char(text, '\n');
    }
}

/* --- cabling ------------------------------------------------------------------------------- */

static const char *const vertex_names[WEIR_VERTEX_KIND_COUNT] = {
#define X(kind, name) name,
    WEIR_VERTEX_KINDS(X)
#undef X
};

static void add_end(const weir_topology *topology, uint32_t vertex, uint32_t *next_port,
                    weir_text *text)
{
    uint32_t number = 0;
    weir_vertex_kind kind = weir_topology_vertex(topology, vertex, &number);
    weir_text_printf(text, "%s %" PRIu32 ",%" PRIu32 ",", vertex_names[kind], number,
                     next_port[vertex]++);
}

bool weir_bill_cabling_csv(const weir_topology *topology, weir_text *text)
{
    const weir_net *net = weir_topology_net(topology);
    uint32_t links = weir_net_count(net), vertices = 0;
    weir_fabric_counts counts = weir_topology_counts(topology);
    for (int kind = 0; kind < WEIR_VERTEX_KIND_COUNT; kind++) {
        vertices += counts.vertices[kind];
    }
    uint32_t *next_port = calloc((size_t)vertices + 1, sizeof *next_port);
    if (!next_port) {
        return false;
    }
    weir_text_add(text, WEIR_STR("cable,from,from_port,to,to_port,tier,optical,gbit_per_s\n"));
    for (uint32_t i = 0; i < links; i++) {
        weir_link link = weir_topology_link(topology, i);
        if (i > 0 && weir_topology_link(topology, i - 1).cable == link.cable) {
            continue; /* the way back */
        }
        weir_text_printf(text, "%" PRIu32 ",", link.cable);
        add_end(topology, link.from, next_port, text);
        add_end(topology, link.to, next_port, text);
        weir_text_printf(text, "%s,%s,%.12g\n", weir_tier_name(link.tier),
                         link.is_optical ? "yes" : "no", weir_net_bytes_per_s(net, i) * 8 / 1e9);
    }
    free(next_port);
    return !text->failed;
}
