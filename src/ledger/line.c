/* Lines as they come, and the accounts of the steps that they fall into. */
#include "base/grow.h"
#include "ledger/run.h"

static bool line_append(ledger_device *d, const line_part *part)
{
    weir_line *last = d->line_count ? &d->lines[d->line_count - 1] : NULL;
    if (last && last->end_ns == part->begin_ns && last->cause == part->cause &&
        last->span == part->span && last->instance == part->instance) {
        last->end_ns = part->end_ns;
        return true;
    }
    if (!weir_grow(&d->lines, d->line_count, &d->line_capacity, sizeof *d->lines)) {
        return false;
    }
    d->lines[d->line_count++] =
        (weir_line){part->begin_ns, part->end_ns, part->span, part->instance, (uint8_t)part->cause};
    return true;
}

/* What of ns is planned: all of it where the transfer is no longer than its like. */
static int64_t planned_share(int64_t ns, int64_t typical, int64_t actual)
{
    __extension__ typedef __int128 wide;
    return actual <= typical ? ns : (int64_t)((wide)ns * typical / actual);
}

static void step_add(step_account *step, const line_part *part, int64_t ns)
{
    step->causes.ns[part->cause] += ns;
    if (part->actual_ns) {
        step->planned.ns[part->cause] += planned_share(ns, part->typical_ns, part->actual_ns);
    }
    step->hidden.communication_ns += part->hidden & HIDDEN_TRANSFER ? ns : 0;
    step->hidden.arrival_wait_ns +=
        (part->hidden & (HIDDEN_TRANSFER | HIDDEN_ARRIVAL)) == HIDDEN_ARRIVAL ? ns : 0;
    step->hidden.copy_ns += part->hidden & HIDDEN_COPY ? ns : 0;
}

static void evidence_add(const line_writer *w, const line_part *part, int64_t ns)
{
    const weir_span_classes *classes = w->run->in->classes;
    if (part->span != WEIR_NONE && part->instance == WEIR_NONE &&
        classes->cls[part->span] <= WEIR_CLASS_MEMORY) {
        w->device->evidence_ns[classes->evidence[part->span]] += ns;
    }
}

void ledger_line(line_writer *w, const line_part *part)
{
    ledger_device *d = w->device;
    if (part->begin_ns >= part->end_ns) {
        return;
    }
    d->failed = d->failed || !line_append(d, part);
    if (d->step_count == 0) {
        return;
    }
    int64_t t = part->begin_ns > d->begin_ns ? part->begin_ns : d->begin_ns;
    int64_t end = part->end_ns < d->end_ns ? part->end_ns : d->end_ns;
    while (t < end) {
        while (w->step + 1 < d->step_count && d->bounds[w->step + 1] <= t) {
            w->step++;
        }
        int64_t until = d->bounds[w->step + 1] < end ? d->bounds[w->step + 1] : end;
        step_add(&d->steps[w->step], part, until - t);
        evidence_add(w, part, until - t);
        t = until;
    }
}
