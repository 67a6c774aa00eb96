"""Sections on goals, stability and learning curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from claim.evaluation.runs import ProtocolName
from claim.evaluation.statistics import standard_error, t_test_p_value
from claim.evaluation.tables import stars
from claim.experiments import page
from claim.experiments.jobs import Play, Train
from claim.experiments.page import NOT_RUN, Picture, Section, Table, shown
from claim.experiments.paper import PROTOCOLS, STABILITY, Method
from claim.experiments.published import CONFIDENTIAL
from claim.experiments.published import STABILITY as PUBLISHED
from claim.experiments.results import Findings, last_influence
from claim.networks import Network
from claim.networks.network import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


HEURISTIC = "heuristic"
CLOSE = 0.2  # the paper: after training, the influence is "at most within 20 %" of the goal


def goals(findings: Findings) -> Section:
    """Goal against reached influence, sensitivity to estimates, one constant goal against goals of start sets."""
    against = [row for network, role in _networks(findings) for row in _against(findings, network, role)]
    wrong = [row for network in findings.paper.networks.values() for row in _wrong(findings, network)]
    words = [
        "CLAIM's first model, field protocol, greedy oracle. Goals come from the averages of the family's training "
        "networks, as for a network of which nothing is known. The paper says that on the training network copen the "
        f"influence reached is within {CLOSE:.0%} of the goal, and mostly below it.",
        "Beside the heuristic: one constant goal, the average influence, and the proven upper bound of what can be "
        "reached, each as the goals of the same policy while it surveys.",
        "Below: the estimates that goals are made from are multiplied by a factor while the trained policy surveys, or "
        "already while it is trained; or the constant goal or the bound takes the heuristic's place. A straight line "
        "in the influence ranks surveys alike whatever the goal, so that in the affine form wrong goals while "
        "surveying cannot change a choice.",
    ]
    figure = Picture(
        "goals",
        "The heuristic's goal and people reached, one point a start set; on the line they are equal.",
        _scatter(findings),
    )
    return Section("goals", "Goals", words, [_against_table(against), _wrong_table(wrong)], [figure])


def _networks(findings: Findings) -> list[tuple[Network, str]]:
    fields = findings.paper.fields
    trained = [(network, "training") for field in fields for network in field.train]
    judged = [(network, "test") for field in fields for network in field.test]
    return list({network.name: (network, role) for network, role in judged + trained}.values())


def _plays(findings: Findings, network: Network) -> dict[str, Play]:
    """Studies of CLAIM's first model by where its goals come from; on training networks only the heuristic's."""
    rules = {wish.name for wish in findings.paper.scale.survey_wishes if wish.constant or wish.bound}
    found = {HEURISTIC: findings.paper.goal_play(network)}
    if network.name in findings.paper.networks:
        wishes = findings.paper.wish_plays(network)
        found |= {how: play for (when, how), play in wishes.items() if when == "surveys" and how in rules}
    return found


def _pairs(findings: Findings, play: Play) -> tuple[FloatArray, FloatArray] | None:
    played = findings.result(play)
    return None if played is None else (np.array(played["goal"]), last_influence(played))


def _against(findings: Findings, network: Network, role: str) -> list[dict[str, Any]]:
    return [
        {"network": network.name, "role": role, "goals": rule, **_agreement(_pairs(findings, play))}
        for rule, play in _plays(findings, network).items()
    ]


def _agreement(pairs: tuple[FloatArray, FloatArray] | None) -> dict[str, Any]:
    if pairs is None:
        return dict.fromkeys(("runs", "goal", "reached", "ratio", "correlation", "within", "below"))
    goal, reached = pairs
    varied = len(goal) > 1 and goal.std() > 1e-9 and reached.std() > 1e-9
    return {
        "runs": len(goal),
        "goal": float(goal.mean()),
        "reached": float(reached.mean()),
        "ratio": float(goal.mean() / reached.mean()),
        "correlation": float(np.corrcoef(goal, reached)[0, 1]) if varied else float("nan"),
        "within": float(np.mean(np.abs(reached - goal) <= CLOSE * goal)),
        "below": float(np.mean(reached < goal)),
    }


def _against_table(rows: Sequence[dict[str, Any]]) -> Table:
    cells = [
        [
            row["network"],
            row["role"],
            row["goals"],
            shown(row["goal"], ".1f"),
            shown(row["reached"], ".1f"),
            shown(row["ratio"]),
            shown(row["correlation"]),
            shown(row["within"], ".0%"),
            shown(row["below"], ".0%"),
        ]
        for row in rows
    ]
    heads = ["network", "role", "goals", "mean goal", "mean reached", "goal / reached", "correlation"]
    heads += [f"within {CLOSE:.0%}", "below the goal"]
    return Table("goals", "Goals against influence reached, over start sets", heads, cells, rows)


def _wrong(findings: Findings, network: Network) -> list[dict[str, Any]]:
    usual = findings.result(findings.paper.goal_play(network))
    rows = []
    for (when, how), job in findings.paper.wish_plays(network).items():
        row: dict[str, Any] = {"network": network.name, "when": when, "goals": how}
        row |= dict.fromkeys(("usual", "reached", "difference", "stderr", "p"))
        played = findings.result(job)
        if usual is not None and played is not None:
            before, after = last_influence(usual), last_influence(played)
            change = after - before
            row |= {"usual": float(before.mean()), "reached": float(after.mean()), "difference": float(change.mean())}
            row |= {"stderr": standard_error(change), "p": t_test_p_value(change)}
        rows.append(row)
    return rows


def _wrong_table(rows: Sequence[dict[str, Any]]) -> Table:
    cells = [
        [
            row["network"],
            f"while {'surveying' if row['when'] == 'surveys' else 'training'}",
            row["goals"],
            shown(row["usual"]),
            shown(row["reached"]),
            NOT_RUN if row["difference"] is None else f"{row['difference']:+.2f} ± {shown(row['stderr'])}",
            NOT_RUN if row["p"] is None else f"{shown(row['p'], '.2g')} {stars(row['p'])}",
        ]
        for row in rows
    ]
    heads = ["network", "when", "goals from", "as estimated", "reached", "difference", "p"]
    return Table("goals-wrong", "What other goals change: paired differences and t-test", heads, cells, rows)


def _scatter(findings: Findings) -> Any:
    networks = _networks(findings)
    figure, axes = page.panels(len(networks), columns=5, width=2.4, height=2.3)
    for axis, (network, role) in zip(axes, networks, strict=True):
        pairs = _pairs(findings, findings.paper.goal_play(network))
        if pairs is not None:
            goal, reached = pairs
            # Thousands of points are an image within the drawing: as shapes they would be most of the report
            axis.plot(goal, reached, ".", color=page.COLORS[0], markersize=3, alpha=0.5, rasterized=True)
            most = float(max(goal.max(), reached.max()))
            axis.plot([0, most], [0, most], color="#999999", linewidth=1)
        page.finish(axis)
        page.title(axis, f"{network.name} ({role})")
    figure.supxlabel("goal", fontsize=9)
    figure.supylabel("people reached", fontsize=9)
    return figure


def stability(findings: Findings) -> Section:
    """Mean and deviation over the models of different seeds."""
    words = [
        f"Mean ± deviation over {findings.paper.scale.seeds} models trained from different seeds, each judged on the "
        "same start sets; in brackets what the paper reports of its three models (judged on different sets of runs)."
    ]
    return Section("stability", "Stability", words, [_table(findings, protocol) for protocol in PROTOCOLS])


def _table(findings: Findings, protocol: ProtocolName) -> Table:
    networks = findings.paper.networks.values()
    rows = [_row(findings, method, network, protocol) for network in networks for method in STABILITY]
    cells = [[network.name, *(_cell(row) for row in rows if row["network"] == network.name)] for network in networks]
    heads = ["network", *(method.name for method in STABILITY)]
    caption = f"Mean ± deviation over models, {protocol} protocol (published)"
    return Table(f"stability-{protocol}", caption, heads, cells, rows)


def _row(findings: Findings, method: Method, network: Network, protocol: ProtocolName) -> dict[str, Any]:
    models = findings.models(method, network, protocol)
    means = None if models is None else [float(last_influence(each).mean()) for each in models]
    beside = PUBLISHED[method.policy].get(network.name) if protocol == "paper" else None
    if network.name in CONFIDENTIAL:
        beside = None
    return {
        "network": network.name,
        "protocol": protocol,
        "method": method.name,
        "part": findings.part([method], network, protocol),
        "means": means,
        "mean": None if means is None else float(np.mean(means)),
        "deviation": None if means is None else float(np.std(means, ddof=1)) if len(means) > 1 else float("nan"),
        "published_mean": None if beside is None else beside[0],
        "published_deviation": None if beside is None else beside[1],
    }


def _cell(row: dict[str, Any]) -> str:
    if row["mean"] is None:
        return NOT_RUN
    beside = (
        "" if row["published_mean"] is None else f" ({row['published_mean']:.2f} ± {row['published_deviation']:.2f})"
    )
    return f"{row['mean']:.2f} ± {shown(row['deviation'])}{beside}{row['part']}"


SUMMARY = ["models", "untrained", "first half", "second half", "best", "at episode"]
UNIT = "relative to surveying a random class"


@dataclass(frozen=True)
class Group:
    """The trainings of one variant, family and budget from all seeds."""

    trainings: Sequence[Train]

    @property
    def labels(self) -> dict[str, Any]:
        """What tells it from other groups."""
        first = self.trainings[0]
        return {"family": first.family, "surveys": first.config.budget, "variant": first.variant}

    def rows(self, findings: Findings) -> list[dict[str, Any]]:
        """One a validation; models are numbered by their seeds."""
        found = [(training.seed, findings.result(training)) for training in self.trainings]
        return [
            {
                **self.labels,
                "model": seed,
                "episode": entry["episode"],
                "score": entry["score"],
                "reached": _words(entry),
            }
            for seed, result in found
            if result is not None
            for entry in result["curve"]
        ]

    def summary(self, findings: Findings) -> list[str]:
        """Cells: how many models, and the means over them untrained, in both halves of the training, and at best."""
        rows = self.rows(findings)
        done, wanted = len({row["model"] for row in rows}), len(self.trainings)
        models = str(done) if done == wanted else f"{done} of {wanted}"
        if not rows:
            return [models, *[NOT_RUN] * 4, "–"]
        means = _by_episode(rows)
        last = max(means)
        halves = [[row["score"] for row in rows if row["episode"] > 0 and (row["episode"] > last / 2) == late]
                  for late in (False, True)]  # fmt: skip
        best = max(means, key=lambda episode: means[episode])
        numbers = [means.get(0), *(float(np.mean(half)) if half else float("nan") for half in halves), means[best]]
        return [models, *(shown(each, ".3f") for each in numbers), str(best)]

    def draw(self, findings: Findings, axis: "Axes", color: str) -> None:
        """The mean over the models, shaded their deviation."""
        rows = self.rows(findings)
        if rows:
            episodes = sorted(_by_episode(rows))
            scores = [[row["score"] for row in rows if row["episode"] == episode] for episode in episodes]
            mean = [float(np.mean(each)) for each in scores]
            spread = [float(np.std(each, ddof=1)) if len(each) > 1 else 0.0 for each in scores]
            page.line(axis, episodes, mean, spread, self.labels["variant"], color)


def _words(entry: dict[str, Any]) -> str:
    """People reached on each training network."""
    return ", ".join(f"{network} {reached:.2f}" for network, reached in entry["reached"].items())


def _by_episode(rows: Sequence[dict[str, Any]]) -> dict[int, float]:
    episodes = sorted({row["episode"] for row in rows})
    return {each: float(np.mean([row["score"] for row in rows if row["episode"] == each])) for each in episodes}
