"""The tables of a study file, and how older files become like new ones."""

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, Text, text

from claim.errors import ClaimError

metadata = MetaData()
EVENTS = Table(
    "events",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("batch", Integer, nullable=False),
    Column("type", String, nullable=False),
    Column("body", Text, nullable=False),
    Column("previous", String, nullable=False),
    Column("hash", String, nullable=False),
)
TEXTS = Table(
    "texts",
    metadata,
    Column("commitment", String, primary_key=True),
    Column("nonce", String, nullable=False),
    Column("text", Text, nullable=False),
)
TOKENS = Table(
    "tokens",
    metadata,
    Column("token", String, primary_key=True),
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
)

# One list of statements a version: the first makes a file of version 1, the second turns that into version 2 ...
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE events (seq INTEGER PRIMARY KEY, at VARCHAR NOT NULL, batch INTEGER NOT NULL,
           type VARCHAR NOT NULL, body TEXT NOT NULL, previous VARCHAR NOT NULL, hash VARCHAR NOT NULL)""",
        "CREATE TABLE texts (commitment VARCHAR PRIMARY KEY, nonce VARCHAR NOT NULL, text TEXT NOT NULL)",
    ),
    (
        "CREATE TABLE tokens (token VARCHAR PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL)",
        """CREATE TRIGGER events_stay BEFORE DELETE ON events
           BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END""",
        """CREATE TRIGGER events_stay_as_they_are BEFORE UPDATE ON events
           BEGIN SELECT RAISE(ABORT, 'events are never changed'); END""",
    ),
    (),  # no new table; a program that does not know the event Restored says that a newer one is needed
)
VERSION = len(MIGRATIONS)


def version_of(connection: Connection) -> int:
    """The version of a file; 0 for an empty one."""
    return int(connection.execute(text("PRAGMA user_version")).scalar_one())


def migrate(connection: Connection, target: int = VERSION) -> None:
    """Bring a file to the present version, in the caller's transaction: whole or not at all."""
    version = version_of(connection)
    if version > VERSION:
        raise ClaimError(f"the study file has version {version}, this program knows {VERSION}: install a newer one")
    for statements in MIGRATIONS[version:target]:
        for statement in statements:
            connection.execute(text(statement))
    if version < target:
        connection.execute(text(f"PRAGMA user_version = {target}"))
