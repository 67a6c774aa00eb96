"""The picture of the network: where each person is, the same on every visit.

People are placed one after the other in the order of discovery, each beside the person who named them first, on the
free spot that leads away from that person's own origin. A place follows from what came before it in the log and from
nothing after it, so that no one moves when a person is added.
"""

import math
from itertools import count

from claim.field.study.study import Person, Study

STEP = 84.0  # between rings of spots around a person
NEAR = 62.0  # the least distance between two people
ISLAND = 2.6  # steps between people who were not named
MARGIN = 60.0
KINDS = {"surveying": "surveyed", "partial": "surveyed", "surveyed": "surveyed", "refused": "refused"}
Point = tuple[float, float]
Places = dict[str, Point]


class _Board:
    """Taken places, in squares as large as the least distance, so that neighbours are found at once."""

    def __init__(self) -> None:
        self._squares: dict[tuple[int, int], list[Point]] = {}
        self._islands = count()  # spots on the spiral; one that was taken is never free again

    def put(self, place: Point) -> None:
        self._squares.setdefault(_square(place), []).append(place)

    def free(self, place: Point, distance: float) -> bool:
        x, y = _square(place)
        reach = math.ceil(distance / NEAR)
        around = range(-reach, reach + 1)
        near = (each for dx in around for dy in around for each in self._squares.get((x + dx, y + dy), ()))
        return all(math.dist(place, each) >= distance for each in near)

    def island(self) -> Point:
        """A spot far from all others, on a spiral of equal areas around the middle."""
        turn = math.pi * (3 - math.sqrt(5))
        spots = (_point((0.0, 0.0), ISLAND * STEP * 0.5 * math.sqrt(i), i * turn) for i in self._islands)
        return next(spot for spot in spots if self.free(spot, ISLAND * STEP))


def places_of(study: Study) -> Places:
    """The place of each person of the network."""
    board, places, origins = _Board(), Places(), dict[str, Point]()
    for person in study.people.values():
        if not person.known:
            continue
        namer = next((code for code in person.named_by if code in places), None)
        if namer is None:
            place = board.island()
        else:
            place = _beside(board, places[namer], origins.get(namer, (0.0, 0.0)))
            origins[person.code] = places[namer]
        board.put(place)
        places[person.code] = place
    return places


def lines_of(study: Study, places: Places) -> list[tuple[Point, Point]]:
    """The contacts, from place to place."""
    known = [tie for tie in study.ties if tie.one in places and tie.other in places]
    return [(places[tie.one], places[tie.other]) for tie in known]


def box_of(places: Places) -> tuple[float, float, float, float]:
    """The box that holds all places: x, y, width, height."""
    xs, ys = [x for x, _ in places.values()] or [0.0], [y for _, y in places.values()] or [0.0]
    left, top = min(xs) - MARGIN, min(ys) - MARGIN
    return (round(left, 1), round(top, 1), round(max(xs) + MARGIN - left, 1), round(max(ys) + MARGIN - top, 1))


def look_of(person: Person) -> tuple[str, bool]:
    """What a person's dot looks like: the kind, which gives colour and shape, and whether it has a leader's ring."""
    leads = person.leader is not None and person.leader.answer != "declined"
    return KINDS.get(person.state, "named"), leads


def _beside(board: _Board, centre: Point, origin: Point) -> Point:
    """The free spot on the innermost ring with room that leads away from the origin."""
    away = math.atan2(centre[1] - origin[1], centre[0] - origin[0])
    for ring in range(1, 1000):
        spots = 6 * ring
        for i in range(spots):
            turn = (i + 1) // 2 * (1 if i % 2 else -1)  # straight on, then to either side by turns
            place = _point(centre, ring * STEP, away + turn * 2 * math.pi / spots)
            if board.free(place, NEAR):
                return place
    raise AssertionError("the plane is full")


def _point(centre: Point, radius: float, angle: float) -> Point:
    return (round(centre[0] + radius * math.cos(angle), 1), round(centre[1] + radius * math.sin(angle), 1))


def _square(place: Point) -> tuple[int, int]:
    return (math.floor(place[0] / NEAR), math.floor(place[1] / NEAR))
