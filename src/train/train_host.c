/* train_host.c: what a mixture layer waits for its host where that reads how many rows each expert
 * gets: the queue of train_queue.h over the operations of the layer. */
#include "train/train_layer.h"

double weir_train_read_idle_s(const weir_train_job *job, const weir_op_list *forward,
                              double others_s)
{
    enum { ENDS = 2 }; /* exchanges run before the permutation and after the experts */
    weir_queue_item items[WEIR_OPS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < forward->count; i++) {
        const weir_op *op = &forward->op[i];
        if (op->pass != WEIR_PASS_FORWARD) {
            continue;
        }
        bool is_dispatch = op->part == WEIR_MODEL_PART_DISPATCH;
        bool is_end = is_dispatch || op->part == WEIR_MODEL_PART_COMBINE;
        items[count] = weir_train_queue_item(job, op);
        items[count].reads = is_dispatch;
        items[count].device_s += is_end ? others_s / ENDS : 0;
        count++;
    }
    return weir_queue_idle_s(items, count, job->stack.launch_s, job->stack.expert_sync_s);
}
