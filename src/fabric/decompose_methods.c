#include "base/sort.h"
#include "fabric/decompose_inside.h"
#include "fabric/matching.h"

#include <math.h>
#include <stdlib.h>

/* Among the perfect matchings over cells of at least smallest, one with the most cells that are
 * exactly that small: all of these become empty at once. */
static weir_code empty_most(decomposition *d, double smallest, weir_err *err)
{
    for (size_t i = 0; i < (size_t)d->n * d->n; i++) {
        double cell = d->filled[i];
        d->weights[i] = cell < smallest                    ? -(double)(d->n + 1)
                        : cell - smallest <= d->dust_bytes ? 1
                                                           : 0;
    }
    return weir_matching_heaviest(d->n, d->weights, d->match, NULL, err);
}

weir_code decompose_birkhoff(decomposition *d, weir_err *err)
{
    while (d->found->count < d->terms.max_count) {
        double smallest = 0;
        weir_code code = weir_matching_bottleneck(d->n, d->filled, d->match, &smallest, err);
        if (code == WEIR_OK && smallest <= d->dust_bytes) {
            return WEIR_OK;
        }
        if (code == WEIR_OK) {
            code = empty_most(d, smallest, err);
        }
        if (code == WEIR_OK) {
            code = decomposition_add(d, smallest / d->terms.bytes_per_s, err);
        }
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

static double smallest_matched(const decomposition *d)
{
    double smallest = INFINITY;
    for (uint32_t i = 0; i < d->n; i++) {
        smallest = fmin(smallest, d->filled[(size_t)i * d->n + d->match[i]]);
    }
    return smallest;
}

weir_code decompose_solstice(decomposition *d, weir_err *err)
{
    double largest = 0;
    int exponent;
    for (size_t i = 0; i < (size_t)d->n * d->n; i++) {
        largest = fmax(largest, d->filled[i]);
    }
    frexp(largest, &exponent);
    double threshold = ldexp(1, exponent - 1);
    while (threshold > d->dust_bytes && !decomposition_is_done(d)) {
        uint32_t size = 0;
        weir_code code = weir_matching_largest(d->n, d->filled, threshold, d->match, &size, err);
        if (code == WEIR_OK && size < d->n) {
            threshold /= 2;
        } else if (code == WEIR_OK) {
            code = decomposition_add(d, smallest_matched(d) / d->terms.bytes_per_s, err);
        }
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

static int longer_first(const void *a, const void *b, const void *context)
{
    const double *x = a, *y = b;
    (void)context;
    return (*x < *y) - (*x > *y);
}

/* What one permutation carries in t bytes' time is concave in t and bends where a cell is done, so
 * that the best duration is one of the cells, or all the time that is left. Longest first, at most
 * max_durations of them, evenly spaced among the different ones. */
static weir_code list_durations(const decomposition *d, double most_bytes, double *bytes,
                                uint32_t *count, weir_err *err)
{
    size_t cells = (size_t)d->n * d->n, kept = 0, distinct = 0;
    for (size_t i = 0; i < cells; i++) {
        if (d->found->rest_bytes[i] > 0) {
            bytes[kept++] = fmin(d->found->rest_bytes[i], most_bytes);
        }
    }
    if (!weir_sort(bytes, kept, sizeof *bytes, longer_first, NULL)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to sort %zu cells", kept);
    }
    for (size_t i = 0; i < kept; i++) {
        if (distinct == 0 || bytes[i] != bytes[distinct - 1]) {
            bytes[distinct++] = bytes[i];
        }
    }
    size_t most = d->terms.max_durations;
    for (size_t i = 0; most < distinct && i < most; i++) {
        bytes[i] = bytes[i * distinct / most];
    }
    *count = (uint32_t)(most < distinct ? most : distinct);
    return WEIR_OK;
}

/* Fills d->match with the best permutation; *best_bytes is its duration in bytes of one circuit, 0
 * if nothing can be carried. */
static weir_code choose(decomposition *d, double most_bytes, double *durations, uint32_t *spare,
                        double *best_bytes, weir_err *err)
{
    double delay_bytes = (d->terms.switch_s + d->terms.linkup_s) * d->terms.bytes_per_s;
    double best_score = 0;
    uint32_t count = 0;
    weir_code code = list_durations(d, most_bytes, durations, &count, err);
    *best_bytes = 0;
    for (uint32_t k = 0; code == WEIR_OK && k < count; k++) {
        double carried = 0;
        for (size_t i = 0; i < (size_t)d->n * d->n; i++) {
            d->weights[i] = fmin(d->found->rest_bytes[i], durations[k]);
        }
        code = weir_matching_heaviest(d->n, d->weights, spare, &carried, err);
        if (code == WEIR_OK && carried / (durations[k] + delay_bytes) > best_score) {
            best_score = carried / (durations[k] + delay_bytes);
            *best_bytes = durations[k];
            for (uint32_t i = 0; i < d->n; i++) {
                d->match[i] = spare[i];
            }
        }
    }
    return code;
}

weir_code decompose_eclipse(decomposition *d, weir_err *err)
{
    const weir_decompose_terms *terms = &d->terms;
    double *durations = calloc((size_t)d->n * d->n, sizeof *durations);
    uint32_t *spare = calloc(d->n, sizeof *spare);
    weir_code code = WEIR_OK;
    if (!durations || !spare) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u durations", d->n);
    }
    while (code == WEIR_OK && !decomposition_is_done(d)) {
        double left_s = terms->window_s - d->elapsed_s - terms->switch_s - terms->linkup_s;
        double most_bytes = terms->window_s > 0 ? left_s * terms->bytes_per_s : INFINITY;
        double bytes = 0;
        if (!(most_bytes > d->dust_bytes)) {
            break;
        }
        code = choose(d, most_bytes, durations, spare, &bytes, err);
        if (code != WEIR_OK || bytes <= d->dust_bytes) {
            break;
        }
        code = decomposition_add(d, bytes / terms->bytes_per_s, err);
    }
    free(durations);
    free(spare);
    return code;
}
