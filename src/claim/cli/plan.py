"""``claim plan``: how many surveys are worth it."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.cli.advise import Lists, RefusedFileOption, StartFileOption, SurveyedFileOption
from claim.cli.common import JsonOption, LeadersOption, ProbabilityOption, SeedOption, check_json_target, show
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import Group

    from claim.discovery import Discovered, Policy
    from claim.planning import Plan, Setting

Kind = Literal["stars", "clustered", "unknown"]
START = 5


def plan(
    known: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="The ties named so far, one a line, if there are any.")
    ] = None,
    people: Annotated[int | None, typer.Option(help="How many people there are; an estimate.")] = None,
    mean_degree: Annotated[float | None, typer.Option(help="How many contacts people have on average.")] = None,
    kind: Annotated[Kind | None, typer.Option(help="A few with many contacts, tight groups, or unknown.")] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="5|A,B", help="How many people are known at the outset (5); with FILE: who (the first 5 surveyed)."
        ),
    ] = None,
    start_file: StartFileOption = None,
    surveyed: Annotated[str, typer.Option(metavar="A,B", help="With FILE: who was surveyed, in order.")] = "",
    surveyed_file: SurveyedFileOption = None,
    refused: Annotated[str, typer.Option(metavar="A,B", help="With FILE: who refused.")] = "",
    refused_file: RefusedFileOption = None,
    leaders: LeadersOption = 10,
    p: ProbabilityOption = 0.1,
    surveys: Annotated[str, typer.Option(help="Numbers of surveys to look at.")] = "0,5,10,15,20,30,40,50",
    worth: Annotated[float, typer.Option(help="How many people a survey has to add to be worth it.")] = 0.2,
    policy: Annotated[str, typer.Option(help="Who is surveyed next; the recommended policy by default.")] = "",
    selector: Annotated[str, typer.Option(help="Who chooses the leaders.")] = "foresight:free",
    studies: Annotated[int, typer.Option(help="Simulated studies.")] = 100,
    seed: SeedOption = 0,
    json: JsonOption = None,
) -> None:
    """Say how many surveys are worth it.

    Example: [bold]claim plan --people 500 --mean-degree 6 --kind clustered[/bold]
    """
    check_json_target(json)
    if people is None:
        raise InputError("say how many people there are, at least roughly: --people 500")
    if not 0 < worth < float("inf"):
        raise InputError(f"--worth must be above 0, not {worth}")
    from claim.cli.common import run_progress
    from claim.planning import Setting, plan_further, plan_new

    setting = Setting(leaders, p, policy, selector, _numbers(surveys), studies, seed)
    lists = Lists.given(surveyed, surveyed_file, refused, refused_file, start, start_file)
    with run_progress("studies", hidden=json == "-") as progress:
        if known is None:
            if lists.surveyed or lists.refused or start_file:
                raise InputError("--surveyed, --refused and --start-file go with a file of ties")
            if mean_degree is None:
                raise InputError("say how many contacts people have on average, at least roughly: --mean-degree 6")
            begin = START if start is None else _how_many(start)
            made = plan_new(people, mean_degree, kind or "unknown", begin, setting, progress)
            ground: dict[str, Any] = {"kind": kind or "unknown", "start": begin}
        else:
            if kind is not None:
                raise InputError("--kind is for plans without a file of ties")
            seen = _seen(known, setting.survey_policy(), lists)
            made = plan_further(seen, people, mean_degree, setting, progress)
            ground = {"known": len(seen), "start": len(seen.start)}
            ground |= {"surveyed": len(seen.surveyed), "refused": len(seen.refused)}
    estimates = {"people": people, "mean_degree": mean_degree, **ground}
    verdict = {"worth": worth, "enough": made.enough(worth), "advice": made.advice(worth)}
    show({**estimates, **made.to_dict(), **verdict}, _shown(made, known is not None, made.advice(worth)), json)


def _numbers(given: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in given.split(","))
    except ValueError as error:
        raise InputError(f"--surveys takes whole numbers such as 0,5,10, not {given!r}") from error


def _how_many(start: str) -> int:
    try:
        return int(start)
    except ValueError as error:
        raise InputError(f"without a file of ties --start takes a number of people, not {start!r}") from error


def _seen(known: str, policy: "Policy", lists: Lists) -> "Discovered":
    from claim.cli.advise import study_so_far
    from claim.cli.common import report_dropped
    from claim.networks import load
    from claim.selection.foresight import check_foresight

    graph = load(known)
    report_dropped(graph)
    check_foresight(graph, "a plan")
    return study_so_far(graph, policy, lists)


def _shown(made: "Plan", further: bool, advice: str) -> "Group":
    from rich import box
    from rich.console import Group
    from rich.table import Table

    setting: Setting = made.setting
    title = f"People reached by {setting.leaders} leaders after so many {'further ' if further else ''}surveys"
    caption = f"{setting.studies} simulated studies, {setting.policy_name} surveys, {setting.selector} leaders."
    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD)
    for head in ("surveys", "reached", "nine in ten studies", "each survey adds", "people known"):
        table.add_column(head, justify="right")
    for point in made.points:
        gain = "" if point.gain is None else f"{0.0 + round(point.gain, 2):+.2f}"
        span = f"{point.low:.0f} to {point.high:.0f}"
        table.add_row(str(point.surveys), f"{point.mean:.1f}", span, gain, f"{point.discovered:.0f}")
    return Group(table, advice)
