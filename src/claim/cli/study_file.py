"""The file of a study: backup, restore, passphrase, log, export and import."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import JsonOption, listed, names, say, show
from claim.cli.study import (
    NEW_PASSPHRASE_VARIABLE,
    PASSPHRASE_VARIABLE,
    StudiesOption,
    StudyOption,
    YesOption,
    app,
    asked_passphrase,
    check_codes,
    kept_off,
    library_in,
    opened_study,
    table_of,
)
from claim.errors import InputError

if TYPE_CHECKING:
    from claim.field.exchange import Preview
    from claim.field.store.library import Comparison
    from claim.field.study.events import SetBack


BACKUP_VARIABLE = "CLAIM_BACKUP_PASSPHRASE"


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The file to write; encrypted like the study.")],
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Write an encrypted copy, which opens with the same passphrase."""
    from claim.field.study.events import short_head

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
    from claim.field import view
    from claim.field.store.library import StudyHere, compare
    from claim.field.study.events import as_data

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
        result = {**view.overview(opened.view), **more}
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


@app.command()
def history(study: StudyOption = "", studies: StudiesOption = None, json: JsonOption = None) -> None:
    """List every event, in codes, and the head of the log."""
    from rich.console import Group
    from rich.text import Text

    from claim.field import view
    from claim.field.study.events import as_data, clock_set_back, short_head

    with opened_study(study, studies) as opened:
        rows, head = view.history(opened.view), opened.study.head
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
    from claim.field.study import commands

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
    from claim.field.study.events import as_data, events_after

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


KEY_VARIABLE = "CLAIM_KEY_PASSPHRASE"
_CODE_IN_FILE = re.compile(r"\S*[0-9]\S*")  # a name hardly has a number in it


@app.command()
def export(
    target: Annotated[Path, typer.Argument(help="The zip file to write, or the name key with --names.")],
    format: Annotated[str, typer.Option("--format", "-f", help="csv, gephi-csv, graphml, gexf or rds.")] = "csv",
    with_names: Annotated[bool, typer.Option("--names", help="Write the encrypted name key instead.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Take data out, in codes; names only into a separate encrypted file.

    Example: [bold]claim study export network.zip --format graphml[/bold]
    """
    from claim.field.exchange import export_zip
    from claim.field.exchange.export import write_name_key
    from claim.field.exchange.study import bundle_of
    from claim.field.study import commands

    with opened_study(study, studies) as opened:
        bundle = bundle_of(opened.view)
        if with_names:
            write_name_key(target, bundle.names, asked_passphrase(KEY_VARIABLE, "Passphrase of the key", confirm=True))
        else:
            _write(target, export_zip(bundle, format, opened.study.head).content)
        what = "names" if with_names else format
        try:
            opened.run(lambda draft: commands.exported(draft, what, with_names))
        except BaseException:
            target.unlink(missing_ok=True)  # nothing leaves a study that its log does not know of
            raise
    result = {"file": str(target), "what": what, "people": len(bundle.people), "ties": len(bundle.ties)}
    show(result, f"wrote {target}: {len(bundle.people)} people, {len(bundle.ties)} ties", json)


@app.command("import")
def import_files(
    files: Annotated[list[Path], typer.Argument(help="Files of one export.")],
    format: Annotated[str | None, typer.Option("--format", "-f", help="Which format, if it is not recognised.")] = None,
    columns: Annotated[str, typer.Option(metavar="ROLE=COLUMN,…", help="Columns, where the guess is wrong.")] = "",
    same: Annotated[
        str, typer.Option(metavar="FILE=STUDY,…", help="Who in the file is whom in the study, by code: new-3=P7.")
    ] = "",
    same_file: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="The same, one pair a line, where the file's codes are names."),
    ] = None,
    apart: Annotated[bool, typer.Option("--apart", help="The same name may be several people.")] = False,
    take: Annotated[bool, typer.Option("--take", help="Take it; otherwise it is only looked at.")] = False,
    study: StudyOption = "",
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Look at files, then take them as one step that can be undone.

    Example: [bold]claim study import export.zip --take[/bold]
    """
    from claim.field.exchange import preview
    from claim.field.exchange.study import import_preview, known_names

    one_person = _pairs(listed("--same", same, same_file))
    if same_file is None and not all(map(_CODE_IN_FILE.fullmatch, one_person)):
        raise kept_off("a name", "give codes, as in new-3=P7, or write the pairs into --same-file, one a line")
    check_codes(one_person.values(), "give a code of the study, as in new-3=P7; claim study people lists them")
    one_person = {code: known.upper() for code, known in one_person.items()}
    with opened_study(study, studies) as opened:
        known = known_names(opened.view)
        looked = preview(
            list(files), format=format, mapping=_pairs(names(columns)), existing=known, join_names=not apart
        )
        result = _described(looked)
        if take:
            done = opened.run(lambda draft: import_preview(draft, looked, same=one_person))
            result["codes"] = done.result or {}
    result["taken"] = take
    _tell(looked, take)
    show(result, table_of("The same person?", ["in_file", "name", "other", "other_name"], result["alike"]), json)


@app.command("names")
def name_key(
    key: Annotated[Path, typer.Argument(help="A name key.")],
    json: JsonOption = None,
) -> None:
    """Open a name key: which code is whose."""
    from claim.field.exchange.export import read_name_key

    found = read_name_key(key, asked_passphrase(KEY_VARIABLE, "Passphrase of the key"))
    rows = [{"code": code, "name": name} for code, name in found.items()]
    show({"names": found}, table_of("Names", ["code", "name"], rows), json)


def _write(target: Path, content: bytes) -> None:
    from claim.io import files

    try:
        with files.replacing(target) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from None


def _pairs(given: list[str]) -> dict[str, str]:
    parts = [each.partition("=") for each in given]
    if not all(sign for _, sign, _ in parts):
        raise InputError("write pairs as one=other")
    return {one.strip(): other.strip() for one, _, other in parts}


def _described(looked: "Preview") -> dict[str, Any]:
    alike = [
        {"in_file": each.code, "name": each.name, "other": each.other_code, "other_name": each.other_name,
         "in_study": each.in_study, "score": round(each.score, 2)}
        for each in looked.report.duplicates
    ]  # fmt: skip
    return {
        "format": looked.format,
        "columns": looked.mapping,
        "people": len(looked.bundle.people),
        "ties": len(looked.bundle.ties),
        "problems": [str(each) for each in looked.report.problems],
        "notes": [str(each) for each in looked.report.notes],
        "alike": alike,
    }


def _tell(looked: "Preview", taken: bool) -> None:
    for each in (*looked.report.problems, *looked.report.notes):
        say(str(each))
    ready = "--take takes it" if looked.ready else "it cannot be taken as it is"
    done = "taken" if taken else f"only looked at; {ready}"
    say(f"{looked.title}: {len(looked.bundle.people)} people, {len(looked.bundle.ties)} ties; {done}")
