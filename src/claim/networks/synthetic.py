"""Synthetic networks: generators of three kinds (zones, stars, meadows) and the named families made by them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from claim.errors import InputError, check_number
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
            raise InputError(f"a network needs at least one person, got {n}")
        if not 0 <= mean_degree < float("inf"):
            raise InputError(f"the mean degree must be a number from 0 up, got {mean_degree}")
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

    def network(self, rng: np.random.Generator, name: str) -> Network:
        """The network, with the missing ties at random and people in random order.

        So an index carries no information about a person's place in the network.
        """
        self.fill(lambda number: (uniform(rng, self.n, number), uniform(rng, self.n, number)), least=0.0)
        place = shuffled(rng, self.n)
        return Network.from_edges(place[self._codes // self.n], place[self._codes % self.n], n=self.n, name=name)

    def _room(self, share: float) -> int:
        return min(self.wanted - len(self), round(share * self.wanted))


def _spans(group: People) -> Pairs:
    """Where the group of each person begins, and its size; people are in the order of groups."""
    begin = np.searchsorted(group, group).astype(np.int64)
    return begin, np.searchsorted(group, group, side="right").astype(np.int64) - begin


def _in_groups(rng: np.random.Generator, one: People, begin: People, size: People) -> Pairs:
    """Each person with a random member of their group."""
    return one, begin[one] + uniform(rng, size[one], len(one))


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
    joins people to the anchor of their site (a madam or peer leader), a share ``between`` joins any two people, the
    others join colleagues of one site. ``sociability`` says how unequally people take part in the latter two.
    """
    check_number(0, 1, anchored=anchored, between=between)
    check_number(above=True, site_size=site_size)
    ties = Ties(people, mean_degree)
    site = np.sort(weighted(rng, skewed(rng, unevenness, max(1, round(people / site_size))), people))
    social = skewed(rng, sociability, people)
    anchor, size = _spans(site)  # the first of each site is its anchor
    open_to_colleagues = social * (size - 1)
    member = shuffled(rng, people)
    ties.add(member, anchor[member], anchored)
    ties.fill(lambda number: (weighted(rng, social, number), weighted(rng, social, number)), between)
    if (anchor < np.arange(people)).any():  # some have colleagues
        ties.fill(lambda number: _in_groups(rng, weighted(rng, open_to_colleagues, number), anchor, size))
    return ties.network(rng, name)


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
    law of Zipf and Mandelbrot). All others, the audience, retweet one source. A new source is noticed by a person
    in a star before it: with probability ``direct`` by its source, otherwise by one of its audience, who then links the
    two stars. The ties still missing for the mean degree are further retweets, a share ``core`` of them by other
    sources; ``activity`` says how unequally people retweet.
    """
    check_number(0, 1, sources=sources, direct=direct, core=core)
    check_number(-1, above=True, offset=offset)
    ties = Ties(people, mean_degree)
    count = max(1, round(sources * people))
    popularity = (np.arange(1.0, count + 1) + offset) ** -exponent
    # In order of stars, so that "the audience of earlier stars" is a range.
    follows = np.sort(weighted(rng, popularity, people - count))
    order = shuffled(rng, people - count)
    ties.add(count + order, follows[order])
    ties.add(*_noticed_by(rng, popularity, follows, direct))
    eagerness = skewed(rng, activity, people)

    def further_retweets(number: int) -> Pairs:
        """Who retweets, and whom."""
        by = weighted(rng, eagerness[:count], number)
        if count < people:
            audience = count + weighted(rng, eagerness[count:], number)
            by = np.where(rng.random(number) < core, by, audience)
        return by, weighted(rng, popularity, number)

    ties.fill(further_retweets)
    return ties.network(rng, name)


def _noticed_by(rng: np.random.Generator, popularity: FloatArray, follows: People, direct: float) -> Pairs:
    """For every source but the first, a person of a star before it."""
    count = len(popularity)
    source = np.arange(1, count)
    audience_before = np.searchsorted(follows, source).astype(np.int64)
    by_audience = count + uniform(rng, audience_before, count - 1)
    by_source = below_heap(rng, np.cumsum(popularity), source)
    directly = (rng.random(count - 1) < direct) | (audience_before == 0)
    return source, np.where(directly, by_source, by_audience)


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
    ``roaming`` says how unequal ranges are. Each animal has at least one contact, as far as the mean degree allows it.
    A share ``dispersal`` of the ties joins any two animals of a year.
    """
    check_number(0, 1, cycle=cycle, season=season, dispersal=dispersal)
    check_number(above=True, per_year=per_year, turnover=turnover)
    ties = Ties(people, mean_degree)
    size_of_year = 1 + cycle * (2 * rng.random(max(1, round(people / per_year))) - 1)
    year = np.sort(weighted(rng, size_of_year, people))
    any_time = rng.random(people)
    in_summer = (any_time + rng.random(people)) / 2  # a triangle: most in the middle of the year, hardly any in winter
    time = np.sort(year + np.where(rng.random(people) < season, in_summer, any_time))  # of birth, in years
    homes = np.column_stack([time * turnover, rng.random(people), rng.random(people)])
    ranges = np.minimum(skewed(rng, roaming, people), WIDEST)
    pairs = _near_in_time(people, max(per_year // 2, round(4 * mean_degree)))
    ties.add(*_nearest_first(pairs, homes, ranges), 1 - dispersal)
    begin, size = _spans(year)
    ties.fill(lambda number: _in_groups(rng, uniform(rng, people, number), begin, size))
    return ties.network(rng, name)


def _near_in_time(people: int, window: int) -> Pairs:
    """Every animal with each of the ``window`` next ones; comparing all pairs would grow with the square."""
    steps = np.arange(1, min(window, people - 1) + 1)
    one = np.repeat(np.arange(people), len(steps))
    other = one + np.tile(steps, people)
    return one[other < people], other[other < people]


def _nearest_first(pairs: Pairs, homes: FloatArray, ranges: FloatArray) -> Pairs:
    """Each animal's nearest contact first, so that no animal stays alone, then all pairs by nearness."""
    one, other = pairs
    gap = homes[one] - homes[other]
    apart = (gap[:, 0] ** 2 + gap[:, 1] ** 2 + gap[:, 2] ** 2) / (ranges[one] * ranges[other])
    order = np.argsort(apart, kind="stable")
    one, other = one[order], other[order]
    first_seen = np.unique(np.column_stack([one, other]).ravel(), return_index=True)[1]
    nearest = np.unique(first_seen // 2)
    return np.concatenate([one[nearest], one]), np.concatenate([other[nearest], other])


@dataclass(frozen=True, eq=False)
class SyntheticFamily:
    """Networks of one kind: policies are trained on the train ones and evaluated on the test ones."""

    name: str
    description: str
    test: tuple[str, ...]
    generator: Callable[..., Network] = field(repr=False)
    recipes: Mapping[str, Mapping[str, float]] = field(repr=False)  # people, seed and settings by name

    @property
    def train(self) -> tuple[str, ...]:
        """The names of the training networks."""
        return tuple(name for name in self.recipes if name not in self.test)

    def make(self, name: str) -> Network:
        """Make the network of that name."""
        if name not in self.recipes:
            raise InputError(f"{self.name} has no network {name!r} (known: {', '.join(self.recipes)})")
        settings = dict(self.recipes[name])
        rng = np.random.Generator(np.random.PCG64(int(settings.pop("seed"))))
        return self.generator(rng=rng, name=name, **settings)


def _recipe(people: int, seed: int, mean_degree: float, **settings: float) -> dict[str, float]:
    return {"people": people, "seed": seed, "mean_degree": mean_degree, **settings}


_ZONES = SyntheticFamily(
    "zones",
    "A synthetic stand-in for a confidential survey of female sex workers in a large Asian city: small sites "
    "around a few well-known people. It is not that data; only published results were used to calibrate it.",
    ("zone2", "zone3"),
    zone_like,
    # Settings by search until the mean over 30 draws came within 5 % of the published OPT and Random of zones 2 and 3;
    # of those 30 the seed nearest to the published values. Nothing is published about zone 1: settings in between.
    {
        "zone1": _recipe(190, 1, 1.6, site_size=10.0, anchored=0.65),
        "zone2": _recipe(240, 15, 1.7, site_size=12.0, anchored=0.65),
        "zone3": _recipe(155, 30, 1.45, site_size=8.0, anchored=0.65),
    },
)
_STARS = SyntheticFamily(
    "retweet-like",
    "Synthetic networks that imitate retweet networks: sparse, heavy-tailed stars loosely joined by people who "
    "retweet more than one source.",
    ("stars5", "stars6"),
    retweet_like,
    # Settings around those that come closest to copen (stars1) and occupy (stars2) in degrees, degree correlations,
    # greedy influence and the influence after 5 and 20 surveys. No real test network was used; seeds were not searched.
    {
        "stars1": _recipe(900, 1, 2.7, sources=0.35, exponent=0.9, offset=5.0, core=0.9, activity=0.8),
        "stars2": _recipe(3200, 2, 2.44),
        "stars3": _recipe(2200, 3, 2.6, sources=0.25, exponent=0.95, offset=0.5, core=0.8),
        "stars4": _recipe(1500, 4, 2.25, exponent=1.0, offset=0.3),
        "stars5": _recipe(3500, 5, 2.2, sources=0.18),
        "stars6": _recipe(2000, 6, 2.6, exponent=0.9, core=0.5, activity=0.4),
    },
)
_MEADOWS = SyntheticFamily(
    "vole-like",
    "Synthetic networks that imitate contacts of field voles: animals near one another in space and time meet, "
    "so contacts are clustered and seasons fall apart into components.",
    ("meadow5", "meadow6"),
    vole_like,
    # The same with the vole sites plj (meadow1) and rob (meadow2).
    {
        "meadow1": _recipe(1260, 1, 5.35, per_year=400, cycle=0.2, season=1.0, turnover=2.0),
        "meadow2": _recipe(1480, 2, 5.3, cycle=0.0, season=0.3),
        "meadow3": _recipe(1350, 3, 5.6, season=0.8, turnover=1.5),
        "meadow4": _recipe(1600, 4, 5.8, per_year=300, cycle=0.2, season=0.3),
        "meadow5": _recipe(1680, 5, 5.5, per_year=250),
        "meadow6": _recipe(1220, 6, 5.9, per_year=400, season=1.0, roaming=0.6),
    },
)
FAMILIES = {family.name: family for family in (_ZONES, _STARS, _MEADOWS)}
