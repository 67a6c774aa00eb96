"""The greedy oracle with memory for the people only: worlds are drawn again instead of kept.

Gains only shrink as leaders are picked, so a pass over all worlds that gives everybody's gain also bounds everybody's
later gains. Only a shortlist of the largest is followed world by world; its picks are right as long as they gain more
than anybody off the list could. The picks are those of the greedy on stored worlds, in a few passes instead of one a
pick.
"""

import numpy as np
import numpy.typing as npt

from claim.cascades.coins import gap_table
from claim.cascades.threads import in_chunks
from claim.cascades.worlds import EdgeCoins
from claim.networks.network import IntArray, OffsetArray
from claim.selection.candidates import Candidates
from claim.selection.kernels import pick_from_shortlist, replayed_components, replayed_gains

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
