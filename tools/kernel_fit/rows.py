"""Measured kernels of ../shared/data/kernels as arrays, each row with the half that it is in."""
import csv
import gzip
import hashlib
import json
import os
from pathlib import Path

import numpy as np

from .machine import ROOT

ACCELERATORS = {"a100_sxm": "a100-sxm-80gb", "h100_sxm": "h100-sxm", "b200_sxm": "b200-sxm",
                "gb200": "gb200"}
FORMATS = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8-block", "nvfp4": "fp4"}


def folder():
    """Where the measurements are: $WEIR_KERNELS, or beside the checkout."""
    return Path(os.environ.get("WEIR_KERNELS", ROOT.parent / "shared" / "data" / "kernels"))


def half(*shape):
    """0 or 1, of a shape whichever accelerator and format it was measured on."""
    return hashlib.sha256(",".join(str(v) for v in shape).encode()).digest()[0] & 1


def read(name):
    with open(folder() / name, newline="") as file:
        return list(csv.DictReader(file))


def columns(found, names):
    return {name: np.array([row[i] for row in found]) for i, name in enumerate(names)}


def gemm():
    """(accelerator, format) -> m, n, k, s, half."""
    found = {}
    for r in read("aic_gemm.csv"):
        m, n, k = int(r["m"]), int(r["n"]), int(r["k"])
        key = ACCELERATORS.get(r["gpu"]), FORMATS[r["dtype"]]
        if key[0]:
            found.setdefault(key, []).append(
                (m, n, k, float(r["latency_ms"]) * 1e-3, half(m, n, k)))
    return {key: columns(v, ("m", "n", "k", "s", "half")) for key, v in found.items()}


ATTENTION = ("sequences", "heads", "kv_heads", "queries", "keys", "qk_dim", "value_dim", "pairs",
             "s", "half")


def attention():
    """accelerator -> shapes, s, half; causal, forward, with what writes Q, K and V."""
    found = {}
    for r in read("aic_attention_fwd.csv"):
        b, n, h, kv, d = (int(r[c]) for c in ("batch", "seq", "heads", "kv_heads", "head_dim"))
        if r["gpu"] in ACCELERATORS:
            found.setdefault(ACCELERATORS[r["gpu"]], []).append(
                (b, h, kv, n, n, d, d, n * (n + 1) / 2, float(r["latency_ms"]) * 1e-3,
                 half(b, n, h, kv, d)))
    return {key: columns(v, ATTENTION) for key, v in found.items()}


CHARTS = {("A100-80GB", "FA2"): ("a100-sxm-80gb", "flash2"),
          ("H100-SXM", "FA2"): ("h100-sxm", "flash2"),
          ("H100-SXM", "FA3"): ("h100-sxm", "flash3"),
          ("H100-SXM", "cuDNN"): ("h100-sxm", "cudnn")}


def charts():
    """(accelerator, kernel, pass) -> shapes, s, half; of the bar charts of FlashAttention."""
    found = {}
    for r in read("flash_attention_charts.csv"):
        b, h, kv, n, d = (int(r[c]) for c in ("batch", "heads", "kv_heads", "seq_q", "head_dim"))
        causal = r["causal"] == "1"
        pairs = n * n / (2 if causal else 1)
        flop = 4 * pairs * d * b * h * (3.5 if r["pass"] == "fwd_bwd" else 1)
        key = CHARTS[r["gpu"], r["op"]] + (r["pass"],)
        found.setdefault(key, []).append(
            (b, h, kv, n, n, d, d, n * (n + 1) / 2 if causal else n * n,
             flop / (float(r["value"]) * 1e12), half(n, d, causal)))
    return {key: columns(v, ATTENTION) for key, v in found.items()}


# --- SimuMax: single kernels of a training step, on a hot device ---

SIMUMAX = {"a100-pcie-80gb": "a100_pcie.json", "b200-sxm": "b200_bf16_ceperm.json"}


def _simumax(accelerator, operation):
    """(settings, seconds for each FLOP) of each measured shape."""
    with open(folder() / "simumax" / SIMUMAX[accelerator]) as file:
        found = json.load(file)["accelerator"]["op"][operation]
    for text, share in found["accurate_efficient_factor"].items():
        yield (dict(part.split("=") for part in text.split(", ")),
               1 / (found["tflops"] * 1e12 * share))


def simumax_gemm(accelerator):
    found = []
    for at, s_per_flop in _simumax(accelerator, "matmul"):
        m, n, k = int(at["m"]), int(at["n"]), int(at["k"])
        found.append((m, n, k, at["accumulate"] == "True", 2.0 * m * n * k * s_per_flop))
    return columns(found, ("m", "n", "k", "accumulates", "s"))


def simumax_grouped(accelerator):
    """Forward and gradients of inputs; rows of all groups together."""
    found = []
    for at, s_per_flop in _simumax(accelerator, "group_matmul"):
        g, m, n, k = int(at["ng"]), int(at["M"]), int(at["N"]), int(at["K"])
        if at["stage"] != "bwd_grad_w" and at["main_grad_dtype"] == "fp32":
            found.append((g, g * m, n, k, 2.0 * g * m * n * k * s_per_flop))
    return columns(found, ("groups", "m", "n", "k", "s"))


def simumax_attention(accelerator, backward):
    """Causal; the published shares count all pairs."""
    found = []
    for at, s_per_flop in _simumax(accelerator, "sdp_bwd" if backward else "sdp_fwd"):
        b, n, h, kv, qk, v = (int(at[c]) for c in ("batch", "seq_len", "head_num", "kv_head_num",
                                                   "qk_head_dim", "v_head_dim"))
        if at["qkv_contiguous"] == "True":
            flop = 2.0 * n * n * (qk + v) * h * b * (2.5 if backward else 1)
            found.append((b, h, kv, n, n, qk, v, n * (n + 1) / 2, flop * s_per_flop,
                          half(n, h, kv, qk)))
    return columns(found, ATTENTION)


# --- memory ---

STREAM = {"A100-80GB": "a100-sxm-80gb", "H100-80GB": "h100-sxm", "H200": "h200-sxm"}


def stream():
    """accelerator -> bytes/s of copy, mul, add and triad."""
    found = {}
    for r in read("gemm_peak.csv"):
        if r["op"] in ("hbm_copy", "hbm_mul", "hbm_add", "hbm_triad"):
            found.setdefault(STREAM[r["gpu"]], []).append(float(r["value"]) * 1e12)
    return found


def small_additions(gpu):
    """Seconds of adding up to eight rows: what a kernel costs that moves next to nothing."""
    seconds = []
    for path in sorted((folder() / "vidur/vidur/compute" / gpu).glob("*/*/mlp.csv.gz")):
        with gzip.open(path, "rt", newline="") as file:
            for r in csv.DictReader(file):
                if int(r["num_tokens"]) <= 8 and r["time_stats.add.median"]:
                    seconds.append(float(r["time_stats.add.median"]) * 1e-3)
    return np.array(seconds)


# --- grouped products ---

UNGATED = {(2688, 1856), (2048, 5120), (8192, 5120)}  # hidden, inter: without a gate
MOE = ("m", "hidden", "inter", "up", "groups", "parts", "s", "half")


def moe():
    """(accelerator, format) -> balanced routing, at least 256 columns of an expert on a device; up:
    columns of the first product; parts: devices that share the experts, of which this has m rows if
    all have as many; with permutation and activation."""
    found = {}
    for r in read("aic_moe_fwd.csv"):
        n, h, i, k, e, tp, ep = (int(r[c]) for c in ("num_tokens", "hidden", "inter", "topk",
                                                     "experts", "moe_tp", "moe_ep"))
        if r["gpu"] in ACCELERATORS and r["distribution"] == "balanced" and i // tp >= 256:
            gate = 1 if (h, i) in UNGATED else 2
            found.setdefault((ACCELERATORS[r["gpu"]], FORMATS[r["dtype"]]), []).append(
                (n * k / ep, h, i // tp, gate * (i // tp), e // ep, ep,
                 float(r["latency_ms"]) * 1e-3, half(n, h, i, k, e, tp, ep)))
    return {key: columns(v, MOE) for key, v in found.items()}


def deepgemm():
    """H800, FP8 blocks: groups (0: not grouped), m of all groups, n, k, s; first revision."""
    found = {}
    for r in read("deepseek_kernels.csv"):
        if "GEMM" in r["op"]:
            m, n, k, g = int(r["m"]), int(r["n"]), int(r["k"]), int(r["batch"] or 0)
            s = 2.0 * m * n * k * max(1, g) / (float(r["value"]) * 1e12)
            found.setdefault((r["op"], m, n, k, g), s)
    return columns([(g, m * max(1, g), n, k, s) for (_, m, n, k, g), s in found.items()],
                   ("groups", "m", "n", "k", "s"))
