"""What could have been otherwise in what was seen: small changes of a discovered network, each said in plain words."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from claim.discovery import Discovered, PersonClass, Status

Name = Callable[[int], str]
Tie = frozenset[int]
About = Literal["chosen", "rival", "goal"]
RIVALS = 3  # classes after the chosen one of whom it is asked what would put them first
MOST_NAMERS = 10  # of whom it is asked what if they had named others; in large studies there are hundreds


@dataclass(frozen=True)
class WhatIf:
    """A changed discovered network; ``origin`` says who each of its people was before, None for people made up."""

    about: About
    says: str
    seen: Discovered
    origin: list[int | None]


def what_ifs(seen: Discovered, ranking: list[PersonClass], name: Name) -> Iterator[WhatIf]:
    """Changes to what speaks for the first class of a ranking, then to what speaks for those after it."""
    chosen, *rivals = ranking
    yield from _not_named(seen, chosen, name)
    yield from _alone(seen, chosen, name)
    yield from _other_degrees(seen, chosen, name)
    for rival in rivals[:RIVALS]:
        yield from _named_too(seen, chosen, rival, name)


def namers(seen: Discovered, group: PersonClass) -> list[int]:
    """The surveyed people who named the members of a class."""
    return [contact for contact in group.contacts if seen.status[contact] == Status.SURVEYED]


def _not_named(seen: Discovered, chosen: PersonClass, name: Name) -> Iterator[WhatIf]:
    """One namer less; a person whom nobody else named would not have been heard of."""
    who = name(chosen.members[0]) if chosen.size == 1 else f"these {chosen.size} people"
    for namer in namers(seen, chosen)[:MOST_NAMERS] if len(chosen.contacts) > 1 else []:
        lost = {frozenset((member, namer)) for member in chosen.members}
        yield WhatIf("chosen", f"{name(namer)} had not named {who}", *redrawn(seen, lost))


def _alone(seen: Discovered, chosen: PersonClass, name: Name) -> Iterator[WhatIf]:
    first, *others = chosen.members
    if others and chosen.contacts:
        lost = {frozenset((other, contact)) for other in others for contact in chosen.contacts}
        yield WhatIf("chosen", f"{name(first)} were the only one of these {chosen.size} people", *redrawn(seen, lost))


def _other_degrees(seen: Discovered, chosen: PersonClass, name: Name) -> Iterator[WhatIf]:
    """Namers with fewer and with more contacts than they have."""
    for namer in namers(seen, chosen)[:MOST_NAMERS]:
        others = [who for who in seen.contacts[namer] if seen.status[who] == Status.NAMED and who not in chosen.members]
        if others:
            lost = {frozenset((who, namer)) for who in others}
            yield WhatIf(
                "chosen", f"{name(namer)} had not named {_people(len(others), 'other ')}", *redrawn(seen, lost)
            )
        more = seen.degree(namer)
        yield WhatIf(
            "chosen", f"{name(namer)} had named {_people(more, 'more ')}", *redrawn(seen, strangers=(namer, more))
        )


def _named_too(seen: Discovered, chosen: PersonClass, rival: PersonClass, name: Name) -> Iterator[WhatIf]:
    """One of a class named by one more of the surveyed, those who named the chosen class first."""
    who = rival.members[0]
    candidates = [namer for namer in seen.surveyed if namer not in rival.contacts]
    for namer in sorted(candidates, key=lambda namer: namer not in chosen.contacts)[:MOST_NAMERS]:
        yield WhatIf("rival", f"{name(namer)} had named {name(who)} too", *redrawn(seen, gained=[(namer, who)]))


def _people(count: int, which: str) -> str:
    return f"1 {which}person" if count == 1 else f"{count} {which}people"


def redrawn(
    seen: Discovered,
    lost: Iterable[Tie] = (),
    gained: Iterable[tuple[int, int]] = (),
    strangers: tuple[int, int] | None = None,
) -> tuple[Discovered, list[int | None]]:
    """A discovered network without some ties, with others, or with a number of strangers named by somebody.

    Whoever loses the last tie was never heard of, unless surveyed or asked. Also says who everybody was before.
    """
    dropped = set(lost)
    pairs = zip(*(side.tolist() for side in seen.ties()), strict=True)
    ties = [*(pair for pair in pairs if frozenset(pair) not in dropped), *gained]
    heard_of = {person for tie in ties for person in tie}
    origin: list[int | None] = [
        person
        for person in range(len(seen))
        if person in heard_of or seen.status[person] != Status.NAMED or not seen.contacts[person]
    ]
    now = {before: after for after, before in enumerate(origin) if before is not None}
    other = _with_statuses(seen, now)
    for one, two in ties:
        other.add_tie(now[one], now[two])
    namer, count = strangers or (0, 0)
    for _ in range(count):
        other.add_tie(now[namer], other.add_person(now[namer]))
    return other, origin + [None] * count


def _with_statuses(seen: Discovered, now: dict[int, int]) -> Discovered:
    other = Discovered()
    for _ in now:
        other.add_person()
    for person in seen.surveyed:
        if person in seen.start:
            other.record_start(now[person])
        else:
            other.record_survey(now[person])
    for person in seen.refused:
        other.record_refusal(now[person])
    return other
