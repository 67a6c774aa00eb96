"""The greedy oracle O of the paper (Kempe, Kleinberg and Tardos, 2003) on common live-edge worlds.

In an undirected world a leader reaches exactly their component. A component is therefore covered once: when somebody in
it is picked, its size is taken off the gains of all its members, and the next pick is simply the largest gain left.
Gains are whole numbers, so ties are real ties.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from claim.cascades.influence import check_samples, play_cascades
from claim.cascades.worlds import EdgeCoins, Worlds
from claim.networks import Network
from claim.networks.network import OffsetArray
from claim.randomness import draw_seed
from claim.selection.candidates import Candidates, Ties, tie_priority
from claim.selection.kernels import best_candidate, first_gains, pick_covering
from claim.selection.replay import replayed_greedy

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
