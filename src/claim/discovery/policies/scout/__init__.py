"""Scout: surveys whoever should bring the most people not heard of yet, and learns on the way what to go by.

On some networks people of few contacts lead to hubs, on others the well-connected know each other. Which of the two it
is, how far contacts share their contacts, and how much of an answer is new shows in the answers as they come, and
decides how much weight each signal has; see docs/scout.md.
"""

from collections.abc import Callable, Sequence

import numpy as np

from claim.discovery.discovered import Discovered, PersonClass, Status
from claim.discovery.policies.scout.model import Weights, shipped_weights
from claim.discovery.policies.scout.signals import STUDY, Answers, class_signals, study_signals
from claim.discovery.policies.scout.words import strongest
from claim.discovery.ranking import ranked_apart
from claim.discovery.reasons import who_named
from claim.networks.network import FloatArray

# Both as a share of the closure seen; measured, see docs/scout.md
CHANCE = 0.4
APART = 2.5


class Scout:
    """One rule for every budget and every kind of network, which it is never told."""

    name = "scout"

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights  # None: those shipped, read only when they are needed

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The people whose answers should bring the most, those chosen together spread over different namers."""
        named, others = classes_by_namers(discovered)
        chosen = self._ranked(discovered, named, rng, count) if named else []
        unnamed = [person for group in others for person in group.members]
        return chosen + [unnamed[i] for i in rng.permutation(len(unnamed))[: count - len(chosen)]]

    def reasons(self, discovered: Discovered, person: int, name: Callable[[int], str]) -> list[str]:
        """Who named this person, and what else speaks for them against the others who wait."""
        named, _ = classes_by_namers(discovered)
        place = next((i for i, group in enumerate(named) if person in group.members), None)
        if place is None:
            return [who_named(discovered, person, name)]
        _, signals, parts = self._read(discovered, named)
        sizes = [group.size for group in named]
        ahead, above = (table[place] - np.average(table, axis=0, weights=sizes) for table in (parts, signals))
        return [who_named(discovered, person, name), *strongest(ahead, above)]

    def _ranked(
        self, discovered: Discovered, named: Sequence[PersonClass], rng: np.random.Generator, count: int
    ) -> list[int]:
        """By what a survey should bring (a logarithm), with chance and distance as far as circles are closed.

        There classes differ less than the scores say and the best lie side by side: somebody is taken with a chance
        that grows with the score (the largest of scores with Gumbel's noise), and a round is spread.
        """
        study, _, parts = self._read(discovered, named)
        closure = float(study[STUDY.index("closure")])
        noise = rng.gumbel(size=len(named)) + np.log([group.size for group in named])
        return ranked_apart(named, parts.sum(axis=1) + CHANCE * closure * noise, rng, count, APART * closure)

    def _read(self, discovered: Discovered, named: Sequence[PersonClass]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The signals of the study and of each class, and what each of these adds to the score of the class."""
        answers = Answers.of(discovered)
        study, signals = study_signals(answers), class_signals(answers, named)
        weights = self._weights or shipped_weights()
        return study, signals, weights.parts(study, signals)


def classes_by_namers(discovered: Discovered) -> tuple[list[PersonClass], list[PersonClass]]:
    """The classes of the frontier whom somebody surveyed named, and the others."""
    named: list[PersonClass] = []
    others: list[PersonClass] = []
    for group in discovered.frontier_classes:
        known = any(discovered.status[contact] == Status.SURVEYED for contact in group.contacts)
        (named if known else others).append(group)
    return named, others
