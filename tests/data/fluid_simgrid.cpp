// fluid_simgrid.cpp: random nets, flows, arrivals and changes of links, played by the fluid engine
// and by SimGrid (CM02, zero latency, no cross traffic): ends must agree to 1e-9.
//
// Compiled and run by fluid_simgrid_test.py. Arguments: first seed, seeds, greatest relative error.
// SimGrid allows one simulation in a process: each seed is a child of its own.
extern "C" {
#include "fabric/bodies.h"
}

#include <simgrid/s4u.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Flow {
    std::vector<uint32_t> links;
    double bytes, start, cap;
};

struct Change {
    double at, capacity;
    uint32_t link;
};

struct World {
    std::vector<double> capacities;
    std::vector<Flow> flows;
    std::vector<Change> changes;
};

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double draw(uint64_t *state)
{
    return static_cast<double>(next_random(state) >> 11) * 0x1p-53;
}

// Every other net has few distinct capacities and sizes: ties are where solvers differ.
static World make_world(uint64_t seed)
{
    World w;
    uint64_t s = seed;
    bool has_ties = seed % 2;
    uint32_t links = 1 + next_random(&s) % 16, flows = 1 + next_random(&s) % 40;
    for (uint32_t l = 0; l < links; l++) {
        w.capacities.push_back(has_ties ? 1e9 * static_cast<double>(1 + next_random(&s) % 3)
                                        : 1e8 + 4e9 * draw(&s));
    }
    for (uint32_t f = 0; f < flows; f++) {
        Flow flow;
        std::vector<bool> used(links, false);
        for (uint32_t hops = 1 + next_random(&s) % 5; hops > 0; hops--) {
            uint32_t link = next_random(&s) % links;
            if (!used[link]) {
                flow.links.push_back(link);
                used[link] = true;
            }
        }
        flow.bytes = has_ties ? 1e9 * static_cast<double>(1 + next_random(&s) % 4)
                              : std::floor(1e7 + 5e9 * draw(&s));
        flow.start = has_ties ? static_cast<double>(next_random(&s) % 3) : 5 * draw(&s);
        flow.cap = next_random(&s) % 5 ? 0 : 1e8 + 1e9 * draw(&s);
        w.flows.push_back(flow);
    }
    // Links only lose: SimGrid bounds a flow by what its route carried when it started, for good.
    std::vector<double> left = w.capacities;
    double at = 0;
    for (uint32_t c = next_random(&s) % 4; c > 0; c--) {
        uint32_t link = static_cast<uint32_t>(next_random(&s) % links);
        at += 0.1 + 4 * draw(&s);
        left[link] *= 0.1 + 0.9 * draw(&s);
        w.changes.push_back({at, left[link], link});
    }
    return w;
}

static std::vector<double> play_ours(const World &w)
{
    weir_err err = {};
    weir_net *net = weir_net_new();
    weir_bodies *bodies = nullptr;
    weir_link_id link;
    weir_body_id id;
    weir_code code = WEIR_OK;
    for (double capacity : w.capacities) {
        code = weir_net_add(net, capacity, 0, &link, &err);
    }
    weir_net_seal(net);
    code = code == WEIR_OK ? weir_bodies_new(net, &bodies, &err) : code;
    for (size_t i = 0; i < w.flows.size() && code == WEIR_OK; i++) {
        weir_body body = {};
        body.path.count = static_cast<uint32_t>(w.flows[i].links.size());
        body.path.links = w.flows[i].links.data();
        body.path.cap = w.flows[i].cap;
        body.size = w.flows[i].bytes;
        body.start_s = w.flows[i].start;
        body.tag = i;
        code = weir_bodies_add(bodies, &body, &id, &err);
    }
    for (size_t i = 0; i < w.changes.size() && code == WEIR_OK; i++) {
        code = weir_bodies_set_capacity(bodies, w.changes[i].link, w.changes[i].at,
                                        w.changes[i].capacity, &err);
    }
    code = code == WEIR_OK ? weir_bodies_run(bodies, &err) : code;
    if (code != WEIR_OK) {
        std::fprintf(stderr, "%s\n", err.text);
        std::exit(3);
    }
    std::vector<double> ends(w.flows.size());
    weir_body_end end;
    while (weir_bodies_take(bodies, &end)) {
        ends[end.tag] = end.end_s;
    }
    weir_bodies_free(bodies);
    weir_net_free(net);
    return ends;
}

static std::vector<double> play_simgrid(const World &w)
{
    const char *args[] = {"fluid_simgrid",
                          "--cfg=network/model:CM02",
                          "--cfg=network/crosstraffic:0",
                          "--cfg=network/TCP-gamma:0",
                          "--cfg=surf/precision:1e-12",
                          "--cfg=maxmin/precision:1e-12",
                          "--log=root.thres:error",
                          nullptr};
    int argc = 7;
    sg4::Engine engine(&argc, const_cast<char **>(args));
    auto *zone = sg4::create_full_zone("net");
    std::vector<sg4::Link *> links;
    for (size_t l = 0; l < w.capacities.size(); l++) {
        links.push_back(
            zone->create_link("l" + std::to_string(l), w.capacities[l])->set_latency(0)->seal());
    }
    std::vector<sg4::Host *> from, to;
    for (size_t f = 0; f < w.flows.size(); f++) {
        from.push_back(zone->create_host("a" + std::to_string(f), 1e9)->seal());
        to.push_back(zone->create_host("b" + std::to_string(f), 1e9)->seal());
        std::vector<sg4::LinkInRoute> route;
        for (uint32_t link : w.flows[f].links) {
            route.emplace_back(links[link]);
        }
        zone->add_route(from[f]->get_netpoint(), to[f]->get_netpoint(), nullptr, nullptr, route,
                        false);
    }
    zone->seal();
    std::vector<double> ends(w.flows.size());
    for (size_t f = 0; f < w.flows.size(); f++) {
        sg4::Actor::create("f" + std::to_string(f), from[f], [&, f] {
            sg4::this_actor::sleep_until(w.flows[f].start);
            static int letter;
            auto comm = sg4::Mailbox::by_name(std::to_string(f))
                            ->put_init(&letter, static_cast<uint64_t>(w.flows[f].bytes));
            if (w.flows[f].cap > 0) {
                comm->set_rate(w.flows[f].cap);
            }
            comm->start();
            comm->wait();
            ends[f] = sg4::Engine::get_clock();
        });
        sg4::Actor::create("r" + std::to_string(f), to[f],
                           [f] { sg4::Mailbox::by_name(std::to_string(f))->get<int>(); });
    }
    for (size_t c = 0; c < w.changes.size(); c++) {
        sg4::Actor::create("c" + std::to_string(c), from[0], [&, c] {
            sg4::this_actor::sleep_until(w.changes[c].at);
            links[w.changes[c].link]->set_bandwidth(w.changes[c].capacity);
        });
    }
    engine.run();
    return ends;
}

static std::vector<double> play_in_child(const World &w)
{
    int ends[2];
    std::vector<double> got(w.flows.size(), -1);
    if (pipe(ends) != 0) {
        std::exit(3);
    }
    pid_t child = fork();
    if (child == 0) {
        std::vector<double> made = play_simgrid(w);
        ssize_t size = static_cast<ssize_t>(made.size() * sizeof(double));
        _exit(write(ends[1], made.data(), static_cast<size_t>(size)) == size ? 0 : 3);
    }
    close(ends[1]);
    ssize_t size = read(ends[0], got.data(), got.size() * sizeof(double));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 || size != static_cast<ssize_t>(got.size() * sizeof(double))) {
        std::fprintf(stderr, "SimGrid failed (status %d)\n", status);
        std::exit(3);
    }
    return got;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    uint64_t first = std::strtoull(argv[1], nullptr, 10),
             seeds = std::strtoull(argv[2], nullptr, 10);
    double allowed = std::strtod(argv[3], nullptr), worst = 0;
    size_t flows = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        World w = make_world(seed);
        std::vector<double> ours = play_ours(w), theirs = play_in_child(w);
        for (size_t f = 0; f < ours.size(); f++, flows++) {
            double error = std::fabs(ours[f] - theirs[f]) / theirs[f];
            worst = error > worst ? error : worst;
            if (!(error <= allowed)) {
                std::printf("seed %llu, flow %zu: ours %.17g s, SimGrid %.17g s\n",
                            static_cast<unsigned long long>(seed), f, ours[f], theirs[f]);
                return 1;
            }
        }
    }
    std::printf("%llu nets, %zu flows: greatest relative difference %.2g\n",
                static_cast<unsigned long long>(seeds), flows, worst);
    return 0;
}
