"""Algorithm 1 of the paper: train a policy with hindsight and curriculum replay."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from claim.discovery import Simulation
from claim.learning import curriculum
from claim.learning.config import Config
from claim.learning.goals import GoalHeuristic
from claim.learning.hindsight import pseudo_goals, reward
from claim.learning.network import new_network, score_frontiers
from claim.learning.observation import Batch, Featuriser, Float32Array, State
from claim.learning.replay import Replay, Transition
from claim.learning.training_network import Ground, Validation, family_goals, goal_of
from claim.networks import Network
from claim.networks.network import FloatArray


@dataclass
class Step:
    """One survey of an episode: the state, the chosen row, and the embedding of the state."""

    state: State
    action: int
    embedding: Float32Array
    new_people: int = 0


@dataclass
class Episode:
    """A finished study: its steps, its goal and what leaders chosen from G_0 ... G_T reach."""

    ground: Ground
    goal: float
    typical: float  # the average influence on the network
    steps: list[Step] = field(default_factory=list)
    influences: list[float] = field(default_factory=list)  # only the last one unless the others are asked for


def train(training: "Training", episodes: int, watch: Callable[[dict[str, Any]], None] = lambda metrics: None) -> None:
    """Algorithm 1, from wherever the training stands up to ``episodes`` in all."""
    config, rng = training.config, training.rng
    while training.episode < episodes:
        clock = Clock()
        ground = training.grounds[rng.integers(len(training.grounds))]  # line 3: G = sample(G), S = sample(G)
        simulation = ground.begin(rng)  # line 4: G_0 and its goal
        episode = Episode(ground, *goal_of(ground.goals, simulation.discovered))
        featurise = Featuriser(config, rng)  # line 5: F = DeepWalk(G_0), at each step anew (line 10)
        while len(episode.steps) < config.budget and simulation.discovered.frontier:  # line 7
            training.survey(simulation, featurise, episode, clock)  # lines 8 to 11
        training.judge(simulation, episode)
        clock.lap("reward")
        training.store(episode)  # lines 12 to 16
        clock.lap("store")
        losses = []
        if training.surveys >= config.learning_starts and len(training.replay):
            for _ in range(config.updates):  # line 17
                minibatch = training.minibatch(episode.goal)  # line 18
                clock.lap("select")
                losses.append(training.update(minibatch))  # line 20
                clock.lap("update")
        training.weight *= config.curriculum_decay  # line 19: at the end of each episode, as the text has it
        training.episode += 1
        watch(training.metrics(episode, losses, clock))


class Clock:
    """Where the seconds of an episode go."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, part: str) -> None:
        """Book the time since the last lap on a part."""
        now = perf_counter()
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self._last
        self._last = now


class Training:
    """All that changes while a policy is trained, and the single steps of Algorithm 1."""

    def __init__(self, config: Config, networks: Sequence[Network]) -> None:
        self.config = config
        self.grounds = [Ground(network, config) for network in networks]
        self.goals: GoalHeuristic = family_goals(self.grounds, config.start)  # what the policy goes by elsewhere
        self.rng = np.random.default_rng(config.seed)
        self.online = new_network(config)
        self.target = copy.deepcopy(self.online)
        self.optimiser = torch.optim.AdamW(
            self.online.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.replay = Replay(config.buffer_size)
        self.validation = Validation(self.grounds, config, self.goals)
        self.episode = 0
        self.surveys = 0
        self.updates = 0
        self.weight = config.curriculum_weight
        self.epsilon = config.exploration_initial_eps

    def survey(self, simulation: Simulation, featurise: Featuriser, episode: Episode, clock: Clock) -> None:
        """Lines 8 to 11: choose somebody epsilon-greedily among the frontier, and survey them."""
        seen = simulation.discovered
        if self.config.shaping or self.config.hindsight == "future":
            episode.influences.append(episode.ground.influence(simulation, self.rng))
            clock.lap("reward")
        graph, state = featurise(seen)
        clock.lap("features")
        values, _, embedding = score_frontiers(self.online, [state], np.array([[episode.goal, episode.typical]]))
        best = int(values.argmax())
        if self.rng.random() < self.epsilon:
            best = int(self.rng.integers(len(state.frontier)))
        row = int(state.frontier[best])
        known = len(seen)
        simulation.ask(int(self.rng.choice(graph.members[row])))
        episode.steps.append(Step(state, row, embedding[0].numpy(), len(seen) - known))
        self.surveys += 1
        self.epsilon = max(self.epsilon * self.config.exploration_decay, self.config.exploration_final_eps)
        clock.lap("act")

    def judge(self, simulation: Simulation, episode: Episode) -> None:
        """The influence of the leaders that the oracle chooses at the end."""
        episode.influences.append(episode.ground.influence(simulation, self.rng))

    def store(self, episode: Episode) -> None:
        """Lines 12 to 16: every transition with the episode's goal and, beside it, with pseudo-goals."""
        for t in range(len(episode.steps)):
            self.replay.add(self._transition(episode, t, episode.goal, relabelled=False))
            if self.config.hindsight is not None:
                for goal in pseudo_goals(self.config.hindsight, self._reached(episode), t):
                    self.replay.add(self._transition(episode, t, goal, relabelled=True))

    def _reached(self, episode: Episode) -> list[float]:
        """I(O(G_0)) ... I(O(G_T)), with zeros for those that nothing needed."""
        return [0.0] * (len(episode.steps) + 1 - len(episode.influences)) + episode.influences

    def rewards(self, episode: Episode, goal: float) -> list[float]:
        """The reward of each survey of an episode towards a goal: all of it at the end, unless shaped.

        The potential of a state is the reward if the study ended there; what a survey adds to it is its shaped reward.
        That changes no policy's order (Ng, Harada and Russell, 1999), and takes the luck of the start set out.
        """
        config, reached = self.config, self._reached(episode)
        worth = [reward(each, goal, True) if config.goal else each / episode.ground.optimum for each in reached]
        end = len(episode.steps) - 1
        rewards = [
            config.myopic_reward * step.new_people + worth[-1] * (t == end) for t, step in enumerate(episode.steps)
        ]
        if config.shaping:
            following = [config.gamma * each for each in worth[1:-1]] + [0.0]  # the end of a study has no potential
            rewards = [each + after - before for each, after, before in zip(rewards, following, worth, strict=False)]
        return rewards

    def _transition(self, episode: Episode, t: int, goal: float, relabelled: bool) -> Transition:
        rewards = self.rewards(episode, goal)
        rest = sum(self.config.gamma**i * each for i, each in enumerate(rewards[t:]))
        following = None if t == len(episode.steps) - 1 else episode.steps[t + 1].state
        step = episode.steps[t]
        return Transition(
            step.state,
            step.action,
            rewards[t],
            following,
            goal,
            rest,
            episode.goal,
            episode.influences[-1],
            episode.typical,
            relabelled,
            step.embedding,
        )

    def minibatch(self, pursued: float) -> list[Transition]:
        """Line 18: uniform, or the most useful of three times as many by proximity and diversity."""
        config = self.config
        if config.curriculum is None:
            return self.replay.draw(config.batch_size, self.rng)
        drawn = self.replay.draw(config.curriculum_candidates * config.batch_size, self.rng)
        if config.curriculum == "literal":
            near = curriculum.proximity([each.achieved for each in drawn], [each.goal for each in drawn])
        else:
            near = curriculum.proximity(np.log([each.desired for each in drawn]), np.full(len(drawn), np.log(pursued)))
        alike = curriculum.similarity(np.array([each.embedding for each in drawn]), config.normalised_similarity)
        picks = curriculum.select(alike, near, self.weight, config.batch_size)
        return [drawn[i] for i in picks]

    def update(self, minibatch: Sequence[Transition]) -> float:
        """Line 20: one step of the online network towards the targets; then the target network follows."""
        wanted = torch.from_numpy(self.targets(minibatch).astype(np.float32))
        batch = Batch.of([each.state for each in minibatch])
        rows = torch.from_numpy(batch.starts + [each.action for each in minibatch])
        goals = torch.tensor([[each.goal, each.typical] for each in minibatch])
        values, embeddings = self.online(batch, torch.arange(batch.size), rows, goals)
        scale = self._error_scale(minibatch)
        loss = torch.nn.functional.smooth_l1_loss(values * scale, wanted * scale)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimiser.step()
        for each, embedding in zip(minibatch, embeddings.detach().numpy(), strict=True):
            each.embedding = embedding.copy()  # a view would keep the whole batch in memory
        self._follow()
        return float(loss.detach())

    def _error_scale(self, minibatch: Sequence[Transition]) -> Tensor:
        """What an error of Q counts: (I - g) / g wrong by x is I wrong by x g people, whatever the goal.

        Counted in Q itself, episodes with small goals would outweigh all others: errors go with 1 / g.
        """
        if self.config.goal is None or self.config.loss == "goal":
            return torch.ones(len(minibatch))
        return torch.tensor([each.goal / each.typical for each in minibatch], dtype=torch.float32)

    def targets(self, minibatch: Sequence[Transition]) -> FloatArray:
        """r + gamma max_a' Q'(s', a', g), without a bootstrap past the end; or what the episode really brought."""
        if self.config.returns == "monte-carlo":
            return np.array([each.discounted_return for each in minibatch])
        wanted = np.array([each.reward for each in minibatch])
        going_on = [i for i, each in enumerate(minibatch) if each.following is not None]
        if going_on:
            states = [minibatch[i].following for i in going_on]
            goals = np.array([[minibatch[i].goal, minibatch[i].typical] for i in going_on])
            wanted[going_on] += self.config.gamma * self._best_values(states, goals)  # type: ignore[arg-type]
        return wanted

    def _best_values(self, states: Sequence[State], goals: FloatArray) -> FloatArray:
        values, frontiers, _ = score_frontiers(self.target, states, goals)
        if not self.config.double:
            best: FloatArray = np.maximum.reduceat(values.numpy(), frontiers.starts)
            return best
        chooser, _, _ = score_frontiers(self.online, states, goals)
        ends = [*frontiers.starts[1:], len(values)]
        picks = [a + int(chooser[a:b].argmax()) for a, b in zip(frontiers.starts, ends, strict=True)]
        chosen: FloatArray = values.numpy()[picks]
        return chosen

    @torch.no_grad()
    def _follow(self) -> None:
        """The target network is an average of the online one: of all updates at first, then of about 1 / tau."""
        self.updates += 1
        if self.updates % (self.config.target_interval * self.config.updates) and self.config.target_interval > 1:
            return
        step = max(self.config.tau, 1.0 / self.updates)
        torch._foreach_lerp_(list(self.target.parameters()), list(self.online.parameters()), step)

    def metrics(self, episode: Episode, losses: Sequence[float], clock: Clock) -> dict[str, Any]:
        """What a line of metrics.jsonl says."""
        return {
            "episode": self.episode,
            "network": episode.ground.network.name,
            "influence": episode.influences[-1],
            "goal": episode.goal,
            "curriculum_weight": self.weight,
            "epsilon": self.epsilon,
            "loss": float(np.mean(losses)) if losses else None,
            "seconds": {part: round(spent, 5) for part, spent in clock.seconds.items()},
        }
