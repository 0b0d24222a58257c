/* fabric_disturb.c: what goes wrong during a run: slow devices, jitter, links that break
 * (fabric_play.h). */
#include "study/fabric_play.h"

#include <math.h>

static weir_code slow_devices(const weir_fabric_scenario *scenario, weir_arena *arena,
                              weir_spmd *spmd, weir_err *err)
{
    uint32_t count = scenario->slow_count, devices = weir_traffic_devices(scenario);
    weir_slow_device *slow = weir_arena_alloc(arena, (size_t)count + 1, sizeof *slow);
    if (!slow) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for slow devices");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (scenario->slow[i].device >= devices) {
            return weir_fabric_reject(scenario, scenario->slow[i].place, err,
                                      "slow device %u; the cluster has devices 0 to %u",
                                      scenario->slow[i].device, devices - 1);
        }
        slow[i] = (weir_slow_device){scenario->slow[i].device, scenario->slow[i].factor};
    }
    spmd->slow = slow;
    spmd->slow_count = count;
    return WEIR_OK;
}

/* "leaf 3 - spine 1" stands for both directions of the cable. */
static uint32_t find_links(const weir_layout *layout, const char *name, weir_link_id links[2],
                           weir_text *room)
{
    weir_str text = weir_str_from(name);
    uint32_t dash = weir_str_find(text, WEIR_STR(" - "), 0), count = 0;
    if (dash == text.n) {
        links[0] = weir_layout_find_link(layout, text);
        return links[0] != WEIR_NONE;
    }
    weir_str ends[2] = {{text.p, dash}, {text.p + dash + 3, text.n - dash - 3}};
    for (uint32_t i = 0; i < 2; i++) {
        room->n = 0;
        weir_text_add(room, ends[i]);
        weir_text_add(room, WEIR_STR(" -> "));
        weir_text_add(room, ends[1 - i]);
        weir_link_id link =
            room->failed ? WEIR_NONE
                         : weir_layout_find_link(layout, (weir_str){room->p, (uint32_t)room->n});
        if (link != WEIR_NONE) {
            links[count++] = link;
        }
    }
    return count;
}

static weir_code broken_links(const weir_fabric_scenario *scenario, const weir_layout *layout,
                              weir_arena *arena, weir_spmd *spmd, uint64_t *found, weir_err *err)
{
    uint32_t room = 4 * scenario->broken_count, count = 0;
    uint64_t seen = 0;
    weir_link_change *items = weir_arena_alloc(arena, (size_t)room + 1, sizeof *items);
    weir_link_changes *changes = weir_arena_alloc(arena, 1, sizeof *changes);
    if (!items || !changes) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for broken links");
    }
    weir_text name = {0};
    for (uint32_t i = 0; i < scenario->broken_count; i++) {
        const weir_broken_entry *entry = &scenario->broken[i];
        weir_link_id links[2];
        uint32_t joined = find_links(layout, entry->link, links, &name);
        seen |= joined && i < 64 ? 1ull << i : 0;
        for (uint32_t k = 0; k < joined; k++) {
            double healthy = weir_net_bytes_per_s(weir_layout_net(layout), links[k]);
            items[count++] = (weir_link_change){links[k], entry->at_s, 0};
            if (isfinite(entry->until_s)) {
                items[count++] = (weir_link_change){links[k], entry->until_s, healthy};
            }
        }
    }
    bool failed = name.failed;
    weir_text_clear(&name);
    *changes = (weir_link_changes){items, count};
    spmd->changes = count ? changes : NULL;
    *found = seen;
    return failed ? weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for broken links") : WEIR_OK;
}

weir_code weir_fabric_disturb(const weir_fabric_scenario *scenario, const weir_layout *layout,
                              weir_arena *arena, weir_spmd *spmd, uint64_t *found, weir_err *err)
{
    weir_code code = slow_devices(scenario, arena, spmd, err);
    if (code == WEIR_OK) {
        code = broken_links(scenario, layout, arena, spmd, found, err);
    }
    spmd->jitter = scenario->jitter;
    spmd->seed = scenario->seed;
    return code;
}
