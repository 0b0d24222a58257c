/* pattern.h: names against text patterns, many of each.
 *
 * A pattern is text that occurs anywhere in a name; `*` stands for any bytes, `^` and `$` anchor
 * it, a leading `~` ignores case (ASCII), `\` takes the next byte literally. A leading "void " or
 * "static " of the name does not count for `^`.
 *
 * A name is digested once (which 4-byte pieces occur in it, in a bitmap), so that most patterns are
 * turned down by two bit tests: about 1 microsecond for a name of 200 bytes and 1,000 patterns.
 *
 * Not here: what patterns stand for (families.c, host_names.c). */
#ifndef WEIR_CLASSIFY_PATTERN_H
#define WEIR_CLASSIFY_PATTERN_H

#include "base/arena.h"
#include "weir/base.h"

enum { PATTERN_PARTS = 8, PATTERN_DIGEST_BITS = 1 << 13 };

typedef struct {
    weir_str parts[PATTERN_PARTS]; /* between the `*`s, in order; lower case where any_case */
    uint32_t part_count;
    uint16_t probe[2]; /* bits of the digest that a matching name must have */
    bool has_probe;    /* false: no part is long enough */
    bool at_start, at_end, any_case;
} pattern;

typedef struct {
    uint64_t bits[PATTERN_DIGEST_BITS / 64];
    weir_str name; /* borrowed */
    uint32_t body; /* where the name begins after "void " */
} pattern_digest;

/* Parts are copied into the arena. On failure *why is a constant piece of a sentence ("a pattern of
 * at least 2 bytes") that says what was expected, or NULL for lack of memory. */
bool pattern_compile(weir_str text, weir_arena *arena, pattern *p, const char **why);

void pattern_digest_name(pattern_digest *digest, weir_str name);
bool pattern_matches(const pattern *p, const pattern_digest *digest);

#endif
