"""The greedy oracle: candidates, lazy evaluation on stored worlds, and a readable reference."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from claim.cascades.coins import gap_table, stream_uniform
from claim.cascades.influence import check_people, check_samples, in_chunks, play_cascades
from claim.cascades.reference import reached
from claim.cascades.worlds import EdgeCoins, Worlds
from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import IntArray, OffsetArray
from claim.randomness import draw_seed
from claim.selection.kernels import (
    best_candidate,
    first_gains,
    pick_covering,
    pick_from_shortlist,
    replayed_components,
    replayed_gains,
)

Ties = Literal["random", "first"]


@dataclass(frozen=True)
class Candidates:
    """``must`` are leaders in any case; the rest is chosen among the ``allowed``."""

    allowed: npt.NDArray[np.bool_]
    must: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, n: int, k: int, may: Iterable[int] | None = None, must: Iterable[int] = (), must_not: Iterable[int] = ()
    ) -> "Candidates":
        """Candidates among ``n`` people; contradictions and impossible numbers are refused."""
        if k < 1:
            raise InputError(f"the number of leaders must be at least 1, not {k}")
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

    def open_to_choice(self) -> npt.NDArray[np.bool_]:
        """Who is left to choose from once those who must be leaders are; a copy to cross people off."""
        free = self.allowed.copy()
        free[list(self.must)] = False
        return free


def picked_in_turn(
    candidates: Candidates,
    k: int,
    best: Callable[[npt.NDArray[np.bool_]], int],
    take: Callable[[int], None],
) -> list[int]:
    """Those who must lead, then up to ``k`` in all the best of those left (-1: nobody); each is taken in turn."""
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


def tie_priority(n: int, ties: Ties, rng: np.random.Generator) -> OffsetArray:
    """Who wins a tie, highest number first: the smallest index, or whoever chance put first."""
    if ties not in ("random", "first"):
        raise InputError(f"ties are broken at 'random' or to the 'first', not {ties!r}")
    return rng.permutation(n) if ties == "random" else np.arange(n, 0, -1)


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

    def priority(self) -> OffsetArray:
        """Who wins a tie: the person of the highest number."""
        return tie_priority(self.network.n, self.ties, self.rng)


@dataclass(frozen=True)
class Chosen:
    """Leaders (indices, in the order of choice) and, where a method proves one, its share of the best possible."""

    leaders: list[int]
    guarantee: float | None = None


Method: TypeAlias = Callable[[Task], Chosen]


SHORTLIST = 2_000_000  # people times worlds that are followed, 8 bytes each


def replayed_greedy(
    coins: EdgeCoins, candidates: Candidates, k: int, samples: int, seed: int, priority: OffsetArray
) -> list[int]:
    """The ``k`` leaders, in the order in which they were picked."""
    leaders, free = list(candidates.must), candidates.open_to_choice()
    while len(leaders) < k and free.any():
        gains = _gains(coins, samples, seed, leaders)
        shortlist, bound = shortlisted(gains, free, priority, max(1, SHORTLIST // samples))
        roots, sizes = _components(coins, samples, seed, leaders, shortlist)
        picked = pick_from_shortlist(k - len(leaders), bound, priority[shortlist], roots, sizes)
        leaders += shortlist[picked].tolist()
        free[shortlist[picked]] = False
    return leaders


def shortlisted(
    gains: OffsetArray, free: npt.NDArray[np.bool_], priority: OffsetArray, length: int
) -> tuple[IntArray, int]:
    """The free people of the largest gains, best first (ties by priority), and the largest gain of the others."""
    people = np.flatnonzero(free)
    order = people[np.lexsort((-priority[people], -gains[people]))].astype(np.int32)
    return order[:length], int(gains[order[length]]) if len(order) > length else -1


def _gains(coins: EdgeCoins, samples: int, seed: int, leaders: list[int]) -> OffsetArray:
    """What everybody gains on top of the leaders, summed over all worlds."""
    table, chosen = gap_table(coins.p), np.array(leaders, dtype=np.int32)

    def chunk(first: int, count: int) -> OffsetArray:
        return replayed_gains(  # type: ignore[no-any-return]
            coins.n, coins.sources, coins.targets, coins.thinned, coins.p, table, seed, first, count, chosen
        )

    return np.sum(in_chunks(chunk, samples, seconds=coins.seconds * samples), axis=0)  # type: ignore[no-any-return]


def _components(
    coins: EdgeCoins, samples: int, seed: int, leaders: list[int], shortlist: IntArray
) -> tuple[IntArray, IntArray]:
    """For each world and shortlisted person the name of their component and its size, 0 if a leader is in it."""
    table, chosen = gap_table(coins.p), np.array(leaders, dtype=np.int32)
    roots = np.empty((samples, len(shortlist)), dtype=np.int32)
    sizes = np.empty_like(roots)

    def chunk(first: int, count: int) -> None:
        out = slice(first, first + count)
        replayed_components(
            coins.n, coins.sources, coins.targets, coins.thinned, coins.p, table, seed, first,
            chosen, shortlist, roots[out], sizes[out],
        )  # fmt: skip

    in_chunks(chunk, samples, seconds=coins.seconds * samples)
    return roots, sizes


MOST_STORED = 20_000_000  # memberships; worlds beyond this (about 250 MB) are replayed instead of kept


def greedy(
    network: Network,
    candidates: Candidates,
    k: int,
    p: float,
    samples: int,
    rng: np.random.Generator,
    ties: Ties = "random",
) -> list[int]:
    """The ``k`` leaders, in the order in which they were picked."""
    check_samples(samples)
    seed = draw_seed(rng)
    priority = tie_priority(network.n, ties, rng)
    if network.directed:
        return _lazy(network, candidates, k, p, samples, seed, priority)
    coins = EdgeCoins.of(network, p)
    if 2 * coins.expected_live * samples > MOST_STORED:
        return replayed_greedy(coins, candidates, k, samples, seed, priority)
    return _stored(Worlds.from_coins(coins, samples, seed), candidates, k, priority)


def _stored(worlds: Worlds, candidates: Candidates, k: int, priority: OffsetArray) -> list[int]:
    """Decremental greedy on worlds held in memory."""
    leaders = pick_covering(
        k,
        np.array(candidates.must, dtype=np.int64),
        candidates.open_to_choice(),
        priority,
        first_gains(worlds.n, worlds.samples, worlds.members, worlds.starts),
        worlds.members,
        worlds.starts,
        worlds.member_offsets,
        worlds.member_numbers,
    )
    return leaders.tolist()  # type: ignore[no-any-return]


def _lazy(
    network: Network, candidates: Candidates, k: int, p: float, samples: int, seed: int, priority: OffsetArray
) -> list[int]:
    """CELF (Leskovec et al., 2007) for directed networks, where components do not say who reaches whom.

    Gains only shrink, so a stale gain is an upper bound: only people whose bound is the largest are computed again.
    """

    def value(leaders: Collection[int]) -> int:
        return int(play_cascades(network, leaders, p, samples, seed)[0].sum())

    leaders = list(candidates.must)
    allowed = candidates.open_to_choice()
    reached = value(leaders)
    bound: npt.NDArray[np.int64] = np.full(network.n, np.iinfo(np.int64).max)
    while len(leaders) < k and allowed.any():
        fresh = np.zeros(network.n, dtype=np.bool_)
        while True:
            best = int(best_candidate(bound, allowed, priority))
            if fresh[best]:
                break
            bound[best] = value([*leaders, best]) - reached
            fresh[best] = True
        leaders.append(best)
        allowed[best] = False
        reached += int(bound[best])
    return leaders


def reverse_set(network: Network, p: float, seed: int, sample: int) -> set[int]:
    """Everybody who would have reached one random person, that person included.

    A cascade against the direction of the edges from a person drawn from the stream that no person uses.
    """
    sources, targets, probabilities = network.edges()
    against = network
    if network.directed:
        against = Network.from_edges(targets, sources, n=network.n, directed=True, probabilities=probabilities)
    root = min(int(stream_uniform(seed, sample, network.n) * network.n), network.n - 1)
    return reached(against, [root], p, seed, sample)
