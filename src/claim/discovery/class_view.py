"""The frontier as a vector of fixed length, for agents that cannot read graphs, and such agents as survey policies."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from claim.discovery.discovered import Discovered, PersonClass
from claim.discovery.policies.scout import CLASS, STUDY, Answers, class_signals, study_signals
from claim.discovery.policies.simple import named_by_many

STUDY_SIGNALS = (*STUDY, "people known", "surveys left")
CLASS_SIGNALS = (*CLASS, "wave", "chosen this round", "present")
LIMIT = 10.0  # signals are logarithms and shares; larger values are clipped

Vector = npt.NDArray[np.float32]


def open_classes(discovered: Discovered, chosen: Collection[int] = ()) -> list[PersonClass]:
    """The classes of the frontier without the people chosen this round, in the order of the rows.

    Classes with the most surveyed contacts come first; of these, the largest, and then the first discovered.
    """
    groups = [
        replace(group, members=tuple(person for person in group.members if person not in chosen))
        for group in discovered.frontier_classes
    ]
    return sorted(
        (group for group in groups if group.members), key=lambda group: (-named_by_many(discovered, group), -group.size)
    )


def vector_length(max_classes: int) -> int:
    """The length of the vector with a row for each of ``max_classes`` classes."""
    return len(STUDY_SIGNALS) + max_classes * len(CLASS_SIGNALS)


def class_vector(
    discovered: Discovered,
    groups: Sequence[PersonClass],
    surveys_left: int,
    max_classes: int,
    chosen: Collection[int] = (),
) -> Vector:
    """The signals of the study, then a row of signals for each class, padded with zeros; shape (vector_length,).

    Signals are those of scout and a few counts, as log(1 + x); ``STUDY_SIGNALS`` and ``CLASS_SIGNALS`` name them. All
    come from what was discovered and from the budget. ``groups`` are the first ``max_classes`` of :func:`open_classes`.
    """
    study, rows = np.zeros(len(STUDY)), np.zeros((max_classes, len(CLASS_SIGNALS)))
    named = [i for i, group in enumerate(groups) if named_by_many(discovered, group)]
    if named:  # scout's signals are about the surveyed people who named a class
        answers = Answers.of(discovered)
        study = study_signals(answers)
        rows[named, : len(CLASS)] = class_signals(answers, [groups[i] for i in named])
    taken = Counter(tuple(sorted(discovered.contacts[person])) for person in chosen)
    for row, group in zip(rows, groups, strict=False):
        wave = min(discovered.wave[person] for person in group.members)
        row[len(CLASS) :] = np.log1p(wave), np.log1p(taken[group.contacts]), 1.0
    counts = np.log1p([len(discovered), max(surveys_left, 0)])
    return np.concatenate([study, counts, rows.ravel()]).clip(-LIMIT, LIMIT).astype(np.float32)


class AgentPolicy:
    """A trained agent of Stable-Baselines3 or sb3-contrib as a survey policy, for ``claim.compare``.

    ``model`` was trained in the environment with ``observation="classes"`` and can mask actions, as sb3-contrib's
    MaskablePPO. ``budget`` is the number of surveys it plans with.
    """

    def __init__(self, model: Any, budget: int, name: str = "agent") -> None:
        self.name, self.budget = name, budget
        self._policy = model.policy  # the network alone, which is quick to send to another process

    def __deepcopy__(self, memo: dict[int, Any]) -> "AgentPolicy":
        """The policy itself: it remembers nothing of a study."""
        return self

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """A random member of the class with the highest probability, one after another."""
        max_classes = int(self._policy.action_space.n)
        asked = len(discovered.surveyed) + len(discovered.refused) - len(discovered.start)
        chosen: list[int] = []
        while len(chosen) < count and (groups := open_classes(discovered, chosen)[:max_classes]):
            left = self.budget - asked - len(chosen)
            vector = class_vector(discovered, groups, left, max_classes, chosen)
            mask = np.arange(max_classes) < len(groups)
            row, _ = self._policy.predict(vector, action_masks=mask, deterministic=True)
            chosen.append(int(rng.choice(groups[int(row)].members)))
        return chosen
