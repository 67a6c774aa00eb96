"""CLAIM as published, in one file that reads like Section 4 and Algorithm 1 of the paper.

Li, Lowalekar and Varakantham, "CLAIM: Curriculum Learning Policy for Influence Maximization in Unknown Social
Networks", UAI 2021. Comments name the lines of Algorithm 1 and the equations. "Open" marks a choice that the text
leaves open, with the reading taken here; "Departs" marks where the text is not followed, and why. Graphs are dense
matrices over people.

The variants are the rows of the paper's ablation: ``geometric-dqn`` (no goal), ``goal-dqn`` (the goal is an input),
``her`` (and hindsight) and ``claim`` (and the curriculum). ``claim train --preset paper`` runs this file. The training
of ``claim`` without the preset, which departs from the paper, is in train.py; nothing here depends on it.
"""

import copy
import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from claim.cascades import Worlds
from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.learning.config import check_fields
from claim.learning.deepwalk import DeepWalk
from claim.networks import Network
from claim.selection import Candidates, select
from claim.selection.greedy import Task, greedy


@dataclass(frozen=True)
class Settings:
    """Section 5 gives T, |S|, leaders and p, Section 4.2 gives m. The rest is open, and as in the authors' public code
    unless said otherwise.
    """

    variant: Literal["geometric-dqn", "goal-dqn", "her", "claim"] = "claim"
    budget: int = 5  # T
    start: int = 5  # |S|
    leaders: int = 10
    p: float = 0.1
    dimensions: int = 60  # d, of DeepWalk; Open
    hidden: int = 64  # of the convolutions; Open, a choice of this file
    clusters: int = 100  # of the pooling; Open
    layers: tuple[int, int] = (400, 300)  # FC1 and FC2; Open
    learning_rate: float = 1e-4  # Open
    weight_decay: float = 1e-3  # Open
    gamma: float = 0.99  # of the Bellman error; Open
    exploration_initial_eps: float = 0.1  # ε; Open
    exploration_decay: float = 0.999  # per episode; Open: line 8 has a fixed ε
    exploration_final_eps: float = 0.01  # Open
    batch_size: int = 100  # k; Open
    buffer_size: int = 4000  # Open
    curriculum_candidates: int = 3  # m
    curriculum_weight: float = 1.0  # λ at the start; Open: s_emb is small, so proximity in people decides nearly alone
    curriculum_decay: float = 0.999  # γ of line 19; Open: the text writes γ for this and for the Bellman error
    target_interval: int = 10  # episodes; Open: "at regular intervals", and no number is known
    validate_every: int = 100  # episodes; validation watches the training and decides nothing
    validation_starts: int = 20  # per training network
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def goal(self) -> bool:
        return self.variant != "geometric-dqn"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a manifest or a policy file."""
        return asdict(self)


# Sections 2 and 3.1: the problem -------------------------------------------------------------------------------------


class TrainingNetwork:
    """G*: a training network, with the worlds in which influence on it is counted (Open: 1000)."""

    def __init__(self, network: Network, settings: Any) -> None:  # Settings, or those of train.py
        self.network, self.settings = network, settings
        self.worlds = Worlds.draw(network, settings.p, 1000, settings.seed)
        best = select(network, settings.leaders, settings.p, rng=settings.seed).indices
        self.optimum = self.worlds.influence(best).mean  # OPT(G*) of eq. 1; Open: by the greedy oracle
        rng, reached = np.random.default_rng(settings.seed), []
        for _ in range(50):  # Open: I* is what random surveys reach; Section 6 suggests a larger one
            simulation = self.study(rng)
            for _ in surveys(simulation, policy_named("random"), settings.budget, rng):
                pass
            reached.append(self.influence(simulation, rng))
        influence = float(np.mean(reached))
        self.estimates = Estimates(network.n, network.m, influence, settings.start)  # Open: |V*| and |E*| as they are

    def study(self, rng: np.random.Generator) -> Simulation:
        """S = sample(G), and the subgraph G_0."""
        people = rng.choice(self.network.n, min(self.settings.start, self.network.n), replace=False)
        return Simulation(self.network, people.tolist(), rng)

    def influence(self, simulation: Simulation, rng: np.random.Generator) -> float:
        """I_{G*}(O(G_T)), by the greedy oracle.

        Departs: the text chooses leaders from G_T. As in the authors' public code, whose numbers are those of the
        paper, the oracle also chooses people who were never discovered, and who have no ties that it knows of. Open:
        of people who are worth the same it takes the first; it averages 100 worlds.
        """
        people, (one, other) = np.array(simulation.people), simulation.discovered.ties()
        seen = Network.from_edges(people[one], people[other], n=self.network.n)
        leaders = min(self.settings.leaders, seen.n)
        task = Task(seen, Candidates.of(seen.n, leaders), leaders, self.settings.p, 100, rng, ties="first")
        return self.worlds.influence(greedy(task)).mean


# Section 3.2: Geometric-DQN ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class State:
    """S_t = (F_t^0, A_t): DeepWalk vectors and ties of the discovered people, and the people X who can be queried."""

    features: Tensor  # F^0, (people, dimensions); the row of u is φ(u)
    ties: Tensor  # (2, ties), each tie once
    actions: Tensor  # X, people not yet queried

    @classmethod
    def of(cls, discovered: Discovered, dimensions: int, rng: np.random.Generator) -> "State":
        """Lines 5 and 10: F^0 = DeepWalk(G_t), learned anew for each graph.

        Open: 80 walks from each person, as Perozzi et al. (2014); of 10 people, with a window of 5, as the public code;
        one pass over them, as Perozzi et al. (the public code: fifty).
        """
        walks = DeepWalk(dimensions, walk_length=10, walks=80, window=5, epochs=1)
        vectors = walks.embed(discovered.as_network(), rng)
        ties = torch.from_numpy(np.array(discovered.ties(), dtype=np.int64))
        return cls(torch.from_numpy(vectors), ties, torch.tensor(discovered.frontier, dtype=torch.int64))


def dense(states: Sequence[State]) -> tuple[Tensor, Tensor]:
    """A_t, (states, people, people), and F^0, (states, people, dimensions); padded with rows of zeros."""
    features = nn.utils.rnn.pad_sequence([state.features for state in states], batch_first=True)
    adjacency = torch.zeros(*features.shape[:2], features.shape[1])
    each = torch.arange(len(states)).repeat_interleave(torch.tensor([state.ties.shape[1] for state in states]))
    one, other = torch.cat([state.ties for state in states], dim=1)
    adjacency[each, one, other] = adjacency[each, other, one] = 1.0
    return adjacency, features


def convolve(adjacency: Tensor, features: Tensor) -> Tensor:
    """D^-1/2 Ã D^-1/2 F with Ã = A + I, the part of a graph convolution before its weights."""
    closed = adjacency + torch.eye(adjacency.shape[-1])
    scale = closed.sum(dim=-1, keepdim=True).rsqrt()
    return scale * (closed @ (scale * features))


class GeometricDQN(nn.Module):
    """Q(S, φ(u), g): graph convolutions and differentiable pooling (Ying et al., 2018), then FC1 and FC2.

    Open: two convolutions; one pooling, although the text says "iteratively", whose assignment shares the first
    convolution, and without the auxiliary losses of Ying et al.; one convolution of the coarse graph, whose mean is the
    embedding of the state; g enters at FC1; an output layer.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        inputs, hidden = settings.dimensions, settings.hidden
        self.first = nn.Linear(inputs, hidden, bias=False)
        self.second = nn.Linear(hidden, hidden, bias=False)
        self.assign = nn.Linear(hidden, settings.clusters, bias=False)
        self.coarse = nn.Linear(hidden, hidden, bias=False)
        one, two = settings.layers
        self.fc1 = nn.Linear(hidden + inputs + settings.goal, one)
        self.fc2 = nn.Linear(one, two)
        self.out = nn.Linear(two, 1)

    def embed(self, states: Sequence[State]) -> Tensor:
        """s_emb, the output of convolutions and pooling and the input of FC1: (states, hidden).

        States of similar size are computed together; padded rows stay zero, because these layers have no biases.
        """
        sizes = [math.ceil(4 * math.log2(len(state.features))) for state in states]
        order = sorted(range(len(states)), key=sizes.__getitem__)
        similar = [[states[i] for i in group] for _, group in groupby(order, key=sizes.__getitem__)]
        embeddings = [self.encode(*dense(group)) for group in similar]
        return torch.cat(embeddings)[torch.tensor(order).argsort()]

    def encode(self, adjacency: Tensor, features: Tensor) -> Tensor:
        """s_emb of A_t and F^0 of some states."""
        first = torch.relu(self.first(convolve(adjacency, features)))  # F^1 = ReLU(D^-1/2 Ã D^-1/2 F^0 W^1)
        convolved = convolve(adjacency, first)
        second = torch.relu(self.second(convolved))  # F^2
        assignment = torch.softmax(self.assign(convolved), dim=-1)  # each person's share in each cluster
        pooled = convolve(assignment.mT @ adjacency @ assignment, assignment.mT @ second)  # the coarse graph
        return torch.relu(self.coarse(pooled)).mean(dim=-2)

    def forward(self, embedding: Tensor, actions: Tensor, goal: Tensor | None) -> Tensor:
        """Q of each action, (actions,).

        ``embedding`` is s_emb, (hidden,) or (actions, hidden); ``actions`` are φ(u), (actions, dimensions); ``goal`` is
        g, (1, 1) or (actions, 1), or None in a network without goals.
        """
        parts = [embedding.expand(len(actions), -1), actions]
        if goal is not None:
            parts.append(goal.expand(len(actions), 1))
        value: Tensor = self.out(torch.relu(self.fc2(torch.relu(self.fc1(torch.cat(parts, dim=1))))))
        return value.squeeze(1)


# Section 4.1: goals --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimates:
    """What a team is assumed to know: |V*|, |E*| and I*, the average influence. Goals are J of eq. 5."""

    people: float
    ties: float
    influence: float
    start: int  # |S|

    def expected(self, first_layer: float, p: float, start: int) -> float:
        """J for K_1 people in the first layer, who reach everyone else over L layers (eq. 3)."""
        others, r = max(self.people - start, 0.0), max(2 * self.ties / self.people - 1, 0.0)  # Open: r is not negative
        first_layer = min(first_layer, others)  # Open: no more than everyone else
        if first_layer <= 0:
            return float(start)
        inside = 1 + others * (r - 1) / first_layer
        # r = 1 is the limit of eq. 3. Open: with r < 1 the layers may never hold everyone; then all layers are summed
        held = math.log(inside) / math.log(r) if inside > 0 and r != 1 else math.inf
        layers = others / first_layer if r == 1 else held
        ratio = p * r
        total = layers if ratio == 1 else (ratio**layers - 1) / (ratio - 1)  # the sum of eq. 5; L where p' r = 1
        return start + min(first_layer * p * total, others)  # the bound only corrects rounding

    @cached_property
    def p_prime(self) -> float:
        """p', which makes J closest to I* with K_1 = |S| 2 |E*| / |V*|: "a search in the probability space"."""
        first_layer = self.start * 2 * self.ties / self.people
        tried: list[float] = np.linspace(0.0, 1.0, 10_001).tolist()
        return min(tried, key=lambda p: abs(self.expected(first_layer, p, self.start) - self.influence))

    def goal(self, discovered: Discovered) -> float:
        """g: J with p' and K_1 = |N(S)|, the contacts of the start people who are not start people themselves."""
        start = set(discovered.start)
        contacts = {contact for person in start for contact in discovered.contacts[person]} - start
        return max(self.expected(len(contacts), self.p_prime, len(start)), 1.0)  # J >= |S|; 1 if there is no start


def reward(influence: float, goal: float) -> float:
    """R_{T-1,g} of eq. 6; every other reward is 0."""
    return (influence - goal) / goal


# Section 4.2: experience replay --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Experience:
    """(S_t, φ(u_t), R_{t,g}, S_{t+1}, g), and what the curriculum compares."""

    state: State
    action: int  # u_t
    reward: float
    next_state: State | None  # None after the last query
    goal: float  # g, or the pseudo-goal g'
    desired: float  # the goal that the episode pursued
    achieved: float  # I(O(G_T)) of the episode
    embedding: Tensor  # s_emb; Open: as of the last time the experience was made or replayed
    best_next: float | None = None  # max Q' of the next state, if it was computed since θ' changed


def choose_experiences(drawn: Sequence[Any], count: int, weight: float) -> list[Any]:
    """Greedy maximisation of F(A) = F_prox(A) + λ F_div(A) (eq. 7) over the drawn B, by the marginal gain (eq. 10).

    Departs: "g_i is the goal corresponding to experience i" would be g' for an experience with a pseudo-goal. It has
    achieved g', so its reward is 0 and its proximity the largest possible, and batches would hold nothing else. As Fang
    et al. (2019) describe it (their code differs), g_i is the goal that the episode pursued. Even so, batches prefer
    episodes that ended near their goal, whose rewards are near 0.
    """
    distance = np.array([abs(each.achieved - each.desired) for each in drawn])
    proximity = distance.max() - distance  # eq. 8: the smallest c is enough, and a larger one chooses the same
    embeddings = torch.stack([each.embedding for each in drawn]).numpy()
    similarity = embeddings @ embeddings.T  # dot products
    chosen: list[int] = []
    covered = np.zeros(len(drawn))  # max over A of eq. 9, at least 0
    while len(chosen) < min(count, len(drawn)):
        gain = proximity + weight * np.maximum(similarity - covered, 0.0).sum(axis=1)  # eq. 10
        gain[chosen] = -np.inf
        chosen.append(int(gain.argmax()))
        covered = np.maximum(covered, similarity[chosen[-1]])
    return [drawn[i] for i in chosen]


# Acting --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PaperPolicy:
    """A trained network, which queries the person of the highest Q; goals come from averages of training networks."""

    network: GeometricDQN
    settings: Settings
    estimates: Estimates
    name: str
    card: dict[str, Any] = field(default_factory=dict, repr=False)
    undirected_ic_only: ClassVar = True

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The ``count`` people of the highest Q."""
        if not discovered.frontier:
            return []
        state = State.of(discovered, self.settings.dimensions, rng)
        with torch.no_grad():
            values = self.values(self.network.embed([state])[0], state, self.estimates.goal(discovered))
        return state.actions[values.argsort(descending=True)[:count]].tolist()

    def values(self, embedding: Tensor, state: State, goal: float) -> Tensor:
        """Q of every person of X."""
        value: Tensor = self.network(embedding, state.features[state.actions], self.scaled([goal]))
        return value

    def scaled(self, goals: Sequence[float]) -> Tensor | None:
        """g as an input of FC1, (goals, 1). Open: in units of the average influence, so that inputs are of one size."""
        return torch.tensor([[goal / self.estimates.influence] for goal in goals]) if self.settings.goal else None


# Algorithm 1 ---------------------------------------------------------------------------------------------------------


@contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Weights of dead units decay to denormal numbers, which are slow to multiply: compute with 0 in their place."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


class Training:
    """Line 1: Q_θ, Q_θ' with θ' = θ, and the replay buffer; and what else changes during training."""

    def __init__(self, settings: Settings, networks: Sequence[Network]) -> None:
        self.settings = settings
        self.rng = np.random.default_rng(settings.seed)
        self.networks = [TrainingNetwork(network, settings) for network in networks]
        known = [(each.network.n, each.network.m, each.estimates.influence) for each in self.networks]
        people, ties, influence = np.mean(known, axis=0).tolist()  # Open: the numbers of a new network are not known
        estimates = Estimates(people, ties, influence, settings.start)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            network = GeometricDQN(settings)
        name = "paper-claim" if settings.variant == "claim" else settings.variant
        self.online = PaperPolicy(network, settings, estimates, name)
        self.target = copy.deepcopy(self.online)
        rate, decay = settings.learning_rate, settings.weight_decay
        self.optimiser = torch.optim.Adam(network.parameters(), lr=rate, weight_decay=decay)  # Open
        self.buffer: deque[Experience] = deque(maxlen=settings.buffer_size)
        self.episode, self.updates = 0, 0
        self.epsilon, self.curriculum_weight = settings.exploration_initial_eps, settings.curriculum_weight

    def act(self, state: State, goal: float) -> tuple[int, Tensor]:
        """Line 8: a random person of X with probability ε, else the person of the highest Q; and s_emb."""
        with torch.no_grad():
            embedding = self.online.network.embed([state])[0]
            values = self.online.values(embedding, state, goal)
        if self.rng.random() < self.epsilon:
            return int(self.rng.choice(state.actions.numpy())), embedding
        return int(state.actions[values.argmax()]), embedding

    def sample(self) -> list[Experience]:
        """Line 18: uniformly, or by proximity and diversity from m times as many; Open: at first there are fewer."""
        size, curriculum = self.settings.batch_size, self.settings.variant == "claim"
        drawn = min(len(self.buffer), size * (self.settings.curriculum_candidates if curriculum else 1))
        uniform = [self.buffer[i] for i in self.rng.choice(len(self.buffer), drawn, replace=False).tolist()]
        return choose_experiences(uniform, size, self.curriculum_weight) if curriculum else uniform

    def update(self, batch: Sequence[Experience]) -> float:
        """Line 20: one gradient step on the Bellman error 1/2 |Q(s, u, g) - (r + γ max Q'(s', u', g))|^2, its mean."""
        targets = self.targets(batch)
        embeddings = self.online.network.embed([each.state for each in batch])
        actions = torch.stack([each.state.features[each.action] for each in batch])
        goals = self.online.scaled([each.goal for each in batch])
        loss = 0.5 * (self.online.network(embeddings, actions, goals) - targets).square().mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.updates += 1
        for each, embedding in zip(batch, embeddings.detach(), strict=True):
            each.embedding = embedding.clone()
        return float(loss.detach())

    @torch.no_grad()
    def targets(self, batch: Sequence[Experience]) -> Tensor:
        """r + γ max_u' Q'(s', u', g); Open: r alone after the last query."""
        new = [(each, each.next_state) for each in batch if each.next_state is not None and each.best_next is None]
        embeddings = self.target.network.embed([following for _, following in new]) if new else ()
        for (each, following), embedding in zip(new, embeddings, strict=True):
            each.best_next = float(self.target.values(embedding, following, each.goal).max())
        return torch.tensor([each.reward + self.settings.gamma * (each.best_next or 0.0) for each in batch])

    def policy(self) -> PaperPolicy:
        """The policy as it stands. Open: the network after the last episode is the one that counts."""
        return self.online

    @denormals_as_zero()
    def train(self, episodes: int, watch: Callable[[dict[str, Any]], None] = lambda metrics: None) -> None:
        """Algorithm 1, up to ``episodes`` in all."""
        settings, rng = self.settings, self.rng
        while self.episode < episodes:  # line 2
            network = self.networks[rng.integers(len(self.networks))]  # line 3; Open: evenly
            simulation = network.study(rng)  # lines 3 and 4: S = sample(G) and G_0
            goal = network.estimates.goal(simulation.discovered)  # line 4: g
            states = [State.of(simulation.discovered, settings.dimensions, rng)]  # lines 5 and 6
            queried: list[tuple[int, Tensor]] = []
            for _ in range(settings.budget):  # line 7
                if not len(states[-1].actions):
                    break
                queried.append(self.act(states[-1], goal))  # line 8
                simulation.ask(queried[-1][0])  # line 9: query, and observe G_{t+1}
                states.append(State.of(simulation.discovered, settings.dimensions, rng))  # lines 10 and 11
            reached = network.influence(simulation, rng)  # I(O(G_T))
            goals = [goal, reached] if settings.variant in ("her", "claim") else [goal]
            following = [*states[1:-1], None]
            for t, (person, embedding) in enumerate(queried):  # line 12
                for aim in goals:  # lines 13 to 16: with g, then with g' = I(O(G_T)), for which eq. 6 gives 0
                    end = reward(reached, aim) if settings.goal else reached / network.optimum  # eq. 6, or eq. 1
                    paid = 0.0 if following[t] else end
                    self.buffer.append(Experience(states[t], person, paid, following[t], aim, goal, reached, embedding))
            losses = []
            for _ in range(settings.budget if self.buffer else 0):  # line 17
                losses.append(self.update(self.sample()))  # lines 18 and 20
            # line 19. Open: it is inside the loop of line 17, but the text says "at the end of each episode"
            self.curriculum_weight *= settings.curriculum_decay
            self.epsilon = max(self.epsilon * settings.exploration_decay, settings.exploration_final_eps)
            self.episode += 1
            if self.episode % settings.target_interval == 0:  # line 21
                self.target.network.load_state_dict(self.online.network.state_dict())
                for each in self.buffer:
                    each.best_next = None
            metrics = {"episode": self.episode, "network": network.network.name, "influence": reached, "goal": goal}
            schedules = {"curriculum_weight": self.curriculum_weight, "epsilon": self.epsilon}
            watch({**metrics, **schedules, "loss": float(np.mean(losses)) if losses else None})

    def state_dict(self) -> dict[str, Any]:
        """All that changes; a training that loads it goes on as if it had never stopped."""

        def parts(each: Experience) -> dict[str, Any]:
            following = None if each.next_state is None else vars(each.next_state)
            return vars(each) | {"state": vars(each.state), "next_state": following}

        return {
            **{name: getattr(self, name).network.state_dict() for name in ("online", "target")},
            "optimiser": self.optimiser.state_dict(),
            "experiences": [parts(each) for each in self.buffer],  # torch.save writes the states they share once
            "numbers": [self.episode, self.updates, self.epsilon, self.curriculum_weight],
            "rng": json.dumps(self.rng.bit_generator.state),
        }

    def load_state_dict(self, content: dict[str, Any]) -> None:
        """The inverse of :meth:`state_dict`."""
        for name in ("online", "target"):
            getattr(self, name).network.load_state_dict(content[name])
        self.optimiser.load_state_dict(content["optimiser"])
        self.buffer.clear()
        for each in content["experiences"]:
            states = {name: State(**each[name]) if each[name] else None for name in ("state", "next_state")}
            self.buffer.append(Experience(**{**each, **states}))
        self.episode, self.updates, self.epsilon, self.curriculum_weight = content["numbers"]
        self.rng.bit_generator.state = json.loads(content["rng"])
