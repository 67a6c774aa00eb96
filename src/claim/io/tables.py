"""Tables in text files, workbooks, GraphML and GEXF, within limits on rows, columns and cells."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, dropwhile, islice, takewhile

from claim.errors import InputError
from claim.io.archives import MAGICS, WORKBOOK, Archive, read_sheets
from claim.io.headers import column_names, header_row
from claim.io.text import Source, decoded, shown, unguarded
from claim.io.xml import DIRECTIONS, MAX_TEXT, read_graph
from claim.messages import Count, Message

MAX_ROWS = 50_000  # of one table
MAX_COLUMNS = 1_000
MAX_CELLS = 1_000_000  # of all tables together

NODES, EDGES = "nodes", "edges"  # names of the tables of a graph

_QUOTED = re.compile(r'"[^"\r\n]*"')
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how old Excel files begin, and new ones with a password
_GRAPHS = (".graphml", ".gexf")
_SEPARATORS = (",", ";", "\t")
_LOOKED_AT = 20  # first lines, for the separator and the header

Note = tuple[int | None, Message]  # a line and what was done with it


@dataclass(frozen=True)
class Row:
    """A row and the line it starts on."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns and rows as wide as the header."""

    name: str  # the file's or the sheet's, to tell tables apart
    where: str  # the name in messages
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[Note, ...] = ()  # what the reader guessed or left out
    line: int = 1  # of the header, or of the first row if there is none
    has_header: bool | None = None  # None: as in graphs, columns do not depend on one

    def position(self, column: str) -> int:
        """The index of a column; refused if no column, or more than one, has this name."""
        if self.columns.count(column) != 1:
            text = "the column {column} comes twice" if column in self.columns else "the column {column} is not there"
            raise InputError.at(self.where, self.line, Message.of(text, column=shown(column)))
        return self.columns.index(column)


class Tally:
    """Counts the cells of all tables that are read together."""

    def __init__(self) -> None:
        self.cells = 0

    def add(self, cells: int, source: Source, line: int) -> None:
        """Count cells; too many are an error."""
        self.cells += cells
        if self.cells > MAX_CELLS:
            raise source.error(line, "more than {most} cells in all", most=Count(MAX_CELLS))


def read_tables(sources: list[Source]) -> list[Table]:
    """The tables of all files: CSV, workbooks, zip files of CSV files, GraphML and GEXF."""
    tally = Tally()
    tables = [table for source in sources for table in _tables(source, tally)]
    if not any(table.columns for table in tables):
        raise sources[0].error(None, "nothing to read in it")
    return tables


def _tables(source: Source, tally: Tally) -> list[Table]:
    content = source.content or b""
    if content.startswith(MAGICS):
        archive = Archive(source)
        if {"mimetype", "content.xml"} <= set(archive.names):
            raise source.error(None, "an OpenDocument file (.ods); save it as .xlsx or CSV")
        return _sheets(source, archive, tally) if WORKBOOK in archive else _members(source, archive, tally)
    if content.startswith(_OLE):
        problem = "an old Excel file (.xls), or one with a password; save it without a password as .xlsx or CSV"
        raise source.error(None, problem)
    return _text(source, tally)


def _text(source: Source, tally: Tally) -> list[Table]:
    """The table of a CSV file, or those of a graph."""
    head = (source.content or b"")[:4096]
    for mark in _BOMS:
        head = head.removeprefix(mark)
    head = head.replace(b"\0", b"")  # UTF-16 has a NUL beside every letter
    return _graph(source, head, tally) if head.lstrip().startswith(b"<") else [_csv(source, tally)]


def _members(source: Source, archive: Archive, tally: Tally) -> list[Table]:
    """The CSV files in a zip file, or else the graphs; everything else in it, such as photos, is never unpacked."""
    archive.refuse_packed()
    tables = [name for name in archive.names if name.lower().endswith(".csv")]
    wanted = tables or [name for name in archive.names if name.lower().endswith(_GRAPHS)]
    if not wanted:
        raise source.error(None, "a zip file without any CSV, GraphML or GEXF file in it")
    members = (archive.read(name) for name in wanted)  # one in memory at a time
    found = [table for member in members if (member.content or b"").strip() for table in _text(member, tally)]
    others = len(archive.names) - len(wanted)
    if others and found:
        unread = Message.of("files in the zip file that are not tables: {count}, left out", count=others)
        found[0] = replace(found[0], notes=(*found[0].notes, (None, unread)))
    return found


def _sheets(source: Source, archive: Archive, tally: Tally) -> list[Table]:
    """The sheets of a workbook that have a header; their messages name the workbook and the sheet."""
    sheets = read_sheets(source, archive, MAX_COLUMNS, MAX_CELLS)
    tables = [_table(sheet, (Row(line, cells) for line, cells in rows), tally) for sheet, rows in sheets if rows]
    if not tables:
        raise source.error(None, "a workbook with nothing in it")
    return tables


# Delimited text -------------------------------------------------------------------------------------------------------


def separator_of(*first_lines: str) -> str:
    """The character that separates columns: in most of the first lines, most often in the first; else a comma.

    What stands in quotes does not count, nor do lines from the first one on whose quotes do not close in it.
    """
    closed = list(takewhile(lambda line: line.count('"') % 2 == 0, first_lines))
    bare = [_QUOTED.sub("", line) for line in closed or first_lines[:1]]
    lines = {each: [line for line in bare if each in line] for each in _SEPARATORS}
    most = max(map(len, lines.values()))
    often = [each for each in _SEPARATORS if most and len(lines[each]) == most]
    return max(often or ",", key=lambda each: (lines[each][0].count(each) if most else 0, each == ";"))


def delimited(
    source: Source, lines: Iterable[tuple[int, str]], separator: str, *, multiline: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The fields of numbered lines, with the line on which each row begins.

    Quoted fields may go over several lines, which then keep their ends; without ``multiline`` such a field is an error,
    and blanks before a field are skipped.
    """
    first = 0

    def texts() -> Iterator[str]:
        nonlocal first
        for number, text in lines:
            if first and not multiline:
                raise csv.Error
            first = first or number
            yield text

    try:
        for fields in csv.reader(texts(), delimiter=separator, strict=True, skipinitialspace=not multiline):
            yield first, fields
            first = 0
    except csv.Error:
        raise source.error(first or 1, "quotes that do not close, or too much in one cell") from None


def _csv(source: Source, tally: Tally) -> Table:
    """A CSV file in UTF-8, UTF-16 or Windows-1252."""
    content, notes = source.content or b"", list[Note]()
    if other := decoded(content):
        content = other[0].encode()
        if other[1] == "Windows-1252":
            notes.append((None, Message.of("read as Windows-1252; check the letters with accents")))
    lines = source.lines(io.BytesIO(content), ends=True)
    first = list(islice(dropwhile(lambda line: not line[1].strip(), lines), _LOOKED_AT))
    rows = delimited(source, chain(first, lines), separator_of(*(text for _, text in first)))
    cells = (Row(line, tuple(unguarded(field) for field in fields)) for line, fields in rows if any(fields))
    return _table(source, cells, tally, notes)


def _table(source: Source, rows: Iterator[Row], tally: Tally, notes: Iterable[Note] = ()) -> Table:
    """A table from its rows, of which one of the first is the header, or none; short rows are filled up."""
    first = list(islice(rows, _LOOKED_AT))
    if not first:
        raise source.error(None, "has no rows")
    cells = [row.cells for row in first]
    found = header_row(cells)
    if found is None:
        columns, body = column_names(cells), first
    else:
        columns, body = [cell.strip() for cell in cells[found]], first[found + 1 :]
        titles = ((row.line, Message.of("a title above the header: left out")) for row in first[:found])
        notes = (*notes, *titles)
    while columns and not columns[-1]:
        columns.pop()
    if len(columns) > MAX_COLUMNS:
        raise source.error(first[found or 0].line, "more than {most} columns", most=Count(MAX_COLUMNS))
    filled = tuple(_body(source, len(columns), chain(body, rows), tally))
    line, has_header = first[found or 0].line, found is not None
    return Table(str(source.name), source.shown_name, tuple(columns), filled, tuple(notes), line, has_header)


def with_header(table: Table, has_header: bool) -> Table:
    """The same table with its first row as the header, or with its header as the first row."""
    if table.has_header in (None, has_header) or not table.rows:
        return table
    if has_header:
        header, *rows = table.rows
        columns = tuple(cell.strip() for cell in header.cells)
        return replace(table, columns=columns, rows=tuple(rows), line=header.line, has_header=True)
    first = (Row(table.line, table.columns), *table.rows)
    names = column_names([row.cells for row in first[:_LOOKED_AT]])
    return replace(table, columns=tuple(names), rows=first, has_header=False)


def _body(source: Source, width: int, rows: Iterable[Row], tally: Tally) -> Iterator[Row]:
    for count, row in enumerate(rows, start=1):
        if count > MAX_ROWS:
            raise source.error(row.line, "more than {most} rows", most=Count(MAX_ROWS))
        tally.add(max(width, len(row.cells)), source, row.line)
        if any(row.cells[width:]):
            problem = "{count} columns, but the header names only {width}"
            raise source.error(row.line, problem, count=len(row.cells), width=width)
        if any(len(cell) > MAX_TEXT for cell in row.cells):
            raise source.error(row.line, "a cell is longer than {most} characters", most=Count(MAX_TEXT))
        yield Row(row.line, (*row.cells[:width], *[""] * (width - len(row.cells))))


# GraphML and GEXF -----------------------------------------------------------------------------------------------------


def _graph(source: Source, head: bytes, tally: Tally) -> list[Table]:
    """The nodes and the edges as rows of named values, in Gephi's columns."""
    root = next((root for root in ("graphml", "gexf") if f"<{root}".encode() in head), None)
    if root is None:
        raise source.error(1, "XML that is neither GraphML nor GEXF")
    rows: dict[str, list[tuple[int, dict[str, str]]]] = {NODES: [], EDGES: []}
    columns: dict[str, dict[str, None]] = {NODES: {"Id": None}, EDGES: {"Source": None, "Target": None}}
    graph_directed = False

    def put(table: str, column: str, value: str) -> None:
        """Set a value of the latest row."""
        if not value:
            return
        line, row = rows[table][-1]
        if column not in row:
            tally.add(1, source, line)
        row[column] = value
        columns[table][column] = None
        if len(columns[table]) > MAX_COLUMNS:
            raise source.error(line, "more than {most} columns", most=Count(MAX_COLUMNS))

    for part in read_graph(source, root):
        table = NODES if part.kind.startswith("node") else EDGES
        if part.kind == "graph":
            graph_directed = DIRECTIONS.get(part.direction, False)
        elif part.kind in ("node", "edge"):
            if len(rows[table]) >= MAX_ROWS:
                raise source.error(part.line, "more than {most} rows", most=Count(MAX_ROWS))
            rows[table].append((part.line, {}))
            for name in ("id", "label") if table == NODES else ("source", "target", "weight"):
                put(table, name.title(), part.attributes.get(name, ""))
            if table == EDGES:
                put(table, "Type", "Directed" if DIRECTIONS.get(part.direction, graph_directed) else "Undirected")
        elif part.kind != "edge default":  # values that an edge does not have itself stay empty
            if len(part.text) > MAX_TEXT:
                raise source.error(part.line, "a cell is longer than {most} characters", most=Count(MAX_TEXT))
            title = f"{part.title} (data)" if part.title in ("Id", "Source", "Target", "Type") else part.title
            known = "label" if table == NODES else "weight"  # Gephi writes them in small letters
            put(table, title.title() if title.lower() == known else title, part.text)

    if not rows[NODES]:
        raise source.error(None, "no people in it")
    tables = []
    for table, names in columns.items():
        body = tuple(Row(line, tuple(row.get(column, "") for column in names)) for line, row in rows[table])
        tables.append(Table(table, source.shown_name, tuple(names), body))
    return tables
