"""What is known of people besides their contacts, such as region or age, and the groups that it makes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import category

import numpy as np

from claim.errors import InputError
from claim.io.archives import gathered
from claim.io.columns import is_person
from claim.io.tables import EDGES, NODES, Row, Table, read_tables
from claim.io.text import Source, shown

if TYPE_CHECKING:
    from claim.networks.network import IntArray, Label

UNKNOWN = ""  # the value of a person of whom nothing is known
UNKNOWN_WORDS = frozenset({"", "-", "?", "unknown", "na", "n/a", "none", "nan", "null", "desconocido", "desconocida"})
MOST_GROUPS = 100
LONGEST = 100  # characters in the name of a group
_LISTED = 5  # names in a message


@dataclass(frozen=True)
class People:
    """What a file says about the people of a network."""

    attributes: dict[str, tuple[str, ...]]  # by name: the values of all people, UNKNOWN where it is not known
    left_out: tuple[str, ...] = ()  # labels of people who are not in the network


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups that one attribute makes; people of whom it is not known are in none."""

    attribute: str
    names: tuple[str, ...]  # in alphabetical order
    numbers: "IntArray"  # (n,); the group of each person, and ``len(names)`` for those who are in none

    @classmethod
    def of(cls, attribute: str, values: Sequence[str]) -> "Groups":
        """The groups of people with these values."""
        names = sorted(set(values) - {UNKNOWN})
        if not names:
            raise InputError(f"{shown(attribute)} is known of no one")
        if len(names) > MOST_GROUPS:
            raise InputError(
                f"{shown(attribute)} makes {len(names):,} groups, more than {MOST_GROUPS}: take one of fewer values"
            )
        longest = max(map(len, names))
        if longest > LONGEST:
            raise InputError(f"{shown(attribute)} has a value of {longest:,} characters, more than {LONGEST}")
        disturbing = next((name for name in names if any(category(letter) == "Cc" for letter in name)), None)
        if disturbing is not None:
            raise InputError(f"the value {shown(disturbing)} of {shown(attribute)} has a control character in it")
        place = {name: i for i, name in enumerate(names)} | {UNKNOWN: len(names)}
        return cls(attribute, tuple(names), np.array([place[value] for value in values], dtype=np.int32))

    def name_of(self, person: int) -> str | None:
        """The group of a person, None if it is not known."""
        number = int(self.numbers[person])
        return self.names[number] if number < len(self.names) else None

    @property
    def sizes(self) -> "IntArray":
        """The number of people of each group."""
        counts = np.bincount(self.numbers, minlength=len(self.names) + 1)[: len(self.names)]
        return counts.astype(np.int32)

    @property
    def unknown(self) -> int:
        """The number of people who are in no group."""
        return int((self.numbers == len(self.names)).sum())


def read_people(source: Source, labels: Sequence["Label"]) -> People:
    """What a table with one row a person, or the nodes of a graph, say about people with these labels.

    The values of people who are not in the file are unknown.
    """
    table = _table_of_people(source)
    who = next((i for i, name in enumerate(table.columns) if is_person(name)), 0)
    known = {str(label): i for i, label in enumerate(labels)}
    if table.has_header is False or table.columns[who].strip() in known:
        raise source.error(table.line, "a file of people begins with a header, such as person,region,age")
    named = [i for i, name in enumerate(table.columns) if i != who and name.strip()]
    if not named:
        raise source.error(table.line, "there is no column besides that of the people")
    titles = [table.columns[place].strip() for place in named]
    twice = next((title for title in titles if titles.count(title) > 1), None)
    if twice is not None:
        raise source.error(table.line, "the column {title} is there twice", title=shown(twice))
    values = [[UNKNOWN] * len(labels) for _ in named]
    line_of: dict[int, int] = {}
    left_out = []
    for row in table.rows:
        person = _person_in(row, table, who, known)
        if person is None:
            left_out.append(row.cells[who].strip())
            continue
        if person in line_of:
            label, first = shown(str(labels[person])), line_of[person]
            raise source.error(row.line, "the person {label} is in line {first} already", label=label, first=first)
        line_of[person] = row.line
        for column, place in zip(values, named, strict=True):
            value = row.cells[place].strip()
            column[person] = UNKNOWN if value.casefold() in UNKNOWN_WORDS else value
    if not line_of and not left_out:
        raise source.error(table.line, "there are no people below the header")
    if not line_of:
        wanted = ", ".join(map(str, labels[:_LISTED]))
        raise source.error(None, "no one in it is in the network, whose people are {wanted}, …", wanted=shown(wanted))
    return People({title: tuple(column) for title, column in zip(titles, values, strict=True)}, tuple(left_out))


def _table_of_people(source: Source) -> Table:
    tables = [table for table in read_tables(gathered(source.path)) if table.columns and table.name != EDGES]
    graph = [table for table in tables if table.name == NODES]
    table = (graph or tables)[0]
    return table


def _person_in(row: Row, table: Table, who: int, known: dict[str, int]) -> int | None:
    """The person of a row: by the column of people or, in graphs, by the label."""
    labelled = [table.columns.index(name) for name in ("Label",) if name in table.columns and table.name == NODES]
    return next((known[row.cells[i].strip()] for i in (who, *labelled) if row.cells[i].strip() in known), None)
