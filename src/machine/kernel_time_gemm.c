/* kernel_time_gemm.c: seconds of matrix products.
 *
 * The library's choice is imitated: of the tiles that its kernels have, and of splitting k where
 * there are fewer tiles than SMs, the fastest. Against it stand the memory and the clock that power
 * allows; near the meeting of two limits both slow down (a fourth power of each is added). */
#include "machine/kernel_time_inside.h"

#include <math.h>

typedef struct {
    double sms; /* that it may use */
    double rows, columns, depth, batch;
    uint64_t groups; /* of a grouped product, else 0 */
    double load;
} product;

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* Numbers of tiles are below 2^53: exact. */
static double rounded_up(double count, double size)
{
    double whole = (double)(uint64_t)(count / size);
    return whole * size < count ? whole + 1 : whole;
}

/* Row tiles of a grouped product: equal groups round up alike; among groups of chance sizes half a
 * tile of each is empty. */
static double grouped_row_tiles(const product *p, double tile_rows)
{
    double groups = (double)p->groups;
    if (p->load <= 1) {
        return groups * rounded_up(p->rows / groups, tile_rows);
    }
    return most(p->rows / tile_rows + groups / 2, groups);
}

static double math_s(const kernel_gemm_law *law, const kernel_gemm_rates *rates, const product *p,
                     double memory_bytes_per_s)
{
    enum { MOST_SPLITS = 8 };
    double best = INFINITY;
    for (uint32_t i = 0; i < law->tile_count; i++) {
        const kernel_tile *tile = &law->tiles[i];
        double slots = most(1, (double)(uint64_t)(p->sms / tile->sms));
        double rows = p->groups ? grouped_row_tiles(p, tile->rows)
                                : rounded_up(p->rows, tile->rows) * p->batch;
        double tiles = rows * rounded_up(p->columns, tile->columns);
        best = least(best, kernel_waves(tiles, slots, law->tail) * (p->depth + law->depth) *
                               rates->s_per_depth[i]);
        for (double splits = 2; splits <= MOST_SPLITS && tiles < slots && !p->groups; splits *= 2) {
            double sums = 4 * splits * p->rows * p->columns * p->batch;
            best = least(best, kernel_waves(tiles * splits, slots, law->tail) *
                                       (p->depth / splits + law->depth) * rates->s_per_depth[i] +
                                   law->split_traffic * sums / memory_bytes_per_s + law->split_s);
        }
    }
    return best;
}

/* Rows of operands that do not begin at multiples of 16 bytes feed tensor cores slowly. Batched
 * products, those of attention, do without: cores of 32 bits calculate; there n is a head dimension
 * too, what operands are rows of. */
static double misalignment(const kernel_gemm_law *law, const kernel_gemm_rates *rates,
                           const weir_gemm_shape *shape)
{
    bool is_odd = shape->n % rates->aligned != 0 ||
                  (shape->sums_rows ? shape->m : shape->k) % rates->aligned != 0;
    if (!is_odd) {
        return 1;
    }
    return shape->batch > 1 && !shape->sums_rows ? rates->without_tensor_cores : law->misaligned;
}

static double product_s(const weir_kernel_times *times, const kernel_gemm_law *law,
                        const kernel_gemm_rates *rates, const weir_gemm_shape *shape,
                        const product *p)
{
    double bandwidth = times->accelerator->memory_bytes_per_s;
    double operands =
        p->rows * p->depth + p->columns * p->depth * (p->groups ? (double)p->groups : 1);
    double result_bytes = shape->accumulates ? 8 : rates->operand_bytes > 2 ? 4 : 2;
    double memory = p->batch *
                    (rates->operand_bytes * operands + result_bytes * p->rows * p->columns) /
                    (bandwidth * law->memory);
    double flop = 2 * p->rows * p->columns * p->depth * p->batch;
    double power = flop / (rates->peak * (law->sustained + (law->burst - law->sustained) /
                                                               (1 + flop / law->heating)));
    double math = math_s(law, rates, p, bandwidth) * misalignment(law, rates, shape) *
                  (shape->accumulates ? law->accumulate : 1);
    math *= math;
    memory *= memory;
    power *= power;
    return sqrt(sqrt(math * math + memory * memory + power * power)) + law->fixed_s;
}

static product product_of(const weir_kernel_times *times, const weir_gemm_shape *shape)
{
    double share = shape->sm_share > 0 ? shape->sm_share : 1;
    return (product){
        .sms = times->sms * share,
        .rows = (double)shape->m,
        .columns = (double)shape->n,
        .depth = (double)shape->k,
        .batch = shape->batch ? (double)shape->batch : 1,
    };
}

double weir_gemm_s(const weir_kernel_times *times, const weir_gemm_shape *shape)
{
    weir_gemm_format in = times->calculates_in[shape->format];
    product p = product_of(times, shape);
    return product_s(times, &times->gemm[in], &times->gemm_rates[in], shape, &p);
}

double weir_grouped_gemm_s(const weir_kernel_times *times, const weir_gemm_shape *shape,
                           uint64_t groups, double load)
{
    weir_gemm_format in = times->calculates_in[shape->format];
    product p = product_of(times, shape);
    p.groups = groups ? groups : 1;
    p.load = load;
    return product_s(times, &times->grouped[in], &times->grouped_rates[in], shape, &p);
}
