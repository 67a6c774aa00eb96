"""Choosing 10 leaders: the greedy method on 1000 worlds, against CELF over CyNetDiff with 1000 cascades.

Under the independent cascade and the linear threshold model, in one run.
"""

import heapq
from statistics import fmean

from cynetdiff.utils import networkx_to_ic_model, networkx_to_lt_model
from measure import Result, side_by_side, test_networks

from claim.cascades.models import Diffusion, Model
from claim.networks import Network
from claim.randomness import as_generator
from claim.selection.greedy import Candidates, Task, greedy

SAMPLES = 1000
LEADERS = 10
REPEATS = 3


def run() -> Result:
    result = Result(
        "Choosing 10 leaders: CELF over CyNetDiff against claim", "100 times faster on kcs, 20 times on israel"
    )
    result.rows = [_row(network, model) for network in test_networks() for model in ("ic", "lt")]
    return result


def _row(network: Network, name: str) -> dict:
    graph, diffusion = network.to_networkx(), Diffusion(network, Model.of(name), 0.1)
    if name == "ic":
        model, _ = networkx_to_ic_model(graph, activation_prob=0.1, rng=1)
    else:  # weights of 1 / in-degree, as here
        model, _ = networkx_to_lt_model(graph.to_directed(), rng=1)
    everybody = Candidates.of(network.n, LEADERS)
    rng = as_generator(1)
    chosen: dict[str, list[list[int]]] = {"theirs": [], "ours": []}

    def theirs() -> None:
        chosen["theirs"].append(celf(model, network.n))

    def ours() -> None:
        chosen["ours"].append(greedy(Task(network, everybody, LEADERS, 0.1, SAMPLES, rng, model=diffusion.model)))

    seconds = side_by_side({"theirs": theirs, "ours": ours}, REPEATS)
    reach = {name: [diffusion.influence(each, 100_000, 5) for each in chosen[name]] for name in chosen}
    return {
        "network": network.name,
        "model": name,
        "claim ms": 1e3 * seconds["ours"],
        "CyNetDiff ms": 1e3 * seconds["theirs"],
        "ratio": seconds["theirs"] / seconds["ours"],
        "claim influence": f"{fmean(each.mean for each in reach['ours']):.2f}",
        "CyNetDiff influence": f"{fmean(each.mean for each in reach['theirs']):.2f}",
        "stderr": max(each.stderr for each in reach["ours"] + reach["theirs"]),
    }


def celf(model, n: int) -> list[int]:  # type: ignore[no-untyped-def]
    """Lazy greedy: a stale gain is an upper bound, so only the largest is computed again."""
    bounds = [(-model.compute_marginal_gains([], [person], SAMPLES)[1], person, 0) for person in range(n)]
    heapq.heapify(bounds)
    leaders: list[int] = []
    while len(leaders) < min(LEADERS, n):
        _, person, computed_for = heapq.heappop(bounds)
        if computed_for == len(leaders):
            leaders.append(person)
        else:
            gain = model.compute_marginal_gains(leaders, [person], SAMPLES)[1]
            heapq.heappush(bounds, (-gain, person, len(leaders)))
    return leaders
