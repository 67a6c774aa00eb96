"""The jobs of the experiments: train a policy, evaluate it, measure a network."""

import base64
import gzip
import json
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import claim
from claim.errors import InputError
from claim.evaluation.runs import Method, ProtocolName, StudySettings, draw_start_sets, run_studies
from claim.io.files import write_whole
from claim.jobs import Job, Result, Store, key_of, with_needs
from claim.learning.api import settings_of, train_command, training_folder
from claim.learning.config import Config, Preset
from claim.networks import Network
from claim.registry import is_learned

if TYPE_CHECKING:
    from claim.learning.paper import Settings
    from claim.learning.policy import TrainedPolicy

SEED = 10
RECORDS = "evaluations.jsonl.gz"  # results of all jobs but trainings, with one entry a run
# Seconds that the parts of a job take, for the time left
A_PAPER_EPISODE, AN_EPISODE = 1.2, 0.1  # with five surveys
A_SURVEY, A_LEARNED_SURVEY, A_PAPER_SURVEY, A_SELECTION = 0.001, 0.003, 0.06, 0.01


@dataclass(frozen=True)
class Train:
    """Trains one policy; a killed training resumes at its last checkpoint. No episodes: the network as initialised."""

    method: str  # as tables name it
    family: str
    networks: tuple[Network, ...]
    seed: int
    episodes: int
    variant: str = "claim"
    preset: Preset | None = None
    settings: tuple[tuple[str, Any], ...] = ()  # changes to the variant's settings
    needs = ()

    @property
    def config(self) -> "Config | Settings":
        """All settings."""
        return settings_of(self.variant, self.preset, seed=self.seed, **dict(self.settings))

    @property
    def label(self) -> str:
        """Method, family, surveys and seed; also a file name."""
        trained = f"{self.method.replace(' ', '-')}.{self.family}.{self.config.budget}.seed{self.seed}"
        return trained if self.episodes else f"{trained}.untrained"

    @property
    def name(self) -> str:
        """Shown while it runs."""
        return f"train {self.label}"

    @property
    def effort(self) -> float:
        """Seconds for the episodes; the choices that claim tries, and the surveys after them, grow with the budget."""
        config = self.config
        if not isinstance(config, Config):
            return 2 + self.episodes * A_PAPER_EPISODE
        return 2 + self.episodes * AN_EPISODE * (config.budget / 5) ** 2 * (1 if config.every_choice else 0.5)

    def identity(self) -> dict[str, Any]:
        """Settings, episodes and networks."""
        networks = {network.name: network.checksum for network in self.networks}
        trained = {"preset": self.preset, "config": self.config.to_dict(), "episodes": self.episodes}
        return {**trained, "networks": networks}

    @property
    def command(self) -> str:
        """The command line that trains the same policy."""
        names = ",".join(network.name for network in self.networks)
        return train_command(names, self.config, self.episodes, dict(self.settings))

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """The validation curve and the policy after the last episode."""
        import torch

        from claim.learning.run_folder import BrokenCheckpoint

        torch.set_num_threads(1)
        path = workspace / "training" / f"{self.label}-{key_of(self)[:8]}"
        if not (path / "checkpoint.pt").exists():
            shutil.rmtree(path, ignore_errors=True)
        folder = training_folder(path, self.config, self.networks, self.command)
        try:
            folder.open(resume=True)
        except BrokenCheckpoint:
            shutil.rmtree(path)
            return self.run(inputs, workspace)
        folder.run(self.episodes, lambda metrics: None)
        card = json.loads((path / "policy.json").read_text("utf-8"))
        weights = base64.b64encode((path / "policy.safetensors").read_bytes()).decode()
        (path / "checkpoint.pt").unlink()  # up to a hundred megabytes
        return {"curve": folder.curve, "card": card, "weights": weights}

    def result_in(self, folder: Path) -> Result | None:
        """The result, from the policy files that the same training left in a folder; None if there are none."""
        card, weights = (folder / f"{self.label}{ending}" for ending in (".json", ".safetensors"))
        try:
            content, values = json.loads(card.read_text("utf-8")), weights.read_bytes()
            trained = {name: content[name] for name in ("config", "episodes", "networks")}
            curve = content["validation"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{card}: not the card of a trained policy") from error
        if {"preset": content.get("preset"), **trained} != json.loads(json.dumps(self.identity())):
            return None
        return {"curve": curve, "card": content, "weights": base64.b64encode(values).decode()}


def save_policy(result: Result, stem: Path) -> None:
    """Write the policy of a training's result as policy files."""
    stem.with_name(f"{stem.name}.json").write_text(json.dumps(result["card"], indent=1) + "\n", encoding="utf-8")
    stem.with_name(f"{stem.name}.safetensors").write_bytes(base64.b64decode(result["weights"]))


def take_earlier(jobs: Sequence[Job], folder: Path, store: Store) -> None:
    """Keep the results of jobs that are in the folder of an earlier run, so that they do not run again.

    Trainings are in ``policies``, all others in :data:`RECORDS`.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder of an earlier run")
    records = read_records(folder / RECORDS)
    for job in with_needs(jobs):
        if store.load(job) is not None:
            continue
        result = job.result_in(folder / "policies") if isinstance(job, Train) else records.get(key_of(job))
        if result is not None:
            store.save(job, result)


def write_records(jobs: Sequence[Job], store: Store, path: Path) -> None:
    """Write the results of all jobs but trainings to one file, a line each."""
    found = ((job, store.load(job)) for job in with_needs(jobs) if not isinstance(job, Train))
    lines = [{"key": key_of(job), "job": job.name, "result": result} for job, result in found if result is not None]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    write_whole(path, gzip.compress(text.encode(), mtime=0))


def read_records(path: Path) -> dict[str, Result]:
    """Results by key, from such a file; none if there is no file."""
    try:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        return {record["key"]: record["result"] for record in map(json.loads, lines)}
    except FileNotFoundError:
        return {}
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not the results of an experiment") from error


def load_policy(result: Result) -> "TrainedPolicy":
    """The policy of a training's result."""
    import torch

    from claim.learning import policy

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        save_policy(result, Path(folder) / "policy")
        return policy.load_policy(Path(folder) / "policy")


@dataclass(frozen=True)
class Evaluate:
    """Studies of one policy and selector on one network, with leaders selected at each checkpoint."""

    network: Network
    policy: str | Train  # a shipped trained policy is that of the network's family and of the last checkpoint
    selector: str
    protocol: ProtocolName
    runs: int
    checkpoints: tuple[int, ...] = (5,)  # numbers of surveys, ascending

    @property
    def name(self) -> str:
        """Shown while it runs."""
        surveys = ",".join(map(str, self.checkpoints))
        return f"{self._policy_label} + {self.selector} on {self.network.name} ({self.protocol}, {surveys} surveys)"

    @property
    def effort(self) -> float:
        """Seconds for surveys and selections."""
        survey = A_SURVEY
        if isinstance(self.policy, Train):
            survey = A_PAPER_SURVEY if self.policy.preset == "paper" else A_LEARNED_SURVEY
        return 0.5 + self.runs * (survey * self.checkpoints[-1] + A_SELECTION * len(self.checkpoints))

    @property
    def needs(self) -> tuple[Job, ...]:
        """The training of the policy, if it is a trained one."""
        return () if isinstance(self.policy, str) else (self.policy,)

    @property
    def _policy_label(self) -> str:
        return self.policy if isinstance(self.policy, str) else self.policy.label

    def identity(self) -> dict[str, Any]:
        """Network, method, number of runs, and the fitted models that come with the package."""
        selection = None if self.selector == "greedy" else _models_in("selection")
        if isinstance(self.policy, Train):
            policy = None
        else:
            shipped = is_learned(self.policy)
            policy = _models_in("learning", f"{self.policy}.*.json") if shipped else _models_in("discovery")
        return {
            "network": [self.network.name, self.network.checksum],
            "policy": self._policy_label,
            "selector": self.selector,
            "protocol": self.protocol,
            "runs": self.runs,
            "checkpoints": self.checkpoints,
            "seed": SEED,
            "models": [selection, policy],
        }

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """Columns with one entry a run."""
        policy = self.policy if isinstance(self.policy, str) else load_policy(inputs[0])
        estimates = getattr(policy, "estimates", None)  # of the paper's policies, which pursue a goal
        method = Method(policy, self.selector, self.protocol)
        settings = StudySettings(seed=SEED, budget=self.checkpoints[-1])
        starts = draw_start_sets(self.network, self.runs, settings.start_size, settings.seed)
        columns: Result = {"influence": [], "discovered": [], "surveyed": [], "density": [], "goal": []}
        for study, outcomes in run_studies(self.network, method, settings, enumerate(starts), self.checkpoints):
            seen = study.discovered
            start = set(seen.start)
            around = start.union(*(seen.contacts[person] for person in start))
            columns["influence"].append([each.influence for each in outcomes])
            columns["discovered"].append([each.discovered for each in outcomes])
            columns["surveyed"].append([study.people[person] for person in seen.surveyed[len(start) :]])
            columns["density"].append(len(around) / len(start))  # |S ∪ N(S)| / |S|
            columns["goal"].append(None if estimates is None else estimates.goal(seen))
        return columns


@cache
def _models_in(package: str, pattern: str = "*.json") -> str:
    """A digest of the fitted numbers that a package carries as data, which no version number covers."""
    digest = sha256()
    for path in sorted((Path(claim.__file__).parent / package).rglob(pattern)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class NetworkJob:
    """A measurement of a whole network, which no policy sees."""

    network: Network
    measure = ""
    needs = ()

    @property
    def name(self) -> str:
        """Shown while it runs."""
        return f"{self.measure} of {self.network.name}"

    def identity(self) -> dict[str, Any]:
        """The network."""
        return {"network": [self.network.name, self.network.checksum]}


class Optimum(NetworkJob):
    """OPT: what the greedy oracle reaches when it sees the whole network."""

    measure, effort = "OPT", 2.0

    def identity(self) -> dict[str, Any]:
        """The network and the seed."""
        return {**super().identity(), "seed": SEED}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """One number."""
        from claim.evaluation.compare import optimum

        return {"optimum": optimum(self.network, StudySettings(seed=SEED))}


class Centrality(NetworkJob):
    """Degree, closeness and betweenness of each person."""

    measure, effort = "centralities", 15.0

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """One number a person and measure; closeness counts the reachable part, as networkx does by default."""
        import networkx

        graph = self.network.to_networkx()
        measures = {
            "degree": dict(graph.degree()),
            "closeness": networkx.closeness_centrality(graph),
            "betweenness": networkx.betweenness_centrality(graph),
        }
        return {name: [values[person] for person in graph] for name, values in measures.items()}
