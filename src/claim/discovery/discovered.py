"""The discovered network: the people named so far, who was surveyed, who refused, and the contacts they named.

Policies and selectors see this and nothing else of the hidden network. People have local indices in the order in which
they were discovered.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable
from copy import copy
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import IntArray

if TYPE_CHECKING:
    import networkx

MARKING = 1 << 40  # keeps the tokens of marks apart from those of contacts
NEW = -1  # what a policy chooses to have a new person interviewed, in the place of a person of the frontier
FEATURES = ("surveyed", "start", "refused", "chosen this round", "marked")


class Status(IntEnum):
    """What is known of a person."""

    NAMED = 0  # may be surveyed
    SURVEYED = 1
    REFUSED = 2


@dataclass(frozen=True)
class PersonClass:
    """People who cannot be distinguished: not surveyed, of the same status, with the same seen contacts and marks."""

    members: tuple[int, ...]
    contacts: tuple[int, ...]
    status: Status
    marked_by: tuple[int, ...] = ()  # surveyed contacts who say that a member knows the most people
    group: str | None = None  # what was said about the group of the members

    @property
    def size(self) -> int:
        """The multiplicity of the class."""
        return len(self.members)


_NAMED, _SURVEYED = Status.NAMED, Status.SURVEYED  # ten times quicker to look up in inner loops
ClassKey = tuple[Status, int]
NO_CLASS = -1  # the number of the class of surveyed people
Kept = TypeVar("Kept")


class Mark(NamedTuple):
    """A moment of a study, by how much had been recorded."""

    classes: int = 0
    ties: int = 0
    surveyed: int = 0


class Changes(NamedTuple):
    """What is new since a mark; ``classes`` are the numbers of those that gained or lost members."""

    classes: set[int]
    ties: list[tuple[int, int]]
    surveyed: list[int]
    now: Mark


class Discovered:
    """A growing discovered network; a survey costs time proportional to its answers.

    In an open study a team also interviews new people, whom no one has to have named. They are ``start`` people like
    those that a closed study begins with: drawn, and not met through a contact.

    Where the study is ``directed``, ties lead from the person who named to the one who was named, and messages pass
    that way only; ``contacts`` are those of both directions.
    """

    def __init__(self, open: bool = False, directed: bool = False) -> None:
        self.open = open  # whether a new person can be interviewed next
        self.directed = directed
        self.contacts: list[dict[int, None]] = []  # ordered sets of seen contacts, both directions
        self.status: list[Status] = []
        self.named_by: list[int | None] = []  # who named them first; None for those known from the outset
        self.wave: list[int] = []  # 0 for those known from the outset, else one more than the wave of their first namer
        self.start: list[int] = []  # drawn: known from the outset, or new people of an open study
        self.surveyed: list[int] = []  # in order
        self.marks: dict[int, int] = {}  # by surveyed person, the contact who knows the most people, where asked for
        self.groups: dict[int, str] = {}  # by person, where it was asked for: of the surveyed, and of those they named
        self.refused: list[int] = []
        self._frontier: dict[int, None] = {}
        self._left: list[int] = []  # those who were surveyed or refused, ascending
        self._signature: list[int] = []  # of the set of contacts; see _token
        self._class: list[int] = []  # the number of each person's class
        self._place: list[int] = []  # of each person among the members of their class
        self._numbers: dict[ClassKey, int] = {}
        self._members: list[list[int]] = []  # of each class, in no order
        self._free: list[int] = []  # numbers of classes without members, for new ones
        self._changed: list[int] = []  # the class that gained or lost a member, for each time that one did
        self._ties: list[tuple[int, int]] = []
        self._directions: set[tuple[int, int]] = set()  # the same, of directed networks
        self._kept: dict[Hashable, object] = {}

    # Growth ----------------------------------------------------------------------------------------------------------

    def add_person(self, named_by: int | None = None) -> int:
        """Add a person; returns their local index."""
        person = len(self.contacts)
        self.contacts.append({})
        self.status.append(Status.NAMED)
        self.named_by.append(named_by)
        self.wave.append(0 if named_by is None else self.wave[named_by] + 1)
        self._signature.append(0)
        self._class.append(NO_CLASS)
        self._place.append(0)
        self._frontier[person] = None
        self._enter_class(person)
        return person

    def add_tie(self, one: int, other: int) -> bool:
        """Add a seen contact between two people, of whom the first named the other; False if it was known already."""
        if one == other:
            raise InputError(f"person {one} cannot be their own contact")
        known = other in self.contacts[one]
        if known and (not self.directed or (one, other) in self._directions):
            return False
        self._ties.append((one, other))
        if self.directed:
            self._directions.add((one, other))
        if known:
            return True
        for person, contact in ((one, other), (other, one)):
            self._leave_class(person)
            self.contacts[person][contact] = None
            self._signature[person] ^= _token(contact)
            self._enter_class(person)
        return True

    def record_start(self, person: int) -> None:
        """Record a person who was drawn: contacts are known from the outset, or a new person was interviewed."""
        self.start.append(person)
        self.record_survey(person)

    def record_survey(self, person: int, contacts: Iterable[int] = ()) -> None:
        """Record an answered survey; contacts can also be added one by one with :meth:`add_tie`."""
        if self.status[person] != Status.SURVEYED:
            if self.status[person] == Status.REFUSED:
                self.refused.remove(person)
            self._set_status(person, Status.SURVEYED)
            self.surveyed.append(person)
        for contact in contacts:
            self.add_tie(person, contact)

    def record_mark(self, person: int, contact: int) -> None:
        """Record which of their contacts a surveyed person says knows the most people."""
        if contact not in self.contacts[person]:
            raise InputError(f"person {person} marked person {contact}, who is not a contact of theirs")
        for marked in (self.marks[person], contact) if person in self.marks else (contact,):  # a mark can be changed
            self._leave_class(marked)
            self._signature[marked] ^= _token(MARKING + person)
            self._enter_class(marked)
        self.marks[person] = contact

    def record_group(self, person: int, group: str) -> None:
        """Record what was said about the group that a person is in."""
        self._leave_class(person)
        for name in (self.groups.get(person), group):  # what was said can be corrected
            if name is not None:
                self._signature[person] ^= _group_token(name)
        self.groups[person] = group
        self._enter_class(person)

    def record_refusal(self, person: int) -> None:
        """Record a refusal; the person can still be a contact and a leader."""
        if self.status[person] != Status.NAMED:
            raise InputError(f"person {person} is not waiting to be surveyed")
        self._set_status(person, Status.REFUSED)
        self.refused.append(person)

    # What is seen ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.contacts)

    @property
    def waiting(self) -> Collection[int]:
        """The frontier as a collection that is quick to search."""
        return self._frontier.keys()

    @property
    def frontier(self) -> list[int]:
        """The people who may be surveyed next, in the order of discovery."""
        return list(self._frontier)

    def waiting_at(self, place: int) -> int:
        """The person at a place of :attr:`frontier`."""
        low, high = 0, len(self._left)  # find how many of those who left come before
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._left[middle] - middle <= place else (low, middle)
        return place + low

    def degree(self, person: int) -> int:
        """How many contacts of a person are seen: all of them for the surveyed, or all whom they name."""
        return len(self.contacts[person])

    def surveyed_contacts(self, person: int) -> list[int]:
        """The surveyed people among a person's seen contacts."""
        status = self.status
        return [contact for contact in self.contacts[person] if status[contact] is _SURVEYED]

    def marked_by(self, person: int) -> list[int]:
        """The surveyed contacts who say that this person knows the most people."""
        return [contact for contact in self.contacts[person] if self.marks.get(contact) == person]

    @property
    def classes(self) -> list[PersonClass]:
        """All classes of people not surveyed, in the order of their first members."""
        found = []
        for members in filter(None, self._members):
            one = members[0]
            marked_by = tuple(sorted(self.marked_by(one))) if self.marks else ()
            group, contacts = self.groups.get(one), tuple(sorted(self.contacts[one]))
            found.append(PersonClass(tuple(sorted(members)), contacts, self.status[one], marked_by, group))
        return sorted(found, key=lambda people: people.members[0])

    @property
    def frontier_classes(self) -> list[PersonClass]:
        """The classes of people who may be surveyed."""
        return [people for people in self.classes if people.status == Status.NAMED]

    def ties(self) -> tuple[IntArray, IntArray]:
        """The seen edges, each once, in the order in which they were seen."""
        pairs = np.array(self._ties, dtype=np.int32).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def as_network(self) -> Network:
        """The seen edges as a network over local indices."""
        return Network.from_edges(*self.ties(), n=len(self), directed=self.directed, name="discovered")

    # What changed, for those who keep account of it ------------------------------------------------------------------

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What a policy keeps of this study from one choice to the next; copies of the study begin without it."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast(Kept, self._kept[key])

    def changes(self, since: Mark) -> Changes:
        """What has been recorded since a mark."""
        now = Mark(len(self._changed), len(self._ties), len(self.surveyed))
        classes = set(self._changed[since.classes :])
        return Changes(classes, self._ties[since.ties :], self.surveyed[since.surveyed :], now)

    @property
    def class_numbers(self) -> int:
        """An upper bound of the numbers of classes; numbers of classes that got empty are given again."""
        return len(self._members)

    def class_of(self, person: int) -> int:
        """The number of the class of a person who is not surveyed."""
        return self._class[person]

    def members(self, number: int) -> list[int]:
        """The members of a class who may be surveyed, in no order; not to be changed."""
        members = self._members[number]
        return members if members and self.status[members[0]] is _NAMED else []

    def class_named_by(self, person: int) -> int | None:
        """The number of the class of those in the frontier whose only seen contact this person is, if there are any."""
        return self._numbers.get((Status.NAMED, _token(person)))

    # For other libraries ---------------------------------------------------------------------------------------------

    def flags(self, chosen: Iterable[int] = ()) -> npt.NDArray[np.int8]:
        """A row for each person, a column of 0 or 1 for each name of ``FEATURES``; shape (people, features).

        ``chosen`` are the people chosen in the current round, who have not answered yet.
        """
        flags = np.zeros((len(self), len(FEATURES)), dtype=np.int8)
        people_of = (self.surveyed, self.start, self.refused, list(chosen), list(self.marks.values()))
        for column, people in enumerate(people_of):
            flags[people, column] = 1
        return flags

    def to_networkx(self) -> "networkx.Graph[Any]":
        """The seen network as a networkx graph over local indices, each edge once.

        Nodes have the attributes ``status`` (``start``, ``surveyed``, ``refused`` or ``named``) and ``wave``, and
        ``marks``, by how many people they were said to know the most people.
        """
        graph, start, marks = self.as_network().to_networkx(), set(self.start), Counter(self.marks.values())
        for person, attributes in graph.nodes(data=True):
            status = "start" if person in start else self.status[person].name.lower()
            attributes.update(status=status, wave=self.wave[person], marks=marks[person])
        return graph

    def to_pyg(self, chosen: Iterable[int] = ()) -> Any:
        """The seen network as PyTorch Geometric ``Data``.

        ``x`` is :meth:`flags` (people, features; float32), ``wave`` the wave of each person (people,), ``edge_index``
        the seen edges in both directions (2, 2 x edges), or in their own if they are directed (2, edges).
        """
        try:
            import torch
            from torch_geometric.data import Data
        except ImportError as error:
            raise InputError("to_pyg needs PyTorch Geometric: pip install torch-geometric") from error
        index = np.stack(self.ties()).astype(np.int64)
        index = index if self.directed else np.concatenate([index, index[::-1]], axis=1)
        x = torch.from_numpy(self.flags(chosen)).float()
        wave = torch.tensor(self.wave, dtype=torch.int64)
        return Data(x=x, edge_index=torch.from_numpy(index), wave=wave)

    # Copies ----------------------------------------------------------------------------------------------------------

    def closed(self) -> "Discovered":
        """The same network for a policy that may choose named people only; a view, not an independent copy."""
        same = copy(self)
        same.open = False
        return same

    def copy(self) -> "Discovered":
        """An independent copy."""
        other = Discovered()
        for name, value in vars(self).items():
            setattr(other, name, copy(value))
        other.contacts = [contacts.copy() for contacts in self.contacts]
        other._members = [members.copy() for members in self._members]
        other._kept = {}
        return other

    def without(self, ties: Iterable[tuple[int, int]]) -> "Discovered":
        """An independent copy without some of the ties, of which both ends are given; all people stay."""
        left_out, other = {frozenset(tie) for tie in ties}, Discovered(self.open, self.directed)
        for named_by in self.named_by:
            other.add_person(named_by)
        other.wave = self.wave.copy()
        for tie in self._ties:
            if frozenset(tie) not in left_out:
                other.add_tie(*tie)
        start = set(self.start)
        for person in self.surveyed:
            (other.record_start if person in start else other.record_survey)(person)
        for person in self.refused:
            other.record_refusal(person)
        for person, contact in self.marks.items():
            if contact in other.contacts[person]:
                other.record_mark(person, contact)
        for person, group in self.groups.items():
            other.record_group(person, group)
        return other

    @classmethod
    def from_network(cls, network: Network, surveyed: Iterable[int], refused: Iterable[int] = ()) -> "Discovered":
        """A partly known network: all its people and edges, and which people were surveyed or refused."""
        seen = cls(directed=network.directed)
        for _ in range(network.n):
            seen.add_person()
        sources, targets, _ = network.edges()
        for one, other in zip(sources.tolist(), targets.tolist(), strict=True):
            seen.add_tie(one, other)
        for person in dict.fromkeys(surveyed):
            seen.record_start(person)
        for person in dict.fromkeys(refused):
            seen.record_refusal(person)
        seen.set_waves()
        return seen

    def set_waves(self) -> None:
        """Set waves by distance from the start people, where it is not known who named whom; those apart come last."""
        self.wave = [len(self)] * len(self)
        reached = list(self.start)
        for person in reached:
            self.wave[person] = 0
        for person in reached:  # grows on the way
            for contact in self.contacts[person]:
                if self.wave[contact] == len(self):
                    self.wave[contact] = self.wave[person] + 1
                    reached.append(contact)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Discovered):
            return NotImplemented
        names = ("open", "directed", "contacts", "status", "start", "surveyed", "refused", "marks", "groups")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Discovered({len(self)} people, {len(self._ties)} ties, {len(self.surveyed)} surveyed, "
            f"{len(self.refused)} refused, {len(self._numbers)} classes)"
        )

    # Classes, kept up to date as people gain contacts or change status -----------------------------------------------

    def _set_status(self, person: int, status: Status) -> None:
        self._leave_class(person)
        self.status[person] = status
        if person in self._frontier:
            del self._frontier[person]
            insort(self._left, person)
        self._enter_class(person)

    def _enter_class(self, person: int) -> None:
        status = self.status[person]
        if status is _SURVEYED:
            self._class[person] = NO_CLASS
            return
        key = (status, self._signature[person])
        number = self._numbers.get(key)
        if number is None:
            if not self._free:
                self._free.append(len(self._members))
                self._members.append([])
            number = self._numbers[key] = self._free.pop()
        self._class[person], self._place[person] = number, len(self._members[number])
        self._members[number].append(person)
        self._changed.append(number)

    def _leave_class(self, person: int) -> None:
        if self.status[person] is _SURVEYED:
            return
        number = self._class[person]
        members, place = self._members[number], self._place[person]
        last = members.pop()
        if last != person:
            members[place], self._place[last] = last, place
        if not members:
            del self._numbers[self.status[person], self._signature[person]]
            self._free.append(number)
        self._changed.append(number)


@lru_cache
def _group_token(name: str) -> int:
    """A fixed 128-bit number for a group."""
    return int.from_bytes(blake2b(name.encode(), digest_size=16, key=b"group").digest())


@lru_cache(maxsize=1 << 16)
def _token(person: int) -> int:
    """A fixed 128-bit number for a local index.

    The exclusive or of the tokens of a set of contacts identifies the set, whatever the order in which it grew, and one
    more contact costs one operation. Two different sets agree with a probability of about 1e-38.
    """
    return int.from_bytes(blake2b(person.to_bytes(8), digest_size=16).digest())
