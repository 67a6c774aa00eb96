"""The Geometric-DQN: graph convolutions with differentiable pooling, and Q-values of candidates."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from claim.learning.config import Config
from claim.learning.observation import FLAGS, Batch, Float32Array, State
from claim.networks.network import FloatArray


def new_network(config: Config) -> "QNetwork":
    """An untrained network; the same for the same seed, whatever else uses torch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return QNetwork(config)


@torch.no_grad()
def score_frontiers(
    network: "QNetwork", states: Sequence[State], goals: FloatArray
) -> tuple[list[Float32Array], Float32Array]:
    """Q of every action of several states in one pass, an array (frontier,) a state, and s_emb (states, hidden).

    ``goals`` (states, 2) has the goal and the average influence of each state.
    """
    batch = Batch.of(states)
    sizes = [len(state.frontier) for state in states]
    graphs = torch.from_numpy(np.repeat(np.arange(len(states)), sizes))
    rows = np.concatenate([state.frontier + start for state, start in zip(states, batch.starts, strict=True)])
    per_action = torch.from_numpy(np.asarray(goals, dtype=np.float32)).index_select(0, graphs)
    values, embeddings = network(batch, graphs, torch.from_numpy(rows), per_action)
    return np.split(values.numpy(), np.cumsum(sizes)[:-1]), embeddings.numpy()


class QNetwork(nn.Module):
    """Q(S, φ(u), g): graph embedding, action embedding and goal into two fully connected layers.

    The action embedding is the features of the chosen row and, with ``convolved_actions``, the output of the
    convolutions for it. Goals differ by factors, from a dozen people to hundreds; each is seen relative to the average
    influence on its network, which is one of the estimates it is made from. With ``goal="input"`` the logarithm of that
    ratio is one more input. With ``goal="affine"`` the layers predict how far the study's influence I will be from the
    average, and Q is (I - g) / g: how the reward depends on the goal need not be learned. ``goal=None`` is the
    Geometric-DQN baseline, which has no goal. With ``shaping`` the layers predict how far I will be from what could be
    reached now, and Q is less by the potential of the state, which is the same for every action.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        features, hidden = config.dimensions + FLAGS, config.hidden
        self.encoder = Encoder(features, hidden, config.clusters)
        inputs = hidden + features + hidden * config.convolved_actions + (config.goal == "input")
        one, two = config.layers
        self.head = nn.Sequential(nn.Linear(inputs, one), nn.ReLU(), nn.Linear(one, two), nn.ReLU(), nn.Linear(two, 1))

    def forward(self, batch: Batch, graphs: Tensor, rows: Tensor, goals: Tensor) -> tuple[Tensor, Tensor]:
        """Q-values of actions (actions,) and embeddings of states (states, hidden).

        Action ``i`` chooses row ``rows[i]`` of the batch, which belongs to graph ``graphs[i]``;
        ``goals`` (actions, 2) has the goal and the average influence of each action.
        """
        states, convolved = self.encoder(batch)
        parts = [states.index_select(0, graphs), batch.features.index_select(0, rows)]
        if self.config.convolved_actions:
            parts.append(convolved.index_select(0, rows))
        if self.config.goal == "input":
            parts.append(torch.log(goals[:, :1] / goals[:, 1:]))
        values = self.head(torch.cat(parts, dim=1)).squeeze(1)
        if self.config.goal == "affine":
            scale = goals[:, 1] / goals[:, 0]
            values = scale * values if self.config.shaping else scale * (1.0 + values) - 1.0
        return values, states


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
