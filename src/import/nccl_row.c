#include "import/nccl_row.h"

#include <math.h>

/* --- words and numbers --- */

weir_str weir_nccl_word(weir_str line, uint32_t *at)
{
    uint32_t i = *at;
    while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t')) {
        i++;
    }
    uint32_t first = i;
    while (i < line.n && line.p[i] != ' ' && line.p[i] != '\t') {
        i++;
    }
    *at = i;
    return (weir_str){line.p + first, i - first};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool weir_nccl_whole(weir_str word, uint64_t *value)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < word.n; i++) {
        if (!is_digit(word.p[i]) || __builtin_mul_overflow(found, 10u, &found) ||
            __builtin_add_overflow(found, (uint64_t)(word.p[i] - '0'), &found)) {
            return false;
        }
    }
    *value = found;
    return word.n > 0;
}

static double power_of_ten(int exponent)
{
    double power = 1;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++) {
        power *= 10; /* exact up to 10^22 */
    }
    return power;
}

/* "e+03" at *i; false: it is none. */
static bool read_exponent(weir_str word, uint32_t *i, int *exponent)
{
    bool is_negative = *i + 1 < word.n && word.p[*i + 1] == '-';
    bool has_sign = is_negative || (*i + 1 < word.n && word.p[*i + 1] == '+');
    uint32_t first = *i + 1 + has_sign, value = 0;
    for (*i = first; *i < word.n && is_digit(word.p[*i]) && *i < first + 3; ++*i) {
        value = value * 10 + (uint32_t)(word.p[*i] - '0');
    }
    *exponent += is_negative ? -(int)value : (int)value;
    return *i > first;
}

bool weir_nccl_number(weir_str word, double *value, double *step)
{
    uint64_t digits = 0;
    int exponent = 0, count = 0;
    bool has_point = false;
    uint32_t i = word.n > 0 && word.p[0] == '-' ? 1 : 0;
    for (; i < word.n && (is_digit(word.p[i]) || (word.p[i] == '.' && !has_point)); i++) {
        if (word.p[i] == '.') {
            has_point = true;
            continue;
        }
        if (digits < UINT64_MAX / 10 - 9) {
            digits = digits * 10 + (uint64_t)(word.p[i] - '0');
            exponent -= has_point;
        } else {
            exponent += !has_point;
        }
        count++;
    }
    if (count == 0 || (i < word.n && (word.p[i] == 'e' || word.p[i] == 'E') &&
                       !read_exponent(word, &i, &exponent))) {
        return false;
    }
    double power = power_of_ten(exponent);
    *value = exponent < 0 ? (double)digits / power : (double)digits * power;
    *value = word.p[0] == '-' ? -*value : *value;
    *step = exponent < 0 ? 1 / power : power;
    return i == word.n && isfinite(*value);
}

/* --- heading --- */

bool weir_nccl_heading(weir_str line, weir_nccl_columns *columns)
{
    weir_nccl_columns found = {0};
    bool has_size = false, has_type = false;
    uint32_t at = weir_str_find(line, WEIR_STR("#"), 0), wrong = 0;
    if (at == line.n) {
        return false;
    }
    at++;
    for (weir_str word = weir_nccl_word(line, &at); word.n > 0; word = weir_nccl_word(line, &at)) {
        has_size |= weir_str_eq(word, WEIR_STR("size"));
        has_type |= weir_str_eq(word, WEIR_STR("type"));
        found.has_root |= weir_str_eq(word, WEIR_STR("root"));
        found.placements += weir_str_eq(word, WEIR_STR("busbw"));
        wrong += weir_str_eq(word, WEIR_STR("#wrong")) || weir_str_eq(word, WEIR_STR("error"));
    }
    if (!has_size || !has_type || found.placements == 0) {
        return false;
    }
    found.placements = found.placements > 1 ? 2 : 1;
    found.has_wrong = wrong > 0;
    *columns = found;
    return true;
}

/* --- a row --- */

/* ncclstringtotype's names and those of rccl-tests. */
static bool is_element_type(weir_str word)
{
    static const char *const names[] = {"int8",     "uint8",    "char",    "int32",   "uint32",
                                        "int",      "int64",    "uint64",  "half",    "float",
                                        "double",   "bfloat16", "f8e4m3",  "f8e5m2",  "fp8_e4m3",
                                        "fp8_e5m2", "int32_t",  "float16", "float32", "float64"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (weir_str_eq(word, weir_str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

/* Finds "SIZE COUNT TYPE"; *at comes to stand behind TYPE. */
static bool find_start(weir_str line, uint32_t *at, weir_nccl_line *row)
{
    uint64_t whole[2] = {0}; /* the last two words, where they are whole numbers */
    uint32_t seen = 0, column[2] = {0};
    for (weir_str word = weir_nccl_word(line, at); word.n > 0; word = weir_nccl_word(line, at)) {
        if (seen >= 2 && is_element_type(word)) {
            row->bytes = whole[0];
            row->column = column[0];
            return true;
        }
        uint64_t value;
        if (!weir_nccl_whole(word, &value)) {
            seen = 0;
            continue;
        }
        whole[0] = whole[1];
        column[0] = column[1];
        whole[1] = value;
        column[1] = *at - word.n + 1;
        seen++;
    }
    return false;
}

static bool is_absent(weir_str word)
{
    return weir_str_eq(word, WEIR_STR("N/A")) || weir_str_eq(word, WEIR_STR("-"));
}

/* time algbw busbw [wrong]; false: a word is missing or no number. */
static bool read_figures(weir_str line, uint32_t *at, bool has_wrong, weir_nccl_figures *figures)
{
    double step;
    weir_str words[3];
    for (int i = 0; i < 3; i++) {
        words[i] = weir_nccl_word(line, at);
    }
    *figures = (weir_nccl_figures){0};
    bool is_read = weir_nccl_number(words[0], &figures->time_us, &step) &&
                   weir_nccl_number(words[1], &figures->algbw_gb_per_s, &figures->algbw_step) &&
                   weir_nccl_number(words[2], &figures->busbw_gb_per_s, &figures->busbw_step);
    bool is_nonsense = weir_str_eq(words[1], WEIR_STR("inf")) ||
                       weir_str_eq(words[1], WEIR_STR("nan")) ||
                       weir_str_eq(words[0], WEIR_STR("nan"));
    figures->is_sound = is_read && figures->time_us > 0 && figures->algbw_gb_per_s >= 0 &&
                        figures->busbw_gb_per_s >= 0;
    if (has_wrong && (is_read || is_nonsense)) {
        weir_str word = weir_nccl_word(line, at);
        double count;
        figures->has_wrong = weir_nccl_number(word, &count, &step) && count >= 0;
        figures->wrong = figures->has_wrong ? (uint64_t)fmin(count, 1e18) : 0;
        return figures->has_wrong || is_absent(word);
    }
    return is_read || is_nonsense;
}

weir_nccl_line_kind weir_nccl_row(weir_str line, const weir_nccl_columns *columns,
                                  weir_nccl_line *row)
{
    uint32_t at = 0;
    *row = (weir_nccl_line){0};
    if (!find_start(line, &at, row)) {
        return WEIR_NCCL_NO_ROW;
    }
    uint32_t before = at;
    double value, step;
    weir_str word = weir_nccl_word(line, &at);
    if (weir_nccl_number(word, &value, &step)) {
        at = before; /* old versions leave the operation out where there is none */
    } else {
        row->redop = word;
    }
    if (columns->has_root) {
        word = weir_nccl_word(line, &at);
        if (!weir_nccl_number(word, &value, &step)) {
            return WEIR_NCCL_CUT_ROW;
        }
    }
    while (row->figures < columns->placements) {
        if (!read_figures(line, &at, columns->has_wrong, &row->placement[row->figures])) {
            return WEIR_NCCL_CUT_ROW;
        }
        row->figures++;
    }
    return weir_nccl_word(line, &at).n == 0 ? WEIR_NCCL_ROW : WEIR_NCCL_CUT_ROW;
}
