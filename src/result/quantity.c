#include "result/quantity.h"

#include <inttypes.h>
#include <math.h>

static const int64_t power_of_10[] = {1, 10, 100, 1000};

static void add_scaled(weir_text *out, int64_t scaled, int decimals)
{
    if (scaled < 0) {
        weir_text_char(out, '-');
        scaled = -scaled;
    }
    weir_text_printf(out, "%" PRId64, scaled / power_of_10[decimals]);
    if (decimals > 0) {
        weir_text_printf(out, ".%0*" PRId64, decimals, scaled % power_of_10[decimals]);
    }
}

void weir_quantity_duration(weir_text *out, int64_t ns, int digits)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    if (ns < 0) {
        weir_text_char(out, '-');
        ns = -ns;
    }
    int unit = 0;
    while (units[unit].ns > 1 && ns < units[unit].ns) {
        unit++;
    }
    int decimals = units[unit].ns > 1 ? digits - 1 : 0;
    for (int64_t limit = 10 * units[unit].ns; decimals > 0 && ns >= limit; limit *= 10) {
        decimals--;
    }
    int64_t step = units[unit].ns / power_of_10[decimals];
    add_scaled(out, ns / step + (ns % step >= step - step / 2 ? 1 : 0), decimals);
    weir_text_printf(out, " %s", units[unit].name);
}

void weir_quantity_fixed(weir_text *out, double value, int decimals)
{
    if (!(fabs(value) < 1e15)) { /* no amount of anything; ints hold no more */
        weir_text_printf(out, "%.3g", value);
        return;
    }
    double scaled = value * (double)power_of_10[decimals];
    add_scaled(out, (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5), decimals);
}

double weir_quantity_share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

void weir_quantity_percent(weir_text *out, int64_t part, int64_t whole)
{
    double percent = 100 * weir_quantity_share(part, whole);
    weir_quantity_fixed(out, percent, percent >= 0.05 && percent < 0.95 ? 1 : 0);
    weir_text_add(out, WEIR_STR(" %"));
}

/* Decimals that make three digits of a value below 1000. */
static int decimals_of(double value)
{
    if (value >= 99.95) {
        return 0;
    }
    if (value >= 9.995) {
        return 1;
    }
    return value >= 0.9995 ? 2 : 3;
}

double weir_quantity_scale(double largest, const char **prefix)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
    enum { MOST = sizeof(prefixes) / sizeof(*prefixes) - 1 };
    double divisor = 1;
    int steps = 0;
    while (steps < MOST && fabs(largest) / divisor >= 999.5) {
        divisor *= 1000;
        steps++;
    }
    *prefix = prefixes[steps];
    return divisor;
}

void weir_quantity_digits(weir_text *out, double value)
{
    if (isnan(value)) {
        weir_text_char(out, '-');
        return;
    }
    weir_quantity_fixed(out, value, value > 0 || value < 0 ? decimals_of(fabs(value)) : 0);
}

void weir_quantity_si(weir_text *out, double value, const char *unit)
{
    const char *prefix;
    if (isnan(value)) {
        weir_text_add(out, WEIR_STR("unknown"));
        return;
    }
    weir_quantity_digits(out, value / weir_quantity_scale(value, &prefix));
    weir_text_printf(out, " %s%s", prefix, unit);
}

void weir_quantity_usd(weir_text *out, double usd)
{
    if (isnan(usd) || fabs(usd) >= 999.5) {
        weir_quantity_si(out, usd, "$");
        return;
    }
    weir_text_add(out, WEIR_STR("$ "));
    bool whole = fabs(usd - floor(usd)) < 0.005;
    weir_quantity_fixed(out, usd, whole || fabs(usd) >= 99.95 ? 0 : 2);
}

void weir_quantity_seconds(weir_text *out, double seconds, int digits)
{
    if (isnan(seconds) || fabs(seconds) >= 9e9) {
        weir_text_add(out, isnan(seconds) ? WEIR_STR("unknown") : WEIR_STR("for ever"));
        return;
    }
    weir_quantity_duration(out, (int64_t)(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5)), digits);
}

void weir_quantity_count(weir_text *out, uint64_t count)
{
    uint64_t divisor = 1;
    while (count / divisor >= 1000) {
        divisor *= 1000;
    }
    weir_text_printf(out, "%" PRIu64, count / divisor);
    while (divisor > 1) {
        count %= divisor;
        divisor /= 1000;
        weir_text_printf(out, ",%03" PRIu64, count / divisor);
    }
}
