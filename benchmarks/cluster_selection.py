"""Choosing 10 leaders by reverse sets on growing networks, here and on Ray; and an estimate for 16 machines.

The network is random, of mean degree 6.7, with p = 0.05. ``growth`` is the exponent of the processor time over the
number of ties. CLAIM_TIES is the largest number of ties (10^6 unless given).
"""

import math
import os
import resource
import time
from itertools import pairwise
from typing import Any

import numpy as np
from measure import Result, random_network

from claim.selection.cluster import RayReverseSets
from claim.selection.greedy import Candidates, Task
from claim.selection.ris import ris

P = 0.05
LEADERS = 10
SMALLEST = 100_000
ESTIMATED = 1_000_000_000  # ties
CORES = 16 * 8


def run() -> Result:
    largest = int(float(os.environ.get("CLAIM_TIES", "1e6")))
    sizes = [SMALLEST * 10**i for i in range(int(math.log10(largest / SMALLEST)) + 1)]
    _measure(1000, "local")  # compiles
    here = [_measure(ties, "local") for ties in sizes]
    for fewer, more in pairwise(here):
        more["growth"] = math.log10(more["processor s"] / fewer["processor s"])
    there = _measure(sizes[0], "ray")
    assert there["leaders"] == here[0]["leaders"]
    estimate: dict[str, Any] = dict.fromkeys(here[-1]) | {"backend": "estimate, 128 cores", "ties": ESTIMATED}
    estimate["seconds"] = here[-1]["processor s"] * (ESTIMATED / sizes[-1]) / CORES
    result = Result("Reverse sets on growing networks, p = 0.05", "growth at most 1.1; the same leaders on Ray")
    result.rows = [{name: row[name] for name in here[0] if name != "leaders"} for row in (*here, there, estimate)]
    return result


def _measure(ties: int, backend: str) -> dict[str, Any]:
    network = random_network(int(0.3 * ties), ties, "random")
    task = Task(network, Candidates.of(network.n, LEADERS), LEADERS, P, 1, np.random.default_rng(0))
    began, worked = time.perf_counter(), time.process_time()
    chosen = ris(task, holding=lambda sampler: RayReverseSets(sampler, workers=2)) if backend == "ray" else ris(task)
    seconds, worked = time.perf_counter() - began, time.process_time() - worked
    return {
        "backend": backend,
        "ties": network.m,
        "seconds": seconds,
        "processor s": worked if backend == "local" else None,
        "growth": None,
        "guarantee": chosen.guarantee,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "leaders": chosen.leaders,
    }
