"""Foresight: the compiled selector against the readable one, what it may see, and what it does at the edges."""

from collections import Counter

import numpy as np
import pytest
from foresight_reference import plain_closure, plain_excess, plain_foresight, plain_spread, plain_worth
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from claim.discovery import Discovered, Frame, Simulation, policy_named, surveys
from claim.discovery.policies.marks import trust_in_marks
from claim.discovery.policies.open_studies import Mix
from claim.errors import InputError
from claim.networks import Network
from claim.networks.synthetic import retweet_like, vole_like
from claim.randomness import draw_seed
from claim.selection.foresight import Expected, FittedForesight, FreeForesight, foresight_named
from claim.selection.foresight.model import shipped_path
from claim.selection.foresight.reach import estimated_people
from claim.selection.foresight.selection_state import SeenNetwork, closure, excess_degree, hidden_reach, spread
from claim.selection.foresight.selector import ADDS, EQUALS, KNOWS, REFUSED_SURVEY, TOO_EARLY, UNSEEN
from claim.selection.greedy import tie_priority
from relabelling import relabelled

FORMS = ["foresight", "foresight:free", "foresight:retweet", "foresight:animal", "foresight:zones", "foresight:all"]


def study(network: Network, budget: int, seed: int, policy: str = "random", refusal: float = 0.0) -> Simulation:
    answers, choices = np.random.default_rng(seed).spawn(2)
    start = np.random.default_rng(seed).choice(network.n, 3, replace=False)
    simulation = Simulation(network, start, answers, refusal)
    for _ in surveys(simulation, policy_named(policy), budget, choices):
        pass
    return simulation


def open_study(network: Network, interviews: int, seed: int) -> Simulation:
    """A study that begins with no person known; answers carry marks that mean nothing, so hidden ties cannot show."""
    answers, choices = np.random.default_rng(seed).spawn(2)
    simulation = Simulation(network, (), answers, frame=Frame(), hub_question=1e6)
    for _ in surveys(simulation, Mix(0.5, policy_named("random"), "mix", interviews), interviews, choices):
        pass
    return simulation


def small_network(seed: int, people: int = 60) -> Network:
    rng = np.random.default_rng(seed)
    return vole_like(people, 4.0, rng, per_year=30) if seed % 2 else retweet_like(people, rng)


def seen(seed: int, budget: int = 5, **options) -> Discovered:
    return study(small_network(seed), budget, seed, **options).discovered


def twin_of(network: Network, simulation: Simulation, rng: np.random.Generator) -> Network:
    """The network with other edges between people who were never surveyed."""
    surveyed = [simulation.people[person] for person in simulation.discovered.surveyed]
    hidden = np.setdiff1d(np.arange(network.n), surveyed)
    sources, targets, _ = network.edges()
    visible = np.isin(sources, surveyed) | np.isin(targets, surveyed)
    one, other = rng.choice(hidden, (2, len(hidden)))
    return Network.from_edges(
        np.concatenate([sources[visible], one]), np.concatenate([targets[visible], other]), n=network.n
    )


# The readable reference -----------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 300), budget=st.integers(0, 12), refusal=st.sampled_from([0.0, 0.3]))
@settings(max_examples=60, deadline=None)
def test_what_people_are_worth_equals_the_reference(seed, budget, refusal):
    discovered = seen(seed, budget, refusal=refusal)
    view = SeenNetwork.of(discovered)
    excess = excess_degree(view)
    assert excess == pytest.approx(plain_excess(discovered))
    assert spread(view, excess) == pytest.approx(plain_spread(discovered, excess))
    assert closure(view) == pytest.approx(plain_closure(discovered))
    assert hidden_reach(view, 0.1).reach == pytest.approx(plain_worth(discovered, 0.1))


@given(
    seed=st.integers(0, 300),
    p=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    attendance=st.sampled_from([1.0, 0.6]),
    refusal=st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=25, deadline=None)
def test_leaders_equal_the_reference(seed, p, attendance, refusal):
    discovered = seen(seed, 4, refusal=refusal)
    rng = np.random.default_rng(seed)
    worlds, priority = draw_seed(rng), tie_priority(len(discovered), "random", rng)
    selector = FreeForesight(p, 20, attendance=attendance)
    expected = plain_foresight(discovered, 5, p, 20, worlds, priority.tolist(), selector.planned_attendance())
    assert selector.select(discovered, 5, np.random.default_rng(seed)) == expected


# The wall -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_hidden_edges_make_no_difference(name):
    selector = foresight_named(name, samples=50)
    for seed in range(6):
        network = small_network(seed)
        first = study(network, 6, seed, refusal=0.2)
        twin = twin_of(network, first, np.random.default_rng(seed))
        assert twin != network
        second = study(twin, 6, seed, refusal=0.2)
        leaders = [selector.select(each.discovered, 6, np.random.default_rng(seed)) for each in (first, second)]
        assert leaders[0] == leaders[1]
        reach = [selector.expect(each.discovered, leaders[0], np.random.default_rng(1)) for each in (first, second)]
        assert reach[0] == reach[1]


@pytest.mark.parametrize("people", [None, 60, (40, 90)])
def test_hidden_edges_make_no_difference_in_open_studies_with_marks(people):
    selector = foresight_named("foresight", samples=50, people=people)
    for seed in range(6):
        network = small_network(seed)
        first = open_study(network, 9, seed)
        twin = twin_of(network, first, np.random.default_rng(seed))
        second = open_study(twin, 9, seed)
        assert twin != network
        assert first.discovered.marks == second.discovered.marks != {}
        found = []
        for each in (first, second):
            rng = np.random.default_rng(seed)
            leaders = selector.select(each.discovered, 6, rng)
            found.append(
                (
                    leaders,
                    selector.expect(each.discovered, leaders, rng),
                    selector.reasons(each.discovered, leaders, rng),
                )
            )
        assert found[0] == found[1]


def test_relabelling_an_open_study_with_marks_does_not_change_the_reach():
    """The same study with people numbered otherwise: what is left is the noise of the worlds drawn."""
    network = retweet_like(300, np.random.default_rng(3))
    seen = open_study(network, 20, 4).discovered
    order = np.random.default_rng(5).permutation(len(seen))
    other = Discovered.from_network(relabelled(seen.as_network(), order), [])
    place = np.argsort(order)
    for person in seen.surveyed:
        (other.record_start if person in seen.start else other.record_survey)(int(place[person]))
    for person, contact in seen.marks.items():
        other.record_mark(int(place[person]), int(place[contact]))
    for people in (None, 300):
        selector = foresight_named("foresight", samples=400, people=people)
        leaders = selector.select(seen, 8, np.random.default_rng(0))
        one = selector.expect(seen, leaders, np.random.default_rng(1))
        two = selector.expect(other, place[leaders].tolist(), np.random.default_rng(1))
        assert two == pytest.approx(one, rel=0.1)


@pytest.mark.parametrize("name", ["foresight", "foresight:free", "foresight:all"])
def test_relabelling_the_network_does_not_change_how_often_anybody_is_chosen(name):
    network = retweet_like(40, np.random.default_rng(1))
    order = np.random.default_rng(2).permutation(network.n)
    renumbered = relabelled(network, order)
    place = np.argsort(order)
    chosen: list[Counter[int]] = [Counter(), Counter()]
    selector = foresight_named(name, samples=30)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        start = rng.choice(network.n, 3, replace=False)
        for each, people, counts in ((network, start, chosen[0]), (renumbered, place[start], chosen[1])):
            simulation = Simulation(each, people, rng.spawn(1)[0])
            for _ in surveys(simulation, policy_named("random"), 3, rng.spawn(1)[0]):
                pass
            leaders = selector.select(simulation.discovered, 4, rng.spawn(1)[0])
            names = [simulation.people[leader] for leader in leaders]
            counts.update(names if each is network else [int(order[who]) for who in names])
    often = [who for who in range(network.n) if chosen[0][who] + chosen[1][who] >= 10]
    table = [[counts[who] for who in often] for counts in chosen]
    assert chi2_contingency(table).pvalue > 0.001


@pytest.mark.parametrize("name", FORMS)
def test_the_same_seed_gives_the_same_leaders(name):
    discovered = seen(3)
    twice = [foresight_named(name, samples=40).select(discovered, 5, np.random.default_rng(9)) for _ in range(2)]
    assert twice[0] == twice[1]
    assert len(set(twice[0])) == 5


def test_a_model_of_ones_own_is_named_by_its_file(tmp_path):
    mine = tmp_path / "mine.json"
    mine.write_text(shipped_path("retweet").read_text())
    named, shipped = foresight_named(f"foresight:{mine}", samples=40), foresight_named("foresight:retweet", samples=40)
    assert named.name == f"foresight:{mine}"
    discovered = seen(3)
    leaders = [each.select(discovered, 5, np.random.default_rng(9)) for each in (named, shipped)]
    assert leaders[0] == leaders[1]


# Wishes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["foresight:free", "foresight:retweet"])
def test_wishes_are_respected(name):
    discovered = seen(5, 6, refusal=0.5)
    selector = foresight_named(name, samples=30)
    best = selector.select(discovered, 3, np.random.default_rng(0))
    without = selector.select(discovered, 3, np.random.default_rng(0), must_not=best)
    assert not set(best) & set(without)
    forced = selector.select(discovered, 3, np.random.default_rng(0), must=without[-1:])
    assert forced[0] == without[-1]
    few = selector.select(discovered, 3, np.random.default_rng(0), may=without[:2])
    assert sorted(few) == sorted(without[:2])


def test_those_who_refused_can_lead():
    hub = Discovered()
    people = [hub.add_person() for _ in range(6)]
    for person in people[1:]:
        hub.record_start(person)
        hub.add_tie(person, people[0])
    hub.record_refusal(people[0])
    for name in FORMS:
        assert foresight_named(name, samples=200).select(hub, 1, np.random.default_rng(0)) == [people[0]]


# The edges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_nobody_one_person_and_nobody_surveyed(name):
    selector = foresight_named(name, samples=10)
    nobody = Discovered()
    assert selector.select(nobody, 3, np.random.default_rng(0)) == []
    assert selector.expect(nobody, [], np.random.default_rng(0)) == (0.0, 0.0, 0.0)
    one = Discovered()
    one.add_person()
    assert selector.select(one, 3, np.random.default_rng(0)) == [0]
    pair = Discovered.from_network(Network.from_edges([0, 1], [1, 2], n=4), [])
    assert sorted(selector.select(pair, 9, np.random.default_rng(0))) == [0, 1, 2, 3]
    assert len(selector.reasons(pair, [0, 1], np.random.default_rng(0))) == 2


@pytest.mark.parametrize("name", FORMS)
def test_a_star_of_three_thousand(name):
    star = Network.from_edges(np.zeros(3000, dtype=int), np.arange(1, 3001))
    simulation = Simulation(star, [0], np.random.default_rng(0))
    leaders = foresight_named(name, samples=100).select(simulation.discovered, 10, np.random.default_rng(0))
    assert leaders[0] == 0
    assert len(set(leaders)) == 10


@pytest.mark.parametrize("name", FORMS)
def test_with_everybody_surveyed_it_is_the_greedy_oracle_and_the_range_closes(name):
    network = retweet_like(50, np.random.default_rng(4))
    discovered = Discovered.from_network(network, range(50))
    selector = foresight_named(name, samples=400)
    leaders = selector.select(discovered, 3, np.random.default_rng(0))
    free = FreeForesight(samples=400).select(discovered, 3, np.random.default_rng(0))
    assert leaders == free
    mean, low, high = selector.expect(discovered, leaders, np.random.default_rng(0))
    assert mean == pytest.approx(low) == pytest.approx(high)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("budget", [0, 50])
@pytest.mark.parametrize("k", [1, 50])
@pytest.mark.parametrize("options", [{}, {"p": 0.05}, {"p": 0.2}, {"attendance": 0.6}, {"p_range": (0.05, 0.1, 0.2)}])
def test_outside_what_was_trained_it_stays_sensible(name, budget, k, options):
    discovered = study(retweet_like(400, np.random.default_rng(2)), budget, 2).discovered
    selector = foresight_named(name, samples=50, **options)
    leaders = selector.select(discovered, k, np.random.default_rng(0))
    assert len(set(leaders)) == min(k, len(discovered))
    mean, low, high = selector.expect(discovered, leaders, np.random.default_rng(0))
    attendance = options.get("attendance", 1.0)
    assert attendance * len(leaders) * 0.99 <= low <= mean <= high < np.inf
    assert mean < 3 * 400


@pytest.mark.parametrize("name", FORMS)
def test_a_star_of_3000_is_led_by_its_hub(name):
    star = Network.from_edges(np.zeros(3000, dtype=int), np.arange(1, 3001))
    seen = Simulation(star, [0], np.random.default_rng(0)).discovered
    leaders = foresight_named(name).select(seen, 10, np.random.default_rng(0))
    assert leaders[0] == 0
    assert len(set(leaders)) == 10


def test_people_never_heard_of_come_after_hubs_and_before_nobody():
    network = retweet_like(300, np.random.default_rng(7))
    simulation = study(network, 5, 1)
    offered = simulation.discovered.copy()
    strangers = [offered.add_person() for _ in range(10)]
    leaders = FreeForesight(samples=200).select(offered, 10, np.random.default_rng(0))
    assert leaders[0] not in strangers
    assert set(FreeForesight(samples=200).select(offered, len(offered), np.random.default_rng(0))) >= set(strangers)


# Reach, reasons and names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_the_reach_to_expect_lies_in_its_range_and_grows_with_leaders(name):
    discovered = study(retweet_like(400, np.random.default_rng(2)), 5, 2).discovered
    selector = foresight_named(name, samples=200)
    leaders = selector.select(discovered, 8, np.random.default_rng(0))
    few, many = (selector.expect(discovered, leaders[:count], np.random.default_rng(0)) for count in (3, 8))
    assert few.low <= few.mean <= few.high
    assert few.mean < many.mean
    assert many.low >= 8


@pytest.mark.parametrize("attendance", [1.0, 0.6])
@pytest.mark.parametrize("name", FORMS)
def test_what_leaders_add_comes_to_the_reach_to_expect(name, attendance):
    discovered = study(retweet_like(400, np.random.default_rng(2)), 5, 2).discovered
    selector = foresight_named(name, samples=200, attendance=attendance)
    ranked = selector.select(discovered, 10, np.random.default_rng(0))
    reach = selector.expect(discovered, ranked[:8], np.random.default_rng(1)).mean
    whys = selector.reasons(discovered, ranked, np.random.default_rng(2), (reach, 8))
    amounts = [why[0].values["amount"] for why in whys]
    assert sum(amounts[:8]) == pytest.approx(reach, abs=0.5)
    assert min(amounts) > 0


@pytest.mark.parametrize("name", FORMS)
def test_word_that_never_passes_reaches_the_leaders_alone(name):
    selector = foresight_named(name, p=0.0, samples=50)
    assert set(selector.expect(seen(2, 6), [0, 1, 2], np.random.default_rng(0))) == {3.0}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("p", [0.1, 0.9])
def test_no_reach_is_above_the_number_of_people(name, p):
    discovered = study(retweet_like(400, np.random.default_rng(2)), 20, 2).discovered
    leaders = discovered.surveyed[:5]
    people = len(discovered) + 5.0
    for number in (people, (10.0, people), (0.0, people)):
        found = foresight_named(name, p=p, samples=50, people=number).expect(
            discovered, leaders, np.random.default_rng(0)
        )
        assert found.low <= found.mean <= found.high <= people
    fewer = foresight_named(name, p=p, samples=50, people=3.0).expect(discovered, leaders, np.random.default_rng(0))
    assert fewer.high <= len(discovered)


def test_between_the_least_and_the_most_people_the_range_covers_both():
    discovered = study(retweet_like(400, np.random.default_rng(2)), 10, 2).discovered
    leaders = discovered.surveyed[:5]

    def expect(people):
        return foresight_named("foresight", samples=50, people=people).expect(
            discovered, leaders, np.random.default_rng(0)
        )

    few, many, both = expect(200.0), expect(800.0), expect((200.0, 800.0))
    assert (both.low, both.high) == (min(few.low, many.low), max(few.high, many.high))
    assert both.mean == pytest.approx((few.mean + many.mean) / 2)


def test_the_number_of_people_is_estimated_from_meetings():
    network = vole_like(600, 6.0, np.random.default_rng(1))
    found = [estimated_people(SeenNetwork.of(open_study(network, 60, seed).discovered)) for seed in range(30)]
    assert np.median([people for people, _ in found]) == pytest.approx(600, rel=0.3)
    assert np.mean([most >= 600 for _, most in found]) >= 0.8


def test_too_little_is_known_before_the_first_survey():
    nothing = Discovered.from_network(Network.from_edges([], [], n=5), [])
    found = foresight_named("foresight", samples=50).expect(nothing, [0, 1], np.random.default_rng(0))
    assert found.vague
    assert str(found) == TOO_EARLY
    assert not Expected(20.0, 15.0, 30.0).vague
    assert str(Expected(20.0, 15.0, 30.0)) == "they reach about 20 people, likely 15 to 30"


def test_reasons_are_keys_numbers_and_english():
    discovered = seen(2, 6, refusal=0.4)
    selector = FreeForesight(samples=50)
    leaders = selector.select(discovered, 6, np.random.default_rng(0))
    for leader, why in zip(leaders, selector.reasons(discovered, leaders, np.random.default_rng(0)), strict=True):
        texts = [reason.text for reason in why]
        assert texts[0] == ADDS
        assert (KNOWS in texts) == (leader in discovered.surveyed)
        assert (UNSEEN in texts) == (leader not in discovered.surveyed)
        assert (REFUSED_SURVEY in texts) == (leader in discovered.refused)
        assert all("{" not in str(reason) for reason in why)


@pytest.mark.parametrize("name", FORMS)
def test_leaders_of_whom_nothing_further_is_seen_share_the_reach_to_expect(name):
    pairs = Discovered.from_network(Network.from_edges([0, 2, 4], [1, 3, 5]), [0, 2, 4])
    selector = foresight_named(name)
    reach = selector.expect(pairs, [1, 3], np.random.default_rng(0)).mean
    found = [{why.text: why.values for why in whys} for whys in selector.reasons(pairs, [1, 3], 0, (reach, 2))]
    assert sum(why[ADDS]["amount"] for why in found) == pytest.approx(reach, abs=0.2)
    assert sum(why[UNSEEN]["amount"] for why in found) == pytest.approx(reach - 2.2, abs=0.2)  # 1.1 of each is seen


def test_chance_decides_only_between_those_who_could_be_chosen():
    star = Discovered.from_network(Network.from_edges([0] * 9, range(1, 10)), [0])
    selector = FreeForesight(samples=50)

    def equals(**wishes):
        whys = selector.reasons(star, [0, 7, 8], **wishes)
        return [next((why.values["count"] for why in each if why.text == EQUALS), 0) for each in whys]

    assert equals() == [0, 7, 7]
    assert equals(must=[7]) == [0, 0, 7]
    assert equals(must_not=[1, 2]) == [0, 5, 5]
    assert equals(may=[0, 7, 8]) == [0, 0, 0]


def test_a_range_of_p_is_what_is_expected_too():
    discovered = seen(2, 6)
    leaders, rng = discovered.surveyed[:3], np.random.default_rng
    one = FreeForesight(p=0.05, samples=50).expect(discovered, leaders, rng(0))
    other = FreeForesight(p=0.2, samples=50).expect(discovered, leaders, rng(0))
    both = FreeForesight(p=0.5, samples=50, p_range=(0.05, 0.2)).expect(discovered, leaders, rng(0))
    assert both == ((one.mean + other.mean) / 2, one.low, other.high)
    whys = FreeForesight(p=0.5, samples=50, p_range=(0.1,)).reasons(discovered, leaders)
    assert whys == FreeForesight(p=0.1, samples=50).reasons(discovered, leaders)


def test_one_model_is_for_networks_of_any_kind_and_the_first_models_stay():
    for family in ("retweet", "vole-like", "mine", None):
        assert foresight_named("foresight", family=family).name == "foresight:any"
    assert foresight_named("foresight:1", family="retweet").name == "foresight:retweet"
    assert foresight_named("foresight:1", family="vole-like").name == "foresight:animal"
    assert foresight_named("foresight:1", family="mine").name == "foresight:free"
    assert foresight_named("foresight:1").name == "foresight:free"
    with pytest.raises(InputError, match="foresight:zebra"):
        foresight_named("foresight:zebra")


@pytest.mark.parametrize("marked", [1, 6])
def test_marks_count_as_far_as_they_can_be_trusted(marked):
    """Person 0 marks one of three contacts: 6 and 7, who have ten contacts each, or 1, who has four."""
    hubs = Network.from_edges([0, 0, 0, 1, 1, 1, *[6] * 9, *[7] * 9], [1, 6, 7, 2, 3, 4, *range(8, 17), *range(17, 26)])
    seen = Discovered.from_network(hubs, [0, 1, 6, 7])
    seen.record_mark(0, marked)
    view = SeenNetwork.of(seen)
    assert view.trust == trust_in_marks(seen)
    assert view.marks[marked] == pytest.approx(view.trust * np.log(3))
    assert view.marks.sum() == view.marks[marked]


# The field's troubles -------------------------------------------------------------------------------------------------


def test_leaders_who_may_not_come_are_backed_up():
    """Two hubs, one twice the other: with a poor attendance a second leader near the large one pays."""
    sources = [0] * 40 + [1] * 12
    network = Network.from_edges(sources, range(2, 54))
    discovered = Discovered.from_network(network, range(54))
    sure = FreeForesight(p=0.9, samples=200).select(discovered, 2, np.random.default_rng(0))
    unsure = FreeForesight(p=0.9, samples=200, attendance=0.1).select(discovered, 2, np.random.default_rng(0))
    assert sorted(sure) == [0, 1]
    assert unsure[0] == 0
    assert unsure[1] != 1


def test_a_longer_list_begins_with_the_shorter_one():
    discovered = seen(11)
    selector = FreeForesight(samples=50, attendance=0.6)
    short, long = (selector.select(discovered, k, np.random.default_rng(0)) for k in (4, 9))
    assert long[:4] == short


def test_a_range_of_probabilities_is_between_its_ends():
    discovered = study(retweet_like(400, np.random.default_rng(2)), 5, 2).discovered
    one = FreeForesight(p=0.1, samples=100).select(discovered, 5, np.random.default_rng(0))
    same = FreeForesight(p=0.3, samples=100, p_range=(0.1,)).select(discovered, 5, np.random.default_rng(0))
    assert one == same
    assert (
        len(set(FreeForesight(samples=100, p_range=(0.05, 0.1, 0.2)).select(discovered, 5, np.random.default_rng(0))))
        == 5
    )


@pytest.mark.parametrize(
    "wrong", [{"p": 1.2}, {"samples": 0}, {"attendance": 0.0}, {"attendance": 1.5}, {"p_range": (2.0,)}]
)
def test_what_cannot_be_is_refused(wrong):
    for form in (FreeForesight, FittedForesight):
        with pytest.raises(InputError):
            form(**wrong)


def test_all_forms_share_one_interface():
    assert all(isinstance(foresight_named(name), FreeForesight) for name in FORMS)


@pytest.mark.parametrize("name", ["foresight:free", "foresight"])
def test_gains_of_some_classes_are_those_of_all(name):
    """Bit by bit, so that reasons do not depend on how they are computed."""
    view = SeenNetwork.of(seen(3))
    state = foresight_named(name, p=0.2, samples=50).state(view, 0.2, seed=1, attendance=0.7)
    for leader in (0, view.n - 1, 2):
        classes = np.arange(0, view.groups, 3)
        np.testing.assert_array_equal(state.gains(classes), state.gains()[classes])
        state.take(leader)
