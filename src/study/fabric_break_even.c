/* fabric_break_even.c: bisection over candidates that are played again (fabric_break_even.h). */
#include "study/fabric_break_even.h"

#include "base/thread.h"
#include "result/quantity.h"
#include "study/fabric_compare.h"

#include <math.h>
#include <string.h>

static int sign_of(double value)
{
    return (value > 0) - (value < 0);
}

weir_code weir_fabric_bisect(const weir_fabric_difference *function,
                             const weir_fabric_bracket *bracket, double *root, int *low_sign,
                             weir_err *err)
{
    double low = bracket->low, high = bracket->high, at_low = 0, at_high = 0;
    weir_code code = function->difference(function->context, low, &at_low, err);
    if (code == WEIR_OK) {
        code = function->difference(function->context, high, &at_high, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    if (low_sign) {
        *low_sign = sign_of(at_low);
    }
    *root = NAN;
    if (sign_of(at_low) == sign_of(at_high)) {
        return WEIR_OK;
    }
    double width = high - low;
    while (bracket->is_log ? high > low * (1 + bracket->precision)
                           : high - low > width * bracket->precision) {
        double middle = bracket->is_log ? sqrt(low * high) : low + (high - low) / 2, value = 0;
        code = function->difference(function->context, middle, &value, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (sign_of(value) == sign_of(at_low)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *root = bracket->is_log ? sqrt(low * high) : low + (high - low) / 2;
    return WEIR_OK;
}

typedef enum { SWITCHING, MESSAGE, PERSISTENCE } question;

typedef struct {
    const weir_fabric_scenario *scenario;
    const weir_library *library;
    const weir_fabric_result *fabric;
    uint32_t light, packets; /* candidates */
    const char *axis;        /* whose messages are scaled */
    question asks;
    double packets_measure, light_measure; /* where they do not change */
    weir_fabric_play *kept;                /* light, planned, for traffic that changes */
} search;

static void scale_axis(weir_fabric_scenario *scenario, const char *axis, double factor)
{
    for (uint32_t i = 0; i < scenario->phase_count; i++) {
        if (strcmp(scenario->phases[i].axis, axis) == 0) {
            scenario->phases[i].bytes *= factor;
            scenario->phases[i].scale *= factor;
        }
    }
}

/* A candidate that cannot be played is worse than any. */
static weir_code measure(const search *s, const weir_fabric_scenario *scenario, uint32_t candidate,
                         double changing_share, double *value, weir_err *err)
{
    weir_arena *arena = weir_arena_new();
    if (!arena) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the break-even");
    }
    weir_fabric_wish wish = {.scenario = scenario,
                             .candidate = candidate,
                             .library = s->library,
                             .changing_share = changing_share,
                             .kept = changing_share > 0 ? s->kept : NULL};
    weir_fabric_evaluation found = {0};
    weir_code code = weir_fabric_evaluate(&wish, false, arena, &found, err);
    if (code == WEIR_OK) {
        *value = weir_fabric_is_possible(&found.row) ? weir_fabric_measure(s->fabric, &found.row)
                                                     : INFINITY;
    }
    weir_arena_free(arena);
    return code;
}

/* The light candidate's measure where a share of its repetitions needs other circuits. */
static weir_code measure_changing(const search *s, double changing_share, double *value,
                                  weir_err *err)
{
    if (!(changing_share > 0)) {
        *value = s->light_measure;
        return WEIR_OK;
    }
    return measure(s, s->scenario, s->light, changing_share, value, err);
}

/* Both candidates in a scenario that is changed. */
static weir_code measure_variant(const search *s, double x, double *of_light, double *of_packets,
                                 weir_err *err)
{
    weir_fabric_variant variant = {0};
    weir_code code = weir_fabric_variant_make(s->scenario, &variant, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_candidate *light = &variant.scenario.candidates[s->light];
    if (s->asks == SWITCHING) {
        light->switch_s = x;
        light->linkup_s = 0;
    } else {
        scale_axis(&variant.scenario, s->axis, x);
        code = measure(s, &variant.scenario, s->packets, 0, of_packets, err);
    }
    if (code == WEIR_OK) {
        code = measure(s, &variant.scenario, s->light, 0, of_light, err);
    }
    weir_fabric_variant_clear(&variant);
    return code;
}

/* Light's measure less packets'. */
static weir_code difference(void *context, double x, double *value, weir_err *err)
{
    const search *s = context;
    double of_light = 0, of_packets = s->packets_measure;
    weir_code code = s->asks == PERSISTENCE ? measure_changing(s, 1 - x, &of_light, err)
                                            : measure_variant(s, x, &of_light, &of_packets, err);
    if (code == WEIR_OK) {
        *value = of_light - of_packets;
    }
    return code;
}

enum { QUESTIONS = 3 };

typedef struct {
    search searches[QUESTIONS];
    double roots[QUESTIONS]; /* NAN: none */
    int low_signs[QUESTIONS];
    weir_code codes[QUESTIONS];
    weir_err errs[QUESTIONS];
    double message_bytes; /* of the axis, as it is */
    bool is_set_once;     /* no candidate sets circuits within a step */
} asking;

static void ask(void *context, uint32_t number)
{
    static const weir_fabric_bracket brackets[QUESTIONS] = {
        [SWITCHING] = {1e-9, 1e3, 0.02, true},
        [MESSAGE] = {1e-4, 1e4, 0.02, true},
        [PERSISTENCE] = {0, 1, 0.005, false},
    };
    asking *a = context;
    weir_fabric_play kept = {0};
    a->searches[number].kept = &kept;
    weir_fabric_difference function = {&a->searches[number], difference};
    if ((number == MESSAGE && !a->searches[number].axis) ||
        (number == SWITCHING && a->is_set_once)) {
        return; /* nothing goes between nodes; nothing switches */
    }
    a->codes[number] = weir_fabric_bisect(&function, &brackets[number], &a->roots[number],
                                          &a->low_signs[number], &a->errs[number]);
    a->searches[number].kept = NULL;
    weir_fabric_play_clear(&kept);
}

/* The best candidate whose circuits are set within a step: to the others switching is nothing. */
static uint32_t light_that_switches(const weir_fabric_result *fabric)
{
    uint32_t found = WEIR_NONE;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        bool switches = row->resets > 0 || strcmp(row->kind, "rotor") == 0 ||
                        strcmp(row->kind, "ocs-phase") == 0;
        if (weir_fabric_is_possible(row) && weir_fabric_is_light(row) && switches &&
            (found == WEIR_NONE || weir_fabric_measure(fabric, row) <
                                       weir_fabric_measure(fabric, &fabric->candidates[found]))) {
            found = i;
        }
    }
    return found;
}

static const weir_fabric_traffic_row *main_traffic(const weir_fabric_result *fabric)
{
    const weir_fabric_traffic_row *most = NULL;
    for (uint32_t i = 0; i < fabric->traffic_count; i++) {
        const weir_fabric_traffic_row *row = &fabric->traffic[i];
        if (!row->is_contrast && !isnan(row->peak_to_mean) && (!most || row->bytes > most->bytes)) {
            most = row;
        }
    }
    return most;
}

/* The usual way round: light pays while switching is short, and from some message and persistence
 * on (below it loses, or makes no difference). Else the figure is told in words only. */
static bool is_usual(const asking *a, question asks)
{
    int sign = a->low_signs[asks];
    return !isnan(a->roots[asks]) && (asks == SWITCHING ? sign < 0 : sign >= 0);
}

static void add_words(weir_text *text, const asking *a, question asks, double value,
                      const char *thing)
{
    if (isnan(a->roots[asks])) {
        weir_text_printf(text, " %s at any %s;", a->low_signs[asks] < 0 ? "pays" : "does not pay",
                         thing);
    } else if (!is_usual(a, asks)) {
        weir_text_printf(text, " pays only %s a %s of ", a->low_signs[asks] < 0 ? "below" : "above",
                         thing);
        if (asks == SWITCHING) {
            weir_quantity_seconds(text, value, 2);
        } else if (asks == MESSAGE) {
            weir_quantity_si(text, value, "B");
        } else {
            weir_quantity_fixed(text, value, 2);
        }
        weir_text_char(text, ';');
    }
}

static weir_code say(weir_result *result, const asking *a, weir_err *err)
{
    weir_fabric_break_even *b = &result->fabric->break_even;
    const weir_fabric_candidate_row *rows = result->fabric->candidates;
    const search *best = &a->searches[PERSISTENCE], *switching = &a->searches[SWITCHING];
    weir_text text = {0};
    weir_text_add(&text, WEIR_STR("Of "));
    weir_fabric_call(&text, &rows[best->light]);
    if (switching->light != best->light) {
        weir_text_add(&text, WEIR_STR(" (for switching "));
        weir_fabric_call(&text, &rows[switching->light]);
        weir_text_char(&text, ')');
    }
    weir_text_add(&text, WEIR_STR(" against "));
    weir_fabric_call(&text, &rows[best->packets]);
    weir_text_printf(&text, ", by %s;",
                     weir_fabric_has_prices(result->fabric) ? "cost a year" : "time of a step");
    if (a->is_set_once) {
        weir_text_add(&text, WEIR_STR(" circuits are set once a job, so that switching does not "
                                      "matter;"));
    } else {
        add_words(&text, a, SWITCHING, a->roots[SWITCHING], "switching time");
    }
    if (a->searches[MESSAGE].axis) {
        add_words(&text, a, MESSAGE, a->roots[MESSAGE] * a->message_bytes, "message");
    }
    add_words(&text, a, PERSISTENCE, a->roots[PERSISTENCE], "persistence");
    if (!text.failed && text.n) {
        text.p[text.n - 1] = '.';
    }
    b->sentence =
        text.failed ? NULL : weir_result_copy(result, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    return b->sentence ? WEIR_OK
                       : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the break-even");
}

weir_code weir_fabric_find_break_even(const weir_fabric_scenario *scenario,
                                      const weir_library *library, uint32_t threads,
                                      weir_result *result, weir_err *err)
{
    weir_fabric_result *fabric = result->fabric;
    const weir_fabric_traffic_row *traffic = main_traffic(fabric);
    asking a = {.roots = {NAN, NAN, NAN}};
    search s = {.scenario = scenario,
                .library = library,
                .fabric = fabric,
                .light = weir_fabric_best_light(fabric),
                .packets = weir_fabric_best_packets(fabric),
                .axis = traffic ? traffic->axis : NULL};
    if (s.light == WEIR_NONE || s.packets == WEIR_NONE) {
        return WEIR_OK;
    }
    s.packets_measure = weir_fabric_measure(fabric, &fabric->candidates[s.packets]);
    s.light_measure = weir_fabric_measure(fabric, &fabric->candidates[s.light]);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        a.searches[i] = s;
        a.searches[i].asks = (question)i;
    }
    uint32_t switching = light_that_switches(fabric);
    a.is_set_once = switching == WEIR_NONE;
    a.searches[SWITCHING].light = a.is_set_once ? s.light : switching;
    a.message_bytes = traffic ? traffic->message_bytes : NAN;
    weir_thread_for(QUESTIONS, threads, ask, &a);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        if (a.codes[i] != WEIR_OK) {
            return weir_err_set(err, a.codes[i], "%s", a.errs[i].text);
        }
    }
    weir_fabric_break_even *b = &fabric->break_even;
    b->switching_time_s = is_usual(&a, SWITCHING) ? a.roots[SWITCHING] : NAN;
    b->message_bytes = is_usual(&a, MESSAGE) ? a.roots[MESSAGE] * a.message_bytes : NAN;
    b->persistence = is_usual(&a, PERSISTENCE) ? a.roots[PERSISTENCE] : NAN;
    return say(result, &a, err);
}
