"""Studies of 10^4 surveys on a network of 10^6 people and 5 * 10^6 ties: seconds, growth, memory, time of a decision.

Each study has a process of its own. ``growth`` is the exponent of the processor time over the number of surveys, from
the row above to this one.
"""

import json
import math
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from measure import Result, hub_network, peak_megabytes, random_network

from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.networks import Network
from claim.selection import selector_named

KINDS = {"random": random_network, "hubs": hub_network}
PEOPLE, TIES = 1_000_000, 5_000_000
SURVEYS = (1000, 3000, 10_000)
RULES = ("random", "random-class", "change", "snowball", "degree+inverse", "max-contact", "scout")
CASES = [*(("random", rule) for rule in RULES), ("hubs", "degree+inverse"), ("hubs", "scout")]
KNOWN = 100_000
TARGET = (
    "10,000 surveys in 300 s and 2000 MB, growth at most 1.1; a decision under 1 ms and leaders under 5 s where "
    f"{KNOWN} people are known"
)


def run() -> Result:
    result = Result(f"Studies on {PEOPLE} people and {TIES} ties, processor time", TARGET)
    for kind, rule in CASES:
        rows = _in_own_process(kind, rule)
        for fewer, more in pairwise(rows[:-1]):
            more["growth"] = math.log(more["seconds"] / fewer["seconds"]) / math.log(more["surveys"] / fewer["surveys"])
        result.rows += rows
    return result


def _in_own_process(kind: str, rule: str) -> list[dict[str, Any]]:
    command = [sys.executable, str(Path(__file__)), kind, rule]
    found: list[dict[str, Any]] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


class Timed:
    """A policy with the seconds of each of its choices."""

    def __init__(self, name: str) -> None:
        self.name, self._policy = name, policy_named(name)
        self.seconds: list[float] = []

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The choice of the policy."""
        began = time.process_time()
        chosen = self._policy.choose(discovered, rng, count)
        self.seconds.append(time.process_time() - began)
        return chosen


def measure(kind: str, rule: str) -> list[dict[str, Any]]:
    """A row for each number of surveys, and one for the moment at which so many people are known."""
    _study(KINDS[kind](20_000, 100_000, "warm-up"), rule, surveyed=1500)
    network = KINDS[kind](PEOPLE, TIES, kind)
    return _study(network, rule, SURVEYS[-1])


def _study(network: Network, rule: str, surveyed: int) -> list[dict[str, Any]]:
    rng, policy, rows = np.random.default_rng(1), Timed(rule), []
    simulation = Simulation(network, rng.choice(network.n, 5, replace=False).tolist(), rng)
    at_known: dict[str, Any] = {}
    spent, began = 0.0, time.process_time()
    for used in surveys(simulation, policy, surveyed, rng):
        known = len(simulation.discovered)
        now = used in SURVEYS
        if now or (known >= KNOWN and not at_known) or used == surveyed:
            spent += time.process_time() - began
            row = {
                "network": network.name, "policy": rule, "surveys": used, "people": known, "seconds": spent,
                "growth": None, "decision ms": 1000 * statistics.median(policy.seconds[-200:]), "leaders s": None,
                "peak MB": peak_megabytes(),
            }  # fmt: skip
            if now:
                rows.append(row)
            if (known >= KNOWN or used == surveyed) and not at_known:
                at_known = row | {"leaders s": _leaders(simulation.discovered)}
            began = time.process_time()
    return [*rows, at_known]


def _leaders(seen: Discovered) -> float:
    began = time.process_time()
    selector_named("foresight").select(seen, 10, np.random.default_rng(0))
    return time.process_time() - began


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2])))
