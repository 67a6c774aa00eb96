"""What speaks for surveying a person, in plain words, from what is seen and nothing else.

A policy has reasons of its own, or says in ``signs`` which of those here it goes by; who named a person is said anyway.
"""

from collections.abc import Callable
from typing import Literal

from claim.discovery.discovered import Discovered
from claim.discovery.protocols import Policy

FEW = 2  # contacts: somebody who knows nobody else points at a hub
MANY = 10

Sign = Literal["lonely namer", "popular namer"]


def reasons_of(policy: Policy, discovered: Discovered, person: int, name: Callable[[int], str]) -> list[str]:
    """Who named a person, and what the policy goes by and no other; ``name`` says how people are called."""
    own: Callable[[Discovered, int, Callable[[int], str]], list[str]] | None = getattr(policy, "reasons", None)
    if own is not None:
        return own(discovered, person, name)
    return [who_named(discovered, person, name), *_signs(discovered, person, name, signs_of(policy))]


def signs_of(policy: Policy) -> tuple[Sign, ...]:
    """Which of the signs a policy goes by; none unless it says so."""
    signs: tuple[Sign, ...] = getattr(policy, "signs", ())
    return signs


def who_named(discovered: Discovered, person: int, name: Callable[[int], str]) -> str:
    """Who of the surveyed named a person."""
    names = [name(namer) for namer in discovered.surveyed_contacts(person)]
    if not names:
        return "nobody surveyed has named this person yet"
    if len(names) == 1:
        return f"named by {names[0]}"
    if len(names) <= 3:
        return f"named by {', '.join(names[:-1])} and {names[-1]}"
    return f"named by {len(names)} surveyed people"


def _signs(discovered: Discovered, person: int, name: Callable[[int], str], wanted: tuple[Sign, ...]) -> list[str]:
    namers = discovered.surveyed_contacts(person)
    found = []
    lonely = [namer for namer in namers if discovered.degree(namer) <= FEW]
    if lonely and "lonely namer" in wanted:
        found.append(f"{name(lonely[0])} knows almost nobody else, so this is likely the hub")
    popular = max(namers, key=discovered.degree, default=None)
    if popular is not None and discovered.degree(popular) >= MANY and "popular namer" in wanted:
        found.append(f"{name(popular)} is well connected ({discovered.degree(popular)} contacts)")
    return found
