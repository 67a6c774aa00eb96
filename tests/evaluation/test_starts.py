"""Start sets: the published ones exactly, fresh ones by seed."""

import numpy as np
import pytest
from evaluation_cases import hubs_and_leaves

from claim.errors import InputError
from claim.evaluation.runs import draw_start_sets, published_start_seed
from claim.networks import load
from relabelling import relabelled

PUBLISHED_SEEDS = {"israel": 10, "damascus": 10, "obama": 10, "assad": 10, "bhp": 10, "kcs": 20}


@pytest.mark.parametrize("name", PUBLISHED_SEEDS)
def test_published_start_sets_are_successive_draws_with_replacement(data, name):
    network = load(name, data_dir=data)
    draws = np.random.RandomState(PUBLISHED_SEEDS[name])
    expected = [list(dict.fromkeys(draws.choice(network.n, 5).tolist())) for _ in range(100)]
    for starts in (None, "published"):
        assert draw_start_sets(network, 100, 5, seed=99, starts=starts) == expected


def test_people_drawn_twice_count_once(data):
    sets = draw_start_sets(load("kcs", data_dir=data), 2000, 5, seed=0)
    assert all(len(set(people)) == len(people) for people in sets)
    assert any(len(people) < 5 for people in sets)


def test_more_runs_keep_the_first_start_sets(data):
    network = load("kcs", data_dir=data)
    assert draw_start_sets(network, 300, 5, 0)[:100] == draw_start_sets(network, 100, 5, 0)


def test_a_published_network_is_known_by_its_structure(data):
    network = load("kcs", data_dir=data)
    assert published_start_seed(load(data / "animal" / "kcs.edges")) == 20
    assert published_start_seed(relabelled(network, np.arange(network.n)[::-1])) is None


def test_fresh_start_sets_leave_the_published_ones_aside(data):
    network = load("kcs", data_dir=data)
    assert draw_start_sets(network, 10, 5, 0, "fresh") != draw_start_sets(network, 10, 5, 0, "published")


def test_fresh_start_sets_follow_the_seed():
    network = hubs_and_leaves()
    assert draw_start_sets(network, 10, 5, 1) == draw_start_sets(network, 10, 5, 1, "fresh")
    assert draw_start_sets(network, 10, 5, 1) != draw_start_sets(network, 10, 5, 2)
    assert all(len(set(people)) == 5 for people in draw_start_sets(network, 50, 5, 1))


def test_a_start_set_is_at_most_the_network():
    assert sorted(draw_start_sets(hubs_and_leaves(7), 1, 50, 0)[0]) == list(range(7))


def test_published_start_sets_are_refused_where_there_are_none():
    with pytest.raises(InputError, match="no start sets are published for hubs"):
        draw_start_sets(hubs_and_leaves(), 10, 5, 0, "published")


def test_a_kind_of_start_sets_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="published or fresh"):
        draw_start_sets(hubs_and_leaves(), 10, 5, 0, "publishd")
