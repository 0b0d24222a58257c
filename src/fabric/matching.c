#include "fabric/matching.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

static weir_code fail_size(uint32_t n, weir_err *err)
{
    return weir_err_set(err, n ? WEIR_ERR_MEMORY : WEIR_ERR_INPUT,
                        n ? "no memory for a matching of %u rows" : "a matching of %u rows", n);
}

/* Rows enter one after the other; each looks for the cheapest path to a free column. Costs are
 * negated weights. Columns are 1..n, 0 is where a path begins. */
typedef struct {
    uint32_t n;
    const double *weights;
    double *row_price, *column_price; /* potentials; no reduced cost is negative */
    double *distance;                 /* of each column from the tree of the row that enters */
    uint32_t *row_of;                 /* of each column, 0 = free; rows are 1..n */
    uint32_t *before;                 /* the column that a path came through */
    bool *in_tree;
} assignment;

static bool assignment_init(assignment *a)
{
    size_t size = (size_t)a->n + 1;
    a->row_price = calloc(size, sizeof *a->row_price);
    a->column_price = calloc(size, sizeof *a->column_price);
    a->distance = calloc(size, sizeof *a->distance);
    a->row_of = calloc(size, sizeof *a->row_of);
    a->before = calloc(size, sizeof *a->before);
    a->in_tree = calloc(size, sizeof *a->in_tree);
    return a->row_price && a->column_price && a->distance && a->row_of && a->before && a->in_tree;
}

static void assignment_clear(assignment *a)
{
    free(a->row_price);
    free(a->column_price);
    free(a->distance);
    free(a->row_of);
    free(a->before);
    free(a->in_tree);
}

/* Shortens the distances through the row that column holds; returns the nearest column. */
static uint32_t look_from(assignment *a, uint32_t column, double *nearest)
{
    uint32_t row = a->row_of[column], best = 0;
    const double *weights = a->weights + (size_t)(row - 1) * a->n;
    *nearest = INFINITY;
    for (uint32_t j = 1; j <= a->n; j++) {
        if (a->in_tree[j]) {
            continue;
        }
        double reduced = -weights[j - 1] - a->row_price[row] - a->column_price[j];
        if (reduced < a->distance[j]) {
            a->distance[j] = reduced;
            a->before[j] = column;
        }
        if (a->distance[j] < *nearest) {
            *nearest = a->distance[j];
            best = j;
        }
    }
    return best;
}

static void enter_row(assignment *a, uint32_t row)
{
    uint32_t column = 0;
    a->row_of[0] = row;
    for (uint32_t j = 0; j <= a->n; j++) {
        a->distance[j] = INFINITY;
        a->in_tree[j] = false;
    }
    do {
        double nearest;
        a->in_tree[column] = true;
        uint32_t next = look_from(a, column, &nearest);
        for (uint32_t j = 0; j <= a->n; j++) {
            if (a->in_tree[j]) {
                a->row_price[a->row_of[j]] += nearest;
                a->column_price[j] -= nearest;
            } else {
                a->distance[j] -= nearest;
            }
        }
        column = next;
    } while (a->row_of[column] != 0);
    while (column != 0) {
        a->row_of[column] = a->row_of[a->before[column]];
        column = a->before[column];
    }
}

weir_code weir_matching_heaviest(uint32_t n, const double *weights, uint32_t *column_of_row,
                                 double *sum, weir_err *err)
{
    for (size_t i = 0; i < (size_t)n * n; i++) {
        if (!isfinite(weights[i])) {
            return weir_err_set(err, WEIR_ERR_INPUT, "the weight of row %zu, column %zu is %g",
                                i / n, i % n, weights[i]);
        }
    }
    assignment a = {.n = n, .weights = weights};
    if (n == 0 || !assignment_init(&a)) {
        assignment_clear(&a);
        return fail_size(n, err);
    }
    for (uint32_t row = 1; row <= n; row++) {
        enter_row(&a, row);
    }
    for (uint32_t j = 1; j <= n; j++) {
        column_of_row[a.row_of[j] - 1] = j - 1;
    }
    assignment_clear(&a);
    double total = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += weights[(size_t)i * n + column_of_row[i]];
    }
    if (sum) {
        *sum = total;
    }
    return WEIR_OK;
}

/* One phase after the other: layers of alternating paths, then as many disjoint shortest ones as
 * there are. */
typedef struct {
    uint32_t n;
    const double *weights;
    double least;
    uint32_t *column_of, *row_of; /* WEIR_NONE = free */
    uint32_t *layer;              /* of each row; WEIR_NONE = out of reach */
    uint32_t *queue;              /* rows by layer; the stack of a path */
    uint32_t *next;               /* the column that each row looks at next */
} cover;

static bool has_cell(const cover *c, uint32_t row, uint32_t column)
{
    return c->weights[(size_t)row * c->n + column] >= c->least;
}

/* true: some free column can be reached. */
static bool build_layers(cover *c)
{
    uint32_t head = 0, tail = 0;
    bool found = false;
    for (uint32_t i = 0; i < c->n; i++) {
        bool is_free = c->column_of[i] == WEIR_NONE;
        c->layer[i] = is_free ? 0 : WEIR_NONE;
        c->next[i] = 0;
        if (is_free) {
            c->queue[tail++] = i;
        }
    }
    while (head < tail) {
        uint32_t row = c->queue[head++];
        for (uint32_t j = 0; j < c->n; j++) {
            uint32_t other = c->row_of[j];
            if (!has_cell(c, row, j)) {
                continue;
            }
            if (other == WEIR_NONE) {
                found = true;
            } else if (c->layer[other] == WEIR_NONE) {
                c->layer[other] = c->layer[row] + 1;
                c->queue[tail++] = other;
            }
        }
    }
    return found;
}

/* Follows the layers from a free row, without recursion: the queue holds the rows of the path. */
static bool augment(cover *c, uint32_t start)
{
    uint32_t depth = 0;
    c->queue[0] = start;
    for (;;) {
        uint32_t row = c->queue[depth], j = c->next[row];
        if (j == c->n) {
            c->layer[row] = WEIR_NONE;
            if (depth-- == 0) {
                return false;
            }
            c->next[c->queue[depth]]++;
            continue;
        }
        uint32_t other = has_cell(c, row, j) ? c->row_of[j] : row;
        if (other == WEIR_NONE) {
            break;
        }
        if (other != row && c->layer[other] == c->layer[row] + 1) {
            c->queue[++depth] = other;
        } else {
            c->next[row]++;
        }
    }
    for (uint32_t i = 0; i <= depth; i++) {
        uint32_t row = c->queue[i], column = c->next[row];
        c->column_of[row] = column;
        c->row_of[column] = row;
        c->layer[row] = WEIR_NONE;
    }
    return true;
}

static uint32_t cover_most(cover *c)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        c->column_of[i] = c->row_of[i] = WEIR_NONE;
    }
    while (size < c->n && build_layers(c)) {
        for (uint32_t i = 0; i < c->n; i++) {
            size += c->column_of[i] == WEIR_NONE && augment(c, i);
        }
    }
    return size;
}

static bool cover_init(cover *c)
{
    c->row_of = calloc(c->n, sizeof *c->row_of);
    c->layer = calloc(c->n, sizeof *c->layer);
    c->queue = calloc(c->n, sizeof *c->queue);
    c->next = calloc(c->n, sizeof *c->next);
    return c->row_of && c->layer && c->queue && c->next;
}

static void cover_clear(cover *c)
{
    free(c->row_of);
    free(c->layer);
    free(c->queue);
    free(c->next);
}

weir_code weir_matching_largest(uint32_t n, const double *weights, double least,
                                uint32_t *column_of_row, uint32_t *size, weir_err *err)
{
    cover c = {.n = n, .weights = weights, .least = least, .column_of = column_of_row};
    if (n == 0 || !cover_init(&c)) {
        cover_clear(&c);
        return fail_size(n, err);
    }
    *size = cover_most(&c);
    cover_clear(&c);
    return WEIR_OK;
}

static int by_value(const void *a, const void *b, const void *context)
{
    const double *x = a, *y = b;
    (void)context;
    return (*x > *y) - (*x < *y);
}

/* The different weights above 0, rising. NULL: no memory. */
static double *collect_levels(uint32_t n, const double *weights, size_t *count)
{
    double *levels = calloc((size_t)n * n + 1, sizeof *levels);
    size_t kept = 0, distinct = 0;
    for (size_t i = 0; levels && i < (size_t)n * n; i++) {
        if (weights[i] > 0) {
            levels[kept++] = weights[i];
        }
    }
    if (!levels || !weir_sort(levels, kept, sizeof *levels, by_value, NULL)) {
        free(levels);
        return NULL;
    }
    for (size_t i = 0; i < kept; i++) {
        if (distinct == 0 || levels[i] != levels[distinct - 1]) {
            levels[distinct++] = levels[i];
        }
    }
    *count = distinct;
    return levels;
}

weir_code weir_matching_bottleneck(uint32_t n, const double *weights, uint32_t *column_of_row,
                                   double *smallest, weir_err *err)
{
    cover c = {.n = n, .weights = weights, .column_of = column_of_row};
    size_t count = 0;
    double *levels = n ? collect_levels(n, weights, &count) : NULL;
    if (!levels || !cover_init(&c)) {
        cover_clear(&c);
        free(levels);
        return fail_size(n, err);
    }
    size_t low = 0, high = count; /* all levels below low have a perfect matching, none from high */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        c.least = levels[middle];
        if (cover_most(&c) == n) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *smallest = low ? levels[low - 1] : 0;
    c.least = low ? levels[low - 1] : count ? levels[0] : INFINITY;
    cover_most(&c);
    cover_clear(&c);
    free(levels);
    return WEIR_OK;
}
