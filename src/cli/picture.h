/* picture.h: a Perfetto file that appears whole or not at all. */
#ifndef WEIR_CLI_PICTURE_H
#define WEIR_CLI_PICTURE_H

#include "report/perfetto.h"

weir_code picture_write(const char *target, const weir_perfetto_request *request, weir_err *err);

#endif
