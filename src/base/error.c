#include "weir/base.h"

#include <stdarg.h>
#include <stdio.h>

const char *weir_version(void)
{
    return WEIR_VERSION;
}

weir_code weir_err_set(weir_err *err, weir_code code, const char *fmt, ...)
{
    if (!err || err->code != WEIR_OK) {
        return code;
    }
    err->code = code;
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    return code;
}
