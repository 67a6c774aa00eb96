"""Fair selection: kernels against readable references, objectives against trying everyone, and what is reported."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from claim.cascades import Worlds
from claim.cli import app
from claim.errors import InputError
from claim.networks import Network
from claim.networks.groups import Groups
from claim.selection import fair_curve, select
from claim.selection.fair import FLOOR, Fair, Search, judge_fairly, least_reach, plain, welfare
from claim.selection.greedy import Candidates, Task, greedy


def community(sizes: tuple[int, ...] = (80, 40, 15), seed: int = 0) -> tuple[Network, list[str]]:
    """Groups whose people know mostly their own group; the larger the group, the more contacts they have."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(group[:, None] == group[None, :], 6.0 / np.array(sizes)[group][:, None] * (3 - group)[:, None], 0)
    chance = (chance + 0.005) / 3
    pairs = np.argwhere(np.triu(rng.random(chance.shape) < chance, 1))
    return Network.from_edges(pairs[:, 0], pairs[:, 1], n=len(group)), [f"group{i}" for i in group]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The community as a file, with a people file beside it."""
    network, values = community()
    sources, targets, _ = network.edges()
    path = tmp_path / "centre.edges"
    path.write_text("".join(f"{u} {v}\n" for u, v in zip(sources, targets, strict=True)), encoding="utf-8")
    rows = [f"{i},{value}\n" for i, value in enumerate(values) if network.degrees[i]]
    path.with_name("centre.people.csv").write_text("person,group\n" + "".join(rows), encoding="utf-8")
    return path


def search(k: int = 4, samples: int = 60, **limits: list[int]) -> Search:
    network, values = community()
    worlds = Worlds.draw(network, 0.2, samples, 1)
    return Search(worlds, Groups.of("group", values), Candidates.of(network.n, k, **limits), k, np.arange(network.n))


def reached_by(worlds: Worlds, groups: Groups, leaders: list[int]) -> np.ndarray:
    """People of each group reached in each world (worlds, groups and none), component by component."""
    out = np.zeros((worlds.samples, len(groups.names) + 1))
    for world in range(worlds.samples):
        reached = set(leaders)
        for c in range(worlds.world_starts[world], worlds.world_starts[world + 1]):
            members = set(worlds.members[worlds.starts[c] : worlds.starts[c + 1]].tolist())
            if members & set(leaders):
                reached |= members
        for person in reached:
            out[world, groups.numbers[person]] += 1
    return out


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_reach_by_group_equals_the_readable_one(data):
    n = data.draw(st.integers(1, 12))
    person = st.integers(0, n - 1)
    ties = data.draw(st.lists(st.tuples(person, person), max_size=25))
    values = data.draw(st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=n, max_size=n))
    if not any(values):
        values[0] = "a"
    leaders = sorted(data.draw(st.sets(person, max_size=4)))
    network = Network.from_edges([u for u, _ in ties], [v for _, v in ties], n=n)
    groups, worlds = Groups.of("group", values), Worlds.draw(network, 0.4, 7, data.draw(st.integers(0, 99)))
    found = Search(worlds, groups, Candidates.of(n, 1), 1, np.arange(n))
    reached, beyond = found.beyond(leaders)
    np.testing.assert_allclose(reached, reached_by(worlds, groups, leaders).mean(axis=0))
    for each in set(range(n)) - set(leaders):
        np.testing.assert_allclose(beyond[each], reached_by(worlds, groups, [*leaders, each]).mean(axis=0))


def test_without_groups_in_mind_it_is_the_greedy_oracle():
    network, values = community()
    task = Task(network, Candidates.of(network.n, 6), 6, 0.2, 200, np.random.default_rng(3), "first")
    rng = np.random.default_rng(3)
    worlds = Worlds.draw(network, 0.2, 200, int(rng.integers(2**63)))
    found = Search(worlds, Groups.of("group", values), task.candidates, 6, np.arange(network.n, 0, -1))
    expected = greedy(task)
    ours = worlds.influence(found.greedy(plain)).mean
    assert ours == pytest.approx(worlds.influence(expected).mean, rel=0.05)
    assert found.greedy(welfare(found.groups, 1.0)) == found.greedy(plain)


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.0, -2.0])
def test_welfare_is_the_formula(alpha):
    groups = Groups.of("group", ["a"] * 4 + ["b"] * 2 + [""])
    value = welfare(groups, alpha)(np.array([1.0, 0.5, 0.25]))
    shares = [(1.0 + FLOOR) / 4, (0.5 + FLOOR) / 2]
    each = [np.log(u) if alpha == 0 else u**alpha / alpha for u in shares]
    assert value == pytest.approx(4 * each[0] + 2 * each[1] + 0.25)


@pytest.mark.parametrize("value", ["welfare", "smallest"])
def test_greedy_takes_the_largest_value_and_swaps_never_lower_it(value):
    found = search(3)
    measure = welfare(found.groups, -2.0) if value == "welfare" else found.smallest
    leaders = found.greedy(measure)
    for step in range(3):
        before = leaders[:step]
        tried = {
            person: float(measure(reached_by(found.worlds, found.groups, [*before, person]).mean(axis=0)))
            for person in range(found.worlds.n)
            if person not in before
        }
        assert tried[leaders[step]] == pytest.approx(max(tried.values()))
    value_of = lambda chosen: float(measure(found.beyond(chosen)[0]))  # noqa: E731
    swapped = found.swapped(leaders, measure)
    assert value_of(swapped) >= value_of(leaders)
    alone = [found.swapped([0, 1, 2], measure)]
    assert all(value_of(each) > value_of([0, 1, 2]) for each in alone)


def test_the_smaller_alpha_the_larger_the_smallest_share():
    found = search(6, 400)
    smallest = []
    for alpha in (1.0, 0.0, -4.0):
        value = welfare(found.groups, alpha)
        reached = found.beyond(found.swapped(found.greedy(value), value))[0]
        smallest.append(float(found.shares(reached).min()))
    assert smallest[0] < 0.8 * smallest[2]
    assert smallest == sorted(smallest)
    best = float(found.shares(found.beyond(found.maximin())[0]).min())
    assert best >= smallest[-1]


def test_the_best_of_several_starts_on_more_worlds_is_better_than_one_search():
    network, values = community(seed=24)
    groups, candidates = Groups.of("group", values), Candidates.of(network.n, 5)
    made = [Worlds.draw(network, 0.2, samples, seed) for samples, seed in ((40, 1), (400, 2))]
    coarse, finer = (Search(worlds, groups, candidates, 5, np.arange(network.n)) for worlds in made)
    value = welfare(groups, -2.0)
    one = coarse.swapped(coarse.greedy(value), value)
    tried = (one, finer.swapped(one, value), coarse.best(value, finer))
    found = [float(value(finer.beyond(each)[0])) for each in tried]
    assert found[0] < found[1] < 1.05 * found[2] < 0


def test_maximin_reaches_no_less_than_a_steep_welfare_on_the_same_worlds():
    coarse, finer = search(5, 40), search(5, 400)
    steep = coarse.best(welfare(finer.groups, -9.0), finer)
    smallest = [float(finer.smallest(finer.beyond(each)[0])) for each in (coarse.maximin(finer), steep)]
    assert smallest[0] >= smallest[1]


def test_maximin_comes_close_to_the_best_of_all_pairs():
    found = search(2, 40)
    value_of = lambda chosen: float(found.smallest(found.beyond(chosen)[0]))  # noqa: E731
    best = max(map(value_of, combinations(range(found.worlds.n), 2)))
    assert value_of(found.maximin()) >= 0.95 * best


def test_diversity_gives_every_group_what_it_could_reach_alone():
    network, values = community()
    groups = Groups.of("group", values)
    task = Task(network, Candidates.of(network.n, 9), 9, 0.2, 300, np.random.default_rng(0))
    least = least_reach(task, groups)
    inside = [np.flatnonzero(groups.numbers == i) for i in range(3)]
    assert all(least[i] <= len(inside[i]) for i in range(3))
    found = Search(Worlds.draw(network, 0.2, 300, 5), groups, task.candidates, 9, np.arange(network.n))
    least = 0.9 * least  # as there are nine leaders, and 6, 3 and 1 of the groups
    reached = found.beyond(found.diverse(least))[0]
    assert (reached[:3] >= least - 1e-9).all()
    unfair = found.beyond(found.greedy(plain))[0]
    assert (unfair[:3] < least).any()  # so it had something to do
    impossible = groups.sizes.astype(float)
    short = found.beyond(found.diverse(impossible))[0]
    assert (impossible - short[:3]).clip(0).sum() < (impossible - unfair[:3]).clip(0).sum() + 1e-9


def test_limits_hold():
    found = search(5, 50, must=[3, 100], must_not=[0, 1], may=list(range(60, 135)))
    for leaders in (found.greedy(plain), found.maximin(), found.diverse(np.ones(3))):
        assert leaders[:2] == [3, 100]
        assert len(set(leaders)) == 5
        assert set(leaders[2:]) <= set(range(60, 135)) - {100}


def test_shares_gaps_and_price_are_those_of_the_worlds():
    network, values = community()
    groups = Groups.of("group", ["" if i % 10 == 0 else value for i, value in enumerate(values)])
    rng = np.random.default_rng(4)
    seen = judge_fairly(network, groups, 0.2, [1, 90], [2, 3], rng)
    from claim.randomness import draw_seed

    worlds = Worlds.draw(network, 0.2, 10_000, draw_seed(np.random.default_rng(4)))
    reached = reached_by(worlds, groups, [1, 90])
    shares = reached[:, :-1] / groups.sizes
    assert seen.reach == pytest.approx(reached.sum(axis=1).mean())
    assert [each.share for each in seen.groups.values()] == pytest.approx(shares.mean(axis=0).tolist())
    assert [each.stderr for each in seen.groups.values()] == pytest.approx((shares.std(axis=0, ddof=1) / 100).tolist())
    assert seen.gap == pytest.approx((shares.max(axis=1) - shares.min(axis=1)).mean())
    assert seen.gaps["group0", "group2"] == pytest.approx(np.abs(shares[:, 0] - shares[:, 2]).mean())
    assert seen.gap > shares.mean(axis=0).max() - shares.mean(axis=0).min()  # gaps between means are smaller
    assert seen.price == pytest.approx(reached_by(worlds, groups, [2, 3]).sum(axis=1).mean() - seen.reach)
    assert seen.unknown == 14


def test_select_reports_groups(files):
    fair = select(files, 6, 0.2, group="group", fair="welfare:-2")
    unfair = select(files, 6, 0.2, group="group")
    assert fair.fair is not None
    assert unfair.fair is not None
    assert fair.influence == pytest.approx(sum(each.reached for each in fair.fair.groups.values()))
    assert fair.fair.smallest > 1.25 * unfair.fair.smallest
    assert fair.influence > 0.9 * unfair.influence
    assert unfair.fair.price == 0
    again = select(files, 6, 0.2, group="group", fair="welfare:-2")
    assert again == fair
    assert select(files, 6, 0.2, group="group", method="degree").fair is not None


def test_a_curve_has_falling_values_of_alpha(files):
    points = fair_curve(files, 4, 0.2, 100, group="group")
    alphas = [alpha for alpha, _ in points]
    assert alphas == sorted(alphas, reverse=True)
    assert points[-1][1].smallest > points[0][1].smallest


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fair": "welfare:2", "group": "group"}, "a number from -30 to 1, got 'welfare:2'"),
        ({"fair": "welfare:nan", "group": "group"}, "a number from -30 to 1"),
        ({"fair": "welfare", "group": "group"}, "a number from -30 to 1"),
        ({"fair": "kind", "group": "group"}, "fair must be none, welfare:ALPHA, maximin or diversity, got 'kind'"),
        ({"fair": "maximin"}, "needs a group"),
        ({"fair": "maximin", "group": "group", "method": "degree"}, "the method greedy"),
        ({"group": "group", "fair": "maximin", "method": "ris"}, "the method greedy or foresight"),
        ({"group": "colour"}, "'colour' is not known of its people"),
    ],
)
def test_bad_wishes_are_refused_in_one_line(files, options, problem):
    with pytest.raises(InputError) as caught:
        select(files, 3, **options)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_group_leaves_nothing_to_balance():
    network, _ = community()
    task = Task(network, Candidates.of(network.n, 2), 2, 0.1, 10, np.random.default_rng(0))
    from claim.selection.fair import choose_fairly

    with pytest.raises(InputError, match="makes one group only, a"):
        choose_fairly(task, Groups.of("kind", ["a"] * network.n), Fair("maximin"))


def test_the_command_prints_groups_price_and_what_was_left_out(files, tmp_path):
    people = files.with_name("centre.people.csv")
    people.write_text(people.read_text("utf-8") + "zoe,group1\n", encoding="utf-8")
    command = ["select", str(files), "-k", "6", "-p", "0.2", "--group", "group", "--fair", "maximin"]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output
    assert "Reach by group" in shown.stdout
    assert "Leaders chosen for the plain reach would reach" in shown.stdout
    assert "1 people of the file are not in centre and were left out: zoe" in shown.stderr
    curve = tmp_path / "curve.svg"
    result = json.loads(CliRunner().invoke(app, [*command, "--curve", str(curve), "--json", "-"]).stdout)
    assert set(result["groups"]["group0"]) == {"size", "reached", "share", "stderr"}
    assert result["price"]["percent"] == pytest.approx(
        100 * result["price"]["people"] / (result["influence"] + result["price"]["people"])
    )
    assert b"<svg" in curve.read_bytes()
    wrong = CliRunner().invoke(app, ["select", str(files), "--fair", "maximin"])
    assert isinstance(wrong.exception, InputError)
    assert str(wrong.exception) == "--fair, --people-file and --curve go with --group ATTRIBUTE"


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (None, "no such file"),
        ("", "is empty"),
        ("person,group\n", "people.csv:1: there are no people below the header"),
        ("person,group\nzoe,a\nyan,b\n", "no one in it is in the network"),
        ("person,group\n0,a\n1,b\n0,b\n", "people.csv:4: the person '0' is in line 2 already"),
        ("person,group\n" + "".join(f"{i},g{i}\n" for i in range(135)), "'group' makes 13"),
        ("person,group\n" + "".join(f"{i},a\n" for i in range(135)), "group makes one group only, a"),
    ],
    ids=["missing", "empty", "header only", "unknown people", "doubled", "a group each", "one group"],
)
def test_bad_people_files_get_one_line_and_change_no_file(files, tmp_path, rows, problem):
    people, out = tmp_path / "people.csv", tmp_path / "out.json"
    out.write_text("{}", encoding="utf-8")
    if rows is not None:
        people.write_text(rows, encoding="utf-8")
    command = ["select", str(files), "-k", "3", "--people-file", str(people), "--group", "group", "--fair", "maximin"]
    shown = CliRunner().invoke(app, [*command, "--json", str(out)])
    assert isinstance(shown.exception, InputError)
    assert problem in str(shown.exception)
    assert "\n" not in str(shown.exception)
    assert shown.stdout == ""
    assert out.read_text("utf-8") == "{}"
    assert not rows or people.read_text("utf-8") == rows


def test_ten_thousand_groups_get_one_line(tmp_path):
    (tmp_path / "path.edges").write_text("".join(f"{i} {i + 1}\n" for i in range(10_000)), encoding="utf-8")
    rows = "".join(f"{i},g{i}\n" for i in range(10_001))
    (tmp_path / "path.people.csv").write_text("person,group\n" + rows, encoding="utf-8")
    shown = CliRunner().invoke(app, ["select", str(tmp_path / "path.edges"), "-k", "3", "--group", "group"])
    assert isinstance(shown.exception, InputError)
    assert str(shown.exception) == "'group' makes 10,001 groups, more than 100: take one of fewer values"
