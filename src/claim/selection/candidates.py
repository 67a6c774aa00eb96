"""Who may be chosen, who must be and who must not."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claim.cascades.influence import check_people
from claim.errors import InputError


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
        both = np.intersect1d(required, excluded)
        if len(both):
            raise InputError(f"person {both[0]} both must and must not be chosen")
        if len(required) > k:
            raise InputError(f"{len(required)} people must be chosen, but there are only {k} leaders")
        allowed[excluded] = False
        return cls(allowed, tuple(required.tolist()))
