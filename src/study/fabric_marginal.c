/* fabric_marginal.c: what one more percent of bandwidth in a tier would bring (fabric_row.h).
 *
 * Played, not differentiated: a percent may move the bottleneck. The plans stay: which algorithm is
 * best does not turn on a percent. */
#include "study/fabric_row.h"

static const double percent = 1.01;

static bool has_tier(const weir_layout *layout, weir_tier tier)
{
    uint32_t count = weir_net_count(weir_layout_net(layout));
    for (weir_link_id link = 0; link < count; link++) {
        if (weir_layout_tier(layout, link) == tier) {
            return true;
        }
    }
    return false;
}

weir_code weir_fabric_marginal(weir_fabric_play *play, weir_tier only,
                               double seconds[WEIR_TIER_COUNT], weir_err *err)
{
    weir_layout *layout = play->network.layout;
    double step_s = play->step_s;
    weir_code code = WEIR_OK;
    for (uint32_t tier = 0; tier < WEIR_TIER_COUNT && code == WEIR_OK; tier++) {
        if ((only != WEIR_TIER_COUNT && tier != only) || !has_tier(layout, (weir_tier)tier)) {
            continue;
        }
        weir_layout_scale(layout, (weir_tier)tier, percent);
        code = weir_layout_seal(layout, err);
        if (code == WEIR_OK) {
            code = weir_fabric_play_again(play, err);
        }
        if (code == WEIR_OK) {
            seconds[tier] = step_s - play->step_s;
        }
        weir_layout_scale(layout, (weir_tier)tier, 1);
    }
    if (code == WEIR_OK) {
        code = weir_layout_seal(layout, err);
        play->spmd.net = weir_layout_net(layout);
        play->step_s = step_s;
    }
    return code;
}
