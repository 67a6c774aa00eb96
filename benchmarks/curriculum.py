"""What the curriculum selects: `python benchmarks/curriculum.py` prints tables of docs/notes/learning.md.

A buffer is filled with episodes of random surveys on the retweet training networks, each transition once with its goal
and once relabelled with the influence reached (`final`). Batches of 100 are then selected from 300 candidates. The
last table is of a training after 300 episodes: how much of a batch proximity and diversity decide, by lambda.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from goals import BUDGET, LEADERS, START_SIZE, WORLDS, P, family_heuristic, measure

from claim.cascades import Worlds
from claim.discovery import Discovered, Simulation
from claim.evaluation.runs import ORACLE, choose_leaders
from claim.learning.config import variant_named
from claim.learning.curriculum import SimilarityArray, plain_greedy, proximity, select, similarity
from claim.learning.goals import GoalHeuristic, goal_of
from claim.learning.netmf import netmf
from claim.learning.observation import class_rows
from claim.learning.replay import Transition
from claim.learning.train import Training, train
from claim.networks import Network, load
from claim.selection import MethodSelector

CANDIDATES, BATCH = 300, 100
WEIGHTS = (10.0, 1.0, 0.1, 0.01, 0.0)
SAYS = (1000.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Buffer:
    """One entry per transition, originals and relabelled ones."""

    embedding: Floats
    achieved: Floats
    goal: Floats  # the transition's own: relabelled ones have the pseudo-goal
    original_goal: Floats
    final: npt.NDArray[np.bool_]
    relabelled: npt.NDArray[np.bool_]

    def take(self, index: npt.NDArray[np.int64]) -> "Buffer":
        return Buffer(*(getattr(self, name)[index] for name in self.__dataclass_fields__))

    @property
    def returns(self) -> Floats:
        """What the rest of the episode pays, undiscounted: the reward of its last step."""
        return (self.achieved - self.goal) / self.goal


def state_summary(seen: Discovered) -> Floats:
    """A stand-in for the encoder's state embedding: sizes of NetMF features, averaged over people."""
    rows = class_rows(seen)
    return (rows.multiplicity / rows.multiplicity.sum()) @ np.abs(netmf(rows.adjacency(), rows.multiplicity, 16))


def episode(network: Network, worlds: Worlds, heuristic: GoalHeuristic, rng: np.random.Generator) -> list[tuple]:  # type: ignore[type-arg]
    """The transitions of random surveys, with their goals and relabelled."""
    study = Simulation(network, rng.choice(network.n, START_SIZE, replace=False), rng)
    goal = goal_of(heuristic, study.discovered)[0]
    states = []
    for _ in range(BUDGET):
        states.append(state_summary(study.discovered))
        if study.discovered.frontier:
            study.ask(int(rng.choice(study.discovered.frontier)))
    leaders = choose_leaders("paper", study, MethodSelector(P, **ORACLE["paper"]), LEADERS, rng)
    reached = worlds.influence(leaders).mean
    return [
        (state, reached, desired, goal, step == BUDGET - 1, desired is reached)
        for step, state in enumerate(states)
        for desired in (goal, reached)
    ]


def fill(episodes: int, seed: int) -> Buffer:
    outcomes = [measure(name, 100, seed) for name in ("copen", "occupy")]
    heuristic, rng = family_heuristic(outcomes), np.random.default_rng(seed)
    worlds = [Worlds.draw(each.network, P, WORLDS, seed) for each in outcomes]
    transitions = []
    for _ in range(episodes):
        which = rng.integers(2)
        transitions += episode(outcomes[which].network, worlds[which], heuristic, rng)
    return Buffer(*(np.array(column) for column in zip(*transitions, strict=True)))


def selected(buffer: Buffer, reading: str, weight: float, normalised: bool, rng: np.random.Generator) -> Buffer:
    """One batch: candidates drawn uniformly, then the greedy choice, with proximity read in one way or another."""
    candidates = buffer.take(rng.choice(len(buffer.goal), CANDIDATES, replace=False))
    if reading == "uniform":
        return candidates.take(np.arange(BATCH))
    desired = candidates.goal if reading == "literal" else candidates.original_goal
    near = proximity(candidates.achieved, desired)
    return candidates.take(select(similarity(candidates.embedding, normalised), near, weight, BATCH))


def summary(batches: list[Buffer]) -> str:
    """Share of relabelled transitions, deviation of the returns, and share of returns that are not 0."""
    returns = np.concatenate([batch.returns for batch in batches])
    relabelled = np.mean([batch.relabelled.mean() for batch in batches])
    return f"{relabelled:.2f} | {returns.std():.3f} | {np.mean(np.abs(returns) > 1e-9):.2f}"


def table_of_readings(buffer: Buffer, batches: int, seed: int, normalised: bool) -> None:
    print("| proximity to | λ | relabelled | deviation of returns | returns other than 0 |")
    print("|---|---|---|---|---|")
    print(f"| (whole buffer) | | {summary([buffer])} |")
    for reading in ("uniform", "literal", "original goal"):
        for weight in WEIGHTS if reading != "uniform" else (0.0,):
            rng = np.random.default_rng(seed)
            chosen = [selected(buffer, reading, weight, normalised, rng) for _ in range(batches)]
            print(f"| {reading} | {'' if reading == 'uniform' else f'{weight:g}'} | {summary(chosen)} |")


def table_of_times(buffer: Buffer, seed: int) -> None:
    print("| λ | select, ms | plain greedy, ms | ratio |")
    print("|---|---|---|---|")
    candidates = buffer.take(np.random.default_rng(seed).choice(len(buffer.goal), CANDIDATES, replace=False))
    alike, near = similarity(candidates.embedding), proximity(candidates.achieved, candidates.original_goal)
    for weight in WEIGHTS:
        select(alike, near, weight, BATCH)
        began = time.perf_counter()
        for _ in range(20):
            select(alike, near, weight, BATCH)
        between = time.perf_counter()
        plain_greedy(alike, near, weight, BATCH)
        quick, plain = (between - began) / 20, time.perf_counter() - between
        print(f"| {weight:g} | {1e3 * quick:.2f} | {1e3 * plain:.1f} | {plain / quick:.0f} |")


def cosines(embeddings: Floats) -> SimilarityArray:
    """With what all states have in common left in."""
    return similarity(embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True))


def table_of_say(families: dict[str, tuple[str, ...]], episodes: int, batches: int) -> None:
    """How many of 100 picks are those of proximity alone, and of diversity alone."""
    measures = {
        "dot products": similarity,
        "cosines": cosines,
        "cosines around the mean": lambda embeddings: similarity(embeddings, normalised=True),
    }
    print(f"| | {' | '.join(f'λ = {weight:g}' for weight in SAYS)} |")
    print("|---" * (len(SAYS) + 1) + "|")
    for family, names in families.items():
        training = Training(variant_named("claim"), [load(name) for name in names])
        train(training, episodes)
        rng = np.random.default_rng(0)
        drawn = [training.replay.sample(CANDIDATES, rng) for _ in range(batches)]
        for name, measured in measures.items():
            cells = [np.mean([shared(each, measured, weight) for each in drawn], axis=0) for weight in SAYS]
            print(f"| {family}, {name} | {' | '.join(f'{near:.0f} / {far:.0f}' for near, far in cells)} |", flush=True)


def shared(drawn: list[Transition], measured: Callable[[Floats], SimilarityArray], weight: float) -> tuple[int, int]:
    """How many picks proximity alone shares, and how many diversity alone; the goal pursued is that of the first."""
    goals = np.log([each.episode_goal for each in drawn])
    near, alike = (
        proximity(goals, np.full(len(goals), goals[0])),
        measured(np.array([each.embedding for each in drawn])),
    )
    both, nearest, diverse = (
        set(select(alike, value, each, BATCH).tolist())
        for value, each in ((near, weight), (near, 0.0), (0 * near, 1.0))
    )
    return len(both & nearest), len(both & diverse)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=400, help="episodes in the buffer")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    buffer = fill(settings.episodes, settings.seed)
    for normalised in (False, True):
        print("cosines" if normalised else "dot products")
        table_of_readings(buffer, settings.batches, settings.seed, normalised)
        print()
    table_of_times(buffer, settings.seed)
    print()
    table_of_say({"retweet": ("copen", "occupy"), "animal": ("plj", "rob")}, 300, settings.batches)


if __name__ == "__main__":
    main()
