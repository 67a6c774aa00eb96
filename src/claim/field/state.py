"""What the counting events of a log add up to, kept under the codes they were recorded with.

Merging only notes that two codes are one person; everything stays filed under its own code and is put together when it
is looked at (see :mod:`claim.field.study`). That is why un-merging and undoing restore exactly what was there before.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from typing import Literal

from claim.errors import InputError
from claim.field.events import Outcome, Overridden, RecommendationShown, Wish
from claim.field.setup import Setup

PersonState = Literal[
    "named", "surveying", "surveyed", "partial", "refused", "no-show", "not found", "withdrawn", "forgotten"
]
GONE: tuple[PersonState, ...] = ("withdrawn", "forgotten")
TALKED: tuple[PersonState, ...] = ("surveying", "surveyed", "partial")
AFTER: dict[Outcome, PersonState] = {
    "answered": "surveyed",
    "named nobody": "surveyed",
    "partial": "partial",
    "refused": "refused",
    "no-show": "no-show",
    "not found": "not found",
}


@dataclass(frozen=True)
class Record:
    """One code, as events left it."""

    code: str
    seq: int  # of the event that added them: the order of discovery
    name: str  # a commitment
    is_start: bool
    from_roster: bool
    state: PersonState = "named"
    consent: str | None = None  # the version of the text
    missed: tuple[int, ...] = ()  # how many attempts had been made in the study when they were not there


@dataclass(frozen=True)
class Survey:
    """A survey, or an attempt at one; ``outcome`` is None while it goes on."""

    id: str
    person: str
    started_at: str
    ended_at: str | None = None
    outcome: Outcome | None = None
    recommended: bool = False
    override_reason: str | None = None  # a commitment
    policy: str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Leader:
    """How far it has got with somebody who was asked to lead."""

    answer: Literal["offered", "accepted", "declined"]
    attended: int = 0
    not_attended: int = 0


Report = tuple[str, str, str]  # by, one, other


@dataclass
class State:
    """The fold; see :mod:`claim.field.fold` for how each event changes it."""

    study: str = ""
    setup: Setup | None = None
    people: dict[str, Record] = field(default_factory=dict)
    reports: dict[Report, int] = field(default_factory=dict)  # to the number of the event
    surveys: dict[str, Survey] = field(default_factory=dict)
    going_on: dict[str, str] = field(default_factory=dict)  # person to the id of their survey
    merged: dict[str, str] = field(default_factory=dict)  # code to the code it was merged into
    includes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the same the other way round
    apart: dict[tuple[str, str], None] = field(default_factory=dict)
    leaders: dict[str, Leader] = field(default_factory=dict)
    wishes: dict[str, Wish] = field(default_factory=dict)
    shown: RecommendationShown | None = None
    overridden: Overridden | None = None
    closed: bool = False
    step: int = 0  # events that change what is known; seeds the recommendation
    attempts: int = 0

    def copy(self) -> "State":
        """An independent copy; what it holds is frozen, so that only the containers are copied."""
        twin = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(twin, name, dict(value))
        return twin

    @property
    def settings(self) -> Setup:
        """The settings; an error before the study is created."""
        if self.setup is None:
            raise InputError("the log does not begin with the creation of a study")
        return self.setup

    def record(self, code: str) -> Record:
        """What is filed under a code."""
        if code not in self.people:
            raise InputError(f"there is nobody with the code {code!r}")
        return self.people[code]

    def root(self, code: str) -> str:
        """The code a person goes by now, after merges."""
        self.record(code)
        while code in self.merged:
            code = self.merged[code]
        return code

    def codes_of(self, code: str) -> tuple[str, ...]:
        """All codes of a person, the current one first."""
        found = [self.root(code)]
        for each in found:  # grows as it is walked
            found.extend(self.includes.get(each, ()))
        return tuple(found)

    def state_of(self, code: str) -> PersonState:
        """The state of a person under all of their codes."""
        return strongest(self.people[each].state for each in self.codes_of(code))

    def consent_of(self, code: str) -> str | None:
        """The version of the text a person consented to, under any of their codes."""
        given = [self.people[each].consent for each in self.codes_of(code)]
        return next((version for version in given if version is not None), None)


_STRENGTH: tuple[PersonState, ...] = (
    "withdrawn", "surveying", "surveyed", "partial", "refused", "no-show", "not found", "named", "forgotten",
)  # fmt: skip


def strongest(states: Iterable[PersonState]) -> PersonState:
    """The state of somebody who is known under several codes."""
    return min(states, key=_STRENGTH.index)
