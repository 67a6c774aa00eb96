"""Algorithm 1 of the paper: train a policy with hindsight and curriculum replay."""

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import torch

from claim.discovery import Discovered, Simulation, surveys
from claim.learning import curriculum
from claim.learning.config import Config
from claim.learning.goals import GoalHeuristic, goal_of, reward
from claim.learning.network import new_network, score_frontiers
from claim.learning.observation import Batch, Featuriser, Float32Array, State
from claim.learning.replay import Replay, Transition
from claim.learning.training_network import TrainingNetwork, Validation
from claim.networks import Network
from claim.networks.network import FloatArray

MAX_GRADIENT_NORM = 10.0


def train(training: "Training", episodes: int, watch: Callable[[dict[str, Any]], None] = lambda metrics: None) -> None:
    """Algorithm 1, from the episode that the training has reached up to ``episodes`` in all.

    Line 1 is :class:`Training`; the states and choices of lines 5, 6, 8, 10 and 11 are :class:`EpsilonGreedy`.
    """
    config, rng = training.config, training.rng
    while training.episode < episodes:  # line 2
        network = training.networks[rng.integers(len(training.networks))]  # line 3: G = sample(G)
        simulation = network.start_study(rng)  # lines 3 and 4: S = sample(G), G_0
        episode = Episode(network, simulation, *goal_of(network.goals, simulation.discovered))  # line 4: g
        for _ in surveys(simulation, EpsilonGreedy(training, episode), config.budget, rng):  # line 7
            pass  # lines 8 to 11: choose u_t, query it, observe G_{t+1}
        training.measure(episode)  # I(O(G_T))
        for t in range(len(episode.steps)):  # line 12
            training.store(episode, t, episode.goal)  # line 13
            if config.hindsight is not None:  # lines 14 and 15: the one additional goal is what was reached
                training.store(episode, t, episode.influences[-1], relabelled=True)  # line 16
        losses = []
        ready = training.surveys >= config.learning_starts and len(training.replay) > 0
        for _ in range(config.updates if ready else 0):  # line 17
            minibatch = training.sample_minibatch(episode.goal)  # line 18
            losses.append(training.update(minibatch))  # line 20
            training.update_target()  # line 21: a small step after every update
        training.curriculum_weight *= config.curriculum_decay  # line 19: once an episode, as the paper's text has it
        training.episode += 1
        watch(training.metrics(episode, losses))


@dataclass
class Step:
    """One survey of an episode."""

    state: State
    action: int  # the chosen row
    embedding: Float32Array  # of the state, (hidden,)


@dataclass
class Episode:
    """One simulated study: its goal, its steps, and the influence of leaders chosen on the way."""

    network: TrainingNetwork
    simulation: Simulation
    goal: float
    average_influence: float  # of random surveys on the network
    steps: list[Step] = field(default_factory=list)
    influences: list[float] = field(default_factory=list)  # I(O(G_0)) ... I(O(G_T)); without shaping only the last


@dataclass
class EpsilonGreedy:
    """The behaviour policy of an episode (lines 5, 6, 8, 10 and 11); it records the steps."""

    training: "Training"
    episode: Episode
    name: str = "epsilon-greedy"

    def __post_init__(self) -> None:
        self.observe = Featuriser(self.training.config, self.training.rng)

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """One person of the frontier: of a random row with probability epsilon, else of the row of the highest Q."""
        training, episode, config = self.training, self.episode, self.training.config
        if not discovered.frontier:
            return []
        if config.shaping:
            training.measure(episode)  # I(O(G_t)), the potential of the state
        with training.timed("features"):
            graph, state = self.observe(discovered)  # lines 5, 6, 10 and 11: S_t and its actions X
        with training.timed("act"):  # line 8
            goals = np.array([[episode.goal, episode.average_influence]])
            (values,), (embedding,) = score_frontiers(training.online, [state], goals)
            best = int(values.argmax())
            if rng.random() < training.epsilon:
                best = int(rng.integers(len(state.frontier)))
            row = int(state.frontier[best])
            person = int(rng.choice(graph.members[row]))
        episode.steps.append(Step(state, row, embedding))
        training.surveys += 1
        training.epsilon = max(training.epsilon * config.exploration_decay, config.exploration_final_eps)
        return [person]


class Training:
    """All that changes while a policy is trained (line 1), and the single steps of Algorithm 1."""

    def __init__(self, config: Config, networks: Sequence[Network]) -> None:
        self.config = config
        self.networks = [TrainingNetwork(network, config) for network in networks]
        averages = [each.goals.average_influence for each in self.networks]
        self.goals = GoalHeuristic.of_networks(networks, averages, config.start)  # for networks that are not known
        self.rng = np.random.default_rng(config.seed)
        self.online = new_network(config)
        self.target = copy.deepcopy(self.online)
        self.optimiser = torch.optim.AdamW(
            self.online.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.replay = Replay(config.buffer_size)
        self.validation = Validation(self.networks, config, self.goals)
        self.episode = 0
        self.surveys = 0
        self.updates = 0
        self.curriculum_weight = config.curriculum_weight  # lambda
        self.epsilon = config.exploration_initial_eps
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of a block to the seconds of a part in the episode's metrics."""
        began = perf_counter()
        yield
        self._seconds[part] += perf_counter() - began

    def measure(self, episode: Episode) -> None:
        """Count the influence of the leaders that the oracle chooses from the present graph."""
        with self.timed("reward"):
            episode.influences.append(episode.network.influence(episode.simulation, self.rng))

    def store(self, episode: Episode, t: int, goal: float, relabelled: bool = False) -> None:
        """Add the transition from G_t to G_{t+1} to the buffer, with the reward that it has towards a goal."""
        step, paid = episode.steps[t], self.rewards(episode, goal)[t]
        next_state = episode.steps[t + 1].state if t + 1 < len(episode.steps) else None
        goals = goal, episode.goal, episode.average_influence
        self.replay.add(Transition(step.state, step.action, paid, next_state, *goals, relabelled, step.embedding))

    def rewards(self, episode: Episode, goal: float) -> list[float]:
        """The reward of each survey of an episode towards a goal: all of it at the end, unless shaped.

        The potential of a state is the reward if the study ended there; a shaped reward is what a survey adds to it.
        That leaves the order of policies as it is (Ng, Harada and Russell, 1999), and removes the start set's part of
        the variance.
        """
        config = self.config
        worth = [reward(each, goal) if config.goal else each / episode.network.optimum for each in episode.influences]
        rewards = [0.0] * (len(episode.steps) - 1) + [worth[-1]]
        if config.shaping:
            following = [config.gamma * each for each in worth[1:-1]] + [0.0]  # the end of a study has no potential
            rewards = [each + after - before for each, after, before in zip(rewards, following, worth, strict=False)]
        return rewards

    def sample_minibatch(self, goal: float) -> list[Transition]:
        """Sample uniformly, or choose the best of m times as many by proximity to the goal and diversity."""
        config = self.config
        with self.timed("select"):
            if config.curriculum is None:
                return self.replay.sample(config.batch_size, self.rng)
            drawn = self.replay.sample(config.curriculum_candidates * config.batch_size, self.rng)
            pursued = np.log([each.episode_goal for each in drawn])
            near = curriculum.proximity(pursued, np.full(len(drawn), np.log(goal)))
            alike = curriculum.similarity(np.array([each.embedding for each in drawn]), config.normalised_similarity)
            picks = curriculum.select(alike, near, self.curriculum_weight, config.batch_size)
            return [drawn[i] for i in picks]

    def update(self, minibatch: Sequence[Transition]) -> float:
        """One step of the online network towards the targets, by the Huber loss; returns the loss.

        (I - g) / g wrong by x is I wrong by x g people. Errors count in people, relative to the average influence:
        counted in Q itself, episodes with small goals would outweigh all others.
        """
        with self.timed("update"):
            wanted = torch.from_numpy(self.targets(minibatch).astype(np.float32))
            batch = Batch.of([each.state for each in minibatch])
            rows = torch.from_numpy(batch.starts + [each.action for each in minibatch])
            goals = torch.tensor([[each.goal, each.average_influence] for each in minibatch])
            values, embeddings = self.online(batch, torch.arange(len(minibatch)), rows, goals)
            scale = torch.ones(len(minibatch))
            if self.config.goal is not None:
                scale = torch.tensor([each.goal / each.average_influence for each in minibatch])
            loss = torch.nn.functional.smooth_l1_loss(values * scale, wanted * scale)
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.online.parameters(), MAX_GRADIENT_NORM)
            self.optimiser.step()
            self.updates += 1
            for each, embedding in zip(minibatch, embeddings.detach().numpy(), strict=True):
                each.embedding = embedding.copy()  # a view would keep the whole batch in memory
        return float(loss.detach())

    def targets(self, minibatch: Sequence[Transition]) -> FloatArray:
        """r + gamma max_u Q'(S', φ(u), g), and r alone after the last survey."""
        wanted = np.array([each.reward for each in minibatch])
        going_on = np.array([each.next_state is not None for each in minibatch])
        if going_on.any():
            states = [each.next_state for each in minibatch if each.next_state is not None]
            goals = np.array([[each.goal, each.average_influence] for each in minibatch])
            values, _ = score_frontiers(self.target, states, goals[going_on])
            wanted[going_on] += self.config.gamma * np.array([each.max() for each in values])
        return wanted

    @torch.no_grad()
    def update_target(self) -> None:
        """Move Q' towards Q: it is the mean of all updates at first, then an average of about the last 1 / tau."""
        step = max(self.config.tau, 1.0 / self.updates)
        torch._foreach_lerp_(list(self.target.parameters()), list(self.online.parameters()), step)

    def metrics(self, episode: Episode, losses: Sequence[float]) -> dict[str, Any]:
        """One line of metrics.jsonl."""
        seconds, self._seconds = self._seconds, defaultdict(float)
        return {
            "episode": self.episode,
            "network": episode.network.network.name,
            "influence": episode.influences[-1],
            "goal": episode.goal,
            "curriculum_weight": self.curriculum_weight,
            "epsilon": self.epsilon,
            "loss": float(np.mean(losses)) if losses else None,
            "seconds": {part: round(spent, 5) for part, spent in seconds.items()},
        }
