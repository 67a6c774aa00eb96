"""Plain tables: the project's own (people, ties, surveys) and look-alikes, lists of names, and recruitment tables."""

from claim.field.exchange.builder import (
    Builder,
    Cells,
    Importer,
    Picked,
    Role,
    Tables,
    has,
    normal,
    refuse_contacts,
    unused,
)
from claim.field.exchange.records import OUTCOMES, STATUSES, SurveyRecord, TieRecord
from claim.io.columns import PAIRS
from claim.io.tables import Table
from claim.io.text import shown, unescaped, unescaped_list

PEOPLE = (
    Role("people.code", "the people's codes", ("personcode", "id", "code", "nodeid"), needed=True),
    Role("people.name", "the people's names", ("name", "label")),
    Role("people.status", "their status", ("status",)),
    Role("people.consent", "the version of the consent", ("consent",)),
    Role("people.first_named_by", "who named them first", ("firstnamedby",)),
    Role("people.surveyed_at", "when they were surveyed", ("surveyedat",)),
    Role("people.n_contacts", "how many contacts they have", ("ncontacts",)),
    Role("people.times_named", "how often they were named", ("timesnamed",)),
    Role("people.is_start", "whether they are start people", ("isstart",)),
    Role("people.leader_rank", "their rank as leaders", ("leaderrank",)),
    Role("people.x", "their place in a picture, across", ("x",)),
    Role("people.y", "their place in a picture, up", ("y",)),
)
SURVEYS = (
    Role("surveys.id", "the survey's id", ("surveyid",), needed=True),
    Role("surveys.person", "who was surveyed", ("personcode",), needed=True),
    Role("surveys.started_at", "when it began", ("startedat",)),
    Role("surveys.ended_at", "when it ended", ("endedat",)),
    Role("surveys.outcome", "the outcome", ("outcome",)),
    Role("surveys.n_named", "how many were named", ("nnamed",)),
    Role("surveys.recommended", "whether it was recommended", ("recommended",)),
    Role("surveys.override_reason", "why another person was surveyed", ("overridereason",)),
    Role("surveys.policy", "the policy", ("policy",)),
    Role("surveys.seed", "the seed", ("seed",)),
)


def read(tables: Tables, builder: Builder) -> None:
    """People first, since ties and surveys refer to them; without a table of people, ties make them known."""
    people = [table for table in tables if _is_people(table)]
    for table in people:
        _read_people(table, builder, with_ties=any(map(_is_ties, tables)))
    for table in tables:
        if _is_ties(table):
            _read_ties(table, builder, declare=not people)
    for table in tables:
        if has(table, "survey_id"):
            _read_surveys(table, builder)


def recognises(tables: Tables) -> bool:
    """Whether the columns are surely the project's own, or two ends of ties."""
    return any(has(table, "person_code") or has(table, "survey_id") or _is_ties(table) for table in tables)


def has_ids(tables: Tables) -> bool:
    """Whether the first column is a node's id, as in Gephi's tables."""
    return normal(tables[0].columns[0]) in ("id", "code", "nodeid") if tables[0].columns else False


def _read_people(table: Table, builder: Builder, with_ties: bool) -> None:
    picked = builder.columns.find(table, PEOPLE)
    refuse_contacts(builder, table, picked, ties_elsewhere=with_ties)
    strict = has(table, "person_code")
    lines: dict[str, int] = {}
    for line, raw in picked.rows() if picked else ():
        row = {key.partition(".")[2]: unescaped(value) for key, value in raw.items()}
        code = row["code"].strip()
        if code in lines:
            text = "the code {code} comes twice, first in line {line}"
            builder.problems.add(table.where, line, text, code=shown(code), line=lines[code])
            continue
        lines[code] = line
        name = row.get("name", "").strip()
        fields = _person_fields(row, Cells(builder, table, line, strict))
        builder.person(table, line, code, name=name if name and name != code else None, **fields)


def _person_fields(row: dict[str, str], cells: Cells) -> dict[str, object]:
    return {
        "status": cells.one_of(row.get("status", ""), STATUSES, "status") or "named",
        "consent": row.get("consent") or None,
        "first_named_by": row.get("first_named_by", "").strip() or None,
        "surveyed_at": cells.time(row.get("surveyed_at", ""), "surveyed_at"),
        "n_contacts": cells.count(row.get("n_contacts", ""), "n_contacts"),
        "times_named": cells.count(row.get("times_named", ""), "times_named"),
        "is_start": bool(cells.truth(row.get("is_start", ""), "is_start")),
        "leader_rank": cells.count(row.get("leader_rank", ""), "leader_rank"),
        "x": cells.number(row.get("x", ""), "x"),
        "y": cells.number(row.get("y", ""), "y"),
    }


def _is_people(table: Table) -> bool:
    return not has(table, "survey_id") and not _is_ties(table)


def _is_ties(table: Table) -> bool:
    return _pair(table) is not None


def _pair(table: Table) -> tuple[str, str] | None:
    names = {normal(column) for column in table.columns}
    return next((pair for pair in PAIRS if names.issuperset(pair)), None)


def _tie_roles(table: Table) -> tuple[Role, ...]:
    source, target = _pair(table) or ("source", "target")
    return (
        Role("ties.source", "one end of the tie", (source,), needed=True),
        Role("ties.target", "the other end of the tie", (target,), needed=True),
        Role("ties.type", "whether it has a direction", ("type",)),
        Role("ties.weight", "the weight of the tie", ("weight",)),
        Role("ties.named_by", "who reported the tie", ("namedby",)),
    )


def _read_ties(table: Table, builder: Builder, declare: bool) -> None:
    picked = builder.columns.find(table, _tie_roles(table))
    refuse_contacts(builder, table, picked, ends=_pair(table) or ())
    for line, row in picked.rows() if picked else ():
        source, target = (unescaped(row[f"ties.{end}"]).strip() for end in ("source", "target"))
        namers = unescaped_list(row.get("ties.named_by", ""))
        known = [_end(table, line, code, builder, declare) for code in (source, target, *namers)]
        weight = Cells(builder, table, line, strict=True).number(row.get("ties.weight", ""), "the weight")
        if weight is not None and weight <= 0:
            builder.problems.add(table.where, line, "the weight is not above 0")
        elif all(known):
            if not namers and row.get("ties.type", "").strip().casefold() == "directed":
                namers = (source,)  # the person a tie leads from has named the other
            builder.tie(table, line, TieRecord(source, target, weight=weight or 1.0, named_by=namers))


def _end(table: Table, line: int, code: str, builder: Builder, declare: bool) -> bool:
    if builder.knows(code):
        return True
    if declare and ";" in code:
        text = "{cell} is several people in one cell; write one contact a line"
        builder.problems.add(table.where, line, text, cell=shown(code))
        return False
    if declare or not code:
        return builder.person(table, line, code) is not None
    builder.problems.add(table.where, line, "the tie names {code}, who is not among the people", code=shown(code))
    return False


def _read_surveys(table: Table, builder: Builder) -> None:
    picked = builder.columns.find(table, SURVEYS)
    for line, raw in picked.rows() if picked else ():
        row = {key.partition(".")[2]: unescaped(value) for key, value in raw.items()}
        person = row["person"].strip()
        if not builder.knows(person):
            text = "the survey is of {code}, who is not among the people"
            builder.problems.add(table.where, line, text, code=shown(person))
            continue
        builder.survey(table, line, _survey(row, person, Cells(builder, table, line, strict=True)))


def _survey(row: dict[str, str], person: str, cells: Cells) -> SurveyRecord:
    return SurveyRecord(
        survey_id=row["id"],
        person_code=person,
        started_at=cells.time(row.get("started_at", ""), "started_at"),
        ended_at=cells.time(row.get("ended_at", ""), "ended_at"),
        outcome=cells.one_of(row.get("outcome", ""), OUTCOMES, "outcome"),
        n_named=cells.count(row.get("n_named", ""), "n_named"),
        recommended=cells.truth(row.get("recommended", ""), "recommended"),
        override_reason=row.get("override_reason") or None,
        policy=row.get("policy") or None,
        seed=cells.whole(row.get("seed", ""), "seed"),
    )


IMPORTER = Importer(
    "csv", "people, ties and surveys (CSV, Gephi tables, GraphML, GEXF)", recognises, read, derive=False
)


# Lists of names, and the table of programs for respondent-driven sampling ---------------------------------------------

NAMES = (
    Role("roster.name", "the names", ("name", "fullname", "names", "nickname"), needed=True),
    Role("roster.is_start", "whether they are start people", ("isstart", "start")),
)
RECRUITS = (
    Role("recruit.id", "the people's ids", ("id",), needed=True),
    Role("recruit.by", "who recruited them", ("recruiterid",), needed=True),
    Role("recruit.size", "how many people they know", ("networksize", "networksizevariable", "degree")),
    Role("recruit.time", "when they were surveyed", ("time", "date")),
)


def is_roster(tables: Tables) -> bool:
    """Whether the first column is ``name``."""
    return any(table.columns[:1] and normal(table.columns[0]) == "name" for table in tables)


def read_roster(tables: Tables, builder: Builder) -> None:
    """One person a row; a name that comes again is the same person, and is counted."""
    for table in tables:
        picked = builder.columns.find(table, NAMES)
        refuse_contacts(builder, table, picked)
        for line, row in picked.rows() if picked else ():
            if not row["roster.name"].strip():
                builder.notes.add(table.where, line, "a row without a name: left out")
                continue
            start = Cells(builder, table, line, strict=False).truth(row.get("roster.is_start", ""), "is_start")
            builder.named(table, line, row["roster.name"], **({"is_start": True} if start else {}))


def is_recruitment(tables: Tables) -> bool:
    """Whether there are people and their recruiters."""
    return any(has(table, "id", "recruiter.id") for table in tables)


def read_recruitment(tables: Tables, builder: Builder) -> None:
    """All people in it were surveyed; those whose recruiter is not in it are start people."""
    table = next((table for table in tables if has(table, "id", "recruiter.id")), tables[0])
    for other in tables:
        if other is not table:
            unused(builder, other)
    picked = builder.columns.find(table, RECRUITS)
    refuse_contacts(builder, table, picked, ties_elsewhere=True)
    if picked is not None:
        _read_recruits(table, picked, builder)
        _read_recruiters(table, picked, builder)


def _read_recruits(table: Table, picked: Picked, builder: Builder) -> None:
    for line, row in picked.rows():
        cells = Cells(builder, table, line, strict=False)
        code = unescaped(row["recruit.id"]).strip()
        if builder.knows(code):
            builder.problems.add(table.where, line, "the id {code} comes twice", code=shown(code))
            continue
        size = cells.count(row.get("recruit.size", ""), "network.size")
        time = row.get("recruit.time", "").strip() or None  # a date, or the number of a wave
        builder.person(table, line, code, status="surveyed", n_contacts=size, surveyed_at=time)


def _read_recruiters(table: Table, picked: Picked, builder: Builder) -> None:
    strangers: dict[str, None] = {}
    for line, row in picked.rows():
        code, recruiter = unescaped(row["recruit.id"]).strip(), unescaped(row["recruit.by"]).strip()
        if not builder.knows(code):
            continue
        builder.survey(table, line, SurveyRecord(f"survey of {code}", code, outcome="answered"))
        if builder.knows(recruiter):
            builder.update(code, first_named_by=recruiter)
            builder.tie(table, line, TieRecord(recruiter, code, named_by=(recruiter,)))
        else:
            strangers[recruiter] = None
            builder.update(code, is_start=True)
    if len(strangers) > 1:
        named = ", ".join(shown(each, 20) for each in list(strangers)[:5])
        text = "several recruiters are not in the file ({named}): taken for the start"
        builder.notes.add(table.where, None, text, named=named)


ROSTER = Importer("roster", "a list of names (CSV)", is_roster, read_roster)
RECRUITMENT = Importer("rds", "people and recruiters (RDS-style CSV)", is_recruitment, read_recruitment)
