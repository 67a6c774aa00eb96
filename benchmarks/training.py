"""Training: people reached over training time, against the paper's training, and the time of one choice.

Everything is measured in a process of its own on one thread. Times are processor time, which on a free core is the time
that passes. The paper's training (paper.py) works as the method is written down: one state after the other, matrices of
people times people, DeepWalk for every state.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from measure import Result, hub_network

from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.learning import paper, train
from claim.learning.config import EPISODES, Config, Shape
from claim.learning.network import new_network, score_frontiers
from claim.learning.observation import observe
from claim.learning.validation import BASELINES, Validation, means, score
from claim.networks import load

STAGES = (0, 1 / 8, 1 / 4, 1 / 2, 1)  # of the training, at which it is validated
STARTS = 400  # validation start sets a network
PAPER_EPISODES = 20  # measured ones
FRONTIER = 1000


def run() -> Result:
    done = subprocess.run([sys.executable, str(Path(__file__))], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Result(**json.loads(done.stdout))


def measure() -> Result:
    names = ["copen", "occupy"] if os.environ.get("CLAIM_DATA") else ["stars5", "stars6"]
    networks = [load(name) for name in names]
    alike = [load(f"stars{i}") for i in range(1, 5)]
    config, episodes = Config(), EPISODES[None]
    training = train.Training(config, networks + alike)  # as claim train --family retweet does
    validation = Validation(networks, replace(config, validation_starts=STARTS))
    baseline = means(validation.reached(BASELINES[0]))
    rows, seconds = [], 0.0
    for stage in STAGES:
        until = round(stage * episodes)
        seconds += timed(lambda: training.train(until)) / 1e3  # noqa: B023
        gain = 100 * (score(means(validation.reached(training.policy())), baseline) - 1)
        rows.append(row(f"claim after {until} episodes: {gain:+.1f} % against random classes", 1e3 * seconds))
    ours = 1e3 * seconds / episodes
    published = paper.Training(paper.Settings(), networks)
    published.train(PAPER_EPISODES)  # until batches are full
    theirs = timed(lambda: published.train(2 * PAPER_EPISODES)) / PAPER_EPISODES
    rows += [row("claim, an episode", ours), row("paper-claim, an episode", theirs, ratio=theirs / ours)]
    rows += encoders(published)
    rows += choices(training)
    return Result(
        f"Training for {config.budget} surveys, validated on {' and '.join(names)}",
        "claim +8.6 % in two minutes, an episode of paper-claim in 1.5 s, a choice among 1000 people in 50 ms",
        rows,
    )


def row(what: str, ms: float, ratio: float | None = None) -> dict:
    return {"what": what, "ms": ms, "ratio": ratio}


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1e3 * (time.process_time() - began)


def encoders(published: paper.Training) -> list[dict]:
    """The network on classes and the same shape on people: the values of all choices in 100 states."""
    settings, rng, seen = published.settings, np.random.default_rng(0), []
    for i in range(100):
        simulation = published.networks[i % len(published.networks)].study(rng)
        for _ in surveys(simulation, policy_named("random"), i % settings.budget, rng):
            pass
        seen.append(simulation.discovered)
    policy = published.policy()
    on_people = [paper.State.of(each, settings.dimensions, rng) for each in seen]
    shape = Shape("netmf", settings.dimensions, settings.hidden, settings.clusters, settings.layers, goal=True)
    network = new_network(shape, 0)
    on_classes = [observe(each, shape)[1] for each in seen]

    def one_by_one() -> None:
        with torch.no_grad():
            for state in on_people:
                policy.values(policy.network.embed([state])[0], state, 1.0)

    fast, slow = (
        statistics.median([timed(work) for _ in range(5)])
        for work in (lambda: score_frontiers(network, on_classes), one_by_one)
    )
    return [
        row("values of all choices in 100 states, on classes for 24 goals", fast),
        row("the same on people for one goal, one state after the other", slow, ratio=slow / fast),
    ]


def choices(training: train.Training) -> list[dict]:
    policy = training.policy()
    rows = []
    for what, seen in {"as found by surveys": found_by_surveys(), "no two alike": all_different()}.items():
        rng = np.random.default_rng(0)
        taken = [timed(lambda: policy.choose(seen, rng)) for _ in range(11)]  # noqa: B023
        classes = len(seen.frontier_classes)
        label = f"choice among {len(seen.frontier)} people, {what} ({classes} classes)"
        rows.append(row(label, statistics.median(taken[1:])))
    return rows


def found_by_surveys() -> Discovered:
    """Random surveys of a network with hubs until so many people wait."""
    network = hub_network(20_000, 60_000, "hubs")
    rng = np.random.default_rng(0)
    simulation = Simulation(network, rng.choice(network.n, 5, replace=False).tolist(), rng)
    for _ in surveys(simulation, policy_named("random"), network.n, rng):
        if len(simulation.discovered.frontier) >= FRONTIER:
            break
    return simulation.discovered


def all_different() -> Discovered:
    """Everybody was named by other people than anybody else: as many classes as people."""
    rng = np.random.default_rng(0)
    seen = Discovered()
    surveyed = [seen.add_person() for _ in range(46)]
    for person in surveyed:
        seen.record_start(person)
    named_by: set[tuple[int, ...]] = set()
    while len(named_by) < FRONTIER:
        named_by.add(tuple(sorted(rng.choice(surveyed, rng.integers(1, 5), replace=False).tolist())))
    for namers in sorted(named_by):
        person = seen.add_person(namers[0])
        for namer in namers:
            seen.add_tie(namer, person)
    return seen


if __name__ == "__main__":
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    with threadpool_limits(1):
        print(json.dumps(asdict(measure())))
