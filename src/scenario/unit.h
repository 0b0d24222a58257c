/* unit.h: numbers with their unit written out: "400 Gb/s", "25 ms", "80 GiB", "989.4 TFLOP/s".
 *
 * A unit belongs to one dimension, and a number without the unit that it needs is refused. Decimal
 * and binary prefixes are kept apart (GB = 10^9 bytes, GiB = 2^30 bytes), bits and bytes too.
 *
 * Not here: keys and documents (preset.h). */
#ifndef WEIR_SCENARIO_UNIT_H
#define WEIR_SCENARIO_UNIT_H

#include "codec/yaml.h"

typedef enum {
    WEIR_DIMENSION_BYTES = 0,   /* B, kB, MB, GB, TB, KiB, MiB, GiB, TiB */
    WEIR_DIMENSION_BYTES_PER_S, /* the same "/s"; kb/s, Mb/s, Gb/s, Tb/s are bits */
    WEIR_DIMENSION_SECONDS,     /* ns, us, ms, s, min, h */
    WEIR_DIMENSION_FLOP_PER_S,  /* GFLOP/s, TFLOP/s, PFLOP/s; also OP/s */
    WEIR_DIMENSION_WATTS,       /* mW, W, kW, MW */
    WEIR_DIMENSION_METRES,      /* m, km */
    WEIR_DIMENSION_DECIBELS,    /* dB */
    WEIR_DIMENSION_DB_PER_M,    /* dB/m, dB/km */
    WEIR_DIMENSION_S_PER_M,     /* ns/m, us/km */
    WEIR_DIMENSION_J_PER_BIT,   /* pJ/bit */
    WEIR_DIMENSION_USD,         /* USD, kUSD, MUSD */
    WEIR_DIMENSION_USD_PER_KWH, /* USD/kWh */
    WEIR_DIMENSION_USD_PER_H,   /* USD/h */
    WEIR_DIMENSION_USD_PER_M,   /* USD/m */
    WEIR_DIMENSION_YEARS,       /* years, year */
    WEIR_DIMENSION_HOURS,       /* h, hours: of use, not moments (those are seconds) */
    WEIR_DIMENSION_COUNT
} weir_dimension;

/* "12.5", "-3", "1e9", without a locale; correctly rounded up to 15 digits, within 2 ulp beyond. */
bool weir_number_parse(weir_str text, double *value);

/* Non-negative, a blank before the unit or none; false where text is no number with a unit of that
 * dimension. */
bool weir_unit_parse(weir_str text, weir_dimension dimension, double *value);

/* How the unit of that dimension that its values come in is written: "B/s", "USD/kWh". */
const char *weir_unit_name(weir_dimension dimension);

/* The same as weir_unit_parse of a node; the error says what was expected, with an example. */
weir_code weir_unit_read(const weir_yaml *doc, const weir_yaml_node *node, weir_dimension dimension,
                         double *value, weir_err *err);

#endif
