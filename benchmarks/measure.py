"""What the benchmarks share: networks, side-by-side timing, and the form of a result."""

import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from claim.discovery import Policy, Simulation, at_checkpoints, surveys
from claim.evaluation.runs import StudySettings, simulate
from claim.networks import Network, load
from claim.randomness import named_seed
from claim.registry import name_of


@dataclass
class Result:
    """One table: a title, rows of named values, and what was aimed at."""

    title: str
    target: str
    rows: list[dict[str, Any]] = field(default_factory=list)


def test_networks() -> list[Network]:
    """The vole contact network kcs and the retweet network israel, or generated ones of their size and kind."""
    if os.environ.get("CLAIM_DATA"):
        return [load("kcs"), load("israel")]
    return [random_network(1218, 3592, "random-1218"), hub_network(3698, 4164, "hubs-3698")]


def random_network(n: int, m: int, name: str, seed: int = 0) -> Network:
    """``m`` edges between people drawn at random."""
    rng = np.random.default_rng(seed)
    return Network.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), n=n, name=name)


def hub_network(n: int, m: int, name: str, seed: int = 0, exponent: float = 2.5) -> Network:
    """``m`` edges between people drawn by weight, so that degrees fall off as a power law."""
    rng = np.random.default_rng(seed)
    weights = np.cumsum((np.arange(n) + 10.0) ** (-1 / (exponent - 1)))
    sources, targets = (np.searchsorted(weights / weights[-1], rng.random(m)).clip(0, n - 1) for _ in range(2))
    return Network.from_edges(sources, targets, n=n, name=name)


def side_by_side(
    methods: Mapping[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of each, run in turn so that a busy moment hits all; a first round is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for turn in range(repeats + 1):
        for name, work in methods.items():
            began = clock()
            work()
            if turn:
                seconds[name].append(clock() - began)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def peak_megabytes() -> float:
    """The most memory that this program has held; ``ru_maxrss`` includes the program that started it."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # not Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Limit the threads that claim uses."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(count)
    try:
        yield
    finally:
        del os.environ["OMP_NUM_THREADS"]
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before


def on_threads(count: int, work: Callable[[], Any]) -> Callable[[], Any]:
    """The same work on a number of threads."""

    def limited() -> Any:
        with threads(count):
            return work()

    return limited


def survey_to_checkpoints(
    network: Network, policy: Policy, settings: StudySettings, run: int, start: list[int], checkpoints: Sequence[int]
) -> Iterator[Simulation]:
    """The study of one run of a comparison as it stands at each checkpoint."""
    simulation, seeing = simulate(network, policy, settings, run, start)
    rng = np.random.default_rng(named_seed(settings.seed, "policy", name_of(policy), run))
    study = surveys(simulation, seeing, checkpoints[-1], rng, settings.per_round, settings.unit)
    for _ in at_checkpoints(study, checkpoints):
        yield simulation
