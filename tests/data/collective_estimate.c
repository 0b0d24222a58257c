/* collective_estimate: seconds of collectives as the library models them, for tools/validate-
 * collectives. Reads lines of
 *   library kind bytes ranks nodes node_rate network_rate nvls sharp node network caller algorithm
 * (rates in bytes/s; `-` where there is none, algorithm auto or forced) and prints "seconds
 * algorithm protocol error" or "error: TEXT" for each. */
#include "collective/library.h"

#include <stdio.h>
#include <string.h>

static const char *named(const char *word)
{
    return strcmp(word, "-") == 0 ? NULL : word;
}

static void answer(const char *line)
{
    char library_id[64], kind[64], node[64], network[64], caller[64], algorithm[64];
    weir_collective_shape shape = {0};
    weir_collective_wish wish = {WEIR_ALGORITHM_COUNT, WEIR_PROTOCOL_COUNT, NULL, NULL, NULL};
    weir_collective_choice choice;
    weir_library *library = NULL;
    weir_err err = {0};
    int nvls, sharp;
    if (sscanf(line, "%63s %63s %lf %u %u %lf %lf %d %d %63s %63s %63s %63s", library_id, kind,
               &shape.bytes, &shape.ranks, &shape.nodes, &shape.node_bytes_per_s,
               &shape.network_bytes_per_s, &nvls, &sharp, node, network, caller, algorithm) != 13 ||
        !weir_collective_kind_find(weir_str_from(kind), &shape.kind) ||
        !weir_collective_algorithm_find(weir_str_from(algorithm), &wish.algorithm)) {
        printf("error: not understood: %s", line);
        return;
    }
    shape.has_node_reduction = nvls;
    shape.has_network_reduction = sharp;
    wish.node_transport = named(node);
    wish.network_transport = named(network);
    wish.caller = named(caller);
    if (weir_library_open(library_id, &library, &err) ||
        weir_library_choose(library, &shape, &wish, &choice, &err)) {
        printf("error: %s\n", err.text);
    } else {
        printf("%.9g %s %s %.4g\n", weir_collective_estimate_s(&shape, &choice),
               weir_collective_algorithm_name(choice.algorithm),
               weir_collective_protocol_name(choice.protocol), weir_library_error(library, &shape));
    }
    weir_library_free(library);
}

int main(void)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        answer(line);
    }
    return 0;
}
