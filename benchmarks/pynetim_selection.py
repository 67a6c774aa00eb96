"""Choosing 10 leaders and 10,000 cascades, against PyNetIM: processor time on one thread, and what the leaders reach.

PyNetIM only chooses; :func:`claim.select` estimates what the leaders reach too. PyNetIM is not required:
``pip install pynetim==0.5.5`` adds its rows.
"""

import importlib.util
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from measure import Result, on_threads, side_by_side, test_networks

from claim.cascades.influence import influence_of
from claim.networks import Network
from claim.selection import select
from claim.selection.greedy import Candidates, Task, greedy

P = 0.1
LEADERS = 10
CASCADES = 10_000
REPEATS = 7
TARGET = "IMM with epsilon 0.5 slower than claim, which reaches as many as IMM with epsilon 0.1"


def run() -> Result:
    result = Result("Choosing 10 leaders and 10,000 cascades, PyNetIM against claim, processor time", TARGET)
    if importlib.util.find_spec("pynetim") is None:
        result.rows = [{"network": "PyNetIM is not installed: pip install pynetim==0.5.5"}]
        return result
    for network in test_networks():
        result.rows += _rows(network)
    return result


def _rows(network: Network) -> list[dict[str, Any]]:
    from pynetim import IMGraph, IMMAlgorithm, IndependentCascadeModel

    sources, targets, _ = network.edges()
    both = np.concatenate([np.column_stack([sources, targets]), np.column_stack([targets, sources])])
    graph = IMGraph(list(map(tuple, both.tolist())), weights=P, renumber=False)  # undirected ones make IMM fail
    hubs = select(network, LEADERS, method="degree", samples=1).indices
    spread = IndependentCascadeModel(graph, set(hubs))
    leaders: dict[str, list[list[int]]] = {}
    seeds = count()

    def choosing(name: str, choose: Callable[[], list[int]]) -> Callable[[], None]:
        return lambda: leaders.setdefault(name, []).append(choose())

    def imm(epsilon: float) -> Callable[[], list[int]]:
        return lambda: list(IMMAlgorithm(graph, "IC", epsilon=epsilon, random_seed=next(seeds)).run(LEADERS))

    def claim(method: str) -> Callable[[], list[int]]:
        return on_threads(1, lambda: select(network, LEADERS, method=method, p=P, rng=next(seeds)).indices)

    def choosing_only() -> list[int]:
        task = Task(network, Candidates.of(network.n, LEADERS), LEADERS, P, 1000, np.random.default_rng(next(seeds)))
        return greedy(task)

    work = {
        "claim, greedy": choosing("claim, greedy", claim("greedy")),
        "claim, greedy, choice only": choosing("claim, greedy, choice only", on_threads(1, choosing_only)),
        "claim, ris": choosing("claim, ris", claim("ris")),
        "PyNetIM, IMM, epsilon 0.5": choosing("PyNetIM, IMM, epsilon 0.5", imm(0.5)),
        "PyNetIM, IMM, epsilon 0.1": choosing("PyNetIM, IMM, epsilon 0.1", imm(0.1)),
        "claim, cascades": on_threads(1, lambda: influence_of(network, hubs, P, CASCADES, 0)),
        "PyNetIM, cascades": lambda: spread.run_monte_carlo_diffusion(CASCADES, random_seed=1, use_multithread=False),
    }
    seconds = side_by_side(work, REPEATS, clock=time.process_time)
    rows = []
    for name, taken in seconds.items():
        first = "claim, cascades" if "cascades" in name else "claim, greedy"
        row = {"network": network.name, "method": name, "ms": 1e3 * taken, "ratio": taken / seconds[first]}
        reached = [influence_of(network, each, P, 100_000, 5).mean for each in leaders.get(name, [])]
        rows.append(row | {"influence": f"{sum(reached) / len(reached):.2f}" if reached else None})
    return rows
