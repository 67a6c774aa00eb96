"""Matrix Market: a sparse square matrix whose entries are the edges, people numbered from 1."""

import re
from array import array

import numpy as np

from claim.io.text import Source, shown
from claim.networks.formats.base import Format, Options, parse_probability
from claim.networks.network import Network

_MAGIC = b"%%MatrixMarket"
_NUMBER = re.compile(r"[0-9]{1,12}")
_BANNER = {  # the words of the banner that can be read
    "the layout": ("coordinate",),
    "values": ("pattern", "real", "integer"),
    "symmetry": ("general", "symmetric", "skew-symmetric"),
}
# A few bytes can claim billions of people; beyond this many, people must be few compared with the entries.
_FREE_PEOPLE, _PEOPLE_PER_ENTRY = 1_000_000, 100


def read(source: Source, options: Options) -> Network:
    """Read a coordinate matrix; people without any entry are kept."""
    sources, targets, values = array("q"), array("q"), array("d")
    with source.open() as stream:
        lines = source.lines(stream)
        has_values, symmetric = _read_banner(source, next(lines, (1, ""))[1])
        if options.probabilities and not has_values:
            raise source.error(1, "a pattern matrix has no values that could be probabilities")
        data = ((line, text) for line, text in lines if text.strip() and not text.startswith("%"))
        line, text = next(data, (1, ""))
        people, entries = _read_size(source, line, text)
        for line, text in data:
            words = text.split()
            if len(words) < 2 + has_values:
                raise source.error(line, f"an entry needs {2 + has_values} numbers, not {shown(text)}")
            if len(sources) == entries:
                raise source.error(line, f"more entries than the {entries} announced")
            sources.append(_person(source, line, words[0], people))
            targets.append(_person(source, line, words[1], people))
            if options.probabilities:
                values.append(parse_probability(source, line, words[2]))
    if len(sources) < entries:
        raise source.error(line, f"ends after {len(sources)} of the {entries} entries announced")
    u, v = np.array(sources, dtype=np.int64) - 1, np.array(targets, dtype=np.int64) - 1
    p = np.array(values, dtype=np.float64) if options.probabilities else None
    if options.directed and symmetric:  # an entry below the diagonal stands for the one above it too
        u, v, p = np.concatenate([u, v]), np.concatenate([v, u]), None if p is None else np.concatenate([p, p])
    labels = range(1, people + 1)
    return Network.from_edges(u, v, labels=labels, directed=bool(options.directed), probabilities=p)


def _read_banner(source: Source, text: str) -> tuple[bool, bool]:
    """Whether the matrix has values, and whether it is symmetric."""
    words = text.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise source.error(1, "the first line is not '%%MatrixMarket matrix coordinate <field> <symmetry>'")
    for word, (what, known) in zip(words[2:], _BANNER.items(), strict=True):
        if word not in known:
            raise source.error(1, f"{what} can be {', '.join(known)}, not {shown(word)}")
    return words[3] != "pattern", words[4] != "general"


def _read_size(source: Source, line: int, text: str) -> tuple[int, int]:
    """The numbers of people and of entries."""
    words = text.split()
    if len(words) != 3 or not all(_NUMBER.fullmatch(word) for word in words):
        raise source.error(line, f"expected the size line 'rows columns entries', not {shown(text)}")
    rows, columns, entries = map(int, words)
    if rows != columns:
        raise source.error(line, f"a network needs a square matrix, not {rows} x {columns}")
    if rows > max(_FREE_PEOPLE, _PEOPLE_PER_ENTRY * entries):
        raise source.error(line, f"{rows} people with only {entries} entries: nearly all would be without contacts")
    return rows, entries


def _person(source: Source, line: int, word: str, people: int) -> int:
    number = int(word) if _NUMBER.fullmatch(word) else 0
    if not 1 <= number <= people:
        raise source.error(line, f"{shown(word)} is not a number from 1 to {people}")
    return number


FORMAT = Format((".mtx",), lambda head: head.startswith(_MAGIC), read)
