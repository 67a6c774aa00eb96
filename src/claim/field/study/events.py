"""Plain JSON for frozen dataclasses: written canonically, read strictly, and never more than data."""

import hashlib
import hmac
import json
import re
import secrets
import types
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from claim.errors import ClaimError, InputError
from claim.field.study.setup import Setup

T = TypeVar("T")


def canonical(data: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, ASCII only, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def as_data(value: Any) -> Any:
    """A dataclass as dictionaries, lists and scalars."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: as_data(getattr(value, each.name)) for each in fields(value)}
    return [as_data(each) for each in value] if isinstance(value, tuple) else value


def from_data(kind: type[T], data: Any) -> T:
    """The dataclass of such dictionaries; an unknown, missing or wrongly typed field is refused."""
    hints = _hints(kind)  # type: ignore[arg-type]
    if not isinstance(data, dict):
        raise InputError("{kind} is not a JSON object", kind=kind.__name__)
    unknown = data.keys() - hints.keys()
    if unknown:
        raise InputError("{kind} has no field {field!r}", kind=kind.__name__, field=min(unknown))
    required = {each.name for each in fields(kind) if each.default is MISSING}  # type: ignore[arg-type]
    if required - data.keys():
        raise InputError("{kind} lacks the field {field!r}", kind=kind.__name__, field=min(required - data.keys()))
    return kind(**{name: _value(hints[name], value, f"{kind.__name__}.{name}") for name, value in data.items()})


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(kind: Any, value: Any, where: str) -> Any:
    origin = get_origin(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return from_data(kind, value)
    if origin is tuple and isinstance(value, list):
        return tuple(_value(get_args(kind)[0], each, where) for each in value)
    if origin is Literal and value in get_args(kind):
        return value
    if origin in (Union, types.UnionType):  # only "something or None" is used
        return None if value is None else _value(get_args(kind)[0], value, where)
    if kind is float and type(value) in (int, float):
        return float(value)
    if type(value) is kind:  # exactly: True is not a number here
        return value
    raise InputError("{where} cannot be {value}", where=where, value=repr(value)[:150])


Outcome = Literal["answered", "partial", "named nobody", "refused", "no-show", "not found"]
LeaderAnswer = Literal["offered", "accepted", "declined", "attended", "not attended"]
Wish = Literal["include", "exclude", "none"]
NO_HASH = "0" * 64
SHORT_HASH = 16  # hexadecimal digits of a hash that is written down by hand
SHORTEST_HASH = 12
_HEAD = re.compile(rf"([1-9][0-9]{{0,8}}):([0-9a-f]{{{SHORTEST_HASH},{len(NO_HASH)}}})")


class Body:
    """What happened; the type is the name of the class."""


@dataclass(frozen=True)
class StudyCreated(Body):
    """The first event; ``study`` is the random id of the study."""

    study: str
    setup: Setup


@dataclass(frozen=True)
class SettingsChanged(Body):
    """All settings as they are from now on."""

    setup: Setup


@dataclass(frozen=True)
class PersonAdded(Body):
    """A new person; ``name`` is a commitment. Neither start nor roster: known only because they were named."""

    person: str
    name: str
    is_start: bool = False
    from_roster: bool = False


@dataclass(frozen=True)
class PersonRenamed(Body):
    """A correction of the name."""

    person: str
    name: str


@dataclass(frozen=True)
class StartChanged(Body):
    """A correction: the person is a start person after all, or is not."""

    person: str
    is_start: bool


@dataclass(frozen=True)
class TieReported(Body):
    """``by`` said that ``one`` and ``other`` are in contact; ``one`` is ``by`` where people name their own contacts."""

    by: str
    one: str
    other: str


@dataclass(frozen=True)
class TieRemoved(Body):
    """A correction: ``by`` did not say that."""

    by: str
    one: str
    other: str


@dataclass(frozen=True)
class SurveyStarted(Body):
    """A survey began, or a partial one goes on."""

    person: str


@dataclass(frozen=True)
class SurveyEnded(Body):
    """How a survey, or the attempt to begin one, came out."""

    person: str
    outcome: Outcome


@dataclass(frozen=True)
class ConsentGiven(Body):
    """Consent to the text of that version."""

    person: str
    version: str


@dataclass(frozen=True)
class ConsentWithdrawn(Body):
    """``people`` are the person under all merged codes; ``forgotten`` those known only through their answers."""

    person: str
    people: tuple[str, ...]
    forgotten: tuple[str, ...] = ()


@dataclass(frozen=True)
class PeopleMerged(Body):
    """Two codes are one person, from now on called ``keep``."""

    keep: str
    other: str


@dataclass(frozen=True)
class PeopleUnmerged(Body):
    """They are two people after all."""

    keep: str
    other: str


@dataclass(frozen=True)
class PeopleKeptApart(Body):
    """The team looked: similar names, two people."""

    one: str
    other: str


@dataclass(frozen=True)
class RecommendationShown(Body):
    """What the team was advised: ``ranking`` best first, of which the first ``count`` were recommended."""

    policy: str
    policy_hash: str | None
    seed: int
    step: int
    ranking: tuple[str, ...]
    count: int = 1


@dataclass(frozen=True)
class Overridden(Body):
    """The team surveys another person; ``reason`` is a commitment, because it may name people."""

    person: str
    instead_of: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class LeaderAnswered(Body):
    """A leader was offered the part, accepted, declined, came or did not come."""

    person: str
    answer: LeaderAnswer


@dataclass(frozen=True)
class LeaderWished(Body):
    """The team wants a person as a leader, or does not."""

    person: str
    wish: Wish


@dataclass(frozen=True)
class Undone(Body):
    """These earlier events no longer count."""

    events: tuple[int, ...]


@dataclass(frozen=True)
class UndoneErased(Body):
    """The names and remarks that only undone events hold were erased."""


@dataclass(frozen=True)
class Exported(Body):
    """Something left the study; ``what`` names the format."""

    what: str
    with_names: bool = False


@dataclass(frozen=True)
class Imported(Body):
    """The events of this batch come from a file with this SHA-256; undoing the batch undoes the import whole."""

    what: str
    digest: str
    people: int
    ties: int


@dataclass(frozen=True)
class Restored(Body):
    """The events before this one come from a backup.

    ``replaced`` is the head of the log that the backup replaced, empty if the study was not here; ``discarded`` counts
    the events of that log which the backup lacks.
    """

    replaced: str = ""
    discarded: int = 0


@dataclass(frozen=True)
class StudyClosed(Body):
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
        data = _envelope(self.seq, self.at, self.batch, self.type, as_data(self.body), self.previous)
        return {**data, "hash": self.hash}


Log: TypeAlias = tuple[Event, ...]


class BrokenLog(ClaimError):
    """The log was changed after it was written, or cannot be read."""


def seal(body: Body, seq: int, at: str, batch: int, previous: str) -> Event:
    """A body put into the chain."""
    data = _envelope(seq, at, batch, type(body).__name__, as_data(body), previous)
    return Event(seq, at, batch, body, previous, _digest(data))


def read_event(data: dict[str, Any], after: Event | None) -> Event:
    """An event from its JSON data, refused unless it is the one that follows ``after``.

    The hash is taken of the data as they were written, so that a body which later gains a field still verifies.
    """
    stored = dict(data)
    own = stored.pop("hash", None)
    number = stored.get("seq")
    expected = (1, NO_HASH) if after is None else (after.seq + 1, after.hash)
    if (number, stored.get("previous")) != expected or own != _digest(stored):
        raise BrokenLog(
            "the log is damaged at event {number}: it does not follow from the one before it", number=expected[0]
        )
    kind = BODIES.get(stored["type"])
    if kind is None:
        problem = "event {number} is of an unknown type {type!r}: made by a newer version?"
        raise BrokenLog(problem, number=number, type=stored["type"])
    return Event(stored["seq"], stored["at"], stored["batch"], from_data(kind, stored["body"]), stored["previous"], own)


def read_log(rows: Iterable[dict[str, Any]], after: Event | None = None) -> Log:
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


def _envelope(seq: int, at: str, batch: int, kind: str, body: Any, previous: str) -> dict[str, Any]:
    return {"seq": seq, "at": at, "batch": batch, "type": kind, "body": body, "previous": previous}


def _digest(data: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(data).encode()).hexdigest()


@dataclass(frozen=True)
class Secret:
    """A text that can be erased, and the nonce that hides it in its commitment."""

    text: str
    nonce: str

    @classmethod
    def of(cls, text: str) -> "Secret":
        """The text with a fresh nonce."""
        return cls(text, secrets.token_hex(32))

    @property
    def commitment(self) -> str:
        """What stands for the text in the log."""
        return hmac.new(bytes.fromhex(self.nonce), self.text.encode(), hashlib.sha256).hexdigest()
