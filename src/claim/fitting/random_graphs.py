"""Random graphs of many kinds, as training networks."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from claim.errors import InputError
from claim.networks import Network
from claim.networks.synthetic import retweet_like, vole_like, zone_like


def erdos_renyi(people: int, rng: np.random.Generator, *, mean_degree: float) -> Network:
    """Ties between people drawn at random (Erdős and Rényi, 1959)."""
    ends = rng.integers(0, people, (_ties(people, mean_degree), 2))
    return Network.from_edges(ends[:, 0], ends[:, 1], n=people)


def block_model(people: int, rng: np.random.Generator, *, mean_degree: float, size: int, inside: float) -> Network:
    """Groups of ``size`` people (Holland, Laskey and Leinhardt, 1983); a share ``inside`` of ties stays in a group."""
    count = _ties(people, mean_degree)
    one = rng.integers(0, people, count)
    first = one // size * size
    mate = first + (rng.random(count) * np.minimum(size, people - first)).astype(np.int64)
    other = np.where(rng.random(count) < inside, mate, rng.integers(0, people, count))
    return Network.from_edges(one, other, n=people)


def watts_strogatz(people: int, rng: np.random.Generator, *, mean_degree: float, rewired: float) -> Network:
    """Neighbours on a ring, a share of ties ``rewired`` at random (Watts and Strogatz, 1998)."""
    steps = np.arange(1, max(round(mean_degree / 2), 1) + 1)
    one = np.repeat(np.arange(people), len(steps))
    near = (one + np.tile(steps, people)) % people
    other = np.where(rng.random(len(one)) < rewired, rng.integers(0, people, len(one)), near)
    return Network.from_edges(one, other, n=people)


def barabasi_albert(people: int, rng: np.random.Generator, *, mean_degree: float) -> Network:
    """Each newcomer ties to people in proportion to their ties so far (Barabási and Albert, 1999)."""
    each = max(round(mean_degree / 2), 1)
    ends = np.empty(2 * each * people, dtype=np.int64)
    ends[: 2 * each] = 0  # the first person, without ties yet
    for newcomer in range(1, people):
        begin = 2 * each * newcomer
        ends[begin : begin + each] = newcomer
        ends[begin + each : begin + 2 * each] = ends[rng.integers(0, begin, each)]
    pairs = ends.reshape(people, 2, each)
    return Network.from_edges(pairs[:, 0].ravel(), pairs[:, 1].ravel(), n=people)


def geometric(people: int, rng: np.random.Generator, *, mean_degree: float) -> Network:
    """People in the plane who know everyone near them (Gilbert, 1961)."""
    from scipy.spatial import cKDTree

    places, radius = rng.random((people, 2)), np.sqrt(mean_degree / (np.pi * people))
    pairs = cKDTree(places).query_pairs(radius, output_type="ndarray")
    return Network.from_edges(pairs[:, 0], pairs[:, 1], n=people)


def caves(people: int, rng: np.random.Generator, *, size: int, rewired: float) -> Network:
    """Groups in which all know each other, with a share of ties ``rewired`` to anyone (Watts, 1999)."""
    one, other = np.triu_indices(size, 1)
    first = np.repeat(np.arange(0, people - size + 1, size), len(one))
    one, other = np.tile(one, len(first) // len(one)) + first, np.tile(other, len(first) // len(other)) + first
    other = np.where(rng.random(len(other)) < rewired, rng.integers(0, people, len(other)), other)
    return Network.from_edges(one, other, n=people)


def heavy_tailed(
    people: int, rng: np.random.Generator, *, mean_degree: float, exponent: float, closed: float
) -> Network:
    """Ties by weights with a heavy tail (Chung and Lu, 2002); a share ``closed`` of them joins two contacts of one."""
    weights = rng.pareto(exponent, people) + 0.3
    ends = rng.choice(people, (_ties(people, mean_degree), 2), p=weights / weights.sum())
    open_network = Network.from_edges(ends[:, 0], ends[:, 1], n=people)
    middle = ends[rng.random(len(ends)) < closed, 0]
    middle = middle[open_network.degrees[middle] > 1]
    draws = (rng.random((2, len(middle))) * open_network.degrees[middle]).astype(np.int64)
    closing = open_network.contacts[open_network.offsets[middle] + draws]
    return Network.from_edges(np.r_[ends[:, 0], closing[0]], np.r_[ends[:, 1], closing[1]], n=people)


def rewired(network: Network, rng: np.random.Generator, share: float = 0.5) -> Network:
    """The same degrees, with the other ends of a ``share`` of ties exchanged in pairs (Maslov and Sneppen, 2002)."""
    sources, targets, _ = network.edges()
    ties = np.stack([sources, targets], axis=1).tolist()
    known = {frozenset(tie) for tie in ties}
    for i, j in rng.integers(len(ties), size=(round(share * len(ties) / 2), 2)).tolist() if ties else ():
        (a, b), (c, d) = ties[i], ties[j][:: 1 if rng.random() < 0.5 else -1]
        crossed = frozenset((a, d)), frozenset((c, b))
        if len({a, b, c, d}) == 4 and not known.intersection(crossed):
            known -= {frozenset((a, b)), frozenset((c, d))}
            known |= {*crossed}
            ties[i], ties[j] = [a, d], [c, b]
    one, other = np.array(ties, dtype=np.int64).reshape(-1, 2).T
    return Network.from_edges(one, other, n=network.n, name=f"{network.name}, rewired")


def _ties(people: int, mean_degree: float) -> int:
    return round(people * mean_degree / 2)


WHOLE = ("people", "per_year", "size")

# Each generator with the ranges its settings are drawn from: wide around the settings of the named synthetic networks.
# No test network was used to choose them.
GENERATORS: dict[str, tuple[Callable[..., Network], dict[str, tuple[float, float]]]] = {
    "retweet": (retweet_like, {
        "people": (600, 4000), "mean_degree": (2.1, 2.9), "sources": (0.15, 0.4), "exponent": (0.75, 1.1),
        "offset": (0, 5), "direct": (0.4, 0.8), "core": (0.3, 0.9), "activity": (0.3, 0.9),
    }),
    "animal": (vole_like, {
        "people": (700, 1900), "mean_degree": (4.6, 6.4), "per_year": (180, 420), "cycle": (0, 0.4),
        "season": (0.2, 1), "turnover": (1, 2), "roaming": (0.3, 0.7), "dispersal": (0.02, 0.1),
    }),
    "zones": (zone_like, {
        "people": (110, 320), "mean_degree": (1.3, 2.1), "site_size": (7, 13), "unevenness": (0.2, 0.4),
        "anchored": (0.5, 0.75), "between": (0.08, 0.22), "sociability": (0.2, 0.5),
    }),
    "even": (erdos_renyi, {"people": (60, 1500), "mean_degree": (2, 9)}),
    "blocks": (block_model, {"people": (60, 1500), "mean_degree": (3, 10), "size": (20, 120), "inside": (0.4, 0.95)}),
    "ring": (watts_strogatz, {"people": (60, 1500), "mean_degree": (4, 10), "rewired": (0.02, 0.4)}),
    "attached": (barabasi_albert, {"people": (60, 2500), "mean_degree": (2, 7)}),
    "plane": (geometric, {"people": (60, 1500), "mean_degree": (4, 14)}),
    "caves": (caves, {"people": (60, 900), "size": (5, 14), "rewired": (0.05, 0.4)}),
    "heavy": (heavy_tailed, {
        "people": (60, 2500), "mean_degree": (2.5, 10), "exponent": (1.6, 3.0), "closed": (0, 0.6),
    }),
}  # fmt: skip

# Networks in which everyone has many contacts, such as those of people who meet face to face; the names begin with the
# kind that they resemble.
DENSE: dict[str, tuple[Callable[..., Network], dict[str, tuple[float, float]]]] = {
    "even, dense": (erdos_renyi, {"people": (60, 800), "mean_degree": (12, 70)}),
    "blocks, dense": (block_model, {
        "people": (60, 800), "mean_degree": (12, 60), "size": (20, 120), "inside": (0.4, 0.95),
    }),
    "ring, dense": (watts_strogatz, {"people": (100, 800), "mean_degree": (12, 50), "rewired": (0.02, 0.4)}),
    "plane, dense": (geometric, {"people": (60, 800), "mean_degree": (16, 60)}),
    "caves, dense": (caves, {"people": (80, 800), "size": (15, 40), "rewired": (0.05, 0.4)}),
    "heavy, dense": (heavy_tailed, {
        "people": (80, 1500), "mean_degree": (10, 50), "exponent": (1.6, 3.0), "closed": (0, 0.6),
    }),
}  # fmt: skip
MAKERS = GENERATORS | DENSE

# The generators of a family's look-alikes, which take turns.
KINDS = {
    "retweet": ("retweet",),
    "animal": ("animal",),
    "zones": ("zones",),
    "all": tuple(GENERATORS),
    "dense": tuple(DENSE),
}


def look_alikes(family: str, count: int, rng: np.random.Generator) -> list[Network]:
    """Draw ``count`` networks that resemble those of a family."""
    if family not in KINDS:
        raise InputError(f"there are no look-alikes of {family!r} (known: {', '.join(KINDS)})")
    return [replace(look_alike(KINDS[family], i, rng), name=f"{family} {i}") for i in range(count)]


def look_alike(generators: Sequence[str], number: int, rng: np.random.Generator, **given: object) -> Network:
    """Draw a network; generators take turns by number, and settings that are not given are drawn from their ranges."""
    make, ranges = MAKERS[generators[number % len(generators)]]
    drawn = {setting: float(rng.uniform(low, high)) for setting, (low, high) in ranges.items()}
    least, most = ranges["people"]  # the logarithm is even: small communities are as common as large ones
    drawn["people"] = least * (most / least) ** ((drawn["people"] - least) / (most - least))
    whole = {setting: round(drawn[setting]) for setting in WHOLE if setting in drawn}
    return make(rng=rng, **(drawn | whole | given))
