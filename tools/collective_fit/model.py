"""The model of src/collective/library_model.c once more, for fitting (the test of the presets runs
the C code; both agree to rounding). Figures are those of a preset: seconds, shares."""
import math

PROTOCOLS = ("ll", "ll128", "simple")


def bus_factor(kind, n):
    if kind == "all_reduce":
        return 2 * (n - 1) / n
    return (n - 1) / n if kind in ("all_gather", "reduce_scatter", "all_to_all") else 1


def doublings(count):
    return max(0, math.ceil(math.log2(count) - 1e-9))


def factors(shape, algorithm):
    """Bytes inside and between nodes per byte: the table of collective.h."""
    n, m, kind = shape["n"], shape["m"], shape["kind"]
    g, passes = n / m, 2 if kind == "all_reduce" else 1
    if algorithm == "ring":
        factor = bus_factor(kind, n)
        inside = 0 if g <= 1 else factor * ((g - 1) / g if m > 1 else 1)
        return inside, factor / g if m > 1 else 0
    if kind == "send_recv":
        return (0, 1) if m > 1 else (1, 0)
    if algorithm == "direct":
        return (g - 1) / n, (n - g) / n if m > 1 else 0
    in_switch = algorithm in ("nvls", "nvls_tree") or (algorithm == "sharp" and shape["nvls"])
    inside = (g + 1) / g if in_switch else passes * (g - 1) / g
    if m == 1:
        return inside, 0
    return inside, 1 / g if algorithm == "sharp" else min(2, m / 2) / g


def steps(shape, algorithm):
    n, m = shape["n"], shape["m"]
    g, passes = n / m, 2 if shape["kind"] == "all_reduce" else 1
    if algorithm == "ring":
        return (passes * (n - m), passes * (m - 1)) if m > 1 else (passes * (n - 1), 0)
    return {"direct": (0, 1 if m > 1 else 0), "tree": (passes * (g - 1), passes * doublings(m)),
            "nvls": (0, 0), "nvls_tree": (0, passes * doublings(m)),
            "sharp": (0 if shape["nvls"] else passes * (g - 1), passes)}[algorithm]


def candidates(shape, node, network):
    if shape["kind"] in ("all_to_all", "send_recv"):
        return [("direct", "exchange")]
    n, m = shape["n"], shape["m"]
    found = [("ring", p) for p in PROTOCOLS]
    if shape["kind"] != "all_reduce":
        return found
    if m > 1 and m <= network.get("tree_until", m):
        found += [("tree", p) for p in PROTOCOLS]
        if shape["nvls"] and n > m:
            found.append(("nvls_tree", "reduction"))
    if m == 1 and shape["nvls"] and n >= node.get("reduction_from", n + 1):
        found.append(("nvls", "reduction"))
    if shape["sharp"]:
        found.append(("sharp", "reduction" if shape["nvls"] else "simple"))
    return found


def seconds_of(shape, node, network, algorithm, way):
    n, m, size = shape["n"], shape["m"], shape["bytes"]
    inside, between = factors(shape, algorithm)
    hops_inside, hops_between = steps(shape, algorithm)
    latency = wire = step = fill = 0.0
    if n > m:
        if way not in node:
            return math.inf
        road = node[way]
        latency += road["base"] + hops_inside * road.get("hop", 0)
        share = road.get("between", road["efficiency"]) if m > 1 else road["efficiency"]
        wire = size * inside / (shape["node_rate"] * share)
        if algorithm == "ring" and way == "simple" and m == 1:
            wire += size / n * node.get("copy", 0)
        step, fill = road.get("step", 0), road.get("fill", 0)
    else:
        latency += network["base"]
    if m > 1:
        road = network.get("simple" if way == "reduction" else way)
        if road is None:
            return math.inf
        latency += hops_between * road["hop"]
        if shape["kind"] == "all_to_all":
            latency += (n - n / m) * road.get("message", 0)
        share = road["efficiency"]
        if algorithm in ("tree", "nvls_tree"):
            share = road.get("tree", share)
        elif algorithm == "sharp":
            share = road.get("reduction", share)
        wire = max(wire, size * between / (shape["network_rate"] * share))
        step, fill = road.get("step", 0), road.get("fill", 0)
    return latency + wire + 2 * math.sqrt(step * min(wire, fill))


def predict(shape, library):
    node = library["nodes"][shape["node"]]
    network = library["networks"][shape["network"]] if shape["network"] else None
    best = min(seconds_of(shape, node, network, a, w)
               for a, w in candidates(shape, node, network))
    caller = shape["caller"]
    if caller:
        best += library["callers"][caller] + (network or {}).get("callers", {}).get(caller, 0)
    return best


def straight_line(points):
    """The best t = a + b bytes through (bytes, seconds), least squares of relative errors: a, 1/b,
    mean and largest relative error. It gives the published lines of systems whose rows we have."""
    one = x = xx = y = xy = 0.0
    for size, seconds in points:
        weight = 1 / seconds**2
        one += weight
        x += weight * size
        xx += weight * size**2
        y += weight * seconds
        xy += weight * size * seconds
    slope = (one * xy - x * y) / (one * xx - x * x)
    start = (y - slope * x) / one
    errors = [abs((start + slope * size) / seconds - 1) for size, seconds in points]
    return start, 1 / slope, sum(errors) / len(errors), max(errors)
