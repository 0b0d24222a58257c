#include "cli/trace.h"

#include "cli/output.h"
#include "report/perfetto.h"

#include <stdlib.h>

static int64_t to_aligned(const void *context, weir_rank_id rank, int64_t local_ns)
{
    return weir_match_to_aligned(context, rank, local_ns);
}

static int64_t waiting_ns(const weir_account *account)
{
    return account->wall_ns - account->waits.ns[WEIR_WAIT_COMPUTE];
}

/* The longest step; of equally long ones the one that waited most. NULL without steps. */
static const weir_step_row *worst_step(const weir_result *result)
{
    const weir_step_row *worst = NULL;
    for (uint32_t i = 0; i < result->step_count; i++) {
        const weir_step_row *step = &result->steps[i];
        int64_t longer = worst ? step->account.wall_ns - worst->account.wall_ns : 1;
        if (longer > 0 || (longer == 0 && waiting_ns(&step->account) > waiting_ns(&worst->account)))
            worst = step;
    }
    return worst;
}

/* "ProfilerStep#12", "ProfilerStep # 12". */
static bool is_marker(weir_str name, int64_t index)
{
    if (!weir_str_starts(name, WEIR_STR("ProfilerStep")))
        return false;
    uint32_t i = sizeof "ProfilerStep" - 1;
    while (i < name.n && (name.p[i] == ' ' || name.p[i] == '#'))
        i++;
    int64_t number = 0;
    uint32_t digits = 0;
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && digits < 18; i++, digits++)
        number = number * 10 + (name.p[i] - '0');
    return digits > 0 && number == index;
}

typedef struct {
    int64_t begin_ns, end_ns; /* begin == end = empty */
} moments;

static void moments_add(moments *m, int64_t begin_ns, int64_t end_ns)
{
    bool was_empty = m->begin_ns == m->end_ns;
    if (was_empty || begin_ns < m->begin_ns)
        m->begin_ns = begin_ns;
    if (was_empty || end_ns > m->end_ns)
        m->end_ns = end_ns;
}

/* By rank: the step's marker, on the rank's own clock. */
static moments *find_markers(const weir_timeline *t, int64_t index)
{
    uint32_t rank_count;
    uint32_t lane_count;
    weir_timeline_ranks(t, &rank_count);
    const weir_lane *lanes = weir_timeline_lanes(t, &lane_count);
    weir_spans spans = weir_timeline_spans(t);
    moments *markers = calloc(rank_count, sizeof *markers);
    if (!markers)
        return NULL;
    for (uint32_t i = spans.device_count; i < spans.count; i++)
        if (spans.kind[i] == WEIR_SPAN_ANNOTATION &&
            is_marker(weir_timeline_name(t, spans.name[i]), index))
            moments_add(&markers[lanes[spans.lane[i]].rank], spans.start_ns[i],
                        spans.start_ns[i] + spans.dur_ns[i]);
    return markers;
}

/* From the first marker of the step to the end of the last kernel launched under one, aligned;
 * empty where the step has no marker that can be told. */
static weir_code step_moments(const trace_run_state *run, int64_t index, moments *step,
                              weir_err *err)
{
    const weir_timeline *t = run->timeline;
    uint32_t count;
    const weir_lane *lanes = weir_timeline_lanes(t, &count);
    weir_spans spans = weir_timeline_spans(t);
    moments *markers = find_markers(t, index);
    if (!markers)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the picture");
    *step = (moments){0};
    weir_timeline_ranks(t, &count);
    for (weir_rank_id r = 0; r < count; r++)
        if (markers[r].begin_ns < markers[r].end_ns)
            moments_add(step, weir_match_to_aligned(&run->match, r, markers[r].begin_ns),
                        weir_match_to_aligned(&run->match, r, markers[r].end_ns));
    for (uint32_t i = 0; i < spans.device_count; i++) {
        weir_span_id launch = run->match.launch[i];
        if (launch == WEIR_NONE)
            continue;
        weir_rank_id rank = lanes[spans.lane[i]].rank;
        int64_t at = spans.start_ns[launch];
        if (at < markers[rank].begin_ns || at >= markers[rank].end_ns)
            continue;
        int64_t start = spans.start_ns[i];
        moments_add(step, weir_match_to_aligned(&run->match, rank, start),
                    weir_match_to_aligned(&run->match, rank, start + spans.dur_ns[i]));
    }
    free(markers);
    return WEIR_OK;
}

static weir_rank_id rank_find(const weir_timeline *t, int32_t number)
{
    uint32_t count;
    const weir_rank *ranks = weir_timeline_ranks(t, &count);
    for (weir_rank_id r = 0; r < count; r++)
        if (ranks[r].number == number)
            return r;
    return WEIR_NONE;
}

/* The rank whose devices waited most for others, without is left out. */
static weir_rank_id most_waiting_rank(const trace_run_state *run, weir_rank_id without)
{
    const weir_result *result = run->result;
    weir_rank_id most = WEIR_NONE;
    int64_t most_ns = -1;
    for (uint32_t i = 0; i < result->device_count; i++) {
        const weir_waits *waits = &result->devices[i].account.waits;
        int64_t ns = waits->ns[WEIR_WAIT_DEPENDENCY] + waits->ns[WEIR_WAIT_COMMUNICATION];
        weir_rank_id rank = rank_find(run->timeline, result->devices[i].rank);
        if (rank != without && ns > most_ns) {
            most = rank;
            most_ns = ns;
        }
    }
    return most;
}

static weir_code choose(const trace_options *o, const trace_run_state *run,
                        weir_perfetto_request *request, weir_err *err)
{
    const weir_result *result = run->result;
    int64_t origin_ns = weir_timeline_origin_ns(run->timeline);
    moments shown = {result->window.begin_ns - origin_ns, result->window.end_ns - origin_ns};
    const weir_step_row *worst = worst_step(result);
    if (worst && !o->perfetto_all) {
        moments step = {0};
        weir_code code = step_moments(run, worst->index, &step, err);
        if (code != WEIR_OK)
            return code;
        if (step.begin_ns < step.end_ns)
            shown = step;
    }
    weir_rank_id blamed = WEIR_NONE;
    if (result->verdict.blames)
        blamed = rank_find(run->timeline, result->verdict.rank);
    weir_rank_id victim = most_waiting_rank(run, blamed);
    *request = (weir_perfetto_request){
        .timeline = run->timeline,
        .lines = &run->lines,
        .result = result,
        .to_aligned = to_aligned,
        .context = &run->match,
        .all = o->perfetto_all,
        .begin_ns = shown.begin_ns,
        .end_ns = shown.end_ns,
        .full = {blamed, victim},
    };
    return WEIR_OK;
}

weir_code trace_write_picture(const trace_options *options, const trace_run_state *run,
                              weir_err *err)
{
    weir_perfetto_request request;
    output_file out;
    weir_code code = choose(options, run, &request, err);
    if (code == WEIR_OK)
        code = output_open(&out, options->perfetto, err);
    if (code != WEIR_OK)
        return code;
    code = weir_perfetto_write(out.file, &request, err);
    if (code == WEIR_OK)
        return output_commit(&out, err);
    output_discard(&out);
    return code;
}
