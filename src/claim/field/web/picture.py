"""The picture of the network: where each person is, the same on every visit, and what the page draws.

The layout is computed here so that every device shows the same picture. People who are joined by contacts are arranged
by forces: contacts pull, people push each other away. People without contacts stand in rows below.

The arrangement is made for a number of contacts that grows in steps (:func:`settled_ties`). Between two steps no person
who was arranged moves: new people are placed beside the person who named them, on a free spot.
"""

import math
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from claim.field.study.study import Person, Study
from claim.field.view import View

NEAR = 44.0  # the least distance between two people
STEP = 52.0  # between rings of spots around a person
SIDE = 80.0  # the wanted length of a contact
FIRST_STEP = 12  # contacts: below, the arrangement is made anew each time
GROWTH = 1.4  # between two steps at which all people are arranged anew
PUSH = 0.55 * SIDE**2  # between two people, times their masses, by distance
GRAVITY = np.array((0.9, 1.45))  # the pull towards the middle: parts do not drift away, and the picture is wide
ROUNDS = 90  # of forces
MOST_LABELS = 80  # codes in the picture for print
GRID = 64  # squares to a side, in which the push between people is added up
KINDS = {"surveying": "surveyed", "partial": "surveyed", "surveyed": "surveyed", "refused": "refused"}
Point = tuple[float, float]
Places = dict[str, Point]
Points = NDArray[np.float64]  # (n, 2)
Pairs = NDArray[np.int64]  # (m, 2): rows of Points
Kept = MutableMapping[Any, Any]


def places_of(study: Study, kept: Kept | None = None) -> Places:
    """The place of each person of the network; ``kept`` holds the last arrangement, to use it again."""
    known = [person for person in study.people.values() if person.known]
    index = {person.code: i for i, person in enumerate(known)}
    ties = [(index[tie.one], index[tie.other]) for tie in study.ties if tie.one in index and tie.other in index]
    old = ties[: settled_ties(len(ties))]
    rows = dict.fromkeys(end for tie in old for end in tie)
    for i, person in enumerate(rows):
        rows[person] = i
    pairs = np.array([(rows[one], rows[other]) for one, other in old], dtype=np.int64).reshape(-1, 2)
    placed = {person: (x, y) for person, (x, y) in zip(rows, _kept_arrangement(pairs, kept), strict=True)}
    _place_newcomers(placed, ties[len(old) :])
    _place_in_rows(placed, len(known))
    return {person.code: placed[i] for i, person in enumerate(known)}


def settled_ties(count: int) -> int:
    """How many of the first contacts are arranged: the last step that was reached."""
    step = FIRST_STEP
    if count < step:
        return count
    while math.ceil(step * GROWTH) <= count:
        step = math.ceil(step * GROWTH)
    return step


def look_of(person: Person) -> tuple[str, bool]:
    """What a person's mark looks like: the kind, which gives colour and shape, and whether they were asked to lead."""
    leads = person.leader is not None and not person.leader.left
    kind = KINDS.get(person.state, "named")
    return ("start" if person.is_start and kind != "refused" else kind), leads


def contacts_of(study: Study, people: Iterable[str]) -> dict[str, list[str]]:
    """The contacts of these people, whoever reported them, in the order of the reports."""
    found: dict[str, list[str]] = {code: [] for code in people}
    for tie in study.ties:
        for one, other in ((tie.one, tie.other), (tie.other, tie.one)):
            if one in found and study.people[other].known:
                found[one].append(other)
    return found


def drawn(view: View, places: Places, short: Callable[[str], str]) -> dict[str, Any]:
    """What the page draws, as plain data: people in the order of discovery, contacts as pairs of positions in it.

    ``short`` makes names fit for a list.
    """
    index = {code: i for i, code in enumerate(places)}
    people = []
    for code, place in places.items():
        person = view.study.people[code]
        kind, leads = look_of(person)
        named_by = [index[each] for each in person.named_by if each in index]
        people.append(
            {"code": code, "name": short(view.name(code)), "kind": kind, "state": person.state, "leads": leads}
            | {"start": person.is_start, "place": place, "named_by": named_by}
        )
    ties = [(index[tie.one], index[tie.other]) for tie in view.study.ties if tie.one in index and tie.other in index]
    return {"people": people, "ties": ties}


def still_picture(study: Study, places: Places) -> dict[str, Any] | None:
    """The picture for print, as a vector graphic: its frame, the contacts as one path, and the people; None if empty.

    Marks leave room for each other, unless they became too small for paper; codes stand beside them if there is room.
    """
    if not places:
        return None
    xs, ys = zip(*places.values(), strict=True)
    wide, high = max(max(xs) - min(xs), 10 * NEAR), max(ys) - min(ys)
    size = max(min(wide / 90, NEAR / 1.6), wide / 250)
    box = f"{min(xs) - 4 * size:.0f} {min(ys) - 4 * size:.0f} {wide + 12 * size:.0f} {high + 8 * size:.0f}"
    ends = [(places[tie.one], places[tie.other]) for tie in study.ties if tie.one in places and tie.other in places]
    path = "".join(f"M{a:.0f} {b:.0f}L{c:.0f} {d:.0f}" for (a, b), (c, d) in ends)
    people: list[dict[str, Any]] = []
    for code, (x, y) in places.items():
        kind, leads = look_of(study.people[code])
        hollow = kind == "start" and study.people[code].state not in KINDS
        people.append({"code": code, "x": x, "y": y, "kind": kind, "hollow": hollow, "leads": leads})
    people.sort(key=lambda each: each["leads"])  # leaders are on top
    return {"box": box, "ties": path, "size": round(size, 1), "people": people, "labels": len(people) <= MOST_LABELS}


# Forces --------------------------------------------------------------------------------------------------------------


def _kept_arrangement(pairs: Pairs, kept: Kept | None) -> list[Point]:
    key, made = pairs.tobytes(), None
    if kept is not None and kept.get("pairs") == key:
        made = kept["places"]
    if made is None:
        made = [(round(x, 1), round(y, 1)) for x, y in arrange(pairs).tolist()]
        if kept is not None:
            kept.update(pairs=key, places=made)
    found: list[Point] = made
    return found


def arrange(pairs: Pairs) -> Points:
    """Places for the people of these contacts: short contacts, no two people closer than ``NEAR``."""
    if not len(pairs):
        return np.zeros((0, 2))
    n = int(pairs.max()) + 1
    degrees = np.bincount(pairs.ravel(), minlength=n).astype(float)
    places = _radial_tree(n, pairs)
    mass = 1.0 + 0.4 * np.sqrt(degrees)
    pull_of = 1.0 / np.sqrt(np.minimum(degrees[pairs[:, 0]], degrees[pairs[:, 1]]))
    hottest = 0.12 * SIDE * math.sqrt(n) + SIDE
    for turn in range(ROUNDS):
        force = PUSH * _push(places, mass)
        apart = places[pairs[:, 1]] - places[pairs[:, 0]]
        length = np.sqrt((apart**2).sum(axis=1))
        pull = apart * (pull_of * length / SIDE)[:, None]
        for axis in range(2):
            force[:, axis] += np.bincount(pairs[:, 0], pull[:, axis], n) - np.bincount(pairs[:, 1], pull[:, axis], n)
        force -= GRAVITY * mass[:, None] * places
        size = np.sqrt((force**2).sum(axis=1)) + 1e-9
        heat = hottest * (1 - turn / ROUNDS) ** 2 + 1.0
        places = places + force * (np.minimum(size, heat) / size)[:, None]
        places -= places.mean(axis=0)
    return _separated(places, NEAR)


def _radial_tree(n: int, pairs: Pairs) -> Points:
    """Rings around the person with most contacts, each branch in a sector of its size: a start without crossings."""
    contacts: list[list[int]] = [[] for _ in range(n)]
    for one, other in pairs.tolist():
        contacts[one].append(other)
        contacts[other].append(one)
    order, origin, ring = [], [-1] * n, [0] * n
    seen = [False] * n
    roots = []
    for root in sorted(range(n), key=lambda i: (-len(contacts[i]), i)):
        if seen[root]:
            continue
        roots.append(root)
        seen[root] = True
        ring[root] = 0 if len(roots) == 1 else 1
        queue = [root]
        for person in queue:  # grows while it is read
            order.append(person)
            for other in contacts[person]:
                if not seen[other]:
                    seen[other], origin[other], ring[other] = True, person, ring[person] + 1
                    queue.append(other)
    leaves = [0.0] * n
    for person in reversed(order):
        leaves[person] = max(leaves[person], 1.0)
        if origin[person] >= 0:
            leaves[origin[person]] += leaves[person]
    share = 2 * math.pi / sum(leaves[root] for root in roots)
    angle, used = [0.0] * n, [0.0] * n
    begin = 0.0
    for root in roots:
        angle[root], used[root] = begin, begin
        begin += leaves[root] * share
    for person in order:
        if origin[person] >= 0:
            parent = origin[person]
            used[person] = used[parent]
            used[parent] += leaves[person] * share
        angle[person] = used[person] + leaves[person] * share / 2
    radius = SIDE * np.array(ring)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)


def _push(places: Points, mass: NDArray[np.float64]) -> Points:
    """The push of all people on each: mass / distance, added up on a grid by a fast Fourier transform."""
    low = places.min(axis=0)
    square = max(float((places.max(axis=0) - low).max()) / (GRID - 2), 1e-3)
    at = (places - low) / square
    left = at.astype(np.int64)
    part = at - left
    weights = [(dx, dy, _side(part[:, 0], dx) * _side(part[:, 1], dy)) for dx in (0, 1) for dy in (0, 1)]
    flat = left[:, 0] * GRID + left[:, 1]
    density = np.zeros(GRID * GRID)
    for dx, dy, weight in weights:
        density += np.bincount(flat + dx * GRID + dy, weight * mass, GRID * GRID)
    shape = (2 * GRID, 2 * GRID)
    spread = np.fft.rfft2(density.reshape(GRID, GRID), shape)
    force = np.zeros_like(places)
    for axis, kernel in enumerate(_KERNELS):
        field = np.fft.irfft2(spread * kernel, shape)[:GRID, :GRID].ravel()
        for dx, dy, weight in weights:
            force[:, axis] += weight * field[flat + dx * GRID + dy]
    return force * mass[:, None] / square


def _side(part: NDArray[np.float64], far: int) -> NDArray[np.float64]:
    return part if far else 1 - part


def _transformed_kernels() -> list[NDArray[np.complex128]]:
    """The push of one person at the corner, across and down, in squares; distances wrap around in a double grid."""
    steps = np.concatenate((np.arange(GRID), np.arange(-GRID, 0))).astype(float)
    across, down = np.meshgrid(steps, steps, indexing="ij")
    square = across**2 + down**2 + 0.3
    return [np.fft.rfft2(each / square) for each in (across, down)]


_KERNELS = _transformed_kernels()


def _separated(places: Points, distance: float) -> Points:
    """The places pushed apart until no two are closer than the distance."""
    n = len(places)
    places = places + 1e-3 * np.stack((np.cos(np.arange(n)), np.sin(np.arange(n))), axis=1)  # none on one spot
    wanted = distance * 1.02
    for turn in range(400):
        pairs = cKDTree(places).query_pairs(wanted, output_type="ndarray")
        if not len(pairs):
            break
        apart = places[pairs[:, 1]] - places[pairs[:, 0]]
        length = np.sqrt((apart**2).sum(axis=1)) + 1e-9
        if length.min() >= distance:
            break
        move = apart * (0.52 * (wanted - length) / length)[:, None]
        for axis in range(2):
            places[:, axis] += np.bincount(pairs[:, 1], move[:, axis], n) - np.bincount(pairs[:, 0], move[:, axis], n)
        if turn % 10 == 9:
            places *= 1.04  # where it is too crowded, pushing alone does not end
    return places


# People who came later, and people without contacts -------------------------------------------------------------------


class _Board:
    """Taken places, in squares as large as the least distance, so that neighbours are found at once."""

    def __init__(self, places: list[Point]) -> None:
        self._squares: dict[tuple[int, int], list[Point]] = {}
        for place in places:
            self.put(place)

    def put(self, place: Point) -> None:
        self._squares.setdefault(_square(place), []).append(place)

    def free(self, place: Point) -> bool:
        x, y = _square(place)
        for column in (x, x - 1, x + 1):
            for row in (y, y - 1, y + 1):
                for each in self._squares.get((column, row), ()):
                    if (each[0] - place[0]) ** 2 + (each[1] - place[1]) ** 2 < NEAR**2:
                        return False
        return True


def _place_newcomers(placed: dict[int, Point], ties: list[tuple[int, int]]) -> None:
    """Place the people of later contacts, each beside the person who is placed already."""
    board = _Board(list(placed.values()))
    for one, other in ties:
        if one not in placed and other not in placed:
            placed[one] = _beside(board, (0.0, 0.0))
            board.put(placed[one])
        for person, known in ((one, other), (other, one)):
            if person not in placed:
                placed[person] = _beside(board, placed[known])
                board.put(placed[person])


def _beside(board: _Board, centre: Point) -> Point:
    """The free spot on the innermost ring with room that leads away from the middle of the picture."""
    away = math.atan2(centre[1], centre[0])
    for ring in range(1, 1000):
        spots = 6 * ring
        for i in range(spots):
            turn = (i + 1) // 2 * (1 if i % 2 else -1)  # straight on, then to either side by turns
            place = _point(centre, ring * STEP, away + turn * 2 * math.pi / spots)
            if board.free(place):
                return place
    raise AssertionError("the plane is full")


def _place_in_rows(placed: dict[int, Point], count: int) -> None:
    """Place people without contacts in rows below all others."""
    alone = [person for person in range(count) if person not in placed]
    if not alone:
        return
    xs, ys = [x for x, _ in placed.values()] or [0.0], [y for _, y in placed.values()] or [-2 * NEAR]
    gap = 1.2 * NEAR
    columns = min(len(alone), max(int((max(xs) - min(xs)) / gap), math.ceil(1.5 * math.sqrt(len(alone)))))
    left, top = (min(xs) + max(xs) - (columns - 1) * gap) / 2, max(ys) + 2 * NEAR
    for i, person in enumerate(alone):
        placed[person] = (round(left + i % columns * gap, 1), round(top + i // columns * gap, 1))


def _point(centre: Point, radius: float, angle: float) -> Point:
    return (round(centre[0] + radius * math.cos(angle), 1), round(centre[1] + radius * math.sin(angle), 1))


def _square(place: Point) -> tuple[int, int]:
    return (math.floor(place[0] / NEAR), math.floor(place[1] / NEAR))
