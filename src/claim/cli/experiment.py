"""``claim experiment``: run the paper's experiments."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.cli.common import DataDirOption, JsonOption, check_json_target, say, show
from claim.errors import InputError

if TYPE_CHECKING:
    from claim.jobs import Backend, Standing, Watch

BackendName = Literal["local", "ray"]
ScaleName = Literal["full", "quick", "tiny"]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _experiment() -> None:
    """Run published experiments again."""


@app.command()
def paper(
    quick: Annotated[bool, typer.Option("--quick", help="A small version: minutes instead of hours.")] = False,
    out: Annotated[
        str, typer.Option(metavar="DIR", help="The folder of the run; an earlier run goes on.")
    ] = "runs/paper",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; all cores by default.")] = None,
    backend: Annotated[BackendName, typer.Option(help="Local processes, or tasks of a Ray cluster.")] = "local",
    address: Annotated[str | None, typer.Option(help="The Ray cluster; without it Ray is started here.")] = None,
    hours: Annotated[
        float | None, typer.Option(min=0, help="Begin no more jobs after that time; the report says what is missing.")
    ] = None,
    scale: Annotated[ScaleName | None, typer.Option(hidden=True)] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Every table and figure of the paper: train, evaluate, and write one report.

    Interrupt it as you like: the same command goes on where it was.

    Example: [bold]claim experiment paper --quick --out runs/quick[/bold]
    """
    check_json_target(json)
    if address is not None and backend != "ray":
        raise InputError("--address is that of a Ray cluster: add --backend ray")
    from claim.evaluation.provenance import manifest
    from claim.experiments.paper import SCALES, Paper
    from claim.experiments.report import write_report
    from claim.jobs import Store, Sweep
    from claim.learning.api import check_can_train

    check_can_train()
    size = SCALES[scale or ("quick" if quick else "full")]
    grid = Paper(size, size.splits(data_dir))
    store = Store(Path(out), manifest("", {}, [])["git"])
    with store.locked(), _display(hidden=json == "-") as watch:
        going = Sweep(
            grid.jobs(), store, _backend(backend, address, workers, store.folder), watch,
            None if hours is None else 3600 * hours,
        )  # fmt: skip
        going.run()
        report = write_report(grid, store, _command(size.name), going.failures)
    result = {"report": str(report), "failures": going.failures, "missing": going.missing}
    show(result, _summary(result), json)
    if going.failures:
        raise typer.Exit(1)


def _backend(name: BackendName, address: str | None, workers: int | None, folder: Path) -> "Backend":
    if name == "ray":
        from claim.jobs.ray import RayBackend

        return RayBackend(folder, address, workers)
    from claim.jobs.local import LocalBackend

    return LocalBackend(workers or os.cpu_count() or 1, folder)


def _command(scale: str) -> str:
    """The command that makes the same again; where and on how many processes makes no difference."""
    return "claim experiment paper" + {"full": "", "quick": " --quick"}.get(scale, f" --scale {scale}")


@contextmanager
def _display(hidden: bool) -> "Iterator[Watch]":
    """A bar with the time left and what is running; without a terminal, a line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[rest]}"))
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0, rest="")
        reported = -1

        def watch(standing: "Standing") -> None:
            nonlocal reported
            counted = f"{standing.done} of {standing.total} jobs"
            rest = f"{_duration(standing.seconds_left)} left"
            running = ", ".join(standing.running)
            bar.update(task, completed=standing.share, description=counted, rest=f"{rest}; {_cut(running)}")
            tenth = int(10 * standing.share)
            if not console.is_terminal and not hidden and tenth != reported:
                reported = tenth
                say(f"{100 * standing.share:.0f} %: {counted}, {rest}")

        yield watch


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    minutes = round(seconds / 60)
    return f"about {minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"about {minutes} min"


def _cut(text: str, most: int = 70) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _summary(result: dict[str, Any]) -> str:
    lines = [f"report: {result['report']}"]
    if result["missing"]:
        lines.append(f"{result['missing']} jobs have not been run; the same command goes on with them")
    return "\n".join([*lines, *(f"failed: {name}: {reason}" for name, reason in result["failures"].items())])
