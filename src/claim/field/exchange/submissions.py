"""Kobo and ODK: one row for every submitted form, and a table of a repeated question, one row a contact."""

from dataclasses import dataclass

from claim.field.exchange.builder import Builder, Cells, Importer, Picked, Role, Tables, has, refuse_contacts, unused
from claim.field.exchange.records import SurveyRecord, TieRecord
from claim.field.study.names import in_order
from claim.io.tables import Table
from claim.io.text import shown

_RESPONDENT = Role(
    "respondent.name",
    "the name of the person surveyed",
    ("respondentname", "respondent", "yourname", "egoname", "ego", "participantname", "participant", "fullname",
     "nickname", "name", "personcode", "code"),
    needed=True,
    within=("respondent", "participant", "name"),
)  # fmt: skip
_CONTACT = Role(
    "contact.name",
    "the name of the contact",
    ("contactname", "contact", "altername", "alter", "friendname", "friend", "personname", "fullname", "nickname",
     "name"),
    needed=True,
    within=("name", "contact"),
)  # fmt: skip
_REST = (
    Role("respondent.consent", "whether they consented", ("consent", "consentgiven", "doyouagree", "agree")),
    Role("respondent.started_at", "when it began", ("start", "starttime")),
    Role("respondent.ended_at", "when it ended", ("end", "endtime", "submissiontime", "submissiondate")),
)
_CONTACTS_TABLE = "contact.table"  # of the mapping: which of several repeats holds the contacts
# Words of an answer to the question of consent
_CONSENTED = frozenset({
    "yes", "y", "true", "1", "ok", "okay", "agree", "agreed", "agrees", "accept", "accepted", "accepts", "consent",
    "consented", "consents", "given", "granted", "oui", "si", "sim", "ja", "ndio", "ndiyo", "haa", "ee",
})  # fmt: skip
_REFUSED = frozenset({
    "no", "n", "false", "0", "not", "dont", "none", "never", "refuse", "refused", "refuses", "decline", "declined",
    "declines", "disagree", "disagreed", "disagrees", "denied", "non", "nao", "nein", "nee", "hapana",
})  # fmt: skip


@dataclass(frozen=True)
class Keys:
    """How the rows of the two tables refer to each other."""

    own: Role
    parent: Role
    survey: Role


KOBO = Keys(
    Role("respondent.key", "the number of the row", ("index",), needed=True),
    Role("contact.parent", "the row it belongs to", ("parentindex",), needed=True),
    Role("respondent.survey", "the submission's id", ("rootuuid", "uuid", "id")),
)
ODK = Keys(
    Role("respondent.key", "the submission's key", ("key",), needed=True),
    Role("contact.parent", "the key of the submission", ("parentkey",), needed=True),
    Role("respondent.survey", "the submission's id", ("key",)),
)


def recognises_kobo(tables: Tables) -> bool:
    """Whether the columns are Kobo's."""
    return any(has(table, "_index") and (has(table, "_uuid") or has(table, "rootUuid")) for table in tables) or any(
        has(table, "_parent_index") for table in tables
    )


def recognises_odk(tables: Tables) -> bool:
    """Whether the columns are ODK's."""
    return any("KEY" in table.columns or "PARENT_KEY" in table.columns for table in tables)


def read_kobo(tables: Tables, builder: Builder) -> None:
    """The main sheet has an index, sheets of repeats the index of their parent."""
    _read([table for table in tables if not has(table, "_parent_index")], tables, builder, KOBO)


def read_odk(tables: Tables, builder: Builder) -> None:
    """The root table has keys, tables of repeats the key of their parent."""
    _read([table for table in tables if "PARENT_KEY" not in table.columns], tables, builder, ODK)


def _read(roots: Tables, tables: Tables, builder: Builder, keys: Keys) -> None:
    keyed = [table for table in roots if has(table, *keys.own.words[:1])]
    if not keyed:
        builder.problems.add(
            tables[0].where, None, "the table of the submissions is missing; bring in the whole export"
        )
        return
    contacts = _contacts_table([table for table in tables if table not in roots], builder)
    for table in tables:
        if table not in (keyed[0], contacts):
            unused(builder, table)
    respondents = _read_respondents(keyed[0], builder, keys, with_contacts=contacts is not None)
    if contacts is not None:
        _read_contacts(contacts, builder, keys, respondents)
    for each in respondents.values():
        builder.survey(keyed[0], each.line, each.survey())


def _contacts_table(repeats: Tables, builder: Builder) -> Table | None:
    """The chosen repeat, else the first that has a column for names."""
    chosen = builder.mapping.get(_CONTACTS_TABLE)
    if chosen:
        return next((table for table in repeats if chosen in (table.name, table.where)), None)
    for table in repeats:
        if any(
            word in column.casefold() for column in table.columns for word in ("name", "contact", "friend", "alter")
        ):
            return table
    return repeats[0] if repeats else None


@dataclass
class _Respondent:
    code: str
    line: int
    id: str
    started_at: str | None
    ended_at: str | None
    refused: bool
    named: int = 0

    def survey(self) -> SurveyRecord:
        outcome = "refused" if self.refused else "answered" if self.named else "named nobody"
        count = None if self.refused else self.named
        return SurveyRecord(self.id, self.code, self.started_at, self.ended_at, outcome, count)


def _read_respondents(table: Table, builder: Builder, keys: Keys, with_contacts: bool) -> dict[str, _Respondent]:
    picked = builder.columns.find(table, (keys.own, keys.survey, _RESPONDENT, *_REST))
    refuse_contacts(builder, table, picked, ties_elsewhere=with_contacts)
    found: dict[str, _Respondent] = {}
    for line, row in picked.rows() if picked else ():
        key = row["respondent.key"].strip()
        refused = _did_not_consent(row.get("respondent.consent"), table, line, builder)
        code = builder.named(table, line, row["respondent.name"], status="refused" if refused else "surveyed")
        if key in found:
            builder.problems.add(table.where, line, "the submission {key} comes twice", key=shown(key))
        elif code is not None:
            found[key] = _respondent(code, line, row, refused, Cells(builder, table, line, strict=False))
            builder.update(code, surveyed_at=None if refused else found[key].ended_at)
    return found


def _did_not_consent(answer: str | None, table: Table, line: int, builder: Builder) -> bool:
    """Whether a person did not consent; where consent was asked, only a yes is one. None: it was not asked."""
    if answer is None:
        return False
    said = set(in_order(answer))
    if not said:
        builder.notes.add(table.where, line, "nothing says that they consented: taken as a refusal")
    elif not said & (_CONSENTED | _REFUSED):
        text = "whether they consented, {answer}, is neither yes nor no"
        builder.problems.add(table.where, line, text, answer=shown(answer))
    return bool(said & _REFUSED) or not said & _CONSENTED


def _respondent(code: str, line: int, row: dict[str, str], refused: bool, cells: Cells) -> _Respondent:
    started = cells.time(row.get("respondent.started_at", ""), "the start")
    ended = cells.time(row.get("respondent.ended_at", ""), "the end")
    survey = row.get("respondent.survey", "").strip() or row["respondent.key"].strip()
    return _Respondent(code, line, survey.removeprefix("uuid:"), started, ended, refused)


def _read_contacts(table: Table, builder: Builder, keys: Keys, respondents: dict[str, _Respondent]) -> None:
    picked: Picked | None = builder.columns.find(table, (keys.parent, _CONTACT))
    for line, row in picked.rows() if picked else ():
        parent = row["contact.parent"].strip()
        respondent = respondents.get(parent) or respondents.get(parent.partition("/")[0])
        if respondent is None:
            text = "there is no submission {key} for this contact"
            builder.problems.add(table.where, line, text, key=shown(parent))
        elif respondent.refused:
            builder.notes.add(table.where, line, "a contact of a person who did not consent: left out")
        elif not row["contact.name"].strip():
            builder.notes.add(table.where, line, "a contact without a name: left out")
        else:
            _contact(table, line, row["contact.name"], respondent, builder)


def _contact(table: Table, line: int, name: str, respondent: _Respondent, builder: Builder) -> None:
    contact = builder.named(table, line, name)
    if contact is not None:
        respondent.named += contact != respondent.code
        builder.tie(table, line, TieRecord(respondent.code, contact, named_by=(respondent.code,)))


KOBO_IMPORTER = Importer("kobo", "KoboToolbox (XLSX with a repeat)", recognises_kobo, read_kobo)
ODK_IMPORTER = Importer("odk", "ODK (zip of CSV files)", recognises_odk, read_odk)
