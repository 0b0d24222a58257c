#include "match/pairing.h"

#include "base/sort.h"
#include "match/median.h"

#include <stdlib.h>
#include <string.h>

/* Members of one collective end together: medians of 20 to 60 us were seen (torchrec, 4 V100).
 * Devices that end further apart are of different groups, where none was recorded. */
static const int64_t SAME_GROUP_NS = 200000;

/* Where no group was recorded, so many of a channel's lists are tried. */
enum { GROUPS_TRIED = 64 };

typedef struct {
    const comm_items *items;
    pair_lists *lists;
    uint32_t *of; /* as long as the longest list */
    int64_t *distance;
    uint32_t room;
} merger;

static bool make_room(merger *m, uint32_t count)
{
    if (count <= m->room) {
        return true;
    }
    uint32_t *of = realloc(m->of, count * sizeof *of);
    m->of = of ? of : m->of;
    int64_t *distance = realloc(m->distance, count * sizeof *distance);
    m->distance = distance ? distance : m->distance;
    if (!of || !distance) {
        return false;
    }
    m->room = count;
    return true;
}

/* Takes over the entries. */
static bool push_list(pair_lists *lists, const align_list *list)
{
    if (lists->count == lists->capacity) {
        uint32_t capacity = lists->capacity ? 2 * lists->capacity : 16;
        align_list *grown = realloc(lists->lists, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        lists->lists = grown;
        lists->capacity = capacity;
    }
    lists->lists[lists->count++] = *list;
    return true;
}

static bool list_of_items(const comm_items *items, uint32_t first, uint32_t count, align_list *list)
{
    list->entries = malloc(count * sizeof *list->entries);
    list->count = count;
    list->channel = items->items[first].channel;
    list->node = items->items[first].node;
    list->members = 1;
    list->exact = items->channels[list->channel].exact;
    if (!list->entries) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const comm_item *item = &items->items[first + i];
        list->entries[i] = (align_entry){
            .arrival_ns = item->start_ns,
            .first_end_ns = item->end_ns,
            .end_ns = item->end_ns,
            .anchor_ns = item->end_ns,
            .seq = item->seq,
            .bytes = item->bytes,
            .head = first + i,
            .count = 1,
            .kind = item->kind,
            .is_message = item->is_message,
        };
    }
    if (!list->exact ||
        weir_sort(list->entries, count, sizeof *list->entries, align_compare_seq, NULL)) {
        return true;
    }
    free(list->entries);
    list->entries = NULL;
    return false;
}

/* Adds the members of b's entry to a's. */
static void join_entries(uint32_t *next, align_entry *a, const align_entry *b)
{
    uint32_t tail = b->head;
    while (next[tail] != WEIR_NONE) {
        tail = next[tail];
    }
    next[tail] = a->head;
    a->head = b->head;
    a->count += b->count;
    a->arrival_ns = b->arrival_ns > a->arrival_ns ? b->arrival_ns : a->arrival_ns;
    a->first_end_ns = b->first_end_ns < a->first_end_ns ? b->first_end_ns : a->first_end_ns;
    a->end_ns = b->end_ns > a->end_ns ? b->end_ns : a->end_ns;
    a->bytes = b->bytes > a->bytes ? b->bytes : a->bytes;
    a->seq = a->seq < 0 ? b->seq : a->seq;
    if (a->kind == WEIR_COMM_UNKNOWN || (a->kind == WEIR_COMM_SEND_RECV && b->kind)) {
        a->kind = b->kind;
    }
}

static bool comes_first(const align_list *list, const align_entry *x, const align_entry *y)
{
    if (list->exact) {
        return align_compare_seq(x, y, NULL) <= 0;
    }
    return x->end_ns <= y->end_ns;
}

/* Merges b into a by `of` and frees b's entries. */
static bool merge_lists(uint32_t *next, align_list *a, align_list *b, const uint32_t *of)
{
    uint32_t alone = 0, n = 0, i = 0;
    for (uint32_t j = 0; j < b->count; j++) {
        alone += of[j] == WEIR_NONE;
    }
    align_entry *merged = a->entries;
    if (alone > 0) {
        merged = malloc(((size_t)a->count + alone) * sizeof *merged);
        if (!merged) {
            return false;
        }
    }
    for (uint32_t j = 0; j < b->count; j++) {
        if (of[j] != WEIR_NONE) {
            for (; merged != a->entries && i < of[j]; i++) {
                merged[n++] = a->entries[i];
            }
            join_entries(next, &a->entries[of[j]], &b->entries[j]);
            if (merged != a->entries) {
                merged[n++] = a->entries[i++];
            }
            continue;
        }
        uint32_t stop = j;
        while (stop < b->count && of[stop] == WEIR_NONE) {
            stop++;
        }
        uint32_t limit = stop < b->count ? of[stop] : a->count;
        while (i < limit && comes_first(a, &a->entries[i], &b->entries[j])) {
            merged[n++] = a->entries[i++];
        }
        merged[n++] = b->entries[j];
    }
    for (; merged != a->entries && i < a->count; i++) {
        merged[n++] = a->entries[i];
    }
    if (merged != a->entries) {
        free(a->entries);
        a->entries = merged;
        a->count = n;
    }
    a->members += b->members;
    free(b->entries);
    b->entries = NULL;
    return true;
}

static void align_any(const align_list *a, const align_list *b, int64_t slack_ns, uint32_t *of)
{
    if (a->exact) {
        align_exact(a, b, of);
    } else {
        align_lists(a, b, slack_ns, of);
    }
}

/* Do the aligned lists end together, so that they may be of one group? */
static bool ends_agree(merger *m, const align_list *a, const align_list *b, int64_t slack_ns)
{
    size_t firm = 0, pairs = 0;
    for (uint32_t j = 0; j < b->count; j++) {
        if (m->of[j] == WEIR_NONE) {
            continue;
        }
        const align_entry *x = &a->entries[m->of[j]], *y = &b->entries[j];
        pairs++;
        if (align_level(x) < 2 && align_level(y) < 2) {
            m->distance[firm++] = align_distance(x, y);
        }
    }
    return pairs > 0 && median_ns(m->distance, firm) <= SAME_GROUP_NS + slack_ns;
}

/* Merges the list into one of lists[from..] for which `fits` says so, else adds it. */
static bool add_list(merger *m, align_list *list, uint32_t from, const uint32_t *component,
                     int64_t slack_ns)
{
    bool recorded = m->items->channels[list->channel].group != WEIR_NONE ||
                    m->items->channels[list->channel].is_message;
    uint32_t tried = 0;
    if (!make_room(m, list->count)) {
        return false;
    }
    for (uint32_t k = from; k < m->lists->count && tried < GROUPS_TRIED; k++) {
        align_list *to = &m->lists->lists[k];
        if (component ? component[to->node] != component[list->node] : to->node != list->node) {
            continue;
        }
        tried++;
        align_any(to, list, slack_ns, m->of);
        if (recorded || ends_agree(m, to, list, slack_ns - ALIGN_SLACK_NS)) {
            return merge_lists(m->lists->next, to, list, m->of);
        }
    }
    return push_list(m->lists, list);
}

/* The end that stands for an entry: the median of its members'. */
static bool set_anchors(const comm_items *items, pair_lists *lists)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < lists->count; k++) {
        most = lists->lists[k].members > most ? lists->lists[k].members : most;
    }
    int64_t *ends = malloc(((size_t)most + 1) * sizeof *ends);
    if (!ends) {
        return false;
    }
    for (uint32_t k = 0; k < lists->count; k++) {
        for (uint32_t i = 0; i < lists->lists[k].count; i++) {
            align_entry *entry = &lists->lists[k].entries[i];
            uint32_t n = 0;
            for (uint32_t item = entry->head; item != WEIR_NONE; item = lists->next[item]) {
                ends[n++] = items->items[item].end_ns;
            }
            entry->anchor_ns = median_ns(ends, n);
        }
    }
    free(ends);
    return true;
}

static void merger_clear(merger *m)
{
    free(m->of);
    free(m->distance);
}

static bool pair_channel(merger *m, const comm_channel *channel)
{
    const comm_item *items = m->items->items;
    uint32_t from = m->lists->count, end = channel->first_item + channel->item_count;
    for (uint32_t i = channel->first_item, stop; i < end; i = stop) {
        for (stop = i + 1; stop < end && items[stop].device == items[i].device; stop++) {
        }
        align_list list;
        if (!list_of_items(m->items, i, stop - i, &list)) {
            return false;
        }
        if (!add_list(m, &list, from, NULL, ALIGN_SLACK_NS)) {
            free(list.entries);
            return false;
        }
    }
    return true;
}

weir_code pair_in_nodes(const comm_items *items, pair_lists *lists, weir_err *err)
{
    memset(lists, 0, sizeof *lists);
    merger m = {.items = items, .lists = lists};
    size_t room = ((size_t)items->item_count + 1) * sizeof *lists->next;
    lists->next = malloc(room);
    bool done = lists->next != NULL;
    if (done) {
        memset(lists->next, 0xff, room);
    }
    for (uint32_t c = 0; done && c < items->channel_count; c++) {
        done = pair_channel(&m, &items->channels[c]);
    }
    done = done && set_anchors(items, lists);
    merger_clear(&m);
    if (!done) {
        pair_lists_clear(lists);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to pair %u collectives",
                            items->item_count);
    }
    return WEIR_OK;
}

weir_code pair_over_nodes(const comm_items *items, const uint32_t *component,
                          const int64_t *residual_ns, pair_lists *lists, weir_err *err)
{
    pair_lists merged = {.next = lists->next};
    merger m = {.items = items, .lists = &merged};
    uint32_t from = 0;
    bool done = true;
    for (uint32_t k = 0; k < lists->count; k++) {
        align_list *list = &lists->lists[k];
        if (k > 0 && lists->lists[k - 1].channel != list->channel) {
            from = merged.count;
        }
        int64_t slack_ns = ALIGN_SLACK_NS + 4 * residual_ns[list->node];
        done = done && add_list(&m, list, from, component, slack_ns);
        if (done) {
            list->entries = NULL; /* taken over */
        }
    }
    merger_clear(&m);
    lists->next = NULL;
    pair_lists_clear(lists);
    *lists = merged;
    if (!done) {
        pair_lists_clear(lists);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to pair %u collectives",
                            items->item_count);
    }
    return WEIR_OK;
}

void pair_lists_clear(pair_lists *lists)
{
    for (uint32_t k = 0; k < lists->count; k++) {
        free(lists->lists[k].entries);
    }
    free(lists->lists);
    free(lists->next);
    memset(lists, 0, sizeof *lists);
}
