"""The greedy oracle O of the paper (Kempe, Kleinberg and Tardos, 2003) on common live-edge worlds.

In an undirected world a leader reaches exactly their component. A component is therefore covered once: when somebody in
it is picked, its size is taken off the gains of all its members, and the next pick is simply the largest gain left.
Gains are whole numbers, so ties are real ties.
"""

from collections.abc import Callable, Collection
from typing import Literal

import numpy as np
import numpy.typing as npt

from claim.cascades.coins import gap_table
from claim.cascades.influence import check_samples, play_cascades
from claim.cascades.threads import in_chunks
from claim.cascades.worlds import EdgeCoins, Worlds
from claim.networks import Network
from claim.networks.network import OffsetArray
from claim.selection.candidates import Candidates
from claim.selection.kernels import best_candidate, cover, first_gains, replayed_gains

Ties = Literal["random", "first"]
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
    seed = int(rng.integers(0, 2**63 - 1))
    priority = _priority(network.n, ties, rng)
    if network.directed:
        return _lazy(network, candidates, k, p, samples, seed, priority)
    coins = EdgeCoins.of(network, p)
    if 2 * coins.expected_live * samples > MOST_STORED:
        return _replayed(coins, candidates, k, samples, seed, priority)
    return _stored(Worlds.from_coins(coins, samples, seed), candidates, k, priority)


def _priority(n: int, ties: Ties, rng: np.random.Generator) -> OffsetArray:
    """Who wins a tie: the smallest index, or whoever chance put first."""
    return rng.permutation(n) if ties == "random" else np.arange(n, 0, -1)


def _stored(worlds: Worlds, candidates: Candidates, k: int, priority: OffsetArray) -> list[int]:
    """Decremental greedy on worlds held in memory."""
    gains = first_gains(worlds.samples, worlds.starts, worlds.member_offsets, worlds.member_numbers)
    covered = np.zeros(len(worlds.starts) - 1, dtype=np.bool_)

    def gains_after(leaders: list[int]) -> OffsetArray:
        if leaders:
            cover(
                leaders[-1], gains, covered, worlds.members, worlds.starts, worlds.member_offsets, worlds.member_numbers
            )
        return gains  # type: ignore[no-any-return]

    return _pick(gains_after, candidates, k, priority)


def _replayed(
    coins: EdgeCoins, candidates: Candidates, k: int, samples: int, seed: int, priority: OffsetArray
) -> list[int]:
    """The same picks with memory for the people only: every pick draws the same worlds again."""
    table = gap_table(coins.p)

    def gains_after(leaders: list[int]) -> OffsetArray:
        chosen = np.array(leaders, dtype=np.int32)

        def chunk(first: int, count: int) -> OffsetArray:
            return replayed_gains(  # type: ignore[no-any-return]
                coins.n, coins.sources, coins.targets, coins.thinned, coins.p, table, seed, first, count, chosen
            )

        return np.sum(in_chunks(chunk, samples, smallest=1), axis=0)  # type: ignore[no-any-return]

    return _pick(gains_after, candidates, k, priority)


def _pick(
    gains_after: Callable[[list[int]], OffsetArray], candidates: Candidates, k: int, priority: OffsetArray
) -> list[int]:
    """The people who must be chosen, then the best of those who may be until there are ``k``."""
    leaders: list[int] = []
    allowed = candidates.allowed.copy()
    for person in candidates.must:
        gains_after(leaders)
        leaders.append(person)
        allowed[person] = False
    while len(leaders) < k:
        best = int(best_candidate(gains_after(leaders), allowed, priority))
        if best < 0:
            break
        leaders.append(best)
        allowed[best] = False
    return leaders


def _lazy(
    network: Network, candidates: Candidates, k: int, p: float, samples: int, seed: int, priority: OffsetArray
) -> list[int]:
    """CELF (Leskovec et al., 2007) for directed networks, where components do not say who reaches whom.

    Gains only shrink, so a stale gain is an upper bound: only people whose bound is the largest are computed again.
    """

    def value(leaders: Collection[int]) -> int:
        return int(play_cascades(network, leaders, p, samples, seed)[0].sum())

    leaders = list(candidates.must)
    allowed = candidates.allowed.copy()
    allowed[leaders] = False
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
