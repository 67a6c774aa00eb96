"""Open studies: new people are interviewed beside those who were named, and people may mark a contact."""

import networkx as nx
import numpy as np
import pytest
from discovery_cases import twin_of

import claim
from claim.discovery import NEW, Discovered, Frame, Simulation, policy_named, surveys
from claim.discovery.policies.open_studies import BEST_SHARES, EdgeProbing, Mix, OneHop, best_share
from claim.errors import InputError
from claim.networks import Network
from claim.registry import find_policy

VILLAGE = Network.from_networkx(nx.powerlaw_cluster_graph(120, 3, 0.3, seed=1))
UNIFORM = Frame()


def open_study(seed=0, network=VILLAGE, **settings):
    settings.setdefault("frame", UNIFORM)
    return Simulation(network, (), np.random.default_rng(seed), **settings)


def interviewed(simulation, policy, interviews, seed=0, **settings):
    for _ in surveys(simulation, policy, interviews, np.random.default_rng(seed), **settings):
        pass
    return simulation.discovered


# New people


def test_an_open_study_begins_with_no_person_and_a_closed_one_takes_no_new_people():
    study = open_study()
    assert (len(study.discovered), study.discovered.open) == (0, True)
    closed = Simulation(VILLAGE, [0, 1], np.random.default_rng(0))
    assert not closed.discovered.open
    with pytest.raises(InputError, match="no new person can be interviewed"):
        closed.ask(NEW)
    with pytest.raises(InputError, match="chose a new person, but none can be interviewed"):
        interviewed(closed, Always(NEW), 3)


class Always:
    """A policy that always chooses the same."""

    def __init__(self, *chosen):
        self.name, self.chosen = "always", chosen

    def choose(self, discovered, rng, count=1):
        return list(self.chosen)[:count]


def test_new_people_come_in_one_order_whoever_else_is_interviewed():
    only_new = open_study()
    interviewed(only_new, policy_named("new"), 30)
    mixed = open_study()
    for _ in range(15):
        mixed.ask(NEW)
        mixed.ask(mixed.discovered.frontier[0])
    order = [only_new.people[person] for person in only_new.discovered.start]
    asked_by_name = {mixed.people[person] for person in mixed.discovered.surveyed} - {
        mixed.people[person] for person in mixed.discovered.start
    }
    left = [who for who in order if who not in asked_by_name]
    found = [mixed.people[person] for person in mixed.discovered.start]
    assert found[: len(left)] == left[: len(found)]
    assert len(set(found)) == 15


def test_everybody_is_equally_likely_to_be_met_and_may_have_been_named_before():
    star = Network.from_edges([0] * 9, range(1, 10))
    first = [open_study(seed, star) for seed in range(2000)]
    for study in first:
        study.ask(NEW)
    counts = np.bincount([study.people[study.discovered.start[0]] for study in first], minlength=10)
    assert (np.abs(counts - 200) < 5 * np.sqrt(180)).all()
    study = first[0]
    study.ask(NEW)
    study.ask(NEW)
    assert len(study.discovered) <= 10
    assert len(study.discovered.start) == 3
    assert [study.discovered.status[person].name for person in study.discovered.start] == ["SURVEYED"] * 3


def test_a_study_ends_when_all_people_have_been_met():
    study = open_study(network=Network.from_edges([0, 2], [1, 3], n=6))
    seen = interviewed(study, policy_named("new"), 50)
    assert len(seen.start) == len(seen) == 6
    assert not seen.open
    assert interviewed(open_study(network=Network.from_edges([0], [1])), policy_named("random"), 9).surveyed == [0, 1]


def test_an_open_study_can_be_closed():
    simulation = open_study()
    simulation.ask(NEW)
    simulation.close()
    assert not simulation.discovered.open
    with pytest.raises(InputError, match="no new person can be interviewed"):
        simulation.ask(NEW)
    assert simulation.ask(simulation.discovered.frontier[0])
    assert not simulation.discovered.open


def test_a_study_under_way_meets_everyone_who_was_not_asked():
    whole = VILLAGE
    seen = Discovered.from_network(Network.from_edges([0, 0], [1, 2], n=3), [0], [1])
    simulation = Simulation.under_way(whole, seen, np.random.default_rng(0), Frame())
    assert simulation.discovered.open
    while simulation.discovered.open:
        simulation.ask(NEW)
    assert sorted(simulation.people[who] for who in simulation.discovered.surveyed) == [0, *range(2, whole.n)]
    assert not seen.open


def test_where_a_policy_names_no_one_new_people_are_interviewed():
    loners = Network.from_edges([], [], n=8)
    assert len(interviewed(open_study(network=loners), policy_named("random"), 5).start) == 5
    seen = interviewed(open_study(), policy_named("scout"), 12)
    assert 1 <= len(seen.start) < 12
    assert len(seen.surveyed) == 12


@pytest.mark.parametrize("unit", ["attempts", "answers"])
def test_new_people_who_refuse_count_as_attempts_only_and_stay_unknown_unless_named(unit):
    study = open_study(seed=3, refusal=0.5)
    seen = interviewed(study, policy_named("new"), 20, unit=unit)
    assert (len(seen.start) == 20) == (unit == "answers")
    assert all(seen.contacts[person] for person in seen.refused)  # known through the person who named them
    assert len(seen.surveyed) == len(seen.start)


def test_a_person_of_a_round_who_turns_up_as_a_new_person_is_asked_once():
    star = Network.from_edges([0] * 4, range(1, 5))
    for seed in range(30):
        study = open_study(seed, star)
        study.ask(NEW)
        seen = interviewed(study, Mix(1.0, policy_named("random"), "mix", 3), 4, seed, per_round=4)
        assert len(seen.surveyed) == len(set(seen.surveyed)) <= 5


def test_frames():
    degrees = VILLAGE.degrees

    def mean_degree(frame):
        seen = [Frame.parse(frame).order(VILLAGE, np.random.default_rng(seed))[:5] for seed in range(200)]
        return degrees[np.array(seen)].mean()

    assert mean_degree("uniform") == pytest.approx(degrees.mean(), rel=0.1)
    assert mean_degree("degree:1") == pytest.approx((degrees**2).mean() / degrees.mean(), rel=0.15)
    met = Frame.parse("share:0.25").order(VILLAGE, np.random.default_rng(0))
    assert len(met) == len(set(met)) == 30
    seen = interviewed(open_study(frame=Frame(share=0.25)), policy_named("new"), 100)
    assert len(seen.start) == 30
    lonely = Frame.parse("degree:2").order(Network.from_edges([0], [1], n=5), np.random.default_rng(0))
    assert sorted(lonely) == [0, 1]
    for text in ("degree:x", "share:0", "share:1.5", "degree:-1", "uniform:2", "door"):
        with pytest.raises(InputError, match="frame"):
            Frame.parse(text)


def test_people_who_were_not_observed_change_nothing():
    """Twins that differ in ties between people who were never interviewed look the same to every policy."""
    rng = np.random.default_rng(5)
    study = open_study(seed=9)
    interviewed(study, find_policy("mix:0.5:scout", None, 12), 12)
    asked = {study.people[person] for person in study.discovered.surveyed}
    pairs = [(a, b) for a, b in rng.integers(VILLAGE.n, size=(60, 2)).tolist() if a != b and not {a, b} & asked]
    sources, targets, _ = VILLAGE.edges()
    one, other = np.array(pairs).T
    twin = Network.from_edges(np.r_[sources, one], np.r_[targets, other], n=VILLAGE.n)
    again = open_study(seed=9, network=twin)
    interviewed(again, find_policy("mix:0.5:scout", None, 12), 12)
    assert again.discovered.contacts == study.discovered.contacts
    assert again.people == study.people


@pytest.mark.parametrize("policy", ["new", "mix:0.5:scout", "mix:best", "random", "change", "edge-probing"])
def test_advice_does_not_depend_on_what_was_not_observed(policy):
    def advised(network):
        study = open_study(3, network)
        interviewed(study, find_policy("mix:0.5:scout", None, 12), 12)
        labels = [f"P{who}" for who in study.people]
        known = Network.from_edges(*study.discovered.ties(), labels=labels)
        people = {name: [labels[who] for who in getattr(study.discovered, name)] for name in ("surveyed", "start")}
        return study, claim.advise(known, **people, policy=policy, entry="open", interviews=20, count=20)

    study, advice = advised(VILLAGE)
    twin = twin_of(VILLAGE, study, np.random.default_rng(1))
    assert twin.checksum != VILLAGE.checksum
    assert advised(twin)[1] == advice
    assert len(advice.rows) == 20


# Marks


def test_a_person_marks_the_contact_of_the_largest_perceived_degree():
    for sigma, low, high in ((0.0, 1.0, 1.0), (0.5, 0.3, 0.95), (1000.0, 0.05, 0.45)):
        right = []
        for seed in range(20):
            study = open_study(seed, hub_question=sigma)
            seen = interviewed(study, policy_named("new"), 20)
            for person, marked in seen.marks.items():
                most = max(map(study.true_degree, seen.contacts[person]))
                right.append(study.true_degree(marked) == most)
        assert low <= np.mean(right) <= high, sigma


def test_marks_tell_people_of_a_class_apart_and_can_be_changed():
    seen = Discovered()
    hub, *others = [seen.add_person() for _ in range(4)]
    seen.record_survey(hub, others)
    assert [group.members for group in seen.classes] == [(1, 2, 3)]
    seen.record_mark(hub, 2)
    assert [(group.members, group.marked_by) for group in seen.classes] == [((1, 3), ()), ((2,), (0,))]
    seen.record_mark(hub, 3)
    assert [group.members for group in seen.classes] == [(1, 2), (3,)]
    seen.record_mark(hub, 3)
    assert [group.members for group in seen.classes] == [(1, 2), (3,)]
    assert seen.copy() == seen
    assert seen.marked_by(3) == [0]
    assert seen.flags()[:, -1].tolist() == [0, 0, 0, 1]
    assert seen.to_networkx().nodes[3]["marks"] == 1
    with pytest.raises(InputError, match="not a contact"):
        seen.record_mark(hub, 0)


# Policies


def test_a_mix_interviews_its_share_of_new_people_first():
    mix = find_policy("mix:0.3:degree+inverse", None, 20)
    study = open_study()
    first_named = None
    for used in surveys(study, mix, 20, np.random.default_rng(0)):
        if len(study.discovered.start) < used and first_named is None:
            first_named = used
    assert (len(study.discovered.start), first_named) == (6, 7)
    assert len(interviewed(open_study(), find_policy("mix:0:random", None, 20), 20).start) >= 1
    assert len(interviewed(open_study(), find_policy("mix:1:random", None, 20), 20).start) == 20
    best = find_policy("mix:best", None, 25)
    assert best.choose(Discovered(open=True), np.random.default_rng(0), 25).count(NEW) == round(25 * best_share(25))


def test_the_best_share_lies_between_those_that_were_tried():
    for interviews, share in BEST_SHARES.items():
        assert best_share(interviews) == pytest.approx(share)
    assert 0 <= best_share(0) <= 1
    assert best_share(10**6) == list(BEST_SHARES.values())[-1]


def test_fewer_new_people_are_interviewed_where_marks_are_given():
    seen = Discovered(open=True)
    for _ in range(13):
        person = seen.add_person()
        seen.record_start(person)
        contact = seen.add_person(person)
        seen.add_tie(person, contact)
    best, rng = find_policy("mix:best", None, 25), np.random.default_rng(0)
    assert best.choose(seen, rng, 3).count(NEW) == 2  # 15 of 25 without marks
    seen.record_mark(0, 1)
    assert best.choose(seen, rng, 3).count(NEW) == 0  # 12 of 25


@pytest.mark.parametrize(
    "name", ["mix:1.2:random", "mix:-1:random", "mix:x:random", "mix:0.5", "mix:nan:random", "mix"]
)
def test_a_mix_without_a_share_and_a_policy_is_refused(name):
    with pytest.raises(InputError, match="a mix is mix:SHARE:POLICY with a share from 0 to 1"):
        find_policy(name, None, 10)


def test_a_mix_of_an_unknown_policy_is_refused():
    with pytest.raises(InputError, match="no policy is called 'rndom'"):
        claim.compare("zone2", "mix:0.5:rndom", entry="open")


def test_one_hop_leaders_are_contacts_of_the_new_people():
    seen = interviewed(open_study(), OneHop(), 30)
    leaders = OneHop().select(seen, 10, np.random.default_rng(0))
    assert len(set(leaders)) == 10
    assert all(set(seen.contacts[leader]) & set(seen.start) for leader in leaders)
    few = interviewed(open_study(network=Network.from_edges([0], [1], n=4)), OneHop(), 4)
    assert len(OneHop().select(few, 10, np.random.default_rng(0))) == 2  # loners name no one, and costed an interview
    assert OneHop().select(Discovered(), 10, np.random.default_rng(0)) == []


def test_edge_probing_asks_people_reached_from_the_new_ones_and_leads_by_their_components():
    stars = Network.from_edges([0] * 30 + [31] * 30, [*range(1, 31), *range(32, 62)])
    probing = EdgeProbing(share=0.5).for_study(20, 0.9)
    study = open_study(network=stars)
    seen = interviewed(study, probing, 20)
    assert len(seen.surveyed) == 20
    assert len(seen.start) == 10
    leaders = [study.people[leader] for leader in probing.select(seen, 2, np.random.default_rng(0))]
    assert len({who // 31 for who in leaders}) == 2  # one in each star: the second adds nothing to the first
    for interviews, new in ((10, 2), (20, 2), (55, 55), (100, 100)):  # the share of the nearest number that was tried
        first = EdgeProbing().for_study(interviews, 0.1).choose(open_study().discovered, np.random.default_rng(0), 200)
        assert first == [NEW] * new


# Comparison


def test_open_studies_are_compared_and_rows_carry_the_new_people():
    result = claim.compare(
        "zone2", "new,mix:0.5:random,one-hop", ["greedy", "degree"], runs=6, entry="open", interviews=8
    )
    rows = {(row.policy, row.selector): row for row in result.rows}
    assert set(rows) == {(p, s) for p in ("new", "mix:0.5:random") for s in ("greedy", "degree")} | {("one-hop", "own")}
    assert rows["new", "greedy"].new_people == 8
    assert rows["mix:0.5:random", "greedy"].new_people == 4
    assert "--entry open --interviews 8" in result.manifest["command"]
    assert all("new_people" in row for row in result.records())
    again = claim.compare("zone2", "new", "greedy", runs=6, entry="open", interviews=8, workers=2)
    assert again.rows[0].values == rows["new", "greedy"].values


def test_more_interviews_reach_more():
    reach = {n: claim.compare("stars5", "new", runs=30, entry="open", interviews=n).rows[0].mean for n in (0, 3, 30)}
    assert reach[0] == 0
    assert 0 < reach[3] < reach[30]


def test_fewer_people_than_leaders():
    pair = Network.from_edges([0], [1], n=3)
    (row,) = claim.compare(pair, "new", runs=3, entry="open", interviews=1).rows
    assert 1 <= row.mean <= 2


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"budget": 5}, "--budget is for closed studies"),
        ({"start_size": 3}, "--start-size is for closed studies"),
        ({"start_sets": "fresh"}, "--start-sets is for closed studies"),
        ({"protocol": "paper"}, "--protocol paper is for closed studies"),
        ({"interviews": -1}, "interviews must be at least 0"),
        ({"hub_question": -0.5}, "hub_question must be at least 0"),
        ({"frame": "share:2"}, "frame"),
        ({"policies": "change-published"}, "it is for closed studies"),
        ({"entry": "closed", "interviews": 5}, "add --entry open"),
        ({"entry": "closed", "frame": "share:0.5"}, "open studies"),
        ({"entry": "closed", "policies": "new"}, "add --entry open"),
        ({"entry": "closed", "policies": "mix:0.5:random"}, "add --entry open"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(settings, problem):
    given = {"policies": "random", "entry": "open", **settings}
    with pytest.raises(InputError, match=problem) as caught:
        claim.compare("zone2", runs=1, **given)
    assert "\n" not in str(caught.value)


def test_marks_are_asked_for_in_closed_studies_too():
    study = Simulation(VILLAGE, [5, 6, 7], np.random.default_rng(0), hub_question=0.5)
    assert sorted(study.discovered.marks) == [0, 1, 2]
    assert len(claim.compare("zone2", "random", runs=2, hub_question=1.0).rows) == 1
