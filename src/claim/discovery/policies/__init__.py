"""Survey policies that need no learning; a new one is one file and one line here."""

from collections.abc import Collection
from difflib import get_close_matches

from claim.discovery.policies.change import Change, ChangePublished
from claim.discovery.policies.open_studies import EdgeProbing, NewPeople, OneHop
from claim.discovery.policies.scout import FirstScout, Scout
from claim.discovery.policies.simple import (
    DEGREE_PLUS_INVERSE,
    INVERSE_DEGREE,
    MAX_CONTACT,
    MAX_DEGREE,
    MOST_MARKED,
    Clairvoyant,
    RandomClass,
    RandomPerson,
    Snowball,
)
from claim.discovery.protocols import Policy
from claim.errors import InputError
from claim.messages import Message

POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        RandomPerson(),
        RandomClass(),
        Change(),
        ChangePublished(),
        Snowball(),
        MAX_DEGREE,
        INVERSE_DEGREE,
        DEGREE_PLUS_INVERSE,
        MAX_CONTACT,
        MOST_MARKED,
        Scout(),
        FirstScout(),
        NewPeople(),
        OneHop(),
        EdgeProbing(),
        Clairvoyant(),
    )
}


def policy_named(name: str) -> Policy:
    """The policy of that name."""
    if name not in POLICIES:
        raise unknown_policy(name, POLICIES)
    return POLICIES[name]


def unknown_policy(name: str, known: Collection[str]) -> InputError:
    """The error for a name that no policy has: the nearest of the known names, and all of them."""
    near = get_close_matches(name, known, n=1)
    hint = Message.of("; did you mean {name}?", name=near[0]) if near else ""
    problem = "no policy is called {name!r}{hint} (known: {known})"
    return InputError(problem, name=name, hint=hint, known=", ".join(known))


def draws_own_start(policy: Policy) -> bool:
    """Whether the policy starts from random people of its own and not from the common start set."""
    return getattr(policy, "draws_own_start", False)


def only_open(policy: Policy) -> bool:
    """Whether the policy interviews new people, so that a closed study cannot follow it."""
    return getattr(policy, "only_open", False)


def undirected_ic_only(thing: object) -> bool:
    """Whether a policy or selector was made for undirected contacts and the model ``ic``, and knows no others."""
    return getattr(thing, "undirected_ic_only", False)


def chooses_leaders(policy: Policy) -> bool:
    """Whether the policy chooses the leaders itself, by a method ``select``."""
    return callable(getattr(policy, "select", None))


def is_reference(policy: Policy) -> bool:
    """Whether the policy sees the hidden network; tables mark it as a reference."""
    return getattr(policy, "reference", False)
