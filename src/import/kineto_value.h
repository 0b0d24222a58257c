/* kineto_value.h: values inside the text of an event: texts, numbers, places (private to import/).
 *
 * Each reader takes the first byte of a value and returns the byte behind it, or NULL where the
 * window ends first or the value is malformed. What is no number leaves its target untouched. */
#ifndef WEIR_IMPORT_KINETO_VALUE_H
#define WEIR_IMPORT_KINETO_VALUE_H

#include "import/kineto_event.h"

#include <string.h>

typedef struct {
    kineto_event *event; /* its odd_ counters are kept */
    const char *end;
    const kineto_event_options *options;
} kineto_parser;

static inline bool kineto_key_is(weir_str key, const char *text, size_t n)
{
    return key.n == n && memcmp(key.p, text, n) == 0;
}
#define KEY(literal) kineto_key_is(key, literal, sizeof(literal) - 1)

const char *kineto_read_text(const kineto_parser *ps, const char *p, weir_str *text);
/* Text that people and compilers make up: it may hold quotes. */
const char *kineto_read_name(const kineto_parser *ps, const char *p, weir_str *text, bool *escaped);
/* An integer, bare or as a string. */
const char *kineto_read_integer(const kineto_parser *ps, const char *p, int64_t *value);
const char *kineto_read_time(const kineto_parser *ps, const char *p, int64_t *ns, bool *has);
/* A number that only links spans: larger ones are folded into 32 bits. */
const char *kineto_read_link(const kineto_parser *ps, const char *p, uint32_t *value);
const char *kineto_read_place(const kineto_parser *ps, const char *p, kineto_place *place);
/* "[4, 1, 1]" */
const char *kineto_read_triple(const kineto_parser *ps, const char *p, uint32_t out[3]);
const char *kineto_read_raw(const kineto_parser *ps, const char *p, weir_str *raw);

#endif
