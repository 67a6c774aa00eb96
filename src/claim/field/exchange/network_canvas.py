"""Network Canvas: for every interview the ego, the people it named and the ties it reported between them.

The ego is not a node there, so it is added here with a tie to each of its people. People go by ``networkCanvasUUID``;
``nodeID`` changes with every export. Two interviews never share a UUID: that somebody named in one is somebody named in
another is for the duplicates report to suggest and for the team to say.
"""

import re

from claim.field.exchange.builder import Builder, Cells, Importer, Picked, Role, Tables, has, unused
from claim.field.exchange.records import SurveyRecord, TieRecord
from claim.io.tables import Table
from claim.io.text import shown

EGO = Role("ego.uuid", "the ego's UUID", ("networkcanvasegouuid",), needed=True)
EGOS = (
    EGO,
    Role("ego.name", "the ego's name", ("networkcanvascaseid",)),
    Role("ego.session", "the session", ("networkcanvassessionid",)),
    Role("ego.started_at", "when it began", ("sessionstart",)),
    Role("ego.ended_at", "when it ended", ("sessionfinish",)),
)
ALTERS = (
    EGO,
    Role("alter.uuid", "the person's UUID", ("networkcanvasuuid",), needed=True),
    Role("alter.name", "the person's name", ("name", "label", "nickname", "fullname", "firstname"), within=("name",)),
)
EDGES = (
    EGO,
    Role("edge.source", "one end", ("networkcanvassourceuuid",), needed=True),
    Role("edge.target", "the other end", ("networkcanvastargetuuid",), needed=True),
)
_TYPE = re.compile(r"_attributeList_(.+)\.csv$", re.IGNORECASE)
_PEOPLE_TYPES = re.compile("person|people|alter|contact|friend|member|peer|kin|human", re.IGNORECASE)
_TYPES_KEY = "alter.types"  # of the mapping: types of nodes that are people, with commas between them


def read(tables: Tables, builder: Builder) -> None:
    """Egos, then the people they named, then the ties between these."""
    egos = [table for table in tables if _is_ego(table)]
    edges = [table for table in tables if has(table, "networkCanvasSourceUUID", "networkCanvasTargetUUID")]
    alters = [table for table in tables if has(table, "networkCanvasUUID") and table not in edges]
    people = _of_people(alters, builder)
    for table in tables:
        if table not in (*egos, *edges, *people):
            unused(builder, table)
    sessions = {code for table in egos for code in _read_egos(table, builder)}
    counts = dict.fromkeys(sessions, 0)
    for table in people:
        _read_alters(table, builder, counts)
    others = {code for table in alters if table not in people for code in _uuids(table, builder)}
    for table in edges:
        _read_edges(table, builder, others)
    for table in egos:
        _read_surveys(table, builder, counts)


def recognises(tables: Tables) -> bool:
    """Whether the columns are Network Canvas's."""
    return any(has(table, "networkCanvasEgoUUID") for table in tables)


def _is_ego(table: Table) -> bool:
    return has(table, "networkCanvasEgoUUID", "networkCanvasCaseID") and not has(table, "networkCanvasUUID")


def _of_people(alters: Tables, builder: Builder) -> Tables:
    """Tables of types that are people: the chosen ones, else those that sound like it, else all."""
    chosen = {each.strip().casefold() for each in builder.mapping.get(_TYPES_KEY, "").split(",") if each.strip()}
    if chosen:
        return [table for table in alters if _type(table).casefold() in chosen]
    return [table for table in alters if _PEOPLE_TYPES.search(_type(table))] or alters


def _type(table: Table) -> str:
    match = _TYPE.search(table.name)
    return match[1] if match else ""


def _uuids(table: Table, builder: Builder) -> list[str]:
    picked = builder.columns.find(table, (ALTERS[1],))
    return [row["alter.uuid"] for _, row in picked.rows()] if picked else []


def _read_egos(table: Table, builder: Builder) -> list[str]:
    picked = builder.columns.find(table, EGOS)
    found = []
    for line, row in picked.rows() if picked else ():
        name = row.get("ego.name", "").strip() or None
        ended = Cells(builder, table, line, strict=False).time(row.get("ego.ended_at", ""), "sessionFinish")
        code = builder.person(table, line, row["ego.uuid"].strip(), name=name, status="surveyed", surveyed_at=ended)
        found += [code] if code else []
    return found


def _read_alters(table: Table, builder: Builder, counts: dict[str, int]) -> None:
    picked = builder.columns.find(table, ALTERS, one_of_many=True)
    for line, row in picked.rows() if picked else ():
        ego = _ego_of(row, counts, table, line, builder)
        code = builder.person(table, line, row["alter.uuid"].strip(), name=row.get("alter.name", "").strip() or None)
        if ego and code:
            counts[ego] += 1
            builder.tie(table, line, TieRecord(ego, code, named_by=(ego,)))


def _ego_of(row: dict[str, str], egos: dict[str, int], table: Table, line: int, builder: Builder) -> str | None:
    ego = row["ego.uuid"].strip()
    if ego in egos:
        return ego
    builder.problems.add(table.where, line, f"the ego {shown(ego)} is in no ego file; bring in all files of the export")
    return None


def _read_edges(table: Table, builder: Builder, others: set[str]) -> None:
    picked = builder.columns.find(table, EDGES)
    for line, row in picked.rows() if picked else ():
        ends = row["edge.source"].strip(), row["edge.target"].strip()
        if others.intersection(ends):
            continue  # between a person and, say, a place
        unknown = [code for code in ends if not builder.knows(code)]
        if unknown:
            builder.problems.add(table.where, line, f"the edge names {shown(unknown[0])}, who is in no attribute list")
            continue
        builder.tie(table, line, TieRecord(*ends, named_by=_reporter(row, builder)))


def _reporter(row: dict[str, str], builder: Builder) -> tuple[str, ...]:
    ego = row["ego.uuid"].strip()
    return (ego,) if builder.knows(ego) else ()


def _read_surveys(table: Table, builder: Builder, counts: dict[str, int]) -> None:
    picked: Picked | None = builder.columns.find(table, EGOS)
    for line, row in picked.rows() if picked else ():
        ego = row["ego.uuid"].strip()
        if ego not in counts:
            continue
        cells = Cells(builder, table, line, strict=False)
        record = SurveyRecord(
            survey_id=row.get("ego.session", "").strip() or ego,
            person_code=ego,
            started_at=cells.time(row.get("ego.started_at", ""), "sessionStart"),
            ended_at=cells.time(row.get("ego.ended_at", ""), "sessionFinish"),
            outcome="answered" if counts[ego] else "named nobody",
            n_named=counts[ego],
        )
        builder.survey(table, line, record)


IMPORTER = Importer("network-canvas", "Network Canvas (zip or its CSV files)", recognises, read)
