"""Errors, strata, contrasts and rank correlations of predicted step times."""
import math
import re
import statistics

from . import rows as published
from .scenario import accelerator, precision

PEAKS = {"a100": 312e12, "h100": 989.4e12, "h200": 989.4e12, "h800": 989.4e12, "b200": 2250e12,
         "b300": 2250e12, "gb200": 2500e12, "gb300": 2500e12}


def error(config, seconds):
    """|prediction / measurement - 1|."""
    return abs(seconds / config.step_s - 1)


def quantile(values, share):
    """Linear between order statistics."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def spread(values):
    """(median, mean, 90th percentile)."""
    if not values:
        return math.nan, math.nan, math.nan
    return statistics.median(values), sum(values) / len(values), quantile(values, 0.9)


# --- floating point operations, for the null model ---

def model_flop(config):
    row = config.row
    if config["model"].startswith("DeepSeek"):
        return published.deepseek_flop(row)
    if config.is_moe:
        active = dict(row, ffn=config.number("topk") * config.number("moe_ffn"))
        return published.llama_flop(active, True)
    return published.llama_flop(row, True)


def hardware_flop(config):
    return model_flop(config) * (4 / 3 if config["recompute"] == "full" else 1)


def utilisation(config):
    """Model FLOPs over the peak of 16-bit products, whatever the run's format."""
    return model_flop(config) / (config.step_s * config.gpus *
                                 PEAKS[accelerator(config).split("-")[0]])


def precision_of(config):
    kept = list(config.filled)
    found = precision(config)
    config.filled[:] = kept
    return found


def null_model(configs):
    """Seconds from one FLOP rate for each file, GPU and format: the median rate of the others."""
    groups = {}
    for c in configs:
        key = (c.file, c["gpu"], precision_of(c))
        groups.setdefault(key, []).append(c)
    made = {}
    for members in groups.values():
        rates = {c.line: hardware_flop(c) / (c.step_s * c.gpus) for c in members}
        for c in members:
            others = [r for line, r in rates.items() if line != c.line] or [rates[c.line]]
            made[c.line] = hardware_flop(c) / (c.gpus * statistics.median(others))
    return made


# --- strata ---

def is_vtrain_single(c):
    return c.file == "vtrain_single"


STRATA = (  # name, members, goals half/half and left out (percent; None: none)
    ("grade A, MFU > 20 %", lambda c: c.grade == "A" and c.mfu > 0.2, (3, 10), (6, 18)),
    ("dense", lambda c: not is_vtrain_single(c) and not c.is_moe, (3, 10), (6, 15)),
    ("mixture of experts", lambda c: c.is_moe, (6, 15), (12, 25)),
    ("pipeline stages > 1", lambda c: not is_vtrain_single(c) and c.number("pp") > 1, (4, 12),
     (6, 15)),
    ("≥ 512 GPUs", lambda c: c.gpus >= 512, (3.5, 12), (6, 15)),
    ("FP8", lambda c: precision_of(c).startswith("fp8"), (4, 12), (5, 13)),
    ("FP4", lambda c: precision_of(c) == "fp4", (6, 15), (8, 18)),
    ("grade B without vtrain_single", lambda c: c.grade == "B" and not is_vtrain_single(c),
     (5, 20), (8, 22)),
    ("vtrain_single (launch-bound)", is_vtrain_single, (7, 18), (11, 20)),
    ("grade A, all", lambda c: c.grade == "A", None, None),
    ("grade A dense, MFU > 20 %", lambda c: c.grade == "A" and not c.is_moe and c.mfu > 0.2, None,
     None),
    ("grade A mixtures, MFU > 20 %", lambda c: c.grade == "A" and c.is_moe and c.mfu > 0.2, None,
     None),
    ("one stage", lambda c: not is_vtrain_single(c) and c.number("pp", 1) <= 1, None, None),
    ("uneven stages", lambda c: not is_vtrain_single(c) and c.number("pp") > 1 and
     c.number("layers") % (c.number("pp") * (c.number("vpp", 1) or 1)) != 0, None, None),
    ("≤ 64 GPUs", lambda c: not is_vtrain_single(c) and c.gpus <= 64, None, None),
    ("65 to 511 GPUs", lambda c: 64 < c.gpus < 512, None, None),
    ("≥ 2,048 GPUs", lambda c: c.gpus >= 2048, None, None),
    ("16 bits", lambda c: not is_vtrain_single(c) and precision_of(c) == "bf16", None, None),
    ("A100", lambda c: not is_vtrain_single(c) and c["gpu"].startswith("A100"), None, None),
    ("H100", lambda c: c["gpu"].startswith("H100") and "500W" not in c["gpu"], None, None),
    ("H100 of 500 W", lambda c: "500W" in c["gpu"], None, None),
    ("B200, GB200", lambda c: "B200" in c["gpu"], None, None),
    ("B300, GB300", lambda c: "B300" in c["gpu"], None, None),
    ("full recomputation", lambda c: not is_vtrain_single(c) and c["recompute"] == "full", None,
     None),
    ("ZeRO 3, FSDP", lambda c: c["zero_stage"] == "3", None, None),
    ("context > 1", lambda c: c.number("cp") > 1, None, None),
    ("MFU ≤ 20 %", lambda c: not is_vtrain_single(c) and c.mfu <= 0.2, None, None),
)


# --- contrasts ---

CONTRASTS = (  # name, columns that may differ, goal (percent) of the median and the 90th percentile
    ("schedule", {"schedule", "vpp"}, (2, 6)),
    ("micro-batch", {"micro_batch"}, (5, 15)),
    ("layout of TP, PP, DP", {"tp", "pp", "dp", "micro_batch"}, (8, 25)),
    ("recomputation", {"recompute", "seq_parallel"}, None),
    ("precision", {"precision"}, (4, 10)),
    ("GPU count, weak", {"n_gpus", "dp", "global_batch"}, None),
    ("GPU count, strong", {"n_gpus", "dp"}, None),
    ("sequence", {"seq", "micro_batch", "global_batch"}, None),
    ("vocabulary", {"vocab"}, None),
    ("ZeRO, overlap", {"zero_stage", "overlap"}, None),
    ("accelerator", {"gpu", "nic"}, None),
    ("accumulation", {"global_batch"}, None),
)
REQUIRED = {"schedule": "schedule", "layout of TP, PP, DP": ("tp", "pp"), "recomputation":
            "recompute", "GPU count, weak": "n_gpus", "GPU count, strong": "n_gpus",
            "sequence": "seq", "accelerator": "gpu"}


def pairs(configs, columns, needed):
    """Pairs of one file whose plans differ in those columns alone, one of the needed included."""
    needed = (needed,) if isinstance(needed, str) else needed
    rest = [c for c in published.PLAN if c not in columns]
    groups = {}
    for c in configs:
        if is_vtrain_single(c) and c.mfu <= 0.2:
            continue  # 840 launch-bound runs would drown the rest
        key = (c.file, c["framework"], variant(c)) + tuple(c[column] for column in rest)
        groups.setdefault(key, []).append(c)
    found = []
    for members in groups.values():
        for i, a in enumerate(members):
            for b in members[i + 1:]:
                if any(a[column] != b[column] for column in needed):
                    found.append((a, b))
    return found


def variant(c):
    """What notes say that columns do not: eager, graphs, repetitions of a table."""
    if c.file in ("zero_bubble", "vocab_parallel", "llm_foundry", "korthikanti"):
        return ""
    if c.file == "bigscience_tr11":
        return "after PCIe" in c.note, "partition type" in c.note
    note = re.sub(r"config \S+|grad_accum=[\d.]+|local batch \d+|global_batch=\S+", "", c.note)
    return note[:60]


def weak(a, b):
    return a.number("global_batch") * b.gpus == b.number("global_batch") * a.gpus


def contrast(name, columns, configs):
    found = pairs(configs, columns, REQUIRED.get(name, tuple(columns)))
    if name == "GPU count, weak":
        found = [(a, b) for a, b in found if weak(a, b)]
    if name == "sequence":
        found = [(a, b) for a, b in found if a.tokens() and b.tokens()]
    return found


def log_ratio(a, b, seconds):
    return math.log(seconds[a.line] / seconds[b.line])


def judge_contrast(found, predicted, null):
    """(effects, errors, errors of the null model, pairs in the right order, pairs 5 % apart)."""
    effects, errors, nulls, right, apart = [], [], [], 0, 0
    for a, b in found:
        measured = math.log(a.step_s / b.step_s)
        effects.append(abs(measured))
        nulls.append(abs(math.log(hardware_flop(a) / a.gpus / (hardware_flop(b) / b.gpus)) -
                         measured))
        for seconds in predicted:
            if a.line in seconds and b.line in seconds:
                guess = log_ratio(a, b, seconds)
                errors.append(abs(guess - measured))
                if abs(measured) > 0.05:
                    apart += 1
                    right += guess * measured > 0
    return effects, errors, nulls, right, apart


# --- ranks ---

def by_model(c):
    return c["model"]


SWEEPS = (  # name, members, groups, goal
    ("vtrain_single by model and batch", is_vtrain_single,
     lambda c: (c["model"], c["global_batch"]), 0.95),
    ("zero_bubble by model", lambda c: c.file == "zero_bubble", by_model, 0.95),
    ("vocab_parallel", lambda c: c.file == "vocab_parallel", lambda c: 0, 0.95),
    ("llm_foundry by GPU and model", lambda c: c.file == "llm_foundry",
     lambda c: (c["gpu"], c["model"]), 0.95),
    ("mbridge by release", lambda c: c.file.startswith("mbridge"), lambda c: c.file, 0.95),
    ("vtrain_multi by model", lambda c: c.file == "vtrain_multi", by_model, 0.8),
    ("bigscience, 384 GPUs", lambda c: c.file == "bigscience_tr11" and c.gpus == 384, lambda c: 0,
     0.75),
    ("bigscience by model", lambda c: c.file == "bigscience_tr11", by_model, None),
    ("megatron_sc21", lambda c: c.file == "megatron_sc21", lambda c: 0, None),
    ("nanotron by model", lambda c: c.file == "nanotron", by_model, None),
    ("torchtitan by model", lambda c: c.file == "torchtitan", by_model, None),
)


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    found = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            found[order[k]] = (i + j) / 2
        i = j + 1
    return found


def spearman(a, b):
    x, y = ranks(a), ranks(b)
    mx, my = sum(x) / len(x), sum(y) / len(y)
    sxy = sum((p - mx) * (q - my) for p, q in zip(x, y))
    sx, sy = sum((p - mx) ** 2 for p in x), sum((q - my) ** 2 for q in y)
    return sxy / math.sqrt(sx * sy) if sx and sy else math.nan


def sweep(configs, seconds, group):
    """Spearman's coefficient of GPU-seconds of a token in each group of four and more."""
    groups = {}
    for c in configs:
        groups.setdefault(group(c), []).append(c)
    rate = lambda c, s: s * c.gpus / c.tokens() if c.tokens() else s
    return [spearman([rate(c, c.step_s) for c in g], [rate(c, seconds[c.line]) for c in g])
            for g in groups.values() if len(g) >= 4]
