"""Interviews steered by shares by group."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from claim.discovery.discovered import NEW, Discovered
from claim.discovery.protocols import Policy
from claim.discovery.reasons import reasons_of_each
from claim.errors import InputError
from claim.messages import Message

EQUAL = "equal"
BEHIND = "fewer people of the group {group} were asked than planned"


@dataclass(frozen=True)
class Quota:
    """The person whom another policy ranks first in the group whose interviews are farthest behind their share.

    Without ``shares`` all groups said so far have the same. People whose group was not said come after those of groups
    that are behind, in the order of the other policy.
    """

    policy: Policy
    shares: dict[str, float] = field(default_factory=dict)
    name: str = "quota"

    @property
    def only_open(self) -> bool:
        """Whether the other policy interviews new people."""
        return getattr(self.policy, "only_open", False)

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The people of the groups that are behind, each group's best first."""
        ranked = list(self.policy.choose(discovered, rng, max(count, len(discovered.frontier))))
        asked = Counter(discovered.groups.get(person) for person in discovered.surveyed)
        chosen: list[int] = []
        while ranked and len(chosen) < count:
            behind = self._behind(discovered, asked)
            best = max(range(len(ranked)), key=lambda i: (behind.get(self._group(discovered, ranked[i]), 0.0), -i))
            chosen.append(ranked.pop(best))
            asked[self._group(discovered, chosen[-1])] += 1
        return chosen

    def reasons(self, discovered: Discovered, person: int) -> list[Message]:
        """The reasons of the other policy, and whether the person's group is behind."""
        return self.reasons_of_each(discovered, [person])[0]

    def reasons_of_each(self, discovered: Discovered, people: Sequence[int]) -> list[list[Message]]:
        """The reasons of several people."""
        behind = self._behind(discovered, Counter(discovered.groups.get(person) for person in discovered.surveyed))
        found = reasons_of_each(self.policy, discovered, people)
        groups = [self._group(discovered, person) for person in people]
        return [
            [*why, Message.of(BEHIND, group=group)] if behind.get(group, 0.0) > 0 else why
            for why, group in zip(found, groups, strict=True)
        ]

    def _group(self, discovered: Discovered, person: int) -> str | None:
        return None if person == NEW else discovered.groups.get(person)

    def _behind(self, discovered: Discovered, asked: Counter[str | None]) -> dict[str | None, float]:
        """By how many interviews each group is behind its share of those with people of known groups."""
        shares = self.shares or dict.fromkeys(discovered.groups.values(), 1.0)
        total = sum(shares.values())
        done = 1 + sum(asked[group] for group in shares)  # the next one counts
        return {group: done * share / total - asked[group] for group, share in shares.items()}


def quota_parts(name: str) -> tuple[dict[str, float], str]:
    """The shares and the policy of ``quota:equal:POLICY`` or ``quota:north=0.7+south=0.3:POLICY``."""
    _, given, policy = (*name.split(":", 2), "", "")[:3]
    try:
        pairs = [] if given == EQUAL else [each.rsplit("=", 1) for each in given.split("+")]
        shares = {group: float(share) for group, share in pairs}
    except ValueError:
        shares, policy = {}, ""
    if not policy or not all(0 <= share < np.inf for share in shares.values()) or (shares and not sum(shares.values())):
        problem = "a quota is quota:{equal}:POLICY, or quota:GROUP=SHARE+GROUP=SHARE:POLICY; got {name!r}"
        raise InputError(problem, equal=EQUAL, name=name)
    return shares, policy
