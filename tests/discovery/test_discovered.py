"""Discovered grows by answers and keeps its classes right all the way."""

import sys
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claim.discovery import Discovered, Status
from claim.errors import InputError
from claim.networks import Network

PEOPLE = st.integers(0, 11)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("survey"), PEOPLE, st.lists(PEOPLE, max_size=6)),
        st.tuples(st.just("refuse"), PEOPLE, st.just([])),
        st.tuples(st.just("tie"), PEOPLE, st.lists(PEOPLE, min_size=1, max_size=1)),
        st.tuples(st.just("meet"), PEOPLE, st.just([])),
    ),
    max_size=25,
)


def take(seen: Discovered, step: tuple[str, int, list[int]]) -> None:
    """One step of growth; people of numbers not heard of yet are met first."""
    kind, person, others = step
    for who in (person, *others):
        while who >= len(seen):
            seen.add_person()
    others = [other for other in others if other != person]
    if kind == "survey":
        seen.record_survey(person, others)
    elif kind == "refuse" and seen.status[person] == Status.NAMED:
        seen.record_refusal(person)
    elif kind == "tie":
        for other in others:
            seen.add_tie(person, other)


def brute_force_classes(seen: Discovered) -> set[tuple[Status, frozenset[int], tuple[int, ...]]]:
    groups = defaultdict(list)
    for person in range(len(seen)):
        if seen.status[person] != Status.SURVEYED:
            groups[seen.status[person], frozenset(seen.contacts[person])].append(person)
    return {(status, contacts, tuple(members)) for (status, contacts), members in groups.items()}


def kept_classes(seen: Discovered) -> set[tuple[Status, frozenset[int], tuple[int, ...]]]:
    return {(group.status, frozenset(group.contacts), group.members) for group in seen.classes}


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_classes_equal_a_brute_force_grouping_after_every_step(steps):
    seen = Discovered()
    for step in steps:
        take(seen, step)
        assert kept_classes(seen) == brute_force_classes(seen)


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_lists_of_people_agree_with_their_status(steps):
    seen = Discovered()
    for step in steps:
        take(seen, step)
    by_status = {status: [u for u in range(len(seen)) if seen.status[u] == status] for status in Status}
    assert seen.frontier == by_status[Status.NAMED]
    assert sorted(seen.surveyed) == by_status[Status.SURVEYED]
    assert sorted(seen.refused) == by_status[Status.REFUSED]
    multiplicities = sum(group.size for group in seen.classes)
    assert multiplicities == len(seen) - len(seen.surveyed)
    assert sum(group.size for group in seen.frontier_classes) == len(seen.frontier)
    firsts = [group.members[0] for group in seen.classes]
    assert firsts == sorted(firsts)


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_ties_are_symmetric_and_listed_once(steps):
    seen = Discovered()
    for step in steps:
        take(seen, step)
    ends = list(zip(*(side.tolist() for side in seen.ties()), strict=True))
    assert len({frozenset(pair) for pair in ends}) == len(ends)
    assert {frozenset(pair) for pair in ends} == {
        frozenset((u, v)) for u in range(len(seen)) for v in seen.contacts[u] if u in seen.contacts[v]
    }
    network = seen.as_network()
    assert network.n == len(seen)
    assert [set(network.contacts_of(u).tolist()) for u in range(network.n)] == [set(each) for each in seen.contacts]
    assert [seen.degree(u) for u in range(len(seen))] == network.degrees.tolist()


@settings(max_examples=60, deadline=None)
@given(STEPS, STEPS)
def test_a_copy_goes_its_own_way(before, after):
    seen = Discovered()
    for step in before:
        take(seen, step)
    twin = seen.copy()
    assert twin == seen
    classes, frontier, ties = kept_classes(seen), seen.frontier, [side.tolist() for side in seen.ties()]
    for step in after:
        take(twin, step)
    assert kept_classes(twin) == brute_force_classes(twin)
    assert (kept_classes(seen), seen.frontier) == (classes, frontier)
    assert [side.tolist() for side in seen.ties()] == ties


@settings(max_examples=50, deadline=None)
@given(STEPS, st.lists(st.integers(0, 30), max_size=6))
def test_without_some_ties_all_else_stays(steps, chosen):
    seen = Discovered()
    for step in steps:
        take(seen, step)
    for person in seen.surveyed if len(chosen) % 2 else ():
        for contact in list(seen.contacts[person])[:1]:
            seen.record_mark(person, contact)
    ties = list(zip(*(ends.tolist() for ends in seen.ties()), strict=True))
    failed = [ties[i] for i in chosen if i < len(ties)]
    left = seen.without([(other, one) for one, other in failed])
    kept = [tie for tie in ties if tie not in failed]
    assert list(zip(*(ends.tolist() for ends in left.ties()), strict=True)) == kept
    for name in ("open", "directed", "status", "named_by", "wave", "surveyed", "refused"):
        assert getattr(left, name) == getattr(seen, name)
    assert set(left.start) == set(seen.start)
    assert left.marks == {who: other for who, other in seen.marks.items() if other in left.contacts[who]}
    if not seen.marks:  # which set people apart, too
        assert kept_classes(left) == brute_force_classes(left)
    assert not failed or left != seen
    for person in seen.surveyed:
        seen.record_group(person, "north" if person % 2 else "south")
    assert seen.without(failed).groups == seen.groups


def test_people_with_the_same_namers_form_one_class_and_others_do_not():
    seen = Discovered()
    ann, bob = seen.add_person(), seen.add_person()
    leaves = [seen.add_person(ann) for _ in range(3)]
    seen.record_survey(ann, leaves)
    seen.record_survey(bob, leaves[:1])
    assert [group.members for group in seen.classes] == [(leaves[0],), tuple(leaves[1:])]
    assert [group.contacts for group in seen.classes] == [(ann, bob), (ann,)]
    assert [group.size for group in seen.classes] == [1, 2]


def test_an_imported_tie_between_unsurveyed_people_sets_them_apart():
    seen = Discovered()
    ann = seen.add_person()
    leaves = [seen.add_person(ann) for _ in range(4)]
    seen.record_survey(ann, leaves)
    seen.add_tie(leaves[0], leaves[1])
    assert {group.members for group in seen.classes} == {(leaves[0],), (leaves[1],), tuple(leaves[2:])}


def test_somebody_who_refused_is_in_a_class_of_their_own_kind_and_may_answer_later():
    seen = Discovered()
    ann = seen.add_person()
    leaves = [seen.add_person(ann) for _ in range(2)]
    seen.record_survey(ann, leaves)
    seen.record_refusal(leaves[0])
    assert seen.frontier == [leaves[1]]
    assert {(group.status, group.members) for group in seen.classes} == {
        (Status.REFUSED, (leaves[0],)),
        (Status.NAMED, (leaves[1],)),
    }
    seen.record_survey(leaves[0])
    assert seen.refused == []
    assert seen.surveyed == [ann, leaves[0]]


def test_a_second_survey_adds_contacts_but_counts_once():
    seen = Discovered()
    ann, bob, cat = (seen.add_person() for _ in range(3))
    seen.record_survey(ann, [bob])
    seen.record_survey(ann, [bob, cat])
    assert seen.surveyed == [ann]
    assert list(seen.contacts[ann]) == [bob, cat]


def test_waves_count_from_the_outset():
    seen = Discovered()
    ann = seen.add_person()
    bob = seen.add_person(named_by=ann)
    cat = seen.add_person(named_by=bob)
    assert [seen.wave[person] for person in (ann, bob, cat)] == [0, 1, 2]


@pytest.mark.parametrize("status", ["surveyed", "refused"])
def test_only_people_who_wait_to_be_surveyed_can_refuse(status):
    seen = Discovered()
    ann = seen.add_person()
    seen.record_survey(ann) if status == "surveyed" else seen.record_refusal(ann)
    with pytest.raises(InputError, match="not waiting"):
        seen.record_refusal(ann)


def test_nobody_is_their_own_contact():
    seen = Discovered()
    with pytest.raises(InputError, match="their own contact"):
        seen.add_tie(seen.add_person(), 0)


def test_a_survey_costs_as_much_as_its_answers_whatever_was_discovered_before(monkeypatch):
    def operations(people_before: int, answers: int) -> int:
        seen = Discovered()
        hub = seen.add_person()
        seen.record_survey(hub, [seen.add_person(hub) for _ in range(people_before)])
        count = 0
        enter = Discovered._enter_class

        def counted(self: Discovered, person: int) -> None:
            nonlocal count
            count += 1
            enter(self, person)

        with monkeypatch.context() as patch:
            patch.setattr(Discovered, "_enter_class", counted)
            seen.record_survey(1, [seen.add_person(1) for _ in range(answers)])
        return count

    assert operations(50, 10) == operations(5000, 10)
    assert operations(50, 40) < 5 * operations(50, 10)
    assert operations(50, 10) <= 3 * 10 + 1


def test_a_partly_known_network_keeps_its_people_ties_and_answers():
    network = Network.from_edges([0, 1, 2], [1, 2, 3], n=6)
    seen = Discovered.from_network(network, surveyed=[1, 1], refused=[3])
    assert len(seen) == 6
    assert seen.as_network() == network
    assert (seen.start, seen.surveyed, seen.refused) == ([1], [1], [3])
    assert seen.frontier == [0, 2, 4, 5]
    assert kept_classes(seen) == brute_force_classes(seen)


def test_a_directed_network_is_seen_with_its_directions():
    network = Network.from_edges([0, 1, 1], [1, 0, 2], n=3, directed=True)
    seen = Discovered.from_network(network, [0, 1])
    assert seen.as_network() == network
    assert [list(contacts) for contacts in seen.contacts] == [[1], [0, 2], [1]]
    assert not seen.add_tie(1, 2)
    assert seen.add_tie(2, 1)
    assert seen != Discovered.from_network(Network.from_edges([0, 1], [1, 2], n=3), [0, 1])


def test_discovered_networks_are_equal_if_the_same_was_seen():
    one, other = (Discovered.from_network(Network.from_edges([0, 1], [1, 2]), [1]) for _ in range(2))
    assert one == other
    other.record_refusal(0)
    assert one != other
    assert one != "something else"
    with pytest.raises(TypeError):
        hash(one)


def test_no_ties_are_an_empty_network():
    seen = Discovered()
    seen.add_person()
    assert [side.tolist() for side in seen.ties()] == [[], []]
    assert seen.as_network().m == 0
    assert seen.ties()[0].dtype == np.int32


def a_small_study() -> Discovered:
    """A start person named three people: the first was surveyed and named one more, the second refused."""
    seen = Discovered()
    ann = seen.add_person()
    leaves = [seen.add_person(ann) for _ in range(3)]
    seen.record_start(ann)
    seen.record_survey(ann, leaves)
    seen.record_survey(leaves[0], [seen.add_person(leaves[0])])
    seen.record_refusal(leaves[1])
    return seen


def test_networkx_gets_every_edge_once_with_status_and_wave_of_the_people():
    seen = a_small_study()
    seen.add_person()  # known from the outset, and named by no one
    graph = seen.to_networkx()
    status, wave = (list(dict(graph.nodes(data=name)).values()) for name in ("status", "wave"))
    assert list(graph) == list(range(6))
    assert status == ["start", "surveyed", "refused", "named", "named", "named"]
    assert wave == [0, 1, 1, 1, 2, 0]
    assert sorted(graph.edges) == [(0, 1), (0, 2), (0, 3), (1, 4)]


@pytest.mark.needs("torch_geometric")
def test_pyg_gets_every_edge_in_both_directions_with_flags_and_waves_of_the_people():
    seen = a_small_study()
    data = seen.to_pyg(chosen=[3])
    assert data.validate()
    assert data.x.tolist() == [[1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]]
    assert data.x.tolist() == seen.flags(chosen=[3]).tolist()
    assert data.wave.tolist() == [0, 1, 1, 1, 2]
    assert data.is_undirected()
    assert data.edge_index.shape == (2, 8)
    assert Network.of(data).checksum == seen.as_network().checksum


@pytest.mark.needs("torch_geometric")
def test_pyg_gets_a_network_without_people():
    data = Discovered().to_pyg()
    assert (data.num_nodes, data.num_edges) == (0, 0)


def test_without_pyg_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(InputError, match=r"^to_pyg needs PyTorch Geometric: pip install torch-geometric$"):
        a_small_study().to_pyg()
