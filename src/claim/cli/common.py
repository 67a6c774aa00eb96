"""What the verbs share: options, lists of names, tables, JSON and progress."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.errors import InputError
from claim.io.files import check_writable, write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import ProgressColumn

    from claim.networks import Network


JsonOption = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write the result as JSON; - for standard output and nothing else."),
]
DataDirOption = Annotated[
    str | None, typer.Option("--data-dir", metavar="DIR", help="Where network files are (else CLAIM_DATA).")
]
ProbabilityOption = Annotated[
    float, typer.Option("--probability", "-p", help="Chance that word passes along a contact.")
]
LeadersOption = Annotated[int, typer.Option("-k", "--leaders", help="How many leaders to choose.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
DirectedOption = Annotated[bool, typer.Option("--directed", help="Read the file as directed contacts.")]
EdgeProbabilitiesOption = Annotated[
    bool, typer.Option("--edge-probabilities", help="Read the third column as each contact's own probability.")
]


def names(given: str | None) -> list[str]:
    """A list separated by commas or line breaks, each name once; a name with a comma in it stands in double quotes."""
    lines = csv.reader(StringIO(given or "", newline=None), skipinitialspace=True)
    return list(dict.fromkeys(name.strip() for line in lines for name in line if name.strip()))


def lines_of(file: str) -> list[str]:
    """The lines of a file, or of standard input for ``-``, without blank ones."""
    from claim.io.text import Source

    source = Source(Path("standard input"), sys.stdin.buffer.read()) if file == "-" else Source(Path(file))
    with source.open() as stream:
        return [line.strip() for _, line in source.lines(stream) if line.strip()]


def listed(option: str, given: str | None, file: str | None) -> list[str]:
    """What ``--option A,B`` or ``--option-file FILE`` lists, one a line in the file; each once."""
    if file is None:
        return names(given)
    if given:
        raise InputError(f"give {option} or {option}-file, not both")
    found = lines_of(file)
    if not found:
        raise InputError(f"{'standard input' if file == '-' else file}: no people in it for {option}-file")
    return list(dict.fromkeys(found))


def people(network: "Network", labels: Iterable[str]) -> list[int]:
    """Indices of people given by label, each once."""
    return list(dict.fromkeys(network.index_of(label) for label in labels))


def say(message: str) -> None:
    """A word to the user that is not part of the result."""
    typer.echo(message, err=True)


def report_dropped(network: "Network") -> None:
    """Tell the user what was left out of the network they gave."""
    if network.dropped:
        say(f"{network.name}: {network.dropped}")


def show(data: dict[str, Any], table: "RenderableType", json_target: str | None) -> None:
    """The result for people on the terminal, or for machines where ``--json`` asks for it."""
    if json_target == "-":
        sys.stdout.write(_sayable(as_json(data)))
        return
    check_json_target(json_target)
    from rich.console import Console

    # Labels come from files: a person called "[/b]" or ":smile:" is no markup.
    Console(highlight=False, markup=False, emoji=False).print(table, soft_wrap=isinstance(table, str))
    if json_target is not None:
        write_text(Path(json_target), as_json(data))


def _sayable(text: str) -> str:
    """JSON as it is where the terminal has all its letters, else with the others as ``\\u`` escapes."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), indent=1) + "\n"
    return text


def as_json(data: Any) -> str:
    """Strict JSON, ending in a newline."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def check_json_target(json_target: str | None) -> None:
    """Refuse a place that cannot be written to before the work is done rather than after."""
    if json_target in (None, "-"):
        return
    path = Path(json_target or "")
    if path.is_dir():
        raise InputError(f"{path}: is a directory, not a file to write to")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent} to write to")
    if not path.exists() or path.is_file():
        check_writable(path.resolve().parent)


def check_can_train() -> None:
    """Refuse to train where the libraries of the extra ``learning`` are missing."""
    try:
        import safetensors  # noqa: F401
        import threadpoolctl  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        raise InputError("training policies needs PyTorch: pip install 'claim[learning]'") from error


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; what is no plain file, such as a pipe or /dev/null, is written to as it is."""
    check_json_target(str(path))
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            write_whole(path.resolve(), text)
    except OSError as error:
        raise InputError(f"{path}: cannot write it ({error.strerror})") from error


@contextmanager
def run_progress(what: str, hidden: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yields ``update(done, total)`` for counted things."""
    from rich.progress import MofNCompleteColumn

    with _bar(what, MofNCompleteColumn(), hidden) as update:
        yield update


@contextmanager
def byte_progress(what: str, hidden: bool = False) -> Iterator[Callable[[int, int | None], None]]:
    """Yields ``update(done, total)`` for bytes; the total may be unknown."""
    from rich.progress import DownloadColumn

    with _bar(what, DownloadColumn(), hidden) as update:
        yield update


@contextmanager
def _bar(what: str, counter: "ProgressColumn", hidden: bool) -> Iterator[Callable[[int, int | None], None]]:
    """A bar that shows nothing where nobody is looking."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), counter, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
