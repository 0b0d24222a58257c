/* text.h: a growing piece of text.
 *
 * The first failure (no memory) sticks: later appends do nothing, `failed` tells. */
#ifndef WEIR_BASE_TEXT_H
#define WEIR_BASE_TEXT_H

#include "weir/base.h"

#include <stdarg.h>

typedef struct {
    char *p; /* NUL-terminated once anything was appended; owned */
    size_t n, capacity;
    bool failed;
} weir_text;

void weir_text_clear(weir_text *text); /* frees; leaves it empty and usable */
void weir_text_add(weir_text *text, weir_str part);
void weir_text_bytes(weir_text *text, const void *bytes, size_t n);
void weir_text_char(weir_text *text, char c);
void weir_text_printf(weir_text *text, const char *fmt, ...) WEIR_PRINTF(2, 3);
void weir_text_vprintf(weir_text *text, const char *fmt, va_list args);
/* Appends part with control bytes, DEL, C1 controls and invalid UTF-8 shown as \xNN, so that a
 * terminal never interprets it; at most max_columns characters (0 = all), then "...". */
void weir_text_escaped(weir_text *text, weir_str part, uint32_t max_columns);

#endif
