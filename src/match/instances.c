#include "match/instances.h"

#include "base/sort.h"
#include "match/median.h"

#include <stdlib.h>
#include <string.h>

/* An instance before the sort; its members are a chain of items. */
typedef struct {
    weir_instance row;
    uint32_t head;         /* first item, by device */
    weir_device_id device; /* of the first member */
    weir_span_id span;
} draft;

typedef struct {
    const comm_items *items;
    const pair_lists *lists;
    const uint32_t *component;
    weir_match *match;
    draft *drafts;
    uint32_t count;
    uint32_t *chain;       /* items of one instance while they are sorted */
    weir_sort_pair *waits; /* key: node, value: how far its arrival was from the others' */
    uint32_t wait_count;
    uint32_t *wait_of_node; /* its row of waits, if that row is of the instance at hand */
    bool *refused;          /* by node */
} builder;

/* Without a recorded group, devices whose ends do not agree are of several groups. */
static bool is_divided(const builder *b, uint32_t k)
{
    const align_list *lists = b->lists->lists;
    if (b->items->channels[lists[k].channel].group != WEIR_NONE) {
        return false;
    }
    bool before = k > 0 && lists[k - 1].channel == lists[k].channel &&
                  b->component[lists[k - 1].node] == b->component[lists[k].node];
    bool after = k + 1 < b->lists->count && lists[k + 1].channel == lists[k].channel &&
                 b->component[lists[k + 1].node] == b->component[lists[k].node];
    return before || after;
}

static uint32_t expected_members(const builder *b, uint32_t k)
{
    const align_list *list = &b->lists->lists[k];
    if (!is_divided(b, k)) {
        return b->items->channels[list->channel].size;
    }
    return b->items->whole && list->members > 1 ? list->members : 0;
}

static void sort_chain(const comm_item *items, uint32_t *chain, uint32_t count)
{
    /* Chains are concatenations of few sorted runs, mostly in order. */
    for (uint32_t i = 1; i < count; i++) {
        uint32_t item = chain[i], at = i;
        for (; at > 0 &&
               (items[chain[at - 1]].device > items[item].device ||
                (items[chain[at - 1]].device == items[item].device && chain[at - 1] > item));
             at--) {
            chain[at] = chain[at - 1];
        }
        chain[at] = item;
    }
}

static int compare_chain(const void *a, const void *b, const void *context)
{
    const comm_item *items = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (items[x].device != items[y].device) {
        return items[x].device < items[y].device ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

/* Orders the members by device and rewrites the chain. */
static bool order_members(builder *b, uint32_t *head)
{
    uint32_t n = 0, *next = b->lists->next;
    for (uint32_t item = *head; item != WEIR_NONE; item = next[item]) {
        b->chain[n++] = item;
    }
    if (n <= 16) {
        sort_chain(b->items->items, b->chain, n);
    } else if (!weir_sort(b->chain, n, sizeof *b->chain, compare_chain, b->items->items)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        next[b->chain[i]] = i + 1 < n ? b->chain[i + 1] : WEIR_NONE;
    }
    *head = b->chain[0];
    return true;
}

/* How far the arrival of each node was from that of the others, for those that span nodes. */
static void note_waits(builder *b, uint32_t head)
{
    const comm_item *items = b->items->items;
    const uint32_t *next = b->lists->next;
    uint32_t first = b->wait_count;
    int64_t latest = INT64_MIN, second = INT64_MIN;
    for (uint32_t item = head; item != WEIR_NONE; item = next[item]) {
        uint32_t node = items[item].node, at = b->wait_of_node[node];
        if (at < first || at >= b->wait_count || b->waits[at].key != node) {
            b->wait_of_node[node] = b->wait_count;
            b->waits[b->wait_count++] = (weir_sort_pair){node, (uint64_t)items[item].start_ns};
        } else if (items[item].start_ns > (int64_t)b->waits[at].value) {
            b->waits[at].value = (uint64_t)items[item].start_ns;
        }
    }
    for (uint32_t i = first; i < b->wait_count; i++) {
        int64_t arrival = (int64_t)b->waits[i].value;
        second = arrival > latest ? latest : arrival > second ? arrival : second;
        latest = arrival > latest ? arrival : latest;
    }
    if (b->wait_count - first < 2) {
        b->wait_count = first;
        return;
    }
    for (uint32_t i = first; i < b->wait_count; i++) {
        int64_t arrival = (int64_t)b->waits[i].value;
        b->waits[i].value = (uint64_t)(arrival == latest ? latest - second : latest - arrival);
    }
}

static bool add_draft(builder *b, const align_entry *entry, weir_group_id group, uint32_t size)
{
    draft *d = &b->drafts[b->count];
    d->head = entry->head;
    if (!order_members(b, &d->head)) {
        return false;
    }
    note_waits(b, d->head);
    d->device = b->items->items[d->head].device;
    d->span = b->items->items[d->head].span;
    d->row = (weir_instance){
        .kind = (weir_comm_kind)entry->kind,
        .is_message = entry->is_message,
        .complete = size > 0 && entry->count >= size,
        .split = true,
        .group = group,
        .group_size = size,
        .bytes = entry->bytes,
        .member_count = entry->count,
        .last_arrival_ns = entry->arrival_ns,
        .end_ns = entry->end_ns,
    };
    b->count++;
    return true;
}

static bool add_lists(builder *b)
{
    for (uint32_t k = 0; k < b->lists->count; k++) {
        const align_list *list = &b->lists->lists[k];
        const comm_channel *channel = &b->items->channels[list->channel];
        uint32_t size = expected_members(b, k);
        for (uint32_t i = 0; i < list->count; i++) {
            if (!add_draft(b, &list->entries[i], channel->group, size)) {
                return false;
            }
        }
    }
    return true;
}

/* Messages whose peer nothing tells. */
static bool add_alone(builder *b)
{
    for (uint32_t i = b->items->item_count; i-- > 0;) {
        const comm_item *item = &b->items->items[i];
        if (item->channel != WEIR_NONE) {
            break;
        }
        align_entry entry = {
            .arrival_ns = item->start_ns,
            .end_ns = item->end_ns,
            .bytes = item->bytes,
            .head = i,
            .count = 1,
            .kind = item->kind,
            .is_message = item->is_message,
        };
        if (!add_draft(b, &entry, WEIR_NONE, 0)) {
            return false;
        }
    }
    return true;
}

/* A node's clock is not good enough where the waits for it are shorter than what is left of the
 * ends' distance (DESIGN 2, "Across ranks"). */
static bool judge_clocks(builder *b)
{
    if (!weir_sort_pairs(b->waits, b->wait_count)) {
        return false;
    }
    int64_t *values = malloc(((size_t)b->wait_count + 1) * sizeof *values);
    if (!values) {
        return false;
    }
    for (uint32_t i = 0, n; i < b->wait_count; i += n) {
        uint32_t node = (uint32_t)b->waits[i].key;
        for (n = 0; i + n < b->wait_count && b->waits[i + n].key == node; n++) {
            values[n] = (int64_t)b->waits[i + n].value;
        }
        b->refused[node] = median_ns(values, n) < b->match->clocks[node].residual_ns;
    }
    free(values);
    return true;
}

static void refuse_splits(builder *b)
{
    const comm_item *items = b->items->items;
    const uint32_t *next = b->lists->next;
    for (uint32_t i = 0; i < b->count; i++) {
        draft *d = &b->drafts[i];
        bool spans = false, refused = false;
        for (uint32_t item = d->head; item != WEIR_NONE; item = next[item]) {
            spans = spans || items[item].node != items[d->head].node;
            refused = refused || b->refused[items[item].node];
        }
        d->row.split = !(spans && refused);
        b->match->refused = b->match->refused || !d->row.split;
    }
}

static int compare_drafts(const void *a, const void *b, const void *context)
{
    (void)context;
    const draft *x = a, *y = b;
    if (x->row.last_arrival_ns != y->row.last_arrival_ns) {
        return x->row.last_arrival_ns < y->row.last_arrival_ns ? -1 : 1;
    }
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    return x->span < y->span ? -1 : x->span > y->span;
}

/* Writes the rows of the sorted drafts. */
static void publish(builder *b)
{
    weir_match *m = b->match;
    const comm_item *items = b->items->items;
    uint32_t row = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        weir_instance *instance = &m->instances[i];
        int64_t latest = INT64_MIN;
        *instance = b->drafts[i].row;
        instance->first_member = row;
        for (uint32_t item = b->drafts[i].head; item != WEIR_NONE; item = b->lists->next[item]) {
            if (items[item].start_ns > latest) {
                latest = items[item].start_ns;
                instance->last_member = row;
            }
            m->members[row] = (weir_member){items[item].span, items[item].device, i};
            m->instance_of_span[items[item].span] = i;
            m->member_of_span[items[item].span] = row++;
        }
    }
    m->instance_count = b->count;
    m->member_count = row;
}

weir_code instances_build(const comm_items *items, const pair_lists *lists,
                          const uint32_t *component, weir_match *match, weir_err *err)
{
    builder b = {.items = items, .lists = lists, .component = component, .match = match};
    size_t room = (size_t)items->item_count + 1, count = 0;
    for (uint32_t k = 0; k < lists->count; k++) {
        count += lists->lists[k].count;
    }
    for (uint32_t i = items->item_count; i > 0 && items->items[i - 1].channel == WEIR_NONE; i--) {
        count++;
    }
    b.drafts = malloc((count + 1) * sizeof *b.drafts);
    b.chain = malloc(room * sizeof *b.chain);
    b.waits = calloc(room, sizeof *b.waits);
    b.wait_of_node = calloc((size_t)match->clock_count + 1, sizeof *b.wait_of_node);
    b.refused = calloc((size_t)match->clock_count + 1, sizeof *b.refused);
    match->instances = malloc((count + 1) * sizeof *match->instances);
    match->members = malloc(room * sizeof *match->members);
    bool done = b.drafts && b.chain && b.waits && b.wait_of_node && b.refused && match->instances &&
                match->members && add_lists(&b) && add_alone(&b) && judge_clocks(&b);
    if (done) {
        refuse_splits(&b);
        done = weir_sort(b.drafts, b.count, sizeof *b.drafts, compare_drafts, NULL);
    }
    if (done) {
        publish(&b);
    }
    free(b.drafts);
    free(b.chain);
    free(b.waits);
    free(b.wait_of_node);
    free(b.refused);
    return done ? WEIR_OK
                : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u collectives",
                               items->item_count);
}
