"""Where the header of a table is: in the first row, below titles, or nowhere."""

import re
from collections.abc import Sequence

from claim.io.columns import is_known, normal

Cells = Sequence[str]

_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?")
_NAME = re.compile(r"[^\W\d_][^\d_/:;?!()\[\]{}<>=*@#|\\]*")  # letters and what may stand between them


def header_row(rows: Sequence[Cells]) -> int | None:
    """The index of the header among the first rows of a table; None if the first row is data already.

    Titles above a header have fewer cells than it. Without a known word, the first row is the header unless its cells
    are numbers or look like people's names.
    """
    filled = [_filled(row) for row in rows]
    known = (i for i, row in enumerate(filled) if _is_header(row))
    headers = [i for i in known if all(_is_above(title, filled[i]) for title in filled[:i])]
    wide = next((i for i in headers if len(filled[i]) > 1), None)  # the title of a list may be "Contacts"
    if wide is not None or headers:
        return headers[0] if wide is None else wide
    return None if _is_data(rows) else 0


def column_names(rows: Sequence[Cells]) -> list[str]:
    """Names for the columns of a table without a header: people, then those they named."""
    width = max(map(len, rows))
    columns = [[row[i].strip() for row in rows if i < len(row) and row[i].strip()] for i in range(width)]
    numbered = all(map(_NUMBER.fullmatch, columns[0]))  # people go by numbers; further numbers may be anything
    named = [
        i
        for i, cells in enumerate(columns)
        if i and (i == 1 and all(map(_NUMBER.fullmatch, cells)) if numbered else all(map(_NAME.fullmatch, cells)))
    ]
    if named == [1]:
        return ["person", "contact", *(f"column {i}" for i in range(3, width + 1))]
    numbers = {i: number for number, i in enumerate(named, start=1)}
    others = (f"contact {numbers[i]}" if i in numbers else f"column {i + 1}" for i in range(1, width))
    return ["name", *others]


def _filled(row: Cells) -> list[str]:
    return [cell.strip() for cell in row if cell.strip()]


def _is_header(cells: list[str]) -> bool:
    return any(map(is_known, cells)) and not any(map(_NUMBER.fullmatch, cells))


def _is_above(title: list[str], header: list[str]) -> bool:
    """Whether a row can be a title above this header; above a single column it must not be a header itself."""
    return len(title) < len(header) or (len(title) == len(header) == 1 and not is_known(title[0]))


def _is_data(rows: Sequence[Cells]) -> bool:
    """Whether the first row is of numbers, or of names: in capitals, or the same as in rows below."""
    first, below = rows[0], rows[1:]
    texts = _filled(first)
    if not below or any(map(is_known, texts)):
        return False
    if not all(_NUMBER.fullmatch(text) or _NAME.fullmatch(text) for text in texts):
        return False
    if all(map(_NUMBER.fullmatch, texts)):
        return True
    again = {normal(cell) for row in below for cell in row}
    if any(normal(text) in again for text in texts if not _NUMBER.fullmatch(text)):
        return True
    return all(text[0].isupper() for text in texts if not _NUMBER.fullmatch(text)) and not any(
        _NAME.fullmatch(cell.strip()) and _is_of_numbers(below, i) for i, cell in enumerate(first)
    )


def _is_of_numbers(rows: Sequence[Cells], column: int) -> bool:
    cells = [row[column].strip() for row in rows if column < len(row) and row[column].strip()]
    return bool(cells) and all(map(_NUMBER.fullmatch, cells))
