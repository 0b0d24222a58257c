#include "fabric/decompose_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double busiest_line(uint32_t n, double *cells)
{
    const weir_demand demand = {n, cells};
    return weir_demand_measure(&demand).max_line_bytes;
}

static weir_code check_terms(const weir_decompose_terms *t, weir_err *err)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {{"switch_s", t->switch_s},
                {"linkup_s", t->linkup_s},
                {"packet_bytes_per_s", t->packet_bytes_per_s},
                {"window_s", t->window_s}};
    if (!(t->bytes_per_s > 0) || isinf(t->bytes_per_s)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a circuit of %g bytes/s; it must be above 0",
                            t->bytes_per_s);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!(rows[i].value >= 0) || isinf(rows[i].value)) {
            return weir_err_set(err, WEIR_ERR_INPUT, "%s is %g; it must be 0 or more", rows[i].name,
                                rows[i].value);
        }
    }
    if (!(t->tolerance >= 0 && t->tolerance < 1)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a tolerance of %g; it must be in 0..1",
                            t->tolerance);
    }
    return WEIR_OK;
}

/* QuickStuff (Liu et al. 2015): first cells that are not empty grow, then any, until every line is
 * as long as the busiest. Cells only grow. */
static weir_code fill_lines(decomposition *d, weir_err *err)
{
    uint32_t n = d->n;
    const weir_demand demand = {n, d->filled};
    double *room = calloc(2 * (size_t)n, sizeof *room), *column_room = room + n;
    if (!room) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u lines", n);
    }
    for (uint32_t i = 0; i < n; i++) {
        room[i] = fmax(0, d->line_bytes - weir_demand_row_bytes(&demand, i));
        column_room[i] = fmax(0, d->line_bytes - weir_demand_column_bytes(&demand, i));
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = 0; j < n; j++) {
                double *cell = &d->filled[(size_t)i * n + j];
                double more = fmin(room[i], column_room[j]);
                if (pass == 1 || *cell > 0) {
                    *cell += more;
                    room[i] -= more;
                    column_room[j] -= more;
                }
            }
        }
    }
    free(room);
    return WEIR_OK;
}

static weir_code decomposition_init(decomposition *d, const weir_demand *demand, weir_err *err)
{
    size_t cells = (size_t)d->n * d->n;
    weir_decompose_terms *t = &d->terms;
    t->tolerance = t->tolerance > 0 ? t->tolerance : 1e-9;
    t->max_durations = t->max_durations ? t->max_durations : 64;
    t->max_count = t->max_count ? t->max_count : d->n * (d->n - 2) + 2;
    d->line_bytes = busiest_line(d->n, demand->bytes);
    d->dust_bytes = t->tolerance * d->line_bytes * 1e-3;
    d->filled = calloc(cells, sizeof *d->filled);
    d->weights = calloc(cells, sizeof *d->weights);
    d->match = calloc(d->n, sizeof *d->match);
    d->found->rest_bytes = calloc(cells, sizeof *d->found->rest_bytes);
    if (!d->filled || !d->weights || !d->match || !d->found->rest_bytes) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to take %u x %u cells apart", d->n,
                            d->n);
    }
    memcpy(d->filled, demand->bytes, cells * sizeof *d->filled);
    memcpy(d->found->rest_bytes, demand->bytes, cells * sizeof *d->found->rest_bytes);
    return fill_lines(d, err);
}

bool decomposition_is_done(const decomposition *d)
{
    double line = busiest_line(d->n, d->found->rest_bytes);
    return line <= d->dust_bytes + d->terms.packet_bytes_per_s * d->elapsed_s ||
           d->found->count >= d->terms.max_count;
}

/* One more row of both tables; a realloc for each power of two. */
static bool make_room(weir_configurations *found)
{
    uint32_t count = found->count;
    if (count & (count - 1)) {
        return true;
    }
    size_t room = count ? 2 * (size_t)count : 1;
    double *seconds = realloc(found->seconds, room * sizeof *seconds);
    if (seconds) {
        found->seconds = seconds;
    }
    uint32_t *columns = realloc(found->column_of_row, room * found->n * sizeof *columns);
    if (columns) {
        found->column_of_row = columns;
    }
    return seconds && columns;
}

weir_code decomposition_add(decomposition *d, double seconds, weir_err *err)
{
    weir_configurations *found = d->found;
    double bytes = seconds * d->terms.bytes_per_s;
    if (!make_room(found)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for configuration %u", found->count);
    }
    memcpy(found->column_of_row + (size_t)found->count * d->n, d->match, d->n * sizeof *d->match);
    found->seconds[found->count++] = seconds;
    d->elapsed_s += seconds + d->terms.switch_s + d->terms.linkup_s;
    for (uint32_t i = 0; i < d->n; i++) {
        size_t cell = (size_t)i * d->n + d->match[i];
        double *both[] = {&d->filled[cell], &found->rest_bytes[cell]};
        for (int k = 0; k < 2; k++) {
            *both[k] = *both[k] - bytes > d->dust_bytes ? *both[k] - bytes : 0;
        }
    }
    return WEIR_OK;
}

static void finish(decomposition *d)
{
    weir_configurations *found = d->found;
    weir_decompose_times *times = &found->times;
    const weir_decompose_terms *terms = &d->terms;
    for (size_t i = 0; i < (size_t)d->n * d->n; i++) {
        if (found->rest_bytes[i] <= terms->tolerance * d->line_bytes) {
            found->rest_bytes[i] = 0;
        }
    }
    for (uint32_t k = 0; k < found->count; k++) {
        times->transfer_s += found->seconds[k];
    }
    double rest = busiest_line(d->n, found->rest_bytes);
    times->switching_s = found->count * terms->switch_s;
    times->linkup_s = found->count * terms->linkup_s;
    times->packets_s = rest > 0 ? rest / terms->packet_bytes_per_s : 0;
    times->total_s =
        fmax(times->packets_s, times->transfer_s + times->switching_s + times->linkup_s);
    times->bound_s = d->line_bytes / terms->bytes_per_s + terms->switch_s + terms->linkup_s;
}

weir_code weir_decompose(const weir_demand *demand, weir_decompose_method method,
                         const weir_decompose_terms *terms, weir_configurations *found,
                         weir_err *err)
{
    static weir_code (*const methods[])(decomposition *, weir_err *) = {
        [WEIR_DECOMPOSE_BIRKHOFF] = decompose_birkhoff,
        [WEIR_DECOMPOSE_SOLSTICE] = decompose_solstice,
        [WEIR_DECOMPOSE_ECLIPSE] = decompose_eclipse,
    };
    weir_code code = weir_demand_check(demand, err);
    if (code == WEIR_OK) {
        code = check_terms(terms, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    weir_configurations made = {.n = demand->n};
    decomposition d = {.n = demand->n, .terms = *terms, .found = &made};
    code = decomposition_init(&d, demand, err);
    if (code == WEIR_OK) {
        code = methods[method](&d, err);
    }
    free(d.filled);
    free(d.weights);
    free(d.match);
    if (code != WEIR_OK) {
        weir_configurations_clear(&made);
        return code;
    }
    finish(&d);
    *found = made;
    return WEIR_OK;
}

void weir_configurations_clear(weir_configurations *found)
{
    free(found->column_of_row);
    free(found->seconds);
    free(found->rest_bytes);
    *found = (weir_configurations){0};
}
