"""``claim train``: train a survey policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import DataDirOption, JsonOption, names, progress_bar, report_dropped, say, show
from claim.errors import InputError

if TYPE_CHECKING:
    from claim.learning.run_folder import Watch


def train(
    variant: Annotated[str, typer.Option(help="claim, her, goal-dqn or geometric-dqn.")] = "claim",
    family: Annotated[str | None, typer.Option(help="Train on this family's training networks, or on all.")] = None,
    networks: Annotated[str | None, typer.Option(help="Or on these networks or files, comma-separated.")] = None,
    episodes: Annotated[int, typer.Option(help="Episodes in all, also with --resume.")] = 2000,
    out: Annotated[str, typer.Option(metavar="DIR", help="The folder of the run.")] = "runs/train",
    budget: Annotated[int, typer.Option(help="Surveys an episode.")] = 5,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in the folder.")] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same policy.")] = 0,
    setting: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting.")] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Train a policy with hindsight and curriculum replay (Algorithm 1 of the paper).

    Example: [bold]claim train --variant claim --family retweet-like --episodes 500 --out runs/claim[/bold]
    """
    if (family is None) == (networks is None):
        raise InputError("say what to train on: either --family or --networks")
    from claim.learning import api
    from claim.learning.config import parse_settings
    from claim.networks.catalogue import EVERY_FAMILY, families

    if family not in (None, EVERY_FAMILY, *families()):
        raise InputError(f"there is no family called {family}")
    source, hidden = api.training_networks(family or names(networks), data_dir)
    for network in hidden:
        report_dropped(network)
    changes = {"budget": budget, "seed": seed} | parse_settings(setting or [])
    if resume and not (Path(out) / "checkpoint.pt").exists():
        say(f"{out}: there is no checkpoint to continue from; this is a new run")
    with _display(episodes, variant, hidden=json == "-") as watch:
        run = api.train(hidden, variant, episodes, out, resume=resume, source=source, watch=watch, **changes)
    text = (
        f"{run.path}: best at episode {run.best['episode']} of {run.episodes}, "
        f"{100 * (run.best['score'] - 1):+.1f} % against random classes on validation start sets"
    )
    show({"policy": str(run.path), "episodes": run.episodes, "best": run.best}, text, json)


@contextmanager
def _display(episodes: int, variant: str, hidden: bool) -> "Iterator[Watch]":
    """Show one line that is always up to date: episode, influence, goal, lambda, epsilon, loss, time left."""
    from rich.progress import MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with progress_bar(hidden, *columns, transient=False) as bar:
        task = bar.add_task(variant, total=episodes)
        recent: list[float] = []

        def watch(metrics: dict[str, Any]) -> None:
            if "validation" in metrics:
                entry = metrics["validation"]
                reached = ", ".join(f"{name} {value:.1f}" for name, value in entry["reached"].items())
                score = f"{100 * (entry['score'] - 1):+.1f} % against random classes"
                bar.console.print(f"episode {entry['episode']}: validation {score} ({reached})", highlight=False)
                return
            recent.append(metrics["influence"])
            del recent[:-100]
            loss = "–" if metrics["loss"] is None else f"{metrics['loss']:.3f}"
            text = (
                f"{variant} I {sum(recent) / len(recent):.1f} g {metrics['goal']:.1f} "
                f"λ {metrics['curriculum_weight']:.2f} ε {metrics['epsilon']:.2f} loss {loss}"
            )
            bar.update(task, completed=metrics["episode"], description=text)

        yield watch
