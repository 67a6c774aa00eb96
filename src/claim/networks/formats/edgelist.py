"""Edge lists: one pair of people a line, separated by blanks, tabs, commas or semicolons."""

import csv
import io
from array import array
from collections.abc import Iterator

import numpy as np

from claim.networks.formats.base import Format, Options, Parsed, parse_probability
from claim.networks.formats.columns import Columns, columns_of, may_be_names, splitter
from claim.networks.formats.fastpairs import read_integer_pairs
from claim.networks.formats.people import People, is_integer
from claim.networks.formats.text import Source, shown
from claim.networks.network import FloatArray, OffsetArray

_COMMENTS = ("#", "%", "//")


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
        edges = _Edges(source, columns_of(first[1], probabilities=options.probabilities))
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

    def add_first(self, line: int, fields: list[str]) -> None:
        self._first = line, fields
        if not self.columns.surely_header:
            self._add_people(line, fields)
        self._first_people = {*self.sources, *self.targets}

    def add(self, line: int, fields: list[str]) -> None:
        width = self.columns.width
        if width is not None and any(fields[width:]):
            raise self._source.error(line, f"{len(fields)} columns, but the header names only {width}")
        if self.columns.surely_header and fields == self._first[1]:
            raise self._source.error(line, "the header comes a second time")
        self._add_people(line, fields)
        if self.columns.probability is not None:
            self.probabilities.append(self._probability(line, fields))

    def parsed(self, directed: bool) -> Parsed:
        sure = self.columns.surely_header  # then the first line was not even recorded
        header = not sure and self._first_is_header()
        labels, index = self.people.labelled(skip=len(self._first_people) if header else 0)
        sources, targets = index[_numbers(self.sources)[header:]], index[_numbers(self.targets)[header:]]
        return Parsed(labels, sources, targets, directed, self._all_probabilities(sure or header))

    def _add_people(self, line: int, fields: list[str]) -> None:
        columns = self.columns
        if len(fields) < self._needed:
            raise self._source.error(line, _too_short(fields))
        self.sources.append(self.people.number(fields[columns.source], line))
        self.targets.append(self.people.number(fields[columns.target], line))

    def _first_is_header(self) -> bool:
        labels = list(self.people.index)
        names, others = labels[: len(self._first_people)], labels[len(self._first_people) :]
        if not may_be_names(names) or self._first_people & {*self.sources[1:], *self.targets[1:]}:
            return False  # a name that comes again is a person
        return self.columns.width is not None or (bool(others) and all(is_integer(label) for label in others))

    def _all_probabilities(self, header: bool) -> FloatArray | None:
        if self.columns.probability is None:
            return None
        first = [] if header else [self._probability(*self._first)]
        return np.concatenate([np.array(first, dtype=np.float64), np.array(self.probabilities, dtype=np.float64)])

    def _probability(self, line: int, fields: list[str]) -> float:
        column = self.columns.probability or 0
        return parse_probability(self._source, line, fields[column] if column < len(fields) else "")


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
