"""``claim train``: train a survey policy."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claim.cli.common import (
    DataDirOption,
    JsonOption,
    check_can_train,
    check_json_target,
    names,
    report_dropped,
    say,
    show,
)
from claim.errors import InputError

if TYPE_CHECKING:
    from claim.learning.run_folder import Watch
    from claim.networks import Network


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
    if episodes < 1:
        raise InputError(f"--episodes must be at least 1, got {episodes}")
    check_json_target(json)
    check_can_train()
    import torch
    from threadpoolctl import threadpool_limits

    from claim.learning.config import parse_settings, variant_named
    from claim.learning.run_folder import TrainingFolder

    torch.set_num_threads(1)  # matrices are small: a second thread is slower, and one thread is repeatable
    loaded = _networks(family, networks, data_dir)
    config = variant_named(variant, **{"budget": budget, "seed": seed} | parse_settings(setting or []))
    source = ["--family", family] if family else ["--networks", networks or ""]
    options = {"--episodes": episodes, "--budget": budget, "--seed": seed}
    words = [*source, *(str(word) for option in options.items() for word in option)]
    words += [word for each in setting or [] for word in ("--set", each)]
    folder = TrainingFolder(Path(out), config, loaded, shlex.join(["claim", "train", "--variant", variant, *words]))
    if resume and not (Path(out) / "checkpoint.pt").exists():
        say(f"{out}: there is no checkpoint to continue from; this is a new run")
    folder.open(resume)
    with _display(episodes, variant, hidden=json == "-") as watch, threadpool_limits(1):
        folder.run(episodes, watch)
    best = folder.best()
    result = {"policy": str(Path(out) / "policy.json"), "episodes": folder.training.episode, "best": best}
    text = (
        f"{result['policy']}: best at episode {best['episode']} of {result['episodes']}, "
        f"{100 * (best['score'] - 1):+.1f} % against random classes on validation start sets"
    )
    show(result, text, json)


def _networks(family: str | None, networks: str | None, data_dir: str | None) -> "list[Network]":
    from claim.evaluation.compare import load_all
    from claim.networks.catalogue import known_networks

    if (family is None) == (networks is None):
        raise InputError("say what to train on: either --family or --networks")
    if networks is not None:
        wanted = names(networks)
    else:
        known = [listed.network for listed in known_networks(data_dir) if listed.network.role == "train"]
        # "all" are the families that shipped policies are trained on, without their synthetic look-alikes.
        everything = [each.name for each in known if not each.family.endswith("-like")]
        wanted = everything if family == "all" else [each.name for each in known if each.family == family]
    if not wanted:
        raise InputError(f"there is no family called {family}" if family else "--networks names nothing")
    loaded = load_all(wanted, data_dir)
    for network in loaded:
        report_dropped(network)
    return loaded


@contextmanager
def _display(episodes: int, variant: str, hidden: bool) -> "Iterator[Watch]":
    """Show one line that is always up to date: episode, influence, goal, lambda, epsilon, loss, time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    clocks = TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, *clocks, console=console, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task(variant, total=episodes)
        recent: list[float] = []

        def watch(metrics: dict[str, Any]) -> None:
            if "validation" in metrics:
                entry = metrics["validation"]
                reached = ", ".join(f"{name} {value:.1f}" for name, value in entry["reached"].items())
                score = f"{100 * (entry['score'] - 1):+.1f} % against random classes"
                console.print(f"episode {entry['episode']}: validation {score} ({reached})", highlight=False)
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
