"""Reasons in plain words: a key and its parameters, so that a page can say them in any language."""

from collections.abc import Callable
from dataclasses import dataclass

Value = str | int | float | tuple[str, ...]

ENGLISH: dict[str, str] = {
    # whom to survey next
    "start": "one of the people you start with",
    "named_by": "named by {people}",
    "named_by_many": "{count} people you surveyed named this person",
    "likely_hub": "{person} knows almost nobody else, so this is likely the hub",
    "well_connected": "{person}, who named this person, is well connected ({count} contacts)",
    "listed": "on your list; nobody surveyed has named this person yet",
    "not_named": "nobody surveyed has named this person yet",
    "missed": "was not there before (times: {count}), so others come first for a while",
    "rule": "{says}",
    "equals": "others look just the same ({count}): chance decided between them",
    # whom to ask to lead
    "wished": "you asked for this person",
    "accepted": "has accepted to lead",
    "offered": "was asked to lead",
    "leader.reaches": "reaches about {amount} people",
    "leader.adds": "adds about {amount} people to those reached by the leaders before",
    "leader.knows": "was surveyed; contacts: {count}",
    "leader.few_known": "was surveyed; {amount} of {count} contacts were not, and may know many more people",
    "leader.named_by_one": "was named by one of the people you surveyed",
    "leader.named_by_many": "was named by {count} of the people you surveyed",
    "leader.unseen": "was not surveyed: likely reaches about {amount} people whom nobody has named yet",
    "leader.refused_survey": "refused to be surveyed: ask with care",
    "leader.not_named": "nobody you surveyed has named this person: as good as somebody met at random",
    "leader.apart": "reaches other people than the leaders before: {amount} % of them are new",
    "leader.equals": "others are just as good ({count}): chance decided between them",
    # why a list is short or late
    "no_people": "add the people you start with",
    "nobody_left": "nobody is left to survey: everybody named so far was surveyed or refused",
    "budget_used": "all planned surveys are used up",
}


@dataclass(frozen=True)
class Reason:
    """``params`` hold numbers, the code of a ``person`` or codes of ``people``; names are put in when it is said."""

    key: str
    params: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, key: str, **params: Value) -> "Reason":
        """A reason with its parameters."""
        return cls(key, tuple(params.items()))

    def said(self, name: Callable[[str], str], words: dict[str, str] = ENGLISH, last: str = " and ") -> str:
        """The reason in words; ``name`` says how people are called, ``last`` joins the last two of several."""
        values = {key: _said(key, value, name, last) for key, value in self.params}
        return words[self.key].format(**values)


def _said(key: str, value: Value, name: Callable[[str], str], last: str) -> str:
    if key == "person":
        return name(str(value))
    if isinstance(value, tuple):
        names = [name(code) for code in value]
        return last.join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    return f"{value:.1f}" if isinstance(value, float) else str(value)
