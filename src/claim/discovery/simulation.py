"""Simulated surveys: the hidden network answers, and policies see the answers only."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from claim.discovery.discovered import NEW, Discovered, Status
from claim.discovery.protocols import Policy
from claim.errors import InputError, check_number, check_whole
from claim.networks import Network
from claim.networks.groups import Groups
from claim.networks.network import IntArray
from claim.randomness import draw_seed

BudgetUnit = Literal["attempts", "answers"]
SourceUnit = Literal["attempts", "answers", "pages"]  # of studies on a source
Entry = Literal["closed", "open"]  # known at the outset or named by others; in open studies also new people
BUDGET = 5  # surveys of a closed study, unless said otherwise
INTERVIEWS = 10  # of an open study, unless said otherwise


@dataclass(frozen=True)
class Frame:
    """How new people are met: with a probability in proportion to degree ** ``exponent``, and only a random ``share``
    of all people.
    """

    exponent: float = 0.0
    share: float = 1.0

    def __post_init__(self) -> None:
        check_number(frame_degree=self.exponent)
        check_number(0, 1, above=True, frame_share=self.share)

    @classmethod
    def parse(cls, text: str) -> "Frame":
        """``uniform``, ``degree:A`` or ``share:S``."""
        kind, _, number = text.partition(":")
        try:
            if kind == "uniform" and not number:
                return cls()
            if kind == "degree":
                return cls(exponent=float(number))
            if kind == "share":
                return cls(share=float(number))
        except ValueError:
            pass
        raise InputError(f"frame must be uniform, degree:A or share:S with a number, got {text!r}")

    def order(self, network: Network, rng: np.random.Generator) -> list[int]:
        """The people who can be met, in the order in which they are."""
        keys, reachable = rng.gumbel(size=network.n), np.ones(network.n, dtype=np.bool_)
        if self.exponent:
            reachable = network.degrees > 0
            keys += self.exponent * np.log(np.maximum(network.degrees, 1))
        met = np.argsort(-keys)[: round(self.share * network.n)]
        people: list[int] = met[reachable[met]].tolist()
        return people


def check_entry(entry: str, frame: str = "uniform", interviews: int | None = None, **closed: object) -> None:
    """Refuse settings that do not go with the way people enter a study.

    ``closed`` are settings of closed studies by name, None where they were not given.
    """
    if entry not in get_args(Entry):
        raise InputError(f"entry must be {' or '.join(get_args(Entry))}, got {entry!r}")
    Frame.parse(frame)
    if interviews is not None:
        check_whole(interviews=interviews)
        if entry == "closed":
            raise InputError("interviews are counted in open studies: add --entry open, or give a --budget of surveys")
    if entry == "closed" and frame != "uniform":
        raise InputError("a frame is for open studies, in which new people are met")
    given = next((name.replace("_", "-") for name, value in closed.items() if value is not None), None)
    if entry == "open" and given is not None:
        problem = "--entry open begins with no person known and counts all --interviews"
        raise InputError(f"{problem}: --{given} is for closed studies")


def planned_surveys(entry: Entry, budget: int | None, interviews: int | None) -> int:
    """The surveys of a closed study, or all interviews of an open one; the usual number where it was not given."""
    given, usual = (interviews, INTERVIEWS) if entry == "open" else (budget, BUDGET)
    return usual if given is None else given


SURE = 1e-9  # noise of marks without any: contacts of equal degree are marked by chance


class Simulation:
    """One study on a hidden network.

    Contacts are named in random order, so local indices carry no information about the network's own numbering. Who
    refuses is drawn at the start of the study and does not depend on the policy. Neither does who names whom: each
    contact is named with probability ``report_rate``. A tie is seen if either end names it; in a directed network each
    person names those whom their ties lead to.

    With a ``frame`` the study is open: new people can be interviewed, in an order that does not depend on the policy.
    With a ``hub_question`` each person marks the contact of the largest perceived degree, degree * exp(Normal(0,
    sigma)), where sigma is the ``hub_question``. With ``groups`` each person says which group they are in, and with
    ``groups_of_contacts`` also those of the contacts they name.
    """

    pages = 0

    def __init__(
        self,
        network: Network,
        start: Iterable[int],
        rng: np.random.Generator,
        refusal: float = 0.0,
        report_rate: float = 1.0,
        frame: Frame | None = None,
        hub_question: float | None = None,
        groups: Groups | None = None,
        groups_of_contacts: bool = False,
    ) -> None:
        check_number(0, 1, refusal=refusal)
        check_number(0, 1, above=True, report_rate=report_rate)
        if hub_question is not None:
            check_number(hub_question=hub_question)
        self.network = network
        self.discovered = Discovered(directed=network.directed)
        self.people: list[int] = []  # the network's index of each local person
        self._local: dict[int, int] = {}
        self._rng = rng
        self._refuses = rng.random(network.n) < refusal
        self._report_rate = report_rate
        self._report_seed = draw_seed(rng) if report_rate < 1 else 0
        self._hub_question = hub_question
        self._mark_seed = 0 if hub_question is None else draw_seed(rng)
        self._groups, self._groups_of_contacts = groups, groups_of_contacts
        self._to_meet = [] if frame is None else frame.order(network, rng)
        self._met = 0  # how many of them were met, or need not be
        for person in [self._meet(who, None) for who in _checked_start(network, start)]:
            self.discovered.record_start(person)
        for person in list(self.discovered.start):
            self._name_contacts(person)
        self._pass_over_interviewed()

    @classmethod
    def under_way(
        cls, network: Network, seen: Discovered, rng: np.random.Generator, frame: Frame | None = None
    ) -> "Simulation":
        """A study from where it stands; the people seen are the first of the network, in their order."""
        simulation = cls(network, (), rng, frame=frame)
        simulation.discovered = seen.copy()
        simulation.people = list(range(len(seen)))
        simulation._local = {who: who for who in simulation.people}
        simulation._pass_over_interviewed()
        return simulation

    def copy(self, rng: np.random.Generator) -> "Simulation":
        """An independent copy of the study as it stands, with random numbers of its own from here on."""
        other = copy(self)
        other.discovered, other.people, other._local = self.discovered.copy(), self.people.copy(), self._local.copy()
        other._rng = rng
        return other

    def close(self) -> None:
        """Meet no more new people: the study goes on as a closed one."""
        self._to_meet = []
        self._pass_over_interviewed()

    def ask(self, person: int) -> bool:
        """Try to survey a person of the frontier, or a new person (``NEW``); False if they refuse.

        A new person who refuses stays unknown, unless someone named them before.
        """
        new = person == NEW
        who = self._next_new_person() if new else self.people[person]
        answered = not self._refuses[who]
        if answered:
            person = self._meet(who, None) if new else person
            (self.discovered.record_start if new else self.discovered.record_survey)(person)
            self._name_contacts(person)
        elif who in self._local:
            self.discovered.record_refusal(self._local[who])
        self._pass_over_interviewed()
        return answered

    def _next_new_person(self) -> int:
        if not self.discovered.open:
            raise InputError("no new person can be interviewed: the study is closed, or all have been asked")
        self._met += 1
        return self._to_meet[self._met - 1]

    def _pass_over_interviewed(self) -> None:
        """New people are drawn among those not asked yet; a study without any left goes on as a closed one."""
        while self._met < len(self._to_meet):
            person = self._local.get(self._to_meet[self._met])
            if person is None or self.discovered.status[person] == Status.NAMED:
                break
            self._met += 1
        self.discovered.open = self._met < len(self._to_meet)

    def true_degree(self, person: int) -> int:
        """How many contacts a person really has; for references only, never for a policy."""
        return int(self.network.degrees[self.people[person]])

    def _meet(self, who: int, named_by: int | None) -> int:
        if who not in self._local:
            self._local[who] = self.discovered.add_person(named_by)
            self.people.append(who)
        return self._local[who]

    def _name_contacts(self, person: int) -> None:
        contacts = self._named_by(self.people[person])
        for who in contacts[self._rng.permutation(len(contacts))].tolist():
            self.discovered.add_tie(person, self._meet(who, person))
        for who in (self.people[person], *(contacts.tolist() if self._groups_of_contacts else ())):
            self._say_group(who)
        if self._hub_question is not None and len(contacts):
            self.discovered.record_mark(person, self._local[self._marked_by(self.people[person], contacts)])

    def _say_group(self, who: int) -> None:
        """Record the group of a person, if there are groups and they are in one."""
        if self._groups is not None and (group := self._groups.name_of(who)) is not None:
            self.discovered.record_group(self._local[who], group)

    def _marked_by(self, who: int, contacts: IntArray) -> int:
        """The contact whom a person believes to know the most people; draws are made as in :meth:`_named_by`."""
        noise = np.random.default_rng((self._mark_seed, who)).normal(size=self.network.n)[contacts]
        with np.errstate(divide="ignore"):  # in a directed network a contact may name no one
            degrees = np.log(self.network.degrees[contacts])
        perceived = degrees + max(self._hub_question or 0.0, SURE) * noise
        return int(contacts[perceived.argmax()])

    def _named_by(self, who: int) -> IntArray:
        """The contacts a person names.

        One number is drawn for every person of the network, so that hidden ties do not change the other draws.
        """
        contacts = self.network.contacts_of(who)
        if self._report_rate == 1:
            return contacts
        draws = np.random.default_rng((self._report_seed, who)).random(self.network.n)
        return contacts[draws[contacts] < self._report_rate]


def check_contacts(network: Network, what: str = "trainings and environments") -> None:
    """Refuse directed networks for what is made for contacts that go both ways."""
    if network.directed:
        raise InputError(f"{network.name}: {what} take contacts that go both ways, and these are directed")


def _checked_start(network: Network, start: Iterable[int]) -> list[int]:
    people = list(dict.fromkeys(int(who) for who in start))
    for who in people:
        if not 0 <= who < network.n:
            raise InputError(f"start person {who} does not exist: indices run from 0 to {network.n - 1}")
    return people


class Study(Protocol):
    """What the survey loop needs: a :class:`Simulation`, or a study on a source."""

    discovered: Discovered
    pages: int  # how many pages of contacts were read; 0 in simulations

    def ask(self, person: int) -> bool:
        """Try to survey a person; False if they refuse."""
        ...


class SurveyBudget:
    """The budget of a study: how much of it is used, and how many people may be chosen now.

    ``unit`` says what the budget counts: ``attempts``, ``answers`` (a refusal is free), or ``pages`` of a source.
    """

    def __init__(self, simulation: Study, budget: int, per_round: int = 1, unit: SourceUnit = "attempts") -> None:
        self.simulation, self.budget, self.per_round, self.unit = simulation, budget, per_round, unit
        self.used = simulation.pages if unit == "pages" else 0

    @property
    def places(self) -> int:
        """How many people may be chosen for the next round."""
        return max(min(self.per_round, self.budget - self.used), 0)

    def ask(self, person: int) -> bool:
        """Try to survey a person; False if they refuse."""
        answered = self.simulation.ask(person)
        if self.unit == "pages":
            self.used = self.simulation.pages
        else:
            self.used += answered or self.unit == "attempts"
        return answered

    def ask_round(self, chosen: Iterable[int]) -> Iterator[int]:
        """Try to survey the people of a round; yields the budget used after each attempt.

        A person chosen for the round who turns up in it as a new person is not asked twice.
        """
        seen = self.simulation.discovered
        for person in chosen:
            if seen.open if person == NEW else person in seen.waiting:
                self.ask(person)
                yield self.used


def surveys(
    simulation: Study,
    policy: Policy,
    budget: int,
    rng: np.random.Generator,
    per_round: int = 1,
    unit: SourceUnit = "attempts",
) -> Iterator[int]:
    """The survey loop: until the budget or the frontier is used up; yields the budget used after each attempt.

    In an open study a policy may choose ``NEW`` in the place of a person; where it chooses too few, new people are
    interviewed.
    """
    study, seen = SurveyBudget(simulation, budget, per_round, unit), simulation.discovered
    while study.places:
        chosen = list(policy.choose(seen, rng, study.places))
        check_choice(policy, chosen, seen)
        if seen.open:
            chosen += [NEW] * (study.places - len(chosen))
        if not chosen:
            return
        yield from study.ask_round(chosen)


def check_choice(policy: Policy, chosen: Sequence[int], seen: Discovered) -> None:
    """Refuse people who may not be surveyed, and people chosen twice."""
    for i, person in enumerate(chosen):
        if person == NEW and not seen.open:
            raise InputError(f"the policy {policy.name} chose a new person, but none can be interviewed")
        if person != NEW and (person not in seen.waiting or person in chosen[:i]):
            raise InputError(f"the policy {policy.name} chose person {person!r}, who is not in the frontier")


def at_checkpoints(study: Iterator[int], checkpoints: Iterable[int]) -> Iterator[int]:
    """Run the survey loop ``study`` to each checkpoint (a budget used, ascending); an empty frontier ends it early."""
    used = 0
    for checkpoint in checkpoints:
        while used < checkpoint:
            used = next(study, checkpoint)
        yield checkpoint
