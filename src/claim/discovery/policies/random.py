"""Surveys that look at nothing: a random person, or a random class of people and one of its members."""

from collections.abc import Callable

import numpy as np

from claim.discovery.discovered import Discovered
from claim.discovery.reasons import who_named

BY_CHANCE = "drawn by chance"


class RandomPerson:
    """Everybody heard of is equally likely (the paper's Random)."""

    name = "random"

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """A random sample of the frontier."""
        frontier = discovered.frontier
        return rng.choice(frontier, min(count, len(frontier)), replace=False).tolist() if frontier else []

    def reasons(self, discovered: Discovered, person: int, name: Callable[[int], str]) -> list[str]:
        """Who named this person, which made no difference."""
        return [who_named(discovered, person, name), BY_CHANCE]


class RandomClass:
    """Every class is equally likely, however many people it has; the honest yardstick for class-based policies."""

    name = "random-class"

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """A member of one random class after another; classes come round again once all had their turn."""
        waiting = [rng.permutation(group.members).tolist() for group in discovered.frontier_classes]
        chosen: list[int] = []
        while waiting and len(chosen) < count:
            for i in rng.permutation(len(waiting))[: count - len(chosen)]:
                chosen.append(waiting[i].pop())
            waiting = [members for members in waiting if members]
        return chosen

    def reasons(self, discovered: Discovered, person: int, name: Callable[[int], str]) -> list[str]:
        """Who named this person, which made no difference."""
        return [who_named(discovered, person, name), BY_CHANCE]
