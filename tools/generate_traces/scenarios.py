"""The scenarios: who is disturbed and how, which clocks, which captures, which files are missing.

Each function fills a Scenario; build() turns it into workers with programs, runs them, and decides
what each file holds.
"""
import random
from dataclasses import dataclass, field

from .engine import Engine, Group, Process, Worker
from .kineto import Clock
from .model import Builder, Sizes
from .truth import View

MS = 1000000


@dataclass
class Scenario:
    name: str
    ranks: int = 4
    hosts: int = 1
    steps: int = 5
    seed: int = 1
    tp: int = 1
    pp: int = 1
    layers: int = 2
    tokens: int = 2048
    micro_batches: int = 1
    sleep_ns: dict = field(default_factory=dict)
    work: dict = field(default_factory=dict)
    device_factor: dict = field(default_factory=dict)
    link_factor: dict = field(default_factory=dict)  # (axis, first rank of group) -> factor
    clocks: list = field(default_factory=list)  # one for each host
    unequal: bool = False
    two_devices: bool = False
    equal_transfer: bool = False  # collectives take as long whatever the number of ranks
    seq: bool = False
    collective_arguments: bool = True
    distributed_info: bool = True
    header_first: bool = True
    cut: dict = field(default_factory=dict)  # rank -> share of the file that is left
    absent: list = field(default_factory=list)
    expect: dict = field(default_factory=dict)  # blamed, origin, reason, factor, wait

    @property
    def dp(self):
        return self.ranks // (self.tp * self.pp)

    def host_of(self, rank):
        return rank * self.hosts // self.ranks


def layout(s):
    """Process groups in order of creation, and those of each rank by axis."""
    world = Group("0", "default_pg", range(s.ranks))
    groups, of_rank = [world], [dict() for _ in range(s.ranks)]
    if s.tp == s.pp == 1:
        for axes in of_rank:
            axes["dp"] = world
        return groups, of_rank
    for axes in of_rank:
        axes["world"] = world
    stride = s.tp * s.dp
    ids = {"dp": [[t + s.tp * d + stride * p for d in range(s.dp)]
                  for p in range(s.pp) for t in range(s.tp)],
           "tp": [[t + s.tp * d + stride * p for t in range(s.tp)]
                  for p in range(s.pp) for d in range(s.dp)],
           "pp": [[t + s.tp * d + stride * p for p in range(s.pp)]
                  for d in range(s.dp) for t in range(s.tp)]}
    names = {"dp": "DATA_PARALLEL_GROUP", "tp": "TENSOR_MODEL_PARALLEL_GROUP",
             "pp": "PIPELINE_MODEL_PARALLEL_GROUP"}
    for axis, members in ids.items():
        for ranks in members:
            if len(ranks) == 1:
                continue
            group = Group(str(len(groups)), names[axis], ranks)
            group.link_factor = s.link_factor.get((axis, ranks[0]), 1.0)
            groups.append(group)
            for rank in ranks:
                of_rank[rank][axis] = group
    return groups, of_rank


def program(s, worker, builder):
    rank = worker.process.rank
    member = rank if not s.two_devices else worker.device
    pipeline = None
    if s.pp > 1:
        stride = s.tp * s.dp
        stage = rank // stride
        pipeline = (stage, s.pp, rank - stride if stage > 0 else None,
                    rank + stride if stage + 1 < s.pp else None)
    for number in range(s.steps + 1):
        builder.step(number, s.sleep_ns.get(member, 0), pipeline)
    worker.program.append(("drain",))


def build(s):
    """Plays the scenario. Returns (processes, groups of each rank)."""
    engine = Engine(s.seed)
    groups, of_rank = layout(s)
    processes = []
    if s.two_devices:
        process = Process(0, 0, 41200)
        groups = [Group("0", "default_pg", [0], size=s.ranks)]
        of_rank = [{"dp": groups[0]}]
        members = [(process, device) for device in range(s.ranks)]
        processes.append(process)
    else:
        per_host = -(-s.ranks // s.hosts)
        members = []
        for rank in range(s.ranks):
            process = Process(rank, s.host_of(rank), 41200 + 73 * (rank % per_host))
            processes.append(process)
            members.append((process, rank % per_host))
    for process, device in members:
        worker = Worker(process, device, process.pid + (device if s.two_devices else 0), s.seed)
        worker.now = worker.random.randrange(0, 200000)
        member = device if s.two_devices else process.rank
        sizes = Sizes(tokens=s.tokens, layers=s.layers, micro_batches=s.micro_batches,
                      work=s.work.get(member, 1.0), tp=s.tp)
        builder = Builder(worker, s.seed, sizes, of_rank[process.rank], s.host_of,
                          s.device_factor.get(member, 1.0))
        builder.equal_transfer = s.equal_transfer
        builder.meets = s.two_devices
        builder.marks = worker is process.workers[0]
        program(s, worker, builder)
        engine.workers.append(worker)
    engine.run()
    return processes, of_rank


def capture(s, process):
    """What the profiler of this process recorded: from step 1 on, or unequal parts."""
    host = [h for w in process.workers for h in w.host_spans]
    spans = [x for w in process.workers for x in w.spans]
    syncs = [x for w in process.workers for x in w.syncs]
    marks = {h.name: h for h in host if h.name.startswith("ProfilerStep#")}
    begin = marks["ProfilerStep#1"].start - 40000
    end = max(h.end for h in host)
    if s.unequal:
        draw = random.Random(f"{s.seed}/capture/{process.rank}")
        first, last = marks["ProfilerStep#1"], marks[f"ProfilerStep#{s.steps}"]
        begin = first.start + int((first.end - first.start) * draw.uniform(0.0, 0.9))
        device = [x.end for x in spans]
        end = last.start + int((max(device) - last.start) * draw.uniform(0.2, 0.9))
    inside = (lambda x: x.start >= begin and x.end <= end)
    host = [h for h in host if inside(h)]
    spans = [x for x in spans if inside(x)]
    spans.sort(key=lambda x: x.launch.correlation)
    return View(process, host, spans), [y for y in syncs if begin <= y.at <= end]


# --- the scenarios by name; each takes the options of the command line ---

def late_host(o):
    s = Scenario("late-host", ranks=4, hosts=1, steps=5, seed=o.seed, layers=3, seq=True)
    s.sleep_ns = {2: 45 * MS}
    s.expect = {"blamed": 2, "origin": 2, "reason": "late_host", "host_cause": "dependency.host",
                "wait": "dependency.straggler"}
    return s


def sleeper(o):
    s = Scenario("sleeper", ranks=o.ranks or 16, hosts=o.hosts or 1, steps=o.steps or 6,
                 seed=o.seed, layers=1, equal_transfer=True)
    s.sleep_ns = {2: (25 if s.hosts == 1 else 60) * MS}
    s.expect = {"blamed": 2, "origin": 2, "reason": "late_host", "wait": "dependency.straggler"}
    return s


def more_work(o):
    s = Scenario("more-work", ranks=o.ranks or 8, hosts=o.hosts or 1, steps=o.steps or 5,
                 seed=o.seed)
    s.work = {5: 1.75}
    s.expect = {"blamed": 5, "origin": 5, "reason": "more_work", "factor": 1.75,
                "wait": "dependency.straggler"}
    return s


def slow_device(o):
    s = Scenario("slow-device", ranks=o.ranks or 8, hosts=o.hosts or 1, steps=o.steps or 5,
                 seed=o.seed)
    s.device_factor = {3: 1.4}
    s.expect = {"blamed": 3, "origin": 3, "reason": "slow_device", "factor": 1.4,
                "wait": "dependency.straggler"}
    return s


def slow_link(o):
    s = Scenario("slow-link", ranks=o.ranks or 8, hosts=o.hosts or 1, steps=o.steps or 5,
                 seed=o.seed, tp=2)
    s.link_factor = {("tp", 4): 12.0}
    s.expect = {"blamed": [4, 5], "origin": [4, 5], "reason": "slow_link",
                "wait": "dependency.straggler"}
    return s


def absent(o):
    s = sleeper(o)
    s.name, s.ranks = "absent", o.ranks or 4
    s.absent = [2]
    s.expect = {"blamed": None, "reason": "absent"}
    return s


def chain(o):
    s = Scenario("chain", ranks=4, hosts=1, steps=o.steps or 5, seed=o.seed, tp=2)
    s.sleep_ns = {3: 40 * MS}
    s.expect = {"blamed": 2, "by": 0, "origin": 3, "reason": "late_host",
                "wait": "dependency.straggler"}
    return s


def bubble(o):
    s = Scenario("bubble", ranks=o.ranks or 4, hosts=o.hosts or 1, steps=o.steps or 4,
                 seed=o.seed, layers=1, micro_batches=4)
    s.pp = 4
    s.expect = {"wait": "dependency.bubble"}
    return s


def host_clocks(count, seed):
    draw = random.Random(f"{seed}/clocks")
    return [Clock()] + [Clock(draw.randrange(-3 * 10**9, 3 * 10**9), draw.randrange(-20, 21))
                        for _ in range(count - 1)]


def clocks(o):
    s = Scenario("clocks", ranks=o.ranks or 16, hosts=o.hosts or 8, steps=o.steps or 6,
                 seed=o.seed, layers=1, tp=2)
    s.clocks = host_clocks(s.hosts, s.seed)
    s.sleep_ns = {6: 30 * MS}
    s.expect = {"origin": 6, "reason": "late_host", "wait": "dependency.straggler"}
    return s


def unequal_captures(o):
    s = clocks(o)
    s.name = "unequal-captures"
    s.hosts = o.hosts or 4
    s.clocks = host_clocks(s.hosts, s.seed)
    s.unequal = True
    return s


def two_devices(o):
    s = Scenario("two-devices", ranks=2, hosts=1, steps=o.steps or 5, seed=o.seed,
                 two_devices=True, collective_arguments=False, distributed_info=False)
    s.device_factor = {1: 1.5}
    s.expect = {"origin": 0, "device": 1, "reason": "slow_device", "factor": 1.5,
                "wait": "dependency.straggler"}
    return s


def cut(o):
    o.ranks, o.hosts = o.ranks or 64, o.hosts or 8
    s = sleeper(o)
    s.name = "cut"
    s.cut = {13: 0.62, 22: 0.75, 58: 0.86}
    return s


def big_mix(o):
    s = Scenario("big-mix", ranks=o.ranks or 64, hosts=o.hosts or 8, steps=o.steps or 5,
                 seed=o.seed, layers=1, tp=4, pp=2, micro_batches=2)
    s.clocks = host_clocks(s.hosts, s.seed)
    s.cut = {13: 0.62, 22: 0.75, 58: 0.86}
    reason = o.reason or "late_host"
    s.expect = {"origin": 41, "reason": reason, "wait": "dependency.straggler"}
    if reason == "late_host":
        s.sleep_ns = {41: 60 * MS}
    elif reason == "more_work":
        s.work = {41: 2.5}
        s.expect["factor"] = 2.5
    elif reason == "slow_device":
        s.device_factor = {41: 2.5}
        s.expect["factor"] = 2.5
    elif reason == "slow_link":
        s.link_factor = {("tp", 40): 20.0}
        s.expect["origin"] = [40, 41, 42, 43]
    elif reason == "absent":
        s.sleep_ns = {41: 60 * MS}
        s.absent = [41]
        s.expect["origin"] = None
    return s


BY_NAME = {"late-host": late_host, "sleeper": sleeper, "more-work": more_work,
           "slow-device": slow_device, "slow-link": slow_link, "absent": absent, "chain": chain,
           "bubble": bubble, "clocks": clocks, "unequal-captures": unequal_captures,
           "two-devices": two_devices, "cut": cut, "big-mix": big_mix}
