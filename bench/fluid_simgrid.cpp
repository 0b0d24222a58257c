// fluid_simgrid.cpp: what SimGrid needs for the cases of fluid_bench.c, on the same machine.
//
// Built and run by bench/fluid where libsimgrid-dev is there. Arguments: CASE HOSTS, with CASE one
// of a2a, random; prints CPU seconds (platform included) and the makespan. Nets, routes and sizes
// are those of tests/unit/fluid_fixture.h, which fluid_bench.c uses too.
extern "C" {
#include "../tests/unit/fluid_fixture.h"
}

#include <simgrid/s4u.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace sg4 = simgrid::s4u;

static double cpu_s()
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct Flow {
    uint32_t from, to;
    double bytes;
};

static std::vector<Flow> make_flows(bool all_to_all, uint32_t hosts)
{
    std::vector<Flow> flows;
    uint64_t s = 1;
    uint32_t *order = make_permutation(hosts, &s);
    for (uint32_t i = 0; i < hosts; i++) {
        for (uint32_t k = 1; k < (all_to_all ? hosts : 2); k++) {
            if (all_to_all)
                flows.push_back({i, (i + k) % hosts, 1e8});
            else
                flows.push_back(
                    {order[i], order[(i + 1) % hosts], std::floor(1e8 * (0.5 + draw(&s)))});
        }
    }
    free(order);
    return flows;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    bool all_to_all = std::strcmp(argv[1], "a2a") == 0;
    uint32_t hosts = static_cast<uint32_t>(std::stoul(argv[2]));
    tree t = hosts == 4096 ? tree{16, 16, 16, 16, 16, nullptr}
                           : tree{hosts < 128 ? 4u : 8u, hosts < 128 ? 4u : 8u, 0,
                                  hosts < 128 ? 4u : 8u, hosts < 128 ? 4u : 8u, nullptr};
    t.m3 = hosts / (t.m1 * t.m2);
    const char *args[] = {"fluid_simgrid",
                          "--cfg=network/model:CM02",
                          "--cfg=network/crosstraffic:0",
                          "--cfg=network/TCP-gamma:0",
                          "--log=root.thres:error",
                          nullptr};
    int count = 5;
    double begin_s = cpu_s();
    sg4::Engine engine(&count, const_cast<char **>(args));
    auto *zone = sg4::create_full_zone("net");
    tree_build(&t, 50e9);
    std::vector<sg4::Link *> links;
    for (uint32_t l = 0; l < weir_net_count(t.net); l++)
        links.push_back(zone->create_link("l" + std::to_string(l), 50e9)->set_latency(0)->seal());
    std::vector<sg4::Host *> nodes;
    for (uint32_t h = 0; h < hosts; h++)
        nodes.push_back(zone->create_host("h" + std::to_string(h), 1e9)->seal());
    std::vector<Flow> flows = make_flows(all_to_all, hosts);
    for (const Flow &flow : flows) {
        weir_link_id crossed[6];
        uint32_t hops = tree_d_mod_k(&t, flow.from, flow.to, crossed);
        std::vector<sg4::LinkInRoute> route;
        for (uint32_t i = 0; i < hops; i++)
            route.emplace_back(links[crossed[i]]);
        zone->add_route(nodes[flow.from]->get_netpoint(), nodes[flow.to]->get_netpoint(), nullptr,
                        nullptr, route, false);
    }
    zone->seal();
    sg4::Actor::create("all", nodes[0], [&] {
        std::vector<sg4::CommPtr> sent;
        for (const Flow &flow : flows)
            sent.push_back(sg4::Comm::sendto_async(nodes[flow.from], nodes[flow.to],
                                                   static_cast<uint64_t>(flow.bytes)));
        for (auto &comm : sent)
            comm->wait();
    });
    engine.run();
    std::printf("%.4f %.6f\n", cpu_s() - begin_s, sg4::Engine::get_clock());
    return 0;
}
