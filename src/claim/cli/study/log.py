"""The log: what happened, undo, verification."""

from typing import Annotated, Any

import typer

from claim.cli.common import JsonOption, show
from claim.cli.study.shared import StudiesOption, StudyOption, app, opened_study, table_of


@app.command()
def history(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List every event, in codes."""
    from claim.field import summaries

    with opened_study(study, studies) as opened:
        rows = summaries.history(opened.view)
    shown = [{**row, "undone": "undone" if row["undone"] else "", "people": _codes(row["body"])} for row in rows]
    show({"events": rows}, table_of("History", ["number", "at", "type", "people", "undone"], shown), json)


@app.command()
def undo(
    number: Annotated[int, typer.Argument(help="An event's number, see history; its whole step is undone.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Undo a step; undoing an undo brings it back."""
    from claim.field import commands

    with opened_study(study, studies) as opened:
        undone = list(opened.run(lambda draft: commands.undo(draft, number)).result or ())
    show({"undone": undone}, f"undone: {', '.join(map(str, undone))}", json)


@app.command()
def verify(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """Check the file, the chain of events and every name against its commitment."""
    with opened_study(study, studies) as opened:
        found = opened.verify()
    result = {"events": found.events, "texts": found.texts, "erased": found.erased, "head": found.head}
    show(result, f"{found.events} events in order, {found.texts} texts, {found.erased} erased; head {found.head}", json)


def _codes(body: dict[str, Any]) -> str:
    keys = ("person", "by", "one", "other", "keep", "events")
    found = [body[key] for key in keys if key in body]
    return " ".join(str(each) if not isinstance(each, list) else " ".join(map(str, each)) for each in found)
