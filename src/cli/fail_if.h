/* fail_if.h: conditions such as dependency>30% that make the process end with 1. */
#ifndef WEIR_CLI_FAIL_IF_H
#define WEIR_CLI_FAIL_IF_H

#include "result/result.h"

typedef enum { FAIL_MORE, FAIL_MORE_OR_EQUAL, FAIL_LESS, FAIL_LESS_OR_EQUAL } fail_relation;

typedef struct {
    const char *text; /* as given; borrowed */
    bool is_cause;    /* cause, else wait */
    weir_wait wait;
    weir_cause cause;
    fail_relation relation;
    int64_t millionths; /* the percentage, in units of 10^-6 percent */
} fail_condition;

/* "WAIT>N%" or "WAIT.CAUSE<=N%". */
weir_code fail_if_parse(const char *text, fail_condition *condition, weir_err *err);
/* Whether the share of the wait or cause in total.wall_ns meets the condition. Exact. */
bool fail_if_met(const fail_condition *condition, const weir_result *result);
/* The share that fail_if_met compares, in tenths of a percent, rounded. */
int64_t fail_if_permille(const fail_condition *condition, const weir_result *result);
/* Names each condition that is met on standard error; whether any was. */
bool fail_if_report(const fail_condition *conditions, uint32_t count, const weir_result *result);

#endif
