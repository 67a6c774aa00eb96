"""Forms in one table: one row a respondent, whose contacts, or the coupons they handed out, stand in columns."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from claim.field.exchange.builder import Builder, Role, Row, Tables, has, normal, suggested, surnames
from claim.field.exchange.network_tables import ROSTER_NAME, read_roster
from claim.field.exchange.records import SurveyRecord
from claim.field.exchange.submissions import RESPONDENT, REST, did_not_consent
from claim.io.columns import (
    contact_part,
    is_contact,
    is_given_coupon,
    is_numbered_contact,
    is_own_coupon,
    is_recruitment,
    known_pair,
    looks_like_name,
    names_no_one,
)
from claim.io.tables import Table
from claim.io.text import shown
from claim.messages import Count

_CODE = Role("respondent.code", "their code, by which others may name them", ("id", "code", "codigo", "personid"))
_OTHERS = ("personcode", "surveyid", "parentindex", "parentkey")  # columns of other formats


def is_form(tables: Tables) -> bool:
    """Whether there are columns of contacts or coupons, and no list of ties or repeated question besides."""
    return any(map(_is_form, tables)) and not any(map(_is_of_another_format, tables))


def _is_of_another_format(table: Table) -> bool:
    return bool(known_pair([_last(column) for column in table.columns])) or any(has(table, each) for each in _OTHERS)


def _is_form(table: Table) -> bool:
    return bool(_contacts(table) or _coupons(table))


def read_forms(tables: Tables, builder: Builder) -> None:
    """The respondents of all forms first, since a contact may be given by the code of one; then lists of names."""
    forms = list(filter(_is_form, tables)) or tables
    read = [_Form(table, builder) for table in forms]
    codes = {code: person for form in read for code, person in form.codes.items()}
    for form in read:
        form.read_contacts(codes)
        form.read_coupons()
        form.note_unused()
    lists = [table for table in tables if table not in forms and _is_list(table, builder)]
    builder.note_unused(tables, [*forms, *lists])
    read_roster(lists, builder)


def _is_list(table: Table, builder: Builder) -> bool:
    """Whether a table beside a form lists names: a column says so. Other sheets hold notes or the choices of a form."""
    chosen = builder.mapping.get(ROSTER_NAME.key)
    named = suggested(table.columns, ROSTER_NAME) if chosen is None else chosen
    return table.has_header is not False and named in table.columns


def _last(column: str) -> str:
    """A column's name without the groups of a form before it."""
    return column.rpartition("/")[2]


# Columns --------------------------------------------------------------------------------------------------------------


def _contacts(table: Table) -> list[tuple[str, str]]:
    """The columns of each contact: of the name, and of the last name if that has one of its own, else nothing.

    Columns such as ``friend``, without a number, count only if there are none with numbers, a respondent stands beside
    them, and they hold mostly names.
    """
    names: dict[tuple[str, int], list[tuple[bool, int, str]]] = {}
    last: dict[tuple[str, int], str] = {}
    for column in table.columns:
        part = contact_part(_last(column))
        if part is not None and part.is_surname:
            last[part.word, part.number] = column
        elif part is not None:
            names.setdefault((part.word, part.number), []).append((part.is_code, len(column), column))
    found = [(min(columns)[2], last.get(contact, "")) for contact, columns in names.items()]
    if not found and suggested(table.columns, RESPONDENT):
        unnumbered = (column for column in table.columns if is_contact(_last(column)))
        found = [(column, "") for column in unnumbered if _share_of_names(table, column) > 0.5]
    return found


def _coupons(table: Table) -> tuple[str, list[str]] | None:
    """The column of the coupon a person came with, and those of the coupons they handed out, if both are there."""
    own = next((column for column in table.columns if is_own_coupon(_last(column))), None)
    given = [column for column in table.columns if is_given_coupon(_last(column))]
    return (own, given) if own and given else None


def _share_of_names(table: Table, column: str) -> float:
    """How many of the cells with anything in them look like names."""
    place = table.columns.index(column)
    cells = [row.cells[place] for row in table.rows if row.cells[place].strip()]
    return sum(map(looks_like_name, cells)) / len(cells) if cells else 0.0


def _numbered(key: str, title: str, columns: list[str], mapping: Mapping[str, str]) -> list[Role]:
    """A role for each of these columns, and one for a further column that the user may choose."""
    chosen = [int(role.rpartition(".")[2]) for role in mapping if role.startswith(f"{key}.") and role[-1:].isdecimal()]
    count = min(max([len(columns), *chosen]), 100) + 1
    words = [*((normal(column),) for column in columns), *[()] * count]
    return [Role(key=f"{key}.{i}", title=title, words=words[i - 1]) for i in range(1, count + 1)]


# Rows -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Respondent:
    row: Row
    code: str
    survey: str
    refused: bool


class _Form:
    """A table and its respondents."""

    def __init__(self, table: Table, builder: Builder) -> None:
        contacts, coupons = _contacts(table), _coupons(table)
        own, given = coupons or ("", [])
        self._table, self._builder = table, builder
        self._contacts = _numbered("contact", "a contact", [name for name, _ in contacts], builder.mapping)
        self._last = {
            f"contact.{i}": Role(key=f"contact.{i}.last", title="the last name of a contact", words=(normal(last),))
            for i, (_, last) in enumerate(contacts, start=1)
            if last
        }
        self._own = Role("coupon.own", "the coupon they came with", (normal(own),) if own else ())
        self._given = _numbered("coupon", "a coupon they handed out", given, builder.mapping) if given else []
        coupon_roles = (self._own, *self._given) if given else ()
        roles = (
            RESPONDENT, *surnames(RESPONDENT.key), _CODE, *REST, *self._contacts, *self._last.values(), *coupon_roles
        )  # fmt: skip
        rows = builder.find(table, roles)
        self._shown = {role.key: shown(column) for column, role in builder.used[table].items()}  # columns by role
        self._respondents = list(self._read(rows))

    @property
    def codes(self) -> dict[str, str]:
        """People by the code that the form gives them."""
        found = ((each.row.text(_CODE.key).casefold(), each.code) for each in self._respondents)
        return {code: person for code, person in found if code}

    def _read(self, rows: Iterable[Row]) -> Iterator[_Respondent]:
        refusals: dict[str, bool] = {}
        for row in rows:
            name = row.full_name(RESPONDENT.key)
            if not name.strip():
                row.note("a row without a name: left out")
                continue
            refused = did_not_consent(row)
            code = self._builder.named(row, name, status="refused" if refused else "surveyed")
            if code is None:
                continue
            if code in refusals:
                row.note("{name} comes again: taken as the same person", name=shown(name))
                if refusals[code] != refused:
                    row.problem("{name} consents in one row and not in another", name=shown(name))
            refusals[code] = refused
            started, ended = row.time("respondent.started_at", "the start"), row.time("respondent.ended_at", "the end")
            survey = SurveyRecord(f"{row.where}:{row.line}", code, started, ended, "refused" if refused else None)
            self._builder.survey(row, survey)
            if not refused:
                self._builder.update(code, surveyed_at=ended, group=row.group("respondent.group"))
            yield _Respondent(row, code, survey.survey_id, refused)

    def _cells(self, respondent: _Respondent, roles: Iterable[Role]) -> Iterator[str]:
        """The cells of a row that name contacts; those of a person who did not consent are left out."""
        for role in roles:
            cell = respondent.row.text(role.key)
            if role.key in self._last:
                cell = f"{cell} {respondent.row.text(self._last[role.key].key)}".strip()
            if cell and respondent.refused:
                text = "{column} of a person who did not consent: left out"
                respondent.row.note(text, column=self._shown.get(role.key, ""))
            elif names_no_one(cell):
                respondent.row.note("{cell} is taken as no contact: left out", cell=shown(cell))
            elif cell:
                yield cell

    def read_contacts(self, codes: Mapping[str, str]) -> None:
        """Each contact is a tie; contacts are people by their code in the form, or else by name."""
        for each in self._respondents:
            row = each.row
            for name in self._cells(each, self._contacts):
                if ";" in name or "\n" in name:
                    row.problem("{cell} is several people in one cell; write one contact a line", cell=shown(name))
                    continue
                contact = codes.get(name.casefold()) or self._builder.named(row, name)
                if contact is not None:
                    self._tie(row, each.code, contact, each.survey)

    def read_coupons(self) -> None:
        """Who came with a coupon is a contact of the person who handed it out; the others are start people."""
        if not self._given:
            return
        givers: dict[str, dict[str, str]] = {}  # by coupon, with their surveys
        for each in self._respondents:
            for coupon in self._cells(each, self._given):
                givers.setdefault(coupon.casefold(), {})[each.code] = each.survey
        brought = set()
        for each in self._respondents:
            coupon = each.row.text(self._own.key)
            found = givers.get(coupon.casefold(), {})
            brought.add(coupon.casefold())
            if len(found) > 1:
                text = "the coupon {coupon} was handed out by several people: left out"
                each.row.note(text, coupon=shown(coupon))
            for giver, survey in found.items() if len(found) == 1 else ():
                self._builder.update(each.code, first_named_by=giver)
                self._tie(each.row, giver, each.code, survey)
            if not found:
                self._builder.update(each.code, is_start=True)
                if coupon:
                    text = "no one in the file handed out the coupon {coupon}: taken as a start person"
                    each.row.note(text, coupon=shown(coupon))
        if unused := givers.keys() - brought:
            text = "coupons that no one came with: {count}, left out"
            self._builder.notes.add(self._table.where, None, text, count=Count(len(unused)))

    def _tie(self, row: Row, person: str, contact: str, survey: str) -> None:
        self._builder.named_in[survey] += contact != person
        self._builder.tie(row, person, contact, named_by=(person,))

    def note_unused(self) -> None:
        """Say which other columns may hold contacts."""
        used = self._builder.used[self._table]
        for column in self._table.columns:
            name = _last(column)
            suspect = contact_part(name) or is_numbered_contact(name) or is_recruitment(name) or is_contact(name)
            if column not in used and suspect and _share_of_names(self._table, column) > 0:
                text = "the column {column} may hold contacts, but is not used"
                self._builder.notes.add(self._table.where, self._table.line, text, column=shown(column))
