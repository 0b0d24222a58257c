#include "result/result.h"

#include "base/text.h"
#include "result/lines.h"

#include <stdlib.h>
#include <string.h>

const char *weir_reason_name(weir_reason reason)
{
    static const char *const names[WEIR_REASON_COUNT] = {"unknown",     "late_host", "more_work",
                                                         "slow_device", "slow_link", "absent"};
    return names[reason];
}

const char *weir_communication_part_name(weir_communication_kind_part part)
{
    static const char *const names[WEIR_PART_COUNT] = {"latency", "bandwidth", "contention",
                                                       "circuit"};
    return part < WEIR_PART_COUNT ? names[part] : NULL;
}

weir_result *weir_result_new(void)
{
    weir_result *result = calloc(1, sizeof(*result));
    if (result == NULL) {
        return NULL;
    }
    result->arena = weir_arena_new();
    if (result->arena == NULL) {
        free(result);
        return NULL;
    }
    result->efficiency.mfu = -1;
    result->efficiency.peak_share_in_compute = -1;
    result->efficiency.overlap_tax_ns = -1;
    return result;
}

void weir_result_free(weir_result *result)
{
    if (result == NULL) {
        return;
    }
    weir_diags_clear(&result->diags);
    weir_arena_free(result->arena);
    free(result);
}

const char *weir_result_copy(weir_result *result, weir_str text)
{
    return weir_arena_copy(result->arena, text);
}

static const char *print_into_arena(weir_result *result, const char *fmt, va_list args)
{
    weir_text text = {0};
    weir_text_vprintf(&text, fmt, args);
    const char *copy = NULL;
    if (!text.failed && text.n <= UINT32_MAX) {
        copy = weir_result_copy(result, (weir_str){text.n > 0 ? text.p : "", (uint32_t)text.n});
    }
    weir_text_clear(&text);
    return copy;
}

const char *weir_result_printf(weir_result *result, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *copy = print_into_arena(result, fmt, args);
    va_end(args);
    return copy;
}

static bool notes_grow(weir_result *result)
{
    if (result->note_count < result->note_capacity) {
        return true;
    }
    uint32_t capacity = result->note_capacity > 0 ? 2 * result->note_capacity : 8;
    const char **notes = weir_arena_alloc(result->arena, capacity, sizeof(*notes));
    if (notes == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < result->note_count; i++) {
        notes[i] = result->notes[i];
    }
    result->notes = notes;
    result->note_capacity = capacity;
    return true;
}

void weir_result_note(weir_result *result, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *note = print_into_arena(result, fmt, args);
    va_end(args);
    if (note == NULL) {
        return;
    }
    for (uint32_t i = 0; i < result->note_count; i++) {
        if (strcmp(result->notes[i], note) == 0) {
            return;
        }
    }
    if (notes_grow(result)) {
        result->notes[result->note_count++] = note;
    }
}

void weir_lines_clear(weir_lines *lines)
{
    free(lines->lines);
    free(lines->first);
    free(lines->begin_ns);
    free(lines->end_ns);
    *lines = (weir_lines){0};
}
