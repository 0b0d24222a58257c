#include "match/align.h"

#include <assert.h>
#include <string.h>

/* The price of leaving an entry alone. Two of them (one of each list) must be dearer than any pair
 * that may be right: ends of one all-to-all were seen 4 ms apart (torchrec, a2a_optimizer_5). */
static const int64_t ALONE_NS = 20000000;
static const int64_t NEVER = INT64_MAX / 4;

/* A pair whose ends are this close, and closer than those of its neighbours, needs no window. */
static const int64_t CLEAR_NS = 250000;

enum {
    WINDOW = 32, /* entries of each list that are weighed together */
    BEHIND = 16, /* entries that may lie behind what the other list shows (early finishers) */
};

static bool is_open(uint8_t kind)
{
    return kind == WEIR_COMM_UNKNOWN || kind == WEIR_COMM_SEND_RECV;
}

int align_level(const align_entry *entry)
{
    if (entry->is_message) {
        return 3;
    }
    switch ((weir_comm_kind)entry->kind) {
    case WEIR_COMM_ALL_REDUCE:
    case WEIR_COMM_ALL_GATHER:
    case WEIR_COMM_BARRIER:
        return 0;
    case WEIR_COMM_ALL_TO_ALL:
    case WEIR_COMM_SEND_RECV:
    case WEIR_COMM_UNKNOWN:
        return 1;
    default:
        return 2;
    }
}

/* Every member has the same size, by definition of the operation. */
static bool has_one_size(uint8_t kind)
{
    return kind == WEIR_COMM_ALL_REDUCE || kind == WEIR_COMM_BROADCAST ||
           kind == WEIR_COMM_REDUCE || kind == WEIR_COMM_SEND || kind == WEIR_COMM_RECV;
}

static bool kinds_agree(const align_entry *a, const align_entry *b)
{
    if (a->is_message != b->is_message) {
        return false;
    }
    if (a->is_message && !is_open(a->kind)) {
        return a->kind != b->kind;
    }
    return a->kind == b->kind || a->kind == WEIR_COMM_UNKNOWN || b->kind == WEIR_COMM_UNKNOWN ||
           (is_open(a->kind) && b->kind == WEIR_COMM_ALL_TO_ALL) ||
           (is_open(b->kind) && a->kind == WEIR_COMM_ALL_TO_ALL);
}

int64_t align_slack_ns(int64_t residual_ns)
{
    static const int64_t MOST_NS = 250000000; /* worse clocks tell nothing anyway */
    return ALIGN_SLACK_NS + 4 * (residual_ns < MOST_NS ? residual_ns : MOST_NS);
}

bool align_may_pair(const align_entry *a, const align_entry *b)
{
    if (!kinds_agree(a, b) || (a->seq >= 0 && b->seq >= 0 && a->seq != b->seq)) {
        return false;
    }
    return a->bytes == b->bytes || a->bytes == 0 || b->bytes == 0 || !has_one_size(a->kind);
}

int64_t align_distance(const align_entry *a, const align_entry *b)
{
    if (b->end_ns < a->first_end_ns) {
        return a->first_end_ns - b->end_ns;
    }
    return b->first_end_ns > a->end_ns ? b->first_end_ns - a->end_ns : 0;
}

/* What lies between the two, 0 where some moment saw all members of both running. */
static int64_t apart(const align_entry *a, const align_entry *b)
{
    int64_t ab = b->arrival_ns - a->first_end_ns, ba = a->arrival_ns - b->first_end_ns;
    int64_t d = ab > ba ? ab : ba;
    return d > 0 ? d : 0;
}

/* What is received was sent before. */
static bool starts_late(const align_entry *send, const align_entry *recv, int64_t slack_ns)
{
    return send->kind == WEIR_COMM_SEND && recv->kind == WEIR_COMM_RECV &&
           send->arrival_ns > recv->end_ns + slack_ns;
}

static int64_t pair_cost(const align_entry *a, const align_entry *b, int64_t slack_ns)
{
    if (!align_may_pair(a, b)) {
        return NEVER;
    }
    if (a->seq >= 0 && a->seq == b->seq) {
        return 0;
    }
    if (a->is_message && (starts_late(a, b, slack_ns) || starts_late(b, a, slack_ns))) {
        return NEVER;
    }
    int64_t gap = apart(a, b) - slack_ns;
    int level = align_level(a) > align_level(b) ? align_level(a) : align_level(b);
    if (gap <= 0) {
        int64_t cost = align_distance(a, b);
        cost = cost < ALONE_NS ? cost : ALONE_NS;
        return a->bytes != b->bytes && a->bytes && b->bytes ? cost + ALONE_NS / 2 : cost;
    }
    if (level == 0) {
        return NEVER; /* nobody leaves before the last has come */
    }
    /* Others may: an all-to-all with nothing for somebody, the root of a broadcast, a small send.
     */
    return ALONE_NS + (gap < ALONE_NS / 2 ? gap : ALONE_NS / 2);
}

typedef struct {
    const align_list *a, *b;
    int64_t slack_ns;
    uint32_t i, j; /* next of each */
    uint32_t *of;
} aligner;

static int64_t cost_at(const aligner *al, uint32_t i, uint32_t j)
{
    return i < al->a->count && j < al->b->count
               ? pair_cost(&al->a->entries[i], &al->b->entries[j], al->slack_ns)
               : NEVER;
}

/* Passes over what ended long before the other list begins (or goes on after a hole). */
static void skip_past(aligner *al)
{
    const align_entry *a = al->a->entries, *b = al->b->entries;
    uint32_t i = al->i, j = al->j;
    while (i < al->a->count && a[i].end_ns + al->slack_ns < b[al->j].arrival_ns) {
        i++;
    }
    while (j < al->b->count && b[j].end_ns + al->slack_ns < a[al->i].arrival_ns) {
        j++;
    }
    if (i > al->i + BEHIND && i < al->a->count) {
        al->i = i - BEHIND;
    } else if (j > al->j + BEHIND && j < al->b->count) {
        al->j = j - BEHIND;
    }
}

typedef struct {
    int64_t cost[WINDOW + 1][WINDOW + 1];
    uint8_t step[WINDOW + 1][WINDOW + 1];
} window_table;

enum { STEP_PAIR, STEP_A, STEP_B };

static void window_fill(const aligner *al, window_table *w, uint32_t rows, uint32_t columns)
{
    w->cost[0][0] = 0;
    for (uint32_t x = 0; x <= rows; x++) {
        for (uint32_t y = 0; y <= columns; y++) {
            if (x == 0 && y == 0) {
                continue;
            }
            int64_t best = NEVER;
            uint8_t step = STEP_PAIR;
            if (x > 0 && y > 0) {
                best = w->cost[x - 1][y - 1] + cost_at(al, al->i + x - 1, al->j + y - 1);
            }
            if (x > 0 && w->cost[x - 1][y] + ALONE_NS < best) {
                best = w->cost[x - 1][y] + ALONE_NS;
                step = STEP_A;
            }
            if (y > 0 && w->cost[x][y - 1] + ALONE_NS < best) {
                best = w->cost[x][y - 1] + ALONE_NS;
                step = STEP_B;
            }
            w->cost[x][y] = best < NEVER ? best : NEVER;
            w->step[x][y] = step;
        }
    }
}

/* The cheapest way to the edge of the window. Where a list ends within it, what is left of the
 * other stays alone and is paid for. */
static void window_end(const aligner *al, const window_table *w, uint32_t *rows, uint32_t *columns)
{
    bool a_ends = al->i + *rows == al->a->count, b_ends = al->j + *columns == al->b->count;
    uint32_t best_x = *rows, best_y = *columns;
    int64_t best = w->cost[*rows][*columns];
    for (uint32_t y = *columns; y-- > 0;) {
        int64_t cost = w->cost[*rows][y] + (a_ends ? (*columns - y) * ALONE_NS : 0);
        if (cost < best) {
            best = cost;
            best_x = *rows;
            best_y = y;
        }
    }
    for (uint32_t x = *rows; x-- > 0;) {
        int64_t cost = w->cost[x][*columns] + (b_ends ? (*rows - x) * ALONE_NS : 0);
        if (cost < best) {
            best = cost;
            best_x = x;
            best_y = *columns;
        }
    }
    *rows = best_x;
    *columns = best_y;
}

/* Weighs the next entries together and settles the first half of them. */
static void window_settle(aligner *al)
{
    window_table w;
    uint32_t left_a = al->a->count - al->i, left_b = al->b->count - al->j;
    uint32_t rows = left_a < WINDOW ? left_a : WINDOW;
    uint32_t columns = left_b < WINDOW ? left_b : WINDOW;
    bool last = left_a <= WINDOW && left_b <= WINDOW;
    window_fill(al, &w, rows, columns);
    window_end(al, &w, &rows, &columns);
    uint32_t path[2 * WINDOW][2], steps = 0;
    for (uint32_t x = rows, y = columns; x > 0 || y > 0;) {
        uint8_t step = w.step[x][y];
        x -= step != STEP_B;
        y -= step != STEP_A;
        path[steps][0] = step == STEP_B ? WEIR_NONE : x;
        path[steps++][1] = step == STEP_A ? WEIR_NONE : y;
    }
    uint32_t i = al->i, j = al->j, settled = 0;
    while (steps > 0 && (last || settled < WINDOW / 2)) {
        steps--;
        settled++;
        if (path[steps][0] != WEIR_NONE && path[steps][1] != WEIR_NONE) {
            al->of[j + path[steps][1]] = i + path[steps][0];
        }
        al->i += path[steps][0] != WEIR_NONE;
        al->j += path[steps][1] != WEIR_NONE;
    }
    if (last) { /* whatever is left has no partner */
        al->i = al->a->count;
        al->j = al->b->count;
    }
}

static int compare_seq(const align_entry *a, const align_entry *b)
{
    if (a->seq != b->seq) {
        return a->seq < b->seq ? -1 : 1;
    }
    return (a->kind > b->kind) - (a->kind < b->kind);
}

int align_compare_seq(const void *a, const void *b, const void *context)
{
    (void)context;
    return compare_seq(a, b);
}

void align_exact(const align_list *a, const align_list *b, uint32_t *of)
{
    uint32_t i = 0;
    for (uint32_t j = 0; j < b->count; j++) {
        while (i < a->count && compare_seq(&a->entries[i], &b->entries[j]) < 0) {
            i++;
        }
        bool same = i < a->count && compare_seq(&a->entries[i], &b->entries[j]) == 0;
        of[j] = same ? i++ : WEIR_NONE;
    }
}

void align_lists(const align_list *a, const align_list *b, int64_t slack_ns, uint32_t *of)
{
    aligner al = {.a = a, .b = b, .slack_ns = slack_ns, .of = of};
    memset(of, 0xff, b->count * sizeof *of);
    while (al.i < a->count && al.j < b->count) {
        skip_past(&al);
        int64_t cost = cost_at(&al, al.i, al.j);
        if (cost <= CLEAR_NS && cost <= cost_at(&al, al.i + 1, al.j) &&
            cost <= cost_at(&al, al.i, al.j + 1)) {
            of[al.j++] = al.i++;
        } else {
            uint32_t i = al.i, j = al.j;
            window_settle(&al);
            assert(al.i > i || al.j > j);
            (void)i;
            (void)j;
        }
    }
}
