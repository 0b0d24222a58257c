#include "fabric/fold_inside.h"

#include <stdlib.h>

/* Distinct colours, numbered in order of first appearance. */
typedef struct {
    uint64_t *colours;
    uint32_t *numbers; /* 0 = free, else the number + 1 */
    uint32_t mask, count;
} colour_table;

typedef struct {
    weir_fold *fold;
    const double *capacities;
    uint64_t *body_colours, *link_colours;
    colour_table table;
} refinement;

static uint64_t mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* --- numbering colours --- */

static bool table_make(colour_table *table, uint32_t items)
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

/* Fills only as much of the table as there are classes: it is cleared by what was put in. */
static uint32_t number_colours(colour_table *table, const uint64_t *colours, uint32_t count,
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
        uint64_t colour = mix(b->path.count);
        colour = mix(colour ^ bits_of(b->size));
        colour = mix(colour ^ bits_of(b->start_s));
        colour = mix(colour ^ bits_of(b->latency_s));
        colour = mix(colour ^ bits_of(b->path.weight));
        r->body_colours[i] = mix(colour ^ bits_of(b->path.cap));
    }
    for (uint32_t l = 0; l < fold->link_count; l++) {
        uint64_t own = fold->link_colours ? mix(fold->link_colours[l]) : 0;
        r->link_colours[l] = mix(bits_of(r->capacities[l]) ^ own);
    }
}

/* Links take in the colours of their bodies; link_colours: class -> new colour. */
static void colour_links(refinement *r)
{
    const weir_fold *fold = r->fold;
    for (uint32_t l = 0; l < fold->link_count; l++) {
        r->link_colours[l] = mix(fold->link_class[l]);
    }
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_path *path = &fold->bodies[i].path;
        uint64_t colour = mix(0x5851F42D4C957F2Du ^ fold->body_class[i]);
        for (uint32_t j = 0; j < path->count; j++) {
            r->link_colours[path->links[j]] +=
                path->bytes_per_unit ? mix(colour ^ bits_of(path->bytes_per_unit[j])) : mix(colour);
        }
    }
}

static void colour_bodies(refinement *r)
{
    const weir_fold *fold = r->fold;
    for (uint32_t l = 0; l < fold->link_count; l++) {
        r->link_colours[l] = mix(0x14057B7EF767814Fu ^ fold->link_class[l]);
    }
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_path *path = &fold->bodies[i].path;
        uint64_t colour = mix(fold->body_class[i]);
        for (uint32_t j = 0; j < path->count; j++) {
            uint64_t link = r->link_colours[path->links[j]];
            colour += path->bytes_per_unit ? mix(link ^ bits_of(path->bytes_per_unit[j])) : link;
        }
        r->body_colours[i] = colour;
    }
}

static uint32_t renumber_links(refinement *r)
{
    weir_fold *fold = r->fold;
    uint32_t classes =
        number_colours(&r->table, r->link_colours, fold->link_count, fold->link_class);
    table_clear(&r->table, r->link_colours, fold->link_count);
    return classes;
}

static uint32_t renumber_bodies(refinement *r)
{
    weir_fold *fold = r->fold;
    uint32_t classes =
        number_colours(&r->table, r->body_colours, fold->body_count, fold->body_class);
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
    bool has_room = table_make(&r.table, most) && bodies && links;
    if (has_room) {
        *good = refine(&r);
    }
    free(bodies);
    free(links);
    free(r.table.colours);
    free(r.table.numbers);
    return has_room ? WEIR_OK : WEIR_ERR_MEMORY;
}
