"""The log: what happened, undo, verification."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import JsonOption, say, show
from claim.cli.study.shared import StudiesOption, StudyOption, app, opened_study, table_of

if TYPE_CHECKING:
    from claim.field.events import SetBack


@app.command()
def history(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List every event, in codes, and the head of the log."""
    from rich.console import Group
    from rich.text import Text

    from claim.field import summaries
    from claim.field.events import clock_set_back, short_head
    from claim.field.wire import as_data

    with opened_study(study, studies) as opened:
        rows, head = summaries.history(opened.view), opened.study.head
        set_back = clock_set_back(opened.study.log)
    shown = [{**row, "undone": "undone" if row["undone"] else "", "about": _about(row["body"])} for row in rows]
    table = table_of("History", ["number", "at", "type", "about", "undone"], shown)
    notes = [*map(_said, set_back), f"head of the log: {short_head(head)}"]
    result = {"events": rows, "head": head, "set_back": as_data(set_back)}
    show(result, Group(table, *map(Text, notes)), json)


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
def verify(
    head: Annotated[
        str, typer.Option(metavar="NUMBER:HASH", help="A head that was written down: the log must contain it.")
    ] = "",
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Check the file, the chain of events and every name against its commitment; warn of a clock that was set back.

    Example: [bold]claim study verify --head 31:5f0c1a2b3c4d5e6f[/bold]
    """
    from claim.field.events import events_after
    from claim.field.wire import as_data

    with opened_study(study, studies) as opened:
        found = opened.verify()
        later = events_after(head, opened.study.log) if head else None
    for each in found.set_back:
        say(f"warning: {_said(each)}")
    text = f"{found.events} events in order, {found.texts} texts, {found.erased} erased; head {found.head}"
    if later is not None:
        text += f"\nin order: the log contains event {found.events - later} with this hash"
        text += f" and has {later} event{'s' if later != 1 else ''} after it"
    show({**as_data(found), "after_head": later}, text, json)


def _said(each: "SetBack") -> str:
    return f"the clock was set back: event {each.event} is dated {each.span} before event {each.event - 1}"


def _about(body: dict[str, Any]) -> str:
    if body.get("replaced"):
        return f"discarded {body['discarded']} of {body['replaced'].partition(':')[0]}"
    keys = ("person", "by", "one", "other", "keep", "events")
    found = [body[key] for key in keys if key in body]
    return " ".join(str(each) if not isinstance(each, list) else " ".join(map(str, each)) for each in found)
