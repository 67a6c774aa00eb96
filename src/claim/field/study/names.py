"""Names: cleaned when entered, and compared whatever their case, accents, order and small slips."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
from rapidfuzz.distance import OSA

LONGEST_NAME = 10_000
LONGEST_COMPARED = 64
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i", "ħ": "h"})
_JOINERS = "\u200c\u200d"  # part of the spelling in Persian and in Indic scripts
_APOSTROPHES = "'’ʼ`´"


def clean(name: str) -> str:
    """A name fit to be kept: composed, on one line, without control and direction characters, not endless."""
    kept = "".join(_kept(character) for character in unicodedata.normalize("NFC", name[:LONGEST_NAME]))
    return " ".join(kept.split())


def _kept(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace() or category in ("Zl", "Zp"):
        return " "
    if category == "Cs":  # half a character: cannot be stored as UTF-8
        return "\ufffd"
    return "" if category == "Cc" or (category == "Cf" and character not in _JOINERS) else character


def words(name: str) -> tuple[str, ...]:
    """The words of a name in sorted order, without case, accents and punctuation."""
    return tuple(sorted(_letters(name)[:LONGEST_COMPARED].split()))


def telling_words(names: Iterable[str]) -> set[str]:
    """Words by which a person of these names could be recognised; an initial alone is not enough."""
    return {word for name in names for word in in_order(name) if len(word) > 1 or not word.isascii()}


def tells(text: str, telling: set[str]) -> bool:
    """Whether one of the telling words is in a text.

    A word also counts if it begins with one ("Ann's"), or, in scripts that may not part words, has one in it.
    """
    return any(
        part == name or (len(name) > 2 and part.startswith(name)) or (not name.isascii() and name in part)
        for part in in_order(text)
        for name in telling
    )


def in_order(text: str) -> list[str]:
    """All words of a text as they come, without case, accents and punctuation."""
    return _letters(text).split()


def _letters(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text[:LONGEST_NAME]).casefold().translate(_PLAIN)
    return "".join(_letter(character) for character in unicodedata.normalize("NFKD", decomposed))


@lru_cache(maxsize=1 << 12)  # of single characters, never of names
def _letter(character: str) -> str:
    category = unicodedata.category(character)
    if character in _APOSTROPHES or category in ("Mn", "Cf", "Cc", "Cs"):
        return " " if character.isspace() else ""
    return character if category[0] in "LNM" else " "


def word_similarity(one: str, other: str) -> float:
    """From 0 to 1 for two words, by the edits between them (a swap of neighbours is one); an initial fits a word."""
    if one == other:
        return 1.0
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) == 1:
        return 0.85 if long.startswith(short) else 0.0
    if len(short) * 2 < len(long):
        return 0.0
    score = 1.0 - OSA.distance(one, other) / len(long)
    return score + 0.1 * (1.0 - score) * (one[0] == other[0])


def similarity(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """From 0 to 1 for two names given by their :func:`words`."""
    if not one or not other:
        return 0.0
    if one == other:
        return 1.0
    return max(_word_by_word(one, other), _run_together(one, other))


def _word_by_word(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Words weigh their length; words without a counterpart count little, because people go by parts of a name."""
    fewer, left = (one, list(other)) if len(one) <= len(other) else (other, list(one))
    gained = weight = 0.0
    for word in sorted(fewer, key=len, reverse=True):
        score, best = max((word_similarity(word, each), each) for each in left)
        left.remove(best)
        share = max(len(word), len(best), 3)
        gained, weight = gained + share * score, weight + share
    return gained / (weight + sum(max(len(word), 3) for word in left) / 6)


def _run_together(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """For names written in one word here and in two there; a little less than the same."""
    if len(one) == len(other):
        return 0.0
    first, second = "".join(one), "".join(other)
    longest = max(len(first), len(second))
    near = abs(len(first) - len(second)) * 3 < longest
    return 0.95 * (1.0 - OSA.distance(first, second) / longest) if near else 0.0


LIKELY = 0.74  # similarity from which a hint is worth a look while a name is typed
ALIKE = 0.84  # from which two people are put up for a look
SHARED = 0.5  # of the shorter name's letter pairs: fewer never come out similar
MOST_COMPARED = 250  # names compared in full for one query
MOST_PAIRS = 2000
BUCKETS = 1024  # letter pairs are counted by their hash


@dataclass(frozen=True)
class Match:
    """A person of a similar name."""

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
        self.names = list(names)
        before = prepared or {}
        self.prepared = {name: before.get(name) or Prepared.of(name) for _, name in self.names}
        pairs = [self.prepared[name].pairs for _, name in self.names]
        self._starts = np.cumsum([0, *map(len, pairs)])
        self._pairs = np.fromiter(chain.from_iterable(pairs), dtype=np.int64, count=int(self._starts[-1]))

    def similar(self, name: str, limit: int = 5, at_least: float = LIKELY, apart_from: str = "") -> list[Match]:
        """People of a similar name, most similar first, each once under their best spelling."""
        wanted = Prepared.of(name)
        is_wanted = np.zeros(BUCKETS, dtype=np.int64)
        is_wanted[list(wanted.pairs)] = 1
        shared = np.diff(np.cumsum(np.append(0, is_wanted[self._pairs]))[self._starts])
        share = shared / np.maximum(1, np.minimum(np.diff(self._starts), len(wanted.pairs)))
        best: dict[str, Match] = {}
        for row in np.argsort(-share, kind="stable")[:MOST_COMPARED].tolist():
            code, known = self.names[row]
            if share[row] < SHARED or code == apart_from:
                continue
            score = similarity(wanted.words, self.prepared[known].words)
            if score >= at_least and (code not in best or score > best[code].score):
                best[code] = Match(code, known, score)
        return sorted(best.values(), key=lambda match: -match.score)[:limit]

    def same(self, name: str) -> list[str]:
        """Codes of the people whose name is the same but for case, accents, order and punctuation."""
        wanted = words(name)
        found = [code for code, known in self.names if self.prepared[known].words == wanted]
        return list(dict.fromkeys(found)) if wanted else []

    def alike(self, at_least: float = ALIKE) -> list[tuple[str, Match]]:
        """Pairs of people with similar names, most similar first, each pair once."""
        best: dict[tuple[str, str], tuple[str, Match]] = {}
        for row, other in self._close_rows():
            (one, name), (two, known) = self.names[row], self.names[other]
            if one == two:
                continue
            score = similarity(self.prepared[name].words, self.prepared[known].words)
            if score >= at_least and ((one, two) not in best or score > best[one, two][1].score):
                best[one, two] = (one, Match(two, known, score))
        return sorted(best.values(), key=lambda pair: -pair[1].score)

    def _close_rows(self) -> list[tuple[int, int]]:
        """Pairs of rows that share many letter pairs, those that share the most if there are too many."""
        from claim.field.study.kernels import close_rows

        ones, others, shares = close_rows(self._starts, self._pairs, BUCKETS, SHARED)
        order = np.argsort(-shares, kind="stable")[:MOST_PAIRS]
        return list(zip(ones[order].tolist(), others[order].tolist(), strict=True))


def _bucket(pair: str) -> int:
    """The same on every run, unlike Python's own hash of a text."""
    return (ord(pair[0]) * 31 + ord(pair[1])) % BUCKETS
