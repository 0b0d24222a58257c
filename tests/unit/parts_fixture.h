/* parts_fixture.h: figures and parts for the tests of parts, bills, losses and flips. */
#ifndef WEIR_TESTS_PARTS_FIXTURE_H
#define WEIR_TESTS_PARTS_FIXTURE_H

#include "fabric/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void expect_near(double found, double expected, double allowed)
{
    double off = found > expected ? found - expected : expected - found;
    if (!(off <= allowed)) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

static inline weir_parts *load(void)
{
    weir_parts *parts = NULL;
    weir_err err = {0};
    if (weir_parts_load(&parts, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return parts;
}

#endif
