#include "train/train_plan.h"

const char *weir_train_axis_name(weir_train_axis axis)
{
    static const char *const names[] = {
#define X(name, text, letters) text,
        WEIR_TRAIN_AXES(X)
#undef X
    };
    return axis < WEIR_AXIS_COUNT ? names[axis] : "?";
}

static uint32_t size_of(const weir_train_plan *p, weir_train_axis axis)
{
    switch (axis) {
    case WEIR_AXIS_TENSOR:
        return p->tensor;
    case WEIR_AXIS_CONTEXT:
        return p->context;
    case WEIR_AXIS_DATA:
        return p->data;
    case WEIR_AXIS_PIPELINE:
        return p->pipeline;
    default:
        return 1; /* experts' ranks are no axis of their own */
    }
}

uint64_t weir_train_stride(const weir_train_plan *p, weir_train_axis axis)
{
    uint64_t stride = 1;
    for (uint32_t i = 0; i < WEIR_AXIS_COUNT && p->order[i] != axis; i++) {
        stride *= size_of(p, p->order[i]);
    }
    return stride;
}

/* How many of `size` ranks, that far apart, are in one node. */
static uint32_t in_node(const weir_train_job *job, uint64_t stride, uint32_t size)
{
    uint64_t room = job->network.devices_per_node / stride;
    return room < 1 ? 1 : room < size ? (uint32_t)room : size;
}

static weir_axis_span span_of(uint32_t ranks, uint32_t together)
{
    return (weir_axis_span){ranks, (ranks + together - 1) / together};
}

weir_axis_span weir_train_span(const weir_train_job *job, weir_train_axis axis)
{
    const weir_train_plan *p = &job->plan;
    if (axis == WEIR_AXIS_EXPERT) {
        return span_of(p->expert, in_node(job, p->expert_tensor, p->expert));
    }
    uint32_t ranks = size_of(p, axis), together = in_node(job, weir_train_stride(p, axis), ranks);
    if (axis == WEIR_AXIS_DATA) { /* gradients are summed over context ranks, too */
        together *= in_node(job, weir_train_stride(p, WEIR_AXIS_CONTEXT), p->context);
        ranks *= p->context;
    }
    return span_of(ranks, together);
}

static weir_layer_range even(uint32_t layers, uint32_t positions, uint32_t position)
{
    uint32_t each = layers / positions, more = layers % positions;
    uint32_t before = position < more ? position : more;
    return (weir_layer_range){position * each + before, each + (position < more ? 1 : 0)};
}

/* Of places of equal size, from which `first` and `last` are taken at the ends. */
static weir_layer_range less(uint32_t layers, uint32_t positions, uint32_t position, int64_t first,
                             int64_t last)
{
    int64_t whole = (int64_t)layers + first + last;
    weir_layer_range place = even((uint32_t)whole, positions, position);
    int64_t begin = (int64_t)place.first - (position > 0 ? first : 0);
    int64_t count = place.count;
    count -= position == 0 ? first : 0;
    count -= position == positions - 1 ? last : 0;
    return (weir_layer_range){(uint32_t)begin, (uint32_t)(count > 0 ? count : 0)};
}

weir_layer_range weir_train_layers(const weir_train_job *job, uint32_t position)
{
    const weir_train_plan *p = &job->plan;
    uint32_t positions = p->pipeline * p->chunks, layers = job->model->layers;
    weir_layer_range range = {0, 0};
    switch (p->layout) {
    case WEIR_LAYOUT_EVEN:
        return even(layers, positions, position);
    case WEIR_LAYOUT_AS_LAYERS:
        return positions > 1 ? less(layers, positions, position, 1, 1) : even(layers, 1, 0);
    case WEIR_LAYOUT_LESS:
        return less(layers, positions, position, p->first_layers, p->last_layers);
    case WEIR_LAYOUT_LIST:
        for (uint32_t i = 0; i < position; i++) {
            range.first += p->chunk_layers[i];
        }
        range.count = p->chunk_layers[position];
        return range;
    }
    return range;
}
