"""What every file format has in common: its endings, how it is recognised, what reading it gives."""

from collections.abc import Callable
from dataclasses import dataclass

from claim.networks.formats.text import Source, shown
from claim.networks.network import FloatArray, Label, OffsetArray

PROBABILITY_NAMES = frozenset({"p", "prob", "probability"})


@dataclass(frozen=True)
class Options:
    """How the user wants a file to be read."""

    directed: bool | None = None  # None: as the file says, else undirected
    probabilities: bool = False  # the values beside the edges are probabilities


@dataclass(frozen=True)
class Parsed:
    """The people and edges of a file, before self-loops and repeated edges are dropped."""

    labels: list[Label]
    sources: OffsetArray
    targets: OffsetArray
    directed: bool
    probabilities: FloatArray | None = None


@dataclass(frozen=True)
class Format:
    """One file format."""

    name: str
    endings: tuple[str, ...]
    looks_like: Callable[[bytes], bool]  # is given the first bytes of the file
    read: Callable[[Source, Options], Parsed]


def parse_probability(source: Source, line: int, text: str) -> float:
    """A number from 0 to 1, or an error at this line."""
    if not text:
        raise source.error(line, "the probability is missing")
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        value = None
    if value is None or not 0 <= value <= 1:  # also refuses NaN
        raise source.error(line, f"probability {shown(text)} is not a number from 0 to 1")
    return value
