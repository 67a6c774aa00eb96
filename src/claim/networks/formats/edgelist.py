"""Edge lists: one pair of people a line, separated by blanks, tabs, commas or semicolons."""

import csv
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from claim.networks.formats.base import Format, Options, Parsed, parse_probability
from claim.networks.formats.column_names import is_attribute, is_person, looks_like_name, plain, stem
from claim.networks.formats.columns import Columns, columns_of, is_value, may_be_names, splitter
from claim.networks.formats.fastpairs import read_integer_pairs
from claim.networks.formats.people import People, is_integer, is_number
from claim.networks.formats.text import Source, printable, shown
from claim.networks.network import FloatArray, Label, OffsetArray

_COMMENTS = ("#", "%", "//")
_JOINED = re.compile(r"[;,|&]")
_MOST_SHOWN = 50  # characters of a header in a message
_ACCEPTED = "a list of ties has two columns of people, such as source,target or person,contact, one contact a line"


def read(source: Source, options: Options) -> Parsed:
    """Read an edge list, the plain ones fast."""
    pairs = None if options.probabilities else read_integer_pairs(source)
    if pairs is None:
        return read_carefully(source, options)
    labels, indices = np.unique(pairs, return_inverse=True)
    indices = indices.reshape(-1, 2)
    return Parsed(labels.tolist(), indices[:, 0], indices[:, 1], bool(options.directed))


def read_carefully(source: Source, options: Options) -> Parsed:
    """Read an edge list line by line."""
    with source.open() as stream:
        rows = _rows(source, stream)
        first = next(rows, None)
        if first is None:
            raise source.error(None, "no people in it")
        columns = columns_of(first[1], probabilities=options.probabilities)
        if not columns.understood:
            raise source.error(first[0], _not_understood(first[1]))
        edges = _Edges(source, columns)
        edges.add_first(*first)
        for line, fields in rows:
            edges.add(line, fields)
    return edges.parsed(bool(options.directed))


def _rows(source: Source, stream: io.BufferedReader) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields of the lines that are neither blank nor comments."""
    split = None
    for line, text in source.lines(stream):
        if not text or text.isspace() or text.lstrip().startswith(_COMMENTS):
            continue
        split = split or splitter(text)
        try:
            yield line, split(text)
        except csv.Error:
            raise source.error(line, f"quotes that do not close, or too much in them, in {shown(text)}") from None


class _Edges:
    """Collects the edges; the first line is kept apart until it is known whether it is a header."""

    def __init__(self, source: Source, columns: Columns) -> None:
        self.columns = columns
        self._needed = max(columns.source, columns.target) + 1
        self.people = People(source)
        self.sources, self.targets, self.probabilities = array("q"), array("q"), array("d")
        self._source = source
        self._text: tuple[int, str] | None = None  # the first cell beside the people that is no number
        self._widths: set[int] | None = set()  # None if the numbers beside the people are no people

    def add_first(self, line: int, fields: list[str]) -> None:
        self._first = line, fields
        if not self.columns.surely_header:
            self._add_people(line, fields)
            self._look_at_further(line, fields)
        self._first_people = {*self.sources, *self.targets}

    def add(self, line: int, fields: list[str]) -> None:
        width = self.columns.width
        if width is not None and any(fields[width:]):
            raise self._source.error(line, f"{len(fields)} columns, but the header names only {width}")
        if self.columns.surely_header and fields == self._first[1]:
            raise self._source.error(line, "the header comes a second time")
        self._add_people(line, fields)
        self._look_at_further(line, fields)
        if self.columns.probability is not None:
            self.probabilities.append(self._probability(line, fields))

    def parsed(self, directed: bool) -> Parsed:
        sure = self.columns.surely_header  # then the first line was not even recorded
        header = not sure and self._first_is_header()
        self._refuse_unknown_header(header)
        labels, index = self.people.labelled(skip=len(self._first_people) if header else 0)
        self._refuse_further_people(sure or header, labels)
        self._refuse_several_people(labels)
        sources, targets = index[_numbers(self.sources)[header:]], index[_numbers(self.targets)[header:]]
        return Parsed(labels, sources, targets, directed, self._all_probabilities(sure or header))

    def _add_people(self, line: int, fields: list[str]) -> None:
        columns = self.columns
        if len(fields) < self._needed:
            raise self._source.error(line, _too_short(fields))
        self.sources.append(self.people.number(fields[columns.source], line))
        self.targets.append(self.people.number(fields[columns.target], line))

    def _look_at_further(self, line: int, fields: list[str]) -> None:
        """Remember what stands beside the two people, which may be further contacts."""
        cells = self.columns.further(fields) if len(fields) > 2 else []
        for column in self.columns.perhaps_contacts:
            if line > self._first[0] and column < len(fields) and looks_like_name(fields[column]):
                raise self._source.error(line, _not_understood(self._first[1]))
        if self._text is None:
            self._text = next(((line, cell) for cell in cells if not is_value(cell)), None)
        if self._widths is not None:
            self._widths.add(len(cells))
            self._widths = self._widths if all(is_integer(cell) for cell in cells) else None

    def _first_is_header(self) -> bool:
        names, others = self._first_and_others()
        if not may_be_names(names) or self._first_comes_again():
            return False  # a name that comes again is a person
        if self.columns.width is not None:
            return not _numbered_alike(names, others)  # person1 and person2, but then person3 too
        return bool(others) and all(is_integer(label) for label in others)

    def _first_and_others(self) -> tuple[list[str], list[str]]:
        labels, count = list(self.people.index), len(self._first_people)
        return labels[:count], labels[count:]

    def _first_comes_again(self) -> bool:
        return not self._first_people.isdisjoint(chain(self.sources[1:], self.targets[1:]))

    def _refuse_unknown_header(self, header: bool) -> None:
        """Refuse a first line that names columns, none of them known to hold people."""
        if self.columns.width is not None or self.columns.surely_header:
            return
        names, others = self._first_and_others()
        if any(map(is_attribute, names)) if header else self._names_columns(names, others):
            line, fields = self._first
            raise self._source.error(line, _not_understood(fields))

    def _names_columns(self, names: list[str], others: list[str]) -> bool:
        """Whether the first line, which is no known header, looks like names of columns rather than people."""
        if not may_be_names(names):
            return False
        words = [name for name in names if is_person(name) and not _numbered_alike([name], others)]
        if len(words) == len(names):
            return True
        if self._first_comes_again():
            return False
        return bool(words) or self.columns.named or self._one_column_of_numbers()

    def _one_column_of_numbers(self) -> bool:
        """Whether, after the first line, one column of people is all numbers and the other is not."""
        labels = list(self.people.index)
        below = [{labels[i] for i in column[1:]} for column in (self.sources, self.targets)]
        numbers = [all(map(is_number, column)) for column in below]
        return numbers[0] != numbers[1]

    def _refuse_further_people(self, header: bool, labels: Sequence[Label]) -> None:
        """Refuse columns without a known name that may hold people: text, or whole numbers in some rows only."""
        if header and self.columns.named:
            return
        if self._text is not None:
            line, cell = self._text
            raise self._source.error(
                line, f"a further column with {shown(cell, 20)} in it is not understood; {_ACCEPTED}"
            )
        widths = self._widths or {0}
        if len(widths) > 1 and all(isinstance(label, int) for label in labels):
            problem = f"rows of {min(widths) + 2} to {max(widths) + 2} columns are not understood; {_ACCEPTED}"
            raise self._source.error(None, problem)

    def _refuse_several_people(self, labels: Sequence[Label]) -> None:
        """Refuse cells such as ``ben; carla``; a comma may belong to one name, such as ``Lee, Ann``."""
        for label in labels:
            if not isinstance(label, str) or not _JOINED.search(label):
                continue
            parts = [part.strip() for part in _JOINED.split(label)]
            if ";" in label or label.count(", ") > 1 or self.people.index.keys() >= {*parts}:
                line = self.people.lines[self.people.index[label]]
                raise self._source.error(line, f"{shown(label, 30)} is several people in one cell; {_ACCEPTED}")

    def _all_probabilities(self, header: bool) -> FloatArray | None:
        if self.columns.probability is None:
            return None
        first = [] if header else [self._probability(*self._first)]
        return np.concatenate([np.array(first, dtype=np.float64), np.array(self.probabilities, dtype=np.float64)])

    def _probability(self, line: int, fields: list[str]) -> float:
        column = self.columns.probability or 0
        return parse_probability(self._source, line, fields[column] if column < len(fields) else "")


def _numbered_alike(names: list[str], others: list[str]) -> bool:
    """Whether others have the same word before their number: ``person3`` beside ``person1``."""
    words = {stem(name) for name in names if stem(name) != plain(name)}
    return bool(words) and any(stem(other) in words for other in others)


def _not_understood(fields: list[str]) -> str:
    columns = printable(", ".join(fields))
    cut = f"{columns[:_MOST_SHOWN]}…" if len(columns) > _MOST_SHOWN else columns
    return f"the columns {cut} are not understood; {_ACCEPTED}"


def _too_short(fields: list[str]) -> str:
    if len(fields) == 1:
        return f"only one column, {shown(fields[0])}; an edge needs two people"
    return f"only {len(fields)} columns; the columns of the two people are not both there"


def _numbers(values: "array[int]") -> OffsetArray:
    return np.array(values, dtype=np.int64)


FORMAT = Format(
    "edge list",
    (".edges", ".txt", ".csv", ".tsv", ".edgelist", ".dat"),
    lambda head: False,  # whatever is not recognised as something else is tried as an edge list
    read,
)
