/* plan_rounds.c: algorithms in which every member exchanges with one partner a round.
 *
 * Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH
 * (IJHPCA 19, 2005), which also says what is done where the number of members is no power of two:
 * the first ones pair up, one of each pair waits. Bruck et al., Efficient algorithms for all-to-all
 * communications (IEEE TPDS 8, 1997). PAT: Jeaugey, PAT: a new algorithm for all-gather and
 * reduce-scatter operations at scale (arXiv 2506.20252). */
#include "collective/plan_inside.h"

static weir_code send(planner *p, uint32_t from, uint32_t to, double bytes)
{
    const uint32_t pair[2] = {p->order[from], p->order[to]};
    return plan_load(p, &p->drafts[0], pair, bytes);
}

/* --- halving and doubling: partners at distance 1, 2, 4, ... --- */

typedef struct {
    uint32_t members; /* that take part: a power of two */
    uint32_t waiting; /* pairs (2 i, 2 i + 1) of which the first waits */
} folding;

static folding fold_members(uint32_t count)
{
    folding f = {1, 0};
    while (f.members <= count / 2) {
        f.members *= 2;
    }
    f.waiting = count - f.members;
    return f;
}

static uint32_t folded(const folding *f, uint32_t number)
{
    return number < f->waiting ? 2 * number + 1 : number + f->waiting;
}

/* Those who wait hand their bytes over, or (is_back) get what came out. */
static weir_code fold_round(planner *p, const folding *f, double bytes, bool is_back)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < f->waiting && code == WEIR_OK; i++) {
        code = send(p, 2 * i + is_back, 2 * i + 1 - is_back, bytes);
    }
    return f->waiting && code == WEIR_OK ? plan_round_of(p, bytes, 1) : code;
}

static weir_code exchange_round(planner *p, const folding *f, uint32_t distance, double bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < f->members && code == WEIR_OK; i++) {
        code = send(p, folded(f, i), folded(f, i ^ distance), bytes);
    }
    return code == WEIR_OK ? plan_round_of(p, bytes, 1) : code;
}

weir_code plan_halving(planner *p)
{
    weir_collective_kind kind = p->job->kind;
    bool halves = kind != WEIR_COLLECTIVE_ALL_GATHER;
    bool doubles = kind != WEIR_COLLECTIVE_REDUCE_SCATTER;
    if (halves && doubles && kind != WEIR_COLLECTIVE_ALL_REDUCE) {
        return plan_refuse(p, "it does all_reduce, all_gather and reduce_scatter");
    }
    folding f = fold_members(p->count);
    double bytes = p->job->bytes, part = bytes / p->count;
    weir_code code = fold_round(p, &f, halves ? bytes : part, false);
    /* The nearest partner first, while pieces are large. */
    for (uint32_t d = 1; d < f.members && halves && code == WEIR_OK; d *= 2) {
        code = exchange_round(p, &f, d, bytes / (2.0 * d));
    }
    for (uint32_t d = f.members / 2; d > 0 && doubles && code == WEIR_OK; d /= 2) {
        code = exchange_round(p, &f, d, bytes / (2.0 * d));
    }
    return code == WEIR_OK ? fold_round(p, &f, doubles ? bytes : part, true) : code;
}

/* One more half of the members has the bytes after each round (a reduce: the other way round). */
static weir_code binomial(planner *p)
{
    bool is_reduce = p->job->kind == WEIR_COLLECTIVE_REDUCE;
    uint32_t rounds = 0;
    while ((uint64_t)1 << rounds < p->count) {
        rounds++;
    }
    weir_code code = WEIR_OK;
    for (uint32_t r = 0; r < rounds && code == WEIR_OK; r++) {
        uint32_t reach = 1u << (is_reduce ? rounds - 1 - r : r);
        for (uint32_t i = 0; i < reach && i + reach < p->count && code == WEIR_OK; i++) {
            code = send(p, is_reduce ? i + reach : i, is_reduce ? i : i + reach, p->job->bytes);
        }
        code = code == WEIR_OK ? plan_round_of(p, p->job->bytes, 1) : code;
    }
    return code;
}

weir_code plan_doubling(planner *p)
{
    weir_collective_kind kind = p->job->kind;
    if (kind == WEIR_COLLECTIVE_BROADCAST || kind == WEIR_COLLECTIVE_REDUCE) {
        return binomial(p);
    }
    if (kind == WEIR_COLLECTIVE_ALL_GATHER) {
        return plan_halving(p);
    }
    if (kind != WEIR_COLLECTIVE_ALL_REDUCE) {
        return plan_refuse(p, "it does all_reduce, all_gather, broadcast and reduce");
    }
    folding f = fold_members(p->count);
    weir_code code = fold_round(p, &f, p->job->bytes, false);
    for (uint32_t d = 1; d < f.members && code == WEIR_OK; d *= 2) {
        code = exchange_round(p, &f, d, p->job->bytes);
    }
    return code == WEIR_OK ? fold_round(p, &f, p->job->bytes, true) : code;
}

/* --- Bruck, PAT --- */

/* Everyone sends to the one `distance` further on (or, is_back, before). */
static weir_code shift(planner *p, uint32_t distance, bool is_back, double bytes)
{
    uint32_t n = p->count;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < n && code == WEIR_OK; i++) {
        code = send(p, i, (i + (is_back ? n - distance : distance)) % n, bytes);
    }
    return code;
}

/* How many of 1 .. count - 1 have this bit. */
static uint32_t numbers_with(uint32_t bit, uint32_t count)
{
    uint32_t rest = count % (2 * bit);
    return count / (2 * bit) * bit + (rest > bit ? rest - bit : 0);
}

static weir_code bruck_rounds(planner *p, bool is_reduce)
{
    bool is_gather = p->job->kind != WEIR_COLLECTIVE_ALL_TO_ALL;
    double part = p->job->bytes / p->count;
    weir_code code = WEIR_OK;
    for (uint32_t d = 1; d < p->count && code == WEIR_OK; d *= 2) {
        uint32_t parts = numbers_with(d, p->count);
        if (is_gather) {
            parts = d < p->count - d ? d : p->count - d;
        }
        code = shift(p, d, is_reduce, parts * part);
        code = code == WEIR_OK ? plan_round_of(p, parts * part, 1) : code;
    }
    return code;
}

weir_code plan_bruck(planner *p)
{
    switch (p->job->kind) {
    case WEIR_COLLECTIVE_ALL_TO_ALL:
    case WEIR_COLLECTIVE_ALL_GATHER:
        return bruck_rounds(p, false);
    case WEIR_COLLECTIVE_REDUCE_SCATTER:
        return bruck_rounds(p, true);
    default:
        return plan_refuse(p, "it does all_to_all, all_gather and reduce_scatter");
    }
}

/* A binomial tree from each node to all others, the furthest step first, aggregated: over distance
 * d go the parts of the nodes 0, 2 d, 4 d, ... further on that have somebody d beyond them. */
static weir_code load_pat(planner *p, double part)
{
    uint32_t m = p->nodes;
    bool is_back = p->job->kind == WEIR_COLLECTIVE_REDUCE_SCATTER;
    weir_code code = WEIR_OK;
    for (uint32_t d = 1; d < m; d *= 2) {
        uint32_t parts = (m + d - 1) / (2 * d); /* (m - d) / 2 d, upwards */
        for (uint32_t r = 0; r < p->least; r++) {
            for (uint32_t k = 0; k < m && code == WEIR_OK; k++) {
                uint32_t to = (k + (is_back ? m - d : d)) % m;
                const uint32_t pair[2] = {plan_member(p, k, r), plan_member(p, to, r)};
                code = plan_load_rail(p, &p->drafts[0], pair, parts * part);
            }
        }
    }
    return code;
}

weir_code plan_pat(planner *p)
{
    weir_collective_kind kind = p->job->kind;
    if (kind != WEIR_COLLECTIVE_ALL_GATHER && kind != WEIR_COLLECTIVE_REDUCE_SCATTER) {
        return plan_refuse(p, "it does all_gather and reduce_scatter");
    }
    double g = p->least;
    weir_code code = load_pat(p, p->job->bytes / g / p->nodes);
    if (p->most > 1 && code == WEIR_OK) {
        code = plan_load_nodes(p, &p->drafts[0], p->job->bytes * (p->most - 1.0) / p->most);
    }
    return code == WEIR_OK ? plan_round_of(p, p->job->bytes / g, 1) : code;
}

/* --- pairwise --- */

/* Round `round` of n - 1: the one so many nodes and so many members further on, so that whole
 * rounds stay inside nodes; where nodes are uneven, so many ranks further on. */
static weir_code pairwise_round(planner *p, uint32_t round, double bytes)
{
    uint32_t g = p->least;
    if (p->least != p->most) {
        return shift(p, round, false, bytes);
    }
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < p->nodes; k++) {
        for (uint32_t i = 0; i < g && code == WEIR_OK; i++) {
            uint32_t to = (k + round / g) % p->nodes * g + (i + round % g) % g;
            code = send(p, k * g + i, to, bytes);
        }
    }
    return code;
}

weir_code plan_pairwise(planner *p)
{
    weir_collective_kind kind = p->job->kind;
    if (kind != WEIR_COLLECTIVE_ALL_TO_ALL && kind != WEIR_COLLECTIVE_ALL_GATHER &&
        kind != WEIR_COLLECTIVE_REDUCE_SCATTER) {
        return plan_refuse(p, "it does all_to_all, all_gather and reduce_scatter");
    }
    double bytes = p->job->bytes / p->count;
    weir_code code = WEIR_OK;
    for (uint32_t round = 1; round < p->count && code == WEIR_OK; round++) {
        code = pairwise_round(p, round, bytes);
        code = code == WEIR_OK ? plan_round_of(p, bytes, 1) : code;
    }
    return code;
}
