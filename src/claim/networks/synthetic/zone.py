"""Zone-like networks: small places of work, each with somebody most people there know, and a few ties in between."""

import numpy as np

from claim.networks.network import FloatArray, Network
from claim.networks.synthetic.ties import (
    Pairs,
    People,
    Ties,
    check_positive,
    check_shares,
    shuffled,
    skewed,
    uniform,
    weighted,
)


def zone_like(
    people: int,
    rng: np.random.Generator,
    *,
    mean_degree: float = 1.7,
    site_size: float = 10.0,
    unevenness: float = 0.3,
    anchored: float = 0.62,
    between: float = 0.15,
    sociability: float = 0.3,
    name: str = "zone-like",
) -> Network:
    """A sparse network of people who work at sites such as brothels or street corners.

    Sites have ``site_size`` people on average, with skewed sizes (``unevenness``). A share ``anchored`` of the ties
    joins people to the anchor of their site (a madam or peer leader), a share ``between`` joins anybody to anybody, the
    others join colleagues of one site. ``sociability`` says how unequally people take part in the latter two.
    """
    check_shares(anchored=anchored, between=between)
    check_positive(site_size=site_size)
    ties = Ties(people, mean_degree)
    site = _sites(people, rng, site_size, unevenness)
    social = skewed(rng, sociability, people)
    anchor = np.searchsorted(site, site).astype(np.int64)  # sites are in order: the first of each is its anchor
    member = shuffled(rng, people)
    ties.add(member, anchor[member], anchored)
    ties.fill(lambda number: (weighted(rng, social, number), weighted(rng, social, number)), between)
    if (anchor < np.arange(people)).any():  # not everybody is alone
        ties.fill(lambda number: _colleagues(rng, site, social, number))
    ties.fill_evenly(rng)
    return ties.network(rng, name)


def _sites(people: int, rng: np.random.Generator, site_size: float, unevenness: float) -> People:
    """The site of each person, in order."""
    count = max(1, round(people / site_size))
    return np.sort(weighted(rng, skewed(rng, unevenness, count), people))


def _colleagues(rng: np.random.Generator, site: People, social: FloatArray, number: int) -> Pairs:
    """Sociable people, each with somebody of the same site."""
    first = np.searchsorted(site, site).astype(np.int64)
    size = np.searchsorted(site, site, side="right").astype(np.int64) - first
    one = weighted(rng, social * (size - 1), number)
    return one, first[one] + uniform(rng, size[one], number)
