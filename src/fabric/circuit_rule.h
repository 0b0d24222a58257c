/* circuit_rule.h: which flows go on light, which on packets, and where the difference ends.
 *
 * Closed forms; each names its source. Not here: playing the traffic (bodies.h). */
#ifndef WEIR_FABRIC_CIRCUIT_RULE_H
#define WEIR_FABRIC_CIRCUIT_RULE_H

#include "fabric/demand.h"

typedef struct {
    double bytes_per_s; /* of a circuit */
    double delay_s;     /* switching and link bring-up */
    double duty_share;  /* of the time that a circuit must carry data to pay; 0: 0.9 */
    uint32_t ports;     /* circuits that a node can have at a time */
} weir_circuit_rule;

typedef struct {
    double bytes;       /* in one period, to one partner */
    double slack_s;     /* before it, in which circuits may be set */
    double persistence; /* 0..1, share of the traffic that stays where it was (demand.h) */
    uint32_t fan_out;   /* partners of the sender */
} weir_circuit_flow;

typedef enum {
    WEIR_CARRIER_LIGHT = 0,
    WEIR_CARRIER_PACKETS_FAN_OUT, /* more partners than ports */
    WEIR_CARRIER_PACKETS_BYTES,   /* too few bytes for each time that circuits are set */
    WEIR_CARRIER_PACKETS_SLACK,   /* enough bytes, but the setting would be waited for */
} weir_carrier;

/* Light if the fan-out has ports, bytes / (1 - persistence) >= weir_circuit_duty_bytes (a flow that
 * stays is set only every 1 / (1 - persistence) periods), and the slack covers the delay (a flow
 * that always stays needs none). */
weir_carrier weir_circuit_rule_choose(const weir_circuit_rule *rule, const weir_circuit_flow *flow);

/* Bytes for each setting at which a circuit carries data duty_share of the time: with 0.9, 9 times
 * what passes in the delay. */
double weir_circuit_duty_bytes(const weir_circuit_rule *rule);
/* The persistence at which so many bytes a period reach it; 0 where they do without. */
double weir_circuit_duty_persistence(const weir_circuit_rule *rule, double bytes);

/* Setting a direct circuit instead of forwarding over `hops` standing ones pays while the delay is
 * below this: (hops - 1) bytes / rate. hops: 1 or more. */
double weir_circuit_break_even_s(uint32_t hops, double bytes, double bytes_per_s);
/* The same solved for the message: it pays above so many bytes. INFINITY for 1 hop. */
double weir_circuit_break_even_bytes(uint32_t hops, double delay_s, double bytes_per_s);

/* Each cell of the demand on light (true) or packets, the largest first (ties: lower row, then
 * column) while both its ends have ports and it has the bytes. on_light: n*n. Slack and persistence
 * are the same for all cells. */
weir_code weir_circuit_rule_split(const weir_circuit_rule *rule, const weir_demand *demand,
                                  double slack_s, double persistence, bool *on_light,
                                  weir_err *err);

#endif
