#include "study/train_traffic.h"

#include "scenario/preset.h"
#include "study/train_network.h"
#include "train/train_wire.h"

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
    weir_train_axis axis;
    weir_phase phase; /* as the network plays it; its bytes in a step are those of the step */
    double seen_s;    /* of its traffic at the scenario's rate, a step: devices wait for it */
    double hidden_s;  /* and runs beside computing */
    double room_s;    /* of computing that it can hide beside */
} planned_axis;

typedef struct {
    planned_axis axes[WEIR_AXIS_COUNT];
    uint32_t count;
    double rest_s; /* of the step, that is neither seen traffic nor room to hide in */
} planned;

static double seen_s(const weir_train_step *step, weir_train_axis axis)
{
    return fmax(0, fmin(step->axis[axis].exposed_s, step->axis[axis].seconds));
}

/* The collective of the phase stands for all of the axis: so many more bytes. What software adds to
 * the wire (a hand-over, a stack's factor above 1) is computing for the network. */
static void set_times(const weir_train_job *job, const weir_train_step *step, planned_axis *a)
{
    weir_phase *phase = &a->phase;
    weir_wire wire =
        weir_train_wire(job, weir_train_group_of(a->axis), phase->collective, phase->bytes);
    double bytes = wire.bytes * phase->times, seconds = step->axis[a->axis].seconds;
    double wanted = bytes > 0 ? step->axis[a->axis].bytes / bytes : 1;
    double times = fmax(1, round(phase->times * wanted));
    double on_wire_s = wire.seconds * phase->times * wanted;
    phase->bytes *= phase->times * wanted / times;
    phase->times = (uint32_t)fmin(times, UINT32_MAX);
    a->seen_s = seconds > 0 ? seen_s(step, a->axis) * fmin(1, on_wire_s / seconds) : 0;
    a->hidden_s = fmax(0, on_wire_s - a->seen_s);
}

/* What an axis hides when its traffic takes SLOWER times as long: all the computing that it can. */
static weir_code find_room(const weir_train_job *job, weir_train_scratch *scratch, planned_axis *a,
                           weir_err *err)
{
    enum { SLOWER = 16 };
    weir_train_job slow = *job;
    weir_train_step step;
    slow.network.factor[a->axis] *= SLOWER;
    weir_code code = weir_train_step_of(&slow, scratch, &step, err);
    if (code == WEIR_OK) {
        double hidden = step.axis[a->axis].seconds - seen_s(&step, a->axis);
        a->room_s = a->hidden_s > 0 ? fmax(hidden, a->hidden_s) : 0;
    }
    return code;
}

/* Axes with more collectives first: what is left over of the last ones is seen soonest. */
static void sort_axes(planned *p)
{
    for (uint32_t i = 1; i < p->count; i++) {
        planned_axis moved = p->axes[i];
        uint32_t k = i;
        for (; k > 0 && p->axes[k - 1].phase.times < moved.phase.times; k--) {
            p->axes[k] = p->axes[k - 1];
        }
        p->axes[k] = moved;
    }
}

/* Room is computing of the step, and the last collective's stands behind it once more. */
static void share_computing(planned *p, double step_s)
{
    double room_s = 0, rest_s = step_s;
    for (uint32_t i = 0; i < p->count; i++) {
        const planned_axis *a = &p->axes[i];
        room_s += a->room_s * (1 + (i + 1 == p->count ? 1.0 / a->phase.times : 0));
        rest_s -= a->seen_s;
    }
    double fits = room_s > rest_s ? fmax(0, rest_s) / room_s : 1;
    for (uint32_t i = 0; i < p->count; i++) {
        p->axes[i].room_s *= fits;
    }
    p->rest_s = fmax(0, rest_s - room_s * fits);
}

static weir_code plan_axes(const weir_train_job *job, weir_train_scratch *scratch, planned *p,
                           weir_err *err)
{
    weir_phase phases[WEIR_AXIS_COUNT];
    weir_train_axis axes[WEIR_AXIS_COUNT];
    weir_train_step step;
    weir_code code = weir_train_step_of(job, scratch, &step, err);
    if (code == WEIR_OK) {
        code = weir_train_phases(job, phases, axes, &p->count, err);
    }
    for (uint32_t i = 0; i < p->count && code == WEIR_OK; i++) {
        p->axes[i] = (planned_axis){.axis = axes[i], .phase = phases[i]};
        set_times(job, &step, &p->axes[i]);
        code = find_room(job, scratch, &p->axes[i], err);
    }
    if (code == WEIR_OK) {
        sort_axes(p);
        share_computing(p, step.step_s);
    }
    return code;
}

static weir_code plan_phases(const weir_train_scenario *scenario, planned *p, weir_err *err)
{
    weir_train_scratch *scratch = weir_train_scratch_new();
    weir_code code = scratch ? plan_axes(&scenario->job, scratch, p, err)
                             : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the traffic");
    weir_train_scratch_free(scratch);
    if (code == WEIR_OK && p->count == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: found no traffic between nodes, expected a plan with a group that "
                            "is larger than a node",
                            scenario->file);
    }
    return code;
}

static void begin_phase(weir_text *text)
{
    bool is_first = text->n > 0 && text->p[text->n - 1] == '[';
    weir_text_add(text, is_first ? WEIR_STR("{") : WEIR_STR(", {"));
}

/* Computing without traffic: a collective of one device. */
static void add_computing(const planned_axis *a, double compute_s, weir_text *text)
{
    begin_phase(text);
    weir_text_printf(text, "name: computing, axis: %s, collective: all_reduce, ", a->phase.axis);
    weir_text_printf(text, "group: {size: 1}, bytes: 1 B, compute: %.17g s}", compute_s);
}

/* The part of an axis' traffic that is seen, or hidden: so many of its collectives. */
static void add_part(const planned_axis *a, bool is_hidden, weir_text *text)
{
    const weir_phase *phase = &a->phase;
    double part_s = is_hidden ? a->hidden_s : a->seen_s;
    double share = part_s / (a->seen_s + a->hidden_s);
    double times = fmax(1, round(phase->times * share));
    begin_phase(text);
    weir_text_printf(text, "name: %s%s, axis: %s, collective: %s", phase->name,
                     is_hidden ? " hidden" : "", phase->axis,
                     weir_collective_kind_name(phase->collective));
    weir_text_printf(text, ", group: {size: %u, stride: %u}, bytes: %.17g B, times: %.0f",
                     (unsigned)phase->group_size, (unsigned)phase->group_stride,
                     phase->bytes * phase->times * share / times, times);
    weir_text_printf(text, ", compute: %.17g s, overlap: %s}", is_hidden ? a->room_s / times : 0,
                     is_hidden ? "yes" : "no");
}

/* First what devices wait for, with all computing that nothing hides beside; then what is hidden,
 * each collective beside the computing that follows it. */
static void add_phases(const planned *p, weir_text *text)
{
    const planned_axis *last = &p->axes[p->count - 1];
    if (p->rest_s > 0) {
        add_computing(&p->axes[0], p->rest_s, text);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->axes[i].seen_s > 0) {
            add_part(&p->axes[i], false, text);
        }
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->axes[i].hidden_s > 0) {
            add_part(&p->axes[i], true, text);
        }
    }
    if (last->room_s > 0) {
        add_computing(last, last->room_s / last->phase.times, text);
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
