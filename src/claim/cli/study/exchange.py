"""Taking data out in codes, bringing files in, and the name key."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import JsonOption, listed, names, say, show
from claim.cli.study.shared import (
    StudiesOption,
    StudyOption,
    app,
    asked_passphrase,
    check_codes,
    kept_off,
    opened_study,
    table_of,
)  # fmt: skip
from claim.errors import InputError

if TYPE_CHECKING:
    from claim.field.exchange import Preview

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
    from claim.field import commands
    from claim.field.exchange import export_zip
    from claim.field.exchange.namekey import write_name_key
    from claim.field.exchange.study import bundle_of

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
    from claim.field.exchange.namekey import read_name_key

    found = read_name_key(key, asked_passphrase(KEY_VARIABLE, "Passphrase of the key"))
    rows = [{"code": code, "name": name} for code, name in found.items()]
    show({"names": found}, table_of("Names", ["code", "name"], rows), json)


def _write(target: Path, content: bytes) -> None:
    from claim.field import files

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
