"""Leaders for what is not known for sure: p, the model of diffusion, and who of the leaders will come.

A belief is a model of diffusion with a value of p. Leaders are chosen for the mean reach over several beliefs, or for
the worst ratio: the reach under a belief, as a share of what leaders chosen for this belief alone reach (Chen et al.,
"Robust Influence Maximization", and He and Kempe, "Robust Influence Maximization", both KDD 2016). The latter are found
by SATURATE (Krause, McMahan, Guestrin and Gupta, 2008).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from claim.cascades import IC, Diffusion, Model, Worlds
from claim.cascades.models import LinearThresholdGains, ThresholdGains
from claim.errors import check_number, check_whole
from claim.networks import Label, Network
from claim.networks.network import BoolArray, FloatArray
from claim.randomness import draw_seed
from claim.selection.greedy import SAME, Task, picked_in_turn
from claim.selection.kernels import best_candidate, cover_components, expected_gains, expected_gains_of

Robust = Literal["mean", "worst"]
ROBUST: dict[Robust, str] = {"mean": "the mean of all", "worst": "the worst ratio"}
Value = Callable[[FloatArray, FloatArray], FloatArray]  # of the reach (beliefs,) and the gains (beliefs, people)

ATTENDANCE_DRAWS = 50  # of who comes, where components do not say who reaches whom
EXPOSURE = 1e-4  # people that a tie to an inactive person counts for under threshold:N, where gains are equal
BISECTIONS = 8
TIE = 1e-6  # weight of the mean reach where the truncated ratios are equal
SAMPLES = 10_000  # cascades by which leaders are judged


@dataclass(frozen=True)
class Belief:
    """What may be true of how a message spreads."""

    model: Model = IC
    p: float = 0.1

    def __str__(self) -> str:
        return f"{self.model} p={self.p:g}" if self.model.uses_p else str(self.model)


def beliefs_of(models: Sequence[Model], probabilities: Sequence[float]) -> list[Belief]:
    """Every model with every value of p, or once if it does not use p."""
    pairs = [Belief(model, p) for model in models for p in (probabilities if model.uses_p else probabilities[:1])]
    return list(dict.fromkeys(pairs))


def robust_greedy(
    task: Task,
    beliefs: Sequence[Belief],
    attendance: float = 1.0,
    by: Robust = "mean",
    certain: Collection[int] = (),
) -> list[int]:
    """The ``k`` leaders for the mean over the beliefs or the worst ratio, if each comes with this probability.

    The ``certain`` ones come in any case. A component in which a leader was chosen keeps a part of its worth, so a
    second leader in it is a reserve. With certain leaders and one belief the choice is that of
    :func:`claim.selection.greedy.greedy`.
    """
    check_number(0, 1, above=True, attendance=attendance)
    check_whole(1, samples=task.samples)
    return Search(task, beliefs, attendance, certain).leaders(by)


def mean(reached: FloatArray, gains: FloatArray) -> FloatArray:
    """The sum over the beliefs, which has its maximum where the mean has."""
    total: FloatArray = gains.sum(axis=0)
    return total


def only(i: int) -> Value:
    """The gain under one belief."""
    return lambda reached, gains: gains[i]


def up_to(level: float, best: FloatArray) -> Value:
    """The ratios, each counted up to a level."""

    def value(reached: FloatArray, gains: FloatArray) -> FloatArray:
        ratios = (reached[:, None] + gains) / best[:, None]
        return np.minimum(ratios, level).sum(axis=0) + TIE * mean(reached, gains)  # type: ignore[no-any-return]

    return value


class Search:
    """The search for leaders, on worlds that are the same however often it is made."""

    def __init__(
        self, task: Task, beliefs: Sequence[Belief], attendance: float = 1.0, certain: Collection[int] = ()
    ) -> None:
        self.task, self.seed, self.priority = task, draw_seed(task.rng), task.priority()
        chances = np.full(task.network.n, float(attendance))
        chances[list(certain)] = 1.0
        self.begin = [gains_under(belief, task, self.seed, chances) for belief in beliefs]

    def pick(self, value: Value) -> tuple[list[int], FloatArray]:
        """The leaders by the largest value one after the other, and their reach under each belief."""
        under, reached = [begin() for begin in self.begin], np.zeros(len(self.begin))

        def best(free: BoolArray) -> int:
            gains = np.array([each.of_all(free) for each in under])
            values = np.round(value(reached, gains), SAME)
            while (person := int(best_candidate(values, free, self.priority))) >= 0:
                exact = [each.tighten(person) for each in under]
                if all(gain is None for gain in exact):
                    break
                gains[:, person] = [
                    bound if gain is None else gain for gain, bound in zip(exact, gains[:, person], strict=True)
                ]
                values[person] = np.round(value(reached, gains[:, [person]]), SAME)[0]
            return person

        def take(person: int) -> None:
            reached[:] += [each.take(person) for each in under]

        return picked_in_turn(self.task.candidates, self.task.k, best, take), reached

    @cached_property
    def alone(self) -> list[tuple[list[int], FloatArray]]:
        """Leaders for each belief alone."""
        return [self.pick(only(i)) for i in range(len(self.begin))]

    def leaders(self, by: Robust) -> list[int]:
        """Leaders for the mean over the beliefs, or for the worst ratio.

        The latter are the best of those for each belief, for the mean, and for ratios up to a level that is bisected.
        """
        if by == "mean":
            return self.pick(mean)[0]
        found = list(self.alone)
        best = np.array([reached[i] for i, (_, reached) in enumerate(found)])

        def worst(each: tuple[list[int], FloatArray]) -> float:
            return float((each[1] / best).min())

        found.append(self.pick(mean))
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            level = (low + high) / 2
            found.append(self.pick(up_to(level, best)))
            low, high = (level, high) if worst(found[-1]) >= level - 10**-SAME else (low, level)
        return max(found, key=worst)[0]


# Gains under one belief ----------------------------------------------------------------------------------------------


class Gains(Protocol):
    """How many people each person adds to the leaders taken so far, on average over worlds."""

    def of_all(self, free: BoolArray) -> FloatArray:
        """The gains (n,) of the free people, or bounds from above."""
        ...

    def tighten(self, person: int) -> float | None:
        """The gain of a person of whom a bound was given; None if it was the gain."""
        ...

    def take(self, person: int) -> float:
        """Make a person a leader; returns how many people they add."""
        ...


def gains_under(belief: Belief, task: Task, seed: int, attendance: FloatArray) -> Callable[[], Gains]:
    """A function that begins a selection under a belief; ``attendance`` (n,) is how likely each person comes."""
    network, samples = task.network, task.samples
    if belief.model.is_plain and not network.directed:
        worlds = Worlds.draw(network, belief.p, samples, seed)
        return lambda: ComponentGains(worlds, attendance)
    draws = 1 if (attendance == 1).all() else ATTENDANCE_DRAWS
    comes = np.random.default_rng(seed).random((draws, network.n)) < attendance
    diffusion, each = Diffusion(network, belief.model, belief.p), -(-samples // draws)
    if belief.model.kind == "ic":
        reach = SampledReach(diffusion, each, seed, comes)
        return lambda: SampledGains(reach)
    if belief.model.kind == "lt":
        return lambda: CountedGains(
            [LinearThresholdGains(diffusion, each, seed ^ i) for i in range(draws)], comes, each
        )
    return lambda: CountedGains([ThresholdGains(diffusion) for _ in range(draws)], comes, 1)


class ComponentGains:
    """Gains by the components of worlds; a leader who may not come leaves a part of them uncovered."""

    def __init__(self, worlds: Worlds, attendance: FloatArray) -> None:
        self.worlds, self.attendance = tuple(worlds), attendance
        self.uncovered, self.weights = np.ones(len(worlds.starts) - 1), np.ones(worlds.n)

    def of_all(self, free: BoolArray) -> FloatArray:
        """The gains."""
        return self.attendance * expected_gains(self.worlds, self.weights, self.uncovered)  # type: ignore[no-any-return]

    def tighten(self, person: int) -> None:
        """They are no bounds."""

    def take(self, person: int) -> float:
        """Cover the components of a leader."""
        (gain,) = expected_gains_of(np.array([person]), self.worlds, self.weights, self.uncovered)
        comes = float(self.attendance[person])
        cover_components(self.worlds, person, comes, self.uncovered)
        return comes * float(gain)


class CountedGains:
    """Gains that are kept up to date as leaders are taken, on average over draws of who ``comes`` (draws, n)."""

    def __init__(
        self, counted: Sequence[LinearThresholdGains | ThresholdGains], comes: BoolArray, samples: int
    ) -> None:
        self.counted, self.comes, self.samples = counted, comes, samples

    def of_all(self, free: BoolArray) -> FloatArray:
        """The gains, and a little for exposures."""
        pairs = zip(self.counted, self.comes, strict=True)
        total: FloatArray = np.sum([_as_people(each, free) * there for each, there in pairs], axis=0)
        return total / (len(self.counted) * self.samples)

    def tighten(self, person: int) -> None:
        """They are no bounds."""

    def take(self, person: int) -> float:
        """Make a person a leader in the draws in which they come."""
        there = [each for each, comes in zip(self.counted, self.comes[:, person], strict=True) if comes]
        alone = np.zeros(self.comes.shape[1], dtype=np.bool_)
        alone[person] = True
        added = sum(int(_as_people(each, alone)[person]) for each in there)
        for each in there:
            each.take(person)
        return added / (len(self.counted) * self.samples)


def _as_people(counted: LinearThresholdGains | ThresholdGains, free: BoolArray) -> FloatArray:
    keys = counted.keys(free)
    if isinstance(counted, LinearThresholdGains):
        return keys.astype(np.float64)
    activated, exposures = np.divmod(keys, len(counted.rows.contacts) + 1)
    people: FloatArray = activated + np.minimum(EXPOSURE * exposures, 0.5)
    return people


class SampledReach:
    """The mean reach of leaders by cascades, over draws of who ``comes`` (draws, n)."""

    def __init__(self, diffusion: Diffusion, samples: int, seed: int, comes: BoolArray) -> None:
        self.diffusion, self.samples, self.seed, self.comes = diffusion, samples, seed, comes
        self.alone = np.array([self.of([person]) for person in range(diffusion.network.n)])

    def of(self, leaders: Collection[int]) -> float:
        """The mean number of people reached."""
        total = 0
        for draw, there in enumerate(self.comes):
            come = [person for person in leaders if there[person]]
            total += int(self.diffusion.reach(come, self.samples, self.seed ^ draw).sum())
        return total / (len(self.comes) * self.samples)


class SampledGains:
    """Gains by cascades, computed for the people of the largest bound only (CELF: Leskovec et al., KDD 2007).

    For directed networks and limited steps: gains only shrink, so a stale gain is a bound from above.
    """

    def __init__(self, reach: SampledReach) -> None:
        self.reach, self.bound, self.fresh = reach, reach.alone.copy(), np.ones(len(reach.alone), dtype=np.bool_)
        self.leaders: list[int] = []
        self.reached = 0.0

    def of_all(self, free: BoolArray) -> FloatArray:
        """The bounds."""
        return self.bound

    def tighten(self, person: int) -> float | None:
        """Compute the gain of a person whose bound is from before the last leader."""
        if self.fresh[person]:
            return None
        self.bound[person] = self.reach.of([*self.leaders, person]) - self.reached
        self.fresh[person] = True
        return float(self.bound[person])

    def take(self, person: int) -> float:
        """Make a person a leader."""
        self.tighten(person)
        gain = float(self.bound[person])
        self.leaders.append(person)
        self.reached += gain
        self.fresh[:] = False
        return gain


# Judging -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """Leaders chosen for a belief, or for all of them, and the people they reach if each of the beliefs is true.

    ``ratios`` are shares of what leaders chosen for that belief reach, of which ``worst`` is the smallest.
    """

    chosen_for: str
    leaders: list[Label]
    reach: dict[str, float]
    stderr: dict[str, float]
    ratios: dict[str, float]

    @property
    def worst(self) -> float:
        """The smallest ratio."""
        return min(self.ratios.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "worst": self.worst}


def judge(
    network: Network, chosen: dict[str, list[int]], beliefs: Sequence[Belief], rng: np.random.Generator
) -> list[Judged]:
    """Judge each set of leaders by each belief, on the same cascades; ``chosen`` has the names of all beliefs."""
    seed = draw_seed(rng)
    diffusions = {str(belief): Diffusion(network, belief.model, belief.p) for belief in beliefs}
    found = {
        name: {judge: diffusion.influence(leaders, SAMPLES, seed) for judge, diffusion in diffusions.items()}
        for name, leaders in chosen.items()
    }
    return [
        Judged(
            name,
            [network.labels[leader] for leader in leaders],
            {judge: reach.mean for judge, reach in found[name].items()},
            {judge: reach.stderr for judge, reach in found[name].items()},
            {judge: reach.mean / found[judge][judge].mean for judge, reach in found[name].items()},
        )
        for name, leaders in chosen.items()
    ]
