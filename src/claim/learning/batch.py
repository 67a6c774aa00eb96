"""Graphs of very different size in one pass."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from claim.learning.rows import Float32Array
from claim.learning.states import State

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")  # what is used of it is tested


@dataclass(frozen=True)
class Batch:
    """Several states stacked: each has ``width`` slots for rows, of which the last ones may be empty.

    The matrices are block-diagonal and sparse; an empty slot has no entries and multiplicity 0.
    """

    size: int
    width: int
    features: Tensor  # (size * width, features)
    multiplicity: Tensor  # (size * width, 1)
    adjacency: Tensor  # sparse
    smoothing: Tensor  # sparse

    @classmethod
    def of(cls, states: Sequence[State]) -> "Batch":
        """Stack states."""
        size, width = len(states), max(state.rows for state in states)
        features = np.zeros((size, width, states[0].features.shape[1]), dtype=np.float32)
        multiplicity = np.zeros((size, width), dtype=np.float32)
        lengths = np.zeros((size, width), dtype=np.int64)
        for i, state in enumerate(states):
            features[i, : state.rows] = state.features
            multiplicity[i, : state.rows] = state.multiplicity
            lengths[i, : state.rows] = np.diff(state.offsets)
        slots = size * width
        offsets = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths.ravel())]))
        columns = torch.from_numpy(np.concatenate([state.columns + i * width for i, state in enumerate(states)]))

        def matrix(values: list[Float32Array]) -> Tensor:
            entries = torch.from_numpy(np.concatenate(values))
            return torch.sparse_csr_tensor(offsets, columns, entries, (slots, slots), check_invariants=False)

        return cls(
            size,
            width,
            torch.from_numpy(features.reshape(slots, -1)),
            torch.from_numpy(multiplicity.reshape(slots, 1)),
            matrix([state.adjacency for state in states]),
            matrix([state.smoothing for state in states]),
        )


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
