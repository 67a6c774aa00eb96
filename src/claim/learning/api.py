"""``claim.train``: train a survey policy, in a folder that keeps the run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claim.errors import InputError, check_whole, install_command
from claim.learning.config import Config, variant_named, written_setting
from claim.networks import Network, NetworkLike
from claim.networks.catalogue import EVERY_FAMILY, families, load_all, networks_given
from claim.provenance import command_line
from claim.registry import NEEDED
from claim.results import Tabular

if TYPE_CHECKING:
    from claim.learning.policy import LearnedPolicy


@dataclass(frozen=True)
class TrainingResult(Tabular):
    """A finished run: the policy that validated best, its file, and all validations."""

    policy: "LearnedPolicy"
    path: Path
    episodes: int
    best: dict[str, Any]
    validations: list[dict[str, Any]]

    def records(self) -> list[dict[str, Any]]:
        """One row per validation: the score relative to random classes, and the people reached on each network."""
        plain = [{key: entry[key] for key in ("episode", "updates", "score")} for entry in self.validations]
        return [row | entry["reached"] for row, entry in zip(plain, self.validations, strict=True)]


def train(
    networks: Iterable[NetworkLike] | NetworkLike,
    variant: str = "claim",
    episodes: int = 2000,
    out: str | PathLike[str] = "runs/train",
    *,
    resume: bool = False,
    data_dir: str | None = None,
    source: str | None = None,
    watch: Callable[[dict[str, Any]], None] = lambda metrics: None,
    **settings: Any,
) -> TrainingResult:
    """Train a policy by Algorithm 1 of the paper, up to ``episodes`` in all, in the folder ``out``.

    ``networks`` are networks, or the name of a family, which stands for its training networks (``all``: those of every
    family). ``settings`` are those of :class:`claim.learning.config.Config`, such as budget and seed. ``watch`` is
    called with the metrics of each episode and each validation. ``source`` is what the record calls the networks.
    """
    check_whole(1, episodes=episodes)
    check_can_train()
    import torch
    from threadpoolctl import threadpool_limits

    from claim.learning.policy import LearnedPolicy
    from claim.learning.run_folder import POLICY, TrainingFolder

    path, config = Path(fspath(out)), variant_named(variant, **settings)
    given, hidden = training_networks(networks, data_dir)
    folder = TrainingFolder(path, config, hidden, train_command(source or given, config, episodes, settings))
    torch.set_num_threads(1)  # matrices are small: a second thread is slower, and one thread is repeatable
    folder.open(resume)
    with threadpool_limits(1):
        folder.run(episodes, watch)
    card = path / f"{POLICY}.json"
    return TrainingResult(LearnedPolicy.load(card), card, folder.training.episode, folder.best(), folder.curve)


def training_networks(
    networks: Iterable[NetworkLike] | NetworkLike, data_dir: str | None = None
) -> tuple[str, list[Network]]:
    """What the networks are called on the command line, and the networks."""
    given = networks_given(networks, "train")
    if not given:
        raise InputError("no network to train on")
    names = ",".join(each.name if isinstance(each, Network) else each for each in given)
    return networks if isinstance(networks, str) else names, load_all(given, data_dir)


def check_can_train() -> None:
    """Refuse to train where the libraries of the extra ``learning`` are missing."""
    missing = [module for module in (*NEEDED, "tensorboard", "threadpoolctl") if find_spec(module) is None]
    if missing:
        names = "PyTorch" if "torch" in missing else ", ".join(missing)
        raise InputError(f"training policies needs {names}: {install_command('learning')}")


def train_command(source: str, config: Config, episodes: int, settings: dict[str, Any]) -> str:
    """The command line that makes the same policy again."""
    option = "family" if source in (EVERY_FAMILY, *families()) else "networks"
    given = {"variant": config.variant, option: source, "episodes": episodes, "budget": config.budget}
    changed = {name: value for name, value in settings.items() if name not in ("budget", "seed")}
    changes = [f"{name}={written_setting(value)}" for name, value in changed.items()]
    return command_line("train", {**given, "seed": config.seed, "set": changes})
