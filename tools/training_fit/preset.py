"""presets/stacks: constants read from and written into files whose facts are edited by hand."""
import math
import re

from .engine import CONSTANTS, text_of, with_constants

# Constants where a stack's rows do not tell them.
NOT_FITTED = {"gemm_factor": "1", "attention_factor": "1", "memory_factor": "1",
              "tensor_factor": "1", "data_factor": "1", "expert_factor": "1",
              "overlap_slowdown": "0.1", "micro_batch_time": "0 ms", "step_time": "0 ms",
              "expert_sync": "500 us", "jitter": "0.004"}


def path_of(folder, stack):
    return folder / f"{stack}.yaml"


def constants(folder, stack):
    """key -> number in the unit of the text, of the constants that the file has."""
    found = {}
    text = path_of(folder, stack).read_text(encoding="utf-8")
    for key, unit in CONSTANTS.items():
        line = re.search(rf"^{key}: ([-\d.eE+]+)(?: {unit})?", text, re.M)
        if line:
            found[key] = float(line.group(1))
    return found


def as_shipped(folder, config):
    """The configuration's scenario with its preset's own constants."""
    own = constants(folder, config.stack) if config.shares else {}
    return with_constants(config, {key: own[key] for key in config.shares})


def rounded(value):
    return float(f"{value:.3g}")


def write(folder, stack, found, left):
    """found: the fitted constants; left: (rows, median, 90th percentile) of what the fit left."""
    path = path_of(folder, stack)
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        key = line.split(":")[0]
        if key in found:
            line = f"{key}: {text_of(key, rounded(found[key]))}"
        elif key in NOT_FITTED:  # what an earlier fit may have left
            line = f"{key}: {NOT_FITTED[key]}"
        if key != "fit":
            lines.append(line)
    rows, median, p90 = left
    lines.append(f"fit: {{of: [{', '.join(found)}], rows: {rows}, median: {median:.3f}, "
                 f"p90: {p90:.3f}, source: tools/fit-training on data/training/calibration.csv, "
                 "confidence: fitted}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_generic(folder, generic, found):
    """Constants that fitted stacks have in common, where at least two of them were fitted."""
    for stack, members in generic.items():
        values = {}
        for member in members:
            for key, value in found.get(member, {}).items():
                values.setdefault(key, []).append(value)
        common = {k: math.exp(sum(map(math.log, v)) / len(v)) for k, v in values.items()
                  if len(v) > 1 and k.endswith("_factor")}
        path = path_of(folder, stack)
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            key = line.split(":")[0]
            if key in common:
                line = f"{key}: {text_of(key, rounded(common[key]))}"
            if key != "fit":
                lines.append(line)
        lines.append(f"fit: {{of: [{', '.join(common)}], mean_of: [{', '.join(members)}], "
                     "source: tools/fit-training, confidence: derived}")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
