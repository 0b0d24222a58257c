#include "match/pairing.h"

#include "base/sort.h"
#include "match/median.h"

#include <stdlib.h>
#include <string.h>

/* Where no group was recorded, lists are of one group if their ends agree: within ten times what
 * the closest two do (medians of 8 to 60 us were seen in one group: torchrec, 4 V100), but never
 * worse than MOST, and always within LEAST. */
static const int64_t SAME_GROUP_MOST_NS = 200000;
static const int64_t SAME_GROUP_LEAST_NS = 30000;

/* So many lists of a channel are compared to find the closest two, and to find a list's group. */
enum { CLOSEST_OF = 16, GROUPS_TRIED = 64 };

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

static bool may_share_clock(const align_list *a, const align_list *b, const uint32_t *component)
{
    return component ? component[a->node] == component[b->node] : a->node == b->node;
}

/* How far apart the aligned lists end: the median over pairs of kinds that end together. */
static int64_t spread(merger *m, const align_list *a, const align_list *b, int64_t slack_ns)
{
    size_t firm = 0, pairs = 0;
    align_any(a, b, slack_ns, m->of);
    for (uint32_t j = 0; j < b->count; j++) {
        if (m->of[j] == WEIR_NONE) {
            continue;
        }
        const align_entry *x = &a->entries[m->of[j]], *y = &b->entries[j];
        pairs++;
        if (align_level(x) < 2 && align_level(y) < 2) {
            m->distance[firm++] = llabs(x->anchor_ns - y->anchor_ns);
        }
    }
    return pairs > 0 ? median_ns(m->distance, firm) : INT64_MAX;
}

/* How far apart two lists of a channel without recorded group may end to be of one group. component
 * is NULL within nodes; over nodes, lists of one node are of different groups already. */
static bool same_group_limit(merger *m, const align_list *lists, uint32_t count,
                             const uint32_t *component, int64_t *limit_ns)
{
    int64_t closest = INT64_MAX;
    uint32_t n = count < CLOSEST_OF ? count : CLOSEST_OF;
    for (uint32_t b = 1; b < n; b++) {
        if (!make_room(m, lists[b].count)) {
            return false;
        }
        for (uint32_t a = 0; a < b; a++) {
            bool comparable = may_share_clock(&lists[a], &lists[b], component) &&
                              (!component || lists[a].node != lists[b].node);
            int64_t apart =
                comparable ? spread(m, &lists[a], &lists[b], ALIGN_SLACK_NS) : INT64_MAX;
            closest = apart < closest ? apart : closest;
        }
    }
    *limit_ns = closest < SAME_GROUP_MOST_NS / 10 ? 10 * closest : SAME_GROUP_MOST_NS;
    *limit_ns = *limit_ns < SAME_GROUP_LEAST_NS ? SAME_GROUP_LEAST_NS : *limit_ns;
    return true;
}

/* Which lists a list may be merged with. */
typedef struct {
    uint32_t from;             /* the first of its channel */
    const uint32_t *component; /* NULL: those of its node, else of the nodes on its clock */
    int64_t slack_ns;
    bool recorded;    /* the group is known: any of them is right */
    int64_t limit_ns; /* otherwise, how far apart they may end */
} merge_rule;

static uint32_t find_partner(merger *m, const align_list *list, const merge_rule *rule)
{
    uint32_t tried = 0, best = WEIR_NONE;
    int64_t least = INT64_MAX;
    for (uint32_t k = rule->from; k < m->lists->count && tried < GROUPS_TRIED; k++) {
        const align_list *to = &m->lists->lists[k];
        if (!may_share_clock(to, list, rule->component)) {
            continue;
        }
        if (rule->recorded) {
            return k;
        }
        tried++;
        int64_t apart = spread(m, to, list, rule->slack_ns);
        if (apart < least && apart <= rule->limit_ns) {
            least = apart;
            best = k;
        }
    }
    return best;
}

/* Merges the list into the one that fits best, or adds it. */
static bool add_list(merger *m, align_list *list, const merge_rule *rule)
{
    if (!make_room(m, list->count)) {
        return false;
    }
    uint32_t k = find_partner(m, list, rule);
    if (k == WEIR_NONE) {
        return push_list(m->lists, list);
    }
    align_any(&m->lists->lists[k], list, rule->slack_ns, m->of);
    return merge_lists(m->lists->next, &m->lists->lists[k], list, m->of);
}

static bool is_recorded(const comm_channel *channel)
{
    return channel->group != WEIR_NONE || channel->is_message;
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

/* One list for each device of the channel; the caller frees the lists and their entries. */
static bool list_devices(const comm_items *items, const comm_channel *channel, pair_lists *devices)
{
    uint32_t end = channel->first_item + channel->item_count;
    for (uint32_t i = channel->first_item, stop; i < end; i = stop) {
        for (stop = i + 1; stop < end && items->items[stop].device == items->items[i].device;) {
            stop++;
        }
        align_list list;
        if (!list_of_items(items, i, stop - i, &list)) {
            return false;
        }
        if (!push_list(devices, &list)) {
            free(list.entries);
            return false;
        }
    }
    return true;
}

/* Merges lists of one channel into those of the merger. */
static bool merge_channel(merger *m, align_list *lists, uint32_t count, merge_rule rule,
                          const int64_t *residual_ns)
{
    rule.recorded = is_recorded(&m->items->channels[lists[0].channel]);
    if (!rule.recorded && !same_group_limit(m, lists, count, rule.component, &rule.limit_ns)) {
        return false;
    }
    int64_t limit_ns = rule.limit_ns;
    for (uint32_t k = 0; k < count; k++) {
        rule.slack_ns = align_slack_ns(residual_ns ? residual_ns[lists[k].node] : 0);
        rule.limit_ns = limit_ns + rule.slack_ns - ALIGN_SLACK_NS;
        if (!add_list(m, &lists[k], &rule)) {
            return false;
        }
        lists[k].entries = NULL; /* taken over */
    }
    return true;
}

static bool pair_channel(merger *m, const comm_channel *channel)
{
    pair_lists devices = {0};
    merge_rule rule = {.from = m->lists->count};
    bool done = list_devices(m->items, channel, &devices) &&
                merge_channel(m, devices.lists, devices.count, rule, NULL);
    pair_lists_clear(&devices);
    return done;
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
    bool done = true;
    for (uint32_t from = 0, to; done && from < lists->count; from = to) {
        for (to = from + 1; to < lists->count;) {
            if (lists->lists[to].channel != lists->lists[from].channel) {
                break;
            }
            to++;
        }
        merge_rule rule = {.from = merged.count, .component = component};
        done = merge_channel(&m, &lists->lists[from], to - from, rule, residual_ns);
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

void pair_set_times(const comm_items *items, const pair_lists *lists, align_entry *entry)
{
    entry->arrival_ns = entry->end_ns = INT64_MIN;
    entry->first_end_ns = INT64_MAX;
    for (uint32_t i = entry->head; i != WEIR_NONE; i = lists->next[i]) {
        const comm_item *item = &items->items[i];
        entry->arrival_ns = item->start_ns > entry->arrival_ns ? item->start_ns : entry->arrival_ns;
        entry->end_ns = item->end_ns > entry->end_ns ? item->end_ns : entry->end_ns;
        entry->first_end_ns =
            item->end_ns < entry->first_end_ns ? item->end_ns : entry->first_end_ns;
    }
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
