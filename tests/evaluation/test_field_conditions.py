"""Leaders who do not come, an unknown p and partial answers in a comparison."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from evaluation_cases import contacts, hubs_and_leaves, study_results
from scipy.stats import kstest

from claim.cascades import Worlds
from claim.errors import InputError
from claim.evaluation import compare
from claim.evaluation.compare import optimum
from claim.evaluation.report import write_run_folder
from claim.evaluation.runs import (
    Method,
    ReachEvaluator,
    StudySettings,
    mean_over_attendance,
    selector_for,
)
from claim.networks import Network


def who_comes_by_hand(worlds: Worlds, leaders: list[int], attendance: float) -> float:
    total = 0.0
    for there in product([False, True], repeat=len(leaders)):
        come = [who for who, comes in zip(leaders, there, strict=True) if comes]
        total += attendance ** len(come) * (1 - attendance) ** (len(leaders) - len(come)) * worlds.influence(come).mean
    return total


def test_the_mean_over_attendance_is_exact():
    network = hubs_and_leaves(40)
    worlds = Worlds.draw(network, 0.3, 50, seed=1)
    for leaders in ([], [4], [0, 1, 2, 17], list(range(6))):
        found = mean_over_attendance(worlds, leaders, 0.37)
        assert found == pytest.approx(who_comes_by_hand(worlds, leaders, 0.37))
    assert mean_over_attendance(worlds, [0, 5], 1.0) == pytest.approx(worlds.influence([0, 5]).mean)


@pytest.mark.parametrize("directed", [False, True])
def test_a_referee_without_kept_worlds_agrees(directed):
    chain = Network.from_edges(range(9), range(1, 10), directed=directed)
    network = chain if directed else hubs_and_leaves()
    played = ReachEvaluator(network, 0.5, 20_000, seed=3, attendance=0.4, keep=False).influence([1, 2, 3])
    if directed:  # person i reaches the rest of the chain; the first who comes counts
        reach = {who: sum(0.5**step for step in range(10 - who)) for who in (1, 2, 3)}
        alone = 0.4 * (reach[1] + 0.6 * reach[2] + 0.36 * reach[3])
        assert alone < played < 0.4 * sum(reach.values())
    else:
        kept = ReachEvaluator(network, 0.5, 20_000, seed=3, attendance=0.4).influence([1, 2, 3])
        assert played == pytest.approx(kept, rel=0.08)  # 200 draws of who comes


def test_who_comes_is_the_same_for_all_leader_sets():
    """A leader set that is part of another can never reach more, not even by the luck of the draw."""
    judge = ReachEvaluator(hubs_and_leaves(), 0.1, 400, seed=0, attendance=0.5, keep=False)
    assert judge.influence([5]) <= judge.influence([5, 6]) <= judge.influence([5, 6, 7])


def test_no_shows_cost_about_their_share_and_less_where_leaders_stand_in_for_one_another():
    full, half = (compare(contacts(), "random", runs=8, attendance=share, workers=1) for share in (1.0, 0.5))
    assert 0.5 * full.rows[0].mean < half.rows[0].mean < 0.75 * full.rows[0].mean
    assert 0.5 * full.opt["contacts"] < half.opt["contacts"] < full.opt["contacts"]


def test_the_p_of_a_run_is_drawn_evenly_from_the_range_and_is_the_same_for_everybody():
    settings = StudySettings(seed=3, p_range=(0.05, 0.2))
    drawn = [settings.true_p(run) for run in range(400)]
    assert kstest(drawn, "uniform", (0.05, 0.15)).pvalue > 0.001
    assert drawn == [replace(settings, selector_informed=False, budget=9).true_p(run) for run in range(400)]
    assert settings.chances() == pytest.approx((0.065, 0.095, 0.125, 0.155, 0.185))
    assert (StudySettings(seed=3).true_p(4), StudySettings(seed=3).chances()) == (0.1, ())


def test_a_run_is_judged_at_its_own_p():
    network, starts = contacts(), [(run, [run, run + 20]) for run in range(3)]
    settings = StudySettings(seed=1, leaders=4, p_range=(0.05, 0.6), selector_informed=False)
    method = Method("random", "greedy", "field")
    for (run, start), (outcome,) in zip(starts, study_results(network, method, settings, starts, [5]), strict=True):
        known = StudySettings(seed=1, leaders=4, p=settings.true_p(run))
        alone = ReachEvaluator(network, known.p, 10_000, seed=99).influence(outcome.leaders)
        assert outcome.influence == pytest.approx(alone, rel=0.05)
        ((without,),) = study_results(network, method, StudySettings(seed=1, leaders=4), [(run, start)], [5])
        assert outcome.leaders == without.leaders  # selectors that are told nothing choose for the usual p


def test_opt_of_a_range_knows_p():
    network = contacts()
    opts = [optimum(network, StudySettings(seed=2, p=p)) for p in StudySettings(seed=2, p_range=(0.1, 0.3)).chances()]
    assert optimum(network, StudySettings(seed=2, p_range=(0.1, 0.3))) == pytest.approx(np.mean(opts))


@pytest.mark.parametrize("name", ["greedy", "foresight:free"])
def test_selectors_are_told_unless_they_are_not(name):
    settings = StudySettings(seed=0, attendance=0.6, p_range=(0.05, 0.2))
    told = selector_for(Method("random", name, "field"), contacts(), settings)
    untold = selector_for(Method("random", name, "field"), contacts(), replace(settings, selector_informed=False))
    assert (told.attendance, told.p_range) == (0.6, settings.chances())
    assert (untold.attendance, untold.p_range) == (1.0, ())


def test_knowing_the_attendance_pays_where_reserves_matter():
    """Ten stars of very unequal size, fully seen: with few who come a second leader in the largest is worth more."""
    sizes = [60, 8, 8, 8]
    ends = [(hub, leaf) for hub, size in enumerate(sizes) for leaf in range(size)]
    first = np.cumsum([len(sizes), *sizes])
    network = Network.from_edges([hub for hub, _ in ends], [int(first[hub] + leaf) for hub, leaf in ends])
    settings = StudySettings(seed=0, leaders=3, p=0.9, attendance=0.3)
    starts = [(0, list(range(network.n)))]
    reached = [
        study_results(network, Method("random", "greedy", "field"), each, starts, [0])[0][0].influence
        for each in (settings, replace(settings, selector_informed=False))
    ]
    assert reached[0] > 1.1 * reached[1]


def test_partial_answers_discover_less():
    full, part = (compare(contacts(), "random", runs=6, answers=share, workers=1).rows[0] for share in (1.0, 0.4))
    assert part.discovered < 0.75 * full.discovered


@pytest.mark.parametrize("condition", [{"attendance": 0.6, "answers": 0.7}, {"p_range": (0.05, 0.2)}])
def test_field_conditions_can_be_repeated_with_any_number_of_workers(condition):
    one, two = (compare(contacts(), "random,change", runs=50, workers=workers, **condition) for workers in (1, 2))
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())


def test_the_record_names_field_conditions_only_where_there_are_any():
    calm = compare(contacts(), "random", runs=1, workers=1).manifest
    assert set(calm["settings"]) == {
        "seed", "budget", "start_size", "leaders", "p", "per_round", "refusal", "unit", "runs", "start_sets",
    }  # fmt: skip
    harsh = compare(
        contacts(),
        "random",
        runs=1,
        attendance=0.6,
        p_range=[0.05, 0.2],
        answers=0.7,
        selector_informed=False,
        workers=1,
    ).manifest
    options = "--attendance 0.6 --p-range 0.05,0.2 --report-rate 0.7 --selector-unaware"
    assert harsh["command"].endswith(f"--probability 0.1 {options}")
    settings = json.loads(json.dumps(harsh["settings"]))
    names = ("attendance", "p_range", "report_rate", "selector_informed")
    assert [settings[name] for name in names] == [0.6, [0.05, 0.2], 0.7, False]


def test_a_report_of_a_troubled_comparison_is_written(tmp_path):
    result = compare(contacts(), "random", runs=2, attendance=0.4, p_range=(0.1, 0.2), answers=0.8, workers=1)
    page = write_run_folder(result, tmp_path, budgets=(0, 5), workers=1)
    assert "--attendance 0.4" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({"attendance": 0.0}, "attendance must be above 0"),
        ({"attendance": 1.2}, "attendance must be above 0 and at most 1, got 1.2"),
        ({"attendance": float("nan")}, "attendance must be"),
        ({"answers": 0}, "report_rate must be above 0"),
        ({"p_range": (0.2, 0.1)}, "the smaller first"),
        ({"p_range": (0.1,)}, "two numbers"),
        ({"p_range": (0.1, 0.2, 0.3)}, "two numbers"),
        ({"p_range": (-0.1, 0.2)}, "between 0 and 1"),
        ({"p_range": (0.1, float("nan"))}, "between 0 and 1"),
    ],
)
def test_field_conditions_that_make_no_sense_are_refused(condition, problem, monkeypatch):
    monkeypatch.setattr("claim.evaluation.batches.run_studies", lambda *_: pytest.fail("it was played"))
    with pytest.raises(InputError, match=problem):
        compare(contacts(), "random", **condition)


def test_a_range_of_p_is_refused_where_ties_have_their_own():
    own = Network.from_edges([0, 1], [1, 2], probabilities=[0.5, 0.2])
    with pytest.raises(InputError, match="probabilities of their own"):
        compare(own, "random", runs=1, p_range=(0.1, 0.3))
