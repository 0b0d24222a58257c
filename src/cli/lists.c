#include "cli/lists.h"

#include <string.h>

weir_code list_add_setting(const char *text, const char *example, weir_arena *arena,
                           weir_setting *list, uint32_t *count, weir_err *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return weir_err_set(err, WEIR_ERR_USAGE, "--set: expected KEY=VALUE, such as %s, found %s",
                            example, text);
    const char *key = weir_arena_copy(arena, (weir_str){text, (uint32_t)(equals - text)});
    if (!key)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the arguments");
    list[(*count)++] = (weir_setting){.key = key, .value = equals + 1};
    return WEIR_OK;
}

weir_code list_add_sweep(const char *text, weir_arena *arena, weir_sweep_axis *list,
                         uint32_t *count, weir_err *err)
{
    if (*count == WEIR_SWEEP_AXES)
        return weir_err_set(err, WEIR_ERR_USAGE, "--sweep: at most %d keys", WEIR_SWEEP_AXES);
    weir_code code = weir_sweep_parse(text, arena, &list[*count], err);
    *count += code == WEIR_OK;
    return code;
}

weir_code list_add_condition(const char *text, fail_condition *list, uint32_t *count, weir_err *err)
{
    if (*count == CLI_CONDITIONS_MAX)
        return weir_err_set(err, WEIR_ERR_USAGE, "--fail-if: at most %d conditions",
                            CLI_CONDITIONS_MAX);
    weir_code code = fail_if_parse(text, &list[*count], err);
    *count += code == WEIR_OK;
    return code;
}
