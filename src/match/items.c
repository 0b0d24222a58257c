#include "match/items.h"

#include "base/sort.h"
#include "match/groups.h"
#include "match/kinds.h"

#include <stdlib.h>
#include <string.h>

enum { CLASS_COLLECTIVE, CLASS_MESSAGE, CLASS_BATCH };

/* What makes two items members of the same channel. */
typedef struct {
    uint32_t cls;
    weir_group_id group;
    int32_t a, b; /* source and destination, or the stream of an unrecorded group and 0 */
} channel_key;

typedef struct {
    const weir_timeline *t;
    weir_spans spans;
    const weir_lane *lanes;
    const weir_rank *ranks;
    const weir_group *groups;
    comm_items *out;
    comm_told *told; /* by item, in order of span */
    group_use *uses;
    uint32_t use_count;
    uint32_t *first_use; /* by group row: its first use */
    int32_t *stream;     /* by device lane: class of its unrecorded collectives */
    uint32_t *slots;     /* hash table of channels */
    uint32_t slot_count;
    channel_key *keys; /* by channel */
} collect;

static weir_group_id recorded_group(const collect *c, weir_span_id span)
{
    const weir_comm *comm = weir_timeline_comm_of(c->t, span);
    return comm ? comm->group : WEIR_NONE;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Elements that nccl-tests counts as the size of the operation (its doc/PERFORMANCE.md). */
static uint64_t counted_elements(weir_comm_kind kind, const weir_comm *comm, uint32_t group_size)
{
    uint64_t in = comm->in_elements, out = comm->out_elements, total;
    switch (kind) {
    case WEIR_COMM_ALL_REDUCE:
    case WEIR_COMM_ALL_TO_ALL:
        return in ? in : out;
    case WEIR_COMM_ALL_GATHER:
        return out || __builtin_mul_overflow(in, (uint64_t)group_size, &total) ? out : total;
    case WEIR_COMM_REDUCE_SCATTER:
        return in || __builtin_mul_overflow(out, (uint64_t)group_size, &total) ? in : total;
    default:
        return larger(in, out);
    }
}

static uint64_t message_bytes(const collect *c, weir_span_id span, weir_comm_kind kind)
{
    const weir_comm *comm = weir_timeline_comm_of(c->t, span);
    uint64_t bytes;
    if (!comm) {
        return 0;
    }
    uint32_t size = comm->group == WEIR_NONE ? 0 : c->groups[comm->group].size;
    uint64_t elements = counted_elements(kind, comm, size);
    return __builtin_mul_overflow(elements, (uint64_t)comm->element_bytes, &bytes) ? 0 : bytes;
}

/* Counts the communication spans, then lists them in told. */
static weir_code list_spans(collect *c, const weir_match_options *options, weir_err *err)
{
    uint32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (weir_span_id s = 0; s < c->spans.device_count; s++) {
            if (c->spans.kind[s] == WEIR_SPAN_KERNEL && options->is_comm[c->spans.name[s]]) {
                if (pass == 1) {
                    c->told[count].span = s;
                }
                count++;
            }
        }
        if (pass == 0) {
            c->told = malloc(((size_t)count + 1) * sizeof *c->told);
            c->out->items = calloc((size_t)count + 1, sizeof *c->out->items);
            if (!c->told || !c->out->items) {
                return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u collectives", count);
            }
        }
    }
    c->out->item_count = count;
    return WEIR_OK;
}

static void fill_items(collect *c, const uint32_t *clock_of_rank)
{
    for (uint32_t i = 0; i < c->out->item_count; i++) {
        weir_span_id s = c->told[i].span;
        const weir_lane *lane = &c->lanes[c->spans.lane[s]];
        const weir_comm *comm = weir_timeline_comm_of(c->t, s);
        c->out->items[i] = (comm_item){
            .start_ns = c->spans.start_ns[s],
            .end_ns = c->spans.start_ns[s] + c->spans.dur_ns[s],
            /* The counter of messages is the rank's own, not the pair's. */
            .seq = comm && comm->group != WEIR_NONE && !c->told[i].is_message ? comm->seq : -1,
            .bytes = message_bytes(c, s, c->told[i].kind),
            .span = s,
            .device = lane->device,
            .channel = WEIR_NONE,
            .node = clock_of_rank[lane->rank],
            .kind = (uint8_t)c->told[i].kind,
            .is_message = c->told[i].is_message,
        };
    }
}

static bool collect_uses(collect *c)
{
    uint32_t group_count;
    weir_timeline_groups(c->t, &group_count);
    uint32_t count = c->out->item_count, kept = 0;
    weir_sort_pair *pairs = malloc(((size_t)count + 1) * sizeof *pairs);
    c->first_use = calloc((size_t)group_count + 1, sizeof *c->first_use);
    if (!pairs || !c->first_use) {
        free(pairs);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        weir_group_id group = recorded_group(c, c->told[i].span);
        uint32_t number = (uint32_t)c->ranks[c->lanes[c->spans.lane[c->told[i].span]].rank].number;
        uint64_t key = (uint64_t)group << 32 | (number ^ 0x80000000u);
        if (group < group_count && (kept == 0 || pairs[kept - 1].key != key)) {
            pairs[kept++] = (weir_sort_pair){key, 0};
        }
    }
    bool done = weir_sort_pairs(pairs, kept);
    c->uses = done ? calloc((size_t)kept + 1, sizeof *c->uses) : NULL;
    for (uint32_t i = 0; c->uses && i < kept; i++) {
        if (i > 0 && pairs[i].key == pairs[i - 1].key) {
            continue;
        }
        weir_group_id row = (weir_group_id)(pairs[i].key >> 32);
        if (c->use_count == 0 || c->uses[c->use_count - 1].row != row) {
            c->first_use[row] = c->use_count;
        }
        int32_t number = (int32_t)((uint32_t)pairs[i].key ^ 0x80000000u);
        c->uses[c->use_count++] = (group_use){.row = row, .number = number, .same = row};
    }
    free(pairs);
    return c->uses != NULL;
}

static weir_group_id united_group(const collect *c, weir_group_id row, int32_t number)
{
    if (row == WEIR_NONE) {
        return WEIR_NONE;
    }
    uint32_t u = c->first_use[row];
    while (u < c->use_count && c->uses[u].row == row) {
        if (c->uses[u].number == number) {
            return c->uses[u].same;
        }
        u++;
    }
    return row;
}

/* --- unrecorded groups: one for each communication stream of a device --- */

static bool needs_stream(const collect *c, uint32_t item)
{
    return !c->told[item].is_message && recorded_group(c, c->told[item].span) == WEIR_NONE;
}

/* Streams get their classes by order where every device has equally many of them (the numbers may
 * differ between processes), else by number. */
static bool class_streams(collect *c)
{
    uint32_t lane_count, device_count, most = 0, least = UINT32_MAX;
    weir_timeline_lanes(c->t, &lane_count);
    const weir_device *devices = weir_timeline_devices(c->t, &device_count);
    c->stream = malloc(((size_t)lane_count + 1) * sizeof *c->stream);
    if (!c->stream) {
        return false;
    }
    memset(c->stream, 0xff, ((size_t)lane_count + 1) * sizeof *c->stream);
    for (uint32_t i = 0; i < c->out->item_count; i++) {
        if (needs_stream(c, i)) {
            c->stream[c->spans.lane[c->told[i].span]] = 0;
        }
    }
    for (uint32_t d = 0; d < device_count; d++) {
        uint32_t used = 0;
        for (uint32_t l = 0; l < devices[d].lane_count; l++) {
            int32_t *stream = &c->stream[devices[d].first_lane + l];
            if (*stream >= 0) {
                *stream = (int32_t)used++;
            }
        }
        most = used > most ? used : most;
        least = used > 0 && used < least ? used : least;
    }
    for (uint32_t l = 0; most != least && l < lane_count; l++) {
        if (c->stream[l] >= 0) {
            c->stream[l] = (int32_t)(c->lanes[l].number & INT32_MAX);
        }
    }
    return true;
}

/* --- messages --- */

static bool group_holds(const weir_group *g, int32_t index, int32_t number)
{
    return g && index >= 0 && (uint32_t)index < g->rank_count && g->ranks[index] == number;
}

/* The one other member where there is only one. */
static int32_t only_peer(const weir_group *g, const weir_rank *rank)
{
    if (g && g->rank_count == 2) {
        return g->ranks[0] == rank->number ? g->ranks[1] : g->ranks[0];
    }
    return !g && rank->world_size == 2 && (rank->number == 0 || rank->number == 1)
               ? 1 - rank->number
               : -1;
}

/* Global ranks of source and destination. Some versions count ranks within the group: told by the
 * rank's own end. false: the peer is not known. */
static bool message_ends(const weir_group *g, const weir_rank *rank, const comm_told *told,
                         channel_key *key)
{
    bool sends = told->kind == WEIR_COMM_SEND;
    int32_t own = sends ? told->src : told->dst, peer = sends ? told->dst : told->src;
    if (own >= 0 && own != rank->number) {
        bool within = group_holds(g, own, rank->number);
        peer = within && peer >= 0 && (uint32_t)peer < g->rank_count ? g->ranks[peer] : -1;
    }
    if (peer < 0) {
        peer = only_peer(g, rank);
    }
    key->a = sends ? rank->number : peer;
    key->b = sends ? peer : rank->number;
    return peer >= 0 && peer != rank->number;
}

/* false: the item stays alone. */
static bool key_of(const collect *c, uint32_t item, channel_key *key)
{
    const comm_told *told = &c->told[item];
    weir_lane_id lane = c->spans.lane[told->span];
    const weir_rank *rank = &c->ranks[c->lanes[lane].rank];
    weir_group_id row = recorded_group(c, told->span);
    *key = (channel_key){.group = united_group(c, row, rank->number)};
    const weir_group *g = key->group == WEIR_NONE ? NULL : &c->groups[key->group];
    if (told->kind == WEIR_COMM_SEND || told->kind == WEIR_COMM_RECV) {
        key->cls = CLASS_MESSAGE;
        return message_ends(g, rank, told, key);
    }
    if (told->is_message) { /* sends and receives in one kernel */
        key->cls = CLASS_BATCH;
        return g && g->size == 2;
    }
    key->cls = CLASS_COLLECTIVE;
    key->a = key->group == WEIR_NONE ? c->stream[lane] : 0;
    return true;
}

/* --- channels --- */

static uint64_t hash_key(const channel_key *key)
{
    uint64_t h = (uint64_t)key->cls << 32 | key->group;
    h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u + (uint32_t)key->a;
    h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u + (uint32_t)key->b;
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static bool grow_channels(collect *c)
{
    uint32_t slot_count = c->slot_count ? 2 * c->slot_count : 256;
    uint32_t *slots = malloc(slot_count * sizeof *slots);
    channel_key *keys = realloc(c->keys, slot_count / 2 * sizeof *keys);
    c->keys = keys ? keys : c->keys;
    if (!slots || !keys) {
        free(slots);
        return false;
    }
    memset(slots, 0xff, slot_count * sizeof *slots);
    for (uint32_t i = 0; i < c->out->channel_count; i++) {
        uint32_t at = (uint32_t)hash_key(&keys[i]) & (slot_count - 1);
        while (slots[at] != WEIR_NONE) {
            at = (at + 1) & (slot_count - 1);
        }
        slots[at] = i;
    }
    free(c->slots);
    c->slots = slots;
    c->slot_count = slot_count;
    return true;
}

static bool channel_of(collect *c, const channel_key *key, uint32_t *channel)
{
    if (2 * (c->out->channel_count + 1) > c->slot_count && !grow_channels(c)) {
        return false;
    }
    uint32_t at = (uint32_t)hash_key(key) & (c->slot_count - 1);
    while (c->slots[at] != WEIR_NONE) {
        const channel_key *k = &c->keys[c->slots[at]];
        if (k->cls == key->cls && k->group == key->group && k->a == key->a && k->b == key->b) {
            *channel = c->slots[at];
            return true;
        }
        at = (at + 1) & (c->slot_count - 1);
    }
    *channel = c->slots[at] = c->out->channel_count;
    c->keys[c->out->channel_count++] = *key;
    return true;
}

static bool assign_channels(collect *c)
{
    for (uint32_t i = 0; i < c->out->item_count; i++) {
        channel_key key;
        if (key_of(c, i, &key) && !channel_of(c, &key, &c->out->items[i].channel)) {
            return false;
        }
    }
    return true;
}

/* By (channel, device, start, span). */
static bool sort_items(comm_items *out)
{
    uint32_t count = out->item_count;
    weir_sort_pair *pairs = malloc(((size_t)count + 1) * sizeof *pairs);
    comm_item *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    bool done = pairs && sorted;
    for (uint32_t i = 0; done && i < count; i++) {
        pairs[i] = (weir_sort_pair){(uint64_t)out->items[i].start_ns ^ 1ull << 63, i};
    }
    done = done && weir_sort_pairs(pairs, count);
    for (uint32_t i = 0; done && i < count; i++) {
        const comm_item *item = &out->items[pairs[i].value];
        pairs[i].key = (uint64_t)item->channel << 32 | item->device;
    }
    done = done && weir_sort_pairs(pairs, count);
    for (uint32_t i = 0; done && i < count; i++) {
        sorted[i] = out->items[pairs[i].value];
    }
    free(pairs);
    if (!done) {
        free(sorted);
        return false;
    }
    free(out->items);
    out->items = sorted;
    return true;
}

/* One process may drive several devices of a group: each is a member, the recorded size counts
 * processes. */
static uint32_t more_devices_than_ranks(const collect *c, const comm_channel *channel)
{
    uint32_t device_count, more = 0;
    const weir_device *devices = weir_timeline_devices(c->t, &device_count);
    weir_device_id last = WEIR_NONE;
    for (uint32_t i = 0; i < channel->item_count; i++) {
        weir_device_id d = c->out->items[channel->first_item + i].device;
        more += last != WEIR_NONE && d != last && devices[d].rank == devices[last].rank;
        last = d;
    }
    return more;
}

/* Members of a collective whose group was not recorded: all ranks. */
static bool count_world(collect *c)
{
    uint32_t rank_count, device_count, users = 0;
    const weir_rank *ranks = weir_timeline_ranks(c->t, &rank_count);
    weir_timeline_devices(c->t, &device_count);
    uint32_t world = 0;
    for (uint32_t r = 0; r < rank_count; r++) {
        world = ranks[r].world_size > world ? ranks[r].world_size : world;
    }
    bool *used = calloc((size_t)device_count + 1, sizeof *used);
    if (!used) {
        return false;
    }
    for (uint32_t i = 0; i < c->out->item_count; i++) {
        users += !used[c->out->items[i].device];
        used[c->out->items[i].device] = true;
    }
    free(used);
    c->out->whole = users > 1 && users >= world;
    /* A lone device without a known world: nobody knows how many there are. */
    c->out->world = users > world && (users > 1 || world > 0) ? users : world;
    return true;
}

static bool fill_channels(collect *c)
{
    comm_items *out = c->out;
    out->channels = calloc((size_t)out->channel_count + 1, sizeof *out->channels);
    if (!out->channels) {
        return false;
    }
    for (uint32_t i = 0; out->items && i < out->item_count; i++) {
        const comm_item *item = &out->items[i];
        if (item->channel == WEIR_NONE) {
            break;
        }
        comm_channel *channel = &out->channels[item->channel];
        if (channel->item_count++ == 0) {
            channel->first_item = i;
            channel->exact = true;
        }
        channel->exact = channel->exact && item->seq >= 0;
    }
    for (uint32_t k = 0; c->keys && k < out->channel_count; k++) {
        comm_channel *channel = &out->channels[k];
        channel->group = c->keys[k].group;
        channel->is_message = c->keys[k].cls != CLASS_COLLECTIVE;
        if (c->keys[k].cls == CLASS_MESSAGE) {
            channel->size = 2;
        } else if (channel->group == WEIR_NONE) {
            channel->size = out->world;
        } else {
            const weir_group *g = &c->groups[channel->group];
            channel->size = g->size ? g->size : g->rank_count;
            channel->size += channel->size ? more_devices_than_ranks(c, channel) : 0;
        }
    }
    return true;
}

weir_code items_collect(const weir_timeline *t, const weir_match_options *options,
                        const weir_span_id *launch, const uint32_t *clock_of_rank,
                        comm_items *items, weir_err *err)
{
    uint32_t count;
    collect c = {.t = t, .spans = weir_timeline_spans(t), .out = items};
    memset(items, 0, sizeof *items);
    c.lanes = weir_timeline_lanes(t, &count);
    c.ranks = weir_timeline_ranks(t, &count);
    c.groups = weir_timeline_groups(t, &count);
    weir_code code = list_spans(&c, options, err);
    if (code == WEIR_OK) {
        code = kinds_resolve(t, options, launch, c.told, items->item_count, err);
    }
    if (code == WEIR_OK) {
        fill_items(&c, clock_of_rank);
        code = collect_uses(&c) ? groups_unite(t, c.uses, c.use_count, err) : WEIR_ERR_MEMORY;
    }
    if (code == WEIR_OK) {
        bool done = count_world(&c) && class_streams(&c) && assign_channels(&c) &&
                    sort_items(items) && fill_channels(&c);
        code = done ? WEIR_OK : WEIR_ERR_MEMORY;
    }
    free(c.told);
    free(c.uses);
    free(c.first_use);
    free(c.stream);
    free(c.slots);
    free(c.keys);
    if (code != WEIR_OK) {
        items_clear(items);
        return weir_err_set(err, code, "no memory for %u collectives", count);
    }
    return WEIR_OK;
}

void items_clear(comm_items *items)
{
    free(items->items);
    free(items->channels);
    memset(items, 0, sizeof *items);
}
