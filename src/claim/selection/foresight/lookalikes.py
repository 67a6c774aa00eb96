"""Networks that look like those of a family, in all the variety a real one may have, to train on."""

from collections.abc import Callable

import numpy as np

from claim.errors import InputError
from claim.networks import Network
from claim.networks.synthetic import retweet_like, vole_like, zone_like
from claim.selection.foresight.textbook import attached, blocks, even, ring

WHOLE = ("people", "per_year", "size")

Ranges = dict[str, tuple[float, float]]

# Wide around the settings of the named synthetic networks; no test network had a say.
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
    kinds = KINDS[family]
    return [_made(*kinds[i % len(kinds)], rng, f"{family} {i}") for i in range(count)]


def _made(make: Callable[..., Network], ranges: Ranges, rng: np.random.Generator, name: str) -> Network:
    drawn = {setting: float(rng.uniform(low, high)) for setting, (low, high) in ranges.items()}
    whole = {setting: round(value) if setting in WHOLE else value for setting, value in drawn.items()}
    return make(rng=rng, name=name, **whole)
