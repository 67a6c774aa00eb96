"""Bringing files in, in three steps: look (:func:`preview`), settle columns and duplicates, take (:func:`take`)."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from claim.errors import InputError
from claim.field.exchange.duplicates import find_duplicates
from claim.field.exchange.files.limits import SAMPLE_ROWS
from claim.field.exchange.files.loading import load
from claim.field.exchange.files.uploads import Upload, gathered
from claim.field.exchange.formats import egoweb, network_canvas, network_tables, rosters, submissions
from claim.field.exchange.formats.builder import Builder
from claim.field.exchange.formats.importers import Importer, Tables
from claim.field.exchange.records import Bundle, check
from claim.field.exchange.report import Report
from claim.networks.formats.text import shown

IMPORTERS: tuple[Importer, ...] = (  # in the order in which they are tried
    network_canvas.IMPORTER,
    egoweb.IMPORTER,
    submissions.KOBO_IMPORTER,
    submissions.ODK_IMPORTER,
    rosters.RECRUITMENT,
    network_tables.IMPORTER,
    rosters.ROSTER,
)
Files = Path | str | Upload | Iterable[Path | str | Upload]


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
    tables = load(uploads)
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

    ``merges`` says which people in the file are somebody else in the file, code by code.
    """
    problems = looked_at.report.problems
    if problems:
        more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
        raise InputError(f"{problems[0]}{more}")
    if not looked_at.bundle.people:
        raise InputError(f"{looked_at.samples[0].where}: no people in it")
    codes = {person.code for person in looked_at.bundle.people}
    unknown = sorted({code for pair in (merges or {}).items() for code in pair} - codes)
    if unknown:
        raise InputError(f"nobody in the file has the code {shown(unknown[0])}")
    bundle = looked_at.bundle.merged(merges or {})
    check(bundle)
    return bundle


def _importer(tables: Tables, name: str | None) -> Importer:
    if name is not None:
        chosen = next((each for each in IMPORTERS if each.name == name), None)
        if chosen is None:
            raise InputError(
                f"there is no format {shown(name)}; there are {', '.join(each.name for each in IMPORTERS)}"
            )
        return chosen
    known = next((each for each in IMPORTERS if each.recognises(tables)), None)
    if known is None:  # ids make a list of people; anything else may be a roster whose column of names is to be chosen
        return network_tables.IMPORTER if network_tables.has_ids(tables) else rosters.ROSTER
    return known


def _samples(tables: Tables) -> tuple[Sample, ...]:
    return tuple(
        Sample(table.where, table.columns, tuple(row.cells for row in table.rows[:SAMPLE_ROWS]), len(table.rows))
        for table in tables
    )


def _digest(uploads: list[Upload]) -> str:
    """One hash of all files, whatever their names and order."""
    parts = sorted(hashlib.sha256(upload.content).digest() for upload in uploads)
    return hashlib.sha256(b"".join(parts)).hexdigest()
