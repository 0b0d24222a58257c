/* train_bench.c: nanoseconds of a plan's step and of its memory, in one process, without reading.
 *
 *   train_bench SCENARIO REPEATS
 *
 * Prints two numbers: of weir_train_step_of (its memory included), of weir_train_memory_of. */
#include "study/train_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    weir_err err = {0};
    weir_train_scenario scenario = {0};
    weir_train_step step = {0};
    weir_train_memory memory = {0};
    weir_train_scratch *scratch = weir_train_scratch_new();
    long repeats = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (repeats < 1 || !scratch) {
        fputs("usage: train_bench SCENARIO REPEATS\n", stderr);
        return 2;
    }
    weir_code code = weir_train_scenario_read(argv[1], NULL, 0, &scenario, &err);
    double begin = cpu_ns(), bytes = 0;
    for (long i = 0; i < repeats && code == WEIR_OK; i++) {
        code = weir_train_step_of(&scenario.job, scratch, &step, &err);
    }
    double middle = cpu_ns();
    for (long i = 0; i < repeats && code == WEIR_OK; i++) {
        weir_train_memory_of(&scenario.job, &memory);
        bytes += memory.total;
    }
    double end = cpu_ns();
    if (code != WEIR_OK || !(bytes > 0)) {
        fprintf(stderr, "train_bench: %s\n", err.text);
        return 2;
    }
    printf("%.0f %.0f\n", (middle - begin) / (double)repeats, (end - middle) / (double)repeats);
    weir_train_scenario_clear(&scenario);
    weir_train_scratch_free(scratch);
    return 0;
}
