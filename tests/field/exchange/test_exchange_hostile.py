"""Broken and hostile files: each is refused with one line that names the file, and memory stays bounded."""

import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from exchange_files import (
    ANN,
    MAIN,
    PACKAGE,
    RELATIONS,
    crlf,
    kobo,
    network_canvas,
    odk,
    packed,
    read_or_refused,
    workbook,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claim.errors import InputError
from claim.field.exchange import preview, take
from claim.io import archives, tables
from claim.io.text import Source

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><graphml><graph><node id="&c;"/></graph></graphml>'
)
EXTERNAL = (
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><gexf><graph><nodes><node id="&e;"/></nodes></graph></gexf>'
)
PARAMETER = '<!DOCTYPE x [<!ENTITY % e SYSTEM "http://127.0.0.1/x.dtd"> %e;]><graphml/>'
LOST = crlf("name,PARENT_KEY,KEY", "Ann,uuid:9,k")
SHEET = "xl/worksheets/sheet0.xml"


def graphml(body: str) -> str:
    return f"<graphml><graph>{body}</graph></graphml>"


def book(**parts: str) -> bytes:
    """A workbook with some parts replaced: ``sheet``, ``strings``, ``styles``, ``rels`` or ``workbook``."""
    names = {
        "sheet": SHEET, "strings": "xl/sharedStrings.xml", "styles": "xl/styles.xml", "workbook": "xl/workbook.xml",
        "rels": "xl/_rels/workbook.xml.rels",
    }  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(workbook({"S": [["name"], ["Ann"]]}))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return packed({**members, **{names[part]: text for part, text in parts.items()}})


def relation(attributes: str) -> str:
    kind = f"{RELATIONS}/worksheet"
    return f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r0" Type="{kind}" {attributes}/></Relationships>'


def sheet(rows: str) -> str:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def cell(attributes: str, value: str) -> bytes:
    return book(
        sheet=sheet(
            '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>'
            f'<row r="2"><c r="A2" {attributes}>{value}</c></row>'
        )
    )


def with_member(change: Callable[[zipfile.ZipInfo], None], name: str = "people.csv") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(name)
        change(info)
        archive.writestr(info, b"name\r\nAnn\r\n")
    return buffer.getvalue()


def link(info: zipfile.ZipInfo) -> None:
    info.external_attr = 0o120777 << 16


def nothing(info: zipfile.ZipInfo) -> None:
    pass


def encrypted() -> bytes:
    content = bytearray(with_member(nothing))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + offset] |= 1
    return bytes(content)


def unusual() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("people.csv", b"name\r\nAnn\r\n")
    return buffer.getvalue()


def twice() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("people.csv", b"name\r\nAnn\r\n")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("people.csv", b"name\r\nBen\r\n")
    return buffer.getvalue()


@cache
def lying(size: int = 100 * 1024**2) -> bytes:
    """A bomb that says in its directory that it is small."""
    deflate = zlib.compressobj(1, zlib.DEFLATED, -15)
    body = b"".join(deflate.compress(b"a" * 1024**2) for _ in range(size >> 20)) + deflate.flush()
    name = b"people.csv"
    said = struct.pack("<III", 0, len(body), 1000)  # CRC, packed, unpacked
    entry = struct.pack("<HHHHH", 20, 0, 8, 0, 33) + said + struct.pack("<HH", len(name), 0)
    local = b"PK\x03\x04" + entry + name + body
    central = b"PK\x01\x02" + b"\x14\x00" + entry + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    return local + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


@cache
def bomb(size: int = 100 * 1024**2, name: str = "people.csv") -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w") as member,
    ):
        for _ in range(size >> 20):
            member.write(b"a" * 1024**2)
    return buffer.getvalue()


CASES: dict[str, tuple[str, bytes | str | Callable[[], bytes], str]] = {
    # XML
    "entity bomb": ("a.graphml", LAUGHS, "document types"),
    "external entity": ("a.gexf", EXTERNAL, "document types"),
    "parameter entity": ("a.graphml", PARAMETER, "document types"),
    "utf-16 doctype": ("a.graphml", LAUGHS.replace('<?xml version="1.0"?>', "").encode("utf-16"), "document types"),
    "undeclared entity": ("a.graphml", graphml('<node id="&x;"/>'), "not well-formed"),
    "web page": ("a.graphml", "<html><body/></html>", "neither GraphML nor GEXF"),
    "hidden root": ("a.graphml", "<html><!-- <graphml --></html>", "expected <graphml>"),
    "truncated": ("a.graphml", graphml('<node id="a"/>')[:-9], "not well-formed"),
    "nested deep": ("a.graphml", "<graphml>" + "<a>" * 5000, "nested"),
    "endless tag": ("a.graphml", "<graphml " + "a" * 3_000_000, "longer than 1 MiB"),
    "long text": ("a.graphml", graphml(f'<node id="a"><data key="k">{"x" * 40_000}</data></node>'), "longer than"),
    "unknown encoding": ("a.graphml", '<?xml version="1.0" encoding="martian"?><graphml/>', "encoding"),
    "no people": ("a.graphml", graphml(""), "no people"),
    "nested nodes": ("a.gexf", '<gexf><graph><node id="a"><node id="b"/></node></graph></gexf>', "nested"),
    "two graphs": ("a.graphml", "<graphml><graph/><graph/></graphml>", "more than one graph"),
    "hyperedge": ("a.graphml", graphml("<hyperedge/>"), "more than two"),
    "node without id": ("a.graphml", graphml("<node/>"), "code is missing"),
    "same node twice": ("a.graphml", graphml('<node id="a"/><node id="a"/>'), "comes twice"),
    "edge to nobody": ("a.graphml", graphml('<node id="a"/><edge source="a" target="b"/>'), "not among the people"),
    "control in xml": ("a.graphml", graphml('<node id="a\x01"/>'), "not well-formed"),
    "bad weight": ("a.csv", "Source,Target,Weight\na,b,nan\n", "not a number"),
    "negative weight": ("a.csv", "Source,Target,Weight\na,b,-1\n", "not above 0"),
    # Zip
    "slip": ("a.zip", packed({"../../people.csv": "name\nAnn\n"}), "unsafe member name"),
    "absolute": ("a.zip", packed({"/etc/people.csv": "name\nAnn\n"}), "unsafe member name"),
    "drive": ("a.zip", packed({"C:people.csv": "name\nAnn\n"}), "unsafe member name"),
    "backslash": ("a.zip", with_member(nothing, "..\\people.csv"), "unsafe member name"),
    "control in a member's name": ("a.zip", packed({"a\nb.csv": "name\nAnn\n"}), "unsafe member name"),
    "direction in a member's name": ("a.zip", packed({"a\u202eb.csv": "name\nAnn\n"}), "unsafe member name"),
    "link": ("a.zip", with_member(link), "link"),
    "password": ("a.zip", encrypted, "password"),
    "lzma": ("a.zip", unusual, "unusual way"),
    "two of a name": ("a.zip", twice, "same name"),
    "nested zip": ("a.zip", packed({"b.zip": packed({"people.csv": "name\nAnn\n"})}), "packed again"),
    "disguised zip": ("a.zip", packed({"b.csv": packed({"people.csv": "name\nAnn\n"})}), "packed again"),
    "disguised gzip": ("a.zip", packed({"b.csv": b"\x1f\x8b\x08" + bytes(20)}), "packed again"),
    "workbook in a zip": ("a.zip", packed({"b.xlsx": kobo()}), "packed again"),
    "many members": ("a.zip", packed({f"{i}.csv": "" for i in range(archives.MAX_MEMBERS + 1)}), "members"),
    "bomb": ("a.zip", bomb, "absurd size"),
    "lying bomb": ("a.zip", lying, "damaged"),
    "truncated zip": ("a.zip", packed({"people.csv": "name\nAnn\n"})[:-30], "damaged"),
    "damaged zip": ("a.zip", packed({"people.csv": "name\nAnn\n"}).replace(b"people.csv", b"people.csx", 1), "damaged"),
    "empty zip": ("a.zip", packed({}), "without any CSV"),
    "zip of photos": ("a.zip", packed({"a.jpg": b"\xff\xd8"}), "without any CSV"),
    "zip of empty tables": ("a.zip", packed({"a.csv": "\n"}), "nothing to read"),
    # Workbooks
    "entities in a workbook": ("a.xlsx", book(strings='<!DOCTYPE sst [<!ENTITY a "b">]><sst/>'), "document types"),
    "entities in a sheet": ("a.xlsx", book(sheet='<!DOCTYPE x SYSTEM "/etc/passwd"><worksheet/>'), "document types"),
    "no relations": ("a.xlsx", packed({"xl/workbook.xml": "<workbook/>"}), "not a workbook"),
    "missing sheet": ("a.xlsx", book(rels=f'<Relationships xmlns="{PACKAGE}"/>'), "lacks one of its sheets"),
    "sheet elsewhere": (
        "a.xlsx",
        book(rels=relation('Target="../../../etc/passwd"')),
        "lacks one of its sheets",
    ),
    "external sheet": (
        "a.xlsx",
        book(rels=relation('Target="http://x/" TargetMode="External"')),
        "lacks one of its sheets",
    ),
    "empty workbook": ("a.xlsx", book(sheet=sheet("")), "nothing in it"),
    "no sheets": ("a.xlsx", book(workbook=f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"/>'), "nothing in it"),
    "far column": ("a.xlsx", book(sheet=sheet('<row r="1"><c r="XFD1"><v>1</v></c></row>')), "columns"),
    "no such string": ("a.xlsx", cell('t="s"', "<v>99</v>"), "cannot be read"),
    "negative string": ("a.xlsx", cell('t="s"', "<v>-1</v>"), "cannot be read"),
    "odd number": ("a.xlsx", cell("", "<v>1_0</v>"), "cannot be read"),
    "infinite number": ("a.xlsx", cell("", "<v>1e999</v>"), "cannot be read"),
    "date beyond time": ("a.xlsx", cell('s="1"', "<v>1e300</v>"), "cannot be read"),
    "odd type": ("a.xlsx", cell('t="z"', "<v>1</v>"), "cannot be read"),
    "nul in a workbook": ("a.xlsx", cell('t="inlineStr"', "<is><t>a_x0000_b</t></is>"), "cannot be read"),
    "nul in shared strings": ("a.xlsx", book(strings=f'<sst xmlns="{MAIN}"><si><t>_x0000_</t></si></sst>'), "NUL"),
    "huge cell in a workbook": ("a.xlsx", cell('t="inlineStr"', f"<is><t>{'a' * 40_000}</t></is>"), "longer than"),
    # Text
    "empty": ("a.csv", b"", "is empty"),
    "only a header": ("a.csv", "name\n", "no people"),
    "only blank lines": ("a.csv", "\n\n\n", "no rows"),
    "nul": ("a.csv", b"name\nAnn\n\x00\n", "NUL"),
    "damaged utf-8": ("a.csv", "name\nZoë\nJosé\n".encode() + b"Jos\xe9\n", "a.csv:4: not a text file in UTF-8"),
    "utf-32": ("a.csv", "name\nAnn\n".encode("utf-32"), "not a text file in UTF-8"),
    "broken utf-16": ("a.csv", b"\xff\xfea", "not a text file in UTF-8"),
    "picture": ("a.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "not a text file in UTF-8"),
    "gzip": ("a.csv", b"\x1f\x8b\x08" + bytes(20), "not a text file in UTF-8"),
    "pickle": ("a.csv", b"\x80\x04\x95\x00", "not a text file in UTF-8"),
    "open quote": ("a.csv", 'name\n"Ann\nBen\n', "a.csv:2: quotes"),
    "too wide": ("a.csv", "name\nAnn,Ben\n", "header names only 1"),
    "long name": ("a.csv", f"name\n{'x' * 10_001}\n", "longer than 10,000"),
    "long cell": ("a.csv", f"name,b\nAnn,{'x' * 40_000}\n", "longer than 32,767"),
    "very long cell": ("a.csv", f'name\n"{"x" * 200_000}"\n', "too much in one cell"),
    "long code": ("a.csv", f"person_code\n{'x' * 201}\n", "longer than 200"),
    "control in a code": ("a.csv", "person_code\na\x01b\n", "control character"),
    "endless header": ("a.csv", f"{'friend' * 20_000},x\nAnn,1\n", "which column"),
    "many columns": ("a.csv", ",".join(f"c{i}" for i in range(1001)) + "\n1\n", "columns"),
    "many rows": ("a.csv", "name\n" + "a\n" * (tables.MAX_ROWS + 1), "rows"),
    "many cells": ("a.csv", "name" + ",x" * 999 + "\n" + ("a" + "," * 999 + "\n") * 1001, "cells"),
    "code twice": ("a.csv", "person_code\nA\nA\n", "a.csv:3: the code 'A' comes twice"),
    "column twice": ("a.csv", "person_code,status,status\nA,named,named\n", "comes twice"),
    "unknown status": ("a.csv", "person_code,status\nA,dead\n", "a.csv:2: status 'dead'"),
    "not a count": ("a.csv", "person_code,n_contacts\nA,1e9\n", "not a whole number"),
    "negative count": ("a.csv", "person_code,n_contacts\nA,-1\n", "negative"),
    "endless count": ("a.csv", f"person_code,n_contacts\nA,{'9' * 5000}\n", "not a whole number"),
    "other digits": ("a.csv", "person_code,n_contacts\nA,\u0663\n", "not a whole number"),
    "not a date": ("a.csv", "person_code,surveyed_at\nA,yesterday\n", "not a date"),
    "half a tie": ("a.csv", "Source,Target\nA,\n", "code is missing"),
    "parent unknown": ("a.zip", packed({**odk(), "census-contacts.csv": LOST}), "no submission"),
    "only the repeat": ("a.csv", LOST, "submissions is missing"),
    "edge to nobody in Network Canvas": (
        "a.zip",
        packed({name: text.replace(f"{ANN},v1", f"{ANN},v9") for name, text in network_canvas().items()}),
        "in no attribute list",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", list(CASES))
def test_refused_with_one_line(case: str) -> None:
    name, given_content, word = CASES[case]
    content = given_content() if callable(given_content) else given_content
    content = content.encode() if isinstance(content, str) else content
    with pytest.raises(InputError) as refused:
        take(preview(Source(name, content)))
    message = str(refused.value)
    assert message.startswith(name), message
    assert word in message
    assert message.isprintable()
    assert len(message) < 500


@pytest.mark.parametrize("make", [bomb, lying, lambda: book_bomb(), lambda: many_entries()])
def test_memory_is_bounded(make: Callable[[], bytes]) -> None:
    content = make()
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            preview(Source("a.zip", content))
        assert tracemalloc.get_traced_memory()[1] < 40 * 1024**2
    finally:
        tracemalloc.stop()


def book_bomb() -> bytes:
    """A sheet that would unpack to 100 MiB of XML."""
    buffer = io.BytesIO(book())
    with zipfile.ZipFile(buffer) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != SHEET}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        with archive.open(SHEET, "w") as member:
            member.write(f'<worksheet xmlns="{MAIN}"><sheetData>'.encode())
            for _ in range(100):
                member.write(b"<row/>" * (1024**2 // 6))
    return out.getvalue()


def many_entries() -> bytes:
    return b"PK\x03\x04" + b"PK\x01\x02" * 1_000_000


def test_all_members_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No member is suspicious by itself."""
    monkeypatch.setattr("claim.io.archives.MAX_UNPACKED_BYTES", 10_000)
    text = "name\r\n" + "".join(f"{i}\r\n" for i in range(500))
    preview(Source("a.zip", packed({"1.csv": text})))
    with pytest.raises(InputError, match="absurd size"):
        preview(Source("a.zip", packed({f"{i}.csv": text for i in range(9)})))


@pytest.mark.slow
def test_a_full_table_takes_little_memory() -> None:
    rows = "".join(f"Person {i},x\r\n" for i in range(20_000))
    tracemalloc.start()
    try:
        assert len(preview(Source("a.csv", f"name,b\r\n{rows}".encode())).bundle.people) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 40 * 1024**2
    finally:
        tracemalloc.stop()


def test_too_large_and_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claim.io.archives.MAX_FILE_BYTES", 1024**2)
    path = tmp_path / "big.csv"
    path.write_bytes(b"a" * (1024**2 + 1))
    with pytest.raises(InputError, match=r"big\.csv: is larger than 1 MiB"):
        preview(path)
    with pytest.raises(InputError, match="at most 50"):
        preview([Source("a.csv", b"name\nAnn\n")] * 51)
    with pytest.raises(InputError, match="no file"):
        preview([])


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    for path, word in ((tmp_path, "folder"), (tmp_path / "none.csv", "no such file"), (Path("/dev/zero"), "regular")):
        with pytest.raises(InputError, match=word):
            preview(path)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a\r\nX-Evil: 1", "C:\\x\\a.csv", "\x1b[31m.csv", "\u202e.csv", "a" * 9999, ""]
)
def test_the_name_of_a_file_stays_harmless(name: str) -> None:
    with pytest.raises(InputError) as refused:
        preview(Source(name, b"\xff"))
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300
    assert "/" not in str(refused.value).split(":")[0]


GOOD = [
    packed(network_canvas()), packed(odk()), kobo(), kobo(shared=True), b"name,b\r\nAnn,1\r\n",
    graphml('<node id="a"/><node id="b"/><edge source="a" target="b"/>').encode(),
]  # fmt: skip


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(GOOD), st.data())
def test_damage_anywhere_is_read_or_refused(content: bytes, data: st.DataObject) -> None:
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    read_or_refused(bytes(damaged[:cut] if data.draw(st.booleans()) else damaged))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    read_or_refused(content)


def shared(cells: str, text: str) -> bytes:
    return book(sheet=sheet(cells), strings=f'<sst xmlns="{MAIN}"><si><t>{text}</t></si></sst>')


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (lambda: book(sheet=sheet('<row r="1"><c r="A1"><v>1</v></c><c r="Z1000000"><v>1</v></c></row>')), "cells"),
        (lambda: shared(("<row>" + '<c t="s"><v>0</v></c>' * 900 + "</row>") * 3, "x" * 32_000), "characters in all"),
        (lambda: shared('<row><c t="s"><v>0</v></c></row>', "x" * 100_000), "longer than 32,767"),
        (lambda: book(styles=sheet('<row r="1"><c r="ZZZ9"><v>1</v></c></row>')), "columns"),
    ],
)
def test_a_workbook_that_would_fill_the_memory_is_refused(content: Callable[[], bytes], word: str) -> None:
    """A rectangle that is nearly empty, one long text in many cells, and cells where styles belong."""
    with pytest.raises(InputError, match=word):
        preview(Source("a.xlsx", content()))
