"""The training of ``claim``: every choice of a state is tried in simulation, and judged for goals in hindsight.

It departs from the paper in what docs/concepts/claim.md lists; the paper's own training is paper.py.
"""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from claim.discovery import Simulation
from claim.learning.config import Config
from claim.learning.network import ACTING_GOALS, frontier_rows, new_network, score_frontiers
from claim.learning.observation import Batch, Float32Array, RowGraph, State, observe
from claim.learning.paper import TrainingNetwork, choose_experiences
from claim.learning.policy import LearnedPolicy
from claim.networks import Network
from claim.networks.network import FloatArray
from claim.randomness import draw_seed

CENTRED = 10.0  # weight of the squared error between choices of a state
PARTS = ("online", "average", "optimiser")


def train(training: "Training", episodes: int, watch: Callable[[dict[str, Any]], None]) -> None:
    """Train up to ``episodes`` in all; the lines of Algorithm 1 that they correspond to are named."""
    config, rng = training.config, training.rng
    while training.episode < episodes:  # line 2
        which = int(rng.integers(len(training.networks)))  # line 3: a network
        network = training.networks[which]
        moments = training.play(network)  # lines 4 to 11: states of an epsilon-greedy study
        reach = training.try_choices(network, moments)  # what each choice in each state leads to
        tried = training.store(which, moments, reach)  # lines 12 to 16: any goal can be judged by these in hindsight
        losses = []
        for _ in range(config.updates if training.replay else 0):  # line 17
            losses.append(training.update(training.sample()))  # lines 18 and 20
        training.curriculum_weight *= config.curriculum_decay  # line 19
        training.episode += 1
        watch(training.metrics(network, tried, losses))


@dataclass
class Moment:
    """A study just before a survey."""

    simulation: Simulation
    graph: RowGraph
    state: State
    chosen: int  # place in the frontier
    left: int  # surveys left, with this one


@dataclass(eq=False)
class Tried:
    """A state, and how far each of its choices reached, as a logarithm of the share of the typical reach."""

    state: State
    network: int
    reach: FloatArray  # (frontier,), nan for choices that were not tried
    chosen: int
    desired: float  # the goal that the episode pursued
    embedding: Tensor  # as of the last update that used it

    def to_dict(self) -> dict[str, Any]:
        """Tensors and numbers, for a checkpoint."""
        arrays = {each.name: torch.from_numpy(getattr(self.state, each.name)) for each in fields(State)}
        return {**vars(self), "state": arrays, "reach": torch.from_numpy(self.reach)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Tried":
        """The inverse of :meth:`to_dict`."""
        state = State(**{name: tensor.numpy() for name, tensor in data["state"].items()})
        return cls(**{**data, "state": state, "reach": data["reach"].numpy()})

    @property
    def achieved(self) -> float:
        """What the episode's own choice reached."""
        return float(self.reach[self.chosen])

    @property
    def known(self) -> FloatArray:
        """What the choices that were tried reached."""
        return self.reach[~np.isnan(self.reach)]


class Training:
    """All that changes while a policy is trained, and the single steps."""

    def __init__(self, config: Config, networks: Sequence[Network]) -> None:
        self.settings = self.config = config
        self.networks = [TrainingNetwork(network, config) for network in networks]
        self.rng = np.random.default_rng(config.seed)
        self.online = new_network(config.shape, config.seed)
        self.average = copy.deepcopy(self.online)
        self.optimiser = torch.optim.AdamW(
            self.online.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.replay: list[Tried] = []
        self.reached: list[list[float]] = [[] for _ in networks]  # by all choices tried so far, by network
        self.episode, self.updates = 0, 0
        self.curriculum_weight = config.curriculum_weight

    def play(self, network: TrainingNetwork) -> list[Moment]:
        """Moments of a study in which choices are random with probability epsilon, and else the best."""
        config, rng = self.config, self.rng
        simulation, moments = network.study(rng), []
        for left in range(config.budget, 0, -1):
            if not simulation.discovered.frontier:
                break
            graph, state = observe(simulation.discovered, config.shape)
            (values,) = score_frontiers(self.average, [state])
            chosen = int(values.argmax())
            if rng.random() < config.exploration_eps:
                chosen = int(rng.integers(len(values)))
            moments.append(Moment(simulation.copy(rng), graph, state, chosen, left))
            simulation.ask(int(rng.choice(graph.members[graph.frontier[chosen]])))
        if len(moments) > config.states:
            moments = [moments[i] for i in sorted(rng.choice(len(moments), config.states, replace=False).tolist())]
        return moments

    def try_choices(self, network: TrainingNetwork, moments: Sequence[Moment]) -> list[FloatArray]:
        """How far each choice in each moment reaches, if the study goes on by the best choices from there.

        All choices of a moment meet the same random numbers. Returns one array (frontier,) a moment.
        """
        branches: list[tuple[Simulation, int, np.random.Generator]] = []  # a study, surveys left, its random numbers
        places = []
        for i, moment in enumerate(moments):
            seed = draw_seed(self.rng)
            choices = range(len(moment.state.frontier)) if self.config.every_choice else [moment.chosen]
            for choice in choices:
                rng = np.random.default_rng(seed)
                simulation = moment.simulation.copy(rng)
                members = moment.graph.members[moment.graph.frontier[choice]]
                simulation.ask(members[int(rng.random() * len(members))])
                branches.append((simulation, moment.left - 1, rng))
                places.append((i, choice))
        self.finish(branches)
        reach = [np.full(len(moment.state.frontier), np.nan) for moment in moments]
        for (i, choice), (simulation, _, rng) in zip(places, branches, strict=True):
            reach[i][choice] = np.log(network.influence(simulation, rng) / network.estimates.influence)
        return reach

    def finish(self, branches: Sequence[tuple[Simulation, int, np.random.Generator]]) -> None:
        """Use up the surveys that are left by the best choices; the network scores all studies in one pass."""
        for done in range(self.config.budget):
            going_on = [each for each in branches if each[1] > done and each[0].discovered.frontier]
            if not going_on:
                return
            observed = [observe(simulation.discovered, self.config.shape) for simulation, _, _ in going_on]
            values = score_frontiers(self.average, [state for _, state in observed])
            for (simulation, _, rng), (graph, _), of_rows in zip(going_on, observed, values, strict=True):
                members = graph.members[graph.frontier[of_rows.argmax()]]
                simulation.ask(members[int(rng.random() * len(members))])

    def store(self, which: int, moments: Sequence[Moment], reach: Sequence[FloatArray]) -> list[Tried]:
        """Keep the states and what their choices reach; the episode's goal is what an earlier one reached."""
        earlier = self.reached[which]
        desired = earlier[self.rng.integers(len(earlier))] if earlier else 0.0
        blank = torch.zeros(self.config.hidden)
        tried = [
            Tried(moment.state, which, reached, moment.chosen, desired, blank)
            for moment, reached in zip(moments, reach, strict=True)
        ]
        self.replay += tried
        for each in tried:
            earlier += each.known.tolist()
        return tried

    def sample(self) -> list[Tried]:
        """States at random, or chosen by proximity and diversity."""
        config, size = self.config, min(self.config.batch_size, len(self.replay))
        count = size * config.curriculum_candidates if config.curriculum else size
        drawn = self.rng.choice(len(self.replay), min(count, len(self.replay)), replace=False)
        states = [self.replay[i] for i in drawn.tolist()]
        return choose_experiences(states, size, self.curriculum_weight) if config.curriculum else states

    def goals_for(self, tried: Tried) -> Float32Array:
        """Goals to learn about in one state (goals,): a third each of what its choices reached, of what others reached
        on the network, and of the range that the network acts for.
        """
        if not self.config.hindsight:
            return np.full(self.config.goals, tried.desired, dtype=np.float32)
        own, others, third = tried.known, self.reached[tried.network], self.config.goals // 3
        picked = [own[i] for i in self.rng.integers(len(own), size=third)]
        picked += [others[i] for i in self.rng.integers(len(others), size=third)]
        evenly = self.rng.uniform(ACTING_GOALS[0], ACTING_GOALS[-1], self.config.goals - 2 * third)
        return np.concatenate([picked, evenly]).astype(np.float32)

    def update(self, batch: Sequence[Tried]) -> float:
        """One step of the network, and of its average; returns the loss."""
        config = self.config
        for group in self.optimiser.param_groups:
            falling = config.learning_rate * config.learning_rate_decay**self.episode
            group["lr"] = max(falling, config.final_learning_rate)
        stacked = Batch.of([each.state for each in batch])
        graphs, rows = frontier_rows([each.state for each in batch], stacked)
        reach = torch.from_numpy(np.concatenate([each.reach for each in batch]).astype(np.float32))
        goals = None
        if config.goal:
            goals = torch.from_numpy(np.stack([self.goals_for(each) for each in batch])).index_select(0, graphs)
        values, embeddings = self.online(stacked, graphs, rows, goals)
        loss = loss_of(values, reach, goals, graphs, len(batch), config.cross_entropy)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.updates += 1
        step = max(1.0 - config.averaging, 1.0 / self.updates)  # the mean of all updates at first
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.online.parameters()), step)
        for each, embedding in zip(batch, embeddings.detach(), strict=True):
            each.embedding = embedding.clone()
        return float(loss.detach())

    def metrics(self, network: TrainingNetwork, tried: Sequence[Tried], losses: Sequence[float]) -> dict[str, Any]:
        """One line of metrics.jsonl."""
        reached = float(np.exp(tried[-1].achieved)) * network.estimates.influence if tried else None
        loss = float(np.mean(losses)) if losses else None
        return {"episode": self.episode, "network": network.network.name, "influence": reached, "loss": loss}

    def state_dict(self) -> dict[str, Any]:
        """All that changes; a training that loads it goes on as if it had never stopped."""
        return {
            **{name: getattr(self, name).state_dict() for name in PARTS},
            "replay": [each.to_dict() for each in self.replay],
            "numbers": [self.episode, self.updates, self.curriculum_weight],
            "rng": json.dumps(self.rng.bit_generator.state),
        }

    def load_state_dict(self, content: dict[str, Any]) -> None:
        """The inverse of :meth:`state_dict`."""
        for name in PARTS:
            getattr(self, name).load_state_dict(content[name])
        self.replay = [Tried.from_dict(each) for each in content["replay"]]
        for each in self.replay:
            self.reached[each.network] += each.known.tolist()
        self.episode, self.updates, self.curriculum_weight = content["numbers"]
        self.rng.bit_generator.state = json.loads(content["rng"])

    def policy(self) -> LearnedPolicy:
        """The policy as it stands: the averaged weights."""
        return LearnedPolicy(self.average, self.config, self.config.variant)

    def train(self, episodes: int, watch: Callable[[dict[str, Any]], None] = lambda metrics: None) -> None:
        """Train up to ``episodes`` in all."""
        train(self, episodes, watch)


def loss_of(
    values: Tensor, reach: Tensor, goals: Tensor | None, graphs: Tensor, states: int, cross_entropy: float
) -> Tensor:
    """What is wrong with the differences between the choices of each state, and with the chances themselves.

    ``values`` (choices, goals) are Q; ``reach`` (choices,) is what was reached, nan where a choice was not tried;
    ``goals`` (choices, goals). The target of a chance is y = 1[I >= g]; without goals that of Q is the reach.
    """
    tried = ~torch.isnan(reach)
    values, reach, graphs = values[tried], reach[tried], graphs[tried]
    if goals is None:
        wanted, found = reach[:, None], values
        plain = functional.mse_loss(found, wanted)
    else:
        wanted, found = (reach[:, None] >= goals[tried] - 1e-6).float(), torch.sigmoid(values)
        plain = functional.binary_cross_entropy_with_logits(values, wanted)
    apart = centred(found - wanted, graphs, states)
    return CENTRED * apart.square().mean() + cross_entropy * plain


def centred(values: Tensor, graphs: Tensor, states: int) -> Tensor:
    """Values of choices less their mean over the choices of the same state."""
    count = torch.bincount(graphs, minlength=states)[:, None].clamp(min=1)
    sums = values.new_zeros(states, values.shape[1]).index_add(0, graphs, values)
    return values - (sums / count).index_select(0, graphs)
