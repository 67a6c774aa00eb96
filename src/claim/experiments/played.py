"""Simulated studies as a job: one policy and selector on one network, from the start sets everybody plays from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import claim
from claim.discovery import Discovered, Policy, Selector, policy_named
from claim.evaluation.protocols import ORACLE, ProtocolName
from claim.evaluation.referee import Referee, referee_for
from claim.evaluation.runs import REFEREE_SAMPLES, Rules, leaders_of_run, referee_seed, studied
from claim.evaluation.starts import start_sets
from claim.experiments.jobs import Job, Result
from claim.experiments.trained import Train, load_policy
from claim.experiments.wishes import AS_ESTIMATED, Wish
from claim.networks import Network
from claim.networks.catalogue import family_of
from claim.selection import selector_named

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
