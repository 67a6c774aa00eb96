"""Puts a bundle together while files are read: people by code or by name, each tie once, findings as they come."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from claim.field.exchange.files.limits import MAX_CODE, MAX_NAME
from claim.field.exchange.files.tables import Table
from claim.field.exchange.formats.mapping import Columns
from claim.field.exchange.records import Bundle, PersonRecord, SurveyRecord, TieRecord, together
from claim.field.exchange.report import Findings, Report
from claim.field.names import clean
from claim.networks.formats.text import shown


class Builder:
    """What the readers of all formats write into."""

    def __init__(self, mapping: Mapping[str, str] | None = None, join_names: bool = True) -> None:
        self.problems, self.notes = Findings(), Findings()
        self.columns = Columns(mapping or {}, self.problems)
        self.mapping = mapping or {}
        self._join_names = join_names
        self._people: dict[str, PersonRecord] = {}
        self._ties: dict[frozenset[str], TieRecord] = {}
        self._surveys: dict[str, SurveyRecord] = {}
        self._by_name: dict[str, str] = {}
        self._repeated_ties = self._repeated_people = 0

    # People ----------------------------------------------------------------------------------------------------------

    def knows(self, code: str) -> bool:
        """Whether somebody has this code."""
        return code in self._people

    def person(self, table: Table, line: int, code: str, **fields: Any) -> str | None:
        """Somebody by code; None, and a problem is noted, if the code or the name cannot be used."""
        if problem := _code_problem(code) or _name_problem(fields.get("name")):
            self.problems.add(table.where, line, problem)
            return None
        if code in self._people:
            self.update(code, **fields)
            self._repeated_people += 1
        else:
            self._people[code] = PersonRecord(code, **fields)
        return code

    def named(self, table: Table, line: int, name: str, **fields: Any) -> str | None:
        """Somebody known by name only; the same name (but for case and blanks) is the same person."""
        key = clean(name).casefold()
        if not key:
            self.problems.add(table.where, line, "a name is missing")
            return None
        known = self._by_name.get(key) if self._join_names else None
        if known is not None:
            self._repeated_people += 1
            self.update(known, **fields)
            return known
        code = self.person(table, line, f"new-{len(self._people) + 1}", name=name.strip(), **fields)
        if code is not None:
            self._by_name[key] = code
        return code

    def update(self, code: str, **fields: Any) -> None:
        """More about somebody; what is not known does not replace what is."""
        known = {name: value for name, value in fields.items() if value is not None}
        self._people[code] = replace(self._people[code], **known)

    # Ties and surveys ------------------------------------------------------------------------------------------------

    def tie(self, table: Table, line: int, tie: TieRecord) -> None:
        """A tie between known people; one that comes again is put together with the first."""
        if tie.source == tie.target:
            self.notes.add(table.where, line, f"{shown(tie.source)} is tied to themselves: left out")
            return
        pair = frozenset((tie.source, tie.target))
        if pair in self._ties:
            self._repeated_ties += 1
            tie = together(self._ties[pair], tie)
        self._ties[pair] = tie

    def survey(self, table: Table, line: int, survey: SurveyRecord) -> None:
        """A survey; its id may come only once."""
        if survey.survey_id in self._surveys:
            self.problems.add(table.where, line, f"the survey {shown(survey.survey_id)} comes twice")
        self._surveys[survey.survey_id] = survey

    # The end ---------------------------------------------------------------------------------------------------------

    def bundle(self, derive: bool) -> Bundle:
        """What was put together; ``derive`` counts contacts and namings where the format does not."""
        ties = tuple(self._ties.values())
        people = _counted(self._people, ties) if derive else tuple(self._people.values())
        return Bundle(people, ties, tuple(self._surveys.values()))

    def report(self, tables: list[Table]) -> Report:
        """The findings."""
        return Report(
            rows={table.where: len(table.rows) for table in tables},
            columns={table.where: table.columns for table in tables},
            problems=self.problems.all(),
            notes=self.notes.all(),
            repeated_ties=self._repeated_ties,
            repeated_people=self._repeated_people,
        )


def _code_problem(code: str) -> str | None:
    if not code:
        return "a code is missing"
    if len(code) > MAX_CODE:
        return f"the code {shown(code, 20)} is longer than {MAX_CODE} characters"
    if code != code.strip() or any(ord(character) < 32 or 127 <= ord(character) < 160 for character in code):
        return f"the code {shown(code)} has blanks around it or a control character in it"
    return None


def _name_problem(name: str | None) -> str | None:
    if name is not None and len(name) > MAX_NAME:
        return f"the name {shown(name, 20)} is longer than {MAX_NAME:,} characters"
    return None


def _counted(people: Mapping[str, PersonRecord], ties: tuple[TieRecord, ...]) -> tuple[PersonRecord, ...]:
    contacts: dict[str, int] = dict.fromkeys(people, 0)
    namers: dict[str, dict[str, None]] = {code: {} for code in people}
    for tie in ties:
        for person in (tie.source, tie.target):
            contacts[person] += 1
            namers[person].update(dict.fromkeys(code for code in tie.named_by if code != person))
    return tuple(
        replace(
            person,
            n_contacts=contacts[person.code] if person.n_contacts is None else person.n_contacts,
            times_named=len(namers[person.code]),
            first_named_by=person.first_named_by or next(iter(namers[person.code]), None),
        )
        for person in people.values()
    )
