"""From a discovered network to the state that the networks see."""

from dataclasses import dataclass

import numpy as np

from claim.discovery import Discovered
from claim.learning.config import Config
from claim.learning.deepwalk import DeepWalk
from claim.learning.netmf import netmf
from claim.learning.rows import Float32Array, RowGraph, class_rows, person_rows
from claim.learning.states import State

FLAGS = 2  # surveyed, open to choice


@dataclass
class Featuriser:
    """Node features of successive graphs of one study: DeepWalk or its closed form, and two flags."""

    config: Config
    rng: np.random.Generator
    _previous: Float32Array | None = None  # vectors of the people known at the last step, to start from

    def __call__(self, discovered: Discovered) -> tuple[RowGraph, State]:
        """The rows of a graph and the state."""
        if self.config.features == "netmf":
            graph = class_rows(discovered)
            vectors = netmf(graph.adjacency(), graph.multiplicity, self.config.dimensions, cover=graph.cover)
        else:
            graph = person_rows(discovered)
            walks = DeepWalk(dimensions=self.config.dimensions)
            vectors = walks.embed(discovered.as_network(), self.rng, self._previous)
            self._previous = vectors
        return graph, State.of(graph, np.concatenate([vectors, _flags(graph)], axis=1))


def _flags(graph: RowGraph) -> Float32Array:
    flags = np.zeros((graph.rows, FLAGS), dtype=np.float32)
    flags[graph.surveyed, 0] = 1.0
    flags[graph.frontier, 1] = 1.0
    return flags
