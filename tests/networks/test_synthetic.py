import subprocess
import sys

import numpy as np
import pytest

from claim.cascades.worlds import Worlds
from claim.discovery import Simulation, policy_named, surveys
from claim.errors import InputError
from claim.networks import Network
from claim.networks.synthetic import FAMILIES, retweet_like, vole_like, zone_like
from claim.selection.greedy import Candidates, Task, greedy

P = 0.1
LEADERS = 10

CHECKSUMS = {
    "zone1": "4f7af99e1d2d45f1",
    "zone2": "f578af18b81f09d9",
    "zone3": "ac024662acfea200",
    "stars1": "7f798fac64a426b2",
    "stars2": "7f9d0ee71193742f",
    "stars3": "8a903c8e7bfef6a4",
    "stars4": "a4644a97a8c2253b",
    "stars5": "a4193e3bb4004549",
    "stars6": "1213cea1042a5481",
    "meadow1": "d11b7cd201875542",
    "meadow2": "3d01eb57a7d92536",
    "meadow3": "b3f89ef04014e727",
    "meadow4": "2919cabcb80729dc",
    "meadow5": "862ed986862a4127",
    "meadow6": "968688ac6a48e4fa",
}
PUBLISHED = {"zone2": (20.98, 13.26), "zone3": (16.40, 12.31)}  # OPT, Random

GENERATORS = {
    "retweet": lambda people, mean_degree, rng: retweet_like(people, rng, mean_degree=mean_degree),
    "vole": vole_like,
    "zone": lambda people, mean_degree, rng: zone_like(people, rng, mean_degree=mean_degree),
}


def made(name: str) -> Network:
    family = next(family for family in FAMILIES.values() if name in family.train + family.test)
    return family.make(name)


def names(family: str) -> tuple[str, ...]:
    return FAMILIES[family].train + FAMILIES[family].test


def mean_degree(network: Network) -> float:
    return 2 * network.m / network.n


def contact_degrees(network: Network) -> tuple[np.ndarray, np.ndarray]:
    """The degree of a person and that of a contact, for every contact of everybody."""
    return np.repeat(network.degrees, network.degrees), network.degrees[network.contacts]


def assortativity(network: Network) -> float:
    return float(np.corrcoef(*contact_degrees(network))[0, 1])


def clustering(network: Network) -> float:
    contacts = [set(network.contacts_of(person).tolist()) for person in range(network.n)]
    local = [
        sum(len(contacts[contact] & own) for contact in own) / (len(own) * (len(own) - 1)) if len(own) > 1 else 0.0
        for own in contacts
    ]
    return float(np.mean(local))


def component_sizes(network: Network) -> list[int]:
    """Largest first."""
    left, sizes = set(range(network.n)), []
    while left:
        waiting, size = [left.pop()], 1
        while waiting:
            found = left.intersection(network.contacts_of(waiting.pop()).tolist())
            left -= found
            waiting += found
            size += len(found)
        sizes.append(size)
    return sorted(sizes, reverse=True)


# Families ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHECKSUMS)
def test_is_the_same_network_everywhere(name):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    network = made(name)
    assert network.checksum[:16] == CHECKSUMS[name]
    assert network.checksum == made(name).checksum
    assert network.name == name
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_families_have_the_promised_networks():
    assert {name: (family.train, family.test) for name, family in FAMILIES.items()} == {
        "zones": (("zone1",), ("zone2", "zone3")),
        "retweet-like": (("stars1", "stars2", "stars3", "stars4"), ("stars5", "stars6")),
        "vole-like": (("meadow1", "meadow2", "meadow3", "meadow4"), ("meadow5", "meadow6")),
    }
    for family in FAMILIES.values():
        assert "synthetic" in family.description.lower()
    assert "stand-in" in FAMILIES["zones"].description
    assert len({made(name).checksum for name in CHECKSUMS}) == len(CHECKSUMS)


def test_unknown_name_is_refused():
    with pytest.raises(InputError, match=r"zones has no network 'zone4' \(known: zone1, zone2, zone3"):
        FAMILIES["zones"].make("zone4")


def test_importing_needs_numpy_only():
    code = "import sys, claim.networks.synthetic; print({'numba','scipy','networkx','matplotlib'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.parametrize("name", names("retweet-like"))
def test_retweet_like_is_made_of_loosely_joined_stars(name):
    network = made(name)
    own, of_contact = contact_degrees(network)
    assert 700 <= network.n <= 3700
    assert 1.06 <= network.m / network.n <= 1.36
    assert network.degrees.max() >= (30 if name == "stars1" else 150)
    assert -0.3 <= assortativity(network) <= -0.1
    assert clustering(network) <= 0.03
    assert of_contact[own == 1].mean() >= (10 if name == "stars1" else 40)
    assert 2 <= of_contact[own >= 20].mean() <= 7
    assert 0.5 <= (network.degrees == 1).mean() <= 0.8
    assert component_sizes(network) == [network.n]


@pytest.mark.parametrize("name", names("vole-like"))
def test_vole_like_is_clustered_and_falls_into_components(name):
    network = made(name)
    components = component_sizes(network)
    assert 1200 <= network.n <= 1700
    assert 5.25 <= mean_degree(network) <= 5.95
    assert 0.02 <= assortativity(network) <= 0.25
    assert 0.4 <= clustering(network) <= 0.5
    assert 20 <= network.degrees.max() <= 45
    assert network.degrees.min() >= 1
    assert len(components) >= 5
    assert components[0] >= network.n / 3


@pytest.mark.parametrize("name", names("zones"))
def test_zones_are_small_and_sparse(name):
    network = made(name)
    assert 80 <= network.n <= 250
    assert 1.4 <= mean_degree(network) <= 2.5
    assert 8 <= network.degrees.max() <= 25
    assert (network.degrees <= 2).mean() >= 0.75


def surveyed_leaders(network: Network, start: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Five random surveys, then greedy in which people never heard of are candidates too (the paper's protocol)."""
    study = Simulation(network, start, rng)
    list(surveys(study, policy_named("random"), 5, rng))
    people = np.array(study.people)
    sources, targets = study.discovered.ties()
    seen = Network.from_edges(people[sources], people[targets], n=network.n)
    return greedy(Task(seen, Candidates.of(network.n, LEADERS), LEADERS, P, 100, rng, ties="first"))


@pytest.mark.parametrize("zone", PUBLISHED)
def test_zones_come_near_the_published_results(zone):
    network = made(zone)
    rng = np.random.default_rng(0)
    referee = Worlds.draw(network, P, 2000, seed=1)
    best = greedy(Task(network, Candidates.of(network.n, LEADERS), LEADERS, P, 1000, rng))
    starts = np.random.RandomState(10)  # the published start sets
    reached = [referee.influence(surveyed_leaders(network, starts.choice(network.n, 5), rng)).mean for _ in range(300)]
    opt, random = PUBLISHED[zone]
    assert referee.influence(best).mean == pytest.approx(opt, rel=0.10)
    assert np.mean(reached) == pytest.approx(random, rel=0.10)


# Generators ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
@pytest.mark.parametrize("people", [50, 333, 1500, 5000])
@pytest.mark.parametrize("wanted", [0.8, 1.7, 2.5, 6.0, 12.0])
def test_look_alikes_have_the_size_and_mean_degree_asked_for(generator, people, wanted):
    network = generator(people, wanted, np.random.default_rng(people))
    assert network.n == people
    assert mean_degree(network) == pytest.approx(wanted, rel=0.10)
    assert not network.dropped


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
@pytest.mark.parametrize("people", range(1, 12))
@pytest.mark.parametrize("wanted", [0.0, 1.0, 3.0, 50.0])
def test_tiny_networks(generator, people, wanted):
    network = generator(people, wanted, np.random.default_rng(0))
    assert network.n == people
    assert network.m == min(round(people * wanted / 2), people * (people - 1) // 2)


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_one_seed_one_network(generator):
    first, again, other = (generator(300, 3.0, np.random.default_rng(seed)).checksum for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_indices_tell_nothing_of_degrees(generator):
    degrees = np.array([generator(200, 2.5, np.random.default_rng(seed)).degrees for seed in range(60)])
    by_quarter = degrees.mean(axis=0).reshape(4, 50).mean(axis=1)
    assert by_quarter == pytest.approx(np.full(4, 2.5), rel=0.15)


@pytest.mark.parametrize(
    ("extremes", "make"),
    [
        ({"sources": 0.0}, retweet_like),
        ({"sources": 1.0}, retweet_like),
        ({"core": 1.0, "direct": 1.0}, retweet_like),
        ({"site_size": 0.5}, zone_like),
        ({"site_size": 1e6}, zone_like),
        ({"anchored": 1.0, "between": 1.0}, zone_like),
        ({"mean_degree": 3.0, "dispersal": 1.0, "season": 1.0, "cycle": 1.0}, vole_like),
        ({"mean_degree": 3.0, "per_year": 1, "roaming": 0.0}, vole_like),
    ],
)
def test_extreme_settings(extremes, make):
    settings = {"mean_degree": 2.0, **extremes}
    network = make(people=120, rng=np.random.default_rng(0), **settings)
    assert mean_degree(network) == pytest.approx(settings["mean_degree"], rel=0.1)


@pytest.mark.parametrize(
    ("wrong", "make", "message"),
    [
        ({"people": 0}, zone_like, "at least one person, got 0"),
        ({"mean_degree": -1.0}, zone_like, "mean degree must be a number from 0 up, got -1.0"),
        ({"mean_degree": float("nan")}, vole_like, "mean degree must be a number from 0 up"),
        ({"between": 1.5}, zone_like, "between must be between 0 and 1, got 1.5"),
        ({"site_size": 0.0}, zone_like, "site_size must be above 0, got 0.0"),
        ({"offset": -1.0}, retweet_like, "offset must be above -1"),
        ({"per_year": 0}, vole_like, "per_year must be above 0, got 0"),
    ],
)
def test_wrong_settings_are_refused(wrong, make, message):
    with pytest.raises(InputError, match=message):
        make(**{"people": 10, "mean_degree": 2.0, "rng": np.random.default_rng(0), **wrong})
