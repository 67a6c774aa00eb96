"""Surveys: whom to survey next, what they said, who refused or withdrew."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from claim.cli.common import JsonOption, say, show
from claim.cli.study.shared import (
    PersonArgument,
    StudiesOption,
    StudyOption,
    YesOption,
    app,
    opened_study,
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
    person: PersonArgument,
    contacts: Annotated[list[str] | None, typer.Argument(help="Whom they named: codes or names, new or known.")] = None,
    consent: Annotated[bool, typer.Option("--consent", help="They consented to the study's text.")] = False,
    partial: Annotated[bool, typer.Option("--partial", help="The survey is to go on later.")] = False,
    nobody: Annotated[bool, typer.Option("--nobody", help="They named nobody.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Enter a survey: somebody, and whom they named.

    Example: [bold]claim study answer --consent ana ben "Carla Díaz"[/bold]
    """
    named = contacts or []
    if (nobody and named) or not (nobody or named or partial):
        raise InputError("give the contacts, or --nobody if they named nobody")
    with opened_study(study, studies) as opened:
        who = opened.view.find(person)
        done = opened.run(lambda draft: _answer(draft, opened.view, who, named, consent, partial))
        new = done.result or []
    show({"person": who, "named": len(named), "new": new}, f"{who} named {len(named)}, of whom {len(new)} new", json)


@app.command()
def refuse(
    person: PersonArgument, study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None
) -> None:
    """Somebody does not want to be surveyed; they are not recommended again."""
    _not_surveyed(person, "refused", study, studies, json)


@app.command("no-show")
def no_show(
    person: PersonArgument,
    not_found: Annotated[bool, typer.Option("--not-found", help="Nobody knew where to find them.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Somebody was not there; they are recommended again later."""
    _not_surveyed(person, "not found" if not_found else "no-show", study, studies, json)


@app.command()
def withdraw(
    person: PersonArgument,
    yes: YesOption = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Erase somebody, their answers and whoever is known only through them, for good."""
    from claim.field import commands

    with opened_study(study, studies) as opened:
        who = opened.view.find(person)
        others = len(opened.study.known_only_through(who))
        if not yes:
            typer.confirm(f"Erase {who} and {others} people known only through them? This cannot be undone", abort=True)
        done = opened.run(lambda draft: commands.withdraw(draft, who))
    erased = list(done.result or ())
    show({"erased": erased}, f"erased {', '.join(erased)}", json)


def _not_surveyed(
    person: str, outcome: Literal["refused", "no-show", "not found"], study: str, studies: str | None, json: str | None
) -> None:
    from claim.field import commands

    with opened_study(study, studies) as opened:
        who = opened.view.find(person)
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
    code = contact.strip().upper()
    if code in view.study.state.people or view.index.same(contact):
        return view.find(contact)
    return None
