"""Generators of synthetic networks: geometric zones, retweet-like stars, vole-like meadows."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from claim.errors import InputError
from claim.networks.network import FloatArray, Network

People: TypeAlias = npt.NDArray[np.int64]
Pairs: TypeAlias = tuple[People, People]

MOST_ROUNDS = 100  # batches of proposals; a network that is nearly complete may stay a few ties short


class Ties:
    """Distinct undirected ties among ``n`` people, never more than the mean degree asks for.

    Shares are shares of the number of ties wanted in the end.
    """

    def __init__(self, n: int, mean_degree: float) -> None:
        if n < 1:
            raise InputError(f"a network needs at least one person, not {n}")
        if not 0 <= mean_degree < float("inf"):
            raise InputError(f"the mean degree must be a number from 0 up, not {mean_degree}")
        self.n = n
        self.wanted = min(round(n * mean_degree / 2), n * (n - 1) // 2)
        self._codes: People = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, one: People, other: People, share: float = 1.0) -> None:
        """Add pairs in their order, up to a share of new ones; loops and known ties are passed over."""
        codes = (np.minimum(one, other) * self.n + np.maximum(one, other))[one != other]
        codes = codes[np.sort(np.unique(codes, return_index=True)[1])]
        fresh = codes[~np.isin(codes, self._codes)]
        self._codes = np.concatenate([self._codes, fresh[: self._room(share)]])

    def fill(self, propose: Callable[[int], Pairs], share: float = 1.0, least: float = 0.02) -> None:
        """Add a share of proposed ties, or fewer once hardly any proposal (below ``least``) brings something new."""
        full = len(self) + self._room(share)
        for _ in range(MOST_ROUNDS):
            missing = full - len(self)
            if missing == 0:
                return
            number = 2 * missing + 16
            one, other = propose(number)
            self.add(one, other, missing / self.wanted)
            if missing - (full - len(self)) < least * number:
                return

    def fill_evenly(self, rng: np.random.Generator) -> None:
        """Add what is still missing between people drawn at random."""
        self.fill(lambda number: (uniform(rng, self.n, number), uniform(rng, self.n, number)), least=0.0)

    def network(self, rng: np.random.Generator, name: str) -> Network:
        """The network, with people in random order so that an index tells nothing of somebody's part in it."""
        place = shuffled(rng, self.n)
        return Network.from_edges(place[self._codes // self.n], place[self._codes % self.n], n=self.n, name=name)

    def _room(self, share: float) -> int:
        return min(self.wanted - len(self), round(share * self.wanted))


def check_shares(**shares: float) -> None:
    """Refuse what is not between 0 and 1."""
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InputError(f"{name} must be between 0 and 1, not {share}")


def check_positive(**numbers: float) -> None:
    """Refuse what is not above 0."""
    for name, number in numbers.items():
        if not 0 < number < float("inf"):
            raise InputError(f"{name} must be above 0, not {number}")


def shuffled(rng: np.random.Generator, n: int) -> People:
    """The numbers ``0..n-1`` in random order."""
    return np.argsort(rng.random(n), kind="stable").astype(np.int64)


def uniform(rng: np.random.Generator, below: int | People, number: int) -> People:
    """Random whole numbers ``0 <= x < below``; ``below`` is one number or one for each draw."""
    return (rng.random(number) * below).astype(np.int64)


def weighted(rng: np.random.Generator, weights: FloatArray, number: int) -> People:
    """Random positions, each as likely as its weight says."""
    return below_heap(rng, np.cumsum(weights), np.full(number, len(weights)))


def below_heap(rng: np.random.Generator, heaps: FloatArray, ends: People) -> People:
    """One random position before each of ``ends``, as likely as the weights whose running sums are ``heaps``."""
    return np.searchsorted(heaps, rng.random(len(ends)) * heaps[ends - 1], side="right").astype(np.int64)


def skewed(rng: np.random.Generator, tail: float, number: int) -> FloatArray:
    """Pareto-distributed weights from 1 up; the larger ``tail``, the further a few stand out (0: all alike)."""
    return np.asarray((1.0 - rng.random(number)) ** -tail)


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
