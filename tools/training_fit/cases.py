"""The configurations that are run: rows, scenarios and stacks put together."""
from . import judge, rows, scenario, stacks

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


def accepted(weir, folder):
    """(configurations that weir computes, those that it refuses)."""
    timed, _, _ = load(folder)
    seconds = weir.steps([(c, {}) for c in timed])
    return ([c for c, s in zip(timed, seconds) if s > 0],
            [c for c, s in zip(timed, seconds) if not s > 0])
