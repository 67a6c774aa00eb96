"""A practice study: made-up people of a synthetic network answer, and at the end a score shows how well the team did.

The study is open: no person is known at the outset, and people are met by lot or named by others.
Nothing to configure and nothing to keep: the study is encrypted under a random passphrase that is never shown, in a
temporary directory that goes with it.
"""

import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from claim.errors import InputError
from claim.field.store.library import Library
from claim.field.study import commands
from claim.field.study.names import words
from claim.field.study.setup import Setup
from claim.field.study.state import TALKED
from claim.networks.synthetic import retweet_like
from claim.randomness import named_seed
from claim.registry import OPEN_DEFAULT

PEOPLE = 200
INTERVIEWS, LEADERS = 12, 5
SIZES = (150, 300)  # what the team guesses
P = 0.1
RUNS = 20  # repeated studies of each way
Way = Literal["advice", "random", "one-hop"]
WAYS: tuple[Way, ...] = get_args(Way)
SAMPLES = 2000
SAMPLES_OF_A_RUN = 400
MARK_NOISE = 1.0  # of the logarithm of the number of people whom a contact seems to know
SLIP = 0.12  # chance that a known person is named in another spelling
EASY = 10  # work of key derivation: the passphrase is random, so that no guess needs slowing down

GIVEN = (
    "Abril Aiyana Amara Andrés Anselm Asha Beatriz Bilal Bruno Camille Carmen Chidi Chloé Dalia Damian Deniz Dmitri "
    "Elif Emeka Esteban Eva Farid Fatou Felipe Fiona Gael Hana Hugo Imani Ines Ivo Jana Jamal Joana Jonas Kamal "
    "Kaya Kenji Lars Leila Lucía Malik Marta Mateo Mei Mina Mirela Nadia Naveen Nico Noor Olga Omar Oskar Paola "
    "Petra Quinn Rafael Rania Rosa Ruben Sami Sana Selma Soraya Tariq Teo Thandi Tomás Ulla Valeria Viktor Wanda "
    "Xenia Yara Yusuf Zainab Zoë"
)
FAMILY = (
    "Abara Acosta Adeyemi Alonso Amari Bakker Baptiste Barros Bianchi Castillo Cohen Dias Dubois Duarte Eriksen "
    "Farah Ferrer Fischer García Gomes Haddad Hassan Horvat Ibarra Ivanova Jensen Joshi Kaplan Keita Khan Kovač "
    "Larsen Lima López Mbeki Mendes Molina Moreau Nakamura Ndiaye Novak Núñez Okafor Osei Park Pereira Petrov "
    "Quispe Rahman Reyes Rossi Ruiz Sánchez Santos Schmidt Silva Singh Soto Suzuki Torres Tran Vargas Vega Weber "
    "Wójcik Yılmaz Zapata"
)


class Spread(NamedTuple):
    """People reached in repeated studies: the mean, and what one study in ten is below and above."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Score:
    """People reached on the hidden network: by the team's leaders, at best, and in repeated studies of other ways."""

    team: float
    best: float
    ways: dict[Way, Spread]
    people: int
    leaders: int
    runs: int = RUNS


class Rehearsal:
    """A practice study, the hidden network, and who of the study is who in it."""

    def __init__(self, title: str, question: str, consent: str, seed: int | None = None) -> None:
        self._seed = secrets.randbelow(2**31) if seed is None else seed
        self._directory = Path(tempfile.mkdtemp(prefix="claim-practice-"))
        low, high = SIZES
        setup = Setup(
            title, question, leaders=LEADERS, size_low=low, size_high=high, consent_text=consent, seed=self._seed, p=P,
            rehearsal=True, open=True, interviews=INTERVIEWS,
        )  # fmt: skip
        self.opened = Library(self._directory, work=EASY).create(setup, secrets.token_urlsafe(32))
        self.network = retweet_like(PEOPLE, self._rng("network"), mean_degree=2.6, exponent=0.5)
        self._names = made_up_names(self.network.n, self._rng("names"))
        self._by_words = {words(name): who for who, name in enumerate(self._names)}
        self._known: dict[str, int] = {}  # code to hidden index
        self._spreads: dict[tuple[int, str, bool], dict[Way, Spread]] = {}  # by interviews, rule and question
        self._turn = threading.Lock()

    @property
    def study(self) -> str:
        """The id of the practice study."""
        return self.opened.study.state.study

    def _rng(self, *purpose: str | int) -> np.random.Generator:
        return np.random.default_rng(named_seed(self._seed, *purpose))

    # Answers ---------------------------------------------------------------------------------------------------------

    def hidden(self, code: str) -> int | None:
        """The index of a person in the hidden network; None for people the team made up itself."""
        codes = self.opened.study.state.codes_of(code)
        by_words = self._by_words.get(words(self.opened.view.name(code)))
        return next((self._known[each] for each in codes if each in self._known), by_words)

    def simulate(self, code: str) -> int:
        """Enter what this person would say, contact by contact; returns how many were named."""
        with self._turn:
            who = self.hidden(code)
            if who is None:
                raise InputError("this person is not part of the practice network: enter the answer yourself")
            rng = self._rng("answers", who)
            contacts = self.network.contacts_of(who)
            for contact in contacts[rng.permutation(len(contacts))].tolist():
                self._name(code, contact, rng)
            if self.opened.study.setup.hub_question and len(contacts):
                self._mark(code, who)
            return len(contacts)

    def drawn(self) -> str:
        """The name of the next person met by lot, among those not asked yet; empty if there is none."""
        people = self.opened.study.people.values()
        asked = {self.hidden(person.code) for person in people if person.state in (*TALKED, "refused")}
        order = self._rng("drawn").permutation(self.network.n).tolist()
        return next((self._names[who] for who in order if who not in asked), "")

    def _mark(self, by: str, who: int) -> None:
        """Mark the contact who seems to know the most people."""
        contacts = self.network.contacts_of(who)
        noise = self._rng("marks", who).normal(0.0, MARK_NOISE, len(contacts))
        marked = int(contacts[(np.log(self.network.degrees[contacts]) + noise).argmax()])
        named = [code for code in self.opened.study.person(by).contacts if self.hidden(code) == marked]
        if named:  # unless the team merged them with another person
            self.opened.run(lambda draft: commands.mark_contact(draft, by, named[0]))

    def _name(self, by: str, contact: int, rng: np.random.Generator) -> None:
        """Name one contact: a known person, unless the name is misspelt, or a new one."""
        known = self._code_of(contact)
        slip = rng.random() < SLIP
        if known is not None and (not slip or by in self.opened.study.person(known).named_by):
            self.opened.run(lambda draft: commands.name_contact(draft, by, known))
            return
        name = misspelt(self._names[contact], rng) if known is not None else self._names[contact]
        code = self.opened.run(lambda draft: commands.name_new_contact(draft, by, name)).result
        if code is not None:
            self._known[code] = contact

    def _code_of(self, who: int) -> str | None:
        people = self.opened.study.people.values()
        return next((person.code for person in people if not person.gone and self.hidden(person.code) == who), None)

    # How well it went ------------------------------------------------------------------------------------------------

    def score(self, leaders: Iterable[str]) -> Score:
        """The reach of these leaders on the hidden network, beside repeated studies with as many interviews."""
        hidden = {who for who in (self.hidden(code) for code in leaders) if who is not None}
        study = self.opened.study
        interviews = sum(person.state in TALKED for person in study.people.values())
        how = (interviews, study.setup.rule if study.setup.open else OPEN_DEFAULT, study.setup.hub_question)
        with self._turn:
            if how not in self._spreads:
                self._spreads[how] = {way: self._repeated(way, *how) for way in WAYS}
        return Score(self._reach(sorted(hidden)), self._best, self._spreads[how], self.network.n, len(hidden))

    @cached_property
    def _best(self) -> float:
        """The reach of leaders chosen on the whole network."""
        from claim.selection import select

        return self._reach(select(self.network, LEADERS, P, SAMPLES, self._seed).indices)

    def _reach(self, leaders: list[int]) -> float:
        from claim.cascades import influence

        return influence(self.network, leaders, P, SAMPLES, self._seed).mean if leaders else 0.0

    def _repeated(self, way: Way, interviews: int, rule: str, marks: bool) -> Spread:
        """People reached in repeated open studies with as many interviews.

        ``advice`` follows the rule of the study, ``random`` interviews new people only, and ``one-hop`` lets new people
        name one contact each, who leads.
        """
        from claim.discovery import Frame, Simulation, policy_named, surveys
        from claim.discovery.policies.open_studies import OneHop
        from claim.registry import find_policy
        from claim.selection.foresight import NAME, foresight_named

        one_hop = OneHop()
        advice = find_policy(rule, budget=max(interviews, 1), p=P)
        policy = {"advice": advice, "random": policy_named("new"), "one-hop": one_hop}[way]
        chooser = one_hop if way == "one-hop" else foresight_named(NAME, p=P, samples=SAMPLES_OF_A_RUN)
        reached = []
        for run in range(RUNS):
            rng = self._rng(way, run)
            simulation = Simulation(self.network, (), rng, frame=Frame(), hub_question=MARK_NOISE if marks else None)
            for _ in surveys(simulation, policy, interviews, rng):
                pass
            leaders = chooser.select(simulation.discovered, LEADERS, rng)
            reached.append(self._reach([simulation.people[leader] for leader in leaders]))
        low, high = np.quantile(reached, [0.1, 0.9])
        return Spread(float(np.mean(reached)), float(low), float(high))

    def end(self) -> None:
        """Forget all of it."""
        self.opened.lock()
        shutil.rmtree(self._directory, ignore_errors=True)


def made_up_names(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Different names from two small lists."""
    given, family = GIVEN.split(), FAMILY.split()
    chosen = rng.choice(len(given) * len(family), count, replace=False).tolist()
    return tuple(f"{given[each % len(given)]} {family[each // len(given)]}" for each in chosen)


def misspelt(name: str, rng: np.random.Generator) -> str:
    """The name as others might write it: a letter doubled, or dropped from the end."""
    given, _, family = name.partition(" ")
    if rng.random() < 0.5:
        return f"{given} {family[:-1]}" if len(family) > 4 else f"{given} {family}{family[-1]}"
    place = int(rng.integers(1, len(family)))
    return f"{given} {family[:place]}{family[place - 1]}{family[place:]}"
