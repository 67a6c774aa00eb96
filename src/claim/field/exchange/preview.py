"""What files hold, before anything is imported: format, columns, problems and possible duplicates."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from claim.errors import InputError
from claim.field.exchange.builder import Builder, Choice, Importer, Role, Tables
from claim.field.exchange.forms import is_form, read_forms
from claim.field.exchange.interviews import is_egoweb, is_network_canvas, read_egoweb, read_network_canvas
from claim.field.exchange.network_tables import is_own, is_recruitment, read_own, read_recruitment, read_roster
from claim.field.exchange.records import Bundle, check
from claim.field.exchange.submissions import KOBO, ODK, is_kobo, is_odk, read_submissions
from claim.field.study.names import NameIndex, words
from claim.io.archives import gathered
from claim.io.tables import Table, read_tables, with_header
from claim.io.text import Source, shown
from claim.messages import Message

MAX_COMPARED = 2_000  # names; in larger files only names that are the same but for case, accents and order are found
_PER_PERSON = 3

Names = list[tuple[str, str]]  # codes and names


@dataclass(frozen=True)
class Duplicate:
    """Two records that may be one person: one in the file, the other in the study or elsewhere in the file."""

    code: str
    name: str
    other_code: str
    other_name: str
    score: float  # 1: the same but for case, accents and order
    in_study: bool


def find_duplicates(bundle: Bundle, existing: Iterable[tuple[str, str]]) -> tuple[Duplicate, ...]:
    """Likely pairs, the surest first."""
    known, fresh = list(existing), list(bundle.names.items())
    if max(len(known), len(fresh)) > MAX_COMPARED:
        found = [*_same(fresh, known, in_study=True), *_same(fresh, fresh, in_study=False)]
    else:
        index, names = NameIndex(known), dict(fresh)
        similar = [(code, each) for code, name in fresh for each in index.similar(name, limit=_PER_PERSON)]
        found = [Duplicate(code, names[code], each.code, each.name, each.score, True) for code, each in similar]
        for code, each in NameIndex(fresh).alike():
            found.append(Duplicate(each.code, each.name, code, names[code], each.score, False))
    return tuple(sorted(found, key=lambda each: (-each.score, each.code, each.other_code)))


def _same(fresh: Names, others: Names, *, in_study: bool) -> list[Duplicate]:
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    for code, name in others:
        first.setdefault(words(name), (code, name))
    first.pop((), None)  # names without a letter are not alike
    found = [(code, name, first[words(name)]) for code, name in fresh if words(name) in first]
    return [Duplicate(code, name, *other, 1.0, in_study) for code, name, other in found if in_study or other[0] != code]


IMPORTERS = (  # in the order in which they are tried
    Importer("network-canvas", "Network Canvas (zip or its CSV files)", is_network_canvas, read_network_canvas),
    Importer("egoweb", "EgoWeb (ego-alter and alter-pair files)", is_egoweb, read_egoweb),
    Importer("rds", "people and recruiters (RDS-style CSV)", is_recruitment, read_recruitment),
    Importer("form", "a form: one row a person, with columns of contacts or coupons", is_form, read_forms),
    Importer("kobo", "KoboToolbox (XLSX with a repeat)", is_kobo, partial(read_submissions, keys=KOBO)),
    Importer("odk", "ODK (zip of CSV files)", is_odk, partial(read_submissions, keys=ODK)),
    Importer("csv", "people, ties and surveys (CSV, Gephi tables, GraphML, GEXF)", is_own, read_own, derive=False),
    Importer("roster", "a list of names (CSV)", lambda tables: True, read_roster),  # the column of names can be chosen
)
Files = Path | str | Source | Iterable[Path | str | Source]


@dataclass(frozen=True)
class Preview:
    """What files hold, as the present choice of format and columns reads it; nothing has been taken yet."""

    format: str
    title: str
    choices: tuple[Choice, ...]
    tables: tuple[Table, ...]
    bundle: Bundle
    problems: tuple[Message, ...]  # any of them stops the import
    notes: tuple[Message, ...]
    duplicates: tuple[Duplicate, ...]
    digest: str  # SHA-256 of the files
    roles: tuple[Mapping[str, Role], ...] = ()  # what the columns of each table became; the others are not used

    @property
    def columns(self) -> list[tuple[Table, list[tuple[str, str | None]]]]:
        """The columns of each table, and the title of what they became; None: not used."""
        return [
            (table, [(column, roles[column].title if column in roles else None) for column in table.columns if column])
            for table, roles in zip(self.tables, self.roles, strict=True)
        ]

    @property
    def ready(self) -> bool:
        """Whether it can be taken as it is."""
        return not self.problems and bool(self.bundle.people)

    @property
    def mapping(self) -> dict[str, str]:
        """The columns by role, as suggested or chosen."""
        return {choice.role.key: choice.column for choice in self.choices}


def preview(
    files: Files,
    *,
    format: str | None = None,
    mapping: Mapping[str, str] | None = None,
    existing: Iterable[tuple[str, str]] = (),
    join_names: bool = True,
    header: bool | None = None,
) -> Preview:
    """Read files without taking anything.

    ``mapping`` gives columns to roles where the suggestion is wrong ("" for none). ``existing`` are codes and names of
    the people already known, to be compared. ``join_names`` takes the same name for the same person in formats that
    know people by name only. ``header`` says whether the first row names the columns, if that is found wrongly. Files
    that are broken or hostile are refused outright.
    """
    uploads = gathered(files)
    found = read_tables(uploads)
    tables = found if header is None else [with_header(table, header) for table in found]
    importer = _importer(tables, format)
    builder = Builder(mapping, join_names)
    for table in tables:
        builder.note_reading(table)
    importer.read(tables, builder)
    bundle = builder.bundle(importer.derive)
    return Preview(
        format=importer.name,
        title=importer.title,
        choices=tuple(builder.choices.values()),
        tables=tuple(tables),
        bundle=bundle,
        problems=builder.problems.all(),
        notes=builder.notes.all(),
        duplicates=find_duplicates(bundle, existing),
        digest=_digest(uploads),
        roles=tuple(builder.used.get(table, {}) for table in tables),
    )


def take(looked_at: Preview, merges: Mapping[str, str] | None = None) -> Bundle:
    """All of it, or an error: the first problem if there is any.

    ``merges`` gives the codes of people in the file that are other people in the file.
    """
    problems = looked_at.problems
    if len(problems) == 1:
        raise InputError(problems[0])
    if problems:
        raise InputError("{problem} (and {more} more problems)", problem=problems[0], more=len(problems) - 1)
    if not looked_at.bundle.people:
        raise InputError.at(looked_at.tables[0].where, None, Message("no people in it"))
    codes = {person.code for person in looked_at.bundle.people}
    unknown = sorted({code for pair in (merges or {}).items() for code in pair} - codes)
    if unknown:
        raise InputError("no person in the file has the code {code}", code=shown(unknown[0]))
    bundle = looked_at.bundle.merged(merges or {})
    check(bundle)
    return bundle


def _importer(tables: Tables, name: str | None) -> Importer:
    """The importer of that name; without one the first that recognises the tables."""
    for each in IMPORTERS:
        if each.recognises(tables) if name is None else each.name == name:
            return each
    formats = ", ".join(each.name for each in IMPORTERS)
    raise InputError("there is no format {name}; there are {formats}", name=shown(name or ""), formats=formats)


def _digest(uploads: list[Source]) -> str:
    """One hash of all files, whatever their names and order."""
    parts = sorted(hashlib.sha256(upload.content or b"").digest() for upload in uploads)
    return hashlib.sha256(b"".join(parts)).hexdigest()
