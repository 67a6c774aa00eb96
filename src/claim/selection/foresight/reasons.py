"""Why somebody was chosen to lead, in plain words: keys and parameters, so that they can be said in any language."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from claim.discovery import Discovered, Status

Value = int | float

ENGLISH: dict[str, str] = {
    "reaches": "reaches about {amount} people",
    "adds": "adds about {amount} people to those the others reach",
    "knows": "was surveyed and has {count} contacts",
    "few_known": "was surveyed; {amount} of {count} contacts were not, and may know many more people",
    "named_by_one": "was named by one of the people surveyed",
    "named_by_many": "was named by {count} of the people surveyed",
    "unseen": "was not surveyed: likely reaches about {amount} people beyond the contacts seen so far",
    "refused_survey": "refused to be surveyed: ask with care",
    "not_named": "nobody surveyed has named this person: as good as a person met at random",
    "apart": "reaches other people than those before: {amount} % of what they reach is new",
    "equals": "as good as {count} others: chance decided between them",
}
MOSTLY_NEW = 0.8


@dataclass(frozen=True)
class Why:
    """One reason: its key in ``ENGLISH`` and the numbers that belong in it."""

    key: str
    params: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, key: str, **params: Value) -> "Why":
        """A reason with its parameters."""
        return cls(key, tuple(params.items()))

    @property
    def text(self) -> str:
        """The reason in English."""
        return ENGLISH[self.key].format(**{name: f"{value:g}" for name, value in self.params})


def reasons_for(discovered: Discovered, who: int, adds: float, unseen: float, new: float, equals: int) -> list[Why]:
    """What speaks for a leader who adds ``adds`` people, ``unseen`` of them beyond the seen contacts.

    A share ``new`` of those they reach is not reached by others before; ``equals`` more people are just like them.
    """
    found = [Why.of("adds", amount=round(adds, 1))]
    found += _seen(discovered, who)
    if discovered.status[who] != Status.SURVEYED:
        found.append(Why.of("unseen", amount=round(unseen, 1)))
    if new >= MOSTLY_NEW and adds > 1:
        found.append(Why.of("apart", amount=min(round(100 * new), 100)))
    if equals:
        found.append(Why.of("equals", count=equals))
    return found


def told(found: Sequence[Sequence[Why]]) -> list[list[Why]]:
    """What to say of leaders in the order of choice: nothing twice, and of the first nothing that compares."""
    return [_once(_of_the_first(whys) if place == 0 else whys) for place, whys in enumerate(found)]


def _of_the_first(whys: Sequence[Why]) -> list[Why]:
    """Nobody comes before the first leader whom they could add to."""
    return [replace(why, key="reaches") if why.key == "adds" else why for why in whys if why.key != "apart"]


def _once(whys: Sequence[Why]) -> list[Why]:
    repeated = {"knows"} if any(why.key == "few_known" for why in whys) else set()
    return [why for why in whys if why.key not in repeated]


def _seen(discovered: Discovered, who: int) -> list[Why]:
    contacts = discovered.contacts[who]
    if discovered.status[who] == Status.SURVEYED:
        unknown = sum(discovered.status[contact] != Status.SURVEYED for contact in contacts)
        found = [Why.of("knows", count=len(contacts))]
        return [*found, Why.of("few_known", count=len(contacts), amount=unknown)] if unknown else found
    named = len(discovered.surveyed_contacts(who))
    key = "named_by_many" if named > 1 else "named_by_one" if named else "not_named"
    found = [Why.of(key, count=named)] if named > 1 else [Why.of(key)]
    return [*found, Why.of("refused_survey")] if discovered.status[who] == Status.REFUSED else found
