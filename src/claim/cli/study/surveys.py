"""Surveys: whom to survey next, what they said, who refused or withdrew."""

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from claim.cli.common import JsonOption, say, show
from claim.cli.study.shared import (
    PERSON,
    CodesArgument,
    Entered,
    PersonArgument,
    StudiesOption,
    StudyOption,
    YesOption,
    app,
    coded,
    is_code,
    opened_study,
    person_of,
    table_of,
    warn_of_similar,
)  # fmt: skip
from claim.errors import InputError

if TYPE_CHECKING:
    from claim.field.draft import Draft
    from claim.field.opened import View


@app.command("next")
def next_person(
    count: Annotated[int | None, typer.Option("-n", "--count", help="Plan a round of so many people.")] = None,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Say whom to survey next, and why.

    Example: [bold]claim study next --count 3[/bold]
    """
    from claim.field import summaries
    from claim.field.advice import recommend
    from claim.field.advice import show as note

    with opened_study(study, studies) as opened:
        advice = recommend(opened.study, count)
        opened.run(lambda draft: note(draft, advice))
        result = summaries.advice(opened.view, advice)
    for word in result["notes"]:
        say(word)
    rows = [{**row, "why": "; ".join(row["reasons"])} for row in result["ranking"]]
    show(result, table_of(f"Whom to survey next ({result['policy']})", ["rank", "person", "name", "why"], rows), json)


@app.command()
def answer(
    person: PersonArgument = None,
    contacts: CodesArgument = None,
    consent: Annotated[bool, typer.Option("--consent", help="They consented to the study's text.")] = False,
    partial: Annotated[bool, typer.Option("--partial", help="The survey is to go on later.")] = False,
    nobody: Annotated[bool, typer.Option("--nobody", help="They named nobody.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Enter a survey: a person, and whom they named.

    Without codes the contacts, and before them the person, are asked for, or read from standard input, one a line.

    Example: [bold]claim study answer P1 --consent[/bold]
    """
    if nobody and contacts:
        raise InputError("give the contacts, or --nobody if they named nobody")
    with opened_study(study, studies) as opened:
        view, entered = opened.view, Entered()
        who = coded(view, person) if person else entered.one(PERSON, view.find)
        named = contacts or []
        if not (contacts or nobody):
            named = entered.many("Contacts (codes or names)", lambda contact: _known(view, contact))
        entered.end()
        if not (named or nobody or partial):
            raise InputError("no contacts were entered: give --nobody if they named nobody")
        done = opened.run(lambda draft: _answer(draft, opened.view, who, named, consent, partial))
        new = done.result or []
    show({"person": who, "named": len(named), "new": new}, f"{who} named {len(named)}, of whom {len(new)} new", json)


@app.command()
def refuse(
    person: PersonArgument = None, study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None
) -> None:
    """Note that a person refused to be surveyed; they are not recommended again."""
    _not_surveyed(person, "refused", study, studies, json)


@app.command("no-show")
def no_show(
    person: PersonArgument = None,
    not_found: Annotated[bool, typer.Option("--not-found", help="Nobody knew where to find them.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Note that a person was not there; they are recommended again later."""
    _not_surveyed(person, "not found" if not_found else "no-show", study, studies, json)


@app.command()
def withdraw(
    person: PersonArgument = None,
    yes: YesOption = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Erase a person, their answers and the people known only through them, for good."""
    from claim.field import commands

    if not (person or yes or sys.stdin.isatty()):
        raise InputError("to withdraw a person named on standard input, confirm it with --yes")
    with opened_study(study, studies) as opened:
        who = person_of(opened.view, person)
        others = len(opened.study.known_only_through(who))
        if not yes:
            typer.confirm(f"Erase {who} and {others} people known only through them? This cannot be undone", abort=True)
        done = opened.run(lambda draft: commands.withdraw(draft, who))
    erased = list(done.result or ())
    show({"erased": erased}, f"erased {', '.join(erased)}", json)


def _not_surveyed(
    person: str | None,
    outcome: Literal["refused", "no-show", "not found"],
    study: str,
    studies: str | None,
    json: str | None,
) -> None:
    from claim.field import commands

    with opened_study(study, studies) as opened:
        who = person_of(opened.view, person)
        opened.run(lambda draft: commands.not_surveyed(draft, who, outcome))
    show({"person": who, "outcome": outcome}, f"{who}: {outcome}", json)


def _answer(draft: "Draft", view: "View", person: str, contacts: list[str], consent: bool, partial: bool) -> list[str]:
    """A whole survey as one step; returns the codes of the people nobody had mentioned before."""
    from claim.field import commands
    from claim.field.names import words

    commands.start_survey(draft, person, consent=consent)
    new: dict[object, str] = {}
    for contact in contacts:
        known, spelt = _known(view, contact), words(contact) or contact
        if known is None and spelt not in new:
            warn_of_similar(view, contact)
            new[spelt] = commands.name_new_contact(draft, person, contact)
        elif known is not None:
            commands.name_contact(draft, person, known)
    commands.end_survey(draft, person, "partial" if partial else "answered")
    return list(new.values())


def _known(view: "View", contact: str) -> str | None:
    if is_code(contact):
        return coded(view, contact)
    return view.find(contact) if view.index.same(contact) else None
