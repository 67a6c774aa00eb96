"""From tables to records: which column plays which part, values, and what was found on the way."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from claim.errors import InputError
from claim.field.exchange.records import Bundle, PersonRecord, SurveyRecord, TieRecord, together
from claim.field.study.names import clean
from claim.io import columns
from claim.io.columns import is_contact, is_numbered_contact, is_recruitment, looks_like_name
from claim.io.tables import Table
from claim.io.text import shown
from claim.messages import Message

MAX_PROBLEMS = 100  # reported in full; the others are only counted
MAX_NAME = 10_000
MAX_CODE = 200


@dataclass(frozen=True)
class Finding:
    """A problem or a note, and where in the files it belongs."""

    where: str
    line: int | None
    problem: Message

    @property
    def message(self) -> Message:
        """The problem with its place."""
        return InputError.at(self.where, self.line, self.problem).message

    def __str__(self) -> str:
        return str(self.message)


@dataclass(frozen=True)
class Duplicate:
    """Two records that may be one person: one in the file, the other in the study or elsewhere in the file."""

    code: str
    name: str
    other_code: str
    other_name: str
    score: float  # 1: the same but for case, accents and order
    in_study: bool


@dataclass(frozen=True)
class Report:
    """All findings of one reading."""

    rows: dict[str, int] = field(default_factory=dict)  # read, by table
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)  # found, by table
    problems: tuple[Finding, ...] = ()  # any of them stops the import
    notes: tuple[Finding, ...] = ()
    repeated_ties: int = 0  # the same pair again
    repeated_people: int = 0  # the same name or code again
    duplicates: tuple[Duplicate, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether nothing stops the import."""
        return not self.problems


class Findings:
    """Collects findings; beyond the cap they are only counted."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._more = 0

    def add(self, where: str, line: int | None, text: str, /, **values: object) -> None:
        """One more finding; ``values`` belong in the places of the text."""
        if len(self._found) < MAX_PROBLEMS:
            self._found.append(Finding(where, line, Message(text, values)))
        else:
            self._more += 1

    def all(self) -> tuple[Finding, ...]:
        """The findings, and how many more there are."""
        more = Message.of("{count} more like these", count=f"{self._more:,}")
        return (*self._found, *([Finding("and", None, more)] if self._more else []))


_SOMETHING_ELSE = re.compile(
    "enumerator|interviewer|device|user|submitter|file|form|protocol|variable|phone|number|count|mail|address"
)


@dataclass(frozen=True)
class Role:
    """A part a column can play; ``words`` are the names it goes by, best first."""

    key: str  # such as "ties.source"
    title: str  # what to ask the user for
    words: tuple[str, ...]
    needed: bool = False
    within: tuple[str, ...] = ()  # failing these, a column with one of these words in its name will do


def normal(column: str) -> str:
    """A column's name for comparison, without the groups of a form before it."""
    return columns.normal(column.rpartition("/")[2])


def has(table: Table, *columns: str) -> bool:
    """Whether a table has all these columns, however they are written."""
    return {normal(column) for column in columns} <= {normal(column) for column in table.columns}


class Columns:
    """Finds the column for each role, and remembers what was used."""

    def __init__(self, given: Mapping[str, str], problems: Findings) -> None:
        self._given, self._problems = given, problems
        self.used: dict[str, str] = {}  # role key to column; "" if there is none
        self.choices: dict[str, tuple[str, ...]] = {}  # role key to the columns there are
        self.roles: dict[str, Role] = {}

    def find(self, table: Table, roles: Iterable[Role], *, one_of_many: bool = False) -> "Picked | None":
        """The columns for these roles; None, and a problem is noted, if a needed one is missing.

        A column the user chose has to be there, unless this is ``one_of_many`` tables that need not all have it.
        """
        places: dict[str, int] = {}
        missing = []
        for role in roles:
            column = self._column(table, role, one_of_many)
            self.roles[role.key], self.choices[role.key] = role, table.columns
            self.used[role.key] = column or self.used.get(role.key, "")
            if column:
                places[role.key] = table.position(column)
            elif role.needed:
                missing.append(role)
        for role in missing:
            self._problems.add(
                table.where,
                1,
                "which column holds {role}? there are {columns}",
                role=Message(role.title),
                columns=listed(table.columns),
            )
        return None if missing else Picked(table, places)

    def _column(self, table: Table, role: Role, one_of_many: bool) -> str | None:
        if role.key in self._given:
            column = self._given[role.key]
            if column and column not in table.columns:
                if one_of_many:
                    return None
                text = "there is no column {column} for {role}"
                problem = Message.of(text, column=shown(column), role=Message(role.title))
                raise InputError.at(table.where, 1, problem)
            return column
        return suggested(table.columns, role)


@dataclass(frozen=True)
class Picked:
    """Access to a table's rows by role."""

    table: Table
    places: Mapping[str, int]

    def rows(self) -> Iterable[tuple[int, dict[str, str]]]:
        """Line and values by role key; roles without a column are left out."""
        for row in self.table.rows:
            yield row.line, {key: row.cells[place] for key, place in self.places.items()}


def suggested(columns: tuple[str, ...], role: Role) -> str | None:
    """The column whose name fits a role best."""
    names = [normal(column) for column in columns]
    for word in role.words:
        if word in names:
            return columns[names.index(word)]
    for word in role.within:
        for column, name in zip(columns, names, strict=True):
            if word in name and not column.startswith("_") and not _SOMETHING_ELSE.search(name):
                return column
    return None


def listed(columns: Sequence[str]) -> str:
    """Names of columns for a message, not too many."""
    some = ", ".join(shown(column, 30) for column in columns[:8] if column)
    return f"{some}, …" if len(columns) > 8 else some


class Builder:
    """What the readers of all formats write into."""

    def __init__(self, mapping: Mapping[str, str] | None = None, join_names: bool = True) -> None:
        self.problems, self.notes = Findings(), Findings()
        self.columns = Columns(mapping or {}, self.problems)
        self.mapping = mapping or {}
        self._join_names = join_names
        self._people: dict[str, PersonRecord] = {}
        self._ties: dict[frozenset[str], TieRecord] = {}
        self._surveys: dict[str, SurveyRecord] = {}
        self._by_name: dict[str, str] = {}
        self._repeated_ties = self._repeated_people = 0

    # People ----------------------------------------------------------------------------------------------------------

    def knows(self, code: str) -> bool:
        """Whether a person has this code."""
        return code in self._people

    def person(self, table: Table, line: int, code: str, **fields: Any) -> str | None:
        """A person by code; None, and a problem is noted, if the code or the name cannot be used."""
        if not self._is_usable(table, line, code, fields.get("name") or ""):
            return None
        if code in self._people:
            self.update(code, **fields)
            self._repeated_people += 1
        else:
            self._people[code] = PersonRecord(code, **fields)
        return code

    def _is_usable(self, table: Table, line: int, code: str, name: str) -> bool:
        if not code:
            self.problems.add(table.where, line, "a code is missing")
        elif len(code) > MAX_CODE:
            text = "the code {code} is longer than {most} characters"
            self.problems.add(table.where, line, text, code=shown(code, 20), most=MAX_CODE)
        elif code != code.strip() or any(ord(character) < 32 or 127 <= ord(character) < 160 for character in code):
            text = "the code {code} has blanks around it or a control character in it"
            self.problems.add(table.where, line, text, code=shown(code))
        elif len(name) > MAX_NAME:
            text = "the name {name} is longer than {most} characters"
            self.problems.add(table.where, line, text, name=shown(name, 20), most=f"{MAX_NAME:,}")
        else:
            return True
        return False

    def named(self, table: Table, line: int, name: str, **fields: Any) -> str | None:
        """A person known by name only; the same name (but for case and blanks) is the same person."""
        key = clean(name).casefold()
        if not key:
            self.problems.add(table.where, line, "a name is missing")
            return None
        known = self._by_name.get(key) if self._join_names else None
        if known is not None:
            self._repeated_people += 1
            self.update(known, **fields)
            return known
        code = self.person(table, line, f"new-{len(self._people) + 1}", name=name.strip(), **fields)
        if code is not None:
            self._by_name[key] = code
        return code

    def update(self, code: str, **fields: Any) -> None:
        """More about a person; what is not known does not replace what is."""
        known = {name: value for name, value in fields.items() if value is not None}
        self._people[code] = replace(self._people[code], **known)

    # Ties and surveys ------------------------------------------------------------------------------------------------

    def tie(self, table: Table, line: int, tie: TieRecord) -> None:
        """A tie between known people; one that comes again is put together with the first."""
        if tie.source == tie.target:
            self.notes.add(table.where, line, "{person} is tied to themselves: left out", person=shown(tie.source))
            return
        pair = frozenset((tie.source, tie.target))
        if pair in self._ties:
            self._repeated_ties += 1
            tie = together(self._ties[pair], tie)
        self._ties[pair] = tie

    def survey(self, table: Table, line: int, survey: SurveyRecord) -> None:
        """A survey; its id may come only once."""
        if survey.survey_id in self._surveys:
            self.problems.add(table.where, line, "the survey {survey} comes twice", survey=shown(survey.survey_id))
        self._surveys[survey.survey_id] = survey

    # The end ---------------------------------------------------------------------------------------------------------

    def bundle(self, derive: bool) -> Bundle:
        """What was put together; ``derive`` counts contacts and namings where the format does not."""
        ties = tuple(self._ties.values())
        people = _counted(self._people, ties) if derive else tuple(self._people.values())
        return Bundle(people, ties, tuple(self._surveys.values()))

    def report(self, tables: list[Table]) -> Report:
        """The findings."""
        return Report(
            rows={table.where: len(table.rows) for table in tables},
            columns={table.where: table.columns for table in tables},
            problems=self.problems.all(),
            notes=self.notes.all(),
            repeated_ties=self._repeated_ties,
            repeated_people=self._repeated_people,
        )


def _counted(people: Mapping[str, PersonRecord], ties: tuple[TieRecord, ...]) -> tuple[PersonRecord, ...]:
    contacts: dict[str, int] = dict.fromkeys(people, 0)
    namers: dict[str, dict[str, None]] = {code: {} for code in people}
    for tie in ties:
        for person in (tie.source, tie.target):
            contacts[person] += 1
            namers[person].update(dict.fromkeys(code for code in tie.named_by if code != person))
    return tuple(
        replace(
            person,
            n_contacts=contacts[person.code] if person.n_contacts is None else person.n_contacts,
            times_named=len(namers[person.code]),
            first_named_by=person.first_named_by or next(iter(namers[person.code]), None),
        )
        for person in people.values()
    )


_TRUE = frozenset({"true", "yes", "1", "y", "t", "x"})
_FALSE = frozenset({"false", "no", "0", "n", "f", ""})
_MAX_DIGITS = 40


def written(value: object) -> str:
    """A number, a truth value or nothing as a cell that reads back exactly; texts are the caller's business."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


class Cells:
    """Reads the cells of one row; an empty cell is None."""

    def __init__(self, builder: Builder, table: Table, line: int, strict: bool) -> None:
        # In the project's own tables a bad value stops the import; elsewhere the column may mean something else.
        self._findings = builder.problems if strict else builder.notes
        self._strict, self._where, self._line = strict, table.where, line

    def whole(self, text: str, title: str) -> int | None:
        """A whole number; spreadsheets like to write it ``3.0``."""
        number = text.strip().removesuffix(".0")
        digits = number.removeprefix("-")
        if not text.strip() or (digits.isascii() and digits.isdigit() and len(number) <= _MAX_DIGITS):
            return int(number) if number else None
        self._complain("{title} {value} is not a whole number", title, text)
        return None

    def count(self, text: str, title: str) -> int | None:
        """A whole number that is not negative."""
        number = self.whole(text, title)
        if number is None or number >= 0:
            return number
        self._complain("{title} {value} is negative", title, text)
        return None

    def number(self, text: str, title: str) -> float | None:
        """A finite number."""
        text = text.strip()
        try:
            value = float(text or "0") if "_" not in text and len(text) <= _MAX_DIGITS else math.nan
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            return value if text else None
        self._complain("{title} {value} is not a number", title, text)
        return None

    def truth(self, text: str, title: str) -> bool | None:
        """Yes or no."""
        word = text.strip().casefold()
        if word not in _TRUE | _FALSE:
            self._complain("{title} {value} is neither true nor false", title, text)
        return word in _TRUE if word else None

    def one_of(self, text: str, words: tuple[str, ...], title: str) -> str | None:
        """One of some words."""
        word = text.strip().casefold()
        if not word or word in words:
            return word or None
        self._complain("{title} {value} is none of {words}", title, text, words=", ".join(words))
        return None

    def time(self, text: str, title: str) -> str | None:
        """A date, or a date and time, in the order year, month, day; kept as it is written."""
        text = text.strip()
        try:
            datetime.fromisoformat(text or "2027-01-31")
        except ValueError:
            expected = "{title} {value} is not a date such as 2027-01-31 or 2027-01-31T14:05:00Z"
            self._complain(expected, title, text)
            return None
        return text or None

    def _complain(self, text: str, title: str, value: str, **values: object) -> None:
        problem = Message.of(text, title=Message(title), value=shown(value.strip()), **values)
        if self._strict:
            self._findings.add(self._where, self._line, problem.text, **problem.values)
        else:
            self._findings.add(self._where, self._line, "{problem}: left out", problem=problem)


Tables = list[Table]


@dataclass(frozen=True)
class Importer:
    """One format that can be brought in."""

    name: str
    title: str
    recognises: Callable[[Tables], bool]
    read: Callable[[Tables, Builder], None]
    derive: bool = True  # whether contacts and namings are to be counted, because the format does not say


def unused(builder: Builder, table: Table) -> None:
    """Say that a table was not needed."""
    builder.notes.add(table.where, None, "not needed, left out")


def refuse_contacts(
    builder: Builder,
    table: Table,
    picked: Picked | None,
    *,
    ties_elsewhere: bool = False,
    ends: Collection[str] = (),
) -> None:
    """Note a problem if columns that play no part say who knows whom, since that would be lost.

    ``ties_elsewhere``: ties come from another table or column, so that only columns such as ``friend1`` are suspect.
    ``ends`` are the columns of the two people of a tie.
    """
    used = set(picked.places.values()) if picked else set()
    found = []
    for place, column in enumerate(table.columns):
        name, cells = column.rpartition("/")[2], [row.cells[place] for row in table.rows]
        if place in used:
            continue
        if is_numbered_contact(name, ends) or (is_recruitment(name) and not ties_elsewhere and not ends):
            suspect = any(cell.strip() for cell in cells)
        else:
            suspect = is_contact(name) and not ties_elsewhere and any(map(looks_like_name, cells))
        if suspect:
            found.append(column)
    if found:
        text = (
            "contacts in the columns {columns} are not understood; "
            "a list of ties has two columns, such as person and contact, one contact a line"
        )
        builder.problems.add(table.where, 1, text, columns=listed(found))
