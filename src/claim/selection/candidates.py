"""Who may be chosen, who must be and who must not, and who wins a tie."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from claim.cascades.influence import check_people
from claim.errors import InputError
from claim.networks.network import OffsetArray

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
