"""Reasons for surveying a person, from what was discovered and nothing else.

A policy may have a method ``reasons`` of its own; who named the person is always the first reason. With a method
``reasons_of_each`` it reads what was discovered once for several people.
"""

from collections.abc import Callable, Sequence

from claim.discovery.discovered import NEW, Discovered
from claim.discovery.protocols import Policy
from claim.messages import Message, People

FEW = 2  # contacts: the only contact of a person with so few is likely a hub
MANY = 10
LISTED = 3  # people named one by one in a reason

NOT_NAMED = "nobody surveyed has named this person yet"


def reasons_of(policy: Policy, discovered: Discovered, person: int) -> list[Message]:
    """Who named a person, then what the policy's ranking is based on; people are local indices, or ``NEW``."""
    own: Callable[[Discovered, int], list[Message]] | None = getattr(policy, "reasons", None)
    if own is not None:
        return own(discovered, person)
    return [] if person == NEW else [who_named(discovered, person)]


def reasons_of_each(policy: Policy, discovered: Discovered, people: Sequence[int]) -> list[list[Message]]:
    """The reasons of several people."""
    own: Callable[[Discovered, Sequence[int]], list[list[Message]]] | None = getattr(policy, "reasons_of_each", None)
    if own is not None:
        return own(discovered, people)
    return [reasons_of(policy, discovered, person) for person in people]


def who_named(discovered: Discovered, person: int) -> Message:
    """Which surveyed people named a person."""
    namers = discovered.surveyed_contacts(person)
    if not namers:
        return Message(NOT_NAMED)
    if len(namers) > LISTED:
        return Message.of("named by {count} surveyed people", count=len(namers))
    return Message.of("named by {people}", people=People(tuple(namers)))


def lonely_namer(discovered: Discovered, namers: list[int]) -> list[Message]:
    """The first of the namers who knows few others."""
    text = "{person} knows almost nobody else, so this is likely the hub"
    return [Message.of(text, person=People((who,))) for who in namers if discovered.degree(who) <= FEW][:1]


def popular_namer(discovered: Discovered, namers: list[int]) -> list[Message]:
    """The namer with the most contacts, if these are many."""
    text = "{person} is well connected ({count} contacts)"
    most = max(map(discovered.degree, namers), default=0)
    popular = [who for who in namers if discovered.degree(who) == most >= MANY]
    return [Message.of(text, person=People((who,)), count=most) for who in popular[:1]]
