"""Workbooks (XLSX) as tables, with the standard library alone: a zip file of XML parts."""

import posixpath
from collections.abc import Iterator

from claim.field.exchange.files.archive import Archive
from claim.field.exchange.files.limits import MAX_CELLS, MAX_COLUMNS, MAX_ROWS
from claim.field.exchange.files.tables import Row, Table, Tally, make_table
from claim.field.exchange.files.uploads import Upload
from claim.field.exchange.files.xlsx_cells import Styles, cell_text, column_number, decoded
from claim.field.exchange.files.xmlstream import Start, parse_xml

WORKBOOK = "xl/workbook.xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"
_STRINGS = "xl/sharedStrings.xml"
_STYLES = "xl/styles.xml"


def read_workbook(upload: Upload, archive: Archive, tally: Tally) -> list[Table]:
    """The sheets that have a header; a sheet's messages name the workbook and the sheet."""
    book = _Book(upload, archive)
    tables = []
    for title, part in book.sheets():
        sheet = _Sheet(Upload(title, archive.read(part).content, inside=upload.shown_name), book)
        if sheet.rows:
            tables.append(make_table(title, sheet.part.shown_name, iter(sheet.rows), tally))
    if not tables:
        raise upload.error(None, "a workbook with nothing in it")
    return tables


class _Book:
    """What all sheets share."""

    def __init__(self, upload: Upload, archive: Archive) -> None:
        self._upload, self._archive = upload, archive
        self._titles: list[tuple[str, str]] = []  # title, relation
        self.parts: dict[str, str] = {}  # relation, part
        self.styles = Styles()
        self.strings: list[str] = []
        self._phonetic = False
        self._pieces: list[str] = []
        self._parse(WORKBOOK, "workbook", self._start_workbook)
        self._parse(_RELATIONS, "Relationships", self._start_relation)
        if _STYLES in archive:
            parse_xml(archive.read(_STYLES), "styleSheet", self.styles.start, self.styles.end)
        if _STRINGS in archive:
            parse_xml(archive.read(_STRINGS), "sst", self._start_string, self._end_string)

    def sheets(self) -> Iterator[tuple[str, str]]:
        """Titles and parts in order; a part that is not in the file is refused."""
        for title, relation in self._titles:
            part = self.parts.get(relation, "")
            if "chartsheet" in part:
                continue
            if part not in self._archive:
                raise self._upload.error(None, "a workbook that lacks one of its sheets")
            yield title, part

    def _parse(self, part: str, root: str, start: Start) -> None:
        if part not in self._archive:
            raise self._upload.error(None, "not a workbook (XLSX)")
        parse_xml(self._archive.read(part), root, start, _ignore)

    def _start_workbook(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "sheet":
            self._titles.append((attributes.get("name", ""), attributes.get("id", "")))
        elif name == "workbookPr":
            self.styles.from_1904 = attributes.get("date1904", "0") in ("1", "true")

    def _start_relation(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            target = attributes.get("Target", "")
            part = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
            self.parts[attributes.get("Id", "")] = part

    def _start_string(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "si":
            self._pieces = []
        elif name == "rPh":  # how to pronounce it
            self._phonetic = True

    def _end_string(self, name: str, text: str, line: int) -> None:
        if name == "t" and not self._phonetic:
            self._pieces.append(text)
        elif name == "rPh":
            self._phonetic = False
        elif name == "si":
            if len(self.strings) >= MAX_CELLS:
                raise self._upload.error(None, f"more than {MAX_CELLS:,} cells in all")
            self.strings.append(self._decoded("".join(self._pieces)))

    def _decoded(self, text: str) -> str:
        try:
            return decoded(text)
        except ValueError:
            raise self._upload.error(None, "a workbook with a NUL character in it") from None


class _Sheet:
    """The rows of one sheet that have anything in them."""

    def __init__(self, part: Upload, book: _Book) -> None:
        self.rows: list[Row] = []
        self.part, self._book = part, book
        self._row: dict[int, str] = {}
        self._line = self._column = self._cells = 0
        self._cell: dict[str, str] = {}
        self._value = ""
        self._phonetic = False
        parse_xml(self.part, "worksheet", self._start, self._end)

    def _start(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "row":
            given = attributes.get("r", "")
            self._line = int(given) if given.isdecimal() and len(given) < 9 else self._line + 1
            self._row, self._column = {}, 0
        elif name == "c":
            self._cell, self._value = attributes, ""
            self._column = column_number(attributes.get("r", "")) or self._column + 1
        elif name == "rPh":
            self._phonetic = True

    def _end(self, name: str, text: str, line: int) -> None:
        if name == "v" or (name == "t" and not self._phonetic):
            self._value += text
        elif name == "rPh":
            self._phonetic = False
        elif name == "c":
            self._end_cell()
        elif name == "row" and any(self._row.values()):
            self._end_row()

    def _end_cell(self) -> None:
        try:
            text = cell_text(self._cell, self._value, self._book.strings, self._book.styles)
        except (ValueError, IndexError, OverflowError):
            raise self.part.error(self._line, "a cell that cannot be read") from None
        if not text:
            return
        if self._column > MAX_COLUMNS:
            raise self.part.error(self._line, f"more than {MAX_COLUMNS:,} columns")
        self._row[self._column] = text

    def _end_row(self) -> None:
        width = max(self._row)
        self._cells += width
        if len(self.rows) > MAX_ROWS or self._cells > MAX_CELLS:
            raise self.part.error(self._line, f"more than {MAX_ROWS:,} rows or {MAX_CELLS:,} cells")
        self.rows.append(Row(self._line, tuple(self._row.get(column, "") for column in range(1, width + 1))))


def _ignore(name: str, text: str, line: int) -> None:
    """These parts say everything in attributes."""
