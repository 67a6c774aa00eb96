"""Fit the weights of the scout policy: ``python -m claim.fitting.scout FOLDER`` writes its two files.

Studies are simulated. Here, unlike in a real study, it is known what a survey of each class would have brought; weights
are fitted so that scores predict it best. The weights of classes come from closed studies on look-alikes of many kinds
and on synthetic training networks; a second round of studies follows the scout of the first, so that it learns in
situations it leads to itself. How far marks can be trusted is fitted to closed and open studies on the networks that
foresight is fitted to (:func:`claim.fitting.studies.training_pool`).
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from claim.discovery import NEW, Discovered, Frame, Policy, Simulation, policy_named, surveys
from claim.discovery.discovered import PersonClass
from claim.discovery.policies.marks import FILE, Trust, mark_signals
from claim.discovery.policies.scout import (
    CLASS,
    STUDY,
    WEIGHTS,
    Answers,
    FirstScout,
    Weights,
    class_signals,
    classes_by_namers,
    study_signals,
)
from claim.fitting.random_graphs import look_alikes
from claim.fitting.studies import START, Pool, PoolSettings, training_pool
from claim.networks import Network, load
from claim.networks.network import FloatArray, IntArray
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
    scout = FirstScout(fit(moments))
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
    known, looked = set(study.people), rng.permutation(group.members)[:MOST_MEMBERS]
    return float(np.mean([_brings(study, study.people[member], known) for member in looked]))


def _brings(study: Simulation, person: int, known: set[int]) -> int:
    named = study.network.contacts_of(person).tolist()
    return int(study.network.degrees[[contact for contact in named if contact not in known]].sum())


def fit(moments: Iterable[Moment]) -> Weights:
    """Weights with which the softmax of the scores predicts best the share that each class of a moment would bring.

    The level of a moment drops out, so that only the choice between its classes is learned. All kinds weigh the same.
    """
    moments = [moment for moment in moments if moment.brings.sum() > 0]
    sizes = np.array([len(moment.brings) for moment in moments])
    classes = np.concatenate([moment.classes for moment in moments])
    studies = np.repeat([moment.study for moment in moments], sizes, axis=0)
    scaling = (classes.mean(0), classes.std(0), studies.mean(0), studies.std(0))
    around, context = (classes - scaling[0]) / scaling[1], (studies - scaling[2]) / scaling[3]
    # Class signals, then their products with each study signal; one row for each class of each moment
    signals = np.concatenate([around, *(around * column[:, None] for column in context.T)], axis=1)
    found = _fit_shares(signals, np.zeros(len(signals)), sizes, _shares(moments), PENALTY)
    return Weights(*scaling, found.reshape(1 + len(STUDY), len(CLASS)).T)


def _shares(moments: Sequence[Moment]) -> FloatArray:
    """The share of what the choices of a moment would bring, times the weight of the moment; kinds weigh the same."""
    kinds = [moment.kind for moment in moments]
    weight = {kind: 1.0 / (kinds.count(kind) * len(set(kinds))) for kind in set(kinds)}
    return np.concatenate([weight[each.kind] * each.brings / each.brings.sum() for each in moments])


def _fit_shares(
    signals: FloatArray, given: FloatArray, sizes: IntArray, share: FloatArray, penalty: float
) -> FloatArray:
    """Weights of the signals with which the softmax of the scores, added to those given, predicts the shares best.

    There is a row for each choice; ``sizes`` are the numbers of choices of the moments.
    """
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    of_moment = np.repeat(np.add.reduceat(share, begins), sizes)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        """The penalized cross-entropy between the softmax of the scores and the shares, and its gradient."""
        scores = given + signals @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, begins), sizes)
        log_share = scores - np.repeat(np.log(np.add.reduceat(np.exp(scores), begins)), sizes)
        slope = signals.T @ (of_moment * np.exp(log_share) - share) + 2.0 * penalty * weights
        return float(-(share @ log_share) + penalty * (weights @ weights)), slope

    found: FloatArray = minimize(loss, np.zeros(signals.shape[1]), jac=True, method="L-BFGS-B").x
    return found


# Marks ---------------------------------------------------------------------------------------------------------------

POOL = PoolSettings(look_alikes=60)
STUDIES_OF_KIND = 40
INTERVIEWS = (10, 25, 50)
USELESS = 1000.0
NOISE = (0.0, 0.5, 1.0, 1.0, 2.0, USELESS)  # of the hub question
NEW_SHARES = (0.2, 0.5, 0.8)
OPEN_RULES = ("random", "change", "random-class", "degree+inverse", "max-contact", *3 * ("scout:1",), "most-marked")
TRUST_PENALTY = 1e-3


class MarkedMoment(NamedTuple):
    """The signals of marks at a moment of a study, and whether these marks say anything."""

    kind: str
    signals: FloatArray
    useful: bool


def train_trust(seed: int = 0, data_dir: str | None = None) -> Trust:
    """Fit how far marks can be trusted to studies on the training pool."""
    rng, pools = as_generator(seed), training_pool(POOL, seed, data_dir)
    kinds = [pool.kind for pool in pools]
    moments: list[MarkedMoment] = []
    for pool in pools:
        for _ in range(max(STUDIES_OF_KIND // kinds.count(pool.kind), 2)):
            moments += marked_moments(pool, rng)
    return fit_trust(moments)


def marked_moments(pool: Pool, rng: np.random.Generator) -> list[MarkedMoment]:
    """Some moments of a study with marks, open or closed."""
    noise = NOISE[rng.integers(len(NOISE))]
    if rng.random() < 0.6:
        study = Simulation(pool.network, (), rng, frame=Frame(), hub_question=noise)
    else:
        start = rng.choice(pool.network.n, min(START, pool.network.n), replace=False)
        study = Simulation(pool.network, start, rng, hub_question=noise)
    rules = [policy_named(str(name)) for name in rng.choice(OPEN_RULES, 2)]
    watcher = _MarksWatcher(pool.kind, noise < USELESS, rules, rng.choice([0.0, 0.2, 0.5]), rng.choice(NEW_SHARES))
    for _ in surveys(study, watcher, int(rng.choice(INTERVIEWS)), rng):
        pass
    return watcher.moments


class _MarksWatcher:
    """A policy that records some moments of a study, and follows two rules and new people in turn."""

    name = "watcher"

    def __init__(self, kind: str, useful: bool, rules: list[Policy], share: float, new: float) -> None:
        self.kind, self.useful, self.rules, self.share, self.new = kind, useful, rules, share, new
        self.moments: list[MarkedMoment] = []

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        if discovered.marks and rng.random() < LOOKS:
            self.moments.append(MarkedMoment(self.kind, mark_signals(discovered), self.useful))
        if discovered.open and rng.random() < self.new:
            return [NEW]
        rule = self.rules[int(rng.random() < self.share)]
        return rule.choose(discovered, rng, count)


def fit_trust(moments: Sequence[MarkedMoment]) -> Trust:
    """The logistic regression of the largest likelihood, with a small L2 penalty; kinds weigh the same."""
    kinds = [moment.kind for moment in moments]
    weight = np.array([1.0 / (kinds.count(kind) * len(set(kinds))) for kind in kinds])
    signals, sign = np.array([m.signals for m in moments]), np.where([m.useful for m in moments], 1.0, -1.0)
    scale = np.maximum(signals.std(0), 1e-9)
    known = np.column_stack([np.ones(len(signals)), signals / scale])

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        margin = sign * (known @ weights)
        slope = known.T @ (weight * -sign / (1.0 + np.exp(margin))) + 2.0 * TRUST_PENALTY * weights
        return float(weight @ np.logaddexp(0.0, -margin) + TRUST_PENALTY * (weights @ weights)), slope

    constant, *found = minimize(loss, np.zeros(known.shape[1]), jac=True, method="L-BFGS-B").x
    return Trust(float(constant), np.array(found) / scale)


if __name__ == "__main__":
    for name, text in ((WEIGHTS, train().to_json()), (FILE, train_trust().to_json())):
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8", newline="\n")
