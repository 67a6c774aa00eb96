"""Vole-like networks: animals whose homes are near one another in space and in time are caught in the same traps."""

import numpy as np

from claim.networks.network import FloatArray, Network
from claim.networks.synthetic.ties import (
    Pairs,
    People,
    Ties,
    check_positive,
    check_shares,
    skewed,
    uniform,
    weighted,
)

WIDEST = 4.0  # no animal roams further than this many times the least


def vole_like(
    people: int,
    mean_degree: float,
    rng: np.random.Generator,
    *,
    per_year: int = 200,
    cycle: float = 0.4,
    season: float = 0.6,
    turnover: float = 1.0,
    roaming: float = 0.5,
    dispersal: float = 0.05,
    name: str = "vole-like",
) -> Network:
    """A random geometric network in a square meadow and in time.

    About ``per_year`` animals are born in a year; ``cycle`` says how unequal the years are. A share ``season`` of them
    follows the summer peak, the others come at any time of the year, and a year counts as ``turnover`` widths of the
    meadow. The pairs in contact are those with the smallest squared distance divided by both animals' range;
    ``roaming`` says how unequal ranges are. Everybody has at least one contact, as far as the mean degree allows it. A
    share ``dispersal`` of the ties joins any two animals of a year.
    """
    check_shares(cycle=cycle, season=season, dispersal=dispersal)
    check_positive(per_year=per_year, turnover=turnover)
    ties = Ties(people, mean_degree)
    year, time = _births(people, rng, per_year, cycle, season)
    homes = np.column_stack([time * turnover, rng.random(people), rng.random(people)])
    ranges = np.minimum(skewed(rng, roaming, people), WIDEST)
    pairs = _near_in_time(people, max(per_year // 2, round(4 * mean_degree)))
    ties.add(*_nearest_first(pairs, homes, ranges), 1 - dispersal)
    ties.fill(lambda number: _of_one_year(rng, year, number))
    ties.fill_evenly(rng)
    return ties.network(rng, name)


def _births(
    people: int, rng: np.random.Generator, per_year: int, cycle: float, season: float
) -> tuple[People, FloatArray]:
    """The year and the time, in years, of every animal, in the order of time."""
    size_of_year = 1 + cycle * (2 * rng.random(max(1, round(people / per_year))) - 1)
    year = np.sort(weighted(rng, size_of_year, people))
    any_time = rng.random(people)
    in_summer = (any_time + rng.random(people)) / 2  # a triangle: most in the middle of the year, hardly any in winter
    time = year + np.where(rng.random(people) < season, in_summer, any_time)
    return year, np.sort(time)


def _near_in_time(people: int, window: int) -> Pairs:
    """Every animal with each of the ``window`` next ones; comparing all pairs would grow with the square."""
    steps = np.arange(1, min(window, people - 1) + 1)
    one = np.repeat(np.arange(people), len(steps))
    other = one + np.tile(steps, people)
    return one[other < people], other[other < people]


def _nearest_first(pairs: Pairs, homes: FloatArray, ranges: FloatArray) -> Pairs:
    """Each animal's nearest contact first, so that nobody stays alone, then all pairs by nearness."""
    one, other = pairs
    gap = homes[one] - homes[other]
    apart = (gap[:, 0] ** 2 + gap[:, 1] ** 2 + gap[:, 2] ** 2) / (ranges[one] * ranges[other])
    order = np.argsort(apart, kind="stable")
    one, other = one[order], other[order]
    first_seen = np.unique(np.column_stack([one, other]).ravel(), return_index=True)[1]
    nearest = np.unique(first_seen // 2)
    return np.concatenate([one[nearest], one]), np.concatenate([other[nearest], other])


def _of_one_year(rng: np.random.Generator, year: People, number: int) -> Pairs:
    """Any animal, with another one of the same year."""
    one = uniform(rng, len(year), number)
    begin = np.searchsorted(year, year[one]).astype(np.int64)
    size = np.searchsorted(year, year[one], side="right").astype(np.int64) - begin
    return one, begin + uniform(rng, size, number)
