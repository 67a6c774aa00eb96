"""``claim study``: a study without the web page, one step per command; names stay in the encrypted file."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import cached_property
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import typer

from claim.cli.common import (
    JsonOption,
    ProbabilityOption,
    SeedOption,
    check_json_target,
    lines_of,
    names,
    say,
    show,
    table,
)
from claim.errors import ClaimError, InputError, install_command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from claim.field.store.library import Library
    from claim.field.store.session import OpenStudy
    from claim.field.study.commands import Draft
    from claim.field.study.events import Outcome
    from claim.field.view import View


T = TypeVar("T")
OpenIt = Callable[[], "OpenStudy"]
Result = tuple[dict[str, Any], "RenderableType"]  # for --json, for the terminal
Verb = Callable[..., Result]

PASSPHRASE_VARIABLE = "CLAIM_PASSPHRASE"
NEW_PASSPHRASE_VARIABLE = "CLAIM_NEW_PASSPHRASE"
PERSON = "Person (code or name)"
OTHERS = "other groups together"
_CODE = re.compile(r"[Pp][1-9][0-9]*")

app = typer.Typer(name="study", help="Run a study from the command line.", no_args_is_help=True)

StudyOption = Annotated[str, typer.Option("--study", "-s", metavar="ID", help="Id of the study, if there are several.")]
StudiesOption = Annotated[str | None, typer.Option(metavar="DIR", help="Folder of the studies (else CLAIM_STUDIES).")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


def study_verb(name: str | None = None, **settings: Any) -> Callable[[Verb], Verb]:
    """Add a verb that returns its result, which is shown; it gets the options --studies and --json.

    The first parameter of the verb is ``opened``, the study of --study, or ``library``, the folder of all studies, or
    ``open_study``, a function that opens the study: for verbs that check their arguments before the passphrase is asked
    for.
    """

    def add(run: Verb) -> Verb:
        first, *own = signature(run).parameters.values()

        def verb(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None, **own: Any) -> None:
            check_json_target(json)
            library = library_in(studies)
            with ExitStack() as stack:

                def open_study() -> "OpenStudy":
                    found = library.find(study)  # before the passphrase is asked for
                    return stack.enter_context(library.open(found.id, asked_passphrase()))

                given = {"library": lambda: library, "open_study": lambda: open_study, "opened": open_study}
                data, shown = run(given[first.name](), **own)
            show(data, shown, json)

        shared = list(signature(verb).parameters.values())[1 if first.name == "library" else 0 : -1]
        parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*own, *shared)]
        verb.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
        verb.__annotations__ = {each.name: each.annotation for each in parameters}
        verb.__name__, verb.__doc__ = run.__name__, run.__doc__
        app.command(name, **settings)(verb)
        return run

    return add


def library_in(studies: str | os.PathLike[str] | None) -> "Library":
    """Return the studies of a folder, or of the default one."""
    try:
        from claim.field.store.library import Library
    except ImportError as error:
        raise ClaimError(f"studies need the libraries of the assistant: {install_command('app')}") from error
    return Library(studies)


def asked_passphrase(variable: str = PASSPHRASE_VARIABLE, asked: str = "Passphrase", *, confirm: bool = False) -> str:
    """Read a passphrase from the environment or a hidden prompt, never from the command line."""
    given = os.environ.get(variable)
    if given:
        return given
    if not sys.stdin.isatty():
        raise InputError(f"no passphrase: set {variable}, or run this in a terminal")
    return str(typer.prompt(asked, hide_input=True, confirmation_prompt=confirm, err=True))


def is_code(text: str) -> bool:
    """Whether a text has the form of a code, such as P3."""
    return _CODE.fullmatch(text.strip()) is not None


def kept_off(what: str, instead: str) -> InputError:
    """Build the error for a confidential argument, without repeating the argument."""
    reason = "it would stay in the shell's history and the process list"
    return InputError(f"{what} must not be on the command line, where {reason}; {instead}")


def check_codes(
    given: Iterable[str],
    instead: str = "give a code such as P3, or leave it out and enter the name at the prompt or on standard input",
) -> None:
    """Refuse arguments that are not codes, before a study is opened."""
    if not all(map(is_code, given)):
        raise kept_off("a name", instead)


def _only_codes(given: str | list[str] | None) -> str | list[str] | None:
    check_codes([given] if isinstance(given, str) else given or [])
    return given


ASKED = "A code; without it a code or a name is asked for, or read from standard input."
MANY_ASKED = "Codes; without them codes and names, known or new, are asked for, or read, one per line."
PersonArgument = Annotated[str | None, typer.Argument(metavar="CODE", callback=_only_codes, help=ASKED)]
CodesArgument = Annotated[list[str] | None, typer.Argument(metavar="CODE", callback=_only_codes, help=MANY_ASKED)]


class Entered:
    """Answers at prompts or, if standard input is not a terminal, its lines in the order of the questions.

    Standard input is not read before the first question.
    """

    @cached_property
    def _lines(self) -> list[str] | None:
        return None if sys.stdin.isatty() else lines_of("-")

    def one(self, question: str, read: Callable[[str], T]) -> T:
        """Ask a question and return what ``read`` makes of the answer; at a prompt, ask again if it refuses."""
        if self._lines == []:
            raise InputError(f"standard input has no line for: {question}")
        if self._lines:
            return read(self._lines.pop(0))
        while (answer := _prompted(f"{question}: ")) is not None:
            try:
                return read(answer)
            except InputError as error:
                say(str(error))
        raise typer.Abort

    def many(self, question: str, read: Callable[[str], object] = str) -> list[str]:
        """Return all other lines; at a prompt, those up to an empty one that ``read`` accepts."""
        if self._lines is not None:
            found, self._lines[:] = self._lines[:], []
            return found
        say(f"{question}, one per line; an empty line ends:")
        found = []
        while answer := _prompted():
            try:
                read(answer)
                found.append(answer)
            except InputError as error:
                say(f"{error}; this line was left out")
        return found

    def end(self) -> None:
        """Refuse lines that no question asked for."""
        if "_lines" in vars(self) and self._lines:
            raise InputError(f"standard input has {len(self._lines)} more lines than were asked for")


def _prompted(question: str = "") -> str | None:
    """Read a line without blanks around it; None at the end of the input."""
    typer.echo(question, nl=False, err=True)
    try:
        return input().strip()
    except EOFError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(f"the input is not text in {error.encoding}") from None


def coded(view: "View", code: str) -> str:
    """Return the current code of a person, whose code may have been merged into another."""
    return view.study.state.root(code.strip().upper())


def people_of(view: "View", asked: Mapping[str, str | None]) -> list[str]:
    """Return the people with the codes given for each question, which asks for a code that is None."""
    entered = Entered()
    found = [coded(view, code) if code else entered.one(question, view.find) for question, code in asked.items()]
    entered.end()
    return found


def warn_of_similar(view: "View", name: str) -> None:
    """Warn that a new name is similar to a known one."""
    for match in view.index.similar(name, limit=1):
        say(f"{name!r} is added as a new person; if this is {match.name} ({match.code}), merge them")


@study_verb()
def create(
    library: "Library",
    title: Annotated[str | None, typer.Option(hidden=True)] = None,
    question: Annotated[str, typer.Option(help="The question of the survey.")] = "Whom do you talk to?",
    budget: Annotated[int | None, typer.Option(help="Number of surveys, beside the start people (else 20).")] = None,
    open: Annotated[bool, typer.Option("--open", help="New people may be interviewed.")] = False,
    interviews: Annotated[int | None, typer.Option(help="Interviews in all of an open study (else 25).")] = None,
    hub_question: Annotated[
        bool, typer.Option("--hub-question", help="Ask which contact knows the most people.")
    ] = False,
    group: Annotated[str, typer.Option(help="Ask which group people are in: the word for it, such as ethnicity.")] = "",
    groups_of_contacts: Annotated[
        bool, typer.Option("--groups-of-contacts", help="Ask it about the contacts they name, too.")
    ] = False,
    fair: Annotated[str, typer.Option(help="How leaders are balanced between groups: none or welfare:-2.")] = "none",
    leaders: Annotated[int, typer.Option(help="Number of leaders.")] = 10,
    size_low: Annotated[int | None, typer.Option(help="Smallest possible number of people in all.")] = None,
    size_high: Annotated[int | None, typer.Option(help="Largest possible number of people in all.")] = None,
    consent_text: Annotated[str, typer.Option(help="The text that people consent to.")] = "",
    consent_version: Annotated[str, typer.Option(help="The version of that text.")] = "1",
    refusal_rule: Annotated[str, typer.Option(help="What the budget counts: attempts or answers.")] = "attempts",
    retention: Annotated[str | None, typer.Option(help="Day by which to destroy the study (YYYY-MM-DD).")] = None,
    policy: Annotated[str | None, typer.Option(help="The policy that recommends whom to survey next.")] = None,
    selector: Annotated[str, typer.Option(help="How leaders are chosen: foresight or greedy.")] = "foresight",
    attendance: Annotated[float, typer.Option(help="Probability that a leader comes, 0 to 1.")] = 1.0,
    p: ProbabilityOption = 0.1,
    seed: SeedOption = 0,
) -> Result:
    """Begin a study; asks for its title and a passphrase. A lost passphrase cannot be recovered.

    The title is kept inside the encrypted file. If standard input is not a terminal, its one line is the title and the
    passphrase is that of CLAIM_PASSPHRASE.

    Example: [bold]claim study create --budget 18[/bold]
    """
    from claim.field import DEFAULT_POLICY, Setup, view

    if open and budget is not None:
        raise InputError("an open study has no --budget: give --interviews, the number of interviews in all")
    if interviews is not None and not open:
        raise InputError("--interviews is for an open study: add --open, or give --budget")
    if title is not None:
        raise kept_off("a title", "leave --title out and enter it at the prompt or on standard input")
    entered = Entered()
    title = entered.one("Title of the study", str)
    entered.end()
    setup = Setup(
        title, question, leaders=leaders, size_low=size_low, size_high=size_high, consent_text=consent_text,
        consent_version=consent_version, retention=retention, open=open, hub_question=hub_question,
        group=group, groups_of_contacts=groups_of_contacts,
        refusal_rule=refusal_rule, selector=selector, fair=fair,  # type: ignore[arg-type]  # checked by Setup
        seed=seed, p=p, policy=policy or DEFAULT_POLICY, attendance=attendance,
        budget=Setup.budget if budget is None else budget,
        interviews=Setup.interviews if interviews is None else interviews,
    )  # fmt: skip
    with library.create(setup, asked_passphrase(confirm=True)) as opened:
        result = view.overview(opened.view)
    return result, f"study {result['study']} is ready; it can only be read with the passphrase"


@study_verb("list")
def list_studies(library: "Library") -> Result:
    """List the studies by id; titles are encrypted too."""
    found = [{"study": each.id, "bytes": each.size, "modified": each.modified} for each in library.list()]
    return {"studies": found}, table("Studies", ["study", "bytes", "modified"], found)


@study_verb()
def people(opened: "OpenStudy") -> Result:
    """Show the state of a study and all people in it."""
    from claim.field import view

    result = {**view.overview(opened.view), "rows": view.people(opened.view)}
    counts = f"{result['people']} people, {result['ties']} ties, {result['surveys_left']} surveys left"
    columns = ["code", "name", "state", "times_named", "leader"]
    return result, table(f"{result['title']}: {counts}", columns, result["rows"])


@study_verb(context_settings={"allow_extra_args": True})
def add(
    open_study: OpenIt,
    context: typer.Context,
    start: Annotated[bool, typer.Option("--start", help="Add them as start people.")] = False,
) -> Result:
    """Add people the team knows; asks for their names, or reads them from standard input, one per line.

    Example: [bold]claim study add --start[/bold]
    """
    from claim.field.study import commands

    if context.args:
        raise kept_off("a name", "leave it out and enter names at the prompt or on standard input, one per line")
    opened = open_study()
    names = Entered().many("Names")
    if not names:
        raise InputError("no names were entered")
    for name in names:
        warn_of_similar(opened.view, name)
    codes = opened.run(lambda draft: [commands.add_person(draft, name, is_start=start) for name in names]).result or []
    return {"people": codes}, f"added {', '.join(codes)}"


@study_verb("next")
def next_person(
    opened: "OpenStudy",
    count: Annotated[int | None, typer.Option("-n", "--count", help="Number of people of a round.")] = None,
) -> Result:
    """Recommend whom to survey next, with reasons; in an open study that may be a new person.

    Example: [bold]claim study next --count 3[/bold]
    """
    from claim.field import view
    from claim.field.advice import recommend
    from claim.field.study import commands

    advice = recommend.recommend(opened.study, count)
    opened.run(lambda draft: commands.show_advice(draft, advice))
    result = view.advice(opened.view, advice)
    for note in (*result["notes"], *result["how_to_draw"]):
        say(note)
    rows = [{**row, "why": row["reasons"]} for row in result["ranking"]]
    return result, table(f"Whom to survey next ({result['policy']})", ["rank", "person", "name", "why"], rows)


@study_verb()
def answer(
    open_study: OpenIt,
    person: PersonArgument = None,
    contacts: CodesArgument = None,
    consent: Annotated[bool, typer.Option("--consent", help="The person consented to the study's text.")] = False,
    partial: Annotated[bool, typer.Option("--partial", help="The survey will be continued later.")] = False,
    nobody: Annotated[bool, typer.Option("--nobody", help="The person named no contacts.")] = False,
    new: Annotated[bool, typer.Option("--new", help="The person was met as a new person, drawn by lot.")] = False,
) -> Result:
    """Enter a survey: a person and the contacts they named.

    Without codes the contacts, and before them the person, are asked for, or read from standard input, one per line.

    Example: [bold]claim study answer P1 --consent[/bold]
    """
    from claim.field.study import commands
    from claim.field.study.names import words

    if nobody and contacts:
        raise InputError("give either contacts or --nobody, not both")
    opened, entered = open_study(), Entered()
    view = opened.view
    find = (lambda text: _known(view, text) or text) if new else view.find  # the name of a new person may be new
    who = coded(view, person) if person else entered.one(PERSON, find)
    named = contacts or []
    if not (contacts or nobody):
        named = entered.many("Contacts (codes or names)", lambda contact: _known(view, contact))
    entered.end()
    if not (named or nobody or partial):
        raise InputError("no contacts were entered: give --nobody if the person named none")
    added: dict[object, str] = {}  # codes of people who were not known, by the words of their names

    def whole_survey(draft: "Draft") -> str:
        code = _met(draft, opened.view, who) if new else who
        commands.start_survey(draft, code, consent=consent)
        for contact in named:
            known, spelt = _known(opened.view, contact), words(contact) or contact
            if known is not None:
                commands.name_contact(draft, code, known)
            elif spelt not in added:
                warn_of_similar(opened.view, contact)
                added[spelt] = commands.name_new_contact(draft, code, contact)
        commands.end_survey(draft, code, "partial" if partial else "answered")
        return code

    code = opened.run(whole_survey).result
    if opened.study.setup.hub_question and named:
        say(f"claim study mark {code} records which of them knows the most people")
    result = {"person": code, "named": len(named), "new": list(added.values())}
    return result, f"{code} named {len(named)}, of whom {len(added)} new"


def _met(draft: "Draft", view: "View", who: str) -> str:
    """Record that a person, by code or by name if they were not known, was met as a new person; returns the code."""
    from claim.field.study import commands

    known = who in draft.state.people
    if not known:
        warn_of_similar(view, who)
    code = who if known else draft.new_person(who)
    commands.meet_new_person(draft, code)
    return code


def _known(view: "View", contact: str) -> str | None:
    if is_code(contact):
        return coded(view, contact)
    return view.find(contact) if view.index.same(contact) else None


@study_verb()
def mark(
    opened: "OpenStudy",
    person: PersonArgument = None,
    contact: PersonArgument = None,
    none: Annotated[bool, typer.Option("--none", help="Take it back: the person marked no contact.")] = False,
) -> Result:
    """Record which of the contacts that a person named knows the most people.

    Example: [bold]claim study mark P1 P3[/bold]
    """
    from claim.field.study import commands

    if none and contact:
        raise InputError("give either a contact or --none, not both")
    asked = {PERSON: person} if none else {PERSON: person, "Who knows the most people (code or name)": contact}
    who, *marked = people_of(opened.view, asked)
    if none:
        opened.run(lambda draft: commands.unmark_contact(draft, who))
        return {"person": who, "marked": None}, f"{who} marked no contact"
    opened.run(lambda draft: commands.mark_contact(draft, who, marked[0]))
    return {"person": who, "marked": marked[0]}, f"{who} says that {marked[0]} knows the most people"


@study_verb()
def group(
    open_study: OpenIt,
    person: PersonArgument = None,
    by: Annotated[str | None, typer.Option(metavar="CODE", help="Who said it, if not the person.")] = None,
) -> Result:
    """Record the group of a person, which is asked for, or read from standard input; "unknown" takes it back.

    Example: [bold]claim study group P3 --by P1[/bold]
    """
    from claim.field.study import commands

    check_codes([by] if by else [])
    opened, entered = open_study(), Entered()
    who = coded(opened.view, person) if person else entered.one(PERSON, opened.view.find)
    said = entered.one(f"Group ({opened.study.setup.group})", str)
    entered.end()
    reporter = coded(opened.view, by) if by else who
    opened.run(lambda draft: commands.say_group(draft, reporter, who, said))
    found = opened.view.groups.get(who)
    return {"person": who, "group": found}, f"the group of {who} is {'recorded' if found else 'not known'}"


@study_verb()
def refuse(
    opened: "OpenStudy",
    person: PersonArgument = None,
    new: Annotated[
        bool, typer.Option("--new", help="They were met as a new person; without a code no name is stored.")
    ] = False,
) -> Result:
    """Record that a person refused to be surveyed; they are not recommended again."""
    if not new:
        return _not_surveyed(opened, person, "refused")
    from claim.field.study import commands

    def refused(draft: "Draft") -> str:
        code = coded(opened.view, person) if person else draft.new_person(None)
        commands.meet_new_person(draft, code)
        commands.end_survey(draft, code, "refused")
        return code

    code = opened.run(refused).result
    return {"person": code, "outcome": "refused"}, f"{code}: refused"


@study_verb("no-show")
def no_show(
    opened: "OpenStudy",
    person: PersonArgument = None,
    not_found: Annotated[bool, typer.Option("--not-found", help="The person could not be found.")] = False,
) -> Result:
    """Record that a person was absent; they are recommended again later."""
    return _not_surveyed(opened, person, "not found" if not_found else "no-show")


def _not_surveyed(opened: "OpenStudy", person: str | None, outcome: "Outcome") -> Result:
    from claim.field.study import commands

    [who] = people_of(opened.view, {PERSON: person})
    opened.run(lambda draft: commands.end_survey(draft, who, outcome))
    return {"person": who, "outcome": outcome}, f"{who}: {outcome}"


@study_verb()
def withdraw(open_study: OpenIt, person: PersonArgument = None, yes: YesOption = False) -> Result:
    """Erase a person, their answers and the people known only through them, for good."""
    from claim.field.study import commands

    if not (person or yes or sys.stdin.isatty()):
        raise InputError("to withdraw a person named on standard input, confirm it with --yes")
    opened = open_study()
    [who] = people_of(opened.view, {PERSON: person})
    others = len(opened.study.known_only_through(who))
    if not yes:
        typer.confirm(f"Erase {who} and {others} people known only through them? This cannot be undone", abort=True)
    erased = list(opened.run(lambda draft: commands.withdraw(draft, who)).result or ())
    return {"erased": erased}, f"erased {', '.join(erased)}"


@study_verb()
def duplicates(opened: "OpenStudy") -> Result:
    """List people of similar names who may be the same person."""
    view = opened.view
    rows = [
        {"one": one, "name": view.name(one), "other": match.code, "other_name": match.name,
         "score": round(match.score, 2)}
        for one, match in view.possible_duplicates
    ]  # fmt: skip
    return {"pairs": rows}, alike_shown(["one", "name", "other", "other_name", "score"], rows)


def alike_shown(columns: list[str], rows: list[dict[str, Any]]) -> "RenderableType":
    """A table of people who may be the same, or a line if there are none."""
    return table("The same person?", columns, rows) if rows else "No two people have similar names."


@study_verb()
def merge(opened: "OpenStudy", keep: PersonArgument = None, other: PersonArgument = None) -> Result:
    """Merge two codes of the same person; the first is kept.

    Example: [bold]claim study merge P4 P6[/bold]
    """
    from claim.field.study import commands

    asked = {"The person to keep (code or name)": keep, "The same person (code or name)": other}
    one, two = people_of(opened.view, asked)
    opened.run(lambda draft: commands.merge(draft, one, two))
    return {"keep": one, "other": two}, f"{two} is {one}"


@study_verb()
def unmerge(
    open_study: OpenIt,
    other: Annotated[str, typer.Argument(metavar="CODE", help="The code that was merged into another.")],
) -> Result:
    """Undo a merge: the two codes are two people."""
    from claim.field.study import commands

    check_codes([other], "give the code, such as P6; claim study history lists merges")
    code = other.strip().upper()
    open_study().run(lambda draft: commands.unmerge(draft, code))
    return {"other": code}, f"{code} is a person of their own again"


@study_verb()
def leaders(
    open_study: OpenIt,
    include: Annotated[str, typer.Option(metavar="P1,P2", help="Codes of people to include.")] = "",
    exclude: Annotated[str, typer.Option(metavar="P1,P2", help="Codes of people to exclude.")] = "",
    attendance: Annotated[float | None, typer.Option(help="Probability that a leader comes, 0 to 1.")] = None,
) -> Result:
    """Recommend whom to ask to lead, with the reach to expect and replacements."""
    from claim.field import view
    from claim.field.advice.leaders import choose_leaders
    from claim.selection.foresight.selector import TOO_EARLY

    check_codes([*names(include), *names(exclude)], "give codes such as P3, which claim study people lists")
    opened = open_study()
    wanted, unwanted = ([coded(opened.view, code) for code in names(given)] for given in (include, exclude))
    advice = choose_leaders(opened.study, wanted, unwanted, attendance, opened.view.groups)
    result = view.leaders(opened.view, advice)
    kinds = {"leader": result["leaders"], "replacement": result["replacements"]}
    rows = [{**row, "as": kind, "why": row["reasons"]} for kind, found in kinds.items() for row in found]
    for name, found in advice.groups.items():
        likely = f"{found.low:.1f} to {found.high:.1f}"
        say(f"{name or OTHERS}: {found.reached:.1f} people reached, likely {likely}, {found.share:.1%} of the group")
    if advice.plain and advice.reach:
        say(f"leaders chosen for the most people: {advice.plain}")
    return result, table(f"Leaders ({advice.reach or TOO_EARLY})", ["as", "person", "name", "why"], rows)


@study_verb()
def leader(
    open_study: OpenIt,
    person: Annotated[str, typer.Argument(metavar="CODE", help=ASKED)] = "",
    answer: Annotated[
        str, typer.Argument(help="offered, accepted, declined, replaced, invited, attended or not-attended.")
    ] = "",
    session: Annotated[int | None, typer.Option(help="Number of the session that the answer is about.")] = None,
) -> Result:
    """Record the answer of a person who was asked to lead.

    Example: [bold]claim study leader P3 accepted[/bold]
    """
    from claim.field.study import commands
    from claim.field.study.events import LeaderAnswer

    code = person if answer else None  # a single argument is the answer
    check_codes([code] if code else [])
    given = (answer or person).replace("-", " ")
    if given not in get_args(LeaderAnswer):
        raise InputError(f"the answer must be one of {', '.join(get_args(LeaderAnswer))}")
    opened = open_study()
    [who] = people_of(opened.view, {PERSON: code})
    opened.run(lambda draft: commands.answer_of_leader(draft, who, given, session))  # type: ignore[arg-type]
    of_session = {} if session is None else {"session": session}
    return {"person": who, "answer": given, **of_session}, f"{who}: {given}"


@study_verb()
def session(
    open_study: OpenIt,
    when: Annotated[str, typer.Argument(metavar="TIME", help="Local time, such as 2027-01-31T14:30.")],
    invite: Annotated[str, typer.Option(metavar="P1,P2", help="Codes of leaders who accepted.")] = "",
) -> Result:
    """Plan the next session and invite leaders.

    Example: [bold]claim study session 2027-01-31T14:30 --invite P1,P3[/bold]
    """
    from claim.field.study import commands

    check_codes(names(invite), "give codes such as P3, which claim study people lists")
    opened = open_study()
    people = [coded(opened.view, code) for code in names(invite)]
    number = opened.run(lambda draft: commands.plan_session(draft, when, leaders=people)).result
    return {"session": number, "at": when, "invited": people}, f"session {number}: {when}, invited {len(people)}"


@study_verb("follow-up")
def follow_up_verb(
    open_study: OpenIt,
    person: Annotated[str | None, typer.Argument(metavar="CODE", help="Who answered.")] = None,
    answer: Annotated[str, typer.Argument(help="yes, no or not-asked.")] = "",
) -> Result:
    """Record whether anyone talked to a person about it; without one, show whom to ask and what the answers say.

    Example: [bold]claim study follow-up P7 yes[/bold]
    """
    from claim.field.advice.follow_up import follow_up
    from claim.field.study import commands
    from claim.field.study.events import FollowUpAnswer, as_data

    given = answer.replace("-", " ")
    if person is not None and given not in get_args(FollowUpAnswer):
        raise InputError(f"the answer must be one of {', '.join(get_args(FollowUpAnswer))}")
    check_codes([person] if person else [])
    opened = open_study()
    if person is not None:
        who = coded(opened.view, person)
        opened.run(lambda draft: commands.answer_follow_up(draft, who, given))  # type: ignore[arg-type]
    found = follow_up(opened.study)
    said = (
        f"{found.yes} of {found.asked} people asked said yes; next: {', '.join(found.to_ask[:5]) or 'no one is left'}"
    )
    if found.estimate is not None:
        said += f"\nestimated p: {found.estimate.p:.3f} ({found.estimate.low:.3f} to {found.estimate.high:.3f})"
    return as_data(found), said
