#include "study/train_traffic.h"

#include "scenario/preset.h"
#include "study/train_network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

weir_code weir_train_closed_step(weir_train_scenario *scenario, weir_train_scratch *scratch,
                                 weir_train_step *step, weir_err *err)
{
    weir_code code = WEIR_OK;
    if (scenario->has_network) {
        code = weir_train_network_factors(scenario, scenario->job.network.factor, err);
    }
    return code == WEIR_OK ? weir_train_step_of(&scenario->job, scratch, step, err) : code;
}

static weir_code finish(const weir_text *text, weir_err *err)
{
    return text->failed ? weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the traffic") : WEIR_OK;
}

/* --- cluster ------------------------------------------------------------------------------ */

/* "like: ID" where presets/FOLDER has it, else "id: ID": a part of the scenario's own. */
static weir_code add_id(const char *folder, const char *id, weir_text *text, weir_err *err)
{
    char path[160];
    weir_err unknown = {0};
    weir_yaml *doc = NULL;
    snprintf(path, sizeof path, "%s/%.120s.yaml", folder, id);
    weir_code code = weir_preset_open(path, &doc, &unknown);
    weir_yaml_free(doc);
    if (code == WEIR_ERR_MEMORY) {
        return weir_err_set(err, code, "%s", unknown.text);
    }
    weir_text_printf(text, "%s: '%s'", code == WEIR_OK ? "like" : "id", id);
    return WEIR_OK;
}

static weir_code add_cluster(const weir_cluster *c, weir_text *text, weir_err *err)
{
    static const char *const kinds[] = {"none", "switched", "meshed", "ring"};
    weir_text_printf(text, "{accelerator: %s, nodes: %u, devices: %u, nics: %u, nic: {",
                     c->accelerator->id, (unsigned)c->nodes, (unsigned)c->devices,
                     (unsigned)c->nics);
    weir_code code = add_id("nics", c->nic->id, text, err);
    weir_text_printf(text, ", rate: %.17g B/s}", c->nic->bytes_per_s);
    if (code == WEIR_OK && c->node_link && c->node_link->wiring != WEIR_NODE_UNLINKED) {
        weir_text_add(text, WEIR_STR(", node_link: {"));
        code = add_id("links", c->node_link->id, text, err);
        weir_text_printf(text, ", kind: %s, rate: %.17g B/s}", kinds[c->node_link->wiring],
                         c->node_link->bytes_per_s);
    }
    if (c->library) {
        weir_text_printf(text, ", library: %s", c->library);
    }
    weir_text_char(text, '}');
    return code;
}

/* --- phases ------------------------------------------------------------------------------- */

typedef struct {
    weir_phase phases[WEIR_AXIS_COUNT];
    weir_train_axis axes[WEIR_AXIS_COUNT];
    uint32_t count;
    weir_train_step step;
} planned;

static weir_code plan_phases(const weir_train_scenario *scenario, planned *p, weir_err *err)
{
    weir_train_scratch *scratch = weir_train_scratch_new();
    weir_code code = scratch ? weir_train_step_of(&scenario->job, scratch, &p->step, err)
                             : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the traffic");
    weir_train_scratch_free(scratch);
    if (code == WEIR_OK) {
        code = weir_train_phases(&scenario->job, p->phases, p->axes, &p->count, err);
    }
    if (code == WEIR_OK && p->count == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: found no traffic between nodes, expected a plan with a group that "
                            "is larger than a node",
                            scenario->file);
    }
    return code;
}

/* Of the traffic of a phase: seconds that devices wait for, and that run beside computing. */
static double exposed_s(const planned *p, uint32_t i)
{
    return fmin(p->step.axis[p->axes[i]].exposed_s, p->step.axis[p->axes[i]].seconds);
}

static double hidden_s(const planned *p, uint32_t i)
{
    return p->step.axis[p->axes[i]].seconds - exposed_s(p, i);
}

/* What of the step is no exposed traffic of these phases. */
static double computing_s(const planned *p)
{
    double rest_s = p->step.step_s;
    for (uint32_t i = 0; i < p->count; i++) {
        rest_s -= exposed_s(p, i);
    }
    return fmax(rest_s, 0);
}

typedef struct {
    double share;     /* of the phase's bytes */
    double compute_s; /* before all of its calls together */
    bool is_hidden;
} phase_part;

static void add_part(const planned *p, uint32_t i, const phase_part *part, weir_text *text)
{
    const weir_phase *phase = &p->phases[i];
    const char *behind = text->n > 0 && text->p[text->n - 1] != '[' ? ", " : "";
    weir_text_printf(text, "%s{name: %s%s, axis: %s, collective: %s", behind, phase->name,
                     part->is_hidden ? " hidden" : "", phase->axis,
                     weir_collective_kind_name(phase->collective));
    weir_text_printf(text, ", group: {size: %u, stride: %u}, bytes: %.17g B, times: %u",
                     (unsigned)phase->group_size, (unsigned)phase->group_stride,
                     phase->bytes * part->share, (unsigned)phase->times);
    weir_text_printf(text, ", compute: %.17g s, overlap: %s}", part->compute_s / phase->times,
                     part->is_hidden ? "yes" : "no");
}

/* What devices wait for blocks, the rest runs beside computing that is as long in proportion. */
static void add_phases(const planned *p, weir_text *text)
{
    double all_hidden_s = 0, rest_s = computing_s(p);
    for (uint32_t i = 0; i < p->count; i++) {
        all_hidden_s += hidden_s(p, i);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        double seconds = p->step.axis[p->axes[i]].seconds, hidden = hidden_s(p, i);
        double share = seconds > 0 ? hidden / seconds : 0;
        double covered = all_hidden_s > 0 ? hidden / all_hidden_s : 0;
        phase_part seen = {.share = 1 - share,
                           .compute_s = all_hidden_s > 0 ? 0 : rest_s / p->count};
        phase_part beside = {.share = share, .compute_s = rest_s * covered, .is_hidden = true};
        if (seen.share > 0) {
            add_part(p, i, &seen, text);
        }
        if (beside.share > 0) {
            add_part(p, i, &beside, text);
        }
    }
}

weir_code weir_train_traffic_text(const weir_train_scenario *scenario, weir_text *cluster,
                                  weir_text *traffic, weir_err *err)
{
    planned p = {.count = 0};
    weir_code code = plan_phases(scenario, &p, err);
    if (code != WEIR_OK) {
        return code;
    }
    code = add_cluster(&scenario->cluster, cluster, err);
    weir_text_add(traffic, WEIR_STR("{phases: ["));
    add_phases(&p, traffic);
    weir_text_add(traffic, WEIR_STR("]}"));
    if (code == WEIR_OK) {
        code = finish(cluster, err);
    }
    return code == WEIR_OK ? finish(traffic, err) : code;
}

/* --- candidates --------------------------------------------------------------------------- */

weir_code weir_train_candidates_text(const weir_train_scenario *scenario, weir_text *candidates,
                                     weir_err *err)
{
    static const unsigned rates[] = {100, 200, 400, 800};
    double gigabits = scenario->cluster.nic->bytes_per_s * 8e-9;
    unsigned rate = 0;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        rate = fabs(gigabits - rates[i]) < 0.5 ? rates[i] : rate;
    }
    if (rate == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: found NICs of %.4g Gb/s, expected 100, 200, 400 or 800, or a "
                            "scenario of weir fabric with candidates",
                            scenario->file, gigabits);
    }
    /* Two tiers of switches with 64 ports hold 2,048 NICs. */
    bool is_large = (uint64_t)scenario->cluster.nodes * scenario->cluster.nics > 2048;
    weir_text_printf(candidates,
                     "[{name: clos 1:1, preset: clos%d-%ug}, "
                     "{name: clos 3:1, preset: clos%d-%ug, oversubscription: %s}",
                     is_large ? 3 : 2, rate, is_large ? 3 : 2, rate,
                     is_large ? "[1, 3]" : "[3, 1]");
    if (rate == 400) {
        weir_text_add(candidates, WEIR_STR(", {name: rails, preset: rail-400g}, "
                                           "{name: rails and light, preset: ocs-rails-400g}"));
    }
    weir_text_char(candidates, ']');
    return finish(candidates, err);
}
