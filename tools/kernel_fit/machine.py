"""Accelerators as presets/accelerators have them."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNITS = {"TFLOP/s": 1e12, "GB/s": 1e9, "TB/s": 1e12}
FORMATS = ("fp32", "tf32", "bf16", "fp8", "fp8-block", "fp4")
PEAK_OF = {"fp32": "fp32", "tf32": "tf32", "bf16": "bf16", "fp8": "fp8", "fp8-block": "fp8",
           "fp4": "fp4"}
OPERAND_BYTES = {"fp32": 4, "tf32": 4, "bf16": 2, "fp8": 1, "fp8-block": 1 + 4 / 128,
                 "fp4": 0.5 + 1 / 16}


class Machine:
    """peaks: FLOP/s by format; memory: bytes/s; sms."""

    def __init__(self, name):
        text = (ROOT / "presets" / "accelerators" / f"{name}.yaml").read_text()
        figure = lambda key: self._figure(text, key)
        self.name = name
        self.memory = figure("memory_bandwidth")
        found = re.search(r"^sm_count: (\d+)", text, re.M)
        self.sms = int(found.group(1)) if found else 1
        self.peaks = {f: figure("  " + PEAK_OF[f]) for f in FORMATS}

    @staticmethod
    def _figure(text, key):
        found = re.search(rf"^{key}: {{value: ([\d.e+]+) ([A-Z]+(?:/s)?)", text, re.M)
        return float(found.group(1)) * UNITS[found.group(2)] if found else 0.0
