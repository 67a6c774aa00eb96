"""``claim train``: train a survey policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from claim.cli.common import DataDirOption, JsonOption, names, progress_bar, report_dropped, say, show
from claim.errors import InputError

Preset = Literal["paper"]

if TYPE_CHECKING:
    from claim.learning.run_folder import Watch


def train(
    variant: Annotated[
        str, typer.Option(help="claim; with --preset paper also her, goal-dqn or geometric-dqn.")
    ] = "claim",
    preset: Annotated[
        Preset | None, typer.Option(help="paper: train by Algorithm 1 of the paper, to the letter (slow).")
    ] = None,
    family: Annotated[
        str | None, typer.Option(help="Train on this family's training networks and look-alikes, or on all.")
    ] = None,
    networks: Annotated[str | None, typer.Option(help="Or on these networks or files, comma-separated.")] = None,
    episodes: Annotated[
        int | None, typer.Option(help="Episodes in all, also with --resume.", show_default="1280, or 1000 of the paper")
    ] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="The folder of the run.")] = "runs/train",
    budget: Annotated[int, typer.Option(help="Surveys an episode.")] = 5,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in the folder.")] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same policy.")] = 0,
    setting: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting.")] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Train a policy.

    Example: [bold]claim train --variant claim --family retweet-like --episodes 500 --out runs/claim[/bold]
    """
    if (family is None) == (networks is None):
        raise InputError("say what to train on: either --family or --networks")
    from claim.learning import api
    from claim.learning.config import EPISODES, parse_settings
    from claim.networks.catalogue import EVERY_FAMILY, families

    if family not in (None, EVERY_FAMILY, *families()):
        raise InputError(f"there is no family called {family}")
    source, hidden = api.training_networks(family or names(networks), preset, data_dir)
    for network in hidden:
        report_dropped(network)
    api.check_can_train()
    changes = {"budget": budget, "seed": seed} | parse_settings(setting or [], preset)
    episodes = EPISODES[preset] if episodes is None else episodes
    if resume and not (Path(out) / "checkpoint.pt").exists():
        say(f"{out}: there is no checkpoint to continue from; this is a new run")
    with _display(episodes, variant, hidden=json == "-") as watch:
        run = api.train(
            hidden, variant, episodes, out, preset=preset, resume=resume, source=source, watch=watch, **changes
        )
    last = run.validations[-1]
    text = (
        f"{run.path}: {run.episodes} episodes, "
        f"{100 * (last['score'] - 1):+.1f} % against random classes on validation start sets"
    )
    show({"policy": str(run.path), "episodes": run.episodes, "validation": last}, text, json)


@contextmanager
def _display(episodes: int, variant: str, hidden: bool) -> "Iterator[Watch]":
    """Show one line that is always up to date: episode, influence, what else the training tells, time left."""
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
            if metrics["influence"] is not None:
                recent.append(metrics["influence"])
                del recent[:-100]
            parts = [f"{variant} I {sum(recent) / max(len(recent), 1):.1f}"]
            shown = {"goal": "g {:.1f}", "curriculum_weight": "λ {:.2f}", "epsilon": "ε {:.2f}", "loss": "loss {:.3f}"}
            parts += [form.format(metrics[name]) for name, form in shown.items() if metrics.get(name) is not None]
            text = " ".join(parts)
            bar.update(task, completed=metrics["episode"], description=text)

        yield watch
