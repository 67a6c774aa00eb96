"""A study: the people known, whom they named and the surveys so far, from the log and nothing else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TypeVar

from claim.discovery.discovered import Discovered
from claim.errors import InputError
from claim.field.study.events import Event, FollowUpAnswer, Log, head_of
from claim.field.study.setup import Setup
from claim.field.study.state import (
    GONE,
    TALKED,
    CodeEntry,
    Leader,
    Meeting,
    PersonState,
    State,
    Survey,
    counting,
    fold,
    joined,
    strongest,
    undone_in,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Person:
    """A person, with what is filed under all codes they were merged from."""

    code: str
    codes: tuple[str, ...]  # all of theirs, the current one first
    state: PersonState
    consent: str | None  # the version of the text they consented to
    is_start: bool
    from_roster: bool
    is_new: bool  # met as a new person, drawn by lot
    named_by: tuple[str, ...]  # who reported them, in order, each once
    contacts: tuple[str, ...]  # whom they named themselves
    marked: str | None  # which of these, they say, knows the most people
    group: str | None  # a commitment: what they said of themselves, else what others said last
    missed: tuple[int, ...]
    surveyed_at: str | None
    leader: Leader | None
    wish: str | None
    appointment: Meeting | None
    follow_up: FollowUpAnswer | None
    seq: int

    @property
    def first_named_by(self) -> str | None:
        """Who named them first."""
        return self.named_by[0] if self.named_by else None

    @property
    def times_named(self) -> int:
        """How many people named them."""
        return len(self.named_by)

    @property
    def gone(self) -> bool:
        """Whether they withdrew, or were known only through a person who did."""
        return self.state in GONE

    @property
    def known(self) -> bool:
        """Whether they are part of the network: met, listed, or named by a person who has not withdrawn."""
        met = self.is_new or self.state not in ("named", "no-show", "not found")
        return not self.gone and (met or self.is_start or self.from_roster or bool(self.named_by))

    @property
    def unseen(self) -> bool:
        """Whether a policy does not see them: a new person who refused, and whom no one else made known."""
        made_known = self.is_start or self.from_roster or bool(self.named_by)
        return self.is_new and self.state == "refused" and not made_known

    @property
    def may_be_surveyed(self) -> bool:
        """Whether they may be recommended for a survey."""
        return self.known and self.state in ("named", "no-show", "not found")


@dataclass(frozen=True)
class Tie:
    """A contact between two people and who reported it, first reporter first."""

    one: str
    other: str
    named_by: tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """What a policy may see, and the codes of its local indices."""

    discovered: Discovered
    codes: tuple[str, ...]

    @cached_property
    def index(self) -> dict[str, int]:
        """The local index of each code."""
        return {code: i for i, code in enumerate(self.codes)}


class Study:
    """The fold over a log, which is never changed; ``state`` is the result of the fold if it is known."""

    def __init__(self, log: Iterable[Event] = (), state: State | None = None) -> None:
        self.log: Log = tuple(log)
        self.undone = undone_in(self.log)
        self.state = state or fold(counting(self.log, self.undone))

    @property
    def position(self) -> int:
        """The number of the last event."""
        return len(self.log)

    @property
    def head(self) -> str:
        """The number and hash of the last event, which stand for the whole log."""
        return head_of(self.log)

    @property
    def setup(self) -> Setup:
        """The settings as they are now."""
        return self.state.settings

    # People ----------------------------------------------------------------------------------------------------------

    @cached_property
    def people(self) -> dict[str, Person]:
        """All people by code, in the order of discovery; merged people are one, those who withdrew are still listed."""
        found = [self._person(root, records) for root, records in self._records.items()]
        return {person.code: person for person in sorted(found, key=lambda person: person.seq)}

    def person(self, code: str) -> Person:
        """A person by any of their codes."""
        return self.people[self.state.root(code)]

    @cached_property
    def _records(self) -> dict[str, list[CodeEntry]]:
        """What is filed under all codes of each person."""
        groups: dict[str, list[CodeEntry]] = {}
        for code, record in self.state.people.items():
            root = self.state.root(code) if code in self.state.merged else code
            groups.setdefault(root, []).append(record)
        return groups

    def _person(self, root: str, records: list[CodeEntry]) -> Person:
        state, filed = self.state, joined(records)
        codes = state.codes_of(root) if len(records) > 1 else (root,)
        ended = [self._last_answer[code] for code in codes if code in self._last_answer]
        contacts = self._named.get(root, ())
        marks = [state.root(state.marks[code]) for code in codes if code in state.marks]
        return Person(
            code=root,
            codes=codes,
            state=filed.state,
            consent=filed.consent,
            is_start=filed.is_start,
            from_roster=filed.from_roster,
            is_new=filed.is_new,
            named_by=self._namers.get(root, ()),
            contacts=contacts,
            marked=next((contact for contact in marks if contact in contacts), None),
            group=self._groups.get(root),
            missed=tuple(sorted(filed.missed)),
            surveyed_at=max(ended, default=None),
            leader=_first(state.leaders, codes),
            wish=_first(state.wishes, codes),
            appointment=_first(state.appointments, codes),
            follow_up=_first(state.follow_up, codes),
            seq=filed.seq,
        )

    @cached_property
    def _groups(self) -> dict[str, str]:
        root = self.state.root
        said = [(root(by) == root(person), root(person), group) for (by, person), group in self.state.groups.items()]
        return {person: group for _, person, group in sorted(said, key=lambda each: each[0])}

    @cached_property
    def _last_answer(self) -> dict[str, str]:
        ended = [each for each in self.surveys if each.outcome in ("answered", "named nobody", "partial")]
        return {each.person: each.ended_at for each in ended if each.ended_at is not None}

    @cached_property
    def _reports(self) -> list[tuple[str, str, str]]:
        """Who reported whom, under current codes, without reports by or about people who withdrew."""
        roots = {each.code: root for root, records in self._records.items() for each in records}
        gone = {root for root, records in self._records.items() if strongest(records) in GONE}
        current = [(roots[by], roots[one], roots[other]) for by, one, other in self.state.reports]
        return [report for report in current if report[1] != report[2] and gone.isdisjoint(report)]

    @cached_property
    def _namers(self) -> dict[str, tuple[str, ...]]:
        return _grouped((person, by) for by, one, other in self._reports for person in (one, other) if person != by)

    @cached_property
    def _named(self) -> dict[str, tuple[str, ...]]:
        return _grouped((by, other if by == one else one) for by, one, other in self._reports if by in (one, other))

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """Every contact once, in the order in which they were first reported."""
        found: dict[frozenset[str], tuple[str, str, dict[str, None]]] = {}
        for by, one, other in self._reports:
            found.setdefault(frozenset((one, other)), (one, other, {}))[2][by] = None
        return tuple(Tie(one, other, tuple(reporters)) for one, other, reporters in found.values())

    # Surveys and their budget ----------------------------------------------------------------------------------------

    @property
    def surveys(self) -> tuple[Survey, ...]:
        """All surveys and attempts in order, under the codes they were recorded with."""
        return tuple(self.state.surveys.values())

    @cached_property
    def spent(self) -> int:
        """How much of the plan is used up; see :class:`claim.field.study.setup.Setup` for what counts."""
        counted = {"answered", "named nobody", "partial", None}
        if self.setup.refusal_rule == "attempts":
            counted.add("refused")
        counting = [each for each in self.surveys if each.outcome in counted]
        return sum(self.setup.open or not self.person(each.person).is_start for each in counting)

    @property
    def start_people_left(self) -> int:
        """How many start people of a closed study have not been surveyed; they come before the plan."""
        return 0 if self.setup.open else sum(each.is_start and each.may_be_surveyed for each in self.people.values())

    @property
    def left(self) -> int:
        """How many surveys are left."""
        return max(0, self.setup.planned - self.spent)

    # What a policy may see -------------------------------------------------------------------------------------------

    @cached_property
    def seen(self) -> Seen:
        """The known people as a policy sees them; treat it as read-only."""
        known = [person for person in self.people.values() if person.known and not person.unseen]
        seen = Seen(Discovered(self.setup.open), tuple(person.code for person in known))
        for i, person in enumerate(known):
            namers = (seen.index[namer] for namer in person.named_by)
            seen.discovered.add_person(next((namer for namer in namers if namer < i), None))
        self._record_surveys(seen)  # first: ties between people who were surveyed change no class
        for tie in self.ties:
            seen.discovered.add_tie(seen.index[tie.one], seen.index[tie.other])
        for person in known:
            if person.marked is not None:
                seen.discovered.record_mark(seen.index[person.code], seen.index[person.marked])
        return seen

    def discovered(self) -> Discovered:
        """The discovered network: surveyed (also partly), refused, and all others known."""
        return self.seen.discovered

    def _record_surveys(self, seen: Seen) -> None:
        met = dict.fromkeys(self.state.root(each.person) for each in self.surveys)
        people = [self.people[code] for code in met if code in seen.index]
        for person in sorted(people, key=lambda person: not person.is_start):  # start people first
            if person.state == "refused":
                seen.discovered.record_refusal(seen.index[person.code])
            elif person.state in TALKED and (person.is_start or person.is_new):
                seen.discovered.record_start(seen.index[person.code])
            elif person.state in TALKED:
                seen.discovered.record_survey(seen.index[person.code])

    # Withdrawal and undo ---------------------------------------------------------------------------------------------

    def known_only_through(self, code: str) -> tuple[str, ...]:
        """Who is known only because this person named them: they are forgotten if this person withdraws."""
        namers = (self.state.root(code),)
        found = [other for other in self.people.values() if other.may_be_surveyed and other.named_by == namers]
        return tuple(other.code for other in found if not (other.is_start or other.from_roster or other.is_new))

    def batch(self, number: int) -> list[Event]:
        """The events that one command appended together, by the number of any of them."""
        if not 1 <= number <= len(self.log):
            raise InputError("there is no event {number}", number=number)
        batch = self.log[number - 1].batch
        return list(takewhile(lambda event: event.batch == batch, self.log[batch - 1 :]))


def _first(found: Mapping[str, T], codes: Iterable[str]) -> T | None:
    """What is filed under the first of a person's codes that has anything; a loop, as it runs for every person."""
    for code in codes:
        if code in found:
            return found[code]
    return None


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The second of the pairs by the first, in order and each once."""
    found: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        found.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in found.items()}
