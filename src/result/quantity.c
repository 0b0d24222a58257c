#include "result/quantity.h"

#include <inttypes.h>

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
