/* schedule_rates.c: plays pipeline schedules whose times come on standard input, one a line, so
 * that tools/ judge the C code and not a copy of it.
 *
 *   SCHEDULE hand|search STAGES CHUNKS MICRO_BATCHES F B W SEND WGRAD_SHARE
 *
 * F B W are seconds of a pass of a whole stage (a chunk has its share); hand: lists for F = B = W
 * and no messages, search: for the times given. Prints for each line
 *
 *   MAKESPAN SPAN BUSY PEAK NANOSECONDS
 *
 * seconds from the first start to the last end, the longest from a stage's first start to its own
 * last end, work of a stage; passes in flight; time of making and playing it. */
#include "train/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool kind_of(const char *name, weir_schedule_kind *kind)
{
    for (uint32_t k = 0; k < WEIR_SCHEDULE_COUNT; k++) {
        if (strcmp(name, weir_schedule_kind_name((weir_schedule_kind)k)) == 0) {
            *kind = (weir_schedule_kind)k;
            return true;
        }
    }
    return false;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool play(weir_schedule_wish *wish, bool searches, weir_pass_times whole, double send_s,
                 weir_arena *arena)
{
    uint32_t positions = wish->stages * wish->chunks;
    weir_pass_times *times = weir_arena_alloc(arena, positions, sizeof *times);
    if (!times) {
        return false;
    }
    for (uint32_t i = 0; i < positions; i++) {
        times[i] = (weir_pass_times){whole.forward_s / wish->chunks, whole.dgrad_s / wish->chunks,
                                     whole.wgrad_s / wish->chunks};
    }
    wish->times = searches ? times : NULL;
    wish->send_s = searches ? send_s : 0;
    const weir_schedule_costs costs = {.times = times, .send_s = send_s};
    weir_schedule schedule;
    weir_schedule_times played;
    weir_err err = {0};
    int64_t before = now_ns();
    if (weir_schedule_search(wish, arena, &schedule, &err) != WEIR_OK ||
        weir_schedule_play(&schedule, &costs, arena, &played, &err) != WEIR_OK) {
        fprintf(stderr, "schedule_rates: %s\n", err.text);
        return false;
    }
    printf("%.9g %.9g %.9g %" PRIu32 " %" PRId64 "\n", played.makespan_s, played.span_s,
           played.stage_busy_s[0], schedule.in_flight, now_ns() - before);
    return true;
}

int main(void)
{
    char line[256], kind[32], how[32];
    bool is_fine = true;
    while (is_fine && fgets(line, sizeof line, stdin)) {
        weir_schedule_wish wish = {0};
        weir_pass_times whole;
        double send_s;
        int found = sscanf(line, "%31s %31s %u %u %u %lf %lf %lf %lf %lf", kind, how, &wish.stages,
                           &wish.chunks, &wish.micro_batches, &whole.forward_s, &whole.dgrad_s,
                           &whole.wgrad_s, &send_s, &wish.wgrad_share);
        weir_arena *arena = weir_arena_new();
        is_fine = found == 10 && kind_of(kind, &wish.kind) && arena &&
                  play(&wish, strcmp(how, "search") == 0, whole, send_s, arena);
        if (!is_fine) {
            fprintf(stderr, "schedule_rates: cannot play: %s", line);
        }
        weir_arena_free(arena);
    }
    return is_fine ? 0 : 1;
}
