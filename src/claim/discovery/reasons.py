"""Reasons for surveying a person, from what was discovered and nothing else.

A policy has a method ``reasons`` of its own, or lists in ``signs`` which of the signs here its ranking uses. Who named
the person is always the first reason.
"""

from collections.abc import Callable
from typing import Literal

from claim.discovery.discovered import Discovered
from claim.discovery.protocols import Policy
from claim.messages import Message, People

FEW = 2  # contacts: the only contact of a person with so few is likely a hub
MANY = 10
LISTED = 3  # people named one by one in a reason

Sign = Literal["lonely namer", "popular namer"]
NOT_NAMED = "nobody surveyed has named this person yet"


def reasons_of(policy: Policy, discovered: Discovered, person: int) -> list[Message]:
    """Who named a person, then what the policy's ranking is based on; people are local indices."""
    own: Callable[[Discovered, int], list[Message]] | None = getattr(policy, "reasons", None)
    if own is not None:
        return own(discovered, person)
    return [who_named(discovered, person), *_signs(discovered, person, getattr(policy, "signs", ()))]


def who_named(discovered: Discovered, person: int) -> Message:
    """Which surveyed people named a person."""
    namers = discovered.surveyed_contacts(person)
    if not namers:
        return Message(NOT_NAMED)
    if len(namers) > LISTED:
        return Message.of("named by {count} surveyed people", count=len(namers))
    return Message.of("named by {people}", people=People(tuple(namers)))


def _signs(discovered: Discovered, person: int, signs: tuple[Sign, ...]) -> list[Message]:
    namers = discovered.surveyed_contacts(person)
    found = []
    lonely = [namer for namer in namers if discovered.degree(namer) <= FEW]
    if lonely and "lonely namer" in signs:
        text = "{person} knows almost nobody else, so this is likely the hub"
        found.append(Message.of(text, person=People((lonely[0],))))
    popular = max(namers, key=discovered.degree, default=None)
    if popular is not None and discovered.degree(popular) >= MANY and "popular namer" in signs:
        text = "{person} is well connected ({count} contacts)"
        found.append(Message.of(text, person=People((popular,)), count=discovered.degree(popular)))
    return found
