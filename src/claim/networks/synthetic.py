"""Families of synthetic networks, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from claim.errors import InputError
from claim.networks.generators import retweet_like, vole_like, zone_like
from claim.networks.network import Network

__all__ = ["FAMILIES", "SyntheticFamily", "retweet_like", "vole_like", "zone_like"]


@dataclass(frozen=True)
class Recipe:
    """All that a named network is made from."""

    people: int
    seed: int
    settings: Mapping[str, float]


def _recipe(people: int, seed: int, **settings: float) -> Recipe:
    return Recipe(people, seed, settings)


@dataclass(frozen=True, eq=False)
class SyntheticFamily:
    """Networks of one kind: policies are trained on the train ones and judged on the test ones."""

    name: str
    description: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    generator: Callable[..., Network] = field(repr=False)
    recipes: Mapping[str, Recipe] = field(repr=False)

    def make(self, name: str) -> Network:
        """The network of that name."""
        if name not in self.recipes:
            raise InputError(f"{self.name} has no network {name!r} (known: {', '.join(self.recipes)})")
        recipe = self.recipes[name]
        rng = np.random.Generator(np.random.PCG64(recipe.seed))
        return self.generator(people=recipe.people, rng=rng, name=name, **recipe.settings)


# Settings around those that come closest to copen (stars1) and occupy (stars2) in degrees, degree correlations, greedy
# influence and the influence after 5 and 20 surveys. No real test network had a say, and seeds were not searched.
_STARS = {
    "stars1": _recipe(900, seed=1, mean_degree=2.7, sources=0.35, exponent=0.9, offset=5.0, core=0.9, activity=0.8),
    "stars2": _recipe(3200, seed=2, mean_degree=2.44),
    "stars3": _recipe(2200, seed=3, mean_degree=2.6, sources=0.25, exponent=0.95, offset=0.5, core=0.8),
    "stars4": _recipe(1500, seed=4, mean_degree=2.25, exponent=1.0, offset=0.3),
    "stars5": _recipe(3500, seed=5, mean_degree=2.2, sources=0.18),
    "stars6": _recipe(2000, seed=6, mean_degree=2.6, exponent=0.9, core=0.5, activity=0.4),
}

# The same with the vole sites plj (meadow1) and rob (meadow2).
_MEADOWS = {
    "meadow1": _recipe(1260, seed=1, mean_degree=5.35, per_year=400, cycle=0.2, season=1.0, turnover=2.0),
    "meadow2": _recipe(1480, seed=2, mean_degree=5.3, cycle=0.0, season=0.3),
    "meadow3": _recipe(1350, seed=3, mean_degree=5.6, season=0.8, turnover=1.5),
    "meadow4": _recipe(1600, seed=4, mean_degree=5.8, per_year=300, cycle=0.2, season=0.3),
    "meadow5": _recipe(1680, seed=5, mean_degree=5.5, per_year=250),
    "meadow6": _recipe(1220, seed=6, mean_degree=5.9, per_year=400, season=1.0, roaming=0.6),
}

# Settings by search until the mean over 30 draws came within 5 % of the published OPT and Random of zones 2 and 3; of
# those 30 the seed nearest to the published values. Nothing is published about zone 1: settings in between, seed 1.
_ZONES = {
    "zone1": _recipe(190, seed=1, mean_degree=1.6, site_size=10.0, anchored=0.65),
    "zone2": _recipe(240, seed=15, mean_degree=1.7, site_size=12.0, anchored=0.65),
    "zone3": _recipe(155, seed=30, mean_degree=1.45, site_size=8.0, anchored=0.65),
}

FAMILIES: dict[str, SyntheticFamily] = {
    family.name: family
    for family in (
        SyntheticFamily(
            "zones",
            "A synthetic stand-in for a confidential survey of female sex workers in a large Asian city: small sites "
            "around a few well-known people. It is not that data; only published results were used to calibrate it.",
            ("zone1",),
            ("zone2", "zone3"),
            zone_like,
            _ZONES,
        ),
        SyntheticFamily(
            "retweet-like",
            "Synthetic networks that imitate retweet networks: sparse, heavy-tailed stars loosely joined by people who "
            "retweet more than one source.",
            ("stars1", "stars2", "stars3", "stars4"),
            ("stars5", "stars6"),
            retweet_like,
            _STARS,
        ),
        SyntheticFamily(
            "vole-like",
            "Synthetic networks that imitate contacts of field voles: animals near one another in space and time meet, "
            "so contacts are clustered and seasons fall apart into components.",
            ("meadow1", "meadow2", "meadow3", "meadow4"),
            ("meadow5", "meadow6"),
            vole_like,
            _MEADOWS,
        ),
    )
}
