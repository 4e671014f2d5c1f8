"""Reads the program's JSON into dataclasses. A key more or less than the dataclass has, or a value of another type, is an
error: the program is then of another version than this package."""
import dataclasses
import functools
import typing
from typing import Any, Dict, Type, TypeVar

from .errors import AttnscopeError

T = TypeVar("T")
NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}  # JSON has none for these


def refused(where: str, problem: str) -> AttnscopeError:
    return AttnscopeError("protocol", f"{where or 'the result'}: {problem}",
                          "Use the program and the Python package of one version.")


@functools.lru_cache(maxsize=None)
def types_of(cls: type) -> Dict[str, Any]:
    return typing.get_type_hints(cls)


def value_of(kind: Any, value: Any, where: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return read(typing.cast(type, kind), value, where)
    if kind is Any:
        return value
    outer, inner = typing.get_origin(kind), typing.get_args(kind)
    if outer is typing.Union:  # Optional
        return None if value is None else value_of(inner[0], value, where)
    if outer is list:
        if not isinstance(value, list):
            raise refused(where, "not a list")
        return [value_of(inner[0], one, f"{where}/{at}") for at, one in enumerate(value)]
    if outer is dict:
        if not isinstance(value, dict):
            raise refused(where, "not an object")
        return {key: value_of(inner[1], one, f"{where}/{key}") for key, one in value.items()}
    if kind is float:
        if isinstance(value, str) and value in NUMBERS:
            return NUMBERS[value]
        if isinstance(value, int) and not isinstance(value, bool):
            return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise refused(where, f"{value!r:.60} is no {kind.__name__}")
    return value


def read(cls: Type[T], value: Any, where: str = "") -> T:
    """The dataclass that a JSON object holds; `where` is its JSON pointer, for the message."""
    if not isinstance(value, dict):
        raise refused(where, "not an object")
    fields = {field.name: field for field in dataclasses.fields(typing.cast(Any, cls)) if field.init}
    unknown = sorted(set(value) - set(fields))
    missing = sorted(name for name, field in fields.items() if name not in value and field.default is dataclasses.MISSING)
    if unknown or missing:
        raise refused(where, ", ".join([f"there is no {name}" for name in missing] + [f"{name} is not known" for name in unknown]))
    types = types_of(typing.cast(Any, cls))
    made = cls(**{name: value_of(types[name], one, f"{where}/{name}") for name, one in value.items()})
    if any(field.name == "json" and not field.init for field in dataclasses.fields(typing.cast(Any, cls))):
        object.__setattr__(made, "json", value)
    return made
