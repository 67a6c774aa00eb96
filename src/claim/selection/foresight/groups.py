"""Reach into groups of people of whom most were not asked: mixing between groups, and fair selection by it.

M[a, b] is the estimated chance that a contact of a person of group a is in group b, from the contacts of surveyed
people whose group is known. It gives the groups of people who were named but not asked, of the people whom they reach
through contacts not seen, and the sizes of groups: start people count one each, as if drawn at random,
and contacts in inverse proportion to the mean degree of their group, which are met the more often the more contacts
they have (Volz and Heckathorn, Journal of Official Statistics 2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from claim.discovery import Discovered
from claim.errors import InputError
from claim.networks.network import FloatArray, IntArray, OffsetArray
from claim.selection.fair import Fair, Search, welfare
from claim.selection.foresight.selection_state import SeenNetwork, SelectionState
from claim.selection.greedy import Candidates

if TYPE_CHECKING:
    from claim.selection.foresight.selector import Expected, FreeForesight

PRIOR = 2.0  # contacts of each group that are added, mixed as those of all groups together
CLUSTERED = 2.0  # contacts of one person are alike: so many tell as much as one of another person
PRIOR_DEGREE = 2.0  # surveyed people of each group that are added, of the mean degree
MOST_KEPT = 10_000_000  # components in the selections in progress that are kept for others to go on from
DRAWS = 400  # from the posterior of M
RANGE = (5.0, 95.0)  # per cent
NORMAL_90 = 1.645  # standard deviations


class ExpectedGroup(NamedTuple):
    """The people of a group whom the leaders reach, with a 90 % range; its size is estimated."""

    size: float
    reached: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of the group."""
        return self.reached / self.size


@dataclass(frozen=True)
class SeenGroups:
    """The groups of a discovered network, as far as they were said."""

    names: tuple[str, ...]
    numbers: IntArray  # (n,); len(names) where it was not said
    links: FloatArray  # (groups, groups): contacts of surveyed people by the groups of both, each once
    asked: FloatArray  # (groups,) surveyed people
    start: FloatArray  # (groups,) start people
    degree: FloatArray  # (groups,) mean degree of surveyed people

    @classmethod
    def of(cls, discovered: Discovered) -> "SeenGroups":
        """What was said about groups."""
        names = tuple(sorted(set(discovered.groups.values())))
        place = {name: i for i, name in enumerate(names)}
        numbers = np.full(len(discovered), len(names), dtype=np.int32)
        for person, name in discovered.groups.items():
            numbers[person] = place[name]
        links = np.zeros((len(names) + 1, len(names) + 1))
        surveyed = set(discovered.surveyed)
        for person in discovered.surveyed:
            contacts = list(discovered.contacts[person])
            weights = [0.5 if contact in surveyed else 1.0 for contact in contacts]  # both ends say it
            np.add.at(links, (numbers[person], numbers[contacts]), weights)
        asked = np.array(discovered.surveyed, dtype=np.int64)
        degrees = np.array([discovered.degree(person) for person in asked.tolist()], dtype=np.float64)
        count = np.bincount(numbers[asked], minlength=len(names) + 1)[:-1]
        total = np.bincount(numbers[asked], degrees, minlength=len(names) + 1)[:-1]
        usual = max(float(degrees.mean()) if len(degrees) else 1.0, 1.0)
        degree = (total + PRIOR_DEGREE * usual) / (count + PRIOR_DEGREE)
        start = np.bincount(numbers[discovered.start], minlength=len(names) + 1)[:-1]
        return cls(names, numbers, links[:-1, :-1], count.astype(np.float64), start.astype(np.float64), degree)

    @cached_property
    def pooled(self) -> FloatArray:
        """How often each group was met (groups,)."""
        found: FloatArray = self.links.sum(axis=0) / CLUSTERED + self.asked + 1.0 / len(self.names)
        return found

    @cached_property
    def mixing(self) -> FloatArray:
        """M (groups, groups)."""
        counts = self.links / CLUSTERED + PRIOR * self.pooled / self.pooled.sum()
        shares: FloatArray = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def drawn_mixing(self, rng: np.random.Generator) -> FloatArray:
        """A draw of M from its posterior."""
        prior = PRIOR * rng.dirichlet(self.pooled)
        return np.array([rng.dirichlet(np.maximum(row / CLUSTERED + prior, 1e-3)) for row in self.links])

    @property
    def sizes(self) -> FloatArray:
        """The share of all people in each group."""
        met = self.links.sum(axis=0) / CLUSTERED
        weights = self.start + met * self.degree.mean() / self.degree + 1.0 / len(self.names)
        shares: FloatArray = weights / weights.sum()
        return shares

    def origins(self, view: SeenNetwork) -> FloatArray:
        """For each person who was not asked, the groups of the surveyed people who named them (n, groups)."""
        groups = len(self.names)
        one_hot = np.zeros((view.n, groups + 1))
        one_hot[np.arange(view.n), self.numbers] = view.surveyed
        named = np.column_stack([view.over_contacts(one_hot[:, group]) for group in range(groups)])
        total = named.sum(axis=1, keepdims=True)
        return np.where(total > 0, named / np.maximum(total, 1e-9), 1.0 / groups)

    def members(self, view: SeenNetwork, mixing: FloatArray) -> FloatArray:
        """The chance that each person is in each group (n, groups)."""
        known = self.numbers < len(self.names)
        chance = self.origins(view) @ mixing
        chance[known] = np.eye(len(self.names))[self.numbers[known]]
        return chance


def beyond_first(mixing: FloatArray, step: float) -> FloatArray:
    """The groups of those whom a person of each group reaches through contacts that are not seen, nearest ones first.

    ``step`` is the number of people reached in one step; the sum is that of ``chain`` in ``selection_state``.
    """
    decay = min(step / 2.0, 0.5)
    inverse = np.linalg.inv(np.eye(len(mixing)) - decay * mixing)
    groups: FloatArray = (1.0 - decay) * mixing @ inverse
    return groups


@dataclass(frozen=True)
class Partial:
    """A part of the leaders: the selections in progress, R of the leaders and of the leaders with one more person."""

    states: list[SelectionState]  # one for each p
    reached: FloatArray  # (groups and none,)
    beyond: FloatArray  # (n, groups and none)


@dataclass(frozen=True)
class EstimatedGroups:
    """Groups by their estimated sizes, as fair selection takes them."""

    names: tuple[str, ...]
    sizes: FloatArray


class FairSearch(Search):
    """The search for leaders whose expected reach, seen and not seen, is balanced between groups."""

    def __init__(
        self, selector: "FreeForesight", view: SeenNetwork, seen: SeenGroups, people: float,
        candidates: Candidates, k: int, seed: int, priority: OffsetArray,
    ) -> None:  # fmt: skip
        self.view, self.seen = view, seen
        self.groups = EstimatedGroups(seen.names, np.maximum(people * seen.sizes, 1.0))  # type: ignore[assignment]
        self.candidates, self.k, self.priority = candidates, k, priority
        self._reached = frozenset(selector.observed.reached)
        states = [selector.state(view, p, seed, selector.planned_attendance()) for p in selector.chances]
        self._members = seen.members(view, seen.mixing)
        self._hidden = [self._members @ beyond_first(seen.mixing, each.p * each.hidden.excess) for each in states]
        self._none = self._partial(states, np.zeros(len(seen.names) + 1))
        self._kept: dict[tuple[int, ...], Partial] = {}  # by leaders, oldest first
        self._most = int(np.clip(MOST_KEPT // max(len(states) * len(states[0].uncovered), 1), 2 * k, 1000))

    def beyond(self, leaders: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """R of the leaders (groups and none), and of the leaders with one more person (n, groups and none)."""
        chosen = tuple(leaders)
        known = next((i for i in range(len(chosen), 0, -1) if chosen[:i] in self._kept), 0)
        found = self._kept[chosen[:known]] if known else self._none
        for i in range(known, len(chosen)):
            states = [state.copy() for state in found.states]
            for state in states:
                (state.cover if chosen[i] in self._reached else state.take)(chosen[i])
            found = self._partial(states, found.beyond[chosen[i]])
            if len(self._kept) >= self._most:
                del self._kept[next(iter(self._kept))]
            self._kept[chosen[: i + 1]] = found
        return found.reached, found.beyond

    def _partial(self, states: list[SelectionState], reached: FloatArray) -> Partial:
        gains = np.zeros((self.view.n, len(self.seen.names) + 1))
        for state, hidden in zip(states, self._hidden, strict=True):
            weights = self._members + state.beyond[:, None] * hidden
            parts = np.column_stack([state.mean_gains(np.ascontiguousarray(column)) for column in weights.T])
            by_class = state.gains()[:, None] * parts / np.maximum(parts.sum(axis=1, keepdims=True), 1e-12)
            gains[:, :-1] += by_class[self.view.group] / len(states)
        return Partial(states, reached, reached + gains)


def choose_fairly_unseen(search: FairSearch, fair: Fair) -> list[int]:
    """The leaders by welfare or the smallest share of the groups that are expected to be reached."""
    if fair.kind == "diversity":
        raise InputError("diversity needs a known network: foresight balances by welfare:ALPHA or maximin")
    if fair.kind == "maximin":
        return search.maximin()
    value = welfare(search.groups, fair.alpha)
    return search.swapped(search.greedy(value), value)


def expected_groups(
    states: Sequence[SelectionState], seen: SeenGroups, leaders: Sequence[int], expected: "Expected", people: float,
    rng: np.random.Generator,
) -> dict[str, ExpectedGroup]:  # fmt: skip
    """The expected reach in each group: its range follows from that of the whole and from the posterior of mixing."""
    view, groups = states[0].view, len(seen.names)
    known = seen.numbers < groups
    own = np.zeros((view.n, groups))
    own[known] = np.eye(groups)[seen.numbers[known]]
    origins = np.where(known[:, None], 0.0, seen.origins(view))
    columns = np.hstack([own, origins])
    seen_reach, hidden_reach = np.zeros(2 * groups), np.zeros(2 * groups)
    for state in states:
        for leader in leaders:
            group, beyond = view.group[leader], state.beyond[:, None]
            for total, weights in ((seen_reach, columns), (hidden_reach, columns * beyond)):
                total += [state.mean_gain(group, np.ascontiguousarray(each)) for each in weights.T]
            state.take(leader)
    step = float(np.mean([state.p * state.hidden.excess for state in states]))

    def reach(mixing: FloatArray) -> FloatArray:
        members = np.vstack([np.eye(groups), mixing])
        total = seen_reach @ members + hidden_reach @ members @ beyond_first(mixing, step)
        shares: FloatArray = total / total.sum()
        return shares

    shares = reach(seen.mixing)
    drawn = np.array([reach(seen.drawn_mixing(rng)) for _ in range(DRAWS)])
    unsure = 1.0 - (seen_reach[:groups].sum() / max(seen_reach.sum() + hidden_reach.sum(), 1e-9))
    size = max(expected.mean * unsure, 1e-9)  # people whose groups are not known: chance decides about them
    drawn = (1.0 - unsure) * drawn + unsure * np.array([rng.dirichlet(np.maximum(size * each, 1e-3)) for each in drawn])
    below, above = (np.log(max(end, 1e-9) / expected.mean) for end in (expected.low, expected.high))
    normal = rng.standard_normal(DRAWS)
    factor = np.exp(np.where(normal < 0, -below, above) * normal / NORMAL_90)
    low, high = np.percentile(expected.mean * factor[:, None] * drawn, RANGE, axis=0)
    sizes = np.maximum(people * seen.sizes, 1.0)
    reached = np.minimum(expected.mean * shares, sizes)
    ends = np.minimum(low, reached), np.clip(high, reached, people)
    return {
        name: ExpectedGroup(*map(float, (sizes[i], reached[i], ends[0][i], ends[1][i])))
        for i, name in enumerate(seen.names)
    }


def known_groups(discovered: Discovered) -> SeenGroups | None:
    """The groups that were said, if they are several."""
    return SeenGroups.of(discovered) if len(set(discovered.groups.values())) > 1 else None
