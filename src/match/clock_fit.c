#include "match/clock_fit.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* A quartz is off by up to 100 ppm, and NTP slews by at most 500 ppm (RFC 5905, section 11.3). */
static const double MOST_DRIFT = 500e-6;

enum {
    FIRM_POINTS = 3,  /* so many of a level are enough to do without weaker levels */
    DRIFT_POINTS = 8, /* fewer give an offset only */
    ALL_SLOPES = 300, /* points up to which every slope between two is used */
    FITTED_POINTS = 65536,
};

static int64_t bend(double drift, int64_t distance_ns)
{
    return llrint(drift * (double)distance_ns);
}

int64_t clock_fit_apply(const clock_fit *fit, int64_t moment_ns)
{
    return moment_ns + fit->offset_ns + bend(fit->drift, moment_ns - fit->origin_ns);
}

clock_point clock_point_of(const align_entry *a, const align_entry *b)
{
    int level = align_level(a) > align_level(b) ? align_level(a) : align_level(b);
    clock_point p = {.at_ns = b->anchor_ns,
                     .ahead_ns = a->anchor_ns - b->anchor_ns,
                     .low_ns = INT64_MIN,
                     .high_ns = INT64_MAX,
                     .level = level};
    if (a->kind == WEIR_COMM_SEND && b->kind == WEIR_COMM_RECV) {
        p.low_ns = a->arrival_ns - b->end_ns;
    } else if (a->kind == WEIR_COMM_RECV && b->kind == WEIR_COMM_SEND) {
        p.high_ns = a->end_ns - b->arrival_ns;
    }
    return p;
}

/* Offset and residual for a given drift. */
static void fit_offset(const clock_point *points, uint32_t count, int64_t *values, clock_fit *fit)
{
    for (uint32_t i = 0; i < count; i++) {
        values[i] = points[i].ahead_ns - bend(fit->drift, points[i].at_ns - fit->origin_ns);
    }
    fit->offset_ns = median_ns(values, count);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = llabs(values[i] - fit->offset_ns);
    }
    fit->residual_ns = median_ns(values, count);
}

/* Is the line bent by more than its own error? The error of the slope over the capture is 3.6 sigma
 * / sqrt(n) (that of least squares is sqrt(12), and Theil and Sen's nearly as small), and 5 with
 * n/2 slopes only. Below sqrt(2) of it, putting the bend in adds more error than it takes out, on
 * average (Akaike's criterion for one more parameter). */
static bool drift_matters(const clock_fit *fit, uint32_t count, int64_t span_ns, bool all_slopes)
{
    double sigma = 1.4826 * (double)fit->residual_ns;
    double error_ns = (all_slopes ? 3.6 : 5) * sigma / sqrt((double)count);
    return fabs(fit->drift) * (double)span_ns > 1.4142 * error_ns;
}

static size_t add_slope(const clock_point *p, const clock_point *q, double *slopes, size_t n)
{
    if (q->at_ns > p->at_ns) {
        slopes[n++] = (double)(q->ahead_ns - p->ahead_ns) / (double)(q->at_ns - p->at_ns);
    }
    return n;
}

static double median_slope(const clock_point *points, uint32_t count, double *slopes,
                           bool all_slopes)
{
    size_t n = 0;
    uint32_t half = count / 2;
    for (uint32_t i = 0; !all_slopes && i < half; i++) {
        n = add_slope(&points[i], &points[i + count - half], slopes, n);
    }
    for (uint32_t i = 0; all_slopes && i < count; i++) {
        for (uint32_t j = i + 1; j < count; j++) {
            n = add_slope(&points[i], &points[j], slopes, n);
        }
    }
    return median_number(slopes, n);
}

void clock_fit_line(const clock_point *points, uint32_t count, const clock_fit_scratch *scratch,
                    clock_fit *fit)
{
    *fit = (clock_fit){0};
    if (count == 0) {
        return;
    }
    int64_t first = points[0].at_ns, last = points[count - 1].at_ns;
    *fit = (clock_fit){.origin_ns = first + (last - first) / 2, .level = points[0].level};
    fit_offset(points, count, scratch->values, fit);
    clock_fit straight = *fit;
    if (count < DRIFT_POINTS) {
        return;
    }
    bool all_slopes = (size_t)count * (count - 1) / 2 <= scratch->slope_room;
    fit->drift = median_slope(points, count, scratch->slopes, all_slopes);
    if (fabs(fit->drift) > MOST_DRIFT) {
        *fit = straight;
        return;
    }
    fit_offset(points, count, scratch->values, fit);
    if (!drift_matters(fit, count, last - first, all_slopes)) {
        *fit = straight;
    }
}

/* Piecewise linear: the same on every machine, and near enough for a comparison. */
static double log2_about(double x)
{
    int exponent;
    double mantissa = frexp(x, &exponent);
    return exponent + 2 * mantissa - 2;
}

double clock_fit_evidence(const clock_fit *fit, int64_t chance_ns)
{
    static const double GRAIN_NS = 2000; /* ends agree by chance that well, now and then */
    double evidence = 0;
    for (int level = 0; level < ALIGN_LEVELS; level++) {
        uint32_t n = fit->of_level[level];
        double ratio = (double)chance_ns / ((double)fit->left_of_level[level] + GRAIN_NS);
        double bits = ratio > 1.01 ? log2_about(ratio) : 0.01;
        evidence += (n > 2 ? n - 2 : 0.25 * n) * bits;
    }
    return evidence;
}

void clock_fit_judge(const clock_point *points, uint32_t count, int64_t *values, clock_fit *fit)
{
    for (int level = 0; level < ALIGN_LEVELS; level++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (points[i].level == level) {
                int64_t there = points[i].at_ns + points[i].ahead_ns;
                values[n++] = llabs(there - clock_fit_apply(fit, points[i].at_ns));
            }
        }
        fit->of_level[level] = n;
        fit->left_of_level[level] = median_ns(values, n);
    }
}

static int compare_points(const void *a, const void *b, const void *context)
{
    (void)context;
    const clock_point *x = a, *y = b;
    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    return (x->ahead_ns > y->ahead_ns) - (x->ahead_ns < y->ahead_ns);
}

/* The firmest level with points enough, else the firmest that has most. */
static int choose_level(const clock_point *points, uint32_t count)
{
    uint32_t of_level[ALIGN_LEVELS] = {0};
    int best = 0;
    for (uint32_t i = 0; i < count; i++) {
        of_level[points[i].level]++;
    }
    for (int level = 0; level < ALIGN_LEVELS; level++) {
        if (of_level[level] >= FIRM_POINTS) {
            return level;
        }
        best = of_level[level] > of_level[best] ? level : best;
    }
    return best;
}

bool clock_fit_points(clock_point *points, uint32_t count, clock_fit *fit)
{
    fit->pairs = 0;
    if (count == 0) {
        return true;
    }
    int level = choose_level(points, count);
    clock_point *chosen = malloc(count * sizeof *chosen);
    int64_t *values = malloc(count * sizeof *values);
    size_t slope_room = (size_t)ALL_SLOPES * (ALL_SLOPES - 1) / 2 + count;
    double *slopes = malloc(slope_room * sizeof *slopes);
    bool done = chosen && values && slopes &&
                weir_sort(points, count, sizeof *points, compare_points, NULL);
    uint32_t n = 0;
    for (uint32_t i = 0; done && i < count; i++) {
        if (points[i].level == level) {
            chosen[n++] = points[i];
        }
    }
    if (done && n > FITTED_POINTS) { /* evenly over the capture */
        for (uint32_t i = 0; i < FITTED_POINTS; i++) {
            chosen[i] = chosen[(uint64_t)i * n / FITTED_POINTS];
        }
        n = FITTED_POINTS;
    }
    if (done) {
        clock_fit_scratch scratch = {values, slopes, slope_room};
        clock_fit_line(chosen, n, &scratch, fit);
        clock_fit_judge(points, count, values, fit);
        fit->pairs = count;
        fit->level = level;
    }
    free(chosen);
    free(values);
    free(slopes);
    return done;
}
