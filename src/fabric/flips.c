#include "fabric/flips.h"

#include <math.h>
#include <string.h>

/* What a year takes of one price, or of those that are members, each at its typical value. */
typedef struct {
    const weir_cost_candidate *candidates;
    uint32_t count;
    const weir_cost_price *prices;
    uint32_t price_count;
    uint32_t only;      /* a price; WEIR_NONE: the members */
    const bool *member; /* NULL where only is a price */
} question;

/* A candidate's cost over x, a price in USD or a factor of prices. */
typedef struct {
    double at_zero, slope;
} line;

static uint32_t find_price(const weir_cost_price *prices, uint32_t count, const char *id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(prices[i].price, id) == 0) {
            return i;
        }
    }
    return WEIR_NONE;
}

static line line_of(const question *q, uint32_t candidate)
{
    const weir_cost_candidate *c = &q->candidates[candidate];
    line l = {c->fixed_usd, 0};
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t p = find_price(q->prices, q->price_count, c->terms[i].price);
        if (p == WEIR_NONE) {
            continue;
        }
        double usd = c->terms[i].per_year * q->prices[p].typical_usd;
        if (p == q->only) {
            l.slope += c->terms[i].per_year;
        } else if (q->member && q->member[p]) {
            l.slope += usd;
        } else {
            l.at_zero += usd;
        }
    }
    return l;
}

double weir_cost_of_year(const weir_cost_candidate *candidate, const weir_cost_price *prices,
                         uint32_t price_count)
{
    question q = {candidate, 1, prices, price_count, WEIR_NONE, NULL};
    return line_of(&q, 0).at_zero;
}

uint32_t weir_cost_winner(const weir_cost_candidate *candidates, uint32_t count,
                          const weir_cost_price *prices, uint32_t price_count)
{
    uint32_t best = WEIR_NONE;
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double usd = weir_cost_of_year(&candidates[i], prices, price_count);
        if (usd < least) {
            least = usd;
            best = i;
        }
    }
    return best;
}

/* Where, walking from x away from winner's reign, another line first goes below it. */
static bool next_crossing(const question *q, uint32_t winner, double x, bool upwards,
                          weir_flip *flip)
{
    line w = line_of(q, winner);
    bool found = false;
    for (uint32_t i = 0; i < q->count; i++) {
        line l = line_of(q, i);
        double gain = upwards ? w.slope - l.slope : l.slope - w.slope; /* of i, for each USD */
        if (i == winner || !(gain > 0)) {
            continue;
        }
        double at = upwards ? (l.at_zero - w.at_zero) / gain : (w.at_zero - l.at_zero) / gain;
        at = upwards ? fmax(at, x) : fmin(at, x); /* equal at x: rounding */
        bool is_nearer = !found || (upwards ? at < flip->at_usd : at > flip->at_usd);
        /* Several cross there: beyond, the one with the most gain is below. */
        bool is_steeper = found && !(at < flip->at_usd) && !(at > flip->at_usd) &&
                          (upwards ? l.slope < line_of(q, flip->winner).slope
                                   : l.slope > line_of(q, flip->winner).slope);
        if (at >= 0 && (is_nearer || is_steeper)) {
            *flip = (weir_flip){.at_usd = at, .is_dearer = upwards, .winner = i};
            found = true;
        }
    }
    return found;
}

static uint32_t both_ways(const question *q, uint32_t winner, double x, const double band[2],
                          weir_flip *flips)
{
    uint32_t n = 0;
    for (int upwards = 0; upwards < 2; upwards++) {
        if (next_crossing(q, winner, x, upwards, &flips[n])) {
            flips[n].price = q->only;
            flips[n].is_within = flips[n].at_usd >= band[0] && flips[n].at_usd <= band[1];
            n++;
        }
    }
    return n;
}

uint32_t weir_flips_find(const weir_cost_candidate *candidates, uint32_t count,
                         const weir_cost_price *prices, uint32_t price_count, weir_flip *flips)
{
    uint32_t n = 0, winner = weir_cost_winner(candidates, count, prices, price_count);
    for (uint32_t p = 0; p < price_count && winner != WEIR_NONE; p++) {
        question q = {candidates, count, prices, price_count, p, NULL};
        double band[2] = {prices[p].low_usd, prices[p].high_usd};
        n += both_ways(&q, winner, prices[p].typical_usd, band, &flips[n]);
    }
    return n;
}

uint32_t weir_flips_together(const weir_cost_candidate *candidates, uint32_t count,
                             const weir_cost_price *prices, uint32_t price_count,
                             const bool *member, const double band_factors[2], weir_flip *flips)
{
    uint32_t winner = weir_cost_winner(candidates, count, prices, price_count);
    question q = {candidates, count, prices, price_count, WEIR_NONE, member};
    return winner == WEIR_NONE ? 0 : both_ways(&q, winner, 1, band_factors, flips);
}
