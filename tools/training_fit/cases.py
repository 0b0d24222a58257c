"""The configurations that are run: rows, scenarios and stacks put together."""
from . import judge, rows, scenario, stacks
from .engine import with_constants


def prepare(config):
    config.stack = stacks.stack_of(config)
    config.facts = stacks.facts(config)
    config.shares = stacks.shares(config)
    config.scenario = scenario.make(config)
    plan = config.scenario["plan"]
    if plan["zero"] == 3:  # FSDP beside pipeline stages keeps what it has gathered
        plan["accumulates_sharded"] = plan["regathers"] = plan["pipeline"] == 1
    return config


def load(folder):
    """(configurations with a step time, those compared otherwise, rows of grade C)."""
    kept, left = rows.read(folder)
    timed, other = [], []
    for config in rows.configs(kept):
        if any(r["metric"].startswith("stage_T") or r["metric"] == "bubble_rate"
               for r in config.rows):
            other.append(config)  # of the schedule alone
            continue
        prepare(config)
        if config.step_s:
            config.mfu = judge.utilisation(config)
            timed.append(config)
        else:
            other.append(config)
    return timed, other, left


SHARES = (0.25, 0.5, 0.75, 1)


def fill_offload(weir, timed):
    """Runs whose rows do not say what they computed again or moved to the host, and that would not
    fit: the least share of activations on the host with which they do."""
    blank = [c for c in timed if c["recompute"] == "" and "offload_share" not in
             c.scenario["plan"]]
    for share in SHARES:
        answers = weir.run([with_constants(c, {}) for c in blank])
        blank = [c for c, a in zip(blank, answers) if a.get("fits") is False]
        for c in blank:
            c.scenario["plan"]["offload_share"] = share
    for c in timed:
        share = c.scenario["plan"].get("offload_share")
        if c["recompute"] == "" and share in SHARES:
            c.filled.append(f"activations on the host: {share * 100:.0f} %")


def accepted(weir, folder):
    """(configurations that weir computes, those that it refuses)."""
    timed, _, _ = load(folder)
    fill_offload(weir, timed)
    seconds = weir.steps([(c, {}) for c in timed])
    return ([c for c, s in zip(timed, seconds) if s > 0],
            [c for c, s in zip(timed, seconds) if not s > 0])
