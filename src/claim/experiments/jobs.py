"""The jobs of the experiments: train a policy, evaluate it, measure a network."""

import base64
import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import claim
from claim.discovery import Discovered, Policy, Selector, policy_named
from claim.evaluation.runs import (
    ORACLE,
    REFEREE_SAMPLES,
    ProtocolName,
    Referee,
    Rules,
    leaders_of_run,
    referee_for,
    referee_seed,
    start_sets,
    studied,
)
from claim.jobs import Job, Result, key_of
from claim.learning.bounds import ConstantGoal, InfluenceBound
from claim.learning.config import Config, variant_named
from claim.learning.goals import GoalHeuristic
from claim.learning.training_network import Ground, Validation
from claim.networks import Network
from claim.networks.catalogue import family_of
from claim.selection import selector_named

if TYPE_CHECKING:
    from claim.learning.policy import LearnedPolicy
    from claim.learning.run_folder import TrainingFolder
    from claim.learning.train import Training


@dataclass(frozen=True)
class Wish:
    """What becomes of the estimates that goals are made from (each is multiplied), or what takes the goals' place."""

    people: float = 1.0
    edges: float = 1.0
    influence: float = 1.0
    constant: bool = False  # the average influence for every start set, whatever its contacts
    bound: bool = False  # the most that can be reached at all

    @property
    def name(self) -> str:
        """How tables call it."""
        if self.bound:
            return "proven bound"
        if self.constant:
            return "one constant goal"
        factors = {"people": self.people, "edges": self.edges, "influence": self.influence}
        changed = [f"{what} × {factor:g}" for what, factor in factors.items() if factor != 1]
        return ", ".join(changed) or "estimates as they are"

    def scaled(self, goals: GoalHeuristic) -> GoalHeuristic:
        """The heuristic with other estimates."""
        people, edges = goals.people * self.people, goals.edges * self.edges
        return GoalHeuristic(people, edges, goals.average_influence * self.influence, goals.start_size)

    def shaped(self, goals: GoalHeuristic, networks: Sequence[Network], config: Config) -> GoalHeuristic:
        """The heuristic itself, or what takes its place for networks like these."""
        average = goals.average_influence
        if self.bound:
            bound = InfluenceBound.of_networks(networks, average, config.budget, config.leaders, config.p)
            return _in_its_place(bound)
        return _in_its_place(ConstantGoal(average, average)) if self.constant else goals


AS_ESTIMATED = Wish()


@dataclass(frozen=True)
class WishfulGround(Ground):
    """A training network with other goals than its own."""

    wish: Wish = AS_ESTIMATED

    @cached_property
    def goals(self) -> GoalHeuristic:
        """The network's own goals after the wish."""
        own = self.wish.scaled(Ground(self.network, self.config).goals)
        return self.wish.shaped(own, [self.network], self.config)


def train_towards(training: "Training", wish: Wish) -> None:
    """Let a training that has not begun pursue other goals; influence is still counted as it is.

    Policy files hold estimates: whoever loads the policy puts ``shaped`` goals in their place again.
    """
    if wish == AS_ESTIMATED:
        return
    networks = [each.network for each in training.grounds]
    training.grounds = [WishfulGround(each.network, each.config, wish) for each in training.grounds]
    training.goals = wish.scaled(training.goals)
    shaped = wish.shaped(training.goals, networks, training.config)
    training.validation = Validation(training.grounds, training.config, shaped)


def _in_its_place(goals: InfluenceBound | ConstantGoal) -> GoalHeuristic:
    """They offer all that learning and policies ask of a heuristic: goal_for and average_influence."""
    return cast(GoalHeuristic, goals)


SECONDS_AN_UPDATE = (0.016, 0.0009)  # and more for each survey of a study: larger studies are larger graphs
SECONDS_A_TRAINING_SURVEY = 0.004
SECONDS_A_VALIDATED_SURVEY = 0.002


@dataclass(frozen=True)
class Train:
    """Trains one policy; a killed training goes on from its last checkpoint. No episode: the network as it begins."""

    variant: str
    family: str
    networks: tuple[Network, ...]
    seed: int
    episodes: int
    settings: tuple[tuple[str, Any], ...] = ()  # changes to the variant's configuration
    wish: Wish = AS_ESTIMATED

    @property
    def config(self) -> Config:
        """The whole configuration."""
        return variant_named(self.variant, seed=self.seed, **dict(self.settings))

    @property
    def label(self) -> str:
        """Variant, family, surveys, seed, and what is not as usual; also a file name."""
        usual = f"{self.variant}.{self.family}.{self.config.budget}.seed{self.seed}"
        if not self.episodes:
            return f"{usual}.untrained"
        return usual if self.wish == AS_ESTIMATED else f"{usual}.{re.sub(r'[^a-z0-9.]+', '-', self.wish.name)}"

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        return f"train {self.label}"

    @property
    def effort(self) -> float:
        """Updates, episodes and validations."""
        config = self.config
        updates = config.updates * max(self.episodes - config.learning_starts // config.budget, 0)
        validated = (1 + self.episodes // config.validate_every) * len(self.networks) * config.validation_starts
        an_update = SECONDS_AN_UPDATE[0] + SECONDS_AN_UPDATE[1] * config.budget
        surveys = SECONDS_A_TRAINING_SURVEY * self.episodes + SECONDS_A_VALIDATED_SURVEY * validated
        return an_update * updates + surveys * config.budget + 2

    @property
    def needs(self) -> tuple[Job, ...]:
        """Nothing."""
        return ()

    def identity(self) -> dict[str, Any]:
        """Settings, episodes, networks and goals."""
        return {
            "config": self.config.to_dict(),
            "episodes": self.episodes,
            "networks": {network.name: network.checksum for network in self.networks},
            "wish": vars(self.wish),
        }

    @property
    def command(self) -> str:
        """The command line that trains the same policy (goals from other estimates have none)."""
        changes = "".join(f" --set {name}={_as_setting(value)}" for name, value in self.settings if name != "budget")
        return (
            f"claim train --variant {self.variant} --networks {','.join(each.name for each in self.networks)} "
            f"--episodes {self.episodes} --budget {self.config.budget} --seed {self.seed}{changes}"
        )

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """The validation curve and the policy that validated best."""
        import torch

        from claim.learning.checkpoint import BrokenCheckpoint

        torch.set_num_threads(1)
        path = workspace / "training" / f"{self.label}-{key_of(self)[:8]}"
        try:
            folder = self._opened(path)
        except BrokenCheckpoint:  # it would stand in the way for ever
            shutil.rmtree(path)
            folder = self._opened(path)
        folder.run(self.episodes, lambda metrics: None)
        weights = (path / "policy.safetensors").read_bytes()
        (path / "checkpoint.pt").unlink()  # up to a hundred megabytes that nobody needs any more
        card = json.loads((path / "policy.json").read_text(encoding="utf-8"))
        return {
            "curve": folder.curve,
            "card": {**card, "trained_towards": self.wish.name},
            "weights": base64.b64encode(weights).decode(),
        }

    def _opened(self, path: Path) -> "TrainingFolder":
        """The folder of the training, where it was left or at the beginning."""
        from claim.learning.run_folder import TrainingFolder

        if not (path / "checkpoint.pt").exists():
            shutil.rmtree(path, ignore_errors=True)
        folder = TrainingFolder(path, self.config, self.networks, self.command)
        train_towards(folder.training, self.wish)
        folder.open(resume=True)
        return folder


def save_policy(result: Result, stem: Path) -> None:
    """Write a trained policy as policy files."""
    stem.with_name(f"{stem.name}.json").write_text(json.dumps(result["card"], indent=1) + "\n", encoding="utf-8")
    stem.with_name(f"{stem.name}.safetensors").write_bytes(base64.b64decode(result["weights"]))


def load_policy(result: Result, training: Train) -> "LearnedPolicy":
    """The policy of a training's result, with goals of the kind it was trained towards."""
    policy = _loaded(json.dumps(result["card"]), result["weights"])
    return replace(policy, goals=training.wish.shaped(policy.goals, training.networks, training.config))


@lru_cache(maxsize=4)
def _loaded(card: str, weights: str) -> "LearnedPolicy":
    import torch

    from claim.learning.policy import LearnedPolicy

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        save_policy({"card": json.loads(card), "weights": weights}, Path(folder) / "policy")
        return LearnedPolicy.load(Path(folder) / "policy")


def _as_setting(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


SEED = 10
SECONDS_A_SURVEY = 0.001
SECONDS_A_LEARNED_SURVEY = 0.003
SECONDS_A_SELECTION = 0.01


@dataclass(frozen=True)
class Play:
    """Studies that are surveyed to the last checkpoint; leaders are chosen at each."""

    network: Network
    policy: str | Train
    selector: str
    protocol: ProtocolName
    runs: int
    checkpoints: tuple[int, ...] = (5,)  # numbers of surveys, ascending
    wish: Wish = AS_ESTIMATED  # only for a trained policy: what its goals come from while it surveys

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        who = self.policy if isinstance(self.policy, str) else self.policy.label
        surveys = ",".join(map(str, self.checkpoints))
        goals = "" if self.wish == AS_ESTIMATED else f", {self.wish.name}"
        return f"{who} + {self.selector} on {self.network.name} ({self.protocol}, {surveys} surveys{goals})"

    @property
    def effort(self) -> float:
        """Surveys and selections."""
        survey = SECONDS_A_SURVEY if isinstance(self.policy, str) else SECONDS_A_LEARNED_SURVEY
        return 0.5 + self.runs * (survey * self.checkpoints[-1] + SECONDS_A_SELECTION * len(self.checkpoints))

    @property
    def needs(self) -> tuple[Job, ...]:
        """The training of the policy, if it is a trained one."""
        return () if isinstance(self.policy, str) else (self.policy,)

    def identity(self) -> dict[str, Any]:
        """Network, contender and how many runs."""
        return {
            "network": [self.network.name, self.network.checksum],
            "policy": self.policy if isinstance(self.policy, str) else self.policy.label,
            "selector": self.selector,
            "protocol": self.protocol,
            "runs": self.runs,
            "checkpoints": self.checkpoints,
            "wish": vars(self.wish),
            "seed": SEED,
            "models": [
                None if self.selector == "greedy" else _models_in("selection"),
                None if isinstance(self.policy, Train) else _models_in("discovery"),
            ],
        }

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """Columns of one entry a run."""
        rules = Rules(seed=SEED, budget=self.checkpoints[-1])
        referee = referee_for(self.network, rules.p, REFEREE_SAMPLES, referee_seed(rules.seed))
        oracle = ORACLE[self.protocol]
        selector = selector_named(self.selector, rules.p, oracle.samples, oracle.ties, family_of(self.network))
        starts = start_sets(self.network, self.runs, rules.start, rules.seed)
        policy = self._policy(inputs)
        studies = [
            _study(referee, policy, selector, self.protocol, rules, run, start, self.checkpoints)
            for run, start in enumerate(starts)
        ]
        return {column: [study[column] for study in studies] for column in studies[0]}

    def _policy(self, inputs: Sequence[Result]) -> Policy:
        if isinstance(self.policy, str):
            return policy_named(self.policy)
        policy = load_policy(inputs[0], self.policy)
        if self.wish == AS_ESTIMATED:
            return policy
        return replace(
            policy, goals=self.wish.shaped(self.wish.scaled(policy.goals), self.policy.networks, policy.config)
        )


@cache
def _models_in(room: str) -> str:
    """A digest of the fitted numbers that a part of the software carries as data, which no version number covers."""
    digest = sha256()
    for path in sorted((Path(claim.__file__).parent / room).rglob("*.json")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _study(
    referee: Referee,
    policy: Policy,
    selector: Selector,
    protocol: ProtocolName,
    rules: Rules,
    run: int,
    start: list[int],
    checkpoints: Sequence[int],
) -> dict[str, Any]:
    """One study with the coins that a comparison of policies gives it, and who was surveyed in which order."""
    progress = studied(referee.network, policy, rules, run, start, (0, *checkpoints))
    simulation = next(progress)
    seen = simulation.discovered
    people_at_start, goal = len(seen), _goal(policy, seen)
    influence, discovered = [], []
    for _ in progress:
        influence.append(referee.influence(leaders_of_run(simulation, selector, protocol, rules, run)))
        discovered.append(len(seen))
    return {
        "influence": influence,
        "discovered": discovered,
        "surveyed": [simulation.people[person] for person in seen.surveyed[len(seen.start) :]],
        "density": people_at_start / len(seen.start),  # |S ∪ N(S)| / |S|
        "goal": goal,
    }


def _goal(policy: Policy, seen: Discovered) -> float | None:
    """What a trained policy hopes to reach from its start people; the others hope for nothing."""
    goals = getattr(policy, "goals", None)
    return None if goals is None else float(goals.goal_for(seen))


@dataclass(frozen=True)
class Optimum:
    """OPT: what the greedy oracle reaches when it sees the whole network."""

    network: Network
    effort = 2.0

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        return f"OPT of {self.network.name}"

    @property
    def needs(self) -> tuple[Job, ...]:
        """Nothing."""
        return ()

    def identity(self) -> dict[str, Any]:
        """The network."""
        return {"network": [self.network.name, self.network.checksum], "seed": SEED}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """One number."""
        from claim.evaluation.compare import optimum
        from claim.evaluation.runs import Rules

        return {"optimum": optimum(self.network, Rules(seed=SEED))}


@dataclass(frozen=True)
class Centrality:
    """Degree, closeness and betweenness of everybody in the whole network, which no policy sees."""

    network: Network
    effort = 15.0

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        return f"centralities of {self.network.name}"

    @property
    def needs(self) -> tuple[Job, ...]:
        """Nothing."""
        return ()

    def identity(self) -> dict[str, Any]:
        """The network."""
        return {"network": [self.network.name, self.network.checksum]}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """One number a person and measure; closeness counts the reachable part, as networkx does by default."""
        import networkx

        graph = self.network.to_networkx()
        order = list(graph)
        measures = {
            "degree": dict(graph.degree()),
            "closeness": networkx.closeness_centrality(graph),
            "betweenness": networkx.betweenness_centrality(graph),
        }
        return {name: [values[person] for person in order] for name, values in measures.items()}
