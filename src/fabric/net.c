#include "fabric/net.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double bytes_per_s;
    double latency_s;
} net_link;

struct weir_net {
    net_link *links;
    uint32_t count, room;
    bool sealed;
};

weir_net *weir_net_new(void)
{
    return calloc(1, sizeof(weir_net));
}

void weir_net_free(weir_net *net)
{
    if (net) {
        free(net->links);
        free(net);
    }
}

weir_code weir_net_add(weir_net *net, double bytes_per_s, double latency_s, weir_link_id *link,
                       weir_err *err)
{
    if (net->sealed) {
        return weir_err_set(err, WEIR_ERR_USAGE, "a sealed net takes no more links");
    }
    if (!(bytes_per_s >= 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "link %u: a capacity of %g bytes/s; it must be 0 or more", net->count,
                            bytes_per_s);
    }
    if (!(latency_s >= 0) || isinf(latency_s)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "link %u: a latency of %g s; it must be 0 or more",
                            net->count, latency_s);
    }
    if (net->count == WEIR_NONE - 1) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "a net has at most %u links", net->count);
    }
    if (!weir_grow(&net->links, net->count, &net->room, sizeof *net->links)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for link %u", net->count);
    }
    net->links[net->count] = (net_link){bytes_per_s, latency_s};
    *link = net->count++;
    return WEIR_OK;
}

void weir_net_seal(weir_net *net)
{
    net->sealed = true;
}

uint32_t weir_net_count(const weir_net *net)
{
    return net->count;
}

bool weir_net_is_sealed(const weir_net *net)
{
    return net->sealed;
}

double weir_net_bytes_per_s(const weir_net *net, weir_link_id link)
{
    return net->links[link].bytes_per_s;
}

double weir_net_latency_s(const weir_net *net, weir_link_id link)
{
    return net->links[link].latency_s;
}

double weir_net_route_latency_s(const weir_net *net, const weir_link_id *links, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += net->links[links[i]].latency_s;
    }
    return sum;
}
