#include "scenario/unit.h"

typedef struct {
    const char *unit;
    weir_dimension dimension;
    double factor;
} unit_row;

static const unit_row units[] = {
    {"B", WEIR_DIMENSION_BYTES, 1},
    {"kB", WEIR_DIMENSION_BYTES, 1e3},
    {"MB", WEIR_DIMENSION_BYTES, 1e6},
    {"GB", WEIR_DIMENSION_BYTES, 1e9},
    {"TB", WEIR_DIMENSION_BYTES, 1e12},
    {"KiB", WEIR_DIMENSION_BYTES, 1024.0},
    {"MiB", WEIR_DIMENSION_BYTES, 1048576.0},
    {"GiB", WEIR_DIMENSION_BYTES, 1073741824.0},
    {"TiB", WEIR_DIMENSION_BYTES, 1099511627776.0},
    {"B/s", WEIR_DIMENSION_BYTES_PER_S, 1},
    {"kB/s", WEIR_DIMENSION_BYTES_PER_S, 1e3},
    {"MB/s", WEIR_DIMENSION_BYTES_PER_S, 1e6},
    {"GB/s", WEIR_DIMENSION_BYTES_PER_S, 1e9},
    {"TB/s", WEIR_DIMENSION_BYTES_PER_S, 1e12},
    {"kb/s", WEIR_DIMENSION_BYTES_PER_S, 125},
    {"Mb/s", WEIR_DIMENSION_BYTES_PER_S, 125e3},
    {"Gb/s", WEIR_DIMENSION_BYTES_PER_S, 125e6},
    {"Tb/s", WEIR_DIMENSION_BYTES_PER_S, 125e9},
    {"ns", WEIR_DIMENSION_SECONDS, 1e-9},
    {"us", WEIR_DIMENSION_SECONDS, 1e-6},
    {"ms", WEIR_DIMENSION_SECONDS, 1e-3},
    {"s", WEIR_DIMENSION_SECONDS, 1},
    {"min", WEIR_DIMENSION_SECONDS, 60},
    {"h", WEIR_DIMENSION_SECONDS, 3600},
    {"GFLOP/s", WEIR_DIMENSION_FLOP_PER_S, 1e9},
    {"TFLOP/s", WEIR_DIMENSION_FLOP_PER_S, 1e12},
    {"PFLOP/s", WEIR_DIMENSION_FLOP_PER_S, 1e15},
    {"TOP/s", WEIR_DIMENSION_FLOP_PER_S, 1e12},
    {"POP/s", WEIR_DIMENSION_FLOP_PER_S, 1e15},
};

static const char *const expected[WEIR_DIMENSION_COUNT] = {
    "a size with its unit, such as '80 GiB'",
    "a rate with its unit, such as '400 Gb/s' or '3.35 TB/s'",
    "a time with its unit, such as '25 ms'",
    "a speed with its unit, such as '989.4 TFLOP/s'",
};

/* 10^0 .. 10^22 are exact in binary64, so mantissa * or / one of them rounds once when the mantissa
 * is below 2^53 (W. D. Clinger, How to Read Floating Point Numbers Accurately, PLDI 1990). */
static double scale(double value, int exponent)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    while (exponent > 0) {
        int step = exponent < 22 ? exponent : 22;
        value *= powers[step];
        exponent -= step;
    }
    while (exponent < 0) {
        int step = -exponent < 22 ? -exponent : 22;
        value /= powers[step];
        exponent += step;
    }
    return value;
}

static bool is_digit(weir_str text, uint32_t i)
{
    return i < text.n && text.p[i] >= '0' && text.p[i] <= '9';
}

/* Reads "e-12" at *i, if it is there. */
static bool read_exponent(weir_str text, uint32_t *i, int *exponent)
{
    if (*i >= text.n || (text.p[*i] != 'e' && text.p[*i] != 'E')) {
        return true;
    }
    uint32_t at = *i + 1;
    bool negative = at < text.n && text.p[at] == '-';
    int value = 0;
    at += at < text.n && (text.p[at] == '-' || text.p[at] == '+');
    if (!is_digit(text, at)) {
        return false;
    }
    for (; is_digit(text, at); at++) {
        value = value > 999 ? value : value * 10 + (text.p[at] - '0');
    }
    *exponent += negative ? -value : value;
    *i = at;
    return true;
}

bool weir_number_parse(weir_str text, double *value)
{
    uint64_t mantissa = 0;
    int exponent = 0;
    uint32_t i = 0, digits = 0;
    bool negative = text.n > 0 && text.p[0] == '-', point = false;
    i += negative;
    for (; is_digit(text, i) || (i < text.n && text.p[i] == '.' && !point); i++) {
        if (text.p[i] == '.') {
            point = true;
            continue;
        }
        digits++;
        if (mantissa < UINT64_C(100000000000000000)) {
            mantissa = mantissa * 10 + (uint64_t)(text.p[i] - '0');
            exponent -= point;
        } else {
            exponent += !point;
        }
    }
    if (digits == 0 || !read_exponent(text, &i, &exponent) || i != text.n || exponent > 300 ||
        exponent < -300) {
        return false;
    }
    double magnitude = scale((double)mantissa, exponent);
    *value = negative ? -magnitude : magnitude;
    return true;
}

bool weir_unit_parse(weir_str text, weir_dimension dimension, double *value)
{
    uint32_t number = 0;
    while (number < text.n && text.p[number] != ' ') {
        number++;
    }
    uint32_t unit = number;
    while (unit < text.n && text.p[unit] == ' ') {
        unit++;
    }
    double v;
    if (number == 0 || text.p[0] == '-' || !weir_number_parse((weir_str){text.p, number}, &v)) {
        return false;
    }
    weir_str wanted = {text.p + unit, text.n - unit};
    for (uint32_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].dimension == dimension && weir_str_eq(weir_str_from(units[i].unit), wanted)) {
            *value = v * units[i].factor;
            return true;
        }
    }
    return false;
}

weir_code weir_unit_read(const weir_yaml *doc, const weir_yaml_node *node, weir_dimension dimension,
                         double *value, weir_err *err)
{
    if (node->kind != WEIR_YAML_SCALAR || !weir_unit_parse(node->text, dimension, value)) {
        return weir_yaml_reject(doc, node, expected[dimension], err);
    }
    return WEIR_OK;
}
