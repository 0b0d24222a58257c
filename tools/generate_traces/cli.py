"""The command line of generate-traces."""
import argparse
import json
import os
import sys

from . import dirt
from .kineto import Clock, Writer, gzip_bytes
from .scenarios import BY_NAME, build, capture
from .truth import View, describe

REASONS = ("late_host", "more_work", "slow_device", "slow_link", "absent")


def file_name(host_name, process):
    return f"{host_name}_{process.pid}.{1787000000000000000 + process.rank}.pt.trace.json.gz"


def write_process(s, process, of_rank, clock, host_name, folder):
    """Writes one file; returns what is in it (a View), cut or not."""
    view, syncs = capture(s, process)
    options = {"devices_per_host": max(8, s.ranks // s.hosts), "seq": s.seq, "flows": True,
               "collective_arguments": s.collective_arguments, "header_first": s.header_first,
               "distributed_info": s.distributed_info}
    writer = Writer(process, clock, host_name, options)
    groups = sorted({id(g): g for g in of_rank[process.rank].values()}.values(),
                    key=lambda g: int(g.name))
    text = writer.text(view.host_spans, view.spans, syncs, groups, len(of_rank))
    share = s.cut.get(process.rank)
    end = None
    if share:
        # In the middle of an event: 40 bytes after the end of the one before.
        end = next(at for at, _ in writer.ends if at > share * len(text)) + 40
        view = View(process, view.host_spans, [x for at, x in writer.ends if at <= end], cut=True)
    path = os.path.join(folder, file_name(host_name, process))
    with open(path, "wb") as out:
        out.write(gzip_bytes(text, end))
    return view, os.path.basename(path)


def write_scenario(s, folder):
    """Writes the files of a scenario and truth.json; returns the truth."""
    os.makedirs(folder, exist_ok=True)
    processes, of_rank = build(s)
    clocks = s.clocks or [Clock()] * s.hosts
    names = [f"gpu-node-{i}" for i in range(s.hosts)]
    views, files = [], {}
    for process in processes:
        if process.rank in s.absent:
            continue
        view, name = write_process(s, process, of_rank, clocks[process.host],
                                   names[process.host], folder)
        views.append(view)
        files[process.rank] = name
    truth = {"scenario": s.name, "seed": s.seed, "ranks": s.ranks, "expect": s.expect,
             "files": files, "cut": sorted(s.cut), "absent": s.absent,
             "hosts": [{"name": n, "offset_ns": c.offset_ns, "drift_ppm": c.drift_ppm}
                       for n, c in zip(names, clocks)],
             "end_ns": max(x.end for v in views for x in v.spans)}
    truth.update(describe(views, names))
    with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as out:
        json.dump(truth, out, indent=1)
        out.write("\n")
    return truth


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="generate-traces",
        description="Writes multi-rank Kineto traces and what is true about them (truth.json).")
    parser.add_argument("scenario", choices=sorted(BY_NAME) + ["dirt"])
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--hosts", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reason", choices=REASONS, help="of big-mix: why rank 41 is late")
    parser.add_argument("--header", choices=("first", "last"), help="where baseTimeNanoseconds "
                        "stands: before the events, or after them, where a cut file loses it")
    options = parser.parse_args(arguments)
    if options.scenario == "dirt":
        dirt.write(options.output)
        return 0
    scenario = BY_NAME[options.scenario](options)
    if options.header:
        scenario.header_first = options.header == "first"
    if scenario.ranks % (scenario.tp * scenario.pp) or scenario.ranks % scenario.hosts:
        parser.error(f"{scenario.ranks} ranks: expected a multiple of {scenario.hosts} hosts and "
                     f"of tensor {scenario.tp} x pipeline {scenario.pp}")
    disturbed = [*scenario.sleep_ns, *scenario.work, *scenario.device_factor, *scenario.cut]
    if max(disturbed, default=0) >= scenario.ranks:
        parser.error(f"{scenario.ranks} ranks: rank {max(disturbed)} has a part in "
                     f"{scenario.name}, so more are needed")
    truth = write_scenario(scenario, options.output)
    print(f"{len(truth['files'])} files in {options.output}", file=sys.stderr)
    return 0
