"""An off-the-shelf agent: `python benchmarks/off_the_shelf.py --family retweet` trains MaskablePPO as long as `claim`.

First `claim` is trained as `claim train --family FAMILY` does, then MaskablePPO of sb3-contrib, with its default
settings but no discount, on the same networks for as much processor time, both for five surveys. It prints the people
reached on the test networks in the paper protocol, beside a random class. With `--seconds` only MaskablePPO is trained,
for so long; it continues from the file of an earlier run with the same family and seed, and `--seconds 0` only
evaluates it.
"""

import argparse
import tempfile
import time
from pathlib import Path

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import claim
from claim.discovery import Policy
from claim.discovery.class_view import AgentPolicy
from claim.networks.catalogue import expand, with_look_alikes

BUDGET = 5
EVERY = 10.0  # seconds between two lines of progress
SAVED_EVERY = 60.0


class Progress(BaseCallback):
    """Prints the mean reward of the last episodes, saves the agent, and ends the training after some seconds."""

    def __init__(self, seconds: float, path: Path) -> None:
        super().__init__()
        self.seconds, self.path = seconds, path
        self.began = self.printed = self.saved = time.process_time()

    def _on_step(self) -> bool:
        now = time.process_time()
        if now - self.printed >= EVERY:
            self.printed = now
            rewards = [episode["r"] for episode in self.model.ep_info_buffer]
            print(
                f"{now - self.began:.0f} s, {self.num_timesteps} steps, mean reward {np.mean(rewards):+.3f}", flush=True
            )
        if now - self.saved >= SAVED_EVERY:
            self.saved = now
            save(self.model, self.path)
        return now - self.began < self.seconds


def save(model: MaskablePPO, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f"new-{path.name}")
    model.save(whole)
    whole.replace(path)


def trained(family: str, seconds: float, seed: int, path: Path) -> MaskablePPO:
    networks = expand([f"{each}:train" for each in with_look_alikes(family)])
    by_chance = claim.compare(networks, "random-class", runs=50, budget=BUDGET).rows
    goal = float(np.mean([row.mean for row in by_chance]))
    settings = {"networks": networks, "budget": BUDGET, "goal": goal}
    env = gymnasium.make("claim/NetworkDiscovery-v0", observation="classes", **settings)
    if path.exists():
        model = MaskablePPO.load(path, env, device="cpu")
        model.set_random_seed(seed + model.num_timesteps)  # other studies than at the beginning
        print(f"{path}: trained for {model.num_timesteps} steps", flush=True)
    else:
        model = MaskablePPO("MlpPolicy", env, gamma=1.0, seed=seed, device="cpu")
    if seconds > 0:
        model.learn(10**9, Progress(seconds, path), reset_num_timesteps=False)
        save(model, path)
    return model


def trained_claim(family: str, seed: int) -> tuple[Policy, float]:
    """The policy of ``claim train`` with its defaults, and the processor time it took."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        policy = claim.train(family, out=folder, seed=seed, budget=BUDGET).policy
        return policy, time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", choices=("retweet", "animal"), default="retweet")
    parser.add_argument("--seconds", type=float, help="of training MaskablePPO alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=100, help="start sets a test network")
    parser.add_argument("--folder", type=Path, default=Path("runs/off_the_shelf"), help="where agents are kept")
    given = parser.parse_args()
    policies: list[Policy | str] = ["random-class"]
    seconds = given.seconds
    if seconds is None:
        policy, seconds = trained_claim(given.family, given.seed)
        policies.append(policy)
        print(f"claim: trained in {seconds:.0f} s", flush=True)
    model = trained(given.family, seconds, given.seed, given.folder / f"{given.family}-{given.seed}.zip")
    policies.append(AgentPolicy(model, BUDGET, "MaskablePPO"))
    for network in expand([f"{given.family}:test"]):
        rows = claim.compare(network, policies, protocol="paper", runs=given.runs, budget=BUDGET).rows
        print(f"{network}: " + ", ".join(f"{row.policy} {row.mean:.1f} ± {row.stderr:.1f}" for row in rows), flush=True)


if __name__ == "__main__":
    main()
