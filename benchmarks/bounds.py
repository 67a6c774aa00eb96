"""Proven bounds against goals and results: `python benchmarks/bounds.py` prints the table of docs/bounds.md.

Random surveys (five start people, T = 5) on the training networks, leaders by the greedy oracle among the people
discovered. Goals come from each network's own numbers. `CLAIM_DATA` names the folder of the networks.
"""

import argparse
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from claim.cascades import Worlds
from claim.discovery import Simulation, policy_named, surveys
from claim.learning.bounds import InfluenceBound
from claim.learning.goals import GoalHeuristic
from claim.networks import Network, load
from claim.selection import GreedySelector, select

NETWORKS = ("copen", "occupy", "plj", "rob", "zone1")
FAMILIES = (("copen", "occupy"), ("plj", "rob"), ("zone1",))
START, BUDGET, LEADERS, P = 5, 5, 10, 0.1


def study(network: Network, rng: np.random.Generator) -> Simulation:
    return Simulation(network, rng.choice(network.n, START, replace=False), rng)


def reached(network: Network, worlds: Worlds, rng: np.random.Generator) -> tuple[Simulation, float]:
    start = study(network, rng)
    at_start = start.discovered.copy()
    for _ in surveys(start, policy_named("random"), BUDGET, rng):
        pass
    leaders = GreedySelector(P).select(start.discovered, LEADERS, rng)
    value = worlds.influence([start.people[who] for who in leaders]).mean
    start.discovered = at_start
    return start, value


def spread(values: npt.ArrayLike) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    networks = {name: load(name) for name in NETWORKS}
    heads = (
        "OPT",
        "reached",
        "best of them",
        "heuristic goal",
        "bound",
        "family bound",
        "largest degree only",
        "k + p E",
    )
    print("| network | " + " | ".join(heads) + " |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, network in networks.items():
        worlds, rng = Worlds.draw(network, P, 4000, 1), np.random.default_rng(10)
        opt = worlds.influence(select(network, LEADERS, P, 4000, 0).leaders).mean
        average = float(np.mean([reached(network, worlds, rng)[1] for _ in range(runs)]))
        played = [reached(network, worlds, rng) for _ in range(runs)]
        values = [value for _, value in played]
        family = next([networks[each] for each in names] for names in FAMILIES if name in names)
        own = InfluenceBound.of_networks([network], average, BUDGET, LEADERS, P)
        settings = [
            GoalHeuristic.of_networks([network], average, START),
            own,
            InfluenceBound.of_networks(family, average, BUDGET, LEADERS, P),
            replace(own, largest=own.largest[:1]),
        ]
        goals = [spread([rule.goal_for(begun.discovered) for begun, _ in played]) for rule in settings]
        cells = [f"{opt:.1f}", spread(values), f"{max(values):.1f}", *goals, f"{LEADERS + P * network.m:.1f}"]
        print("| " + " | ".join([name, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
