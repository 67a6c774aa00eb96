"""Whom to ask to lead, and what they said."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import JsonOption, names, show
from claim.cli.study.shared import (
    StudiesOption,
    StudyOption,
    app,
    check_codes,
    coded,
    opened_study,
    person_of,
    table_of,
)  # fmt: skip
from claim.errors import InputError

if TYPE_CHECKING:
    from claim.field.opened import View


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
    from claim.field import summaries
    from claim.field.leaders import choose_leaders

    check_codes([*names(include), *names(exclude)], "give codes such as P3, which claim study people lists")
    with opened_study(study, studies) as opened:
        wanted, unwanted = _coded(opened.view, include), _coded(opened.view, exclude)
        result = summaries.leaders(opened.view, choose_leaders(opened.study, wanted, unwanted, attendance))
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

    from claim.field import commands
    from claim.field.events import LeaderAnswer

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
