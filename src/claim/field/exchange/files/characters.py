"""Keeping text harmless in files that go out, and getting it back exactly when they come in.

**Escapes.** Characters that cannot be seen but act on what is around them (control characters, the ones that turn the
direction of writing, line separators, what XML cannot hold) are written as ``\\u{202e}``. A backslash that happens to
stand before ``u{`` is written ``\\u{5c}``, so that reading back is exact.

**Guards.** A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula. Such a cell gets an
apostrophe in front, and so does one that begins with an apostrophe already, so that taking the guard off is exact.
"""

import re

# Bidirectional controls and marks, line and paragraph separators, and the invisible operators.
_ACTING = "\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_UNHARMLESS = rf"\x00-\x1f\x7f-\x9f{_ACTING}\ud800-\udfff\ufffe\uffff"
_ESCAPED = re.compile(rf"[{_UNHARMLESS}]|\\(?=u\{{)")
_ESCAPED_FOR_CSV = re.compile(rf"(?![\t\r\n])[{_UNHARMLESS}]|\\(?=u\{{)")
_ESCAPE = re.compile(r"\\u\{([0-9a-f]{1,6})\}")

FORMULA_STARTS = "=+-@\t\r\n" + "\uff1d\uff0b\uff0d\uff20"  # the last four are full-width; some spreadsheets take them
_GUARDED = "'" + FORMULA_STARTS


def escaped(text: str) -> str:
    """The text with every character that could act written as an escape."""
    return _ESCAPED.sub(_escape, text)


def escaped_list(codes: tuple[str, ...]) -> str:
    """Codes in one cell with bars between them; a bar in a code is escaped."""
    return "|".join(escaped(code).replace("|", "\\u{7c}") for code in codes)


def unescaped(text: str) -> str:
    """What :func:`escaped` was given; other things that look like escapes are left alone."""
    return _ESCAPE.sub(_unescape, text) if "\\u{" in text else text


def unescaped_list(text: str) -> tuple[str, ...]:
    """What :func:`escaped_list` was given."""
    return tuple(unescaped(part) for part in text.split("|")) if text else ()


def csv_cell(text: str) -> str:
    """A text as it goes into a CSV cell (quoting is the CSV writer's business)."""
    return guarded(_ESCAPED_FOR_CSV.sub(_escape, text))


def guarded(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet might take it for a formula."""
    return f"'{cell}" if cell and cell[0] in _GUARDED else cell


def unguarded(cell: str) -> str:
    """A CSV cell without its guard; ``'t Hooft`` has none."""
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in _GUARDED else cell


def _escape(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match[0]):x}}}"


def _unescape(match: re.Match[str]) -> str:
    number = int(match[1], 16)
    character = chr(number) if number <= 0x10FFFF else ""
    ours = character in ("\\", "|") or (character and _ESCAPED.fullmatch(character))
    return character if ours else match[0]
