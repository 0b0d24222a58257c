/* nccl_diagnose.c: what the rows of a run say, in sentences: certain things first (a value that
 * cannot be, ranks that the quotient contradicts), then candidates for what is missing. */
#include "study/nccl_inside.h"

#include "base/sort.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

weir_code nccl_add_finding(const nccl_judge *j, weir_nccl_finding_kind kind, uint64_t from_bytes,
                           const char *fmt, ...)
{
    weir_nccl_comparison *out = j->out;
    if (out->finding_count == WEIR_NCCL_FINDINGS_MOST) {
        return WEIR_OK; /* each kind comes once: this cannot be */
    }
    weir_text text = {0};
    va_list args;
    va_start(args, fmt);
    weir_text_vprintf(&text, fmt, args);
    va_end(args);
    char *sentence =
        text.failed ? NULL : weir_arena_copy(j->arena, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    if (!sentence) {
        return weir_err_set(j->err, WEIR_ERR_MEMORY, "no memory for a finding");
    }
    out->findings[out->finding_count++] = (weir_nccl_finding){
        kind, from_bytes, sentence, j->rules->check[kind], j->rules->source[kind]};
    return WEIR_OK;
}

static double gb(double bytes_per_s)
{
    return bytes_per_s / 1e9;
}

/* --- what is certain --- */

static weir_code tell_ranks(const nccl_judge *j)
{
    const weir_nccl_run *run = j->run;
    weir_code code = WEIR_OK;
    if (run->is_rank_repeated) {
        code = nccl_add_finding(
            j, WEIR_NCCL_RANKS_REPEATED, 0,
            "Several processes call themselves the same rank: each measured itself "
            "alone.");
    }
    uint32_t stated = run->ranks ? run->ranks : j->cluster->nodes * j->cluster->devices;
    bool is_outside = run->least_ranks > 0 && (stated < run->least_ranks ||
                                               (run->most_ranks > 0 && stated > run->most_ranks));
    if (code != WEIR_OK || !is_outside || run->is_rank_repeated) {
        return code;
    }
    const char *who = run->ranks ? "are listed" : "has the scenario's cluster";
    if (run->least_ranks == run->most_ranks) {
        return nccl_add_finding(j, WEIR_NCCL_RANK_COUNT, 0,
                                "%u ranks %s, but busbw / algbw is that of %u ranks.", stated, who,
                                run->least_ranks);
    }
    return nccl_add_finding(j, WEIR_NCCL_RANK_COUNT, 0,
                            "%u ranks %s, but busbw / algbw is that of %u to %u ranks.", stated,
                            who, run->least_ranks, run->most_ranks ? run->most_ranks : UINT32_MAX);
}

static weir_code tell_wrong(const nccl_judge *j)
{
    for (uint32_t i = 0; i < j->run->row_count; i++) {
        const weir_nccl_measured *row = &j->run->rows[i];
        if (row->wrong > 0) {
            return nccl_add_finding(j, WEIR_NCCL_WRONG_RESULTS, row->bytes,
                                    "%llu values came out wrong at %llu bytes (line %u).",
                                    (unsigned long long)row->wrong, (unsigned long long)row->bytes,
                                    row->line);
        }
    }
    return WEIR_OK;
}

static weir_code tell_impossible(const nccl_judge *j)
{
    for (uint32_t i = 0; i < j->out->row_count; i++) {
        const weir_nccl_compared *row = &j->out->rows[i];
        if (row->measured_bus_bytes_per_s >
            row->limit_bus_bytes_per_s * j->rules->impossible_share) {
            bool may_sum =
                j->out->shape.kind == WEIR_COLLECTIVE_ALL_REDUCE && j->out->shape.nodes > 1;
            return nccl_add_finding(j, WEIR_NCCL_IMPOSSIBLE, row->bytes,
                                    "%.4g GB/s at %llu bytes is more than the links of the cluster "
                                    "carry, %.4g GB/s%s.",
                                    gb(row->measured_bus_bytes_per_s),
                                    (unsigned long long)row->bytes, gb(row->limit_bus_bytes_per_s),
                                    may_sum ? ", unless the network's switches add (SHARP)" : "");
        }
    }
    return WEIR_OK;
}

/* The first size from which on all rows stay collapse_factor below the best one before; 0: none. */
static weir_code find_collapse(const nccl_judge *j, uint64_t *from_bytes, double *best_before)
{
    const weir_nccl_comparison *out = j->out;
    double *most = calloc((size_t)out->row_count + 1, sizeof *most); /* from this row on */
    if (!most) {
        return weir_err_set(j->err, WEIR_ERR_MEMORY, "no memory for %u rows", out->row_count);
    }
    for (uint32_t i = out->row_count; i-- > 0;) {
        most[i] = fmax(most[i + 1], out->rows[i].measured_bus_bytes_per_s);
    }
    double best = 0;
    *from_bytes = 0;
    for (uint32_t i = 0; i < out->row_count && *from_bytes == 0; i++) {
        if (most[i] > 0 && best > most[i] * j->rules->collapse_factor) {
            *best_before = best;
            *from_bytes = out->rows[i].bytes;
        }
        best = fmax(best, out->rows[i].measured_bus_bytes_per_s);
    }
    free(most);
    return WEIR_OK;
}

/* --- medians --- */

static int compare_doubles(const void *a, const void *b, const void *context)
{
    (void)context;
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of foretold / measured over rows of least to most bytes; NAN: there is none. Of what
 * was measured extra_s is left out, which small messages take too long: it says nothing of
 * bandwidth. */
static weir_code median_share(const nccl_judge *j, double least, double most, double extra_s,
                              double *median)
{
    const weir_nccl_comparison *out = j->out;
    double *shares = calloc((size_t)out->row_count + 1, sizeof *shares);
    uint32_t count = 0;
    *median = NAN;
    for (uint32_t i = 0; shares && i < out->row_count; i++) {
        double bytes = (double)out->rows[i].bytes;
        if (bytes >= least && bytes < most && !isnan(out->rows[i].share)) {
            const weir_nccl_compared *row = &out->rows[i];
            double net_s = fmax(row->measured_s - extra_s, fmin(row->measured_s, row->foretold_s));
            shares[count++] = extra_s > 0 ? row->foretold_s / net_s : row->share;
        }
    }
    bool is_sorted = shares && weir_sort(shares, count, sizeof *shares, compare_doubles, NULL);
    if (is_sorted && count > 0) {
        *median = count % 2 ? shares[count / 2] : (shares[count / 2 - 1] + shares[count / 2]) / 2;
    }
    free(shares);
    return is_sorted ? WEIR_OK : weir_err_set(j->err, WEIR_ERR_MEMORY, "no memory for a median");
}

/* The row in the middle of the plateau by its share. */
static const weir_nccl_compared *plateau_row(const nccl_judge *j, double least, double most)
{
    const weir_nccl_compared *best = NULL;
    for (uint32_t i = 0; i < j->out->row_count; i++) {
        const weir_nccl_compared *row = &j->out->rows[i];
        double bytes = (double)row->bytes;
        if (bytes >= least && bytes < most && !isnan(row->share) &&
            (!best || fabs(row->share - j->out->plateau_share) <
                          fabs(best->share - j->out->plateau_share))) {
            best = row;
        }
    }
    return best;
}

/* What a small message takes longer than foretold, where that is told as a finding; else 0. */
static double extra_latency_s(const nccl_judge *j)
{
    double least = INFINITY;
    if (!(j->out->latency_factor >= j->rules->latency_factor)) {
        return 0;
    }
    for (uint32_t i = 0; i < j->out->row_count; i++) {
        const weir_nccl_compared *row = &j->out->rows[i];
        if ((double)row->bytes <= j->rules->small_bytes && !isnan(row->share)) {
            least = fmin(least, row->measured_s - row->foretold_s);
        }
    }
    return isfinite(least) ? fmax(0, least) : 0;
}

/* --- all of it --- */

static weir_code tell_plateau(const nccl_judge *j, uint64_t collapse)
{
    weir_nccl_comparison *out = j->out;
    double least = j->rules->plateau_bytes, most = collapse ? (double)collapse : INFINITY;
    weir_code code = median_share(j, least, most, extra_latency_s(j), &out->plateau_share);
    const weir_nccl_compared *row = plateau_row(j, least, most);
    if (code != WEIR_OK || !row) {
        return code;
    }
    if (out->plateau_share < j->rules->good_share) {
        return nccl_tell_gap(j, row);
    }
    if (out->plateau_share > j->rules->fast_share) {
        return nccl_add_finding(j, WEIR_NCCL_FASTER, row->bytes,
                                "%.4g GB/s at %llu bytes is more than the %.4g GB/s foretold.",
                                gb(row->measured_bus_bytes_per_s), (unsigned long long)row->bytes,
                                gb(row->foretold_bus_bytes_per_s));
    }
    return WEIR_OK;
}

static weir_code tell_latency(const nccl_judge *j)
{
    double factor = j->out->latency_factor;
    if (!(factor >= j->rules->latency_factor)) {
        return WEIR_OK;
    }
    return nccl_add_finding(
        j, WEIR_NCCL_LATENCY, j->out->row_count ? j->out->rows[0].bytes : 0,
        "Small messages take %.1f times as long as foretold for this transport.", factor);
}

weir_code nccl_diagnose(const nccl_judge *j)
{
    weir_nccl_comparison *out = j->out;
    double share, best = 0;
    out->plateau_share = out->latency_factor = out->seeming_nic_bytes_per_s = NAN;
    weir_code code = median_share(j, 0, j->rules->small_bytes + 1, 0, &share);
    out->latency_factor = 1 / share;
    uint64_t collapse = 0;
    code = code == WEIR_OK ? find_collapse(j, &collapse, &best) : code;
    code = code == WEIR_OK ? tell_wrong(j) : code;
    code = code == WEIR_OK ? tell_ranks(j) : code;
    code = code == WEIR_OK ? tell_impossible(j) : code;
    if (code == WEIR_OK && collapse) {
        code =
            nccl_add_finding(j, WEIR_NCCL_COLLAPSE, collapse,
                             "From %llu bytes on the bandwidth stays below 1/%.3g of the %.4g GB/s "
                             "reached before.",
                             (unsigned long long)collapse, j->rules->collapse_factor, gb(best));
    }
    code = code == WEIR_OK ? tell_plateau(j, collapse) : code;
    code = code == WEIR_OK ? tell_latency(j) : code;
    if (code == WEIR_OK && out->finding_count == 0) {
        code = isnan(out->plateau_share)
                   ? nccl_add_finding(j, WEIR_NCCL_AS_EXPECTED, 0,
                                      "Nothing speaks against these rows.")
                   : nccl_add_finding(j, WEIR_NCCL_AS_EXPECTED, 0,
                                      "Large sizes reach %.0f %% of what is foretold.",
                                      100 * out->plateau_share);
    }
    return code;
}
