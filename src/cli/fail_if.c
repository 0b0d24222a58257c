#include "cli/fail_if.h"

#include "cli/value.h"

#include <stdio.h>
#include <string.h>

enum { PERCENT_PLACES = 6 };
static const int64_t MILLIONTHS_OF_WHOLE = 100 * INT64_C(1000000);

__extension__ typedef __int128 wide; /* ns times millionths of a percent */

static bool find_subject(weir_str name, fail_condition *condition)
{
    for (uint32_t w = 0; w < WEIR_WAIT_COUNT; w++) {
        if (weir_str_eq(name, weir_str_from(weir_wait_name((weir_wait)w)))) {
            condition->wait = (weir_wait)w;
            return true;
        }
    }
    condition->is_cause = weir_cause_find(name, &condition->cause);
    return condition->is_cause;
}

static fail_relation read_relation(const char **text)
{
    bool more = **text == '>';
    (*text)++;
    bool or_equal = **text == '=';
    *text += or_equal;
    if (more)
        return or_equal ? FAIL_MORE_OR_EQUAL : FAIL_MORE;
    return or_equal ? FAIL_LESS_OR_EQUAL : FAIL_LESS;
}

weir_code fail_if_parse(const char *text, fail_condition *condition, weir_err *err)
{
    fail_condition found = {.text = text};
    const char *p = text + strcspn(text, "<>= ");
    weir_str name = {text, (uint32_t)(p - text)};
    p += strspn(p, " ");
    if (*p != '<' && *p != '>')
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "--fail-if: expected WAIT>N%%, such as dependency>30%% or "
                            "communication.all_reduce>=5%%, found %s",
                            text);
    if (!find_subject(name, &found))
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "--fail-if: %.*s is neither a wait (compute, communication, "
                            "dependency, cache) nor a cause of one (such as dependency.straggler)",
                            (int)name.n, name.p);
    found.relation = read_relation(&p);
    p += strspn(p, " ");
    if (!value_fixed(&p, PERCENT_PLACES, &found.millionths))
        return weir_err_set(err, WEIR_ERR_USAGE, "--fail-if: expected a percentage, found %s",
                            text);
    p += *p == ' ';
    if (strcmp(p, "%") != 0)
        return weir_err_set(err, WEIR_ERR_USAGE, "--fail-if: the number needs its unit, %%, in %s",
                            text);
    *condition = found;
    return WEIR_OK;
}

static int64_t subject_ns(const fail_condition *condition, const weir_result *result)
{
    if (condition->is_cause)
        return result->total.causes.ns[condition->cause];
    return result->total.waits.ns[condition->wait];
}

bool fail_if_met(const fail_condition *condition, const weir_result *result)
{
    wide share = (wide)subject_ns(condition, result) * MILLIONTHS_OF_WHOLE;
    wide limit = (wide)result->total.wall_ns * condition->millionths;
    switch (condition->relation) {
    case FAIL_MORE:
        return share > limit;
    case FAIL_MORE_OR_EQUAL:
        return share >= limit;
    case FAIL_LESS:
        return share < limit;
    case FAIL_LESS_OR_EQUAL:
        return share <= limit;
    }
    return false;
}

int64_t fail_if_permille(const fail_condition *condition, const weir_result *result)
{
    int64_t wall = result->total.wall_ns;
    if (wall <= 0)
        return 0;
    return (int64_t)(((wide)subject_ns(condition, result) * 1000 + wall / 2) / wall);
}

bool fail_if_report(const fail_condition *conditions, uint32_t count, const weir_result *result)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!fail_if_met(&conditions[i], result))
            continue;
        int64_t permille = fail_if_permille(&conditions[i], result);
        fprintf(stderr, "weir: --fail-if '%s': it is %lld.%lld %%\n", conditions[i].text,
                (long long)(permille / 10), (long long)(permille % 10));
        any = true;
    }
    return any;
}
