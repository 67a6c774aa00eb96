"""The file of a study: backup, restore, passphrase, log, export and import."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import JsonOption, check_json_target, listed, names, say, show, table
from claim.cli.study import (
    NEW_PASSPHRASE_VARIABLE,
    PASSPHRASE_VARIABLE,
    OpenIt,
    Result,
    StudiesOption,
    YesOption,
    alike_shown,
    app,
    asked_passphrase,
    check_codes,
    kept_off,
    library_in,
    study_verb,
)
from claim.errors import InputError

if TYPE_CHECKING:
    from claim.field.exchange import Preview
    from claim.field.store.library import Comparison
    from claim.field.store.session import OpenStudy
    from claim.field.study.events import SetBack


BACKUP_VARIABLE = "CLAIM_BACKUP_PASSPHRASE"
KEY_VARIABLE = "CLAIM_KEY_PASSPHRASE"
_CODE_IN_FILE = re.compile(r"\S*[0-9]\S*")  # names rarely have a digit


@study_verb()
def backup(
    opened: "OpenStudy", target: Annotated[Path, typer.Argument(help="The file to write; encrypted like the study.")]
) -> Result:
    """Write an encrypted copy, which opens with the same passphrase."""
    from claim.field.study.events import short_head

    opened.store.backup(target)
    events, head = opened.study.position, opened.study.head
    result = {"backup": str(target), "events": events, "head": head}
    return result, f"wrote {target}: {events} events, head {short_head(head)}"


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="A backup, or a study that was kept when a backup replaced it.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace the study if it exists; keeps a copy.")] = False,
    yes: YesOption = False,
    studies: StudiesOption = None,
    json: JsonOption = None,
) -> None:
    """Restore a backup, after checking all of it and comparing it with the study if that exists.

    CLAIM_BACKUP_PASSPHRASE opens the backup if it differs from CLAIM_PASSPHRASE, the passphrase of the existing study,
    which stays the passphrase of the study. If that study can no longer be opened, move its file elsewhere.
    """
    check_json_target(json)
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
            opened, kept = library.replace(here, source, passphrase, current, comparison)
        more["kept"] = str(kept)
    with opened:
        result = {**view.overview(opened.view), **more}
    replaced = f"; the study it replaced is kept in {more['kept']}" if more else ""
    show(result, f"study {result['study']} is restored, with {result['events']} events{replaced}", json)


def _confirm(comparison: "Comparison", result: dict[str, Any], replace: bool, yes: bool, json: str | None) -> None:
    """Report how study and backup differ; go on only with --replace and after confirmation."""
    events = "1 event" if comparison.here == 1 else f"{comparison.here} events"
    differ = f"the study here has {events} that the backup lacks; the backup has {comparison.backup} that are not here"
    if not replace:
        show(result, f"study {result['study']} exists already: {differ}; --replace replaces it, keeping a copy", json)
        raise typer.Exit(2)
    say(differ)
    if comparison.withdrawn:
        people = ", ".join(comparison.withdrawn)
        say(f"the backup still has the names of people who withdrew: {people}; enter their withdrawals again")
    if not yes:
        typer.confirm("Replace the study by the backup?", abort=True, err=True)


@study_verb()
def passphrase(opened: "OpenStudy") -> Result:
    """Change the passphrase of a study; backups keep the one they were made with."""
    opened.store.change_passphrase(asked_passphrase(NEW_PASSPHRASE_VARIABLE, "New passphrase", confirm=True))
    return {"study": opened.study.state.study}, "the passphrase is changed"


@study_verb()
@study_verb("close", hidden=True)  # the name until 0.1
def destroy(opened: "OpenStudy", yes: YesOption = False) -> Result:
    """Destroy the key of a study: it can never be opened again. Backups are not touched."""
    if not yes:
        typer.confirm("Destroy the study? This cannot be undone", abort=True)
    closed = library_in(opened.store.path.parent).close_study(opened)
    return closed, f"study {closed['study']} is destroyed; its log ended with {closed['head']}"


@study_verb()
def history(opened: "OpenStudy") -> Result:
    """List every event, in codes, and the head of the log."""
    from rich.console import Group

    from claim.field import view
    from claim.field.study.events import as_data, clock_set_back, short_head

    events, head, set_back = view.history(opened.view), opened.study.head, clock_set_back(opened.study.log)
    rows = [{**row, "undone": "undone" if row["undone"] else "", "about": _about(row["body"])} for row in events]
    notes = [*map(_clock_note, set_back), f"head of the log: {short_head(head)}"]
    shown = Group(table("History", ["number", "at", "type", "about", "undone"], rows), *notes)
    return {"events": events, "head": head, "set_back": as_data(set_back)}, shown


@study_verb()
def undo(
    opened: "OpenStudy",
    number: Annotated[int, typer.Argument(help="An event's number, see history; its whole step is undone.")],
) -> Result:
    """Undo a step; undoing an undo restores it."""
    from claim.field.study import commands

    undone = list(opened.run(lambda draft: commands.undo(draft, number)).result or ())
    return {"undone": undone}, f"undone: {', '.join(map(str, undone))}"


@study_verb()
def verify(
    opened: "OpenStudy",
    head: Annotated[str, typer.Option(metavar="NUMBER:HASH", help="A head that the log must contain.")] = "",
) -> Result:
    """Check the file, the chain of events and every name against its commitment; warn of a clock that was set back.

    Example: [bold]claim study verify --head 31:5f0c1a2b3c4d5e6f[/bold]
    """
    from claim.field.study.events import as_data, events_after

    found = opened.verify()
    later = events_after(head, opened.study.log) if head else None
    for each in found.set_back:
        say(f"warning: {_clock_note(each)}")
    text = f"{found.events} events in order, {found.texts} texts, {found.erased} erased; head {found.head}"
    if later is not None:
        text += f"\nin order: the log contains event {found.events - later} with this hash"
        text += f" and has {later} event{'s' if later != 1 else ''} after it"
    return {**as_data(found), "after_head": later}, text


def _clock_note(each: "SetBack") -> str:
    return f"the clock was set back: event {each.event} is dated {each.span} before event {each.event - 1}"


def _about(body: dict[str, Any]) -> str:
    if body.get("replaced"):
        return f"discarded {body['discarded']} of {body['replaced'].partition(':')[0]}"
    keys = ("person", "by", "one", "other", "keep", "contact", "events")
    found = [body[key] for key in keys if key in body]
    return " ".join(str(each) if not isinstance(each, list) else " ".join(map(str, each)) for each in found)


@study_verb()
def export(
    opened: "OpenStudy",
    target: Annotated[Path, typer.Argument(help="The zip file to write, or the name key with --names.")],
    format: Annotated[str, typer.Option("--format", "-f", help="csv, gephi-csv, graphml, gexf or rds.")] = "csv",
    with_names: Annotated[bool, typer.Option("--names", help="Write the encrypted name key instead.")] = False,
) -> Result:
    """Export the data in codes; names only into a separate encrypted file.

    Example: [bold]claim study export network.zip --format graphml[/bold]
    """
    from claim.field.exchange import export_zip
    from claim.field.exchange.export import write_name_key
    from claim.field.exchange.study import bundle_of
    from claim.field.study import commands
    from claim.io import files

    bundle = bundle_of(opened.view)
    if with_names:
        write_name_key(target, bundle.names, asked_passphrase(KEY_VARIABLE, "Passphrase of the key", confirm=True))
    else:
        content = export_zip(bundle, format, opened.study.head)
        try:
            with files.replacing(target) as temporary:
                temporary.write_bytes(content)
        except OSError as error:
            raise InputError(f"{target}: cannot be written ({error.strerror})") from None
    what = "names" if with_names else format
    try:
        opened.run(lambda draft: commands.exported(draft, what, with_names))
    except BaseException:
        target.unlink(missing_ok=True)  # no data leaves a study without a record in its log
        raise
    result = {"file": str(target), "what": what, "people": len(bundle.people), "ties": len(bundle.ties)}
    return result, f"wrote {target}: {len(bundle.people)} people, {len(bundle.ties)} ties"


@study_verb("import")
def import_files(
    open_study: OpenIt,
    files: Annotated[list[Path], typer.Argument(help="Files of one export.")],
    format: Annotated[str | None, typer.Option("--format", "-f", help="The format, if it is not recognised.")] = None,
    columns: Annotated[str, typer.Option(metavar="ROLE=COLUMN,…", help="Columns that are not recognised.")] = "",
    same: Annotated[str, typer.Option(metavar="FILE=STUDY,…", help="Codes of the same person, as new-3=P7.")] = "",
    same_file: Annotated[str | None, typer.Option(metavar="FILE|-", help="Such pairs, one per line.")] = None,
    apart: Annotated[bool, typer.Option("--apart", help="The same name may be several people.")] = False,
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first row names the columns.")
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Import the files; otherwise they are only checked.")] = False,
    take: Annotated[bool, typer.Option("--take", hidden=True)] = False,  # the name until 0.1
) -> Result:
    """Check files, then import them as one step that can be undone.

    Example: [bold]claim study import export.zip --apply[/bold]
    """
    from claim.field.exchange import preview
    from claim.field.exchange.study import import_preview

    pairs = _pairs(listed("--same", same, same_file))
    if same_file is None and not all(map(_CODE_IN_FILE.fullmatch, pairs)):
        raise kept_off("a name", "give codes, as in new-3=P7, or write the pairs into --same-file, one per line")
    check_codes(pairs.values(), "give a code of the study, as in new-3=P7; claim study people lists them")
    pairs = {code: known.upper() for code, known in pairs.items()}
    opened = open_study()
    mapping, known = _pairs(names(columns)), opened.view.index.names
    looked = preview(list(files), format=format, mapping=mapping, existing=known, join_names=not apart, header=header)
    result = _described(looked) | {"taken": apply or take}
    if apply or take:
        result["codes"] = opened.run(lambda draft: import_preview(draft, looked, same=pairs)).result or {}
    for where, became in result["became"].items():
        say(f"{where}: {'; '.join(f'{column}: {title}' for column, title in became.items())}")
    for each in (*result["problems"], *result["notes"]):
        say(each)
    ready = "--apply imports it" if looked.ready else "it cannot be imported as it is"
    done = "imported" if apply or take else f"only checked; {ready}"
    say(f"{looked.title}: {result['people']} people, {result['ties']} ties; {done}")
    return result, alike_shown(["in_file", "name", "other", "other_name"], result["alike"])


def _pairs(given: list[str]) -> dict[str, str]:
    if not all("=" in each for each in given):
        raise InputError("write pairs as one=other")
    return {one.strip(): other.strip() for one, other in (each.split("=", 1) for each in given)}


def _described(looked: "Preview") -> dict[str, Any]:
    alike = [
        {"in_file": each.code, "name": each.name, "other": each.other_code, "other_name": each.other_name,
         "in_study": each.in_study, "score": round(each.score, 2)}
        for each in looked.duplicates
    ]  # fmt: skip
    return {
        "format": looked.format,
        "columns": looked.mapping,
        "became": {table.where: {column: title or "not used" for column, title in columns}
                   for table, columns in looked.columns},
        "people": len(looked.bundle.people),
        "ties": len(looked.bundle.ties),
        "problems": [str(each) for each in looked.problems],
        "notes": [str(each) for each in looked.notes],
        "alike": alike,
    }  # fmt: skip


@app.command("name-key")
@app.command("names", hidden=True)  # the name until 0.1
def name_key(key: Annotated[Path, typer.Argument(help="A name key.")], json: JsonOption = None) -> None:
    """Open a name key and list the names of the codes."""
    check_json_target(json)
    from claim.field.exchange.export import read_name_key

    found = read_name_key(key, asked_passphrase(KEY_VARIABLE, "Passphrase of the key"))
    rows = [{"code": code, "name": name} for code, name in found.items()]
    show({"names": found}, table("Names", ["code", "name"], rows), json)
