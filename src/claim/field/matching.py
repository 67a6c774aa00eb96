"""Who may be the same person: names that look alike, found quickly among thousands."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claim.field.names import similarity, words

LIKELY = 0.74  # similarity from which a hint is worth a look while a name is typed
ALIKE = 0.84  # from which two people are put up for a look
SHARED = 0.5  # of the shorter name's letter pairs: fewer never come out similar
MOST_COMPARED = 250  # names compared in full for one query
MOST_PAIRS = 2000
BUCKETS = 1024  # letter pairs are counted by their hash
ROWS = 512


@dataclass(frozen=True)
class Match:
    """Somebody of a similar name."""

    code: str
    name: str
    score: float


@dataclass(frozen=True)
class Prepared:
    """A name made ready for comparison."""

    words: tuple[str, ...]
    pairs: tuple[int, ...]  # buckets of its letter pairs

    @classmethod
    def of(cls, name: str) -> "Prepared":
        """Words and letter pairs; the edges of a word count as letters."""
        found = words(name)
        pairs = {_bucket(word[i : i + 2]) for each in found for word in (f"^{each}$",) for i in range(len(word) - 1)}
        return cls(found, tuple(sorted(pairs)))


class NameIndex:
    """The names of a study; forgets them when it is dropped."""

    def __init__(self, names: Iterable[tuple[str, str]], prepared: dict[str, Prepared] | None = None) -> None:
        self._names = list(names)
        before = prepared or {}
        self.prepared = {name: before.get(name) or Prepared.of(name) for _, name in self._names}
        self._table = np.zeros((len(self._names), BUCKETS), dtype=np.float32)
        pairs = [self.prepared[name].pairs for _, name in self._names]
        rows = np.repeat(np.arange(len(pairs)), [len(each) for each in pairs])
        self._table[rows, [pair for each in pairs for pair in each]] = 1.0
        self._sizes = self._table.sum(axis=1)

    def similar(self, name: str, limit: int = 5, at_least: float = LIKELY, apart_from: str = "") -> list[Match]:
        """People of a similar name, most similar first, each once under their best spelling."""
        wanted = Prepared.of(name)
        shared = self._table[:, wanted.pairs].sum(axis=1)
        share = shared / np.maximum(1.0, np.minimum(self._sizes, len(wanted.pairs)))
        best: dict[str, Match] = {}
        for row in np.argsort(-share, kind="stable")[:MOST_COMPARED].tolist():
            code, known = self._names[row]
            if share[row] < SHARED or code == apart_from:
                continue
            score = similarity(wanted.words, self.prepared[known].words)
            if score >= at_least and (code not in best or score > best[code].score):
                best[code] = Match(code, known, score)
        return sorted(best.values(), key=lambda match: -match.score)[:limit]

    def same(self, name: str) -> list[str]:
        """Codes of the people whose name is the same but for case, accents, order and punctuation."""
        wanted = words(name)
        found = [code for code, known in self._names if self.prepared[known].words == wanted]
        return list(dict.fromkeys(found)) if wanted else []

    def alike(self, at_least: float = ALIKE) -> list[tuple[str, Match]]:
        """Pairs of people with similar names, most similar first, each pair once."""
        best: dict[tuple[str, str], tuple[str, Match]] = {}
        for row, other in self._close_rows():
            (one, name), (two, known) = self._names[row], self._names[other]
            if one == two:
                continue
            score = similarity(self.prepared[name].words, self.prepared[known].words)
            if score >= at_least and ((one, two) not in best or score > best[one, two][1].score):
                best[one, two] = (one, Match(two, known, score))
        return sorted(best.values(), key=lambda pair: -pair[1].score)

    def _close_rows(self) -> list[tuple[int, int]]:
        """Pairs of rows that share many letter pairs, those that share the most if there are too many."""
        parts: list[npt.NDArray[np.float64]] = []
        for begin in range(0, len(self._names), ROWS):
            shared = self._table[begin : begin + ROWS] @ self._table.T
            smaller = np.minimum(self._sizes[begin : begin + ROWS, None], self._sizes[None, :])
            share = shared / np.maximum(1.0, smaller)
            rows, others = np.nonzero(share >= SHARED)
            later = others > rows + begin
            parts.append(np.stack([rows[later] + begin, others[later], share[rows[later], others[later]]], axis=1))
        found = np.concatenate(parts) if parts else np.zeros((0, 3))
        order = np.argsort(-found[:, 2], kind="stable")[:MOST_PAIRS]
        return [(int(row), int(other)) for row, other in found[order, :2]]


def _bucket(pair: str) -> int:
    """The same on every run, unlike Python's own hash of a text."""
    return (ord(pair[0]) * 31 + ord(pair[1])) % BUCKETS
