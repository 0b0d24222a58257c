#include "cli/fabric.h"
#include "study/train_traffic.h"

#include <string.h>

typedef struct {
    weir_text cluster, traffic, candidates;
} texts;

static weir_code read_texts(const fabric_options *o, texts *t, char **name, weir_err *err)
{
    weir_train_scenario scenario = {0};
    weir_code code = weir_train_scenario_read(o->traffic_from, NULL, 0, &scenario, err);
    if (code == WEIR_OK)
        code = weir_train_traffic_text(&scenario, &t->cluster, &t->traffic, err);
    if (code == WEIR_OK && o->scenario_count == 0)
        code = weir_train_candidates_text(&scenario, &t->candidates, err);
    if (code == WEIR_OK) {
        *name = weir_arena_copy(o->arena, weir_str_from(scenario.name));
        code = *name ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a scenario");
    }
    weir_train_scenario_clear(&scenario);
    return code;
}

/* A name in double quotes, as YAML has them. */
static void add_quoted(weir_text *text, const char *name)
{
    weir_text_char(text, '"');
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            weir_text_char(text, '\\');
        weir_text_char(text, *name);
    }
    weir_text_char(text, '"');
}

static weir_code make_document(const char *name, const texts *t, fabric_options *o, weir_err *err)
{
    weir_text text = {0};
    weir_text_add(&text, WEIR_STR("name: "));
    add_quoted(&text, name);
    weir_text_printf(&text, "\ncandidates: %s\n", t->candidates.p);
    o->document = text.failed ? NULL : weir_arena_copy(o->arena, weir_str_from(text.p));
    weir_text_clear(&text);
    if (!o->document)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a scenario");
    o->scenario = o->scenarios[0] = "-";
    o->scenario_count = 1;
    return WEIR_OK;
}

static weir_code set_first(const texts *t, fabric_options *o, weir_err *err)
{
    const char *cluster = weir_arena_copy(o->arena, weir_str_from(t->cluster.p));
    const char *traffic = weir_arena_copy(o->arena, weir_str_from(t->traffic.p));
    if (!cluster || !traffic)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a scenario");
    memmove(o->settings + 2, o->settings, o->setting_count * sizeof *o->settings);
    o->settings[0] = (weir_setting){"cluster", cluster};
    o->settings[1] = (weir_setting){"traffic", traffic};
    o->setting_count += 2;
    return WEIR_OK;
}

weir_code fabric_take_training(fabric_options *options, weir_err *err)
{
    texts t = {0};
    char *name = NULL;
    weir_code code = read_texts(options, &t, &name, err);
    if (code == WEIR_OK)
        code = set_first(&t, options, err);
    if (code == WEIR_OK && options->scenario_count == 0)
        code = make_document(name, &t, options, err);
    weir_text_clear(&t.cluster);
    weir_text_clear(&t.traffic);
    weir_text_clear(&t.candidates);
    return code;
}
