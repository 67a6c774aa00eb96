"""``claim plan``: how many surveys are worth their cost."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.cli.advise import Lists, RefusedFileOption, StartFileOption, SurveyedFileOption
from claim.cli.common import (
    JsonOption,
    LeadersOption,
    ProbabilityOption,
    SeedOption,
    counted,
    loaded,
    show,
    table,
    whole,
)

if TYPE_CHECKING:
    from rich.console import Group

    from claim.planning import Plan


Kind = Literal["stars", "clustered", "unknown"]


def plan(
    people: Annotated[int, typer.Option(help="Number of people in the whole network; an estimate.")],
    known: Annotated[str | None, typer.Argument(metavar="[FILE]", help="The ties named so far, one per line.")] = None,
    mean_degree: Annotated[float | None, typer.Option(help="Mean number of contacts of a person; an estimate.")] = None,
    kind: Annotated[Kind | None, typer.Option(help="Few people with many contacts, tight groups, or unknown.")] = None,
    start: Annotated[str | None, typer.Option(metavar="5|A,B", help="People known at first; with FILE: who.")] = None,
    start_file: StartFileOption = None,
    surveyed: Annotated[str, typer.Option(metavar="A,B", help="With FILE: people surveyed, in order.")] = "",
    surveyed_file: SurveyedFileOption = None,
    refused: Annotated[str, typer.Option(metavar="A,B", help="With FILE: people who refused.")] = "",
    refused_file: RefusedFileOption = None,
    leaders: LeadersOption = 10,
    p: ProbabilityOption = 0.1,
    surveys: Annotated[str, typer.Option(help="Numbers of surveys to compare.")] = "0,5,10,15,20,30,40,50",
    worth: Annotated[float, typer.Option(help="People that a survey must add to be worth its cost.")] = 0.2,
    policy: Annotated[str, typer.Option(help="Rule or trained policy that chooses whom to survey.")] = "scout",
    selector: Annotated[str, typer.Option(help="Selector that chooses the leaders.")] = "foresight:free",
    studies: Annotated[int, typer.Option(help="Number of simulated studies.")] = 100,
    seed: SeedOption = 0,
    json: JsonOption = None,
) -> None:
    """Estimate how many surveys are worth their cost.

    Example: [bold]claim plan --people 500 --mean-degree 6 --kind clustered[/bold]
    """
    from claim import planning

    numbers = tuple(whole("--surveys", number) for number in surveys.split(","))
    settings = planning.PlanSettings(leaders, p, policy, selector, numbers, studies, seed, worth)
    lists, start_size = Lists.given(surveyed, surveyed_file, refused, refused_file, start, start_file), 5
    if known is None and start:
        lists, start_size = lists._replace(start=[]), whole("--start", start)
    graph = None if known is None else loaded(known)
    options: dict[str, Any] = {**lists._asdict(), "settings": settings}
    with counted("studies", hidden=json == "-") as progress:
        made = planning.plan(people, mean_degree, kind, start_size, known=graph, **options, progress=progress)
    show(made.to_dict(), _shown(made, known is not None), json)


def _shown(made: "Plan", further: bool) -> "Group":
    from rich import box
    from rich.console import Group

    settings = made.settings
    title = f"People reached by {settings.leaders} leaders after so many {'further ' if further else ''}surveys"
    caption = f"{settings.studies} simulated studies, {settings.policy} surveys, {settings.selector} leaders."
    rows = [
        {
            "surveys": point.surveys,
            "reached": f"{point.mean:.1f}",
            "nine in ten studies": f"{point.low:.0f} to {point.high:.0f}",
            "each survey adds": "" if point.gain is None else f"{0.0 + round(point.gain, 2):+.2f}",
            "people known": f"{point.discovered:.0f}",
        }
        for point in made.points
    ]
    shown = table(title, rows[0], rows, right=rows[0], caption=caption, box=box.SIMPLE_HEAD)
    return Group(*[note for note in [made.basis.get("note")] if note], shown, made.advice)
