"""Networks of the size and the mean degree that a team estimates, of the kind it thinks of."""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from claim.errors import InputError
from claim.networks import Network
from claim.networks.synthetic import retweet_like, vole_like
from claim.selection.foresight.lookalikes import RETWEET, VOLE, WHOLE, Ranges

Kind = Literal["stars", "clustered", "unknown"]
Recipe = tuple[Callable[..., Network], Ranges]

STARS: Recipe = (retweet_like, RETWEET)
CLUSTERED: Recipe = (vole_like, VOLE)
KINDS: dict[Kind, tuple[Recipe, ...]] = {"stars": (STARS,), "clustered": (CLUSTERED,), "unknown": (STARS, CLUSTERED)}


def check_kind(kind: str) -> Kind:
    """The kind of that name, or an error that lists the kinds there are."""
    for known in get_args(Kind):
        if kind == known:
            return known  # type: ignore[no-any-return]
    raise InputError(f"no kind of network is called {kind!r} (known: {', '.join(get_args(Kind))})")


def look_alike(kind: Kind, number: int, people: int, mean_degree: float, rng: np.random.Generator) -> Network:
    """A network of the kind; the generators of a kind take turns by number, their other settings are drawn."""
    make, ranges = KINDS[kind][number % len(KINDS[kind])]
    drawn = {setting: float(rng.uniform(low, high)) for setting, (low, high) in ranges.items()}
    settings = {setting: round(value) if setting in WHOLE else value for setting, value in drawn.items()}
    return make(rng=rng, **(settings | {"people": people, "mean_degree": mean_degree}))
