"""Files made by hand, shaped as the other programs write them."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from claim.errors import InputError
from claim.field.exchange import preview, take
from claim.field.exchange.records import Bundle
from claim.io.text import Source

EGO_A, EGO_B = "a1111111-0000-4000-8000-000000000001", "b2222222-0000-4000-8000-000000000002"
SESSION_A, SESSION_B = "5e551011-0000-4000-8000-00000000000a", "5e551011-0000-4000-8000-00000000000b"
ANN, BEN, CLEO = (f"{letter}0000000-0000-4000-8000-000000000000" for letter in "cde")


def crlf(*lines: str) -> str:
    return "".join(f"{line}\r\n" for line in lines)


def packed(members: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def read(*uploads: Source, **options: object) -> Bundle:
    return take(preview(uploads, **options))  # type: ignore[arg-type]


def read_or_refused(content: bytes, **options: object) -> None:
    """Fine either way, as long as a refusal is one line."""
    problem = ""
    try:
        read(Source("a", content), **options)
    except InputError as error:
        problem = str(error)
    assert problem.isprintable()


def again(files: Mapping[str, bytes]) -> Bundle:
    """What was exported, brought in again."""
    return read(*(Source(name, files[name]) for name in files if name.endswith((".csv", "ml", ".gexf"))))


def network_canvas() -> dict[str, str]:
    """Two interviews: one named three people and a place, one named nobody."""
    head = (
        "networkCanvasEgoUUID,networkCanvasCaseID,networkCanvasSessionID,networkCanvasProtocolName,"
        "sessionStart,sessionFinish,sessionExported,APP_VERSION,COMMIT_HASH"
    )
    times = "2026-03-01T10:00:00.000Z,2026-03-01T10:20:00.000Z,2026-03-02T08:00:00.000Z,6.5.0,abc123"
    a, b = f"Zoe_{SESSION_A}", f"Yan_{SESSION_B}"
    people = "nodeID,networkCanvasEgoUUID,networkCanvasUUID,name,age"
    edges = "edgeID,from,to,networkCanvasEgoUUID,networkCanvasUUID,networkCanvasSourceUUID,networkCanvasTargetUUID"
    return {
        f"{a}_ego.csv": crlf(head, f"{EGO_A},Zoe,{SESSION_A},Study,{times}"),
        f"{b}_ego.csv": crlf(head, f"{EGO_B},Yan,{SESSION_B},Study,{times}"),
        f"{a}_attributeList_Person.csv": crlf(
            people, f"1,{EGO_A},{ANN},Ann,20", f"2,{EGO_A},{BEN},Ben,21", f"3,{EGO_A},{CLEO},Cleo,"
        ),
        f"{a}_attributeList_Venue.csv": crlf("nodeID,networkCanvasEgoUUID,networkCanvasUUID,name", f"4,{EGO_A},v1,Bar"),
        f"{a}_edgeList_Knows.csv": crlf(
            edges, f"1,1,2,{EGO_A},e1,{ANN},{BEN}", f"2,1,4,{EGO_A},e2,{ANN},v1"
        ),
    }  # fmt: skip


def egoweb() -> dict[str, str]:
    return {
        "study-ego-alter.csv": crlf(
            "EgoID,Interview ID,Start Time,Alter Number,Alter Name,AGE",
            "Zoe,7,2026-03-01,1,Ann,20",
            "Zoe,7,2026-03-01,2,Ben,21",
            "Zoe,7,2026-03-01,3,Cleo,22",
            "Ann,8,2026-03-02,1,zoe,30",
            "Yan,9,2026-03-02,,,",
        ),
        "study-alter-pair.csv": crlf(
            "Interview ID,EgoID,Alter 1 Number,Alter 1 Name,Alter 2 Number,Alter 2 Name,KNOW,TALK",
            "7,Zoe,1,Ann,2,Ben,1,0",
            "7,Zoe,1,Ann,3,Cleo,0,1",
            "7,Zoe,2,Ben,3,Cleo,-4,0",
        ),
    }


def odk() -> dict[str, str | bytes]:
    return {
        "census.csv": crlf(
            "SubmissionDate,start,end,respondent-your_name,consent,meta-instanceID,KEY,SubmitterName",
            "2026-03-01,2026-03-01T10:00:00Z,2026-03-01T10:20:00Z,Zoe,yes,uuid:1,uuid:1,team",
            "2026-03-01,2026-03-01T11:00:00Z,2026-03-01T11:20:00Z,Yan,yes,uuid:2,uuid:2,team",
            "2026-03-01,2026-03-01T12:00:00Z,2026-03-01T12:20:00Z,Xia,no,uuid:3,uuid:3,team",
        ),
        "census-contacts.csv": crlf(
            "contact_name,PARENT_KEY,KEY",
            "Ann,uuid:1,uuid:1/contacts[1]",
            "Yan,uuid:1,uuid:1/contacts[2]",
        ),
        "media/photo.jpg": b"\xff\xd8\xff" + bytes(1000),
    }


# Workbooks -----------------------------------------------------------------------------------------------------------

Cell = str | int | float | bool | tuple[str, str]  # a pair is a raw value and the attributes of the cell
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/>'
    '<numFmt numFmtId="165" formatCode="&quot;day&quot; 0"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]], shared: bool = False) -> bytes:
    """A minimal workbook; texts inline, or in the table of shared strings."""
    strings: list[str] = []
    parts = {
        f"xl/worksheets/sheet{i}.xml": _sheet(rows, strings if shared else None)
        for i, rows in enumerate(sheets.values())
    }
    ids = "".join(f'<sheet name="{name}" sheetId="{i + 1}" r:id="r{i}"/>' for i, name in enumerate(sheets))
    links = "".join(
        f'<Relationship Id="r{i}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(len(sheets))
    )
    parts["[Content_Types].xml"] = "<Types/>"
    root = f'<Relationship Id="r" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/>'
    parts["_rels/.rels"] = f'<Relationships xmlns="{PACKAGE}">{root}</Relationships>'
    parts["xl/workbook.xml"] = f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{ids}</sheets></workbook>'
    parts["xl/_rels/workbook.xml.rels"] = f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>'
    parts["xl/styles.xml"] = STYLES
    if shared:
        items = "".join(
            f"<si><r><t>{escape(each[:2])}</t></r><r><t>{escape(each[2:])}</t></r></si>" for each in strings
        )
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{items}<si><t>unused</t></si></sst>'
    return packed(parts)


def _sheet(rows: Sequence[Sequence[Cell]], strings: list[str] | None) -> str:
    text = ""
    for number, row in enumerate(rows, start=1):
        cells = (_cell(value, f"{chr(65 + i)}{number}", strings) for i, value in enumerate(row) if value != "")
        text += f'<row r="{number}">{"".join(cells)}</row>'
    return f'<worksheet xmlns="{MAIN}"><sheetData>{text}</sheetData></worksheet>'


def _cell(value: Cell, place: str, strings: list[str] | None) -> str:
    if isinstance(value, tuple):
        return f'<c r="{place}" {value[1]}><v>{value[0]}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    if strings is None:
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    strings.append(value)
    return f'<c r="{place}" t="s"><v>{len(strings) - 1}</v></c>'


def kobo(shared: bool = False) -> bytes:
    return workbook(
        {
            "Contacts survey": [
                [
                    "start",
                    "end",
                    "consent",
                    "group_a/your_name",
                    "_id",
                    "_uuid",
                    "rootUuid",
                    "_submission_time",
                    "_index",
                ],
                [("46082.5", 's="2"'), ("46082.75", 's="2"'), "yes", "Zoe", 900, "u-edit", "uuid:root-1", "x", 1],
                ["", "", "yes", "Yan", 901, "u-2", "uuid:root-2", "", 2],
                ["", "", "no", "Xia", 902, "u-3", "uuid:root-3", "", 3],
            ],
            "contacts": [
                [
                    "contacts/contact_name",
                    "contacts/close",
                    "_index",
                    "_parent_table_name",
                    "_parent_index",
                    "_submission__id",
                ],
                ["Ann", True, 1, "Contacts survey", 1, 900],
                ["Yan", False, 2, "Contacts survey", 1, 900],
                [42, False, 3, "Contacts survey", 1, 900],
            ],
        },
        shared,
    )
