"""How fast the variants learn: influence on validation start sets against training episodes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.experiments import pictures
from claim.experiments.findings import Findings
from claim.experiments.published import EPISODES
from claim.experiments.scales import Field
from claim.experiments.section import Picture, Section, Table, shown
from claim.learning.config import VARIANTS


def sample_efficiency(findings: Findings) -> Section:
    """Validation curves of all variants and seeds."""
    scale, fields = findings.paper.scale, findings.paper.fields
    rows = [row for field in fields for variant in VARIANTS for row in _rows(findings, variant, field)]
    cells = [_summary(rows, variant, field) for field in fields for variant in VARIANTS]
    heads = ["family", "variant", "models", "untrained", "first half", "second half", "best", "at episode"]
    table = Table(
        "sample-efficiency",
        "Influence on validation start sets of the training networks, relative to surveying a random class",
        heads,
        cells,
        rows,
    )
    words = [
        f"{scale.episodes} episodes instead of the {EPISODES} of the authors' early code; whether the curves have gone "
        "flat by then shows in the means over the first and the second half of the training. Validation start sets are "
        "never trained on; 1 is what surveying a random class of people reaches.",
    ]
    figure = Picture(
        "sample-efficiency",
        f"Validation score against training episodes: mean of {scale.seeds} seeds, shaded one deviation.",
        _figure(findings),
    )
    return Section("sample-efficiency", "Sample efficiency", words, [table], [figure])


def _curves(findings: Findings, variant: str, field: Field) -> list[list[dict[str, Any]]]:
    found = [findings.result(job) for job in findings.paper.trainings(variant, field)]
    return [each["curve"] for each in found if each is not None]


def _rows(findings: Findings, variant: str, field: Field) -> list[dict[str, Any]]:
    return [
        {
            "family": field.family,
            "variant": variant,
            "model": model,
            "episode": entry["episode"],
            "score": entry["score"],
        }
        for model, curve in enumerate(_curves(findings, variant, field))
        for entry in curve
    ]


def _summary(rows: Sequence[dict[str, Any]], variant: str, field: Field) -> list[str]:
    mine = [row for row in rows if (row["family"], row["variant"]) == (field.family, variant)]
    episodes = sorted({row["episode"] for row in mine})

    def mean(least: float, most: float) -> float | None:
        scores = [row["score"] for row in mine if least <= row["episode"] <= most]
        return float(np.mean(scores)) if scores else None

    last = episodes[-1] if episodes else 0
    by_episode = {each: mean(each, each) or 0.0 for each in episodes}
    best = max(by_episode, key=lambda each: by_episode[each]) if by_episode else None
    numbers = [mean(0, 0), mean(1, last / 2), mean(last / 2 + 0.5, last), None if best is None else by_episode[best]]
    models = str(len({row["model"] for row in mine}))
    return [
        field.family,
        variant,
        models,
        *(shown(each, ".3f") for each in numbers),
        "–" if best is None else str(best),
    ]


def _figure(findings: Findings) -> Any:
    fields = findings.paper.fields
    figure, axes = pictures.panels(len(fields))
    for axis, field in zip(axes, fields, strict=True):
        for i, variant in enumerate(VARIANTS):
            curves = _curves(findings, variant, field)
            if curves:
                scores = np.array([[entry["score"] for entry in curve] for curve in curves])
                episodes = [entry["episode"] for entry in curves[0]]
                pictures.line(axis, episodes, scores.mean(axis=0), scores.std(axis=0), variant, pictures.COLORS[i])
        pictures.title(axis, field.family)
    pictures.legend(figure, axes[0])
    figure.supxlabel("training episodes", fontsize=9)
    figure.supylabel("relative to a random class", fontsize=9)
    return figure
