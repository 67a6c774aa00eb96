"""Whom to survey next by the rule of the study, and why; the same log and seed always give the same advice."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from claim.discovery import NEW, Discovered, Policy, is_reference, policy_named
from claim.discovery.policies import chooses_leaders, only_open
from claim.discovery.policies.open_studies import Mix
from claim.discovery.reasons import NOT_NAMED, reasons_of, reasons_of_each, who_named
from claim.errors import ClaimError, InputError, install_command
from claim.field.study.events import NEW_PERSON
from claim.field.study.setup import DEFAULT_POLICY
from claim.field.study.state import TALKED
from claim.field.study.study import Person, Study
from claim.io.files import sha256_of
from claim.messages import Message
from claim.networks.catalogue import EVERY_FAMILY
from claim.randomness import named_seed
from claim.registry import (
    adviser,
    can_load_trained,
    find_policy,
    find_shipped,
    is_file,
    is_learned,
    is_mix,
    mix_parts,
    shipped,
)

ALTERNATIVES = 5
REST = 3  # attempts with others, for each time a person was not there, before they are suggested as before
MOST_REASONS = 3
MODEL_FREE = (
    DEFAULT_POLICY, "degree+inverse", "change", "inverse-degree", "max-degree", "max-contact", "snowball", "random",
)  # fmt: skip
TRAINED = "claim"
HOW_TO_DRAW = (  # a new person, so that everyone has the same chance to be met
    Message("From a list: number the people and draw a number; if they were surveyed already, draw again."),
    Message("At the door: toss for the house you go to, or take the person who comes in next."),
)


@dataclass(frozen=True)
class Suggestion:
    """A person to survey, or :data:`NEW_PERSON`, with up to three reasons, the strongest first."""

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
    def new_people(self) -> int:
        """How many new people are recommended."""
        return sum(each.person == NEW_PERSON for each in self.recommended)

    @property
    def how_to_draw(self) -> tuple[Message, ...]:
        """How to draw a new person by lot, if one is recommended."""
        return HOW_TO_DRAW if self.new_people else ()


def recommend(study: Study, count: int | None = None) -> Advice:
    """Whom to survey next: start people first, then as the study's policy ranks them.

    Without a ``count`` an open round goes on, else it is one person; with it a round of so many is planned anew.
    Never people who were surveyed, refused or withdrew. A person who was not there comes after the others until
    :data:`REST` further attempts were made for each time they were missed. In an open study new people may be
    recommended; those to choose from instead are people who are known.
    """
    count, kept = _open_round(study) if count is None else (count, [])
    if count < 1:
        raise InputError("ask for at least one person, not {count}", count=count)
    setup = study.setup
    policy, policy_hash = rule_named(setup.rule, setup.planned, setup.open, setup.p)
    known = _ranked(study, policy, _closed(study.discovered()), count + ALTERNATIVES, kept)
    chosen = _ranked(study, policy, study.discovered(), count, kept) if setup.open else known[:count]
    first = [*chosen, *[NEW_PERSON] * (count - len(chosen))] if setup.open else chosen
    ranking = [*first, *(code for code in known if code not in first)][: count + ALTERNATIVES]
    why_new = _why_new(study, policy, NEW_PERSON in chosen)
    sizes = {member: group.size for group in study.discovered().frontier_classes for member in group.members}
    known = [code for code in ranking if code != NEW_PERSON]
    signs = reasons_of_each(policy, study.discovered(), [study.seen.index[code] for code in known])
    why = {code: _reasons(study, study.people[code], said[1:], sizes) for code, said in zip(known, signs, strict=True)}
    suggestions = tuple(Suggestion(code, why.get(code, why_new)) for code in ranking)
    return Advice(policy.name, policy_hash, setup.seed, study.state.step, count, suggestions, _notes(study, policy))


def _closed(seen: Discovered) -> Discovered:
    """What was discovered, without the choice of a new person."""
    if not seen.open:
        return seen
    seen = seen.copy()
    seen.open = False
    return seen


def _open_round(study: Study) -> tuple[int, list[Person]]:
    """The places left of the round of several people that was shown last, and who keeps theirs; else one place.

    People who were surveyed have used up a place, and so have new people since; the places of those who refused or were
    not there go to others.
    """
    shown = study.state.shown
    if shown is None or shown.count < 2:
        return 1, []
    there = (code for code in shown.ranking[: shown.count] if code in study.state.people)  # adding them may be undone
    planned = [study.person(code) for code in there]
    places = shown.count - sum(person.state in TALKED for person in planned) - study.state.new_since_shown
    waiting = [person for person in planned if person.may_be_surveyed and not _rests(study, person)]
    return (places, waiting) if places > 0 else (1, [])


def _ranked(study: Study, policy: Policy, seen: Discovered, count: int, kept: list[Person]) -> list[str]:
    """The codes of the people who come next; where new people may, they come before those who were not there."""
    waiting = [person for person in study.people.values() if person.may_be_surveyed]
    resting = [person for person in waiting if _rests(study, person)]
    first = [person for person in waiting if (person.is_start or person.is_new) and not _rests(study, person)]
    rng = np.random.default_rng(named_seed(study.setup.seed, "advice", study.state.step))
    most = count + len(first) + len(resting)
    chosen = policy.choose(seen, rng, most if seen.open else min(len(waiting), most))
    ranked = [NEW_PERSON if index == NEW else study.seen.codes[index] for index in chosen]
    apart = {person.code for person in (*kept, *first, *resting)}
    before = dict.fromkeys(person.code for person in (*kept, *first))
    late = sorted(resting, key=lambda person: (len(person.missed), person.missed[-1]))
    after = [] if seen.open else [person.code for person in late]
    return [*before, *(code for code in ranked if code not in apart), *after][:count]


def _rests(study: Study, person: Person) -> bool:
    return bool(person.missed) and study.state.attempts - person.missed[-1] < REST * len(person.missed)


def _notes(study: Study, policy: Policy) -> tuple[Message, ...]:
    notes = []
    if policy.name != study.setup.rule:
        text = "{wanted} was not shown to be better than chance, so {used} decides"
        notes.append(Message.of(text, wanted=study.setup.rule, used=policy.name))
    if not (study.discovered().frontier or study.setup.open):
        nobody_left = "no person is left to survey: all people named so far were surveyed or refused"
        notes.append(Message(nobody_left if study.seen.codes else "add the people you start with"))
    if study.left == 0:
        notes.append(Message("all planned surveys are used up"))
    return tuple(notes)


def _why_new(study: Study, policy: Policy, chosen: bool) -> tuple[Message, ...]:
    """Why a new person comes next: the policy chose so, or it has no one left to choose."""
    if not chosen:
        return (Message("no person who was named is left to survey"),)
    found = reasons_of(policy, study.discovered(), NEW)[:MOST_REASONS]
    return tuple(reason.with_people(study.seen.codes.__getitem__) for reason in found)


def _reasons(study: Study, person: Person, signs: list[Message], sizes: dict[int, int]) -> tuple[Message, ...]:
    """Who named this person, the signs that the policy's ranking is based on, and how many others look the same."""
    here = study.seen.index[person.code]
    named = who_named(study.discovered(), here)
    found: list[Message] = []
    if person.is_start:
        found.append(Message("one of the people you start with"))
    if person.is_new:
        found.append(Message("met as a new person, not interviewed yet"))
    if _rests(study, person):
        text = "was not there before (times: {count}), so others come first for a while"
        found.append(Message.of(text, count=len(person.missed)))
    if named.text != NOT_NAMED:
        found.append(named)
    found += signs
    if named.text == NOT_NAMED and not (person.is_start or person.is_new):
        listed = Message("on your list; not named in any survey yet")
        found.append(listed if person.from_roster else named)
    if sizes.get(here, 1) > 1 and not person.is_start:
        text = "others look just the same ({count}): chance decided between them"
        found.append(Message.of(text, count=sizes[here] - 1))
    return tuple(reason.with_people(study.seen.codes.__getitem__) for reason in found[:MOST_REASONS])


# The rules a study can follow: policies by name, trained ones where they can be loaded -------------------------------


def offered() -> tuple[str, ...]:
    """The rules to choose from on this machine, the default first; trained ones if they beat chance."""
    usable = [each for each in shipped() if each.variant == TRAINED and each.beats_chance] if can_load_trained() else []
    families = dict.fromkeys(each.family for each in usable)
    trained = [TRAINED if family == EVERY_FAMILY else f"{TRAINED}:{family}" for family in families]
    return (*MODEL_FREE, *trained)


def check_rule(name: str, budget: int, open: bool = False) -> None:
    """Refuse a rule that is not there, must not advise or cannot be used on this machine, without loading it."""
    if is_mix(name):
        _check_open(name, open)
        check_rule(mix_parts(name)[1], budget, open)
    elif not is_learned(name):
        policy = policy_named(name)
        if is_reference(policy):
            raise InputError("{name} must see the whole network; it cannot give advice", name=name)
        if chooses_leaders(policy):
            raise InputError("{name} chooses its own leaders; a study cannot follow it", name=name)
        if only_open(policy):
            _check_open(name, open)
    elif is_file(name):
        raise InputError("a study follows a rule by its name, not a policy file")
    else:
        find_shipped(name, None, budget)
        if not can_load_trained():
            problem = "{name} is a trained rule and needs PyTorch ({install}): choose another"
            raise InputError(problem, name=name, install=install_command("learning"))


def _check_open(name: str, open: bool) -> None:
    if not open:
        raise InputError("{name} interviews new people, and this study is closed to them: choose another", name=name)


def rule_named(name: str, budget: int, open: bool = False, p: float = 0.1) -> tuple[Policy, str | None]:
    """The policy of that name, and the hash of its file if it was trained (then it is that of the nearest budget).

    In place of a trained one that was not shown to beat chance it is the default.
    """
    check_rule(name, budget, open)
    if is_mix(name):
        among_named, file_hash = rule_named(mix_parts(name)[1], budget, open, p)
        mix = find_policy(name, None, budget, p)
        assert isinstance(mix, Mix)
        return replace(mix, policy=among_named), file_hash
    used, _ = adviser(name, None, budget)
    if used != name or not is_learned(name):
        return find_policy(str(used), None, budget, p), None
    weights = find_shipped(name, None, budget).stem
    return find_policy(name, None, budget), _hash(weights.with_name(f"{weights.name}.safetensors"))


def prepare(name: str, budget: int) -> None:
    """Load a trained rule ahead, which takes seconds; an error in it is shown when it is asked for advice."""
    if is_learned(name) or is_mix(name):
        with suppress(ClaimError):
            rule_named(name, budget, open=True)


_hash = cache(sha256_of)  # of a file of weights
