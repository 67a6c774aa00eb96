"""What the networks see of a discovered graph: features of its rows and the matrices that convolve them."""

from dataclasses import dataclass

import numpy as np

from claim.learning.rows import Float32Array, IndexArray, RowGraph


@dataclass(frozen=True)
class State:
    """S_t = (F_t, A_t) on rows: features, multiplicities, adjacency in compressed rows, and the rows open to choice.

    The diagonal is stored with the adjacency (as zeros), so that both matrices share their pattern: ``adjacency`` is A,
    and ``smoothing`` is sqrt(c_i) P_ij / sqrt(c_j) with P = D^-1/2 (A + I) D^-1/2 between people, which is symmetric.
    """

    features: Float32Array
    multiplicity: Float32Array
    offsets: IndexArray
    columns: IndexArray
    adjacency: Float32Array
    smoothing: Float32Array
    frontier: IndexArray

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.multiplicity)

    @classmethod
    def of(cls, graph: RowGraph, features: Float32Array) -> "State":
        """The state of a row graph with the features of its rows."""
        own = np.arange(graph.rows)
        sources = np.concatenate([graph.sources, own])
        columns = np.concatenate([graph.targets, own])
        order = np.lexsort((columns, sources))
        sources, columns = sources[order], columns[order]
        between = (sources != columns).astype(np.float32)
        degree = graph.degrees + 1.0
        count = graph.multiplicity
        # Within a class nobody is a contact of anybody: the diagonal is a person's own share, not their class's.
        weight = np.where(between > 0, np.sqrt(count[sources] * count[columns]), 1.0)
        smoothing = weight / np.sqrt(degree[sources] * degree[columns])
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=graph.rows))])
        return cls(features, count, offsets, columns, between, smoothing.astype(np.float32), graph.frontier)
