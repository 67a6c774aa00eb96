"""The greedy loop that all forms of foresight share, and what it needs to know."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from claim.networks.network import FloatArray, OffsetArray
from claim.selection.candidates import Candidates, picked_in_turn
from claim.selection.foresight.course import Course
from claim.selection.foresight.view import BoolArray, View
from claim.selection.kernels import best_candidate

SAME = 9  # digits; equal sums in another order differ in the last digits, and would be no ties


class Track(Protocol):
    """A selection in progress for one probability p."""

    def gains(self) -> FloatArray:
        """How many people somebody of each class is expected to add."""
        ...

    def take(self, person: int) -> None:
        """Make somebody a leader."""
        ...


class SeenOnly:
    """A track that takes the seen contacts for all there are, and counts the people of some kind only."""

    def __init__(self, course: Course, counted: BoolArray) -> None:
        self.course, self.counted = course, counted.astype(np.float64)

    def gains(self) -> FloatArray:
        """How many of the people counted somebody of each class adds."""
        return self.course.mean_gains(self.counted)

    def take(self, person: int) -> None:
        """Make somebody a leader."""
        self.course.take(person)


def pick_leaders(
    tracks: Sequence[Track], view: View, candidates: Candidates, k: int, priority: OffsetArray
) -> list[int]:
    """Those who must lead, then at each pick whoever is expected to add the most, on average over the tracks."""

    def take(person: int) -> None:
        for track in tracks:
            track.take(person)

    return picked_in_turn(candidates, k, lambda free: _best(tracks, view, free, priority), take)


def _best(tracks: Sequence[Track], view: View, free: BoolArray, priority: OffsetArray) -> int:
    if not free.any():
        return -1
    gains = sum((track.gains() for track in tracks), np.zeros(view.groups))
    return int(best_candidate(np.round(gains, SAME)[view.group], free, priority))


def gains_in_order(track: Track, view: View, leaders: Sequence[int]) -> list[float]:
    """How many people each leader is expected to add to those before."""
    added = []
    for leader in leaders:
        added.append(float(track.gains()[view.group[leader]]))
        track.take(leader)
    return added
