"""Choosing 10 leaders by reverse sets on growing networks, here and on Ray; and an estimate for 16 machines.

The network is random, of mean degree 6.7, with p = 0.05. ``growth`` is the exponent of the processor time over the
number of ties. CLAIM_TIES is the largest number of ties (10^6 unless given). Epsilon is so large that memory holds the
sets of all sizes, so that they have the same guarantee. The estimate takes the number of sets to grow with n log n, as
their bound does, and the time for each to stay the same.
"""

import math
import os
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from measure import Result, peak_megabytes, random_network

from claim.networks.network import IntArray
from claim.selection.cluster import RayReverseSets
from claim.selection.greedy import Candidates, Task
from claim.selection.reverse import Drawn, Piece, ReverseSampler, ReverseSets
from claim.selection.ris import ris

P = 0.05
LEADERS = 10
EPSILON = 0.25  # 1 - 1/e - 0.25 = 0.382 of the best possible influence
PEOPLE = 0.3  # for each tie
SMALLEST = 100_000
ESTIMATED = 1_000_000_000  # ties
MACHINES, CORES = 16, 8


def run() -> Result:
    largest = int(float(os.environ.get("CLAIM_TIES", "1e6")))
    sizes = [SMALLEST * 10**i for i in range(int(math.log10(largest / SMALLEST)) + 1)]
    _measure(1000, "local")  # compiles
    here = [_measure(ties, "local") for ties in sizes]
    for fewer, more in pairwise(here):
        more["growth"] = math.log10(more["processor s"] / fewer["processor s"])
    there = _measure(sizes[0], "ray")
    assert there["leaders"] == here[0]["leaders"]
    result = Result("Reverse sets on growing networks, p = 0.05", "growth at most 1.1; the same leaders on Ray")
    rows = (*here, there, _estimate(here[-1]))
    result.rows = [{name: row[name] for name in here[0] if name != "leaders"} for row in rows]
    return result


def _estimate(largest: dict[str, Any]) -> dict[str, Any]:
    """The same for ``ESTIMATED`` ties on a cluster, without what travels between machines."""
    more = ESTIMATED / largest["ties"]
    more *= 1 + math.log(more) / math.log(PEOPLE * largest["ties"])  # n log n
    worked = largest["processor s"] * more
    return dict.fromkeys(largest) | {
        "backend": f"estimate for {MACHINES} machines of {CORES} cores",
        "ties": ESTIMATED,
        "seconds": worked / (MACHINES * CORES),
        "processor s": worked,
        "sets GB": largest["sets GB"] * more,
    }


class Counted(ReverseSets):
    """Reverse sets that count the numbers of 4 bytes that were drawn."""

    stored = 0

    def draw(self, pieces: Sequence[Piece], seed: int, stops: IntArray) -> list[Drawn]:
        """Draw them, and count."""
        found = super().draw(pieces, seed, stops)
        self.stored += sum(each.stored + each.kept for each in found)
        return found


def _measure(ties: int, backend: str) -> dict[str, Any]:
    network = random_network(int(PEOPLE * ties), ties, "random")
    task = Task(network, Candidates.of(network.n, LEADERS), LEADERS, P, 1, np.random.default_rng(0))
    counted: list[Counted] = []

    def here(sampler: ReverseSampler) -> Counted:
        counted.append(Counted(sampler))
        return counted[0]

    def there(sampler: ReverseSampler) -> RayReverseSets:
        return RayReverseSets(sampler, workers=2)

    began, worked = time.perf_counter(), time.process_time()
    chosen = ris(task, EPSILON, holding=here if backend == "local" else there)
    seconds, worked = time.perf_counter() - began, time.process_time() - worked
    return {
        "backend": backend,
        "ties": network.m,
        "seconds": seconds,
        "processor s": worked if backend == "local" else None,
        "growth": None,
        "sets GB": 4e-9 * counted[0].stored if counted else None,
        "guarantee": chosen.guarantee,
        "peak MB": peak_megabytes(),
        "leaders": chosen.leaders,
    }
