/* Host spans: which names explain an idle device, and which only sound as if they did. */
#include "classify/classify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct {
    weir_span_kind kind;
    const char *name;
    weir_host_activity activity;
} expectation;

static const expectation expectations[] = {
    {WEIR_SPAN_ANNOTATION, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
     WEIR_HOST_DATA},
    {WEIR_SPAN_ANNOTATION, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
     WEIR_HOST_DATA},
    {WEIR_SPAN_ANNOTATION, "## data_load ##", WEIR_HOST_DATA},
    {WEIR_SPAN_ANNOTATION, "## forward ##", WEIR_HOST_OTHER},
    {WEIR_SPAN_ANNOTATION, "## wait_for_batch ##", WEIR_HOST_OTHER},
    {WEIR_SPAN_ANNOTATION, "Optimizer.step#SGD.step", WEIR_HOST_OTHER},
    {WEIR_SPAN_RUNTIME, "cudaMalloc", WEIR_HOST_ALLOCATOR},
    {WEIR_SPAN_RUNTIME, "cudaFree", WEIR_HOST_ALLOCATOR},
    {WEIR_SPAN_RUNTIME, "cudaHostAlloc", WEIR_HOST_ALLOCATOR},
    {WEIR_SPAN_RUNTIME, "hipFree", WEIR_HOST_ALLOCATOR},
    {WEIR_SPAN_RUNTIME, "cuMemSetAccess", WEIR_HOST_ALLOCATOR},
    {WEIR_SPAN_RUNTIME, "cudaMallocAsync", WEIR_HOST_OTHER},
    {WEIR_SPAN_RUNTIME, "cudaFreeAsync", WEIR_HOST_OTHER},
    {WEIR_SPAN_RUNTIME, "cudaDeviceSynchronize", WEIR_HOST_SYNC},
    {WEIR_SPAN_RUNTIME, "cudaStreamSynchronize_ptsz", WEIR_HOST_SYNC},
    {WEIR_SPAN_RUNTIME, "cudaEventSynchronize", WEIR_HOST_SYNC},
    {WEIR_SPAN_RUNTIME, "hipMemcpyWithStream", WEIR_HOST_SYNC},
    {WEIR_SPAN_RUNTIME, "cudaMemcpy", WEIR_HOST_SYNC},
    {WEIR_SPAN_RUNTIME, "cudaMemcpyAsync", WEIR_HOST_OTHER},
    {WEIR_SPAN_RUNTIME, "cudaStreamWaitEvent", WEIR_HOST_OTHER},
    {WEIR_SPAN_RUNTIME, "cudaEventQuery", WEIR_HOST_OTHER},
    {WEIR_SPAN_RUNTIME, "cudaLaunchKernel", WEIR_HOST_OTHER},
    {WEIR_SPAN_OP, "aten::item", WEIR_HOST_SYNC},
    {WEIR_SPAN_OP, "aten::_local_scalar_dense", WEIR_HOST_SYNC},
    {WEIR_SPAN_OP, "aten::itemsize", WEIR_HOST_OTHER},
    {WEIR_SPAN_RUNTIME, "cuModuleLoadData", WEIR_HOST_COMPILE},
    {WEIR_SPAN_RUNTIME, "hipGraphInstantiateWithFlags", WEIR_HOST_COMPILE},
    {WEIR_SPAN_RUNTIME, "hipGraphLaunch", WEIR_HOST_OTHER},
    {WEIR_SPAN_ANNOTATION, "CUDAGraphNode.record (dynamo_timed)", WEIR_HOST_COMPILE},
    {WEIR_SPAN_ANNOTATION, "capture_32_DECODE", WEIR_HOST_COMPILE},
    {WEIR_SPAN_ANNOTATION, "## Call CompiledFxGraph fjs75i4jmhjizyb52gwp7gln7sgi42f ##",
     WEIR_HOST_OTHER},
    {WEIR_SPAN_OP, "Torch-Compiled Region: 0/0", WEIR_HOST_OTHER},
    {WEIR_SPAN_OP, "CompiledFunctionBackward", WEIR_HOST_OTHER},
    {WEIR_SPAN_ANNOTATION, "save_checkpoint", WEIR_HOST_CHECKPOINT},
    {WEIR_SPAN_OP, "CheckpointFunctionBackward", WEIR_HOST_OTHER},
    {WEIR_SPAN_PYTHON, "torch/utils/data/dataloader.py(630): __next__", WEIR_HOST_DATA},
    {WEIR_SPAN_PYTHON, "torch/serialization.py(850): save", WEIR_HOST_CHECKPOINT},
    {WEIR_SPAN_PYTHON, "cudaMalloc", WEIR_HOST_OTHER},
};

static void tells_activities_from_names_that_sound_alike(void **state)
{
    (void)state;
    weir_host_names *names = NULL;
    weir_err err = {0};
    if (weir_host_names_load(&names, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const expectation *e = &expectations[i];
        weir_host_activity found = weir_host_names_classify(names, e->kind, weir_str_from(e->name));
        if (found != e->activity) {
            fail_msg("'%s': found activity %d, expected %d", e->name, (int)found, (int)e->activity);
        }
    }
    weir_host_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_activities_from_names_that_sound_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
