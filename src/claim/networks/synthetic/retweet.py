"""Retweet-like networks: stars of very unequal size, loosely joined by people who belong to more than one."""

import numpy as np

from claim.networks.network import FloatArray, Network
from claim.networks.synthetic.ties import (
    Pairs,
    People,
    Ties,
    below_heap,
    check_positive,
    check_shares,
    shuffled,
    skewed,
    uniform,
    weighted,
)


def retweet_like(
    people: int,
    rng: np.random.Generator,
    *,
    mean_degree: float = 2.45,
    sources: float = 0.2,
    exponent: float = 0.85,
    offset: float = 0.0,
    direct: float = 0.6,
    core: float = 0.7,
    activity: float = 0.6,
    name: str = "retweet-like",
) -> Network:
    """A sparse network of stars.

    A share ``sources`` of the people is retweeted, the r-th of them with popularity ``(r + offset) ** -exponent`` (the
    law of Zipf and Mandelbrot). Everybody else, the audience, retweets one source. A new source is noticed by somebody
    in a star before it: with probability ``direct`` by its source, otherwise by one of its audience, who then links the
    two stars. The ties still missing for the mean degree are further retweets, a share ``core`` of them by other
    sources; ``activity`` says how unequally people retweet.
    """
    check_shares(sources=sources, direct=direct, core=core)
    check_positive(**{"1 + offset": 1 + offset})
    ties = Ties(people, mean_degree)
    count = max(1, round(sources * people))
    popularity = (np.arange(1.0, count + 1) + offset) ** -exponent
    # In order of stars, so that "the audience of earlier stars" is a range.
    follows = np.sort(weighted(rng, popularity, people - count))
    order = shuffled(rng, people - count)
    ties.add(count + order, follows[order])
    ties.add(*_noticed_by(rng, popularity, follows, direct))
    eagerness = skewed(rng, activity, people)
    ties.fill(lambda number: _further_retweets(rng, popularity, eagerness, core, number))
    ties.fill_evenly(rng)
    return ties.network(rng, name)


def _noticed_by(rng: np.random.Generator, popularity: FloatArray, follows: People, direct: float) -> Pairs:
    """For every source but the first, somebody of a star before it."""
    count = len(popularity)
    source = np.arange(1, count)
    audience_before = np.searchsorted(follows, source).astype(np.int64)
    by_audience = count + uniform(rng, audience_before, count - 1)
    by_source = below_heap(rng, np.cumsum(popularity), source)
    directly = (rng.random(count - 1) < direct) | (audience_before == 0)
    return source, np.where(directly, by_source, by_audience)


def _further_retweets(
    rng: np.random.Generator, popularity: FloatArray, eagerness: FloatArray, core: float, number: int
) -> Pairs:
    """Who retweets, and whom."""
    count = len(popularity)
    source = weighted(rng, eagerness[:count], number)
    if count == len(eagerness):
        return source, weighted(rng, popularity, number)
    audience = count + weighted(rng, eagerness[count:], number)
    return np.where(rng.random(number) < core, source, audience), weighted(rng, popularity, number)
