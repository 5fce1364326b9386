"""Work orders: kernels that a program could use and nobody has made, as data for a session or an outside tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from xfuse.errors import RecipeError

Kind = Literal["kernel", "recipe"]


@dataclass(frozen=True)
class Order:
    """A kernel that is wanted: of a recipe that has none (``kernel``), or of a cluster that was outlined (``recipe``).

    ``region`` is the text of the recipe, ``identity`` its SHA-256, ``arguments`` and ``results`` the element types,
    ``backend`` where it is wanted ("auto": anywhere). ``count`` says at how many places the program would use it, and
    ``saved_bytes`` and ``saved_seconds`` what these would save together by the cost model.
    """

    kind: Kind
    name: str
    identity: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    backend: str
    region: str
    count: int
    saved_bytes: int
    saved_seconds: float

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Element types of the arguments and then of the results, as rows have them."""
        return (*self.arguments, *self.results)

    def as_json(self) -> dict[str, Any]:
        """The order as JSON has it; the keys and their order are stable."""
        return {
            "kind": self.kind,
            "name": self.name,
            "identity": self.identity,
            "arguments": list(self.arguments),
            "results": list(self.results),
            "backend": self.backend,
            "region": self.region,
            "count": self.count,
            "gain": {"bytes": self.saved_bytes, "seconds": self.saved_seconds},
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Order:
        """An order of what `as_json` gives. Raises `RecipeError` for a missing key or a value of a wrong kind."""
        gain = _get(data, "gain", Mapping, {"bytes": 0, "seconds": 0.0})
        kind = _get(data, "kind", str, "kernel")
        if kind not in ("kernel", "recipe"):
            raise RecipeError(f'a work order\'s \'kind\' is "kernel" or "recipe", got {kind!r}')
        return Order(
            kind,
            _get(data, "name", str),
            _get(data, "identity", str),
            _names(data, "arguments"),
            _names(data, "results"),
            _get(data, "backend", str, "auto"),
            _get(data, "region", str),
            _get(data, "count", int, 1),
            _get(gain, "bytes", int, 0),
            float(_get(gain, "seconds", (int, float), 0.0)),
        )


def _get(data: Mapping[str, Any], key: str, kind: Any, default: Any = None) -> Any:
    value = data.get(key, default)
    if value is None:
        raise RecipeError(f"a work order has {key!r}, this one does not; its keys are {', '.join(data) or 'none'}")
    if not isinstance(value, kind):
        raise RecipeError(f"a work order's {key!r} is of another kind than {value!r}")
    return value


def _names(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value: Sequence[Any] = _get(data, key, list)
    if not all(isinstance(each, str) for each in value):
        raise RecipeError(f"a work order's {key!r} are names of element types, got {value!r}")
    return tuple(value)
