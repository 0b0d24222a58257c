"""Presets of kernel times as text."""

KEYS = ("depth", "diagonal", "tail", "sustained", "burst", "heating", "memory", "split_traffic",
        "accumulate", "misaligned",
        "tile", "blocks", "dim_step", "traffic", "fp8", "share", "bytes", "steady", "attention")
TIMES = ("fixed", "split")


def number(value):
    return f"{value:.3g}" if not isinstance(value, int) else str(value)


def seconds(value):
    return f"{value * 1e6:.3g} us"


def _section(law, source, error, indent):
    pad = " " * indent
    lines = []
    if "tiles" in law:
        lines.append(f"{pad}tiles:")
        lines += [f"{pad}  - [{r}, {c}, {s}, {number(share)}]" for r, c, s, share in law["tiles"]]
    if "dims" in law:
        lines.append(f"{pad}dims: [" +
                     ", ".join(f"[{d}, {number(s)}]" for d, s in law["dims"]) + "]")
    lines += [f"{pad}{key}: {number(law[key])}" for key in KEYS if key in law]
    lines += [f"{pad}{key}: {seconds(law[key])}" for key in TIMES if key in law]
    if error:
        lines.append(f"{pad}left: {{rows: {error['rows']}, median: {error['median']:.3f}, "
                     f"p90: {error['p90']:.3f}}}")
    lines.append(f"{pad}source: {source}")
    return lines


class Preset:
    """sections: path -> (law, source, error or None), in order of first use."""

    def __init__(self, basis, like=None, about=()):
        self.basis, self.like, self.about = basis, like, about
        self.sections, self.sources = {}, {}

    def add(self, path, law, source, error=None):
        self.sections[tuple(path)] = (law, source, error)

    def source(self, key, what, confidence):
        self.sources[key] = (what, confidence)

    def text(self):
        lines = ["# Written by tools/fit-kernels: docs/model/kernels.md says what the keys stand for."]
        lines += [f"# {line}" for line in self.about]
        lines += [f"basis: {self.basis}"]
        lines += [f"like: {self.like}"] if self.like else []
        open_path = ()
        for path in sorted(self.sections, key=self._order):
            shared = 0
            while (shared < len(path) and shared < len(open_path) and
                   path[shared] == open_path[shared]):
                shared += 1
            lines += ["  " * i + path[i] + ":" for i in range(shared, len(path))]
            lines += _section(*self.sections[path], indent=2 * len(path))
            open_path = path
        lines.append("sources:")
        used = [s[1] for s in self.sections.values()]
        lines += [f"  {key}: {{what: '{what}', confidence: {confidence}}}"
                  for key, (what, confidence) in self.sources.items() if key in used]
        return "\n".join(lines) + "\n"

    def _order(self, path):
        tops = ("gemm", "grouped", "attention", "memory", "power", "quantise")
        inner = ("fp32", "tf32", "bf16", "fp8", "fp8-block", "fp4", "unfused", "flash1", "triton", "flash2",
                 "flash3", "cudnn")
        return (tops.index(path[0]), [inner.index(p) if p in inner else p == "backward"
                                      for p in path[1:]])
