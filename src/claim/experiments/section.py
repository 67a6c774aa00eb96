"""The parts of a report: words, tables and pictures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from claim.experiments.pictures import rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOT_RUN = "not run"


@dataclass(frozen=True)
class Table:
    """A table for people, and the same numbers in full for machines."""

    name: str  # of its file
    caption: str
    heads: Sequence[str]
    cells: Sequence[Sequence[str]]
    rows: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Picture:
    """A figure and what it shows."""

    name: str  # of its file
    caption: str
    figure: "Figure"

    @cached_property
    def svg(self) -> bytes:
        """As a vector picture; drawn once for its file and the page."""
        return rendered(self.figure, "svg")

    @cached_property
    def png(self) -> bytes:
        """As pixels."""
        return rendered(self.figure, "png")


@dataclass(frozen=True)
class Section:
    """One table or figure of the paper, with whatever belongs to it."""

    name: str
    title: str
    words: Sequence[str]
    tables: Sequence[Table] = field(default_factory=list)
    pictures: Sequence[Picture] = field(default_factory=list)


def shown(value: float | None, form: str = ".2f") -> str:
    """A number, a dash where there can be none, or that it has not been measured."""
    if value is None:
        return NOT_RUN
    return "–" if math.isnan(value) else format(value, form)
