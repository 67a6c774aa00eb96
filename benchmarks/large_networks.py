"""Choosing 10 leaders of networks of 10^4 to 10^6 edges: seconds, peak memory and how they grow.

Each measurement has a process of its own, so that one's memory is not another's. Mean degree 6.7 leaves live edges
below the point where one cascade can reach a large share of everybody; mean degree 20 is far above it.
"""

import itertools
import json
import math
import subprocess
import sys
import time
from pathlib import Path

from measure import Result, hub_network, peak_megabytes, random_network

from claim.selection import select
from claim.selection.api import estimate_influence

SIZES = [10_000, 100_000, 1_000_000]
KINDS = {"random, mean degree 6.7": (random_network, 0.3), "hubs, mean degree 6.7": (hub_network, 0.3)}
DENSE = "random, mean degree 20"
KINDS[DENSE] = (random_network, 0.1)


def run() -> Result:
    result = Result("Choosing 10 leaders of large networks", "growth near 1, less than 1500 MB")
    for kind in KINDS:
        for method in ("greedy", "ris"):
            rows = [_in_own_process(kind, method, edges) for edges in (SIZES[-1:] if kind == DENSE else SIZES)]
            for smaller, larger in itertools.pairwise(rows):
                larger["growth"] = math.log10(larger["seconds"] / smaller["seconds"])
            result.rows += rows
    return result


def _in_own_process(kind: str, method: str, edges: int) -> dict:
    command = [sys.executable, str(Path(__file__)), kind, method, str(edges)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(kind: str, method: str, edges: int) -> dict:
    """Seconds of a selection with its final judgement, after everything is compiled."""
    generate, people_per_edge = KINDS[kind]
    select(random_network(100, 300, "warm-up"), method=method)
    network = generate(int(edges * people_per_edge), edges, kind)
    began = time.perf_counter()
    chosen = select(network, method=method)
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    estimate_influence(network, chosen.indices, 0.1)
    return {
        "network": kind,
        "method": method,
        "edges": network.m,
        "seconds": seconds,
        "of which judging": time.perf_counter() - began,
        "growth": None,
        "peak MB": peak_megabytes(),
        "influence": chosen.influence,
        "guarantee": chosen.guarantee,
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
