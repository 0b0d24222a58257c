#include "match/kinds.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
    TELLS_COALESCED = WEIR_COMM_KIND_COUNT, /* a batch of messages in one kernel */
    TELLS_NOTHING,
    TELLS_NOT_LOOKED_AT = 255,
};

/* Operations by the letters of their names; the first that fits: longer names come first. Seen:
 * "nccl:all_to_all", "nccl:send 0->1", "nccl:coalesced", "c10d::_allgather_base_". */
static const struct {
    const char *letters;
    uint8_t tells;
} operations[] = {
    {"alltoall", WEIR_COMM_ALL_TO_ALL},
    {"allreduce", WEIR_COMM_ALL_REDUCE},
    {"allgather", WEIR_COMM_ALL_GATHER},
    {"reducescatter", WEIR_COMM_REDUCE_SCATTER},
    {"broadcast", WEIR_COMM_BROADCAST},
    {"barrier", WEIR_COMM_BARRIER},
    {"reduce", WEIR_COMM_REDUCE},
    {"gather", WEIR_COMM_GATHER},
    {"scatter", WEIR_COMM_SCATTER},
    {"send", WEIR_COMM_SEND},
    {"recv", WEIR_COMM_RECV},
    {"batchisendirecv", TELLS_COALESCED},
    {"coalesced", TELLS_COALESCED},
};

static const char *const prefixes[] = {"nccl:", "rccl:", "hccl:", "xccl:", "mccl:", "c10d::"};

/* Keeps the letters of text, in lower case, as far as they fit. */
static void letters_of(weir_str text, char *letters, size_t size)
{
    size_t n = 0;
    for (uint32_t i = 0; i < text.n && n + 1 < size; i++) {
        char c = text.p[i];
        if (c >= 'A' && c <= 'Z') {
            letters[n++] = (char)(c - 'A' + 'a');
        } else if (c >= 'a' && c <= 'z') {
            letters[n++] = c;
        }
    }
    letters[n] = '\0';
}

static uint8_t name_tells(weir_str name)
{
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
        weir_str prefix = weir_str_from(prefixes[p]);
        if (!weir_str_starts(name, prefix)) {
            continue;
        }
        char letters[32];
        letters_of((weir_str){name.p + prefix.n, name.n - prefix.n}, letters, sizeof letters);
        for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
            size_t n = strlen(operations[o].letters);
            if (strncmp(letters, operations[o].letters, n) == 0) {
                return operations[o].tells;
            }
        }
    }
    return TELLS_NOTHING;
}

/* "send 3->5", "recv 3<-5": the rank itself and its peer, as the process group numbers them. */
static bool parse_ends(weir_str name, int32_t *own, int32_t *peer)
{
    uint32_t i = weir_str_find(name, WEIR_STR(" "), 0);
    int32_t *number[2] = {own, peer};
    for (int k = 0; k < 2; k++) {
        while (i < name.n && (name.p[i] < '0' || name.p[i] > '9')) {
            i++;
        }
        if (i == name.n) {
            return false;
        }
        int32_t value = 0;
        for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9'; i++) {
            if (value > (INT32_MAX - 9) / 10) {
                return false;
            }
            value = value * 10 + (name.p[i] - '0');
        }
        *number[k] = value;
    }
    return true;
}

static void apply_annotation(comm_told *told, uint8_t tells, weir_str name)
{
    bool open = told->kind == WEIR_COMM_SEND_RECV || told->kind == WEIR_COMM_UNKNOWN;
    if (open && tells == TELLS_COALESCED) {
        /* Other coalesced collectives have kernels of their own name. */
        told->is_message = told->kind == WEIR_COMM_SEND_RECV;
        return;
    }
    if (open && tells < WEIR_COMM_KIND_COUNT) {
        told->kind = (weir_comm_kind)tells;
        told->is_message = tells == WEIR_COMM_SEND || tells == WEIR_COMM_RECV;
    }
    int32_t own, peer;
    if (told->is_message && told->src < 0 && told->dst < 0 && tells == told->kind &&
        parse_ends(name, &own, &peer)) {
        told->src = told->kind == WEIR_COMM_SEND ? own : peer;
        told->dst = told->kind == WEIR_COMM_SEND ? peer : own;
    }
}

/* What the profiler recorded and what the kernel is called. */
static void apply_record(const weir_timeline *t, const weir_match_options *options, comm_told *told)
{
    weir_spans spans = weir_timeline_spans(t);
    uint32_t lane_count, rank_count;
    const weir_lane *lanes = weir_timeline_lanes(t, &lane_count);
    const weir_rank *ranks = weir_timeline_ranks(t, &rank_count);
    const weir_comm *comm = weir_timeline_comm_of(t, told->span);
    told->kind = comm ? comm->kind : WEIR_COMM_UNKNOWN;
    told->src = comm ? comm->src_rank : -1;
    told->dst = comm ? comm->dst_rank : -1;
    if (told->kind == WEIR_COMM_UNKNOWN) {
        told->kind = options->kind_of[spans.name[told->span]];
    }
    if (told->kind == WEIR_COMM_SEND_RECV && told->src >= 0 && told->dst >= 0 &&
        told->src != told->dst) {
        int32_t own = ranks[lanes[spans.lane[told->span]].rank].number;
        told->kind = own == told->dst ? WEIR_COMM_RECV : WEIR_COMM_SEND;
    } else if (told->kind == WEIR_COMM_SEND_RECV && comm && comm->in_elements > 0 &&
               comm->out_elements > 0) {
        told->kind = WEIR_COMM_ALL_TO_ALL;
    }
    told->is_message = told->kind == WEIR_COMM_SEND || told->kind == WEIR_COMM_RECV;
}

static bool wants_annotation(const comm_told *told)
{
    return told->kind == WEIR_COMM_SEND_RECV || told->kind == WEIR_COMM_UNKNOWN ||
           (told->is_message && told->src < 0 && told->dst < 0);
}

/* Host spans that may tell something and have begun, innermost last. */
typedef struct {
    weir_span_id *spans;
    uint32_t count, capacity;
} open_spans;

static bool open_push(open_spans *open, weir_span_id span)
{
    if (open->count == open->capacity) {
        uint32_t capacity = open->capacity ? 2 * open->capacity : 64;
        weir_span_id *grown = realloc(open->spans, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        open->spans = grown;
        open->capacity = capacity;
    }
    open->spans[open->count++] = span;
    return true;
}

typedef struct {
    const weir_timeline *t;
    weir_spans spans;
    uint8_t *tells; /* by name id */
    open_spans open;
} annotation_search;

static uint8_t tells_of(annotation_search *search, weir_span_id span)
{
    weir_name_id name = search->spans.name[span];
    if (search->tells[name] == TELLS_NOT_LOOKED_AT) {
        search->tells[name] = name_tells(weir_timeline_name(search->t, name));
    }
    return search->tells[name];
}

static int64_t end_of(const annotation_search *search, weir_span_id span)
{
    return search->spans.start_ns[span] + search->spans.dur_ns[span];
}

/* Opens the spans of the lane up to the launch and closes those that ended before it. */
static bool search_advance(annotation_search *search, weir_span_id *next, weir_span_id launch)
{
    for (; *next <= launch; (*next)++) {
        uint8_t kind = search->spans.kind[*next];
        if ((kind != WEIR_SPAN_ANNOTATION && kind != WEIR_SPAN_OP) ||
            tells_of(search, *next) == TELLS_NOTHING) {
            continue;
        }
        open_spans *open = &search->open;
        while (open->count > 0 &&
               end_of(search, open->spans[open->count - 1]) <= search->spans.start_ns[*next]) {
            open->count--;
        }
        if (!open_push(open, *next)) {
            return false;
        }
    }
    return true;
}

static void search_apply(annotation_search *search, weir_span_id launch, comm_told *told)
{
    for (uint32_t i = search->open.count; i-- > 0;) {
        weir_span_id around = search->open.spans[i];
        if (end_of(search, around) >= end_of(search, launch)) {
            apply_annotation(told, tells_of(search, around),
                             weir_timeline_name(search->t, search->spans.name[around]));
            return;
        }
    }
}

/* wanted: launches (key) of told[value], ascending. */
static bool search_all(annotation_search *search, const weir_sort_pair *wanted, uint32_t count,
                       comm_told *told)
{
    uint32_t lane_count;
    const weir_lane *lanes = weir_timeline_lanes(search->t, &lane_count);
    weir_lane_id lane = WEIR_NONE;
    weir_span_id next = 0;
    for (uint32_t i = 0; i < count; i++) {
        weir_span_id launch = (weir_span_id)wanted[i].key;
        if (search->spans.lane[launch] != lane) {
            lane = search->spans.lane[launch];
            next = lanes[lane].first_span;
            search->open.count = 0;
        }
        if (!search_advance(search, &next, launch)) {
            return false;
        }
        search_apply(search, launch, &told[wanted[i].value]);
    }
    return true;
}

weir_code kinds_resolve(const weir_timeline *t, const weir_match_options *options,
                        const weir_span_id *launch, comm_told *told, uint32_t count, weir_err *err)
{
    size_t name_count = weir_timeline_name_count(t);
    annotation_search search = {.t = t, .spans = weir_timeline_spans(t)};
    search.tells = malloc(name_count + 1);
    weir_sort_pair *wanted = malloc(((size_t)count + 1) * sizeof *wanted);
    bool done = search.tells && wanted;
    uint32_t wanted_count = 0;
    if (done) {
        memset(search.tells, TELLS_NOT_LOOKED_AT, name_count + 1);
    }
    for (uint32_t i = 0; done && i < count; i++) {
        apply_record(t, options, &told[i]);
        weir_span_id by = launch[told[i].span];
        if (by != WEIR_NONE && wants_annotation(&told[i])) {
            wanted[wanted_count++] = (weir_sort_pair){.key = by, .value = i};
        }
    }
    done = done && weir_sort_pairs(wanted, wanted_count) &&
           search_all(&search, wanted, wanted_count, told);
    free(search.open.spans);
    free(search.tells);
    free(wanted);
    return done ? WEIR_OK
                : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u collectives", count);
}
