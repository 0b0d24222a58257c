"""calibration.csv: rows, what row_notes.csv makes of them, and the configurations behind them.

A configuration is what several rows (step time, MFU, memory ...) of one file say about one run.
"""
import csv
import hashlib
import re

# Columns that say what was run; the rest is where it was published and what was read off.
PLAN = ("model", "layers", "hidden", "ffn", "heads", "kv_heads", "head_dim", "vocab", "seq",
        "experts", "topk", "shared_experts", "moe_ffn", "gpu", "n_gpus", "gpus_per_node", "nic",
        "tp", "pp", "vpp", "dp", "cp", "ep", "etp", "zero_stage", "micro_batch", "global_batch",
        "recompute", "precision", "seq_parallel", "overlap", "schedule")
PEAK = {"nanotron": 989.4e12, "vocab_parallel": 312e12, "korthikanti": 312e12}  # of a printed MFU
MEMORY = ("peak_mem_gb", "peak_mem_gib", "mem_params_optimizer_gib", "mem_activations_gib",
          "activation_mem_pct_of_baseline", "peak_mem_mb")
INSIDE = ("layer_fwd_time", "layer_bwd_time", "layer_fwd_bwd_time", "stage_TF", "stage_TB",
          "stage_TW", "stage_Tcomm", "bubble_rate")


def integer(text, default=0):
    return int(float(text)) if text else default


def read(folder):
    """(rows of grade A and B after the regrades, rows of grade C)."""
    regrades, notes = {}, {}
    with open(folder / "row_notes.csv", encoding="utf-8", newline="") as source:
        for note in csv.DictReader(source):
            notes.setdefault(int(note["row"]), []).append((note["severity"], note["reason"]))
            if note["severity"].startswith("regrade"):
                regrades[int(note["row"])] = note["severity"][-1]
    kept, left = [], []
    with open(folder / "calibration.csv", encoding="utf-8", newline="") as source:
        for line, row in enumerate(csv.DictReader(source), start=2):
            row["row"] = line
            row["notes"] = notes.get(line, [])
            row["grade"] = regrades.get(line, row["grade"])
            (kept if row["grade"] in "AB" else left).append(row)
    return kept, left


class Config:
    """One published run: its columns, its rows, and its step time if one follows from them."""

    def __init__(self, rows):
        self.rows = rows
        self.row = rows[0]
        self.file = self.row["file"]
        self.grade = self.row["grade"]
        self.note = self.row["note"]
        self.line = self.row["row"]
        self.source = source_of(self.row)
        plan = "|".join(self.row[c] for c in PLAN)
        self.hash = int(hashlib.sha256(plan.encode()).hexdigest()[:12], 16)
        self.is_moe = bool(self.row["experts"])
        self.gpus = integer(self.row["n_gpus"])
        self.printed, self.step_s = step_time(self)
        self.scenario = self.stack = None  # scenario.py, stacks.py
        self.filled = []  # what the columns left blank, and what it was taken to be

    def __getitem__(self, column):
        return self.row[column]

    def number(self, column, default=0):
        return integer(self.row[column], default)

    def suspect(self):
        return [reason for severity, reason in self.row["notes"] if severity == "suspect"]

    def tokens(self):
        return self.number("global_batch") * self.number("seq")


def source_of(row):
    """What is judged and left out as one: a file; its mixtures and its JAX rows apart."""
    name = row["file"]
    if name.startswith("mbridge") and row["experts"]:
        return name + "/moe"
    if name == "dgxc_benchmarking" and "JAX" in row["framework"]:
        return name + "/jax"
    return name


def configs(rows):
    groups = {}
    for row in rows:
        note = re.sub(r"mean of \d+ runs|; step:.*?;", "", row["note"])
        key = (row["file"], row["source"], row["framework"], row["date"], note) + tuple(
            row[c] for c in PLAN)
        groups.setdefault(key, []).append(row)
    made = []
    for members in groups.values():
        values = [r for r in members if r["metric"] == "step_time"]
        if len(values) > 1:  # the same columns measured twice: a configuration each
            rest = [r for r in members if r["metric"] != "step_time"]
            made += [Config([v] + (rest if v is values[0] else [])) for v in values]
        else:
            made.append(Config(members))
    return made


# --- step time of what is printed ---

def dense_flop(row, attention, head, factor):
    """factor x T (24 h^2 + ...) of a GPT: the formulas of the Megatron papers."""
    h, s, layers = integer(row["hidden"]), integer(row["seq"]), integer(row["layers"])
    batch, vocab = integer(row["global_batch"]), integer(row["vocab"], 51200)
    return factor * batch * s * layers * h * h * (1 + s / (attention * h) +
                                                  vocab / (head * layers * h))


def llama_flop(row, causal):
    """Model FLOPs of a step of a gated or plain model with grouped heads."""
    h, s, layers = integer(row["hidden"]), integer(row["seq"]), integer(row["layers"])
    d = integer(row["head_dim"]) or h // integer(row["heads"])
    heads, kv = integer(row["heads"]), integer(row["kv_heads"]) or integer(row["heads"])
    gated = 3 if re.match(r"(?i)llama|qwen|mistral", row["model"]) else 2
    layer = 2 * h * d * (heads + 2 * kv) + 2 * heads * d * h + 2 * gated * h * integer(row["ffn"])
    attention = 4 * heads * d * s * (0.5 if causal else 1)
    return 3 * integer(row["global_batch"]) * s * (layers * (layer + attention) +
                                                   2 * h * integer(row["vocab"], 51200))


def deepseek_flop(row):
    return 250.5e9 * integer(row["global_batch"]) * integer(row["seq"])  # training-model.md 13


def rate_to_seconds(config, metric, value):
    """Of a printed FLOP rate or MFU whose formula the file states; None where it is of no use."""
    row, gpus = config.row, config.gpus
    if config.file == "megatron_sc21" and metric == "hw_tflops_per_gpu":
        return dense_flop(row, 6, 16, 96) / (gpus * value * 1e12)
    if config.file == "fsdp_misc" and metric == "hw_tflops_per_gpu":
        return dense_flop(row, 6, 16, 96) / (gpus * value * 1e12)
    if config.file == "fsdp_misc" and metric == "model_tflops_per_gpu":
        return llama_flop(row, True) / (gpus * value * 1e12)
    if config.file in ("korthikanti", "vocab_parallel") and metric == "mfu":
        return dense_flop(row, 6, 12, 72) / (gpus * value / 100 * PEAK[config.file])
    if config.file == "nanotron" and metric == "mfu":
        return llama_flop(row, False) / (gpus * value / 100 * PEAK[config.file])
    if config["model"] == "DeepSeek-V3" and metric == "model_tflops_per_gpu":
        return deepseek_flop(row) / (gpus * value * 1e12)
    return None


def step_time(config):
    """(metric that it is from, seconds of a step), or (None, None)."""
    found = {r["metric"]: float(r["value"]) for r in config.rows if r["value"]}
    tokens, gpus = config.tokens(), config.gpus
    batch = config.number("global_batch")
    direct = (("step_time", lambda v: v), ("tokens_per_s", lambda v: tokens / v),
              ("tokens_per_s_per_gpu", lambda v: tokens / (v * gpus)),
              ("samples_per_s", lambda v: batch / v),
              ("samples_per_s_per_gpu", lambda v: batch / (v * gpus)))
    for metric, seconds in direct:
        if metric in found and tokens:
            return metric, seconds(found[metric])
    for metric, value in found.items():
        seconds = rate_to_seconds(config, metric, value) if value else None
        if seconds:
            return metric, seconds
    return None, None
