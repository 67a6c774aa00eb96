"""A practice study: made-up people of a synthetic network answer, and at the end it is seen how well the team did.

Nothing to configure and nothing to keep: the study is encrypted under a random passphrase that is never shown, in a
temporary directory that goes with it.
"""

import secrets
import shutil
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from claim.errors import InputError
from claim.field.store.library import Library
from claim.field.store.session import OpenStudy
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.names import words
from claim.field.study.setup import Setup
from claim.networks import Network
from claim.networks.synthetic import retweet_like
from claim.randomness import named_seed

PEOPLE = 200
START, BUDGET, LEADERS = 4, 8, 5
SIZES = (150, 300)  # what the team guesses
P = 0.1
RANDOM_RUNS = 20
SAMPLES = 2000
SAMPLES_OF_A_RUN = 400
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

TEXTS = {
    "en": (
        "Practice",
        "Whom do you talk to when something matters?",
        "I agree to say whom I talk to. I can stop at any time, and withdraw later. (Practice: nobody here is real.)",
    ),
    "es": (
        "Práctica",
        "¿Con quién habla usted cuando algo importa?",
        "Acepto decir con quién hablo. Puedo parar cuando quiera y retirarme después. (Práctica: nadie aquí es real.)",
    ),
}


@dataclass(frozen=True)
class Score:
    """People reached, on the hidden network: by the team's leaders, after random surveys, and at best."""

    team: float
    random: float
    best: float
    people: int
    leaders: int

    @property
    def share(self) -> float:
        """The team's reach as a share of the best."""
        return self.team / self.best if self.best else 0.0


class Rehearsal:
    """The hidden network, and who of the study is who in it."""

    def __init__(self, opened: OpenStudy, directory: Path, network: Network, seed: int) -> None:
        self.opened = opened
        self.network = network
        self._directory = directory
        self._seed = seed
        self._names = made_up_names(network.n, np.random.default_rng(named_seed(seed, "names")))
        self._by_words = {words(name): who for who, name in enumerate(self._names)}
        self._known: dict[str, int] = {}  # code to hidden index
        self._start: list[int] = []
        self._best: float | None = None
        self._random: dict[int, float] = {}  # by number of surveys
        self._turn = threading.Lock()

    @classmethod
    def begin(cls, language: str = "en", seed: int | None = None) -> "Rehearsal":
        """A practice study with its start people in it."""
        seed = secrets.randbelow(2**31) if seed is None else seed
        directory = Path(tempfile.mkdtemp(prefix="claim-practice-"))
        title, question, consent = TEXTS.get(language, TEXTS["en"])
        setup = Setup(title, question, BUDGET, LEADERS, *SIZES, consent, seed=seed, p=P, rehearsal=True)
        opened = Library(directory, work=EASY).create(setup, secrets.token_urlsafe(32))
        rng = np.random.default_rng(named_seed(seed, "network"))
        rehearsal = cls(opened, directory, retweet_like(PEOPLE, rng, mean_degree=2.6, exponent=0.5), seed)
        rehearsal._add_start_people()
        return rehearsal

    @property
    def study(self) -> str:
        """The id of the practice study."""
        return self.opened.study.state.study

    def _add_start_people(self) -> None:
        rng = np.random.default_rng(named_seed(self._seed, "start"))
        sociable = np.flatnonzero(self.network.degrees > 0)
        self._start = rng.choice(sociable, START, replace=False).tolist()

        def add(draft: Draft) -> list[str]:
            return [commands.add_person(draft, self._names[who], is_start=True) for who in self._start]

        self._known.update(zip(self.opened.run(add).result or [], self._start, strict=True))

    # Answers ---------------------------------------------------------------------------------------------------------

    def hidden(self, code: str) -> int | None:
        """The index of a person in the hidden network; None for people the team made up itself."""
        for each in self.opened.study.state.codes_of(code):
            if each in self._known:
                return self._known[each]
        return self._by_words.get(words(self.opened.view.name(code)))

    def simulate(self, code: str) -> int:
        """Enter what this person would say, contact by contact; returns how many were named."""
        with self._turn:
            who = self.hidden(code)
            if who is None:
                raise InputError("this person is not part of the practice network: enter the answer yourself")
            rng = np.random.default_rng(named_seed(self._seed, "answers", who))
            contacts = self.network.contacts_of(who)
            for contact in contacts[rng.permutation(len(contacts))].tolist():
                self._name(code, contact, rng)
            return len(contacts)

    def _name(self, by: str, contact: int, rng: np.random.Generator) -> None:
        """Name one contact: a known person, unless the name is misspelt, or a new one."""
        known = self._code_of(contact)
        slip = rng.random() < SLIP
        if known is not None and (not slip or by in self._namers(known)):
            self.opened.run(lambda draft: commands.name_contact(draft, by, known))
            return
        name = misspelt(self._names[contact], rng) if known is not None else self._names[contact]
        code = self.opened.run(lambda draft: commands.name_new_contact(draft, by, name)).result
        if code is not None:
            self._known[code] = contact

    def _namers(self, code: str) -> tuple[str, ...]:
        return self.opened.study.person(code).named_by

    def _code_of(self, who: int) -> str | None:
        people = self.opened.study.people.values()
        return next((person.code for person in people if not person.gone and self.hidden(person.code) == who), None)

    # How well it went ------------------------------------------------------------------------------------------------

    def score(self, leaders: list[str]) -> Score:
        """The reach of these leaders on the hidden network, beside as many random surveys and the best there is."""
        hidden = {who for who in (self.hidden(code) for code in leaders) if who is not None}
        with self._turn:
            if self._best is None:
                self._best = self._best_reach()
            spent = self.opened.study.spent
            if spent not in self._random:
                runs = [self._reach(self._random_run(run, spent)) for run in range(RANDOM_RUNS)]
                self._random[spent] = float(np.mean(runs))
            random, best = self._random[spent], self._best
        return Score(self._reach(sorted(hidden)), random, best, people=self.network.n, leaders=len(hidden))

    def _reach(self, leaders: list[int]) -> float:
        from claim.cascades import influence

        return influence(self.network, leaders, P, SAMPLES, self._seed).mean if leaders else 0.0

    def _best_reach(self) -> float:
        """With leaders chosen on the whole network."""
        from claim.selection import select

        return self._reach(select(self.network, LEADERS, P, SAMPLES, self._seed).leaders)

    def _random_run(self, run: int, budget: int) -> list[int]:
        """Leaders after random surveys from the same start, chosen in the same way."""
        from claim.discovery import Simulation, policy_named, surveys
        from claim.selection.foresight import FreeForesight

        rng = np.random.default_rng(named_seed(self._seed, "random", run))
        simulation = Simulation(self.network, self._start, rng)
        for _ in surveys(simulation, policy_named("random"), budget, rng):
            pass
        chosen = FreeForesight(P, SAMPLES_OF_A_RUN).select(simulation.discovered, LEADERS, rng)
        return [simulation.people[leader] for leader in chosen]

    def end(self) -> None:
        """Forget all of it."""
        self.opened.lock()
        shutil.rmtree(self._directory, ignore_errors=True)


def made_up_names(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Different names from two small lists."""
    given, family = GIVEN.split(), FAMILY.split()
    if count > len(given) * len(family):
        raise InputError("there are no {count} made-up names", count=count)
    chosen = rng.choice(len(given) * len(family), count, replace=False).tolist()
    return tuple(f"{given[each % len(given)]} {family[each // len(given)]}" for each in chosen)


def misspelt(name: str, rng: np.random.Generator) -> str:
    """The name as others might write it: a letter doubled, or dropped from the end."""
    given, _, family = name.partition(" ")
    if rng.random() < 0.5:
        return f"{given} {family[:-1]}" if len(family) > 4 else f"{given} {family}{family[-1]}"
    place = int(rng.integers(1, len(family)))
    return f"{given} {family[:place]}{family[place - 1]}{family[place:]}"
