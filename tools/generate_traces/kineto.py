"""Kineto files as torch 2.10 to 2.12 write them: newlines, indents, order and all.

Times are local to the host: local = true + offset + drift * (true - epoch), written relative to
baseTimeNanoseconds in microseconds with three decimals.
"""
import json
import zlib

BASE_NS = 1782967788000000000  # as current files have it: the start of a three-month period
EPOCH_NS = BASE_NS + 4026150068000000000 // 1000  # when the simulated run begins

CBID = {"cudaLaunchKernel": 211, "cudaLaunchKernelExC": 430, "cuLaunchKernelEx": 652,
        "cudaMemcpyAsync": 41, "cudaEventRecord": 135, "cudaStreamWaitEvent": 147,
        "cudaEventSynchronize": 137, "cudaDeviceSynchronize": 165}


class Clock:
    """A host's clock; drift in parts per million."""

    def __init__(self, offset_ns=0, drift_ppm=0):
        self.offset_ns = offset_ns
        self.drift_ppm = drift_ppm

    def local(self, true_ns):
        """true_ns: since the run began. Unix ns of this host."""
        return EPOCH_NS + true_ns + self.offset_ns + (self.drift_ppm * true_ns) // 1000000


def micro(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


class Writer:
    """The text of one file. Notes where each device span ends, so that a cut is exact."""

    def __init__(self, process, clock, host_name, options):
        self.process = process
        self.clock = clock
        self.host_name = host_name
        self.options = options
        self.parts = []
        self.length = 0
        self.ends = []  # (byte after the event, span)

    def text(self, host_spans, spans, syncs, groups, world_size):
        self._put(self._head(groups, world_size))
        self.first = True
        host = sorted((s for s in host_spans if s.category in ("cpu_op", "user_annotation")),
                      key=lambda s: (s.start, -s.end))
        for index, span in enumerate(host):
            self._host_event(span, index)
        rest = [(s.start, 0, i, s) for i, s in enumerate(host_spans)
                if s.category.startswith("cuda_")]
        rest += [(s.start, 1, i, s) for i, s in enumerate(spans)]
        rest += [(s.at, 2, i, s) for i, s in enumerate(syncs)]
        for _, kind, _, item in sorted(rest, key=lambda r: r[:3]):
            (self._runtime_event, self._device_event, self._sync_event)[kind](item)
        self._metadata(host_spans, spans)
        self._put("\n  ],\n" + self._tail() + "}\n")
        return "".join(self.parts).encode()

    # --- pieces ---

    def _put(self, text):
        self.parts.append(text)
        self.length += len(text.encode())

    def _event(self, text):
        self._put(("\n  {\n" if self.first else ",\n  {\n") + text + "\n  }")
        self.first = False

    def _stamp(self, true_ns):
        return micro(self.clock.local(true_ns) - BASE_NS)

    def _times(self, span):
        start, end = self.clock.local(span.start), self.clock.local(span.end)
        return f'"ts": {micro(start - BASE_NS)}, "dur": {micro(end - start)}'

    def _head(self, groups, world_size):
        devices = ",\n".join(
            '    {\n'
            f'      "id": {i}, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85029158912,\n'
            '      "computeMajor": 9, "computeMinor": 0,\n'
            '      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,\n'
            '      "regsPerBlock": 65536, "warpSize": 32,\n'
            '      "sharedMemPerBlock": 49152, "numSms": 132\n'
            '    , "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, '
            '"sharedMemPerMultiprocessor": 233472\n'
            '    }' for i in range(self.options["devices_per_host"]))
        text = ('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n' + devices + "\n  ],\n"
                '  "cupti_version": 26,\n  "cuda_runtime_version": 12080,\n')
        info = {"backend": "nccl", "rank": self.process.rank, "world_size": world_size,
                "pg_count": len(groups),
                "pg_config": [{"pg_name": g.name, "pg_desc": g.description,
                               "backend_config": "cuda:nccl", "pg_size": g.size,
                               "ranks": g.ranks} for g in groups],
                "nccl_version": "2.27.3"}
        if self.options["distributed_info"]:
            text += '  "distributedInfo": ' + json.dumps(info) + ",\n"
        text += (f'  "host_name": "{self.host_name}",\n'
                 '  "record_shapes": 1,\n  "cuda_driver_version": 12080,\n'
                 f'  "trace_id": "{self.process.pid:032X}",\n')
        early = ('  "displayTimeUnit": "ms",\n'
                 f'  "baseTimeNanoseconds": {BASE_NS},\n')
        self.late = "" if self.options["header_first"] else early
        return text + (early if self.options["header_first"] else "") + '  "traceEvents": ['

    def _tail(self):
        name = f'  "traceName": "/tmp/trace/{self.host_name}_{self.process.pid}.pt.trace.json"'
        if not self.late:
            return name + "\n"
        return name + ",\n" + self.late.rstrip(",\n") + "\n"

    def _host_event(self, span, index):
        extra = ""
        if span.args:
            if "collective" in span.args:
                extra = ', ' + json.dumps(self._collective(span))[1:-1]
            elif span.args["dims"]:
                dims = span.args["dims"]
                extra = (f', "Input Dims": {json.dumps(dims)}, '
                         f'"Input type": {json.dumps(["c10::BFloat16"] * len(dims))}, '
                         f'"Concrete Inputs": {json.dumps([""] * len(dims))}')
        name = "record_param_comms" if span.args and "collective" in span.args else span.name
        self._event(
            f'    "ph": "X", "cat": "{span.category}", "name": "{name}", '
            f'"pid": {self.process.pid}, "tid": {span.thread},\n'
            f'    {self._times(span)},\n'
            '    "args": {\n'
            f'      "External id": {span.external},"Record function id": 0{extra}, '
            f'"Ev Idx": {index}\n    }}')

    def _runtime_event(self, span):
        external = f'"External id": {span.external},\n      ' if span.external else ""
        self._event(
            f'    "ph": "X", "cat": "{span.category}", "name": "{span.name}", '
            f'"pid": {self.process.pid}, "tid": {span.thread},\n'
            f'    {self._times(span)},\n'
            '    "args": {\n'
            f'      {external}"cbid": {CBID[span.name]}, "correlation": {span.correlation}\n    }}')
        if span.launched and self.options["flows"]:
            self._event(
                f'    "ph": "s", "id": {span.correlation}, "pid": {self.process.pid}, '
                f'"tid": {span.thread}, "ts": {self._stamp(span.start)},\n'
                '    "cat": "ac2g", "name": "ac2g"')

    def _device_event(self, span):
        kernel, launch = span.kernel, span.launch
        device = span.worker.device
        head = (f'    "ph": "X", "cat": "{kernel.category}", "name": "{kernel.name}", '
                f'"pid": {device}, "tid": {span.stream},\n'
                f'    {self._times(span)},\n'
                '    "args": {\n'
                f'      "External id": {launch.external},\n')
        if kernel.category == "gpu_memcpy":
            rate = kernel.bytes / max(1, span.end - span.start)
            self._event(head + f'      "device": {device}, "context": 1,\n'
                        f'      "stream": {span.stream}, "correlation": {launch.correlation},\n'
                        f'      "bytes": {kernel.bytes}, "memory bandwidth (GB/s)": {rate:.6f}\n'
                        '    }')
        else:
            blocks = kernel.grid[0] * kernel.grid[1] * kernel.grid[2] / 132
            text = (f'      "queued": 0, "device": {device}, "context": 1,\n'
                    f'      "stream": {span.stream}, "correlation": {launch.correlation},\n'
                    '      "registers per thread": 168,\n'
                    '      "shared memory": 0,\n'
                    f'      "blocks per SM": {blocks:.6g},\n'
                    f'      "warps per SM": {blocks * kernel.block[0] / 32:.6g},\n'
                    f'      "grid": {list(kernel.grid)},\n'
                    f'      "block": {list(kernel.block)},\n'
                    '      "est. achieved occupancy %": 0')
            if span.collective and self.options["collective_arguments"]:
                text += ",\n      " + json.dumps(self._collective(launch, span))[1:-1]
            self._event(head + text + "\n    }")
        self.ends.append((self.length, span))
        if self.options["flows"]:
            self._event(
                f'    "ph": "f", "id": {launch.correlation}, "pid": {device}, '
                f'"tid": {span.stream}, "ts": {self._stamp(span.start)},\n'
                '    "cat": "ac2g", "name": "ac2g", "bp": "e"')

    def _collective(self, host, span=None):
        c = span.collective if span else host.args["collective"]
        name = c.kind
        if c.source is not None:
            name = "send" if c.source == self.process.rank else "recv"
        args = {"Collective name": name, "In msg nelems": c.elements_in,
                "Out msg nelems": c.elements_out, "Group size": c.group.size, "dtype": c.dtype,
                "In split size": "[]", "Out split size": "[]",
                "Process Group Name": c.group.name,
                "Process Group Description": c.group.description,
                "Process Group Ranks": json.dumps(c.group.ranks)}
        if c.source is not None:
            args["Src Rank"] = c.source
            args["Dst Rank"] = c.destination
        if self.options["seq"]:
            args["Seq"] = c.index
        return args

    def _sync_event(self, sync):
        device = self.process.workers[0].device
        self._event(
            '    "ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", '
            f'"pid": {device}, "tid": {sync.stream},\n'
            f'    "ts": {self._stamp(sync.at)}, "dur": 0.000,\n'
            '    "args": {\n'
            '      "cuda_sync_kind": "Stream Wait Event",\n'
            f'      "wait_on_stream": {sync.record_stream},\n'
            f'      "wait_on_cuda_event_record_corr_id": {sync.record_correlation},\n'
            f'      "wait_on_cuda_event_id": {sync.record_stream},\n'
            f'      "stream": {sync.stream}, "correlation": {sync.correlation},\n'
            f'      "device": {device}, "context": 1\n    }}')

    def _metadata(self, host_spans, spans):
        at = self._stamp(min(s.start for s in host_spans) if host_spans else 0)
        process = self.process

        def note(name, pid, tid, key, value):
            self._event(f'    "name": "{name}", "ph": "M", "ts": {at}, "pid": {pid}, "tid": {tid},'
                        f'\n    "args": {{\n      "{key}": {json.dumps(value)}\n    }}')

        note("process_name", process.pid, 0, "name", "python")
        note("process_labels", process.pid, 0, "labels", "CPU")
        note("process_sort_index", process.pid, 0, "sort_index", process.pid)
        for worker in process.workers:
            note("process_name", worker.device, 0, "name", "python")
            note("process_labels", worker.device, 0, "labels", f"GPU {worker.device}")
            note("process_sort_index", worker.device, 0, "sort_index", 16777216 + worker.device)
            for stream in sorted({s.stream for s in spans if s.worker is worker}):
                note("thread_name", worker.device, stream, "name", f"stream {stream} ")
                note("thread_sort_index", worker.device, stream, "sort_index", stream)
            note("thread_name", process.pid, worker.thread, "name",
                 f"thread {worker.thread} (python)")
            note("thread_sort_index", process.pid, worker.thread, "sort_index", worker.thread)
        end = self._stamp(max((s.end for s in host_spans), default=0) + 20000)
        self._event(f'    "ph": "X", "cat": "Trace", "ts": {at}, "dur": 1000.000,\n'
                    '    "pid": "Spans", "tid": "PyTorch Profiler",\n'
                    '    "name": "PyTorch Profiler (0)",\n'
                    '    "args": {\n      "Op count": 0\n    }')
        self._event(f'    "name": "process_sort_index", "ph": "M", "ts": {at},\n'
                    '    "pid": "Spans", "tid": 0,\n'
                    '    "args": {\n      "sort_index": 536870912\n    }')
        self._event('    "name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",\n'
                    f'    "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": {at}')
        self._event('    "name": "Record Window End", "ph": "i", "s": "g",\n'
                    f'    "pid": "", "tid": "", "ts": {end}')


def gzip_bytes(data, cut=None):
    """A gzip member without name or time. cut: the stream ends where this many bytes are in it."""
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    if cut is not None:
        return head + packer.compress(data[:cut]) + packer.flush(zlib.Z_SYNC_FLUSH)
    tail = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xffffffff).to_bytes(4, "little")
    return head + packer.compress(data) + packer.flush() + tail
