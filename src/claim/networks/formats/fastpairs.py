"""A fast path for the plainest and most common edge lists: two whole numbers a line, nothing else.

Anything unusual - a header, quotes, a third column, a sign, leading zeros, mixed separators - gives ``None``, and the
careful parser takes over from the start of the file. Tests hold the two equal.
"""

import io
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from claim.networks.formats.text import MAX_LINE, Source
from claim.networks.network import OffsetArray

_CHUNK = 1 << 22
_MAX_DIGITS = 18  # always fits 64 bits
_SEPARATORS = b" \t,"
_COMMENTS = (b"#", b"%", b"//")


def read_integer_pairs(source: Source) -> OffsetArray | None:
    """All pairs of the file as an array of two columns, or None where the careful parser is needed."""
    parts: list[OffsetArray] = []
    separators: set[int] = set()
    with source.open() as stream:
        for block in _blocks(stream):
            pairs = parse_block(block)
            separators |= set(block.translate(None, b"0123456789\r\n"))
            if pairs is None or len(separators) > 1:
                return None
            parts.append(pairs)
    return np.concatenate(parts) if parts else None


def parse_block(block: bytes) -> OffsetArray | None:
    """The pairs of some whole lines, or None if they are not plainly two whole numbers each."""
    block = block.replace(b"\r\n", b"\n")
    separators = block.translate(None, b"0123456789\n")
    if set(separators) - set(_SEPARATORS):
        return None
    characters = np.frombuffer(block, dtype=np.uint8)
    starts, lengths = _numbers(characters)
    if len(starts) % 2 or not _one_pair_a_line(characters, starts):
        return None
    if separators.strip(b" ") and len(separators) != len(starts) // 2:
        return None  # an empty field, or a separator at the end
    if not len(starts):
        return np.zeros((0, 2), dtype=np.int64)
    if lengths.max() > _MAX_DIGITS or ((characters[starts] == ord("0")) & (lengths > 1)).any():
        return None
    return _values(characters, starts, lengths).reshape(-1, 2)


def _blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    """Blocks of whole lines, without the comments at the top; a last block without newline if a line is too long."""
    rest = _after_comments(stream)
    while chunk := stream.read(_CHUNK):
        block = rest + chunk
        end = block.rfind(b"\n") + 1
        rest = block[end:]
        if end:
            yield block[:end]
        if len(rest) > MAX_LINE:
            yield b"?"
            return
    yield rest


def _after_comments(stream: io.BufferedReader) -> bytes:
    line = b"#"
    while line.startswith(_COMMENTS):
        line = stream.readline(MAX_LINE)
        if not line.isascii() or b"\0" in line or b"\r" in line.rstrip(b"\r\n") or len(line) == MAX_LINE:
            return b"?"  # for the careful parser to judge
    return line


def _numbers(characters: npt.NDArray[np.uint8]) -> tuple[OffsetArray, OffsetArray]:
    """Where the runs of digits start, and how long they are."""
    digit = np.zeros(len(characters) + 2, dtype=np.int8)
    digit[1:-1] = (characters >= ord("0")) & (characters <= ord("9"))
    steps = np.diff(digit)
    starts = np.flatnonzero(steps == 1)
    return starts, np.flatnonzero(steps == -1) - starts


def _one_pair_a_line(characters: npt.NDArray[np.uint8], starts: OffsetArray) -> bool:
    line = np.searchsorted(np.flatnonzero(characters == ord("\n")), starts)
    return bool((line[::2] == line[1::2]).all() and (np.diff(line[::2]) > 0).all())


def _values(characters: npt.NDArray[np.uint8], starts: OffsetArray, lengths: OffsetArray) -> OffsetArray:
    values = np.zeros(len(starts), dtype=np.int64)
    for place in range(int(lengths.max())):
        more = place < lengths
        values[more] = values[more] * 10 + (characters[starts[more] + place] - ord("0"))
    return values
