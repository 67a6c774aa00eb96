"""Fit the weights of the scout policy: ``python -m claim.fitting.scout weights.json``.

Studies are simulated on look-alikes of many kinds and on synthetic training networks, so that no data are needed. Here,
unlike in a study, it is known what a survey of each class would have brought; weights are fitted so that scores predict
it best. A second round of studies follows the scout of the first, so that it learns in situations it leads to itself.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from claim.discovery import Discovered, Policy, Simulation, policy_named, surveys
from claim.discovery.discovered import PersonClass
from claim.discovery.policies.scout import (
    CLASS,
    STUDY,
    Answers,
    Scout,
    Weights,
    class_signals,
    classes_by_namers,
    study_signals,
)
from claim.fitting.random_graphs import look_alikes
from claim.networks import Network, load
from claim.networks.network import FloatArray
from claim.randomness import as_generator

NAMED = ("stars1", "stars2", "stars3", "stars4", "meadow1", "meadow2", "meadow3", "meadow4")
RULES = ("random", "change", "random-class", "degree+inverse", "max-contact", "inverse-degree", "max-degree")
KINDS = 7  # of look-alikes, in turn

LOOK_ALIKES = 70
STUDIES_ON_LOOK_ALIKE, STUDIES_ON_NAMED = 5, 16
SURVEYS = 50
LOOKS = 0.3  # share of the moments of a study that are recorded
MOST_CLASSES, MOST_MEMBERS = 14, 8  # looked at in a moment
OWN = 0.7  # share of the studies of the second round in which the scout of the first is one of the rules
PENALTY = 1e-3


class Moment(NamedTuple):
    """Classes that could be surveyed next, and what a survey of each would bring on average."""

    kind: str
    study: FloatArray
    classes: FloatArray
    brings: FloatArray


def train(seed: int = 0) -> Weights:
    """Two rounds of studies, the second with the scout of the first."""
    rng = as_generator(seed)
    moments = collect_moments(rng, None)
    scout = Scout(fit(moments))
    return fit([*moments, *collect_moments(rng, scout)])


def collect_moments(rng: np.random.Generator, scout: Policy | None) -> list[Moment]:
    """Moments of studies on fresh look-alikes and on the synthetic training networks."""
    moments: list[Moment] = []
    for i, network in enumerate(look_alikes("all", LOOK_ALIKES, rng)):
        for _ in range(STUDIES_ON_LOOK_ALIKE):
            moments += moments_of_study(network, f"kind {i % KINDS}", rng, scout)
    for name in NAMED:
        network = load(name)
        for _ in range(STUDIES_ON_NAMED):
            moments += moments_of_study(network, name, rng, scout)
    return moments


def moments_of_study(network: Network, kind: str, rng: np.random.Generator, scout: Policy | None) -> list[Moment]:
    """Some moments of one study, in which two random rules take turns, or the scout and a rule."""
    start = rng.choice(network.n, min(int(rng.integers(3, 9)), network.n))
    study = Simulation(network, start, rng)
    first, second = (policy_named(str(name)) for name in rng.choice(RULES, 2))
    if scout is not None and rng.random() < OWN:
        first = scout
    watcher = _Watcher(study, kind, first, second, share=rng.choice([0.0, 0.2, 0.5]))
    for _ in surveys(study, watcher, SURVEYS, rng):
        pass
    return watcher.moments


class _Watcher:
    """A policy that records some moments of a study and follows the ``second`` rule in a share of them."""

    name = "watcher"

    def __init__(self, study: Simulation, kind: str, first: Policy, second: Policy, share: float) -> None:
        self.study, self.kind, self.first, self.second, self.share = study, kind, first, second, share
        self.moments: list[Moment] = []

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        groups, _ = classes_by_namers(discovered)
        if not groups:
            return []
        if len(groups) > 1 and rng.random() < LOOKS:
            self.moments.append(_moment(self.study, self.kind, groups, rng))
        rule = self.second if rng.random() < self.share else self.first
        return rule.choose(discovered, rng, count)


def _moment(study: Simulation, kind: str, groups: list[PersonClass], rng: np.random.Generator) -> Moment:
    looked = [groups[i] for i in rng.permutation(len(groups))[:MOST_CLASSES]]
    answers = Answers.of(study.discovered)
    brings = np.array([brings_on_average(study, group, rng) for group in looked])
    return Moment(kind, study_signals(answers), class_signals(answers, looked), brings)


def brings_on_average(study: Simulation, group: PersonClass, rng: np.random.Generator) -> float:
    """The contacts, summed, of the new people whom a member of the class would name: hubs count for more."""
    known, degrees = set(study.people), study.network.degrees
    brought = []
    for member in rng.permutation(group.members)[:MOST_MEMBERS]:
        named = study.network.contacts_of(study.people[member]).tolist()
        brought.append(int(degrees[[contact for contact in named if contact not in known]].sum()))
    return float(np.mean(brought))


def fit(moments: Iterable[Moment]) -> Weights:
    """Weights with which the softmax of the scores predicts best the share that each class of a moment would bring.

    The level of a moment drops out, so that only the choice between its classes is learned. All kinds weigh the same.
    """
    moments = [moment for moment in moments if moment.brings.sum() > 0]
    sizes = np.array([len(moment.brings) for moment in moments])
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    classes = np.concatenate([moment.classes for moment in moments])
    studies = np.repeat([moment.study for moment in moments], sizes, axis=0)
    scaling = (classes.mean(0), classes.std(0), studies.mean(0), studies.std(0))
    around, context = (classes - scaling[0]) / scaling[1], (studies - scaling[2]) / scaling[3]
    # Class signals, then their products with each study signal; one row for each class of each moment
    signals = np.concatenate([around, *(around * column[:, None] for column in context.T)], axis=1)
    kinds = [moment.kind for moment in moments]
    weight = {kind: 1.0 / (kinds.count(kind) * len(set(kinds))) for kind in set(kinds)}
    # The share of what the classes of a moment would bring, times the weight of the moment
    share = np.concatenate([weight[each.kind] * each.brings / each.brings.sum() for each in moments])
    of_moment = np.repeat(np.add.reduceat(share, begins), sizes)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        """The penalized cross-entropy between the softmax of the scores and the shares, and its gradient."""
        scores = signals @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, begins), sizes)
        log_share = scores - np.repeat(np.log(np.add.reduceat(np.exp(scores), begins)), sizes)
        slope = signals.T @ (of_moment * np.exp(log_share) - share) + 2.0 * PENALTY * weights
        return float(-(share @ log_share) + PENALTY * (weights @ weights)), slope

    found = minimize(loss, np.zeros(len(CLASS) * (1 + len(STUDY))), jac=True, method="L-BFGS-B")
    return Weights(*scaling, found.x.reshape(1 + len(STUDY), len(CLASS)).T)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(train().to_json(), encoding="utf-8", newline="\n")
