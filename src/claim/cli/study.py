"""``claim study``: a study without the web page, one step a command; names stay in the encrypted file."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.cli.common import JsonOption, SeedOption, names, say, show
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from claim.field.draft import Draft
    from claim.field.library import Library
    from claim.field.opened import OpenStudy, View

PASSPHRASE_VARIABLE = "CLAIM_PASSPHRASE"
NEW_PASSPHRASE_VARIABLE = "CLAIM_NEW_PASSPHRASE"

app = typer.Typer(help="Run a study from the command line.", no_args_is_help=True)

StudyOption = Annotated[str, typer.Option("--study", "-s", metavar="ID", help="Which study; not needed if only one.")]
StudiesOption = Annotated[
    str | None, typer.Option("--studies", metavar="DIR", help="Where studies are kept (else CLAIM_STUDIES).")
]
PersonArgument = Annotated[str, typer.Argument(help="A code or a name.")]
AnswerArgument = Annotated[str, typer.Argument(help="offered, accepted, declined, attended or not-attended.")]


@app.command()
def create(
    title: Annotated[str, typer.Option(help="What the study is called; kept inside the encrypted file.")],
    question: Annotated[str, typer.Option(help="The question that is asked.")] = "Whom do you talk to?",
    budget: Annotated[int, typer.Option(help="How many surveys there can be, beside the start people.")] = 20,
    leaders: Annotated[int, typer.Option(help="How many leaders will be asked.")] = 10,
    size_low: Annotated[int | None, typer.Option(help="At least so many people there are in all.")] = None,
    size_high: Annotated[int | None, typer.Option(help="At most so many.")] = None,
    consent_text: Annotated[str, typer.Option(help="What people consent to.")] = "",
    consent_version: Annotated[str, typer.Option(help="The version of that text.")] = "1",
    refusal_rule: Annotated[str, typer.Option(help="What the budget counts: attempts or answers.")] = "attempts",
    retention: Annotated[str | None, typer.Option(help="Close the study by this day (YYYY-MM-DD).")] = None,
    policy: Annotated[str | None, typer.Option(help="The rule to follow.")] = None,
    p: Annotated[float, typer.Option("--probability", "-p", help="Chance that word passes along a contact.")] = 0.1,
    seed: SeedOption = 0,
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Begin a study; asks for a passphrase, which nobody can recover.

    Example: [bold]claim study create --title "Drop-in centre" --budget 18[/bold]
    """
    from claim.field import DEFAULT_POLICY, Setup, summaries

    setup = Setup(
        title, question, budget, leaders, size_low, size_high, consent_text, consent_version,
        refusal_rule,  # type: ignore[arg-type]  # checked by Setup
        retention, seed, p, policy or DEFAULT_POLICY,
    )  # fmt: skip
    with _library(studies).create(setup, _passphrase(confirm=True)) as opened:
        result = summaries.overview(opened.view)
    show(result, f"study {result['study']} is ready; without the passphrase nobody can read it", json)


@app.command("list")
def list_studies(studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List the studies there are; titles are encrypted too."""
    found = [{"study": each.id, "bytes": each.size, "modified": each.modified} for each in _library(studies).list()]
    show({"studies": found}, _table("Studies", ["study", "bytes", "modified"], found), json)


@app.command()
def people(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """Show where a study stands, and everybody in it."""
    from claim.field import summaries

    with _opened(study, studies) as opened:
        result = {**summaries.overview(opened.view), "rows": summaries.people(opened.view)}
    counts = f"{result['people']} people, {result['ties']} ties, {result['surveys_left']} surveys left"
    title = f"{result['title']}: {counts}"
    show(result, _table(title, ["code", "name", "state", "times_named", "leader"], result["rows"]), json)


@app.command()
def add(
    people: Annotated[list[str], typer.Argument(help="Names, one an argument.")],
    start: Annotated[bool, typer.Option("--start", help="They are the people to start with.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Add people the team knows.

    Example: [bold]claim study add --start "Ana López" Ben[/bold]
    """
    from claim.field import commands

    with _opened(study, studies) as opened:
        for name in people:
            _warn_of_similar(opened.view, name)
        done = opened.run(lambda draft: [commands.add_person(draft, name, is_start=start) for name in people])
    codes = done.result or []
    show({"people": codes}, f"added {', '.join(codes)}", json)


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
    with _opened(study, studies) as opened:
        who = opened.view.find(person)
        view = opened.view
        done = opened.run(lambda draft: _answer(draft, view, who, named, consent, partial))
        new = done.result or []
    show({"person": who, "named": len(named), "new": new}, f"{who} named {len(named)}, of whom {len(new)} new", json)


@app.command()
def refuse(person: PersonArgument, study: StudyOption = "", studies: StudiesOption = None) -> None:
    """Somebody does not want to be surveyed; they are not recommended again."""
    _not_surveyed(person, "refused", study, studies)


@app.command("no-show")
def no_show(
    person: PersonArgument,
    not_found: Annotated[bool, typer.Option("--not-found", help="Nobody knew where to find them.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
) -> None:
    """Somebody was not there; they are recommended again later."""
    _not_surveyed(person, "not found" if not_found else "no-show", study, studies)


@app.command()
def withdraw(
    person: PersonArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask again.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Erase somebody, their answers and whoever is known only through them, for good."""
    from claim.field import commands

    with _opened(study, studies) as opened:
        who = opened.view.find(person)
        others = len(opened.study.known_only_through(who))
        if not yes:
            typer.confirm(f"Erase {who} and {others} people known only through them? This cannot be undone", abort=True)
        done = opened.run(lambda draft: commands.withdraw(draft, who))
    erased = list(done.result or ())
    show({"erased": erased}, f"erased {', '.join(erased)}", json)


@app.command("next")
def next_person(
    count: Annotated[int, typer.Option("-n", "--count", help="How many people the next round has.")] = 1,
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

    with _opened(study, studies) as opened:
        advice = recommend(opened.study, count)
        opened.run(lambda draft: note(draft, advice))
        result = summaries.advice(opened.view, advice)
    for word in result["notes"]:
        say(word)
    rows = [{**row, "why": "; ".join(row["reasons"])} for row in result["ranking"]]
    show(result, _table(f"Whom to survey next ({result['policy']})", ["rank", "person", "name", "why"], rows), json)


@app.command()
def leaders(
    include: Annotated[str, typer.Option(metavar="A,B", help="Codes of people who are to lead.")] = "",
    exclude: Annotated[str, typer.Option(metavar="A,B", help="Codes of people who are not.")] = "",
    attendance: Annotated[float, typer.Option(help="Chance that a leader comes.")] = 1.0,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Say whom to ask to lead, how many people that reaches, and who could replace them."""
    from claim.field import summaries
    from claim.field.leaders import choose_leaders

    with _opened(study, studies) as opened:
        find = opened.view.find
        wanted, unwanted = [find(name) for name in names(include)], [find(name) for name in names(exclude)]
        result = summaries.leaders(opened.view, choose_leaders(opened.study, wanted, unwanted, attendance))
    reach = result["reach"]
    title = f"Leaders reach {reach['mean']:.0f} ({reach['low']:.0f} to {reach['high']:.0f}) of {result['known']} known"
    both = [*_marked(result["leaders"], "leader"), *_marked(result["replacements"], "replacement")]
    show(result, _table(title, ["as", "person", "name", "why"], both), json)


@app.command()
def leader(
    person: PersonArgument,
    answer: AnswerArgument,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Note what came of asking somebody to lead."""
    from typing import get_args

    from claim.field import commands
    from claim.field.events import LeaderAnswer

    said = answer.replace("-", " ")
    if said not in get_args(LeaderAnswer):
        raise InputError(f"{answer!r} is none of {', '.join(get_args(LeaderAnswer))}")
    with _opened(study, studies) as opened:
        who = opened.view.find(person)
        opened.run(lambda draft: commands.answer_of_leader(draft, who, said))  # type: ignore[arg-type]
    show({"person": who, "answer": said}, f"{who}: {said}", json)


@app.command()
def duplicates(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List people of similar names who may be the same."""
    with _opened(study, studies) as opened:
        rows = [
            {"one": one, "name": opened.view.name(one), "other": match.code, "other_name": match.name,
             "score": round(match.score, 2)}
            for one, match in opened.view.possible_duplicates()
        ]  # fmt: skip
    columns = ["one", "name", "other", "other_name", "score"]
    show({"pairs": rows}, _table("The same person?", columns, rows), json)


@app.command()
def merge(keep: PersonArgument, other: PersonArgument, study: StudyOption = "", studies: StudiesOption = None) -> None:
    """Two codes are the same person."""
    from claim.field import commands

    with _opened(study, studies) as opened:
        one, two = opened.view.find(keep), opened.view.find(other)
        opened.run(lambda draft: commands.merge(draft, one, two))
    typer.echo(f"{two} is {one}")


@app.command()
def unmerge(
    other: Annotated[str, typer.Argument(help="The code that was merged into another.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
) -> None:
    """They are two people after all."""
    from claim.field import commands

    with _opened(study, studies) as opened:
        opened.run(lambda draft: commands.unmerge(draft, other))
    typer.echo(f"{other} is somebody else again")


@app.command()
def undo(
    number: Annotated[int, typer.Argument(help="An event's number, see history; its whole step is undone.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Undo a step; undoing an undo brings it back."""
    from claim.field import commands

    with _opened(study, studies) as opened:
        undone = list(opened.run(lambda draft: commands.undo(draft, number)).result or ())
    show({"undone": undone}, f"undone: {', '.join(map(str, undone))}", json)


@app.command()
def history(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List every event, in codes."""
    from claim.field import summaries

    with _opened(study, studies) as opened:
        rows = summaries.history(opened.view)
    shown = [{**row, "undone": "undone" if row["undone"] else "", "people": _codes(row["body"])} for row in rows]
    show({"events": rows}, _table("History", ["number", "at", "type", "people", "undone"], shown), json)


@app.command()
def verify(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """Check the file, the chain of events and every name against its commitment."""
    with _opened(study, studies) as opened:
        found = opened.verify()
    result = {"events": found.events, "texts": found.texts, "erased": found.erased, "head": found.head}
    show(result, f"{found.events} events in order, {found.texts} texts, {found.erased} erased; head {found.head}", json)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The file to write; encrypted like the study.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
) -> None:
    """Write an encrypted copy, which opens with the same passphrase."""
    with _opened(study, studies) as opened:
        opened.backup(target)
    typer.echo(f"wrote {target}")


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="A backup.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace the study if it is here already.")] = False,
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Bring a backup back, after checking all of it."""
    from claim.field import summaries

    with _library(studies).restore(source, _passphrase(), replace=replace) as opened:
        result = summaries.overview(opened.view)
    show(result, f"study {result['study']} is back, with {result['events']} events", json)


@app.command()
def passphrase(study: StudyOption = "", studies: StudiesOption = None) -> None:
    """Change the passphrase of a study; backups keep the one they were made with."""
    with _opened(study, studies) as opened:
        opened.change_passphrase(_passphrase(NEW_PASSPHRASE_VARIABLE, "New passphrase", confirm=True))
    typer.echo("the passphrase is changed")


@app.command()
def close(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask again.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """End a study for good: its key is destroyed. Backups are yours to destroy."""
    library = _library(studies)
    with _opened(study, studies) as opened:
        if not yes:
            typer.confirm("Destroy the study? Nobody can bring it back", abort=True)
        closed = library.close_study(opened)
    result = {"study": closed.study, "events": closed.events, "head": closed.head, "at": closed.at}
    show(result, f"study {closed.study} is closed; its log ended with {closed.head}", json)


# ``export`` and ``import`` have their place here.


def _library(studies: str | None) -> "Library":
    from claim.field.library import Library

    return Library(studies)


def _opened(study: str, studies: str | None) -> "OpenStudy":
    library = _library(studies)
    return library.open(library.find(study).id, _passphrase())


def _passphrase(variable: str = PASSPHRASE_VARIABLE, asked: str = "Passphrase", *, confirm: bool = False) -> str:
    """From the environment or a hidden prompt; never from the command line, where others could read it."""
    given = os.environ.get(variable)
    if given:
        return given
    if not sys.stdin.isatty():
        raise InputError(f"no passphrase: set {variable}, or run this in a terminal")
    return str(typer.prompt(asked, hide_input=True, confirmation_prompt=confirm, err=True))


def _not_surveyed(
    person: str, outcome: Literal["refused", "no-show", "not found"], study: str, studies: str | None
) -> None:
    from claim.field import commands

    with _opened(study, studies) as opened:
        who = opened.view.find(person)
        opened.run(lambda draft: commands.not_surveyed(draft, who, outcome))
    typer.echo(f"{who}: {outcome}")


def _answer(draft: "Draft", view: "View", person: str, contacts: list[str], consent: bool, partial: bool) -> list[str]:
    """A whole survey as one step; returns the codes of the people nobody had mentioned before."""
    from claim.field import commands

    commands.start_survey(draft, person, consent=consent)
    new: dict[str, str] = {}
    for contact in contacts:
        known = _known(view, contact)
        if known is None and contact not in new:
            _warn_of_similar(view, contact)
            new[contact] = commands.name_new_contact(draft, person, contact)
        elif known is not None:
            commands.name_contact(draft, person, known)
    commands.end_survey(draft, person, "partial" if partial else "answered")
    return list(new.values())


def _known(view: "View", contact: str) -> str | None:
    if contact in view.study.state.people or view.index.same(contact):
        return view.find(contact)
    return None


def _warn_of_similar(view: "View", name: str) -> None:
    for match in view.index.similar(name, limit=1):
        say(f"{name!r} is added as somebody new; the same person as {match.name} ({match.code})? then merge them")


def _marked(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [{**row, "as": kind, "why": "; ".join(row["reasons"])} for row in rows]


def _codes(body: dict[str, Any]) -> str:
    keys = ("person", "by", "one", "other", "keep", "events")
    found = [body[key] for key in keys if key in body]
    return " ".join(str(each) if not isinstance(each, list) else " ".join(map(str, each)) for each in found)


def _table(title: str, columns: list[str], rows: list[dict[str, Any]]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title))  # as it is: a name is no markup
    for column in columns:
        table.add_column(column.replace("_", " "))
    for row in rows:
        table.add_row(*(Text(str(row[column] if row[column] is not None else "")) for column in columns))
    return table
