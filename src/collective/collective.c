/* The names of collectives, algorithms and protocols. */
#include "collective/collective.h"

static const char *const kind_names[WEIR_COLLECTIVE_KIND_COUNT] = {
#define X(kind, name) name,
    WEIR_COLLECTIVE_KINDS(X)
#undef X
};

static const char *const algorithm_names[WEIR_ALGORITHM_COUNT] = {
#define X(algorithm, name, about) name,
    WEIR_COLLECTIVE_ALGORITHMS(X)
#undef X
};

static const char *const protocol_names[WEIR_PROTOCOL_COUNT] = {
#define X(protocol, name) name,
    WEIR_COLLECTIVE_PROTOCOLS(X)
#undef X
};

const char *weir_collective_kind_name(weir_collective_kind kind)
{
    return kind_names[kind];
}

const char *weir_collective_algorithm_name(weir_collective_algorithm algorithm)
{
    return algorithm == WEIR_ALGORITHM_COUNT ? "auto" : algorithm_names[algorithm];
}

const char *weir_collective_protocol_name(weir_collective_protocol protocol)
{
    return protocol == WEIR_PROTOCOL_COUNT ? "auto" : protocol_names[protocol];
}

static bool find_word(weir_str word, const char *const *words, uint32_t count, uint32_t *index)
{
    for (uint32_t i = 0; i < count; i++) {
        if (weir_str_eq(word, weir_str_from(words[i]))) {
            *index = i;
            return true;
        }
    }
    return false;
}

bool weir_collective_kind_find(weir_str name, weir_collective_kind *kind)
{
    uint32_t index;
    if (!find_word(name, kind_names, WEIR_COLLECTIVE_KIND_COUNT, &index)) {
        return false;
    }
    *kind = (weir_collective_kind)index;
    return true;
}

bool weir_collective_algorithm_find(weir_str name, weir_collective_algorithm *algorithm)
{
    uint32_t index;
    if (weir_str_eq(name, WEIR_STR("auto"))) {
        *algorithm = WEIR_ALGORITHM_COUNT;
        return true;
    }
    if (!find_word(name, algorithm_names, WEIR_ALGORITHM_COUNT, &index)) {
        return false;
    }
    *algorithm = (weir_collective_algorithm)index;
    return true;
}

bool weir_collective_protocol_find(weir_str name, weir_collective_protocol *protocol)
{
    uint32_t index;
    if (weir_str_eq(name, WEIR_STR("auto"))) {
        *protocol = WEIR_PROTOCOL_COUNT;
        return true;
    }
    if (!find_word(name, protocol_names, WEIR_PROTOCOL_COUNT, &index)) {
        return false;
    }
    *protocol = (weir_collective_protocol)index;
    return true;
}
