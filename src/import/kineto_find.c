/* Where events begin and end in damaged text. */
#include "codec/json_bytes.h"
#include "import/kineto_event.h"

#include <string.h>

/* An event is the first thing on its line, or stands behind a comma, a bracket or another event;
 * the arguments of a metadata event ("args": {"name": ...}) are neither. */
static bool may_begin(const char *begin, const char *brace)
{
    const char *p = brace;
    while (p > begin && json_is_space(p[-1])) {
        if (*--p == '\n') {
            return true;
        }
    }
    return p == begin || p[-1] == ',' || p[-1] == '[' || p[-1] == '}';
}

static bool is_event_key(const char *key, const char *end)
{
    static const char *const keys[] = {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"args\"",
                                       "\"ts\"", "\"tid\"",  "\"dur\"", "\"id\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        if ((size_t)(end - key) > n && memcmp(key, keys[i], n) == 0) {
            const char *colon = json_skip_space(key + n, end);
            return colon < end && *colon == ':';
        }
    }
    return false;
}

const char *kineto_event_find(const char *begin, const char *p, const char *end)
{
    while (p < end && (p = memchr(p, '{', (size_t)(end - p))) != NULL) {
        const char *key = json_skip_space(p + 1, end);
        if (key < end && is_event_key(key, end) && may_begin(begin, p)) {
            return p;
        }
        p++;
    }
    return NULL;
}

/* What Kineto writes behind the events; none of it occurs inside one. */
static bool is_top_level_key(const char *key, const char *end)
{
    static const char *const keys[] = {"\"traceName\"",           "\"displayTimeUnit\"",
                                       "\"baseTimeNanoseconds\"", "\"distributedInfo\"",
                                       "\"deviceProperties\"",    "\"schemaVersion\"",
                                       "\"host_name\"",           "\"metadata\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        if ((size_t)(end - key) > n && memcmp(key, keys[i], n) == 0) {
            const char *colon = json_skip_space(key + n, end);
            return colon < end && *colon == ':';
        }
    }
    return false;
}

static bool is_behind_event(const char *begin, const char *bracket)
{
    const char *p = bracket;
    while (p > begin && json_is_space(p[-1])) {
        p--;
    }
    return p > begin && p[-1] == '}';
}

const char *kineto_events_end_find(const char *begin, const char *p, const char *end, bool is_last)
{
    for (; p < end && (p = memchr(p, ']', (size_t)(end - p))) != NULL; p++) {
        const char *next = json_skip_space(p + 1, end);
        if (next < end && *next == ',' && is_top_level_key(json_skip_space(next + 1, end), end)) {
            return p;
        }
        if (next < end && *next == '}' && is_last && json_skip_space(next + 1, end) == end &&
            is_behind_event(begin, p)) {
            return p;
        }
    }
    return NULL;
}
