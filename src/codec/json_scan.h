/* json_scan.h: finding one's way in JSON text that lies in memory: ends of strings and values.
 *
 * Made for profiler traces: gigabytes, mostly to be skipped. Every function takes the end of the
 * window; the WEIR_JSON_PAD bytes behind it must be readable (their content does not matter).
 * NULL means: the window ends before the value does, or it is malformed; the caller tells the two
 * apart by whether there is more to read.
 *
 * Not here: documents, files, the meaning of keys. */
#ifndef WEIR_CODEC_JSON_SCAN_H
#define WEIR_CODEC_JSON_SCAN_H

#include "weir/base.h"

enum { WEIR_JSON_PAD = 64, WEIR_JSON_MAX_DEPTH = 512 };

/* The first byte at or after p that is no white space, or end. */
const char *weir_json_skip_space(const char *p, const char *end);

/* p is behind the opening quote: the closing quote. *escaped: a backslash was passed. NULL: none.
 */
const char *weir_json_string_end(const char *p, const char *end, bool *escaped);

/* p is behind an opening brace or bracket: the byte behind the closing one that matches it. A raw
 * newline inside a string, or nesting deeper than WEIR_JSON_MAX_DEPTH, is malformed. */
const char *weir_json_skip_nested(const char *p, const char *end);

/* Any value: the byte behind it. */
const char *weir_json_skip_value(const char *p, const char *end);

/* A number of microseconds, to nanoseconds, digit by digit: "1700000000000000.250", "-3", "1.5e3".
 * More than three decimals are cut. Returns the byte behind it; NULL: no number, or it does not
 * fit. */
const char *weir_json_micros(const char *p, const char *end, int64_t *ns);

/* An integer; decimals are cut off, an exponent is malformed. Saturates at the ends of int64 and
 * says so. Returns the byte behind it or NULL. */
const char *weir_json_integer(const char *p, const char *end, int64_t *value, bool *saturated);

/* The text of a string value with escapes resolved, into out (at least text.n bytes); returns its
 * length. Invalid escapes are kept as they are and counted in *bad. */
uint32_t weir_json_unescape(weir_str text, char *out, uint32_t *bad);

/* Walks the members of an object (*p behind its brace) or the items of an array (*p behind its
 * bracket; key is then empty): the next key (raw, without quotes) and value (raw text), false at
 * the end or where it is malformed. Moves *p. */
bool weir_json_next(const char **p, const char *end, weir_str *key, weir_str *value);

/* The text of a raw string value without its quotes; empty where it is no string. */
weir_str weir_json_unquote(weir_str value);

#endif
