"""Simulated surveys: the hidden network answers, and policies see the answers only."""

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Literal

import numpy as np

from claim.discovery.discovered import Discovered
from claim.discovery.protocols import Policy
from claim.errors import InputError, check_number
from claim.networks import Network
from claim.networks.network import IntArray
from claim.randomness import draw_seed

BudgetUnit = Literal["attempts", "answers"]


class Simulation:
    """One study on a hidden network.

    Contacts are named in random order, so local indices carry no information about the network's own numbering. Who
    refuses is drawn at the start of the study and does not depend on the policy. Neither does who names whom: each
    contact is named with probability ``report_rate``. A tie is seen if either end names it.
    """

    def __init__(
        self,
        network: Network,
        start: Iterable[int],
        rng: np.random.Generator,
        refusal: float = 0.0,
        report_rate: float = 1.0,
    ) -> None:
        check_number(0, 1, refusal=refusal)
        check_number(0, 1, above=True, report_rate=report_rate)
        check_contacts(network)
        self.network = network
        self.discovered = Discovered()
        self.people: list[int] = []  # the network's index of each local person
        self._local: dict[int, int] = {}
        self._rng = rng
        self._refuses = rng.random(network.n) < refusal
        self._report_rate = report_rate
        self._report_seed = draw_seed(rng) if report_rate < 1 else 0
        for person in [self._meet(who, None) for who in _checked_start(network, start)]:
            self.discovered.record_start(person)
        for person in list(self.discovered.start):
            self._name_contacts(person)

    @classmethod
    def under_way(cls, network: Network, seen: Discovered, rng: np.random.Generator) -> "Simulation":
        """A study from where it stands; the people seen are the first of the network, in their order."""
        simulation = cls(network, (), rng)
        simulation.discovered = seen.copy()
        simulation.people = list(range(len(seen)))
        simulation._local = {who: who for who in simulation.people}
        return simulation

    def copy(self, rng: np.random.Generator) -> "Simulation":
        """An independent copy of the study as it stands, with random numbers of its own from here on."""
        other = copy(self)
        other.discovered, other.people, other._local = self.discovered.copy(), self.people.copy(), self._local.copy()
        other._rng = rng
        return other

    def ask(self, person: int) -> bool:
        """Try to survey a person of the frontier; False if they refuse."""
        if self._refuses[self.people[person]]:
            self.discovered.record_refusal(person)
            return False
        self.discovered.record_survey(person)
        self._name_contacts(person)
        return True

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

    def _named_by(self, who: int) -> IntArray:
        """The contacts a person names.

        One number is drawn for every person of the network, so that hidden ties do not change the other draws.
        """
        contacts = self.network.contacts_of(who)
        if self._report_rate == 1:
            return contacts
        draws = np.random.default_rng((self._report_seed, who)).random(self.network.n)
        return contacts[draws[contacts] < self._report_rate]


def check_contacts(network: Network) -> None:
    """Refuse directed networks: in a study a contact goes both ways, whichever of the two named the other."""
    if network.directed:
        raise InputError(f"{network.name}: studies take contacts that go both ways, and these are directed")


def _checked_start(network: Network, start: Iterable[int]) -> list[int]:
    people = list(dict.fromkeys(int(who) for who in start))
    for who in people:
        if not 0 <= who < network.n:
            raise InputError(f"start person {who} does not exist: indices run from 0 to {network.n - 1}")
    return people


class SurveyBudget:
    """The budget of a study: how much of it is used, and how many people may be chosen now.

    ``unit`` says what the budget counts: ``attempts``, or ``answers`` (a refusal is free).
    """

    def __init__(self, simulation: Simulation, budget: int, per_round: int = 1, unit: BudgetUnit = "attempts") -> None:
        self.simulation, self.budget, self.per_round, self.unit = simulation, budget, per_round, unit
        self.used = 0

    @property
    def places(self) -> int:
        """How many people may be chosen for the next round."""
        return max(min(self.per_round, self.budget - self.used), 0)

    def ask(self, person: int) -> bool:
        """Try to survey a person; False if they refuse."""
        answered = self.simulation.ask(person)
        self.used += answered or self.unit == "attempts"
        return answered


def surveys(
    simulation: Simulation,
    policy: Policy,
    budget: int,
    rng: np.random.Generator,
    per_round: int = 1,
    unit: BudgetUnit = "attempts",
) -> Iterator[int]:
    """The survey loop: until the budget or the frontier is used up; yields the budget used after each attempt."""
    study = SurveyBudget(simulation, budget, per_round, unit)
    while study.places:
        chosen = policy.choose(simulation.discovered, rng, study.places)
        if not chosen:
            return
        for person in chosen:
            if person not in simulation.discovered.waiting:
                raise InputError(f"the policy {policy.name} chose person {person!r}, who is not in the frontier")
            study.ask(person)
            yield study.used


def at_checkpoints(study: Iterator[int], checkpoints: Iterable[int]) -> Iterator[int]:
    """Run the survey loop ``study`` to each checkpoint (a budget used, ascending); an empty frontier ends it early."""
    used = 0
    for checkpoint in checkpoints:
        while used < checkpoint:
            used = next(study, checkpoint)
        yield checkpoint
