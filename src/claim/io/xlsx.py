"""Tables in Excel workbooks."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from claim.io.archives import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, Archive, Upload
from claim.io.tables import Row, Table, Tally, make_table
from claim.io.xml import Start, parse_table_xml

_REFERENCE = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_NOT_PATTERN = re.compile(r'"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]', re.IGNORECASE)  # literals, colours and currencies
_BUILT_IN_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_MAX_FORMATS = 10_000


class Styles:
    """Which cell formats show a number as a date; filled while the styles part is read."""

    def __init__(self) -> None:
        self.from_1904 = False
        self._patterns: dict[str, str] = {}
        self._formats: list[str] = []
        self._in_cell_formats = False

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element of the styles part."""
        if name == "numFmt" and len(self._patterns) < _MAX_FORMATS:
            self._patterns[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            self._in_cell_formats = True
        elif name == "xf" and self._in_cell_formats and len(self._formats) < _MAX_FORMATS:
            self._formats.append(attributes.get("numFmtId", "0"))

    def end(self, name: str, text: str, line: int) -> None:
        """An element ends."""
        if name == "cellXfs":
            self._in_cell_formats = False

    def is_date(self, style: str) -> bool:
        """Whether cells of this style show dates or times."""
        if not style.isdecimal() or len(style) > 6 or int(style) >= len(self._formats):
            return False
        number = self._formats[int(style)]
        if number in self._patterns:
            return _DATE_LETTERS.search(_NOT_PATTERN.sub("", self._patterns[number])) is not None
        return number.isdecimal() and len(number) < 6 and int(number) in _BUILT_IN_DATES


def cell_text(cell: Mapping[str, str], value: str, strings: Sequence[str], styles: Styles) -> str:
    """The text of a cell, given its attributes and what stands in it; an error in a formula is as good as empty."""
    match cell.get("t", "n"):
        case "s":
            return _shared(value, strings) if value.strip() else ""
        case "inlineStr" | "str":
            return decoded(value)
        case "b":
            return {"1": "true", "0": "false"}.get(value.strip(), "")
        case "d":
            return value.strip()
        case "e":
            return ""
        case "n":
            return _number(value.strip(), styles.is_date(cell.get("s", "")), styles.from_1904)
    raise ValueError("an unknown type of cell")


def column_number(reference: str) -> int | None:
    """3 for ``C7``."""
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        return None
    number = 0
    for letter in match[1]:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def decoded(text: str) -> str:
    """Workbooks write characters that XML cannot hold as ``_x0001_``."""
    if "\0" in (plain := _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)):
        raise ValueError("NUL")
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs written as two escapes


def _shared(value: str, strings: Sequence[str]) -> str:
    if not value.strip().isdecimal() or len(value.strip()) > 8:
        raise ValueError("not the number of a shared string")
    return strings[int(value)]


def _number(value: str, is_date: bool, from_1904: bool) -> str:
    if not value:
        return ""
    if "_" in value or len(value) > 40:
        raise ValueError("not a number")
    number = float(value)
    if is_date:
        return _date(number, from_1904)
    if not abs(number) < 1e300:  # also NaN
        raise ValueError("not a finite number")
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _date(number: float, from_1904: bool) -> str:
    """Days since 1900 (where Excel takes 1900 for a leap year) or 1904, as ISO text; a time alone without a day."""
    first = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30) if number >= 60 else datetime(1899, 12, 31)
    moment = first + timedelta(seconds=round(number * 86_400))
    if 0 <= number < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if float(number).is_integer() else moment.isoformat()


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
            parse_table_xml(archive.read(_STYLES), "styleSheet", self.styles.start, self.styles.end)
        if _STRINGS in archive:
            parse_table_xml(archive.read(_STRINGS), "sst", self._start_string, self._end_string)

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
        parse_table_xml(self._archive.read(part), root, start, _ignore)

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
        parse_table_xml(self.part, "worksheet", self._start, self._end)

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
