"""Training: where the time of an episode goes, against a plain dense implementation, and the time of one choice.

Everything is measured in a process of its own on one thread, after the replay buffer is full. Times are processor time,
which on a free core is the time that passes; the shares of the parts come from what a run writes as it goes. The
dense implementation works as the method is written down: one sample after the other, matrices of people times people.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from measure import Result, hub_network
from torch import Tensor, nn

from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.learning.config import variant_named
from claim.learning.network import Encoder
from claim.learning.observation import Batch, State
from claim.learning.policy import LearnedPolicy
from claim.learning.replay import Transition
from claim.learning.train import Training, train
from claim.networks import load

EPISODES = 100  # measured ones
DENSE_BATCHES = 3
FRONTIER = 1000
FILLING = 10**9  # episodes before learning starts: none is measured before the buffer is full


def run() -> Result:
    done = subprocess.run([sys.executable, str(Path(__file__))], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Result(**json.loads(done.stdout))


def measure() -> Result:
    training, networks = full_training()
    episode, shares = measured_episodes(training)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ours, dense = updates(training)
    config = training.config
    slow = episode + config.updates * (dense - ours)
    rows = [row(part, share * episode, share=share) for part, share in shares.items()]
    rows.append(row("episode", episode))
    rows.append(row("episode with dense updates, one sample after the other", slow, ratio=slow / episode))
    rows.append(row("one update", ours))
    rows.append(row("one dense update, one sample after the other", dense, ratio=dense / ours))
    rows += choices(training)
    return Result(
        f"Training CLAIM on {' and '.join(networks)}: {config.updates} updates of {config.batch_size} an episode, "
        f"{config.clusters} clusters, {len(training.replay)} transitions, {megabytes:.0f} MB",
        "an episode in 120 ms and 2000 MB, a choice among 1000 people in 50 ms",
        rows,
    )


def row(what: str, ms: float, share: float | None = None, ratio: float | None = None) -> dict:
    return {"what": what, "ms": ms, "share": None if share is None else f"{share:.0%}", "ratio": ratio}


def full_training() -> tuple[Training, list[str]]:
    """A training whose buffer is full; it learns from here on."""
    names = ["copen", "occupy"] if os.environ.get("CLAIM_DATA") else ["stars1", "stars2"]
    config = variant_named("claim", learning_starts=FILLING)
    training = Training(config, [load(name) for name in names])
    while len(training.replay) < config.buffer_size:
        train(training, training.episode + 50)
    training.config = replace(config, learning_starts=0)
    return training, names


def measured_episodes(training: Training) -> tuple[float, dict[str, float]]:
    """Milliseconds of an episode, and the share of each part in it."""
    spent: dict[str, float] = {}

    def watch(metrics: dict) -> None:
        for part, seconds in metrics["seconds"].items():
            spent[part] = spent.get(part, 0.0) + seconds

    train(training, training.episode + 5)
    ms = timed(lambda: train(training, training.episode + EPISODES, watch))
    return ms / EPISODES, {part: each / sum(spent.values()) for part, each in spent.items()}


def updates(training: Training) -> tuple[float, float]:
    """Milliseconds of one update on the same minibatches, in turn: ours and dense."""
    slow = DenseUpdate(training)
    ours, dense = [], []
    for turn in range(DENSE_BATCHES + 1):
        minibatch = training.sample_minibatch(40.0)
        slow.check(minibatch[:5])
        samples = [slow.sample(each) for each in minibatch]
        times = timed(lambda: training.update(minibatch)), timed(lambda: slow.update(samples))  # noqa: B023
        if turn:
            ours.append(times[0])
            dense.append(times[1])
    return statistics.median(ours), statistics.median(dense)


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1e3 * (time.process_time() - began)


@dataclass
class People:
    """A state between people: adjacency, features, and the indices of those whose values are asked for."""

    adjacency: Tensor
    features: Tensor
    asked: Tensor

    @classmethod
    def of(cls, state: State, rows: Sequence[int], everybody: bool) -> "People":
        people = np.repeat(np.arange(len(state.multiplicity)), state.multiplicity.astype(int))
        asked = np.flatnonzero(np.isin(people, rows))
        between = dense_adjacency(state)[people][:, people]
        chosen = torch.from_numpy(asked if everybody else asked[:1])
        return cls(torch.from_numpy(between), torch.from_numpy(state.features[people]), chosen)


class DenseUpdate:
    """Two convolutions, DiffPool and the head between people, sample by sample, with the weights of a training."""

    def __init__(self, training: Training) -> None:
        self.network = training.online
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=0.0)  # the same work, without a change

    def sample(self, transition: Transition) -> tuple[People, People | None]:
        """The state and the one that follows; making them is not timed."""
        now, then = transition.state, transition.next_state
        following = People.of(then, then.frontier, True) if then is not None else None
        return People.of(now, [transition.action], False), following

    def update(self, samples: Sequence[tuple[People, People | None]]) -> None:
        self.optimiser.zero_grad()
        for now, following in samples:
            wanted = torch.zeros(1)
            if following is not None:
                with torch.no_grad():
                    wanted = self.values(following).max(dim=0).values
            loss = nn.functional.smooth_l1_loss(self.values(now)[0], wanted) / len(samples)
            loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 10.0)
        self.optimiser.step()

    def values(self, people: People) -> Tensor:
        """The head's values; inputs beyond those of a plain network are left at zero."""
        state, rows = self.embedded(people.adjacency, people.features)
        asked = people.asked
        inputs = torch.cat([state.expand(len(asked), -1), people.features[asked], rows[asked]], dim=1)
        width = self.network.head[0].in_features
        return self.network.head(nn.functional.pad(inputs, (0, width - inputs.shape[1])))

    def embedded(self, adjacency: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        encoder: Encoder = self.network.encoder
        smoothing = normalised(adjacency)
        once = torch.relu(encoder.first.weight(smoothing @ features))
        rows = torch.relu(encoder.second.weight(smoothing @ once))
        assignment = torch.softmax(encoder.assign(smoothing @ once), dim=1)
        pooled = assignment.T @ rows / len(adjacency)
        edges = assignment.T @ adjacency @ assignment
        return torch.relu(encoder.coarse.weight(normalised(edges) @ pooled)).mean(dim=0), rows

    @torch.no_grad()
    def check(self, minibatch: Sequence[Transition]) -> None:
        """Both implementations compute the same; otherwise their times say nothing."""
        fast, _ = self.network.encoder(Batch.of([each.state for each in minibatch]))
        samples = [self.sample(each)[0] for each in minibatch]
        slow = [self.embedded(each.adjacency, each.features)[0] for each in samples]
        torch.testing.assert_close(torch.stack(slow), fast, atol=1e-4, rtol=1e-3)


def dense_adjacency(state: State) -> np.ndarray:
    dense = np.zeros((len(state.multiplicity),) * 2, dtype=np.float32)
    dense[np.repeat(np.arange(len(state.multiplicity)), np.diff(state.offsets)), state.columns] = state.adjacency
    return dense


def normalised(adjacency: Tensor) -> Tensor:
    closed = adjacency + torch.eye(len(adjacency))
    root = closed.sum(dim=1).rsqrt()
    return root[:, None] * closed * root


def choices(training: Training) -> list[dict]:
    policy = LearnedPolicy(training.online, training.config, training.goals)
    rows = []
    for what, seen in {"as found by surveys": found_by_surveys(), "no two alike": all_different()}.items():
        rng = np.random.default_rng(0)
        taken = [timed(lambda: policy.choose(seen, rng)) for _ in range(11)]  # noqa: B023
        classes = len(seen.frontier_classes)
        label = f"choice among {len(seen.frontier)} people, {what} ({classes} classes)"
        rows.append(row(label, statistics.median(taken[1:])))
    return rows


def found_by_surveys() -> Discovered:
    """Random surveys of a network with hubs until so many people wait."""
    network = hub_network(20_000, 60_000, "hubs")
    rng = np.random.default_rng(0)
    simulation = Simulation(network, rng.choice(network.n, 5, replace=False).tolist(), rng)
    for _ in surveys(simulation, policy_named("random"), network.n, rng):
        if len(simulation.discovered.frontier) >= FRONTIER:
            break
    return simulation.discovered


def all_different() -> Discovered:
    """Everybody was named by other people than anybody else: as many classes as people."""
    rng = np.random.default_rng(0)
    seen = Discovered()
    surveyed = [seen.add_person() for _ in range(46)]
    for person in surveyed:
        seen.record_start(person)
    named_by: set[tuple[int, ...]] = set()
    while len(named_by) < FRONTIER:
        named_by.add(tuple(sorted(rng.choice(surveyed, rng.integers(1, 5), replace=False).tolist())))
    for namers in sorted(named_by):
        person = seen.add_person(namers[0])
        for namer in namers:
            seen.add_tie(namer, person)
    return seen


if __name__ == "__main__":
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    with threadpool_limits(1):
        print(json.dumps(asdict(measure())))
