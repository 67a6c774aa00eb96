"""What pages need and takes long, computed once for each moment of a study."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from claim.field.advice import Advice, recommend
from claim.field.leaders import LeaderAdvice, choose_leaders
from claim.field.matching import Match
from claim.field.opened import View
from claim.field.web.picture import Places, places_of

T = TypeVar("T")
_kept: WeakKeyDictionary[View, dict[Any, Any]] = WeakKeyDictionary()  # goes with the view: nothing outlives a lock
_turn = threading.RLock()


def once(view: View, key: Any, compute: Callable[[], T]) -> T:
    """The value for this view, computed if it is not there yet."""
    with _turn:
        values = _kept.setdefault(view, {})
        if key not in values:
            values[key] = compute()
        found: T = values[key]
        return found


def duplicates(view: View) -> list[tuple[str, Match]]:
    """Pairs who may be the same person."""
    return once(view, "duplicates", view.possible_duplicates)


def advice(view: View, count: int | None) -> Advice:
    """Whom to survey next; without a count an open round goes on."""
    return once(view, ("advice", count), lambda: recommend(view.study, count))


def leaders(view: View, attendance: float | None = None) -> LeaderAdvice:
    """Whom to ask to lead."""
    return once(view, ("leaders", attendance), lambda: choose_leaders(view.study, attendance=attendance))


def places(view: View) -> Places:
    """Where everybody is in the picture."""
    return once(view, "places", lambda: places_of(view.study))
