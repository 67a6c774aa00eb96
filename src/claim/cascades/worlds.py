"""Fixed live-edge worlds of an undirected network, shared by all that are compared."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from claim.cascades.coins import gap_table
from claim.cascades.influence import (
    NO_PROBABILITIES,
    Influence,
    check_people,
    check_probability,
    check_samples,
    in_chunks,
)
from claim.cascades.kernels import draw_components, memberships, reach_in_worlds
from claim.cascades.reference import coin_probability
from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray, OffsetArray

SECONDS_A_LIVE_EDGE = 4e-8


@dataclass(frozen=True)
class EdgeCoins:
    """What a world is drawn from: the edges, once each, and the probability of each."""

    n: int
    sources: IntArray
    targets: IntArray
    thinned: FloatArray
    p: float

    @classmethod
    def of(cls, network: Network, p: float) -> "EdgeCoins":
        """The coins of an undirected network; with probability 0 no edge is ever drawn."""
        if network.directed:
            raise InputError(f"{network.name}: live-edge components need an undirected network")
        check_probability(p)
        sources, targets, probabilities = network.edges()
        coin = coin_probability(network, p)
        if coin == 0:
            sources, targets = sources[:0], targets[:0]
        thinned = NO_PROBABILITIES if probabilities is None else probabilities
        return cls(network.n, sources, targets, thinned, coin)

    @property
    def expected_live(self) -> float:
        """How many edges are live in a world, on average."""
        return float(self.thinned.sum()) if len(self.thinned) else self.p * len(self.sources)

    @property
    def seconds(self) -> float:
        """Roughly how long one thread takes to draw a world; only decides whether more threads are worth starting."""
        return SECONDS_A_LIVE_EDGE * (1.0 + self.p * len(self.sources))


@dataclass(frozen=True)
class Worlds:
    """Who belongs together in each world: only components of two or more people are stored.

    ``members[starts[c]:starts[c + 1]]`` are the people of component ``c``; the components of world ``w`` are
    ``world_starts[w] .. world_starts[w + 1] - 1``; ``member_numbers[member_offsets[u]:member_offsets[u + 1]]`` are the
    components of person ``u``. Whoever is in no component of a world is alone in it.
    """

    n: int
    samples: int
    members: IntArray
    starts: OffsetArray
    world_starts: OffsetArray
    member_offsets: OffsetArray
    member_numbers: IntArray

    @classmethod
    def draw(cls, network: Network, p: float, samples: int, seed: int) -> "Worlds":
        """The worlds that follow from the seed, the same on any number of threads."""
        return cls.from_coins(EdgeCoins.of(network, p), samples, seed)

    @classmethod
    def from_coins(cls, coins: EdgeCoins, samples: int, seed: int) -> "Worlds":
        """Worlds from prepared coins."""
        check_samples(samples)

        table = gap_table(coins.p or 1.0)  # with p = 0 there is no edge left to draw

        def draw(first: int, count: int) -> tuple[IntArray, OffsetArray, OffsetArray]:
            return draw_components(  # type: ignore[no-any-return]
                coins.n, coins.sources, coins.targets, coins.thinned, coins.p, table, seed, first, count
            )

        members, starts, world_starts = _joined(in_chunks(draw, samples, seconds=coins.seconds * samples))
        offsets, numbers = memberships(coins.n, members, starts)
        return cls(coins.n, samples, members, starts, world_starts, offsets, numbers)

    def reach(self, leaders: Iterable[int]) -> IntArray:
        """How many people the leaders reach in each world."""
        chosen = check_people(self.n, leaders)
        reach = np.empty(self.samples, dtype=np.int32)
        reach_in_worlds(chosen, self.starts, self.world_starts, self.member_offsets, self.member_numbers, reach)
        return reach

    def influence(self, leaders: Iterable[int]) -> Influence:
        """Mean reach over the worlds, with its standard error."""
        return Influence.of(self.reach(leaders))


def _joined(parts: list[tuple[IntArray, OffsetArray, OffsetArray]]) -> tuple[IntArray, OffsetArray, OffsetArray]:
    """Chunks of worlds as one: later chunks count on from where earlier ones ended."""
    if len(parts) == 1:
        return parts[0]
    members = np.concatenate([part[0] for part in parts])
    shift_members = np.cumsum([0] + [len(part[0]) for part in parts])
    shift_components = np.cumsum([0] + [len(part[1]) - 1 for part in parts])
    starts = [part[1][:-1] + shift for part, shift in zip(parts, shift_members[:-1], strict=True)]
    worlds = [part[2][:-1] + shift for part, shift in zip(parts, shift_components[:-1], strict=True)]
    return (
        members,
        np.concatenate([*starts, shift_members[-1:]]),
        np.concatenate([*worlds, shift_components[-1:]]),
    )
