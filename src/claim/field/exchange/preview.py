"""What files hold, before anything is imported: format, columns, problems and possible duplicates."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from claim.errors import InputError
from claim.field.exchange import interviews, network_tables, submissions
from claim.field.exchange.builder import Builder, Duplicate, Importer, Report, Tables
from claim.field.exchange.records import Bundle, check
from claim.field.study.names import NameIndex, words
from claim.io.archives import gathered
from claim.io.tables import read_tables
from claim.io.text import Source, shown
from claim.messages import Message

MAX_COMPARED = 2_000  # names; in larger files only names that are the same but for case, accents and order are found
_PER_PERSON = 3
_SAMPLE_ROWS = 5

Names = list[tuple[str, str]]  # codes and names


def find_duplicates(bundle: Bundle, existing: Iterable[tuple[str, str]]) -> tuple[Duplicate, ...]:
    """Likely pairs, the surest first."""
    known, fresh = list(existing), list(bundle.names.items())
    if max(len(known), len(fresh)) > MAX_COMPARED:
        found = [*_same(fresh, known, in_study=True), *_same(fresh, fresh, in_study=False)]
    else:
        found = [*_similar(fresh, known), *_alike(fresh)]
    return tuple(sorted(found, key=lambda each: (-each.score, each.code, each.other_code)))


def _similar(fresh: Names, known: Names) -> list[Duplicate]:
    """People in the file like people in the study."""
    index = NameIndex(known)
    matches = ((code, name, match) for code, name in fresh for match in index.similar(name, limit=_PER_PERSON))
    return [Duplicate(code, name, match.code, match.name, match.score, True) for code, name, match in matches]


def _alike(fresh: Names) -> list[Duplicate]:
    """People in the file like others in the file."""
    names = dict(fresh)
    pairs = NameIndex(fresh).alike()
    return [Duplicate(match.code, match.name, code, names[code], match.score, False) for code, match in pairs]


def _same(fresh: Names, others: Names, *, in_study: bool) -> list[Duplicate]:
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    for code, name in others:
        first.setdefault(words(name), (code, name))
    first.pop((), None)  # names without a letter are not alike
    found = []
    for code, name in fresh:
        other = first.get(words(name))
        if other is not None and (in_study or other[0] != code):
            found.append(Duplicate(code, name, *other, 1.0, in_study))
    return found


IMPORTERS: tuple[Importer, ...] = (  # in the order in which they are tried
    interviews.NETWORK_CANVAS,
    interviews.EGOWEB,
    submissions.KOBO_IMPORTER,
    submissions.ODK_IMPORTER,
    network_tables.RECRUITMENT,
    network_tables.IMPORTER,
    network_tables.ROSTER,
)
Files = Path | str | Source | Iterable[Path | str | Source]


@dataclass(frozen=True)
class Choice:
    """A part that a column plays, and the columns that could play it."""

    role: str
    title: str
    needed: bool
    column: str  # "" if none
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """The first rows of a table."""

    where: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    count: int


@dataclass(frozen=True)
class Preview:
    """What files hold, as the present choice of format and columns reads it; nothing has been taken yet."""

    format: str
    title: str
    choices: tuple[Choice, ...]
    samples: tuple[Sample, ...]
    report: Report
    bundle: Bundle
    digest: str  # SHA-256 of the files

    @property
    def ready(self) -> bool:
        """Whether it can be taken as it is."""
        return self.report.fine and bool(self.bundle.people)

    @property
    def mapping(self) -> dict[str, str]:
        """The columns by role, as suggested or chosen."""
        return {choice.role: choice.column for choice in self.choices}


def preview(
    files: Files,
    *,
    format: str | None = None,
    mapping: Mapping[str, str] | None = None,
    existing: Iterable[tuple[str, str]] = (),
    join_names: bool = True,
) -> Preview:
    """Read files without taking anything.

    ``mapping`` gives columns to roles where the suggestion is wrong ("" for none). ``existing`` are codes and names of
    the people already known, to be compared. ``join_names`` takes the same name for the same person in formats that
    know people by name only. Files that are broken or hostile are refused outright.
    """
    uploads = gathered(files)
    tables = read_tables(uploads)
    importer = _importer(tables, format)
    builder = Builder(mapping, join_names)
    importer.read(tables, builder)
    bundle = builder.bundle(importer.derive)
    report = replace(builder.report(tables), duplicates=find_duplicates(bundle, existing))
    choices = tuple(
        Choice(key, role.title, role.needed, builder.columns.used[key], builder.columns.choices[key])
        for key, role in builder.columns.roles.items()
    )
    return Preview(importer.name, importer.title, choices, _samples(tables), report, bundle, _digest(uploads))


def take(looked_at: Preview, merges: Mapping[str, str] | None = None) -> Bundle:
    """All of it, or an error: the first problem if there is any.

    ``merges`` gives the codes of people in the file that are other people in the file.
    """
    problems = looked_at.report.problems
    if problems:
        if len(problems) == 1:
            raise InputError(problems[0].message)
        raise InputError("{problem} (and {more} more problems)", problem=problems[0], more=len(problems) - 1)
    if not looked_at.bundle.people:
        raise InputError.at(looked_at.samples[0].where, None, Message("no people in it"))
    codes = {person.code for person in looked_at.bundle.people}
    unknown = sorted({code for pair in (merges or {}).items() for code in pair} - codes)
    if unknown:
        raise InputError("no person in the file has the code {code}", code=shown(unknown[0]))
    bundle = looked_at.bundle.merged(merges or {})
    check(bundle)
    return bundle


def _importer(tables: Tables, name: str | None) -> Importer:
    if name is not None:
        chosen = next((each for each in IMPORTERS if each.name == name), None)
        if chosen is None:
            formats = ", ".join(each.name for each in IMPORTERS)
            raise InputError("there is no format {name}; there are {formats}", name=shown(name), formats=formats)
        return chosen
    known = next((each for each in IMPORTERS if each.recognises(tables)), None)
    if known is None:  # ids make a list of people; anything else may be a roster whose column of names is to be chosen
        return network_tables.IMPORTER if network_tables.has_ids(tables) else network_tables.ROSTER
    return known


def _samples(tables: Tables) -> tuple[Sample, ...]:
    return tuple(
        Sample(table.where, table.columns, tuple(row.cells for row in table.rows[:_SAMPLE_ROWS]), len(table.rows))
        for table in tables
    )


def _digest(uploads: list[Source]) -> str:
    """One hash of all files, whatever their names and order."""
    parts = sorted(hashlib.sha256(upload.content or b"").digest() for upload in uploads)
    return hashlib.sha256(b"".join(parts)).hexdigest()
