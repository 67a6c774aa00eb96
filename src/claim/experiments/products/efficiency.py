"""How fast the variants learn: influence on validation start sets against training episodes."""

from typing import Any

from claim.experiments import pictures
from claim.experiments.findings import Findings
from claim.experiments.learning_curves import SUMMARY, UNIT, Group
from claim.experiments.published import EPISODES
from claim.experiments.scales import Field
from claim.experiments.section import Picture, Section, Table
from claim.learning.config import VARIANTS


def sample_efficiency(findings: Findings) -> Section:
    """Validation curves of all variants and seeds."""
    scale = findings.paper.scale
    groups = [group for field in findings.paper.fields for group in _groups(findings, field)]
    table = Table(
        "sample-efficiency",
        f"Influence on validation start sets of the training networks, {UNIT}",
        ["family", "variant", *SUMMARY],
        [[each.labels["family"], each.labels["variant"], *each.summary(findings)] for each in groups],
        [row for each in groups for row in each.rows(findings)],
    )
    words = [
        f"{scale.episodes} episodes instead of the {EPISODES} of the authors' early code; whether the curves have gone "
        "flat by then shows in the means over the first and the second half of the training. Validation start sets are "
        "never trained on; 1 is what surveying a random class of people reaches.",
    ]
    figure = Picture(
        "sample-efficiency",
        "Validation score against training episodes: mean over seeds, shaded one deviation.",
        _figure(findings),
    )
    return Section("sample-efficiency", "Sample efficiency", words, [table], [figure])


def _groups(findings: Findings, field: Field) -> list[Group]:
    return [Group(findings.paper.trainings(variant, field)) for variant in VARIANTS]


def _figure(findings: Findings) -> Any:
    fields = findings.paper.fields
    figure, axes = pictures.panels(len(fields))
    for axis, field in zip(axes, fields, strict=True):
        for group, color in zip(_groups(findings, field), pictures.COLORS, strict=False):
            group.draw(findings, axis, color)
        pictures.title(axis, field.family)
    pictures.legend(figure, axes)
    figure.supxlabel("training episodes", fontsize=9)
    figure.supylabel("relative to a random class", fontsize=9)
    return figure
