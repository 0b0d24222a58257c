/* flips.h: at which price another network becomes the cheapest.
 *
 * The yearly cost of a candidate is linear in each price (pieces bought / life, kWh, hours waited)
 * while all others stay: a line. The winner over one price is the lower envelope of the lines, so
 * that a flip is where two of them cross: exact, no sweep. O(prices x candidates).
 *
 * Not here: bills (bill.h), what a candidate does with its time (the study). */
#ifndef WEIR_FABRIC_FLIPS_H
#define WEIR_FABRIC_FLIPS_H

#include "weir/base.h"

typedef struct {
    const char *price; /* id: "ocs_port", "electricity", "gpu_hour:h100-sxm" */
    double per_year;   /* how much of it a year takes: pieces / life, kWh, hours */
} weir_cost_term;

typedef struct { /* cost of a year = fixed + sum of per_year x typical price of its terms */
    const weir_cost_term *terms; /* a price may occur more than once */
    uint32_t count;
    double fixed_usd;
} weir_cost_candidate;

typedef struct {
    const char *price;
    double low_usd, typical_usd, high_usd;
} weir_cost_price;

typedef struct {
    uint32_t price;  /* row of the prices */
    double at_usd;   /* where the costs of both are equal */
    bool is_dearer;  /* at_usd is above the typical price: the other wins from there on upwards */
    uint32_t winner; /* the candidate that wins beyond */
    bool is_within;  /* at_usd lies in low .. high */
} weir_flip;

/* The cost of a year at typical prices. Terms whose price is not listed cost nothing. */
double weir_cost_of_year(const weir_cost_candidate *candidate, const weir_cost_price *prices,
                         uint32_t price_count);
/* The cheapest at typical prices, the first of equals; WEIR_NONE without candidates. */
uint32_t weir_cost_winner(const weir_cost_candidate *candidates, uint32_t count,
                          const weir_cost_price *prices, uint32_t price_count);

/* For each price the nearest flip below and the nearest above its typical value, 0 or more, in
 * order of price, the lower first. flips has room for 2 x price_count. Returns how many there are.
 * Candidates that never differ in a price have none there. */
uint32_t weir_flips_find(const weir_cost_candidate *candidates, uint32_t count,
                         const weir_cost_price *prices, uint32_t price_count, weir_flip *flips);

/* The same for several prices that move together (all optics): by which factor, 1 = typical.
 * member[i]: price i is one of them. flips has room for 2; at_usd is the factor, price WEIR_NONE,
 * is_within whether it lies in low_factor .. high_factor. */
uint32_t weir_flips_together(const weir_cost_candidate *candidates, uint32_t count,
                             const weir_cost_price *prices, uint32_t price_count,
                             const bool *member, const double band_factors[2], weir_flip *flips);

#endif
