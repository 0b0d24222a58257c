#include "fabric/blossom.h"

#include <stdlib.h>
#include <string.h>

/* Things are vertices 1..n and blossoms above; 0 is none. A thing is outer (its tree's root or an
 * even way from it), inner, or in no tree. */
enum { FREE = -1, OUTER = 0, INNER = 1 };

/* The edge between two things: the vertices at its ends; u == 0: there is none. */
typedef struct {
    uint32_t u, v;
} edge;

typedef struct {
    uint32_t n, things, most; /* most: of things, and one more */
    const int64_t *weights;
    edge *edges;      /* most x most */
    uint32_t *from;   /* most x (n + 1): which part of a blossom holds a vertex */
    uint32_t *flower; /* of each blossom its parts in order round it, n + 1 places each */
    uint32_t *size;   /* of each thing: parts; 0: a vertex */
    int64_t *label;   /* potentials, twice over */
    uint32_t *match;  /* the vertex at the other end */
    uint32_t *slack;  /* the vertex of the tightest edge from an outer thing */
    uint32_t *top;    /* the outermost blossom that a thing is in */
    uint32_t *parent; /* the vertex over which a thing came into its tree */
    uint32_t *seen;   /* by thing: the last search for a common root that passed */
    int8_t *side;
    uint32_t *queue;
    uint32_t head, tail, searches;
} blossom;

static edge *edge_of(const blossom *b, uint32_t x, uint32_t y)
{
    return &b->edges[(size_t)x * b->most + y];
}

static uint32_t *from_of(const blossom *b, uint32_t x, uint32_t vertex)
{
    return &b->from[(size_t)x * (b->n + 1) + vertex];
}

static uint32_t *flower_of(const blossom *b, uint32_t x)
{
    return b->flower + (size_t)(x - b->n - 1) * (b->n + 1);
}

static int64_t weight_of(const blossom *b, uint32_t u, uint32_t v)
{
    uint32_t low = u < v ? u : v, high = u < v ? v : u;
    return b->weights[(size_t)(low - 1) * b->n + high - 1];
}

/* How far the edge is from being tight, twice over. */
static int64_t gap_of(const blossom *b, const edge *e)
{
    return b->label[e->u] + b->label[e->v] - 2 * weight_of(b, e->u, e->v);
}

static void update_slack(blossom *b, uint32_t u, uint32_t x)
{
    if (!b->slack[x] || gap_of(b, edge_of(b, u, x)) < gap_of(b, edge_of(b, b->slack[x], x))) {
        b->slack[x] = u;
    }
}

static void set_slack(blossom *b, uint32_t x)
{
    b->slack[x] = 0;
    for (uint32_t u = 1; u <= b->n; u++) {
        if (edge_of(b, u, x)->u && b->top[u] != x && b->side[b->top[u]] == OUTER) {
            update_slack(b, u, x);
        }
    }
}

static void push(blossom *b, uint32_t x)
{
    if (x <= b->n) {
        b->queue[b->tail++] = x;
        return;
    }
    for (uint32_t i = 0; i < b->size[x]; i++) {
        push(b, flower_of(b, x)[i]);
    }
}

static void set_top(blossom *b, uint32_t x, uint32_t top)
{
    b->top[x] = top;
    for (uint32_t i = 0; x > b->n && i < b->size[x]; i++) {
        set_top(b, flower_of(b, x)[i], top);
    }
}

static void reverse(uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t swap = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = swap;
    }
}

/* The place of a part in its blossom, turned round so that it is even. */
static uint32_t even_place(blossom *b, uint32_t x, uint32_t part)
{
    uint32_t *flower = flower_of(b, x), place = 0;
    while (flower[place] != part) {
        place++;
    }
    if (place % 2 == 0) {
        return place;
    }
    reverse(flower + 1, b->size[x] - 1);
    return b->size[x] - place;
}

static void set_match(blossom *b, uint32_t x, uint32_t y)
{
    edge e = *edge_of(b, x, y);
    b->match[x] = e.v;
    if (x <= b->n) {
        return;
    }
    uint32_t part = *from_of(b, x, e.u), place = even_place(b, x, part);
    uint32_t *flower = flower_of(b, x);
    for (uint32_t i = 0; i < place; i++) {
        set_match(b, flower[i], flower[i ^ 1]);
    }
    set_match(b, part, y);
    /* The new base comes first. */
    reverse(flower, place);
    reverse(flower + place, b->size[x] - place);
    reverse(flower, b->size[x]);
}

static void augment(blossom *b, uint32_t x, uint32_t y)
{
    for (;;) {
        uint32_t next = b->top[b->match[x]];
        set_match(b, x, y);
        if (!next) {
            return;
        }
        set_match(b, next, b->top[b->parent[next]]);
        x = b->top[b->parent[next]];
        y = next;
    }
}

/* Where the ways of two outer things to their roots meet; 0: nowhere. */
static uint32_t find_common(blossom *b, uint32_t x, uint32_t y)
{
    b->searches++;
    while (x || y) {
        if (x) {
            if (b->seen[x] == b->searches) {
                return x;
            }
            b->seen[x] = b->searches;
            x = b->top[b->match[x]];
            x = x ? b->top[b->parent[x]] : 0;
        }
        uint32_t swap = x;
        x = y;
        y = swap;
    }
    return 0;
}

/* The way from x to the root of the new blossom becomes parts of it. */
static void collect(blossom *b, uint32_t made, uint32_t x, uint32_t root)
{
    while (x != root) {
        uint32_t inner = b->top[b->match[x]];
        flower_of(b, made)[b->size[made]++] = x;
        flower_of(b, made)[b->size[made]++] = inner;
        push(b, inner);
        x = b->top[b->parent[inner]];
    }
}

/* The best edges and the vertices of its parts are the blossom's. */
static void take_edges(blossom *b, uint32_t made, uint32_t part)
{
    for (uint32_t x = 1; x <= b->things; x++) {
        const edge *e = edge_of(b, part, x);
        edge *best = edge_of(b, made, x);
        if (e->u && (!best->u || gap_of(b, e) < gap_of(b, best))) {
            *best = *e;
            *edge_of(b, x, made) = *edge_of(b, x, part);
        }
    }
    for (uint32_t v = 1; v <= b->n; v++) {
        if (*from_of(b, part, v)) {
            *from_of(b, made, v) = part;
        }
    }
}

static void add_blossom(blossom *b, uint32_t x, uint32_t root, uint32_t y)
{
    uint32_t made = b->n + 1;
    while (made <= b->things && b->top[made]) {
        made++;
    }
    b->things = made > b->things ? made : b->things;
    b->label[made] = 0;
    b->side[made] = OUTER;
    b->match[made] = b->match[root];
    flower_of(b, made)[0] = root;
    b->size[made] = 1;
    collect(b, made, x, root);
    reverse(flower_of(b, made) + 1, b->size[made] - 1);
    collect(b, made, y, root);
    set_top(b, made, made);
    for (uint32_t t = 1; t <= b->things; t++) {
        *edge_of(b, made, t) = *edge_of(b, t, made) = (edge){0, 0};
    }
    memset(from_of(b, made, 0), 0, (b->n + 1) * sizeof *b->from);
    for (uint32_t i = 0; i < b->size[made]; i++) {
        take_edges(b, made, flower_of(b, made)[i]);
    }
    set_slack(b, made);
}

/* An inner blossom without potential falls apart; its even side stays in the tree. */
static void expand(blossom *b, uint32_t x)
{
    uint32_t *flower = flower_of(b, x);
    for (uint32_t i = 0; i < b->size[x]; i++) {
        set_top(b, flower[i], flower[i]);
    }
    uint32_t part = *from_of(b, x, edge_of(b, x, b->parent[x])->u);
    uint32_t place = even_place(b, x, part);
    for (uint32_t i = 0; i < place; i += 2) {
        uint32_t inner = flower[i], outer = flower[i + 1];
        b->parent[inner] = edge_of(b, outer, inner)->u;
        b->side[inner] = INNER;
        b->side[outer] = OUTER;
        b->slack[inner] = 0;
        set_slack(b, outer);
        push(b, outer);
    }
    b->side[part] = INNER;
    b->parent[part] = b->parent[x];
    for (uint32_t i = place + 1; i < b->size[x]; i++) {
        b->side[flower[i]] = FREE;
        set_slack(b, flower[i]);
    }
    b->top[x] = 0;
}

/* A tight edge from an outer thing; true: the matching grew. */
static bool follow(blossom *b, edge e)
{
    uint32_t x = b->top[e.u], y = b->top[e.v];
    if (b->side[y] == FREE) {
        b->parent[y] = e.u;
        b->side[y] = INNER;
        uint32_t next = b->top[b->match[y]];
        b->slack[y] = b->slack[next] = 0;
        b->side[next] = OUTER;
        push(b, next);
    } else if (b->side[y] == OUTER) {
        uint32_t root = find_common(b, x, y);
        if (!root) {
            augment(b, x, y);
            augment(b, y, x);
            return true;
        }
        add_blossom(b, x, root, y);
    }
    return false;
}

/* Grows trees along tight edges; true: the matching grew. */
static bool grow(blossom *b)
{
    while (b->head < b->tail) {
        uint32_t u = b->queue[b->head++];
        if (b->side[b->top[u]] == INNER) {
            continue;
        }
        for (uint32_t v = 1; v <= b->n; v++) {
            const edge *e = edge_of(b, u, v);
            if (!e->u || b->top[u] == b->top[v]) {
                continue;
            }
            if (gap_of(b, e) > 0) {
                update_slack(b, u, b->top[v]);
            } else if (follow(b, *e)) {
                return true;
            }
        }
    }
    return false;
}

static int64_t least(int64_t a, int64_t c)
{
    return a < c ? a : c;
}

/* How far potentials can move before something gets tight or a blossom falls apart. */
static int64_t find_step(const blossom *b)
{
    int64_t step = INT64_MAX;
    for (uint32_t x = b->n + 1; x <= b->things; x++) {
        if (b->top[x] == x && b->side[x] == INNER) {
            step = least(step, b->label[x] / 2);
        }
    }
    for (uint32_t x = 1; x <= b->things; x++) {
        if (b->top[x] == x && b->slack[x] && b->side[x] != INNER) {
            int64_t gap = gap_of(b, edge_of(b, b->slack[x], x));
            step = least(step, b->side[x] == FREE ? gap : gap / 2);
        }
    }
    return step;
}

/* false: a vertex would fall below 0, no heavier matching is left. */
static bool move_labels(blossom *b, int64_t step)
{
    for (uint32_t u = 1; u <= b->n; u++) {
        if (b->side[b->top[u]] == OUTER && b->label[u] <= step) {
            return false;
        }
    }
    for (uint32_t u = 1; u <= b->n; u++) {
        int8_t side = b->side[b->top[u]];
        b->label[u] += side == OUTER ? -step : side == INNER ? step : 0;
    }
    for (uint32_t x = b->n + 1; x <= b->things; x++) {
        if (b->top[x] == x) {
            b->label[x] += b->side[x] == OUTER ? 2 * step : b->side[x] == INNER ? -2 * step : 0;
        }
    }
    return true;
}

/* One more edge in the matching; false: it is the heaviest. */
static bool improve(blossom *b)
{
    b->head = b->tail = 0;
    for (uint32_t x = 1; x <= b->things; x++) {
        b->side[x] = FREE;
        b->slack[x] = 0;
    }
    for (uint32_t x = 1; x <= b->things; x++) {
        if (b->top[x] == x && !b->match[x]) {
            b->parent[x] = 0;
            b->side[x] = OUTER;
            push(b, x);
        }
    }
    if (b->tail == 0) {
        return false;
    }
    for (;;) {
        if (grow(b)) {
            return true;
        }
        if (!move_labels(b, find_step(b))) {
            return false;
        }
        b->head = b->tail = 0;
        for (uint32_t x = 1; x <= b->things; x++) {
            uint32_t u = b->slack[x];
            if (b->top[x] == x && u && b->top[u] != x && gap_of(b, edge_of(b, u, x)) == 0 &&
                follow(b, *edge_of(b, u, x))) {
                return true;
            }
        }
        for (uint32_t x = b->n + 1; x <= b->things; x++) {
            if (b->top[x] == x && b->side[x] == INNER && b->label[x] == 0) {
                expand(b, x);
            }
        }
    }
}

static bool blossom_init(blossom *b)
{
    size_t n = b->n, most = b->most;
    b->edges = calloc(most * most, sizeof *b->edges);
    b->from = calloc(most * (n + 1), sizeof *b->from);
    b->flower = calloc((most - n) * (n + 1), sizeof *b->flower);
    b->size = calloc(most, sizeof *b->size);
    b->label = calloc(most, sizeof *b->label);
    b->match = calloc(most, sizeof *b->match);
    b->slack = calloc(most, sizeof *b->slack);
    b->top = calloc(most, sizeof *b->top);
    b->parent = calloc(most, sizeof *b->parent);
    b->seen = calloc(most, sizeof *b->seen);
    b->side = calloc(most, sizeof *b->side);
    b->queue = calloc(2 * most, sizeof *b->queue);
    if (!b->edges || !b->from || !b->flower || !b->size || !b->label || !b->match || !b->slack ||
        !b->top || !b->parent || !b->seen || !b->side || !b->queue) {
        return false;
    }
    int64_t largest = 0;
    for (uint32_t u = 1; u <= n; u++) {
        b->top[u] = *from_of(b, u, u) = u;
        for (uint32_t v = 1; v <= n; v++) {
            int64_t weight = u == v ? 0 : weight_of(b, u, v);
            *edge_of(b, u, v) = weight > 0 ? (edge){u, v} : (edge){0, 0};
            largest = weight > largest ? weight : largest;
        }
    }
    for (uint32_t u = 1; u <= n; u++) {
        b->label[u] = largest;
    }
    return true;
}

static void blossom_clear(blossom *b)
{
    free(b->edges);
    free(b->from);
    free(b->flower);
    free(b->size);
    free(b->label);
    free(b->match);
    free(b->slack);
    free(b->top);
    free(b->parent);
    free(b->seen);
    free(b->side);
    free(b->queue);
}

static weir_code check_weights(uint32_t n, const int64_t *weights, weir_err *err)
{
    if (n == 0 || n > WEIR_BLOSSOM_MAX) {
        return weir_err_set(err, n ? WEIR_ERR_LIMIT : WEIR_ERR_INPUT,
                            "a matching of %u nodes; 1 to %d are due", n, WEIR_BLOSSOM_MAX);
    }
    int64_t most = ((int64_t)1 << 60) / n;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++) {
            int64_t weight = weights[(size_t)i * n + j];
            if (weight < 0 || weight > most) {
                return weir_err_set(err, WEIR_ERR_INPUT,
                                    "a weight of %lld between nodes %u and %u; 0 to %lld are due",
                                    (long long)weight, i, j, (long long)most);
            }
        }
    }
    return WEIR_OK;
}

weir_code weir_blossom_heaviest(uint32_t n, const int64_t *weights, uint32_t *partner, int64_t *sum,
                                weir_err *err)
{
    weir_code code = check_weights(n, weights, err);
    if (code != WEIR_OK) {
        return code;
    }
    blossom b = {.n = n, .things = n, .most = n + n / 2 + 2, .weights = weights};
    if (!blossom_init(&b)) {
        blossom_clear(&b);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a matching of %u nodes", n);
    }
    while (improve(&b)) {
    }
    int64_t total = 0;
    for (uint32_t u = 1; u <= n; u++) {
        partner[u - 1] = b.match[u] ? b.match[u] - 1 : WEIR_NONE;
        total += b.match[u] > u ? weight_of(&b, u, b.match[u]) : 0;
    }
    if (sum) {
        *sum = total;
    }
    blossom_clear(&b);
    return WEIR_OK;
}
