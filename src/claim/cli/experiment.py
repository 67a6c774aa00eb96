"""``claim experiment``: run the paper's experiments."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer

from claim.cli.common import DataDirOption, JsonOption, WorkersOption, progress_bar, say, show
from claim.errors import InputError
from claim.jobs import BackendName

if TYPE_CHECKING:
    from claim.jobs import Standing, Watch


app = typer.Typer(name="experiment", no_args_is_help=True)


@app.callback()
def _experiment() -> None:
    """Run published experiments again."""


@app.command()
def paper(
    quick: Annotated[bool, typer.Option("--quick", help="A small version: minutes instead of hours.")] = False,
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of the run; an earlier one goes on.")] = "runs/paper",
    workers: WorkersOption = None,
    backend: Annotated[BackendName, typer.Option(help="Local processes, or tasks of a Ray cluster.")] = "local",
    address: Annotated[str | None, typer.Option(help="The Ray cluster; without it Ray is started here.")] = None,
    hours: Annotated[float | None, typer.Option(min=0, help="Begin no more jobs after that time.")] = None,
    earlier: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of an earlier run; what it has done is not done again.")
    ] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Every table and figure of the paper: train, evaluate, and write one report.

    Interrupt it as you like: the same command goes on where it was.

    Example: [bold]claim experiment paper --quick --out runs/quick[/bold]
    """
    if address is not None and backend != "ray":
        raise InputError("--address is that of a Ray cluster: add --backend ray")
    from claim.experiments.jobs import take_earlier
    from claim.experiments.paper import FULL, QUICK, Paper
    from claim.experiments.report import write_experiments
    from claim.jobs import Store, Sweep, backend_named
    from claim.learning.api import check_can_train
    from claim.provenance import manifest

    check_can_train()
    scale = QUICK if quick else FULL
    grid = Paper(scale, scale.splits(data_dir))
    store = Store(Path(out), manifest("", {}, [])["git"])
    with store.locked(), _display(hidden=json == "-") as watch:
        if earlier is not None:
            take_earlier(grid.jobs(), Path(earlier), store)
        place = backend_named(backend, store.folder, workers, address)
        going = Sweep(grid.jobs(), store, place, watch, None if hours is None else 3600 * hours)
        going.run()
        report = write_experiments(grid, store, "claim experiment paper" + " --quick" * quick, going.failures)
    lines = [f"report: {report}"]
    if going.missing:
        lines.append(f"{going.missing} jobs have not been run; the same command goes on with them")
    lines += [f"failed: {name}: {reason}" for name, reason in going.failures.items()]
    show({"report": str(report), "failures": going.failures, "missing": going.missing}, "\n".join(lines), json)
    if going.failures:
        raise typer.Exit(1)


@contextmanager
def _display(hidden: bool) -> "Iterator[Watch]":
    """A bar with the time left and what is running; without a terminal, a line now and then."""
    from rich.progress import TimeElapsedColumn

    with progress_bar(hidden, TimeElapsedColumn(), "{task.fields[rest]}") as bar:
        task = bar.add_task("", total=1.0, rest="")
        reported = -1

        def watch(standing: "Standing") -> None:
            nonlocal reported
            counted = f"{standing.done} of {standing.total} jobs"
            rest = f"{_duration(standing.seconds_left)} left"
            running = shorten(", ".join(standing.running), 70, placeholder="…")
            bar.update(task, completed=standing.share, description=counted, rest=f"{rest}; {running}")
            tenth = int(10 * standing.share)
            if not bar.console.is_terminal and not hidden and tenth != reported:
                reported = tenth
                say(f"{100 * standing.share:.0f} %: {counted}, {rest}")

        yield watch


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"about {hours} h {minutes:02} min" if hours else f"about {minutes} min"
