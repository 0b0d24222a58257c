#include "codec/decimal.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The digits are made by the free-format algorithm of G. Steele and J. White, "How to print
 * floating-point numbers accurately", PLDI 1990, with the scaling of R. Burger and R. Dybvig,
 * "Printing floating-point numbers quickly and accurately", PLDI 1996.
 *
 * The largest number that occurs is about 2^1024 * 2^2 * 10 or 2^53 * 10^324 * 10: 1137 bits. */
enum { WORDS = 38 };

typedef struct {
    uint32_t word[WORDS]; /* least significant first */
    int used;             /* words that may be other than 0 */
} big;

static big big_from(uint64_t value)
{
    big b = {{(uint32_t)value, (uint32_t)(value >> 32)}, 2};
    return b;
}

static void big_times(big *b, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < b->used; i++) {
        carry += (uint64_t)b->word[i] * factor;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        assert(b->used < WORDS);
        b->word[b->used++] = (uint32_t)carry;
    }
}

static void big_times_power_of_2(big *b, int exponent)
{
    for (; exponent >= 31; exponent -= 31) {
        big_times(b, 1u << 31);
    }
    big_times(b, 1u << exponent);
}

static void big_times_power_of_10(big *b, int exponent)
{
    for (; exponent >= 9; exponent -= 9) {
        big_times(b, 1000000000u);
    }
    for (; exponent > 0; exponent--) {
        big_times(b, 10);
    }
}

static int big_compare(const big *a, const big *b)
{
    int used = a->used > b->used ? a->used : b->used;
    for (int i = used - 1; i >= 0; i--) {
        if (a->word[i] != b->word[i]) {
            return a->word[i] < b->word[i] ? -1 : 1;
        }
    }
    return 0;
}

static big big_sum(const big *a, const big *b)
{
    big sum = {{0}, a->used > b->used ? a->used : b->used};
    uint64_t carry = 0;
    for (int i = 0; i < sum.used; i++) {
        carry += (uint64_t)a->word[i] + b->word[i];
        sum.word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        assert(sum.used < WORDS);
        sum.word[sum.used++] = (uint32_t)carry;
    }
    return sum;
}

static void big_subtract(big *a, const big *b) /* a >= b */
{
    uint64_t borrow = 0;
    for (int i = 0; i < a->used; i++) {
        uint64_t difference = (uint64_t)a->word[i] - b->word[i] - borrow;
        a->word[i] = (uint32_t)difference;
        borrow = difference >> 63;
    }
}

/* value = rest / scale; every number within low / scale below it and high / scale above it reads
 * back as the same double, the ends too when the mantissa is even. */
typedef struct {
    big rest, scale, low, high;
    bool ends_too;
} state;

static state state_of(double value) /* > 0 */
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    int biased = (int)(bits >> 52);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    bool wide_above = biased > 1 && mantissa == 0; /* the gap below is half the gap above */
    if (biased == 0) {
        biased = 1;
    } else {
        mantissa |= UINT64_C(1) << 52;
    }
    int exponent = biased - 1075;
    state s = {big_from(mantissa), big_from(1), big_from(1), big_from(1), (mantissa & 1) == 0};
    int up = exponent > 0 ? exponent : 0, down = exponent < 0 ? -exponent : 0;
    big_times_power_of_2(&s.rest, up + 1 + wide_above);
    big_times_power_of_2(&s.scale, down + 1 + wide_above);
    big_times_power_of_2(&s.low, up);
    big_times_power_of_2(&s.high, up + wide_above);
    return s;
}

static bool reaches_scale(const state *s)
{
    big sum = big_sum(&s->rest, &s->high);
    int order = big_compare(&sum, &s->scale);
    return s->ends_too ? order >= 0 : order > 0;
}

/* Scales so that the first digit that digits_of makes stands right after the point of
 * 0.d1d2d3... * 10^point; returns point. */
static int scale_to_digits(state *s, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    int binary = (int)(bits >> 52) - 1023;
    /* At or below the true figure: 0.30103 > log10(2) would overshoot for positive exponents only
     * past 2^20000; the loops below put right what is off. */
    int point = binary * 30103 / 100000 - 1;
    if (point > 0) {
        big_times_power_of_10(&s->scale, point);
    } else {
        big_times_power_of_10(&s->rest, -point);
        big_times_power_of_10(&s->low, -point);
        big_times_power_of_10(&s->high, -point);
    }
    while (reaches_scale(s)) {
        big_times(&s->scale, 10);
        point++;
    }
    for (;;) { /* the exponent of a subnormal says less than its mantissa */
        state next = *s;
        big_times(&next.rest, 10);
        big_times(&next.low, 10);
        big_times(&next.high, 10);
        if (reaches_scale(&next)) {
            return point;
        }
        *s = next;
        point--;
    }
}

static int digits_of(state *s, char *digits)
{
    int count = 0;
    for (;;) {
        big_times(&s->rest, 10);
        big_times(&s->low, 10);
        big_times(&s->high, 10);
        int digit = 0;
        for (; big_compare(&s->rest, &s->scale) >= 0; digit++) {
            big_subtract(&s->rest, &s->scale);
        }
        int below = big_compare(&s->rest, &s->low);
        bool near_low = s->ends_too ? below <= 0 : below < 0;
        bool near_high = reaches_scale(s);
        if (near_low || near_high) {
            big twice = big_sum(&s->rest, &s->rest);
            int half = big_compare(&twice, &s->scale);
            if (!near_low || (near_high && (half > 0 || (half == 0 && digit % 2 == 1)))) {
                digit++;
            }
            digits[count++] = (char)('0' + digit);
            return count;
        }
        digits[count++] = (char)('0' + digit);
    }
}

static char *put(char *at, const char *bytes, int count)
{
    memcpy(at, bytes, (size_t)count);
    return at + count;
}

static char *put_zeros(char *at, int count)
{
    memset(at, '0', (size_t)count);
    return at + count;
}

/* 0.digits * 10^point */
static char *put_positional(char *at, const char *digits, int count, int point)
{
    if (point <= 0) {
        at = put(at, "0.", 2);
        at = put_zeros(at, -point);
        return put(at, digits, count);
    }
    if (point >= count) {
        at = put(at, digits, count);
        return put_zeros(at, point - count);
    }
    at = put(at, digits, point);
    *at++ = '.';
    return put(at, digits + point, count - point);
}

static char *put_scientific(char *at, const char *digits, int count, int point)
{
    *at++ = digits[0];
    if (count > 1) {
        *at++ = '.';
        at = put(at, digits + 1, count - 1);
    }
    *at++ = 'e';
    int exponent = point - 1;
    if (exponent < 0) {
        *at++ = '-';
        exponent = -exponent;
    }
    if (exponent >= 100) {
        *at++ = (char)('0' + exponent / 100);
    }
    if (exponent >= 10) {
        *at++ = (char)('0' + exponent / 10 % 10);
    }
    *at++ = (char)('0' + exponent % 10);
    return at;
}

size_t weir_decimal_print(char text[WEIR_DECIMAL_MAX], double value)
{
    char *at = text;
    if (value < 0) {
        *at++ = '-';
        value = -value;
    }
    if (value > 0) {
        char digits[20];
        state s = state_of(value);
        int point = scale_to_digits(&s, value);
        int count = digits_of(&s, digits);
        if (point > -5 && point <= 17) {
            at = put_positional(at, digits, count, point);
        } else {
            at = put_scientific(at, digits, count, point);
        }
    } else {
        *at++ = '0';
    }
    *at = '\0';
    return (size_t)(at - text);
}
