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
    from claim.learning.config import Config
    from claim.learning.run_folder import Watch
    from claim.networks import Network


def train(
    variant: Annotated[str, typer.Option(help="claim, her, goal-dqn or geometric-dqn.")] = "claim",
    family: Annotated[str | None, typer.Option(help="Train on this family's training networks, or on all.")] = None,
    networks: Annotated[str | None, typer.Option(help="Or on these networks or files, comma-separated.")] = None,
    episodes: Annotated[int, typer.Option(help="Episodes in all, also with --resume.")] = 2000,
    out: Annotated[str, typer.Option(metavar="DIR", help="The folder of the run.")] = "runs/train",
    budget: Annotated[int, typer.Option(help="Surveys an episode.")] = 5,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the run in the folder stands.")] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same policy.")] = 0,
    setting: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting.")] = None,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Train a policy with hindsight and curriculum replay (Algorithm 1 of the paper).

    Example: [bold]claim train --variant claim --family retweet-like --episodes 500 --out runs/claim[/bold]
    """
    if episodes < 1:
        raise InputError(f"--episodes must be at least 1, not {episodes}")
    check_json_target(json)
    check_can_train()
    import torch
    from threadpoolctl import threadpool_limits

    from claim.learning.run_folder import TrainingFolder

    torch.set_num_threads(1)  # small matrices: a second thread costs more than it brings, and one is repeatable
    grounds = _networks(family, networks, data_dir)
    config = _config(variant, budget, seed, setting or [])
    folder = TrainingFolder(
        Path(out), config, grounds, _command(variant, family, networks, episodes, budget, seed, setting)
    )
    if resume and not (Path(out) / "checkpoint.pt").exists():
        say(f"{out}: there is no checkpoint to go on from; this is a new run")
    folder.open(resume)
    with _display(episodes, config, hidden=json == "-") as watch, threadpool_limits(1):
        folder.run(episodes, watch)
    policy = str(Path(out) / "policy.json")
    result = {"policy": policy, "episodes": folder.training.episode, "best": folder.best()}
    show(result, _summary(result), json)


def _networks(family: str | None, networks: str | None, data_dir: str | None) -> "list[Network]":
    from claim.evaluation.compare import load_all
    from claim.networks.catalogue import known_networks

    if (family is None) == (networks is None):
        raise InputError("say what to train on: either --family or --networks")
    if networks is not None:
        wanted = names(networks)
    else:
        known = [listed.network for listed in known_networks(data_dir) if listed.network.role == "train"]
        wanted = [each.name for each in known if family in (each.family, "all") and _wanted(each.family, family)]
    if not wanted:
        raise InputError(f"there is no family called {family}" if family else "--networks names nothing")
    loaded = load_all(wanted, data_dir)
    for network in loaded:
        report_dropped(network)
    return loaded


def _wanted(family: str, asked: str | None) -> bool:
    """``all`` means the families the shipped policies know; look-alikes would only say the same again."""
    return asked != "all" or not family.endswith("-like")


def _config(variant: str, budget: int, seed: int, settings: list[str]) -> "Config":
    from claim.learning.config import checked, parse_settings, variant_named

    changes = {"budget": budget, "seed": seed} | parse_settings(settings)
    return checked(variant_named(variant, **changes))


def _command(
    variant: str,
    family: str | None,
    networks: str | None,
    episodes: int,
    budget: int,
    seed: int,
    settings: list[str] | None,
) -> str:
    source = f"--family {family}" if family else f"--networks {shlex.quote(networks or '')}"
    changes = "".join(f" --set {shlex.quote(each)}" for each in settings or [])
    return f"claim train --variant {variant} {source} --episodes {episodes} --budget {budget} --seed {seed}{changes}"


@contextmanager
def _display(episodes: int, config: "Config", hidden: bool) -> "Iterator[Watch]":
    """One line that is always up to date: episode, influence, goal, lambda, epsilon, loss, time left."""
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
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    quiet = hidden or not console.is_terminal
    with Progress(*columns, console=console, disable=quiet) as bar:
        task = bar.add_task(config.variant, total=episodes)
        recent: list[float] = []

        def watch(metrics: dict[str, Any]) -> None:
            if "validation" in metrics:
                console.print(_validation_line(metrics["validation"]), highlight=False)
                return
            recent.append(metrics["influence"])
            del recent[:-100]
            loss = "–" if metrics["loss"] is None else f"{metrics['loss']:.3f}"
            text = (
                f"{config.variant} I {sum(recent) / len(recent):.1f} g {metrics['goal']:.1f} "
                f"λ {metrics['curriculum_weight']:.2f} ε {metrics['epsilon']:.2f} loss {loss}"
            )
            bar.update(task, completed=metrics["episode"], description=text)

        yield watch


def _validation_line(entry: dict[str, Any]) -> str:
    reached = ", ".join(f"{name} {value:.1f}" for name, value in entry["reached"].items())
    return (
        f"episode {entry['episode']}: validation {100 * (entry['score'] - 1):+.1f} % against random classes ({reached})"
    )


def _summary(result: dict[str, Any]) -> str:
    best = result["best"]
    return (
        f"{result['policy']}: best at episode {best['episode']} of {result['episodes']}, "
        f"{100 * (best['score'] - 1):+.1f} % against random classes on validation start sets"
    )
