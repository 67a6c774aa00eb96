"""Graphs of very different size in one pass."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from claim.learning.rows import Float32Array, IndexArray
from claim.learning.states import State

# PyTorch says once a process that CSR is in beta; let it say so where nobody hears it. What is used of it is tested.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    torch.sparse_csr_tensor([0, 0], [], [], (1, 1), check_invariants=False)


@dataclass(frozen=True)
class Batch:
    """The rows of several states, one state after the other; the matrices are block-diagonal and sparse."""

    starts: IndexArray  # where each state begins
    features: Tensor  # (rows, features)
    multiplicity: Tensor  # (rows, 1)
    people: Tensor  # (rows, 1), of the whole state that a row belongs to
    adjacency: Tensor  # sparse
    smoothing: Tensor  # sparse
    places: Tensor  # of each row, in a table of as many rows for every state as the largest has
    width: int

    @classmethod
    def of(cls, states: Sequence[State]) -> "Batch":
        """Stack states."""
        counts = np.array([state.rows for state in states])
        starts, width = np.cumsum(counts) - counts, int(counts.max())
        entries = np.array([len(state.columns) for state in states])
        ends = np.concatenate([state.offsets[1:] for state in states]) + np.repeat(np.cumsum(entries) - entries, counts)
        offsets = torch.from_numpy(np.concatenate([[0], ends]))
        columns = np.concatenate([state.columns for state in states]) + np.repeat(starts, entries)
        within = torch.from_numpy(columns)
        multiplicity = np.concatenate([state.multiplicity for state in states])
        people = np.repeat(np.add.reduceat(multiplicity, starts), counts)

        def matrix(values: list[Float32Array]) -> Tensor:
            size = (len(ends), len(ends))
            weights = torch.from_numpy(np.concatenate(values))
            return torch.sparse_csr_tensor(offsets, within, weights, size, check_invariants=False)

        return cls(
            starts,
            torch.from_numpy(np.concatenate([state.features for state in states])),
            torch.from_numpy(multiplicity[:, None]),
            torch.from_numpy(people[:, None]),
            matrix([state.adjacency for state in states]),
            matrix([state.smoothing for state in states]),
            torch.from_numpy(np.arange(len(ends)) + np.repeat(np.arange(len(states)) * width - starts, counts)),
            width,
        )

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.starts)

    def padded(self, rows: Tensor) -> Tensor:
        """Something of every row as a (size, width, ...) table, with zeros where a state has fewer rows."""
        table = rows.new_zeros(self.size * self.width, rows.shape[1]).index_copy(0, self.places, rows)
        return table.view(self.size, self.width, -1)


class _Symmetric(torch.autograd.Function):
    """A symmetric sparse matrix times a dense one; the gradient is the same product."""

    @staticmethod
    def forward(context: torch.autograd.function.FunctionCtx, matrix: Tensor, dense: Tensor) -> Tensor:
        """The product."""
        context.matrix = matrix  # type: ignore[attr-defined]
        return matrix @ dense

    @staticmethod
    def backward(context: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[None, Tensor]:
        """No gradient for the matrix."""
        return None, context.matrix @ gradient.contiguous()  # type: ignore[attr-defined]


def multiply(matrix: Tensor, dense: Tensor) -> Tensor:
    """Symmetric sparse matrix times dense, differentiable in the dense one."""
    product: Tensor = _Symmetric.apply(matrix, dense)  # type: ignore[no-untyped-call]
    return product
