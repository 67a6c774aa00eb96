"""Exports in codes, graph files, and the encrypted name key."""

import contextlib
import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from xml.sax.saxutils import escape as escape_markup
from xml.sax.saxutils import quoteattr

from claim.errors import ClaimError, InputError
from claim.field.exchange.builder import written
from claim.field.exchange.records import Bundle, PersonRecord, SurveyRecord, TieRecord, check
from claim.field.store import cipher
from claim.field.store.cipher import Gate
from claim.io import files
from claim.io.text import csv_cell, escaped, escaped_list, guarded, shown

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_TYPES = {
    "label": "string", "x": "double", "y": "double", "status": "string", "consent": "string", "is_start": "boolean",
    "first_named_by": "string", "surveyed_at": "string", "n_contacts": "int", "times_named": "int",
    "leader_rank": "int", "weight": "double", "named_by": "string",
}  # fmt: skip
_NODE = (
    "label",
    "x",
    "y",
    *(field.name for field in fields(PersonRecord) if field.name not in ("code", "name", "x", "y")),
)
_EDGE = ("weight", "named_by")


def graphml(bundle: Bundle) -> bytes:
    """GraphML with the keys ``label``, ``x`` and ``y`` for nodes and ``weight`` for edges."""
    lines = [_HEAD, '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [_key(name, "node") for name in _NODE] + [_key(name, "edge") for name in _EDGE]
    lines.append('<graph edgedefault="undirected">')
    for person in bundle.people:
        lines += [f"<node id={_quoted(person.code)}>", *map(_data, _person_values(person)), "</node>"]
    for i, tie in enumerate(bundle.ties):
        lines += [f'<edge id="e{i}" {_ends(tie)}>', *map(_data, _tie_values(tie)), "</edge>"]
    return "\n".join([*lines, "</graph>", "</graphml>", ""]).encode()


def gexf(bundle: Bundle) -> bytes:
    """GEXF 1.3, with places as ``viz:position``."""
    root = '<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">'
    lines = [_HEAD, root, '<graph defaultedgetype="undirected">']
    lines += [*_attributes("node", _NODE[3:]), *_attributes("edge", _EDGE[1:]), "<nodes>"]
    for person in bundle.people:
        code = _quoted(person.code)
        lines += [f"<node id={code} label={code}>", *_attvalues(_person_values(person)), *_position(person), "</node>"]
    lines += ["</nodes>", "<edges>"]
    for i, tie in enumerate(bundle.ties):
        weight = f'weight="{written(tie.weight)}"'
        lines += [f'<edge id="{i}" {_ends(tie)} {weight}>', *_attvalues(_tie_values(tie)), "</edge>"]
    return "\n".join([*lines, "</edges>", "</graph>", "</gexf>", ""]).encode()


def _person_values(person: PersonRecord) -> Iterator[tuple[str, str]]:
    """What is known, as text that XML can hold."""
    yield "label", escaped(person.code)
    for name in _NODE[1:]:
        value = getattr(person, name)
        text = escaped(value) if isinstance(value, str) else written(value)
        if text:
            yield name, text


def _tie_values(tie: TieRecord) -> Iterator[tuple[str, str]]:
    yield "weight", written(tie.weight)
    if tie.named_by:
        yield "named_by", escaped_list(tie.named_by)


def _key(name: str, kind: str) -> str:
    return f'<key id="{name}" for="{kind}" attr.name="{name}" attr.type="{_TYPES[name]}"/>'


def _data(item: tuple[str, str]) -> str:
    return f'<data key="{item[0]}">{escape_markup(item[1])}</data>'


def _quoted(code: str) -> str:
    return quoteattr(escaped(code))


def _ends(tie: TieRecord) -> str:
    return f"source={_quoted(tie.source)} target={_quoted(tie.target)}"


def _attributes(kind: str, names: tuple[str, ...]) -> list[str]:
    types = {"int": "integer"}
    each = [f'<attribute id="{name}" title="{name}" type="{types.get(_TYPES[name], _TYPES[name])}"/>' for name in names]
    return [f'<attributes class="{kind}">', *each, "</attributes>"]


def _attvalues(items: Iterator[tuple[str, str]]) -> list[str]:
    own = ("label", "x", "y", "weight")  # have places of their own
    each = [f'<attvalue for="{name}" value={quoteattr(text)}/>' for name, text in items if name not in own]
    return ["<attvalues>", *each, "</attvalues>"] if each else []


def _position(person: PersonRecord) -> list[str]:
    if person.x is None or person.y is None:
        return []
    return [f'<viz:position x="{written(person.x)}" y="{written(person.y)}" z="0"/>']


_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the same log gives the same bytes
_PEOPLE = ("status", "consent", "first_named_by", "surveyed_at", "n_contacts", "times_named", "is_start", "leader_rank")
_SURVEYS = tuple(field.name for field in fields(SurveyRecord))

RDS_NOTE = """These data are NOT a respondent-driven sample.

recruits.csv has the columns that programs for respondent-driven sampling read, so that their pictures of recruitment
and their descriptions can be used. But no one was recruited by coupons: the team chose whom to survey next, guided by a
policy that looks for well-connected people. Estimators for respondent-driven sampling (RDS-I, RDS-II, successive
sampling) assume the opposite and give wrong answers here.

recruiter.id is who named the person first among those surveyed; all start people share one recruiter id, which is
no person's code. network.size is the number of contacts the person named. time is when they were surveyed. People who
were named but not surveyed are left out.
"""

HEAD_NOTE = """{head}

The number of events in the log of the study when these files were made, and the hash of the last event.
claim study verify --head {head} checks that the log of the study still contains it.
"""


@dataclass(frozen=True)
class ExportFile:
    """A file to hand out."""

    name: str
    content: bytes
    media_type: str


def people_csv(bundle: Bundle) -> bytes:
    """people.csv, codes only."""
    header = ("person_code", *_PEOPLE)
    return _csv(header, ((person.code, *_values(person, _PEOPLE)) for person in bundle.people))


def nodes_csv(bundle: Bundle) -> bytes:
    """The same people with Gephi's columns; the label is the code."""
    header = ("Id", "Label", *_PEOPLE)
    return _csv(header, ((person.code, person.code, *_values(person, _PEOPLE)) for person in bundle.people))


def ties_csv(bundle: Bundle) -> bytes:
    """ties.csv, in Gephi's columns, and who reported the tie (several with bars between them)."""
    header = ("Source", "Target", "Type", "Weight", "named_by")
    return _csv(header, ((tie.source, tie.target, tie.type, tie.weight, tie.named_by) for tie in bundle.ties))


def surveys_csv(bundle: Bundle) -> bytes:
    """surveys.csv."""
    return _csv(_SURVEYS, (_values(survey, _SURVEYS) for survey in bundle.surveys))


def recruits_csv(bundle: Bundle) -> bytes:
    """The columns of respondent-driven sampling, for those surveyed; see the note that goes with it."""
    surveyed = [person for person in bundle.people if person.status == "surveyed"]
    codes = {person.code for person in surveyed}
    start = "start"
    while start in codes:
        start += "-"
    rows = (
        (person.code, _recruiter(person, codes) or start, person.n_contacts, person.surveyed_at) for person in surveyed
    )
    return _csv(("id", "recruiter.id", "network.size", "time"), rows)


EXPORTS: dict[str, Callable[[Bundle], list[ExportFile]]] = {
    "csv": lambda bundle: [
        _csv_file("people.csv", people_csv(bundle)),
        _csv_file("ties.csv", ties_csv(bundle)),
        _csv_file("surveys.csv", surveys_csv(bundle)),
    ],
    "gephi-csv": lambda bundle: [
        _csv_file("nodes.csv", nodes_csv(bundle)),
        _csv_file("edges.csv", ties_csv(bundle)),
    ],
    "graphml": lambda bundle: [ExportFile("network.graphml", graphml(bundle), "application/xml")],
    "gexf": lambda bundle: [ExportFile("network.gexf", gexf(bundle), "application/xml")],
    "rds": lambda bundle: [
        _csv_file("recruits.csv", recruits_csv(bundle)),
        ExportFile("READ-ME-FIRST.txt", RDS_NOTE.encode(), "text/plain; charset=utf-8"),
    ],
}


def export(bundle: Bundle, format: str) -> list[ExportFile]:
    """The files of a format."""
    if format not in EXPORTS:
        raise InputError(
            "there is no export {name}; there are {formats}", name=shown(format), formats=", ".join(EXPORTS)
        )
    bundle = bundle.without_names()
    check(bundle)
    return EXPORTS[format](bundle)


def export_zip(bundle: Bundle, format: str, head: str = "") -> ExportFile:
    """The files of a format in one zip file, with the head of the study's log if it is given."""
    exported = export(bundle, format)
    if head:
        note = HEAD_NOTE.format(head=head)
        exported.append(ExportFile("log-head.txt", note.encode(), "text/plain; charset=utf-8"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in exported:
            archive.writestr(zipfile.ZipInfo(file.name, _ZIP_TIME), file.content, zipfile.ZIP_DEFLATED)
    return ExportFile(f"study-{format}.zip", buffer.getvalue(), "application/zip")


def _csv_file(name: str, content: bytes) -> ExportFile:
    return ExportFile(name, content, "text/csv; charset=utf-8")


def _recruiter(person: PersonRecord, codes: set[str]) -> str | None:
    """None for start people, and for those first named by a person who was not surveyed in full."""
    others = codes - {person.code}
    return person.first_named_by if not person.is_start and person.first_named_by in others else None


def _values(record: PersonRecord | TieRecord | SurveyRecord, names: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(record, name) for name in names)


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode()


def _cell(value: object) -> str:
    if isinstance(value, str):
        return csv_cell(value)
    if isinstance(value, tuple):
        return guarded(escaped_list(value))
    return written(value)


FILE_NAME = "names.claimkey"
_KIND = 0x636B6579  # "ckey", SQLite's application_id: a study file is not a name key
_GATE = Gate()


class WrongKey(ClaimError):
    """The one message, whatever the cause."""

    def __init__(self) -> None:
        super().__init__("wrong passphrase, or not a name key")


def write_name_key(path: Path, names: Mapping[str, str], passphrase: str, work: int = cipher.WORK) -> None:
    """Write codes and names; the file appears whole or not at all, readable by its owner only."""
    cipher.check_new_passphrase(passphrase)
    salt = cipher.new_salt(work)
    key = cipher.derive_key(passphrase, salt)
    try:
        with files.replacing(Path(path)) as temporary:
            _fill(temporary, key, salt, names)
    except OSError as error:
        raise InputError("{path}: cannot be written ({reason})", path=path, reason=error.strerror) from None


def read_name_key(path: Path, passphrase: str, gate: Gate = _GATE) -> dict[str, str]:
    """Names by code; wrong passphrases take longer and longer."""
    path = Path(path)
    if not path.is_file():
        raise InputError("{path}: no such file", path=path)
    with gate.attempt(path):
        try:
            names = _read(path, passphrase)
        except WrongKey:
            gate.failed(path)
            raise
        gate.passed(path)
    return names


def _fill(path: Path, key: bytes, salt: bytes, names: Mapping[str, str]) -> None:
    with contextlib.closing(cipher.connect(path, key, salt)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {_KIND}")
        connection.execute("CREATE TABLE names (code TEXT PRIMARY KEY, name TEXT NOT NULL)")
        connection.executemany("INSERT INTO names VALUES (?, ?)", list(names.items()))
        connection.execute("COMMIT")


def _read(path: Path, passphrase: str) -> dict[str, str]:
    salt = files.first_bytes(path, cipher.SALT_BYTES)
    try:
        key = cipher.derive_key(passphrase, salt)
    except cipher.WrongPassphrase:
        raise WrongKey from None
    try:
        with contextlib.closing(cipher.connect(path, key, salt)) as connection:
            kind = connection.execute("PRAGMA application_id").fetchone()[0]
            if kind != _KIND or connection.execute("PRAGMA cipher_integrity_check").fetchall():
                raise WrongKey
            return dict(connection.execute("SELECT code, name FROM names ORDER BY rowid").fetchall())
    except cipher.driver().Error:
        raise WrongKey from None
