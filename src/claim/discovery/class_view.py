"""The frontier as a vector of fixed length, for agents that cannot read graphs, and such agents as survey policies."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from claim.discovery.discovered import NEW, Discovered, PersonClass
from claim.discovery.policies.scout import CLASS, STUDY, Answers, class_signals, study_signals
from claim.discovery.policies.simple import named_by_many
from claim.errors import InputError

STUDY_SIGNALS = (*STUDY, "people known", "surveys left", "new people", "contacts of new people known before")
CLASS_SIGNALS = (*CLASS, "wave", "chosen this round", "marks", "present")
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
        (group for group in groups if group.members),
        key=lambda group: (-named_by_many(discovered, group.members[0]), -group.size),
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
    New people are those who were drawn: the start people, or those interviewed and chosen as ``NEW`` in an open study.
    """
    study, rows, answers = np.zeros(len(STUDY)), np.zeros((max_classes, len(CLASS_SIGNALS))), Answers.of(discovered)
    named = [i for i, group in enumerate(groups) if named_by_many(discovered, group.members[0])]
    if named:  # scout's signals are about the surveyed people who named a class
        study = study_signals(answers)
        rows[named, : len(CLASS)] = class_signals(answers, [groups[i] for i in named])
    alike = ((discovered.contacts[person], discovered.marked_by(person)) for person in chosen if person != NEW)
    taken = Counter((tuple(sorted(contacts)), tuple(sorted(marked_by))) for contacts, marked_by in alike)
    for row, group in zip(rows, groups, strict=False):
        wave = min(discovered.wave[person] for person in group.members)
        row[len(CLASS) : -1] = np.log1p([wave, taken[group.contacts, group.marked_by], len(group.marked_by)])
        row[-1] = 1.0
    new = len(discovered.start) + list(chosen).count(NEW)
    counts = np.log1p([len(discovered), max(surveys_left, 0), new])
    known = _known_before(discovered, answers)
    return np.concatenate([study, counts, [known], rows.ravel()]).clip(-LIMIT, LIMIT).astype(np.float32)


def _known_before(discovered: Discovered, answers: Answers) -> float:
    """The share of the contacts of new people who were known before the interview, high if little is left to find."""
    places = [answers.place[person] for person in discovered.start]
    named = answers.degree[places].sum()
    return float(1.0 - answers.news[places].sum() / named) if named else 0.0


class AgentPolicy:
    """A trained agent of Stable-Baselines3 or sb3-contrib as a survey policy, for ``claim.compare``.

    ``model`` was trained in the environment with ``observation="classes"`` and can mask actions, as sb3-contrib's
    MaskablePPO. ``budget`` is the number of surveys it plans with; an agent that was trained with ``entry="open"`` has
    ``interviews`` instead.
    """

    def __init__(
        self, model: Any, budget: int | None = None, name: str = "agent", *, interviews: int | None = None
    ) -> None:
        if (budget is None) == (interviews is None):
            raise InputError("give an agent of closed studies a budget, or one of open studies its interviews")
        self.name, self.budget, self.interviews = name, budget, interviews
        self._policy = model.policy  # the network alone, which is quick to send to another process

    def __deepcopy__(self, memo: dict[int, Any]) -> "AgentPolicy":
        """The policy itself: it remembers nothing of a study."""
        return self

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """A random member of the class with the highest probability, or a new person, one after another."""
        max_classes, left = int(self._policy.action_space.n), self._surveys_left(discovered)
        new = []  # whether the last action, of agents of open studies, may be taken
        if self.interviews is not None:
            max_classes, new = max_classes - 1, [discovered.open]
        chosen: list[int] = []
        while len(chosen) < count:
            groups = open_classes(discovered, chosen)[:max_classes]
            mask = np.array([i < len(groups) for i in range(max_classes)] + new)
            if not mask.any():
                break
            vector = class_vector(discovered, groups, left - len(chosen), max_classes, chosen)
            row, _ = self._policy.predict(vector, action_masks=mask, deterministic=True)
            chosen.append(NEW if row == max_classes else int(rng.choice(groups[int(row)].members)))
        return chosen

    def _surveys_left(self, discovered: Discovered) -> int:
        asked = len(discovered.surveyed) + len(discovered.refused)
        if self.budget is None:
            return (self.interviews or 0) - asked
        return self.budget - asked + len(discovered.start)
