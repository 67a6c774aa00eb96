"""The state encoder: graph convolutions and differentiable pooling, on rows with multiplicities.

Between people a convolution is F' = ReLU(P F W) with P = D^-1/2 (A + I) D^-1/2 (Kipf and Welling, 2017). Members of a
row share their features, so the sum over a row's c members is c times one of them. Pooling (Ying et al., 2018) assigns
people to clusters, S = softmax(P F W_S), and coarsens features and edges: X = S^T F and B = S^T A S, sums over people
that become sums over rows weighted by multiplicity. Nothing is ever people times people.
"""

import torch
from torch import Tensor, nn

from claim.learning.batch import Batch, multiply


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
