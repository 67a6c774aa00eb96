"""Make the weights of the scout policy again: ``python -m claim.fitting.scout weights.json``.

Studies are simulated on look-alikes of many kinds and on synthetic training networks, so that no data are needed. Here,
unlike in a study, it is known what a survey of each class would have brought; weights are fitted so that scores say it
best. A second round of studies follows the scout of the first, so that it learns in situations it gets itself into.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from claim.discovery import Policy, Simulation, policy_named
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
from claim.networks.network import FloatArray, IntArray
from claim.randomness import as_generator

NAMED = ("stars1", "stars2", "stars3", "stars4", "meadow1", "meadow2", "meadow3", "meadow4")
RULES = ("random", "change", "random-class", "degree+inverse", "max-contact", "inverse-degree", "max-degree")
KINDS = 7  # of look-alikes, in turn

LOOK_ALIKES = 70
STUDIES_ON_LOOK_ALIKE, STUDIES_ON_NAMED = 5, 16
SURVEYS = 50
LOOKS = 0.3  # share of the moments of a study that are learnt from
MOST_CLASSES, MOST_MEMBERS = 14, 8  # looked at in a moment
OWN = 0.7  # share of the studies of the second round that the scout of the first leads
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
    moments = watch(rng, None)
    scout = Scout(fit(moments))
    return fit([*moments, *watch(rng, scout)])


def watch(rng: np.random.Generator, scout: Policy | None) -> list[Moment]:
    """Moments of studies on fresh look-alikes and on the synthetic training networks."""
    moments: list[Moment] = []
    for i, network in enumerate(look_alikes("all", LOOK_ALIKES, rng)):
        for _ in range(STUDIES_ON_LOOK_ALIKE):
            moments += watch_study(network, f"kind {i % KINDS}", rng, scout)
    for name in NAMED:
        network = load(name)
        for _ in range(STUDIES_ON_NAMED):
            moments += watch_study(network, name, rng, scout)
    return moments


def watch_study(network: Network, kind: str, rng: np.random.Generator, scout: Policy | None) -> list[Moment]:
    """Some moments of one study, which two random rules lead in turn, or the scout and a rule."""
    start = rng.choice(network.n, min(int(rng.integers(3, 9)), network.n))
    study = Simulation(network, start, rng)
    first, second = (policy_named(str(name)) for name in rng.choice(RULES, 2))
    if scout is not None and rng.random() < OWN:
        first = scout
    often = rng.choice([0.0, 0.2, 0.5])
    moments = []
    for _ in range(SURVEYS):
        groups, _ = classes_by_namers(study.discovered)
        if not groups:
            break
        if len(groups) > 1 and rng.random() < LOOKS:
            moments.append(_moment(study, kind, groups, rng))
        rule = second if rng.random() < often else first
        study.ask(rule.choose(study.discovered, rng)[0])
    return moments


def _moment(study: Simulation, kind: str, groups: list[PersonClass], rng: np.random.Generator) -> Moment:
    looked = [groups[i] for i in rng.permutation(len(groups))[:MOST_CLASSES]]
    answers = Answers.of(study.discovered)
    brings = np.array([brings_on_average(study, group, rng) for group in looked])
    return Moment(kind, study_signals(answers), class_signals(answers, looked), brings)


def brings_on_average(study: Simulation, group: PersonClass, rng: np.random.Generator) -> float:
    """How many contacts the people not heard of yet have whom one of them would name: hubs count for more."""
    heard = set(study.people)
    members = rng.permutation(group.members)[:MOST_MEMBERS]
    return float(np.mean([_brings(study.network, study.people[member], heard) for member in members]))


def _brings(network: Network, person: int, heard: set[int]) -> int:
    news = [contact for contact in network.contacts_of(person).tolist() if contact not in heard]
    return int(network.degrees[news].sum())


def fit(moments: Iterable[Moment]) -> Weights:
    """Weights with which the scores of the classes of a moment say best which share of the whole each would bring.

    The level of a moment drops out, so that only the choice between its classes is learnt. All kinds count the same.
    """
    table = _Table.of([moment for moment in moments if moment.brings.sum() > 0])
    found = minimize(table.loss, np.zeros(len(CLASS) * (1 + len(STUDY))), jac=True, method="L-BFGS-B")
    return Weights(*table.scaling, found.x.reshape(1 + len(STUDY), len(CLASS)).T)


@dataclass
class _Table:
    """All classes of all moments in one table, moment by moment."""

    scaling: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
    signals: FloatArray  # class signals, then their products with each study signal
    share: FloatArray  # of what the classes of a moment would bring, times the weight of the moment
    begins: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, moments: list[Moment]) -> "_Table":
        sizes = np.array([len(moment.brings) for moment in moments])
        classes = np.concatenate([moment.classes for moment in moments])
        studies = np.repeat([moment.study for moment in moments], sizes, axis=0)
        scaling = (classes.mean(0), classes.std(0), studies.mean(0), studies.std(0))
        around, context = (classes - scaling[0]) / scaling[1], (studies - scaling[2]) / scaling[3]
        signals = np.concatenate([around, *(around * column[:, None] for column in context.T)], axis=1)
        kinds = [moment.kind for moment in moments]
        weight = {kind: 1.0 / (kinds.count(kind) * len(set(kinds))) for kind in set(kinds)}
        share = np.concatenate([weight[each.kind] * each.brings / each.brings.sum() for each in moments])
        return cls(scaling, signals, share, np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)

    def loss(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """How badly the scores say the shares (a cross-entropy), and its slope."""
        scores = self.signals @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, self.begins), self.sizes)
        total = np.add.reduceat(np.exp(scores), self.begins)
        log_said = scores - np.repeat(np.log(total), self.sizes)
        of_moment = np.repeat(np.add.reduceat(self.share, self.begins), self.sizes)
        slope = self.signals.T @ (of_moment * np.exp(log_said) - self.share) + 2.0 * PENALTY * weights
        return float(-(self.share @ log_said) + PENALTY * (weights @ weights)), slope


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(train().to_json())
