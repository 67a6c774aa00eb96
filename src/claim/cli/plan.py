"""``claim plan``: how many interviews are worth their cost, and how to spend them."""

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
    names,
    show,
    table,
    whole,
)
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from claim.planning import Plan, Point


Kind = Literal["stars", "clustered", "unknown"]
MEANING = {
    "new": "new people only",
    "mix:best": "new people, then named people",
    "scout": "new or named people, as each answer suggests",
}


def plan(
    known: Annotated[str | None, typer.Argument(metavar="[FILE]", help="The ties named so far, one per line.")] = None,
    people: Annotated[
        int | None, typer.Option(help="Number of people in the whole network; with FILE, estimated if not given.")
    ] = None,
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
    interviews: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Numbers of interviews to compare; by default 5,10,15,25,35,55."),
    ] = None,
    surveys: Annotated[
        str | None, typer.Option(metavar="N,N", help="The same without the people known at first: 0,5,10,20,30,50.")
    ] = None,
    ways: Annotated[
        str | None, typer.Option(metavar="A,B", help="Ways to spend them: closed, or policies of open studies.")
    ] = None,
    worth: Annotated[float, typer.Option(help="People that an interview must add to be worth its cost.")] = 0.2,
    cost_survey: Annotated[float | None, typer.Option(help="Cost of an interview; with --cost-leader.")] = None,
    cost_leader: Annotated[float | None, typer.Option(help="Cost of a leader: would more leaders be cheaper?")] = None,
    policy: Annotated[str, typer.Option(help="Chooses among named people in the closed way.")] = "scout",
    selector: Annotated[str, typer.Option(help="Selector that chooses the leaders.")] = "foresight",
    studies: Annotated[int, typer.Option(help="Number of simulated studies.")] = 100,
    seed: SeedOption = 0,
    json: JsonOption = None,
) -> None:
    """Estimate how many interviews are worth their cost, and how to spend them.

    Example: [bold]claim plan --people 500 --mean-degree 6 --kind clustered[/bold]
    """
    from claim import planning

    numbers = (_numbers("--surveys", surveys), _numbers("--interviews", interviews))
    if None not in numbers:
        raise InputError("give --surveys or --interviews, not both")
    settings = planning.PlanSettings(
        leaders, p, policy, selector, numbers[0], studies, seed, worth, numbers[1],
        tuple(names(ways)) if ways is not None else planning.WAYS, cost_survey, cost_leader,
    )  # fmt: skip
    lists, start_size = Lists.given(surveyed, surveyed_file, refused, refused_file, start, start_file), 5
    if known is None and start:
        lists, start_size = lists._replace(start=[]), whole("--start", start)
    graph = None if known is None else loaded(known)
    options: dict[str, Any] = {**lists._asdict(), "settings": settings}
    with counted("studies", hidden=json == "-") as progress:
        made = planning.plan(people, mean_degree, kind, start_size, known=graph, **options, progress=progress)
    show(made.to_dict(), _shown(made), json)


def _numbers(option: str, given: str | None) -> tuple[int, ...] | None:
    return None if given is None else tuple(whole(option, number) for number in given.split(","))


def _shown(made: "Plan") -> "Group":
    from rich.console import Group

    note = [made.basis["note"]] if "note" in made.basis else []
    if made.basis.get("people_estimated"):
        note.append(f"The number of people is estimated from the ties: about {made.basis['people']}.")
    ways = [_ways_table(made)] if len(made.ways) > 1 else []
    leaders = [_leaders_table(made)] if made.more_leaders else []
    return Group(*note, *ways, _gains_table(made), *leaders, made.advice)


def _interviews(made: "Plan") -> str:
    return "further interviews" if made.further else "interviews"


def _ways_table(made: "Plan") -> "Table":
    """The people reached in each way, and how many more than in the first, with a 95 % interval."""
    rows: dict[int, dict[str, Any]] = {}
    for point in (point for points in made.ways.values() for point in points):
        row = rows.setdefault(point.interviews, {"interviews": point.interviews})
        best = made.best(point.interviews)
        row[point.way] = f"{point.mean:.1f}{'*' if point.way in best and len(best) < len(made.ways) else ''}"
        if point.ahead is not None and point.ahead_high is not None:
            row[point.way] += f" ({_signed(point.ahead, 1)}±{point.ahead_high - point.ahead:.1f})"
    title = f"People reached by {made.settings.leaders} leaders after so many {_interviews(made)}"
    begins = "" if made.further else f"{made.basis['start']} people, then "
    meaning = {**MEANING, "closed": f"{begins}named people, chosen by {made.settings.policy}"}
    meant = "; ".join(f"{way}: {meaning[way]}" for way in made.ways if way in meaning)
    caption = f"In brackets: more than {next(iter(made.ways))}; ± is a 95 % interval for all cells at once.\n"
    caption += "*: not clearly behind another way; none where that is not clear of any way."
    return _table(title, list(rows.values()), f"{caption}\n{meant}")


def _gains_table(made: "Plan") -> "Table":
    """What each further interview of the advised way adds, and the verdict on it."""
    settings = made.settings
    rows = [
        {
            "interviews": point.interviews,
            "reached": f"{point.mean:.1f}",
            "nine in ten": f"{point.low:.0f} to {point.high:.0f}",
            "each adds": _gain(point),
            f"worth {settings.worth:g}?": point.verdict,
            "known": f"{point.discovered:.0f}",
        }
        for point in made.points
    ]
    title = f"What each of the {_interviews(made)} adds ({made.advised})"
    caption = f"{settings.studies} simulated studies, {settings.selector} leaders; known: people known.\n"
    return _table(title, rows, caption + "± is a 95 % interval for all rows at once.")


def _gain(point: "Point") -> str:
    if point.gain is None or point.gain_high is None:
        return ""
    return f"{_signed(point.gain, 2)} ± {point.gain_high - point.gain:.2f}"


def _leaders_table(made: "Plan") -> "Table":
    """How many drawn leaders reach as many people, and the cost of a leader beyond which the interviews pay."""
    rows = [
        {
            "interviews": row.interviews,
            "drawn": row.drawn,
            "leaders": _range(row.leaders, row.leaders_low, row.leaders_high, ".0f"),
            "break-even": _range(row.break_even, row.break_even_low, row.break_even_high, ".2f"),
            "interviews are": row.verdict,
        }
        for row in made.more_leaders
        if row.way == made.advised
    ]
    costs = f"an interview costs {made.settings.cost_survey:g}, a leader {made.settings.cost_leader:g}"
    caption = "So many leaders, drawn by lot, reach as many people. Interviews pay if a leader\n"
    caption += "costs over break-even times an interview; a one-hop leader needs one as well."
    return _table(f"Survey, or recruit more leaders? ({costs})", rows, caption)


def _range(value: float | None, low: float | None, high: float | None, form: str) -> str:
    shown = ["never" if number is None else format(number, form) for number in (value, low, high)]
    return "never" if low is None else f"{shown[0]} ({shown[1]} to {shown[2]})"


def _signed(number: float, digits: int) -> str:
    return f"{0.0 + round(number, digits):+.{digits}f}"


def _table(title: str, rows: list[dict[str, Any]], caption: str) -> "Table":
    from rich import box

    return table(title, rows[0], rows, right=rows[0], caption=caption, box=box.SIMPLE_HEAD)
