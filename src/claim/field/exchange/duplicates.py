"""Who in a file may be somebody already known, or somebody else in the same file under another spelling."""

from collections.abc import Iterable

from claim.field.exchange.records import Bundle
from claim.field.exchange.report import Duplicate
from claim.field.matching import NameIndex
from claim.field.names import words

MAX_COMPARED = 2_000  # names; in larger files only names that are the same but for case, accents and order are found
_PER_PERSON = 3

Names = list[tuple[str, str]]  # codes and names


def find_duplicates(bundle: Bundle, existing: Iterable[tuple[str, str]]) -> tuple[Duplicate, ...]:
    """Likely pairs, the surest first."""
    known, fresh = list(existing), list(bundle.names.items())
    if max(len(known), len(fresh)) > MAX_COMPARED:
        found = [*_same(fresh, known, in_study=True), *_same(fresh, fresh, in_study=False)]
    else:
        found = [*_similar(fresh, known), *_alike(fresh)]
    return tuple(sorted(found, key=lambda each: (-each.score, each.code, each.other_code)))


def _similar(fresh: Names, known: Names) -> list[Duplicate]:
    """People in the file like people in the study."""
    index = NameIndex(known)
    matches = ((code, name, match) for code, name in fresh for match in index.similar(name, limit=_PER_PERSON))
    return [Duplicate(code, name, match.code, match.name, match.score, True) for code, name, match in matches]


def _alike(fresh: Names) -> list[Duplicate]:
    """People in the file like others in the file."""
    names = dict(fresh)
    pairs = NameIndex(fresh).alike()
    return [Duplicate(match.code, match.name, code, names[code], match.score, False) for code, match in pairs]


def _same(fresh: Names, others: Names, *, in_study: bool) -> list[Duplicate]:
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    for code, name in others:
        first.setdefault(words(name), (code, name))
    first.pop((), None)  # names without a letter are not alike
    found = []
    for code, name in fresh:
        other = first.get(words(name))
        if other is not None and (in_study or other[0] != code):
            found.append(Duplicate(code, name, *other, 1.0, in_study))
    return found
