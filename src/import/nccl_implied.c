#include "import/nccl_implied.h"

#include <math.h>

/* Longer names first: "reduce_scatter" holds "reduce", "alltoallv" "alltoall". */
static const weir_nccl_name test_names[] = {
    {"all_reduce", WEIR_COMM_ALL_REDUCE},
    {"all_gather", WEIR_COMM_ALL_GATHER},
    {"reduce_scatter", WEIR_COMM_REDUCE_SCATTER},
    {"alltoallv", WEIR_COMM_UNKNOWN},
    {"alltoall", WEIR_COMM_ALL_TO_ALL},
    {"broadcast", WEIR_COMM_BROADCAST},
    {"reduce", WEIR_COMM_REDUCE},
    {"sendrecv", WEIR_COMM_SEND_RECV},
    {"hypercube", WEIR_COMM_UNKNOWN},
    {"gather", WEIR_COMM_GATHER},
    {"scatter", WEIR_COMM_SCATTER},
};

const weir_nccl_name *weir_nccl_find_name(weir_str text, weir_str ending)
{
    for (size_t i = 0; i < sizeof test_names / sizeof test_names[0]; i++) {
        weir_str name = weir_str_from(test_names[i].name);
        for (uint32_t at = weir_str_find(text, name, 0); at < text.n;
             at = weir_str_find(text, name, at + 1)) {
            const weir_str rest = {text.p + at + name.n, text.n - at - name.n};
            if (weir_str_starts(rest, ending)) {
                return &test_names[i];
            }
        }
    }
    return NULL;
}

double weir_nccl_factor(weir_comm_kind kind, uint32_t ranks)
{
    double n = ranks;
    switch (kind) {
    case WEIR_COMM_ALL_REDUCE:
        return n > 0 ? 2 * (n - 1) / n : 0;
    case WEIR_COMM_ALL_GATHER:
    case WEIR_COMM_REDUCE_SCATTER:
    case WEIR_COMM_ALL_TO_ALL:
    case WEIR_COMM_GATHER:
    case WEIR_COMM_SCATTER:
        return n > 0 ? (n - 1) / n : 0;
    case WEIR_COMM_BROADCAST:
    case WEIR_COMM_REDUCE:
    case WEIR_COMM_SEND_RECV:
        return 1;
    default:
        return 0;
    }
}

/* The bounds of busbw / algbw that all rows with their last digit allow. */
static bool factor_bounds(const weir_nccl_run *run, double bounds[2])
{
    bounds[0] = 0;
    bounds[1] = INFINITY;
    for (uint32_t i = 0; i < run->row_count; i++) {
        const weir_nccl_measured *row = &run->rows[i];
        double algbw = row->algbw_bytes_per_s / 1e9, busbw = row->busbw_bytes_per_s / 1e9;
        double half = row->step_bytes_per_s / 1e9 * (0.5 + 1e-6); /* of the last digit */
        if (algbw > half && busbw > half) {
            bounds[0] = fmax(bounds[0], (busbw - half) / (algbw + half));
            bounds[1] = fmin(bounds[1], (busbw + half) / (algbw - half));
        }
    }
    return bounds[0] > 0 && bounds[0] <= bounds[1];
}

/* Ranks from a factor that is passes x (n - 1) / n; the share (n - 1) / n below 1. */
static double ranks_of(double factor, double passes)
{
    double share = factor / passes;
    return share >= 1 ? INFINITY : 1 / (1 - share);
}

static void imply_ranks(weir_nccl_run *run, const double bounds[2])
{
    double passes = run->kind == WEIR_COMM_ALL_REDUCE ? 2 : 1;
    if (weir_nccl_factor(run->kind, 2) == 1 && passes == 1) {
        return; /* a broadcast has factor 1 whatever the number */
    }
    double least = ceil(ranks_of(bounds[0], passes) - 1e-9);
    double most = floor(ranks_of(bounds[1], passes) + 1e-9);
    if (least >= 1 && least <= 1e9 && most >= least) {
        run->least_ranks = (uint32_t)least;
        run->most_ranks = most <= 1e9 ? (uint32_t)most : 0;
    }
}

/* Without a name: sums have a factor above 1 in an all-reduce only, below 1 in a reduce-scatter
 * only, whatever the number of ranks; 1 is a reduce, or an all-reduce of two. */
static void imply_kind(weir_nccl_run *run, bool has_sum, const double bounds[2])
{
    if (run->kind != WEIR_COMM_UNKNOWN || run->test || !has_sum) {
        return;
    }
    if (bounds[0] > 1) {
        run->kind = WEIR_COMM_ALL_REDUCE;
    } else if (bounds[1] < 1) {
        run->kind = WEIR_COMM_REDUCE_SCATTER;
    } else if (run->ranks >= 3) {
        run->kind = WEIR_COMM_REDUCE;
    }
}

void weir_nccl_imply(weir_nccl_run *run, bool has_sum)
{
    double bounds[2];
    if (factor_bounds(run, bounds)) {
        imply_kind(run, has_sum, bounds);
        imply_ranks(run, bounds);
    }
}
