"""One decision in a study: whom to survey next by scout, whom to recruit by foresight, and why."""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Result

from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.networks import Network, load
from claim.networks.synthetic import retweet_like
from claim.selection import selector_named

REAL = ("israel", "damascus", "obama", "assad", "bhp", "kcs")
GENERATED = ("stars5", "stars6", "meadow5", "meadow6")
LARGE = 1000  # discovered people
TARGET = "a decision under 5 ms after five surveys; with its explanation under 100 ms where 1000 people are known"


def run() -> Result:
    result = Result("One decision, ms of processor time (shortest of several)", TARGET)
    for name in REAL if os.environ.get("CLAIM_DATA") else GENERATED:
        result.rows.append(_row(f"{name}, 5 surveys", _seen(load(name), surveyed=5)))
    network = retweet_like(2500, np.random.default_rng(2))
    result.rows.append(_row(f"retweet-like, {LARGE} people", _seen(network, people=LARGE)))
    return result


def _seen(network: Network, surveyed: int = 1000, people: int = 10**9) -> Discovered:
    """What a study by degree+inverse has discovered after some surveys, or once it knows so many people."""
    rng = np.random.default_rng(1)
    simulation = Simulation(network, rng.choice(network.n, 5, replace=False).tolist(), rng)
    for _ in surveys(simulation, policy_named("degree+inverse"), surveyed, rng):
        if len(simulation.discovered) >= people:
            break
    return simulation.discovered


def _row(what: str, seen: Discovered) -> dict[str, Any]:
    scout, selector = policy_named("scout"), selector_named("foresight")

    def explained() -> None:
        picked = selector.select(seen, 10, np.random.default_rng(0))
        selector.reasons(seen, picked)
        selector.expect(seen, picked, np.random.default_rng(0))

    def advised() -> None:
        person = scout.choose(seen, np.random.default_rng(0))[0]
        scout.reasons(seen, person)

    return {
        "study": what,
        "people": len(seen),
        "scout": _milliseconds(lambda: scout.choose(seen, np.random.default_rng(0))),
        "scout, why": _milliseconds(advised),
        "leaders": _milliseconds(lambda: selector.select(seen, 10, np.random.default_rng(0))),
        "leaders, why, range": _milliseconds(explained),
    }


def _milliseconds(work: Callable[[], Any], repeats: int = 15) -> float:
    work()
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return 1000 * min(taken)
