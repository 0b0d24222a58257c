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
    {"mW", WEIR_DIMENSION_WATTS, 1e-3},
    {"W", WEIR_DIMENSION_WATTS, 1},
    {"kW", WEIR_DIMENSION_WATTS, 1e3},
    {"MW", WEIR_DIMENSION_WATTS, 1e6},
    {"m", WEIR_DIMENSION_METRES, 1},
    {"km", WEIR_DIMENSION_METRES, 1e3},
    {"dB", WEIR_DIMENSION_DECIBELS, 1},
    {"dB/m", WEIR_DIMENSION_DB_PER_M, 1},
    {"dB/km", WEIR_DIMENSION_DB_PER_M, 1e-3},
    {"ns/m", WEIR_DIMENSION_S_PER_M, 1e-9},
    {"us/km", WEIR_DIMENSION_S_PER_M, 1e-9},
    {"pJ/bit", WEIR_DIMENSION_J_PER_BIT, 1e-12},
    {"USD", WEIR_DIMENSION_USD, 1},
    {"kUSD", WEIR_DIMENSION_USD, 1e3},
    {"MUSD", WEIR_DIMENSION_USD, 1e6},
    {"USD/kWh", WEIR_DIMENSION_USD_PER_KWH, 1},
    {"USD/h", WEIR_DIMENSION_USD_PER_H, 1},
    {"USD/m", WEIR_DIMENSION_USD_PER_M, 1},
    {"years", WEIR_DIMENSION_YEARS, 1},
    {"year", WEIR_DIMENSION_YEARS, 1},
    {"h", WEIR_DIMENSION_HOURS, 1},
    {"hours", WEIR_DIMENSION_HOURS, 1},
};

/* Of each dimension: the unit of its values, and what an error asks for. */
static const struct {
    const char *unit, *expected;
} dimensions[WEIR_DIMENSION_COUNT] = {
    [WEIR_DIMENSION_BYTES] = {"B", "a size with its unit, such as '80 GiB'"},
    [WEIR_DIMENSION_BYTES_PER_S] = {"B/s",
                                    "a rate with its unit, such as '400 Gb/s' or '3.35 TB/s'"},
    [WEIR_DIMENSION_SECONDS] = {"s", "a time with its unit, such as '25 ms'"},
    [WEIR_DIMENSION_FLOP_PER_S] = {"FLOP/s", "a speed with its unit, such as '989.4 TFLOP/s'"},
    [WEIR_DIMENSION_WATTS] = {"W", "a power with its unit, such as '15 W'"},
    [WEIR_DIMENSION_METRES] = {"m", "a length with its unit, such as '30 m'"},
    [WEIR_DIMENSION_DECIBELS] = {"dB", "a loss with its unit, such as '2.5 dB'"},
    [WEIR_DIMENSION_DB_PER_M] = {"dB/m", "a loss of length with its unit, such as '0.4 dB/km'"},
    [WEIR_DIMENSION_S_PER_M] = {"s/m", "a delay of length with its unit, such as '4.9 ns/m'"},
    [WEIR_DIMENSION_J_PER_BIT] = {"J/bit", "an energy of a bit, such as '15 pJ/bit'"},
    [WEIR_DIMENSION_USD] = {"USD", "a price with its unit, such as '549 USD'"},
    [WEIR_DIMENSION_USD_PER_KWH] = {"USD/kWh", "a price of energy, such as '0.08 USD/kWh'"},
    [WEIR_DIMENSION_USD_PER_H] = {"USD/h", "a price of an hour, such as '2.95 USD/h'"},
    [WEIR_DIMENSION_USD_PER_M] = {"USD/m", "a price of a metre, such as '0.3 USD/m'"},
    [WEIR_DIMENSION_YEARS] = {"years", "a number of years, such as '4 years'"},
    [WEIR_DIMENSION_HOURS] = {"h", "a number of hours, such as '8760 h'"},
};

const char *weir_unit_name(weir_dimension dimension)
{
    return dimensions[dimension].unit;
}

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

/* Bytes of the number that text begins with; no unit begins with an exponent ("2e3 W"). */
static uint32_t number_length(weir_str text)
{
    uint32_t i = 0;
    while (is_digit(text, i) || (i < text.n && text.p[i] == '.')) {
        i++;
    }
    uint32_t end = i;
    if (i < text.n && (text.p[i] == 'e' || text.p[i] == 'E')) {
        i++;
        i += i < text.n && (text.p[i] == '-' || text.p[i] == '+');
        while (is_digit(text, i)) {
            end = ++i;
        }
    }
    return end;
}

bool weir_unit_parse(weir_str text, weir_dimension dimension, double *value)
{
    uint32_t number = number_length(text), unit = number;
    while (unit < text.n && text.p[unit] == ' ') {
        unit++;
    }
    double v;
    if (!weir_number_parse((weir_str){text.p, number}, &v)) {
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
        return weir_yaml_reject(doc, node, dimensions[dimension].expected, err);
    }
    return WEIR_OK;
}
