"""Validation curves of trainings: their numbers, a summary of each group, and how they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from claim.experiments import pictures
from claim.experiments.findings import Findings
from claim.experiments.section import NOT_RUN, shown
from claim.experiments.trained import Train

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
            pictures.line(axis, episodes, mean, spread, self.labels["variant"], color)


def _words(entry: dict[str, Any]) -> str:
    """People reached on each training network."""
    return ", ".join(f"{network} {reached:.2f}" for network, reached in entry["reached"].items())


def _by_episode(rows: Sequence[dict[str, Any]]) -> dict[int, float]:
    episodes = sorted({row["episode"] for row in rows})
    return {each: float(np.mean([row["score"] for row in rows if row["episode"] == each])) for each in episodes}
