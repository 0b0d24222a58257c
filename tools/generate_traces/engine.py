"""A small event simulation: host threads launch spans on device streams.

All times are int nanoseconds of one true clock. A worker (host thread) runs its program, a list of
tuples, until it has to wait for the device. A span starts when its launch has reached the device,
the span before it on its stream has ended, and the events that its stream was told to await have
happened. The members of a collective end together, when the last has arrived and the transfer is
done, apart from a jitter of a few microseconds.
"""
import random

ISSUE_GAP_NS = 900  # between two spans of a stream: the device fetches the next one
JITTER_NS = 2000  # members of a collective end within this


class Kernel:
    """What is launched: a kernel or copy, with what the profiler writes about it."""

    __slots__ = ("name", "duration_ns", "wait", "cause", "category", "op", "dims", "grid", "block",
                 "bytes")

    def __init__(self, name, duration_ns, cause, op, dims=(), grid=(1, 1, 1), block=(256, 1, 1),
                 category="kernel", size=0):
        self.name = name
        self.duration_ns = duration_ns
        self.wait = cause.split(".")[0]
        self.cause = cause
        self.category = category
        self.op = op
        self.dims = dims
        self.grid = grid
        self.block = block
        self.bytes = size


class HostSpan:
    __slots__ = ("category", "name", "start", "end", "thread", "external", "correlation", "args",
                 "launched")

    def __init__(self, category, name, start, end, thread):
        self.category = category
        self.name = name
        self.start = start
        self.end = end
        self.thread = thread
        self.external = 0
        self.correlation = 0
        self.args = None
        self.launched = None


class Span:
    """On a device stream."""

    __slots__ = ("worker", "stream", "kernel", "launch", "start", "end", "pending", "ready",
                 "after", "waiters", "collective", "number")

    def __init__(self, worker, stream, kernel, launch):
        self.worker = worker
        self.stream = stream
        self.kernel = kernel
        self.launch = launch
        self.start = None
        self.end = None
        self.pending = 0
        self.ready = 0
        self.after = []
        self.waiters = []
        self.collective = None
        self.number = 0


class SyncSpan:
    """A stream that awaits an event, as cuda_sync events tell it."""

    __slots__ = ("at", "stream", "correlation", "record_stream", "record_correlation", "external")


class Collective:
    """One occurrence; a message has two members, source and destination."""

    __slots__ = ("group", "index", "kind", "elements_in", "elements_out", "transfer_ns", "expected",
                 "members", "source", "destination", "last_arrival", "dtype")

    def __init__(self, group, index, kind, elements, transfer_ns):
        self.group = group
        self.index = index
        self.kind = kind
        self.elements_in, self.elements_out = elements
        self.transfer_ns = transfer_ns
        self.expected = group.size
        self.members = []
        self.source = self.destination = None
        self.last_arrival = None
        self.dtype = "BFloat16"


class Group:
    """A process group. Slow groups have link_factor > 1."""

    def __init__(self, name, description, ranks, size=None):
        self.name = name
        self.description = description
        self.ranks = list(ranks)
        self.size = size if size else len(self.ranks)
        self.link_factor = 1.0


class Process:
    """One file of the profiler: a rank (or a process that drives several devices)."""

    def __init__(self, rank, host, pid):
        self.rank = rank
        self.host = host
        self.pid = pid
        self.workers = []
        self.next_correlation = 40
        self.next_external = 1

    def correlation(self):
        self.next_correlation += 1
        return self.next_correlation

    def external(self):
        self.next_external += 1
        return self.next_external


class Worker:
    """A host thread that drives one device."""

    def __init__(self, process, device, thread, seed):
        self.process = process
        self.device = device
        self.thread = thread
        self.random = random.Random(f"{seed}/host/{process.rank}/{device}")
        self.program = []
        self.position = 0
        self.now = 0
        self.open = []
        self.host_spans = []
        self.spans = []
        self.syncs = []
        self.streams = {}
        self.awaited = {}
        self.marks = {}
        self.blocked_in = None
        self.awaiting = 0
        self.meeting = False
        process.workers.append(self)

    def cost(self, ns):
        """Host work of about ns."""
        return int(ns * self.random.uniform(0.85, 1.15))


class Engine:
    """Runs the programs of all workers to their end."""

    def __init__(self, seed):
        self.seed = seed
        self.workers = []
        self.collectives = {}
        self.ready = []

    def run(self):
        for worker in self.workers:
            self._advance(worker)
        while self.ready:
            self._advance(self.ready.pop())
        stuck = [w for w in self.workers if w.position < len(w.program)]
        if stuck:
            raise RuntimeError(f"deadlock: rank {stuck[0].process.rank} at step "
                               f"{stuck[0].position} of its program")

    def _advance(self, worker):
        if worker.blocked_in:
            call, spans = worker.blocked_in
            worker.blocked_in = None
            self._return(worker, call, spans)
        while worker.position < len(worker.program):
            operation = worker.program[worker.position]
            worker.position += 1
            getattr(self, "_do_" + operation[0])(worker, *operation[1:])
            if worker.blocked_in:
                return

    # --- operations of programs ---

    def _do_host(self, worker, ns):
        worker.now += ns

    def _do_meet(self, worker):
        """Goes on when all threads of the process are here."""
        crew = worker.process.workers
        worker.meeting = True
        if not all(w.meeting for w in crew):
            worker.blocked_in = ("meet", None)
            return
        at = max(w.now for w in crew)
        for w in crew:
            w.now = at
            w.meeting = False
            if w is not worker:
                w.blocked_in = None
                self.ready.append(w)

    def _do_begin(self, worker, name):
        span = HostSpan("user_annotation", name, worker.now, None, worker.thread)
        span.external = worker.process.external()
        worker.host_spans.append(span)
        worker.open.append(span)
        worker.now += worker.cost(1500)

    def _do_end(self, worker):
        worker.now += worker.cost(1000)
        worker.open.pop().end = worker.now

    def _do_run(self, worker, kernel, stream):
        op = self._open_op(worker, kernel.op, {"dims": kernel.dims})
        worker.now += worker.cost(3000)
        if kernel.category == "gpu_memcpy":
            call = "cudaMemcpyAsync"
        else:
            call = "cuLaunchKernelEx" if kernel.name.startswith(("nvjet", "triton")) \
                else "cudaLaunchKernel"
        self._launch(worker, kernel, stream, call, op)
        worker.now += worker.cost(1500)
        op.end = worker.now

    def _do_collective(self, worker, key, make, kernel, stream):
        """Launches this rank's part; the stream first awaits the compute stream (7)."""
        collective = self.collectives.get(key)
        if not collective:
            collective = self.collectives[key] = make()
        op = self._open_op(worker, kernel.op, {"collective": collective, "kernel": kernel})
        worker.now += worker.cost(6000)
        self._wait(worker, 7, stream, op.external)
        span = self._launch(worker, kernel, stream, "cudaLaunchKernelExC", op, collective)
        worker.now += worker.cost(2500)
        op.end = worker.now
        return span

    def _do_join(self, worker, recorded, waiting):
        self._wait(worker, recorded, waiting, 0)

    def _do_mark(self, worker, key):
        worker.marks[key] = worker.streams[7]
        self._runtime(worker, "cudaEventRecord", 1200)

    def _do_synchronize(self, worker, key):
        call = self._runtime(worker, "cudaEventSynchronize", 1500)
        self._block(worker, call, [worker.marks[key]])

    def _do_drain(self, worker):
        call = self._runtime(worker, "cudaDeviceSynchronize", 1500)
        self._block(worker, call, list(worker.streams.values()))

    # --- their parts ---

    def _open_op(self, worker, name, args):
        op = HostSpan("cpu_op", name, worker.now, None, worker.thread)
        op.external = worker.process.external()
        op.args = args
        worker.host_spans.append(op)
        return op

    def _runtime(self, worker, name, ns):
        call = HostSpan("cuda_runtime", name, worker.now, worker.now + worker.cost(ns),
                        worker.thread)
        call.correlation = worker.process.correlation()
        worker.host_spans.append(call)
        worker.now = call.end
        return call

    def _block(self, worker, call, spans):
        worker.awaiting = sum(span.end is None for span in spans)
        if worker.awaiting == 0:
            self._return(worker, call, spans)
            return
        worker.blocked_in = (call, spans)
        for span in spans:
            if span.end is None:
                span.waiters.append(worker)

    def _return(self, worker, call, spans):
        """The host goes on after a synchronisation that its device has passed."""
        last = max(span.end for span in spans)
        if last > worker.now:
            worker.now = last + worker.cost(2500)
        call.end = worker.now

    def _wait(self, worker, recorded, waiting, external):
        """cudaEventRecord on one stream, cudaStreamWaitEvent on the other."""
        record = self._runtime(worker, "cudaEventRecord", 1000)
        wait = self._runtime(worker, "cudaStreamWaitEvent", 900)
        record.external = wait.external = external
        last = worker.streams.get(recorded)
        if not last:
            return
        worker.awaited.setdefault(waiting, []).append(last)
        sync = SyncSpan()
        sync.at = wait.end
        sync.stream = waiting
        sync.correlation = wait.correlation
        sync.record_stream = recorded
        sync.record_correlation = record.correlation
        sync.external = external
        worker.syncs.append(sync)

    def _launch(self, worker, kernel, stream, call, op, collective=None):
        launch = self._runtime(worker, call, 4200)
        launch.external = op.external
        if call.startswith("cuL"):
            launch.category = "cuda_driver"
        span = Span(worker, stream, kernel, launch)
        launch.launched = span
        span.number = len(worker.spans)
        span.ready = launch.end + worker.cost(1800)
        span.collective = collective
        worker.spans.append(span)
        before = worker.awaited.pop(stream, [])
        if stream in worker.streams:
            before.append(worker.streams[stream])
        worker.streams[stream] = span
        for item in before:
            if item.end is None:
                item.after.append(span)
                span.pending += 1
            else:
                span.ready = max(span.ready, item.end + ISSUE_GAP_NS)
        if span.pending == 0:
            self._start(span)
        return span

    def _start(self, first):
        """Starts a span and, without recursion, all that this sets free."""
        todo = [first]
        while todo:
            span = todo.pop()
            span.start = span.ready
            if span.collective is None:
                span.end = span.start + span.kernel.duration_ns
                self._finish(span, todo)
                continue
            collective = span.collective
            collective.members.append(span)
            if len(collective.members) == collective.expected:
                self._complete(collective, todo)

    def _complete(self, collective, todo):
        members = sorted(collective.members, key=lambda s: (s.worker.process.rank, s.worker.device))
        collective.members = members
        collective.last_arrival = max(s.start for s in members)
        draw = random.Random(f"{self.seed}/ends/{collective.group.name}/{collective.kind}/"
                             f"{collective.source}/{collective.index}")
        for span in members:
            span.end = collective.last_arrival + collective.transfer_ns + draw.randrange(JITTER_NS)
        for span in members:
            self._finish(span, todo)

    def _finish(self, span, todo):
        for item in span.after:
            item.ready = max(item.ready, span.end + ISSUE_GAP_NS)
            item.pending -= 1
            if item.pending == 0:
                todo.append(item)
        span.after = []
        for worker in span.waiters:
            worker.awaiting -= 1
            if worker.awaiting == 0:
                self.ready.append(worker)
        span.waiters = []
