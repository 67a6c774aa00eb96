"""Whom to survey next, and whom to recruit, from the ties that are known so far."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from claim.discovery import Discovered, Policy, is_reference
from claim.discovery.reasons import reasons_of
from claim.errors import InputError, check_whole
from claim.learning.config import Config
from claim.networks import Label, Network, NetworkLike, load
from claim.networks.catalogue import family_of
from claim.registry import DEFAULT, PolicyLike, adviser, check_policy, find_policy, is_marked, name_of
from claim.results import Tabular


@dataclass(frozen=True)
class Advice(Tabular):
    """The people to survey next, best first.

    A row has the ``rank`` and label of a ``person``, the labels of the people who named them (``named_by``), and the
    ``reasons`` of the policy. ``note`` says why another policy than the one named was used, if so.
    """

    policy: str
    surveyed: int
    people: int
    rows: list[dict[str, Any]]
    note: str | None = None

    def records(self) -> list[dict[str, Any]]:
        """One row per person."""
        return self.rows

    def to_dict(self) -> dict[str, Any]:
        """The data that ``claim advise --json`` writes."""
        data = {"policy": self.policy, "surveyed": self.surveyed, "people": self.people, "ranking": self.rows}
        return data if self.note is None else {**data, "note": self.note}


def advise(
    known: NetworkLike,
    surveyed: Iterable[Label] = (),
    refused: Iterable[Label] = (),
    start: Iterable[Label] = (),
    policy: PolicyLike = DEFAULT,
    budget: int = 5,
    count: int = 10,
    seed: int = 0,
) -> Advice:
    """Rank up to ``count`` people to survey next in a partly known network.

    ``known`` has the ties named so far. The others are labels of people: ``surveyed`` in the order of the surveys, and
    ``start`` those the study began with (by default the first of ``surveyed``). ``budget`` is the number of surveys of
    the whole study: a shipped trained policy is the one of the nearest budget. In place of one that was not shown to
    beat chance, the default advises.
    """
    check_whole(1, count=count)
    network = load(known)
    check_survey_policy(policy)
    policy, note = adviser(policy, family_of(network), budget)
    name, policy = name_of(policy), find_policy(policy, family_of(network), budget)
    seen = discovered_so_far(network, surveyed, refused, start, policy)

    def label(person: int) -> str:
        return str(network.labels[person])

    rows = [
        {
            "rank": rank,
            "person": network.labels[person],
            "named_by": [network.labels[namer] for namer in seen.surveyed_contacts(person)],
            "reasons": [why.translated({}, label) for why in reasons_of(policy, seen, person)],
        }
        for rank, person in enumerate(policy.choose(seen, np.random.default_rng(seed), count), 1)
    ]
    return Advice(name, len(seen.surveyed), len(seen), rows, note)


def check_survey_policy(policy: PolicyLike) -> None:
    """Refuse a policy that does not exist, or that only simulations can follow."""
    check_policy(policy)
    if is_marked(policy, is_reference):
        raise InputError(
            f"{name_of(policy)} is a reference that must see the whole network: a real study cannot follow it"
        )


def discovered_so_far(
    network: Network,
    surveyed: Iterable[Label],
    refused: Iterable[Label] = (),
    start: Iterable[Label] = (),
    policy: Policy | None = None,
) -> Discovered:
    """Build the discovered network of a study from its ties and the labels of its people.

    Without ``start`` the study began with the first people surveyed, as many as ``policy`` was trained with (else 5).
    The start people set the goal of a policy of the paper, the turns of CHANGE, and the degrees that foresight expects.
    """
    answered, unwilling, first = map(network.indices_of, (surveyed, refused, start))
    first = first or answered[: getattr(policy, "settings", Config()).start]
    for person in first:
        if person not in answered:
            raise InputError(f"{network.labels[person]} was known at the outset and must be among the people surveyed")
    for person in answered:
        if person in unwilling:
            raise InputError(f"{network.labels[person]} is listed both as surveyed and as refused")
    seen = Discovered.from_network(network, first, unwilling)
    for person in answered:
        seen.record_survey(person)
    return seen
