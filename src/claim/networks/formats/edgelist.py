"""Edge lists: which columns hold the two people, and a fast path for plain numbers."""

import csv
import io
import re
import unicodedata
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from claim.io.text import MAX_LINE, Source, printable, shown
from claim.networks.formats.base import (
    PROBABILITY_NAMES,
    Format,
    Options,
    Parsed,
    People,
    is_integer,
    is_number,
    parse_probability,
)
from claim.networks.network import FloatArray, Label, OffsetArray

_CONTACT = (
    "friend|contact|alter|nominee|nomination|acquaintance|neighbou?r|colleague|classmate|coworker|relative|connection"
    "|partner|amig[oa]|contacto|conocid[oa]|companer[oa]|vecin[oa]|pariente|contato|conhecid[oa]|connaissance|kontakt"
)
_NUMBERED = re.compile(rf"(?:{_CONTACT}|peer|buddy|ami|amie|rafiki)(?:e?s)?\d{{1,2}}(?!\d)")
_UNNUMBERED = re.compile(
    rf"(?:names?(?:of)?|nombres?(?:del?)?|best|close|my)*(?:{_CONTACT})(?:e?s)?(?:names?|ids?|codes?|named)?"
)
_RECRUITMENT = re.compile(
    r"(?:own|recruiters?)?(?:coupon|cupon)(?:e?s)?(?:id|code|number|no)?\d*|recruiters?(?:id|code|name)?"
    r"|(?:recruited|referred|nominated|named|invited)by|reclutadora?|reclutad[oa]por"
)
_PEOPLE = frozenset({
    "name", "names", "fullname", "firstname", "lastname", "surname", "nickname", "person", "people", "respondent",
    "participant", "interviewee", "informant", "subject", "member", "student", "employee", "user", "node", "vertex",
    "ego", "id", "ids", "code", "personcode", "personid", "personname", "source", "target", "sender", "receiver",
    "from", "who", "whom", "nombre", "nombres", "apellido", "apellidos", "persona", "personas", "encuestado",
    "encuestada", "entrevistado", "entrevistada", "participante", "informante", "miembro", "codigo", "quien", "nome",
    "pessoa",
})  # fmt: skip
_ATTRIBUTES = frozenset({
    "weight", "w", "value", "strength", "score", "rating", "sign", "frequency", "count", "number", "times", "time",
    "timestamp", "date", "day", "month", "year", "start", "end", "begin", "duration", "type", "kind", "relation",
    "relationship", "tie", "label", "category", "class", "color", "colour", "order", "layer", "age", "sex", "gender",
    "status", "state", "consent", "village", "region", "district", "city", "place", "address", "house", "phone",
    "mobile", "email", "mail", "note", "notes", "comment", "comments", "remark", "remarks", "peso", "fecha", "hora",
    "tipo", "edad", "sexo", "genero", "telefono", "direccion", "barrio",
})  # fmt: skip
_YES_OR_NO = frozenset({
    "yes", "no", "true", "false", "si", "ja", "nein", "oui", "non", "sim", "nao", "none", "na",
})  # fmt: skip


def plain(name: str) -> str:
    """A column's name for comparison."""
    bare = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in bare if character.isalnum())


def stem(name: str) -> str:
    """The name without the number at its end: ``friend`` for ``Friend 2``."""
    return plain(name).rstrip("0123456789")


def is_numbered_contact(name: str, ends: Collection[str] = ()) -> bool:
    """Whether this is one of several columns of contacts, such as ``friend_2`` or ``Alter 1 name``.

    ``ends`` are the columns of the two people; beside ``person1`` and ``person2``, ``person3`` is a contact too.
    """
    like_an_end = stem(name) != plain(name) and stem(name) in map(stem, ends)
    return like_an_end or _NUMBERED.search(plain(name)) is not None


def is_contact(name: str) -> bool:
    """Whether a column of this name may hold contacts, such as ``friends``; it may also hold their details."""
    return _UNNUMBERED.fullmatch(plain(name)) is not None


def is_recruitment(name: str) -> bool:
    """Whether a column says who recruited a person, such as ``coupon2`` or ``referred by``."""
    return _RECRUITMENT.fullmatch(plain(name)) is not None


def is_person(name: str) -> bool:
    """Whether this is a name for a column of people, such as ``respondent`` or ``friend2``, and hardly a person's."""
    return stem(name) in _PEOPLE or is_contact(stem(name))


def is_attribute(name: str) -> bool:
    """Whether this is a usual name for something about a tie or a person."""
    return plain(name) in _ATTRIBUTES


def looks_like_name(cell: str) -> bool:
    """Whether a cell may name people: words, and neither yes or no nor a telephone number or an address."""
    letters = plain(cell)
    return len(letters) > 1 and letters.isalpha() and "@" not in cell and letters not in _YES_OR_NO


# Names are compared in lower case and without blanks, underscores and dashes.
PAIRS = (
    ("source", "target"),
    ("sourceid", "targetid"),
    ("from", "to"),
    ("fromid", "toid"),
    ("fromnodeid", "tonodeid"),
    ("src", "dst"),
    ("u", "v"),
    ("i", "j"),
    ("id1", "id2"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("vertex1", "vertex2"),
    ("person", "contact"),
    ("person1", "person2"),
    ("respondent", "contact"),
    ("name1", "name2"),
    ("user1", "user2"),
    ("ego", "alter"),
    ("sender", "receiver"),
)

_QUOTED = re.compile(r'"[^"]*"')
_BLANKS = re.compile(r" *\t *| +")
_NO_VALUE = re.compile(r"0[0-9]+")  # 007 is a code
_DATE_OR_TIME = re.compile(r"[0-9][0-9:/.,+TZ -]*")
_REST = ("{", "#")  # attributes as networkx writes them, or a comment, up to the end of the line


@dataclass(frozen=True)
class Columns:
    """Where to find what in a line."""

    source: int = 0
    target: int = 1
    probability: int | None = None
    width: int | None = None  # of a header whose names are known
    surely_header: bool = False
    understood: bool = True  # False if further columns seem to hold people
    named: bool = False  # whether the first line names the further columns
    perhaps_contacts: tuple[int, ...] = ()  # columns such as "friend", which hold yes or no, or people

    def further(self, row: Sequence[str]) -> list[str]:
        """The cells of a row beside the two people and the probability, without empty ones at its end."""
        cells = [cell for i, cell in enumerate(row) if i not in (self.source, self.target, self.probability)]
        end = next((i for i, cell in enumerate(cells) if cell.startswith(_REST)), len(cells))
        while end and not cells[end - 1]:
            end -= 1
        return cells[:end]


def columns_of(first_row: Sequence[str], *, probabilities: bool) -> Columns:
    """The columns as the first line suggests them, be it a header or not."""
    names = [re.sub(r"[\s_-]", "", name).casefold() for name in first_row]
    pair = _known_pair(names)
    source, target = pair or (0, 1)
    probability = _probability_column(names, first_row, taken=(source, target))
    third = next(i for i in range(2, 5) if i not in (source, target))
    found = Columns(
        source,
        target,
        third if probability is None and probabilities else probability,
        len(names) if pair else None,
        # People may well be called u and v, or person1 and person2; they are hardly called source and target.
        surely_header=probability is not None
        or (pair is not None and len(names[source]) > 1 and names[source].isalpha()),
    )
    return _with_known_header(found, first_row) if pair else _with_unknown_header(found, first_row)


def is_value(cell: str) -> bool:
    """Whether a cell is empty, a number, a date or a time, and so names nobody."""
    return not cell or (
        _NO_VALUE.fullmatch(cell) is None and (is_number(cell) or _DATE_OR_TIME.fullmatch(cell) is not None)
    )


def may_be_names(labels: Sequence[str]) -> bool:
    """Whether the labels of the first line could be names of columns at all."""
    return not any(is_integer(label) or is_number(label) for label in labels)


def splitter(first_line: str) -> Callable[[str], list[str]]:
    """How lines fall into columns, judged by the first line of data."""
    bare = _QUOTED.sub("q", first_line)
    words = bare.split()
    if len(words) > 2 and words[2].startswith("{") and not {";", ","} & {*"".join(words[:2])}:
        return split_blanks  # networkx writes its attributes so; a comma among them separates nothing
    for separator in (";", ","):
        if separator in bare:
            return _split_at(separator)
    if "\t" in bare and not all(is_number(word) for word in words):
        return _split_at("\t")  # names may have blanks in them
    return split_blanks


def split_blanks(line: str) -> list[str]:
    """Fields between blanks; two tabs in a row have an empty field between them."""
    if '"' in line:
        return _split_quoted(line.rstrip(" \t"), " ")
    if "\t" in line:
        return _BLANKS.split(line.lstrip(" ").rstrip(" \t"))
    return [field for field in line.split(" ") if field]  # not split(): a name may hold other white space


def _split_at(separator: str) -> Callable[[str], list[str]]:
    def split(line: str) -> list[str]:
        fields = _split_quoted(line, separator) if '"' in line else line.split(separator)
        return [field.strip() for field in fields]

    return split


def _split_quoted(line: str, separator: str) -> list[str]:
    # One line at a time: a quote that is never closed is an error here, not a field that swallows the file.
    return next(csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True))


def _known_pair(names: Sequence[str]) -> tuple[int, int] | None:
    for source, target in PAIRS:
        if source in names and target in names:
            return names.index(source), names.index(target)
    return None


def _with_known_header(columns: Columns, header: Sequence[str]) -> Columns:
    """Other columns may be there, but none that holds further contacts."""
    ends = header[columns.source], header[columns.target]
    others = {i: name for i, name in enumerate(header) if i not in (columns.source, columns.target)}
    more = any(is_numbered_contact(name, ends) for name in others.values())
    perhaps = tuple(i for i, name in others.items() if is_contact(name))
    return replace(columns, understood=not more, named=True, perhaps_contacts=perhaps)


def _with_unknown_header(columns: Columns, first_row: Sequence[str]) -> Columns:
    """Further columns hold numbers, dates and times, or have a name that says what else."""
    texts = [cell for cell in columns.further(first_row) if not is_value(cell)]
    return replace(columns, understood=all(map(is_attribute, texts)), named=bool(texts))


def _probability_column(names: Sequence[str], row: Sequence[str], taken: tuple[int, int]) -> int | None:
    if len(row) <= max(taken) or not may_be_names([row[i] for i in taken]):
        return None
    found = [i for i, name in enumerate(names) if name in PROBABILITY_NAMES and i not in taken]
    return found[0] if found else None


_CHUNK = 1 << 22
_MAX_DIGITS = 18  # always fits 64 bits
_SEPARATORS = b" \t,"
_COMMENT_BYTES = (b"#", b"%", b"//")


def read_integer_pairs(source: Source) -> OffsetArray | None:
    """All pairs of the file as an array of two columns, or None where the careful parser is needed."""
    parts: list[OffsetArray] = []
    separators: set[int] = set()
    with source.open() as stream:
        for block in _blocks(stream):
            pairs = parse_block(block)
            separators |= set(block.translate(None, b"0123456789\r\n"))
            if pairs is None or len(separators) > 1:
                return None
            parts.append(pairs)
    return np.concatenate(parts) if parts else None


def parse_block(block: bytes) -> OffsetArray | None:
    """The pairs of some whole lines, or None if they are not plainly two whole numbers each."""
    block = block.replace(b"\r\n", b"\n")
    separators = block.translate(None, b"0123456789\n")
    if set(separators) - set(_SEPARATORS):
        return None
    characters = np.frombuffer(block, dtype=np.uint8)
    starts, lengths = _number_columns(characters)
    if len(starts) % 2 or not _one_pair_a_line(characters, starts):
        return None
    if separators.strip(b" ") and len(separators) != len(starts) // 2:
        return None  # an empty field, or a separator at the end
    if not len(starts):
        return np.zeros((0, 2), dtype=np.int64)
    if lengths.max() > _MAX_DIGITS or ((characters[starts] == ord("0")) & (lengths > 1)).any():
        return None
    return _values(characters, starts, lengths).reshape(-1, 2)


def _blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    """Blocks of whole lines, without the comments at the top; a last block without newline if a line is too long."""
    rest = _after_comments(stream)
    while chunk := stream.read(_CHUNK):
        block = rest + chunk
        end = block.rfind(b"\n") + 1
        rest = block[end:]
        if end:
            yield block[:end]
        if len(rest) > MAX_LINE:
            yield b"?"
            return
    yield rest


def _after_comments(stream: io.BufferedReader) -> bytes:
    line = b"#"
    while line.startswith(_COMMENT_BYTES):
        line = stream.readline(MAX_LINE)
        if not line.isascii() or b"\0" in line or b"\r" in line.rstrip(b"\r\n") or len(line) == MAX_LINE:
            return b"?"  # for the careful parser to judge
    return line


def _number_columns(characters: npt.NDArray[np.uint8]) -> tuple[OffsetArray, OffsetArray]:
    """Where the runs of digits start, and how long they are."""
    digit = np.zeros(len(characters) + 2, dtype=np.int8)
    digit[1:-1] = (characters >= ord("0")) & (characters <= ord("9"))
    steps = np.diff(digit)
    starts = np.flatnonzero(steps == 1)
    return starts, np.flatnonzero(steps == -1) - starts


def _one_pair_a_line(characters: npt.NDArray[np.uint8], starts: OffsetArray) -> bool:
    line = np.searchsorted(np.flatnonzero(characters == ord("\n")), starts)
    return bool((line[::2] == line[1::2]).all() and (np.diff(line[::2]) > 0).all())


def _values(characters: npt.NDArray[np.uint8], starts: OffsetArray, lengths: OffsetArray) -> OffsetArray:
    values = np.zeros(len(starts), dtype=np.int64)
    for place in range(int(lengths.max())):
        more = place < lengths
        values[more] = values[more] * 10 + (characters[starts[more] + place] - ord("0"))
    return values


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
