"""``claim advise``: whom to survey next, for teams that keep their own files."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from claim.cli.common import (
    DirectedOption,
    Entry,
    JsonOption,
    LeadersOption,
    PeopleFileOption,
    ProbabilityOption,
    SeedOption,
    listed,
    loaded,
    report_dropped,
    say,
    show,
    table,
)
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from claim.advice import Advice
    from claim.networks import Label, Network

BY_LOT = (
    "Draw a new person by lot from all people not interviewed yet, named or not: from a list by random number, or at "
    "the door every tenth person who passes."
)

SurveyedOption = Annotated[str, typer.Option(metavar="A,B", help="People surveyed, in order; of real people, codes.")]
SurveyedFileOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="People surveyed, one per line.")]
RefusedOption = Annotated[str, typer.Option(metavar="A,B", help="People who refused; they are not recommended.")]
RefusedFileOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="People who refused, one per line.")]
StartOption = Annotated[str, typer.Option(metavar="A,B", help="People known at the outset (else the first surveyed).")]
StartOrNewOption = Annotated[
    str,
    typer.Option(
        metavar="A,B",
        help="People known at the outset (else the first surveyed); with --entry open the new people "
        "(else all whom no one surveyed before them had named).",
    ),
]
StartFileOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="The people of --start, one per line.")]
MarksOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Who said which contact knows the most people: respondent,contact, one a line."),
]
BudgetOption = Annotated[int, typer.Option(min=0, help="Surveys of the whole study, for shipped trained policies.")]


class Lists(NamedTuple):
    """Labels of the people who were surveyed, in order, who refused, and who were known at the outset."""

    surveyed: list[str]
    refused: list[str]
    start: list[str]

    @classmethod
    def given(cls, *options: str | None) -> "Lists":
        """Read --surveyed, --surveyed-file, --refused and so on; at most one file is standard input."""
        values, files = options[::2], options[1::2]
        if files.count("-") > 1:
            raise InputError("standard input can be read for one list only: give the others as files")
        return cls(*(listed(f"--{name}", *each) for name, *each in zip(cls._fields, values, files, strict=True)))


def marks_in(file: str | None) -> "list[tuple[Label, Label]]":
    """Read the pairs of --marks: a respondent, and the contact who knows the most people."""
    if file is None:
        return []
    from claim.networks import read_network

    pairs = read_network(file, directed=True)
    if pairs.dropped.self_loops:
        raise InputError(f"{file}: a person cannot mark themselves")
    respondents, contacts, _ = report_dropped(pairs).edges()
    return [(pairs.labels[one], pairs.labels[other]) for one, other in zip(respondents, contacts, strict=True)]


def with_all(network: "Network", people: list[str]) -> "Network":
    """Add people of an open study who are in no tie, and report them: they may be misspelt."""
    found = network.with_people(people)
    if found is not network:
        say(f"not in {network.name}, so without contacts: {', '.join(map(str, found.labels[network.n :]))}")
    return found


def advise(
    known: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The ties named so far, one per line; an open study begins without."),
    ] = None,
    surveyed: SurveyedOption = "",
    surveyed_file: SurveyedFileOption = None,
    refused: RefusedOption = "",
    refused_file: RefusedFileOption = None,
    start: StartOrNewOption = "",
    start_file: StartFileOption = None,
    marks: MarksOption = None,
    entry: Annotated[Entry, typer.Option(help="open: new people can be interviewed, too.")] = "closed",
    policy: Annotated[
        str | None, typer.Option(help="Rule or trained policy, else the default; claim evaluate compares them.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=0, help="Surveys of the whole study, for shipped trained policies; else 5.")
    ] = None,
    interviews: Annotated[
        int | None, typer.Option(min=0, help="With --entry open: all interviews of the study; else 10.")
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Number of people to list.")] = 10,
    leaders: LeadersOption = 10,
    people: Annotated[
        int | None, typer.Option(min=1, help="People in all, if known: for the reach of leaders.")
    ] = None,
    p: ProbabilityOption = 0.1,
    group: Annotated[
        str | None, typer.Option(metavar="ATTRIBUTE", help="The groups that quota:SHARES:POLICY steers interviews by.")
    ] = None,
    people_file: PeopleFileOption = None,
    directed: DirectedOption = False,
    seed: SeedOption = 0,
    json: JsonOption = None,
) -> None:
    """Rank whom to survey next, and say how many people leaders chosen now would reach.

    Example: [bold]claim advise --known ties.csv --surveyed P1,P2 --policy scout[/bold]
    """
    from claim.advice import advise as rank
    from claim.advice import known_ties

    lists = Lists.given(surveyed, surveyed_file, refused, refused_file, start, start_file)
    if people_file is not None and (group is None or known is None):
        raise InputError("--people-file goes with --known ties.csv and --group ATTRIBUTE")
    reading: dict[str, Any] = {"directed": directed or None, "people": people_file}
    network = known_ties(None, entry) if known is None else loaded(known, **reading)
    if entry == "open":
        network = with_all(network, lists.surveyed + lists.refused)
    study: dict[str, Any] = {"marks": marks_in(marks), "entry": entry, "interviews": interviews}
    study |= {"leaders": None if network.directed else leaders, "people": people, "p": p, "group": group}
    advice = rank(network, *lists, policy, budget, count, seed, **study)
    show(advice.to_dict(), _shown(advice, study["leaders"]), json)


def _shown(advice: "Advice", leaders: int | None) -> "RenderableType":
    from rich.console import Group

    from claim.registry import is_learned
    from claim.selection.foresight.selector import TOO_EARLY

    if not advice.rows:
        return "no people are left to survey: all people named so far were surveyed or refused"
    title = f"Whom to survey next ({advice.policy}; {advice.surveyed} surveyed, {advice.people} known)"
    shown = table(title, ["rank", "person", "why"], list(_table_rows(advice.rows)), right=("rank",))
    lot = BY_LOT if any(row.get("new") for row in advice.rows) else None
    why = f"claim explain shows why {advice.policy} ranks them so." if is_learned(advice.policy) else None
    reach = None if leaders is None else f"If you chose {leaders} leaders now: {advice.expected or TOO_EARLY}."
    parts: list[RenderableType] = [part for part in (advice.note, shown, lot, why, reach) if part is not None]
    return Group(*parts)


def _table_rows(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of the table: new people who follow each other for the same reasons are in one row."""
    for _, group in groupby(rows, key=lambda row: row["reasons"] if row.get("new") else row["rank"]):
        first, *others = group
        person = first["person"]
        if first.get("new"):
            person = f"interview {len(others) + 1} new people" if others else "interview a new person"
        rank = f"{first['rank']}–{others[-1]['rank']}" if others else first["rank"]
        yield {"rank": rank, "person": person, "why": first["reasons"]}
