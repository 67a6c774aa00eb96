"""Names: cleaned when they are entered, compared whatever their case, accents, order and small slips.

Two spellings are compared word by word: each word is matched with the best word left on the other side, by edit
distance (a swap of neighbours counts as one slip), an initial with any word that begins with it.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

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
    """Words by which somebody of these names could be recognised; an initial alone tells nobody."""
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


def edit_distance(one: str, other: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words.

    Optimal string alignment, a whole column of the table at once in the bits of one number (Hyyrö, "A bit-vector
    algorithm for computing Levenshtein and Damerau edit distances", 2003).
    """
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for i, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << i
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    more, less, same, before, distance = full, 0, 0, 0, len(one)
    for character in other:
        here = places.get(character, 0)
        swapped = ((~same & here) << 1) & before
        same = ((((here & more) + more) ^ more) | here | less | swapped) & full
        up = less | ~(same | more)
        down = more & same
        distance += bool(up & last) - bool(down & last)
        up = (up << 1) | 1
        more = ((down << 1) | ~(same | up)) & full
        less = up & same & full
        before = here
    return distance


def word_similarity(one: str, other: str) -> float:
    """From 0 to 1 for two words; an initial is as good as most of a word."""
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    if len(short) == 1:
        return 0.85 if long.startswith(short) else 0.0
    if len(short) * 2 < len(long):
        return 0.0
    score = 1.0 - edit_distance(one, other) / len(long)
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
    return 0.95 * (1.0 - edit_distance(first, second) / longest) if near else 0.0
