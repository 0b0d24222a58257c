/* nccl_tests_fuzz.c: any bytes as the log of a job: no crash, no hang, and rows that make sense. */
#include "import/nccl_tests.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void expect_sense(const weir_nccl_run *run)
{
    if (run->row_count == 0 || (run->most_ranks && run->most_ranks < run->least_ranks)) {
        abort();
    }
    for (uint32_t i = 0; i < run->row_count; i++) {
        const weir_nccl_measured *row = &run->rows[i];
        if (!(row->time_s > 0) || !(row->busbw_bytes_per_s >= 0) || !isfinite(row->time_s)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    weir_err err = {0};
    weir_diags diags = {0};
    weir_nccl_tests tests = {0};
    weir_source *source = NULL;
    if (weir_source_memory(bytes, n, "all_reduce.log", &source, &err) != WEIR_OK) {
        return 0;
    }
    if (weir_nccl_tests_read(source, "all_reduce.log", &tests, &diags, &err) == WEIR_OK) {
        for (uint32_t i = 0; i < tests.run_count; i++) {
            expect_sense(&tests.runs[i]);
        }
    }
    weir_source_close(source);
    weir_nccl_tests_clear(&tests);
    weir_diags_clear(&diags);
    return 0;
}
