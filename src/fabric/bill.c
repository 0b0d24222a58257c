#include "fabric/bill.h"

#include <math.h>
#include <string.h>

/* What is filled, and what to say where it goes wrong. */
typedef struct {
    const weir_bill_input *input;
    weir_bill bill;
    weir_text unpriced, unpowered;
} maker;

/* --- rows ---------------------------------------------------------------------------------- */

/* Appends id to "a, b" unless it is there. */
static void mention(weir_text *list, const char *id)
{
    weir_str known = {list->n ? list->p : "", (uint32_t)list->n};
    weir_str wanted = weir_str_from(id);
    for (uint32_t at = 0; at < known.n;) {
        uint32_t end = weir_str_find(known, WEIR_STR(", "), at);
        if (weir_str_eq((weir_str){known.p + at, end - at}, wanted)) {
            return;
        }
        at = end + 2;
    }
    weir_text_printf(list, "%s%s", list->n ? ", " : "", id);
}

static void add_item(maker *m, weir_bill_item item, double watts_each, weir_unit_price each)
{
    double pieces = (double)item.count;
    if (item.count == 0) {
        return;
    }
    item.watts = pieces * watts_each;
    item.price = each.price;
    item.units = (item.units > 0 ? item.units : pieces) * each.units;
    item.low_usd = each.price ? item.units * each.price->low_usd : NAN;
    item.typical_usd = each.price ? item.units * each.price->typical_usd : NAN;
    item.high_usd = each.price ? item.units * each.price->high_usd : NAN;
    m->bill.items[m->bill.count++] = item;
    if (isnan(item.watts)) {
        mention(&m->unpowered, item.part);
    } else {
        m->bill.watts += item.watts;
    }
    if (isnan(item.typical_usd)) {
        mention(&m->unpriced, item.part);
        return;
    }
    m->bill.low_usd += item.low_usd;
    m->bill.typical_usd += item.typical_usd;
    m->bill.high_usd += item.high_usd;
}

static void bill_nics(maker *m)
{
    const weir_nic_part *part = m->input->nic;
    if (part) {
        weir_bill_item item = {.item = "nic",
                               .part = part->id,
                               .name = part->name,
                               .place = "node",
                               .count = m->input->nics};
        add_item(m, item, part->watts, weir_price_of_nic(m->input->parts, part));
        m->bill.nics = m->input->nics;
    }
}

/* Of switches whose kind nobody named neither ports, power nor price are known. */
static void bill_unnamed_switches(maker *m, const weir_bill_switches *s)
{
    weir_bill_item item = {.item = "switch",
                           .part = "unnamed switch",
                           .name = "switch of a kind that is not named",
                           .place = s->place,
                           .count = s->count};
    add_item(m, item, NAN, (weir_unit_price){NULL, 1});
    m->bill.switches += s->count;
    m->bill.switch_ports += s->ports_used;
    m->bill.switch_ports_used += s->ports_used;
}

static weir_code bill_switches(maker *m, const weir_bill_switches *s, weir_err *err)
{
    if (!s->part) {
        bill_unnamed_switches(m, s);
        return WEIR_OK;
    }
    uint64_t ports = s->count * s->part->ports;
    if (s->ports_used > ports) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%llu cables end at %llu switches '%s' (%s), which have %u ports each",
                            (unsigned long long)s->ports_used, (unsigned long long)s->count,
                            s->part->id, s->place, s->part->ports);
    }
    weir_bill_item item = {.item = "switch",
                           .part = s->part->id,
                           .name = s->part->name,
                           .place = s->place,
                           .count = s->count};
    add_item(m, item, s->part->watts, weir_price_of_switch(m->input->parts, s->part));
    m->bill.switches += s->count;
    m->bill.switch_ports += ports;
    m->bill.switch_ports_used += s->ports_used;
    return WEIR_OK;
}

/* Modules at one end of a cable. */
static weir_code modules_of_end(const weir_bill_cables *c, uint64_t *modules, weir_err *err)
{
    double of_cable = c->bytes_per_s > 0 ? c->bytes_per_s : c->part->bytes_per_s;
    double needed = ceil(of_cable / c->part->bytes_per_s);
    if (!(needed >= 1 && needed <= 1e6)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "cables %s of %g Gb/s cannot be made of modules '%s' of %g Gb/s",
                            c->place, of_cable * 8e-9, c->part->id, c->part->bytes_per_s * 8e-9);
    }
    *modules = (uint64_t)needed;
    return WEIR_OK;
}

static void bill_fibre(maker *m, const weir_bill_cables *c)
{
    double metres = (double)c->count * c->length_m;
    if (!(metres > 0)) {
        return;
    }
    add_item(m,
             (weir_bill_item){.item = "fibre",
                              .part = "fibre_m",
                              .name = "fibre cable by the metre",
                              .place = c->place,
                              .count = c->count,
                              .units = metres},
             0, weir_price_of_fibre(m->input->parts));
    m->bill.fibre_m += metres;
}

static weir_code bill_cables(maker *m, const weir_bill_cables *c, weir_err *err)
{
    uint64_t each = 0;
    if (!c->part || c->count == 0) {
        return WEIR_OK;
    }
    weir_code code = modules_of_end(c, &each, err);
    if (code != WEIR_OK) {
        return code;
    }
    bool is_light = c->part->kind != WEIR_MODULE_COPPER;
    bool is_whole = c->part->is_cable || !is_light;
    uint64_t ends = c->count * each * c->ends, cables = c->count * each;
    weir_bill_item item = {.item = is_whole ? "cable" : "module",
                           .part = c->part->id,
                           .name = c->part->name,
                           .place = c->place,
                           .count = is_whole ? cables : ends};
    add_item(m, item, c->part->watts * (is_whole ? c->ends : 1),
             weir_price_of_module(m->input->parts, c->part));
    if (is_light && !c->part->is_cable) {
        bill_fibre(m, c);
    }
    m->bill.modules[c->part->kind] += is_light ? ends : cables;
    m->bill.cables += c->count;
    m->bill.optical_cables += is_light ? c->count : 0;
    return WEIR_OK;
}

static weir_code bill_ocs(maker *m, const weir_bill_ocs *o, weir_err *err)
{
    uint64_t ports = o->count * o->part->ports;
    if (o->ports_used + o->ports_spare > ports && o->part->ports > 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%llu fibres and %llu spare ports for %llu optical switches '%s', "
                            "which take %u fibres each",
                            (unsigned long long)o->ports_used, (unsigned long long)o->ports_spare,
                            (unsigned long long)o->count, o->part->id, o->part->ports);
    }
    weir_bill_item item = {.item = "optical switch",
                           .part = o->part->id,
                           .name = o->part->name,
                           .place = o->place,
                           .count = o->count};
    add_item(m, item, o->part->watts, weir_price_of_ocs(m->input->parts, o->part));
    m->bill.ocs += o->count;
    m->bill.optical_ports += ports;
    m->bill.optical_ports_used += o->ports_used;
    m->bill.spare_ports += o->ports_spare;
    return WEIR_OK;
}

static weir_code fill(maker *m, weir_err *err)
{
    const weir_bill_input *in = m->input;
    weir_code code = WEIR_OK;
    bill_nics(m);
    for (uint32_t i = 0; i < in->switch_rows && code == WEIR_OK; i++) {
        code = bill_switches(m, &in->switches[i], err);
    }
    for (uint32_t i = 0; i < in->cable_rows && code == WEIR_OK; i++) {
        code = bill_cables(m, &in->cables[i], err);
    }
    for (uint32_t i = 0; i < in->ocs_rows && code == WEIR_OK; i++) {
        code = bill_ocs(m, &in->ocs[i], err);
    }
    return code;
}

/* The texts of rows are those of the parts and of the input: they are copied, so that a bill may
 * outlive both. */
static bool keep_text(weir_arena *arena, const char **text)
{
    *text = weir_arena_copy(arena, weir_str_from(*text));
    return *text != NULL;
}

static bool keep_list(weir_arena *arena, const weir_text *list, const char **kept)
{
    *kept = list->n ? weir_arena_copy(arena, (weir_str){list->p, (uint32_t)list->n}) : NULL;
    return !list->failed && (list->n == 0 || *kept);
}

static bool keep(maker *m, weir_arena *arena)
{
    bool ok = keep_list(arena, &m->unpriced, &m->bill.unpriced) &&
              keep_list(arena, &m->unpowered, &m->bill.unpowered);
    for (uint32_t i = 0; i < m->bill.count && ok; i++) {
        weir_bill_item *item = &m->bill.items[i];
        ok = keep_text(arena, &item->part) && keep_text(arena, &item->name) &&
             keep_text(arena, &item->place);
    }
    return ok;
}

weir_code weir_bill_make(const weir_bill_input *input, weir_arena *arena, weir_bill *bill,
                         weir_err *err)
{
    maker m = {.input = input};
    size_t rows = 1 + (size_t)input->switch_rows + 2 * (size_t)input->cable_rows + input->ocs_rows;
    m.bill.items = weir_arena_alloc(arena, rows, sizeof *m.bill.items);
    weir_code code = m.bill.items ? fill(&m, err) : WEIR_ERR_MEMORY;
    if (code == WEIR_ERR_MEMORY || (code == WEIR_OK && !keep(&m, arena))) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a bill");
    }
    weir_text_clear(&m.unpriced);
    weir_text_clear(&m.unpowered);
    if (code == WEIR_OK) {
        *bill = m.bill;
    }
    return code;
}

/* --- counts -------------------------------------------------------------------------------- */

static bool is_of_group(const weir_cable_group *group, const weir_cable_group *cable)
{
    return group->from == cable->from && group->to == cable->to && group->tier == cable->tier &&
           group->is_optical == cable->is_optical && !(group->bytes_per_s < cable->bytes_per_s) &&
           !(group->bytes_per_s > cable->bytes_per_s);
}

weir_code weir_bill_group_cables(const weir_topology *topology, weir_cable_group *groups,
                                 uint32_t *count, weir_err *err)
{
    const weir_net *net = weir_topology_net(topology);
    uint32_t links = weir_net_count(net), n = 0, number;
    for (uint32_t i = 0; i < links; i++) {
        weir_link link = weir_topology_link(topology, i);
        if (i > 0 && weir_topology_link(topology, i - 1).cable == link.cable) {
            continue; /* the way back */
        }
        weir_vertex_kind a = weir_topology_vertex(topology, link.from, &number);
        weir_vertex_kind b = weir_topology_vertex(topology, link.to, &number);
        weir_cable_group cable = {a < b ? a : b,
                                  a < b ? b : a,
                                  link.tier,
                                  link.is_optical,
                                  weir_net_bytes_per_s(net, i),
                                  1};
        uint32_t g = 0;
        while (g < n && !is_of_group(&groups[g], &cable)) {
            g++;
        }
        if (g == WEIR_CABLE_GROUPS_MAX) {
            return weir_err_set(err, WEIR_ERR_LIMIT,
                                "more than %d kinds of cables in one network: bill it in parts",
                                WEIR_CABLE_GROUPS_MAX);
        }
        if (g < n) {
            groups[g].count++;
        } else {
            groups[n++] = cable;
        }
    }
    *count = n;
    return WEIR_OK;
}

/* --- costs --------------------------------------------------------------------------------- */

weir_bill_costs weir_bill_yearly(const weir_bill *bill, const weir_bill_economics *economics,
                                 const weir_bill_use *use)
{
    const double hours_of_year = 365 * 24;
    weir_bill_costs costs = {0};
    costs.capex_usd_per_year = bill->typical_usd / economics->life_years;
    costs.kwh_per_year = bill->watts / 1000 * hours_of_year * economics->pue;
    costs.opex_usd_per_year = costs.kwh_per_year * economics->kwh_usd;
    costs.waiting_hours_per_year =
        (double)use->devices * economics->hours_per_year * use->wait_share;
    costs.waiting_usd_per_year = costs.waiting_hours_per_year * economics->gpu_hour_usd;
    costs.total_usd_per_year =
        costs.capex_usd_per_year + costs.opex_usd_per_year + costs.waiting_usd_per_year;
    costs.joules_per_step = bill->watts * use->step_s;
    return costs;
}

/* --- conversions --------------------------------------------------------------------------- */

static bool is_converting(const weir_bill_item *item, const weir_conversion_load *loads,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (loads[i].part && loads[i].part->kind != WEIR_MODULE_COPPER &&
            strcmp(loads[i].part->id, item->part) == 0) {
            return true;
        }
    }
    return false;
}

weir_conversions weir_bill_conversions(const weir_bill *bill, const weir_conversion_load *loads,
                                       uint32_t count, double bytes, double step_s)
{
    enum { CONVERSIONS_OF_A_LINK = 2 }; /* into light at one end, out of it at the other */
    weir_conversions c = {0};
    for (uint32_t i = 0; i < count; i++) {
        const weir_module_part *part = loads[i].part;
        if (!part || part->kind == WEIR_MODULE_COPPER || !(loads[i].link_bytes > 0)) {
            continue;
        }
        double per_byte = CONVERSIONS_OF_A_LINK * loads[i].link_bytes / bytes;
        c.per_byte += per_byte;
        c.ns += per_byte * part->latency_s * 1e9;
        c.pj_per_bit += per_byte * part->watts / (part->bytes_per_s * 8) * 1e12;
    }
    for (uint32_t i = 0; i < bill->count; i++) {
        if (is_converting(&bill->items[i], loads, count)) {
            c.watts += bill->items[i].watts;
            c.usd += bill->items[i].typical_usd;
        }
    }
    c.pj_per_carried_bit = c.watts * step_s / (bytes * 8) * 1e12;
    return c;
}
