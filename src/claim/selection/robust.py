"""Greedy on the seen contacts for leaders who may not come, or for a probability p that is only known by its range.

In each world a leader covers their component with the chance that they come, so a component of which somebody is chosen
keeps a part of its worth, and a second leader in it is a reserve. An unknown p is met by worlds of several p at once.
With certain leaders and one p the choice is that of the plain greedy oracle.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from claim.cascades.influence import check_probability, check_samples
from claim.cascades.worlds import Worlds
from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import draw_seed
from claim.selection.foresight.kernels import cover_components, expected_gains
from claim.selection.greedy import Candidates, Ties, picked_in_turn, tie_priority
from claim.selection.kernels import best_candidate

SAME = 9  # digits; equal sums in another order differ in the last digits, and would be no ties


def check_attendance(attendance: float) -> None:
    """Refuse what is no chance to come; nobody would ever be chosen for leaders who never come."""
    if not 0 < attendance <= 1:
        raise InputError(f"attendance is a share above 0 and at most 1, not {attendance}")


def hedged_greedy(
    network: Network,
    candidates: Candidates,
    k: int,
    chances: Sequence[float],
    attendance: float,
    samples: int,
    rng: np.random.Generator,
    ties: Ties = "random",
) -> list[int]:
    """The ``k`` leaders, in the order in which they were picked, by their mean gain over the values of p."""
    check_samples(samples)
    check_attendance(attendance)
    for p in chances:
        check_probability(p)
    seed = draw_seed(rng)
    priority = tie_priority(network.n, ties, rng)
    tracks = [_Track(network, p, samples, seed, attendance) for p in chances]

    def best(free: npt.NDArray[np.bool_]) -> int:
        gains = sum((track.gains() for track in tracks), np.zeros(network.n))
        return int(best_candidate(np.round(gains, SAME), free, priority))

    def take(person: int) -> None:
        for track in tracks:
            track.take(person)

    return picked_in_turn(candidates, k, best, take)


class _Track:
    """The worlds of one p, and the chance that each component is still uncovered."""

    def __init__(self, network: Network, p: float, samples: int, seed: int, attendance: float) -> None:
        self.worlds = Worlds.draw(network, p, samples, seed)
        self.attendance = attendance
        self.uncovered = np.ones(len(self.worlds.starts) - 1)
        self._one_each = np.ones(network.n)

    def gains(self) -> FloatArray:
        w = self.worlds
        gains: FloatArray = expected_gains(
            w.samples, self._one_each, self.uncovered, w.members, w.starts, w.member_offsets
        )
        return gains

    def take(self, person: int) -> None:
        w = self.worlds
        cover_components(person, self.attendance, self.uncovered, w.member_offsets, w.member_numbers)
