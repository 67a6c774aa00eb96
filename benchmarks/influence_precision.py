"""Influence of 10 leaders: time to the same precision, against CyNetDiff.

Halving a standard error takes four times the cascades, so the price of precision is seconds times variance of the mean.
"""

import numpy as np
from cynetdiff.utils import networkx_to_ic_model
from measure import Result, on_threads, side_by_side, test_networks

from claim.cascades.influence import influence_of
from claim.networks import Network
from claim.selection import select

SAMPLES = 10_000
REPEATS = 7


def run() -> Result:
    result = Result("Influence of 10 leaders: seconds x variance, CyNetDiff against claim", "at least 5 times cheaper")
    for network in test_networks():
        result.rows += _rows(network)
    return result


def _rows(network: Network) -> list[dict]:
    leaders = select(network, 10, method="degree").indices
    model, _ = networkx_to_ic_model(network.to_networkx(), activation_prob=0.1, rng=1)
    ours = influence_of(network, leaders, 0.1, SAMPLES, 0)
    theirs = _reach(model, leaders)
    variance = {"theirs": theirs.var() / SAMPLES, "ours": ours.stderr**2}
    seconds = side_by_side(
        {
            "theirs": lambda: model.compute_marginal_gains(leaders, [], SAMPLES),
            "1 thread": on_threads(1, lambda: influence_of(network, leaders, 0.1, SAMPLES, 0)),
            "2 threads": on_threads(2, lambda: influence_of(network, leaders, 0.1, SAMPLES, 0)),
        },
        REPEATS,
    )
    return [
        {
            "network": network.name,
            "claim": name,
            "claim ms": 1e3 * seconds[name],
            "CyNetDiff ms": 1e3 * seconds["theirs"],
            "time ratio": seconds["theirs"] / seconds[name],
            "variance ratio": variance["theirs"] / variance["ours"],
            "ratio": seconds["theirs"] * variance["theirs"] / (seconds[name] * variance["ours"]),
            "means": f"{ours.mean:.1f} / {theirs.mean():.1f}",
        }
        for name in ("1 thread", "2 threads")
    ]


def _reach(model, leaders: list[int]) -> np.ndarray:  # type: ignore[no-untyped-def]
    """CyNetDiff's reach in each of its cascades; its quicker function only tells the mean."""
    model.set_seeds(leaders)
    reach = np.empty(SAMPLES)
    for i in range(SAMPLES):
        model.reset_model()
        model.advance_until_completion()
        reach[i] = model.get_num_activated_nodes()
    return reach
