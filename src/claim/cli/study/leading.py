"""Whom to ask to lead, and what they said."""

from typing import Annotated, Any

import typer

from claim.cli.common import JsonOption, names, show
from claim.cli.study.shared import PersonArgument, StudiesOption, StudyOption, app, opened_study, table_of
from claim.errors import InputError

AnswerArgument = Annotated[str, typer.Argument(help="offered, accepted, declined, attended or not-attended.")]


@app.command()
def leaders(
    include: Annotated[str, typer.Option(metavar="A,B", help="Codes of people who are to lead.")] = "",
    exclude: Annotated[str, typer.Option(metavar="A,B", help="Codes of people who are not.")] = "",
    attendance: Annotated[float | None, typer.Option(help="Chance that a leader comes; else as set.")] = None,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Say whom to ask to lead, how many people that reaches, and who could replace them."""
    from claim.field import summaries
    from claim.field.leaders import choose_leaders

    with opened_study(study, studies) as opened:
        find = opened.view.find
        wanted, unwanted = [find(name) for name in names(include)], [find(name) for name in names(exclude)]
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
    with opened_study(study, studies) as opened:
        who = opened.view.find(person)
        opened.run(lambda draft: commands.answer_of_leader(draft, who, said))  # type: ignore[arg-type]
    show({"person": who, "answer": said}, f"{who}: {said}", json)


def _marked(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [{**row, "as": kind, "why": "; ".join(row["reasons"])} for row in rows]
