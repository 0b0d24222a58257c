#include "base/diag.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void weir_diags_clear(weir_diags *diags)
{
    for (uint32_t i = 0; i < diags->count; i++) {
        for (uint32_t k = 0; k < diags->items[i].place_count; k++) {
            free(diags->items[i].places[k].text);
        }
    }
    free(diags->items);
    *diags = (weir_diags){0};
}

static weir_diag *diag_find_or_add(weir_diags *diags, const char *kind, bool loss)
{
    for (uint32_t i = 0; i < diags->count; i++) {
        if (strcmp(diags->items[i].kind, kind) == 0) {
            return &diags->items[i];
        }
    }
    if (diags->count == diags->capacity) {
        uint32_t capacity = diags->capacity ? 2 * diags->capacity : 8;
        weir_diag *items = realloc(diags->items, capacity * sizeof *items);
        if (!items) {
            return NULL;
        }
        diags->items = items;
        diags->capacity = capacity;
    }
    weir_diag *diag = &diags->items[diags->count++];
    *diag = (weir_diag){.kind = kind, .loss = loss};
    return diag;
}

void weir_diags_add(weir_diags *diags, const char *kind, bool loss, weir_str file, uint64_t line,
                    uint64_t column, weir_str excerpt)
{
    weir_diag *diag = diag_find_or_add(diags, kind, loss);
    if (!diag) {
        return;
    }
    diag->count++;
    if (diag->place_count == WEIR_DIAG_PLACES) {
        return;
    }
    weir_text text = {0};
    weir_text_escaped(&text, file, 0);
    if (line) {
        weir_text_printf(&text, ":%llu", (unsigned long long)line);
    }
    if (line && column) {
        weir_text_printf(&text, ":%llu", (unsigned long long)column);
    }
    if (excerpt.n) {
        weir_text_add(&text, WEIR_STR(": "));
        weir_text_escaped(&text, excerpt, 60);
    }
    if (text.failed || !text.p) {
        weir_text_clear(&text);
        return;
    }
    diag->places[diag->place_count++].text = text.p;
}

void weir_diags_merge(weir_diags *into, weir_diags *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        weir_diag *source = &from->items[i];
        weir_diag *target = diag_find_or_add(into, source->kind, source->loss);
        if (!target) {
            continue;
        }
        target->count += source->count;
        for (uint32_t k = 0; k < source->place_count; k++) {
            if (target->place_count < WEIR_DIAG_PLACES) {
                target->places[target->place_count++] = source->places[k];
                source->places[k].text = NULL;
            }
        }
    }
    weir_diags_clear(from);
}

uint64_t weir_diags_lost(const weir_diags *diags)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < diags->count; i++) {
        lost += diags->items[i].loss ? diags->items[i].count : 0;
    }
    return lost;
}
