"""Edge lists: which columns hold the two people, and a fast path for plain numbers."""

import io
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from claim.errors import InputError
from claim.io.columns import (
    PROBABILITY_NAMES,
    is_attribute,
    is_contact,
    is_numbered_contact,
    is_person,
    known_pair,
    looks_like_name,
    normal,
    stem,
)
from claim.io.tables import delimited, separator_of
from claim.io.text import MAX_EDGE_BYTES, MAX_LINE, Source, printable, shown
from claim.networks.assembling import Pairs
from claim.networks.formats.base import Format, Options, People, is_integer, is_number, parse_probability
from claim.networks.network import Label, Network

_CHUNK = 1 << 22
_COMMENTS = ("#", "%", "//")
_REST = ("{", "#")  # attributes as networkx writes them, or a comment, up to the end of the line
_QUOTED = re.compile(r'"[^"]*"')
_BLANKS = re.compile(r" *\t *| +")
_JOINED = re.compile(r"[;,|&]")
_CODE = re.compile(r"0[0-9]+")  # such as 007
_DATE_OR_TIME = re.compile(r"[0-9][0-9:/.,+TZ -]*")
_MOST_SHOWN = 50  # characters of a header in a message
_WHOLE_NUMBER = "(?:0|[1-9][0-9]{0,17})"  # always fits 64 bits
# Blocks that are read fast: comments in ASCII, then lines of two whole numbers; one pattern for each separator.
_PLAIN = [
    re.compile(rf"(?:(?:#|%|//)[\t -~]{{0,1000}}\r?\n)*+(?P<pairs>(?:{line}\r?\n)*+)".encode())
    for line in (
        rf" *+(?:{_WHOLE_NUMBER} +{_WHOLE_NUMBER} *+)?+",
        rf"(?:{_WHOLE_NUMBER}\t{_WHOLE_NUMBER})?+",
        rf"(?:{_WHOLE_NUMBER},{_WHOLE_NUMBER})?+",
    )
]
_ACCEPTED = "a list of ties has two columns of people, such as source,target or person,contact, one contact a line"


def read(source: Source, options: Options) -> Network:
    """Read an edge list, the plain ones fast."""
    if not options.probabilities:
        with Pairs() as pairs:
            if add_integer_pairs(source, pairs):
                return pairs.network(bool(options.directed))
    return read_carefully(source, options)


def read_carefully(source: Source, options: Options) -> Network:
    """Read an edge list line by line."""
    with source.open() as stream:
        rows = _rows(source, stream)
        edges = _Edges(source, *next(rows), options.probabilities)
        for line, fields in rows:
            edges.add(line, fields)
    return edges.network(bool(options.directed))


def _rows(source: Source, stream: io.BufferedReader) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields of the lines that are neither blank nor comments."""
    lines = (each for each in source.lines(stream) if each[1].strip() and not each[1].lstrip().startswith(_COMMENTS))
    first = next(lines, None)
    if first is None:
        raise source.error(None, "no people in it")
    separator = _separator(first[1])
    if separator is not None:
        for line, fields in delimited(source, chain([first], lines), separator, multiline=False):
            yield line, [field.strip() for field in fields]
        return
    for line, text in chain([first], lines):
        yield line, _split_blanks(source, line, text)


def _separator(first_line: str) -> str | None:
    """What separates the columns, by the first line; None: blanks."""
    bare = _QUOTED.sub("q", first_line)
    words = bare.split()
    if len(words) > 2 and words[2].startswith("{") and not {";", ","} & {*"".join(words[:2])}:
        return None  # networkx writes its attributes so; a comma among them separates nothing
    if ";" in bare or "," in bare or ("\t" in bare and not all(map(is_number, words))):  # names may have blanks in them
        return separator_of(first_line)
    return None


def _split_blanks(source: Source, line: int, text: str) -> list[str]:
    """Fields between blanks; two tabs in a row have an empty field between them."""
    if '"' in text:
        return next(delimited(source, [(line, text.rstrip(" \t"))], " ", multiline=False))[1]
    if "\t" in text:
        return _BLANKS.split(text.lstrip(" ").rstrip(" \t"))
    return [field for field in text.split(" ") if field]  # not split(): a name may hold other white space


class _Edges:
    """Collects the edges; whether the first line is a header may be known only after the last one."""

    def __init__(self, source: Source, line: int, row: list[str], probabilities: bool) -> None:
        self._source, self._first = source, (line, row)
        pair = known_pair(row)
        self._columns = one, other = pair or (0, 1)
        names = {i: normal(name) for i, name in enumerate(row) if i not in self._columns}
        named = next((i for i, name in names.items() if name in PROBABILITY_NAMES), None)
        if any(is_number(row[i]) for i in self._columns if i < len(row)):
            named = None  # the first line is an edge
        third = next(i for i in range(2, 5) if i not in self._columns)
        self._probability = third if named is None and probabilities else named
        self._width = None if pair is None else len(row)  # of a header whose names are known
        # People may well be called u and v, or person1 and person2; they are hardly called source and target.
        self._surely_header = named is not None or (
            pair is not None and len(row[one]) > 1 and normal(row[one]).isalpha()
        )
        self._perhaps_contacts: list[int] = []  # columns such as "friend", which hold yes or no, or people
        if pair is not None:
            rest = {i: name for i, name in enumerate(row) if i not in pair}
            understood = not any(is_numbered_contact(name, (row[one], row[other])) for name in rest.values())
            self._perhaps_contacts = [i for i, name in rest.items() if is_contact(name)]
            self._titled = True  # whether the first line names the further columns
        else:
            texts = [cell for cell in self._further(row) if not _is_value(cell)]
            understood, self._titled = all(map(is_attribute, texts)), bool(texts)
        if not understood:
            raise self._not_understood(line)
        self.people = People(source)
        self.sources, self.targets, self.probabilities = array("q"), array("q"), array("d")
        self._text: tuple[int, str] | None = None  # the first cell beside the people that is no number
        self._widths: set[int] | None = set()  # of further whole numbers; None if there is anything else
        if not self._surely_header:
            self._add_people(line, row)
        self._first_people = {*self.sources, *self.targets}

    def add(self, line: int, fields: list[str]) -> None:
        if self._width is not None and any(fields[self._width :]):
            raise self._source.error(line, f"{len(fields)} columns, but the header names only {self._width}")
        if self._surely_header and fields == self._first[1]:
            raise self._source.error(line, "the header comes a second time")
        for column in self._perhaps_contacts:
            if column < len(fields) and looks_like_name(fields[column]):
                raise self._not_understood(line)
        self._add_people(line, fields)
        if self._probability is not None:
            self.probabilities.append(self._probability_in(line, fields))

    def network(self, directed: bool) -> Network:
        """Make the network, once all lines are known."""
        texts, count = list(self.people.index), len(self._first_people)
        names, others = texts[:count], texts[count:]
        again = not self._first_people.isdisjoint(chain(self.sources[1:], self.targets[1:]))  # so it is a person
        may_be_header = not any(map(is_number, names)) and not again
        # Either person1 and person2, but no person3; or unknown names and then nothing but numbers.
        integers = bool(others) and all(map(is_integer, others))
        named = not _numbered_alike(names, others) if self._width is not None else integers
        header = self._surely_header or (may_be_header and named)
        if self._width is None and not self._surely_header:
            unknown = any(map(is_attribute, names)) if header else self._names_columns(names, others, again)
            if unknown:
                raise self._not_understood(self._first[0])
        labels, index = self.people.labelled(skip=count if header else 0)
        if not (header and self._titled):
            self._refuse_further_people(labels)
        self._refuse_several_people(labels)
        begin = int(header and not self._surely_header)  # otherwise the first line was not recorded
        sources, targets = (index[np.array(ends, dtype=np.int64)[begin:]] for ends in (self.sources, self.targets))
        p = None
        if self._probability is not None:
            p = [*([] if header else [self._probability_in(*self._first)]), *self.probabilities]
        return Network.from_edges(sources, targets, labels=labels, directed=directed, probabilities=p)

    def _further(self, row: Sequence[str]) -> list[str]:
        """The cells of a row beside the two people and the probability, without empty ones at its end."""
        cells = [cell for i, cell in enumerate(row) if i not in (*self._columns, self._probability)]
        end = next((i for i, cell in enumerate(cells) if cell.startswith(_REST)), len(cells))
        while end and not cells[end - 1]:
            end -= 1
        return cells[:end]

    def _add_people(self, line: int, fields: list[str]) -> None:
        one, other = self._columns
        if len(fields) <= max(one, other):
            if len(fields) == 1:
                raise self._source.error(line, f"only one column, {shown(fields[0])}; an edge needs two people")
            problem = f"only {len(fields)} columns; the columns of the two people are not both there"
            raise self._source.error(line, problem)
        self.sources.append(self.people.number(fields[one], line))
        self.targets.append(self.people.number(fields[other], line))
        # What stands beside the two people may be further contacts.
        cells = self._further(fields) if len(fields) > 2 else []
        if self._text is None:
            self._text = next(((line, cell) for cell in cells if not _is_value(cell)), None)
        if self._widths is not None:
            self._widths.add(len(cells))
            self._widths = self._widths if all(map(is_integer, cells)) else None

    def _names_columns(self, names: list[str], others: list[str], again: bool) -> bool:
        """Whether the first line, which is no known header, looks like names of columns rather than people."""
        if any(map(is_number, names)):
            return False
        words = [name for name in names if is_person(name) and not _numbered_alike([name], others)]
        if len(words) == len(names):
            return True
        return not again and (bool(words) or self._titled or self._one_column_of_numbers())

    def _one_column_of_numbers(self) -> bool:
        """Whether, after the first line, one column of people is all numbers and the other is not."""
        labels = list(self.people.index)
        below = [{labels[i] for i in column[1:]} for column in (self.sources, self.targets)]
        return all(map(is_number, below[0])) != all(map(is_number, below[1]))

    def _refuse_further_people(self, labels: Sequence[Label]) -> None:
        """Refuse columns without a known name that may hold people: text, or whole numbers in some rows only."""
        if self._text is not None:
            line, cell = self._text
            problem = f"a further column with {shown(cell, 20)} in it is not understood; {_ACCEPTED}"
            raise self._source.error(line, problem)
        widths = self._widths or {0}
        if len(widths) > 1 and all(isinstance(label, int) for label in labels):
            problem = f"rows of {min(widths) + 2} to {max(widths) + 2} columns are not understood; {_ACCEPTED}"
            raise self._source.error(None, problem)

    def _refuse_several_people(self, labels: Sequence[Label]) -> None:
        """Refuse cells such as ``ben; carla``; a comma may belong to one name, such as ``Lee, Ann``."""
        for label in labels:
            if not isinstance(label, str) or not _JOINED.search(label):
                continue
            parts = {part.strip() for part in _JOINED.split(label)}
            if ";" in label or label.count(", ") > 1 or self.people.index.keys() >= parts:
                line = self.people.lines[self.people.index[label]]
                raise self._source.error(line, f"{shown(label, 30)} is several people in one cell; {_ACCEPTED}")

    def _not_understood(self, line: int) -> InputError:
        columns = printable(", ".join(self._first[1]))
        cut = f"{columns[:_MOST_SHOWN]}…" if len(columns) > _MOST_SHOWN else columns
        return self._source.error(line, f"the columns {cut} are not understood; {_ACCEPTED}")

    def _probability_in(self, line: int, fields: list[str]) -> float:
        column = self._probability or 0
        return parse_probability(self._source, line, fields[column] if column < len(fields) else "")


def _is_value(cell: str) -> bool:
    """Whether a cell is empty, a number, a date or a time, and so names no person."""
    return not cell or (not _CODE.fullmatch(cell) and (is_number(cell) or _DATE_OR_TIME.fullmatch(cell) is not None))


def _numbered_alike(names: list[str], others: list[str]) -> bool:
    """Whether others have the same word before their number: ``person3`` beside ``person1``."""
    words = {stem(name) for name in names if stem(name) != normal(name)}
    return bool(words) and any(stem(other) in words for other in others)


# The fast path --------------------------------------------------------------------------------------------------------


def add_integer_pairs(source: Source, pairs: Pairs) -> bool:
    """Add all pairs of the file; False where the careful parser is needed."""
    possible = _PLAIN
    with source.open(MAX_EDGE_BYTES) as stream:
        for block in _blocks(stream):
            found = [(plain, match) for plain in possible if (match := plain.fullmatch(block))]
            if not found:
                return False
            possible = [plain for plain, _ in found]
            pairs.add_text(found[0][1]["pairs"])
    return True


def _blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    """Blocks of whole lines; a line that is too long comes without its end."""
    rest = b""
    while chunk := stream.read(_CHUNK):
        lines, newline, rest = (rest + chunk).rpartition(b"\n")
        yield lines + newline
        if len(rest) > MAX_LINE:
            yield rest
    yield rest + b"\n"


# Whatever is not recognised as something else is tried as an edge list.
FORMAT = Format((".edges", ".txt", ".csv", ".tsv", ".edgelist", ".dat"), lambda head: False, read)
