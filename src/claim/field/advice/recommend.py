"""Whom to survey next by the rule of the study, and why; the same log and seed always give the same advice."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from claim.discovery import Discovered, Policy, is_reference, policy_named
from claim.discovery.policies import POLICIES
from claim.discovery.reasons import NOT_NAMED, reasons_of, who_named
from claim.errors import ClaimError, InputError
from claim.field.study.setup import DEFAULT_POLICY
from claim.field.study.state import TALKED
from claim.field.study.study import Person, Study
from claim.io.files import sha256_of
from claim.messages import Message
from claim.randomness import named_seed
from claim.registry import EVERY_FAMILY, find_shipped, is_file, is_learned, shipped

ALTERNATIVES = 5
REST = 3  # attempts with others, for each time a person was not there, before they are suggested as before
MOST_REASONS = 3
MODEL_FREE = (
    "scout", "degree+inverse", "change", "inverse-degree", "max-degree", "max-contact", "snowball", "random",
)  # fmt: skip
TRAINED = "claim"
NEEDED = ("torch", "safetensors")  # by a trained policy


@dataclass(frozen=True)
class Suggestion:
    """A person to survey, with up to three reasons, the strongest first."""

    person: str
    reasons: tuple[Message, ...]


@dataclass(frozen=True)
class Advice:
    """A ranking: the first ``count`` are recommended, the others are there to choose from."""

    policy: str
    policy_hash: str | None
    seed: int
    step: int
    count: int
    ranking: tuple[Suggestion, ...]
    notes: tuple[Message, ...] = ()

    @property
    def recommended(self) -> tuple[Suggestion, ...]:
        """The next person, or the people of the next round."""
        return self.ranking[: self.count]

    @property
    def alternatives(self) -> tuple[Suggestion, ...]:
        """Who comes after them."""
        return self.ranking[self.count :]


@dataclass(frozen=True)
class Round:
    """What is left of a round that was planned: places, and the people who keep theirs."""

    places: int
    people: tuple[Person, ...]


def open_round(study: Study) -> Round | None:
    """The round of several people that was shown last, if one of them is still to be surveyed.

    People who were surveyed have used up a place; the places of those who refused or were not there go to others.
    """
    shown = study.state.shown
    if shown is None or shown.count < 2:
        return None
    there = (code for code in shown.ranking[: shown.count] if code in study.state.people)  # adding them may be undone
    planned = [study.person(code) for code in there]
    places = shown.count - sum(person.state in TALKED for person in planned)
    waiting = tuple(person for person in planned if person.may_be_surveyed and not _rests(study, person))
    return Round(places, waiting) if places else None


def recommend(
    study: Study,
    count: int | None = None,
    *,
    policy: Policy | None = None,
    policy_hash: str | None = None,
    alternatives: int = ALTERNATIVES,
) -> Advice:
    """Whom to survey next: start people first, then as the study's policy (or a given, trained one) ranks them.

    Without a ``count`` an open round goes on, else it is one person; with it a round of so many is planned anew.
    Never people who were surveyed, refused or withdrew. A person who was not there comes after the others until
    :data:`REST` further attempts were made for each time they were missed.
    """
    going_on = open_round(study) if count is None else None
    count = (going_on.places if going_on else 1) if count is None else count
    if count < 1:
        raise InputError("ask for at least one person, not {count}", count=count)
    rule = Rule(policy, policy_hash) if policy else rule_named(study.setup.policy, study.setup.budget)
    ranking = _ranking(study, rule.policy, count + alternatives, going_on.people if going_on else ())
    sizes = _class_sizes(study.discovered())
    suggestions = tuple(Suggestion(person.code, _reasons(study, person, rule.policy, sizes)) for person in ranking)
    return Advice(rule.policy.name, rule.hash, study.setup.seed, study.state.step, count, suggestions, _notes(study))


def _ranking(study: Study, policy: Policy, count: int, kept: tuple[Person, ...]) -> list[Person]:
    waiting = [person for person in study.people.values() if person.may_be_surveyed]
    resting = [person for person in waiting if _rests(study, person)]
    first = [person for person in waiting if person.is_start and not _rests(study, person)]
    rng = np.random.default_rng(named_seed(study.setup.seed, "advice", study.state.step))
    chosen = policy.choose(study.discovered(), rng, min(len(waiting), count + len(first) + len(resting)))
    ranked = [study.people[study.seen.codes[index]] for index in chosen]
    others = [person for person in ranked if person not in first and person not in resting]
    late = sorted(resting, key=lambda person: (len(person.missed), person.missed[-1]))
    return list({person.code: person for person in (*kept, *first, *others, *late)}.values())[:count]


def _rests(study: Study, person: Person) -> bool:
    return bool(person.missed) and study.state.attempts - person.missed[-1] < REST * len(person.missed)


def _notes(study: Study) -> tuple[Message, ...]:
    notes = []
    if not study.seen.codes:
        notes.append(Message("add the people you start with"))
    elif not study.discovered().frontier:
        notes.append(Message("nobody is left to survey: everybody named so far was surveyed or refused"))
    if study.left == 0:
        notes.append(Message("all planned surveys are used up"))
    return tuple(notes)


def _class_sizes(discovered: Discovered) -> dict[int, int]:
    return {member: group.size for group in discovered.frontier_classes for member in group.members}


def _reasons(study: Study, person: Person, policy: Policy, sizes: dict[int, int]) -> tuple[Message, ...]:
    """Who named this person, what the policy's ranking is based on, and how many others look the same."""
    here = study.seen.index[person.code]
    named, signs = who_named(study.discovered(), here), reasons_of(policy, study.discovered(), here)[1:]
    found: list[Message] = []
    if person.is_start:
        found.append(Message("one of the people you start with"))
    if _rests(study, person):
        text = "was not there before (times: {count}), so others come first for a while"
        found.append(Message.of(text, count=len(person.missed)))
    if named.text != NOT_NAMED:
        found.append(named)
    found += signs
    if named.text == NOT_NAMED and not person.is_start:
        listed = Message("on your list; nobody surveyed has named this person yet")
        found.append(listed if person.from_roster else named)
    if sizes.get(here, 1) > 1 and not person.is_start:
        text = "others look just the same ({count}): chance decided between them"
        found.append(Message.of(text, count=sizes[here] - 1))
    return tuple(reason.with_people(study.seen.codes.__getitem__) for reason in found[:MOST_REASONS])


# The rules a study can follow: policies by name, trained ones where they can be loaded -------------------------------


@dataclass(frozen=True)
class Rule:
    """A policy, and the hash of its file if it was trained."""

    policy: Policy
    hash: str | None = None

    def __post_init__(self) -> None:
        if is_reference(self.policy):
            raise InputError("{name} must see the whole network; it cannot give advice", name=self.policy.name)


def offered() -> tuple[str, ...]:
    """The rules to choose from on this machine, the default first."""
    free = [name for name in MODEL_FREE if name in POLICIES]
    return tuple(dict.fromkeys((DEFAULT_POLICY, *free, *_trained())))


def check_rule(name: str, budget: int) -> None:
    """Refuse a rule that is not there, must not advise or cannot be used on this machine, without loading it."""
    if not is_learned(name):
        Rule(policy_named(name))
        return
    if is_file(name):
        raise InputError("a study follows a rule by its name, not a policy file")
    find_shipped(name, None, budget)
    if not _can_load():
        raise InputError(
            "{name} is a trained rule and needs PyTorch (pip install 'claim[learning]'): choose another", name=name
        )


def rule_named(name: str, budget: int) -> Rule:
    """The rule of that name; a trained one is that for the nearest budget."""
    check_rule(name, budget)
    if not is_learned(name):
        return Rule(policy_named(name))
    from claim.learning.policy import learned_policy

    weights = find_shipped(name, None, budget).stem
    policy = replace(learned_policy(name, None, budget), name=name)
    return Rule(policy, _hash(weights.with_name(f"{weights.name}.safetensors")))


def prepare(name: str, budget: int) -> None:
    """Load a trained rule ahead, which takes seconds; whatever is wrong with it is said when it is asked."""
    if is_learned(name):
        with suppress(ClaimError):
            rule_named(name, budget)


def _trained() -> list[str]:
    families = dict.fromkeys(each.family for each in shipped() if each.variant == TRAINED) if _can_load() else {}
    return [TRAINED if family == EVERY_FAMILY else f"{TRAINED}:{family}" for family in families]


def _can_load() -> bool:
    return all(find_spec(module) is not None for module in NEEDED)


@cache
def _hash(path: Path) -> str:
    return sha256_of(path)
