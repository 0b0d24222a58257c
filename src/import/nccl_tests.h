/* nccl_tests.h: what nccl-tests and rccl-tests measured: bandwidth of a collective by size.
 *
 * Reads what all_reduce_perf and its sisters print, as it lies in the logs of jobs: several runs in
 * one file, labels of srun -l, mpirun --tag-output and kubectl before each line, colours, CRLF,
 * other programs' lines between. A row that is cut is dropped and counted; what of a cut row can be
 * read (its first placement) is kept. Lines over 64 KiB are cut.
 *
 * Ranks come from two places that may disagree: the list of devices, and busbw / algbw, which is a
 * function of their number. Both are kept. Not here: what would be right (study/nccl_compare.h). */
#ifndef WEIR_IMPORT_NCCL_TESTS_H
#define WEIR_IMPORT_NCCL_TESTS_H

#include "base/arena.h"
#include "base/diag.h"
#include "codec/source.h"
#include "weir/timeline.h"

typedef struct {
    uint64_t bytes; /* as nccl-tests counts the size of that collective */
    double time_s;
    double algbw_bytes_per_s, busbw_bytes_per_s; /* as printed */
    double step_bytes_per_s;                     /* of their last digit */
    bool is_in_place;
    uint64_t wrong; /* values that came out wrong; 0 also: not checked */
    uint32_t line;
} weir_nccl_measured;

typedef struct {
    weir_comm_kind kind;   /* UNKNOWN: neither told nor implied */
    const char *test;      /* "all_reduce_perf"; NULL: not told */
    const char *device;    /* "NVIDIA H100 80GB HBM3", of the first rank; NULL: not told */
    const char *library;   /* "2.27.7+cuda12.9"; NULL: not told */
    uint32_t ranks;        /* listed; 0: none */
    uint32_t hosts;        /* different ones in that list */
    bool is_rank_repeated; /* each process calls itself rank 0: built without MPI */
    /* What busbw / algbw allows; 0: it tells nothing. Equal: exactly that many. */
    uint32_t least_ranks, most_ranks; /* most 0: any number from least on */
    double average_busbw_bytes_per_s; /* as printed; 0: not told */
    weir_nccl_measured *rows;         /* in order of the file */
    uint32_t row_count, row_room;
    uint32_t line; /* where it begins */
} weir_nccl_run;

typedef struct {
    weir_nccl_run *runs; /* those with rows, in order of the file */
    uint32_t run_count, run_room;
    weir_arena *arena; /* texts */
} weir_nccl_tests;

/* name: for messages, and the collective where the file does not tell ("all_reduce_perf.log").
 * Diagnostics: cut-row, impossible-row, oversized-line, cut-compression, damaged-compression
 * (lost); wrong-result, rank-seen-twice (not lost). WEIR_ERR_INPUT: no row at all. */
weir_code weir_nccl_tests_read(weir_source *source, const char *name, weir_nccl_tests *tests,
                               weir_diags *diags, weir_err *err);
void weir_nccl_tests_clear(weir_nccl_tests *tests); /* a zeroed one is fine */

/* What busbw / algbw is for n ranks (PERFORMANCE.md of nccl-tests); 0: kind unknown. */
double weir_nccl_factor(weir_comm_kind kind, uint32_t ranks);

#endif
