"""Lists of people: a roster (names), and the table that programs for respondent-driven sampling read and write."""

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
from claim.field.exchange.records import SurveyRecord, TieRecord
from claim.io.tables import Table
from claim.io.text import shown, unescaped

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
    """Everybody in it was surveyed; whoever is said to be recruited by nobody in it is a start person."""
    table = next((table for table in tables if has(table, "id", "recruiter.id")), tables[0])
    for other in tables:
        if other is not table:
            unused(builder, other)
    picked = builder.columns.find(table, RECRUITS)
    refuse_contacts(builder, table, picked, ties_elsewhere=True)
    if picked is not None:
        _read_people(table, picked, builder)
        _read_recruiters(table, picked, builder)


def _read_people(table: Table, picked: Picked, builder: Builder) -> None:
    for line, row in picked.rows():
        cells = Cells(builder, table, line, strict=False)
        code = unescaped(row["recruit.id"]).strip()
        if builder.knows(code):
            builder.problems.add(table.where, line, f"the id {shown(code)} comes twice")
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
        builder.notes.add(table.where, None, f"several recruiters are not in the file ({named}): taken for the start")


ROSTER = Importer("roster", "a list of names (CSV)", is_roster, read_roster)
RECRUITMENT = Importer("rds", "people and recruiters (RDS-style CSV)", is_recruitment, read_recruitment)
