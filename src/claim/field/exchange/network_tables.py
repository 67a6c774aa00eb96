"""Plain tables: the project's own (people, ties, surveys) and look-alikes, lists of names, and recruitment tables."""

from typing import Any

from claim.field.exchange.builder import (
    FIRST_NAMES,
    FULL_NAMES,
    GROUP_WORDS,
    Builder,
    Role,
    Row,
    Tables,
    has,
    normal,
    surnames,
)
from claim.field.exchange.records import FOLLOW_UP_ANSWERS, LEADER_STATES, OUTCOMES, STATUSES, SurveyRecord
from claim.field.study.state import GONE
from claim.io.columns import PAIRS, names_no_one
from claim.io.tables import Table
from claim.io.text import shown, unescaped, unescaped_list

MAX_SESSIONS = 1_000  # of one leader
PEOPLE = (
    Role("people.code", "the people's codes", ("personcode", "id", "code", "nodeid", "codigo"), needed=True),
    Role("people.name", "the people's names", ("name", "label", *FULL_NAMES, *FIRST_NAMES)),
    *surnames("people.name"),
    Role("people.status", "their status", ("status",), read=lambda row, key: row.one_of(key, STATUSES)),
    Role("people.consent", "the version of the consent", ("consent",), read=Row.plain),
    Role("people.first_named_by", "who named them first", ("firstnamedby",), read=Row.code),
    Role("people.surveyed_at", "when they were surveyed", ("surveyedat",), read=Row.time),
    Role("people.n_contacts", "how many contacts they have", ("ncontacts",), read=Row.count),
    Role("people.times_named", "how often they were named", ("timesnamed",), read=Row.count),
    Role("people.is_start", "whether they are start people", ("isstart",), read=Row.truth),
    Role("people.leader_rank", "their rank as leaders", ("leaderrank",), read=Row.count),
    Role("people.is_new", "whether they were met as new people", ("isnew",), read=Row.truth),
    Role("people.marked", "which of their contacts knows the most people", ("marked",)),
    Role(
        "people.leader",
        "what came of asking them to lead",
        ("leader",),
        read=lambda row, key: row.one_of(key, LEADER_STATES),
    ),
    Role("people.sessions_attended", "how many sessions they came to", ("sessionsattended",), read=Row.count),
    Role("people.sessions_missed", "how many sessions they missed", ("sessionsmissed",), read=Row.count),
    Role(
        "people.follow_up",
        "their follow-up answer",
        ("followup",),
        read=lambda row, key: row.one_of(key, FOLLOW_UP_ANSWERS),
    ),
    Role("people.group", "their group", GROUP_WORDS, read=Row.group),
    Role("people.x", "their place in a picture, across", ("x",), read=Row.number),
    Role("people.y", "their place in a picture, up", ("y",), read=Row.number),
)
SURVEYS = (
    Role("surveys.id", "the survey's id", ("surveyid",), needed=True),
    Role("surveys.person", "who was surveyed", ("personcode",), needed=True),
    Role("surveys.started_at", "when it began", ("startedat",), read=Row.time),
    Role("surveys.ended_at", "when it ended", ("endedat",), read=Row.time),
    Role("surveys.outcome", "the outcome", ("outcome",), read=lambda row, key: row.one_of(key, OUTCOMES)),
    Role("surveys.n_named", "how many were named", ("nnamed",), read=Row.count),
    Role("surveys.recommended", "whether it was recommended", ("recommended",), read=Row.truth),
    Role("surveys.override_reason", "why another person was surveyed", ("overridereason",), read=Row.plain),
    Role("surveys.policy", "the policy", ("policy",), read=Row.plain),
    Role("surveys.seed", "the seed", ("seed",), read=Row.whole),
)


def read_own(tables: Tables, builder: Builder) -> None:
    """People first, since ties and surveys refer to them; without a table of people, ties make them known."""
    ties, surveys = list(filter(_pair, tables)), [table for table in tables if has(table, "survey_id")]
    people = [table for table in tables if table not in (*ties, *surveys)]
    for table in people:
        _read_people(table, builder, with_ties=bool(ties))
    for table in ties:
        _read_ties(table, builder, declare=not people)
    for table in surveys:
        _read_surveys(table, builder)


def is_own(tables: Tables) -> bool:
    """Whether the columns are the project's own, two ends of ties, or begin with a node's id, as in Gephi's tables."""
    if any(has(table, "person_code") or has(table, "survey_id") or _pair(table) for table in tables):
        return True
    return any(normal(column) in ("id", "code", "nodeid", "codigo") for column in tables[0].columns[:1])


def _read_people(table: Table, builder: Builder, with_ties: bool) -> None:
    rows = builder.find(table, PEOPLE, strict=has(table, "person_code"))
    builder.refuse_contacts(table, PEOPLE, ties_elsewhere=with_ties)
    lines: dict[str, int] = {}
    for row in rows:
        code, name = row.code("people.code"), unescaped(row.full_name("people.name")).strip()
        if code in lines:
            row.problem("the code {code} comes twice, first in line {line}", code=shown(code), line=lines[code])
            continue
        lines[code] = row.line
        values = row.values(PEOPLE)
        _check_sessions(row, values)
        builder.person(row, code, name=name if name and name != code else None, **values)
        if row.text("people.status").casefold() in GONE:
            row.note("a person who withdrew: left out, with what they reported")
        if marked := row.code("people.marked"):
            builder.mark(row, code, marked)


def _check_sessions(row: Row, values: dict[str, Any]) -> None:
    """Leave out numbers of sessions that no leader can have."""
    numbers = {key: values[key] for key in ("sessions_attended", "sessions_missed") if values.get(key)}
    if sum(numbers.values()) > MAX_SESSIONS:
        row.refuse("more than {most} sessions of one person", most=MAX_SESSIONS)
    elif numbers and values.get("leader") is None and values.get("leader_rank") is None:
        row.note("sessions of a person who was not asked to lead: left out")
    else:
        return
    for key in numbers:
        del values[key]


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
    """One tie a row; in a list of who named whom, an empty contact means that the person named no one."""
    roles, pair = _tie_roles(table), _pair(table)
    rows = builder.find(table, roles, strict=True)
    builder.refuse_contacts(table, roles, ends=pair or ())
    of_a_graph = pair == ("source", "target")  # whose edges always have two ends
    if not of_a_graph:
        rows = _with_both_ends(rows, declare)
    for row in rows:
        source, target = row.code("ties.source"), row.code("ties.target")
        namers = unescaped_list(row.cells.get("ties.named_by", ""))
        known = [_is_known(row, code, declare) for code in (source, target, *namers)]
        weight = row.number("ties.weight", "the weight")
        if weight is not None and weight <= 0:
            row.problem("the weight is not above 0")
        elif all(known):
            asked = not of_a_graph and builder.people[source].status == "surveyed"
            if not namers and (asked or row.text("ties.type").casefold() == "directed"):
                namers = (source,)  # the person a tie leads from has named the other
            builder.tie(row, source, target, namers, weight or 1.0)


def _with_both_ends(rows: list[Row], declare: bool) -> list[Row]:
    """The rows with a contact; if some have none, all people on the left were surveyed."""
    found, people, no_contact = [], dict[str, Row](), False
    for row in rows:
        person, contact = row.code("ties.source"), row.code("ties.target")
        if not person:
            row.note("a row without a name: left out")
            continue
        people.setdefault(person, row)
        if contact and not names_no_one(contact):
            found.append(row)
            continue
        no_contact = True
        if contact:
            row.note("{cell} is taken as no contact: left out", cell=shown(contact))
    for person, row in people.items() if no_contact else ():
        if _is_known(row, person, declare) and row.builder.people[person].status == "named":
            row.builder.update(person, status="surveyed")
    return found


def _is_known(row: Row, code: str, declare: bool) -> bool:
    if code in row.builder.people:
        return True
    if declare and ";" in code:
        row.problem("{cell} is several people in one cell; write one contact a line", cell=shown(code))
    elif declare or not code:
        return row.builder.person(row, code) is not None
    else:
        row.problem("the tie names {code}, who is not among the people", code=shown(code))
    return False


def _read_surveys(table: Table, builder: Builder) -> None:
    for row in builder.find(table, SURVEYS, strict=True):
        person = row.code("surveys.person")
        if person not in builder.people:
            row.problem("the survey is of {code}, who is not among the people", code=shown(person))
        else:
            builder.survey(row, SurveyRecord(row.plain("surveys.id"), person, **row.values(SURVEYS)))


# Lists of names, and the table of programs for respondent-driven sampling ---------------------------------------------

ROSTER_NAME = Role(
    "roster.name",
    "the names",
    ("name", *FULL_NAMES, "names", "nickname", *FIRST_NAMES, "persona", "participante"),
    needed=True,
)
NAMES = (
    ROSTER_NAME,
    *surnames("roster.name"),
    Role("roster.is_start", "whether they are start people", ("isstart", "start")),
    Role("roster.group", "their group", GROUP_WORDS),
)
RECRUITS = (
    Role("recruit.id", "the people's ids", ("id",), needed=True),
    Role("recruit.by", "who recruited them", ("recruiterid",), needed=True),
    Role("recruit.size", "how many people they know", ("networksize", "networksizevariable", "degree")),
    Role("recruit.time", "when they were surveyed", ("time", "date")),
)


def read_roster(tables: Tables, builder: Builder) -> None:
    """One person a row; a name that comes again is the same person."""
    for table in tables:
        rows = builder.find(table, NAMES)
        builder.refuse_contacts(table, NAMES)
        for row in rows:
            known, name = len(builder.people), row.full_name("roster.name")
            if not name.strip():
                row.note("a row without a name: left out")
                continue
            group = row.group("roster.group")
            code = builder.named(row, name, is_start=row.truth("roster.is_start") or None, group=group)
            if code is not None and len(builder.people) == known:
                row.note("{name} comes again: taken as the same person", name=shown(name))


def is_recruitment(tables: Tables) -> bool:
    """Whether there are people and their recruiters."""
    return any(has(table, "id", "recruiter.id") for table in tables)


def read_recruitment(tables: Tables, builder: Builder) -> None:
    """All people in it were surveyed; those whose recruiter is not in it are start people."""
    table = next((table for table in tables if has(table, "id", "recruiter.id")), tables[0])
    builder.note_unused(tables, [table])
    rows = builder.find(table, RECRUITS)
    builder.refuse_contacts(table, RECRUITS, ties_elsewhere=True)
    for row in rows:
        code = row.code("recruit.id")
        if code in builder.people:
            row.problem("the id {code} comes twice", code=shown(code))
        else:
            size = row.count("recruit.size", "network.size")
            time = row.text("recruit.time") or None  # a date, or the number of a wave
            builder.person(row, code, status="surveyed", n_contacts=size, surveyed_at=time)
    _read_recruiters(rows, builder)


def _read_recruiters(rows: list[Row], builder: Builder) -> None:
    strangers: dict[str, None] = {}
    for row in rows:
        code, recruiter = row.code("recruit.id"), row.code("recruit.by")
        if code not in builder.people:
            continue
        builder.survey(row, SurveyRecord(f"survey of {code}", code, outcome="answered"))
        if recruiter in builder.people:
            builder.update(code, first_named_by=recruiter)
            builder.tie(row, recruiter, code, named_by=(recruiter,))
        else:
            strangers[recruiter] = None
            builder.update(code, is_start=True)
    if len(strangers) > 1:
        named = ", ".join(shown(each, 20) for each in list(strangers)[:5])
        text = "several recruiters are not in the file ({named}): taken for the start"
        builder.notes.add(rows[0].where, None, text, named=named)
