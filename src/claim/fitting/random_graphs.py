"""Random graphs of many kinds, as training networks."""

from collections.abc import Callable

import numpy as np

from claim.errors import InputError
from claim.networks import Network
from claim.networks.synthetic import retweet_like, vole_like, zone_like


def even(people: int, rng: np.random.Generator, *, mean_degree: float, name: str = "even") -> Network:
    """Ties between people drawn at random (Erdős and Rényi, 1959)."""
    ends = rng.integers(0, people, (_ties(people, mean_degree), 2))
    return Network.from_edges(ends[:, 0], ends[:, 1], n=people, name=name)


def blocks(
    people: int, rng: np.random.Generator, *, mean_degree: float, size: int, inside: float, name: str = "blocks"
) -> Network:
    """Groups of ``size`` people (Holland, Laskey and Leinhardt, 1983); a share ``inside`` of ties stays in a group."""
    count = _ties(people, mean_degree)
    one = rng.integers(0, people, count)
    first = one // size * size
    mate = first + (rng.random(count) * np.minimum(size, people - first)).astype(np.int64)
    other = np.where(rng.random(count) < inside, mate, rng.integers(0, people, count))
    return Network.from_edges(one, other, n=people, name=name)


def ring(people: int, rng: np.random.Generator, *, mean_degree: float, rewired: float, name: str = "ring") -> Network:
    """Neighbours on a ring, a share of ties ``rewired`` at random (Watts and Strogatz, 1998)."""
    steps = np.arange(1, max(round(mean_degree / 2), 1) + 1)
    one = np.repeat(np.arange(people), len(steps))
    near = (one + np.tile(steps, people)) % people
    other = np.where(rng.random(len(one)) < rewired, rng.integers(0, people, len(one)), near)
    return Network.from_edges(one, other, n=people, name=name)


def attached(people: int, rng: np.random.Generator, *, mean_degree: float, name: str = "attached") -> Network:
    """Each newcomer ties to people in proportion to their ties so far (Barabási and Albert, 1999)."""
    each = max(round(mean_degree / 2), 1)
    ends = np.empty(2 * each * people, dtype=np.int64)
    ends[: 2 * each] = 0  # the first person, without ties yet
    for newcomer in range(1, people):
        begin = 2 * each * newcomer
        ends[begin : begin + each] = newcomer
        ends[begin + each : begin + 2 * each] = ends[rng.integers(0, begin, each)]
    pairs = ends.reshape(people, 2, each)
    return Network.from_edges(pairs[:, 0].ravel(), pairs[:, 1].ravel(), n=people, name=name)


def _ties(people: int, mean_degree: float) -> int:
    return round(people * mean_degree / 2)


WHOLE = ("people", "per_year", "size")

Ranges = dict[str, tuple[float, float]]

# Wide around the settings of the named synthetic networks; no test network was used to choose them
RETWEET: Ranges = {
    "people": (600, 4000), "mean_degree": (2.1, 2.9), "sources": (0.15, 0.4), "exponent": (0.75, 1.1),
    "offset": (0, 5), "direct": (0.4, 0.8), "core": (0.3, 0.9), "activity": (0.3, 0.9),
}  # fmt: skip
VOLE: Ranges = {
    "people": (700, 1900), "mean_degree": (4.6, 6.4), "per_year": (180, 420), "cycle": (0, 0.4), "season": (0.2, 1),
    "turnover": (1, 2), "roaming": (0.3, 0.7), "dispersal": (0.02, 0.1),
}  # fmt: skip
ZONE: Ranges = {
    "people": (110, 320), "mean_degree": (1.3, 2.1), "site_size": (7, 13), "unevenness": (0.2, 0.4),
    "anchored": (0.5, 0.75), "between": (0.08, 0.22), "sociability": (0.2, 0.5),
}  # fmt: skip

EVEN: Ranges = {"people": (400, 1500), "mean_degree": (2, 9)}
BLOCKS: Ranges = {"people": (400, 1500), "mean_degree": (3, 10), "size": (20, 120), "inside": (0.4, 0.95)}
RING: Ranges = {"people": (400, 1500), "mean_degree": (4, 10), "rewired": (0.02, 0.4)}
ATTACHED: Ranges = {"people": (400, 2500), "mean_degree": (2, 7)}

KINDS: dict[str, tuple[tuple[Callable[..., Network], Ranges], ...]] = {
    "retweet": ((retweet_like, RETWEET),),
    "animal": ((vole_like, VOLE),),
    "zones": ((zone_like, ZONE),),
    "all": (
        (retweet_like, RETWEET), (vole_like, VOLE), (zone_like, ZONE), (even, EVEN), (blocks, BLOCKS), (ring, RING),
        (attached, ATTACHED),
    ),
}  # fmt: skip


def look_alikes(family: str, count: int, rng: np.random.Generator) -> list[Network]:
    """``count`` networks with settings drawn evenly from wide ranges, the kinds of a family in turn."""
    if family not in KINDS:
        raise InputError(f"there are no look-alikes of {family!r} (known: {', '.join(KINDS)})")
    networks = []
    for i in range(count):
        make, ranges = KINDS[family][i % len(KINDS[family])]
        drawn = {setting: float(rng.uniform(low, high)) for setting, (low, high) in ranges.items()}
        whole = {setting: round(value) if setting in WHOLE else value for setting, value in drawn.items()}
        networks.append(make(rng=rng, name=f"{family} {i}", **whole))
    return networks
