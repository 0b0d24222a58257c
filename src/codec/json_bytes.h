/* json_bytes.h: the innermost steps of scanning JSON, inline: 16 or 64 bytes at a time.
 *
 * All may read up to WEIR_JSON_PAD bytes behind end. The plain-C forms are compiled where there is
 * no SSE2 and, with WEIR_PLAIN_C defined, in the tests; both give the same results.
 *
 * Not here: values and nesting (json_scan.h). */
#ifndef WEIR_CODEC_JSON_BYTES_H
#define WEIR_CODEC_JSON_BYTES_H

#include "weir/base.h"

#if defined(__SSE2__) && !defined(WEIR_PLAIN_C)
#define WEIR_JSON_SSE2 1
#include <emmintrin.h>
#else
#define WEIR_JSON_SSE2 0
#endif

/* White space between tokens; other control bytes there are passed over as well. */
static inline bool json_is_space(char c)
{
    return (unsigned char)c <= ' ';
}

#if WEIR_JSON_SSE2

static inline __m128i json_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline uint32_t json_mask(__m128i bytes, char c)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

/* Bits of the 16 bytes at p that are white space. */
static inline uint32_t json_spaces16(const char *p)
{
    __m128i b = json_load(p);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(b, _mm_set1_epi8(' ')), b);
    return (uint32_t)_mm_movemask_epi8(low);
}

/* Bits of the 16 bytes at p that are a quote or a backslash. */
static inline uint32_t json_quotes16(const char *p)
{
    __m128i b = json_load(p);
    return json_mask(b, '"') | json_mask(b, '\\');
}

/* Bits of 64 bytes, by what they are. */
typedef struct {
    uint64_t quotes, backslashes, open, close, newlines;
} json_block;

static inline json_block json_block_read(const char *p)
{
    json_block k = {0};
    const __m128i fold = _mm_set1_epi8(0x20); /* '[' and '{', ']' and '}' differ in this bit */
#define STEP(i)                                                                                    \
    do {                                                                                           \
        __m128i b = json_load(p + 16 * (i));                                                       \
        __m128i f = _mm_or_si128(b, fold);                                                         \
        k.quotes |= (uint64_t)json_mask(b, '"') << (16 * (i));                                     \
        k.backslashes |= (uint64_t)json_mask(b, '\\') << (16 * (i));                               \
        k.newlines |= (uint64_t)json_mask(b, '\n') << (16 * (i));                                  \
        k.open |= (uint64_t)json_mask(f, '{') << (16 * (i));                                       \
        k.close |= (uint64_t)json_mask(f, '}') << (16 * (i));                                      \
    } while (0)
    STEP(0);
    STEP(1);
    STEP(2);
    STEP(3);
#undef STEP
    return k;
}

/* How many of the 64 bytes at p are newlines. */
static inline uint32_t json_newlines64(const char *p)
{
    uint64_t bits = json_mask(json_load(p), '\n') |
                    (uint64_t)json_mask(json_load(p + 16), '\n') << 16 |
                    (uint64_t)json_mask(json_load(p + 32), '\n') << 32 |
                    (uint64_t)json_mask(json_load(p + 48), '\n') << 48;
    return (uint32_t)__builtin_popcountll(bits);
}

#else

static inline uint32_t json_spaces16(const char *p)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 16; i++) {
        bits |= (uint32_t)json_is_space(p[i]) << i;
    }
    return bits;
}

static inline uint32_t json_quotes16(const char *p)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 16; i++) {
        bits |= (uint32_t)(p[i] == '"' || p[i] == '\\') << i;
    }
    return bits;
}

typedef struct {
    uint64_t quotes, backslashes, open, close, newlines;
} json_block;

static inline json_block json_block_read(const char *p)
{
    json_block k = {0};
    for (uint32_t i = 0; i < 64; i++) {
        k.quotes |= (uint64_t)(p[i] == '"') << i;
        k.backslashes |= (uint64_t)(p[i] == '\\') << i;
        k.newlines |= (uint64_t)(p[i] == '\n') << i;
        k.open |= (uint64_t)(p[i] == '{' || p[i] == '[') << i;
        k.close |= (uint64_t)(p[i] == '}' || p[i] == ']') << i;
    }
    return k;
}

static inline uint32_t json_newlines64(const char *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < 64; i++) {
        n += p[i] == '\n';
    }
    return n;
}

#endif

/* The first byte at or after p that is no white space, or end. */
static inline const char *json_skip_space(const char *p, const char *end)
{
    if (p < end && !json_is_space(*p)) {
        return p;
    }
    if (p + 1 < end && !json_is_space(p[1])) { /* mostly one blank */
        return p + 1;
    }
    while (p < end) {
        uint32_t other = ~json_spaces16(p) & 0xffff;
        if (other) {
            p += __builtin_ctz(other);
            return p < end ? p : end;
        }
        p += 16;
    }
    return end;
}

/* p is behind the opening quote: the closing quote, or NULL. */
static inline const char *json_string_end(const char *p, const char *end, bool *escaped)
{
    *escaped = false;
    while (p < end) {
        uint32_t bits = json_quotes16(p);
        if (!bits) {
            p += 16;
            continue;
        }
        p += __builtin_ctz(bits);
        if (p >= end) {
            return NULL;
        }
        if (*p == '"') {
            return p;
        }
        *escaped = true;
        p += 2;
    }
    return NULL;
}

#endif
