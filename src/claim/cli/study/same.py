"""Two codes, one person."""

from typing import Annotated

import typer

from claim.cli.common import JsonOption, show
from claim.cli.study.shared import PersonArgument, StudiesOption, StudyOption, app, opened_study, table_of


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
    keep: PersonArgument,
    other: PersonArgument,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Two codes are the same person."""
    from claim.field import commands

    with opened_study(study, studies) as opened:
        one, two = opened.view.find(keep), opened.view.find(other)
        opened.run(lambda draft: commands.merge(draft, one, two))
    show({"keep": one, "other": two}, f"{two} is {one}", json)


@app.command()
def unmerge(
    other: Annotated[str, typer.Argument(help="The code that was merged into another.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """They are two people after all."""
    from claim.field import commands

    with opened_study(study, studies) as opened:
        opened.run(lambda draft: commands.unmerge(draft, other))
    show({"other": other}, f"{other} is somebody else again", json)
