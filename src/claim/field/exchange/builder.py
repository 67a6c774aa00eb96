"""From tables to records: which column plays which part, the values of rows, and what was found on the way."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar

from claim.errors import InputError
from claim.field.exchange.records import Bundle, PersonRecord, SurveyRecord, TieRecord, distinct
from claim.field.study.names import clean, in_order
from claim.field.study.setup import LONGEST_GROUP
from claim.io import columns
from claim.io.columns import is_contact, is_numbered_contact, is_recruitment, looks_like_name
from claim.io.tables import Table
from claim.io.text import shown, unescaped
from claim.messages import Count, Message

MAX_PROBLEMS = 100  # reported in full; the others are only counted
MAX_NOTES = 50_000  # so that each row of a table can have one
MAX_NAME = 10_000
MAX_CODE = 200

T = TypeVar("T")
Tables = list[Table]


class Findings(list[Message]):
    """Messages that name a file and a line; beyond the cap they are only counted."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self.more = most, 0

    def add(self, where: str, line: int | None, text: str, /, **values: object) -> None:
        """One more finding; ``values`` belong in the places of the text."""
        if len(self) < self._most:
            self.append(InputError.at(where, line, Message(text, values)).message)
        else:
            self.more += 1

    def all(self) -> tuple[Message, ...]:
        """The findings, and how many more there are."""
        more = Message.of("{count} more like these", count=Count(self.more))
        return (*self, *([InputError.at("and", None, more).message] if self.more else []))


# Columns --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Role:
    """A part a column can play; ``words`` are the names it goes by, best first."""

    key: str  # such as "ties.source"
    title: str  # what to ask the user for
    words: tuple[str, ...]
    needed: bool = False
    within: tuple[str, ...] = ()  # failing these, a column with one of these words in its name will do
    read: "Callable[[Row, str], object] | None" = None  # gives the value of the record's field of the same name


@dataclass(frozen=True)
class Choice:
    """A part that a column plays, and the columns that could play it."""

    role: Role
    column: str  # "" if none
    columns: tuple[str, ...]


MARKED = Role(  # of the row of a contact
    "contact.marked",
    "whether they know the most people",
    ("knowsthemostpeople", "knowsthemost", "knowsmost", "mostpeople", "hub", "marked"),
)

_SOMETHING_ELSE = re.compile(
    "enumerator|interviewer|device|user|submitter|file|form|protocol|variable|phone|number|count|mail|address"
    "|encuestador|entrevistador|telefono|correo|direccion|usuario"
)
FIRST_NAMES = ("firstname", "givenname", "nombre", "nombres", "primernombre", "nombredepila")
GROUP_WORDS = ("group", "grupo")
FULL_NAMES = ("fullname", "nombrecompleto", "nombreyapellido", "nombreyapellidos", "nombreapellido", "nombreapellidos")
_LAST_NAMES = (
    "lastname", "surname", "familyname", "apellido", "apellidos", "primerapellido", "apellidopaterno", "apellido1",
)  # fmt: skip
_SECOND_NAMES = ("secondlastname", "secondsurname", "segundoapellido", "apellidomaterno", "apellido2")


def surnames(key: str) -> "tuple[Role, Role]":
    """The parts of columns with the last name, which is joined to the name in the column of the part ``key``."""
    return (
        Role(key=f"{key}.last", title="the last name", words=_LAST_NAMES),
        Role(key=f"{key}.last2", title="the second last name", words=_SECOND_NAMES),
    )


def normal(column: str) -> str:
    """A column's name for comparison, without the groups of a form before it."""
    return columns.normal(column.rpartition("/")[2])


def has(table: Table, *columns: str) -> bool:
    """Whether a table has all these columns, however they are written."""
    return {normal(column) for column in columns} <= {normal(column) for column in table.columns}


def suggested(columns: tuple[str, ...], role: Role) -> str | None:
    """The column whose name fits a role best."""
    names = [normal(column) for column in columns]
    same = (columns[names.index(word)] for word in role.words if word in names)
    others = [
        each
        for each in columns
        if not each.startswith("_") and not _SOMETHING_ELSE.search(normal(each)) and not is_numbered_contact(each)
    ]
    within = (column for word in role.within for column in others if word in normal(column))
    return next(chain(same, within), None)


def listed(columns: Sequence[str]) -> str:
    """Names of columns for a message, not too many."""
    some = ", ".join(shown(column, 30) for column in columns[:8] if column)
    return f"{some}, …" if len(columns) > 8 else some


# Rows -----------------------------------------------------------------------------------------------------------------

_WHOLE = re.compile(r"-?[0-9]{1,39}(\.0)?")
_MAX_DIGITS = 40
_TRUTHS = dict.fromkeys(("true", "yes", "1", "y", "t", "x"), True) | dict.fromkeys(
    ("false", "no", "0", "n", "f"), False
)


@dataclass(frozen=True)
class Row:
    """The cells of one row by the key of their role, and what there is to say about its line.

    In the project's own tables, which are ``strict``, a value that cannot be read stops the import; elsewhere the
    column may mean something else, and the value is left out.
    """

    builder: "Builder"
    where: str
    line: int
    cells: Mapping[str, str]  # roles without a column are left out
    strict: bool

    def problem(self, text: str, /, **values: object) -> None:
        """Note what stops the import."""
        self.builder.problems.add(self.where, self.line, text, **values)

    def note(self, text: str, /, **values: object) -> None:
        """Note what does not."""
        self.builder.notes.add(self.where, self.line, text, **values)

    def refuse(self, problem: str, /, **values: object) -> None:
        """Note what stops the import of a strict table, and is left out of others."""
        if self.strict:
            self.problem(problem, **values)
        else:
            self.note("{problem}: left out", problem=Message(problem, values))

    def text(self, key: str) -> str:
        """A cell without blanks around it; empty if there is no column for the role."""
        return self.cells.get(key, "").strip()

    def plain(self, key: str) -> str:
        """A cell as it was before an export escaped it."""
        return unescaped(self.cells.get(key, ""))

    def full_name(self, key: str) -> str:
        """A name, with the last name that stands in columns of its own, unless it is part of the name."""
        name = self.cells.get(key, "")
        for part in surnames(key):
            last = self.text(part.key)
            if not set(in_order(last)) <= set(in_order(name)):
                name = f"{name.strip()} {last}".strip()
        return name

    def group(self, key: str) -> str | None:
        """The group of a person, cleaned."""
        found = clean(self.plain(key))
        if len(found) <= LONGEST_GROUP:
            return found or None
        self.refuse("the group {group} is longer than {most} characters", group=shown(found, 20), most=LONGEST_GROUP)
        return None

    def code(self, key: str) -> str:
        """The code of a person, which an export may have escaped."""
        return self.plain(key).strip()

    def values(self, roles: Iterable[Role]) -> dict[str, Any]:
        """The fields of a record that are known; the part of the key after the dot is the name of the field."""
        found = {role.key.partition(".")[2]: role.read(self, role.key) for role in roles if role.read}
        return {name: value for name, value in found.items() if value not in (None, "")}

    def whole(self, key: str, title: str = "") -> int | None:
        """A whole number; spreadsheets like to write it ``3.0``."""
        return self._checked(key, title, _whole, "{title} {value} is not a whole number")

    def count(self, key: str, title: str = "") -> int | None:
        """A whole number that is not negative."""
        number = self.whole(key, title)
        if number is None or number >= 0:
            return number
        self._complain(key, title, "{title} {value} is negative")
        return None

    def number(self, key: str, title: str = "") -> float | None:
        """A finite number."""
        return self._checked(key, title, _number, "{title} {value} is not a number")

    def truth(self, key: str, title: str = "") -> bool | None:
        """Yes or no."""
        return self._checked(
            key, title, lambda text: _TRUTHS[text.casefold()], "{title} {value} is neither true nor false"
        )

    def one_of(self, key: str, words: tuple[str, ...]) -> str | None:
        """One of some words."""
        problem = "{title} {value} is none of {words}"
        return self._checked(key, "", lambda text: words[words.index(text.casefold())], problem, words=", ".join(words))

    def time(self, key: str, title: str = "") -> str | None:
        """A date, or a date and time, in the order year, month, day; kept as it is written."""
        problem = "{title} {value} is not a date such as 2027-01-31 or 2027-01-31T14:05:00Z"
        return self._checked(key, title, _time, problem)

    def _checked(self, key: str, title: str, read: Callable[[str], T], problem: str, **values: object) -> T | None:
        """A cell as ``read`` reads it; None if it is empty or cannot be read."""
        text = self.text(key)
        try:
            return read(text) if text else None
        except (ValueError, KeyError):
            self._complain(key, title, problem, **values)
            return None

    def _complain(self, key: str, title: str, problem: str, **values: object) -> None:
        """``title`` names the value in the message; else the part of the key after the dot does."""
        values |= {"title": Message(title or key.partition(".")[2]), "value": shown(self.text(key))}
        self.refuse(problem, **values)


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError
    return int(text.removesuffix(".0"))


def _time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _number(text: str) -> float:
    if "_" in text or len(text) > _MAX_DIGITS or not math.isfinite(float(text)):
        raise ValueError
    return float(text)


class Builder:
    """What the readers of all formats write into."""

    def __init__(self, mapping: Mapping[str, str] | None = None, join_names: bool = True) -> None:
        self.mapping = mapping or {}
        self.problems, self.notes = Findings(MAX_PROBLEMS), Findings(MAX_NOTES)
        self.choices: dict[str, Choice] = {}  # by the key of the role
        self.used: dict[Table, dict[str, Role]] = {}  # what the columns of a table became
        self.people: dict[str, PersonRecord] = {}
        self.named_in: Counter[str] = Counter()  # how many people were named in a survey, by its id
        self._join_names = join_names
        self._ties: list[TieRecord] = []
        self._seen: set[TieRecord] = set()
        self._marks: list[tuple[Row, str, str]] = []
        self._surveys: dict[str, SurveyRecord] = {}
        self._by_name: dict[str, str] = {}

    # Tables ----------------------------------------------------------------------------------------------------------

    def find(
        self, table: Table, roles: Collection[Role], *, strict: bool = False, one_of_many: bool = False
    ) -> list[Row]:
        """The rows by these roles; none, and a problem is noted, if a needed column is missing.

        A column the user chose has to be there, unless this is ``one_of_many`` tables that need not all have it.
        """
        found = {role.key: self._column(table, role, one_of_many) for role in roles}
        for role in roles:
            before = self.choices[role.key].column if role.key in self.choices else ""
            self.choices[role.key] = Choice(role, found[role.key] or before, table.columns)
        places = {key: table.position(column) for key, column in found.items() if column}
        self.used.setdefault(table, {}).update({column: role for role in roles if (column := found[role.key])})
        missing = [role for role in roles if role.needed and role.key not in places]
        for role in missing:
            text, there = "which column holds {role}? there are {columns}", listed(table.columns)
            self.problems.add(table.where, table.line, text, role=Message(role.title), columns=there)
        return [
            Row(self, table.where, row.line, {key: row.cells[place] for key, place in places.items()}, strict)
            for row in ([] if missing else table.rows)
        ]

    def _column(self, table: Table, role: Role, one_of_many: bool = False) -> str | None:
        column = self.mapping.get(role.key)
        if column is None:
            return suggested(table.columns, role)
        if column and column not in table.columns and not one_of_many:
            problem = Message.of(
                "there is no column {column} for {role}", column=shown(column), role=Message(role.title)
            )
            raise InputError.at(table.where, table.line, problem)
        return column if column in table.columns else None

    def refuse_contacts(
        self, table: Table, roles: Iterable[Role], *, ties_elsewhere: bool = False, ends: Collection[str] = ()
    ) -> None:
        """Note a problem if columns that play none of the roles say who knows whom, since that would be lost.

        ``ties_elsewhere``: ties come from another table or column, so that only columns such as ``friend1`` are
        suspect. ``ends`` are the columns of the two people of a tie.
        """
        used, found = {self._column(table, role) for role in roles}, []
        for place, column in enumerate(table.columns):
            name, cells = column.rpartition("/")[2], [row.cells[place] for row in table.rows]
            if is_numbered_contact(name, ends) or (is_recruitment(name) and not ties_elsewhere and not ends):
                suspect = any(cell.strip() for cell in cells)
            else:
                suspect = is_contact(name) and not ties_elsewhere and any(map(looks_like_name, cells))
            if suspect and column not in used:
                found.append(column)
        if found:
            text = (
                "contacts in the columns {columns} are not understood; "
                "a list of ties has two columns, such as person and contact, one contact a line"
            )
            self.problems.add(table.where, table.line, text, columns=listed(found))

    def note_reading(self, table: Table) -> None:
        """Say what the reader of a table guessed or left out."""
        for line, note in table.notes:
            self.notes.add(table.where, line, note.text, **note.values)
        if table.has_header is False:
            text = "no header: this row is read as data, and the columns are called {columns}"
            self.notes.add(table.where, table.line, text, columns=", ".join(table.columns))

    def note_unused(self, tables: Tables, used: Collection[Table | None]) -> None:
        """Say which tables were not needed."""
        for table in tables:
            if table not in used:
                self.notes.add(table.where, None, "not needed, left out")

    # People ----------------------------------------------------------------------------------------------------------

    def person(self, row: Row, code: str, **fields: Any) -> str | None:
        """A person by code; None, and a problem is noted, if the code or the name cannot be used."""
        name = fields.get("name") or ""
        if not code:
            row.problem("a code is missing")
        elif len(code) > MAX_CODE:
            row.problem("the code {code} is longer than {most} characters", code=shown(code, 20), most=MAX_CODE)
        elif code != code.strip() or any(ord(character) < 32 or 127 <= ord(character) < 160 for character in code):
            row.problem("the code {code} has blanks around it or a control character in it", code=shown(code))
        elif len(name) > MAX_NAME:
            row.problem("the name {name} is longer than {most} characters", name=shown(name, 20), most=Count(MAX_NAME))
        else:
            self.people.setdefault(code, PersonRecord(code))
            self.update(code, **fields)
            return code
        return None

    def named(self, row: Row, name: str, **fields: Any) -> str | None:
        """A person known by name only; the same name (but for case and blanks) is the same person."""
        key = clean(name).casefold()
        if not key:
            row.problem("a name is missing")
            return None
        if self._join_names and key in self._by_name:
            self.update(self._by_name[key], **fields)
            return self._by_name[key]
        code = self.person(row, f"new-{len(self.people) + 1}", name=name.strip(), **fields)
        if code is not None:
            self._by_name[key] = code
        return code

    def update(self, code: str, **fields: Any) -> None:
        """More about a person; what is not known does not replace what is."""
        known = {name: value for name, value in fields.items() if value is not None}
        self.people[code] = replace(self.people[code], **known)

    # Ties and surveys ------------------------------------------------------------------------------------------------

    def tie(self, row: Row, source: str, target: str, named_by: tuple[str, ...], weight: float = 1.0) -> None:
        """A tie between known people."""
        if source == target:
            row.note("{person} is tied to themselves: left out", person=shown(self.people[source].name or source))
            return
        tie = TieRecord(source, target, weight, named_by)
        if tie in self._seen:
            row.note("the tie comes again: counted once")
        self._seen.add(tie)
        self._ties.append(tie)

    def mark(self, row: Row, by: str, contact: str) -> None:
        """A person said that this contact knows the most people; checked when all ties are known."""
        self._marks.append((row, by, contact))

    def mark_if_said(self, row: Row, by: str, contact: str) -> None:
        """A mark, if the row of a contact says so in the column of :data:`MARKED`."""
        if row.truth(MARKED.key, MARKED.title):
            self.mark(row, by, contact)

    def survey(self, row: Row, survey: SurveyRecord) -> None:
        """A survey; its id may come only once."""
        if survey.survey_id in self._surveys:
            row.problem("the survey {survey} comes twice", survey=shown(survey.survey_id))
        self._surveys[survey.survey_id] = survey

    # The end ---------------------------------------------------------------------------------------------------------

    def bundle(self, derive: bool) -> Bundle:
        """What was put together; ``derive`` counts contacts and namings where the format does not."""
        ties = distinct(self._ties)
        self._set_marks({frozenset((tie.source, tie.target)) for tie in ties})
        found = Bundle(tuple(self.people.values()), ties, tuple(self._surveys.values()))
        if not derive:
            return found
        ties_of: dict[str, list[TieRecord]] = {code: [] for code in self.people}
        for tie in found.ties:
            ties_of[tie.source].append(tie)
            ties_of[tie.target].append(tie)
        people = tuple(_counted(person, ties_of[person.code]) for person in found.people)
        return replace(found, people=people, surveys=tuple(map(self._with_outcome, found.surveys)))

    def _set_marks(self, pairs: set[frozenset[str]]) -> None:
        for row, by, contact in self._marks:
            if frozenset((by, contact)) not in pairs:
                text = "{person} marks {contact}, who is not a contact of theirs"
                row.refuse(text, person=shown(by), contact=shown(contact))
            elif self.people[by].marked not in (None, contact):
                row.refuse("{person} marks more than one contact", person=shown(by))
            else:
                self.update(by, marked=contact)

    def _with_outcome(self, survey: SurveyRecord) -> SurveyRecord:
        if survey.outcome is not None:
            return survey
        count = self.named_in[survey.survey_id]
        return replace(survey, outcome="answered" if count else "named nobody", n_named=count)


def _counted(person: PersonRecord, ties: list[TieRecord]) -> PersonRecord:
    """A person with what follows from their ties."""
    namers = dict.fromkeys(code for tie in ties for code in tie.named_by if code != person.code)
    return replace(
        person,
        n_contacts=len(ties) if person.n_contacts is None else person.n_contacts,
        times_named=len(namers),
        first_named_by=person.first_named_by or next(iter(namers), None),
    )


@dataclass(frozen=True)
class Importer:
    """One format that can be brought in."""

    name: str
    title: str
    recognises: Callable[[Tables], bool]
    read: Callable[[Tables, Builder], None]
    derive: bool = True  # whether contacts and namings are to be counted, because the format does not say
