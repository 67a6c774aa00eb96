"""``claim.train``: train a survey policy, in a folder that keeps the run."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claim.discovery.simulation import check_contacts
from claim.errors import InputError, check_settings, check_whole, install_command
from claim.learning.config import EPISODES, VARIANTS, Config, Preset, written_setting
from claim.networks import Network, NetworkLike
from claim.networks.catalogue import EVERY_FAMILY, families, load_all, networks_given, with_look_alikes
from claim.provenance import command_line
from claim.registry import NEEDED
from claim.results import Tabular

if TYPE_CHECKING:
    from claim.learning.paper import Settings
    from claim.learning.policy import TrainedPolicy
    from claim.learning.run_folder import TrainingFolder


@dataclass(frozen=True)
class TrainingResult(Tabular):
    """A finished run: the policy, its file, and all validations."""

    policy: "TrainedPolicy"
    path: Path
    episodes: int
    validations: list[dict[str, Any]]

    def records(self) -> list[dict[str, Any]]:
        """One row per validation: the score relative to random classes, and the people reached on each network."""
        plain = [{key: entry[key] for key in ("episode", "updates", "score")} for entry in self.validations]
        return [row | entry["reached"] for row, entry in zip(plain, self.validations, strict=True)]


def train(
    networks: Iterable[NetworkLike] | NetworkLike,
    variant: str = "claim",
    episodes: int | None = None,
    out: str | PathLike[str] = "runs/train",
    *,
    preset: Preset | None = None,
    resume: bool = False,
    data_dir: str | None = None,
    source: str | None = None,
    watch: Callable[[dict[str, Any]], None] = lambda metrics: None,
    **settings: Any,
) -> TrainingResult:
    """Train a policy, up to ``episodes`` in all, in the folder ``out``.

    ``networks`` are networks, or the name of a family, which stands for its training networks (``all``: those of every
    family) and, for ``claim``, those of its look-alikes, because two networks alone are overfitted. With
    ``preset="paper"`` it is trained by Algorithm 1 of the paper, as one of its variants (``claim``, ``her``,
    ``goal-dqn``, ``geometric-dqn``). ``settings`` are those of :class:`claim.learning.config.Config`, such as budget
    and seed, or of :class:`claim.learning.paper.Settings`. ``watch`` is called with the metrics of each episode
    and each validation. ``source`` is what the record calls the networks.
    """
    if episodes is not None:
        check_whole(1, episodes=episodes)
    check_can_train()
    import torch
    from threadpoolctl import threadpool_limits

    from claim.learning.policy import load_policy
    from claim.learning.run_folder import POLICY

    config = settings_of(variant, preset, **settings)
    episodes = EPISODES[preset] if episodes is None else episodes
    given, hidden = training_networks(networks, preset, data_dir)
    command = train_command(source or given, config, episodes, settings)
    folder = training_folder(Path(fspath(out)), config, hidden, command)
    torch.set_num_threads(1)  # matrices are small: a second thread is slower, and one thread is repeatable
    folder.open(resume)
    with threadpool_limits(1):
        folder.run(episodes, watch)
    card = folder.path / f"{POLICY}.json"
    return TrainingResult(load_policy(card), card, folder.training.episode, folder.curve)


def settings_of(variant: str, preset: Preset | None, **changes: Any) -> "Config | Settings":
    """The settings of a variant of a preset with some of them changed."""
    from claim.learning.paper import Settings

    if preset not in VARIANTS:
        raise InputError(f"the preset must be paper, or none; got {preset}")
    if variant not in VARIANTS[preset]:
        hint = "; it is trained with --preset paper" if variant in VARIANTS["paper"] else ""
        raise InputError(f"the variant must be one of {', '.join(VARIANTS[preset])}, got {variant}{hint}")
    kind = Settings if preset == "paper" else Config
    check_settings("train", kind, changes)
    return Settings(**{"variant": variant, **changes}) if preset == "paper" else Config(**changes)


def training_folder(
    path: Path, settings: "Config | Settings", networks: Sequence[Network], command: str
) -> "TrainingFolder":
    """The folder of a training with these settings."""
    from claim.learning import paper, train
    from claim.learning.run_folder import Training, TrainingFolder

    def begin() -> Training:
        if isinstance(settings, paper.Settings):
            return paper.Training(settings, networks)
        return train.Training(settings, networks)

    return TrainingFolder(path, settings, networks, begin, command)


def training_networks(
    networks: Iterable[NetworkLike] | NetworkLike, preset: Preset | None = None, data_dir: str | None = None
) -> tuple[str, list[Network]]:
    """What the networks are called on the command line, and the networks; the paper has no look-alikes of a family."""
    family = isinstance(networks, str) and networks in families() and preset is None
    given = networks_given(with_look_alikes(str(networks)) if family else networks, "train")
    if not given:
        raise InputError("no network to train on")
    names = ",".join(each.name if isinstance(each, Network) else each for each in given)
    loaded = load_all(given, data_dir)
    for network in loaded:
        check_contacts(network)
    return networks if isinstance(networks, str) else names, loaded


def check_can_train() -> None:
    """Refuse to train where the libraries of the extra ``learning`` are missing."""
    missing = [module for module in (*NEEDED, "tensorboard", "threadpoolctl") if find_spec(module) is None]
    if missing:
        names = "PyTorch" if "torch" in missing else ", ".join(missing)
        raise InputError(f"training policies needs {names}: {install_command('learning')}")


def train_command(source: str, config: "Config | Settings", episodes: int, settings: dict[str, Any]) -> str:
    """The command line that makes the same policy again."""
    option = "family" if source in (EVERY_FAMILY, *families()) else "networks"
    preset = None if isinstance(config, Config) else "paper"
    given = {"preset": preset, "variant": config.variant, option: source, "episodes": episodes, "budget": config.budget}
    changed = {name: value for name, value in settings.items() if name not in ("budget", "seed")}
    changes = [f"{name}={written_setting(value)}" for name, value in changed.items()]
    return command_line("train", {**given, "seed": config.seed, "set": changes})
