"""Events and texts as rows of the tables; all inside a transaction of the caller."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from claim.errors import InputError
from claim.field.events import NO_HASH, Body, Event, Log, Secret, read_log, seal
from claim.field.schema import EVENTS, TEXTS, TOKENS
from claim.field.troubles import Conflict
from claim.field.wire import as_data, canonical

LONGEST_TOKEN = 200


def row_data(row: Mapping[Any, Any]) -> dict[str, Any]:
    """An event's row as its JSON data."""
    return {**row, "body": json.loads(row["body"])}


def used(connection: Connection, token: str | None) -> Log | None:
    """What was appended with a token, if it was used before."""
    if token is None:
        return None
    if not 0 < len(token) <= LONGEST_TOKEN:
        raise InputError(f"a token has between 1 and {LONGEST_TOKEN} characters")
    found = connection.execute(select(TOKENS).where(TOKENS.c.token == token)).first()
    if found is None:
        return None
    rows = connection.execute(select(EVENTS).where(EVENTS.c.seq <= found.last).order_by("seq")).mappings()
    return read_log(row_data(row) for row in rows)[found.first - 1 :]


def sealed(bodies: Sequence[Body], last: Mapping[Any, Any] | None, expect: int | None, at: str) -> Log:
    """A batch put into the chain after the last row; a conflict if that is not the one the caller expects."""
    seq, previous = (0, NO_HASH) if last is None else (last["seq"], last["hash"])
    if expect is not None and expect != seq:
        raise Conflict("the study was changed elsewhere meanwhile: look at it again, then repeat the step")
    events: list[Event] = []
    for body in bodies:
        events.append(seal(body, seq + len(events) + 1, at, seq + 1, events[-1].hash if events else previous))
    return tuple(events)


def write(
    connection: Connection, events: Log, secrets: Mapping[str, Secret], erase: Sequence[str], token: str | None
) -> None:
    """Insert a batch and its texts, erase others, and remember the token."""
    if events:
        connection.execute(insert(EVENTS), [_row(each) for each in events])
    if secrets:
        rows = [{"commitment": key, "nonce": each.nonce, "text": each.text} for key, each in secrets.items()]
        connection.execute(insert(TEXTS), rows)
    for commitment in erase:
        connection.execute(delete(TEXTS).where(TEXTS.c.commitment == commitment))
    if token is not None and events:
        connection.execute(insert(TOKENS).values(token=token, first=events[0].seq, last=events[-1].seq))


def _row(each: Event) -> dict[str, Any]:
    return {**each.as_data(), "body": canonical(as_data(each.body))}
