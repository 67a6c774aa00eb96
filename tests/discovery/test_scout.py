"""Scout: its signals worked out by hand, what it learns from answers, and what it must survive."""

import numpy as np
import pytest
from discovery_cases import everything_seen, hubs_and_leaves, star, study, twin_of

from claim.discovery import NEW, Discovered, Simulation, policy_named
from claim.discovery.policies.open_studies import Mix
from claim.discovery.policies.scout import (
    CLASS,
    STUDY,
    THEMES,
    Answers,
    Scout,
    Weights,
    class_signals,
    shipped_weights,
    strongest,
    study_signals,
)
from claim.discovery.policies.simple import named_by_many_and_lonely
from claim.discovery.reasons import reasons_of, reasons_of_each
from claim.fitting.scout import Moment, fit
from claim.networks import Network, load

SCOUT = policy_named("scout")


def seen_from(ties: list[tuple[int, int]], surveyed: list[int], n: int | None = None) -> Discovered:
    sources, targets = zip(*ties, strict=True)
    return Discovered.from_network(Network.from_edges(sources, targets, n=n), surveyed)


def signal(seen: Discovered, person: int, name: str) -> float:
    groups = seen.frontier_classes
    place = next(i for i, group in enumerate(groups) if person in group.members)
    return float(class_signals(Answers.of(seen), groups)[place, CLASS.index(name)])


# 0 knows 1, 2, 3; 1 knows 0, 2, 4; 5 knows only 6. Surveyed in the order 0, 1, 5.
TIES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (5, 6)]


def test_answers_tell_what_was_new_and_who_had_been_named():
    answers = Answers.of(seen_from(TIES, [0, 1, 5]))
    assert answers.degree.tolist() == [3, 3, 1]
    assert answers.news.tolist() == [3, 1, 1]  # of the contacts of 1 only 4 had not been named
    assert answers.earlier.tolist() == [0, 1, 0]
    assert answers.pairs.tolist() == [[1, 0]]
    assert answers.reached.tolist() == [1]


def test_class_signals_are_what_they_say():
    seen = seen_from(TIES, [0, 1, 5])
    assert signal(seen, 2, "namers") == pytest.approx(np.log(2))
    assert signal(seen, 2, "lonely namers") == pytest.approx(2 / 3)
    assert signal(seen, 6, "loneliest namer") == 1
    assert signal(seen, 2, "namers who know each other") == 1
    assert signal(seen, 3, "namers who know each other") == 0
    assert signal(seen, 3, "share alike") == pytest.approx(1 / 3)
    assert signal(seen, 2, "named twice around") > signal(seen, 6, "named twice around")


def test_study_signals_tell_circles_from_trees_and_hubs_from_equals():
    circle = study_signals(Answers.of(seen_from([(i, j) for i in range(6) for j in range(i)], [0, 1, 2])))
    tree = study_signals(Answers.of(seen_from([(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)], [0, 1, 2])))
    assert circle[STUDY.index("closure")] > 0.5 > 0.2 > tree[STUDY.index("closure")]
    assert circle[STUDY.index("news")] < tree[STUDY.index("news")]
    loners = seen_from([(0, i) for i in range(1, 20)], [1, 2, 0])
    assert study_signals(Answers.of(loners))[STUDY.index("mixing")] < -0.2


def test_a_study_and_the_file_of_its_ties_say_the_same():
    network = hubs_and_leaves()
    seen = study(network, policy_named("random"), [0, 9], 7, budget=10).discovered
    again = Discovered.from_network(seen.as_network(), seen.surveyed)
    one, other = Answers.of(seen), Answers.of(again)
    assert one.news.sum() == other.news.sum()
    np.testing.assert_allclose(study_signals(one), study_signals(other))
    np.testing.assert_allclose(class_signals(one, seen.frontier_classes), class_signals(other, again.frontier_classes))


def learnt_on(name: str) -> dict[str, float]:
    """The mean weights after 25 random surveys, by signal."""
    network, found = load(name), []
    for seed in range(6):
        start = np.random.default_rng(seed).choice(network.n, 5, replace=False).tolist()
        seen = study(network, policy_named("random-class"), start, seed, budget=25).discovered
        found.append(shipped_weights().of_study(study_signals(Answers.of(seen))))
    return dict(zip(CLASS, np.mean(found, axis=0), strict=True))


def test_answers_change_what_it_goes_by():
    stars, meadow = learnt_on("stars5"), learnt_on("meadow5")
    assert stars["namers"] > meadow["namers"] + 0.1  # a hub is named by many; in a circle everybody is


def agreement(name: str) -> float:
    """How often scout asks somebody whom degree+inverse could have asked, after ten answers."""
    network, agreed = load(name), []
    for seed in range(6):
        start = np.random.default_rng(seed).choice(network.n, 5, replace=False).tolist()
        simulation, rng = study(network, SCOUT, start, seed, budget=10), np.random.default_rng(seed)
        for _ in range(10):
            seen = simulation.discovered
            groups = seen.frontier_classes
            scores = {member: named_by_many_and_lonely(seen, member) for each in groups for member in each.members}
            chosen = SCOUT.choose(seen, rng)[0]
            agreed.append(scores[chosen] > max(scores.values()) - 1e-9)
            simulation.ask(chosen)
    return float(np.mean(agreed))


def test_it_follows_hubs_where_there_are_hubs_and_not_where_circles_are_closed():
    assert agreement("stars5") > agreement("meadow5") + 0.2


def test_the_network_behind_the_wall_has_no_say():
    network, rng = hubs_and_leaves(), np.random.default_rng(5)
    first = study(network, SCOUT, [0, 9], 7, budget=8)
    twin = study(twin_of(network, first, rng), SCOUT, [0, 9], 7, budget=8)
    assert everything_seen(first.discovered) == everything_seen(twin.discovered)


def test_people_whom_nothing_tells_apart_have_the_same_chance():
    found = np.zeros(6)
    for seed in range(300):
        found[SCOUT.choose(Discovered.from_network(star(5), [0]), np.random.default_rng(seed))[0]] += 1
    assert found[0] == 0
    assert found[1:].min() > 35


def test_it_goes_on_through_refusals_and_ends_with_the_frontier():
    network = hubs_and_leaves()
    simulation = study(network, SCOUT, [0, 9], 3, budget=500, refusal=0.3)
    seen = simulation.discovered
    assert seen.frontier == []
    assert len(seen.refused) > 20
    assert not set(seen.refused) & set(seen.surveyed)


def test_isolated_start_people_leave_nobody_to_ask():
    alone = Simulation(Network.from_edges([2], [3], n=5), [0, 1], np.random.default_rng(0))
    assert SCOUT.choose(alone.discovered, np.random.default_rng(0)) == []
    one_isolated = Simulation(Network.from_edges([2], [3], n=5), [0, 2], np.random.default_rng(0))
    assert one_isolated.people[SCOUT.choose(one_isolated.discovered, np.random.default_rng(0))[0]] == 3


def test_people_on_a_list_whom_nobody_named_come_last():
    seen = seen_from([(0, 1), (0, 2), (3, 4)], [0], n=6)
    for seed in range(10):
        chosen = SCOUT.choose(seen, np.random.default_rng(seed), 9)
        assert set(chosen[:2]) == {1, 2}
        assert set(chosen[2:]) == {3, 4, 5}
    assert sorted(SCOUT.choose(seen_from([(0, 1)], []), np.random.default_rng(0), 2)) == [0, 1]


def test_a_star_of_3000_is_no_trouble():
    simulation = study(star(3000), SCOUT, [1, 2, 3], 1, budget=30)
    assert simulation.people[simulation.discovered.surveyed[3]] == 0
    assert len(simulation.discovered.surveyed) == 33


@pytest.mark.parametrize("policy", [SCOUT, Mix(0.5, SCOUT, "mix", 10)])
def test_reasons_of_several_people_are_those_of_each(policy):
    seen = study(load("stars5"), SCOUT, [0, 1, 2, 3, 4], 2, budget=6).discovered
    seen.open = True
    people = [NEW, *(group.members[0] for group in seen.frontier_classes)]
    together = reasons_of_each(policy, seen, people)
    assert together == [reasons_of(policy, seen, person) for person in people]
    assert len({tuple(map(str, said[1:])) for said in together}) > 2  # not the same words for all


def test_reasons_are_words_about_this_person():
    seen = study(load("stars5"), SCOUT, [0, 1, 2, 3, 4], 2, budget=6).discovered
    chosen = SCOUT.choose(seen, np.random.default_rng(0))[0]
    said = [reason.translated({}, lambda person: f"P{person}") for reason in Scout().reasons(seen, chosen)]
    assert said[0].startswith("named by P")
    assert len(said) > 1
    assert set(said[1:]) <= {words for theme in THEMES for words in (theme.high, theme.low)}
    listed = seen_from([(0, 1), (3, 4)], [0])
    assert [str(reason) for reason in Scout().reasons(listed, 3)] == ["nobody surveyed has named this person yet"]


def test_nothing_is_said_that_is_not_so():
    parts, above = np.zeros(len(CLASS)), np.zeros(len(CLASS))
    parts[CLASS.index("alike")] = 0.5  # "asked around", which the words of this theme are about, is as everywhere
    assert strongest(parts, above) == []
    parts[CLASS.index("asked around")], above[CLASS.index("asked around")] = 0.1, -1.0
    assert strongest(parts, above) == [THEMES[-1].low]
    parts[CLASS.index("asked around")] = -0.1  # it speaks against them
    assert strongest(parts, above) == []


def test_every_signal_belongs_to_one_theme():
    assert sorted(signal for theme in THEMES for signal in theme.signals) == sorted(CLASS)


def test_weights_are_read_as_they_were_written():
    text = shipped_weights().to_json()
    assert Weights.from_json(text).to_json() == text
    with pytest.raises(ValueError, match="other signals"):
        Weights.from_json(text.replace('"closure"', '"something else"'))


def test_fitting_finds_the_signal_that_decides_and_what_turns_it_round():
    rng = np.random.default_rng(0)
    moments = []
    for _ in range(400):
        kind, classes = rng.normal(size=len(STUDY)), rng.normal(size=(8, len(CLASS)))
        moments.append(Moment("made up", kind, classes, np.exp(classes[:, 2] - 2 * kind[1] * classes[:, 5])))
    table = fit(moments).table
    assert table[2, 0] == pytest.approx(1, abs=0.25)
    assert table[5, 2] == pytest.approx(-2, abs=0.5)
    table[2, 0] = table[5, 2] = 0
    assert np.abs(table).max() < 0.25


# Marks and new people


def test_a_marked_person_is_asked_before_those_like_them():
    seen = Discovered()
    seen.record_start(seen.add_person())
    for _ in range(5):
        seen.add_tie(0, seen.add_person(0))
    seen.record_mark(0, 3)
    asked = [SCOUT.choose(seen, np.random.default_rng(seed))[0] for seed in range(300)]
    assert asked.count(3) > 90  # 60 by chance
    assert [str(why) for why in SCOUT.reasons(seen, 3)][1] == "one person says that this contact knows the most people"
    first = [policy_named("scout:1").choose(seen, np.random.default_rng(seed))[0] for seed in range(300)]
    assert first.count(3) < 80


def stars_study(tied: bool, leaves: int) -> Discovered:
    """Fifteen new people, each of whom named the centre of a star; seven centres, who may be tied, were asked."""
    seen = Discovered(open=True)
    centres = []
    for _ in range(15):
        drawn = seen.add_person()
        seen.record_start(drawn)
        centres.append(seen.add_person(drawn))
        seen.add_tie(drawn, centres[-1])
    for centre in centres[:7]:
        seen.record_survey(centre, [seen.add_person(centre) for _ in range(leaves)])
        for other in centres if tied else ():
            if other != centre:
                seen.add_tie(centre, other)
    return seen


def test_new_people_come_first_and_again_where_they_are_needed():
    scout = Scout(interviews=25)
    assert scout.choose(Discovered(open=True), np.random.default_rng(0), 15) == [NEW] * 15
    for tied, leaves, new, why in (
        (False, 20, 3, "15 of 15 new people are not connected with the others through people you know"),
        (True, 0, 3, "the last 7 people asked named only people you know"),
        (True, 20, 0, "a new person is likely to bring more than the people named so far"),
    ):
        seen = stars_study(tied, leaves)
        chosen = scout.choose(seen, np.random.default_rng(0), 8)
        assert chosen.count(NEW) == max(new, 8 - len(seen.frontier)), (tied, leaves)
        assert [str(reason) for reason in scout.reasons(seen, NEW)] == [why]
        assert NEW not in scout.choose(seen.closed(), np.random.default_rng(0), 8)


def test_the_share_of_new_people_depends_on_the_number_of_interviews():
    seen = stars_study(tied=True, leaves=20)
    forty = Scout().for_study(100, 0.1).choose(seen, np.random.default_rng(0), 40)
    assert forty[:35] == [NEW] * 35  # 15 of 50 are done
    assert forty[35:] == Scout().choose(seen.closed(), np.random.default_rng(0), 5)
    few = Discovered(open=True)
    few.record_start(few.add_person())
    said = [str(Scout().for_study(interviews, 0.1).reasons(few, NEW)[0]) for interviews in (100, 10, 1)]
    assert said == [
        "1 of 50 new people have been interviewed; named people follow",
        "1 of 10 new people have been interviewed",
        "everyone who was named has been asked",
    ]
