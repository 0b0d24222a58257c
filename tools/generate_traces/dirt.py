"""Small damaged files, one for each kind of damage that public bug reports describe.

Every file holds the same good events: KERNELS spans of SPAN_NS on stream 7 of device 0, PERIOD_NS
apart, each with its launch. expect.json says for each file what has to be left of them:

  exit      the exit codes that are right
  busy_ns   what the kernels that can be read add up to; "at_least_ns" where the damage may take
            some with it
  lost      true: the report has to count at least one thing as dropped or repaired; false: it
            has to count nothing but ranks that are not recorded; null: either
"""
import gzip
import json
import os

from .kineto import BASE_NS, gzip_bytes

KERNELS = 6
SPAN_NS = 100000
PERIOD_NS = 250000
FIRST_NS = 4026150100000000
ALL_NS = KERNELS * SPAN_NS
PID = 41200
GEMM = "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage3_warpsize2x2x1_kernel"


def stamp(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def host_event(name, index, at, dur="20.000", category="cpu_op"):
    return (f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": {PID}, '
            f'"tid": {PID},\n    "ts": {stamp(at)}, "dur": {dur},\n    "args": {{\n'
            f'      "External id": {100 + index},"Record function id": 0, "Ev Idx": {index}\n'
            '    }\n  }')


def launch_event(index, at):
    return ('  {\n    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", '
            f'"pid": {PID}, "tid": {PID},\n    "ts": {stamp(at)}, "dur": 5.000,\n    "args": {{\n'
            f'      "External id": {100 + index},\n      "cbid": 211, '
            f'"correlation": {100 + index}\n    }}\n  }}')


def kernel_event(index, ts, dur, name=GEMM, extra="", pid="0", tid="7"):
    return (f'  {{\n    "ph": "X", "cat": "kernel", "name": "{name}", "pid": {pid}, "tid": {tid},'
            f'\n    "ts": {ts}, "dur": {dur},\n    "args": {{\n'
            f'      "External id": {100 + index},\n'
            '      "queued": 0, "device": 0, "context": 1,\n'
            f'      "stream": 7, "correlation": {100 + index},\n'
            '      "registers per thread": 128,\n      "shared memory": 0,\n'
            '      "grid": [264, 1, 1],\n      "block": [256, 1, 1],\n'
            f'      "est. achieved occupancy %": 0{extra}\n    }}\n  }}')


def good_events(first=FIRST_NS):
    events = []
    for i in range(KERNELS):
        at = first + i * PERIOD_NS
        events.append(host_event("aten::mm", i, at - 40000))
        events.append(launch_event(i, at - 30000))
        events.append(kernel_event(i, stamp(at), stamp(SPAN_NS)))
    return events


HEAD = ('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    {\n'
        '      "id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85051572224,\n'
        '      "computeMajor": 8, "computeMinor": 0, "warpSize": 32, "numSms": 108\n    }\n  ],\n')
INFO = '  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},\n'
TIMES = f'  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": {BASE_NS},\n'


def document(events, head=HEAD + INFO + TIMES, tail='  "traceName": "/tmp/t.json"\n}\n'):
    return head + '  "traceEvents": [\n' + ",\n".join(events) + "\n  ],\n" + tail


def with_event(event, at=7):
    events = good_events()
    events.insert(at, event)
    return document(events).encode("utf-8", "surrogateescape")


def cases():
    """(name of file, bytes, what is expected)."""
    whole = {"exit": [0], "busy_ns": ALL_NS, "lost": False}
    lossy = {"exit": [0], "busy_ns": ALL_NS, "lost": True}
    good = document(good_events()).encode()
    middle = stamp(FIRST_NS + 2 * PERIOD_NS + 150000)

    yield "good.json", good, whole
    yield "unescaped-quotes.json", with_event(
        host_event('{"device": "cpu"}(12): run', 50, FIRST_NS)), lossy
    yield "unescaped-quote-in-kernel.json", document(
        good_events()[:-1] + [kernel_event(5, stamp(FIRST_NS + 5 * PERIOD_NS), "100.000",
                                           'gemm<"bf16", 128>')]).encode(), lossy
    yield "raw-newline.json", with_event(
        host_event('("_x", "IMPL")\n(1): <module>', 50, FIRST_NS)), lossy
    yield "backslash.json", with_event(
        host_event("torch\\cuda\\__init__.py(219): current_device", 50, FIRST_NS)), {
            "exit": [0], "busy_ns": ALL_NS, "lost": None}
    yield "control-bytes.json", with_event(
        host_event("bad\x01\x02name\x00here\x1b[31m", 50, FIRST_NS)), {
            "exit": [0], "busy_ns": ALL_NS, "lost": None}
    yield "invalid-utf8.json", document(
        good_events()[:-1] + [kernel_event(5, stamp(FIRST_NS + 5 * PERIOD_NS), "100.000",
                                           "gemm_\udcff\udcfe_kernel")]).encode(
                                               "utf-8", "surrogateescape"), {
            "exit": [0], "busy_ns": ALL_NS, "lost": None}
    nan = good_events()
    nan[2] = kernel_event(0, stamp(FIRST_NS), "100.000", extra=',\n      "rate": NaN')
    nan[5] = kernel_event(1, stamp(FIRST_NS + PERIOD_NS), "100.000", extra=', "x": -nan, "y": inf')
    yield "nan.json", document(nan).encode(), {"exit": [0], "busy_ns": ALL_NS, "lost": None}
    trailing = good_events()
    trailing[2] = kernel_event(0, stamp(FIRST_NS), "100.000", extra=", ")
    yield "trailing-commas.json", document(trailing + ["  "]).encode(), {
        "exit": [0], "busy_ns": ALL_NS, "lost": None}
    yield "missing-value.json", with_event(
        host_event("aten::empty", 50, FIRST_NS).replace('"Ev Idx": 50', '"Ev Idx": , "x": 1')), {
            "exit": [0], "busy_ns": ALL_NS, "lost": None}
    strings = good_events()
    for i in range(KERNELS):
        at = FIRST_NS + i * PERIOD_NS
        strings[3 * i + 2] = kernel_event(i, f'"{stamp(at)}"', f'"{stamp(SPAN_NS)}"', pid='"0"',
                                          tid='"stream 7"')
    yield "strings-for-numbers.json", document(strings).encode(), {
        "exit": [0], "busy_ns": ALL_NS, "lost": None}
    big = good_events()
    big[2] = kernel_event(0, stamp(FIRST_NS), "100.000",
                          extra=',\n      "Comms Id": 10159970886766084423')
    big[5] = kernel_event(1, stamp(FIRST_NS + PERIOD_NS), "100.000",
                          extra=',\n      "id": 340282366920938463463374607431768211456')
    yield "beyond-int64.json", document(big).encode(), {"exit": [0], "busy_ns": ALL_NS,
                                                        "lost": None}
    yield "zero-times.json", document(
        good_events() + [kernel_event(60 + i, "0.000", "0.000") for i in range(20)]).encode(), {
            "exit": [0], "busy_ns": ALL_NS, "span_ns": (KERNELS - 1) * PERIOD_NS + SPAN_NS,
            "lost": True}
    yield "years.json", with_event(kernel_event(61, middle, "220000000000000.000")), {
        "exit": [0], "at_least_ns": ALL_NS, "at_most_ns": KERNELS * PERIOD_NS, "lost": True}
    yield "negative-duration.json", with_event(kernel_event(61, middle, "-5.000")), lossy
    yield "negative-time.json", with_event(host_event("aten::empty", 50, FIRST_NS).replace(
        stamp(FIRST_NS), "-12.500")), {"exit": [0], "busy_ns": ALL_NS, "lost": None}

    other = document(good_events(FIRST_NS + 30000)).replace('"rank": 0', '"rank": 1').encode()
    cut = good.index(b'"aten::mm"', len(good) // 2) + 5
    yield "interleaved.json", good[:cut] + other + good[cut:], {
        "exit": [0], "at_least_ns": ALL_NS - SPAN_NS, "lost": True}
    yield "truncated.json", good[:good.rindex(b'"grid"')], {
        "exit": [0], "busy_ns": ALL_NS - SPAN_NS, "lost": True}
    yield "truncated.json.gz", gzip_bytes(good, good.rindex(b'"grid"')), {
        "exit": [0], "busy_ns": ALL_NS - SPAN_NS, "lost": True}
    yield "broken-checksum.json.gz", gzip_bytes(good)[:-8] + b"\0\1\2\3\4\5\6\7", {
        "exit": [0], "busy_ns": ALL_NS, "lost": True}
    yield "members.json.gz", b"".join(gzip_bytes(good[i:i + 777])
                                      for i in range(0, len(good), 777)), whole
    yield "garbage-after.json.gz", gzip_bytes(good) + b"garbage", {
        "exit": [0], "busy_ns": ALL_NS, "lost": None}
    yield "suffix-lies.json", gzip_bytes(good), whole
    yield "suffix-lies.json.gz", good, whole
    yield "left-over.pt.trace.json.tmp", good[:good.rindex(b'"grid"')], {
        "exit": [0], "busy_ns": ALL_NS - SPAN_NS, "lost": True}

    array = [e.replace(f'"pid": {PID}', '"pid": "CPU functions"') for e in good_events()]
    yield "bare-array.json", ("[\n" + ",\n".join(array) + "\n]\n").encode(), whole
    yield "one-line.json", json.dumps(json.loads(good)).encode(), whole
    yield "metadata-after.json", document(
        good_events(), head='{\n  "schemaVersion": 1,\n',
        tail=INFO + TIMES + '  "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", '
        '"numSms": 108}],\n  "traceName": "/tmp/t.json"\n}\n').encode(), whole
    reordered = json.loads(good)
    reordered["traceEvents"] = [dict(reversed(list(e.items()))) for e in reordered["traceEvents"]]
    yield "keys-reversed.json", json.dumps(
        dict(reversed(list(reordered.items()))), indent=1).encode(), whole

    refused = {"exit": [2], "lost": None}
    yield "empty.json.gz", gzip_bytes(b""), refused
    yield "empty.json", b"", refused
    yield "no-events.json", document([]).encode(), refused
    yield "host-only.json", document([e for e in good_events()
                                      if '"kernel"' not in e]).encode(), refused
    yield "not-json.json", b"\x7fELF\x02\x01\x01" + bytes(200), refused
    yield "text.json", b"rank 0: out of memory\n" * 20, refused
    yield "deep.json", b'{"a":' * 100000, refused
    yield "html.json", b"<!DOCTYPE html><html><body>404</body></html>", refused


def write(folder):
    os.makedirs(folder, exist_ok=True)
    expected = {}
    for name, data, expect in cases():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)
        expected[name] = expect
    # Two whole gzip files whose bytes were written by turns into one path.
    a = gzip.compress(document(good_events()).encode(), 9, mtime=0)
    turns = b"".join(a[i:i + 200] + a[i:i + 200] for i in range(0, len(a), 200))
    with open(os.path.join(folder, "gzip-by-turns.json.gz"), "wb") as out:
        out.write(turns)
    expected["gzip-by-turns.json.gz"] = {"exit": [0, 2], "lost": None}
    with open(os.path.join(folder, "expect.json"), "w", encoding="utf-8") as out:
        json.dump(expected, out, indent=1)
        out.write("\n")
