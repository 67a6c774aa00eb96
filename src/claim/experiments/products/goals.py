"""The goal heuristic, one constant goal and the proven bound: goals against what is reached, and what they change."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.evaluation.statistics import standard_error, t_test_p_value
from claim.evaluation.tables import stars
from claim.experiments import pictures
from claim.experiments.findings import Findings, last_influence
from claim.experiments.played import Play
from claim.experiments.section import NOT_RUN, Picture, Section, Table, shown
from claim.networks import Network
from claim.networks.network import FloatArray

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
    figure, axes = pictures.panels(len(networks), columns=5, width=2.4, height=2.3)
    for axis, (network, role) in zip(axes, networks, strict=True):
        pairs = _pairs(findings, findings.paper.goal_play(network))
        if pairs is not None:
            goal, reached = pairs
            # Thousands of points are an image within the drawing: as shapes they would be most of the report
            axis.plot(goal, reached, ".", color=pictures.COLORS[0], markersize=3, alpha=0.5, rasterized=True)
            most = float(max(goal.max(), reached.max()))
            axis.plot([0, most], [0, most], color="#999999", linewidth=1)
        pictures.finish(axis)
        pictures.title(axis, f"{network.name} ({role})")
    figure.supxlabel("goal", fontsize=9)
    figure.supylabel("people reached", fontsize=9)
    return figure
