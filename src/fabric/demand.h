/* demand.h: who sends how many bytes to whom in one period: a square matrix.
 *
 * Row i, column j is what node i sends to node j; a line is a row or a column. The diagonal may be
 * filled (bytes that stay at home, or a switch whose inputs and outputs are different ports); what
 * counts partners leaves it out. 8 n^2 bytes.
 *
 * Not here: what carries the demand (circuit.h, decompose.h), periods of a job. */
#ifndef WEIR_FABRIC_DEMAND_H
#define WEIR_FABRIC_DEMAND_H

#include "codec/csv_read.h"

enum { WEIR_DEMAND_MAX = 8192 }; /* nodes of a matrix: 512 MiB */

typedef struct {
    uint32_t n;    /* nodes */
    double *bytes; /* n*n, row by row; owned */
} weir_demand;

/* All zero. Leaves *demand untouched on failure: n is 0 or above WEIR_DEMAND_MAX, no memory. */
weir_code weir_demand_init(weir_demand *demand, uint32_t n, weir_err *err);
void weir_demand_clear(weir_demand *demand); /* frees; a zeroed one is fine */

/* A square of numbers in bytes ("1e9") or with their unit ("10 MB"); or the same with the nodes'
 * names (no numbers) as first row and column, in the same order (checked, then dropped). Errors
 * name line and column; a matrix that weir_demand_check refuses is refused. */
weir_code weir_demand_read(weir_source *source, const char *name, weir_demand *demand,
                           weir_err *err);

/* WEIR_ERR_INPUT with the cell: negative, NaN, infinite; or nothing in it at all. */
weir_code weir_demand_check(const weir_demand *demand, weir_err *err);

double weir_demand_row_bytes(const weir_demand *demand, uint32_t row);
double weir_demand_column_bytes(const weir_demand *demand, uint32_t column);

typedef struct {
    double total_bytes;
    double max_line_bytes; /* the busiest row or column: no network is done before it is */
    double peak_to_mean;   /* largest cell ÷ mean of the cells off the diagonal; 0: none */
    double mean_fan_out;   /* partners that a node sends to, mean over nodes that send */
    uint32_t fan_out;      /* the most partners that one node sends to */
    uint32_t fan_in;       /* the most partners that one node hears from */
    uint32_t pairs;        /* cells off the diagonal that are not zero */
} weir_demand_shape;

weir_demand_shape weir_demand_measure(const weir_demand *demand);

/* What the busiest line must carry each second so that the period is done in window_s (> 0). */
double weir_demand_needed_bytes_per_s(const weir_demand *demand, double window_s);

/* How much of the traffic stays where it was from one period to the next: the mean over consecutive
 * periods of 1 - 1/2 sum|D(t) - D(t+1)| / D, where D is the mean of both totals, which keeps it in
 * 0..1 when totals differ. Two empty neighbours tell nothing and are left out.
 * WEIR_ERR_INPUT: less than two periods, different sizes, no traffic. */
weir_code weir_demand_persistence(const weir_demand *periods, uint32_t count, double *persistence,
                                  weir_err *err);

#endif
