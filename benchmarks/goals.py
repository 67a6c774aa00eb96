"""What the goals of ``claim`` are worth: `python benchmarks/goals.py [POLICY]` prints tables of docs/concepts/claim.md.

Studies on the training networks of the policy's family, from start sets that no training used. First table: whether
σ(Q) is the chance to reach a goal. Second table: whether acting for one goal raises the chance to reach it.
"""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from claim.discovery import Discovered
from claim.learning.network import ACTING_GOALS, frontier_rows
from claim.learning.observation import Batch, observe
from claim.learning.policy import LearnedPolicy, load_policy
from claim.learning.train import Training
from claim.learning.validation import Validation
from claim.networks import Network
from claim.networks.catalogue import load_all
from claim.registry import FOLDER

SEED = 20_000
SHARES = (0.7, 1.0, 1.4, 2.0)  # goals, as shares of the typical reach


@dataclass(frozen=True)
class ForOneGoal:
    """Surveys a member of the class with the highest chance to reach one goal."""

    policy: LearnedPolicy
    goal: float  # logarithm of a share of the typical reach
    name: str = "for one goal"

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        graph, state = observe(discovered, self.policy.network.shape)
        with torch.no_grad():
            values = chances(self.policy, state, np.array([self.goal]))[:, 0]
        row = graph.frontier[int(values.argmax())]
        return [int(rng.choice(graph.members[row]))]


@torch.no_grad()
def chances(policy: LearnedPolicy, state, goals) -> np.ndarray:
    """σ(Q) of every choice for every goal, (choices, goals)."""
    batch = Batch.of([state])
    values, _ = policy.network(batch, *frontier_rows([state], batch), torch.from_numpy(goals.astype(np.float32)))
    return torch.sigmoid(values).numpy()


def table_of_chances(policy: LearnedPolicy, networks: list[Network], episodes: int) -> None:
    """Choices tried in simulated studies against σ(Q)."""
    training = Training(replace(policy.settings, seed=SEED), networks)
    training.average.load_state_dict(policy.network.state_dict())
    goals, falling, pairs = ACTING_GOALS, [], []
    for i in range(episodes):
        network = training.networks[i % len(networks)]
        moments = training.play(network)
        for moment, reach in zip(moments, training.try_choices(network, moments), strict=True):
            found = chances(policy, moment.state, goals)
            falling += (np.diff(found, axis=1) <= 0).all(axis=1).tolist()
            reached = reach[:, None] >= goals
            pairs.append(np.stack([found, reached], axis=-1).reshape(-1, len(goals), 2))
    found, reached = np.moveaxis(np.concatenate(pairs), -1, 0)
    print(f"σ(Q) falls with g in {np.mean(falling):.1%} of {len(falling)} choices")
    base = np.broadcast_to(reached.mean(axis=0), reached.shape)
    ours, guess = (np.mean((each - reached) ** 2) for each in (found, base))
    print(f"Brier score {ours:.3f}; {guess:.3f} for the share of all choices that reached each goal")
    print("\n| σ(Q) | choices and goals | reached |\n|---|---|---|")
    for low in np.arange(0, 1, 0.2):
        within = (found >= low) & (found < low + 0.2)
        print(f"| {low:.1f} to {low + 0.2:.1f} | {within.sum()} | {reached[within].mean():.2f} |")


def table_of_single_goals(policy: LearnedPolicy, networks: list[Network], starts: int) -> None:
    """The share of studies that reach a goal, acting for all goals and for this one."""
    settings = replace(policy.settings, validation_starts=starts, seed=SEED)
    validation, training = Validation(networks, settings), Training(settings, networks)
    typical = {each.network.name: each.estimates.influence for each in training.networks}

    def shares(acting, goal: float) -> np.ndarray:
        reached = validation.reached(acting)
        return np.mean([reached[name] >= goal * typical[name] for name in typical], axis=0)

    print("\n| goal, as a share of the typical reach | for all goals | for this one | difference, points |")
    print("|---|---|---|---|")
    for goal in SHARES:
        all_goals, one = shares(policy, goal), shares(ForOneGoal(policy, float(np.log(goal))), goal)
        error = (one - all_goals).std(ddof=1) / np.sqrt(starts)
        gain = 100 * (one - all_goals).mean()
        print(f"| {goal} | {all_goals.mean():.1%} | {one.mean():.1%} | {gain:+.1f} ± {100 * error:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policy", nargs="?", default=str(FOLDER / "claim.retweet.5.json"))
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--starts", type=int, default=400)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    policy = load_policy(Path(arguments.policy))
    networks = load_all(list(policy.card["networks"]))
    table_of_chances(policy, networks, arguments.episodes)
    table_of_single_goals(policy, networks, arguments.starts)


if __name__ == "__main__":
    main()
