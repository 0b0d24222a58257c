/* train_disturb.c: what disturbs a training step: slow devices, jitter, bad links, late data. */
#include "study/train_inside.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    double jitter;
    const weir_yaml_node *slow, *broken;
} raw_disturb;

typedef struct {
    const char *link;
    weir_train_link made;
} raw_broken;

typedef struct {
    double wait_s;
} raw_data;

#define SECONDS .type = WEIR_KEY_QUANTITY, .dimension = WEIR_DIMENSION_SECONDS

static const weir_key disturb_keys[] = {
    {.name = "slow",
     .type = WEIR_KEY_NODE,
     .offset = offsetof(raw_disturb, slow),
     .help = "a list of devices that compute at another speed; keys as of `traffic.slow`, device "
             "numbers are ranks in the plan's order",
     .example = "[{device: 17, factor: 1.3}]"},
    {.name = "jitter",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(raw_disturb, jitter),
     .max = 10,
     .unset = "0",
     .help = "standard deviation of computing, as a share of it; drawn from the seed",
     .example = "0.02"},
    {.name = "broken",
     .type = WEIR_KEY_NODE,
     .offset = offsetof(raw_disturb, broken),
     .help = "a list of links that carry less, or nothing, for a while",
     .example = "[{link: nic 3, rate: 0.5}]"},
};

const weir_key_table train_disturb_keys = {
    .title = "disturb",
    .about = "What makes a training step slower than planned. All keys are optional.",
    .keys = disturb_keys,
    .count = sizeof disturb_keys / sizeof *disturb_keys,
};

static const weir_key broken_keys[] = {
    {.name = "link",
     .type = WEIR_KEY_TEXT,
     .offset = offsetof(raw_broken, link),
     .needed = WEIR_KEY_ALWAYS,
     .help = "`nic N` or `node link N`: that of device N",
     .example = "node link 7"},
    {.name = "at",
     SECONDS,
     .offset = offsetof(raw_broken, made.at_s),
     .unset = "0 s",
     .help = "when it begins",
     .example = "1 s"},
    {.name = "until",
     SECONDS,
     .offset = offsetof(raw_broken, made.until_s),
     .help = "when it works again",
     .shown = "never",
     .example = "2 s"},
    {.name = "rate",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(raw_broken, made.share),
     .max = 1,
     .unset = "0",
     .help = "share of its rate that is left meanwhile",
     .example = "0.5"},
};

const weir_key_table train_broken_keys = {
    .title = "disturb.broken",
    .about = "A list of links of devices.",
    .keys = broken_keys,
    .count = sizeof broken_keys / sizeof *broken_keys,
};

static const weir_key data_keys[] = {
    {.name = "wait",
     SECONDS,
     .offset = offsetof(raw_data, wait_s),
     .max = 1e6,
     .unset = "0 s",
     .help = "that each step waits for its data, beside what is loaded during the step before",
     .example = "20 ms"},
};

const weir_key_table train_data_keys = {
    .title = "data",
    .about = "Loading of data, in training.",
    .keys = data_keys,
    .count = sizeof data_keys / sizeof *data_keys,
};

static uint32_t devices_of(const train_reader *r)
{
    return r->scenario->cluster.nodes * r->scenario->cluster.devices;
}

static weir_code need_list(const train_reader *r, const weir_yaml_node *node, const char *example,
                           weir_err *err)
{
    return node->kind == WEIR_YAML_SEQUENCE ? WEIR_OK
                                            : weir_yaml_reject(r->source.doc, node, example, err);
}

static weir_code read_slow(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_train_scenario *s = r->scenario;
    weir_code code = need_list(r, node, "a list such as [{device: 17, factor: 1.3}]", err);
    if (code != WEIR_OK) {
        return code;
    }
    s->slow = weir_arena_alloc(r->source.arena, (size_t)node->count + 1, sizeof *s->slow);
    if (!s->slow) {
        return scenario_no_memory(err);
    }
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        weir_slow_entry *made = &s->slow[s->slow_count];
        code = weir_keys_read(&r->source, n, &scenario_slow_keys, 0, made, err);
        if (code == WEIR_OK && made->device >= devices_of(r)) {
            char expected[64];
            snprintf(expected, sizeof expected, "a device from 0 to %u", devices_of(r) - 1);
            code = weir_yaml_reject(r->source.doc, weir_yaml_find(n, "device"), expected, err);
        }
        made->place = scenario_place(n);
        s->slow_count++;
    }
    return code;
}

/* "nic 3", "node link 7": false where text is neither or there is no such device. */
static bool read_link(const char *text, uint32_t devices, weir_train_link *link)
{
    static const char node_link[] = "node link ", nic[] = "nic ";
    double number;
    weir_str rest = weir_str_from(text);
    link->is_node_link = weir_str_starts(rest, WEIR_STR("node link "));
    if (!link->is_node_link && !weir_str_starts(rest, WEIR_STR("nic "))) {
        return false;
    }
    size_t skip = link->is_node_link ? sizeof node_link - 1 : sizeof nic - 1;
    rest.p += skip;
    rest.n -= (uint32_t)skip;
    if (!weir_number_parse(rest, &number) || !(number >= 0) || !(number < devices) ||
        number != floor(number)) {
        return false;
    }
    link->device = (uint32_t)number;
    return true;
}

static weir_code read_one_broken(train_reader *r, const weir_yaml_node *node, weir_train_link *link,
                                 weir_err *err)
{
    raw_broken raw = {.made.until_s = INFINITY};
    weir_code code = weir_keys_read(&r->source, node, &train_broken_keys, 0, &raw, err);
    if (code == WEIR_OK && !read_link(raw.link, devices_of(r), &raw.made)) {
        char expected[96];
        snprintf(expected, sizeof expected, "'nic N' or 'node link N' with N from 0 to %u",
                 devices_of(r) - 1);
        return weir_yaml_reject(r->source.doc, weir_yaml_find(node, "link"), expected, err);
    }
    if (code == WEIR_OK && !(raw.made.until_s > raw.made.at_s)) {
        return weir_yaml_reject(r->source.doc, weir_yaml_find(node, "until"), "a time after 'at'",
                                err);
    }
    *link = raw.made;
    return code;
}

static weir_code read_broken(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_train_scenario *s = r->scenario;
    weir_code code = need_list(r, node, "a list such as [{link: nic 3, rate: 0.5}]", err);
    if (code != WEIR_OK) {
        return code;
    }
    s->links = weir_arena_alloc(r->source.arena, (size_t)node->count + 1, sizeof *s->links);
    if (!s->links) {
        return scenario_no_memory(err);
    }
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        code = read_one_broken(r, n, &s->links[s->link_count], err);
        s->link_count++;
    }
    return code;
}

weir_code train_read_disturb(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_disturb raw = {0};
    if (!node) {
        return WEIR_OK;
    }
    weir_code code = weir_keys_read(&r->source, node, &train_disturb_keys, 0, &raw, err);
    r->scenario->jitter = raw.jitter;
    if (code == WEIR_OK && raw.slow) {
        code = read_slow(r, raw.slow, err);
    }
    if (code == WEIR_OK && raw.broken) {
        code = read_broken(r, raw.broken, err);
    }
    return code;
}

weir_code train_read_data(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_data raw = {0};
    weir_code code =
        node ? weir_keys_read(&r->source, node, &train_data_keys, 0, &raw, err) : WEIR_OK;
    if (code == WEIR_OK) {
        r->scenario->job.data_wait_s = raw.wait_s;
    }
    return code;
}
