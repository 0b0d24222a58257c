#include "match/clock_shift.h"

#include "base/sort.h"
#include "match/clock_fit.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE = 128,  /* pairs on which a shift is judged */
    TRY_ALL = 256, /* entries of both lists together, up to which every shift is tried */
    PROBES = 128,  /* gaps of a that look for their like in b */
    LIKES = 512,   /* of each probe, at most */
    VOTED = 32,    /* shifts with most votes that are judged */
    BLIND = 64,    /* shifts that are judged without votes, for what chance gives */
    JUDGED = 512,
};

/* Shifts with less than this of the best one's evidence are not weighed with other channels. */
static const double WORTH_WEIGHING = 0.3;

/* Gaps between the same two collectives differ by the noise of four ends and by drift. */
static int64_t gap_tolerance(int64_t gap_ns)
{
    return 50000 + gap_ns / 100;
}

typedef struct {
    double evidence;
    clock_fit fit;
} judged_shift;

typedef struct {
    const align_list *a, *b;
    clock_point points[SAMPLE], firm[SAMPLE];
    int64_t values[SAMPLE];
    double slopes[SAMPLE];
    clock_fit judged[JUDGED];
    uint32_t judged_count;
    judged_shift best[CLOCK_SHIFTS];
    uint32_t best_count;
} shift_search;

static void keep(shift_search *s, double evidence, const clock_fit *fit)
{
    uint32_t at = s->best_count;
    while (at > 0 && evidence > s->best[at - 1].evidence) {
        at--;
    }
    if (at == CLOCK_SHIFTS) {
        return;
    }
    uint32_t last = s->best_count < CLOCK_SHIFTS ? s->best_count : CLOCK_SHIFTS - 1;
    memmove(&s->best[at + 1], &s->best[at], (last - at) * sizeof *s->best);
    s->best[at] = (judged_shift){evidence, *fit};
    s->best_count = last + 1;
}

/* Copies the points of the firmest level in the sample to s->firm. */
static uint32_t pick_firmest(shift_search *s, uint32_t count)
{
    int level = ALIGN_LEVELS - 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        level = s->points[i].level < level ? s->points[i].level : level;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (s->points[i].level == level) {
            s->firm[n++] = s->points[i];
        }
    }
    return n;
}

/* b's entry i + shift is a's entry i. */
static void judge(shift_search *s, int64_t shift)
{
    int64_t n = s->a->count, m = s->b->count;
    int64_t first = shift < 0 ? -shift : 0, end = m - shift < n ? m - shift : n;
    int64_t overlap = end - first, fewer = n < m ? n : m;
    if (overlap <= 0 || overlap < (fewer < 4 ? fewer : 4) || s->judged_count == JUDGED) {
        return;
    }
    const int64_t sample = overlap < SAMPLE ? overlap : SAMPLE; /* at least 1 */
    uint32_t count = 0;
    for (int64_t k = 0; k < sample; k++) {
        int64_t i = first + k * overlap / sample;
        const align_entry *x = &s->a->entries[i], *y = &s->b->entries[i + shift];
        if (align_may_pair(x, y)) {
            s->points[count++] = clock_point_of(x, y);
        }
    }
    if (count == 0 || 2 * count < (uint32_t)sample) {
        return;
    }
    clock_fit fit;
    clock_fit_scratch scratch = {s->values, s->slopes, SAMPLE};
    clock_fit_line(s->firm, pick_firmest(s, count), &scratch, &fit);
    clock_fit_judge(s->points, count, s->values, &fit);
    for (int level = 0; level < ALIGN_LEVELS; level++) { /* from the sample to all */
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
        fit.of_level[level] = (uint32_t)(fit.of_level[level] * overlap / sample);
    }
    fit.pairs = (uint32_t)overlap;
    s->judged[s->judged_count++] = fit;
}

static int64_t gap_after(const align_list *list, uint32_t i)
{
    return list->entries[i + 1].anchor_ns - list->entries[i].anchor_ns;
}

static int64_t usual_gap(const align_list *list)
{
    int64_t gaps[SAMPLE];
    uint32_t n = list->count > SAMPLE ? SAMPLE : list->count - 1;
    for (uint32_t k = 0; k < n; k++) {
        gaps[k] = gap_after(list, (uint32_t)((uint64_t)k * (list->count - 1) / n));
    }
    return median_ns(gaps, n);
}

/* Keeps the best of what was judged, now that it is known what chance gives. */
static void choose(shift_search *s, int64_t *chance_ns)
{
    int64_t residuals[JUDGED];
    for (uint32_t i = 0; i < s->judged_count; i++) {
        residuals[i] = s->judged[i].residual_ns;
    }
    *chance_ns = median_ns(residuals, s->judged_count);
    int64_t gap = usual_gap(s->b) / 2;
    *chance_ns = gap > *chance_ns ? gap : *chance_ns;
    for (uint32_t i = 0; i < s->judged_count; i++) {
        keep(s, clock_fit_evidence(&s->judged[i], *chance_ns), &s->judged[i]);
    }
}

static uint32_t first_not_below(const weir_sort_pair *pairs, uint32_t count, uint64_t key)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pairs[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Adds the shifts at which b has the same gap, before the same next gap. */
static uint32_t probe(const shift_search *s, uint32_t i, const weir_sort_pair *gaps,
                      weir_sort_pair *votes)
{
    int64_t gap = gap_after(s->a, i), next = gap_after(s->a, i + 1);
    int64_t low = gap - gap_tolerance(gap), high = gap + gap_tolerance(gap);
    uint32_t n = s->b->count - 2, found = 0;
    uint32_t at = first_not_below(gaps, n, low > 0 ? (uint64_t)low : 0);
    for (; at < n && gaps[at].key <= (uint64_t)high && found < LIKES; at++) {
        uint32_t j = (uint32_t)gaps[at].value;
        if (llabs(gap_after(s->b, j + 1) - next) <= gap_tolerance(next) &&
            align_may_pair(&s->a->entries[i], &s->b->entries[j])) {
            votes[found++].key = (uint64_t)((int64_t)j - i) ^ 1ull << 63;
        }
    }
    return found;
}

static int compare_votes(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_sort_pair *x = a, *y = b; /* value: number of votes */
    if (x->value != y->value) {
        return x->value > y->value ? -1 : 1;
    }
    return x->key < y->key ? -1 : x->key > y->key;
}

/* votes: shifts; afterwards each shift once, most voted for first. */
static bool count_votes(weir_sort_pair *votes, uint32_t *count)
{
    if (!weir_sort_pairs(votes, *count)) {
        return false;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < *count; i++) {
        if (n > 0 && votes[n - 1].key == votes[i].key) {
            votes[n - 1].value++;
        } else {
            votes[n++] = (weir_sort_pair){votes[i].key, 1};
        }
    }
    *count = n;
    return weir_sort(votes, n, sizeof *votes, compare_votes, NULL);
}

static bool judge_by_votes(shift_search *s)
{
    uint32_t n = s->a->count, m = s->b->count, count = 0;
    if (n < 3 || m < 3) {
        return true;
    }
    weir_sort_pair *gaps = malloc(m * sizeof *gaps);
    weir_sort_pair *votes = malloc((size_t)PROBES * LIKES * sizeof *votes);
    bool done = gaps && votes;
    for (uint32_t j = 0; done && j < m - 2; j++) {
        int64_t gap = gap_after(s->b, j);
        gaps[j] = (weir_sort_pair){gap > 0 ? (uint64_t)gap : 0, j};
    }
    done = done && weir_sort_pairs(gaps, m - 2);
    for (uint32_t p = 0; done && p < PROBES; p++) {
        uint32_t i = (uint32_t)((uint64_t)p * (n - 2) / PROBES);
        uint32_t end = (uint32_t)((uint64_t)(p + 1) * (n - 2) / PROBES), widest = i;
        for (; i < end; i++) { /* a wide gap tells more than the usual short ones */
            widest = gap_after(s->a, i) > gap_after(s->a, widest) ? i : widest;
        }
        count += probe(s, widest, gaps, votes + count);
    }
    done = done && count_votes(votes, &count);
    for (uint32_t v = 0; done && v < count && v < VOTED; v++) {
        judge(s, (int64_t)(votes[v].key ^ 1ull << 63));
    }
    free(gaps);
    free(votes);
    return done;
}

static void judge_blindly(shift_search *s)
{
    int64_t n = s->a->count, m = s->b->count;
    for (int64_t k = 1; k <= BLIND; k++) {
        judge(s, k * (n + m) / (BLIND + 1) - n);
    }
}

bool clock_shift_find(const align_list *a, const align_list *b, clock_fit *fits, uint32_t *count,
                      int64_t *chance_ns)
{
    *count = 0;
    shift_search *s = calloc(1, sizeof *s);
    if (!s) {
        return false;
    }
    s->a = a;
    s->b = b;
    bool done = true;
    if (a->count + b->count <= TRY_ALL) {
        for (int64_t shift = 1 - (int64_t)a->count; shift < (int64_t)b->count; shift++) {
            judge(s, shift);
        }
    } else {
        done = judge_by_votes(s);
        judge_blindly(s);
    }
    choose(s, chance_ns);
    while (s->best_count > 1 &&
           s->best[s->best_count - 1].evidence < WORTH_WEIGHING * s->best[0].evidence) {
        s->best_count--;
    }
    *count = done ? s->best_count : 0;
    for (uint32_t i = 0; i < *count; i++) {
        fits[i] = s->best[i].fit;
    }
    free(s);
    return done;
}
