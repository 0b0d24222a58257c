#include "timeline/waits.h"

static const char *const wait_names[WEIR_WAIT_COUNT] = {"compute", "communication", "dependency",
                                                        "cache"};

#define WAIT_TEXT_COMPUTE       "compute"
#define WAIT_TEXT_COMMUNICATION "communication"
#define WAIT_TEXT_DEPENDENCY    "dependency"
#define WAIT_TEXT_CACHE         "cache"

static const struct {
    const char *name, *id, *meaning;
    weir_wait wait;
} causes[WEIR_CAUSE_COUNT] = {
#define X(name, wait, id, meaning) {WAIT_TEXT_##wait "." id, id, meaning, WEIR_WAIT_##wait},
    WEIR_CAUSES(X)
#undef X
};

const char *weir_wait_name(weir_wait wait)
{
    return wait_names[wait];
}

const char *weir_cause_name(weir_cause cause)
{
    return causes[cause].name;
}

const char *weir_cause_short_name(weir_cause cause)
{
    return causes[cause].id;
}

const char *weir_cause_meaning(weir_cause cause)
{
    return causes[cause].meaning;
}

weir_wait weir_cause_wait(weir_cause cause)
{
    return causes[cause].wait;
}

bool weir_cause_find(weir_str name, weir_cause *cause)
{
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        if (weir_str_eq(name, weir_str_from(causes[c].name))) {
            *cause = (weir_cause)c;
            return true;
        }
    }
    return false;
}
