"""``claim study``: a study without the web page, one step a command; names stay in the encrypted file."""

import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from claim.cli.common import JsonOption, SeedOption, lines_of, names, say, show
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from claim.field.store.library import Library
    from claim.field.store.session import OpenStudy, View
    from claim.field.study.commands import Draft


T = TypeVar("T")
PASSPHRASE_VARIABLE = "CLAIM_PASSPHRASE"
NEW_PASSPHRASE_VARIABLE = "CLAIM_NEW_PASSPHRASE"

app = typer.Typer(help="Run a study from the command line.", no_args_is_help=True)

StudyOption = Annotated[str, typer.Option("--study", "-s", metavar="ID", help="Which study; not needed if only one.")]
StudiesOption = Annotated[
    str | None, typer.Option("--studies", metavar="DIR", help="Where studies are kept (else CLAIM_STUDIES).")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask again.")]

PERSON = "Person (code or name)"
_CODE = re.compile(r"[Pp][1-9][0-9]*")


def is_code(text: str) -> bool:
    """Whether a text has the form of a code, such as P3."""
    return _CODE.fullmatch(text.strip()) is not None


def kept_off(what: str, instead: str) -> InputError:
    """The error for something confidential on the command line; it does not repeat it."""
    reason = "it would stay in the shell's history and the process list"
    return InputError(f"{what} must not be on the command line, where {reason}; {instead}")


def check_codes(
    given: Iterable[str],
    instead: str = "give a code such as P3, or leave it out and enter the name at the prompt or on standard input",
) -> None:
    """Refuse arguments that are no codes, before a study is opened."""
    if not all(map(is_code, given)):
        raise kept_off("a name", instead)


def _only_codes(given: str | list[str] | None) -> str | list[str] | None:
    check_codes([given] if isinstance(given, str) else given or [])
    return given


PersonArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="CODE",
        callback=_only_codes,
        help="A code. Left out: a code or a name is asked for, or read from standard input.",
    ),
]
CodesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CODE",
        callback=_only_codes,
        help="Whom they named. Left out: codes and names, known or new, are asked for or read, one a line.",
    ),
]


def library_in(studies: str | None) -> "Library":
    """The studies of a directory, or of the usual one."""
    from claim.field.store.library import Library

    return Library(studies)


def opened_study(study: str, studies: str | None) -> "OpenStudy":
    """A study, unlocked."""
    library = library_in(studies)
    return library.open(library.find(study).id, asked_passphrase())


def asked_passphrase(variable: str = PASSPHRASE_VARIABLE, asked: str = "Passphrase", *, confirm: bool = False) -> str:
    """From the environment or a hidden prompt; never from the command line, where others could read it."""
    given = os.environ.get(variable)
    if given:
        return given
    if not sys.stdin.isatty():
        raise InputError(f"no passphrase: set {variable}, or run this in a terminal")
    return str(typer.prompt(asked, hide_input=True, confirmation_prompt=confirm, err=True))


class Entered:
    """What is entered at prompts or, if standard input is no terminal, on its lines in the order of the questions.

    Standard input is not read before the first question.
    """

    @cached_property
    def _lines(self) -> list[str] | None:
        return None if sys.stdin.isatty() else lines_of("-")

    def one(self, question: str, read: Callable[[str], T]) -> T:
        """The answer to a question, as ``read`` takes it; at a prompt what it refuses is asked for again."""
        if self._lines is not None:
            if not self._lines:
                raise InputError(f"standard input has no line for: {question}")
            return read(self._lines.pop(0))
        while (answer := _prompted(f"{question}: ")) is not None:
            try:
                return read(answer)
            except InputError as error:
                say(str(error))
        raise typer.Abort

    def many(self, question: str, read: Callable[[str], object] = str) -> list[str]:
        """All other lines; at a prompt those that ``read`` takes, up to an empty one."""
        if self._lines is not None:
            found = self._lines[:]
            self._lines.clear()
            return found
        say(f"{question}, one a line; an empty line ends:")
        found = []
        while answer := _prompted():
            try:
                read(answer)
                found.append(answer)
            except InputError as error:
                say(f"{error}; this line was left out")
        return found

    def end(self) -> None:
        """Refuse lines that nothing asked for."""
        if "_lines" in vars(self) and self._lines:
            raise InputError(f"standard input has {len(self._lines)} more lines than were asked for")


def _prompted(question: str = "") -> str | None:
    """A line without blanks around it; None at the end of the input."""
    typer.echo(question, nl=False, err=True)
    try:
        return input().strip()
    except EOFError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(f"what was entered is not text in {error.encoding}") from None


def coded(view: "View", code: str) -> str:
    """The current code of the person with a code, which may have been merged into another."""
    return view.study.state.root(code.strip().upper())


def person_of(view: "View", code: str | None) -> str:
    """The person of a code or, without one, the person who is asked for."""
    if code is not None:
        return coded(view, code)
    entered = Entered()
    who = entered.one(PERSON, view.find)
    entered.end()
    return who


def warn_of_similar(view: "View", name: str) -> None:
    """Say that a new name looks like one that is there."""
    for match in view.index.similar(name, limit=1):
        say(f"{name!r} is added as somebody new; the same person as {match.name} ({match.code})? then merge them")


def table_of(title: str, columns: list[str], rows: list[dict[str, Any]]) -> "Table":
    """Rows as a table for people."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title))  # as it is: a name is no markup
    for column in columns:
        table.add_column(column.replace("_", " "))
    for row in rows:
        table.add_row(*(Text(str(row[column] if row[column] is not None else "")) for column in columns))
    return table


@app.command()
def create(
    title: Annotated[str | None, typer.Option(hidden=True)] = None,
    question: Annotated[str, typer.Option(help="The question that is asked.")] = "Whom do you talk to?",
    budget: Annotated[int, typer.Option(help="How many surveys there can be, beside the start people.")] = 20,
    leaders: Annotated[int, typer.Option(help="How many leaders will be asked.")] = 10,
    size_low: Annotated[int | None, typer.Option(help="At least so many people there are in all.")] = None,
    size_high: Annotated[int | None, typer.Option(help="At most so many.")] = None,
    consent_text: Annotated[str, typer.Option(help="What people consent to.")] = "",
    consent_version: Annotated[str, typer.Option(help="The version of that text.")] = "1",
    refusal_rule: Annotated[str, typer.Option(help="What the budget counts: attempts or answers.")] = "attempts",
    retention: Annotated[str | None, typer.Option(help="Close the study by this day (YYYY-MM-DD).")] = None,
    policy: Annotated[str | None, typer.Option(help="The rule that says whom to survey next.")] = None,
    selector: Annotated[str, typer.Option(help="How leaders are chosen: foresight or greedy.")] = "foresight",
    attendance: Annotated[float, typer.Option(help="Chance that a leader comes.")] = 1.0,
    p: Annotated[float, typer.Option("--probability", "-p", help="Chance that word passes along a contact.")] = 0.1,
    seed: SeedOption = 0,
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Begin a study; asks for its title and a passphrase. A lost passphrase cannot be recovered.

    The title is kept inside the encrypted file. Where standard input is no terminal, its one line is the title and the
    passphrase is that of CLAIM_PASSPHRASE.

    Example: [bold]claim study create --budget 18[/bold]
    """
    from claim.field import DEFAULT_POLICY, Setup, view

    if title is not None:
        raise kept_off("a title", "leave --title out and enter it at the prompt or on standard input")
    entered = Entered()
    title = entered.one("Title of the study", str)
    entered.end()
    setup = Setup(
        title, question, budget, leaders, size_low, size_high, consent_text, consent_version,
        refusal_rule,  # type: ignore[arg-type]  # checked by Setup
        retention, seed, p, policy or DEFAULT_POLICY,
        selector=selector,  # type: ignore[arg-type]  # checked by Setup
        attendance=attendance,
    )  # fmt: skip
    with library_in(studies).create(setup, asked_passphrase(confirm=True)) as opened:
        result = view.overview(opened.view)
    show(result, f"study {result['study']} is ready; without the passphrase nobody can read it", json)


@app.command("list")
def list_studies(studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List the studies there are; titles are encrypted too."""
    found = [{"study": each.id, "bytes": each.size, "modified": each.modified} for each in library_in(studies).list()]
    show({"studies": found}, table_of("Studies", ["study", "bytes", "modified"], found), json)


@app.command()
def people(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """Show where a study stands, and everybody in it."""
    from claim.field import view

    with opened_study(study, studies) as opened:
        result = {**view.overview(opened.view), "rows": view.people(opened.view)}
    counts = f"{result['people']} people, {result['ties']} ties, {result['surveys_left']} surveys left"
    title = f"{result['title']}: {counts}"
    show(result, table_of(title, ["code", "name", "state", "times_named", "leader"], result["rows"]), json)


@app.command(context_settings={"allow_extra_args": True})
def add(
    context: typer.Context,
    start: Annotated[bool, typer.Option("--start", help="They are the people to start with.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Add people the team knows; asks for their names, or reads them from standard input, one a line.

    Example: [bold]claim study add --start[/bold]
    """
    from claim.field.study import commands

    if context.args:
        raise kept_off("a name", "leave it out and enter names at the prompt or on standard input, one a line")
    with opened_study(study, studies) as opened:
        names = Entered().many("Names")
        if not names:
            raise InputError("no names were entered")
        for name in names:
            warn_of_similar(opened.view, name)
        done = opened.run(lambda draft: [commands.add_person(draft, name, is_start=start) for name in names])
    codes = done.result or []
    show({"people": codes}, f"added {', '.join(codes)}", json)


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
    from claim.field import view
    from claim.field.advice.recommend import recommend
    from claim.field.advice.recommend import show as note

    with opened_study(study, studies) as opened:
        advice = recommend(opened.study, count)
        opened.run(lambda draft: note(draft, advice))
        result = view.advice(opened.view, advice)
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
    from claim.field.study import commands

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
    from claim.field.study import commands

    with opened_study(study, studies) as opened:
        who = person_of(opened.view, person)
        opened.run(lambda draft: commands.not_surveyed(draft, who, outcome))
    show({"person": who, "outcome": outcome}, f"{who}: {outcome}", json)


def _answer(draft: "Draft", view: "View", person: str, contacts: list[str], consent: bool, partial: bool) -> list[str]:
    """A whole survey as one step; returns the codes of the people nobody had mentioned before."""
    from claim.field.study import commands
    from claim.field.study.names import words

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


@app.command()
def duplicates(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List people of similar names who may be the same."""
    with opened_study(study, studies) as opened:
        rows = [
            {"one": one, "name": opened.view.name(one), "other": match.code, "other_name": match.name,
             "score": round(match.score, 2)}
            for one, match in opened.view.possible_duplicates()
        ]  # fmt: skip
    columns = ["one", "name", "other", "other_name", "score"]
    show({"pairs": rows}, table_of("The same person?", columns, rows), json)


@app.command()
def merge(
    keep: PersonArgument = None,
    other: PersonArgument = None,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Two codes are the same person; the first is kept.

    Example: [bold]claim study merge P4 P6[/bold]
    """
    from claim.field.study import commands

    with opened_study(study, studies) as opened:
        codes = [coded(opened.view, code) for code in (keep, other) if code]
        if len(codes) < 2:
            entered = Entered()
            for question in ("The person to keep (code or name)", "The same person (code or name)")[len(codes) :]:
                codes.append(entered.one(question, opened.view.find))
            entered.end()
        one, two = codes
        opened.run(lambda draft: commands.merge(draft, one, two))
    show({"keep": one, "other": two}, f"{two} is {one}", json)


@app.command()
def unmerge(
    other: Annotated[str, typer.Argument(metavar="CODE", help="The code that was merged into another.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """They are two people after all."""
    from claim.field.study import commands

    check_codes([other], "give the code, such as P6; claim study history lists merges")
    code = other.strip().upper()
    with opened_study(study, studies) as opened:
        opened.run(lambda draft: commands.unmerge(draft, code))
    show({"other": code}, f"{code} is a person of their own again", json)


@app.command()
def leaders(
    include: Annotated[str, typer.Option(metavar="P1,P2", help="Codes of people who are to lead.")] = "",
    exclude: Annotated[str, typer.Option(metavar="P1,P2", help="Codes of people who are not.")] = "",
    attendance: Annotated[float | None, typer.Option(help="Chance that a leader comes; else as set.")] = None,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Say whom to ask to lead, how many people that reaches, and who could replace them."""
    from claim.field import view
    from claim.field.advice.leaders import choose_leaders

    check_codes([*names(include), *names(exclude)], "give codes such as P3, which claim study people lists")
    with opened_study(study, studies) as opened:
        wanted, unwanted = _coded(opened.view, include), _coded(opened.view, exclude)
        result = view.leaders(opened.view, choose_leaders(opened.study, wanted, unwanted, attendance))
    reach = result["reach"]
    guess = (
        "no reach before the first survey" if reach is None else f"a rough guess: they reach about {reach:.0f} people"
    )
    title = f"Leaders ({guess})"
    both = [*_marked(result["leaders"], "leader"), *_marked(result["replacements"], "replacement")]
    show(result, table_of(title, ["as", "person", "name", "why"], both), json)


@app.command()
def leader(
    person: Annotated[
        str,
        typer.Argument(
            metavar="CODE", help="A code. Left out: a code or a name is asked for, or read from standard input."
        ),
    ] = "",
    answer: Annotated[
        str, typer.Argument(metavar="ANSWER", help="offered, accepted, declined, attended or not-attended.")
    ] = "",
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Note what came of asking a person to lead.

    Example: [bold]claim study leader P3 accepted[/bold]
    """
    from typing import get_args

    from claim.field.study import commands
    from claim.field.study.events import LeaderAnswer

    code = person if answer else None  # a single argument is the answer
    check_codes([code] if code else [])
    said = (answer or person).replace("-", " ")
    if said not in get_args(LeaderAnswer):
        raise InputError(f"the answer must be one of {', '.join(get_args(LeaderAnswer))}")
    with opened_study(study, studies) as opened:
        who = person_of(opened.view, code)
        opened.run(lambda draft: commands.answer_of_leader(draft, who, said))  # type: ignore[arg-type]
    show({"person": who, "answer": said}, f"{who}: {said}", json)


def _coded(view: "View", given: str) -> list[str]:
    return [coded(view, code) for code in names(given)]


def _marked(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [{**row, "as": kind, "why": "; ".join(row["reasons"])} for row in rows]
