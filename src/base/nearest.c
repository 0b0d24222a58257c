#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum {
    LETTERS = 40,    /* longer words are compared by their first letters */
    SHORTEST = 2,    /* of beginnings */
    SHORT_PART = 4,  /* of parts */
    LISTED = 10,     /* words that are all shown */
    SHORT_WORD = 4,  /* shorter ones are near to too many */
    SLIPS_EVERY = 3, /* letters for each slip of a close word */
};

typedef enum { NEXT = 0, BEGUN, SLIP, BEGINNING, PART, CLOSE, HALF, FAR } nearness;

/* Smaller is nearer. */
typedef struct {
    nearness how;
    uint32_t edits, letters;
} rank;

typedef struct {
    char p[LETTERS];
    uint32_t n;
} letters;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_mark(char c)
{
    return c == '-' || c == '_' || c == '.' || c == ' ';
}

static letters letters_of(weir_str word)
{
    letters made = {{0}, 0};
    for (uint32_t i = 0; i < word.n && made.n < LETTERS; i++) {
        if (!is_mark(word.p[i])) {
            made.p[made.n++] = lower(word.p[i]);
        }
    }
    return made;
}

static weir_str str_of(const letters *word)
{
    return (weir_str){word->p, word->n};
}

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Optimal string alignment distance (Damerau-Levenshtein without edits between swapped letters). */
static uint32_t edits(weir_str a, weir_str b)
{
    uint32_t rows[3][LETTERS + 1];
    uint32_t *before = rows[0], *last = rows[1], *now = rows[2];
    memset(rows, 0, sizeof rows);
    for (uint32_t j = 0; j <= b.n; j++) {
        last[j] = j;
    }
    for (uint32_t i = 1; i <= a.n; i++) {
        now[0] = i;
        for (uint32_t j = 1; j <= b.n; j++) {
            uint32_t replaced = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            now[j] = min3(last[j] + 1, now[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] &&
                before[j - 2] + 1 < now[j]) {
                now[j] = before[j - 2] + 1;
            }
        }
        uint32_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b.n];
}

/* The fewest edits to a beginning of the candidate that ends where a mark stands in it. */
static uint32_t edits_of_beginning(weir_str word, weir_str candidate)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t end = SHORTEST; end < candidate.n; end++) {
        if (is_mark(candidate.p[end])) {
            letters part = letters_of((weir_str){candidate.p, end});
            uint32_t longer = part.n > word.n ? part.n : word.n;
            uint32_t e = edits(word, str_of(&part));
            best = e < best && e * SLIPS_EVERY <= longer ? e : best;
        }
    }
    return best;
}

static bool begins(weir_str whole, weir_str part)
{
    return part.n >= SHORTEST && weir_str_starts(whole, part);
}

static bool holds(weir_str whole, weir_str part)
{
    return part.n >= SHORT_PART && weir_str_has(whole, part);
}

/* word: the letters of what was written. */
static rank rank_of(weir_str as_written, weir_str word, weir_str candidate)
{
    letters made = letters_of(candidate);
    bool is_begun_so = weir_str_starts(candidate, as_written);
    weir_str c = str_of(&made);
    uint32_t longer = c.n > word.n ? c.n : word.n, shorter = c.n + word.n - longer;
    bool other_start = c.n > 0 && word.n > 0 && c.p[0] != word.p[0]; /* seldom a slip */
    rank r = {FAR, edits(word, c), c.n + (other_start ? LETTERS : 0)};
    bool is_slip = r.edits <= 1 && r.edits * SLIPS_EVERY <= longer, is_begun = begins(c, word);
    if (is_slip) {
        r.how = is_begun ? NEXT : SLIP;
    } else if (is_begun) {
        r = (rank){BEGUN, 0, longer - shorter + (is_begun_so ? 0 : LETTERS)};
    } else if (begins(word, c)) {
        r = (rank){BEGINNING, 0, longer - shorter};
    } else if (holds(c, word) || holds(word, c)) {
        r = (rank){PART, 0, longer - shorter};
    } else if (r.edits * SLIPS_EVERY <= longer) {
        r.how = CLOSE;
    } else {
        uint32_t beginning = edits_of_beginning(word, candidate);
        r.how = beginning < UINT32_MAX ? CLOSE : r.edits * 2 <= longer ? HALF : FAR;
        r.edits = beginning < UINT32_MAX ? beginning : r.edits;
    }
    return r;
}

static bool is_as_near(rank a, rank b)
{
    return a.how == b.how && a.edits == b.edits && a.how < HALF;
}

static bool is_nearer(rank a, rank b)
{
    return a.how != b.how       ? a.how < b.how
           : a.edits != b.edits ? a.edits < b.edits
           : a.how == HALF      ? false
                                : a.letters < b.letters;
}

/* Words may occur twice; the first of them counts. *nearest: how near the first found is. */
static uint32_t find(weir_str word, const char *const *words, uint32_t word_count,
                     uint32_t near[WEIR_NEAR_MOST], rank *nearest)
{
    letters wanted = letters_of(word);
    rank ranks[WEIR_NEAR_MOST + 1]; /* sorted; one place more than is kept */
    uint32_t at[WEIR_NEAR_MOST + 1], found = 0;
    for (uint32_t i = 0; i < word_count; i++) {
        rank r = rank_of(word, str_of(&wanted), weir_str_from(words[i]));
        uint32_t place = found, same = 0;
        while (same < found && strcmp(words[at[same]], words[i]) != 0) {
            same++;
        }
        if (same < found) {
            continue;
        }
        for (; place > 0 && is_nearer(r, ranks[place - 1]); place--) {
            ranks[place] = ranks[place - 1];
            at[place] = at[place - 1];
        }
        ranks[place] = r;
        at[place] = i;
        found += found < WEIR_NEAR_MOST;
    }
    uint32_t kept = found > 0 && ranks[0].how < FAR ? 1 : 0;
    while (kept > 0 && kept < found && is_as_near(ranks[kept], ranks[0])) {
        kept++;
    }
    memcpy(near, at, kept * sizeof *at);
    *nearest = found > 0 ? ranks[0] : (rank){FAR, 0, 0};
    return kept;
}

uint32_t weir_nearest_words(weir_str word, const char *const *words, uint32_t word_count,
                            uint32_t near[WEIR_NEAR_MOST], bool *is_close)
{
    rank nearest;
    uint32_t kept = find(word, words, word_count, near, &nearest);
    if (is_close) {
        *is_close = nearest.how < HALF;
    }
    return kept;
}

uint32_t weir_nearest_word(weir_str word, const char *const *words, uint32_t word_count)
{
    uint32_t near[WEIR_NEAR_MOST];
    return weir_nearest_words(word, words, word_count, near, NULL) > 0 ? near[0] : WEIR_NONE;
}

/* last: what stands before the last one. */
static void list(const char *const *words, const uint32_t *near, uint32_t count, const char *last,
                 char *text, size_t n)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count && used < n; i++) {
        const char *joint = i == 0 ? "" : i + 1 == count ? last : ", ";
        used += (size_t)snprintf(text + used, n - used, "%s'%s'", joint, words[near[i]]);
    }
}

bool weir_nearest_list(weir_str word, const char *const *words, uint32_t word_count, char *text,
                       size_t n)
{
    uint32_t near[WEIR_NEAR_MOST];
    uint32_t count = weir_nearest_words(word, words, word_count, near, NULL);
    list(words, near, count, ", ", text, n);
    return count > 0;
}

void weir_expected_word(weir_str word, const char *const *words, uint32_t word_count, char *text,
                        size_t n)
{
    static const uint32_t first[WEIR_NEAR_MOST] = {0, 1, 2};
    uint32_t near[WEIR_NEAR_MOST];
    rank nearest;
    uint32_t count = find(word, words, word_count, near, &nearest);
    bool is_same = nearest.how == NEXT && nearest.edits == 0; /* but for case and marks */
    bool is_close = is_same || (nearest.how < HALF && word.n >= SHORT_WORD);
    size_t used = 0;
    if (word_count > LISTED ? count > 0 : is_close) {
        list(words, near, count, " or ", text, n);
    } else if (word_count > LISTED) {
        used = (size_t)snprintf(text, n, "one such as ");
        list(words, first, WEIR_NEAR_MOST, ", ", text + used, n - used);
    } else if (word_count == 1) {
        snprintf(text, n, "'%s'", words[0]);
    } else {
        for (uint32_t i = 0; i < word_count && used < n; i++) {
            used += (size_t)snprintf(text + used, n - used, "%s%s", i ? ", " : "one of ", words[i]);
        }
    }
}
