"""Choose leaders with a selector of your own, and respect a team's constraints.

Prints: spread-out reaches
"""

from collections.abc import Iterable

import networkx as nx
import numpy as np

import claim
from claim.selection import Candidates


class SpreadOut:
    """Chooses well connected people who are not contacts of leaders chosen before."""

    name = "spread-out"

    def select(
        self,
        discovered: claim.Discovered,
        k: int,
        rng: np.random.Generator,
        *,
        may: Iterable[int] | None = None,
        must: Iterable[int] = (),
        must_not: Iterable[int] = (),
    ) -> list[int]:
        """Required people first, then the best connected; contacts of leaders come last."""
        candidates = Candidates.of(len(discovered), k, may, must, must_not)
        leaders = list(candidates.must)
        free = rng.permutation(np.flatnonzero(candidates.open_to_choice())).tolist()  # ties in random order
        while len(leaders) < k and free:
            near = {contact for leader in leaders for contact in discovered.contacts[leader]}
            best = max(free, key=lambda person: (person not in near, discovered.degree(person)))
            leaders.append(best)
            free.remove(best)
        return leaders


if __name__ == "__main__":  # worker processes import this file
    for row in claim.compare("stars1", "scout", [SpreadOut(), "greedy", "foresight"], runs=20).rows:
        print(f"{row.selector} reaches {row.mean:.1f} ± {row.stderr:.1f} people")
    ties = [("Ana", "Ben"), ("Ana", "Carla"), ("Ben", "Dan"), ("Dan", "Eva"), ("Dan", "Farid")]
    chosen = claim.select(nx.Graph(ties), k=2, method=SpreadOut(), must=["Ben"])
    print("with Ben required:", chosen.leaders)
