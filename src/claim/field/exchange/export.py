"""Files that go out: codes, never names; file names that are fixed, so that nothing a person typed gets into them."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

from claim.errors import InputError
from claim.field.exchange.files.characters import csv_cell, escaped_list, guarded
from claim.field.exchange.formats.values import written
from claim.field.exchange.graph_export import gexf, graphml
from claim.field.exchange.records import Bundle, PersonRecord, SurveyRecord, TieRecord, check
from claim.networks.formats.text import shown

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the same log gives the same bytes
_PEOPLE = ("status", "consent", "first_named_by", "surveyed_at", "n_contacts", "times_named", "is_start", "leader_rank")
_SURVEYS = tuple(field.name for field in fields(SurveyRecord))

RDS_NOTE = """These data are NOT a respondent-driven sample.

recruits.csv has the columns that programs for respondent-driven sampling read, so that their pictures of recruitment
and their descriptions can be used. But nobody was recruited by coupons: the team chose whom to survey next, guided by a
policy that looks for well-connected people. Estimators for respondent-driven sampling (RDS-I, RDS-II, successive
sampling) assume the opposite and give wrong answers here.

recruiter.id is who named the person first among those surveyed; all start people share one recruiter id, which is
nobody's code. network.size is the number of contacts the person named. time is when they were surveyed. People who were
named but not surveyed are left out.
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
        raise InputError(f"there is no export {shown(format)}; there are {', '.join(EXPORTS)}")
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
    """None for start people, and for whoever was first named by somebody who was not surveyed in full."""
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
