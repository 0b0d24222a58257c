"""presets/stacks: constants read from and written into files whose facts are edited by hand."""
import re

from .engine import CONSTANTS, text_of, with_constants

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
        if key != "fit":
            lines.append(line)
    rows, median, p90 = left
    lines.append(f"fit: {{of: [{', '.join(found)}], rows: {rows}, median: {median:.3f}, "
                 f"p90: {p90:.3f}, source: tools/fit-training on data/training/calibration.csv, "
                 "confidence: fitted}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_bands(path, bands):
    """The error that a headline names: stratum -> (90th percentile, runs)."""
    lines = ["# How far steps that were published are from those that Weir calculates: the error "
             "that 90 % of the", "# rows of a stratum stay within, a whole source left out "
             "(docs/accuracy.md). Written by", "# tools/fit-training.", "strata:"]
    lines += [f"  {name}: {{error_p90: {p90:.3f}, rows: {rows}}}"
              for name, (p90, rows) in bands.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
