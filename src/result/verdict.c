#include "result/verdict.h"

#include "base/text.h"
#include "result/quantity.h"
#include "result/verdict_blame.h"

static bool cause_is_idle(weir_cause cause)
{
    return weir_cause_wait(cause) == WEIR_WAIT_DEPENDENCY &&
           cause != WEIR_CAUSE_DEPENDENCY_STRAGGLER && cause != WEIR_CAUSE_DEPENDENCY_BUBBLE;
}

static weir_cause largest_cause(const weir_result *result, weir_wait wait)
{
    weir_cause best = WEIR_CAUSE_COUNT;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        weir_cause cause = (weir_cause)c;
        if (weir_cause_wait(cause) == wait && cause != WEIR_CAUSE_COMPUTE_UNKNOWN &&
            (best == WEIR_CAUSE_COUNT ||
             result->total.causes.ns[c] > result->total.causes.ns[best])) {
            best = cause;
        }
    }
    return best;
}

static int64_t known_wait_ns(const weir_result *result, weir_wait wait)
{
    int64_t ns = result->total.waits.ns[wait];
    if (wait == WEIR_WAIT_COMPUTE) {
        ns -= result->total.causes.ns[WEIR_CAUSE_COMPUTE_UNKNOWN];
    }
    return ns;
}

/* Largest wait other than `except` (WEIR_WAIT_COUNT: none is excepted); ties: what can be acted
 * on soonest comes first. */
static weir_wait largest_wait(const weir_result *result, weir_wait except)
{
    static const weir_wait order[] = {WEIR_WAIT_DEPENDENCY, WEIR_WAIT_COMMUNICATION,
                                      WEIR_WAIT_CACHE, WEIR_WAIT_COMPUTE};
    weir_wait best = WEIR_WAIT_COUNT;
    for (int i = 0; i < WEIR_WAIT_COUNT; i++) {
        if (order[i] != except && (best == WEIR_WAIT_COUNT ||
                                   known_wait_ns(result, order[i]) > known_wait_ns(result, best))) {
            best = order[i];
        }
    }
    return best;
}

static void set_cause(weir_result *result, weir_cause cause)
{
    result->verdict.cause = cause;
    result->verdict.wait = weir_cause_wait(cause);
    result->verdict.share =
        weir_quantity_share(result->total.causes.ns[cause], result->total.wall_ns);
}

static void add_percent(weir_text *text, const weir_result *result, int64_t ns)
{
    weir_quantity_percent(text, ns, result->total.wall_ns);
}

/* Where the leading wait leaves room: what comes next, if it is worth a word. */
static void add_next(weir_text *text, const weir_result *result)
{
    weir_wait next = largest_wait(result, WEIR_WAIT_COMPUTE);
    int64_t ns = known_wait_ns(result, next);
    if (ns * 10 < result->total.wall_ns) {
        return;
    }
    weir_text_printf(text, " Next: %s, ", weir_wait_name(next));
    add_percent(text, result, ns);
    weir_text_printf(text, " (%s).", weir_cause_short_name(largest_cause(result, next)));
}

static void say_computing(weir_result *result, weir_text *text)
{
    set_cause(result, largest_cause(result, WEIR_WAIT_COMPUTE));
    weir_text_add(text, WEIR_STR("It is computing: "));
    add_percent(text, result, result->total.waits.ns[WEIR_WAIT_COMPUTE]);
    weir_text_add(text, WEIR_STR(" of the time"));
    if (result->efficiency.peak_share_in_compute >= 0) {
        weir_text_add(text, WEIR_STR(", at "));
        weir_quantity_fixed(text, 100 * result->efficiency.peak_share_in_compute, 0);
        weir_text_add(text, WEIR_STR(" % of peak"));
    }
    weir_text_char(text, '.');
    add_next(text, result);
}

static void say_unknown(weir_result *result, weir_text *text)
{
    set_cause(result, WEIR_CAUSE_COMPUTE_UNKNOWN);
    add_percent(text, result, result->total.causes.ns[WEIR_CAUSE_COMPUTE_UNKNOWN]);
    weir_text_add(text, WEIR_STR(" of the time is in kernels, most of them GEMMs, whose size "
                                 "nothing tells: arithmetic or memory cannot be told apart "
                                 "(capture with record_shapes=True)."));
    add_next(text, result);
}

/* Said of a verdict that is smaller than what nothing tells the bound of. */
static void add_unknown(weir_text *text, const weir_result *result)
{
    weir_text_char(text, ' ');
    add_percent(text, result, result->total.causes.ns[WEIR_CAUSE_COMPUTE_UNKNOWN]);
    weir_text_add(text, WEIR_STR(" is in kernels whose size nothing tells (capture with "
                                 "record_shapes=True)."));
}

static const char *cache_phrase(weir_cause cause)
{
    switch (cause) {
    case WEIR_CAUSE_CACHE_WEIGHTS:
        return "reading weights for few rows at a time";
    case WEIR_CAUSE_CACHE_KV:
        return "reading the KV cache";
    case WEIR_CAUSE_CACHE_ACTIVATIONS:
        return "in element-wise work, norms and reductions";
    case WEIR_CAUSE_CACHE_OPTIMIZER:
        return "updating optimiser states";
    case WEIR_CAUSE_CACHE_MEMCPY:
        return "in copies and fills";
    default:
        return weir_cause_meaning(cause);
    }
}

static void say_memory(weir_result *result, weir_text *text)
{
    weir_cause cause = largest_cause(result, WEIR_WAIT_CACHE);
    int64_t all = result->total.waits.ns[WEIR_WAIT_CACHE];
    int64_t ns = result->total.causes.ns[cause];
    set_cause(result, cause);
    weir_text_add(text, WEIR_STR("It waits for memory: "));
    add_percent(text, result, all);
    weir_text_add(text, WEIR_STR(" of the time"));
    if (ns * 20 < all * 19) {
        weir_text_add(text, ns * 2 >= all ? WEIR_STR(", most of it (")
                                          : WEIR_STR(", the largest part ("));
        add_percent(text, result, ns);
        weir_text_char(text, ')');
    } else {
        weir_text_char(text, ',');
    }
    weir_text_printf(text, " %s.", cache_phrase(cause));
}

static const char *idle_phrase(weir_cause cause)
{
    switch (cause) {
    case WEIR_CAUSE_DEPENDENCY_HOST:
        return "the host does not launch fast enough";
    case WEIR_CAUSE_DEPENDENCY_SYNC:
        return "the host waits for the GPU before it goes on";
    case WEIR_CAUSE_DEPENDENCY_DATA:
        return "the data loader is late";
    case WEIR_CAUSE_DEPENDENCY_ALLOCATOR:
        return "device memory is allocated or freed";
    case WEIR_CAUSE_DEPENDENCY_COMPILE:
        return "kernels are compiled or loaded";
    case WEIR_CAUSE_DEPENDENCY_CHECKPOINT:
        return "a checkpoint is written or read";
    case WEIR_CAUSE_DEPENDENCY_LAUNCH:
        return "the launch calls themselves take that long";
    case WEIR_CAUSE_DEPENDENCY_TURNAROUND:
        return "queued kernels do not start, or what they waited for was not recorded";
    case WEIR_CAUSE_DEPENDENCY_STREAM:
        return "streams wait for one another";
    case WEIR_CAUSE_DEPENDENCY_TAIL:
        return "nothing is launched after the last kernel";
    case WEIR_CAUSE_DEPENDENCY_UNKNOWN:
        return "nothing recorded tells why";
    default:
        return weir_cause_meaning(cause);
    }
}

static int64_t idle_ns(const weir_account *account)
{
    return account->waits.ns[WEIR_WAIT_DEPENDENCY] -
           account->causes.ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER] -
           account->causes.ns[WEIR_CAUSE_DEPENDENCY_BUBBLE];
}

/* Names the device that has more than half of the idle time, where there is one of several. */
static void add_idle_device(weir_text *text, const weir_result *result, int64_t idle)
{
    for (uint32_t i = 0; result->device_count > 2 && i < result->device_count; i++) {
        const weir_device_row *row = &result->devices[i];
        if (idle_ns(&row->account) > idle / 2) {
            weir_text_printf(text, " Most of it is on rank %d.", (int)row->rank);
            return;
        }
    }
}

static void say_idle(weir_result *result, weir_text *text)
{
    weir_cause cause = WEIR_CAUSE_DEPENDENCY_UNKNOWN;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        if (cause_is_idle((weir_cause)c) &&
            result->total.causes.ns[c] > result->total.causes.ns[cause]) {
            cause = (weir_cause)c;
        }
    }
    int64_t idle = idle_ns(&result->total);
    int64_t ns = result->total.causes.ns[cause];
    set_cause(result, cause);
    weir_text_add(text, result->window.devices > 1 ? WEIR_STR("The GPUs idle ")
                                                   : WEIR_STR("The GPU idles "));
    add_percent(text, result, idle);
    weir_text_add(text, WEIR_STR(" of the time"));
    if (ns * 4 < idle * 3) {
        weir_text_add(text, WEIR_STR(", "));
        add_percent(text, result, ns);
        weir_text_add(text, cause == WEIR_CAUSE_DEPENDENCY_UNKNOWN ? WEIR_STR(" and ")
                                                                   : WEIR_STR(" because "));
    } else {
        weir_text_add(text, WEIR_STR(": "));
    }
    weir_text_printf(text, "%s.", idle_phrase(cause));
    add_idle_device(text, result, idle);
}

static void say_dependency(weir_result *result, weir_text *text)
{
    int64_t straggler = result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER];
    int64_t bubble = result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_BUBBLE];
    int64_t idle = idle_ns(&result->total);
    if ((straggler >= bubble && straggler >= idle) || verdict_has_culprit(result)) {
        set_cause(result, WEIR_CAUSE_DEPENDENCY_STRAGGLER);
        verdict_say_straggler(result, text);
    } else if (bubble >= idle) {
        set_cause(result, WEIR_CAUSE_DEPENDENCY_BUBBLE);
        verdict_say_bubble(result, text);
    } else {
        say_idle(result, text);
    }
}

static void say_communication(weir_result *result, weir_text *text)
{
    weir_cause cause = largest_cause(result, WEIR_WAIT_COMMUNICATION);
    set_cause(result, cause);
    if (cause == WEIR_CAUSE_COMMUNICATION_UNSPLIT) {
        verdict_say_unsplit(result, text);
    } else {
        verdict_say_transfer(result, text);
    }
}

static void say_known(weir_result *result, weir_text *text, weir_wait wait)
{
    switch (wait) {
    case WEIR_WAIT_COMPUTE:
        say_computing(result, text);
        break;
    case WEIR_WAIT_COMMUNICATION:
        say_communication(result, text);
        break;
    case WEIR_WAIT_DEPENDENCY:
        say_dependency(result, text);
        break;
    case WEIR_WAIT_CACHE:
    case WEIR_WAIT_COUNT:
        say_memory(result, text);
        break;
    }
}

/* The largest wait, unless it is work and one rank makes the others wait, or the ranks wait more
 * for the network and for one another than they work. */
static weir_wait worst_wait(const weir_result *result)
{
    weir_wait wait = largest_wait(result, WEIR_WAIT_COUNT);
    if (wait != WEIR_WAIT_COMPUTE && wait != WEIR_WAIT_CACHE) {
        return wait;
    }
    int64_t link = result->total.waits.ns[WEIR_WAIT_COMMUNICATION];
    int64_t idle = result->total.waits.ns[WEIR_WAIT_DEPENDENCY];
    if (verdict_has_culprit(result)) {
        return WEIR_WAIT_DEPENDENCY;
    }
    if (link + idle > known_wait_ns(result, wait)) {
        return idle >= link ? WEIR_WAIT_DEPENDENCY : WEIR_WAIT_COMMUNICATION;
    }
    return wait;
}

/* What is known is worth more than what is not: only where the unknown is at least twice the
 * largest wait there is nothing better to say. */
static void say(weir_result *result, weir_text *text)
{
    weir_wait wait = worst_wait(result);
    int64_t known = known_wait_ns(result, wait);
    int64_t unknown = result->total.causes.ns[WEIR_CAUSE_COMPUTE_UNKNOWN];
    if (result->total.wall_ns <= 0) {
        set_cause(result, WEIR_CAUSE_DEPENDENCY_UNKNOWN);
        weir_text_add(text, WEIR_STR("No device activity in the window."));
    } else if (unknown / 2 >= known) {
        say_unknown(result, text);
    } else {
        say_known(result, text, wait);
        if (unknown > known) {
            add_unknown(text, result);
        }
    }
}

weir_code weir_verdict_compose(weir_result *result, weir_err *err)
{
    weir_text text = {0};
    result->verdict.blames = false;
    result->verdict.rank = result->verdict.device = -1;
    result->verdict.node = NULL;
    result->verdict.reason = WEIR_REASON_UNKNOWN;
    say(result, &text);
    if (!text.failed) {
        result->verdict.sentence = weir_result_copy(result, (weir_str){text.p, (uint32_t)text.n});
    }
    bool done = !text.failed && result->verdict.sentence != NULL;
    weir_text_clear(&text);
    return done ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the verdict");
}
