"""Interview programs, Network Canvas and EgoWeb: each interview has an ego, the people it named and ties between them.

In Network Canvas the ego is not a node, so it is added here with a tie to each of its people. People go by
``networkCanvasUUID``; ``nodeID`` changes with every export. Two interviews never share a UUID: that a person named in
one is a person named in another is for the duplicates report to suggest and for the team to decide. EgoWeb has one
table of who named whom, and one of pairs among those named by the same person.
"""

import re

from claim.field.exchange.builder import Builder, Cells, Importer, Picked, Role, Tables, has, normal, unused
from claim.field.exchange.records import SurveyRecord, TieRecord
from claim.io.tables import Table
from claim.io.text import shown

# Network Canvas -------------------------------------------------------------------------------------------------------

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


def read_network_canvas(tables: Tables, builder: Builder) -> None:
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


def is_network_canvas(tables: Tables) -> bool:
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
    text = "the ego {ego} is in no ego file; bring in all files of the export"
    builder.problems.add(table.where, line, text, ego=shown(ego))
    return None


def _read_edges(table: Table, builder: Builder, others: set[str]) -> None:
    picked = builder.columns.find(table, EDGES)
    for line, row in picked.rows() if picked else ():
        ends = row["edge.source"].strip(), row["edge.target"].strip()
        if others.intersection(ends):
            continue  # between a person and, say, a place
        unknown = [code for code in ends if not builder.knows(code)]
        if unknown:
            text = "the edge names {person}, who is in no attribute list"
            builder.problems.add(table.where, line, text, person=shown(unknown[0]))
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


NETWORK_CANVAS = Importer(
    "network-canvas", "Network Canvas (zip or its CSV files)", is_network_canvas, read_network_canvas
)


# EgoWeb ---------------------------------------------------------------------------------------------------------------

INTERVIEW = (
    Role("ego.id", "the ego", ("egoid",), needed=True),
    Role("ego.interview", "the interview", ("interviewid",), needed=True),
)
NAMED = (
    *INTERVIEW,
    Role("alter.number", "the number of the person named", ("alternumber",), needed=True),
    Role("alter.name", "the name of the person named", ("altername",), needed=True),
)
PAIRS = (
    *INTERVIEW,
    Role("pair.number1", "the number of the first of a pair", ("alter1number",), needed=True),
    Role("pair.name1", "the name of the first of a pair", ("alter1name",), needed=True),
    Role("pair.number2", "the number of the second of a pair", ("alter2number",), needed=True),
    Role("pair.name2", "the name of the second of a pair", ("alter2name",), needed=True),
)
_TIED = "pair.tied"
_NO = frozenset({"", "0", "no", "false", "never", "none", "n", "not at all", "na", "n/a", "."})

Alters = dict[tuple[str, str], str]  # interview and number to code


def read_egoweb(tables: Tables, builder: Builder) -> None:
    """People and their egos first, then the pairs."""
    alters: Alters = {}
    named = [table for table in tables if has(table, "Alter Name")]
    pairs = [table for table in tables if has(table, "Alter 1 Name")]
    for table in named:
        _read_named(table, builder, alters)
    for table in pairs:
        _read_pairs(table, builder, alters)
    for table in tables:
        if table not in (*named, *pairs):
            unused(builder, table)


def is_egoweb(tables: Tables) -> bool:
    """Whether the columns are EgoWeb's."""
    return any(has(table, "EgoID") and (has(table, "Alter Name") or has(table, "Alter 1 Name")) for table in tables)


def _read_named(table: Table, builder: Builder, alters: Alters) -> None:
    picked = builder.columns.find(table, NAMED)
    interviews: dict[str, tuple[int, str, int]] = {}  # line, ego, how many named
    for line, row in picked.rows() if picked else ():
        ego = builder.named(table, line, row["ego.id"], status="surveyed")
        if ego is None:
            continue
        interview, name = row["ego.interview"].strip(), row["alter.name"]
        first, _, count = interviews.get(interview, (line, ego, 0))
        interviews[interview] = (first, ego, count + bool(name.strip()))  # an ego without any has an empty row
        alter = builder.named(table, line, name) if name.strip() else None
        if alter is not None:
            alters[interview, row["alter.number"].strip()] = alter
            builder.tie(table, line, TieRecord(ego, alter, named_by=(ego,)))
    for interview, (line, ego, count) in interviews.items():
        outcome = "answered" if count else "named nobody"
        builder.survey(table, line, SurveyRecord(interview, ego, outcome=outcome, n_named=count))


def _read_pairs(table: Table, builder: Builder, alters: Alters) -> None:
    picked = builder.columns.find(table, (*PAIRS, _tied_role(table)))
    for line, row in picked.rows() if picked else ():
        if _TIED in row and _says_no(row[_TIED]):
            continue
        ego = builder.named(table, line, row["ego.id"], status="surveyed")
        ends = [_alter(table, line, row, each, builder, alters) for each in ("1", "2")]
        if ego is not None and ends[0] is not None and ends[1] is not None:
            builder.tie(table, line, TieRecord(ends[0], ends[1], named_by=(ego,)))


def _tied_role(table: Table) -> Role:
    """The first answer after the pair says whether they know each other, unless the user says which."""
    last = max(i for i, column in enumerate(table.columns) if normal(column).startswith("alter"))
    words = tuple(normal(column) for column in table.columns[last + 1 : last + 2])
    return Role(_TIED, "whether the two know each other", words)


def _says_no(answer: str) -> bool:
    word = answer.strip().casefold()
    return word in _NO or word.startswith("-")  # EgoWeb writes what was skipped or refused as -1 and below


def _alter(table: Table, line: int, row: dict[str, str], which: str, builder: Builder, alters: Alters) -> str | None:
    key = row["ego.interview"].strip(), row[f"pair.number{which}"].strip()
    if key not in alters:
        code = builder.named(table, line, row[f"pair.name{which}"])
        if code is None:
            return None
        alters[key] = code
    return alters[key]


EGOWEB = Importer("egoweb", "EgoWeb (ego-alter and alter-pair files)", is_egoweb, read_egoweb)
