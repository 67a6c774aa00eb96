"""Snowball sampling (Goodman, 1961): wave by wave outwards from the start people."""

from collections.abc import Callable

import numpy as np

from claim.discovery.discovered import Discovered
from claim.discovery.reasons import who_named

WAVE_BY_WAVE = "people nearer to the start come first, those equally near in random order"


class Snowball:
    """Surveys everybody of one wave before anybody of the next, in random order within a wave."""

    name = "snowball"

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """Random people of the earliest waves."""
        frontier = discovered.frontier
        waves = [discovered.wave[person] for person in frontier]
        order = np.lexsort((rng.random(len(frontier)), np.array(waves)))
        return [frontier[i] for i in order[:count]]

    def reasons(self, discovered: Discovered, person: int, name: Callable[[int], str]) -> list[str]:
        """Who named this person, and how waves come one after the other."""
        return [who_named(discovered, person, name), WAVE_BY_WAVE]
