"""Fixed live-edge worlds of an undirected network, on which leaders are compared."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from claim.cascades.influence import (
    Influence,
    check_people,
    in_chunks,
    largest_probability,
)
from claim.cascades.kernels import GapTable, draw_components, gap_table, memberships, reach_in_worlds
from claim.errors import InputError, check_number, check_whole
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray, OffsetArray

SECONDS_PER_LIVE_EDGE = 1.5e-8


class EdgeSampler(NamedTuple):
    """The m edges of an undirected network, once each, as kernels draw worlds from them."""

    n: int
    sources: IntArray  # (m,)
    targets: IntArray  # (m,)
    probabilities: FloatArray  # (m,), or empty if p is the probability of every edge
    p: float  # the largest probability
    expected_live: float  # the mean number of live edges in a world
    table: GapTable

    @classmethod
    def of(cls, network: Network, p: float) -> "EdgeSampler":
        """The edges of a network; with probability 0 there are none."""
        if network.directed:
            raise InputError(f"{network.name}: live-edge components need an undirected network")
        check_number(0, 1, probability=p)
        sources, targets, own = network.edges()
        p = largest_probability(network, p)
        if p == 0:
            sources, targets = sources[:0], targets[:0]
        probabilities = np.zeros(0) if own is None else own
        expected_live = float(p * len(sources) if own is None else own.sum())
        return cls(network.n, sources, targets, probabilities, float(p), expected_live, gap_table(p or 1.0))

    @property
    def seconds(self) -> float:
        """Roughly how long one thread takes to draw a world; only decides whether more threads are worth starting."""
        return SECONDS_PER_LIVE_EDGE * (1.0 + self.p * len(self.sources))


class Worlds(NamedTuple):
    """The connected components of each world: only components of two or more people are stored.

    ``members[starts[c]:starts[c + 1]]`` are the people of component ``c``; the components of world ``w`` are
    ``world_starts[w] .. world_starts[w + 1] - 1``; ``member_numbers[member_offsets[u]:member_offsets[u + 1]]`` are the
    components of person ``u``. A person in no component of a world is alone in it. Kernels take ``tuple(worlds)``:
    numba recognizes a plain tuple ten times faster than a named one.
    """

    n: int
    samples: int
    members: IntArray
    starts: OffsetArray
    world_starts: OffsetArray
    member_offsets: OffsetArray
    member_numbers: IntArray

    @classmethod
    def draw(cls, network: Network | EdgeSampler, p: float, samples: int, seed: int) -> "Worlds":
        """The worlds that follow from the seed, the same on any number of threads; edges may be prepared for p."""
        check_whole(1, samples=samples)
        edges = network if isinstance(network, EdgeSampler) else EdgeSampler.of(network, p)

        parts = in_chunks(partial(draw_components, edges, seed), samples, seconds=edges.seconds * samples)
        if len(parts) == 1:
            members, starts, world_starts = parts[0]
        else:
            members = np.concatenate([part[0] for part in parts])
            starts, world_starts = _joined([part[1] for part in parts]), _joined([part[2] for part in parts])
        return cls(edges.n, samples, members, starts, world_starts, *memberships(edges.n, members, starts))

    def reach(self, leaders: Iterable[int]) -> IntArray:
        """The number of people the leaders reach in each world."""
        reach = np.empty(self.samples, dtype=np.int32)
        reach_in_worlds(tuple(self), check_people(self.n, leaders), reach)
        return reach

    def influence(self, leaders: Iterable[int]) -> Influence:
        """Mean reach over the worlds, with its standard error."""
        return Influence.of(self.reach(leaders))


def _joined(parts: list[OffsetArray]) -> OffsetArray:
    """Offsets of consecutive chunks as one array: each chunk counts on from the end of the one before."""
    ends = np.cumsum([part[-1] for part in parts])
    return np.concatenate([parts[0], *(part[1:] + end for part, end in zip(parts[1:], ends, strict=False))])
