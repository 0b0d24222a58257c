#include "cli/trace.h"

#include "cli/picture.h"

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

static void choose(const trace_options *o, const trace_run_state *run,
                   weir_perfetto_request *request)
{
    const weir_result *result = run->result;
    int64_t origin_ns = weir_timeline_origin_ns(run->timeline);
    const weir_step_row *worst = worst_step(result);
    int64_t begin_ns = worst ? worst->begin_ns : result->window.begin_ns;
    int64_t end_ns = worst ? worst->end_ns : result->window.end_ns;
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
        .begin_ns = begin_ns - origin_ns,
        .end_ns = end_ns - origin_ns,
        .full = {blamed, victim},
    };
}

weir_code trace_write_picture(const trace_options *options, const trace_run_state *run,
                              weir_err *err)
{
    weir_perfetto_request request;
    choose(options, run, &request);
    return picture_write(options->perfetto, &request, err);
}
