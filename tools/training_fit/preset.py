"""presets/stacks: constants read from and written into files whose facts are edited by hand."""
import re

from .engine import CONSTANTS, text_of, with_constants

START = "# Constants: written by tools/fit-training."


def path_of(folder, stack):
    return folder / f"{stack}.yaml"


def constants(folder, stack):
    """key -> number in the unit of the text, of the constants that the file has."""
    found = {}
    text = path_of(folder, stack).read_text(encoding="utf-8")
    for key, unit in CONSTANTS.items():
        line = re.search(rf"^{key}: (?:{{value: )?([-\d.eE+]+)(?: {unit})?", text, re.M)
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
            line = f"{key}: {{value: {text_of(key, rounded(found[key]))}, source: fit}}"
        elif key in CONSTANTS and "source: fit" in line:
            line = re.sub(r"\{value: ([^,]+), source: fit\}", r"\1", line)
        if key not in ("left", "sources") and not line.startswith("  fit: "):
            lines.append(line)
    rows, median, p90 = left
    lines += [f"left: {{rows: {rows}, median: {median:.3f}, p90: {p90:.3f}}}", "sources:",
              f"  fit: {{what: 'tools/fit-training on {rows} rows of "
              "data/training/calibration.csv', confidence: fitted}"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
