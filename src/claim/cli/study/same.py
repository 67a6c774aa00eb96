"""Two codes, one person."""

from typing import Annotated

import typer

from claim.cli.common import JsonOption, show
from claim.cli.study.shared import (
    Entered,
    PersonArgument,
    StudiesOption,
    StudyOption,
    app,
    check_codes,
    coded,
    opened_study,
    table_of,
)  # fmt: skip


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
    from claim.field import commands

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
    from claim.field import commands

    check_codes([other], "give the code, such as P6; claim study history lists merges")
    code = other.strip().upper()
    with opened_study(study, studies) as opened:
        opened.run(lambda draft: commands.unmerge(draft, code))
    show({"other": code}, f"{code} is a person of their own again", json)
