"""Kobo and ODK: one row for every submitted form, and a table of a repeated question, one row a contact."""

from claim.field.exchange.builder import (
    FIRST_NAMES,
    FULL_NAMES,
    GROUP_WORDS,
    MARKED,
    Builder,
    Role,
    Row,
    Tables,
    has,
    surnames,
)
from claim.field.exchange.records import SurveyRecord
from claim.field.study.names import in_order
from claim.io.tables import Table
from claim.io.text import shown

RESPONDENT = Role(
    "respondent.name",
    "the name of the person surveyed",
    ("respondentname", "respondent", "yourname", "egoname", "ego", "participantname", "participant", "encuestado",
     "encuestada", "entrevistado", "entrevistada", "participante", *FULL_NAMES, "nickname", "name", *FIRST_NAMES,
     "person", "persona", "personcode", "code", "codigo", "id"),
    needed=True,
    within=("respondent", "participant", "encuestad", "entrevistad", "name", "nombre"),
)  # fmt: skip
_CONTACT = Role(
    "contact.name",
    "the name of the contact",
    ("contactname", "contact", "altername", "alter", "friendname", "friend", "personname", "fullname", "nickname",
     "name"),
    needed=True,
    within=("name", "contact"),
)  # fmt: skip
REST = (
    Role(
        "respondent.consent",
        "whether they consented",
        ("consent", "consentgiven", "doyouagree", "agree", "consentimiento", "consiente", "acepta", "autoriza"),
    ),
    Role("respondent.started_at", "when it began", ("start", "starttime")),
    Role("respondent.ended_at", "when it ended", ("end", "endtime", "submissiontime", "submissiondate")),
    Role("respondent.group", "their group", GROUP_WORDS),
)
_CONTACTS_TABLE = "contact.table"  # of the mapping: which of several repeats holds the contacts
# Words of an answer to the question of consent
_CONSENTED = frozenset({
    "yes", "y", "true", "1", "ok", "okay", "agree", "agreed", "agrees", "accept", "accepted", "accepts", "consent",
    "consented", "consents", "given", "granted", "signed", "oui", "si", "acepto", "acepta", "acuerdo", "autorizo",
    "autoriza", "consiento", "consiente", "firmado", "sim", "ja", "ndio", "ndiyo", "haa", "ee",
})  # fmt: skip
_REFUSED = frozenset({
    "no", "n", "false", "0", "not", "dont", "none", "never", "refuse", "refused", "refuses", "decline", "declined",
    "declines", "disagree", "disagreed", "disagrees", "denied", "non", "nao", "nein", "nee", "hapana",
})  # fmt: skip


Keys = tuple[Role, Role, Role]  # how rows refer to each other: their own key, that of their parent, and the survey
KOBO: Keys = (
    Role("respondent.key", "the number of the row", ("index",), needed=True),
    Role("contact.parent", "the row it belongs to", ("parentindex",), needed=True),
    Role("respondent.survey", "the submission's id", ("rootuuid", "uuid", "id")),
)
ODK: Keys = (
    Role("respondent.key", "the submission's key", ("key",), needed=True),
    Role("contact.parent", "the key of the submission", ("parentkey",), needed=True),
    Role("respondent.survey", "the submission's id", ("key",)),
)


def is_kobo(tables: Tables) -> bool:
    """Whether the columns are Kobo's."""
    main = [table for table in tables if has(table, "_index") and (has(table, "_uuid") or has(table, "rootUuid"))]
    return bool(main) or any(has(table, "_parent_index") for table in tables)


def is_odk(tables: Tables) -> bool:
    """Whether the columns are ODK's."""
    return any("KEY" in table.columns or "PARENT_KEY" in table.columns for table in tables)


def read_submissions(tables: Tables, builder: Builder, keys: Keys) -> None:
    """The main table has keys, tables of repeats the key of their parent."""
    own, parent, survey = keys
    roots = [table for table in tables if not has(table, parent.words[0])]
    submissions = next((table for table in roots if has(table, own.words[0])), None)
    if submissions is None:
        text = "the table of the submissions is missing; bring in the whole export"
        builder.problems.add(tables[0].where, None, text)
        return
    contacts = _contacts_table([table for table in tables if table not in roots], builder)
    builder.note_unused(tables, (submissions, contacts))
    roles = (own, survey, RESPONDENT, *surnames(RESPONDENT.key), *REST)
    surveys = _read_respondents(submissions, builder, roles, with_contacts=contacts is not None)
    if contacts is not None:
        _read_contacts(builder.find(contacts, (parent, _CONTACT, MARKED)), builder, surveys)


def _contacts_table(repeats: Tables, builder: Builder) -> Table | None:
    """The chosen repeat, else the first that has a column for names."""
    chosen = builder.mapping.get(_CONTACTS_TABLE)
    if chosen:
        return next((table for table in repeats if chosen in (table.name, table.where)), None)
    for table in repeats:
        columns = " ".join(table.columns).casefold()
        if any(word in columns for word in ("name", "contact", "friend", "alter")):
            return table
    return repeats[0] if repeats else None


def _read_respondents(
    table: Table, builder: Builder, roles: tuple[Role, ...], with_contacts: bool
) -> dict[str, SurveyRecord]:
    """Surveys by the key of their submission."""
    rows = builder.find(table, roles)
    builder.refuse_contacts(table, roles, ties_elsewhere=with_contacts)
    found: dict[str, SurveyRecord] = {}
    for row in rows:
        key, refused = row.text("respondent.key"), did_not_consent(row)
        code = builder.named(row, row.full_name("respondent.name"), status="refused" if refused else "surveyed")
        if key in found:
            row.problem("the submission {key} comes twice", key=shown(key))
        elif code is not None:
            started, ended = row.time("respondent.started_at", "the start"), row.time("respondent.ended_at", "the end")
            survey = (row.text("respondent.survey") or key).removeprefix("uuid:")
            found[key] = SurveyRecord(survey, code, started, ended, "refused" if refused else None)
            builder.survey(row, found[key])
            if not refused:
                builder.update(code, surveyed_at=ended, group=row.group("respondent.group"))
    return found


def did_not_consent(row: Row) -> bool:
    """Whether a person did not consent; where consent was asked, only a yes is one."""
    answer = row.cells.get("respondent.consent")
    if answer is None:
        return False
    said = set(in_order(answer))
    if not said:
        row.note("nothing says that they consented: taken as a refusal")
    elif not said & (_CONSENTED | _REFUSED):
        row.problem("whether they consented, {answer}, is neither yes nor no", answer=shown(answer))
    return bool(said & _REFUSED) or not said & _CONSENTED


def _read_contacts(rows: list[Row], builder: Builder, surveys: dict[str, SurveyRecord]) -> None:
    for row in rows:
        parent, name = row.text("contact.parent"), row.text("contact.name")
        survey = surveys.get(parent) or surveys.get(parent.partition("/")[0])
        if survey is None:
            row.problem("there is no submission {key} for this contact", key=shown(parent))
        elif survey.outcome == "refused":
            row.note("a contact of a person who did not consent: left out")
        elif not name:
            row.note("a contact without a name: left out")
        elif (contact := builder.named(row, name)) is not None:
            builder.named_in[survey.survey_id] += contact != survey.person_code
            builder.tie(row, survey.person_code, contact, named_by=(survey.person_code,))
            builder.mark_if_said(row, survey.person_code, contact)
