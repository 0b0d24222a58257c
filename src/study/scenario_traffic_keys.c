/* scenario_traffic_keys.c: the keys of traffic: phases, groups, disturbances. */
#include "study/scenario_inside.h"

#include <stddef.h>

enum { COLLECTIVE = 1 << WEIR_PHASE_COLLECTIVE, PATTERN = 1 << WEIR_PHASE_PATTERN };
enum { DEMAND = 1 << WEIR_PHASE_DEMAND };

static const char *const phase_kinds[] = {"collective", "pattern", "demand"};
static const char *const collectives[] = {
#define X(kind, name) name,
    WEIR_COLLECTIVE_KINDS(X)
#undef X
};
/* "auto" is the last one: its index is that of the enumerator for "let the library choose". */
static const char *const algorithms[] = {
#define X(algorithm, name, about) name,
    WEIR_COLLECTIVE_ALGORITHMS(X)
#undef X
        "auto"};
static const char *const protocols[] = {
#define X(protocol, name) name,
    WEIR_COLLECTIVE_PROTOCOLS(X)
#undef X
        "auto"};
static const char *const patterns[] = {
#define X(pattern, name) name,
    WEIR_TRAFFIC_PATTERNS(X)
#undef X
};
static const char *const roads[] = {"auto", "packets", "light"};
static const char *const rows_of[] = {"devices", "nodes"};

#define WORDS(list) .words = (list), .word_count = sizeof(list) / sizeof *(list)

#define AT(member)   offsetof(scenario_raw_phase, member)
#define OF(member)   offsetof(scenario_raw_phase, phase.member)
#define SECONDS(key) .type = WEIR_KEY_QUANTITY, .dimension = WEIR_DIMENSION_SECONDS, .offset = (key)

static const weir_key phase_keys[] = {
    {.name = "name",
     .type = WEIR_KEY_TEXT,
     .offset = OF(name),
     .help = "what reports call it",
     .shown = "`phase 1`, `phase 2`, ...",
     .example = "gradients"},
    {.name = "compute",
     SECONDS(OF(compute_s)),
     .unset = "0 s",
     .help = "computing before the traffic, each time",
     .example = "12 ms"},
    {.name = "collective",
     .type = WEIR_KEY_CHOICE,
     WORDS(collectives),
     .offset = OF(collective),
     .kinds = COLLECTIVE,
     .help = "one of `collective`, `pattern` and `demand` is needed",
     .example = "all_reduce"},
    {.name = "pattern",
     .type = WEIR_KEY_CHOICE,
     WORDS(patterns),
     .offset = OF(pattern),
     .kinds = PATTERN,
     .help = "messages without a collective",
     .example = "permutation"},
    {.name = "demand",
     .type = WEIR_KEY_NODE,
     .offset = AT(demand),
     .kinds = DEMAND,
     .help = "a CSV file beside the scenario: a square of bytes, row i column j what i sends to j",
     .example = "moe.csv"},
    {.name = "algorithm",
     .type = WEIR_KEY_CHOICE,
     WORDS(algorithms),
     .offset = OF(algorithm),
     .kinds = COLLECTIVE,
     .unset = "auto",
     .help = "which one; `auto`: as the library would choose",
     .example = "ring"},
    {.name = "protocol",
     .type = WEIR_KEY_CHOICE,
     WORDS(protocols),
     .offset = OF(protocol),
     .kinds = COLLECTIVE,
     .unset = "auto",
     .help = "which one; `auto`: as the library would choose",
     .example = "simple"},
    {.name = "group",
     .type = WEIR_KEY_NODE,
     .offset = AT(group),
     .kinds = COLLECTIVE | PATTERN,
     .help = "who takes part: groups of that shape side by side over all devices",
     .shown = "one group of all devices",
     .example = "{size: 8, stride: 1}"},
    {.name = "bytes",
     .type = WEIR_KEY_QUANTITY,
     .dimension = WEIR_DIMENSION_BYTES,
     .offset = OF(bytes),
     .kinds = COLLECTIVE | PATTERN,
     .needed = COLLECTIVE | PATTERN,
     .above = true,
     .help = "of a collective as nccl-tests counts its size, of a pattern each message",
     .example = "64 MiB"},
    {.name = "degree",
     .type = WEIR_KEY_UINT,
     .offset = OF(degree),
     .kinds = PATTERN,
     .min = 1,
     .max = 1 << 20,
     .help = "`incast`: how many senders; `shift`: how far",
     .shown = "incast: all others; shift: 1",
     .example = "32"},
    {.name = "hot",
     .type = WEIR_KEY_NUMBER,
     .offset = OF(hot_share),
     .kinds = PATTERN,
     .above = true,
     .max = 1,
     .help = "`hot_spot`, which needs it: the share of its bytes that each sends to one device",
     .example = "0.3"},
    {.name = "of",
     .type = WEIR_KEY_CHOICE,
     WORDS(rows_of),
     .offset = AT(of_nodes),
     .kinds = DEMAND,
     .unset = "devices",
     .help = "what a row and a column stand for; what a node sends, its devices send evenly",
     .example = "nodes"},
    {.name = "scale",
     .type = WEIR_KEY_NUMBER,
     .offset = OF(scale),
     .kinds = DEMAND,
     .above = true,
     .unset = "1",
     .help = "the bytes are multiplied by it",
     .example = "0.5"},
    {.name = "times",
     .type = WEIR_KEY_UINT,
     .offset = OF(times),
     .min = 1,
     .max = 1000000000,
     .unset = "1",
     .help = "computing and traffic so often in a row",
     .example = "126"},
    {.name = "overlap",
     .type = WEIR_KEY_BOOL,
     .offset = OF(overlap),
     .unset = "no",
     .help = "whether the traffic runs beside the next phases; it is joined at the end of the step",
     .example = "yes"},
    {.name = "axis",
     .type = WEIR_KEY_TEXT,
     .offset = OF(axis),
     .unset = "other",
     .help = "what it is for: tensor data pipeline expert context control storage parameters, or "
             "a word of your own",
     .example = "tensor"},
    {.name = "road",
     .type = WEIR_KEY_CHOICE,
     WORDS(roads),
     .offset = OF(take),
     .unset = "auto",
     .help = "on candidates that have circuits and packets: which of them it takes",
     .example = "light"},
    {.name = "slack",
     SECONDS(OF(slack_s)),
     .help = "time before it in which circuits may be set",
     .shown = "its compute",
     .example = "25 ms"},
};

const weir_key_table scenario_phase_keys = {
    .title = "traffic.phases",
    .about = "A list. Each device goes through the phases one after the other.",
    .keys = phase_keys,
    .count = sizeof phase_keys / sizeof *phase_keys,
    .kinds = phase_kinds,
    .kind_count = 3,
};

static const weir_key group_keys[] = {
    {.name = "size",
     .type = WEIR_KEY_UINT,
     .offset = OF(group_size),
     .needed = WEIR_KEY_ALWAYS,
     .min = 1,
     .max = 1 << 20,
     .help = "members of each group; size x stride divides the number of devices",
     .example = "8"},
    {.name = "stride",
     .type = WEIR_KEY_UINT,
     .offset = OF(group_stride),
     .min = 1,
     .max = 1 << 20,
     .unset = "1",
     .help = "from a member to the next: group b x stride + o has the devices "
             "b x size x stride + o + k x stride",
     .example = "8"},
};

const weir_key_table scenario_group_keys = {
    .title = "traffic.phases.N.group",
    .about = "Groups side by side, which take part with all devices.",
    .keys = group_keys,
    .count = sizeof group_keys / sizeof *group_keys,
};

static const weir_key slow_keys[] = {
    {.name = "device",
     .type = WEIR_KEY_UINT,
     .offset = offsetof(weir_slow_entry, device),
     .needed = WEIR_KEY_ALWAYS,
     .help = "its number, from 0, node by node",
     .example = "17"},
    {.name = "factor",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(weir_slow_entry, factor),
     .needed = WEIR_KEY_ALWAYS,
     .above = true,
     .max = 1e6,
     .help = "its computing takes so many times as long",
     .example = "1.3"},
};

const weir_key_table scenario_slow_keys = {
    .title = "traffic.slow",
    .about = "A list of devices that compute at another speed.",
    .keys = slow_keys,
    .count = sizeof slow_keys / sizeof *slow_keys,
};

static const weir_key broken_keys[] = {
    {.name = "link",
     .type = WEIR_KEY_TEXT,
     .offset = offsetof(weir_broken_entry, link),
     .needed = WEIR_KEY_ALWAYS,
     .help = "its name as reports have it; with ` - ` in place of ` -> ` both directions",
     .example = "leaf 3 -> spine 1"},
    {.name = "at",
     SECONDS(offsetof(weir_broken_entry, at_s)),
     .unset = "0 s",
     .help = "when it breaks",
     .example = "10 ms"},
    {.name = "until",
     SECONDS(offsetof(weir_broken_entry, until_s)),
     .help = "when it works again",
     .shown = "never",
     .example = "20 ms"},
};

const weir_key_table scenario_broken_keys = {
    .title = "traffic.broken",
    .about = "A list of links that carry nothing for a while.",
    .keys = broken_keys,
    .count = sizeof broken_keys / sizeof *broken_keys,
};

static const weir_key traffic_keys[] = {
    {.name = "steps",
     .type = WEIR_KEY_UINT,
     .offset = offsetof(scenario_raw_traffic, steps),
     .min = 1,
     .max = 1000000,
     .unset = "1",
     .help = "how often all phases are played",
     .example = "3"},
    {.name = "phases",
     .type = WEIR_KEY_NODE,
     .offset = offsetof(scenario_raw_traffic, phases),
     .needed = WEIR_KEY_ALWAYS,
     .help = "a list, at least one",
     .example = "[{...}]"},
    {.name = "slow",
     .type = WEIR_KEY_NODE,
     .offset = offsetof(scenario_raw_traffic, slow),
     .help = "devices that compute at another speed",
     .example = "[{device: 17, factor: 1.3}]"},
    {.name = "jitter",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(scenario_raw_traffic, jitter),
     .max = 1,
     .unset = "0",
     .help = "standard deviation of computing, as a share of it; drawn from the seed",
     .example = "0.02"},
    {.name = "broken",
     .type = WEIR_KEY_NODE,
     .offset = offsetof(scenario_raw_traffic, broken),
     .help = "links that carry nothing for a while",
     .example = "[{link: leaf 3 -> spine 1, at: 10 ms}]"},
};

const weir_key_table scenario_traffic_keys = {
    .title = "traffic",
    .about = "What one step sends.",
    .keys = traffic_keys,
    .count = sizeof traffic_keys / sizeof *traffic_keys,
};
