"""Does it carry over? Networks of kinds that nothing was trained on: prints the table of docs/notes/record.md.

`python benchmarks/other_kinds.py` makes seventeen textbook networks and plays scout with foresight against random
surveys with greedy, from the same start sets. None of these networks or their kinds has a file of data.
"""

import argparse

import networkx as nx
import numpy as np

from claim.evaluation import compare
from claim.networks import Network

METHODS = (("random", "greedy"), ("random", "foresight"), ("scout", "greedy"), ("scout", "foresight"))


def made() -> dict[str, nx.Graph]:
    """Textbook networks from a few dozen to a few thousand people."""
    heavy = np.random.default_rng(9).pareto(1.5, 900) * 1.5 + 1
    degrees = [int(each) for each in heavy]
    degrees[0] += sum(degrees) % 2
    return {
        "karate club": nx.karate_club_graph(),
        "les misérables": nx.les_miserables_graph(),
        "grid": nx.grid_2d_graph(25, 25),
        "balanced tree": nx.balanced_tree(3, 6),
        "star of 3000": nx.star_graph(3000),
        "growing tree": nx.barabasi_albert_graph(1000, 1, seed=1),
        "preferential attachment": nx.barabasi_albert_graph(800, 3, seed=1),
        "the same, clustered": nx.powerlaw_cluster_graph(700, 3, 0.7, seed=5),
        "heavy-tailed degrees": nx.Graph(nx.configuration_model(degrees, seed=9)),
        "small world": nx.watts_strogatz_graph(600, 6, 0.1, seed=2),
        "evenly at random": nx.gnm_random_graph(700, 1800, seed=3),
        "the same, dense": nx.gnm_random_graph(300, 9000, seed=11),
        "neighbours in the plane": nx.random_geometric_graph(600, 0.06, seed=6),
        "caves": nx.connected_caveman_graph(60, 8),
        "loosened caves": nx.relaxed_caveman_graph(60, 10, 0.15, seed=4),
        "six blocks": nx.stochastic_block_model([100] * 6, 0.003 + 0.057 * np.eye(6), seed=8),
        "classes of a school": nx.gaussian_random_partition_graph(400, 25, 5, 0.25, 0.01, seed=10),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=60)
    runs = parser.parse_args().runs
    print(f"| {runs} runs | {' | '.join(f'{policy}, {selector}' for policy, selector in METHODS)} | difference |")
    print("|---" * (len(METHODS) + 2) + "|")
    for name, graph in made().items():
        found = compare(Network.from_networkx(graph, name), "random,scout", "greedy,foresight", runs=runs, seed=3)
        reached = {(row.policy, row.selector): np.array(row.values) for row in found.rows}
        gain = reached[METHODS[-1]] - reached[METHODS[0]]
        cells = [f"{reached[method].mean():.1f}" for method in METHODS]
        error = gain.std(ddof=1) / np.sqrt(runs)
        difference = f"{gain.mean():+.1f} ± {error:.1f}".replace("-", "−")
        print(f"| {name} | {' | '.join(cells)} | {difference} |", flush=True)


if __name__ == "__main__":
    main()
