"""Matrix Market: a sparse square matrix whose entries are the edges, people numbered from 1."""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from claim.io.text import Source, shown
from claim.networks.formats.base import Format, Options, Parsed, parse_probability

Lines = Iterator[tuple[int, str]]

_MAGIC = b"%%MatrixMarket"
_NUMBER = re.compile(r"[0-9]{1,12}")
_FIELDS = ("pattern", "real", "integer")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
# A few bytes can claim billions of people; beyond this many, people must be few compared with the entries.
_FREE_PEOPLE, _PEOPLE_PER_ENTRY = 1_000_000, 100


@dataclass(frozen=True)
class _Header:
    has_values: bool
    symmetric: bool
    people: int = 0
    entries: int = 0


def read(source: Source, options: Options) -> Parsed:
    """Read a coordinate matrix; people without any entry are kept."""
    with source.open() as stream:
        lines = source.lines(stream)
        header = _read_size(source, _data(lines), _read_banner(source, lines))
        if options.probabilities and not header.has_values:
            raise source.error(1, "a pattern matrix has no values that could be probabilities")
        sources, targets, values = _read_entries(source, _data(lines), header, options.probabilities)
    u, v = np.array(sources, dtype=np.int64) - 1, np.array(targets, dtype=np.int64) - 1
    p = np.array(values, dtype=np.float64) if options.probabilities else None
    if options.directed and header.symmetric:  # an entry below the diagonal stands for the one above it too
        u, v, p = np.concatenate([u, v]), np.concatenate([v, u]), None if p is None else np.concatenate([p, p])
    return Parsed(list(range(1, header.people + 1)), u, v, bool(options.directed), p)


def _data(lines: Lines) -> Lines:
    return ((line, text) for line, text in lines if text.strip() and not text.startswith("%"))


def _read_banner(source: Source, lines: Lines) -> _Header:
    words = next(lines, (1, ""))[1].lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise source.error(1, "the first line is not '%%MatrixMarket matrix coordinate <field> <symmetry>'")
    layout, field, symmetry = words[2:]
    if layout != "coordinate":
        raise source.error(1, f"only coordinate matrices can be read, not {shown(layout)}")
    if field not in _FIELDS:
        raise source.error(1, f"values can be {', '.join(_FIELDS)}, not {shown(field)}")
    if symmetry not in _SYMMETRIES:
        raise source.error(1, f"symmetry can be {', '.join(_SYMMETRIES)}, not {shown(symmetry)}")
    return _Header(field != "pattern", symmetry != "general")


def _read_size(source: Source, lines: Lines, banner: _Header) -> _Header:
    line, text = next(lines, (1, ""))
    words = text.split()
    if len(words) != 3 or not all(_NUMBER.fullmatch(word) for word in words):
        raise source.error(line, f"expected the size line 'rows columns entries', not {shown(text)}")
    rows, columns, entries = map(int, words)
    if rows != columns:
        raise source.error(line, f"a network needs a square matrix, not {rows} x {columns}")
    if rows > max(_FREE_PEOPLE, _PEOPLE_PER_ENTRY * entries):
        raise source.error(line, f"{rows} people with only {entries} entries: nearly all would be without contacts")
    return _Header(banner.has_values, banner.symmetric, rows, entries)


def _read_entries(
    source: Source, lines: Lines, header: _Header, with_values: bool
) -> "tuple[array[int], array[int], array[float]]":
    sources, targets, values = array("q"), array("q"), array("d")
    line = 1
    for line, text in lines:
        words = text.split()
        if len(words) < 2 + header.has_values:
            raise source.error(line, f"an entry needs {2 + header.has_values} numbers, not {shown(text)}")
        if len(sources) == header.entries:
            raise source.error(line, f"more entries than the {header.entries} announced")
        sources.append(_person(source, line, words[0], header.people))
        targets.append(_person(source, line, words[1], header.people))
        if with_values:
            values.append(parse_probability(source, line, words[2]))
    if len(sources) < header.entries:
        raise source.error(line, f"ends after {len(sources)} of the {header.entries} entries announced")
    return sources, targets, values


def _person(source: Source, line: int, word: str, people: int) -> int:
    number = int(word) if _NUMBER.fullmatch(word) else 0
    if not 1 <= number <= people:
        raise source.error(line, f"{shown(word)} is not a number from 1 to {people}")
    return number


FORMAT = Format("Matrix Market", (".mtx",), lambda head: head.startswith(_MAGIC), read)
