/* One device, moment by moment: which row of DESIGN 2.1 decides, and what its span is.
 *
 * Every span becomes one to three pieces (waiting, transfer, unsplit for communication). A piece
 * joins the heap of its row when it begins and leaves lazily when it has ended; the top of a heap
 * is the span that started first (tie: lower id). */
#include "base/grow.h"
#include "base/sort.h"
#include "ledger/run.h"

#include <stdlib.h>
#include <string.h>

typedef enum {
    ROW_MATH = 0,
    ROW_MEMORY,
    ROW_TRANSFER,
    ROW_UNSPLIT,
    ROW_ARRIVAL,
    ROW_COPY,
    ROW_COUNT
} row;

typedef struct {
    int64_t begin_ns, end_ns;
    weir_span_id span;
    uint8_t row;
} piece;

typedef struct {
    uint32_t *items; /* piece indices */
    uint32_t count, capacity;
} heap;

typedef struct {
    ledger_run *run;
    line_writer writer;
    piece *pieces;
    uint32_t piece_count, piece_capacity;
    heap rows[ROW_COUNT];
    bool failed;
} sweep;

static bool starts_before(const sweep *s, uint32_t a, uint32_t b)
{
    const weir_spans *spans = &s->run->spans;
    weir_span_id x = s->pieces[a].span, y = s->pieces[b].span;
    return spans->start_ns[x] != spans->start_ns[y] ? spans->start_ns[x] < spans->start_ns[y]
                                                    : x < y;
}

static void heap_push(sweep *s, heap *h, uint32_t item)
{
    if (!weir_grow(&h->items, h->count, &h->capacity, sizeof *h->items)) {
        s->failed = true;
        return;
    }
    uint32_t i = h->count++;
    for (; i > 0 && starts_before(s, item, h->items[(i - 1) / 2]); i = (i - 1) / 2) {
        h->items[i] = h->items[(i - 1) / 2];
    }
    h->items[i] = item;
}

static void heap_pop(const sweep *s, heap *h)
{
    uint32_t item = h->items[--h->count], i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= h->count) {
            break;
        }
        if (child + 1 < h->count && starts_before(s, h->items[child + 1], h->items[child])) {
            child++;
        }
        if (!starts_before(s, h->items[child], item)) {
            break;
        }
        h->items[i] = h->items[child];
        i = child;
    }
    h->items[i] = item;
}

/* The deciding piece of a row at t, or NULL. */
static const piece *heap_top(const sweep *s, heap *h, int64_t t)
{
    while (h->count && s->pieces[h->items[0]].end_ns <= t) {
        heap_pop(s, h);
    }
    return h->count ? &s->pieces[h->items[0]] : NULL;
}

static void piece_add(sweep *s, weir_span_id span, row r, int64_t begin, int64_t end)
{
    if (begin >= end) {
        return;
    }
    if (!weir_grow(&s->pieces, s->piece_count, &s->piece_capacity, sizeof *s->pieces)) {
        s->failed = true;
        return;
    }
    s->pieces[s->piece_count++] = (piece){begin, end, span, (uint8_t)r};
}

static void span_pieces(sweep *s, weir_span_id span)
{
    const ledger_run *run = s->run;
    int64_t begin = run->spans.start_ns[span], end = ledger_end(run, span);
    switch ((weir_class)run->in->classes->cls[span]) {
    case WEIR_CLASS_MATH:
        piece_add(s, span, ROW_MATH, begin, end);
        return;
    case WEIR_CLASS_MEMORY:
        piece_add(s, span, ROW_MEMORY, begin, end);
        return;
    case WEIR_CLASS_COPY:
        piece_add(s, span, ROW_COPY, begin, end);
        return;
    case WEIR_CLASS_COMM:
    case WEIR_CLASS_COUNT:
        break;
    }
    uint32_t member = run->in->match->member_of_span[span];
    if (member == WEIR_NONE) { /* communication that could not be paired at all */
        piece_add(s, span, ROW_UNSPLIT, begin, end);
        return;
    }
    const member_split *split = &run->split[member];
    piece_add(s, span, ROW_ARRIVAL, begin, split->arrived_ns);
    piece_add(s, span, ROW_TRANSFER, split->arrived_ns, split->unsplit_ns);
    piece_add(s, span, ROW_UNSPLIT, split->unsplit_ns, end);
}

/* By begin, then span. */
static int piece_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const piece *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    return (x->span > y->span) - (x->span < y->span);
}

static void pieces_collect(sweep *s, weir_device_id id)
{
    const ledger_run *run = s->run;
    const weir_device *device = &run->devices[id];
    for (uint32_t i = 0; i < device->lane_count; i++) {
        const weir_lane *lane = &run->lanes[device->first_lane + i];
        for (uint32_t k = 0; k < lane->span_count; k++) {
            span_pieces(s, lane->first_span + k);
        }
    }
    s->failed =
        s->failed || !weir_sort(s->pieces, s->piece_count, sizeof *s->pieces, piece_compare, NULL);
}

static weir_cause arrival_cause(const ledger_run *run, uint32_t instance)
{
    return run->in->match->instances[instance].is_message ? WEIR_CAUSE_DEPENDENCY_BUBBLE
                                                          : WEIR_CAUSE_DEPENDENCY_STRAGGLER;
}

static void deciding_line(sweep *s, const piece *p, int64_t t, int64_t next, uint32_t hidden)
{
    ledger_run *run = s->run;
    line_part part = {.begin_ns = t,
                      .end_ns = next,
                      .span = p->span,
                      .instance = WEIR_NONE,
                      .cause = (weir_cause)run->in->classes->cause[p->span],
                      .hidden = hidden};
    if (p->row >= ROW_TRANSFER && p->row <= ROW_ARRIVAL) {
        uint32_t member = run->in->match->member_of_span[p->span];
        part.instance = member == WEIR_NONE ? WEIR_NONE : run->in->match->members[member].instance;
        if (p->row == ROW_ARRIVAL) {
            part.cause = arrival_cause(run, part.instance);
        } else if (p->row == ROW_UNSPLIT) {
            part.cause = WEIR_CAUSE_COMMUNICATION_UNSPLIT;
        } else {
            part.typical_ns = run->split[member].typical_ns;
            part.actual_ns = run->split[member].unsplit_ns - run->split[member].arrived_ns;
        }
    } else if (hidden & (HIDDEN_TRANSFER | HIDDEN_ARRIVAL)) {
        run->beside_comm[p->span] = 1;
    }
    ledger_line(&s->writer, &part);
}

/* The span of the device that begins next at or behind piece `at`; pieces that begin a span. */
static weir_span_id next_span(const sweep *s, uint32_t at)
{
    return at < s->piece_count ? s->pieces[at].span : WEIR_NONE;
}

/* One line from t on: returns where it ends. */
static int64_t sweep_step(sweep *s, int64_t t, int64_t until, uint32_t at, weir_span_id *last)
{
    const piece *decider = NULL;
    int64_t next = until;
    uint32_t hidden = 0;
    for (int r = 0; r < ROW_COUNT; r++) {
        const piece *top = heap_top(s, &s->rows[r], t);
        if (!top) {
            continue;
        }
        next = top->end_ns < next ? top->end_ns : next;
        if (!decider) {
            decider = top;
        } else if (decider->row <= ROW_MEMORY && r >= ROW_TRANSFER) {
            hidden |= r == ROW_COPY      ? HIDDEN_COPY
                      : r == ROW_ARRIVAL ? HIDDEN_ARRIVAL
                                         : HIDDEN_TRANSFER;
        }
    }
    if (decider) {
        *last = decider->span;
        deciding_line(s, decider, t, next, hidden);
    } else {
        ledger_idle(&s->writer, t, next, next_span(s, at), *last);
    }
    return next;
}

static void sweep_run(sweep *s, int64_t begin, int64_t end)
{
    uint32_t at = 0;
    weir_span_id last = WEIR_NONE;
    for (int64_t t = begin; t < end && !s->failed && !s->writer.device->failed;) {
        while (at < s->piece_count && s->pieces[at].begin_ns <= t) {
            heap_push(s, &s->rows[s->pieces[at].row], at);
            at++;
        }
        int64_t until =
            at < s->piece_count && s->pieces[at].begin_ns < end ? s->pieces[at].begin_ns : end;
        t = sweep_step(s, t, until, at, &last);
    }
}

void ledger_sweep(ledger_run *run, weir_device_id id)
{
    ledger_device *device = &run->device[id];
    sweep s = {.run = run, .writer = {.run = run, .device = device, .id = id}};
    pieces_collect(&s, id);
    int64_t begin = device->first_ns, end = device->last_ns;
    if (device->step_count) {
        begin = device->begin_ns < begin ? device->begin_ns : begin;
        end = device->end_ns > end ? device->end_ns : end;
    }
    if (!s.failed) {
        sweep_run(&s, begin, end);
    }
    device->failed = device->failed || s.failed;
    for (int r = 0; r < ROW_COUNT; r++) {
        free(s.rows[r].items);
    }
    free(s.pieces);
}
