"""Progress with the time left, on standard error so that results stay clean."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


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
