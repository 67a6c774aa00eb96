"""Whom to survey next, and whom to recruit, from the ties that are known so far."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from claim.discovery import NEW, Discovered, Policy, Status, is_reference
from claim.discovery.reasons import reasons_of
from claim.discovery.simulation import Entry, check_choice, check_entry, planned_surveys
from claim.errors import InputError, check_whole
from claim.learning.config import Config
from claim.messages import Message
from claim.networks import Label, Network, NetworkLike, load
from claim.networks.catalogue import family_of
from claim.networks.network import label_list
from claim.registry import (
    DEFAULT,
    OPEN_DEFAULT,
    PolicyLike,
    adviser,
    check_knows,
    check_policy,
    check_policy_entry,
    find_policy,
    is_marked,
    is_quota,
    name_of,
)
from claim.results import Tabular

if TYPE_CHECKING:
    from claim.selection.foresight import Expected

Marks: TypeAlias = Mapping[Label, Label] | Iterable[tuple[Label, Label]]  # respondent, the contact they marked
NO_ONE_LEFT = Message("no one else who was named is left to interview")


@dataclass(frozen=True)
class Advice(Tabular):
    """The people to survey next, best first.

    A row has the ``rank`` and label of a ``person``, the labels of the people who named them (``named_by``), and the
    ``reasons`` of the policy. In an open study it also says whether to interview a ``new`` person, drawn by lot; then
    ``person`` is None. ``note`` says why another policy than the one named was used, if so. ``expected`` is the reach
    of so many leaders chosen now, if it was asked for.
    """

    policy: str
    surveyed: int
    people: int
    rows: list[dict[str, Any]]
    note: str | None = None
    expected: "Expected | None" = None

    def records(self) -> list[dict[str, Any]]:
        """One row per person."""
        return self.rows

    def to_dict(self) -> dict[str, Any]:
        """The data that ``claim advise --json`` writes."""
        data = {"policy": self.policy, "surveyed": self.surveyed, "people": self.people, "ranking": self.rows}
        reach = {} if self.expected is None else {"expected": self.expected._asdict()}
        return {**data, **({} if self.note is None else {"note": self.note}), **reach}


def advise(
    known: NetworkLike | None = None,
    surveyed: Iterable[Label] = (),
    refused: Iterable[Label] = (),
    start: Iterable[Label] = (),
    policy: PolicyLike | None = None,
    budget: int | None = None,
    count: int = 10,
    seed: int = 0,
    *,
    marks: Marks = (),
    entry: Entry = "closed",
    interviews: int | None = None,
    leaders: int | None = None,
    people: int | None = None,
    p: float = 0.1,
    group: str | None = None,
) -> Advice:
    """Rank up to ``count`` people to survey next in a partly known network.

    ``known`` has the ties named so far. The others are labels of people: ``surveyed`` in the order of the surveys, and
    ``start`` those the study began with (by default the first of ``surveyed``). ``marks`` says which of their contacts
    surveyed people said knows the most people. ``budget`` is the number of surveys of the whole study (5 unless said
    otherwise): a shipped trained policy is the one of the nearest budget. In place of one that was not shown to beat
    chance, the default advises.

    With ``entry="open"`` new people, drawn by lot, can be interviewed as well. ``interviews`` is the number of all
    interviews of the study (10 unless said otherwise) and takes the place of ``budget``. ``start`` are the people who
    were drawn, by default those whom no person surveyed before them had named. People who were surveyed or refused and
    are not in ``known`` have no ties yet; an open study begins without ``known``.

    ``group`` is an attribute of the people of ``known`` (see :meth:`claim.Network.groups`). Policies such as
    ``quota:equal:scout`` steer the interviews by its groups.

    In a directed network each tie leads from the person who named to the one who was named. Trained policies and the
    expected reach are for contacts that go both ways.

    With a number of ``leaders`` the advice says how many people so many, chosen now by foresight, are expected to
    reach. ``people`` is the number of people in all, if it is known, and ``p`` the probability that a message passes
    along a contact.
    """
    check_whole(1, count=count)
    check_entry(entry, interviews=interviews, budget=budget)
    planned, default = planned_surveys(entry, budget, interviews), OPEN_DEFAULT if entry == "open" else DEFAULT
    policy = default if policy is None else policy
    network, surveyed, refused = known_ties(known, entry), label_list(surveyed), label_list(refused)
    check_survey_policy(policy)
    check_policy_entry(policy, entry)
    check_knows(policy, network)
    if group is None and is_quota(name_of(policy)):
        raise InputError(f"{name_of(policy)} steers interviews by groups: add --group ATTRIBUTE")
    if leaders is not None:
        check_knows("foresight", network)
    policy, note = adviser(policy, family_of(network), planned, default)
    name, policy = name_of(policy), find_policy(policy, family_of(network), planned)
    if entry == "open":
        network = network.with_people([*surveyed, *refused])
    seen = discovered_so_far(network, surveyed, refused, start, policy, marks, entry, group)
    rows = _ranking(policy, seen, network.labels, np.random.default_rng(seed), count)
    expected = None if leaders is None else expected_now(seen, leaders, p, people, seed)
    return Advice(name, len(seen.surveyed), len(seen), rows, note, expected)


def expected_now(seen: Discovered, leaders: int, p: float, people: int | None, seed: int = 0) -> "Expected | None":
    """The reach of leaders chosen now, as :func:`claim.select` says it with the same seed; None if no one is known."""
    from claim.selection.foresight import NAME, foresight_named

    check_whole(1, leaders=leaders)
    selector = foresight_named(NAME, p=p, people=people)
    if not len(seen):
        return None
    choosing, _, expecting, _ = np.random.default_rng(seed).spawn(4)
    return selector.expect(seen, selector.select(seen, leaders, choosing), expecting)


def _ranking(
    policy: Policy, seen: Discovered, labels: Sequence[Label], rng: np.random.Generator, count: int
) -> list[dict[str, Any]]:
    """The rows of :class:`Advice`; in an open study new people follow those whom the policy chooses."""
    chosen = list(policy.choose(seen, rng, count))
    check_choice(policy, chosen, seen)
    whys = [reasons_of(policy, seen, person) for person in chosen]
    if seen.open:
        missing = count - len(chosen)
        chosen, whys = chosen + [NEW] * missing, whys + [[NO_ONE_LEFT]] * missing
    rows: list[dict[str, Any]] = []
    for rank, (person, why) in enumerate(zip(chosen, whys, strict=True), 1):
        new = person == NEW
        row = {
            "rank": rank,
            "person": None if new else labels[person],
            "named_by": [] if new else [labels[namer] for namer in seen.surveyed_contacts(person)],
            "reasons": [each.translated({}, lambda who: str(labels[who])) for each in why],
        }
        rows.append({**row, "new": new} if seen.open else row)
    return rows


def known_ties(known: NetworkLike | None, entry: Entry) -> Network:
    """The ties named so far; there are none yet at the beginning of an open study."""
    if known is not None:
        return load(known)
    if entry == "closed":
        raise InputError("the ties named so far are missing: give --known ties.csv, or --entry open if there are none")
    return Network.from_edges([], [], name="the ties named so far")


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
    marks: Marks = (),
    entry: Entry = "closed",
    group: str | None = None,
) -> Discovered:
    """Build the discovered network of a study from its ties and the labels of its people.

    Without ``start`` a closed study began with the first people surveyed, as many as ``policy`` was trained with (else
    5), and the new people of an open one are those whom no person surveyed before them had named. The start people set
    the goal of a policy of the paper, the turns of CHANGE, the new people of a mix, and the degrees that foresight
    expects. What is known of the people's attribute ``group`` was said in the study.
    """
    answered, unwilling, first = map(network.indices_of, (surveyed, refused, start))
    for person in first:
        if person not in answered:
            was = "interviewed as a new person" if entry == "open" else "known at the outset"
            raise InputError(f"{network.labels[person]} was {was} and must be among the people surveyed")
    if network.directed:
        sources, targets, _ = network.edges()
        silent = next(
            (pair for pair in zip(sources.tolist(), targets.tolist(), strict=True) if pair[0] not in answered), None
        )
        if silent is not None:
            namer, named = (network.labels[person] for person in silent)
            raise InputError(f"{namer} named {named} and must be among the people surveyed")
    for person in answered:
        if person in unwilling:
            raise InputError(f"{network.labels[person]} is listed both as surveyed and as refused")
    if entry == "closed":
        first = first or answered[: getattr(policy, "settings", Config()).start]
    seen = Discovered.from_network(network, first if entry == "closed" else (), unwilling)
    for person in answered:
        drawn = entry == "open" and (person in first if first else not seen.surveyed_contacts(person))
        (seen.record_start if drawn else seen.record_survey)(person)
    if entry == "open":
        seen.open = True
        seen.set_waves()
    _record_marks(seen, network, marks)
    if group is not None:
        said = network.groups(group)
        for person in range(network.n):
            if (name := said.name_of(person)) is not None:
                seen.record_group(person, name)
    return seen


def _record_marks(seen: Discovered, network: Network, marks: Marks) -> None:
    """Record who marked whom; refuse what no answer can be."""
    try:
        pairs = [(one, other) for one, other in (marks.items() if isinstance(marks, Mapping) else marks)]
    except (TypeError, ValueError):
        raise InputError(f"marks are pairs of a person and the contact they marked, got {marks!r}") from None
    for one, other in pairs:
        person, contact = network.index_of(one), network.index_of(other)
        if seen.status[person] != Status.SURVEYED:
            raise InputError(f"{one} marked {other} and must be among the people surveyed")
        if contact not in seen.contacts[person]:
            raise InputError(f"{one} marked {other}, who is not a contact of {one} in {network.name}")
        before = seen.marks.get(person, contact)
        if before != contact:
            raise InputError(f"{one} marked both {network.labels[before]} and {other}: a person marks one contact")
        seen.record_mark(person, contact)
