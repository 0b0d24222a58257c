/* fabric_break_even.h: where light stops paying: switching time, message size, persistence.
 *
 * The best candidate with circuits is played again against the best without, with one thing
 * changed, until their measures (fabric_compare.h) are equal: bisection, to 2 %. Closed forms are
 * in fabric/circuit_rule.h; tests hold the two against each other. */
#ifndef WEIR_STUDY_FABRIC_BREAK_EVEN_H
#define WEIR_STUDY_FABRIC_BREAK_EVEN_H

#include "study/fabric_row.h"

/* Fills result->fabric->break_even (NAN as it is), whose candidates and traffic are there. About a
 * dozen plays for each of the three; nothing where there is no light or nothing else. */
weir_code weir_fabric_find_break_even(const weir_fabric_scenario *scenario,
                                      const weir_library *library, uint32_t threads,
                                      weir_result *result, weir_err *err);

/* The root of a function that is monotone between low and high (> 0 where is_log), to `precision`
 * of itself (is_log) or of the interval. NAN: it has the same sign at both ends. Also *low_sign and
 * *high_sign: -1, 0, 1 (may be NULL). */
typedef struct {
    void *context;
    weir_code (*difference)(void *context, double x, double *value, weir_err *err);
} weir_fabric_difference;

typedef struct {
    double low, high, precision;
    bool is_log;
} weir_fabric_bracket;

weir_code weir_fabric_bisect(const weir_fabric_difference *function,
                             const weir_fabric_bracket *bracket, double *root, int *low_sign,
                             weir_err *err);

#endif
