"""Published memory beside Weir's: peaks of whole runs, and the parts that papers print."""
import re
import statistics

from . import judge, preset

METRICS = ("peak_mem_gb", "peak_mem_gib", "peak_mem_mb", "mem_params_optimizer_gib",
           "mem_activations_gib", "activation_mem_pct_of_baseline")
BYTES = {"peak_mem_gb": 1e9, "peak_mem_gib": 2**30, "peak_mem_mb": 1e6,
         "mem_params_optimizer_gib": 2**30, "mem_activations_gib": 2**30}
# What files mean by a peak: `allocated` by the framework, `reserved` by it (torchtitan prints
# max_reserved), or `total` of the device.
MEANS = {"torchtitan": "reserved", "vocab_parallel": "allocated", "zero_bubble": "allocated",
         "nanotron": "allocated", "bigscience_tr11": "total", "mlperf_v5_0": "allocated",
         "fsdp_misc": "allocated"}


def kind_of(row):
    """What is done with a row of a configuration without a step time."""
    metric = row["metric"]
    if metric in METRICS:
        return "memory, compared below"
    if metric.startswith("layer_"):
        return "times of a layer (`korthikanti` table 4): below"
    if metric.startswith("stage_T") or metric == "bubble_rate":
        return "passes and bubbles (`zero_bubble` tables 5, 9): [schedules](validation/schedules.md)"
    return f"not compared: {metric}"


def vocabulary_share(schedule):
    """Vocabulary parallelism, which Weir has no schedule for, keeps more micro-batches than the
    eight of 1F1B: two more (algorithm 1), one more (2), half as many more (interlaced); the
    paper on balancing pipelines with vocabulary parallelism, 2411.05288 (from memory)."""
    for name, more in (("vocab-1", 2 / 8), ("vocab-2", 1 / 8), ("interlaced", 1 / 2)):
        if name in schedule:
            return more
    return 0


def part(memory, row):
    metric = row["metric"]
    memory = dict(memory, reserved=memory["total"] - memory["context"])
    if metric == "mem_params_optimizer_gib":
        return memory["parameters"] + memory["gradients"] + memory["optimizer"]
    if metric == "mem_activations_gib":
        return memory["activations"]
    more = memory["activations"] * vocabulary_share(row["schedule"])
    return memory[MEANS.get(row["file"], "allocated")] + more


def compared(configs):
    """(row, published bytes, Weir's bytes)."""
    found = []
    for c in configs:
        memory = getattr(c, "answer", {}).get("memory_bytes")
        for row in c.rows:
            if memory and row["metric"] in BYTES and row["value"]:
                published = float(row["value"]) * BYTES[row["metric"]]
                found.append((c, row, published, part(memory, row)))
    return found


def section(engine, folder, timed, other):
    inside = [c for c in other if c.scenario]
    for c, answer in zip(inside, engine.run([preset.as_shipped(folder, c) for c in inside])):
        c.answer = answer
    found = compared(timed + inside)
    lines, every = [], []
    for name in sorted({(c.file, r["metric"]) for c, r, _, _ in found}):
        pairs = [(p, w) for c, r, p, w in found if (c.file, r["metric"]) == name]
        errors = [abs(w / p - 1) for p, w in pairs]
        every += errors
        median, _, p90 = judge.spread(errors)
        bias = statistics.median(w / p - 1 for p, w in pairs)
        lines.append(f"| `{name[0]}` | {name[1]} | {len(pairs)} | {median * 100:.1f} / "
                     f"{p90 * 100:.1f} | {bias * 100:+.0f} |")
    if not every:
        return "Weir printed no memory.\n"
    over = [c for c in timed if c.answer.get("memory_bytes") and
            c.answer["memory_bytes"]["total"] > c.answer["memory_bytes"]["capacity"]]
    files = sorted({c.file for c in over})
    names = ", ".join(f"`{f}` {sum(c.file == f for c in over)}" for f in files)
    return ("| file | figure | rows | error, % | bias, % |\n|---|---|---|---|---|\n" +
            "\n".join(lines) + f"\n\nAll: median {statistics.median(every) * 100:.1f} % (goal 8)."
            f" Runs that took place and that Weir takes not to fit: {len(over)} of {len(timed)}" +
            (f" ({names})" if over else "") + " (goal 0).\n" + layer_text(engine, inside))


def layer_text(engine, inside):
    """Korthikanti, table 4: a layer both ways, as a model of 48 layers less one of 47."""
    rows = [(c, float(r["value"])) for c in inside for r in c.rows
            if r["metric"] == "layer_fwd_bwd_time"]
    jobs = []
    for c, _ in rows:
        for layers in (48, 47):
            stack = dict({"preset": c.stack, "optimizer_bytes": 0}, **c.facts)
            jobs.append(dict(c.scenario, stack=stack, model=dict(c.scenario["model"],
                                                                layers=layers)))
    answers = engine.run(jobs)
    lines = []
    for i, (c, published) in enumerate(rows):
        pair = [a.get("step_s") for a in answers[2 * i:2 * i + 2]]
        if all(pair):
            what = re.sub(r".*22B: ", "", c.note)
            ours = (pair[0] - pair[1]) * 1e3
            lines.append(f"| {what} | {published:g} | {ours:.1f} | "
                         f"{(ours / published - 1) * 100:+.1f} |")
    head = ("\nA layer of the 22B model on 8 A100, forward and backward, ms (`korthikanti`, table "
            "4):\n\n| | published | Weir | error, % |\n|---|---|---|---|\n")
    return head + "\n".join(lines) + "\n" if lines else ""
