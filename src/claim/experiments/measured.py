"""What is known of a network as a whole, as jobs: its optimum, and how central each person is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claim.experiments.jobs import Job, Result
from claim.experiments.played import SEED
from claim.networks import Network


@dataclass(frozen=True)
class Optimum:
    """OPT: what the greedy oracle reaches when it sees the whole network."""

    network: Network
    effort = 2.0

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        return f"OPT of {self.network.name}"

    @property
    def needs(self) -> tuple[Job, ...]:
        """Nothing."""
        return ()

    def identity(self) -> dict[str, Any]:
        """The network."""
        return {"network": [self.network.name, self.network.checksum], "seed": SEED}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """One number."""
        from claim.evaluation.compare import optimum
        from claim.evaluation.runs import Rules

        return {"optimum": optimum(self.network, Rules(seed=SEED))}


@dataclass(frozen=True)
class Centrality:
    """Degree, closeness and betweenness of everybody in the whole network, which no policy sees."""

    network: Network
    effort = 15.0

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        return f"centralities of {self.network.name}"

    @property
    def needs(self) -> tuple[Job, ...]:
        """Nothing."""
        return ()

    def identity(self) -> dict[str, Any]:
        """The network."""
        return {"network": [self.network.name, self.network.checksum]}

    def run(self, inputs: Sequence[Result], workspace: Path) -> Result:
        """One number a person and measure; closeness counts the reachable part, as networkx does by default."""
        import networkx

        graph = self.network.to_networkx()
        order = list(graph)
        measures = {
            "degree": dict(graph.degree()),
            "closeness": networkx.closeness_centrality(graph),
            "betweenness": networkx.betweenness_centrality(graph),
        }
        return {name: [values[person] for person in order] for name, values in measures.items()}
