"""Foresight without training: greedy on the seen contacts, with people not surveyed worth more than is seen of them."""

from dataclasses import dataclass
from typing import ClassVar

from claim.selection.foresight.model import free_ranges
from claim.selection.foresight.ranges import Ranges
from claim.selection.foresight.selector import Foresight


@dataclass(frozen=True)
class FreeForesight(Foresight):
    """Fits itself to the discovered network alone, so it can be used on any kind of network."""

    name: ClassVar[str] = "foresight:free"

    def planned_attendance(self) -> float:
        """Half way to a full turnout: hubs that are seen look surer than unseen ones, and would be backed up too often.

        The fitted form, which values the unseen better, plans with the chance itself; see docs/troubles.md.
        """
        return (1.0 + self.attendance) / 2.0

    def ranges(self) -> Ranges:
        """Factors from studies on networks of many kinds."""
        return free_ranges()
