#include "fabric/fold_inside.h"

#include <stdlib.h>

typedef struct {
    weir_fold *fold;
    const double *capacities;
    uint64_t *body_colours, *link_colours;
    colour_table table;
} refinement;

/* --- numbering colours --- */

bool fold_table_make(colour_table *table, uint32_t items)
{
    uint32_t size = 64;
    while (size < items && size < 1u << 31) {
        size *= 2;
    }
    size *= size < 1u << 31 ? 2 : 1;
    table->mask = size - 1;
    table->colours = malloc(size * sizeof *table->colours);
    table->numbers = calloc(size, sizeof *table->numbers);
    return table->colours && table->numbers;
}

uint32_t fold_number(colour_table *table, const uint64_t *colours, uint32_t count,
                     uint32_t *numbers)
{
    table->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)colours[i] & table->mask;
        while (table->numbers[at] && table->colours[at] != colours[i]) {
            at = (at + 1) & table->mask;
        }
        if (!table->numbers[at]) {
            table->colours[at] = colours[i];
            table->numbers[at] = ++table->count;
        }
        numbers[i] = table->numbers[at] - 1;
    }
    return table->count;
}

/* Only as much of the table is filled as there are classes: it is cleared by what was put in. */
static void table_clear(colour_table *table, const uint64_t *colours, uint32_t count)
{
    if (table->count > table->mask / 16) {
        memset(table->numbers, 0, ((size_t)table->mask + 1) * sizeof *table->numbers);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = (uint32_t)colours[i] & table->mask; table->numbers[at];
             at = (at + 1) & table->mask) {
            table->numbers[at] = 0;
        }
    }
}

/* --- refinement --- */

static void begin_colours(refinement *r)
{
    const weir_fold *fold = r->fold;
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_body *b = &fold->bodies[i];
        uint64_t colour = fold_mix(b->path.count + (fold_also(fold, i) != WEIR_NONE));
        colour = fold_mix(colour ^ bits_of(b->size));
        colour = fold_mix(colour ^ bits_of(b->start_s));
        colour = fold_mix(colour ^ bits_of(b->latency_s));
        colour = fold_mix(colour ^ bits_of(b->path.weight));
        r->body_colours[i] = fold_mix(colour ^ bits_of(b->path.cap));
    }
    for (uint32_t k = 0; k < fold_kinds(fold); k++) {
        weir_link_id l = fold_first(fold, k);
        uint64_t own = fold->link_colours ? fold_mix(fold->link_colours[l]) : 0;
        r->link_colours[k] = fold_mix(bits_of(r->capacities[l]) ^ own);
    }
}

/* Links take in the colours of their bodies; link_colours: class -> new colour. */
static void colour_links(refinement *r)
{
    const weir_fold *fold = r->fold;
    for (uint32_t k = 0; k < fold_kinds(fold); k++) {
        r->link_colours[k] = fold_mix(fold->link_class[k]);
    }
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_path path = fold_path(fold, i);
        uint64_t colour = fold_mix(0x5851F42D4C957F2Du ^ fold->body_class[i]);
        for (uint32_t j = 0; j < path.count; j++) {
            r->link_colours[path.links[j]] +=
                fold_mix(path.bytes_per_unit ? colour ^ bits_of(path.bytes_per_unit[j]) : colour);
        }
    }
}

static void colour_bodies(refinement *r)
{
    const weir_fold *fold = r->fold;
    for (uint32_t k = 0; k < fold_kinds(fold); k++) {
        r->link_colours[k] = fold_mix(0x14057B7EF767814Fu ^ fold->link_class[k]);
    }
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_path path = fold_path(fold, i);
        uint64_t colour = fold_mix(fold->body_class[i]);
        for (uint32_t j = 0; j < path.count; j++) {
            uint64_t link = r->link_colours[path.links[j]];
            link = path.bytes_per_unit ? fold_mix(link ^ bits_of(path.bytes_per_unit[j])) : link;
            colour += fold_size(fold, path.links[j]) * link;
        }
        r->body_colours[i] = colour;
    }
}

static uint32_t renumber_links(refinement *r)
{
    weir_fold *fold = r->fold;
    uint32_t classes = fold_number(&r->table, r->link_colours, fold_kinds(fold), fold->link_class);
    table_clear(&r->table, r->link_colours, fold_kinds(fold));
    return classes;
}

static uint32_t renumber_bodies(refinement *r)
{
    weir_fold *fold = r->fold;
    uint32_t classes = fold_number(&r->table, r->body_colours, fold->body_count, fold->body_class);
    table_clear(&r->table, r->body_colours, fold->body_count);
    return classes;
}

/* Who colours links has something behind them that folds too (sim/: devices). */
static bool is_worth_while(const weir_fold *fold)
{
    if (!fold->link_colours) {
        return fold->body_classes <= fold->body_count / 2;
    }
    return (uint64_t)fold->body_classes + fold->link_classes <=
           ((uint64_t)fold->body_count + fold->link_count) / 2;
}

/* false: too many classes. */
static bool refine(refinement *r)
{
    weir_fold *fold = r->fold;
    begin_colours(r);
    fold->link_classes = renumber_links(r);
    fold->body_classes = renumber_bodies(r);
    for (;;) {
        uint32_t bodies = fold->body_classes, links = fold->link_classes;
        colour_links(r);
        fold->link_classes = renumber_links(r);
        colour_bodies(r);
        fold->body_classes = renumber_bodies(r);
        if (!is_worth_while(fold)) {
            return false;
        }
        if (fold->body_classes == bodies && fold->link_classes == links) {
            return true;
        }
    }
}

weir_code fold_colour(weir_fold *fold, const double *capacities, bool *good)
{
    uint32_t most = fold->body_count > fold->link_count ? fold->body_count : fold->link_count;
    uint64_t *bodies = malloc(((size_t)fold->body_count + 1) * sizeof *bodies);
    uint64_t *links = malloc(((size_t)fold->link_count + 1) * sizeof *links);
    refinement r = {fold, capacities, bodies, links, {0}};
    bool has_room = fold_table_make(&r.table, most) && bodies && links;
    if (has_room) {
        *good = refine(&r);
    }
    free(bodies);
    free(links);
    free(r.table.colours);
    free(r.table.numbers);
    return has_room ? WEIR_OK : WEIR_ERR_MEMORY;
}
