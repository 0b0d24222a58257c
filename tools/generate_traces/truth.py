"""What a reader of the files should find, by brute force over the true times.

The rules are those of DESIGN 2.1, 2.4 and the window of 2.1, on what the files hold (visible): the
expected figures of the tests. Written for clarity; a second implementation, not a copy, of what
src/ledger does. Messages and collectives without all members follow the rule for absent members;
the shortest like instance is looked for among the complete ones and, where none is, among all.
"""
import bisect
from collections import defaultdict

BLOCKING = ("cudaEventSynchronize", "cudaDeviceSynchronize", "cudaStreamSynchronize")


class View:
    """What the file of one process holds."""

    def __init__(self, process, host_spans, spans, cut=False):
        self.process = process
        self.host_spans = host_spans
        self.spans = spans
        self.cut = cut
        self.marks = sorted(
            (int(s.name.split("#")[1]), s.start, s.end) for s in host_spans
            if s.category == "user_annotation" and s.name.startswith("ProfilerStep#"))


class Seen:
    """A collective as the files show it."""

    def __init__(self, members, expected):
        self.members = members
        self.complete = len(members) == expected
        self.last = max(m.start for m in members)
        # Ties go to the first device; sorted by rank and device already.
        self.blamed = max(members, key=lambda m: m.start)
        self.shortest = None


def seen_collectives(views):
    """By id of the collective; only what is visible."""
    members = defaultdict(list)
    objects = {}
    for view in views:
        for span in view.spans:
            if span.collective:
                members[id(span.collective)].append(span)
                objects[id(span.collective)] = span.collective
    seen = {}
    like = {True: {}, False: {}}  # by complete: the shortest instance of its kind
    for key, spans in members.items():
        c = objects[key]
        spans.sort(key=lambda s: (s.worker.process.rank, s.worker.device))
        item = seen[key] = Seen(spans, c.expected)
        length = max(s.end for s in spans) - item.last
        shortest = like[item.complete]
        shortest[alike(c)] = min(shortest.get(alike(c), length), length)
    for key, item in seen.items():
        kind = alike(objects[key])
        item.shortest = like[True].get(kind, like[False].get(kind))
    return seen


def alike(collective):
    return (collective.kind, collective.group.name, collective.elements_in, collective.dtype)


def complete_steps(views):
    common = None
    for view in views:
        if view.cut:
            continue
        numbers = {n for n, _, _ in view.marks}
        common = numbers if common is None else common & numbers
    return sorted(common or ())


def device_windows(view, worker, steps):
    """[(step, begin, end)] of one device, true times."""
    marks = {n: (begin, end) for n, begin, end in view.marks}
    visible = {id(s) for s in view.host_spans}
    launched = [s for s in view.spans if s.worker is worker and id(s.launch) in visible]
    begins = []
    for number in steps:
        after = [s.start for s in launched if s.launch.start >= marks[number][0]]
        begins.append(min(after) if after else marks[number][0])
    last = [s.end for s in launched if s.launch.start < marks[steps[-1]][1]]
    ends = begins[1:] + [max(last)]
    return list(zip(steps, begins, ends))


class Ledger:
    """The waits of one device in its window."""

    def __init__(self, view, worker, seen, begin, end):
        self.view = view
        self.worker = worker
        self.seen = seen
        self.begin, self.end = begin, end
        self.causes = defaultdict(int)
        self.blame = defaultdict(int)
        self.spans = sorted((s for s in view.spans if s.worker is worker),
                            key=lambda s: (s.start, s.number))
        self.starts = [s.start for s in self.spans]
        host = [s for s in view.host_spans if s.thread == worker.thread]
        self.visible = {id(s) for s in host}
        self.blocking = [s for s in host if s.name in BLOCKING]
        self._sweep()

    def _sweep(self):
        marks = {self.begin, self.end}
        for s in self.spans:
            marks.update((s.start, s.end))
            if s.collective:
                item = self.seen[id(s.collective)]
                marks.add(item.last)
                if not item.complete:
                    marks.add(item.last + item.shortest)
        times = sorted(t for t in marks if self.begin <= t <= self.end)
        active, at = [], 0
        for a, b in zip(times, times[1:]):
            active = [s for s in active if s.end > a]
            while at < len(self.spans) and self.spans[at].start <= a:
                if self.spans[at].end > a:
                    active.append(self.spans[at])
                at += 1
            self._charge(a, b, active)

    def _charge(self, a, b, active):
        for wait in ("compute", "cache"):
            row = [s for s in active if s.kernel.wait == wait and s.kernel.category == "kernel"]
            if row:
                self.causes[row[0].kernel.cause] += b - a
                return
        row = [s for s in active if s.collective]
        if row:
            self._charge_communication(a, b, row)
            return
        row = [s for s in active if s.kernel.category != "kernel"]
        if row:
            self.causes[row[0].kernel.cause] += b - a
            return
        self._charge_idle(a, b)

    def _charge_communication(self, a, b, row):
        arrived = [s for s in row if self.seen[id(s.collective)].last <= a]
        if arrived:
            span = arrived[0]
            item = self.seen[id(span.collective)]
            late = not item.complete and a >= item.last + item.shortest
            self.causes["communication.unsplit" if late else span.kernel.cause] += b - a
            return
        span = row[0]
        cause = "straggler" if span.collective.source is None else "bubble"
        self.causes["dependency." + cause] += b - a
        blamed = self.seen[id(span.collective)].blamed.worker
        self.blame[(cause, blamed.process.rank, blamed.device)] += b - a

    def _charge_idle(self, a, b):
        next_span = bisect.bisect_left(self.starts, b)
        if next_span == len(self.spans):
            self.causes["dependency.tail"] += b - a
            return
        launch = self.spans[next_span].launch
        if id(launch) not in self.visible:
            self.causes["dependency.unknown"] += b - a
            return
        synced = self._blocking_at(a)
        edges = [t for s in self.blocking + [launch] for t in (s.start, s.end) if a < t < b]
        cuts = sorted({a, b, *edges})
        for x, y in zip(cuts, cuts[1:]):
            if x >= launch.end:
                reason = "turnaround"
            elif x >= launch.start:
                reason = "launch"
            else:
                reason = "sync" if synced or self._blocking_at(x) else "host"
            self.causes["dependency." + reason] += y - x

    def _blocking_at(self, t):
        return any(s.start <= t < s.end for s in self.blocking)


def collective_facts(view, worker, seen):
    """Raw: over everything recorded, whether hidden or not."""
    facts = {"instances": 0, "arrival_wait_ns": 0, "transfer_ns": 0, "unsplit_ns": 0}
    for s in view.spans:
        if s.worker is not worker or not s.collective:
            continue
        item = seen[id(s.collective)]
        facts["instances"] += 1
        facts["arrival_wait_ns"] += item.last - s.start
        rest = s.end - item.last
        known = rest if item.complete else min(rest, item.shortest)
        facts["transfer_ns"] += known
        facts["unsplit_ns"] += rest - known
    return facts


def describe(views, host_names):
    """The truth of a set of files as a dictionary for JSON."""
    seen = seen_collectives(views)
    steps = complete_steps(views)
    devices, blame = [], defaultdict(int)
    for view in views:
        for worker in view.process.workers:
            row = {"rank": view.process.rank, "node": host_names[view.process.host],
                   "device": worker.device, "cut": view.cut,
                   "collectives": collective_facts(view, worker, seen)}
            if not view.cut and steps:
                windows = device_windows(view, worker, steps)
                ledger = Ledger(view, worker, seen, windows[0][1], windows[-1][2])
                row["wall_ns"] = ledger.end - ledger.begin
                row["causes"] = dict(sorted(ledger.causes.items()))
                row["steps"] = [{"index": n, "wall_ns": e - b} for n, b, e in windows]
                for key, ns in ledger.blame.items():
                    blame[key] += ns
            devices.append(row)
    waited = [{"cause": c, "rank": r, "device": d, "waited_for_ns": ns}
              for (c, r, d), ns in sorted(blame.items(), key=lambda i: (-i[1], i[0]))]
    collectives = defaultdict(lambda: {"instances": 0, "bytes": 0})
    for item in seen.values():
        c = item.members[0].collective
        row = collectives[c.group.name]
        row["instances"] += 1
        row["bytes"] += c.elements_in * (2 if c.dtype == "BFloat16" else 4)
    complete = sum(item.complete for item in seen.values())
    return {"steps": steps, "devices": devices, "waited_for": waited,
            "collectives": dict(sorted(collectives.items(), key=lambda i: int(i[0]))),
            "instances": {"seen": len(seen), "complete": complete}}
