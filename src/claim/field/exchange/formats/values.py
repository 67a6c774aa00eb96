"""Cells as values, and values as cells; what cannot be read is a problem at its line."""

import math
from datetime import datetime

from claim.field.exchange.files.tables import Table
from claim.field.exchange.formats.builder import Builder
from claim.networks.formats.text import shown

_TRUE = frozenset({"true", "yes", "1", "y", "t", "x"})
_FALSE = frozenset({"false", "no", "0", "n", "f", ""})
_MAX_DIGITS = 40


def written(value: object) -> str:
    """A number, a truth value or nothing as a cell that reads back exactly; texts are the caller's business."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


class Cells:
    """Reads the cells of one row."""

    def __init__(self, builder: Builder, table: Table, line: int, strict: bool) -> None:
        self._builder, self._table, self._line, self._strict = builder, table, line, strict

    def whole(self, text: str, title: str) -> int | None:
        """A whole number; spreadsheets like to write it ``3.0``."""
        text = text.strip()
        number = text.removesuffix(".0")
        if not text:
            return None
        if (
            not number.removeprefix("-").isascii()
            or not number.removeprefix("-").isdigit()
            or len(number) > _MAX_DIGITS
        ):
            self._complain(f"{title} {shown(text)} is not a whole number")
            return None
        return int(number)

    def count(self, text: str, title: str) -> int | None:
        """A whole number that is not negative."""
        number = self.whole(text, title)
        if number is not None and number < 0:
            self._complain(f"{title} {shown(text)} is negative")
            return None
        return number

    def number(self, text: str, title: str) -> float | None:
        """A finite number."""
        text = text.strip()
        if not text:
            return None
        try:
            value = float(text) if "_" not in text and len(text) <= _MAX_DIGITS else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self._complain(f"{title} {shown(text)} is not a number")
            return None
        return value

    def truth(self, text: str, title: str) -> bool | None:
        """Yes or no; None if the cell is empty."""
        word = text.strip().casefold()
        if word not in _TRUE | _FALSE:
            self._complain(f"{title} {shown(text)} is neither true nor false")
        return None if not word else word in _TRUE

    def one_of(self, text: str, words: tuple[str, ...], title: str) -> str | None:
        """One of some words; None if the cell is empty."""
        word = text.strip().casefold()
        if not word or word in words:
            return word or None
        self._complain(f"{title} {shown(text)} is none of {', '.join(words)}")
        return None

    def time(self, text: str, title: str) -> str | None:
        """A date, or a date and time, in the order year, month, day; kept as it is written."""
        text = text.strip()
        if not text:
            return None
        try:
            datetime.fromisoformat(text)
        except ValueError:
            self._complain(f"{title} {shown(text)} is not a date such as 2027-01-31 or 2027-01-31T14:05:00Z")
            return None
        return text

    def _complain(self, problem: str) -> None:
        """In the project's own tables this stops the import; elsewhere the column may well mean something else."""
        if self._strict:
            self._builder.problems.add(self._table.where, self._line, problem)
        else:
            self._builder.notes.add(self._table.where, self._line, f"{problem}: left out")
