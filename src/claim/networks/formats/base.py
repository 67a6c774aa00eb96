"""What readers of all formats share: options, labels and probabilities."""

import math
import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from claim.io.text import Source, shown
from claim.networks.network import Label, Network, OffsetArray

MAX_LABEL = 10_000  # characters
_MAX_DIGITS = 100  # longer "numbers" are kept as text: Python refuses to convert very long ones

_INTEGER = re.compile(rf"0|-?[1-9][0-9]{{0,{_MAX_DIGITS - 1}}}")
_DIGITS = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(nan|inf|infinity|([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def is_integer(label: str) -> bool:
    """Whether a label is a whole number; ``007`` is not, since it would not come back as it was written."""
    return _INTEGER.fullmatch(label) is not None


def is_number(label: str) -> bool:
    """Whether a label reads as any number, such as ``007``, ``1.5`` or ``nan``."""
    return _NUMBER.fullmatch(label) is not None


class People:
    """Numbers labels ``0, 1, ...`` in order of first mention, and remembers the line of that mention."""

    def __init__(self, source: Source) -> None:
        self.index: dict[str, int] = {}
        self.lines = array("q")
        self._source = source

    def number(self, label: str, line: int) -> int:
        """The number of a label, a new one if it is new."""
        known = self.index.get(label)
        if known is not None:
            return known
        if not label:
            raise self._source.error(line, "a label is empty")
        if len(label) > MAX_LABEL:
            raise self._source.error(line, f"label {shown(label, 20)} is longer than {MAX_LABEL:,} characters")
        if _CONTROL.search(label):
            raise self._source.error(line, f"label {shown(label)} has a control character in it")
        self.lines.append(line)
        self.index[label] = number = len(self.index)
        return number

    def labelled(self, skip: int = 0, order: list[int] | None = None) -> tuple[list[Label], OffsetArray]:
        """Final labels, and the final index of every number.

        If all labels are whole numbers, people are ordered by number; otherwise as mentioned, or in the ``order``
        given. The first ``skip`` labels are left out: they turned out to be the names of columns.
        """
        texts = list(self.index)
        if all(is_integer(text) for text in texts[skip:]):
            order = sorted(range(skip, len(texts)), key=lambda i: int(texts[i]))
            return [int(texts[i]) for i in order], _inverse(order, len(texts))
        self._refuse_stray_numbers(texts, skip)
        order = list(range(skip, len(texts))) if order is None else order
        return [texts[i] for i in order], _inverse(order, len(texts))

    def _refuse_stray_numbers(self, texts: list[str], skip: int) -> None:
        """``nan`` or ``1.5`` among numbers is a broken file; among names it is a person's name."""
        odd = [i for i in range(skip, len(texts)) if not _DIGITS.fullmatch(texts[i])]
        if odd and all(is_number(texts[i]) for i in odd):
            problem = f"label {shown(texts[odd[0]])} is not a whole number; labels are all whole numbers, or names"
            raise self._source.error(self.lines[odd[0]], problem)


def _inverse(order: list[int], size: int) -> OffsetArray:
    positions = np.full(size, -1, dtype=np.int64)
    positions[order] = np.arange(len(order))
    return positions


@dataclass(frozen=True)
class Options:
    """How the user wants a file to be read."""

    directed: bool | None = None  # None: as the file says, else undirected
    probabilities: bool = False  # the values beside the edges are probabilities


@dataclass(frozen=True)
class Format:
    """One file format."""

    endings: tuple[str, ...]
    looks_like: Callable[[bytes], bool]  # is given the first bytes of the file
    read: Callable[[Source, Options], Network]


def parse_probability(source: Source, line: int, text: str) -> float:
    """A number from 0 to 1, or an error at this line."""
    if not text:
        raise source.error(line, "the probability is missing")
    value = float(text) if is_number(text) else math.nan
    if not 0 <= value <= 1:  # also refuses NaN
        raise source.error(line, f"probability {shown(text)} is not a number from 0 to 1")
    return value
