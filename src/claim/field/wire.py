"""Plain JSON for frozen dataclasses: written canonically, read strictly, and never more than data."""

import json
import types
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from claim.errors import InputError

T = TypeVar("T")


def canonical(data: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, ASCII only, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def as_data(value: Any) -> Any:
    """A dataclass as dictionaries, lists and scalars."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: as_data(getattr(value, each.name)) for each in fields(value)}
    return [as_data(each) for each in value] if isinstance(value, tuple) else value


def from_data(kind: type[T], data: Any) -> T:
    """The dataclass of such dictionaries; an unknown, missing or wrongly typed field is refused."""
    hints = _hints(kind)  # type: ignore[arg-type]
    if not isinstance(data, dict):
        raise InputError(f"{kind.__name__} is not a JSON object")
    unknown = data.keys() - hints.keys()
    if unknown:
        raise InputError(f"{kind.__name__} has no field {min(unknown)!r}")
    required = {each.name for each in fields(kind) if each.default is MISSING}  # type: ignore[arg-type]
    if required - data.keys():
        raise InputError(f"{kind.__name__} lacks the field {min(required - data.keys())!r}")
    return kind(**{name: _value(hints[name], value, f"{kind.__name__}.{name}") for name, value in data.items()})


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(kind: Any, value: Any, where: str) -> Any:
    origin = get_origin(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return from_data(kind, value)
    if origin is tuple and isinstance(value, list):
        return tuple(_value(get_args(kind)[0], each, where) for each in value)
    if origin is Literal and value in get_args(kind):
        return value
    if origin in (Union, types.UnionType):  # only "something or None" is used
        return None if value is None else _value(get_args(kind)[0], value, where)
    if kind is float and type(value) in (int, float):
        return float(value)
    if type(value) is kind:  # exactly: True is not a number here
        return value
    raise InputError(f"{where} cannot be {value!r}"[:200])
