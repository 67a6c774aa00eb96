"""The greedy oracle on live-edge worlds."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from claim.cascades.influence import check_people, in_chunks
from claim.cascades.kernels import draw_components, memberships
from claim.cascades.models import IC, Diffusion, LinearThresholdGains, Model, ThresholdGains
from claim.cascades.worlds import EdgeSampler
from claim.errors import InputError, check_whole
from claim.networks import Network
from claim.networks.network import BoolArray, IntArray, OffsetArray
from claim.randomness import draw_seed
from claim.selection.kernels import (
    best_candidate,
    cover,
    gains_beyond,
    pick_from_shortlist,
    shortlist_components,
)

Ties = Literal["random", "first"]

MOST_STORED = 20_000_000  # memberships; worlds beyond this (about 250 MB) are drawn again instead of kept
BATCH = 1_000_000  # memberships of the worlds that are drawn again at a time
FEW = 30  # picks for which looking through all members is faster than an index of the components of each person
SHORTLIST = 2_000_000  # people times worlds that are followed, 8 bytes each
SAME = 9  # digits; equal sums in another order differ in the last digits, and would be no ties


@dataclass(frozen=True)
class Candidates:
    """``must`` are leaders in any case; the rest is chosen among the ``allowed``."""

    allowed: BoolArray
    must: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, n: int, k: int, may: Iterable[int] | None = None, must: Iterable[int] = (), must_not: Iterable[int] = ()
    ) -> "Candidates":
        """Candidates among ``n`` people for ``k`` leaders; contradictions raise an error."""
        check_whole(1, k=k)
        allowed = np.full(n, may is None)
        if may is not None:
            allowed[check_people(n, may)] = True
        required, excluded = check_people(n, must), check_people(n, must_not)
        both = set(required.tolist()) & set(excluded.tolist())
        if both:
            raise InputError(f"person {min(both)} both must and must not be chosen")
        if len(required) > k:
            raise InputError(f"{len(required)} people must be chosen, but there are only {k} leaders")
        allowed[excluded] = False
        return cls(allowed, tuple(required.tolist()))

    def open_to_choice(self) -> BoolArray:
        """A mask of the people left to choose from besides those of ``must``; a fresh array that may be changed."""
        free = self.allowed.copy()
        free[list(self.must)] = False
        return free


@dataclass(frozen=True)
class Task:
    """Choose ``k`` leaders of the network among the candidates."""

    network: Network
    candidates: Candidates
    k: int
    p: float
    samples: int
    rng: np.random.Generator
    ties: Ties = "random"
    model: Model = IC

    def priority(self) -> OffsetArray:
        """The order in which ties are broken; see :func:`tie_priority`."""
        return tie_priority(self.network.n, self.ties, self.rng)


@dataclass(frozen=True)
class Chosen:
    """Leaders (indices, in the order of choice) and, where a method proves one, its share of the best possible."""

    leaders: list[int]
    guarantee: float | None = None


Method: TypeAlias = Callable[[Task], Chosen]


def tie_priority(n: int, ties: Ties, rng: np.random.Generator) -> OffsetArray:
    """A number for each person, of whom the highest wins a tie: the smallest index, or a random order."""
    if ties not in ("random", "first"):
        raise InputError(f"ties are broken at 'random' or to the 'first', not {ties!r}")
    return rng.permutation(n) if ties == "random" else np.arange(n, 0, -1)


def greedy(task: Task) -> list[int]:
    """The ``k`` leaders, in the order in which they were picked."""
    check_whole(1, samples=task.samples)
    seed, priority = draw_seed(task.rng), task.priority()
    if task.model.kind != "ic":
        diffusion = Diffusion(task.network, task.model, task.p)
        linear = task.model.kind == "lt"
        gains = LinearThresholdGains(diffusion, task.samples, seed) if linear else ThresholdGains(diffusion)

        def best(free: BoolArray) -> int:
            return int(best_candidate(gains.keys(free), free, priority))

        return picked_in_turn(task.candidates, task.k, best, gains.take)
    if task.network.directed or not task.model.is_plain:
        return _lazy(task, seed, priority)
    edges = EdgeSampler.of(task.network, task.p)
    if 2 * edges.expected_live * task.samples > MOST_STORED:
        return _replayed(edges, task.candidates, task.k, task.samples, seed, priority)
    return _stored(edges, task.candidates, task.k, task.samples, seed, priority)


def _stored(
    edges: EdgeSampler, candidates: Candidates, k: int, samples: int, seed: int, priority: OffsetArray
) -> list[int]:
    """Decremental greedy on worlds held in memory."""
    drawn = in_chunks(
        lambda first, count: _Components.draw(edges, seed, first, count, k), samples, edges.seconds * samples
    )
    gains: OffsetArray = np.sum([gained for _, gained in drawn], axis=0)

    def best(free: BoolArray) -> int:
        return int(best_candidate(gains, free, priority))

    def take(person: int) -> None:
        for components, _ in drawn:
            components.cover(person, gains)

    return picked_in_turn(candidates, k, best, take)


@dataclass(frozen=True)
class _Components:
    """The components of some worlds; ``members[starts[c]:starts[c + 1]]`` are the people of component ``c``."""

    members: IntArray
    starts: OffsetArray
    covered: BoolArray  # one for each component
    index: tuple[OffsetArray, IntArray] | None  # of the components of each person, if many people are to be picked

    @classmethod
    def draw(cls, edges: EdgeSampler, seed: int, first: int, count: int, k: int) -> tuple["_Components", OffsetArray]:
        """The components of these worlds, and how many people each person reaches, summed over the worlds."""
        members, starts, _ = draw_components(edges, seed, first, count)
        gains = gains_beyond(np.zeros(0, dtype=np.int64), edges.n, count, members, starts)
        index = memberships(edges.n, members, starts) if k > FEW else None
        return cls(members, starts, np.zeros(len(starts) - 1, dtype=np.bool_), index), gains

    def cover(self, person: int, gains: OffsetArray) -> None:
        """Cover the components of a person, and subtract them from what their members gain."""
        if self.index is None:
            found = np.searchsorted(self.starts, np.flatnonzero(self.members == person), side="right") - 1
        else:
            offsets, numbers = self.index
            found = numbers[offsets[person] : offsets[person + 1]].astype(np.int64)
        cover(found, self.members, self.starts, self.covered, gains)


def _replayed(
    edges: EdgeSampler, candidates: Candidates, k: int, samples: int, seed: int, priority: OffsetArray
) -> list[int]:
    """Greedy on worlds that are drawn again for every shortlist, where memory does not hold them.

    The gains of all people give a shortlist; on it leaders are picked as long as they gain more than anyone off it.
    """
    leaders, free = list(candidates.must), candidates.open_to_choice()

    def gains(first: int, count: int) -> OffsetArray:
        batches = _batches(edges, seed, first, count)
        return sum(gains_beyond(chosen, edges.n, len(out), *drawn[:2]) for out, drawn in batches)  # type: ignore[no-any-return]

    def components(first: int, count: int) -> None:
        for out, drawn in _batches(edges, seed, first, count):
            rows = slice(out.start, out.stop)
            shortlist_components(chosen, shortlist, edges.n, *drawn, roots[rows], sizes[rows])

    while len(leaders) < k and free.any():
        chosen, seconds = np.array(leaders, dtype=np.int64), edges.seconds * samples
        found = np.sum(in_chunks(gains, samples, seconds), axis=0)
        people = np.flatnonzero(free)
        order = people[np.lexsort((-priority[people], -found[people]))]
        shortlist = order[: max(1, SHORTLIST // samples)]
        bound = int(found[order[len(shortlist)]]) if len(order) > len(shortlist) else -1
        roots, sizes = np.empty((2, samples, len(shortlist)), dtype=np.int32)
        in_chunks(components, samples, seconds)
        picked = shortlist[pick_from_shortlist(k - len(leaders), bound, priority[shortlist], roots, sizes)]
        leaders += picked.tolist()
        free[picked] = False
    return leaders


def _batches(
    edges: EdgeSampler, seed: int, first: int, count: int
) -> Iterator[tuple[range, tuple[IntArray, OffsetArray, OffsetArray]]]:
    """The components of the worlds, some worlds at a time, with the numbers of these worlds."""
    step = max(1, int(BATCH / max(2 * edges.expected_live, 1.0)))
    for begin in range(first, first + count, step):
        worlds = range(begin, min(begin + step, first + count))
        yield worlds, draw_components(edges, seed, begin, len(worlds))


def _lazy(task: Task, seed: int, priority: OffsetArray) -> list[int]:
    """CELF (Leskovec et al., 2007) where components do not say who reaches whom: directed networks, limited steps.

    Gains only shrink, so a stale gain is an upper bound: only people whose bound is the largest are computed again.
    """
    leaders: list[int] = []
    n = task.network.n
    bound: OffsetArray = np.full(n, np.iinfo(np.int64).max)

    diffusion = Diffusion(task.network, task.model, task.p)

    def value(people: Collection[int]) -> int:
        return int(diffusion.reach(people, task.samples, seed).sum())

    def best(free: BoolArray) -> int:
        reached = value(leaders)
        fresh = np.zeros(n, dtype=np.bool_)
        while (person := int(best_candidate(bound, free, priority))) >= 0 and not fresh[person]:
            bound[person] = value([*leaders, person]) - reached
            fresh[person] = True
        return person

    return picked_in_turn(task.candidates, task.k, best, leaders.append)


def picked_in_turn(
    candidates: Candidates, k: int, best: Callable[[BoolArray], int], take: Callable[[int], None]
) -> list[int]:
    """The people of ``must``, then the ``best`` of the free people (-1: none) until there are ``k``.

    ``take`` is called with every leader before the next is picked.
    """
    free = candidates.open_to_choice()
    leaders: list[int] = []
    while len(leaders) < k:
        required = len(leaders) < len(candidates.must)
        person = candidates.must[len(leaders)] if required else best(free)
        if person < 0:
            break
        leaders.append(person)
        free[person] = False
        take(person)
    return leaders
