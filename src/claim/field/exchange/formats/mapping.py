"""Which column of a table plays which part: suggested by its name, overridden by the user."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from claim.field.exchange.files.tables import Table
from claim.field.exchange.report import Findings
from claim.networks.formats.text import shown

_NOT_LETTERS = re.compile(r"[\W_]+")
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
    """A column's name for comparison: without case, blanks, punctuation and the groups of a form before it."""
    return _NOT_LETTERS.sub("", column.rpartition("/")[2].casefold())


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
            self._problems.add(table.where, 1, f"which column holds {role.title}? there are {listed(table.columns)}")
        return None if missing else Picked(table, places)

    def _column(self, table: Table, role: Role, one_of_many: bool) -> str | None:
        if role.key in self._given:
            column = self._given[role.key]
            if column and column not in table.columns:
                if one_of_many:
                    return None
                raise table.error(1, f"there is no column {shown(column)} for {role.title}")
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
