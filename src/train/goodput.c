#include "train/goodput.h"

#include <math.h>

/* Daly 2006, equation 37. */
static double daly(double stall_s, double mtbf_s)
{
    if (stall_s >= 2 * mtbf_s) {
        return mtbf_s;
    }
    double root = sqrt(stall_s / (2 * mtbf_s));
    return sqrt(2 * stall_s * mtbf_s) * (1 + root / 3 + root * root / 9) - stall_s;
}

static void price_checkpoint(const weir_goodput_job *job, weir_goodput *g)
{
    g->write_s = job->stored_bytes_per_s > 0 ? job->state_bytes / job->stored_bytes_per_s : 0;
    g->stall_s = g->write_s;
    if (job->asynchronous && job->copied_bytes_per_s > 0) {
        g->stall_s = fmin(g->write_s, job->state_bytes / job->copied_bytes_per_s);
    }
}

/* Nothing fails: time goes by with checkpoints alone, where an interval was asked for. */
static void never_fails(const weir_goodput_job *job, weir_goodput *g)
{
    g->mtbf_s = g->young_s = g->daly_s = INFINITY;
    g->interval_s = job->interval_s > 0 ? fmax(job->interval_s, g->write_s) : INFINITY;
    g->checkpoint_share = g->stall_s / (g->interval_s + g->stall_s);
    g->goodput = 1 - g->checkpoint_share;
}

void weir_goodput_of(const weir_goodput_job *job, weir_goodput *goodput)
{
    weir_goodput *g = goodput;
    *g = (weir_goodput){0};
    price_checkpoint(job, g);
    if (!(job->device_mtbf_s > 0)) {
        never_fails(job, g);
        return;
    }
    g->mtbf_s = job->device_mtbf_s / job->devices;
    g->young_s = sqrt(2 * g->stall_s * g->mtbf_s);
    g->daly_s = daly(g->stall_s, g->mtbf_s);
    if (!(job->stored_bytes_per_s > 0)) {
        g->interval_s = INFINITY;
        g->lost_share = 1;
        return;
    }
    g->interval_s = fmax(job->interval_s > 0 ? job->interval_s : g->daly_s, g->write_s);
    double restart = (job->detect_s + job->restart_s) / g->mtbf_s;
    double late = (g->write_s - g->stall_s) / g->mtbf_s; /* before it a copy is not safe yet */
    double work = (g->interval_s + g->stall_s) / g->mtbf_s;
    double segment_s = g->mtbf_s * exp(restart + late) * expm1(work);
    if (!(segment_s < INFINITY)) {
        g->lost_share = 1;
        return;
    }
    if (!(segment_s > 0)) { /* checkpoints that cost nothing, as often as one likes */
        g->restart_share = -expm1(-restart);
        g->goodput = 1 - g->restart_share;
        return;
    }
    g->goodput = g->interval_s / segment_s;
    g->checkpoint_share = g->stall_s / segment_s;
    g->restart_share = -expm1(-restart); /* a failure each M, then at most R until the next one */
    g->lost_share = fmax(0, 1 - g->goodput - g->checkpoint_share - g->restart_share);
}
