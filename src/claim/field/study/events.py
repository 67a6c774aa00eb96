"""Events: what happened in a study, written as plain JSON and linked by hashes, so that no change goes unnoticed."""

import hashlib
import hmac
import json
import re
import secrets
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

from claim.errors import ClaimError, InputError
from claim.field.study.setup import Setup

T = TypeVar("T")


def canonical(data: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, ASCII only, no NaN."""
    return _ENCODER.encode(data)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def as_data(value: Any) -> Any:
    """A dataclass as dictionaries, lists and scalars."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: as_data(getattr(value, each.name)) for each in fields(value)}
    return [as_data(each) for each in value] if isinstance(value, tuple) else value


def from_data(kind: type[T], data: Any) -> T:
    """The dataclass of such dictionaries; an unknown, missing or wrongly typed field is refused."""
    hints = _hints(kind)  # type: ignore[arg-type]
    try:
        return kind(**{name: _value(hints[name], value, f"{kind.__name__}.{name}") for name, value in data.items()})
    except (AttributeError, KeyError, TypeError):
        problem = "{kind} has the fields {fields}, not {value}"
        raise InputError(problem, kind=kind.__name__, fields=", ".join(hints), value=repr(data)[:150]) from None


_hints = cache(get_type_hints)


def _value(kind: Any, value: Any, where: str) -> Any:
    if type(value) is kind:  # exactly: True is not a number here
        return value
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return from_data(kind, value)
    if origin is tuple and isinstance(value, list):
        return tuple(_value(inner[0], each, where) for each in value)
    if origin in (Union, types.UnionType):  # only "something or None" is used
        return None if value is None else _value(inner[0], value, where)
    if kind is float and type(value) in (int, float):
        return float(value)
    if origin is Literal and value in inner:
        return value
    raise InputError("{where} cannot be {value}", where=where, value=repr(value)[:150])


Outcome = Literal["answered", "partial", "named nobody", "refused", "no-show", "not found"]
LeaderAnswer = Literal["offered", "accepted", "declined", "replaced", "invited", "attended", "not attended"]
FollowUpAnswer = Literal["yes", "no", "not asked"]
Wish = Literal["include", "exclude", "none"]
NEW_PERSON = "new"  # stands for a new person in a recommendation, in the place of a code
NO_HASH = "0" * 64
SHORT_HASH = 16  # hexadecimal digits of a hash that is written down by hand
SHORTEST_HASH = 12
_HEAD = re.compile(rf"([1-9][0-9]{{0,8}}):([0-9a-f]{{{SHORTEST_HASH},{len(NO_HASH)}}})")


@dataclass_transform(frozen_default=True)
class Body:
    """What happened, as a frozen dataclass; the name of the class is the type of the event.

    ``affects_advice`` changes what a recommendation follows from; what is ``permanent`` cannot be undone.
    """

    affects_advice, permanent = True, False

    def __init_subclass__(cls, affects_advice: bool = True, permanent: bool = False) -> None:
        cls.affects_advice, cls.permanent = affects_advice, permanent
        dataclass(frozen=True)(cls)

    @property
    def commitment(self) -> str | None:
        """What stands for the text of the event, a name, a reason, a place or a group, if it has one."""
        found = (getattr(self, name, None) for name in ("name", "reason", "place", "group"))
        return next(filter(None, found), None)


class StudyCreated(Body, permanent=True):
    """The first event; ``study`` is the random id of the study."""

    study: str
    setup: Setup


class SettingsChanged(Body):
    """All settings as they are from now on."""

    setup: Setup


class PersonAdded(Body):
    """A new person; ``name`` is a commitment. Neither start nor roster: known only because they were named."""

    person: str
    name: str
    is_start: bool = False
    from_roster: bool = False


class PersonRenamed(Body):
    """A correction of the name."""

    person: str
    name: str


class StartChanged(Body):
    """A correction: the person is a start person after all, or is not."""

    person: str
    is_start: bool


class NewPersonMet(Body):
    """The person was met as a new person, drawn by lot and not because they were named, also if they had been."""

    person: str


class TieReported(Body):
    """``by`` said that ``one`` and ``other`` are in contact; ``one`` is ``by`` where people name their own contacts."""

    by: str
    one: str
    other: str


class TieRemoved(Body):
    """A correction: ``by`` did not say that."""

    by: str
    one: str
    other: str


class ContactMarked(Body):
    """``by`` said that of all the people they named, ``contact`` knows the most people."""

    by: str
    contact: str


class MarkRemoved(Body):
    """A correction: ``by`` did not say that of any contact."""

    by: str


class GroupSaid(Body, affects_advice=False):
    """``by`` said which group ``person`` is in; ``group`` is a commitment, or empty if it is not known.

    ``by`` is ``person`` where people say it of themselves.
    """

    by: str
    person: str
    group: str = ""


class SurveyStarted(Body):
    """A survey began, or a partial one goes on."""

    person: str


class SurveyEnded(Body):
    """How a survey, or the attempt to begin one, came out."""

    person: str
    outcome: Outcome


class ConsentGiven(Body):
    """Consent to the text of that version."""

    person: str
    version: str


class ConsentWithdrawn(Body, permanent=True):
    """``people`` are the person under all merged codes; ``forgotten`` those known only through their answers."""

    person: str
    people: tuple[str, ...]
    forgotten: tuple[str, ...] = ()


class PeopleMerged(Body):
    """Two codes are one person, from now on called ``keep``."""

    keep: str
    other: str


class PeopleUnmerged(Body):
    """They are two people after all."""

    keep: str
    other: str


class PeopleKeptApart(Body, affects_advice=False):
    """The team looked: similar names, two people."""

    one: str
    other: str


class RecommendationShown(Body, affects_advice=False):
    """What the team was advised: ``ranking`` best first, of which the first ``count`` were recommended.

    In an open study :data:`NEW_PERSON` may stand in the place of the first ``count`` codes.
    """

    policy: str
    policy_hash: str | None
    seed: int
    step: int
    ranking: tuple[str, ...]
    count: int = 1


class Overridden(Body, affects_advice=False):
    """The team surveys another person; ``reason`` is a commitment, because it may name people."""

    person: str
    instead_of: tuple[str, ...]
    reason: str


class LeaderAnswered(Body, affects_advice=False):
    """A leader was offered the part, accepted, declined or was replaced; was invited to a session, came or did not.

    ``session`` is the number of the session, if the answer is about one.
    """

    person: str
    answer: LeaderAnswer
    session: int | None = None


class SessionPlanned(Body, affects_advice=False):
    """A session takes place ``at`` this local time, YYYY-MM-DDTHH:MM; ``place`` is a commitment, or empty.

    The same number again moves the session.
    """

    session: int
    at: str
    place: str = ""


class AppointmentMade(Body, affects_advice=False):
    """The team meets a person ``at`` this local time, YYYY-MM-DDTHH:MM; ``place`` is a commitment, or empty."""

    person: str
    at: str
    place: str = ""


class AppointmentCancelled(Body, affects_advice=False):
    """There is no appointment with this person any more."""

    person: str


class FollowUpAnswered(Body, affects_advice=False):
    """After the sessions: whether a person said that anyone talked to them about it, or could not be asked."""

    person: str
    answer: FollowUpAnswer


class LeaderWished(Body, affects_advice=False):
    """The team wants a person as a leader, or does not."""

    person: str
    wish: Wish


class Undone(Body):
    """These earlier events no longer count."""

    events: tuple[int, ...]


class UndoneErased(Body, affects_advice=False, permanent=True):
    """The names and remarks that only undone events hold were erased."""


class Exported(Body, affects_advice=False, permanent=True):
    """Something left the study; ``what`` names the format."""

    what: str
    with_names: bool = False


class Imported(Body, affects_advice=False):
    """The events of this batch come from a file with this SHA-256; undoing the batch undoes the import whole."""

    what: str
    digest: str
    people: int
    ties: int


class Restored(Body, affects_advice=False, permanent=True):
    """The events before this one come from a backup.

    ``replaced`` is the head of the log that the backup replaced, empty if the study was not here; ``discarded`` counts
    the events of that log which the backup lacks.
    """

    replaced: str = ""
    discarded: int = 0


class StudyClosed(Body, permanent=True):
    """The last event."""


BODIES: dict[str, type[Body]] = {kind.__name__: kind for kind in Body.__subclasses__()}


@dataclass(frozen=True)
class Event:
    """A body in its place in the chain."""

    seq: int
    at: str
    batch: int
    body: Body
    previous: str
    hash: str

    @property
    def type(self) -> str:
        """The name of the body's class."""
        return type(self.body).__name__

    def as_data(self) -> dict[str, Any]:
        """The event as JSON data, hash included."""
        return {**vars(self), "type": self.type, "body": as_data(self.body)}


Log: TypeAlias = tuple[Event, ...]


class BrokenLog(ClaimError):
    """The log was changed after it was written, or cannot be read."""


def seal(body: Body, seq: int, at: str, batch: int, previous: str) -> Event:
    """A body put into the chain."""
    event = Event(seq, at, batch, body, previous, hash="")
    return replace(event, hash=_digest(event.as_data()))


def _digest(data: Mapping[str, Any]) -> str:
    """The hash of an event: of everything in it but the hash."""
    hashed = {name: value for name, value in data.items() if name != "hash"}
    return hashlib.sha256(canonical(hashed).encode()).hexdigest()


def read_event(data: Mapping[str, Any], after: Event | None) -> Event:
    """An event from its JSON data, refused unless it is the one that follows ``after``.

    The hash is taken of the data as they were written, so that a body which later gains a field still verifies.
    """
    number, previous = (1, NO_HASH) if after is None else (after.seq + 1, after.hash)
    if (data["seq"], data["previous"], data["hash"]) != (number, previous, _digest(data)):
        problem = "the log is damaged at event {number}: it does not follow from the one before it"
        raise BrokenLog(problem, number=number)
    if data["type"] not in BODIES:
        problem = "event {number} is of an unknown type {type!r}: made by a newer version?"
        raise BrokenLog(problem, number=number, type=data["type"])
    body = from_data(BODIES[data["type"]], data["body"])
    return Event(number, data["at"], data["batch"], body, previous, data["hash"])


def read_log(rows: Iterable[Mapping[str, Any]], after: Event | None = None) -> Log:
    """Events in order, each checked against the one before it."""
    log: list[Event] = []
    for row in rows:
        try:
            after = read_event(row, after)
        except (InputError, KeyError, TypeError) as error:
            raise BrokenLog("an event of the log cannot be read: {error}", error=error) from error
        log.append(after)
    return tuple(log)


# The head, which stands for a log, and its times ---------------------------------------------------------------------


def head_of(log: Log) -> str:
    """The number and the hash of the last event, ``12:5f0c...``: it stands for the whole log up to there."""
    return f"{len(log)}:{log[-1].hash}" if log else ""


def short_head(head: str, digits: int = SHORT_HASH) -> str:
    """A head to write down, with the first digits of the hash."""
    number, _, hexadecimal = head.partition(":")
    return f"{number}:{hexadecimal[:digits]}"


def events_after(head: str, log: Log) -> int:
    """Count the events after a head that was written down; :class:`BrokenLog` unless the log contains the head."""
    found = _HEAD.fullmatch("".join(head.lower().split()))
    if found is None:
        problem = "a head is a number, a colon and at least 12 digits, such as 12:5f0c1a2b3c4d5e6f, not {head!r}"
        raise InputError(problem, head=head[:100])
    number, digits = int(found[1]), found[2]
    if number > len(log):
        problem = "the log was cut off: it has {count} events, the head is that of event {number}"
        raise BrokenLog(problem, count=len(log), number=number)
    if not log[number - 1].hash.startswith(digits):
        raise BrokenLog("the log was changed: event {number} does not have the hash of the head", number=number)
    return len(log) - number


@dataclass(frozen=True)
class SetBack:
    """An event whose time is before that of the event before it: the clock was set back."""

    event: int
    seconds: float

    @property
    def span(self) -> str:
        """By how much, in the two largest units."""
        units = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))
        left, parts = round(self.seconds * 1000), []
        for size, unit in units:
            count, left = divmod(left, size)
            if count:
                parts.append(f"{count} {unit}")
        return " ".join(parts[:2])


def clock_set_back(log: Log) -> tuple[SetBack, ...]:
    """Find every event that is dated before the event it follows."""
    times = [_moment(event.at) for event in log]
    spans = [(one - other).total_seconds() if one and other else 0.0 for one, other in pairwise(times)]
    return tuple(SetBack(number, span) for number, span in enumerate(spans, 2) if span > 0)


def _moment(at: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Secret:
    """A text that can be erased, and the nonce that hides it in its commitment."""

    text: str
    nonce: str = field(default_factory=lambda: secrets.token_hex(32))

    @property
    def commitment(self) -> str:
        """What stands for the text in the log."""
        return hmac.new(bytes.fromhex(self.nonce), self.text.encode(), hashlib.sha256).hexdigest()
