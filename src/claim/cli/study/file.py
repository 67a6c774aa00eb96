"""The file: backup, restore, passphrase, closing."""

from pathlib import Path
from typing import Annotated

import typer

from claim.cli.common import JsonOption, show
from claim.cli.study.shared import (
    NEW_PASSPHRASE_VARIABLE,
    StudiesOption,
    StudyOption,
    YesOption,
    app,
    asked_passphrase,
    library_in,
    opened_study,
)  # fmt: skip


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The file to write; encrypted like the study.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Write an encrypted copy, which opens with the same passphrase."""
    with opened_study(study, studies) as opened:
        opened.backup(target)
    show({"backup": str(target)}, f"wrote {target}", json)


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="A backup.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace the study if it is here already.")] = False,
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Bring a backup back, after checking all of it."""
    from claim.field import summaries

    with library_in(studies).restore(source, asked_passphrase(), replace=replace) as opened:
        result = summaries.overview(opened.view)
    show(result, f"study {result['study']} is back, with {result['events']} events", json)


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
