/* scenario_economics.c: what an hour, a kilowatt-hour and a year cost. */
#include "study/scenario_inside.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#define AT(member) offsetof(weir_economics, member)

static const weir_key keys[] = {
    {.name = "gpu_hour",
     .type = WEIR_KEY_QUANTITY,
     .dimension = WEIR_DIMENSION_USD,
     .offset = AT(gpu_hour_usd),
     .help = "what one device costs in an hour, working or waiting",
     .shown = "presets/prices, `gpu_hour:` and the accelerator",
     .example = "2.95 USD"},
    {.name = "electricity",
     .type = WEIR_KEY_QUANTITY,
     .dimension = WEIR_DIMENSION_USD_PER_KWH,
     .offset = AT(kwh_usd),
     .help = "what a kilowatt-hour costs",
     .shown = "presets/prices, `electricity`",
     .example = "0.08 USD/kWh"},
    {.name = "pue",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(pue),
     .min = 1,
     .max = 10,
     .help = "power of the building over power of its machines",
     .shown = "presets/prices, `pue`",
     .example = "1.3"},
    {.name = "life",
     .type = WEIR_KEY_QUANTITY,
     .dimension = WEIR_DIMENSION_YEARS,
     .offset = AT(life_years),
     .above = true,
     .max = 50,
     .help = "over which the network is written off",
     .shown = "presets/prices, `life_years`",
     .example = "4 years"},
    {.name = "hours",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(hours_per_year),
     .above = true,
     .max = 8784,
     .help = "busy hours of a year",
     .shown = "presets/prices, `hours_per_year`",
     .example = "8760"},
};

const weir_key_table scenario_economics_keys = {
    .title = "economics",
    .about = "What time, power and years cost. All keys are optional; what is neither written nor "
             "in a preset is not counted.",
    .keys = keys,
    .count = sizeof keys / sizeof *keys,
};

/* NAN: there is none. */
static double typical(const scenario_reader *r, const char *id)
{
    const weir_price *price = weir_parts_price(r->scenario->parts, weir_str_from(id));
    return price ? price->typical_usd : NAN;
}

weir_code scenario_read_economics(scenario_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_economics *made = &r->scenario->economics;
    const weir_accelerator *accelerator = r->scenario->cluster.accelerator;
    char hour[128];
    snprintf(hour, sizeof hour, "gpu_hour:%.100s", accelerator ? accelerator->id : "");
    *made = (weir_economics){
        .gpu_hour_usd = typical(r, hour),
        .kwh_usd = typical(r, "electricity"),
        .pue = typical(r, "pue"),
        .life_years = typical(r, "life_years"),
        .hours_per_year = typical(r, "hours_per_year"),
    };
    return node ? weir_keys_read(&r->source, node, &scenario_economics_keys, 0, made, err)
                : WEIR_OK;
}
