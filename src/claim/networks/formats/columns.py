"""Which columns of an edge list hold the two people and the probability, and whether the first line is a header."""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from claim.networks.formats.base import PROBABILITY_NAMES
from claim.networks.formats.column_names import is_attribute, is_contact, is_numbered_contact
from claim.networks.formats.people import is_integer, is_number

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
