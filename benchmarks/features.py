"""Node features: `python benchmarks/features.py` prints tables of docs/notes/learning.md.

How well DeepWalk, gensim's Word2Vec and NetMF tell contacts from strangers, and how long they take, side by side.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from gensim.models import Word2Vec
from scipy.stats import rankdata

from claim.discovery import Discovered, Simulation
from claim.learning import netmf as netmf_module
from claim.learning.deepwalk import DeepWalk, random_walks
from claim.learning.netmf import netmf
from claim.learning.observation import RowGraph, class_rows
from claim.networks import Network, load

NETWORKS = ("copen", "occupy", "plj", "rob")
SMALLEST, LARGEST = 100, 300
HELD_OUT = 0.1
SEED = 0

Vectors = npt.NDArray[np.float32]
Method = Callable[[Network], Vectors]


def study(network: Network, rng: np.random.Generator, surveys: int) -> Iterator[Discovered]:
    """What is seen after each of some random surveys."""
    simulation = Simulation(network, rng.choice(network.n, 5, replace=False), rng)
    for _ in range(surveys):
        simulation.ask(int(rng.choice(simulation.discovered.frontier)))
        yield simulation.discovered


def discovered_graph(name: str, rng: np.random.Generator) -> Discovered:
    """A discovered network of 100 to 300 people."""
    while True:
        *_, seen = study(load(name), rng, 15)
        if SMALLEST <= len(seen) <= LARGEST:
            return seen


def local_patch(name: str, rng: np.random.Generator, size: int = 200) -> Network:
    """The people nearest to somebody, and all edges between them."""
    network = load(name)
    while True:
        found = dict.fromkeys([int(rng.integers(network.n))])
        for person in found_in_turn(found):
            for contact in network.contacts_of(person).tolist():
                if len(found) < size:
                    found.setdefault(contact)
        if len(found) == size:
            place = {person: i for i, person in enumerate(found)}
            ties = [(u, v) for u, v in zip(*network.edges()[:2], strict=True) if int(u) in place and int(v) in place]
            return Network.from_edges([place[int(u)] for u, _ in ties], [place[int(v)] for _, v in ties], n=size)


def found_in_turn(found: dict[int, None]) -> Iterator[int]:
    """The entries of a growing dictionary, in order."""
    turn = 0
    while turn < len(found):
        yield list(found)[turn]
        turn += 1


def split(network: Network, rng: np.random.Generator) -> tuple[Network, npt.NDArray[np.bool_]]:
    """The network without a tenth of its edges, and these; nobody loses their last contact."""
    sources, targets, _ = network.edges()
    left, kept = network.degrees.copy(), np.ones(len(sources), dtype=bool)
    for edge in rng.permutation(len(sources)):
        u, v = sources[edge], targets[edge]
        if (~kept).sum() < HELD_OUT * len(sources) and min(left[u], left[v]) > 1:
            kept[edge] = False
            left[u] -= 1
            left[v] -= 1
    return Network.from_edges(sources[kept], targets[kept], n=network.n), ~kept


def neighbour_score(network: Network, vectors: Vectors, cosine: bool, wanted: npt.NDArray[np.bool_]) -> float:
    """The probability that a wanted edge is more similar than a pair without an edge (area under the curve)."""
    vectors = vectors.astype(np.float64)
    if cosine:
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    alike = vectors @ vectors.T
    sources, targets, _ = network.edges()
    stranger = np.triu(np.ones(alike.shape, dtype=bool), 1)
    stranger[sources, targets] = False
    pairs, rest = alike[sources[wanted], targets[wanted]], alike[stranger]
    ranks = rankdata(np.concatenate([pairs, rest]))[: len(pairs)]
    return float((ranks.sum() - len(pairs) * (len(pairs) + 1) / 2) / (len(pairs) * len(rest)))


def closed_form(network: Network) -> Vectors:
    """NetMF on rows: people with the same contacts who are not each other's."""
    seen = Discovered.from_network(network, surveyed=np.flatnonzero(network.degrees > 1).tolist())
    rows = class_rows(seen)
    features, vectors = netmf(rows.adjacency(), rows.multiplicity), np.zeros((network.n, 60), dtype=np.float32)
    for row, members in enumerate(rows.members):
        vectors[list(members)] = features[row]
    return vectors


def gensim_vectors(network: Network, epochs: int, tree: bool) -> Vectors:
    """gensim on walks of ours, with hierarchical softmax or five negative samples."""
    walks = random_walks(network.offsets, network.contacts, SEED, 80, 10)
    rest = {"hs": 1, "negative": 0} if tree else {"hs": 0, "negative": 5}
    model = Word2Vec(
        walks.tolist(), vector_size=60, window=5, sg=1, min_count=0, sample=0, workers=1, epochs=epochs, seed=1, **rest
    )
    return np.stack([model.wv[i] if i in model.wv else np.zeros(60, dtype=np.float32) for i in range(network.n)])


def ours(**settings: float) -> Method:
    return lambda network: DeepWalk(**settings).embed(network, np.random.default_rng(SEED))  # type: ignore[arg-type]


METHODS: dict[str, Method] = {
    "NetMF": closed_form,
    "DeepWalk": ours(),
    "DeepWalk, 20 walks": ours(walks=20),
    "DeepWalk, 2 epochs": ours(epochs=2),
    "DeepWalk, 5 epochs": ours(epochs=5),
    "gensim": lambda network: gensim_vectors(network, 1, tree=True),
    "gensim, 5 epochs": lambda network: gensim_vectors(network, 5, tree=True),
    "gensim, negative sampling": lambda network: gensim_vectors(network, 1, tree=False),
    "gensim, negative sampling, 5 epochs": lambda network: gensim_vectors(network, 5, tree=False),
}


@dataclass(frozen=True)
class Task:
    """A graph to learn from, the whole graph, and which of its edges are to be told from strangers."""

    shown: Network
    whole: Network
    wanted: npt.NDArray[np.bool_]


def tasks(per_network: int) -> dict[str, list[Task]]:
    rng = np.random.default_rng(SEED)
    seen = [discovered_graph(name, rng).as_network() for name in NETWORKS for _ in range(per_network)]
    patches = [local_patch(name, rng) for name in NETWORKS for _ in range(per_network)]
    return {
        "seen": [Task(network, network, np.ones(network.m, dtype=bool)) for network in seen],
        "held out": [Task(shown, whole, out) for whole in patches for shown, out in [split(whole, rng)]],
    }


def table_of_neighbours(per_network: int) -> None:
    print("| | seen, cosine | seen, dot | held out, cosine | held out, dot | seconds a graph | ratio to DeepWalk |")
    print("|---|---|---|---|---|---|---|")
    groups = tasks(per_network)
    results = {name: neighbour_scores(method, groups) for name, method in METHODS.items()}
    for name, (scores, seconds) in results.items():
        ratio = seconds / results["DeepWalk"][1]
        print(f"| {name} | {' | '.join(f'{score:.3f}' for score in scores)} | {seconds:.2g} | {ratio:.2g} |")


def neighbour_scores(method: Method, groups: dict[str, list[Task]]) -> tuple[list[float], float]:
    """The mean scores by cosine and by dot product in each group, and the median seconds a graph."""
    method(groups["seen"][0].shown)  # compiles
    means: list[float] = []
    seconds = []
    for group in groups.values():
        scores = []
        for task in group:
            began = time.perf_counter()
            vectors = method(task.shown)
            seconds.append(time.perf_counter() - began)
            scores.append([neighbour_score(task.whole, vectors, cosine, task.wanted) for cosine in (True, False)])
        means += np.mean(scores, axis=0).tolist()
    return means, float(np.median(seconds))


def kept_cosine(earlier: Vectors, later: Vectors) -> float:
    """How much people's vectors still point where they pointed before one more survey."""
    both = (earlier != 0).any(axis=1)
    one, other = earlier[both], later[: len(earlier)][both]
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return float(((one * other).sum(axis=1) / np.maximum(lengths, 1e-12)).mean())


def table_of_growth(studies: int) -> None:
    """Five surveys of each study, with vectors learned anew after each."""
    cosines = []
    for name in NETWORKS:
        for seed in range(studies):
            graphs = [seen.as_network() for seen in study(load(name), np.random.default_rng(seed), 5)]
            vectors = [DeepWalk().embed(graph, np.random.default_rng(i)) for i, graph in enumerate(graphs)]
            cosines += [kept_cosine(earlier, later) for earlier, later in pairwise(vectors)]
    print(f"cosine of a person's DeepWalk vectors before and after a survey: {np.mean(cosines):.2f}", flush=True)


def table_of_times(repeats: int) -> None:
    print("| surveys | people | rows | NetMF on rows, ms | NetMF on people, ms |")
    print("|---|---|---|---|---|")
    rng = np.random.default_rng(SEED)
    for budget in (5, 20, 50):
        graphs = [seen for name in NETWORKS for *_, seen in [study(load(name), rng, budget)]]
        rows = [class_rows(seen) for seen in graphs]
        matrices = [(row.adjacency(), row.multiplicity) for row in rows]
        people = []
        for adjacency, count in matrices:
            of = np.repeat(np.arange(len(count)), count.astype(int))
            people.append((adjacency[np.ix_(of, of)], np.ones(len(of))))
        times = [1e3 * seconds_each(inputs, runs) for inputs, runs in ((matrices, repeats), (people, 3))]
        sizes = np.mean([[row.multiplicity.sum(), row.rows] for row in rows], axis=0)
        print(f"| {budget} | {sizes[0]:.0f} | {sizes[1]:.0f} | {times[0]:.2f} | {times[1]:.1f} |", flush=True)


def seconds_each(inputs: list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]], repeats: int) -> float:
    """The mean over inputs of the shortest of some runs, which other work on the machine disturbs least."""
    shortest = np.full(len(inputs), np.inf)
    for _ in range(repeats):
        for i, (adjacency, count) in enumerate(inputs):
            began = time.perf_counter()
            netmf(adjacency, count)
            shortest[i] = min(shortest[i], time.perf_counter() - began)
    return float(shortest.mean())


def table_of_many_rows(repeats: int) -> None:
    """Two axes, as the policies have them: dense matrices, and what is done with many rows instead."""
    print("| surveys | rows | surveyed | dense, ms | ms | largest difference |")
    print("|---|---|---|---|---|---|")
    rng = np.random.default_rng(SEED)
    for budget in (200, 400):
        rows = [class_rows(seen) for name in NETWORKS for *_, seen in [study(load(name), rng, budget)]]
        taken, features = [], []
        for fewest in (max(each.rows for each in rows), netmf_module.MANY_ROWS):
            with patch.object(netmf_module, "MANY_ROWS", fewest):
                features.append([two_axes(each) for each in rows])
                taken.append(1e3 * np.mean([min(timed(two_axes, each) for _ in range(repeats)) for each in rows]))
        off = max(np.abs(one - other).max() for one, other in zip(*features, strict=True))
        sizes = np.mean([[each.rows, each.surveyed.sum()] for each in rows], axis=0)
        print(
            f"| {budget} | {sizes[0]:.0f} | {sizes[1]:.0f} | {taken[0]:.0f} | {taken[1]:.0f} | {off:.0e} |", flush=True
        )


def two_axes(rows: RowGraph) -> Vectors:
    return netmf(rows.adjacency(), rows.multiplicity, 2, cover=rows.cover)


def timed(work: Callable[[RowGraph], Vectors], rows: RowGraph) -> float:
    began = time.perf_counter()
    work(rows)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=3, help="graphs or studies a network")
    parser.add_argument("--table", choices=("neighbours", "growth", "times", "many"), help="one table only")
    settings = parser.parse_args()
    if settings.table in (None, "times"):
        table_of_times(repeats=20)
    if settings.table in (None, "many"):
        table_of_many_rows(repeats=5)
    if settings.table in (None, "growth"):
        table_of_growth(settings.graphs)
    if settings.table in (None, "neighbours"):
        table_of_neighbours(settings.graphs)


if __name__ == "__main__":
    main()
