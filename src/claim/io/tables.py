"""Tables in text files, within limits on bytes, rows and cells."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from claim.errors import InputError
from claim.io.archives import MAX_CELL, MAX_CELLS, MAX_COLUMNS, MAX_ROWS, Upload
from claim.io.text import shown, unguarded

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_QUOTED = re.compile(r'"[^"\r\n]*"')


@dataclass(frozen=True)
class Row:
    """A row and the line it starts on."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Named columns and rows as wide as the header."""

    name: str  # the file's or the sheet's, to tell tables apart
    where: str  # the name in messages
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def error(self, line: int | None, problem: str) -> InputError:
        """An error in this table."""
        return InputError.at(self.where, line, problem)

    def position(self, column: str) -> int:
        """Where a column stands; refused if there is none of that name, or more than one."""
        if self.columns.count(column) != 1:
            often = "comes twice" if column in self.columns else "is not there"
            raise self.error(1, f"the column {shown(column)} {often}")
        return self.columns.index(column)


class Tally:
    """Counts the cells of all tables that are read together."""

    def __init__(self) -> None:
        self.cells = 0

    def fits(self, cells: int) -> bool:
        """Count these cells, too; whether it is not too much yet."""
        self.cells += cells
        return self.cells <= MAX_CELLS


def read_csv(upload: Upload, tally: Tally) -> Table:
    """A CSV file: the columns parted by commas, semicolons or tabs, the first line a header."""
    text = upload.text()
    rows = _rows(upload, text, separator_of(text))
    return make_table(upload.name, upload.shown_name, rows, tally)


def make_table(name: str, where: str, rows: Iterator[Row], tally: Tally) -> Table:
    """A table from rows of which the first is the header; blank rows are left out, short ones filled up."""
    header = next(rows, None)
    if header is None:
        raise InputError.at(where, None, "has no rows")
    columns = _header(header)
    return Table(name, where, columns, tuple(_body(where, len(columns), rows, tally)))


def separator_of(text: str) -> str:
    """What parts the columns, judged by the first line."""
    first = next((line for line in text[:MAX_CELL].splitlines() if line.strip()), "")
    bare = _QUOTED.sub("", first)
    return max((",", ";", "\t"), key=bare.count)


def _rows(upload: Upload, text: str, separator: str) -> Iterator[Row]:
    lines = (match[0] for match in _LINE.finditer(text))  # a StringIO would take four bytes for every character
    reader = csv.reader(lines, delimiter=separator, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cells):
                yield Row(line, tuple(unguarded(cell) for cell in cells))
            line = reader.line_num + 1
    except csv.Error:
        raise upload.error(line, "quotes that do not close, or too much in one cell") from None


def _header(row: Row) -> tuple[str, ...]:
    cells = [cell.strip() for cell in row.cells]
    while cells and not cells[-1]:
        cells.pop()
    return tuple(cells)


def _body(where: str, width: int, rows: Iterator[Row], tally: Tally) -> Iterator[Row]:
    if width > MAX_COLUMNS:
        raise InputError.at(where, 1, f"more than {MAX_COLUMNS:,} columns")
    for count, row in enumerate(rows, start=1):
        if count > MAX_ROWS:
            raise InputError.at(where, row.line, f"more than {MAX_ROWS:,} rows")
        if not tally.fits(max(width, len(row.cells))):
            raise InputError.at(where, row.line, f"more than {MAX_CELLS:,} cells in all")
        yield Row(row.line, _fitted(where, row, width))


def _fitted(where: str, row: Row, width: int) -> tuple[str, ...]:
    if any(row.cells[width:]):
        raise InputError.at(where, row.line, f"{len(row.cells)} columns, but the header names only {width}")
    if any(len(cell) > MAX_CELL for cell in row.cells):
        raise InputError.at(where, row.line, f"a cell is longer than {MAX_CELL:,} characters")
    return (*row.cells[:width], *[""] * (width - len(row.cells)))
