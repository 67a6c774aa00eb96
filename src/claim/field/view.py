"""A study and its names at one moment, and summaries of it as plain data for pages, JSON and tables."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from claim.errors import InputError
from claim.field.study.events import NEW_PERSON, TieReported, as_data
from claim.field.study.names import ALIKE, Match, NameIndex, Prepared, in_order
from claim.field.study.study import Person, Study
from claim.messages import Message

if TYPE_CHECKING:
    from claim.field.advice.leaders import LeaderAdvice
    from claim.field.advice.recommend import Advice, Suggestion

T = TypeVar("T")
INTERVIEWED = ("surveyed", "partial", "surveying")


class View:
    """A study at one moment, together with its names."""

    def __init__(
        self,
        study: Study,
        texts: dict[str, str],
        prepared: dict[str, Prepared] | None = None,
        carried: dict[str, Any] | None = None,
    ) -> None:
        self.study = study
        self.texts = texts
        self.carried = {} if carried is None else carried  # handed on to later views, until the study is locked
        self._prepared = prepared or {}  # from the moment before, so that only new names are prepared
        self._kept: dict[Any, Any] = {}  # goes with the view: nothing outlives a lock
        self._turn = threading.RLock()

    def later(self, study: Study, texts: dict[str, str]) -> "View":
        """The view of a later moment; what was erased is not handed on."""
        known = self.index.prepared if "index" in vars(self) else self._prepared
        kept = set(texts.values())
        return View(study, texts, {name: each for name, each in known.items() if name in kept}, self.carried)

    def name(self, code: str) -> str:
        """What a person is called; their code if the name was erased, or never stored."""
        root = self.study.state.root(code)
        return self.texts.get(self.study.state.people[root].name) or root

    def spellings(self, code: str) -> list[str]:
        """All names of a person, the current one first, each once."""
        codes = self.study.state.codes_of(code)
        found = [self.texts.get(self.study.state.people[each].name) for each in codes]
        return list(dict.fromkeys(name for name in found if name))

    @cached_property
    def index(self) -> NameIndex:
        """The names of all people present, under all spellings."""
        present = [code for code, person in self.study.people.items() if not person.gone]
        return NameIndex(((code, name) for code in present for name in self.spellings(code)), self._prepared)

    @cached_property
    def known(self) -> list[Person]:
        """The people of the network, in the order of discovery."""
        return [person for person in self.study.people.values() if person.known]

    @cached_property
    def groups(self) -> dict[str, str]:
        """The groups of people of whom they are known, by code."""
        found = {person.code: self.texts.get(person.group or "") for person in self.known}
        return {code: group for code, group in found.items() if group}

    def find(self, text: str) -> str:
        """The current code of the one person with that code or, whatever its accents and order, that name."""
        for code in (text.strip(), text.strip().upper()):
            if code in self.study.state.people:
                return self.study.state.root(code)
        found = self.index.same(text)
        if len(found) > 1:
            problem = "several people are called {text!r}: use a code ({codes})"
            raise InputError(problem, text=text, codes=", ".join(found))
        if not found:
            for near in self.index.similar(text, limit=1):
                problem = "no person is called {text!r}; did you mean {name} ({code})?"
                raise InputError(problem, text=text, name=near.name, code=near.code)
            raise InputError("no person is called {text!r}", text=text)
        return found[0]

    def search(self, text: str) -> list[Person]:
        """The people in one of whose names each word of a text begins a word, or who have it as their code."""
        wanted, code = in_order(text), text.strip().upper()
        codes = {
            each
            for each, name in self.index.names
            if all(any(word.startswith(part) for word in self.index.prepared[name].words) for part in wanted)
        }
        return [person for person in self.known if (wanted and person.code in codes) or code in person.codes]

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """A value that is computed once for this view."""
        with self._turn:
            if key not in self._kept:
                self._kept[key] = compute()
            found: T = self._kept[key]
            return found

    @cached_property
    def possible_duplicates(self) -> list[tuple[str, Match]]:
        """Pairs of people who may be the same, most similar first, without those the team looked at already."""
        apart, pairs = self.study.state.apart, self.index.alike(ALIKE)
        return [pair for pair in pairs if (min(pair[0], pair[1].code), max(pair[0], pair[1].code)) not in apart]

    @cached_property
    def possible_duplicate_groups(self) -> list[tuple[str, ...]]:
        """The same, as groups of people who may be one, in the order of their most similar pair, each by discovery."""
        group_of: dict[str, list[str]] = {}
        for one, match in self.possible_duplicates:
            mine, others = group_of.setdefault(one, [one]), group_of.get(match.code, [match.code])
            if mine is not others:
                mine.extend(others)
                group_of.update(dict.fromkeys(others, mine))
        place = {code: i for i, code in enumerate(self.study.people)}
        groups = {id(group): tuple(sorted(group, key=place.__getitem__)) for group in group_of.values()}
        return list(groups.values())

    def all_alike(self, group: Sequence[str]) -> list[str]:
        """The people of a group who are all like each other: a chain of similar names may join very different ones."""
        pairs = {frozenset((one, match.code)) for one, match in self.possible_duplicates}
        found: list[str] = []
        for code in group:
            if all(frozenset((code, each)) in pairs for each in found):
                found.append(code)
        return found

    @cached_property
    def named_at(self) -> dict[tuple[str, str], str]:
        """When a person named another for the first time, by the current codes of both."""
        root, found = self.study.state.root, dict[tuple[str, str], str]()
        for event in self.study.log:
            if isinstance(event.body, TieReported) and event.seq not in self.study.undone:
                found.setdefault((root(event.body.by), root(event.body.other)), event.at)
        return found

    def shared_contacts(self, people: Sequence[str]) -> list[str]:
        """The people whom at least two of these know."""
        times = Counter(chain.from_iterable(self.neighbours.get(code, ()) for code in people))
        return [code for code, count in times.items() if count > 1]

    @cached_property
    def neighbours(self) -> dict[str, set[str]]:
        """The people whom each person is in contact with."""
        found: dict[str, set[str]] = {}
        for tie in self.study.ties:
            found.setdefault(tie.one, set()).add(tie.other)
            found.setdefault(tie.other, set()).add(tie.one)
        return found


@dataclass(frozen=True)
class Progress:
    """How far a study has come: interviews made and still to make, leaders who accepted and leaders wanted."""

    done: int
    left: int
    accepted: int
    wanted: int

    @property
    def planned(self) -> int:
        """All interviews, made and to make."""
        return self.done + self.left


def progress(view: View) -> Progress:
    """How far the study has come; start people count as interviews like all others."""
    study = view.study
    done = sum(person.state in INTERVIEWED for person in view.known)
    answers = [person.leader.answer for person in view.known if person.leader]
    return Progress(done, study.left + study.start_people_left, answers.count("accepted"), study.setup.leaders)


def step_now(view: View) -> str:
    """What the team does next: the page of the study where it is done."""
    found, state = progress(view), view.study.state
    if found.accepted < found.wanted:
        if not (view.known or view.study.setup.open):
            return "people"
        if found.left and (view.study.setup.open or any(person.may_be_surveyed for person in view.known)):
            return "next"
        return "same" if view.possible_duplicates else "leaders"
    held = any("attended" in person.leader.sessions.values() for person in view.known if person.leader)
    return "follow-up" if state.sessions and held else "sessions"


def overview(view: View) -> dict[str, Any]:
    """Where the study stands."""
    study = view.study
    states = [person.state for person in view.known]
    return {
        "study": study.state.study,
        "title": study.setup.title,
        "people": len(states),
        "ties": len(study.ties),
        "states": {state: states.count(state) for state in dict.fromkeys(states)},
        "open": study.setup.open,
        "surveys_spent": study.spent,
        "surveys_left": study.left,
        "events": study.position,
        "head": study.head,
        "closed": study.state.closed,
    }


def after_selection(view: View) -> dict[str, int]:
    """What came of interviews, leaders and sessions, in numbers."""
    states = [person.state for person in view.known]
    leaders = [person.leader for person in view.known if person.leader]
    answers = [leader.answer for leader in leaders]
    visits = [answer for leader in leaders for answer in leader.sessions.values()]
    return {
        "interviewed": sum(state in INTERVIEWED for state in states),
        "refused": states.count("refused"),
        "known": len(states),
        "ties": len(view.study.ties),
        "asked": len(leaders),
        **{answer: answers.count(answer) for answer in ("accepted", "declined", "replaced")},
        "sessions": len(view.study.state.sessions),
        "came": sum(leader.attended > 0 for leader in leaders),
        "attended": visits.count("attended"),
        "not_attended": visits.count("not attended"),
    }


def people(view: View) -> list[dict[str, Any]]:
    """The people of the study with their names, in the order of discovery; for the team's own screen only."""
    same = ("state", "consent", "is_start", "is_new", "first_named_by", "times_named", "marked")
    return [
        {"code": person.code, "name": view.name(person.code)}
        | {key: getattr(person, key) for key in same}
        | {"group": view.groups.get(person.code)}
        | {"contacts": list(person.contacts), "leader": person.leader.answer if person.leader else None}
        for person in view.known
    ]


def advice(view: View, given: "Advice") -> dict[str, Any]:
    """A recommendation with its reasons in English; ``how_to_draw`` is there if it is to interview a new person."""
    ranking = [
        {"rank": rank, **_suggestion(view, each, recommended=rank <= given.count)}
        for rank, each in enumerate(given.ranking, 1)
    ]
    said = {"notes": _said(view, given.notes), "how_to_draw": _said(view, given.how_to_draw)}
    return {"policy": given.policy, "seed": given.seed, "step": given.step, "ranking": ranking, **said}


def leaders(view: View, given: "LeaderAdvice") -> dict[str, Any]:
    """Leaders and replacements with their reasons in English."""
    kinds = {"leaders": given.leaders, "replacements": given.replacements}
    rows = {kind: [_suggestion(view, each, adds=each.adds) for each in found] for kind, found in kinds.items()}
    ranges = {kind: found and found._asdict() for kind, found in (("reach", given.reach), ("plain", given.plain))}
    groups = {group: {**found._asdict(), "share": found.share} for group, found in given.groups.items()}
    return vars(given) | rows | ranges | {"groups": groups}


def history(view: View) -> list[dict[str, Any]]:
    """Every event, as codes, with whether it still counts."""
    return [
        {"number": event.seq, "at": event.at, "type": event.type, "batch": event.batch}
        | {"undone": event.seq in view.study.undone, "body": as_data(event.body)}
        for event in view.study.log
    ]


def _suggestion(view: View, each: "Suggestion", **more: object) -> dict[str, Any]:
    name = "a new person" if each.person == NEW_PERSON else view.name(each.person)
    return {"person": each.person, "name": name, **more, "reasons": _said(view, each.reasons)}


def _said(view: View, reasons: tuple[Message, ...]) -> list[str]:
    return [reason.translated({}, view.name) for reason in reasons]
