#include "classify/pattern.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The digest is of lower-case text for all patterns: that is never wrong, only less sharp. */
static uint16_t piece_bit(const char *p)
{
    uint32_t piece =
        (uint32_t)(unsigned char)lower(p[0]) | (uint32_t)(unsigned char)lower(p[1]) << 8 |
        (uint32_t)(unsigned char)lower(p[2]) << 16 | (uint32_t)(unsigned char)lower(p[3]) << 24;
    /* Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4). */
    return (uint16_t)((piece * 2654435761u) >> (32 - 13));
}

/* Splits text at unescaped `*` into p->parts; room has text.n bytes. */
static bool split(weir_str text, char *room, pattern *p)
{
    uint32_t used = 0, begin = 0;
    p->part_count = 0;
    for (uint32_t i = 0; i <= text.n; i++) {
        bool end = i == text.n || text.p[i] == '*';
        if (!end) {
            if (text.p[i] == '\\' && i + 1 < text.n) {
                i++;
            }
            room[used++] = p->any_case ? lower(text.p[i]) : text.p[i];
        } else if (used > begin) {
            if (p->part_count == PATTERN_PARTS) {
                return false;
            }
            p->parts[p->part_count++] = (weir_str){room + begin, used - begin};
            begin = used;
        }
    }
    return true;
}

/* Probes the two ends of the longest part: whatever it stands for, they are far apart. */
static void choose_probes(pattern *p)
{
    weir_str longest = p->parts[0];
    for (uint32_t i = 1; i < p->part_count; i++) {
        if (p->parts[i].n > longest.n) {
            longest = p->parts[i];
        }
    }
    p->has_probe = longest.n >= 4;
    if (p->has_probe) {
        p->probe[0] = piece_bit(longest.p);
        p->probe[1] = piece_bit(longest.p + longest.n - 4);
    }
}

static bool ends_with_anchor(weir_str text)
{
    if (text.n == 0 || text.p[text.n - 1] != '$') {
        return false;
    }
    uint32_t slashes = 0;
    while (slashes + 1 < text.n && text.p[text.n - 2 - slashes] == '\\') {
        slashes++;
    }
    return slashes % 2 == 0;
}

bool pattern_compile(weir_str text, weir_arena *arena, pattern *p, const char **why)
{
    pattern made = {.part_count = 0};
    made.any_case = text.n > 0 && text.p[0] == '~';
    text.p += made.any_case;
    text.n -= made.any_case;
    made.at_start = text.n > 0 && text.p[0] == '^';
    text.p += made.at_start;
    text.n -= made.at_start;
    made.at_end = ends_with_anchor(text);
    text.n -= made.at_end;
    /* A `*` beside an anchor undoes it. */
    made.at_start = made.at_start && text.n > 0 && text.p[0] != '*';
    made.at_end = made.at_end && text.n > 0 && text.p[text.n - 1] != '*';

    *why = NULL;
    char *room = weir_arena_alloc(arena, (size_t)text.n + 1, 1);
    if (!room) {
        return false;
    }
    if (!split(text, room, &made)) {
        *why = "a pattern of at most 8 parts between '*'";
        return false;
    }
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < made.part_count; i++) {
        bytes += made.parts[i].n;
    }
    if (bytes < 2) {
        *why = "a pattern of at least 2 bytes";
        return false;
    }
    choose_probes(&made);
    *p = made;
    return true;
}

void pattern_digest_name(pattern_digest *digest, weir_str name)
{
    memset(digest->bits, 0, sizeof digest->bits);
    for (uint32_t i = 0; i + 4 <= name.n; i++) {
        uint16_t bit = piece_bit(name.p + i);
        digest->bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    digest->name = name;
    digest->body = weir_str_starts(name, WEIR_STR("void "))     ? 5
                   : weir_str_starts(name, WEIR_STR("static ")) ? 7
                                                                : 0;
}

static bool has_bit(const pattern_digest *digest, uint16_t bit)
{
    return digest->bits[bit / 64] >> bit % 64 & 1;
}

static bool equal_at(weir_str name, uint32_t at, weir_str part, bool any_case)
{
    if (at > name.n || part.n > name.n - at) {
        return false;
    }
    if (!any_case) {
        return memcmp(name.p + at, part.p, part.n) == 0;
    }
    for (uint32_t i = 0; i < part.n; i++) {
        if (lower(name.p[at + i]) != part.p[i]) {
            return false;
        }
    }
    return true;
}

/* The end of the first occurrence of part at or after from, or WEIR_NONE. */
static uint32_t find_part(weir_str name, uint32_t from, weir_str part, bool any_case)
{
    if (from > name.n) {
        return WEIR_NONE;
    }
    if (!any_case) {
        const char *hit = memmem(name.p + from, name.n - from, part.p, part.n);
        return hit ? (uint32_t)(hit - name.p) + part.n : WEIR_NONE;
    }
    for (uint32_t at = from; at + part.n <= name.n; at++) {
        if (equal_at(name, at, part, true)) {
            return at + part.n;
        }
    }
    return WEIR_NONE;
}

/* The parts in order from `at`; taking the first occurrence of each is enough, because nothing but
 * the last part is tied to a place. */
static bool match_from(const pattern *p, weir_str name, uint32_t at)
{
    for (uint32_t i = 0; i < p->part_count; i++) {
        weir_str part = p->parts[i];
        if (i + 1 == p->part_count && p->at_end) {
            return part.n <= name.n && name.n - part.n >= at &&
                   (i > 0 || !p->at_start || name.n - part.n == at) &&
                   equal_at(name, name.n - part.n, part, p->any_case);
        }
        if (i == 0 && p->at_start) {
            if (!equal_at(name, at, part, p->any_case)) {
                return false;
            }
            at += part.n;
            continue;
        }
        at = find_part(name, at, part, p->any_case);
        if (at == WEIR_NONE) {
            return false;
        }
    }
    return true;
}

bool pattern_matches(const pattern *p, const pattern_digest *digest)
{
    if (p->has_probe && !(has_bit(digest, p->probe[0]) && has_bit(digest, p->probe[1]))) {
        return false;
    }
    if (match_from(p, digest->name, 0)) {
        return true;
    }
    return p->at_start && digest->body > 0 && match_from(p, digest->name, digest->body);
}
