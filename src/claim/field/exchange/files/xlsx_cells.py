"""The values of a workbook's cells as text: strings, numbers, truth values, and dates (numbers shown as dates)."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

_REFERENCE = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_NOT_PATTERN = re.compile(r'"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]', re.IGNORECASE)  # literals, colours and currencies
_BUILT_IN_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_MAX_FORMATS = 10_000


class Styles:
    """Which cell formats show a number as a date; filled while the styles part is read."""

    def __init__(self) -> None:
        self.from_1904 = False
        self._patterns: dict[str, str] = {}
        self._formats: list[str] = []
        self._in_cell_formats = False

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element of the styles part."""
        if name == "numFmt" and len(self._patterns) < _MAX_FORMATS:
            self._patterns[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            self._in_cell_formats = True
        elif name == "xf" and self._in_cell_formats and len(self._formats) < _MAX_FORMATS:
            self._formats.append(attributes.get("numFmtId", "0"))

    def end(self, name: str, text: str, line: int) -> None:
        """An element ends."""
        if name == "cellXfs":
            self._in_cell_formats = False

    def is_date(self, style: str) -> bool:
        """Whether cells of this style show dates or times."""
        if not style.isdecimal() or len(style) > 6 or int(style) >= len(self._formats):
            return False
        number = self._formats[int(style)]
        if number in self._patterns:
            return _DATE_LETTERS.search(_NOT_PATTERN.sub("", self._patterns[number])) is not None
        return number.isdecimal() and len(number) < 6 and int(number) in _BUILT_IN_DATES


def cell_text(cell: Mapping[str, str], value: str, strings: Sequence[str], styles: Styles) -> str:
    """The text of a cell, given its attributes and what stands in it; an error in a formula is as good as empty."""
    match cell.get("t", "n"):
        case "s":
            return _shared(value, strings) if value.strip() else ""
        case "inlineStr" | "str":
            return decoded(value)
        case "b":
            return {"1": "true", "0": "false"}.get(value.strip(), "")
        case "d":
            return value.strip()
        case "e":
            return ""
        case "n":
            return _number(value.strip(), styles.is_date(cell.get("s", "")), styles.from_1904)
    raise ValueError("an unknown type of cell")


def column_number(reference: str) -> int | None:
    """3 for ``C7``."""
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        return None
    number = 0
    for letter in match[1]:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def decoded(text: str) -> str:
    """Workbooks write characters that XML cannot hold as ``_x0001_``."""
    if "\0" in (plain := _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)):
        raise ValueError("NUL")
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs written as two escapes


def _shared(value: str, strings: Sequence[str]) -> str:
    if not value.strip().isdecimal() or len(value.strip()) > 8:
        raise ValueError("not the number of a shared string")
    return strings[int(value)]


def _number(value: str, is_date: bool, from_1904: bool) -> str:
    if not value:
        return ""
    if "_" in value or len(value) > 40:
        raise ValueError("not a number")
    number = float(value)
    if is_date:
        return _date(number, from_1904)
    if not abs(number) < 1e300:  # also NaN
        raise ValueError("not a finite number")
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _date(number: float, from_1904: bool) -> str:
    """Days since 1900 (where Excel takes 1900 for a leap year) or 1904, as ISO text; a time alone without a day."""
    first = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30) if number >= 60 else datetime(1899, 12, 31)
    moment = first + timedelta(seconds=round(number * 86_400))
    if 0 <= number < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if float(number).is_integer() else moment.isoformat()
