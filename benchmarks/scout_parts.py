"""What each part of scout is worth, and what a trained policy's values would add: the tables of docs/notes/scout.md.

`python benchmarks/scout_parts.py` plays the training networks from the same start sets with a part of scout left out
(its weights at 0, nothing fitted anew) and `--only values` with one more signal: Q(S, φ(u), g) of each shipped variant
of CLAIM, so that the rows differ by what goal, hindsight and curriculum are worth to scout. The variants were trained
on these networks. `CLAIM_DATA` names the folder of the networks.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from measure import survey_to_checkpoints

from claim.discovery import Discovered
from claim.discovery.discovered import PersonClass
from claim.discovery.policies import scout
from claim.discovery.policies.scout import CLASS, STUDY, Weights, shipped_weights
from claim.evaluation.runs import (
    Method,
    StudySettings,
    choose_leaders,
    draw_start_sets,
    evaluator_of_run,
    selector_for,
    selector_rng,
)
from claim.learning.network import new_network
from claim.learning.policy import LearnedPolicy, learned_policy
from claim.networks import Network, load
from claim.networks.catalogue import family_of

NETWORKS = ("copen", "occupy", "plj", "rob")
SELECTORS = ("foresight:free", "greedy")
SEED = 52
WEIGHT = 0.5  # of the values, in their standard deviations; scout's own scores have 0.2 to 0.45

CIRCLES = ("named twice around", "asked around", "namers who know each other", "alike", "share alike")
PARTS: dict[str, tuple[str, ...]] = {
    "all study signals: nothing is learnt on the way": STUDY,
    "closure and news": ("closure", "news"),
    "mixing": ("mixing",),
    "circles: named twice, asked around, namers acquainted, alike": CIRCLES,
    "the namers' degrees": ("lonely namers", "loneliest namer", "namers' contacts", "most contacts"),
    "what answers around there brought": ("news nearby", "contacts nearby"),
}
VARIANTS = ("shaped-dqn", "claim")

Reached = dict[str, npt.NDArray[np.float64]]  # people reached in each run, by selector


class ScoutWithValues(scout.Scout):
    """Scout with one more signal: the values of a trained policy, or random numbers where there is none."""

    def __init__(self, values: LearnedPolicy | None, rng: np.random.Generator) -> None:
        super().__init__()
        self._values, self._rng = values, rng

    def _read(self, discovered: Discovered, named: Sequence[PersonClass]) -> tuple[Any, Any, Any]:
        study, signals, parts = super()._read(discovered, named)
        if self._values is None:
            values = self._rng.normal(size=len(named))
        else:
            graph, scores = self._values.scores(discovered)
            of_person = {graph.members[row][0]: score for row, score in zip(graph.frontier, scores, strict=True)}
            values = np.array([of_person[group.members[0]] for group in named])
        spread = values.std() or 1.0
        return study, signals, np.column_stack([parts, WEIGHT * (values - values.mean()) / spread])


def without(signals: Sequence[str]) -> Weights:
    """The shipped weights with those of some signals at 0."""
    weights = shipped_weights()
    table = weights.table.copy()
    table[[CLASS.index(name) for name in signals if name in CLASS]] = 0.0
    table[:, [1 + STUDY.index(name) for name in signals if name in STUDY]] = 0.0
    return replace(weights, table=table)


def untrained(policy: LearnedPolicy) -> LearnedPolicy:
    return replace(policy, network=new_network(policy.settings.shape, policy.settings.seed))


def played(network: Network, policy: scout.Scout, budget: int, runs: int) -> Reached:
    settings = StudySettings(SEED, budget)
    selectors = {name: selector_for(Method("scout", name, "field"), network, settings) for name in SELECTORS}
    reached: dict[str, list[float]] = {name: [] for name in SELECTORS}
    for run, start in enumerate(draw_start_sets(network, runs, settings.start_size, SEED)):
        (simulation,) = survey_to_checkpoints(network, policy, settings, run, start, [budget])
        for name, selector in selectors.items():
            leaders = choose_leaders("field", simulation, selector, settings.leaders, selector_rng(settings, run))
            reached[name].append(evaluator_of_run(network, settings, run).influence(leaders))
    return {name: np.array(values) for name, values in reached.items()}


def report(row: str, methods: Sequence[scout.Scout], base: list[Reached], budget: int, runs: int) -> None:
    """A row: the difference to plain scout in per cent on each network and on average, by both selectors."""
    print(row, file=sys.stderr)
    found = [
        played(network, policy, budget, runs) for network, policy in zip(map(load, NETWORKS), methods, strict=True)
    ]
    cells: dict[str, tuple[list[float], list[float]]] = {}
    for name in SELECTORS:
        apart = [
            100 * (after[name] - before[name]) / before[name].mean() for after, before in zip(found, base, strict=True)
        ]
        means, errors = [each.mean() for each in apart], [each.std(ddof=1) / np.sqrt(runs) for each in apart]
        cells[name] = [*means, np.mean(means)], [*errors, np.linalg.norm(errors) / len(errors)]
    both = [
        " / ".join(f"{cells[name][0][i]:+.1f}" for name in SELECTORS)
        + f" ± {max(cells[name][1][i] for name in SELECTORS):.1f}"
        for i in range(len(NETWORKS) + 1)
    ]
    print(f"| {row} | {' | '.join(both).replace('-', '−')} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("parts", "values"), default="parts")
    parser.add_argument("--budget", type=int, default=20)
    parser.add_argument("--runs", type=int, default=200)
    given = parser.parse_args()
    networks = [load(name) for name in NETWORKS]
    base = [played(network, scout.Scout(), given.budget, given.runs) for network in networks]
    print(f"| T = {given.budget}, {given.runs} runs, per cent | {' | '.join(NETWORKS)} | average |")
    print("|---" * (len(NETWORKS) + 2) + "|")
    alone = [" / ".join(f"{each[name].mean():.1f}" for name in SELECTORS) for each in base]
    print(f"| scout alone: people reached | {' | '.join(alone)} | |", flush=True)
    if given.only == "parts":
        for part, signals in PARTS.items():
            report(part, [scout.Scout(without(signals))] * len(networks), base, given.budget, given.runs)
        with patch.object(scout, "CHANCE", 0.0):
            report("chance", [scout.Scout()] * len(networks), base, given.budget, given.runs)
        return
    variants = VARIANTS if given.budget < 10 else ("claim",)
    policies = {name: [learned_policy(name, family_of(each), given.budget) for each in networks] for name in variants}
    rows: dict[str, list[LearnedPolicy] | list[None]] = {
        "random numbers": [None] * len(networks),
        "claim, untrained": [untrained(policy) for policy in policies["claim"]],
        **policies,
    }
    for row, values in rows.items():
        methods = [ScoutWithValues(each, np.random.default_rng(SEED)) for each in values]
        report(row, methods, base, given.budget, given.runs)


if __name__ == "__main__":
    main()
