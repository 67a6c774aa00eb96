"""The file: backup, restore, passphrase, closing."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import JsonOption, say, show
from claim.cli.study.shared import (
    NEW_PASSPHRASE_VARIABLE,
    PASSPHRASE_VARIABLE,
    StudiesOption,
    StudyOption,
    YesOption,
    app,
    asked_passphrase,
    library_in,
    opened_study,
)  # fmt: skip

if TYPE_CHECKING:
    from claim.field.library import Comparison

BACKUP_VARIABLE = "CLAIM_BACKUP_PASSPHRASE"


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The file to write; encrypted like the study.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Write an encrypted copy, which opens with the same passphrase."""
    from claim.field.events import short_head

    with opened_study(study, studies) as opened:
        opened.backup(target)
        events, head = opened.study.position, opened.study.head
    result = {"backup": str(target), "events": events, "head": head}
    show(result, f"wrote {target}: {events} events, head {short_head(head)}", json)


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="A backup, or a study that was kept when a backup replaced it.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace the study if it is here; keeps a copy.")] = False,
    yes: YesOption = False,
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Bring a backup back, after checking all of it and comparing it with the study that is here.

    CLAIM_BACKUP_PASSPHRASE opens the backup if it differs from CLAIM_PASSPHRASE, the passphrase of the study that is
    here; the latter stays the passphrase of the study. If that study can no longer be opened, move its file elsewhere.
    """
    from claim.field import summaries
    from claim.field.library import StudyHere, compare
    from claim.field.wire import as_data

    library = library_in(studies)
    given = BACKUP_VARIABLE if os.environ.get(BACKUP_VARIABLE) else PASSPHRASE_VARIABLE
    passphrase = asked_passphrase(given, "Passphrase of the backup")
    more: dict[str, Any] = {}
    try:
        opened = library.restore(source, passphrase)
    except StudyHere as found:
        current = asked_passphrase(PASSPHRASE_VARIABLE, "Passphrase of the study that is here")
        with library.open(found.study, current) as here:
            comparison = compare(here.study.log, found.log)
            more = {"study": found.study, "comparison": as_data(comparison), "kept": None}
            _confirm(comparison, more, replace, yes, json)
            done = library.replace(here, source, passphrase, current, comparison)
        opened, more["kept"] = done.opened, str(done.kept)
    with opened:
        result = {**summaries.overview(opened.view), **more}
    kept = f"; the study it replaced is kept in {more['kept']}" if more else ""
    show(result, f"study {result['study']} is back, with {result['events']} events{kept}", json)


def _confirm(comparison: "Comparison", result: dict[str, Any], replace: bool, yes: bool, json: str | None) -> None:
    """Say how study and backup differ; go on only with --replace and a yes."""
    events = "1 event" if comparison.here == 1 else f"{comparison.here} events"
    differ = f"the study here has {events} that the backup lacks; the backup has {comparison.backup} that are not here"
    if not replace:
        show(result, f"study {result['study']} is here already: {differ}; --replace replaces it, keeping a copy", json)
        raise typer.Exit(2)
    say(differ)
    if comparison.withdrawn:
        people = ", ".join(comparison.withdrawn)
        say(f"the backup still has the names of people who withdrew: {people}; enter their withdrawals again")
    if not yes:
        typer.confirm("Replace the study by the backup?", abort=True, err=True)


@app.command()
def passphrase(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """Change the passphrase of a study; backups keep the one they were made with."""
    with opened_study(study, studies) as opened:
        name = opened.study.state.study
        opened.change_passphrase(asked_passphrase(NEW_PASSPHRASE_VARIABLE, "New passphrase", confirm=True))
    show({"study": name}, "the passphrase is changed", json)


@app.command()
def close(
    yes: YesOption = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """End a study for good: its key is destroyed. Backups are yours to destroy."""
    library = library_in(studies)
    with opened_study(study, studies) as opened:
        if not yes:
            typer.confirm("Destroy the study? Nobody can bring it back", abort=True)
        closed = library.close_study(opened)
    result = {"study": closed.study, "events": closed.events, "head": closed.head, "at": closed.at}
    show(result, f"study {closed.study} is closed; its log ended with {closed.head}", json)
