"""Policies for open studies, in which new people can be interviewed: new people only, mixes, and two published ways to
choose leaders without a selector.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from claim.discovery.discovered import NEW, Discovered
from claim.discovery.protocols import Policy, highest
from claim.discovery.reasons import reasons_of_each
from claim.messages import Message
from claim.networks.network import FloatArray, IntArray
from claim.randomness import draw_seed

NAMED_FOLLOW = "{done} of {wanted} new people have been interviewed; named people follow"
ONLY_NEW = "{done} of {wanted} new people have been interviewed"


class NewPeople:
    """Every interview is with a new person."""

    name = "new"
    only_open = True

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """New people, as long as there are any."""
        return [NEW] * count if discovered.open else []

    def reasons(self, discovered: Discovered, person: int) -> list[Message]:
        """That this way interviews new people only."""
        return [Message("this way of asking interviews new people only")]


@dataclass(frozen=True)
class Mix:
    """First a share of all interviews with new people, then those that another policy chooses among named people."""

    share: float | None  # None: the best for the number of interviews on training networks
    policy: Policy
    name: str
    interviews: int
    only_open = True

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """New people until their share is reached."""
        left = max(self._wanted(discovered) - len(discovered.start), 0) if discovered.open else 0
        new = [NEW] * min(left, count)
        return [*new, *(self.policy.choose(discovered.closed(), rng, count - len(new)) if len(new) < count else [])]

    def reasons(self, discovered: Discovered, person: int) -> list[Message]:
        """The share of new people, or the reasons of the other policy."""
        return self.reasons_of_each(discovered, [person])[0]

    def reasons_of_each(self, discovered: Discovered, people: Sequence[int]) -> list[list[Message]]:
        """The reasons of several people."""
        known = [person for person in people if person != NEW]
        found = iter(reasons_of_each(self.policy, discovered.closed(), known))
        wanted = self._wanted(discovered)
        text = NAMED_FOLLOW if wanted < self.interviews else ONLY_NEW
        new = [Message.of(text, done=len(discovered.start), wanted=wanted)]
        return [new if person == NEW else next(found) for person in people]

    def _wanted(self, discovered: Discovered) -> int:
        share = best_share(self.interviews, bool(discovered.marks)) if self.share is None else self.share
        return round(share * self.interviews)


class OneHop(NewPeople):
    """New people only; each names one random contact, and ``k`` of those lead (Kim et al., The Lancet 2015).

    An interview that brings no contact, or one who leads already, is lost.
    """

    name = "one-hop"

    def select(self, discovered: Discovered, k: int, rng: np.random.Generator) -> list[int]:
        """A random ``k`` of the contacts named, or all of them if they are fewer."""
        contacts = (list(discovered.contacts[person]) for person in discovered.start)
        named = list(dict.fromkeys(int(rng.choice(each)) for each in contacts if each))
        return rng.choice(named, min(k, len(named)), replace=False).tolist() if named else []


@dataclass
class EdgeProbing:
    """Seeding with costly network information (Eckles, Esfandiari, Mossel and Rahimian, Operations Research 2022).

    A share of the interviews is with new people. From them, one copy of the network after the other is explored, in
    which each tie is live with probability ``p``: everyone reached is interviewed, once for all copies. The weight of
    a component is the number of new people in it. Leaders are taken greedily by the weight of their components.
    """

    share: float | None = None  # of new people; None: the best for the number of interviews on training networks
    copies: int = 50
    interviews: int = 10
    p: float = 0.1
    name: str = "edge-probing"
    only_open = True
    _seed: int | None = field(default=None, repr=False)
    _explored: int = field(default=0, repr=False)  # copies in which everyone reached has been asked

    def for_study(self, interviews: int, p: float) -> "EdgeProbing":
        """The same for so many interviews, and this probability that a message passes along a contact."""
        return replace(self, interviews=interviews, p=p)

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """New people first; then people reached in the first copy that is not explored yet."""
        if self._seed is None:
            self._seed = draw_seed(rng)
        share = probing_share(self.interviews) if self.share is None else self.share
        new = max(round(share * self.interviews), 1) - len(discovered.start)
        if new > 0 and discovered.open:
            return [NEW] * min(new, count)
        waiting = np.array(discovered.frontier, dtype=np.int64)
        while self._explored < self.copies and len(waiting):
            component, weight = self._components(discovered, self._explored)
            reached = waiting[weight[component[waiting]] > 0]
            if len(reached):
                return [int(person) for person in reached[:count]]
            self._explored += 1
        return []

    def _components(self, discovered: Discovered, copy: int) -> tuple[IntArray, FloatArray]:
        """The component of each person in a copy (people,), and the number of new people in each component."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n, (one, other) = len(discovered), discovered.ties()
        live = np.random.default_rng((self._seed or 0, copy)).random(len(one)) < self.p  # later ties change no earlier
        graph = coo_array((np.ones(live.sum()), (one[live], other[live])), shape=(n, n))
        count, component = connected_components(graph, directed=False)
        weight = np.bincount(component[discovered.start], minlength=count).astype(np.float64)
        return component, weight

    def select(self, discovered: Discovered, k: int, rng: np.random.Generator) -> list[int]:
        """The people whose components hold the most new people that no leader before them holds, ties at random."""
        if not len(discovered):
            return []
        copies = [self._components(discovered, copy) for copy in range(self.copies)]
        people = list(range(len(discovered)))
        leaders: list[int] = []
        for _ in range(min(k, len(people))):
            total = np.sum([weight[component] for component, weight in copies], axis=0)
            total[leaders] = -1.0
            (best,) = highest(people, total.tolist(), rng, 1)
            leaders.append(best)
            for component, weight in copies:
                weight[component[best]] = 0.0
        return leaders


# By the number of interviews: the share of new people of edge-probing that reaches the most on training networks
PROBING_SHARES = {10: 0.2, 25: 0.1, 55: 1.0}


def probing_share(interviews: int) -> float:
    """The share for the number of interviews that was tried and is nearest; those between are worse than either."""
    return PROBING_SHARES[min(PROBING_SHARES, key=lambda tried: abs(np.log(tried / max(interviews, 1))))]


# By the number of interviews: the share of new people that reaches the most on training networks
BEST_SHARES = {10: 1.0, 25: 0.6, 55: 0.5}
MARKED_SHARES = {10: 1.0, 25: 0.5, 55: 0.4}  # the same where people say who knows the most people


def best_share(interviews: int, marked: bool = False) -> float:
    """The share of new people of ``mix:best``."""
    return share_for(MARKED_SHARES if marked else BEST_SHARES, interviews)


def share_for(shares: Mapping[int, float], interviews: int) -> float:
    """The share for a number of interviews, between the numbers that were tried by their logarithm."""
    return float(np.interp(np.log(max(interviews, 1)), np.log(list(shares)), list(shares.values())))
