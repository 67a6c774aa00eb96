"""Interview programs, Network Canvas and EgoWeb: each interview has an ego, the people it named and ties between them.

In Network Canvas the ego is not a node, so it is added here with a tie to each of its people. People go by
``networkCanvasUUID``; ``nodeID`` changes with every export. Two interviews never share a UUID: that a person named in
one is a person named in another is for the duplicates report to suggest and for the team to decide. EgoWeb has one
table of who named whom, and one of pairs among those named by the same person.
"""

import re

from claim.field.exchange.builder import MARKED, Builder, Role, Row, Tables, has, normal
from claim.field.exchange.records import SurveyRecord
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
    MARKED,
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
    edges = [table for table in tables if has(table, "networkCanvasSourceUUID", "networkCanvasTargetUUID")]
    alters = [table for table in tables if has(table, "networkCanvasUUID") and table not in edges]
    of_egos = [table for table in tables if has(table, "networkCanvasEgoUUID", "networkCanvasCaseID")]
    egos = [table for table in of_egos if not has(table, "networkCanvasUUID")]
    people = _of_people(alters, builder)
    builder.note_unused(tables, (*egos, *edges, *people))
    surveys: dict[str, str] = {}  # ego to the id of the survey
    for table in egos:
        _read_egos(table, builder, surveys)
    for table in people:
        _read_alters(table, builder, surveys)
    places = [table for table in alters if table not in people]
    others = {row.cells["alter.uuid"] for table in places for row in builder.find(table, ALTERS[1:2])}
    for table in edges:
        _read_edges(table, builder, others)


def is_network_canvas(tables: Tables) -> bool:
    """Whether the columns are Network Canvas's."""
    return any(has(table, "networkCanvasEgoUUID") for table in tables)


def _of_people(alters: Tables, builder: Builder) -> Tables:
    """Tables of types that are people: the chosen ones, else those that sound like it, else all."""
    chosen = {each.strip().casefold() for each in builder.mapping.get(_TYPES_KEY, "").split(",") if each.strip()}
    if chosen:
        return [table for table in alters if _type(table).casefold() in chosen]
    return [table for table in alters if _PEOPLE_TYPES.search(_type(table))] or alters


def _type(table: Table) -> str:
    match = _TYPE.search(table.name)
    return match[1] if match else ""


def _read_egos(table: Table, builder: Builder, surveys: dict[str, str]) -> None:
    for row in builder.find(table, EGOS):
        name, ended = row.text("ego.name") or None, row.time("ego.ended_at", "sessionFinish")
        ego = builder.person(row, row.text("ego.uuid"), name=name, status="surveyed", surveyed_at=ended)
        if ego:
            surveys[ego] = row.text("ego.session") or ego
            started = row.time("ego.started_at", "sessionStart")
            builder.survey(row, SurveyRecord(surveys[ego], ego, started, ended))


def _read_alters(table: Table, builder: Builder, surveys: dict[str, str]) -> None:
    for row in builder.find(table, ALTERS, one_of_many=True):
        ego = row.text("ego.uuid")
        code = builder.person(row, row.text("alter.uuid"), name=row.text("alter.name") or None)
        if ego not in surveys:
            row.problem("the ego {ego} is in no ego file; bring in all files of the export", ego=shown(ego))
        elif code:
            builder.named_in[surveys[ego]] += 1
            builder.tie(row, ego, code, named_by=(ego,))
            builder.mark_if_said(row, ego, code)


def _read_edges(table: Table, builder: Builder, others: set[str]) -> None:
    for row in builder.find(table, EDGES):
        ego, source, target = (row.text(key) for key in ("ego.uuid", "edge.source", "edge.target"))
        unknown = [code for code in (source, target) if code not in builder.people]
        if source in others or target in others:
            row.note("a tie with something that is not a person: left out")
            continue
        if unknown:
            row.problem("the edge names {person}, who is in no attribute list", person=shown(unknown[0]))
        else:
            builder.tie(row, source, target, named_by=(ego,) if ego in builder.people else ())


# EgoWeb ---------------------------------------------------------------------------------------------------------------

INTERVIEW = (
    Role("ego.id", "the ego", ("egoid",), needed=True),
    Role("ego.interview", "the interview", ("interviewid",), needed=True),
)
NAMED = (
    *INTERVIEW,
    Role("alter.number", "the number of the person named", ("alternumber",), needed=True),
    Role("alter.name", "the name of the person named", ("altername",), needed=True),
    MARKED,
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
    builder.note_unused(tables, (*named, *pairs))


def is_egoweb(tables: Tables) -> bool:
    """Whether the columns are EgoWeb's."""
    return any(has(table, "EgoID") and (has(table, "Alter Name") or has(table, "Alter 1 Name")) for table in tables)


def _read_named(table: Table, builder: Builder, alters: Alters) -> None:
    interviews: set[str] = set()
    for row in builder.find(table, NAMED):
        ego = builder.named(row, row.cells["ego.id"], status="surveyed")
        if ego is None:
            continue
        interview, name = row.text("ego.interview"), row.text("alter.name")
        if interview not in interviews:
            interviews.add(interview)
            builder.survey(row, SurveyRecord(interview, ego))
        alter = builder.named(row, name) if name else None  # an ego who named no one has an empty row
        if alter is not None:
            builder.named_in[interview] += 1
            alters[interview, row.text("alter.number")] = alter
            builder.tie(row, ego, alter, named_by=(ego,))
            builder.mark_if_said(row, ego, alter)


def _read_pairs(table: Table, builder: Builder, alters: Alters) -> None:
    for row in builder.find(table, (*PAIRS, _tied_role(table))):
        answer = row.text(_TIED).casefold()
        if _TIED in row.cells and (answer in _NO or answer.startswith("-")):  # what was skipped or refused is below 0
            continue
        ego = builder.named(row, row.cells["ego.id"], status="surveyed")
        one, other = (_alter(row, which, alters) for which in "12")
        if ego is not None and one is not None and other is not None:
            builder.tie(row, one, other, named_by=(ego,))


def _tied_role(table: Table) -> Role:
    """The first answer after the pair says whether they know each other, unless the user says which."""
    last = max(i for i, column in enumerate(table.columns) if normal(column).startswith("alter"))
    words = tuple(normal(column) for column in table.columns[last + 1 : last + 2])
    return Role(_TIED, "whether the two know each other", words)


def _alter(row: Row, which: str, alters: Alters) -> str | None:
    key = row.text("ego.interview"), row.text(f"pair.number{which}")
    code = alters.get(key) or row.builder.named(row, row.cells[f"pair.name{which}"])
    if code is not None:
        alters[key] = code
    return code
