"""Exports in codes, graph files, and the encrypted name key."""

import contextlib
import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from xml.etree import ElementTree as XML

from claim.errors import ClaimError, InputError
from claim.field.exchange.records import Bundle, PersonRecord, SurveyRecord, TieRecord, check
from claim.field.store import cipher
from claim.field.store.cipher import Gate
from claim.io import files
from claim.io.text import csv_cell, escaped, escaped_list, guarded, shown

_PEOPLE = tuple(field.name for field in fields(PersonRecord) if field.name not in ("code", "name", "x", "y"))
_SURVEYS = tuple(field.name for field in fields(SurveyRecord))
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the same log gives the same bytes

RDS_NOTE = """These data are NOT a respondent-driven sample.

recruits.csv has the columns that programs for respondent-driven sampling read, so that their pictures of recruitment
and their descriptions can be used. But no one was recruited by coupons: the team chose whom to survey next, guided by a
policy that looks for well-connected people. Estimators for respondent-driven sampling (RDS-I, RDS-II, successive
sampling) assume the opposite and give wrong answers here.

recruiter.id is who named the person first among those surveyed; all start people, and people met as new people, share
one recruiter id, which is no person's code. network.size is the number of contacts the person named. time is when they
were surveyed. People who were named but not surveyed are left out.
"""

HEAD_NOTE = """{head}

The number of events in the log of the study when these files were made, and the hash of the last event.
claim study verify --head {head} checks that the log of the study still contains it.
"""


def export(bundle: Bundle, format: str) -> dict[str, bytes]:
    """The files of a format by name."""
    if format not in EXPORTS:
        text = "there is no export {name}; there are {formats}"
        raise InputError(text, name=shown(format), formats=", ".join(EXPORTS))
    bundle = bundle.without_names()
    check(bundle)
    return EXPORTS[format](bundle)


def export_zip(bundle: Bundle, format: str, head: str = "") -> bytes:
    """The files of a format in one zip file, with the head of the study's log if it is given."""
    exported = export(bundle, format)
    if head:
        exported["log-head.txt"] = HEAD_NOTE.format(head=head).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in exported.items():
            archive.writestr(zipfile.ZipInfo(name, _ZIP_TIME), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


# Tables ---------------------------------------------------------------------------------------------------------------


def people_csv(bundle: Bundle, *ids: str) -> bytes:
    """People by code, which is in each of the first columns."""
    values = attrgetter(*_PEOPLE)
    rows = ((*[person.code] * len(ids), *values(person)) for person in bundle.people)
    return _csv((*ids, *_PEOPLE), rows)


def ties_csv(bundle: Bundle) -> bytes:
    """ties.csv, in Gephi's columns, and who reported the tie (several with bars between them)."""
    rows = ((tie.source, tie.target, "Undirected", tie.weight, tie.named_by) for tie in bundle.ties)
    return _csv(("Source", "Target", "Type", "Weight", "named_by"), rows)


def recruits_csv(bundle: Bundle) -> bytes:
    """The columns of respondent-driven sampling, for those surveyed; see the note that goes with it.

    Start people, new people, and those first named by a person who was not surveyed in full, share one recruiter.
    """
    surveyed = [person for person in bundle.people if person.status == "surveyed"]
    codes = {person.code for person in surveyed}
    start = "start"
    while start in codes:
        start += "-"
    rows = []
    for person in surveyed:
        recruited = not (person.is_start or person.is_new) and person.first_named_by in codes - {person.code}
        recruiter = person.first_named_by if recruited else start
        rows.append((person.code, recruiter, person.n_contacts, person.surveyed_at))
    return _csv(("id", "recruiter.id", "network.size", "time"), rows)


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([csv_cell(v) if isinstance(v, str) else guarded(_written(v)) for v in row] for row in rows)
    return text.getvalue().encode()


def _written(value: object) -> str:
    """A value as a text that reads back exactly."""
    if value is None:
        return ""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, tuple):
        return escaped_list(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


# Graphs ---------------------------------------------------------------------------------------------------------------

_NODE, _EDGE = ("label", "x", "y", *_PEOPLE), ("weight", "named_by")
_TYPES = dict.fromkeys(("x", "y", "weight"), "double") | {
    "n_contacts": "int", "times_named": "int", "leader_rank": "int", "is_start": "boolean",
    "is_new": "boolean", "sessions_attended": "int", "sessions_missed": "int",
}  # fmt: skip


def graphml(bundle: Bundle) -> bytes:
    """GraphML with the keys ``label``, ``x`` and ``y`` for nodes and ``weight`` for edges."""
    root = XML.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for kind, names in (("node", _NODE), ("edge", _EDGE)):
        for name in names:
            key = {"id": name, "for": kind, "attr.name": name, "attr.type": _TYPES.get(name, "string")}
            XML.SubElement(root, "key", key)
    graph = XML.SubElement(root, "graph", edgedefault="undirected")
    for kind, attributes, values in _elements(bundle, "e"):
        element = XML.SubElement(graph, kind, attributes)
        for name, text in values.items():
            XML.SubElement(element, "data", key=name).text = text
    return _xml(root)


def gexf(bundle: Bundle) -> bytes:
    """GEXF 1.3, with places as ``viz:position``."""
    namespaces = {"xmlns": "http://gexf.net/1.3", "xmlns:viz": "http://gexf.net/1.3/viz"}
    root = XML.Element("gexf", namespaces, version="1.3")
    graph = XML.SubElement(root, "graph", defaultedgetype="undirected")
    for kind, names in (("node", _PEOPLE), ("edge", _EDGE[1:])):
        declared = XML.SubElement(graph, "attributes", {"class": kind})
        for name in names:
            kind_of_value = _TYPES.get(name, "string").replace("int", "integer")
            XML.SubElement(declared, "attribute", id=name, title=name, type=kind_of_value)
    parents = {kind: XML.SubElement(graph, f"{kind}s") for kind in ("node", "edge")}
    for kind, attributes, values in _elements(bundle):
        place = {axis: values.pop(axis) for axis in "xy" if axis in values}
        own = {name: values.pop(name) for name in ("label", "weight") if name in values}
        element = XML.SubElement(parents[kind], kind, attributes | own)
        known = XML.SubElement(element, "attvalues") if values else element
        for name, text in values.items():
            XML.SubElement(known, "attvalue", {"for": name, "value": text})
        if len(place) == 2:
            XML.SubElement(element, "viz:position", place, z="0")
    return _xml(root)


def _elements(bundle: Bundle, prefix: str = "") -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Nodes and edges: the kind, the attributes that every format has, and all values that are known."""
    for person in bundle.people:
        code = escaped(person.code)
        yield "node", {"id": code}, {"label": code} | _known(person, _NODE[1:])
    for i, tie in enumerate(bundle.ties):
        ends = {"source": escaped(tie.source), "target": escaped(tie.target)}
        yield "edge", {"id": f"{prefix}{i}"} | ends, _known(tie, _EDGE)


def _known(record: PersonRecord | TieRecord, names: Sequence[str]) -> dict[str, str]:
    return {name: text for name in names if (text := _written(getattr(record, name)))}


def _xml(root: XML.Element) -> bytes:
    XML.indent(root, "")  # one element a line
    return b"%s\n" % XML.tostring(root, encoding="UTF-8", xml_declaration=True)


EXPORTS: dict[str, Callable[[Bundle], dict[str, bytes]]] = {
    "csv": lambda bundle: {
        "people.csv": people_csv(bundle, "person_code"),
        "ties.csv": ties_csv(bundle),
        "surveys.csv": _csv(_SURVEYS, map(attrgetter(*_SURVEYS), bundle.surveys)),
    },
    "gephi-csv": lambda bundle: {"nodes.csv": people_csv(bundle, "Id", "Label"), "edges.csv": ties_csv(bundle)},
    "graphml": lambda bundle: {"network.graphml": graphml(bundle)},
    "gexf": lambda bundle: {"network.gexf": gexf(bundle)},
    "rds": lambda bundle: {"recruits.csv": recruits_csv(bundle), "READ-ME-FIRST.txt": RDS_NOTE.encode()},
}

# The name key ---------------------------------------------------------------------------------------------------------

FILE_NAME = "names.claimkey"
_KIND = 0x636B6579  # "ckey", SQLite's application_id: a study file is not a name key
_GATE = Gate()


class WrongKey(ClaimError):
    """A wrong passphrase or a damaged key: the message does not say which, so that it gives nothing away."""

    def __init__(self) -> None:
        super().__init__("wrong passphrase, or not a name key")


def write_name_key(path: Path, names: Mapping[str, str], passphrase: str, work: int = cipher.WORK) -> None:
    """Write codes and names; the file appears whole or not at all, readable by its owner only."""
    cipher.check_new_passphrase(passphrase)
    salt = cipher.new_salt(work)
    key = cipher.derive_key(passphrase, salt)
    try:
        with (
            files.replacing(Path(path)) as temporary,
            contextlib.closing(cipher.connect(temporary, key, salt)) as connection,
        ):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {_KIND}")
            connection.execute("CREATE TABLE names (code TEXT PRIMARY KEY, name TEXT NOT NULL)")
            connection.executemany("INSERT INTO names VALUES (?, ?)", list(names.items()))
            connection.execute("COMMIT")
    except OSError as error:
        raise InputError("{path}: cannot be written ({reason})", path=path, reason=error.strerror) from None


def read_name_key(path: Path, passphrase: str, gate: Gate = _GATE) -> dict[str, str]:
    """Names by code; wrong passphrases take longer and longer."""
    path = Path(path)
    if not path.is_file():
        raise InputError("{path}: no such file", path=path)
    salt = files.first_bytes(path, cipher.SALT_BYTES)
    with gate.attempt(path, WrongKey):
        try:
            key = cipher.derive_key(passphrase, salt)
            with contextlib.closing(cipher.connect(path, key, salt)) as connection:
                kind = connection.execute("PRAGMA application_id").fetchone()[0]
                if kind != _KIND or connection.execute("PRAGMA cipher_integrity_check").fetchall():
                    raise WrongKey
                return dict(connection.execute("SELECT code, name FROM names ORDER BY rowid").fetchall())
        except (cipher.WrongPassphrase, cipher.driver().Error):
            raise WrongKey from None
