"""Leaders for the next wave: what was observed of the earlier ones, and the leaders who add the most to it.

Everyone whom a message reaches tries once to reach each contact. So the contacts between people reached and people who
were not have failed, and the people reached count like leaders who come in any case. What the failed contacts tell of
unseen ones still holds: foresight leaves them out of the worlds that it draws, and not of what it estimates from.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, is_dataclass, replace

import numpy as np

from claim.discovery import Discovered, Selector


@dataclass(frozen=True)
class Observed:
    """Whom earlier leaders are known to have reached, and contacts that failed (local indices).

    ``reached`` are leaders who came and people who said that they were reached.
    """

    reached: tuple[int, ...] = ()
    failed: frozenset[tuple[int, int]] = frozenset()  # a person reached, and one who was not

    @classmethod
    def of(cls, discovered: Discovered, reached: Mapping[int, int], missed: Mapping[int, int]) -> "Observed":
        """From the wave in which each person was first known to be reached, and last known not to be."""
        failed = (
            (contact, person)
            for person, wave in missed.items()
            for contact in discovered.contacts[person]
            if contact in reached and reached[contact] <= wave
        )
        return cls(tuple(reached), frozenset(failed))

    def first(self, must: Iterable[int] = ()) -> list[int]:
        """The people of ``must``, then those reached who are not among them: whom the next leaders add to."""
        return list(dict.fromkeys([*must, *self.reached]))

    def left(self, discovered: Discovered) -> Discovered:
        """What was discovered, without the contacts that failed."""
        return discovered.without(self.failed) if self.failed else discovered


NOTHING = Observed()


def next_leaders(
    selector: Selector,
    discovered: Discovered,
    k: int,
    rng: np.random.Generator,
    observed: Observed,
    must_not: Iterable[int] = (),
) -> list[int]:
    """``k`` more leaders, best first, or all who are left."""
    first = observed.first()
    others = [person for person in must_not if person not in first]
    if is_dataclass(selector) and hasattr(selector, "observed"):
        selector = replace(selector, observed=observed)
    else:
        discovered = observed.left(discovered)
    return selector.select(discovered, len(first) + k, rng, must=first, must_not=others)[len(first) :]
