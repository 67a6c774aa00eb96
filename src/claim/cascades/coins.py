"""Replayable coins: the fate of every edge follows from a seed and nothing else.

A stream of coins is named by (seed, world, key). Whoever asks for the same name gets the same coins, in any order and
on any thread, so worlds need not be stored to be shared. The generator is SplitMix64 (Steele, Lea and Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014). Failed edges are never visited: the gap to the next live edge
is geometric, so one draw skips all failures before it.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit

from claim.networks.network import FloatArray, IntArray

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
WORLD_KEY = 0xD6E8FEB86659FD93  # odd constants that keep the worlds of a seed and the streams of a world apart
STREAM_KEY = 0xA0761D6478BD642F
UNIT = 2.0**-53
GUIDE = 1024
LONGEST_IN_TABLE = 256
FAR = 2.0**40  # a gap beyond any network, small enough to be added to a position

_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_WORLD_KEY, _STREAM_KEY, _ONE = np.uint64(WORLD_KEY), np.uint64(STREAM_KEY), np.uint64(1)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


class GapTable(NamedTuple):
    """Turns a uniform number into a geometric gap without a logarithm.

    ``power[j]`` is (1 - p)^j, the chance that a gap is ``j`` or longer. ``guide[b]`` is a gap that no number in the
    ``b``-th of ``GUIDE`` equal slices falls short of; from there a step or two reach the gap itself.
    """

    power: FloatArray
    guide: IntArray
    log_fail: float


@lru_cache(maxsize=64)
def gap_table(p: float) -> GapTable:
    """The table for one probability above 0."""
    log_fail = math.log1p(-p) if p < 1 else -math.inf
    power = np.ones(LONGEST_IN_TABLE + 1)
    power[1:] = np.exp(np.arange(1, LONGEST_IN_TABLE + 1) * log_fail)
    slice_ends = np.minimum(np.arange(1, GUIDE + 2) / GUIDE, 1.0)
    guide = np.searchsorted(-power, -slice_ends, side="right") - 1
    return GapTable(power, guide.astype(np.int32), log_fail)


@njit(cache=True, inline="always")
def mix(x):  # type: ignore[no-untyped-def]
    """Scramble 64 bits."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@njit(cache=True, inline="always")
def world_state(seed, world):  # type: ignore[no-untyped-def]
    """What all streams of one world start from."""
    return mix(np.uint64(seed) + np.uint64(world) * _WORLD_KEY)


@njit(cache=True, inline="always")
def stream(world, key):  # type: ignore[no-untyped-def]
    """The state of one stream of a world."""
    return world + np.uint64(key) * _STREAM_KEY


@njit(cache=True, inline="always")
def uniform(state):  # type: ignore[no-untyped-def]
    """The uniform number in (0, 1] of a state; add ``_GOLDEN`` to the state for the next one."""
    return float((mix(state) >> _S11) + _ONE) * UNIT


@njit(cache=True, inline="always")
def gap(u, power, guide, log_fail):  # type: ignore[no-untyped-def]
    """How many failures come before the next live edge; takes a uniform number and the parts of a table."""
    last = len(power) - 1
    failures = np.int64(guide[int(u * GUIDE)])
    while failures < last and u <= power[failures + 1]:
        failures += 1
    if failures == last:
        failures = np.int64(min(math.log(u) / log_fail, FAR))
    return failures


def live_positions(
    seed: int, world: int, key: int, count: int, p: float, thinned: list[float] | None = None
) -> Iterator[int]:
    """The live ones among ``count`` edges, readable version of the loop in each kernel.

    With ``thinned``, edge ``i`` has its own probability ``thinned[i] <= p``: gaps are drawn with the largest ``p`` and
    a second coin keeps the edge with probability ``thinned[i] / p``.
    """
    if p <= 0:
        return
    log_fail = math.log1p(-p) if p < 1 else -math.inf
    state = _mix(seed + world * WORLD_KEY) + key * STREAM_KEY
    position = 0
    while position < count:
        failures = math.log(_uniform(state)) / log_fail
        state += GOLDEN
        if failures >= count - position:
            return
        position += int(failures)
        live = True
        if thinned is not None:
            live = _uniform(state) * p <= thinned[position]
            state += GOLDEN
        if live:
            yield position
        position += 1


def stream_uniform(seed: int, world: int, key: int) -> float:
    """The first number of a stream, readable version of what kernels draw."""
    return _uniform(_mix(seed + world * WORLD_KEY) + key * STREAM_KEY)


def _mix(x: int) -> int:
    x &= MASK
    x = ((x ^ (x >> 30)) * MIX_1) & MASK
    x = ((x ^ (x >> 27)) * MIX_2) & MASK
    return x ^ (x >> 31)


def _uniform(state: int) -> float:
    return ((_mix(state) >> 11) + 1) * UNIT
