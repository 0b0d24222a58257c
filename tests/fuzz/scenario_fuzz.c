/* scenario_fuzz.c: a scenario, or a setting of one, is read or refused in one sentence with a
 * place, never read astray, never leaked. Files that it names do not exist. */
#include "study/fabric_scenario.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char base[] = "cluster: {nodes: 8, devices: 8, nic: cx7-400g}\n"
                           "traffic: {phases: [{collective: all_reduce, bytes: 1 MiB}]}\n"
                           "candidates: [{name: a.b, kind: clos, switch: tomahawk5-400g}]\n";

static void check(weir_code code, weir_fabric_scenario *s, const weir_err *err)
{
    if (code == WEIR_OK) {
        if (s->phase_count == 0 || s->candidate_count == 0 || s->cluster.nodes == 0) {
            abort();
        }
        weir_fabric_scenario_clear(s);
    } else if (s->arena || err->text[0] == '\0') {
        abort();
    }
}

/* "KEY=VALUE" as a setting of the base. */
static void read_setting(const char *text, size_t n)
{
    char *copy = calloc(n + 1, 1);
    char *equals = copy ? memchr(memcpy(copy, text, n), '=', n) : NULL;
    if (equals) {
        weir_fabric_scenario s = {0};
        weir_err err = {0};
        *equals = '\0';
        weir_setting set = {copy, equals + 1};
        check(weir_fabric_scenario_parse("base", base, sizeof base - 1, &set, 1, &s, &err), &s,
              &err);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    if (n > 1 && bytes[0] == '=') {
        read_setting((const char *)bytes + 1, n - 1);
        return 0;
    }
    check(weir_fabric_scenario_parse("fuzz/scenario", (const char *)bytes, n, NULL, 0, &s, &err),
          &s, &err);
    return 0;
}
