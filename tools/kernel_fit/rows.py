"""Measured kernels of ../shared/data/kernels as arrays, each row with the half that it is in."""
import csv
import hashlib
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


CHARTS = {("A100-80GB", "FA2"): ("a100-sxm-80gb", "flash2"), ("H100-SXM", "FA2"): ("h100-sxm", "flash2"),
          ("H100-SXM", "FA3"): ("h100-sxm", "flash3"), ("H100-SXM", "cuDNN"): ("h100-sxm", "cudnn")}


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
