/* train_layer_cover.c: what is seen of a layer's exchanges beside the kernels that hide them. */
#include "train/train_layer_inside.h"

#include <math.h>

void layer_add_wire(weir_pass_cost *pass, weir_piece_kind kind, weir_train_group group,
                    weir_collective_kind collective, weir_wire wire)
{
    weir_piece piece = weir_train_wire_piece(kind, group, collective, &wire);
    weir_pass_add(pass, &piece);
}

/* By how much an exchange slows the kernels beside it; experts' keeps SMs from them. */
static double slowdown_of(const layer_pricing *p, weir_train_group group)
{
    uint32_t all = weir_kernel_accelerator(p->job->kernels)->sm_count;
    double taken = all > 0 ? fmin(1, (double)p->stack->communication_sms / all) : 0;
    bool is_expert = group == WEIR_GROUP_EXPERT;
    return is_expert ? fmax(taken, p->stack->overlap_slowdown) : p->stack->overlap_slowdown;
}

/* So much of it is seen, the rest runs beside kernels, which it slows down. */
static void split_wire(const layer_pricing *p, weir_pass_cost *pass, weir_train_group group,
                       weir_collective_kind collective, weir_wire wire, double exposed_s)
{
    double share = wire.seconds > 0 ? fmin(1, exposed_s / wire.seconds) : 1;
    weir_wire seen = weir_wire_times(wire, share);
    weir_wire hidden = weir_wire_times(wire, 1 - share);
    hidden.seconds = wire.seconds - seen.seconds;
    layer_add_wire(pass, WEIR_PIECE_EXCHANGE, group, collective, seen);
    layer_add_wire(pass, WEIR_PIECE_HIDDEN, group, collective, hidden);
    const weir_piece slower = {.kind = WEIR_PIECE_COMPUTE,
                               .cause = WEIR_CAUSE_COMPUTE_GEMM,
                               .seconds = hidden.seconds * slowdown_of(p, group)};
    weir_pass_add(pass, &slower);
}

void layer_hide(const layer_pricing *p, weir_pass_cost *pass, weir_train_group group,
                weir_collective_kind collective, weir_wire wire, double cover_s)
{
    split_wire(p, pass, group, collective, wire, fmax(0, wire.seconds - cover_s));
}

/* Cut into as many parts as there are ranks, each beside the products of another part; small parts
 * lose efficiency and exchanges take SMs, so that a share of the shorter side is seen. */
void layer_interleave(const layer_pricing *p, weir_pass_cost *pass, weir_collective_kind collective,
                      weir_wire wire, double cover_s)
{
    double both = fmin(wire.seconds, cover_s);
    double seen = fmax(1.0 / p->plan->tensor, p->stack->tensor_exposed);
    split_wire(p, pass, WEIR_GROUP_TENSOR, collective, wire, wire.seconds - both + both * seen);
}

double layer_collectives(const weir_pass_cost *pass)
{
    double count = 0;
    for (uint32_t i = 0; i < pass->count; i++) {
        const weir_piece *piece = &pass->piece[i];
        bool is_wire = piece->kind == WEIR_PIECE_EXCHANGE || piece->kind == WEIR_PIECE_HIDDEN;
        count += is_wire ? piece->count : 0;
    }
    return count;
}
