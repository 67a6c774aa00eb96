"""Shared by the verbs: options, lists of names, tables, JSON and progress."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.errors import InputError
from claim.io.files import check_writable, write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, ProgressColumn
    from rich.table import Table

    from claim.networks import Network


def check_json_target(target: str | None) -> str | None:
    """Refuse a file that cannot be written before the work is done rather than after."""
    if target in (None, "-"):
        return target
    path = Path(target or "")
    if path.is_dir():
        raise InputError(f"{path}: is a directory, not a file to write to")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent} to write to")
    if not path.exists() or path.is_file():
        check_writable(path.resolve().parent)
    return target


Entry = Literal["closed", "open"]
_TARGET = "Write the result as JSON; -: to standard output, only."
JsonOption = Annotated[str | None, typer.Option("--json", metavar="FILE", help=_TARGET, callback=check_json_target)]
DataDirOption = Annotated[str | None, typer.Option(metavar="DIR", help="Folder of network files (else CLAIM_DATA).")]
ProbabilityOption = Annotated[
    float, typer.Option("--probability", "-p", help="Probability that a message passes along a contact, 0 to 1.")
]
LeadersOption = Annotated[int, typer.Option("-k", "--leaders", help="Number of leaders to choose.")]
ModelOption = Annotated[str, typer.Option(help="How the message spreads: ic, ic:steps=N, lt or threshold:N.")]
PeopleFileOption = Annotated[
    str | None, typer.Option(metavar="FILE", help="What is known of the people (else NAME.people.csv beside the file).")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Random seed: the same seed gives the same result.")]
WorkersOption = Annotated[int | None, typer.Option(min=1, help="Processes; all cores by default.")]
DirectedOption = Annotated[bool, typer.Option("--directed", help="Read the contacts of the file as directed.")]
EdgeProbabilitiesOption = Annotated[
    bool, typer.Option("--edge-probabilities", help="Read each contact's probability from the third column.")
]


def names(given: str | None) -> list[str]:
    """Split a list at commas or line breaks, each name once; a name with a comma is in double quotes."""
    lines = csv.reader(StringIO(given or "", newline=None), skipinitialspace=True)
    return list(dict.fromkeys(name.strip() for line in lines for name in line if name.strip()))


def lines_of(file: str) -> list[str]:
    """Read the lines of a file, or of standard input for ``-``, without blank ones."""
    from claim.io.text import Source

    source = Source(Path("standard input"), sys.stdin.buffer.read()) if file == "-" else Source(Path(file))
    with source.open() as stream:
        return [line.strip() for _, line in source.lines(stream) if line.strip()]


def listed(option: str, given: str | None, file: str | None) -> list[str]:
    """Read a list of people from ``--option A,B`` or, one per line, from ``--option-file FILE``; each once."""
    if file is None:
        return names(given)
    if given:
        raise InputError(f"give {option} or {option}-file, not both")
    found = lines_of(file)
    if not found:
        raise InputError(f"{'standard input' if file == '-' else file}: no people in it for {option}-file")
    return list(dict.fromkeys(found))


def numbers(option: str, given: str) -> list[float]:
    """Read a list of numbers."""
    try:
        found = [float(each) for each in names(given)]
    except ValueError:
        found = []
    if not found:
        raise InputError(f"{option} takes a number, or several separated by commas; got {given!r}")
    return found


def whole(option: str, given: str) -> int:
    """Read a whole number from 0."""
    if not given.strip().isdecimal():
        raise InputError(f"{option} takes whole numbers from 0, got {given!r}")
    return int(given)


def loaded(name_or_path: str, **options: Any) -> "Network":
    """Load a network, and report on standard error what was left out of it."""
    from claim.networks import load

    return report_dropped(load(name_or_path, **options))


def say(message: str) -> None:
    """Write a note that is not part of the result to standard error."""
    typer.echo(message, err=True)


def report_dropped(network: "Network") -> "Network":
    """Report what was left out of a network."""
    if network.dropped:
        say(f"{network.name}: {network.dropped}")
    return network


def show(data: dict[str, Any], table: "RenderableType", json_target: str | None) -> None:
    """Print the result as text or a table, and write it as JSON where ``--json`` asks for it."""
    if json_target == "-":
        sys.stdout.write(_encodable(as_json(data)))
        return
    from rich.console import Console

    # Labels come from files: "[/b]" and ":smile:" are not markup.
    Console(highlight=False, markup=False, emoji=False).print(table, soft_wrap=isinstance(table, str))
    if json_target is not None:
        write_text(Path(json_target), as_json(data))


def table(
    title: str, columns: Iterable[str], rows: Sequence[Mapping[str, Any]], right: Iterable[str] = (), **style: Any
) -> "Table":
    """Build a table of these columns of the rows.

    Numbers and the columns in ``right`` are aligned to the right; lists are joined, None is empty.
    """
    from rich.table import Table

    made = Table(title=title, **style)
    keys = list(columns)
    for key in keys:
        numeric = key in right or (rows and all(isinstance(row[key], int | float) for row in rows))
        made.add_column(key.replace("_", " "), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        made.add_row(*(_cell(row[key]) for key in keys))
    return made


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


def _encodable(text: str) -> str:
    """Escape the letters of JSON that standard output cannot encode."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), indent=1) + "\n"
    return text


def as_json(data: Any) -> str:
    """Strict JSON, ending in a newline."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file atomically; a pipe or a device such as /dev/null is written to directly."""
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            write_whole(path.resolve(), text)
    except OSError as error:
        raise InputError(f"{path}: cannot write it ({error.strerror})") from error


@contextmanager
def progress_bar(hidden: bool, *columns: "str | ProgressColumn", transient: bool = True) -> "Iterator[Progress]":
    """Show a description, a bar and these columns on standard error, on terminals only."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress

    console = Console(stderr=True)
    shown = ("{task.description}", BarColumn(), *columns)
    with Progress(*shown, console=console, transient=transient, disable=hidden or not console.is_terminal) as bar:
        yield bar


@contextmanager
def counted(what: str, hidden: bool, in_bytes: bool = False) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar; yields ``update(done, total)`` for things or bytes, of which the total may be unknown."""
    from rich.progress import DownloadColumn, MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

    counter = DownloadColumn() if in_bytes else MofNCompleteColumn()
    with progress_bar(hidden, counter, TimeElapsedColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
