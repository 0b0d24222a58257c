/* lists.h: options that may be given several times, for all commands: --set, --sweep, --fail-if. */
#ifndef WEIR_CLI_LISTS_H
#define WEIR_CLI_LISTS_H

#include "cli/fail_if.h"
#include "scenario/settings.h"
#include "study/questions.h"

enum { CLI_CONDITIONS_MAX = 32 };

/* Appends to list, which has room for one more. example: "plan.tensor=4", for the error. */
weir_code list_add_setting(const char *text, const char *example, weir_arena *arena,
                           weir_setting *list, uint32_t *count, weir_err *err);
/* list has WEIR_SWEEP_AXES places; more are refused. */
weir_code list_add_sweep(const char *text, weir_arena *arena, weir_sweep_axis *list,
                         uint32_t *count, weir_err *err);
/* list has CLI_CONDITIONS_MAX places; more are refused. */
weir_code list_add_condition(const char *text, fail_condition *list, uint32_t *count,
                             weir_err *err);

#endif
