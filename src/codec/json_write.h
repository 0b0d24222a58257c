/* json_write.h: writes one JSON document, value by value, into a weir_text.
 *
 * The writer puts the commas; the caller says what comes. Output is valid UTF-8 whatever the
 * strings hold: invalid bytes become U+FFFD, control characters (C0, DEL, C1) are escaped.
 * Lack of memory sticks in the text (weir_text.failed).
 *
 * Not here: reading JSON. */
#ifndef WEIR_CODEC_JSON_WRITE_H
#define WEIR_CODEC_JSON_WRITE_H

#include "base/text.h"

enum { WEIR_JSON_WRITE_DEPTH = 32 };

typedef struct {
    weir_text *out;
    uint32_t depth;
    bool after_key;
    struct {
        bool array, any, lines;
    } level[WEIR_JSON_WRITE_DEPTH];
} weir_json_writer;

/* How the items of a container are laid out. */
typedef enum {
    WEIR_JSON_INLINE = 0, /* all on one line */
    WEIR_JSON_LINES       /* each on a line of its own */
} weir_json_layout;

void weir_json_begin(weir_json_writer *w, weir_text *out);
void weir_json_open_object(weir_json_writer *w, weir_json_layout layout);
void weir_json_open_array(weir_json_writer *w, weir_json_layout layout);
void weir_json_close(weir_json_writer *w); /* the innermost container */

void weir_json_key(weir_json_writer *w, const char *key); /* escaped too */

/* Values: after a key, or as items of an array. */
void weir_json_string(weir_json_writer *w, weir_str text);
void weir_json_text(weir_json_writer *w, const char *text); /* NULL -> null */
void weir_json_int(weir_json_writer *w, int64_t value);
void weir_json_uint(weir_json_writer *w, uint64_t value);
void weir_json_double(weir_json_writer *w, double value); /* NaN, infinities -> null */
void weir_json_bool(weir_json_writer *w, bool value);
void weir_json_null(weir_json_writer *w);

#endif
