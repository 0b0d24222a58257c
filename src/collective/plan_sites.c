/* plan_sites.c: messages between all pairs, counted by the switches that they enter and leave at.
 *
 * Where a route is made of a way up that only its sender decides, a middle that only the two
 * switches decide and a way down that only the receiver decides (sprayed Clos networks, also with
 * dead links between switches), n (n - 1) routes follow from n ways up, n ways down and one middle
 * for each pair of switches. Whether that is so is not told but checked: for each sender, one route
 * to a receiver drawn at random must be the sum of its three parts. Else nothing is done. */
#include "collective/plan_inside.h"

#include "base/sort.h"
#include "fabric/ecmp.h"

#include <math.h>
#include <stdlib.h>

enum { PART_UP = 1, PART_MIDDLE = 2, PART_DOWN = 4 };

typedef struct {
    uint32_t count;
    uint32_t *of;      /* the site of each member */
    uint32_t *node;    /* its node */
    uint32_t *first;   /* members of site s: member[first[s]] .. member[first[s + 1] - 1] */
    uint32_t *member;  /* as places in planner.order */
    uint8_t *tiers;    /* of the route from site to site: sites x sites */
    uint32_t *outside; /* pairs of those sites on different nodes: the same */
} site_map;

static int part_of(const planner *p, weir_link_id link)
{
    weir_link_ends ends = weir_layout_ends(p->layout, link);
    if (ends.from == WEIR_VERTEX_DEVICE ||
        (ends.from == WEIR_VERTEX_NIC && ends.to != WEIR_VERTEX_DEVICE)) {
        return PART_UP;
    }
    bool is_down = ends.to == WEIR_VERTEX_DEVICE || ends.to == WEIR_VERTEX_NIC;
    return is_down ? PART_DOWN : PART_MIDDLE;
}

/* Adds those parts of the route between two members, `times` the share of each link. */
static weir_code load_parts(planner *p, plan_draft *draft, const uint32_t places[2], int parts,
                            double times)
{
    const uint32_t pair[2] = {p->order[places[0]], p->order[places[1]]};
    weir_route route;
    weir_code code = plan_find(p, pair, &route);
    for (uint32_t i = 0; i < route.path.count && code == WEIR_OK; i++) {
        weir_link_id link = route.path.links[i];
        if (part_of(p, link) & parts) {
            code = plan_load_link(p, draft, link, route.path.bytes_per_unit[i] * times);
        }
    }
    return code;
}

/* The member that stands in the next node where this one does in its own: on the same switch, as a
 * rule, so that the route is short. */
static uint32_t partner(const planner *p, const site_map *s, uint32_t place)
{
    uint32_t node = s->node[place], next = (node + 1) % p->nodes;
    return p->first[next] + (place - p->first[node]) % plan_members_of(p, next);
}

/* --- finding sites --- */

/* The switch that a member's first link between nodes ends at; WEIR_NONE: there is none. */
static weir_code find_switch(planner *p, const site_map *s, uint32_t place, uint32_t *vertex)
{
    const uint32_t pair[2] = {p->order[place], p->order[partner(p, s, place)]};
    weir_route route;
    weir_code code = plan_find(p, pair, &route);
    *vertex = WEIR_NONE;
    for (uint32_t i = 0; code == WEIR_OK && i < route.path.count && *vertex == WEIR_NONE; i++) {
        weir_link_id link = route.path.links[i];
        if (plan_link_tier(p, link) != WEIR_TIER_IN_NODE) {
            *vertex = weir_layout_link(p->layout, link).to;
        }
    }
    return code;
}

static weir_code find_sites(planner *p, site_map *s, weir_sort_pair *pairs)
{
    uint32_t vertex;
    for (uint32_t k = 0; k < p->nodes; k++) {
        for (uint32_t i = p->first[k]; i < p->first[k + 1]; i++) {
            s->node[i] = k;
        }
    }
    for (uint32_t i = 0; i < p->count; i++) {
        weir_code code = find_switch(p, s, i, &vertex);
        if (code != WEIR_OK || vertex == WEIR_NONE) {
            return code; /* sites 0 */
        }
        pairs[i] = (weir_sort_pair){vertex, i};
    }
    if (!weir_sort_pairs(pairs, p->count)) {
        return weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory for %u members", p->count);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (i == 0 || pairs[i].key != pairs[i - 1].key) {
            s->first[s->count++] = i;
        }
        s->member[i] = (uint32_t)pairs[i].value;
        s->of[s->member[i]] = s->count - 1;
    }
    s->first[s->count] = p->count;
    return WEIR_OK;
}

/* --- pairs of sites --- */

static uint32_t size_of(const site_map *s, uint32_t site)
{
    return s->first[site + 1] - s->first[site];
}

/* How many pairs of members of two sites are on different nodes. */
static void count_outside(const planner *p, site_map *s)
{
    for (uint32_t i = 0; i < s->count * s->count; i++) {
        s->outside[i] = size_of(s, i / s->count) * size_of(s, i % s->count);
    }
    for (uint32_t k = 0; k < p->nodes; k++) {
        for (uint32_t a = p->first[k]; a < p->first[k + 1]; a++) {
            for (uint32_t b = p->first[k]; b < p->first[k + 1]; b++) {
                s->outside[s->of[a] * s->count + s->of[b]]--;
            }
        }
    }
}

/* Two members of these sites on different nodes; there are some. */
static void find_pair(const site_map *s, uint32_t from, uint32_t to, uint32_t places[2])
{
    for (uint32_t i = s->first[from]; i < s->first[from + 1]; i++) {
        for (uint32_t k = s->first[to]; k < s->first[to + 1]; k++) {
            places[0] = s->member[i];
            places[1] = s->member[k];
            if (s->node[places[0]] != s->node[places[1]]) {
                return;
            }
        }
    }
}

/* The route between two of their members tells the tiers and the middle for all of them. */
static weir_code load_middle(planner *p, site_map *s, uint32_t pair_of_sites, double bytes)
{
    uint32_t places[2] = {0}, tiers = 0;
    find_pair(s, pair_of_sites / s->count, pair_of_sites % s->count, places);
    const uint32_t pair[2] = {p->order[places[0]], p->order[places[1]]};
    weir_route route;
    weir_code code = plan_find(p, pair, &route);
    for (uint32_t i = 0; code == WEIR_OK && i < route.path.count; i++) {
        tiers |= 1u << plan_link_tier(p, route.path.links[i]);
    }
    for (uint32_t i = 0; code == WEIR_OK && i < route.path.count; i++) {
        weir_link_id link = route.path.links[i];
        if (part_of(p, link) == PART_MIDDLE) {
            code = plan_load_link(p, &p->drafts[tiers], link, route.path.bytes_per_unit[i] * bytes);
        }
    }
    s->tiers[pair_of_sites] = (uint8_t)tiers;
    return code;
}

static weir_code load_middles(planner *p, site_map *s, double bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < s->count * s->count && code == WEIR_OK; i++) {
        if (s->outside[i] > 0) {
            code = load_middle(p, s, i, bytes * s->outside[i]);
        }
    }
    return code;
}

/* --- ways up and down --- */

/* Partners of a member by the tiers on the way: to them, or from them. */
static void count_partners(const planner *p, const site_map *s, uint32_t place, bool is_down,
                           uint32_t counts[PLAN_DRAFTS])
{
    uint32_t own = s->of[place], node = s->node[place];
    for (uint32_t i = 0; i < PLAN_DRAFTS; i++) {
        counts[i] = 0;
    }
    for (uint32_t other = 0; other < s->count; other++) {
        uint32_t at = is_down ? other * s->count + own : own * s->count + other;
        counts[s->tiers[at]] += size_of(s, other);
    }
    for (uint32_t mate = p->first[node]; mate < p->first[node + 1]; mate++) {
        uint32_t other = s->of[mate];
        counts[s->tiers[is_down ? other * s->count + own : own * s->count + other]]--;
    }
}

static weir_code load_ends(planner *p, const site_map *s, double bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < 2 * p->count && code == WEIR_OK; i++) {
        uint32_t place = i / 2, other = partner(p, s, place), counts[PLAN_DRAFTS];
        bool is_down = i % 2;
        const uint32_t places[2] = {is_down ? other : place, is_down ? place : other};
        count_partners(p, s, place, is_down, counts);
        for (uint32_t tiers = 0; tiers < PLAN_DRAFTS && code == WEIR_OK; tiers++) {
            if (counts[tiers] > 0) {
                code = load_parts(p, &p->drafts[tiers], places, is_down ? PART_DOWN : PART_UP,
                                  bytes * counts[tiers]);
            }
        }
    }
    return code;
}

/* --- checking --- */

/* The route to a member that is drawn, against the sum of its parts. */
static weir_code check_member(planner *p, const site_map *s, uint32_t place, bool *is_sum)
{
    uint32_t other = (uint32_t)(ecmp_mix(place) % p->count);
    if (s->node[place] == s->node[other]) {
        other = partner(p, s, place);
    }
    uint32_t middle[2] = {place, other};
    find_pair(s, s->of[place], s->of[other], middle);
    const uint32_t up[2] = {place, partner(p, s, place)}, down[2] = {partner(p, s, other), other};
    const uint32_t pair[2] = {p->order[place], p->order[other]};
    weir_code code = load_parts(p, &p->sums, up, PART_UP, 1);
    code = code == WEIR_OK ? load_parts(p, &p->sums, middle, PART_MIDDLE, 1) : code;
    code = code == WEIR_OK ? load_parts(p, &p->sums, down, PART_DOWN, 1) : code;
    weir_route route;
    code = code == WEIR_OK ? plan_find(p, pair, &route) : code;
    if (code != WEIR_OK) {
        return code;
    }
    *is_sum = route.path.count == p->sums.count;
    for (uint32_t i = 0; i < route.path.count && *is_sum; i++) {
        double sum = p->sums.bytes[route.path.links[i]];
        *is_sum = fabs(sum - route.path.bytes_per_unit[i]) <= 1e-12;
    }
    for (uint32_t i = 0; i < p->sums.count; i++) {
        p->sums.bytes[p->sums.touched[i]] = 0;
    }
    p->sums.count = 0;
    return WEIR_OK;
}

static weir_code check_all(planner *p, const site_map *s, bool *is_sum)
{
    weir_code code = WEIR_OK;
    *is_sum = true;
    for (uint32_t i = 0; i < p->count && code == WEIR_OK && *is_sum; i++) {
        code = check_member(p, s, i, is_sum);
    }
    return code;
}

/* --- all of it --- */

static weir_code load_by_sites(planner *p, site_map *s, double bytes, bool *is_done)
{
    weir_code code = check_all(p, s, is_done);
    if (code != WEIR_OK || !*is_done) {
        return code;
    }
    size_t squared = (size_t)s->count * s->count;
    s->tiers = calloc(squared, sizeof *s->tiers);
    s->outside = calloc(squared, sizeof *s->outside);
    if (!s->tiers || !s->outside) {
        return weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory for %u switches", s->count);
    }
    count_outside(p, s);
    code = load_middles(p, s, bytes);
    code = code == WEIR_OK ? load_ends(p, s, bytes) : code;
    for (uint32_t k = 0; k < p->nodes; k++) {
        for (uint32_t a = p->first[k]; a < p->first[k + 1]; a++) {
            for (uint32_t b = p->first[k]; b < p->first[k + 1] && code == WEIR_OK; b++) {
                const uint32_t pair[2] = {p->order[a], p->order[b]};
                code = a == b ? code : plan_load_class(p, pair, bytes);
            }
        }
    }
    return code;
}

weir_code plan_load_sites(planner *p, double bytes, bool *is_done)
{
    uint32_t n = p->count;
    *is_done = false;
    if (p->nodes < 2 || p->is_direct) {
        return WEIR_OK;
    }
    site_map s = {.of = calloc(n, sizeof *s.of),
                  .node = calloc(n, sizeof *s.node),
                  .first = calloc((size_t)n + 1, sizeof *s.first),
                  .member = calloc(n, sizeof *s.member)};
    weir_sort_pair *pairs = calloc(n, sizeof *pairs);
    weir_code code = s.of && s.node && s.first && s.member && pairs
                         ? find_sites(p, &s, pairs)
                         : weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory for %u members", n);
    if (code == WEIR_OK && s.count > 0 && s.count <= n / 2) {
        code = load_by_sites(p, &s, bytes, is_done);
    }
    free(pairs);
    free(s.of);
    free(s.node);
    free(s.first);
    free(s.member);
    free(s.tiers);
    free(s.outside);
    return code;
}
