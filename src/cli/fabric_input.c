#include "cli/fabric.h"

#include "codec/source.h"
#include "fabric/cable_list.h"

#include <stdlib.h>
#include <string.h>

weir_code fabric_read_input(fabric_run_state *run, weir_err *err)
{
    enum { BLOCK = 1 << 16 };
    weir_source *source = NULL;
    const char *path = run->options->scenario;
    if (!path || strcmp(path, "-") != 0)
        return WEIR_OK;
    if (run->options->document) {
        weir_text_add(&run->input, weir_str_from(run->options->document));
        return run->input.failed ? weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a scenario")
                                 : WEIR_OK;
    }
    char *block = malloc(BLOCK);
    if (!block)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to read standard input");
    weir_code code = weir_source_open(path, 0, &source, err);
    size_t n = 1;
    while (code == WEIR_OK && n > 0) {
        code = weir_source_read(source, block, BLOCK, &n, err);
        if (code == WEIR_OK)
            weir_text_bytes(&run->input, block, n);
    }
    weir_source_close(source);
    free(block);
    if (code == WEIR_OK && run->input.failed)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to read standard input");
    return code;
}

/* The user's settings, then those of a question. */
static weir_code join_settings(const fabric_options *o, const weir_play_wish *wish,
                               weir_setting **joined, uint32_t *count, weir_err *err)
{
    uint32_t more = wish ? wish->setting_count : 0;
    *count = o->setting_count + more;
    *joined = calloc((size_t)*count + 1, sizeof **joined);
    if (!*joined)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for settings");
    for (uint32_t i = 0; i < o->setting_count; i++)
        (*joined)[i] = o->settings[i];
    for (uint32_t i = 0; i < more; i++)
        (*joined)[o->setting_count + i] = wish->settings[i];
    return WEIR_OK;
}

static weir_code read_with(const fabric_run_state *run, const weir_play_wish *wish,
                           const weir_setting *settings, uint32_t count,
                           weir_fabric_scenario *scenario, weir_err *err)
{
    const char *path = wish && wish->path ? wish->path : run->options->scenario;
    if (wish && wish->candidates_path && strcmp(wish->candidates_path, path) != 0)
        return weir_fabric_scenario_read_mixed(path, wish->candidates_path, settings, count,
                                               scenario, err);
    if (strcmp(path, "-") == 0)
        return weir_fabric_scenario_parse("standard input", run->input.p ? run->input.p : "",
                                          run->input.n, settings, count, scenario, err);
    return weir_fabric_scenario_read(path, settings, count, scenario, err);
}

static weir_code take_prices(const char *path, weir_fabric_scenario *scenario, weir_err *err)
{
    weir_source *source = NULL;
    if (!path)
        return WEIR_OK;
    weir_code code = weir_source_open(path, 0, &source, err);
    if (code == WEIR_OK)
        code = weir_parts_quote(scenario->parts, source, path, err);
    weir_source_close(source);
    return code;
}

bool fabric_wants(const fabric_options *o, const char *name)
{
    for (uint32_t i = 0; i < o->candidate_count; i++)
        if (strcmp(o->candidates[i], name) == 0)
            return true;
    return o->candidate_count == 0;
}

static weir_code check_names(const fabric_options *o, const weir_fabric_scenario *scenario,
                             weir_err *err)
{
    enum { MOST = 64 };
    const char *names[MOST];
    uint32_t n = scenario->candidate_count < MOST ? scenario->candidate_count : MOST;
    for (uint32_t k = 0; k < n; k++)
        names[k] = scenario->candidates[k].name;
    for (uint32_t i = 0; i < o->candidate_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < scenario->candidate_count; k++)
            found |= strcmp(o->candidates[i], scenario->candidates[k].name) == 0;
        if (found)
            continue;
        const char *near = nearest_name(o->candidates[i], names, n);
        return weir_err_set(err, WEIR_ERR_USAGE, "--candidate: %s has no candidate %s%s%s%s",
                            scenario->file, o->candidates[i], near ? "; did you mean " : "",
                            near ? near : "", near ? "?" : "");
    }
    return WEIR_OK;
}

/* Those that are not wanted are cleared; order is kept. */
static void drop_candidates(const fabric_options *o, weir_fabric_scenario *scenario)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        if (fabric_wants(o, scenario->candidates[i].name))
            scenario->candidates[kept++] = scenario->candidates[i];
        else
            weir_cable_list_clear(&scenario->candidates[i].list);
    }
    scenario->candidate_count = kept;
}

weir_code fabric_read_scenario(const fabric_run_state *run, const weir_play_wish *wish,
                               weir_fabric_scenario *scenario, weir_err *err)
{
    weir_fabric_scenario made = {0};
    weir_setting *settings = NULL;
    uint32_t count = 0;
    weir_code code = join_settings(run->options, wish, &settings, &count, err);
    if (code == WEIR_OK)
        code = read_with(run, wish, settings, count, &made, err);
    free(settings);
    if (code == WEIR_OK)
        code = take_prices(run->options->prices, &made, err);
    if (code == WEIR_OK)
        code = check_names(run->options, &made, err);
    if (code != WEIR_OK) {
        weir_fabric_scenario_clear(&made);
        return code;
    }
    if (!wish || wish->only == WEIR_NONE) /* else positions are those of the file */
        drop_candidates(run->options, &made);
    *scenario = made;
    return WEIR_OK;
}
