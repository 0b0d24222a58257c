/* question_find.c: how much less of a network would still do? Searched by playing it again. */
#include "result/quantity.h"
#include "scenario/unit.h"
#include "study/questions.h"

#include <math.h>
#include <stdio.h>

/* The furthest that is looked at; what lies beyond is said to lie outside. */
enum {
    MOST_OVERSUBSCRIPTION = 64,
    MOST_PORTS = 4096,
    MOST_SWITCHING_US = 100000000, /* 100 s */
    FINEST = 100,                  /* switching times are found within a hundredth */
};

static const char *const names[WEIR_FIND_COUNT] = {"oversubscription", "ports", "switching"};

bool weir_find_what_find(weir_str name, weir_find_what *what)
{
    for (uint32_t i = 0; i < WEIR_FIND_COUNT; i++) {
        if (weir_str_eq(name, weir_str_from(names[i]))) {
            *what = (weir_find_what)i;
            return true;
        }
    }
    return false;
}

const char *weir_find_what_name(weir_find_what what)
{
    return names[what];
}

bool weir_find_lose_parse(const char *text, double *share)
{
    weir_str number = weir_str_from(text);
    double value;
    if (!weir_str_ends(number, WEIR_STR("%"))) {
        return false;
    }
    number.n--;
    while (number.n && number.p[number.n - 1] == ' ') {
        number.n--;
    }
    if (!weir_number_parse(number, &value) || !(value >= 0 && value <= 1000)) {
        return false;
    }
    *share = value / 100;
    return true;
}

bool weir_find_applies(weir_find_what what, weir_candidate_kind kind)
{
    bool has_circuits = kind == WEIR_CANDIDATE_OCS_JOB || kind == WEIR_CANDIDATE_OCS_PHASE ||
                        kind == WEIR_CANDIDATE_ROTOR || kind == WEIR_CANDIDATE_HYBRID;
    bool has_leaves = kind == WEIR_CANDIDATE_CLOS || kind == WEIR_CANDIDATE_RAIL ||
                      kind == WEIR_CANDIDATE_RAIL_ONLY || kind == WEIR_CANDIDATE_HYBRID;
    return what == WEIR_FIND_OVERSUBSCRIPTION ? has_leaves : has_circuits;
}

/* --- one play ----------------------------------------------------------------------------- */

typedef struct {
    const weir_find_question *asked;
    const weir_player *player;
    weir_arena *arena;
    double limit_s;
    uint32_t plays;
} search;

typedef struct {
    uint32_t at; /* whole ratio, ports, microseconds */
    double step_s;
    const char *refused;
} played;

enum { AS_WRITTEN = 0 }; /* of ports: no setting */

static weir_code play(search *s, uint32_t at, played *out, weir_err *err)
{
    char keys[2][64], value[64];
    weir_setting settings[2] = {{keys[0], value}, {keys[1], "0 s"}};
    uint32_t count = 1;
    static const char *const key[] = {"oversubscription", "uplinks", "switching"};
    snprintf(keys[0], sizeof keys[0], "candidates.%u.%s", s->asked->index, key[s->asked->what]);
    snprintf(keys[1], sizeof keys[1], "candidates.%u.linkup", s->asked->index);
    if (s->asked->what == WEIR_FIND_OVERSUBSCRIPTION) {
        snprintf(value, sizeof value, "[%u, %.15g]", at, s->asked->candidate->oversubscription[1]);
    } else if (s->asked->what == WEIR_FIND_PORTS) {
        snprintf(value, sizeof value, "%u", at);
        count = at == AS_WRITTEN ? 0 : 1;
    } else {
        snprintf(value, sizeof value, "%u us", at);
        count = 2;
    }
    weir_play found = {0};
    weir_play_wish wish = {.settings = settings, .setting_count = count, .only = s->asked->index};
    weir_code code = s->player->play(s->player->context, &wish, s->arena, &found, err);
    if (code != WEIR_OK) {
        return code;
    }
    s->plays++;
    for (uint32_t i = 0; i < found.count; i++) {
        const weir_play_row *row = &found.rows[i];
        if (weir_str_eq(weir_str_from(row->candidate), weir_str_from(s->asked->candidate->name))) {
            *out = (played){at, row->refused ? NAN : row->step_s, row->refused};
            return WEIR_OK;
        }
    }
    return weir_err_set(err, WEIR_ERR_INTERNAL, "candidate '%.100s' was not played",
                        s->asked->candidate->name);
}

static bool keeps(const search *s, const played *p)
{
    return !p->refused && p->step_s <= s->limit_s;
}

/* --- searches ----------------------------------------------------------------------------- */

typedef struct {
    played good, bad; /* neighbours; at WEIR_NONE: there is none */
} border;

/* From mild, which keeps to the limit, upward: the last that does, the first that does not. */
static weir_code climb(search *s, played mild, uint32_t most, uint32_t fineness, border *found,
                       weir_err *err)
{
    border b = {mild, {.at = WEIR_NONE}};
    while (b.bad.at == WEIR_NONE && b.good.at < most) {
        uint32_t next = b.good.at ? (b.good.at < most / 2 ? 2 * b.good.at : most) : 1;
        played p;
        weir_code code = play(s, next, &p, err);
        if (code != WEIR_OK) {
            return code;
        }
        *(keeps(s, &p) ? &b.good : &b.bad) = p;
    }
    for (;;) {
        uint32_t step = fineness ? b.good.at / fineness : 0;
        if (b.bad.at == WEIR_NONE || b.bad.at - b.good.at <= (step > 1 ? step : 1)) {
            break;
        }
        played p;
        weir_code code = play(s, b.good.at + (b.bad.at - b.good.at) / 2, &p, err);
        if (code != WEIR_OK) {
            return code;
        }
        *(keeps(s, &p) ? &b.good : &b.bad) = p;
    }
    *found = b;
    return WEIR_OK;
}

/* From one port upward: the last that is too few, the first that is enough. What is refused after
 * something could be played is too many. */
static weir_code widen(search *s, border *found, weir_err *err)
{
    border b = {{.at = WEIR_NONE}, {.at = WEIR_NONE}};
    uint32_t low = 0, high = MOST_PORTS + 1, next = 1;
    bool was_played = false;
    while (b.good.at == WEIR_NONE ? high - low > 1 : b.good.at - low > 1) {
        played p;
        weir_code code = play(s, next, &p, err);
        if (code != WEIR_OK) {
            return code;
        }
        was_played |= !p.refused;
        if (keeps(s, &p)) {
            b.good = p;
        } else if (p.refused && was_played && b.good.at == WEIR_NONE) {
            high = next;
        } else {
            b.bad = p;
            low = next;
        }
        uint32_t top = b.good.at == WEIR_NONE ? high : b.good.at;
        bool is_open = b.good.at == WEIR_NONE && high > MOST_PORTS && low <= MOST_PORTS / 2;
        next = is_open ? 2 * (low ? low : 1) : low + (top - low) / 2;
    }
    *found = b;
    return WEIR_OK;
}

/* --- answers ------------------------------------------------------------------------------ */

static double value_of(weir_find_what what, uint32_t at)
{
    return what == WEIR_FIND_SWITCHING ? at * 1e-6 : at;
}

static void say_value(weir_text *text, weir_find_what what, double value)
{
    if (what == WEIR_FIND_SWITCHING) {
        weir_quantity_seconds(text, value, 3);
    } else if (what == WEIR_FIND_PORTS) {
        weir_text_printf(text, "%.0f port%s a block", value, value > 1 ? "s" : "");
    } else {
        weir_text_printf(text, "%.0f:1", value);
    }
}

static void say_step(weir_text *text, const weir_find_answer *a, double step_s)
{
    if (isnan(step_s)) {
        weir_text_add(text, WEIR_STR("it cannot be built"));
        return;
    }
    weir_quantity_seconds(text, step_s, 3);
    weir_text_printf(text, " (%+.2f %%)", 100 * (step_s / a->reference_s - 1));
}

static void say_next(weir_text *text, const weir_find_answer *a)
{
    if (isnan(a->next_value)) {
        return;
    }
    weir_text_add(text, WEIR_STR("; with "));
    say_value(text, a->what, a->next_value);
    if (a->next_refused) {
        weir_text_printf(text, " it cannot be built: %s", a->next_refused);
    } else {
        weir_text_add(text, WEIR_STR(" it takes "));
        say_step(text, a, a->next_step_s);
    }
}

/* "'clos': up to 3:1 the step loses at most 2 %: 102 ms (+1.90 %) against 100 ms; with 4:1 ..." */
static weir_code say(weir_find_answer *a, double lose_share, weir_arena *arena, weir_err *err)
{
    static const char *const inside[] = {"up to ", "from ", "up to "};
    weir_text text = {0};
    weir_text_printf(&text, "'%s': ", a->candidate);
    if (a->end == WEIR_FIND_NOTHING) {
        weir_text_printf(&text, "nothing that was tried keeps the loss to %.6g %%, not even ",
                         100 * lose_share);
    } else {
        weir_text_add(&text,
                      weir_str_from(a->end == WEIR_FIND_ALL ? "even with " : inside[a->what]));
    }
    say_value(&text, a->what, a->value);
    if (a->end == WEIR_FIND_NOTHING) {
        weir_text_add(&text, WEIR_STR(": "));
    } else {
        weir_text_printf(&text, " the step loses at most %.6g %%: ", 100 * lose_share);
    }
    say_step(&text, a, a->step_s);
    weir_text_add(&text, WEIR_STR(" against "));
    weir_quantity_seconds(&text, a->reference_s, 3);
    say_next(&text, a);
    a->sentence = text.failed ? NULL : weir_arena_copy(arena, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    return a->sentence ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a question");
}

static weir_code look(search *s, played reference, border *found, weir_err *err)
{
    switch (s->asked->what) {
    case WEIR_FIND_OVERSUBSCRIPTION:
        return climb(s, reference, MOST_OVERSUBSCRIPTION, 0, found, err);
    case WEIR_FIND_SWITCHING:
        return climb(s, reference, MOST_SWITCHING_US, FINEST, found, err);
    case WEIR_FIND_PORTS:
        return widen(s, found, err);
    case WEIR_FIND_COUNT:
        break;
    }
    return WEIR_ERR_INTERNAL;
}

static void fill(weir_find_answer *a, const border *b)
{
    bool none = b->good.at == WEIR_NONE; /* of ports only: the others begin at the reference */
    const played *shown = none ? &b->bad : &b->good;
    a->end = none ? WEIR_FIND_NOTHING : b->bad.at == WEIR_NONE ? WEIR_FIND_ALL : WEIR_FIND_INSIDE;
    a->value = value_of(a->what, shown->at);
    a->step_s = shown->step_s;
    if (a->end == WEIR_FIND_INSIDE) {
        a->next_value = value_of(a->what, b->bad.at);
        a->next_step_s = b->bad.step_s;
        a->next_refused = b->bad.refused;
    }
}

weir_code weir_find_search(const weir_find_question *question, const weir_player *player,
                           weir_arena *arena, weir_find_answer *answer, weir_err *err)
{
    static const uint32_t references[] = {1, AS_WRITTEN, 0};
    const weir_candidate *candidate = question->candidate;
    const char *name = names[question->what];
    search s = {.asked = question, .player = player, .arena = arena};
    weir_find_answer made = {.what = question->what,
                             .candidate = candidate->name,
                             .next_value = NAN,
                             .next_step_s = NAN};
    played reference;
    border found;
    if (!weir_find_applies(question->what, candidate->kind)) {
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "--find %s has no meaning for candidate '%.60s' of kind %s", name,
                            candidate->name, weir_candidate_kind_name(candidate->kind));
    }
    weir_code code = play(&s, references[question->what], &reference, err);
    if (code == WEIR_OK && reference.refused) {
        return weir_err_set(err, WEIR_ERR_INPUT, "--find %s: candidate '%.60s' was refused: %.300s",
                            name, candidate->name, reference.refused);
    }
    if (code == WEIR_OK) {
        made.reference_s = reference.step_s;
        s.limit_s = reference.step_s * (1 + question->lose_share);
        code = look(&s, reference, &found, err);
    }
    if (code == WEIR_OK) {
        fill(&made, &found);
        made.plays = s.plays;
        code = say(&made, question->lose_share, arena, err);
    }
    if (code == WEIR_OK) {
        *answer = made;
    }
    return code;
}
