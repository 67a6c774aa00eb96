"""Why a trained policy ranks people as it does: its values, and its choices on changed networks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from claim.discovery import Discovered, Status
from claim.learning.network import score_frontiers
from claim.learning.observation import observe
from claim.learning.policy import LearnedPolicy

Name = Callable[[int], str]
Members = tuple[int, ...]  # people who cannot be distinguished by what was seen
Ranking = list[tuple[float, Members]]  # the value of each class of the frontier, best first
RIVALS = 3  # classes after the chosen one for which a change is tried that could put them first
MOST_NAMERS = 10  # for whom changes are tried; large studies have hundreds


def explain(policy: LearnedPolicy, seen: Discovered, labels: Sequence[Any]) -> dict[str, Any]:
    """Explain the next choice of a policy, as data (see docs/how-to/explain.md); ``labels`` name the people."""

    def labelled(people: Iterable[int]) -> list[Any]:
        return [labels[person] for person in people]

    (ranking,) = _rankings(policy, [seen]) if seen.frontier else ([],)
    lead, classes, changes = None, [], []
    for rank, (value, members) in enumerate(ranking, 1):
        named_by = namers(seen, members)
        row = {"rank": rank, "value": value, "members": labelled(members)}
        row |= {"contacts": len(seen.contacts[members[0]]), "named_by": labelled(named_by)}
        classes.append(row | {"namer_degrees": [seen.degree(namer) for namer in named_by]})
    if ranking:
        chosen = ranking[0][1][0]
        lead = _lead(ranking, chosen)
        tried = list(what_ifs(seen, [members for _, members in ranking], lambda person: str(labels[person])))
        for each, changed in zip(tried, _rankings(policy, [each.seen for each in tried]), strict=True):
            known = [(value, tuple(each.before(members))) for value, members in changed]
            choice = known[0][1]
            outcome = {"choice": labelled(choice) or None, "changed": chosen not in choice}
            changes.append({"about": each.about, "if": each.text, "lead": _lead(known, chosen), **outcome})
    return {
        "policy": policy.name,
        "surveyed": len(seen.surveyed),
        "people": len(seen),
        "lead": lead,
        "classes": classes,
        "changes": changes,
    }


def namers(seen: Discovered, members: Members) -> list[int]:
    """The surveyed people who named the members of a class."""
    return [contact for contact in sorted(seen.contacts[members[0]]) if seen.status[contact] == Status.SURVEYED]


def _lead(ranking: Ranking, chosen: int) -> float | None:
    """How far the class of a person is ahead of the best other one; None without another one."""
    own = next(value for value, members in ranking if chosen in members)
    others = [value for value, members in ranking if chosen not in members]
    return own - max(others) if others else None


def _rankings(policy: LearnedPolicy, graphs: Sequence[Discovered]) -> list[Ranking]:
    """Rank the frontier of each graph, all graphs in one pass."""
    if not graphs:
        return []
    observed = [observe(graph, policy.network.shape) for graph in graphs]
    values = score_frontiers(policy.network, [state for _, state in observed])
    return [
        [(float(of_rows[i]), rows.members[rows.frontier[i]]) for i in np.argsort(-of_rows, kind="stable")]
        for (rows, _), of_rows in zip(observed, values, strict=True)
    ]


@dataclass(frozen=True)
class WhatIf:
    """A changed discovered network; ``origin`` has the index of its people before, None for people who are new."""

    about: Literal["chosen", "rival"]
    text: str
    seen: Discovered
    origin: list[int | None]

    def before(self, people: Members) -> Iterator[int]:
        """The indices that people had before the change, without new people."""
        return (who for person in people if (who := self.origin[person]) is not None)


def what_ifs(seen: Discovered, ranking: Sequence[Members], name: Name) -> Iterator[WhatIf]:
    """Changes to what speaks for the first class of a ranking, then to what speaks for those after it."""
    chosen, *rivals = ranking
    contacts, named_by = sorted(seen.contacts[chosen[0]]), namers(seen, chosen)[:MOST_NAMERS]
    who = name(chosen[0]) if len(chosen) == 1 else f"these {len(chosen)} people"
    for namer in named_by if len(contacts) > 1 else []:  # people named by one person only would not be known
        lost = {frozenset((member, namer)) for member in chosen}
        yield WhatIf("chosen", f"{name(namer)} had not named {who}", *redrawn(seen, lost))
    if len(chosen) > 1 and contacts:
        lost = {frozenset((other, contact)) for other in chosen[1:] for contact in contacts}
        yield WhatIf("chosen", f"{name(chosen[0])} were the only one of {who}", *redrawn(seen, lost))
    for namer in named_by:
        others = [who for who in seen.contacts[namer] if seen.status[who] == Status.NAMED and who not in chosen]
        if others:
            text = f"{name(namer)} had not named {_count(len(others), 'other')}"
            yield WhatIf("chosen", text, *redrawn(seen, {frozenset((other, namer)) for other in others}))
        more = seen.degree(namer)
        text = f"{name(namer)} had named {_count(more, 'more')}"
        yield WhatIf("chosen", text, *redrawn(seen, strangers=(namer, more)))
    for rival, *_ in rivals[:RIVALS]:
        candidates = [namer for namer in seen.surveyed if namer not in seen.contacts[rival]]
        for namer in sorted(candidates, key=lambda each: each not in contacts)[:MOST_NAMERS]:
            yield WhatIf("rival", f"{name(namer)} had named {name(rival)} too", *redrawn(seen, gained=[(namer, rival)]))


def _count(count: int, which: str) -> str:
    return f"1 {which} person" if count == 1 else f"{count} {which} people"


def redrawn(
    seen: Discovered,
    lost: Iterable[frozenset[int]] = (),
    gained: Iterable[tuple[int, int]] = (),
    strangers: tuple[int, int] = (0, 0),
) -> tuple[Discovered, list[int | None]]:
    """A discovered network without some ties, with others, or with strangers, given as (namer, how many).

    People who lose their last tie drop out, unless they were surveyed or refused. Also returns the index of each person
    before.
    """
    dropped = set(lost)
    pairs = zip(*(side.tolist() for side in seen.ties()), strict=True)
    ties = [*(pair for pair in pairs if frozenset(pair) not in dropped), *gained]
    tied = {person for tie in ties for person in tie}
    origin = [
        person
        for person in range(len(seen))
        if person in tied or seen.status[person] != Status.NAMED or not seen.contacts[person]
    ]
    now = {before: after for after, before in enumerate(origin)}
    other = Discovered()
    for _ in origin:
        other.add_person()
    for person in seen.surveyed:
        (other.record_start if person in seen.start else other.record_survey)(now[person])
    for person in seen.refused:
        other.record_refusal(now[person])
    for one, two in ties:
        other.add_tie(now[one], now[two])
    namer, count = strangers
    for _ in range(count):
        other.add_tie(now[namer], other.add_person(now[namer]))
    return other, [*origin, *[None] * count]
