"""Studies on what is not a file: a source gives the contacts of one person, page by page.

A :class:`SourceStudy` asks a source as a simulation asks a hidden network. :class:`RecordedSource` writes every page to
a file before it is used, so that an interrupted study goes on with the same pages.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from claim.discovery.discovered import NEW, Discovered
from claim.errors import InputError
from claim.io.columns import known_pair
from claim.io.files import make_folder
from claim.io.tables import delimited, separator_of
from claim.io.text import Source, shown
from claim.networks import Network

PAGE = 100  # contacts on a page of the sources here
MOST_ON_PAGE = 1_000_000
MOST_PAGES = 10_000  # of one person
LONGEST = 1000  # characters of an id or a cursor
PAGES_FILE = "pages.jsonl"


class Page(NamedTuple):
    """Some contacts of a person, and where the next page begins; None after the last one."""

    people: Sequence[str]
    next: str | None = None


class ContactSource(Protocol):
    """Says who the contacts of a person are. People and cursors are texts of at most ``LONGEST`` characters."""

    @property
    def name(self) -> str:
        """What the source is called in results."""
        ...

    def neighbours(self, person: str, cursor: str | None) -> Page | None:
        """The page that begins at ``cursor`` (None: the first); None if the person's contacts cannot be read."""
        ...


class NetworkSource:
    """A network as a source; people go by their labels as texts."""

    def __init__(self, network: Network, page: int = PAGE) -> None:
        self.name, self._network, self._page = network.name, network, page

    def neighbours(self, person: str, cursor: str | None) -> Page:
        """A page of contacts, in the network's order."""
        contacts = self._network.contacts_of(self._network.index_of(person)).tolist()
        begin, end = _slice(cursor, self._page)
        people = [str(self._network.labels[who]) for who in contacts[begin:end]]
        return Page(people, str(end) if end < len(contacts) else None)


class FolderSource:
    """All CSV files of a folder: a row ``person,contact`` says that the first names the second."""

    def __init__(self, folder: Path, page: int = PAGE) -> None:
        if not folder.is_dir():
            raise InputError.at(folder, None, "no such folder")
        files = sorted([*folder.glob("*.csv"), *folder.glob("*.csv.gz")])
        if not files:
            raise InputError.at(folder, None, "no CSV file in it")
        self.name, self._page = folder.name, page
        self._contacts: dict[str, list[str]] = {}
        for file in files:
            self._read(Source(file))

    def _read(self, source: Source) -> None:
        with source.open() as stream:
            lines = source.lines(stream, ends=True)
            first = next(lines, None)
            if first is None:
                raise source.error(None, "has no rows")
            separator = separator_of(first[1])
            (_, header), *_ = delimited(source, [first], separator)
            pair = known_pair(header)
            if pair is None:
                raise source.error(1, "the first line must name the columns person and contact")
            for line, row in delimited(source, lines, separator):
                if any(row):
                    if len(row) <= max(pair) or not (row[pair[0]] and row[pair[1]]):
                        raise source.error(line, "a row needs a person and a contact")
                    self._contacts.setdefault(row[pair[0]], []).append(row[pair[1]])

    def neighbours(self, person: str, cursor: str | None) -> Page:
        """A page of contacts, in the order of the files; none for people without a row."""
        begin, end = _slice(cursor, self._page)
        contacts = self._contacts.get(person, [])
        return Page(contacts[begin:end], str(end) if end < len(contacts) else None)


def _slice(cursor: str | None, page: int) -> tuple[int, int]:
    begin = int(cursor or 0)
    return begin, begin + page


def checked_page(source: ContactSource, person: str, cursor: str | None) -> Page | None:
    """A page of a source, or an error in one line if it is none."""
    try:
        given: Any = source.neighbours(person, cursor)
    except InputError:
        raise
    except Exception as error:
        problem = f"cannot read the contacts of {shown(person)} ({type(error).__name__}: {shown(str(error), 200)})"
        raise InputError(f"{source.name}: {problem}") from error
    if given is None:
        return None
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], list | tuple):
        raise _bad(source, person, f"a page is a list of people and the next cursor, got {type(given).__name__}")
    people, following = given
    if len(people) > MOST_ON_PAGE:
        raise _bad(source, person, f"a page has at most {MOST_ON_PAGE:,} people, got {len(people):,}")
    for who in people:
        _check_text(source, person, "a contact", who)
    if following is not None:
        _check_text(source, person, "a cursor", following)
    return Page(tuple(people), following)


def _check_text(source: ContactSource, person: str, what: str, given: object) -> None:
    if not isinstance(given, str):
        raise _bad(source, person, f"{what} must be a text, got {shown(repr(given))} ({type(given).__name__})")
    if not 0 < len(given) <= LONGEST:
        raise _bad(source, person, f"{what} must have 1 to {LONGEST} characters, got {len(given):,}: {shown(given)}")


def _bad(source: ContactSource, person: str, problem: str) -> InputError:
    return InputError(f"{source.name}: contacts of {shown(person)}: {problem}")


class RecordedSource:
    """A source whose pages are kept in a folder: each is written there before it is used, and read from there again.

    A page that was being written when the process was killed is read from the source again.
    """

    def __init__(self, source: ContactSource, folder: Path) -> None:
        make_folder(folder)
        self.name, self._source, self._path = source.name, source, folder / PAGES_FILE
        self._places: dict[tuple[str, str | None], int] = {}
        self._path.touch()
        self._file = self._path.open("r+b")
        self._end = 0
        for number, line in enumerate(self._file, start=1):
            if not line.endswith(b"\n"):
                break
            self._places[self._key(line, number)] = self._end
            self._end += len(line)
        self._file.truncate(self._end)

    def _key(self, line: bytes, number: int) -> tuple[str, str | None]:
        try:
            page = json.loads(line)
            if number == 1:
                if page != {"source": self.name}:
                    raise InputError.at(self._path, 1, f"has the pages of another source than {self.name}")
                return "", None
            return page["person"], page["cursor"]
        except (ValueError, KeyError, TypeError):
            raise InputError.at(self._path, number, "is no recorded page: the file is damaged") from None

    def neighbours(self, person: str, cursor: str | None) -> Page | None:
        """The recorded page, or the page of the source, which is then recorded."""
        key = (person, cursor)
        if key in self._places:
            self._file.seek(self._places[key])
            found = json.loads(self._file.readline())
            return None if found["people"] is None else Page(found["people"], found["next"])
        page = checked_page(self._source, person, cursor)
        if not self._end:
            self._write({"source": self.name})
        self._places[key] = self._end
        people, following = (None, None) if page is None else page
        self._write({"person": person, "cursor": cursor, "people": people, "next": following})
        return page

    def _write(self, record: dict[str, Any]) -> None:
        line = json.dumps(record).encode() + b"\n"
        self._file.seek(self._end)
        self._file.write(line)
        self._file.flush()
        self._end += len(line)


class SourceStudy:
    """A closed study on a source, from start people on; ``people`` has the id of each local person.

    Contacts are recorded in random order, as in a simulation. With ``most_pages`` no more pages than that are read;
    those of the start people count too.
    """

    def __init__(
        self,
        source: ContactSource,
        start: Iterable[str],
        rng: np.random.Generator,
        most_pages: int | None = None,
    ) -> None:
        self.source, self.discovered, self.people = source, Discovered(), list[str]()
        self.pages = self.cut_short = 0
        self._most_pages, self._rng, self._local = most_pages, rng, dict[str, int]()
        for person in [self._meet(who, None) for who in dict.fromkeys(start)]:
            self.discovered.record_start(person)
        for person in list(self.discovered.start):
            self._name_contacts(person, self._contacts(self.people[person]) or [])

    def ask(self, person: int) -> bool:
        """Survey a person of the frontier; False if their contacts cannot be read."""
        if person == NEW:
            raise InputError("a source has no new people: its studies are closed")
        contacts = self._contacts(self.people[person])
        if contacts is None:
            self.discovered.record_refusal(person)
            return False
        self.discovered.record_survey(person)
        self._name_contacts(person, contacts)
        return True

    def _contacts(self, who: str) -> list[str] | None:
        """All contacts of a person, as far as pages may be read; None if they cannot be read."""
        found: dict[str, None] = {}
        cursor: str | None = None
        seen: set[str] = set()
        while self._most_pages is None or self.pages < self._most_pages:
            page = checked_page(self.source, who, cursor)
            self.pages += 1
            if page is None:
                return None
            found |= dict.fromkeys(page.people)
            cursor = page.next
            if cursor is None:
                break
            if cursor in seen:
                raise _bad(self.source, who, f"the cursor {shown(cursor)} came before, so the pages never end")
            if len(seen) + 1 >= MOST_PAGES:
                raise _bad(self.source, who, f"more than {MOST_PAGES:,} pages")
            seen.add(cursor)
        else:
            self.cut_short += 1
        return [contact for contact in found if contact != who]

    def _meet(self, who: str, named_by: int | None) -> int:
        if who not in self._local:
            self._local[who] = self.discovered.add_person(named_by)
            self.people.append(who)
        return self._local[who]

    def _name_contacts(self, person: int, contacts: list[str]) -> None:
        for i in self._rng.permutation(len(contacts)).tolist():
            self.discovered.add_tie(person, self._meet(contacts[i], person))
