/* input.h: a small file, or standard input, read whole. */
#ifndef WEIR_CLI_INPUT_H
#define WEIR_CLI_INPUT_H

#include "base/text.h"

/* path "-" is standard input; compressed files are read as they are meant. *text is appended to.
 * WEIR_ERR_LIMIT: more than 16 MiB, which no scenario is. */
weir_code input_read(const char *path, weir_text *text, weir_err *err);
/* What errors call it: "standard input" for "-". */
const char *input_name(const char *path);

#endif
