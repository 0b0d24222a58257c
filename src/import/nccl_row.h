/* nccl_row.h: one line of nccl-tests' output that may be a row of its table.
 *
 * A row is told by an element type that follows two whole numbers (size, count); what stands before
 * them (rank labels of srun, mpirun, kubectl) is no part of it. Which columns follow, the heading
 * tells. Not here: files and runs (nccl_tests.h). */
#ifndef WEIR_IMPORT_NCCL_ROW_H
#define WEIR_IMPORT_NCCL_ROW_H

#include "weir/base.h"

/* What the heading "# size count type redop root time algbw busbw #wrong ..." says. */
typedef struct {
    bool has_root;
    bool has_wrong;
    uint32_t placements; /* 2: out of place, then in place; 1: only one of them */
} weir_nccl_columns;

typedef struct {
    double time_us, algbw_gb_per_s, busbw_gb_per_s;
    double algbw_step, busbw_step; /* of the last digit that was printed */
    bool has_wrong;                /* false: "N/A", or there is no such column */
    uint64_t wrong;
    bool is_sound; /* time above 0, bandwidths finite */
} weir_nccl_figures;

typedef struct {
    uint64_t bytes;
    uint32_t column;  /* of the size in the line, 1-based */
    weir_str redop;   /* "sum", "none", empty */
    uint32_t figures; /* placements found */
    weir_nccl_figures placement[2];
} weir_nccl_line;

typedef enum {
    WEIR_NCCL_NO_ROW = 0,
    WEIR_NCCL_ROW,
    WEIR_NCCL_CUT_ROW, /* begins as a row, columns are missing or too many */
} weir_nccl_line_kind;

/* Whether the line is a heading; fills columns if it is. */
bool weir_nccl_heading(weir_str line, weir_nccl_columns *columns);
/* row borrows from line. */
weir_nccl_line_kind weir_nccl_row(weir_str line, const weir_nccl_columns *columns,
                                  weir_nccl_line *row);

/* --- words of a line --- */

/* The next word at or after *at (moved behind it); empty at the end. */
weir_str weir_nccl_word(weir_str line, uint32_t *at);
/* Digits only, within 64 bits. */
bool weir_nccl_whole(weir_str word, uint64_t *value);
/* "12.5", "1.2e+03", "-1"; step: of its last digit. */
bool weir_nccl_number(weir_str word, double *value, double *step);

#endif
