"""The tables in uploaded files, whatever their format."""

import codecs
from collections.abc import Mapping

from claim.errors import InputError
from claim.io.archives import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, Archive, Upload, is_zip
from claim.io.tables import Row, Table, Tally, read_csv
from claim.io.xlsx import WORKBOOK, read_workbook
from claim.io.xml import parse_table_xml

NODES, EDGES = "nodes", "edges"
_DIRECTED = {
    "true": "Directed",
    "1": "Directed",
    "directed": "Directed",
    "false": "Undirected",
    "undirected": "Undirected",
}


def read_graph(upload: Upload, tally: Tally) -> list[Table]:
    """The nodes and edges of a file whose root is ``<graphml>`` or ``<gexf>``."""
    head = upload.content[:4096].replace(b"\0", b"")  # UTF-16 has a NUL beside every letter
    if b"<graphml" in head:
        reader: _Reader = _GraphML(upload, tally)
        parse_table_xml(upload, "graphml", reader.start, reader.end)
    elif b"<gexf" in head:
        reader = _Gexf(upload, tally)
        parse_table_xml(upload, "gexf", reader.start, reader.end)
    else:
        raise upload.error(1, "XML that is neither GraphML nor GEXF")
    return reader.tables()


class _Reader:
    """Collects nodes and edges as rows of named values; shared by both formats."""

    def __init__(self, upload: Upload, tally: Tally) -> None:
        self._upload, self._tally = upload, tally
        self._rows: dict[str, list[tuple[int, dict[str, str]]]] = {NODES: [], EDGES: []}
        self._columns: dict[str, dict[str, None]] = {NODES: {"Id": None}, EDGES: {"Source": None, "Target": None}}
        self._open: list[str] = []  # the node or edge we are in
        self._graphs = 0
        self.default_type = ""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element begins."""
        if name == "graph":
            self._start_graph(attributes, line)
        elif name in ("node", "edge"):
            if self._open:
                raise self._upload.error(line, "nodes nested in nodes cannot be read")
            self._start_row(NODES if name == "node" else EDGES, attributes, line)
        elif name == "hyperedge":
            raise self._upload.error(line, "edges between more than two people cannot be read")

    def end(self, name: str, text: str, line: int) -> None:
        """An element ends."""
        if name in ("node", "edge") and self._open:
            self._open.pop()

    def put(self, column: str, value: str) -> None:
        """A value of the node or edge we are in."""
        if not self._open or not value:
            return
        kind = self._open[-1]
        line, row = self._rows[kind][-1]
        if column not in row and not self._tally.fits(1):
            raise self._too_much(line)
        row[column] = value
        self._columns[kind][column] = None
        if len(self._columns[kind]) > MAX_COLUMNS:
            raise self._upload.error(line, f"more than {MAX_COLUMNS:,} attributes")

    def tables(self) -> list[Table]:
        """What was collected; refused if there is no node."""
        if not self._rows[NODES]:
            raise self._upload.error(None, "no people in it")
        return [self._table(NODES), self._table(EDGES)]

    def _start_graph(self, attributes: Mapping[str, str], line: int) -> None:
        self._graphs += 1
        if self._graphs > 1:
            raise self._upload.error(line, "more than one graph in the file")
        default = attributes.get("edgedefault", attributes.get("defaultedgetype", "undirected"))
        self.default_type = _DIRECTED.get(default.strip().lower(), "Undirected")

    def _start_row(self, kind: str, attributes: Mapping[str, str], line: int) -> None:
        if len(self._rows[kind]) >= MAX_ROWS:
            raise self._too_much(line)
        self._rows[kind].append((line, {}))
        self._open.append(kind)
        wanted = {"id": "Id", "label": "Label"} if kind == NODES else {"source": "Source", "target": "Target"}
        for name, column in wanted.items():
            self.put(column, attributes.get(name, ""))
        if kind == EDGES:
            direction = attributes.get("directed", attributes.get("type", "")).strip().lower()
            self.put("Type", _DIRECTED.get(direction, self.default_type))
            self.put("Weight", attributes.get("weight", ""))

    def _too_much(self, line: int) -> InputError:
        return self._upload.error(line, f"more than {MAX_ROWS:,} people or ties, or {MAX_CELLS:,} values")

    def _table(self, kind: str) -> Table:
        columns = tuple(self._columns[kind])
        rows = tuple(Row(line, tuple(map(row.get, columns, [""] * len(columns)))) for line, row in self._rows[kind])
        return Table(kind, self._upload.shown_name, columns, rows)


class _GraphML(_Reader):
    """``<key>`` declares what ``<data>`` means."""

    def __init__(self, upload: Upload, tally: Tally) -> None:
        super().__init__(upload, tally)
        self._keys: dict[str, str] = {}
        self._key = ""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        super().start(name, attributes, line)
        if name == "key" and len(self._keys) < MAX_COLUMNS:
            key = attributes.get("id", "")
            self._keys[key] = attributes.get("attr.name", key)
        elif name == "data":
            self._key = attributes.get("key", "")

    def end(self, name: str, text: str, line: int) -> None:
        if name == "data" and self._key:
            self.put(_column(self._keys.get(self._key, self._key), self._open), text)
            self._key = ""
        super().end(name, text, line)


class _Gexf(_Reader):
    """``<attribute>`` declares what ``<attvalue>`` means; places are ``<viz:position>``."""

    def __init__(self, upload: Upload, tally: Tally) -> None:
        super().__init__(upload, tally)
        self._titles: dict[tuple[str, str], str] = {}  # class and id
        self._class = ""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        super().start(name, attributes, line)
        if name == "attributes":
            self._class = f"{attributes.get('class', '')}s"
        elif name == "attribute" and len(self._titles) < 2 * MAX_COLUMNS:
            self._titles[self._class, attributes.get("id", "")] = attributes.get("title", "")
        elif name == "attvalue" and self._open:
            key = attributes.get("for", attributes.get("id", ""))  # old files say id
            self.put(_column(self._titles.get((self._open[-1], key), key), self._open), attributes.get("value", ""))
        elif name == "position":
            self.put("x", attributes.get("x", ""))
            self.put("y", attributes.get("y", ""))


def _column(title: str, inside: list[str]) -> str:
    """Names that Gephi writes in small letters, as its tables have them; the ends of an edge are not to be changed."""
    known = {"label": "Label"} if inside == [NODES] else {"weight": "Weight"}
    return f"{title} (data)" if title in ("Id", "Source", "Target", "Type") else known.get(title.lower(), title)


_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def load(uploads: list[Upload]) -> list[Table]:
    """The tables of all files."""
    tally = Tally()
    tables = [table for upload in uploads for table in _load(upload, tally)]
    if not any(table.columns for table in tables):
        raise uploads[0].error(None, "nothing to read in it")
    return tables


def _load(upload: Upload, tally: Tally) -> list[Table]:
    if is_zip(upload):
        archive = Archive(upload)
        return read_workbook(upload, archive, tally) if WORKBOOK in archive else _members(upload, archive, tally)
    if _is_xml(upload.content):
        return read_graph(upload, tally)
    return [read_csv(upload, tally)]


def _is_xml(content: bytes) -> bool:
    head = content[:200]
    for mark in _BOMS:
        head = head.removeprefix(mark)
    return head.replace(b"\0", b"").lstrip().startswith(b"<")


def _members(upload: Upload, archive: Archive, tally: Tally) -> list[Table]:
    """The CSV files in a zip file; everything else in it, such as photos, is never unpacked."""
    archive.refuse_packed()
    wanted = [name for name in archive.names if name.lower().endswith(".csv")]
    if not wanted:
        raise upload.error(None, "a zip file without any CSV file in it")
    members = (archive.read(name) for name in wanted)  # one in memory at a time
    return [read_csv(member, tally) for member in members if member.content.strip()]
