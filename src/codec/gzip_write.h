/* gzip_write.h: bytes -> a gzip file. The same bytes give the same file: no name, no time.
 *
 * Not here: reading (source.h), opening and renaming files. */
#ifndef WEIR_CODEC_GZIP_WRITE_H
#define WEIR_CODEC_GZIP_WRITE_H

#include "weir/base.h"

#include <stdio.h>

/* The whole member at once. path: what errors call the file. */
weir_code weir_gzip_write(FILE *out, const char *path, const void *bytes, size_t n, weir_err *err);

#endif
