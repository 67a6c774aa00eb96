"""The Q-network of ``claim``: graph convolutions with differentiable pooling, and values of choices for goals."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from claim.learning.config import Shape
from claim.learning.observation import FLAGS, SIGNALS, Batch, Float32Array, State

GOAL_FEATURES = 5
ACTING_GOALS = np.linspace(np.log(0.5), np.log(4.0), 24)  # z: logarithms of shares of the typical reach


def new_network(shape: Shape, seed: int) -> "QNetwork":
    """An untrained network; the same for the same seed, whatever else uses torch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return QNetwork(shape)


@torch.no_grad()
def score_frontiers(network: "QNetwork", states: Sequence[State]) -> list[Float32Array]:
    """The value of every choice of several states in one pass, an array (frontier,) a state.

    With goals it is the sum over goals of the chance to reach the goal times its distance to the next: the expected
    reach, as a share of the typical one, if the chances were right.
    """
    batch = Batch.of(states)
    sizes = [len(state.frontier) for state in states]
    values, _ = network(batch, *frontier_rows(states, batch), _ACTING if network.shape.goal else None)
    if network.shape.goal:
        values = torch.sigmoid(values) @ _STEPS
    return np.split(values.reshape(-1).numpy(), np.cumsum(sizes)[:-1])


_ACTING = torch.from_numpy(ACTING_GOALS.astype(np.float32))
_STEPS = torch.from_numpy(np.gradient(np.exp(ACTING_GOALS)).astype(np.float32))


def frontier_rows(states: Sequence[State], batch: Batch) -> tuple[Tensor, Tensor]:
    """For every choice of every state: the number of its state, and its row in the batch."""
    graphs = np.repeat(np.arange(len(states)), [len(state.frontier) for state in states])
    rows = np.concatenate([state.frontier + start for state, start in zip(states, batch.starts, strict=True)])
    return torch.from_numpy(graphs), torch.from_numpy(rows)


class QNetwork(nn.Module):
    """Q(S, φ(u), g): embeddings of graph and action and features of the goal into two fully connected layers.

    An action is embedded by the features of the chosen row and the output of the convolutions for it. Goals are
    logarithms of shares of the typical reach of a network, so that they mean the same on every network; σ(Q) is the
    chance to reach the goal. Without goals Q is the reach itself, up to a constant of the state.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        features, hidden = FLAGS + (shape.dimensions if shape.features == "netmf" else len(SIGNALS)), shape.hidden
        self.encoder = Encoder(features, hidden, shape.clusters)
        self.inputs = hidden + features + hidden
        one, two = shape.layers
        self.head = nn.Sequential(
            nn.Linear(self.inputs + GOAL_FEATURES * shape.goal, one),
            nn.ReLU(),
            nn.Linear(one, two),
            nn.ReLU(),
            nn.Linear(two, 1),
        )

    def forward(self, batch: Batch, graphs: Tensor, rows: Tensor, goals: Tensor | None) -> tuple[Tensor, Tensor]:
        """Q of actions for goals (actions, goals), and embeddings of states (states, hidden).

        Action ``i`` chooses row ``rows[i]`` of the batch, which belongs to graph ``graphs[i]``; ``goals`` are the same
        for all actions (goals,) or those of each (actions, goals).
        """
        states, convolved = self.encoder(batch)
        parts = states.index_select(0, graphs), batch.features.index_select(0, rows), convolved.index_select(0, rows)
        first, *rest = self.head
        assert isinstance(first, nn.Linear)
        # The first layer of a sum is the sum of first layers: the part without the goal is computed once for all goals
        layer = functional.linear(torch.cat(parts, dim=1), first.weight[:, : self.inputs], first.bias)[:, None]
        if goals is not None:
            layer = layer + functional.linear(goal_features(goals), first.weight[:, self.inputs :])
        for module in rest:
            layer = module(layer)
        return layer.squeeze(2), states


def goal_features(z: Tensor) -> Tensor:
    """A goal as inputs of the first layer, (..., 5)."""
    return torch.stack([z, z.square(), torch.tanh(2 * z), torch.expm1(z), torch.sin(3 * z)], dim=-1)


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
        """The embeddings of the states (states, hidden) and of their rows (rows, hidden)."""
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
        between = SymmetricProduct.apply(batch.adjacency, weighted)  # type: ignore[no-untyped-call]
        both = torch.cat([between, shares], dim=1)
        pooled = batch.padded(weighted).transpose(1, 2) @ batch.padded(both)
        edges, features = pooled[:, :, : self.clusters], pooled[:, :, self.clusters :]
        closed = edges + torch.eye(self.clusters)
        scale = closed.sum(dim=2, keepdim=True).rsqrt()
        normalised = closed * scale * scale.transpose(1, 2)  # D^-1/2 (B + I) D^-1/2
        embedding: Tensor = torch.relu(normalised @ features).mean(dim=1)
        return embedding


class Convolution(nn.Module):
    """ReLU(P F W), without a bias, so that people without contacts and features stay at zero."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Linear(inputs, outputs, bias=False)

    def forward(self, smoothed: Tensor) -> Tensor:
        """From P F (rows, inputs) to (rows, outputs); see :func:`smooth`."""
        return torch.relu(self.weight(smoothed))


def smooth(batch: Batch, features: Tensor) -> Tensor:
    """P F: the features (rows, k) of people's contacts and their own, averaged with the weights of P."""
    root = batch.multiplicity.sqrt()
    product: Tensor = SymmetricProduct.apply(batch.smoothing, root * features)  # type: ignore[no-untyped-call]
    return product / root


class SymmetricProduct(torch.autograd.Function):
    """A symmetric sparse matrix times a dense one; the gradient of the dense one is the same product."""

    @staticmethod
    def forward(context: torch.autograd.function.FunctionCtx, matrix: Tensor, dense: Tensor) -> Tensor:
        context.matrix = matrix  # type: ignore[attr-defined]
        return matrix @ dense

    @staticmethod
    def backward(context: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[None, Tensor]:
        return None, context.matrix @ gradient.contiguous()  # type: ignore[attr-defined]
