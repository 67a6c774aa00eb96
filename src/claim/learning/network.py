"""The Geometric-DQN: graph convolutions with differentiable pooling, and Q-values of candidates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from claim.learning.config import Config
from claim.learning.observation import FLAGS, Batch, IndexArray, State, multiply
from claim.networks.network import FloatArray


class Convolution(nn.Module):
    """ReLU(P F W), without a bias, so that people without contacts and features stay at zero."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Linear(inputs, outputs, bias=False)

    def forward(self, smoothed: Tensor) -> Tensor:
        """From P F; see :func:`smooth`."""
        return torch.relu(self.weight(smoothed))


def smooth(batch: Batch, features: Tensor) -> Tensor:
    """P F: what people's contacts and they themselves have, averaged with the weights of P."""
    root = batch.multiplicity.sqrt()
    return multiply(batch.smoothing, root * features) / root


class Encoder(nn.Module):
    """Two convolutions, one pooling, one convolution of the coarse graph: s_emb, and an embedding of every row."""

    def __init__(self, inputs: int, hidden: int, clusters: int) -> None:
        super().__init__()
        self.first = Convolution(inputs, hidden)
        self.second = Convolution(hidden, hidden)
        self.assign = nn.Linear(hidden, clusters, bias=False)
        self.coarse = Convolution(hidden, hidden)
        self.clusters = clusters

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The embeddings of the states (size, hidden) and of their rows (rows, hidden)."""
        once = self.first(smooth(batch, batch.features))
        smoothed = smooth(batch, once)
        rows = self.second(smoothed)
        assignment = torch.softmax(self.assign(smoothed), dim=1)
        return self._pool(batch, rows, assignment), rows

    def _pool(self, batch: Batch, rows: Tensor, assignment: Tensor) -> Tensor:
        """DiffPool: features and edges between clusters, one convolution of these, and their mean."""
        weighted = batch.multiplicity * assignment
        # Sums over people grow with the network; their mean keeps networks of any size comparable. The convolution's
        # weights come before the sums, S^T (F W) for (S^T F) W: there are fewer rows than clusters.
        shares = self.coarse.weight(rows) / batch.people
        both = torch.cat([multiply(batch.adjacency, weighted), shares], dim=1)
        pooled = batch.padded(weighted).transpose(1, 2) @ batch.padded(both)
        edges, features = pooled[:, :, : self.clusters], pooled[:, :, self.clusters :]
        embedding: Tensor = torch.relu(_normalised(edges) @ features).mean(dim=1)
        return embedding


def _normalised(edges: Tensor) -> Tensor:
    """D^-1/2 (B + I) D^-1/2 for a batch of small dense graphs."""
    closed = edges + torch.eye(edges.shape[1])
    scale = closed.sum(dim=2, keepdim=True).rsqrt()
    return closed * scale * scale.transpose(1, 2)


GoalUse = Literal["input", "affine"]


class QNetwork(nn.Module):
    """Graph embedding, action embedding and goal into two fully connected layers.

    The action embedding is the features of the chosen row and, with ``convolved``, what the convolutions made of them.
    Goals differ by factors, from a dozen people to hundreds; each is seen against the average influence on its network,
    which is one of the estimates it is made from. With ``goal="input"`` the logarithm of that ratio is one more input.
    With ``goal="affine"`` the layers predict how far the study's influence I will be from the average, and Q is
    (I - g) / g: how the reward depends on the goal need not be learned. With ``goal=None`` there is no goal (the
    Geometric-DQN baseline). With ``shaped`` rewards the layers predict how far I will be from what could be reached
    now, and Q is less by the potential of the state, which is the same for every action.
    """

    def __init__(
        self,
        features: int,
        hidden: int,
        clusters: int,
        layers: tuple[int, int],
        goal: GoalUse | None,
        convolved: bool,
        shaped: bool,
    ) -> None:
        super().__init__()
        self.goal, self.convolved, self.shaped = goal, convolved, shaped
        self.encoder = Encoder(features, hidden, clusters)
        inputs = hidden + features + hidden * convolved + (goal == "input")
        self.head = nn.Sequential(
            nn.Linear(inputs, layers[0]), nn.ReLU(), nn.Linear(layers[0], layers[1]), nn.ReLU(), nn.Linear(layers[1], 1)
        )

    def forward(self, batch: Batch, graphs: Tensor, rows: Tensor, goals: Tensor) -> tuple[Tensor, Tensor]:
        """Values of actions and embeddings of states.

        Action ``i`` chooses row ``rows[i]`` of the batch, which belongs to graph ``graphs[i]``;
        ``goals`` has a row per action: the goal, and the average influence.
        """
        states, convolved = self.encoder(batch)
        parts = [states.index_select(0, graphs), batch.features.index_select(0, rows)]
        if self.convolved:
            parts.append(convolved.index_select(0, rows))
        if self.goal == "input":
            parts.append(torch.log(goals[:, :1] / goals[:, 1:]))
        values = self.head(torch.cat(parts, dim=1)).squeeze(1)
        if self.goal == "affine":
            scale = goals[:, 1] / goals[:, 0]
            values = scale * values if self.shaped else scale * (1.0 + values) - 1.0
        return values, states


@dataclass(frozen=True)
class Frontiers:
    """Every action of several states, flattened: which state, which row of the batch, and where each state begins."""

    graphs: Tensor
    rows: Tensor
    starts: IndexArray

    @classmethod
    def of(cls, states: Sequence[State], batch: Batch) -> "Frontiers":
        """All rows of the frontier of every state."""
        counts = np.array([len(state.frontier) for state in states])
        rows = np.concatenate([state.frontier + start for state, start in zip(states, batch.starts, strict=True)])
        graphs = np.repeat(np.arange(len(states)), counts)
        return cls(torch.from_numpy(graphs), torch.from_numpy(rows), np.cumsum(counts) - counts)


@torch.no_grad()
def score_frontiers(network: QNetwork, states: Sequence[State], goals: FloatArray) -> tuple[Tensor, Frontiers, Tensor]:
    """Values of all actions of several states in one pass, where they are, and the embeddings of the states.

    ``goals`` has a row per state: the goal, and the average influence.
    """
    batch = Batch.of(states)
    frontiers = Frontiers.of(states, batch)
    per_action = torch.from_numpy(np.asarray(goals, dtype=np.float32)).index_select(0, frontiers.graphs)
    values, embeddings = network(batch, frontiers.graphs, frontiers.rows, per_action)
    return values, frontiers, embeddings


def new_network(config: Config) -> QNetwork:
    """An untrained network; the same for the same seed, whatever else uses torch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return QNetwork(
            config.dimensions + FLAGS,
            config.hidden,
            config.clusters,
            config.layers,
            config.goal,
            config.convolved_actions,
            config.shaping,
        )
